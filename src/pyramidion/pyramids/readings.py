"""Which parts of a sentence can be read alone, and how: a finite verb with its subject, and all that hangs on them.

A sentence is cut only where both sides then say something by themselves:
- at a coordinate clause with its own subject ("..., and nobody has found it"), or without one where the form of its
  verb says whose it is ("He came and [he] saw", "It has fallen and [it has] hit a car");
- at "and that ...", which takes who says so with it ("Shake suggests that A and [Shake suggests] that B");
- at an adverbial clause whose content is asserted too ("because", "although", and "when" in the past, but not "if");
- around a relative clause that parts a subject from its verb ("The council, which met twice, will vote").

Everything else stays with the clause that it depends on: complements and who states them, restrictive relative clauses,
infinitives, participles, conditions, citations, and whatever is inside brackets or quotation marks. A sentence with
nothing to cut at stays whole. Boundaries and subjects come from the segmenter's head; words from closed classes say
what kind of boundary it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, starmap
from typing import NamedTuple

import numpy as np

from pyramidion.encoder.minilm import Floats
from pyramidion.encoder.sentences import content_stems, stem
from pyramidion.encoder.words import is_word
from pyramidion.pyramids.verbs import Predicate, forms, is_finite, predicate, skip_adverbs

MIN_WORDS = 3
"""A clause with fewer words says too little to be read alone."""
MOST_CARRIED = 12
"""Words repeated in front of a clause; with more, it is easier to read in its sentence."""
NO_SUBJECT = -2.0
"""Log-odds below which a word is surely outside of a subject, as verbs are; names and numbers in one may be unsure."""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


COORDINATING = _set("and but or yet")
FACTIVE = _set("because although though while whereas since")
"""They begin a clause that is stated as a fact, like the one it hangs on; left out when it is read."""
TEMPORAL = _set("when after before as")
"""These do so of what has happened: "after engineers look at it" does not say that they did."""
BEFORE_SUBORDINATE = _set("not only even just simply partly mainly than such so")
DEPENDENT = _set("that which who whom whose what how why whether if unless until once where to so than lest provided")
RELATIVE = _set("who which")
PRONOUNS = _set("he she it they we i you one this that these those there who which what")
DEMONSTRATIVES = _set("this that these those")
_REPORTING = _set("""
    say tell write explain suggest argue claim report state note add warn believe think conclude announce reveal admit
    insist confirm show indicate mention stress emphasize predict estimate declare comment observe remark quote cite
    assert contend maintain
""")
REPORTING = frozenset(map(stem, _REPORTING)) | _set("said told wrote written thought shown")
"""Stems of verbs by which somebody says something: with nobody's words after them, they say nothing."""
SIGNS_BEFORE_A_CLAUSE = frozenset(",;:–—-")
_INNER_SIGNS = frozenset("-'’.&/‐‑")
_PAIRS = re.compile(r"""\([^()]*\)|\[[^\[\]]*\]|“[^“”]*”|«[^«»]*»|"[^"]*"|(?<!\w)[‘'`](?=\S)[^‘]*?(?<=\S)[’'](?!\w)""")
_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")


class WordRange(NamedTuple):
    """Some words of a sentence, by their numbers: the first, and the one after the last."""

    first: int
    last: int


class Reading(NamedTuple):
    """A clause: its own words, those read before them, and how many of its own are left out at the beginning."""

    own: WordRange
    carried: WordRange | None = None
    skipped: int = 0


@dataclass
class _Group:
    """Pieces that stay together. ``stands``: they have a finite verb with its subject already."""

    first: int
    last: int
    carried: WordRange | None = None
    skipped: int = 0
    stands: bool = False
    resumed: Predicate | None = None

    def reading(self) -> Reading:
        return Reading(WordRange(self.first, self.last), self.carried, self.skipped)


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
        inside = self._odds > 0
        for step in (1, -1):
            order = range(len(inside))[::step]
            for place in order:
                before = place - step
                if 0 <= before < len(inside) and inside[before] and self._odds[place] > NO_SUBJECT:
                    inside[place] |= self.words[place][0].isupper() or self.words[place][0].isdigit()
        for place in range(1, len(inside) - 1):
            if inside[place - 1] and inside[place + 1]:
                inside[place] |= self.words[place] in _INNER_SIGNS or self._odds[place] > NO_SUBJECT
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
        coordinate = self.small[place] in COORDINATING
        place += coordinate
        while place < piece.last - 1 and self.words[place] == ",":
            place += 1
        if self.small[place] == "even" and place + 1 < piece.last and self.small[place + 1] in FACTIVE:
            place += 1
        subordinate = self.small[place] if self.small[place] in FACTIVE | TEMPORAL else ""
        if place == piece.first and place and self.small[place - 1] in BEFORE_SUBORDINATE:
            return Opening(False, "", piece.first)
        return Opening(coordinate, subordinate, min(place + bool(subordinate), piece.last - 1))

    def clause(self, place: int, last: int) -> Predicate | None:
        """The finite verb of a clause with its subject, where the words from ``place`` on begin one."""
        subject = next(iter(self.subjects_in(WordRange(place, last))), None)
        if subject is None:
            return None
        lead = range(place, subject.first)
        if any(self.small[i] in DEPENDENT or "ing" in forms(self.words[i]) for i in lead if self.is_word[i]):
            return None
        if any(is_finite(self.words[i]) and "base" not in forms(self.words[i]) for i in lead):
            return None  # a verb without a subject comes first: "and says the plan is old"
        return self._said_of(subject, last)

    def _said_of(self, subject: WordRange, last: int) -> Predicate | None:
        place = self._after_brackets(subject.last, last)
        place = skip_adverbs(self.words, place, last)
        if place < last and self.words[place] != ",":
            return predicate(self.words, subject, place, last)
        # "Others, including large banks, have invested": only an auxiliary shows that there is a verb.
        later = next((i for i in range(place, last) if forms(self.words[i]) == {"auxiliary"}), None)
        if later is None or any(self.small[i] in RELATIVE for i in range(place, later)):
            return None
        return Predicate(subject.first, subject.last, frozenset(), past=False)

    def _after_brackets(self, place: int, last: int) -> int:
        if place < last and self.words[place] in "([":
            closing = next((i for i in range(place, last) if self.words[i] in ")]"), place - 1)
            return closing + 1
        return place

    def begins_with_verb(self, place: int, last: int) -> int | None:
        """Where the verb is, if a piece begins with one (perhaps after an adverb) and not with a subject."""
        verb = skip_adverbs(self.words, place, last)
        if verb >= last or any(run.first <= verb < run.last for run in self.subjects) or not forms(self.words[verb]):
            return None
        return verb

    def is_attribution(self, piece: WordRange) -> bool:
        """Whether it ends with a verb of saying, and so says nothing without what is said."""
        words = [self.small[i] for i in range(*piece) if self.is_word[i]]
        if words[-2:] in (["puts", "it"], ["put", "it"]):
            return True
        inverted = bool(words) and stem(words[0]) in REPORTING and len(words) <= MOST_CARRIED
        return bool(words) and (stem(words[-1]) in REPORTING or inverted)

    def says_something(self, place: int, last: int, subject: tuple[int, int]) -> bool:
        """Whether a clause is worth reading alone: not "and this matters", nor "but it was so"."""
        if sum(self.is_word[place:last]) < MIN_WORDS:
            return False
        alone = self.small[subject[0] : subject[1]]
        if len(alone) == 1 and alone[0] in DEMONSTRATIVES | RELATIVE:
            return False
        text = " ".join(self.words[place:last])
        return len(content_stems(text)) >= 2 or not (len(alone) == 1 and alone[0] in PRONOUNS)


def readings(words: SentenceWords, starts: Sequence[int], complements: Sequence[int]) -> list[Reading]:
    """Cut a sentence before some of these words. ``complements`` are all places where a clause may start."""
    return _Cutter(words, complements).cut(starts)


class _Cutter:
    def __init__(self, words: SentenceWords, complements: Sequence[int]) -> None:
        self._words, self._complements = words, frozenset(complements)

    def cut(self, starts: Sequence[int]) -> list[Reading]:
        words = self._words
        pieces = list(starmap(WordRange, pairwise([0, *starts, len(words.words)])))
        groups: list[_Group] = []
        number = 0
        while number < len(pieces):
            piece = pieces[number]
            group = groups[-1] if groups else None
            if (group is None or group.stands) and (parted := self._parted(pieces, number)):
                relative, resumed, number = parted
                groups += [relative, resumed]
            elif group is None:
                groups.append(self._first(piece))
            elif group.stands and (new := self._separate(group, piece, pieces[number - 1])):
                groups.append(new)
            else:
                self._join(group, piece)
            number += 1
        return [group.reading() for group in groups]

    def _first(self, piece: WordRange) -> _Group:
        opening = self._words.opening(piece)
        said = self._words.clause(opening.place, piece.last)
        if said is None or (opening.subordinate in TEMPORAL and not said.past) or self._words.is_attribution(piece):
            return _Group(*piece)
        return _Group(*piece, skipped=opening.place - piece.first if opening.subordinate else 0, stands=True)

    def _join(self, group: _Group, piece: WordRange) -> None:
        words = self._words
        opening = words.opening(piece)
        said = None if opening.subordinate else words.clause(opening.place, piece.last)
        if said and group.first == 0 and group.skipped and not opening.coordinate:
            group.skipped = 0  # the main clause after "Although ...," stays with it, so that word stays too
        if not group.stands:
            verb = words.begins_with_verb(piece.first, piece.last)
            resumes = verb is not None and is_finite(words.words[verb]) and bool(words.subjects_in(WordRange(group.first, group.last)))
            group.stands = said is not None or resumes
        group.last = piece.last

    # -- where to cut ---------------------------------------------------------------------------------------------

    def _separate(self, group: _Group, piece: WordRange, before: WordRange) -> _Group | None:
        """The piece as a clause of its own, if it is one, and the group before it does not need it."""
        words = self._words
        opening = words.opening(piece)
        if words.is_attribution(piece) or words.is_attribution(WordRange(group.first, group.last)):
            return None
        if opening.coordinate and words.small[opening.place] == "that":
            return self._complement(group, piece, opening)
        said = words.clause(opening.place, piece.last)
        if said is not None:
            return self._clause(group, piece, before, opening, said)
        return None if opening.subordinate else self._predicate(group, piece, opening)

    def _clause(
        self, group: _Group, piece: WordRange, before: WordRange, opening: Opening, said: Predicate
    ) -> _Group | None:
        """A clause with its own subject."""
        words = self._words
        sign = words.words[piece.first - 1] if piece.first else ""
        if opening.subordinate:
            parted = opening.subordinate in FACTIVE or said.past
        elif opening.coordinate:
            # Without a comma, the clause may be the second thing that somebody says.
            parted = sign in SIGNS_BEFORE_A_CLAUSE or not self._complement_in(group)
        else:
            parted = sign == ";" or (sign in SIGNS_BEFORE_A_CLAUSE and self._stands_alone(before))
        if not parted or not words.says_something(opening.place, piece.last, (said.first, said.last)):
            return None
        return _Group(*piece, skipped=opening.place - piece.first, stands=True)

    def _stands_alone(self, piece: WordRange) -> bool:
        """Not a condition or a participle, which belong to the clause after them: "If it rains, the match ends"."""
        opening = self._words.opening(piece)
        return self._words.clause(opening.place, piece.last) is not None or bool(
            self._words.begins_with_verb(opening.place, piece.last) and opening.coordinate
        )

    def _predicate(self, group: _Group, piece: WordRange, opening: Opening) -> _Group | None:
        """A verb that goes on with the subject, and perhaps the auxiliary, of the only verb that it can continue."""
        words = self._words
        verb = words.begins_with_verb(opening.place, piece.last)
        if verb is None or sum(words.is_word[opening.place : piece.last]) < MIN_WORDS - 1:
            return None
        shape = forms(words.words[verb])
        listed = piece.first > 0 and words.words[piece.first - 1] == ","
        if not opening.coordinate and not (listed and shape & {"s"}):
            return None
        said = self._predicates(group)
        fitting = [each for each in said if shape & each.forms or shape == {"auxiliary"}]
        if len(fitting) != 1 or words.small[fitting[0].first] in DEMONSTRATIVES | RELATIVE:
            return None
        [fit] = fitting
        last = fit.last
        if shape == {"auxiliary"}:  # "has been closed and will reopen": the subject alone
            last = next((run.last for run in words.subjects if run.first == fit.first), fit.last)
            last = group.carried.last if group.carried and fit is group.resumed else last
        carried = WordRange(said[0].first, last) if fit.first >= said[0].first else WordRange(fit.first, last)
        if carried.last - carried.first > MOST_CARRIED:
            return None
        return _Group(
            *piece,
            carried=carried,
            skipped=opening.place - piece.first,
            stands=True,
            resumed=predicate(words.words, carried, verb, piece.last),
        )

    def _predicates(self, group: _Group) -> list[Predicate]:
        """All finite verbs of a group with their subjects, in order."""
        words = self._words
        said = [] if group.resumed is None else [group.resumed]
        for subject in words.subjects_in(WordRange(group.first, group.last)):
            if (each := words._said_of(subject, group.last)) is not None:
                said.append(each)
        return said

    def _complement_in(self, group: _Group) -> int | None:
        """Where "that ..." begins what somebody says in a group."""
        words = self._words
        for place in range(group.first + 1, group.last - 1):
            if words.small[place] == "that" and place in self._complements and words.is_word[place - 1]:
                return place
        return None

    def _complement(self, group: _Group, piece: WordRange, opening: Opening) -> _Group | None:
        """A further "that ...", with who says so from the first one."""
        words = self._words
        place = self._complement_in(group)
        if place is None or place - group.first > MOST_CARRIED or words.clause(opening.place + 1, piece.last) is None:
            return None
        carried = group.carried if group.carried else WordRange(group.first + group.skipped, place)
        return _Group(*piece, carried=carried, skipped=opening.place - piece.first, stands=True)

    def _parted(self, pieces: list[WordRange], number: int) -> tuple[_Group, _Group, int] | None:
        """A subject, a relative clause and the subject's verb: two groups, and the number of the last piece."""
        words = self._words
        piece = pieces[number]
        opening = words.opening(piece)
        if number + 2 >= len(pieces) or opening.place > piece.first or words.words[piece.last - 1] != ",":
            return None
        subject = WordRange(opening.place, piece.last - 1)
        runs = words.subjects_in(piece)
        if not runs or runs[0].first != opening.place or runs[-1].last < subject.last:
            return None
        relative = pieces[number + 1].first
        if words.small[relative] not in RELATIVE:
            return None
        if words.small[subject.first] in PRONOUNS or subject.last - subject.first > MOST_CARRIED:
            return None
        body = words.begins_with_verb(relative + 1, pieces[number + 1].last)
        if body is None or not is_finite(words.words[body]):
            return None
        for later in range(number + 2, len(pieces)):
            verb = words.begins_with_verb(*pieces[later])
            if words.words[pieces[later].first - 1] == "," and verb is not None and is_finite(words.words[verb]):
                said = predicate(words.words, subject, verb, pieces[later].last)
                return (
                    _Group(relative, pieces[later].first, subject, 1, stands=True),
                    _Group(*pieces[later], subject, 0, stands=True, resumed=said),
                    later,
                )
        return None


def enclosed(text: str) -> Iterator[tuple[int, int]]:
    """Where brackets and quotation marks enclose something: after the opening mark, and after the closing one."""
    for match in _PAIRS.finditer(text):
        yield match.start() + 1, match.end()
    for match in _BRACKETS.finditer(text):
        yield match.start() + 1, match.end()
