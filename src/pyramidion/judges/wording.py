"""What the words of a unit tell by themselves: a summary without its numbers and names does not express it, and one
that says it word for word does.

Alignment finds a number or a name near another of its kind: "12 people" beside "40 people", one town beside the next.
So they are looked up in the summary's words. A number counts by its value, in digits or in words; a name by any of its
words, also with another ending (Egypt, Egyptian). Of PyrXSum and the released half of REALSumm, people find 97 of 97
units that are said word for word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyramidion.encoder.words import NUMBERS

_WORD = re.compile(r"\d{1,3}(?:,\d{3})+(?!\d)|\d+|[^\W\d_]+")
_ENDS_SENTENCE = re.compile(r"[.!?:\"“”‘]['’)\]]*\s*$")
_WITHIN_NAME = re.compile(r"[\s.'’-]*")
LEAST_PREFIX = 4
"""A name is found under another ending if this many letters are the same to the end of the shorter word."""


class Word(NamedTuple):
    """A word in small letters, whether it is a number, whether it has a capital, and whether it starts a sentence; and
    whether only spaces and the like are between it and the one before."""

    text: str
    number: bool
    capital: bool
    first: bool
    near: bool


def words_of(text: str) -> Iterator[Word]:
    end = 0
    for match in _WORD.finditer(text):
        shown, start = match.group(), match.start()
        small = _plain(shown.lower())
        capital = shown[0].isupper() and shown != "I"
        first = capital and (not end or bool(_ENDS_SENTENCE.search(text[max(0, start - 8) : start])))
        near = end > 0 and bool(_WITHIN_NAME.fullmatch(text[end:start]))
        yield Word(small, small.isdigit(), capital, first, near)
        end = match.end()


def _plain(word: str) -> str:
    """A number in digits alone."""
    return NUMBERS.get(word, word).replace(",", "")


def names_within(texts: Iterable[str]) -> frozenset[str]:
    """Words with a capital inside a sentence: names also where they start one."""
    return frozenset(word.text for text in texts for word in words_of(text) if word.capital and not word.first)


class Needed(NamedTuple):
    """What a summary must contain: every number, and of every name at least a word."""

    numbers: frozenset[str]
    names: tuple[frozenset[str], ...]


def needed(unit: str, known: frozenset[str]) -> Needed:
    """``known`` are names besides those that the unit shows to be names."""
    words = list(words_of(unit))
    names: list[set[str]] = []
    going_on = False
    for word in words:
        is_name = word.capital and not word.number and (not word.first or word.text in known)
        if is_name and going_on and word.near:
            names[-1].add(word.text)
        elif is_name:
            names.append({word.text})
        going_on = is_name
    if len(words) >= HEADLINE and all(word.capital or len(word.text) < LEAST_PREFIX for word in words):
        names = []  # capitals throughout tell nothing
    return Needed(frozenset(word.text for word in words if word.number), tuple(map(frozenset, names)))


HEADLINE = 6


def credited(units: Sequence[str], summaries: Sequence[str], references: Sequence[str] = ()) -> NDArray[np.bool_]:
    """Units x summaries: whether the summary contains every number and every name of the unit."""
    known = names_within((*units, *references))
    needs = [needed(unit, known) for unit in units]
    found = np.ones((len(units), len(summaries)), bool)
    asking = [row for row, need in enumerate(needs) if need.numbers or need.names]
    for column, summary in enumerate(summaries if asking else ()):
        said = _Said.of(summary)
        for row in asking:
            found[row, column] = said.contains(needs[row])
    return found


def verbatim(units: Sequence[str], summaries: Sequence[str]) -> NDArray[np.bool_]:
    """Units x summaries: whether the summary says the unit, a statement of some words, word for word."""
    looked_for, texts = ([_in_a_row(text) for text in some] for some in (units, summaries))
    found = [[unit.count(" ") > STATEMENT and unit in text for text in texts] for unit in looked_for]
    return np.array(found, bool).reshape(len(units), len(summaries))


STATEMENT = 3
"""The fewest words of a statement; fewer may turn up anywhere."""


def _in_a_row(text: str) -> str:
    """The words of a text, with a space on either side of each."""
    return f" {' '.join(map(_plain, _WORD.findall(text.lower())))} "


class _Said(NamedTuple):
    """The words of a summary, and how they begin."""

    words: frozenset[str]
    beginnings: frozenset[str]

    @classmethod
    def of(cls, summary: str) -> _Said:
        words = frozenset(map(_plain, _WORD.findall(summary.lower())))
        return cls(words, frozenset(part for word in words for part in _beginnings(word)))

    def contains(self, need: Needed) -> bool:
        return need.numbers <= self.words and all(any(map(self._has, name)) for name in need.names)

    def _has(self, name: str) -> bool:
        return name in self.words or name in self.beginnings or any(part in self.words for part in _beginnings(name))


def _beginnings(word: str) -> Iterator[str]:
    return (word[:size] for size in range(LEAST_PREFIX, len(word) + 1))
