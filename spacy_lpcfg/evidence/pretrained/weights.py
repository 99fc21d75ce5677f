"""Weights of encoders of BERT's family, renamed to BERT's names and checked against the sizes in their config."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spacy_lpcfg.checks import shown
from spacy_lpcfg.parsing.model import ModelError

WORDS, POSITIONS = "embeddings.word_embeddings.weight", "embeddings.position_embeddings.weight"
TYPES, PROJECTION = "embeddings.token_type_embeddings.weight", "embeddings_project"
N_POSITIONS = 512
"""The number of pieces that an encoder sees at once."""
_OFFSET_FAMILIES = ("roberta", "xlm-roberta", "camembert")  # whose positions begin after that of padding
_FAMILIES = ("bert", "electra", "distilbert", *_OFFSET_FAMILIES)
_HEADS = ("q", "query"), ("k", "key"), ("v", "value")
_RENAMED = (  # DistilBERT's names, and those of old checkpoints, and then BERT's
    ("transformer.layer.", "encoder.layer."),
    *((f"attention.{short}_lin.", f"attention.self.{name}.") for short, name in _HEADS),
    ("attention.out_lin.", "attention.output.dense."),
    ("sa_layer_norm.", "attention.output.LayerNorm."),
    ("ffn.lin1.", "intermediate.dense."),
    ("ffn.lin2.", "output.dense."),
    ("output_layer_norm.", "output.LayerNorm."),
    (".gamma", ".weight"),
    (".beta", ".bias"),
)
_AGAIN = "are all files of the folder from one encoder? Download them again."


@dataclass(frozen=True, eq=False)
class EncoderWeights:
    """The weights of an encoder of BERT's family, under BERT's names.

    arrays (mapping of str to float32 array): The weights, such as "encoder.layer.0.output.dense.bias". There are
        `N_POSITIONS` position embeddings, which already include the embedding of the first token type.
    n_layers, n_heads (int): Numbers of layers, and of attention heads per layer.
    epsilon (float): Added to variances in layer norms.
    """

    arrays: Mapping[str, np.ndarray]
    n_layers: int
    n_heads: int
    epsilon: float

    @property
    def words(self) -> np.ndarray:
        """The embeddings of the pieces, float32 (n_pieces, width)."""
        return self.arrays[WORDS]

    @property
    def n_bytes(self) -> int:
        """The size of all weights in bytes."""
        return sum(array.nbytes for array in self.arrays.values())

    def of_pieces(self, ids: Sequence[int]) -> EncoderWeights:
        """Return a copy with the embeddings of the pieces `ids` only, in that order."""
        return replace(self, arrays={**self.arrays, WORDS: self.words[np.asarray(ids, np.int64)]})


def encoder_weights(config: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> EncoderWeights:
    """Return the weights of an encoder under BERT's names, after checking family and shapes.

    config (mapping): The contents of its config.json.
    arrays (mapping of str to array): The arrays of its file of weights.
    RAISES (ModelError): If the encoder is of an unknown family, or if weights are missing or of another shape.
    """
    _check_family(config)
    named = _renamed(arrays)
    width, is_projected = _size(config, "hidden_size", "dim"), f"{PROJECTION}.weight" in named
    sizes = {
        "width": width,
        "inner": _size(config, "intermediate_size", "hidden_dim"),
        "narrow": named[WORDS].shape[1] if is_projected else width,
        "n_words": len(named[WORDS]),
        "n_positions": N_POSITIONS,
    }
    n_layers, n_heads = _size(config, "num_hidden_layers", "n_layers"), _size(config, "num_attention_heads", "n_heads")
    if not n_heads or width % n_heads:
        raise ModelError(f"Expected a width that the heads share, got {width} and {n_heads} heads: {_AGAIN}")
    if config.get("model_type") in _OFFSET_FAMILIES and POSITIONS in named:
        named[POSITIONS] = named[POSITIONS][_size(config, "pad_token_id") + 1 :]  # the first ones are of no text
    named = _with_types(named)
    shapes = _shapes(n_layers, is_projected=is_projected)
    for name, shape in shapes.items():
        expected = tuple(sizes[size] for size in shape)
        if name not in named or named[name].shape != expected:
            got = f"of {named[name].shape}" if name in named else "none"
            raise ModelError(f"Expected the weights {name} of the shape {expected}, got {got}: {_AGAIN}")
    epsilon = config.get("layer_norm_eps", 1e-12)
    return EncoderWeights({name: named[name] for name in shapes}, n_layers, n_heads, float(epsilon))


def _check_family(config: Mapping[str, Any]) -> None:
    family, activation = config.get("model_type", "bert"), config.get("hidden_act", config.get("activation", "gelu"))
    positions = config.get("position_embedding_type") or "absolute"
    if family not in _FAMILIES or activation != "gelu" or positions != "absolute":
        raise ModelError(
            f"Expected an encoder of BERT's family ({', '.join(_FAMILIES)}) with gelu and absolute positions, got one "
            f"of {shown(family)} with {shown(activation)} and {shown(positions)} positions: take another one."
        )


def _size(config: Mapping[str, Any], *names: str) -> int:
    """Return a size from the config: the value of the first of `names` that it has."""
    value = next((config[name] for name in names if name in config), None)
    if type(value) is not int or value < 0:
        raise ModelError(f"Expected a number for {' or '.join(names)} in config.json, got {shown(value)}: {_AGAIN}")
    return value


def _renamed(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the arrays of an encoder under BERT's names, without a prefix such as "bert." and without output heads."""
    prefix = next((name.removesuffix(WORDS) for name in arrays if name.endswith(WORDS)), None)
    if prefix is None or arrays[prefix + WORDS].ndim != len(("pieces", "width")):
        names = ", ".join(sorted(arrays)[:3])
        raise ModelError(f"Expected the weights of an encoder of BERT's family, with {WORDS}, got {names}, ...")
    named = {}
    for name, array in arrays.items():
        if name.startswith(prefix):
            new = name.removeprefix(prefix)
            for old, other in _RENAMED:
                new = new.replace(old, other)
            named[new] = array
    return named


def _with_types(named: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the arrays with the first `N_POSITIONS` position embeddings, plus the first token type embedding."""
    positions = named.get(POSITIONS)
    if positions is None or len(positions) < N_POSITIONS:
        n = 0 if positions is None else len(positions)
        raise ModelError(f"Expected an encoder of at least {N_POSITIONS} positions, got {n}: take another one.")
    types = named.get(TYPES)
    summed = positions[:N_POSITIONS] if types is None else positions[:N_POSITIONS] + types[:1]
    return {**named, POSITIONS: summed}


def _shapes(n_layers: int, *, is_projected: bool) -> dict[str, tuple[str, ...]]:
    """Return the shape of each weight by its name; dimensions are named, as in ("inner", "width")."""
    maps = {PROJECTION: ("width", "narrow")} if is_projected else {}
    norms = {"embeddings.LayerNorm": "narrow"}
    for i in range(n_layers):
        layer = f"encoder.layer.{i}"
        maps |= {f"{layer}.attention.self.{part}": ("width", "width") for part in ("query", "key", "value")}
        maps |= {f"{layer}.attention.output.dense": ("width", "width"), f"{layer}.output.dense": ("width", "inner")}
        maps[f"{layer}.intermediate.dense"] = ("inner", "width")
        norms |= {f"{layer}.attention.output.LayerNorm": "width", f"{layer}.output.LayerNorm": "width"}
    shapes: dict[str, tuple[str, ...]] = {WORDS: ("n_words", "narrow"), POSITIONS: ("n_positions", "narrow")}
    for name, (outputs, inputs) in maps.items():
        shapes |= {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}
    for name, size in norms.items():
        shapes |= {f"{name}.weight": (size,), f"{name}.bias": (size,)}
    return shapes
