"""Target: saved models of every kind, with parts of them changed and the checksums made right again.

What is loaded is used, since nothing behind the loader looks at it again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import srsly

from fuzz.choices import Choices
from fuzz.contract import Target, expect
from spacy_lpcfg.bracketing import CCA, Bracketer, SpectralBracketer
from spacy_lpcfg.bracketing.tagged import TaggedSentence
from spacy_lpcfg.evidence.learner import EvidenceLearner
from spacy_lpcfg.isbn import ISBN, BeamSettings, IncrementalParser
from spacy_lpcfg.isbn.learning import ISBNLearner
from spacy_lpcfg.isbn.learning_settings import ISBNLexical
from spacy_lpcfg.language_model import LanguageModel
from spacy_lpcfg.language_model.learning import LanguageModelLearner
from spacy_lpcfg.learning import EM, Spectral, TreebankPCFG
from spacy_lpcfg.models.kinds import make_parser, model_from_bytes, usable_settings
from spacy_lpcfg.storage.container import Stored, compressed, kind_of, pack, unpack
from spacy_lpcfg.trees import Tree, clean, read_trees

SAMPLE = Path(__file__).resolve().parents[1] / "assets" / "sample" / "train.mrg"
SENTENCES = [["The", "ferry", "was", "late", "."], ["Xyzzy", "1984"], ["was"], ["\ud800", "-LRB-", "The", "the"]]
BEAM = BeamSettings(beam=4)


class Kind(NamedTuple):
    """A kind of model: one to begin with, how it is loaded, and what it is used for."""

    make: Callable[[], Stored]
    load: Callable[[bytes], Stored]
    use: Callable[[Any], None]


# Models to begin with ----------------------------------------------------------------------------


@cache
def _trees() -> tuple[Tree, ...]:
    return tuple(tree for tree in map(clean, islice(read_trees(SAMPLE), 40)) if tree is not None)


@cache
def _em(seed: int = 0) -> Any:
    return EM(n_states=2, n_iterations=1, seed=seed).fit(_trees())


@cache
def _isbn() -> ISBN:
    return ISBNLearner(n_states=3, n_epochs=1, lexical=ISBNLexical(min_count=1)).fit(_trees()[:10])


def _pcfg() -> Stored:
    return TreebankPCFG().fit(_trees())


def _bracketer(preset: str) -> Bracketer:
    return SpectralBracketer.variant(preset, embedding=CCA(size=10)).fit(lambda: map(TaggedSentence.of, _trees()))


def _language_model() -> LanguageModel:
    sentences = [tree.words for tree in _trees()]
    learner = LanguageModelLearner("em", n_states=2, n_iterations=1, kneser_ney=True)
    return learner.fit(sentences, held_out=sentences[:5]).model


# Use ---------------------------------------------------------------------------------------------


def _parse(model: Any) -> None:
    _check_parser(make_parser(model, **usable_settings(model, search=BEAM)))


def _parse_by_beam(model: ISBN) -> None:
    _check_parser(IncrementalParser(model, search=BEAM))


def _check_parser(parser: Any) -> None:
    """Expect trees of any words, with probabilities from 0 to 1."""
    for words in SENTENCES:
        parse = parser.parse(words)
        expect(parse.tree.words == words and parse.tree.tags == parse.tags, "a tree of other words")
        for scores in (parse.span_scores, parse.tag_scores):
            expect(bool(np.all((scores >= 0) & (scores <= 1))), f"scores that are no probabilities: {scores}")
        parser.posteriors(words)


def _bracket(model: Bracketer) -> None:
    for words in SENTENCES:
        spans, scores = model.bracket(words, ["NN"] * len(words))
        expect(len(spans) == len(scores) and all(0 <= score <= 1 for score in scores), f"scores {scores}")


def _foresee(model: LanguageModel) -> None:
    for words in SENTENCES:
        bits = model.surprisal(words)
        expect(bits.shape == (len(words) + 1,) and not np.any(bits < -1e-3), f"surprisal {bits}")


KINDS = {
    "pcfg": Kind(_pcfg, model_from_bytes, _parse),
    "spectral": Kind(lambda: Spectral(n_states=2).fit(_trees()), model_from_bytes, _parse),
    "em": Kind(_em, model_from_bytes, _parse),
    "isbn": Kind(_isbn, ISBN.from_bytes, _parse_by_beam),
    "evidence": Kind(lambda: EvidenceLearner(TreebankPCFG()).fit(_trees()), model_from_bytes, _parse),
    "metric": Kind(lambda: _bracketer("paper"), Bracketer.from_bytes, _bracket),
    "bracketer": Kind(lambda: _bracketer("default"), Bracketer.from_bytes, _bracket),
    "language_model": Kind(_language_model, LanguageModel.from_bytes, _foresee),
}


@cache
def saved(kind: str) -> bytes:
    """Return the model of a kind as it is saved."""
    return KINDS[kind].make().to_bytes()


# Changes -----------------------------------------------------------------------------------------

NUMBERS = [0, 1, -1, 2, 0.5, -0.5, 7, 255, 4096, 2**15, 2**31 - 1, -(2**31), 2**32, 2**63 - 1, -(2**63)]
NUMBERS += [float("nan"), float("inf"), -float("inf"), 1e-45, 1e-30, 1e30, 65504.0]
TEXTS = ["", "<form>", "@", "|", "\\", "NP|", "NN", "\x00", "x" * 1000, "<tag NN>"]
VALUES = [None, True, False, [], {}, [1], ["a"], "", "product", "sum", *NUMBERS]
TYPES = ["int32", "int64", "float32", "float64", "float16", "uint8", "uint16"]
ARRAY_CHANGES = {
    "put": lambda array, place, value: _put(array, place, value),
    "fill": lambda array, place, value: _put(array, slice(None), value),
    "swap": lambda array, place, other: _swap(array, place, other),
    "add": lambda array, place, value: _put(array, place, array.flat[place % array.size].item() + value),
    "cut": lambda array, place, _: array[: place % (len(array) + 1)],
    "repeat": lambda array, *_: np.concatenate([array, array]),
    "axis": lambda array, place, _: array[..., None] if place % 2 else array[None],
    "type": lambda array, place, _: array.astype(TYPES[place % len(TYPES)]),
}


def _put(array: np.ndarray, place: Any, value: Any) -> np.ndarray:
    changed = array.copy()
    changed.flat[place if isinstance(place, slice) else place % array.size] = _as(value, array.dtype)
    return changed


def _as(value: Any, dtype: np.dtype) -> Any:
    """Return the number of a type that is nearest to a value."""
    if dtype.kind == "f":
        return np.float64(value).astype(dtype)
    bounds = np.iinfo(dtype)
    return min(max(0 if value != value else value, int(bounds.min)), int(bounds.max))


def _swap(array: np.ndarray, place: int, other: Any) -> np.ndarray:
    changed = array.copy()
    places = [place % array.size, _as(other, np.dtype("int64")) % array.size]
    changed.flat[places] = changed.flat[places[::-1]]
    return changed


def case(choices: Choices) -> dict[str, Any]:
    """Choose a kind of model and its changes: parts by their names, or bytes by their places.

    A change is the path of a part, through models within models, what is done, where, and with what value.
    """
    kind = choices.one_of(list(KINDS))
    if choices.number(0, 15) == 15:
        return {"kind": kind, "zipped": False, "changes": [], "bytes": choices.some(lambda: _byte(choices), 4)}
    zipped = choices.number(0, 7) == 7
    return {"kind": kind, "zipped": zipped, "changes": choices.some(lambda: _change(kind, choices), 3), "bytes": []}


def _byte(choices: Choices) -> list[int]:
    return [choices.number(0, 2**24 - 1), choices.number(0, 255)]


def _change(kind: str, choices: Choices) -> list[Any]:
    path, data = [], saved(kind)
    while True:
        values = _values(data)
        path.append(choices.one_of(list(values)))
        value = values[path[-1]]
        if not _is_saved(value):
            break
        data = value
    done = choices.one_of([*ARRAY_CHANGES, "set", "drop"] if isinstance(value, np.ndarray) else ["put", "set", "drop"])
    if done == "set" or (done == "put" and not isinstance(value, (np.ndarray, tuple))):
        return [path, "set", 0, choices.one_of(VALUES)]
    if done == "put" and isinstance(value, tuple):
        return [path, done, choices.number(0, 2**16 - 1), choices.one_of(TEXTS)]
    return [path, done, choices.number(0, 2**16 - 1), choices.one_of(NUMBERS)]


def _is_saved(value: Any) -> bool:
    return isinstance(value, bytes) and b"spacy-lpcfg" in value[:40]


def _values(data: bytes) -> dict[str, Any]:
    return unpack(kind_of(data), _version(data), data)


def _version(data: bytes) -> int:
    return srsly.msgpack_loads(data)["version"]


def changed(data: bytes, changes: list[list[Any]]) -> bytes:
    """Return a saved model with parts of it changed, and the right checksums."""
    values = _values(data)
    for (name, *inner), done, place, value in changes:
        if name not in values:
            continue
        if inner:
            values[name] = changed(values[name], [[inner, done, place, value]])
        elif done == "drop":
            del values[name]
        else:
            values[name] = _changed_value(values[name], done, place, value)
    return pack(kind_of(data), _version(data), values)


def _changed_value(old: Any, done: str, place: int, value: Any) -> Any:
    if isinstance(old, np.ndarray) and done in ARRAY_CHANGES and old.size:
        with np.errstate(all="ignore"):
            return ARRAY_CHANGES[done](old, place, value).astype(old.dtype if done != "type" else None, copy=False)
    if isinstance(old, tuple) and done == "put" and old:
        place %= len(old)
        return (*old[:place], value, *old[place + 1 :])
    return value if done == "set" else old


def check(case: dict[str, Any]) -> None:
    """Expect a model that can be used and saved, or a ValueError that says which part is wrong."""
    kind = KINDS[case["kind"]]
    data = bytearray(changed(saved(case["kind"]), case["changes"]))
    for place, value in case["bytes"]:
        data[place % len(data)] = value
    try:
        model = kind.load(compressed(bytes(data)) if case["zipped"] else bytes(data))
    except ValueError as error:
        expect(10 < len(str(error)) < 10_000, f"a message that says little: {error!r}")
        return
    kind.use(model)
    expect(kind.load(model.to_bytes()).to_bytes() == model.to_bytes(), "what is saved is loaded as something else")


def seeds() -> list[bytes]:
    """Return no change of each kind, and one of each kind of change."""
    return [
        bytes([kind, 0, 0, 1, part, done, part, 0, 3])
        for kind in range(len(KINDS))
        for part in (0, 9)
        for done in (0, 4)
    ]


TARGETS = {"models": Target(case, check, seeds)}
