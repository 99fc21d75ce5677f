"""Conversion of bracketers to bytes and back, with checks of the stored fields."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from spacy_lpcfg.bracketing.extensions.learned_top import TopScores
from spacy_lpcfg.bracketing.extensions.span_model import SpanModel
from spacy_lpcfg.bracketing.extensions.symbols import N_SYMBOLS, Symbols
from spacy_lpcfg.bracketing.paper.metric_model import MetricModel
from spacy_lpcfg.bracketing.sentences import N_UNIVERSAL
from spacy_lpcfg.storage.container import StorageError, pack, read_meta, refuse_others, unpack
from spacy_lpcfg.storage.validation import Consistency, are_texts, is_array, is_moderate, is_number

_KIND = "bracketer"
_VERSION = 1
_METRIC = {"groups": "int32", "distances": "float64"}
_FIELDS = (*_METRIC, "apart", "meta", "has_spans")
_SPANS = {"keys": "int64", "values": "float32", "unseen": "float64", "top_values": "float32"}
_SPAN_FIELDS = (*_SPANS, "is_flat", "lexical", "top_first")


class BracketerError(ValueError):
    """A bracketer file that is damaged, inconsistent, or not a bracketer."""


_BRACKETER = Consistency("bracketer", BracketerError)
_require = _BRACKETER.require


def pack_parts(metric: MetricModel, spans: SpanModel | None, meta: dict[str, Any]) -> bytes:
    """Serialize the parts of a bracketer as msgpack with a checksum.

    metric (MetricModel): The distances between words.
    spans (SpanModel or None): The span model, if there is one.
    meta (dict): A record of how the bracketer was learned.
    """
    values: dict[str, Any] = {
        "groups": metric.groups,
        "distances": metric.distances,
        "apart": float(metric.apart),
        "meta": json.dumps(meta),
        "has_spans": spans is not None,
    }
    if spans is not None:
        values |= {name: getattr(spans, name) for name in ("keys", "values", "unseen", "is_flat")}
        values["lexical"] = spans.symbols.lexical
        values["top_values"] = np.zeros(0, np.float32) if spans.top is None else spans.top.values
        values["top_first"] = 0.0 if spans.top is None else float(spans.top.first)
    return pack(_KIND, _VERSION, values)


def unpack_parts(data: bytes) -> tuple[MetricModel, SpanModel | None, dict[str, Any]]:
    """Deserialize the parts of a bracketer, as the arguments of `pack_parts`.

    RAISES (BracketerError): If the bytes are damaged, inconsistent, of another format or not a bracketer.
    """
    try:
        values = unpack(_KIND, _VERSION, data)
        meta = read_meta(values.get("meta"))
        has_spans = _plain(values, "has_spans", bool)
        refuse_others(values, (*_FIELDS, *_SPAN_FIELDS) if has_spans else _FIELDS)
    except StorageError as error:
        raise BracketerError(str(error)) from error
    spans = _span_model(values) if has_spans else None
    return _metric_model(values), spans, meta


def _metric_model(values: dict[str, Any]) -> MetricModel:
    groups, distances = (_array(values, name, dtype) for name, dtype in _METRIC.items())
    _require("groups", groups.shape == (N_UNIVERSAL,) and groups.min() >= 0)
    _require("distances", distances.ndim == 3 and distances.shape[0] == distances.shape[1] > groups.max())
    _require("distances", distances.shape[2] > 0)
    return MetricModel(groups, distances, _number(values, "apart"))


def _span_model(values: dict[str, Any]) -> SpanModel:
    keys, scores, unseen, top = (_array(values, name, dtype) for name, dtype in _SPANS.items())
    _require("scores", keys.ndim == scores.ndim == 1 and len(keys) == len(scores) and unseen.shape == (2,))
    _require("top bracket", top.shape in ((0,), (2 * N_SYMBOLS,)))
    first, lexical = _number(values, "top_first"), _plain(values, "lexical", tuple)
    _require("symbols", are_texts(lexical))
    try:
        symbols = Symbols(lexical)
    except ValueError as error:
        raise _BRACKETER.inconsistent("symbols") from error
    rule = TopScores(top, first) if len(top) else None
    return SpanModel(symbols, keys, scores, unseen, rule, _plain(values, "is_flat", bool))


def _plain(values: dict[str, Any], name: str, kind: type) -> Any:
    value = values.get(name)
    _require(name, type(value) is kind)
    return value


def _number(values: dict[str, Any], name: str) -> float:
    value = _plain(values, name, float)
    _require(name, is_number(value))
    return value


def _array(values: dict[str, Any], name: str, dtype: str) -> np.ndarray:
    array: Any = values.get(name)
    _require(name, isinstance(array, np.ndarray) and is_array(array, dtype, *array.shape))
    _require(name, array.dtype.kind != "f" or is_moderate(array))
    return array
