"""What the words of a sentence say of its clauses: how each begins, its subject and verb, whether it says something.

Boundaries and subjects come from the segmenter's head. Which kind of clause begins at a boundary is told by words from
closed classes, and whether what follows a subject is its verb by the form of the word (`verbs`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pyramidion.encoder.minilm import Floats
from pyramidion.encoder.sentences import content_stems, stem
from pyramidion.encoder.words import is_word
from pyramidion.pyramids.verbs import (
    ADVERBS,
    NO_VERBS,
    PREPOSITIONS,
    Predicate,
    forms,
    is_finite,
    predicate,
    skip_adverbs,
)

MIN_WORDS = 3
"""A clause with fewer words says too little to be read alone."""
NO_SUBJECT, NO_NAME, UNSURE = -2.0, -4.0, -1.0
"""Log-odds below which a word is surely outside of a subject, as most verbs are; a name or number that goes on with
one; and from which a word is not taken for a verb."""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


COORDINATING = _set("and but or yet")
FACTIVE = _set("because although though while whereas since")
"""They begin a clause that is stated as a fact, like the one it hangs on; left out when it is read."""
TEMPORAL = _set("when after before as")
"""These do so of what has happened: "after engineers look at it" does not say that they did."""
ADJUNCT = _set("after before by while as")
TIMES = _set("minute minutes hour hours day days week weeks month months year years time soon shortly long")
LISTING = frozenset({"including", "according"})
BEFORE_SUBORDINATE = _set("not only even just simply partly mainly than such so")
DEPENDENT = _set("that which who whom whose what how why whether if unless until once where to so than lest provided")
RELATIVE = _set("who which")
CONTINUING = _set("and or")
"""A word after a subject that shows that it goes on: the head sees the first of several things only."""

PRONOUNS = _set("he she it they we i you one this that these those there who which what")
NOMINATIVE = _set("he she it they we i you there")
DEMONSTRATIVES = _set("this that these those")
_REPORTING = _set("""
    say tell write explain suggest argue claim report state note add warn believe think conclude announce reveal admit
    insist confirm show indicate mention stress emphasize predict estimate declare comment observe remark quote cite
    assert contend maintain
""")
REPORTING = frozenset(map(stem, _REPORTING)) | _set("said told wrote written thought shown")
"""Stems of verbs by which somebody says something: with nobody's words after them, they say nothing."""
HANGING = DEPENDENT | FACTIVE | TEMPORAL | COORDINATING | PREPOSITIONS
"""Words after which something must follow."""
SIGNS_BEFORE_A_CLAUSE = frozenset(",;:–—-")
ARTICLES = _set("a an the its his her their our my this these another")
OF_EVENTS = frozenset(
    map(stem, _set("mean make lead cause result allow force bring leave show suggest raise help give"))
)
"""Verbs that often say something of what has happened: "It fell, which meant the end"."""
_INNER_SIGNS = frozenset("-'’.&/‐‑")


class WordRange(NamedTuple):
    """Some words of a sentence, by their numbers: the first, and the one after the last."""

    first: int
    last: int


class Opening(NamedTuple):
    """How a piece begins: whether by a coordinating word, by which subordinating one, and where it goes on."""

    coordinate: bool
    subordinate: str
    place: int


class SentenceWords:
    """The words of a sentence, with the log-odds that each is part of a subject."""

    def __init__(self, words: Sequence[str], subject: Floats) -> None:
        self.words = list(words)
        self.small = [word.lower() for word in words]
        self.is_word = [is_word(word) for word in words]
        self._odds = np.where(self.is_word, subject, np.nan)

    # -- what the head says ---------------------------------------------------------------------------------------

    @cached_property
    def subjects(self) -> list[WordRange]:
        """Runs of words of subjects; a name or a number, or what is between two sure words, may be unsure."""
        sure = [0.0 if word not in NOMINATIVE else NO_SUBJECT for word in self.small]
        inside = self._odds > sure
        for step in (1, -1):
            order = range(len(inside))[::step]
            for place in order:
                before = place - step
                if 0 <= before < len(inside) and inside[before] and self._odds[place] > NO_NAME:
                    inside[place] |= self.words[place][0].isupper() or self.words[place][0].isdigit()
        for place in range(1, len(inside) - 1):
            if inside[place - 1] and inside[place + 1]:
                number = self.words[place] == "," and self.words[place + 1].isdigit()
                inside[place] |= number or self.words[place] in _INNER_SIGNS or self._odds[place] > NO_SUBJECT
        edges = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]]).astype(np.int8)))
        return [WordRange(int(first), int(last)) for first, last in zip(edges[::2], edges[1::2], strict=True)]

    def subjects_in(self, piece: WordRange) -> list[WordRange]:
        within = (WordRange(max(run.first, piece.first), min(run.last, piece.last)) for run in self.subjects)
        return [run for run in within if run.first < run.last]

    # -- what the words say ---------------------------------------------------------------------------------------

    def opening(self, piece: WordRange) -> Opening:
        """Leaves out "and", "because", "even though" and the like."""
        place = piece.first
        while place < piece.last - 1 and not self.is_word[place] and self.words[place] not in "([":
            place += 1
        coordinate = self.small[place] in COORDINATING and place < piece.last - 1
        place += coordinate
        while place < piece.last - 1 and self.words[place] == ",":
            place += 1
        if self.small[place] == "even" and place + 1 < piece.last and self.small[place + 1] in FACTIVE | TEMPORAL:
            place += 1
        if place == piece.first and place and self.small[place - 1] in BEFORE_SUBORDINATE:
            return Opening(False, "", piece.first)
        # Otherwise it is a preposition, "after a year", or goes with what is before it, "a year after".
        begins = any(run.first == place + 1 for run in self.subjects) and self.small[place - 1] not in TIMES
        subordinate = self.small[place] if begins and self.small[place] in FACTIVE | TEMPORAL else ""
        return Opening(coordinate, subordinate, min(place + bool(subordinate), piece.last - 1))

    def clause(self, place: int, last: int) -> Predicate | None:
        """The finite verb of a clause with its subject, where the words from ``place`` on begin one."""
        subject = next(iter(self.subjects_in(WordRange(place, last))), None)
        if subject is None:
            return None
        if self.small[subject.first] in RELATIVE | {"whose"}:
            return None
        lead = range(place, subject.first)
        if any(self.small[i] in DEPENDENT or "ing" in forms(self.words[i]) for i in lead if self.is_word[i]):
            return None
        verbs = [i for i in lead if is_finite(self.words[i]) and "base" not in forms(self.words[i])]
        if verbs and self.small[place] not in PREPOSITIONS:
            return None  # a verb without a subject comes first: "and says the plan is old"
        return self.said_of(subject, last)

    def said_of(self, subject: WordRange, last: int) -> Predicate | None:
        place = self._after_brackets(subject.last, last)
        place = skip_adverbs(self.words, place, last)
        if (
            place < last and self.small[place] in CONTINUING and not self.is_bare(subject, PRONOUNS)
        ):  # "Motion sensors and cameras now guard the museum"
            return Predicate(subject, subject.last, place)
        is_outside = place < last and self._odds[place] < UNSURE
        if is_outside and (said := predicate(self.words, subject, place, last)):
            return said
        # "Others, including large banks, have invested": an auxiliary or a verb of saying shows that there is one.
        later = next((i for i in range(place, last) if forms(self.words[i]) == {"auxiliary"}), last - 1)
        sure = forms(self.words[later]) == {"auxiliary"} or stem(self.small[later]) in REPORTING
        if later <= place or not sure or any(self.small[i] in DEPENDENT - {"to"} for i in range(place, later)):
            return None
        return Predicate(subject, subject.last, later)

    def _after_brackets(self, place: int, last: int) -> int:
        if place < last and self.words[place] in "([":
            closing = next((i for i in range(place, last) if self.words[i] in ")]"), place - 1)
            return closing + 1
        return place

    def begins_with_verb(self, place: int, last: int) -> int | None:
        """Where the verb is, if a piece begins with one (perhaps after an adverb) and not with a subject."""
        verb = skip_adverbs(self.words, place, last)
        if verb >= last or self._odds[verb] > UNSURE or not forms(self.words[verb]):
            return None
        return verb

    def noun_phrase(self, last: int) -> WordRange | None:
        """What is named right before this place: "Oranza Reef", "Thomas Sam and Manju Sam", "a desalination plant"."""
        first = last
        while first > 1 and (self._is_name(first - 1) or (self.small[first - 1] == "and" and self._is_name(first - 2))):
            first -= 1
        if first < last and self.small[first - 1] not in ARTICLES and self.words[first - 1] != "-":
            return WordRange(first, last)
        while first > 0 and self.is_word[first - 1] and self.small[first - 1] not in ARTICLES:
            if self.small[first - 1] in NO_VERBS | ADVERBS or last - first > 5:
                return None
            first -= 1
        return WordRange(first - 1, last) if first and self.small[first - 1] in ARTICLES and first < last else None

    def _is_name(self, place: int) -> bool:
        return self.is_word[place] and self.words[place][0].isupper()

    def is_attribution(self, piece: WordRange) -> bool:
        """Whether it ends with a verb of saying, and what is said does not follow: "..., police say."."""
        if self.goes_on(piece):
            return False
        words = [self.small[i] for i in range(*piece) if self.is_word[i]]
        if words[-2:] in (["puts", "it"], ["put", "it"]):
            return True
        inverted = bool(words) and stem(words[0]) in REPORTING and len(words) <= 12
        return bool(words) and (stem(words[-1]) in REPORTING or inverted)

    def can_be_left_out(self, piece: WordRange) -> bool:
        """Whether the clause before a piece is whole and still true without it."""
        first, sign = self.small[piece.first], self.words[piece.first - 1]
        verb = skip_adverbs(self.words, piece.first, piece.last)
        participle = verb < piece.last and forms(self.words[verb]) & {"ing", "participle"} and first not in LISTING
        beside = sign == "," and (participle or first in RELATIVE | {"whose", "where"})
        following = self.words[piece.first + 1] if piece.first + 1 < piece.last else ""
        clause = "ing" in forms(following) or any(run.first == piece.first + 1 for run in self.subjects)
        begins = first in ADJUNCT and clause and self.small[piece.first - 1] not in TIMES
        return bool(beside or begins or first == "despite" or (first == "so" and following == "that"))

    def goes_on(self, piece: WordRange) -> bool:
        """Whether the next piece follows without a sign."""
        return piece.last < len(self.words) and self.is_word[piece.last - 1]

    def is_bare(self, subject: tuple[int, int], pronouns: frozenset[str]) -> bool:
        """Whether a subject is one of these words alone: "this", but not "this study"."""
        return subject[1] - subject[0] == 1 and self.small[subject[0]] in pronouns

    def says_something(self, place: int, last: int, subject: tuple[int, int]) -> bool:
        """Whether a clause is worth reading alone: not "and this matters", nor "but it was so"."""
        if sum(self.is_word[place:last]) < MIN_WORDS:
            return False
        if self.is_bare(subject, DEMONSTRATIVES | RELATIVE):
            return False
        content = content_stems(" ".join(self.words[place:last])).keys() - {"not", "never", "no"}
        return len(content) >= 2 or not self.is_bare(subject, PRONOUNS)
