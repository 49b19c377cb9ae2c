"""WTMF: vectors of short texts by weighted matrix factorisation: Guo and Diab, Modeling Sentences (ACL 2012).

The words x texts matrix X of TF-IDF values is factored into P'Q, a column of P for each word and of Q for each text, by
minimising

    sum over words i and texts j of W_ij (P_i . Q_j - X_ij)^2  +  lambda (|P|^2 + |Q|^2)

where W is 1 for the words a text has and w_m = 0.01 for those it has not: a text is also characterised by the words it
lacks, and a short text lacks nearly all. Alternating least squares solves for all Q_j given P, then for P_i given Q. A
new text is folded in by the first of these steps.

The sum over absent words is the same for all texts but for the few words each has, so nothing of the size words x texts
is ever built. With G = w_m P P' + lambda I, and S the words of a text,

    Q_j = (G + (1 - w_m) P_S P_S')^-1 P_S x  =  G^-1 P_S (I + (1 - w_m) P_S' G^-1 P_S)^-1 x

and the right-hand form needs a system of the size of S only, about ten words instead of 100 dimensions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pyramidion.errors import InputError, Problem, UsageError

Floats = NDArray[np.float64]
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*")
_BLOCK = 1 << 18  # numbers in one array of a block of texts
_FORMAT = 1


def words_of(text: str) -> list[str]:
    """Lower-case words; numbers stay what they are ("1,481" and "0.5" are one word each)."""
    return _WORD.findall(text.lower())


@dataclass(frozen=True, eq=False)
class WtmfModel:
    """A vector and an inverse document frequency for each word, and how absent words and long vectors count.

    ``losses`` says how training went: the loss after each round, never greater than before.
    """

    words: tuple[str, ...]
    idf: Floats
    vectors: Floats  # words x dimensions: P'
    absent_weight: float
    regularisation: float
    losses: tuple[float, ...] = ()

    @property
    def dimensions(self) -> int:
        return int(self.vectors.shape[1])

    @cached_property
    def _number(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.words)}

    def fold_in(self, texts: Sequence[str]) -> Floats:
        """The factor Q of each text (texts x dimensions). Words not seen in training do not count."""
        known = _tf_idf([words_of(text) for text in texts], self._number, self.idf)
        return solve(known, self.vectors, absent_weight=self.absent_weight, regularisation=self.regularisation)

    def embed(self, texts: Sequence[str]) -> Floats:
        """The same as unit vectors, so that products are cosines; zero for a text without any known word."""
        factors = self.fold_in(texts)
        length = np.linalg.norm(factors, axis=1, keepdims=True)
        return np.asarray(np.divide(factors, length, out=np.zeros_like(factors), where=length > 0))

    def save(self, path: Path) -> None:
        """Write to a .npz file."""
        with path.open("wb") as file:  # savez would add a suffix to a name
            np.savez_compressed(
                file,
                format=np.array(_FORMAT),
                words=np.array(self.words, dtype=np.str_),
                idf=self.idf,
                vectors=self.vectors.astype(np.float32),
                absent_weight=np.array(self.absent_weight),
                regularisation=np.array(self.regularisation),
                losses=np.array(self.losses),
            )

    @classmethod
    def load(cls, path: Path) -> WtmfModel:
        """Read what `save` wrote; never runs code from the file."""
        try:
            with np.load(path, allow_pickle=False) as data:
                if int(data["format"]) != _FORMAT:
                    raise InputError(
                        Problem(
                            str(path),
                            f"the file has WTMF format {int(data['format'])}; this version reads format {_FORMAT}",
                        )
                    )
                return cls(
                    tuple(data["words"].tolist()),
                    data["idf"].astype(np.float64),
                    data["vectors"].astype(np.float64),
                    float(data["absent_weight"]),
                    float(data["regularisation"]),
                    tuple(data["losses"].tolist()),
                )
        except (OSError, ValueError, KeyError, EOFError) as error:
            raise InputError(Problem(str(path), f"is not a WTMF model: {error}")) from error


def train(
    corpus: Iterable[str],
    *,
    rng: np.random.Generator,
    dimensions: int = 100,
    absent_weight: float = 0.01,
    regularisation: float = 20.0,
    rounds: int = 20,
    min_count: int = 2,
    progress: Callable[[int, float], None] = lambda _round, _loss: None,
) -> WtmfModel:
    """Learn from texts (sentences, definitions), given one at a time. The defaults are the paper's.

    ``min_count``: words in fewer texts have nothing to be learnt from. ``progress`` is called with each round and its
    loss.
    """
    if dimensions < 1 or not 0 < absent_weight <= 1 or regularisation <= 0:
        raise UsageError("WTMF needs dimensions >= 1, absent_weight above 0 and at most 1, and regularisation above 0")
    texts = _Corpus.of(corpus, min_count)
    if not texts.words:
        raise UsageError(f"no word of the corpus occurs in at least {min_count} texts")
    by_text = texts.tf_idf()
    by_word = by_text.T.tocsr()
    vectors = rng.standard_normal((len(texts.words), dimensions)) / np.sqrt(dimensions)
    losses = []
    for turn in range(rounds):
        factors = solve(by_text, vectors, absent_weight=absent_weight, regularisation=regularisation)
        vectors = solve(by_word, factors, absent_weight=absent_weight, regularisation=regularisation)
        losses.append(loss(by_text, vectors, factors, absent_weight=absent_weight, regularisation=regularisation))
        progress(turn + 1, losses[-1])
    return WtmfModel(texts.words, texts.idf, vectors, absent_weight, regularisation, tuple(losses))


def solve(matrix: sparse.csr_array, other: Floats, *, absent_weight: float, regularisation: float) -> Floats:
    """One half of a round: the best factor for each row of the matrix, given those of its columns."""
    dimensions = other.shape[1]
    common = absent_weight * (other.T @ other) + regularisation * np.eye(dimensions)
    padded = np.vstack([other, np.zeros(dimensions)])  # the last row stands for "no word"
    spread = np.linalg.solve(common, padded.T).T  # G^-1 P, a row for each column of the matrix
    factors = np.zeros((matrix.shape[0], dimensions))
    present = 1.0 - absent_weight
    for block in _blocks(matrix, dimensions):
        vectors, through = padded[block.columns], spread[block.columns]
        if block.columns.shape[1] <= dimensions:
            # Not a stack of BLAS products: they are so small that waiting for its threads would take longest.
            inner = np.eye(block.columns.shape[1]) + present * np.einsum("bik,bjk->bij", vectors, through)
            share = np.linalg.solve(inner, block.values[:, :, None])
            factors[block.rows] = (through * share).sum(axis=1)
        else:
            normal = common + present * (vectors.transpose(0, 2, 1) @ vectors)
            right = (vectors * block.values[:, :, None]).sum(axis=1)
            factors[block.rows] = np.linalg.solve(normal, right[:, :, None])[:, :, 0]
    return factors


def loss(
    matrix: sparse.csr_array, vectors: Floats, factors: Floats, *, absent_weight: float, regularisation: float
) -> float:
    """What training minimises, without building words x texts: all products count w_m, present ones are corrected."""
    entries = matrix.tocoo()
    product = np.einsum("ij,ij->i", factors[entries.row], vectors[entries.col])
    everywhere = absent_weight * float(((factors.T @ factors) * (vectors.T @ vectors)).sum())
    correction = float(((product - entries.data) ** 2 - absent_weight * product**2).sum())
    return everywhere + correction + regularisation * float((vectors**2).sum() + (factors**2).sum())


class _Block(NamedTuple):
    """Rows with a similar number of entries: their columns (filled up with "no word") and values."""

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    values: Floats


def _blocks(matrix: sparse.csr_array, dimensions: int) -> Iterator[_Block]:
    start, nothing = matrix.indptr.astype(np.intp), matrix.shape[1]
    length = np.diff(start)
    order = np.argsort(length, kind="stable")
    order = order[length[order] > 0]
    first = 0
    while first < len(order):
        last = first + 1
        while last < len(order):
            width = int(length[order[last]])
            if (last + 1 - first) * width * max(dimensions, width) > _BLOCK or width > 2 * length[order[first]] + 8:
                break
            last += 1
        rows = order[first:last]
        width = int(length[rows[-1]])
        place = np.arange(width)[None, :]
        inside = place < length[rows][:, None]
        entry = np.where(inside, start[rows][:, None] + place, 0)
        columns = np.where(inside, matrix.indices[entry], nothing).astype(np.intp)
        yield _Block(rows, columns, np.where(inside, matrix.data[entry], 0.0))
        first = last


class _Corpus:
    """Counted texts: words that occur in enough of them, and their inverse document frequencies."""

    def __init__(self, counts: list[Counter[str]], words: tuple[str, ...], idf: Floats) -> None:
        self._counts, self.words, self.idf = counts, words, idf

    @classmethod
    def of(cls, corpus: Iterable[str], min_count: int) -> _Corpus:
        counts = [counted for text in corpus if (counted := Counter(words_of(text)))]
        frequency = Counter(word for counted in counts for word in counted)
        words = tuple(sorted(word for word, texts in frequency.items() if texts >= min_count))
        idf = np.log(len(counts) / np.array([frequency[word] for word in words], dtype=np.float64))
        return cls(counts, words, idf)

    def tf_idf(self) -> sparse.csr_array:
        return _tf_idf(self._counts, {word: i for i, word in enumerate(self.words)}, self.idf)


def _tf_idf(texts: Sequence[Iterable[str]], number: dict[str, int], idf: Floats) -> sparse.csr_array:
    """Texts x words: how often a word occurs, times its inverse document frequency."""
    rows, columns, values = [], [], []
    for row, text in enumerate(texts):
        for word, count in Counter(text).items():
            if (column := number.get(word)) is not None:
                rows.append(row)
                columns.append(column)
                values.append(count * idf[column])
    shape = (len(texts), len(number))
    matrix = sparse.csr_array((np.array(values, dtype=np.float64), (rows, columns)), shape=shape)
    matrix.eliminate_zeros()  # a word that is in every text tells nothing and counts as absent
    return matrix
