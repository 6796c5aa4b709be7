"""A BERT encoder as an ONNX graph, from its tensors alone: no torch, no tracing, no example input.

The graph takes ``input_ids``, ``attention_mask`` and ``token_type_ids`` (int64, texts by tokens)
and gives ``last_hidden_state`` (float32, texts by tokens by width). Pooling is left to whoever
runs it, as fastembed and chroma both expect. Operators and their order follow from the sizes
alone and every tensor keeps its name, so equal weights make an equal file, byte for byte.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

Tensors = Mapping[str, np.ndarray[Any, Any]]

OPSET = 20
"""The first that has GELU as one operator; onnxruntime 1.17 and later run it."""
IR_VERSION = 9
"""The file format that came with this operator set."""
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
OUTPUT = "last_hidden_state"


@dataclass(frozen=True)
class Sizes:
    """What decides the graph's shape."""

    width: int
    heads: int
    layers: int
    epsilon: float

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> "Sizes":
        """Out of a model's ``config.json``.

        Raises:
            ValueError: it describes another kind of model.
        """
        kind = tuple(config[key] for key in ("model_type", "hidden_act", "position_embedding_type"))
        if kind != ("bert", "gelu", "absolute"):
            raise ValueError(f"no BERT with GELU and absolute positions: {kind}")
        return cls(
            config["hidden_size"],
            config["num_attention_heads"],
            config["num_hidden_layers"],
            config["layer_norm_eps"],
        )


def model(tensors: Tensors, sizes: Sizes, name: str) -> onnx.ModelProto:
    """The whole model.

    Args:
        tensors: the weights, by the names the transformers library gives them.
        sizes: of the model they belong to.
        name: what the graph is called in the file.

    Raises:
        KeyError: a tensor is missing.
        onnx.checker.ValidationError: what came out is no valid model.
    """
    graph = _Graph(tensors, sizes)
    state = graph.embeddings()
    mask = graph.mask()
    for number in range(sizes.layers):
        state = graph.layer(f"encoder.layer.{number}", state, mask)
    graph.nodes.append(helper.make_node("Identity", [state], [OUTPUT], name=OUTPUT))

    def told(value: str, kind: int, *more: int) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(value, kind, ["texts", "tokens", *more])

    made = helper.make_model(
        helper.make_graph(
            graph.nodes,
            name,
            [told(each, TensorProto.INT64) for each in INPUTS],
            [told(OUTPUT, TensorProto.FLOAT, sizes.width)],
            graph.constants,
        ),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="memory-bench",
    )
    onnx.checker.check_model(made, full_check=True)
    return made


class _Graph:
    """A graph that grows node by node. Every method takes and gives names of values."""

    def __init__(self, tensors: Tensors, sizes: Sizes) -> None:
        self._tensors, self._sizes = tensors, sizes
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        heads, each = sizes.heads, sizes.width // sizes.heads
        # In a shape, 0 keeps what is there.
        self._split = self._constant("shape.heads", np.array([0, 0, heads, each]))
        self._joined = self._constant("shape.joined", np.array([0, 0, sizes.width]))
        self._scale = self._constant("scale", np.float32(each**-0.5))

    # ------------------------------------------------------------ parts of BERT

    def embeddings(self) -> str:
        """What each token starts as: its word, its place and its kind, normalised."""
        ids, _mask, kinds = INPUTS
        length = self._node("Shape", ids, start=1, end=2)
        places = self._node(
            "Range",
            self._constant("nought", np.int64(0)),
            self._node("Squeeze", length),
            self._constant("one", np.int64(1)),
        )
        word, kind, place = (
            self._node("Gather", self._weight(f"embeddings.{table}_embeddings.weight"), which)
            for table, which in (("word", ids), ("token_type", kinds), ("position", places))
        )
        state = self._node("Add", self._node("Add", word, kind), place)
        return self._norm("embeddings.LayerNorm", state)

    def mask(self) -> str:
        """What is added to every score: nought for a token, as good as minus infinity for none."""
        spread = self._node(
            "Unsqueeze", "attention_mask", self._constant("axes.mask", np.array([1, 2]))
        )
        seen = self._node("Cast", spread, to=TensorProto.FLOAT)
        unseen = self._node("Sub", self._constant("seen", np.float32(1)), seen)
        return self._node("Mul", unseen, self._constant("never", np.finfo(np.float32).min))

    def layer(self, name: str, state: str, mask: str) -> str:
        """One layer: attention, then each token by itself; both beside what they were given."""
        attended = self._dense(f"{name}.attention.output.dense", self._attention(name, state, mask))
        state = self._norm(f"{name}.attention.output.LayerNorm", self._node("Add", attended, state))
        wide = self._node("Gelu", self._dense(f"{name}.intermediate.dense", state))
        narrow = self._dense(f"{name}.output.dense", wide)
        return self._norm(f"{name}.output.LayerNorm", self._node("Add", narrow, state))

    def _attention(self, name: str, state: str, mask: str) -> str:
        def heads(part: str, order: Sequence[int]) -> str:
            flat = self._dense(f"{name}.attention.self.{part}", state)
            return self._node("Transpose", self._node("Reshape", flat, self._split), perm=order)

        query, value = heads("query", (0, 2, 1, 3)), heads("value", (0, 2, 1, 3))
        key = heads("key", (0, 2, 3, 1))
        scores = self._node("Mul", self._node("MatMul", query, key), self._scale)
        shares = self._node("Softmax", self._node("Add", scores, mask), axis=-1)
        seen = self._node("Transpose", self._node("MatMul", shares, value), perm=(0, 2, 1, 3))
        return self._node("Reshape", seen, self._joined)

    def _dense(self, name: str, state: str) -> str:
        turned = np.ascontiguousarray(self._tensors[f"{name}.weight"].T)
        product = self._node("MatMul", state, self._constant(f"{name}.weight", turned))
        return self._node("Add", product, self._weight(f"{name}.bias"))

    def _norm(self, name: str, state: str) -> str:
        return self._node(
            "LayerNormalization",
            state,
            self._weight(f"{name}.weight"),
            self._weight(f"{name}.bias"),
            axis=-1,
            epsilon=self._sizes.epsilon,
        )

    # ------------------------------------------------------------ what a graph is made of

    def _node(self, operator: str, *given: str, **attributes: Any) -> str:
        name = f"{operator}.{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, given, [name], name=name, **attributes))
        return name

    def _weight(self, name: str) -> str:
        return self._constant(name, self._tensors[name])

    def _constant(self, name: str, value: Any) -> str:
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name
