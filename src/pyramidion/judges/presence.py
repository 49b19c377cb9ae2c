"""How likely is each unit in each summary? A logistic answer over what alignment finds (`encoder.alignment`).

The share of a unit's words that is found and the weakest of them, because a unit is present only if all of it is; the
share that one sentence says; whether a number or a name of the unit is not in the summary (`wording`). Where the
references are known, more can be told: a unit's words are read in the sentence of the reference that they come from,
and how much the summary says of that sentence, of the references as a whole and of the whole pyramid is a prior for
each of its units.

The learned numbers are in data/judge.json; `models/train_judge.py` fits them and says how well they do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import chain
from operator import is_

import numpy as np
from numpy.typing import NDArray

from pyramidion.encoder.alignment import FINDING, Alignment, Doubles, Finding, Texts
from pyramidion.encoder.words import Bag
from pyramidion.judges.accuracy import model_card

SURE = 0.6
"""A word of a unit is read as its word in the reference if they have one stem or are as similar as this."""
LENGTHS = float(np.log1p(15)), float(np.log1p(80))
"""The range of lengths seen in training."""
JUST_BELOW = 0.001
LONGEST = 15
"""Words of a unit up to which a missing number or name makes it improbable. A whole sentence with many names, which
people's units are not, may be expressed in part without one of them; it still never counts as expressed."""
WORD_FOR_WORD = 0.99
"""The probability of what is said word for word: people find all 97 such units of the two collections (98 / 99)."""
Bools = NDArray[np.bool_]
Features = dict[str, Doubles]
"""Units x summaries, by name."""


@dataclass(frozen=True, slots=True)
class PresenceModel:
    """What each feature adds to the log-odds of "present", without and with references, besides a ``constant``; and
    the probability from which a unit counts as present, which one that is not credited never reaches."""

    alone: Mapping[str, float]
    read: Mapping[str, float]
    threshold: float = 1.0
    finding: Finding = FINDING


@cache
def default_model() -> PresenceModel:
    held = model_card()
    model = held["model"]
    return PresenceModel(model["alone"], model["read"], held["threshold"])


class JudgedUnits:
    """Units against summaries. ``credited`` says which summaries contain the numbers and names of which unit, all by
    default, and ``verbatim`` which say it word for word, none by default (`wording`); ``pyramid`` are all units that
    belong together, these among them."""

    def __init__(
        self,
        units: Sequence[Bag],
        summaries: Sequence[Bag],
        references: Sequence[Bag] = (),
        pyramid: Sequence[Bag] = (),
        credited: Bools | None = None,
        verbatim: Bools | None = None,
        model: PresenceModel | None = None,
    ) -> None:
        self._model = model or default_model()
        self._summaries = Texts.of(summaries)
        self._units, self._pyramid = list(units), list(pyramid) or list(units)
        self._references = [bag for bag in references if len(bag)]
        self._shape = len(self._units), len(self._summaries)
        self._credited = np.ones(self._shape, bool) if credited is None else credited
        self._verbatim = np.zeros(self._shape, bool) if verbatim is None else verbatim
        self.alignment = self._look(self._units)

    def _look(self, texts: Sequence[Bag]) -> Alignment:
        return Alignment(Texts.of(texts), self._summaries, self._model.finding)

    @cached_property
    def features(self) -> Features:
        plain = self.alignment
        told = {
            "mean": plain.mean(),
            "weakest": plain.weakest(),
            "one": plain.in_one_sentence(),
            "lost": (~self._credited & self._is_short()).astype(np.float64),
        }
        if self._references:
            return told | self._read()
        whole = told["mean"] if self._is_whole else self._look(self._pyramid).mean()
        return told | {"pyramid": self._for_all(_mean(whole, self._pyramid))}

    @cached_property
    def _is_whole(self) -> bool:
        """Whether all units of the pyramid are asked about, as they mostly are."""
        return len(self._units) == len(self._pyramid) and all(map(is_, self._units, self._pyramid))

    def _is_short(self) -> Bools:
        """Units x 1: whether a unit is no longer than those that the numbers were fitted on."""
        return np.array([len(unit) <= LONGEST for unit in self._units], bool)[:, None]

    def _read(self) -> Features:
        """What the references tell."""
        split = [sentences_of(reference) for reference in self._references]
        sentences = list(chain.from_iterable(split))
        homes = [read_in_context(unit, sentences) for unit in self._units]
        read = self._look([words for words, _ in homes])
        whole = read.mean() if self._is_whole else self._look(self._in_context(sentences)).mean()
        said = self._look(sentences).mean()
        weight = np.array([float((bag.rarity.astype(np.float64) ** self._model.finding.rarity_power).sum())
                           for bag in sentences])  # fmt: skip
        ends = np.cumsum([0, *map(len, split)])
        by_reference = np.add.reduceat(weight[:, None] * said, ends[:-1]) / np.add.reduceat(weight, ends[:-1])[:, None]
        return {
            "weakest_read": read.weakest(),
            "one_read": read.in_one_sentence(),
            "source": said[[home for _, home in homes]],
            "reference": self._for_all(by_reference.mean(0)),
            "pyramid": self._for_all(_mean(whole, self._pyramid)),
            "length": np.full(self._shape, length_of(self._references)),
        }

    def _in_context(self, sentences: Sequence[Bag]) -> list[Bag]:
        return [read_in_context(unit, sentences)[0] for unit in self._pyramid]

    def _for_all(self, said: Doubles) -> Doubles:
        """What is known of each summary, for every unit."""
        return np.tile(said, (len(self._units), 1))

    def probability(self) -> Doubles:
        """Units x summaries: the probability that a careful person says "present". A unit without words is not."""
        weights = self._model.read if self._references else self._model.alone
        odds = np.full(self._shape, weights["constant"])
        for name, feature in self.features.items():
            odds += weights[name] * feature
        wordless = np.array([len(unit) == 0 for unit in self._units], bool)[:, None]
        empty = (np.diff(self._summaries.starts) == 0)[None, :]
        found = np.where(wordless | empty, 0.0, 1.0 / (1.0 + np.exp(-odds)))
        found = np.where(self._credited, found, np.minimum(found, self._model.threshold - JUST_BELOW))
        return np.where(self._verbatim, WORD_FOR_WORD, found)

    def coverage(self) -> Doubles:
        """How much each summary says of the references, or where there are none of the pyramid; from 0 to 1."""
        return np.asarray(self.features["reference" if self._references else "pyramid"][0])


def length_of(references: Sequence[Bag]) -> float:
    """The logarithm of how many words a reference has, within what was seen in training: short references are of
    single sentences, which people hold summaries to more strictly."""
    return float(np.clip(np.log1p(np.mean([len(reference) for reference in references])), *LENGTHS))


def sentences_of(text: Bag) -> list[Bag]:
    return [text.only(np.flatnonzero(text.sentence == number).tolist()) for number in np.unique(text.sentence)]


def _mean(said: Doubles, texts: Sequence[Bag]) -> Doubles:
    """The mean over the texts that have words, or over all if none has."""
    with_words = [row for row, text in enumerate(texts) if len(text)]
    return np.asarray((said[with_words] if with_words else said).mean(0))


def read_in_context(unit: Bag, sentences: Sequence[Bag]) -> tuple[Bag, int]:
    """A unit with the vectors that its words have in the sentence it comes from, and the number of that sentence: the
    one that has most of its words."""
    if not len(unit):
        return unit, 0
    likes = [_like(unit, sentence) for sentence in sentences]
    home = max(range(len(sentences)), key=lambda place: float((unit.rarity * likes[place].max(1)).sum()))
    best = likes[home].argmax(1)
    there = sentences[home]
    cosine = likes[home][np.arange(len(unit)), best] - (unit.stems == there.stems[best])
    sure = (unit.stems == there.stems[best]) | (cosine > SURE)
    return replace(unit, vectors=np.where(sure[:, None], there.vectors[best], unit.vectors)), home


def _like(unit: Bag, sentence: Bag) -> NDArray[np.floating]:
    """Words x words: the cosine, and 1 more for an equal stem."""
    one, other = (bag.vectors / np.maximum(np.linalg.norm(bag.vectors, axis=1, keepdims=True), 1e-12)
                  for bag in (unit, sentence))  # fmt: skip
    return np.asarray(one @ other.T + (unit.stems[:, None] == sentence.stems[None, :]))
