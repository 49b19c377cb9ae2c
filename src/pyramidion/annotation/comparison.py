"""Two annotations of the same text side by side, disagreements first, which is what an adjudicator looks at.

Units of two pyramids are paired by the words that contribute to them (`pyramidion.analysis.pyramid_pairs`); matches of
two peer annotations are compared unit by unit, since both use one pyramid.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

from pyramidion.analysis.pyramid_pairs import UnitPair, Words, dice
from pyramidion.annotation.commands import Mark, Match, PeerAnnotation
from pyramidion.stats.alpha import alpha
from pyramidion.study import Pyramid


@dataclass(frozen=True, slots=True)
class MatchPair:
    """What two annotators say about a unit, or, if ``unit`` is empty, about content in no unit."""

    unit: str
    first: tuple[Match | Mark, ...]
    second: tuple[Match | Mark, ...]
    shared: float

    @property
    def same(self) -> bool:
        """The same number of mentions in the same words."""
        return len(self.first) == len(self.second) and self.shared == 1


def compare_peers(first: PeerAnnotation, second: PeerAnnotation, pyramid: Pyramid) -> list[MatchPair]:
    """Every unit that either annotator matched, and the unmatched content: different counts first, then different
    words."""
    rows = []
    for unit in pyramid.units:
        one, other = (tuple(m for m in peer.matches if m.unit == unit.id) for peer in (first, second))
        if one or other:
            rows.append(MatchPair(unit.id, one, other, dice(_characters(one), _characters(other))))
    if first.marks or second.marks:
        rows.append(MatchPair("", first.marks, second.marks, dice(_characters(first.marks), _characters(second.marks))))
    return sorted(rows, key=lambda row: (row.same, -abs(len(row.first) - len(row.second)), row.shared))


def _characters(mentions: Iterable[Match | Mark]) -> Words:
    return frozenset(place for mention in mentions for span in mention.spans for place in range(*span))


def differing_fields(pair: UnitPair) -> tuple[str, ...]:
    """What two paired units say differently besides their contributors: "label", "comment". An adjudicator settles that
    too; it does not count in the agreement."""
    if pair.first is None or pair.second is None:
        return ()
    return tuple(name for name in ("label", "comment") if getattr(pair.first, name) != getattr(pair.second, name))


class Alikeness(NamedTuple):
    """How far two annotations agree: in ``same`` of ``of`` units, and ``words``, the mean Dice of the words marked for
    units that both have. ``alpha``, for peers, is Krippendorff's (nominal) of "is it there?", None if undefined."""

    same: int
    of: int
    words: float | None
    alpha: float | None = None


def alikeness(pairs: Sequence[UnitPair] | Sequence[MatchPair], pyramid: Pyramid) -> Alikeness:
    """Peers agree on a unit if both or neither found it; pyramids if both have it with the same contributors."""
    units = [pair for pair in pairs if isinstance(pair, UnitPair)]
    if units or not pairs:
        shared = [pair.shared for pair in units if pair.first and pair.second]
        return Alikeness(sum(pair.same for pair in units), len(units), fmean(shared) if shared else None)
    matches = {pair.unit: pair for pair in pairs if isinstance(pair, MatchPair)}
    both = [
        (bool(row.first), bool(row.second)) if (row := matches.get(unit.id)) else (False, False)
        for unit in pyramid.units
    ]
    shared = [row.shared for unit, row in matches.items() if unit and row.first and row.second]
    items = [place for place in range(len(both)) for _ in range(2)]
    found = alpha(items, [float(said) for pair in both for said in pair]).value if both else None
    return Alikeness(sum(one == other for one, other in both), len(both), fmean(shared) if shared else None, found)
