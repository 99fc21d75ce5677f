"""Small random encoders of all families: as ONNX, as folders of a hub, and as a slow reference in numpy."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from spacy_lpcfg.evidence.classifier import N_CASES, SHAPES, SpanClassifier
from spacy_lpcfg.evidence.encoder import Encoder
from spacy_lpcfg.evidence.pieces import MARK, WordPieces

WIDTH, INNER, HEADS, LAYERS = 16, 32, 2, 2
VOCABULARY = (
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "dog", "dogs", "##s", "bark", "##ed", "##ing", "it", "rain", "a"),
    *(".", ",", "-", "(", ")", '"', "'", "/", "1", "##1", "e", "##e", "漢"),
)
UNIGRAMS = (
    *(("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), (MARK, -2.0), (f"{MARK}the", -3.0)),
    *((f"{MARK}dog", -4.0), (f"{MARK}dogs", -8.0), ("s", -3.0), ("dog", -6.0), (f"{MARK}bark", -5.0), ("ed", -4.0)),
    *(*((letter, -7.0) for letter in "abdeghikoprt.,-()\"'/1é漢"), ("<mask>", 0.0)),
)


class Family(NamedTuple):
    """A family of encoders: the differences from BERT.

    prefix (str): Begins the names of weights in the file.
    offset (int): The number of embeddings of positions that no text has.
    n_types (int): The number of token types.
    narrow (int): The width of embeddings.
    config (dict): What config.json says besides.
    """

    prefix: str = ""
    offset: int = 0
    n_types: int = 2
    narrow: int = WIDTH
    config: dict[str, Any] | None = None


FAMILIES = {
    "bert": Family("bert.", config={"model_type": "bert"}),
    "distilbert": Family("distilbert.", n_types=0, config={"model_type": "distilbert", "activation": "gelu"}),
    "electra": Family("electra.", narrow=8, config={"model_type": "electra", "embedding_size": 8}),
    "xlm-roberta": Family("roberta.", 2, 1, config={"model_type": "xlm-roberta", "pad_token_id": 1}),
    "multilingual-e5": Family(config={"model_type": "bert", "hidden_act": "gelu", "pad_token_id": 0}),
}
CONFIG = {"hidden_size": WIDTH, "intermediate_size": INNER, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS}
_OF_DISTILBERT = {
    "encoder.layer.": "transformer.layer.",
    "attention.self.query": "attention.q_lin",
    "attention.self.key": "attention.k_lin",
    "attention.self.value": "attention.v_lin",
    "attention.output.dense": "attention.out_lin",
    "attention.output.LayerNorm": "sa_layer_norm",
    "intermediate.dense": "ffn.lin1",
    ".output.dense": ".ffn.lin2",
    ".output.LayerNorm": ".output_layer_norm",
}
_SIZES = {
    "hidden_size": "dim",
    "intermediate_size": "hidden_dim",
    "num_hidden_layers": "n_layers",
    "num_attention_heads": "n_heads",
}


def random_weights(seed: int = 0, family: Family = FAMILIES["bert"], n: int = len(VOCABULARY)) -> dict[str, np.ndarray]:
    """The weights of an encoder with n pieces, by BERT's names."""
    rng = np.random.default_rng(seed)

    def weight(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape).astype(np.float32)

    embeddings = {"word": n, "position": 512 + family.offset, "token_type": family.n_types}
    weights = {f"embeddings.{kind}_embeddings.weight": weight(n, family.narrow) for kind, n in embeddings.items() if n}
    norms, maps = [], {} if family.narrow == WIDTH else {"embeddings_project": (WIDTH, family.narrow)}
    weights |= {"embeddings.LayerNorm.weight": 1 + 0.1 * weight(family.narrow)}
    weights |= {"embeddings.LayerNorm.bias": 0.1 * weight(family.narrow)}
    for i in range(LAYERS):
        layer = f"encoder.layer.{i}"
        maps |= {f"{layer}.attention.self.{part}": (WIDTH, WIDTH) for part in ("query", "key", "value")}
        maps |= {f"{layer}.attention.output.dense": (WIDTH, WIDTH), f"{layer}.intermediate.dense": (INNER, WIDTH)}
        maps[f"{layer}.output.dense"] = (WIDTH, INNER)
        norms += [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
    for name, (n, m) in maps.items():
        weights |= {f"{name}.weight": weight(n, m) / m**0.5, f"{name}.bias": 0.1 * weight(n)}
    for name in norms:
        weights |= {f"{name}.weight": 1 + 0.1 * weight(WIDTH), f"{name}.bias": 0.1 * weight(WIDTH)}
    return weights


def hidden_states(weights: dict[str, np.ndarray], ids: Sequence[int], offset: int = 0) -> np.ndarray:
    """The last hidden states, float64 (length, width); positions begin at `offset`."""
    w = {name: weight.astype(np.float64) for name, weight in weights.items()}
    embeddings = "embeddings.{}_embeddings.weight".format
    x = w[embeddings("word")][list(ids)] + w[embeddings("position")][offset : offset + len(ids)]
    x = _norm(w, "embeddings.LayerNorm", x + w.get(embeddings("token_type"), np.zeros((1, 1)))[0])
    x = _linear(w, "embeddings_project", x) if "embeddings_project.weight" in w else x
    for i in range(LAYERS):
        layer = f"encoder.layer.{i}"
        queries, keys, values = (
            _linear(w, f"{layer}.attention.self.{part}", x).reshape(len(ids), HEADS, -1).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = np.exp(queries @ keys.transpose(0, 2, 1) / (WIDTH / HEADS) ** 0.5)
        context = scores / scores.sum(-1, keepdims=True) @ values
        context = context.transpose(1, 0, 2).reshape(len(ids), WIDTH)
        x = _norm(w, f"{layer}.attention.output.LayerNorm", x + _linear(w, f"{layer}.attention.output.dense", context))
        inner = _linear(w, f"{layer}.intermediate.dense", x)
        inner = inner * _normal_probability(inner)
        x = _norm(w, f"{layer}.output.LayerNorm", x + _linear(w, f"{layer}.output.dense", inner))
    return x


def _linear(weights: dict[str, np.ndarray], name: str, x: np.ndarray) -> np.ndarray:
    return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def _norm(weights: dict[str, np.ndarray], name: str, x: np.ndarray) -> np.ndarray:
    x = (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True)
    return x * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def _normal_probability(x: np.ndarray) -> np.ndarray:
    from scipy.special import ndtr

    return ndtr(x)


def make_encoder(seed: int = 0, *, quantized: bool = False) -> Encoder:
    """A small random encoder; skips the test where onnx or onnxruntime is not installed."""
    pytest.importorskip("onnxruntime", reason="encoders are run by onnxruntime")
    pytest.importorskip("onnx", reason="the encoder of the test is written by onnx")
    from spacy_lpcfg.evidence.pretrained.graph import encoder_model
    from spacy_lpcfg.evidence.pretrained.weights import encoder_weights

    weights = encoder_weights({**CONFIG, "layer_norm_eps": 1e-12}, random_weights(seed))
    model = encoder_model(weights, quantized=quantized)
    return Encoder(model, WordPieces(VOCABULARY), {"name": "random", "licence": "none"})


def random_classifier(width: int) -> SpanClassifier:
    """A classifier of two chains and three tags."""
    rng = np.random.default_rng(0)
    sizes = {"n_cases": N_CASES, "width": width, "hidden": 8, "n_chains": 2, "n_tags": 3}
    weights = {name: rng.standard_normal([sizes[size] for size in shape]) for name, shape in SHAPES.items()}
    return SpanClassifier.of([("NP",), ("S", "VP")], ["A", "B", "C"], weights)


def write_hub(folder: Path, name: str = "bert") -> dict[str, np.ndarray]:
    """Write the folder of a random encoder of a family, as the hub has it; its weights by BERT's names."""
    family, is_unigram = FAMILIES[name], name in ("xlm-roberta", "multilingual-e5")
    weights = random_weights(0, family, len(UNIGRAMS) if is_unigram else len(VOCABULARY))
    config: dict[str, Any] = {**CONFIG, "layer_norm_eps": 1e-12, **(family.config or {})}
    named = weights
    if name == "distilbert":
        config = {_SIZES.get(key, key): value for key, value in config.items() if key != "layer_norm_eps"}
        named = {_renamed(key): weight for key, weight in weights.items()}
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    write_safetensors(folder / "model.safetensors", {f"{family.prefix}{key}": w for key, w in named.items()})
    write_tokenizer(folder, is_unigram=is_unigram)
    (folder / "README.md").write_text("---\nlicense: mit\n---\n# Random\n", encoding="utf-8")
    return weights


def _renamed(name: str) -> str:
    for old, new in _OF_DISTILBERT.items():
        name = name.replace(old, new)
    return name


def write_tokenizer(folder: Path, *, is_unigram: bool) -> None:
    """Write the vocabulary of a hub's folder."""
    if is_unigram:
        model = {"type": "Unigram", "unk_id": 3, "vocab": UNIGRAMS}
        tokenizer = {"added_tokens": [], "normalizer": {"type": "Precompiled"}, "model": model}
    else:
        model = {"type": "WordPiece", "vocab": {piece: i for i, piece in enumerate(VOCABULARY)}}
        tokenizer = {"added_tokens": [], "normalizer": {"type": "BertNormalizer", "lowercase": True}, "model": model}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")


def write_safetensors(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """Write arrays in the format safetensors."""
    header, data = {}, b""
    for name, array in arrays.items():
        kind = {"float32": "F32", "float16": "F16", "int64": "I64"}[array.dtype.name]
        offsets = [len(data), len(data) + array.nbytes]
        header[name] = {"dtype": kind, "shape": array.shape, "data_offsets": offsets}
        data += array.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
