"""What should the next evaluation cost? The cheapest design with the required power, by simulation.

A design is a number of topics, units per topic and workers per task. What the user gives is kept; the rest is searched:
for each number of units and workers, topics are added to simulated campaigns (analysis/simulation) until a paired
t-test tells two systems apart as often as wanted, or a limit (a number of topics, a budget) forbids more. The cost is
that of analysis/cost.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from statistics import median

import numpy as np

from pyramidion.analysis.answer import Answer, Cell, Figure, Lines, Series, Table, count
from pyramidion.analysis.cost import REFERENCES, STATEMENTS, WRITERS, Amount, Prices, amount, money
from pyramidion.analysis.simulation import Assumptions, PowerCurve, World, from_assumptions, from_pilot, outcome
from pyramidion.analysis.votes import unit_votes
from pyramidion.engines import Advance, Where, ignore, mapped, started
from pyramidion.errors import Problem, UsageError
from pyramidion.study import Signature, Study

PAPER = (20, 32, 5)
"""Topics, units and workers of Shapira et al. 2019."""
UNITS = (16, 32, 48, 64, 96, 128)
"""Searched: full tasks, because part of a task costs as much; as many as the references yield."""
WORKERS = (1, 3, 5, 7)
MOST = 10_000
"""Larger numbers are refused: nobody judges that much, and the simulation would take minutes."""
BEYOND = Decimal("1.5")
"""The power curve extends to this multiple of the recommended design's cost."""
POINTS = 16
MOST_STEPS = len(UNITS) * len(WORKERS) + POINTS + 2


@dataclass(frozen=True, slots=True)
class Design:
    """The expected results of one design. ``separated`` is the mean power over all pairs of systems; it and the
    correlations are None where they were not simulated.
    """

    topics: int
    units: int
    workers: int
    cost: Decimal
    power: float | None
    pearson: float | None = None
    spearman: float | None = None
    separated: float | None = None

    @property
    def name(self) -> str:
        parts = ((self.topics, "topic"), (self.units, "unit"), (self.workers, "worker"))
        return " x ".join(count(number, noun) for number, noun in parts)

    def reaches(self, power: float) -> bool:
        return self.power is not None and self.power >= power


@dataclass(frozen=True)
class DesignPlan:
    """``curve`` is the best power that money buys, from the cheapest design on. ``designs`` are those that were given
    or, where topics were searched, for each number of units and workers the one with the fewest topics that reaches
    the power (or the largest within the limits). ``limit`` says what prevents a design from reaching it.
    """

    systems: int
    pair: tuple[str, str]
    difference: float
    wanted: float
    designs: tuple[Design, ...]
    curve: tuple[Design, ...]
    recommended: Design | None
    paper: Design
    currency: str
    limit: str = ""


@dataclass(frozen=True)
class _Kind:
    """Designs with the same number of units and workers, and the numbers of topics they may have."""

    units: int
    workers: int
    topics: Sequence[int]
    curve: PowerCurve
    systems: int
    prices: Prices

    def cost(self, topics: int) -> Decimal:
        return self.prices.cost(self.systems, topics, self.units, self.workers)

    def within(self, cost: Decimal | None) -> Sequence[int]:
        """The numbers of topics that cost no more than this."""
        return self.topics if cost is None else self.topics[: bisect_right(self.topics, cost, key=self.cost)]

    def design(self, topics: int) -> Design:
        power = float(self.curve.upto(topics)[topics])
        return Design(topics, self.units, self.workers, self.cost(topics), None if math.isnan(power) else power)

    def first(self, power: float) -> Design | None:
        """The fewest topics with at least this power."""
        return next((self.design(n) for n in self.topics if self.curve.upto(n)[n] >= power), None)


def plan(
    pilot: Study | Assumptions | None = None,
    *,
    topics: Sequence[int] | None = None,
    units: Sequence[int] | None = None,
    workers: Sequence[int] | None = None,
    max_topics: int = 1000,
    budget: Amount | None = None,
    pair: tuple[str, str] | None = None,
    power: float = 0.8,
    level: float = 0.05,
    campaigns: int = 2000,
    prices: Prices | None = None,
    pyramid: str | None = None,
    judges: str | None = None,
    seed: int = 0,
    engine: Where = None,
    advance: Advance = ignore,
) -> Answer[DesignPlan]:
    """Find the cheapest design with the required power. Given numbers are kept, the others are searched.

    The two systems to tell apart are those of ``pair``, or in a pilot two that differ as much as the median pair.
    ``advance`` hears of every kind of design that was searched, and of every design whose outcome was simulated.
    """
    given = {"topics": topics, "units": units, "workers": workers}
    _check(given, max_topics, power, level, campaigns)
    notes: list[Problem] = []
    paid = prices or Prices()
    if isinstance(pilot, Study):
        votes = unit_votes(pilot, pyramid=pyramid, judges=judges)
        world = from_pilot(votes, pair, notes)
        paid = replace(paid, references=paid.references or _references(pilot, votes.topics))
    else:
        world = from_assumptions(pilot or Assumptions(), np.random.default_rng(seed))
    least = 1 + math.ceil(-math.log2(level))  # with fewer topics no sign-flip test can reach the level
    numbers = range(least, max(least, max_topics) + 1) if topics is None else sorted(set(topics))
    money_left = None if budget is None else amount("budget", budget)
    written = WRITERS * STATEMENTS * (paid.references or REFERENCES)
    kinds = [
        _Kind(u, w, numbers, _power_curve(world, u, w, campaigns, level, seed), len(world.systems), paid)
        for w in sorted(set(workers or WORKERS))
        for u in sorted(set(units or [n for n in UNITS if n <= written] or UNITS[:1]))
    ]
    affordable = [replace(kind, topics=within) for kind in kinds if (within := kind.within(money_left))]
    if not affordable:
        cheapest = min((kind.design(kind.topics[0]) for kind in kinds), key=lambda d: d.cost)
        left, price = money(money_left or Decimal(0), paid.currency), money(cheapest.cost, paid.currency)
        raise UsageError(f"the budget of {left} is too small for the smallest design, {cheapest.name}: {price}")
    paper = _paper(world, paid, campaigns, level, seed)
    one, other = (world.systems[system] for system in world.pair)
    result = DesignPlan(len(world.systems), (one, other), world.difference, power, (), (), None, paper, paid.currency)
    if not world.difference or all(kind.curve.gaps.mean <= 0 for kind in affordable):
        result = replace(result, limit=_same(result))
    else:
        limits = _limits(kinds, affordable, given, numbers, money_left, paid.currency)
        with started(engine) as running:
            tried = list(mapped(running, partial(_tried, power), affordable, advance))
            result = _searched(result, tried, limits, searched=topics is None)
            simulate = partial(_simulated, world, campaigns, level, seed)
            result = _with_outcomes(result, lambda designs: mapped(running, simulate, designs, advance))
    notes += _remarks(result, units, written, world.source)
    made = Signature.of(
        "plan", world=world.source, test="paired-t", level=level, power=power, campaigns=campaigns, seed=seed
    )
    return Answer(
        "plan", _sentence(result), tuple(_tables(result, campaigns)), made, result, _figures(result), (*notes,)
    )


def _check(given: dict[str, Sequence[int] | None], max_topics: int, power: float, level: float, campaigns: int) -> None:
    for name, values in given.items():
        if values is not None and (not values or min(values) < 1 or max(values) > MOST):
            shown = ", ".join(map(str, values)) or "none"
            raise UsageError(f"the numbers of {name} must be from 1 to {MOST:,}, not {shown}")
    if not 2 <= max_topics <= MOST:
        raise UsageError(f"the limit of topics must be from 2 to {MOST:,}, not {max_topics:,}")
    if campaigns < 1:
        raise UsageError(f"at least 1 campaign must be simulated, not {campaigns}")
    for name, share in (("power", power), ("level", level)):
        if not 0 < share < 1:
            raise UsageError(f"{name} must be between 0 and 1, not {share}")


def _references(pilot: Study, topics: Iterable[str]) -> int | None:
    """How many references the pilot's topics have: the median; None if it has none."""
    per_topic = Counter(summary.topic for summary in pilot.references)
    numbers = [per_topic[topic] for topic in topics if per_topic[topic]]
    return round(median(numbers)) if numbers else None


def _power_curve(world: World, units: int, workers: int, campaigns: int, level: float, seed: int) -> PowerCurve:
    """Every kind of design has its own random numbers, so its power does not depend on what else is tried."""
    rng = np.random.default_rng((seed, units, workers))
    return PowerCurve(world.gaps(workers), units, campaigns=campaigns, level=level, rng=rng)


def _paper(world: World, prices: Prices, campaigns: int, level: float, seed: int) -> Design:
    """For comparison only: it is never recommended where something else was given."""
    topics, units, workers = PAPER
    curve = _power_curve(world, units, workers, campaigns, level, seed)
    design = _Kind(units, workers, (topics,), curve, len(world.systems), prices).design(topics)
    return design if world.difference else replace(design, power=None)


# -- the search ----------------------------------------------------------------------------------------------------


def _searched(result: DesignPlan, kinds: Sequence[_Kind], limits: str, *, searched: bool) -> DesignPlan:
    """Fill in the designs, the curve, and the cheapest design with the wanted power; where several cost the same, the
    most powerful.
    """
    if searched:
        designs = [kind.first(result.wanted) or kind.design(kind.topics[-1]) for kind in kinds]
    else:
        designs = [kind.design(topics) for kind in kinds for topics in kind.topics]
    designs.sort(key=_order)
    best = next((design for design in designs if design.reaches(result.wanted)), None)
    curve = _curve(kinds, best) if searched else efficient(designs)
    limit = "" if best is not None else limits
    return replace(result, designs=tuple(designs), curve=tuple(curve), recommended=best, limit=limit)


def _order(design: Design) -> tuple[Decimal, float, int, int]:
    return design.cost, -(design.power or 0.0), design.workers, design.units


def efficient(designs: Iterable[Design]) -> list[Design]:
    """The designs that are more powerful than every cheaper one."""
    best, kept = -1.0, []
    for design in designs:
        if (design.power or 0.0) > best:
            best = design.power or 0.0
            kept.append(design)
    return kept


def _curve(kinds: Sequence[_Kind], best: Design | None) -> list[Design]:
    """The most powerful design at each of some costs, evenly spaced on a logarithmic scale, and the recommended one."""
    low = min(kind.cost(kind.topics[0]) for kind in kinds)
    high = max(kind.cost(kind.topics[-1]) for kind in kinds) if best is None else best.cost * BEYOND
    costs = [Decimal(cost) for cost in np.geomspace(float(low), float(high), POINTS)] if 0 < low < high else []
    points: dict[Decimal, Design] = {}
    for cost in [low, *costs[1:-1], high]:
        held = [kind.design(within[-1]) for kind in kinds if (within := kind.within(cost))]
        chosen = min(held, key=lambda d: (-(d.power or 0.0), *_order(d)))
        points[chosen.cost] = max(chosen, points.get(chosen.cost, chosen), key=lambda d: d.power or 0.0)
    if best is not None:
        points[best.cost] = best
    return efficient(sorted(points.values(), key=_order))


def _tried(power: float, kind: _Kind) -> _Kind:
    """The kind after its campaigns were simulated with as many topics as it takes."""
    kind.first(power)
    return kind


def _with_outcomes(result: DesignPlan, simulate: Callable[[Sequence[Design]], Iterable[Design]]) -> DesignPlan:
    """Correlations and the power over all pairs, for the designs of the curve and the paper's."""
    best = [result.recommended] if result.recommended else []
    paper, *simulated = simulate([result.paper, *result.curve, *best])
    curve = tuple(simulated[: len(result.curve)])
    return replace(result, curve=curve, paper=paper, recommended=simulated[-1] if best else None)


def _simulated(world: World, campaigns: int, level: float, seed: int, design: Design) -> Design:
    rng = np.random.default_rng((seed, design.units, design.workers, design.topics))
    sizes = design.topics, design.units, design.workers
    return replace(design, **outcome(world, *sizes, campaigns=campaigns, level=level, rng=rng)._asdict())


# -- how people see it ---------------------------------------------------------------------------------------------


def _same(result: DesignPlan) -> str:
    first, second = result.pair
    if not result.difference:
        return f"{first} and {second} have the same true score, so no number of topics tells them apart"
    return (
        f"{first} scores {result.difference:.3f} more than {second} in the pilot, but workers drawn from the pilot "
        "would not find it better, so no number of topics tells them apart"
    )


def _limits(
    kinds: Sequence[_Kind],
    affordable: Sequence[_Kind],
    given: dict[str, Sequence[int] | None],
    numbers: Sequence[int],
    budget: Decimal | None,
    currency: str,
) -> str:
    """What kept the search from going on, in words."""
    parts = []
    if given["topics"] is not None:
        held = [_numbers(sorted(set(given["topics"]))) + " topics (given)"]
        for name in ("units", "workers"):
            tried = sorted({getattr(kind, name) for kind in kinds})
            held.append(f"{_numbers(tried)} {name} ({'searched' if given[name] is None else 'given'})")
        parts.append(", ".join(held))
    elif any(len(kind.topics) == len(numbers) for kind in affordable):
        parts.append(f"the limit of {numbers[-1]:,} topics")
    if budget is not None and (
        len(affordable) < len(kinds) or any(len(kind.topics) < len(numbers) for kind in affordable)
    ):
        parts.append(f"the budget of {money(budget, currency)}")
    return " and ".join(parts)


def _numbers(values: Sequence[int]) -> str:
    head, last = values[:-1], f"{values[-1]:,}"
    return f"{', '.join(f'{value:,}' for value in head)} or {last}" if head else last


def _remarks(result: DesignPlan, units: Sequence[int] | None, written: int, source: str) -> Iterator[Problem]:
    if not result.difference:
        yield Problem("difference", "is 0; name a pair of systems that differ, or assume a difference", "warning")
    if result.recommended is not None and result.recommended.workers < 2:
        what = "nobody outvotes a careless worker, and none can be screened out"
        what += "; the pilot's workers were screened" if source == "pilot" else ""
        yield Problem("one worker per task", what, "warning")
    if units and max(units) > written:
        references = written // (WRITERS * STATEMENTS)
        what = (
            f"are more than {count(references, 'reference')} yield, with {WRITERS} writers and {STATEMENTS} units each"
        )
        yield Problem(f"{max(units)} units per topic", f"{what}: {written}", "warning")


def _sentence(result: DesignPlan) -> str:
    first, second = result.pair
    goal = f"To tell {first} from {second} (a difference of {result.difference:.3f}) with power {result.wanted:g}"
    power = "" if result.paper.power is None else f"has power {result.paper.power:.2f} for "
    paper = f"The paper's design ({result.paper.name}) {power or 'costs '}{_price(result, result.paper)}."
    if result.recommended is not None:
        return f"{goal}, {result.recommended.name} is the cheapest: {_price(result, result.recommended)}. {paper}"
    if not result.designs:
        return f"{result.limit[0].upper()}{result.limit[1:]}. {paper}"
    most = max(result.designs, key=lambda d: (d.power or 0.0, -d.cost))
    power = "undefined power" if most.power is None else f"power {most.power:.2f}"
    return f"{goal}, no design is sufficient within {result.limit}. The best is {most.name}: {power} for " + (
        f"{_price(result, most)}. {paper}"
    )


def _price(result: DesignPlan, design: Design) -> str:
    return money(design.cost, result.currency)


def _tables(result: DesignPlan, campaigns: int) -> Iterator[Table]:
    columns = ("topics", "units", "workers", f"cost, {result.currency}", "power")
    if not result.designs:
        return

    def row(d: Design) -> tuple[Cell, ...]:
        return d.topics, d.units, d.workers, d.cost, d.power

    error = 1.96 * math.sqrt(result.wanted * (1 - result.wanted) / campaigns)
    note = (
        f"power: to find {result.pair[0]} better than {result.pair[1]}, within {error:.3f} at {result.wanted:g}; all "
        f"pairs: mean power over all pairs of {result.systems} systems; Pearson, Spearman: expected correlation with "
        "the true system scores."
    )
    yield Table(
        "Power against cost: the most powerful design at each cost",
        (*columns, "all pairs", "Pearson", "Spearman"),
        tuple((*row(d), d.separated, d.pearson, d.spearman) for d in result.curve),
        note,
    )
    yield Table(
        "Units and workers, the cheapest first",
        (*columns, "enough"),
        tuple((*row(d), d.reaches(result.wanted)) for d in result.designs),
        f"enough: power of at least {result.wanted:g}.",
    )


def _figures(result: DesignPlan) -> tuple[Figure, ...]:
    if not result.curve:
        return ()
    first, second = result.pair
    cost, money_axis = tuple(float(d.cost) for d in result.curve), f"cost, {result.currency}"
    mark = float(result.recommended.cost) if result.recommended else None
    power = Series("", cost, tuple(d.power for d in result.curve))
    correlations = tuple(
        Series(name, cost, tuple(getattr(d, name.lower()) for d in result.curve)) for name in ("Pearson", "Spearman")
    )
    return (
        Lines(f"Power to tell {first} from {second}", money_axis, "power", (power,), mark, result.wanted),
        Lines("Expected correlation with the true scores", money_axis, "correlation", correlations, mark),
    )
