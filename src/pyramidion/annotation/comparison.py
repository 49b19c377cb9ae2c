"""Two annotations of the same text side by side, disagreements first: what an adjudicator looks at.

Units of two pyramids are paired by the words that contribute to them, since two people (or a person and a machine)
name and order units as they like. Two units are alike by Dice over the characters of the references; where one of them
has no marked words, over the content words of their labels. Each unit is paired once, so that the sum over pairs is
greatest.

Matches of two peer annotations are compared unit by unit, since both use one pyramid.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pyramidion.analysis.pyramid_pairs import Words, dice
from pyramidion.annotation.commands import Mark, Match, PeerAnnotation
from pyramidion.study import Pyramid


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


def _marked(mentions: Iterable[Match | Mark]) -> Words:
    return frozenset(place for mention in mentions for span in mention.spans for place in range(*span))
