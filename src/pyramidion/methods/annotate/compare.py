"""Two annotations of the same text side by side, disagreements first: what an adjudicator looks at.

Units of two pyramids are paired by the words that contribute to them, since two people name and order units as they
like: the pair that shares most (Dice over characters of the references) first, each unit once. Matches of two peer
annotations are compared unit by unit, since both use one pyramid.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass

from pyramidion.methods.annotate.commands import Mark, Match
from pyramidion.methods.annotate.subject import PeerAnnotation
from pyramidion.model import ContentUnit, Pyramid

Words = frozenset[Hashable]


@dataclass(frozen=True, slots=True)
class UnitPair:
    """A unit of each pyramid, or of one of them. ``differing`` names the references they use differently."""

    first: ContentUnit | None
    second: ContentUnit | None
    shared: float
    differing: tuple[str, ...]

    @property
    def same(self) -> bool:
        return not self.differing and self.first is not None and self.second is not None


@dataclass(frozen=True, slots=True)
class MatchPair:
    """What two annotators say about a unit, or, where ``unit`` is empty, about content in no unit."""

    unit: str
    first: tuple[Match | Mark, ...]
    second: tuple[Match | Mark, ...]
    shared: float

    @property
    def same(self) -> bool:
        """The same number of mentions in the same words."""
        return len(self.first) == len(self.second) and self.shared == 1


def compare_pyramids(first: Pyramid, second: Pyramid) -> list[UnitPair]:
    """Every unit of both, those with least in common first."""
    here, there = ({unit.id: _words(unit) for unit in pyramid.units} for pyramid in (first, second))
    units = {unit.id: unit for unit in first.units}, {unit.id: unit for unit in second.units}
    pairs = []
    left, right = dict.fromkeys(here), dict.fromkeys(there)
    for one, other in _likeliest(here, there):
        if one in left and other in right:
            del left[one], right[other]
            pairs.append(_pair(units[0][one], units[1][other], dice(here[one], there[other])))
    pairs += [_pair(units[0][one], None, 0.0) for one in left]
    pairs += [_pair(None, units[1][other], 0.0) for other in right]
    return sorted(pairs, key=lambda pair: (pair.same, pair.shared))


def compare_peers(first: PeerAnnotation, second: PeerAnnotation, pyramid: Pyramid) -> list[MatchPair]:
    """Every unit that either matched, and what both left over: different counts first, then different words."""
    rows = []
    for unit in pyramid.units:
        one, other = (tuple(m for m in peer.matches if m.unit == unit.id) for peer in (first, second))
        if one or other:
            rows.append(MatchPair(unit.id, one, other, dice(_marked(one), _marked(other))))
    if first.marks or second.marks:
        rows.append(MatchPair("", first.marks, second.marks, dice(_marked(first.marks), _marked(second.marks))))
    return sorted(rows, key=lambda row: (row.same, -abs(len(row.first) - len(row.second)), row.shared))


def dice(first: Words, second: Words) -> float:
    """2 |A and B| / (|A| + |B|); 1 where both are empty."""
    total = len(first) + len(second)
    return 2 * len(first & second) / total if total else 1.0


def _pair(first: ContentUnit | None, second: ContentUnit | None, shared: float) -> UnitPair:
    used: list[dict[str, Words]] = []
    for unit in (first, second):
        words: dict[str, set[Hashable]] = defaultdict(set)
        for contributor in unit.contributors if unit else ():
            words[contributor.reference] |= {place for span in contributor.spans for place in range(*span)}
        used.append({reference: frozenset(places) for reference, places in words.items()})
    differing = sorted(name for name in used[0].keys() | used[1].keys() if used[0].get(name) != used[1].get(name))
    return UnitPair(first, second, shared, tuple(differing))


def _words(unit: ContentUnit) -> Words:
    """The characters of a unit; a contributor without spans, and a unit without contributors, count by the label."""
    found: set[Hashable] = set() if unit.contributors else {unit.label}
    for contributor in unit.contributors:
        places = [(contributor.reference, place) for span in contributor.spans for place in range(*span)]
        found.update(places or [(contributor.reference, unit.label)])
    return frozenset(found)


def _likeliest(here: Mapping[str, Words], there: Mapping[str, Words]) -> list[tuple[str, str]]:
    """Pairs that share words, those that share most first; where that is equal, those of the same name."""
    users: dict[Hashable, list[str]] = defaultdict(list)
    for id, words in there.items():
        for word in words:
            users[word].append(id)
    shared = Counter((one, other) for one, words in here.items() for word in words for other in users.get(word, ()))
    return sorted(shared, key=lambda pair: (-dice(here[pair[0]], there[pair[1]]), pair[0] != pair[1], pair))


def _marked(mentions: Iterable[Match | Mark]) -> Words:
    return frozenset(place for mention in mentions for span in mention.spans for place in range(*span))
