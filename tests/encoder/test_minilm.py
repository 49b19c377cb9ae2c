"""The shipped encoder against the published one, and against itself in other company."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import numpy_helper

from pyramidion.encoder.minilm import KEPT, PROBE, WINDOW, Encoder, session, wordpiece

SENTENCES = [
    "The cat sat on the mat.",
    "A cat was sitting on a rug.",
    "Stock markets fell sharply on Monday.",
    "Shares dropped at the start of the week.",
    "The minister resigned after the vote.",
]
PUBLISHED = np.array(
    [
        [1.0, 0.742, 0.023, 0.074, 0.060],
        [0.742, 1.0, 0.037, 0.085, 0.051],
        [0.023, 0.037, 1.0, 0.589, 0.153],
        [0.074, 0.085, 0.589, 1.0, 0.192],
        [0.060, 0.051, 0.153, 0.192, 1.0],
    ]
)
"""Cosines of all-MiniLM-L6-v2 in 32 bits, mean-pooled, to three decimals."""


@pytest.fixture(scope="module")
def encoder():
    return Encoder()


def one(encoder, text, **choices):
    (found,) = encoder.encode([text], **choices)
    return found


def test_tuning_has_left_cosines_near_those_of_the_published_model(encoder):
    vectors = np.array([found.sentence for found in encoder.encode(SENTENCES)])
    assert np.abs(vectors @ vectors.T - PUBLISHED).max() < 0.05


def test_products_are_exact_on_every_processor():
    """Without VNNI, products of unsigned and signed bytes are added up in 16 bits and cut off there, unless one asks
    for better. Those of two unsigned bytes never are: with the same weights, moved by 128, they give the same bits."""
    model = onnx.load_from_string(files("pyramidion.data").joinpath("encoder.onnx").read_bytes())
    constants = {each.name: each for each in model.graph.initializer}
    model.graph.initializer.append(numpy_helper.from_array(np.array(128, np.uint8), "moved"))
    products = [node for node in model.graph.node if node.op_type == "MatMulInteger"]
    for node in products:
        weights = numpy_helper.to_array(constants[node.input[1]]).astype(np.int16) + 128
        constants[node.input[1]].CopyFrom(numpy_helper.from_array(weights.astype(np.uint8), node.input[1]))
        node.input.append("moved")
    assert len(products) == 24
    unsigned = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    words = wordpiece().words(PROBE)
    ids = np.array([[wordpiece().start, *(piece for pieces in words.pieces for piece in pieces), wordpiece().end]])
    inputs = {"ids": ids, "mask": np.ones_like(ids)}
    assert np.array_equal(unsigned.run(["tokens"], inputs)[0], session().run(["tokens"], inputs)[0])


def test_vectors_do_not_depend_on_what_else_is_encoded():
    alone = [one(Encoder(), text) for text in SENTENCES]
    together = list(Encoder().encode([*SENTENCES, "Much longer than all of them. " * 30, "Short."]))
    for a, b in zip(alone, together, strict=False):
        np.testing.assert_allclose(a.vectors, b.vectors, atol=1e-4)


def test_the_last_layer_is_what_it_is_without_the_others(encoder):
    plain, layered = one(Encoder(), SENTENCES[0]), one(Encoder(), SENTENCES[0], layers=True)
    assert plain.layers is None
    assert layered.layers.shape == (len(plain.spans), 6 * 384)
    np.testing.assert_allclose(plain.vectors, layered.layers[:, -384:], atol=1e-5)
    np.testing.assert_allclose(plain.sentence, layered.sentence, atol=1e-5)


def test_long_texts_are_windowed_and_nothing_is_cut_off(encoder):
    text = " ".join(f"word{i}" for i in range(3 * WINDOW))
    found = one(encoder, text)
    assert len(found.spans) == len(found.vectors) == len(text.split())
    assert found.spans[-1].of(text) == text.split()[-1]
    assert np.isfinite(found.vectors).all()


def test_a_word_longer_than_a_window(encoder):
    assert len(one(encoder, "é" * 5000).vectors) == 1


@pytest.mark.parametrize("text", ["", " \n", "\u200b"])
def test_nothing_has_no_words_and_still_a_vector(encoder, text):
    found = one(encoder, text)
    assert found.vectors.shape == (0, 384)
    assert np.linalg.norm(found.sentence) == pytest.approx(1)


def test_order_and_repeats_are_kept(encoder):
    texts = [SENTENCES[i % 3] for i in range(10)]
    found = list(encoder.encode(texts))
    for i, each in enumerate(found):
        np.testing.assert_array_equal(each.sentence, found[i % 3].sentence)


@pytest.mark.slow
def test_memory_of_recent_texts_is_bounded():
    encoder = Encoder()
    for _ in encoder.encode(f"Text {i}." for i in range(KEPT + 700)):
        pass
    assert len(encoder._recent) <= KEPT
