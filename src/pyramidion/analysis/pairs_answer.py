"""The result of comparing pyramids, as a sentence, tables and a figure."""

from __future__ import annotations

from dataclasses import dataclass

from pyramidion.analysis.answer import Cell, Lines, Series, Table, count
from pyramidion.study import ContentUnit

EVERY = ""
"""Denotes all topics together."""


@dataclass(frozen=True, slots=True)
class PairedUnits:
    """A unit, its partner in the other pyramid, how much they share, and in how many references they overlap."""

    pyramid: str
    topic: str
    unit: ContentUnit
    other: ContentUnit
    overlap: float
    contributors: int
    by_label: bool


@dataclass(frozen=True, slots=True)
class LoneUnit:
    """A heavy unit without a partner in the pyramid ``missing``. ``nearest`` is the unit of that pyramid that has the
    greatest share, ``inside``, of its words."""

    pyramid: str
    topic: str
    unit: ContentUnit
    missing: str
    nearest: ContentUnit | None
    inside: float


@dataclass(frozen=True, slots=True)
class Likeness:
    """One topic, or all of them: how many units and how much weight each pyramid has, and how much of it is in pairs.

    ``contributors`` counts those of the other pyramid that the partner has as well. ``difference`` is the mean weight
    of paired units minus that of their partners; correlations of weights are None where one side does not vary.
    """

    pyramid: str
    topic: str
    units: int
    weight: int
    other_units: int
    other_weight: int
    pairs: int
    paired_weight: int
    other_paired_weight: int
    contributors: int
    overlap: float | None
    pearson: float | None
    spearman: float | None
    difference: float | None
    equal: int
    within_one: int

    @property
    def units_paired(self) -> float | None:
        """The share of the other pyramid's units that have a partner."""
        return _share(self.pairs, self.other_units)

    @property
    def weight_paired(self) -> float | None:
        """The share of the other pyramid's weight that has a partner."""
        return _share(self.other_paired_weight, self.other_weight)

    @property
    def coverage(self) -> float | None:
        """The share of the other pyramid's weight that the partners also have, contributor by contributor."""
        return _share(self.contributors, self.other_weight)


@dataclass(frozen=True)
class PyramidPairs:
    """``tiers[name, topic]`` has the number of units of each weight; ``alike`` has each topic of each pyramid, then
    all its topics together under the name ""."""

    against: str
    pyramids: tuple[str, ...]
    topics: tuple[str, ...]
    tiers: dict[tuple[str, str], dict[int, int]]
    alike: tuple[Likeness, ...]
    pairs: tuple[PairedUnits, ...]
    alone: tuple[LoneUnit, ...]

    def of(self, pyramid: str, topic: str = EVERY) -> Likeness:
        return next(found for found in self.alike if (found.pyramid, found.topic) == (pyramid, topic))


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


# -- how people see it ---------------------------------------------------------------------------------------------

ALL = "all topics"


def sentence(result: PyramidPairs) -> str:
    parts = []
    for name in result.pyramids:
        found = result.of(name)
        text = (
            f"{found.pairs} of {found.other_units} units of {result.against} ({_percent(found.units_paired)}), with "
            f"{_percent(found.weight_paired)} of its weight, have a partner among the {found.units} units of {name}, "
            f"and {_percent(found.coverage)} of the weight is in contributors that both have"
        )
        if found.difference is not None:
            r = "have no correlation" if found.pearson is None else f"correlate at {found.pearson:.3f}"
            text += f"; weights of partners {r} and differ by {found.difference:+.2f} on average"
        parts.append(f"{text}.")
    return " ".join([f"Over {count(len(result.topics), 'topic')}:", *parts])


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"


def tables(result: PyramidPairs) -> tuple[Table, ...]:
    them = result.against
    return (
        _tier_table(result),
        Table(
            f"Shares of {them} and of the other pyramid that have a partner",
            (
                "pyramid",
                "topic",
                "pairs",
                f"units of {them}",
                f"weight of {them}",
                f"contributors of {them}",
                "its own units",
                "its own weight",
                "overlap",
            ),
            tuple(_likeness_row(found) for found in result.alike),
            f"Shares that are paired. contributors: those of {them} that the partner also has. overlap: mean "
            "Dice of the words of partners.",
        ),
        Table(
            "Weights of partners",
            ("pyramid", "topic", "pairs", "pearson", "spearman", "difference", "equal", "within 1"),
            tuple(
                (a.pyramid, a.topic or ALL, a.pairs, a.pearson, a.spearman, a.difference, a.equal, a.within_one)
                for a in result.alike
            ),
            f"difference: mean of the pyramid's weight minus that of {them}.",
        ),
        Table(
            "Pairs",
            ("pyramid", "topic", "overlap", "weight", f"weight in {them}", "unit", f"unit of {them}"),
            tuple(
                (p.pyramid, p.topic, p.overlap, p.unit.weight, p.other.weight, _label(p.unit), _label(p.other))
                for p in sorted(result.pairs, key=_rank)
            ),
        ),
        Table(
            "Heavy units without a partner",
            ("pyramid", "missing in", "topic", "weight", "unit", "inside", "nearest"),
            tuple(
                (a.pyramid, a.missing, a.topic, a.unit.weight, _label(a.unit), a.inside, _label(a.nearest))
                for a in result.alone
            ),
            "In at least half of the references. inside: the share of its words that the nearest unit of the other "
            "pyramid has; that unit has another partner, or is too large.",
        ),
    )


def _rank(pair: PairedUnits) -> tuple[str, str, int, float, str]:
    return pair.pyramid, pair.topic, -pair.other.weight, -pair.overlap, pair.other.id


def _label(unit: ContentUnit | None) -> str | None:
    return None if unit is None else unit.label or unit.id


def _tier_table(result: PyramidPairs) -> Table:
    weights = sorted({weight for tiers in result.tiers.values() for weight in tiers}, reverse=True)
    names = (result.against, *result.pyramids)
    summed = {(name, EVERY): _total(result, name) for name in names}
    rows: list[tuple[Cell, ...]] = []
    for topic in (*result.topics, EVERY):
        for name in names:
            tiers = (result.tiers | summed)[name, topic]
            rows.append((topic or ALL, name, sum(tiers.values()), *(tiers.get(weight, 0) for weight in weights)))
    columns = ("topic", "pyramid", "units", *(f"weight {weight}" for weight in weights))
    return Table("Units by weight", columns, tuple(rows))


def _total(result: PyramidPairs, name: str) -> dict[int, int]:
    total: dict[int, int] = {}
    for topic in result.topics:
        for weight, units in result.tiers[name, topic].items():
            total[weight] = total.get(weight, 0) + units
    return total


def _likeness_row(found: Likeness) -> tuple[Cell, ...]:
    return (
        found.pyramid,
        found.topic or ALL,
        found.pairs,
        found.units_paired,
        found.weight_paired,
        found.coverage,
        _share(found.pairs, found.units),
        _share(found.paired_weight, found.weight),
        found.overlap,
    )


def figure(result: PyramidPairs) -> Lines:
    """The tiers side by side: table 2."""
    totals = {name: _total(result, name) for name in (result.against, *result.pyramids)}
    weights = sorted({weight for total in totals.values() for weight in total})
    x = tuple(float(weight) for weight in weights)
    series = tuple(
        Series(name, x, tuple(float(total.get(weight, 0)) for weight in weights)) for name, total in totals.items()
    )
    return Lines(f"Units by weight, {count(len(result.topics), 'topic')}", "weight", "units", series)
