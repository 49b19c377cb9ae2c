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
from itertools import pairwise, starmap
from typing import NamedTuple

from pyramidion.encoder.sentences import stem
from pyramidion.pyramids.grammar import (
    CONTINUING,
    DEMONSTRATIVES,
    FACTIVE,
    HANGING,
    MIN_WORDS,
    OF_EVENTS,
    PRONOUNS,
    RELATIVE,
    REPORTING,
    SIGNS_BEFORE_A_CLAUSE,
    TEMPORAL,
    Opening,
    SentenceWords,
    WordRange,
)
from pyramidion.pyramids.verbs import PREPOSITIONS, Form, Predicate, agrees, forms, is_finite, predicate

MOST_CARRIED = 12
"""Words repeated in front of a clause; with more, it is easier to read in its sentence."""
MOST_REPEATED = 20
"""Words of a clause repeated in front of what can be left out of it."""
MOST_APART = 15
"""Words between a verb and one that goes on from it; further apart, "and" rather joins what is between them."""
_PAIRS = re.compile(r"""\([^()]*\)|\[[^\[\]]*\]|“[^“”]*”|«[^«»]*»|"[^"]*"|(?<!\w)[‘'`](?=\S)[^‘]*?(?<=\S)[’'](?!\w)""")
_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")


class ClauseReading(NamedTuple):
    """A clause: its own words, those read before them, and how many of its own are left out at the beginning."""

    own: WordRange
    carried: tuple[WordRange, ...] = ()
    skipped: int = 0


@dataclass
class _Group:
    """Pieces that stay together. ``stands``: they have a finite verb with its subject already."""

    first: int
    last: int
    carried: tuple[WordRange, ...] = ()
    skipped: int = 0
    stands: bool = False
    resumed: Predicate | None = None
    relative: bool = False
    subordinate: bool = False
    lists: bool = False
    adjunct: bool = False

    def reading(self) -> ClauseReading:
        return ClauseReading(WordRange(self.first, self.last), self.carried, self.skipped)


def readings(words: SentenceWords, starts: Sequence[int], complements: Sequence[int]) -> list[ClauseReading]:
    """Cut a sentence before some of these words. ``complements`` are all places where a clause may start."""
    return _Cutter(words, complements).cut(starts)


class _Cutter:
    def __init__(self, words: SentenceWords, complements: Sequence[int]) -> None:
        self._words, self._complements = words, frozenset(complements)
        self._pieces: list[WordRange] = []

    def cut(self, starts: Sequence[int]) -> list[ClauseReading]:
        words = self._words
        pieces = self._pieces = list(starmap(WordRange, pairwise([0, *starts, len(words.words)])))
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
            elif new := self._new_group(group, piece, pieces[number - 1]):
                groups.append(new)
            else:
                self._join(group, piece)
                if len(groups) > 1 and group.subordinate and self._resumes(piece):
                    groups.pop()
                    groups[-1].last = group.last
            number += 1
        return [group.reading() for group in groups]

    def _new_group(self, group: _Group, piece: WordRange, before: WordRange) -> _Group | None:
        return (self._separate(group, piece, before) or self._adjunct(group, piece)) if group.stands else None

    def _first(self, piece: WordRange) -> _Group:
        opening = self._words.opening(piece)
        said = self._words.clause(opening.place, piece.last)
        if said is None or (opening.subordinate in TEMPORAL and not said.past) or self._words.is_attribution(piece):
            return _Group(*piece)
        places = (place for place in self._complements if piece.first < place < piece.last)
        inside = any(not self._words.is_word[place - 1] for place in places)  # the main clause, after a comma
        skipped = opening.place - piece.first if opening.subordinate and not inside else 0
        return _Group(*piece, skipped=skipped, stands=True)

    def _resumes(self, piece: WordRange) -> bool:
        """Whether a piece after a subordinate clause may go on with the clause before that one."""
        words = self._words
        return words.opening(piece).coordinate or words.words[piece.first - 1] in SIGNS_BEFORE_A_CLAUSE

    def _join(self, group: _Group, piece: WordRange) -> None:
        words = self._words
        opening = words.opening(piece)
        said = None if opening.subordinate else words.clause(opening.place, piece.last)
        if said and group.first == 0 and group.skipped and not opening.coordinate:
            group.skipped = 0  # the main clause after "Although ...," stays with it, so that word stays too
        if not group.stands:
            verb = words.begins_with_verb(piece.first, piece.last)
            resumes = (
                verb is not None
                and is_finite(words.words[verb])
                and bool(words.subjects_in(WordRange(group.first, group.last)))
            )
            group.stands = said is not None or resumes
        verb = words.begins_with_verb(piece.first, piece.last)
        group.lists |= words.words[piece.first - 1] == "," and verb is not None and is_finite(words.words[verb])
        group.last = piece.last

    # -- where to cut ---------------------------------------------------------------------------------------------

    def _separate(self, group: _Group, piece: WordRange, before: WordRange) -> _Group | None:
        """The piece as a clause of its own, if it is one, and the group before it does not need it."""
        words = self._words
        opening = words.opening(piece)
        if words.is_attribution(piece) or stem(words.small[piece.first - 1]) in REPORTING:
            return None
        if words.is_attribution(WordRange(group.first, group.last)) or words.small[piece.first - 1] in HANGING:
            return None
        if opening.coordinate and words.small[opening.place] == "that":
            return self._complement(group, piece, opening)
        if words.small[opening.place] in RELATIVE | {"that"}:
            return self._what_it_is(group, piece, opening) or self._named_before(piece, opening)
        said = words.clause(opening.place, piece.last)
        if said is not None:
            return self._clause(group, piece, before, opening, said)
        return None if opening.subordinate else self._predicate(group, piece, opening)

    def _adjunct(self, group: _Group, piece: WordRange) -> _Group | None:
        """A piece that can be left out, with the clause before it: "The barge hit a pier[, injuring seven people]"."""
        words = self._words
        core = WordRange(group.first + group.skipped, group.last)
        repeated = sum(sum(words.is_word[slice(*part)]) for part in (*group.carried, core))
        if group.adjunct or repeated > MOST_REPEATED or not words.can_be_left_out(piece):
            return None
        if words.is_attribution(piece) or words.small[piece.first - 1] in HANGING:
            return None
        said = self._predicates(group)
        whole = len(said) - (group.resumed is not None) == len(words.subjects_in(core))  # no subject waits for its verb
        if not whole or not said or words.small[said[0].verb] in CONTINUING or said[0].verb >= core.last - 1:
            return None
        return _Group(*piece, (*group.carried, core), stands=True, resumed=said[0], adjunct=True)

    def _clause(
        self, group: _Group, piece: WordRange, before: WordRange, opening: Opening, said: Predicate
    ) -> _Group | None:
        """A clause with its own subject."""
        words = self._words
        sign = words.words[piece.first - 1] if piece.first else ""
        if opening.subordinate:
            hangs = sign not in SIGNS_BEFORE_A_CLAUSE and self._has_relative(self._predicates(group)[-1:])
            parted = (opening.subordinate in FACTIVE or said.past) and not hangs
        elif opening.coordinate:
            # Without a comma, the clause may be the second thing that somebody says.
            parted = sign in SIGNS_BEFORE_A_CLAUSE or not self._complement_in(group)
        else:
            says_so = said.verb + 1 >= self._reach(piece)  # "..., the court has ruled."
            parted = sign == ";" or (sign in SIGNS_BEFORE_A_CLAUSE and self._stands_alone(before) and not says_so)
        if not parted or not words.says_something(opening.place, self._reach(piece), said.subject):
            return None
        skipped = opening.place - piece.first
        return _Group(*piece, skipped=skipped, stands=True, subordinate=bool(opening.subordinate))

    def _reach(self, piece: WordRange) -> int:
        """The end of a piece with those that follow it without a sign."""
        words = self._words
        return next((i for i in range(piece.last - 1, len(words.words)) if not words.is_word[i]), len(words.words))

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
        if verb is None or sum(words.is_word[opening.place : self._reach(piece)]) < MIN_WORDS - 1:
            return None
        shape = forms(words.words[verb])
        comma = words.words[piece.first - 1] == ","
        if not opening.coordinate and not (comma and (shape & {"s"} or self._is_listed(piece, shape))):
            return None
        fit = self._continued(group, piece, shape, opening)
        if fit is None:
            return None
        return self._carry(piece, fit, opening.place, verb, subject_alone=shape == {"auxiliary"})

    def _is_listed(self, piece: WordRange, shape: frozenset[Form]) -> bool:
        """Whether a further verb of the same form follows: "took cuttings, grew them, and planted them"."""
        words = self._words
        for later in self._pieces:
            opening = words.opening(later)
            if later.first > piece.first and opening.coordinate:
                verb = words.begins_with_verb(opening.place, later.last)
                return verb is not None and bool(forms(words.words[verb]) & shape)
        return False

    def _has_relative(self, said: list[Predicate]) -> bool:
        return any(self._words.small[each.first] in RELATIVE | {"that"} for each in said)

    def _continued(self, group: _Group, piece: WordRange, shape: frozenset[Form], opening: Opening) -> Predicate | None:
        """The verb that a further one goes on from: after a comma the main verb, otherwise the last one before it."""
        words = self._words
        comma = words.words[piece.first - 1] == ","
        said = self._predicates(group)
        if said and self._complement_in(group) is not None:
            return self._continued_inside(said, shape, comma)
        if not said:
            return None
        fit = said[0] if comma or len(said) == 1 else said[-1]
        beside = [each for each in said if words.words[each.first - 1] == ","]  # ", which ..."
        if group.lists or (comma and self._has_relative(beside if opening.coordinate else said)):
            return None  # it may be one of several verbs that stay together
        if fit.verb >= piece.first - 1:
            return None  # what comes later belongs to both: "attacked and killed a cyclist"
        far = not comma and piece.first - fit.verb > MOST_APART
        fits = bool(shape & fit.forms) or shape == {"auxiliary"}
        hangs = fit is not said[0] or words.is_bare(fit.subject, DEMONSTRATIVES | RELATIVE)
        return fit if fits and not far and not hangs else None

    def _continued_inside(self, said: list[Predicate], shape: frozenset[Form], comma: bool) -> Predicate | None:
        """The verb inside of what somebody says, if the one that says so cannot be meant, with who says so before it:
        "Critics say that it covers little and [critics say that it] diverts attention"."""
        fitting = [each for each in said if shape & each.forms or shape == {"auxiliary"}]
        if comma or len(said) != 2 or fitting != said[1:] or self._has_relative(fitting):
            return None
        [main, inner] = said
        return inner._replace(subject=(main.first, inner.subject[1]))

    def _carry(self, piece: WordRange, fit: Predicate, place: int, verb: int, *, subject_alone: bool) -> _Group | None:
        """The piece with the subject before it, and the auxiliary unless the piece has its own."""
        carried = WordRange(fit.first, fit.subject[1] if subject_alone else fit.last)
        if carried.last - carried.first > MOST_CARRIED:
            return None
        said = fit._replace(verb=verb)
        if subject_alone or fit.last == fit.subject[1]:
            said = predicate(self._words.words, fit.subject, verb, piece.last) or said
        return _Group(*piece, (carried,), place - piece.first, stands=True, resumed=said)

    def _what_it_is(self, group: _Group, piece: WordRange, opening: Opening) -> _Group | None:
        """A relative clause on what a subject is, and so on the subject: "Coron is a town that became famous"."""
        words = self._words
        verb = words.begins_with_verb(opening.place + 1, piece.last)
        said = self._predicates(group)
        if verb is None or not said or not is_finite(words.words[verb]):
            return None
        [main, *others] = said
        shape = forms(words.words[verb])
        if group.relative and opening.coordinate:  # "... and who wrote decrees"
            return self._carry(piece, main, opening.place + 1, verb, subject_alone=True)
        if (
            others
            or opening.coordinate
            or not main.links
            or words.is_bare(main.subject, PRONOUNS - {"he", "she", "they"})
        ):
            return None
        between = [words.words[i] for i in range(main.verb + 1, piece.first) if words.is_word[i]]
        names = next((i for i, word in enumerate(between) if word.lower() in PREPOSITIONS), len(between))
        named = (w.lower() in PREPOSITIONS | {"the"} or not w[0].islower() for w in between[names:])
        if not between or not all(named) or len(between) > MOST_APART or (shape & {"base"} and main.past):
            return None
        new = self._carry(piece, main, opening.place + 1, verb, subject_alone=True)
        if new is not None:
            new.relative = True
        return new

    def _named_before(self, piece: WordRange, opening: Opening) -> _Group | None:
        """A relative clause beside what it is about, if that is a name or begins with an article: "a plant, which"."""
        words = self._words
        verb = words.begins_with_verb(opening.place + 1, piece.last)
        beside = not opening.coordinate and words.words[piece.first - 1] == "," and words.small[opening.place] != "that"
        if not beside or verb is None or not is_finite(words.words[verb]) or stem(words.small[verb]) in OF_EVENTS:
            return None
        named = words.noun_phrase(piece.first - 1)
        if named is None or not agrees(words.words[slice(*named)], words.small[verb]):
            return None
        if words.small[opening.place] == "who" and words.small[named.first - 1] in PREPOSITIONS - {"to", "by"}:
            return None  # "a resident of San Francisco, who"
        said = predicate(words.words, named, verb, piece.last)
        return _Group(*piece, (named,), 1, stands=True, resumed=said, subordinate=True)

    def _predicates(self, group: _Group) -> list[Predicate]:
        """All finite verbs of a group with their subjects, in order."""
        words = self._words
        said = [] if group.resumed is None else [group.resumed]
        for subject in words.subjects_in(WordRange(group.first, group.last)):
            if (each := words.said_of(subject, group.last)) is not None:
                said.append(each)
        return said

    def _complement_in(self, group: _Group) -> int | None:
        """Where "that ..." begins what somebody says in a group."""
        words = self._words
        for place in range(group.first + 1, group.last - 1):
            if words.small[place] != "that" or place not in self._complements:
                continue
            if words.is_word[place - 1] and any(run.first == place + 1 for run in words.subjects):
                return place
        return None

    def _complement(self, group: _Group, piece: WordRange, opening: Opening) -> _Group | None:
        """A further "that ...", with who says so from the first one."""
        words = self._words
        place = self._complement_in(group)
        if place is None or place - group.first > MOST_CARRIED or words.clause(opening.place + 1, piece.last) is None:
            return None
        carried = group.carried or (WordRange(group.first + group.skipped, place),)
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
        if words.is_bare(subject, PRONOUNS) or subject.last - subject.first > MOST_CARRIED:
            return None
        body = words.begins_with_verb(relative + 1, pieces[number + 1].last)
        if body is None or not is_finite(words.words[body]):
            return None
        for later in range(number + 2, len(pieces)):
            verb = words.begins_with_verb(*pieces[later])
            if words.words[pieces[later].first - 1] == "," and verb is not None and is_finite(words.words[verb]):
                said = predicate(words.words, subject, verb, pieces[later].last)
                return (
                    _Group(relative, pieces[later].first, (subject,), 1, stands=True),
                    _Group(*pieces[later], (subject,), 0, stands=True, resumed=said),
                    later,
                )
        return None


def enclosed(text: str) -> Iterator[tuple[int, int]]:
    """Where brackets and quotation marks enclose something: after the opening mark, and after the closing one."""
    for match in _PAIRS.finditer(text):
        yield match.start() + 1, match.end()
    for match in _BRACKETS.finditer(text):
        yield match.start() + 1, match.end()
