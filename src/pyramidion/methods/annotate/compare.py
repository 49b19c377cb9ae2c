"""Two annotations of the same text side by side, disagreements first: what an adjudicator looks at.

Units of two pyramids are paired by the words that contribute to them, since two people (or a person and a machine)
name and order units as they like. Two units are alike by Dice over the characters of the references; where one of them
has no marked words, over the content words of their labels. Each unit is paired once, so that the sum over pairs is
greatest.

Matches of two peer annotations are compared unit by unit, since both use one pyramid.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from pyramidion.methods.annotate.commands import Mark, Match
from pyramidion.methods.annotate.subject import PeerAnnotation
from pyramidion.methods.statements import content_stems
from pyramidion.model import ContentUnit, Pyramid

Words = frozenset[Hashable]


@dataclass(frozen=True, slots=True)
class UnitPair:
    """A unit of each pyramid, or of one of them. ``differing`` names the references they use differently; ``by_label``
    says that labels were compared."""

    first: ContentUnit | None
    second: ContentUnit | None
    shared: float
    differing: tuple[str, ...]
    by_label: bool = False

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


def compare_pyramids(first: Pyramid, second: Pyramid, *, least: float = 0.0) -> list[UnitPair]:
    """Every unit of both, those with least in common first. Units that share less than ``least``, or nothing, are no
    pair."""
    here, there = (sorted(pyramid.units, key=lambda unit: unit.id) for pyramid in (first, second))
    alike = _likeness(here, there, least)
    partner = _assigned(here, there, alike)
    pairs = [
        _pair(unit, there[partner[place]], alike[place, partner[place]]) if place in partner else _pair(unit, None)
        for place, unit in enumerate(here)
    ]
    taken = set(partner.values())
    pairs += [_pair(None, unit) for place, unit in enumerate(there) if place not in taken]
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


def _pair(first: ContentUnit | None, second: ContentUnit | None, shared: float = 0.0) -> UnitPair:
    used: list[dict[str, Words]] = []
    for unit in (first, second):
        words: dict[str, set[Hashable]] = defaultdict(set)
        for contributor in unit.contributors if unit else ():
            words[contributor.reference] |= {place for span in contributor.spans for place in range(*span)}
        used.append({reference: frozenset(places) for reference, places in words.items()})
    differing = sorted(name for name in used[0].keys() | used[1].keys() if used[0].get(name) != used[1].get(name))
    by_label = bool(first and second) and not (is_marked(first) and is_marked(second))
    return UnitPair(first, second, shared, tuple(differing), by_label)


def is_marked(unit: ContentUnit | None) -> bool:
    """Whether anybody marked where a reference says it."""
    return unit is not None and any(contributor.spans for contributor in unit.contributors)


def unit_words(unit: ContentUnit) -> Words:
    """The characters of a unit; a contributor without spans, and a unit without contributors, count by the label."""
    found: set[Hashable] = set() if unit.contributors else {unit.label}
    for contributor in unit.contributors:
        places = [(contributor.reference, place) for span in contributor.spans for place in range(*span)]
        found.update(places or [(contributor.reference, unit.label)])
    return frozenset(found)


Likeness = Mapping[tuple[int, int], float]
"""How alike two units are, by their places; what is not there has nothing in common."""


def _likeness(here: Sequence[ContentUnit], there: Sequence[ContentUnit], least: float) -> Likeness:
    words, others = ([unit_words(unit) for unit in units] for units in (here, there))
    users: dict[Hashable, list[int]] = defaultdict(list)
    for place, found in enumerate(others):
        for word in found:
            users[word].append(place)
    near = {(i, j) for i, found in enumerate(words) for word in found for j in users.get(word, ())}
    alike = {(i, j): dice(words[i], others[j]) for i, j in near}
    unmarked, unmarked_there = ({i for i, unit in enumerate(units) if not is_marked(unit)} for units in (here, there))
    if unmarked or unmarked_there:
        stems, other_stems = ([frozenset(content_stems(unit.label)) for unit in units] for units in (here, there))
        for i, j in product(range(len(here)), range(len(there))):
            if (i in unmarked or j in unmarked_there) and alike.get((i, j)) != 1 and stems[i] & other_stems[j]:
                alike[i, j] = dice(stems[i], other_stems[j])
    return {pair: shared for pair, shared in alike.items() if shared > 0 and shared >= least}


def _assigned(here: Sequence[ContentUnit], there: Sequence[ContentUnit], alike: Likeness) -> dict[int, int]:
    """The partner of each place: one to one, with the greatest sum (Kuhn 1955).

    Among equals the same references and then the same id decide, by less than a character is worth.
    """
    import numpy as np
    from scipy.optimize import linear_sum_assignment  # slow to import, so only when it is needed

    gain = np.zeros((len(here), len(there)))
    for (i, j), shared in alike.items():
        one, other = here[i], there[j]
        gain[i, j] = shared + 1e-9 * (one.references == other.references) + 1e-10 * (one.id == other.id)
    return {int(i): int(j) for i, j in zip(*linear_sum_assignment(gain, maximize=True), strict=True) if gain[i, j]}


def _marked(mentions: Iterable[Match | Mark]) -> Words:
    return frozenset(place for mention in mentions for span in mention.spans for place in range(*span))
