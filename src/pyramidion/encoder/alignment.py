"""How much of a text do other texts say? Late interaction: each word looks for its best match in the other text.

After Khattab and Zaharia 2020 (ColBERT), adapted to content: words are weighted by rarity, and a word is found by its
vector in context or by its stem. Texts are encoded once, sentence by sentence; after that a comparison is a small
matrix product. `judges.presence` makes a verdict of what is found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyramidion.encoder import one_thread
from pyramidion.encoder.minilm import HIDDEN, Floats
from pyramidion.encoder.words import Bag
from pyramidion.study.texts import Span

Doubles = NDArray[np.float64]
COMMON = float(np.log1p(100))
"""The rarity of the hundredth word of the vocabulary: such words alone are no evidence."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The log-odds that a word is found, from the best cosine, an equal stem, and whether it is a number; how much a
    word counts by its rarity; and how much the weakest word stands out (the softness of a minimum)."""

    rarity_power: float
    softness: float
    cosine: float
    stem: float
    number: float
    constant: float


FINDING = Finding(rarity_power=0.8, softness=6.0, cosine=8.7, stem=0.7, number=-0.9, constant=-4.2)
"""The encoder was tuned with these (`models/tune_encoder.py`): a word is half found by a cosine of .48, or of .40 with
an equal stem."""


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """Units or summaries, with all their words side by side; text i has the words starts[i] to starts[i + 1]."""

    vectors: Floats
    stems: NDArray[np.int64]
    rarity: Floats
    number: NDArray[np.bool_]
    sentence: NDArray[np.intp]
    spans: tuple[Span, ...]
    starts: NDArray[np.intp]

    @classmethod
    def of(cls, bags: Sequence[Bag]) -> Texts:
        vectors = np.concatenate([np.zeros((0, HIDDEN), np.float32), *(bag.vectors for bag in bags if len(bag))])
        length = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return cls(
            np.asarray(vectors / length, np.float32),
            np.concatenate([np.zeros(0, np.int64), *(bag.stems for bag in bags)]),
            np.concatenate([np.zeros(0, np.float32), *(bag.rarity for bag in bags)]),
            np.concatenate([np.zeros(0, bool), *(bag.number for bag in bags)]),
            np.concatenate([np.zeros(0, np.intp), *(bag.sentence for bag in bags)]),
            tuple(span for bag in bags for span in bag.spans),
            np.cumsum([0, *map(len, bags)]).astype(np.intp),
        )

    def __len__(self) -> int:
        return len(self.starts) - 1

    def sentence_starts(self) -> NDArray[np.intp]:
        """The first word of every sentence of every text."""
        text = np.repeat(np.arange(len(self)), np.diff(self.starts))
        new = (np.diff(text, prepend=-1) != 0) | (np.diff(self.sentence, prepend=-1) != 0)
        return np.flatnonzero(new)

    def shares(self, power: float) -> Doubles:
        """How much each word counts in its text, by rarity; the words of a text sum to 1."""
        weight = self.rarity.astype(np.float64) ** power
        return np.asarray(weight / np.repeat(np.maximum(_sums(weight, self.starts), 1e-12), np.diff(self.starts)))


class Alignment:
    """The alignment of every word of some units with every word of some summaries."""

    def __init__(self, units: Texts, summaries: Texts, finding: Finding = FINDING) -> None:
        self.units, self.summaries, self.finding = units, summaries, finding
        starts = summaries.sentence_starts()
        self._sentences = np.searchsorted(starts, summaries.starts).astype(np.intp)  # the first of each summary
        self._cosine = self._best_cosines(starts)
        self._stem = _shared_stems(units, summaries, starts)
        same = _largest(self._stem, self._sentences, False)
        self.found: Doubles = self._found(_largest(self._cosine, self._sentences, -1.0), same)
        self._share = units.shares(finding.rarity_power)[:, None]
        self._places: dict[int, NDArray[np.intp]] = {}

    def _best_cosines(self, starts: NDArray[np.intp]) -> Doubles:
        """Words of units x sentences of summaries: the cosine with the most similar word."""
        if not len(starts) or not len(self.units.vectors):
            return np.zeros((len(self.units.vectors), len(starts)))
        cosines = _cosines(self.units.vectors, self.summaries.vectors)
        return np.maximum.reduceat(cosines, starts, axis=1).astype(np.float64)

    def _found(self, cosine: Doubles, same: NDArray[np.bool_]) -> Doubles:
        odds = self.finding.cosine * cosine + self.finding.stem * same
        odds += (self.finding.constant + self.finding.number * self.units.number)[:, None]
        return _sigmoid(odds)

    def mean(self) -> Doubles:
        """Units x summaries: the share of each unit that is found, from 0 to 1."""
        return _sums(self._share * self.found, self.units.starts)

    def weakest(self) -> Doubles:
        """Units x summaries: about how well the word is found that is found worst."""
        soft = _sums(self._share * np.exp(-self.finding.softness * self.found), self.units.starts)
        return np.asarray(-np.log(np.maximum(soft, 1e-12)) / self.finding.softness)

    def in_one_sentence(self) -> Doubles:
        """Units x summaries: the share of each unit that is found in the sentence that says most of it."""
        by_sentence = _sums(self._share * self._found(self._cosine, self._stem), self.units.starts)
        return _largest(by_sentence, self._sentences, 0.0)

    def evidence(self, unit: int, summary: int) -> tuple[Span, ...]:
        """Where in the summary the unit's words were found, joined into one span per sentence. Common words ("from",
        "he was") count only together with others, unless there is nothing else."""
        if self.summaries.starts[summary] == self.summaries.starts[summary + 1]:
            return ()
        mine = slice(*self.units.starts[unit : unit + 2])
        best = self._best_places(summary)[mine][self.found[mine, summary] > 0.5]
        # Plain Python from here on: there are few words, and this runs for every unit that is found.
        runs: list[list[int]] = []
        for place in sorted(set(best.tolist())):
            if runs and runs[-1][-1] == place - 1:
                runs[-1].append(place)
            else:
                runs.append([place])
        told = [run for run in runs if any(self._telling[place] for place in run)] or runs
        spans: dict[int, Span] = {}
        for place in chain.from_iterable(told):
            sentence, span = int(self.summaries.sentence[place]), self.summaries.spans[place]
            first = spans.get(sentence, span)
            spans[sentence] = Span(first.start, span.end)
        return tuple(spans.values())

    def _best_places(self, summary: int) -> NDArray[np.intp]:
        """Words of units: the most similar word of a summary. For all units at once, because who asks for the evidence
        of one mostly asks for that of others."""
        if summary not in self._places:
            theirs = slice(*self.summaries.starts[summary : summary + 2])
            cosine = _cosines(self.units.vectors, self.summaries.vectors[theirs])
            cosine += self.units.stems[:, None] == self.summaries.stems[None, theirs]
            self._places[summary] = cosine.argmax(1) + theirs.start
        return self._places[summary]

    @cached_property
    def _telling(self) -> list[bool]:
        """Words of summaries: whether a word alone is evidence."""
        return ((self.summaries.rarity > COMMON) | self.summaries.number).tolist()  # type: ignore[no-any-return]


def _cosines(rows: Floats, columns: Floats) -> Floats:
    """Added up in 64 bits and rounded to 32: in which order a library adds up depends on the processor and on the shape
    of a product, and a verdict must not depend on what else is judged with it."""
    with one_thread():
        return (rows.astype(np.float64) @ columns.astype(np.float64).T).astype(np.float32)


def _shared_stems(units: Texts, summaries: Texts, starts: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Words of units x sentences of summaries: whether the sentence has a word with the same stem."""
    known, code = np.unique(units.stems, return_inverse=True)
    table = np.zeros((len(known) + 1, len(starts)), bool)
    place = np.searchsorted(known, summaries.stems)
    place[place == len(known)] = 0
    hit = known[place] == summaries.stems if len(known) else np.zeros(len(place), bool)
    of_sentence = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(summaries.stems)))
    table[place[hit], of_sentence[hit]] = True
    return np.asarray(table[code])


def _largest(values: NDArray[Any], starts: NDArray[np.intp], least: float) -> NDArray[Any]:
    """The largest of each stretch along the second axis; an empty stretch has the least."""
    largest = np.full((len(values), len(starts) - 1), least, values.dtype)
    filled = np.flatnonzero(np.diff(starts))
    if len(filled) and len(values):
        largest[:, filled] = np.maximum.reduceat(values, starts[filled], axis=1)
    return largest


def _sums(values: NDArray[np.generic], starts: NDArray[np.intp]) -> Doubles:
    """Sums of stretches along the first axis; an empty stretch sums to 0."""
    sums = np.zeros((len(starts) - 1, *values.shape[1:]))
    filled = np.flatnonzero(np.diff(starts))
    if len(filled):
        sums[filled] = np.add.reduceat(values, starts[filled], axis=0, dtype=np.float64)
    return sums


def _sigmoid(x: Doubles) -> Doubles:
    return np.asarray(1.0 / (1.0 + np.exp(-x)))
