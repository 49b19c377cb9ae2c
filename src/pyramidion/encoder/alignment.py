"""Is this unit in this summary? Late interaction: each word of the unit looks for its best match in the summary.

After Khattab and Zaharia 2020 (ColBERT), adapted to presence: words are weighted by rarity; a word is found by its
vector in context or by its stem; the weakest word counts as well as the mean, because a unit is present only if all of
it is; a number that the summary does not have counts against it, and so does a negation.

Texts are encoded once, sentence by sentence; a judgment is a small matrix product after that. The dozen learned numbers
are in data/judge.json; `models/train_judge.py` fits them and says how well they do.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

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
class Model:
    """Found: the log-odds that a word is matched, from the best cosine, an equal stem, and whether it is a number.
    Answer: the log-odds that a unit is present, from the mean and the weakest of its words and from what is lost."""

    rarity_power: float
    softness: float
    found_cosine: float
    found_stem: float
    found_number: float
    found_constant: float
    answer_mean: float
    answer_weakest: float
    answer_number_lost: float
    answer_negation_lost: float
    answer_constant: float


@cache
def default_model() -> Model:
    return Model(**json.loads(files("pyramidion.data").joinpath("judge.json").read_text("utf-8"))["model"])


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """Units or summaries, with all their words side by side; text i has the words starts[i] to starts[i + 1]."""

    vectors: Floats
    stems: NDArray[np.int64]
    rarity: Floats
    number: NDArray[np.bool_]
    negation: NDArray[np.bool_]
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
            np.array([bool(bag.negation.any()) for bag in bags], bool),
            np.concatenate([np.zeros(0, np.intp), *(bag.sentence for bag in bags)]),
            tuple(span for bag in bags for span in bag.spans),
            np.cumsum([0, *map(len, bags)]).astype(np.intp),
        )

    def __len__(self) -> int:
        return len(self.starts) - 1

    def shares(self, power: float) -> Doubles:
        """How much each word counts in its text, by rarity; the words of a text sum to 1."""
        weight = self.rarity.astype(np.float64) ** power
        return np.asarray(weight / np.repeat(np.maximum(_sums(weight, self.starts), 1e-12), np.diff(self.starts)))


class Alignment:
    """The alignment of every word of some units with every word of some summaries."""

    def __init__(self, units: Texts, summaries: Texts, model: Model | None = None) -> None:
        self.units, self.summaries, self.model = units, summaries, model or default_model()
        self.same = _shared_stems(units, summaries)
        odds = self.model.found_cosine * self._best_cosines() + self.model.found_stem * self.same
        odds += (self.model.found_constant + self.model.found_number * units.number)[:, None]
        self.found: Doubles = _sigmoid(odds)
        self._share = units.shares(self.model.rarity_power)[:, None]

    def _best_cosines(self) -> Doubles:
        """Words of units x summaries: the cosine with the most similar word; -1 for a summary without words."""
        best = np.full((len(self.units.vectors), len(self.summaries)), -1.0)
        filled = np.flatnonzero(np.diff(self.summaries.starts))
        if len(filled) and len(best):
            with one_thread():
                cosines = self.units.vectors @ self.summaries.vectors.T
            best[:, filled] = np.maximum.reduceat(cosines, self.summaries.starts[filled], axis=1)
        return best

    def mean(self) -> Doubles:
        """Units x summaries: the share of each unit that is found, from 0 to 1."""
        return _sums(self._share * self.found, self.units.starts)

    def probability(self) -> Doubles:
        """Units x summaries: the probability that a careful person says "present". A unit without words is not."""
        model, starts = self.model, self.units.starts
        weakest = _sums(self._share * np.exp(-model.softness * self.found), starts)
        weakest = -np.log(np.maximum(weakest, 1e-12)) / model.softness
        number = self.units.number[:, None]
        lost = _sums(number & ~self.same, starts) / np.maximum(_sums(number, starts), 1)
        negated = self.units.negation[:, None] & ~self.summaries.negation[None, :]
        odds = model.answer_constant + model.answer_mean * self.mean() + model.answer_weakest * weakest
        odds += model.answer_number_lost * lost + model.answer_negation_lost * negated
        wordless = (np.diff(starts) == 0)[:, None] | (np.diff(self.summaries.starts) == 0)[None, :]
        return np.where(wordless, 0.0, _sigmoid(odds))

    def evidence(self, unit: int, summary: int) -> tuple[Span, ...]:
        """Where in the summary the unit's words were found, joined into one span per sentence. Common words ("from",
        "he was") count only together with others, unless there is nothing else."""
        mine = slice(*self.units.starts[unit : unit + 2])
        theirs = slice(*self.summaries.starts[summary : summary + 2])
        if mine.start == mine.stop or theirs.start == theirs.stop:
            return ()
        cosine = self.units.vectors[mine] @ self.summaries.vectors[theirs].T
        cosine = cosine + (self.units.stems[mine, None] == self.summaries.stems[None, theirs])
        places = np.unique(cosine.argmax(1)[self.found[mine, summary] > 0.5]) + theirs.start
        telling = (self.summaries.rarity[places] > COMMON) | self.summaries.number[places]
        run = np.cumsum(np.diff(places, prepend=-1) > 1)  # words side by side have the same number
        told = np.isin(run, run[telling])
        spans: dict[int, Span] = {}
        for place in (places[told] if told.any() else places).tolist():
            sentence, span = int(self.summaries.sentence[place]), self.summaries.spans[place]
            first = spans.get(sentence, span)
            spans[sentence] = Span(first.start, span.end)
        return tuple(spans.values())


def _shared_stems(units: Texts, summaries: Texts) -> NDArray[np.bool_]:
    """Words of units x summaries: whether the summary has a word with the same stem."""
    known, code = np.unique(units.stems, return_inverse=True)
    table = np.zeros((len(known) + 1, len(summaries)), bool)
    place = np.searchsorted(known, summaries.stems)
    place[place == len(known)] = 0
    hit = known[place] == summaries.stems if len(known) else np.zeros(len(place), bool)
    of_summary = np.repeat(np.arange(len(summaries)), np.diff(summaries.starts))
    table[place[hit], of_summary[hit]] = True
    return np.asarray(table[code])


def _sums(values: NDArray[np.generic], starts: NDArray[np.intp]) -> Doubles:
    """Sums of stretches along the first axis; an empty stretch sums to 0."""
    sums = np.zeros((len(starts) - 1, *values.shape[1:]))
    filled = np.flatnonzero(np.diff(starts))
    if len(filled):
        sums[filled] = np.add.reduceat(values, starts[filled], axis=0, dtype=np.float64)
    return sums


def _sigmoid(x: Doubles) -> Doubles:
    return np.asarray(1.0 / (1.0 + np.exp(-x)))
