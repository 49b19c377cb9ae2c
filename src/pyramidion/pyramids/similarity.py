"""How similar are clauses? Two ways to measure it.

``AlignSimilarity`` aligns words, each with its vector in the context of its whole sentence (`encoder.alignment`).
``CosineSimilarity`` compares one vector per clause, from any embedder: as in Gao et al. 2019, section 4.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pyramidion.encoder.alignment import Alignment, Texts
from pyramidion.encoder.minilm import Encoder
from pyramidion.encoder.sentences import Clause, SegmentedText
from pyramidion.encoder.words import Bag, bags
from pyramidion.study.texts import Span

Doubles = NDArray[np.float64]
Embedder = Callable[[Sequence[str]], NDArray[np.floating]]
"""Texts in, one row of unit length for each out."""


@dataclass(frozen=True, slots=True, eq=False)
class AlignedText:
    """A text as a whole and clause by clause, in the order of `SegmentedText.clauses`."""

    whole: Bag
    clauses: tuple[Bag, ...]


def similarity(first: Sequence[Bag], second: Sequence[Bag]) -> Doubles:
    """Each with each, from 0 to 1: the share of either that is found in the other, averaged."""
    one, other = Texts.of(first), Texts.of(second)
    there, back = Alignment(one, other).mean(), Alignment(other, one).mean()
    return np.asarray((there + back.T) / 2)


class AlignSimilarity:
    """Two clauses are as similar as the share of each that is found in the other, averaged."""

    name = "align"

    def __init__(self, encoder: Encoder | None = None) -> None:
        self._encoder = encoder or Encoder()

    def prepare(self, texts: Sequence[SegmentedText]) -> list[AlignedText]:
        wholes = bags((text.text for text in texts), self._encoder)
        return [
            AlignedText(whole, tuple(_words_of(clause, whole) for clause in text.clauses()))
            for text, whole in zip(texts, wholes, strict=True)
        ]

    def between(self, rows: Iterable[AlignedText], columns: Iterable[AlignedText]) -> Doubles:
        """All clauses of some texts x all clauses of others."""
        first, second = ([bag for text in texts for bag in text.clauses] for texts in (rows, columns))
        return similarity(first, second)


def _words_of(clause: Clause, whole: Bag) -> Bag:
    """The words of a clause keep the vectors they have in their sentence."""
    return whole.only([place for place, span in enumerate(whole.spans) if _inside(span, clause.spans)])


def _inside(word: Span, spans: Sequence[Span]) -> bool:
    return any(span.start <= word.start and word.end <= span.end for span in spans)


class CosineSimilarity:
    """The cosine of the vectors an embedder gives to the clauses' texts."""

    name = "cosine"

    def __init__(self, embedder: Embedder) -> None:
        self._embed = embedder

    def prepare(self, texts: Sequence[SegmentedText]) -> list[NDArray[np.floating]]:
        """Every distinct clause is embedded once."""
        clauses = [[clause.text for clause in text.clauses()] for text in texts]
        distinct = list(dict.fromkeys(clause for said in clauses for clause in said))
        vectors = self._embed(distinct)
        place = {clause: row for row, clause in enumerate(distinct)}
        return [vectors[[place[clause] for clause in said]] for said in clauses]

    def between(self, rows: Iterable[NDArray[np.floating]], columns: Iterable[NDArray[np.floating]]) -> Doubles:
        first, second = (np.concatenate([vectors.astype(np.float64) for vectors in texts]) for texts in (rows, columns))
        return np.asarray(first @ second.T)
