"""WTMF against the closed form on small matrices: Guo and Diab 2012."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from pyramidion.errors import InputError, UsageError
from pyramidion.pyramids import wtmf
from pyramidion.pyramids.wtmf import WtmfModel, loss, solve, train, words_of

CORPUS = [
    "the cat sat on the mat",
    "a cat and a dog sat together",
    "dogs and cats are animals",
    "the bank raised interest rates by 0.5 percent",
    "interest rates of the bank fell by 0.5 percent",
    "the central bank sets interest rates",
    "a dog chased the cat",
    "percent of animals like the mat",
]


def closed_form(matrix: np.ndarray, other: np.ndarray, w_m: float, lam: float) -> np.ndarray:
    """The normal equations row by row, with every weight written out: (P W P' + lambda I)^-1 P W x."""
    rows = []
    for row in matrix:
        weight = np.diag(np.where(row != 0, 1.0, w_m))
        left = other.T @ weight @ other + lam * np.eye(other.shape[1])
        rows.append(np.linalg.solve(left, other.T @ weight @ row))
    return np.array(rows)


def dense_loss(matrix: np.ndarray, vectors: np.ndarray, factors: np.ndarray, w_m: float, lam: float) -> float:
    weight = np.where(matrix != 0, 1.0, w_m)
    error = weight * (factors @ vectors.T - matrix) ** 2
    return float(error.sum() + lam * ((vectors**2).sum() + (factors**2).sum()))


@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(1, 12),
    columns=st.integers(1, 30),
    dimensions=st.integers(1, 8),
    w_m=st.sampled_from([0.01, 0.3, 1.0]),
    lam=st.sampled_from([0.1, 20.0]),
)
def test_one_step_is_the_closed_form(
    seed: int, rows: int, columns: int, dimensions: int, w_m: float, lam: float
) -> None:
    """Rows with fewer and with more entries than dimensions take different ways to the same result."""
    rng = np.random.default_rng(seed)
    matrix = np.where(rng.random((rows, columns)) < rng.random((rows, 1)), rng.uniform(0.5, 5, (rows, columns)), 0.0)
    other = rng.normal(size=(columns, dimensions))
    found = solve(sparse.csr_array(matrix), other, absent_weight=w_m, regularisation=lam)
    assert np.allclose(found, closed_form(matrix, other, w_m, lam), atol=1e-8)
    measured = loss(sparse.csr_array(matrix), other, found, absent_weight=w_m, regularisation=lam)
    assert measured == pytest.approx(dense_loss(matrix, other, found, w_m, lam))


def test_by_hand_in_one_dimension() -> None:
    # Two words with vectors 1 and 2; a text has the first with value 3. w_m .5, lambda 1:
    # (1*1 + .5*4 + 1)^-1 * (1*3) = 3 / 4
    found = solve(sparse.csr_array([[3.0, 0.0]]), np.array([[1.0], [2.0]]), absent_weight=0.5, regularisation=1.0)
    assert found == pytest.approx(np.array([[0.75]]))


def test_small_blocks_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    matrix = sparse.csr_array(np.where(rng.random((50, 40)) < 0.3, rng.random((50, 40)) + 1, 0.0))
    other = rng.normal(size=(40, 5))
    whole = solve(matrix, other, absent_weight=0.01, regularisation=1.0)
    monkeypatch.setattr(wtmf, "_BLOCK", 1)
    assert np.allclose(solve(matrix, other, absent_weight=0.01, regularisation=1.0), whole)


def small_model(seed: int = 0, rounds: int = 15) -> WtmfModel:
    return train(CORPUS, rng=np.random.default_rng(seed), dimensions=4, regularisation=0.5, rounds=rounds)


def test_the_loss_never_increases() -> None:
    losses = small_model().losses
    assert len(losses) == 15
    assert all(later <= earlier + 1e-9 for earlier, later in pairwise(losses))
    assert losses[-1] < losses[0]


def test_training_is_repeatable() -> None:
    assert np.array_equal(small_model(3).vectors, small_model(3).vectors)
    assert not np.array_equal(small_model(3).vectors, small_model(4).vectors)


def test_related_texts_are_closer_than_unrelated_ones() -> None:
    cat, dog, bank = small_model().embed(["the cat sat", "a dog and a cat", "interest rates of the bank"])
    assert cat @ dog > cat @ bank
    assert np.linalg.norm(cat) == pytest.approx(1)


def test_fold_in_is_the_closed_form_on_tf_idf() -> None:
    model = small_model()
    row = np.zeros(len(model.words))
    for word, count in {"bank": 2, "0.5": 1}.items():
        row[model.words.index(word)] = count * model.idf[model.words.index(word)]
    expected = closed_form(row[None, :], model.vectors, model.absent_weight, model.regularisation)
    assert np.allclose(model.fold_in(["Bank, 0.5 bank unheard"]), expected)
    in_corpus = [sum("bank" in words_of(text) for text in CORPUS), len(CORPUS)]
    assert model.idf[model.words.index("bank")] == pytest.approx(np.log(in_corpus[1] / in_corpus[0]))


def test_a_text_without_known_words_is_zero() -> None:
    assert not small_model().embed(["", "zebra"]).any()
    assert small_model().embed([]).shape == (0, 4)


def test_numbers_stay_numbers() -> None:
    assert words_of("Prices rose 1,481 or 0.5% in 2019; it's The-End_now") == [
        *["prices", "rose", "1,481", "or", "0.5", "in", "2019", "it's", "the", "end", "now"]
    ]


def test_a_model_survives_the_file(tmp_path: Path) -> None:
    model = small_model()
    model.save(tmp_path / "model.wtmf")
    again = WtmfModel.load(tmp_path / "model.wtmf")
    assert again.words == model.words
    assert again.losses == model.losses
    texts = ["the cat sat", "bank 0.5 percent"]
    assert np.allclose(again.embed(texts), model.embed(texts), atol=1e-5)


def test_other_files_are_refused_with_their_name(tmp_path: Path) -> None:
    (tmp_path / "notes.npz").write_text("no model")
    np.savez(tmp_path / "other.npz", a=np.ones(3))
    for name in ("notes.npz", "other.npz", "missing.npz"):
        with pytest.raises(InputError, match=name):
            WtmfModel.load(tmp_path / name)


def test_a_corpus_without_repeated_words_teaches_nothing() -> None:
    with pytest.raises(UsageError, match="2 texts"):
        train(["one two", "three"], rng=np.random.default_rng(0))
    with pytest.raises(UsageError, match="absent_weight"):
        train(CORPUS, rng=np.random.default_rng(0), absent_weight=0)
