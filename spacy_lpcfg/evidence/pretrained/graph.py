"""Export of encoders of BERT's family to ONNX, in 32-bit floats or quantized to 8 bits.

Quantized weights have one scale per column. The inputs of a product have one scale per row, that is per word piece, so
that the vectors of a sentence do not depend on its batch. (onnxruntime's `quantize_dynamic` has one scale for a whole
batch.) Weights are from -64 to 64, so that no sum of two products overflows 16 bits on processors without VNNI.
Embeddings are from -31 to 31 with one scale per row, which loses no accuracy and makes a compressed file 3 MB smaller.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from spacy_lpcfg.evidence.pretrained.weights import POSITIONS, PROJECTION, WORDS, EncoderWeights

_OPSET, _FORMAT = 17, 8  # for onnxruntime 1.17 and later
_LARGEST_WEIGHT, _LARGEST_EMBEDDING, _LARGEST_INPUT, _ZERO = 64, 31, 127, 128
_MICROSOFT = "com.microsoft"  # fused operators, which onnxruntime has


def encoder_model(weights: EncoderWeights, *, quantized: bool = True) -> bytes:
    """Export an encoder to ONNX: from input_ids and attention_mask, int64 (n, length), to last_hidden_state.

    weights (EncoderWeights): The weights.
    quantized (bool): Whether weights are stored and multiplied in 8 bits.
    RETURNS (bytes): The serialized model; its output is float32 (n, length, width).
    """
    graph = _Graph(weights, quantized)
    x = graph.embeddings()
    for i in range(weights.n_layers):
        x = graph.layer(x, f"encoder.layer.{i}.", weights.n_heads)
    return graph.model(x)


class _Graph:
    """Builder of an ONNX graph; its methods add nodes and return the names of their outputs."""

    def __init__(self, weights: EncoderWeights, quantized: bool) -> None:
        self.weights, self.epsilon, self.quantized = weights.arrays, weights.epsilon, quantized
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.shape = self.add("Shape", "input_ids")
        self.mask = self.add("Cast", "attention_mask", to=TensorProto.INT32)

    def constant(self, value: Any, dtype: str = "float32") -> str:
        name = f"constant{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value, dtype), name))
        return name

    def add(self, kind: str, *inputs: str, n_outputs: int = 1, domain: str = "", **attributes: Any) -> Any:
        outputs = [f"{kind}{len(self.nodes)}_{i}" for i in range(n_outputs)]
        self.nodes.append(helper.make_node(kind, inputs, outputs, domain=domain, **attributes))
        return outputs[0] if n_outputs == 1 else outputs

    def embeddings(self) -> str:
        length = self.add("Gather", self.shape, self.constant([1], "int64"))
        zero = self.constant([0], "int64")
        words = self.rows(self.weights[WORDS], lambda constant: self.add("Gather", constant, "input_ids"))
        places = self.rows(self.weights[POSITIONS], lambda constant: self.add("Slice", constant, zero, length, zero))
        x = self.add("Add", words, places)
        x = self.add("LayerNormalization", x, *self.norm("embeddings.LayerNorm"), epsilon=self.epsilon)
        if f"{PROJECTION}.weight" not in self.weights:
            return x
        bias = self.constant(self.weights[f"{PROJECTION}.bias"])
        return self.add("Add", self.product(x, self.weights[f"{PROJECTION}.weight"]), bias)

    def rows(self, table: np.ndarray, select: Callable[[str], str]) -> str:
        """Add the look-up of rows of an embedding table; `select` adds the node that selects rows of a constant."""
        if not self.quantized:
            return select(self.constant(table))
        scales = np.maximum(np.abs(table).max(1, keepdims=True), 1e-9) / _LARGEST_EMBEDDING
        row = select(self.constant(np.round(table / scales), "int8"))
        return self.add("Mul", self.add("Cast", row, to=TensorProto.FLOAT), select(self.constant(scales)))

    def layer(self, x: str, name: str, n_heads: int) -> str:
        parts = [f"{name}attention.self.{part}" for part in ("query", "key", "value")]
        matrix, bias = (
            np.concatenate([self.weights[f"{part}.{kind}"] for part in parts]) for kind in ("weight", "bias")
        )
        sizes = self.constant([len(matrix) // 3] * 3, "int64")
        inputs = self.add("Split", self.product(x, matrix), sizes, n_outputs=3, axis=-1)
        context = self.add(
            "MultiHeadAttention", *inputs, self.constant(bias), self.mask, domain=_MICROSOFT, num_heads=n_heads
        )
        x = self.sublayer(context, x, f"{name}attention.output")
        inner = self.product(x, self.weights[f"{name}intermediate.dense.weight"])
        bias = self.weights[f"{name}intermediate.dense.bias"]
        return self.sublayer(self.add("BiasGelu", inner, self.constant(bias), domain=_MICROSOFT), x, f"{name}output")

    def sublayer(self, x: str, residual: str, name: str) -> str:
        """Add a linear map of x, the residual connection and the layer norm."""
        y = self.product(x, self.weights[f"{name}.dense.weight"])
        bias = self.constant(self.weights[f"{name}.dense.bias"])
        norm = self.norm(f"{name}.LayerNorm")
        return self.add("SkipLayerNormalization", y, residual, *norm, bias, domain=_MICROSOFT, epsilon=self.epsilon)

    def norm(self, name: str) -> list[str]:
        return [self.constant(self.weights[f"{name}.{kind}"]) for kind in ("weight", "bias")]

    def product(self, x: str, matrix: np.ndarray) -> str:
        """Add the product of x with the transpose of a matrix (n_outputs, n_inputs)."""
        if not self.quantized:
            return self.add("MatMul", x, self.constant(matrix.T))
        n_outputs, n_inputs = matrix.shape
        flat = self.add("Reshape", x, self.constant([-1, n_inputs], "int64"))
        rows, scale, zero = self.quantized_rows(flat)
        scales = np.maximum(np.abs(matrix).max(1, keepdims=True), 1e-9) / _LARGEST_WEIGHT
        integers = self.constant(np.round(matrix / scales).T, "int8")
        one, column_scales = self.constant(1.0), self.constant(scales[:, 0])
        y = self.add("MatMulIntegerToFloat", rows, integers, one, column_scales, zero, domain=_MICROSOFT)
        y = self.add("Mul", y, self.add("Unsqueeze", scale, self.constant([1], "int64")))
        shape = self.add("Concat", self.shape, self.constant([n_outputs], "int64"), axis=0)
        return self.add("Reshape", y, shape)

    def quantized_rows(self, x: str) -> tuple[str, str, str]:
        """Add the quantization of x to uint8 by rows; return the rows, the scale of each row, and the zero point."""
        largest, least = (self.add(kind, x, axes=[-1], keepdims=0) for kind in ("ReduceMax", "ReduceMin"))
        bound = self.add("Max", largest, self.add("Neg", least), self.constant(1e-9))
        scale = self.add("Mul", bound, self.constant(1 / _LARGEST_INPUT))
        zeros = self.add("Mul", scale, self.constant(0.0))  # QuantizeLinear wants one a row
        zeros = self.add("Cast", self.add("Add", zeros, self.constant(_ZERO)), to=TensorProto.UINT8)
        return self.add("QuantizeLinear", x, scale, zeros, axis=0), scale, self.constant(_ZERO, "uint8")

    def model(self, x: str) -> bytes:
        self.nodes.append(helper.make_node("Identity", [x], ["last_hidden_state"]))
        size = ["n", "length"]
        inputs = [
            helper.make_tensor_value_info(name, TensorProto.INT64, size) for name in ("input_ids", "attention_mask")
        ]
        width = self.weights["encoder.layer.0.output.LayerNorm.bias"].size
        output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*size, width])
        graph = helper.make_graph(self.nodes, "encoder", inputs, [output], self.constants)
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=_FORMAT).SerializeToString()
