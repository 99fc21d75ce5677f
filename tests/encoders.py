"""A small random encoder, as ONNX and as a slow reference in numpy."""

from __future__ import annotations

import runpy
from collections.abc import Sequence

import numpy as np
import pytest
from paths import ROOT

from spacy_lpcfg.evidence.encoder import Encoder

WIDTH, INNER, HEADS, LAYERS = 16, 32, 2, 2
VOCABULARY = (
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "dog", "dogs", "##s", "bark", "##ed", "##ing", "it", "rain", "a"),
    *(".", ",", "-", "(", ")", '"', "'", "/", "1", "##1", "e", "##e", "漢"),
)


def random_weights(seed: int = 0) -> dict[str, np.ndarray]:
    """The weights of an encoder, by BERT's names."""
    rng = np.random.default_rng(seed)

    def weight(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape).astype(np.float32)

    embeddings = {"word": len(VOCABULARY), "position": 512, "token_type": 2}
    weights = {f"embeddings.{kind}_embeddings.weight": weight(n, WIDTH) for kind, n in embeddings.items()}
    norms, maps = ["embeddings.LayerNorm"], {}
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


def hidden_states(weights: dict[str, np.ndarray], ids: Sequence[int]) -> np.ndarray:
    """The last hidden states of BERT, float64 (length, width)."""
    w = {name: weight.astype(np.float64) for name, weight in weights.items()}
    embeddings = "embeddings.{}_embeddings.weight".format
    x = w[embeddings("word")][list(ids)] + w[embeddings("position")][: len(ids)] + w[embeddings("token_type")][0]
    x = _norm(w, "embeddings.LayerNorm", x)
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
    encoder_model = runpy.run_path(str(ROOT / "scripts" / "encoder_graph.py"))["encoder_model"]
    model = encoder_model(random_weights(seed), n_heads=HEADS, quantized=quantized)
    return Encoder(model, VOCABULARY, {"name": "random", "licence": "none"})
