"""What does a model save? Cost against the width of intervals, for three ways to ask people about some of the units.

    whole topics    all units of some topics, by people alone
    spread units    a few units of every topic, by people alone
    with a model    the same, beside a model's judgments of all units (`combine`, `campaign plan --with-model`)

A unit adds to the difference between two systems what it shares with the other units of its topic, and something of its
own: two components of variance, estimated from all pairs of units of a pilot (analysis of variance, with the systems as
repetitions), once from what people say and once from what a model leaves unexplained. From them follows the variance of
a sample of n of N parts of b units (Cochran 1977, section 10.3), and from the minutes that a summary and a unit take
the best b. Strata by how unsure the model is, which `campaign plan` forms, make intervals a little narrower still.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from statistics import median
from typing import NamedTuple, get_args

import numpy as np
from scipy.stats import t as student

from pyramidion.analysis.answer import Answer, Lines, Series, Table, count, show
from pyramidion.analysis.asked_items import Items, items_of_units
from pyramidion.analysis.combine import ABOUT
from pyramidion.analysis.cost import Prices, money
from pyramidion.analysis.effort import price_of
from pyramidion.analysis.inputs import Floats
from pyramidion.analysis.planning import MOST, PAPER
from pyramidion.analysis.simulation import Assumptions, from_assumptions
from pyramidion.errors import Problem, UsageError, check_choice
from pyramidion.scoring.choice import PEOPLE, judge_ids
from pyramidion.stats.combining import LEAST_PARTS, LEAST_TOPICS, Codes, Question
from pyramidion.study import Settings, Signature, Study
from pyramidion.study.judgments import group

CORRELATION = 0.6
"""Of a model with people, unit by unit, if nothing is known: that of ``align`` with summaries it was not made for."""
TARGETS = (0.1, 0.25, 0.5)
"""Widths to compare costs for: those of whole topics, with these shares of the topics."""
POINTS = 10
WHOLE, SPREAD = "whole topics", "spread units"


class Components(NamedTuple):
    """The variance of a difference between two systems: what units of a topic share, and each unit's own."""

    topic: float
    unit: float

    def of_mean(self, units: float) -> float:
        """The variance of the mean over so many units of a topic."""
        return self.topic + self.unit / units


@dataclass(frozen=True, slots=True)
class PartSize:
    """Parts of ``units`` units: how many there are, how many at least must be asked, the price of one for all systems
    and the variance of a difference. ``between`` is the variance that topics add, and ``free`` the degrees of freedom
    that they leave; infinite where these topics are all that is asked about."""

    units: float
    parts: int
    least: int
    price: Decimal
    variance: float
    between: float
    free: float
    level: float

    def width(self, parts: int) -> float | None:
        """Of the interval of a difference, if so many parts are asked; None if they are too few for one."""
        if parts < self.least:
            return None
        variance = (1 - parts / self.parts) * self.variance / parts + self.between
        return 2 * float(student.ppf(1 - self.level / 2, min(self.free, parts - 1))) * math.sqrt(variance)

    def width_for(self, cost: Decimal) -> float | None:
        return self.width(min(self.parts, int(cost / self.price)) if self.price else self.parts)

    def cost_of(self, width: float) -> Decimal | None:
        """Of the fewest parts with an interval of at most this width."""
        low, high = self.least, self.parts
        if (best := self.width(high)) is None or best > width + 1e-12:
            return None
        while low < high:
            middle = (low + high) // 2
            found = self.width(middle)
            low, high = (low, middle) if found is not None and found <= width + 1e-12 else (middle + 1, high)
        return self.price * low


@dataclass(frozen=True)
class WayToAsk:
    """A way to ask, with units cut in all the ways there are; for every cost the best of them counts."""

    name: str
    cuts: tuple[PartSize, ...]

    def width_for(self, cost: Decimal) -> float | None:
        return min((width for cut in self.cuts if (width := cut.width_for(cost)) is not None), default=None)

    def cost_of(self, width: float) -> Decimal | None:
        return min((cost for cut in self.cuts if (cost := cut.cost_of(width)) is not None), default=None)

    @property
    def least(self) -> Decimal:
        return min(cut.price * cut.least for cut in self.cuts)


class Savings(NamedTuple):
    """Costs of an interval of one width, by the ways to ask; None where no number of questions gives it."""

    width: float
    whole: Decimal | None
    spread: Decimal | None
    with_model: Decimal | None

    @property
    def saved(self) -> float | None:
        """The share of the cost of whole topics that the model saves, with units spread."""
        if self.whole is None or self.with_model is None or not self.whole:
            return None
        return float(1 - self.with_model / self.whole)


@dataclass(frozen=True)
class WidthPlan:
    """``people`` and ``residual`` are the components of what people say and of what the model leaves of it; ``trust``
    is its weight (lambda). ``savings`` are for the widths that whole topics give with some shares of the topics."""

    model: str
    systems: int
    topics: int
    units: float
    workers: int
    question: Question
    correlation: float
    trust: float
    people: Components
    residual: Components
    ways: tuple[WayToAsk, ...]
    savings: tuple[Savings, ...]
    currency: str


class _World(NamedTuple):
    systems: int
    topics: int
    units: float
    workers: int
    correlation: float
    trust: float
    people: Components
    residual: Components


def plan_with_model(
    pilot: Study | Assumptions | None = None,
    model: str = "align",
    *,
    correlation: float | None = None,
    topics: int | None = None,
    units: int | None = None,
    workers: int | None = None,
    question: Question = "topics",
    level: float = 0.05,
    prices: Prices | None = None,
    pyramid: str | None = None,
    judges: str | None = None,
    seed: int = 0,
) -> Answer[WidthPlan]:
    """Show cost against the width of intervals, for people alone and with a model.

    A pilot needs judgments of people and of the model on the same units. Without one, the model's ``correlation`` with
    people is assumed. ``topics``, ``units`` per topic and ``workers`` per task are those of the evaluation to plan; by
    default those of the pilot, or of Shapira et al. 2019.
    """
    check_choice("question", question, get_args(Question))
    notes: list[Problem] = []
    if isinstance(pilot, Study):
        if correlation is not None:
            raise UsageError("a correlation is an assumption for use without a pilot, which says what it is")
        world = _from_pilot(pilot, model, pyramid, judges, notes)
    else:
        given = CORRELATION if correlation is None else correlation
        if not 0 <= given < 1:
            raise UsageError(f"the correlation must be at least 0 and below 1, not {given:g}")
        world = _assumed(pilot or Assumptions(), given, workers or PAPER[2], seed)
    chosen = {"topics": topics, "units": units, "workers": workers}
    world = world._replace(**{name: value for name, value in chosen.items() if value is not None})  # type: ignore[arg-type]
    _check(world, question, level)
    paid = prices or Prices()
    ways = _ways(world, model, question, level, paid)
    result = WidthPlan(model, *world[:4], question, *world[4:], ways, _savings(ways), paid.currency)
    source = "pilot" if isinstance(pilot, Study) else "assumptions"
    made = Signature.of("plan", world=source, model=model, question=question, level=level, seed=seed)
    return Answer("plan", _sentence(result), _tables(result, level), made, result, _figures(result), tuple(notes))


def _check(world: _World, question: Question, level: float) -> None:
    for name in ("topics", "workers"):
        if not 1 <= getattr(world, name) <= MOST:
            raise UsageError(f"the number of {name} must be from 1 to {MOST:,}, not {getattr(world, name):,}")
    if not 1 <= world.units <= MOST:
        raise UsageError(f"the number of units per topic must be from 1 to {MOST:,}, not {world.units:g}")
    if not 0 < level < 1:
        raise UsageError(f"level must be between 0 and 1, not {level}")
    if question == "topics" and world.topics < LEAST_TOPICS:
        raise UsageError(
            f"intervals for topics of this kind need at least {LEAST_TOPICS} topics, not {world.topics}; give another "
            "number of topics, or ask about these topics only (question these)"
        )
    if (total := world.topics * world.units) < LEAST_PARTS:
        raise UsageError(f"a sample needs at least {LEAST_PARTS} units, not {total:g}; plan for more topics or units")


# -- components of variance ------------------------------------------------------------------------------------------


def components(values: Floats, topic: Codes, noise: float = 0.0) -> Components:
    """From values of units (rows) for systems (columns), NaN where there is none; ``noise`` is a variance that each
    value has besides. Differences that two systems have on all topics are no variance: products of units of different
    topics say how large they are."""
    held = ~np.isnan(values)
    number = held.sum(axis=1)
    kept = number > 1
    held, topic, number = held[kept], np.unique(topic[kept], return_inverse=True)[1], number[kept]
    if len(number) < 2:
        raise UsageError("the pilot has too few units that were judged for two systems")
    z = np.where(held, values[kept], 0.0)
    z = np.where(held, z - (z.sum(axis=1) / number)[:, None], 0.0)
    own = float((z**2).sum() / (number - 1).sum()) + noise
    groups = np.zeros((int(topic.max()) + 1, z.shape[1])), np.zeros((int(topic.max()) + 1, z.shape[1]))
    for total, part in zip(groups, (z, held), strict=True):
        np.add.at(total, topic, part)
    sums, counts = groups
    rows = np.bincount(topic).astype(np.float64)
    within = float((sums**2).sum() - (z**2).sum())
    pairs = float((counts**2).sum() - held.sum() - ((rows**2).sum() - rows.sum()))
    between = float((sums.sum(axis=0) ** 2).sum() - (sums**2).sum())
    others = float((counts.sum(axis=0) ** 2).sum() - (counts**2).sum() - (rows.sum() ** 2 - (rows**2).sum()))
    everywhere = between / others if others > 0 else 0.0
    shared = within / pairs if pairs > 0 else everywhere
    topics = max(shared - everywhere, 0.0)
    return Components(2 * topics, 2 * max(own - everywhere - topics, 0.0))


def _from_pilot(pilot: Study, model: str, pyramid: str | None, judges: str | None, notes: list[Problem]) -> _World:
    items = items_of_units(pilot, people=judges or PEOPLE, model=model, pyramid=pyramid)
    notes.extend(items.notes)
    topics, topic = np.unique([topic for topic, _ in items.rows], return_inverse=True)
    asked = ~np.isnan(items.people)
    if len(items.systems) < 2 or not asked.any():
        raise UsageError("a plan needs a pilot with at least 2 systems and judgments of people on their units")
    if len(np.unique(topic[asked.any(axis=1)])) < 8:
        what = "few topics: how much topics differ is hardly known, so widths are a rough guess"
        notes.append(Problem("pilot", what, "warning"))
    said = np.where(asked, items.model, np.nan)
    people, trust = components(items.people, topic), _trust(items.people, said)
    residual = components(items.people - trust * said, topic)
    r = np.corrcoef(items.people[asked], said[asked])[0, 1] if asked.sum() > 1 else np.nan
    if trust == 0:
        notes.append(Problem(f"model {model}", "says nothing about differences between systems here", "warning"))
    correlation = float(np.nan_to_num(r))
    units = len(items.rows) / len(topics)
    workers = _workers(pilot, items)
    return _World(len(items.systems), len(topics), units, workers, correlation, trust, people, residual)


def _trust(people: Floats, model: Floats) -> float:
    """The weight of the model's differences that leaves least of the people's: the lambda of stats/combining."""
    held = ~np.isnan(people)
    gaps = []
    for values in (people, model):
        z = np.where(held, values, 0.0)
        for axis in (1, 0):  # without what all systems share, and what a system has everywhere
            z = np.where(held, z - z.sum(axis=axis, keepdims=True) / np.maximum(held.sum(axis, keepdims=True), 1), 0.0)
        gaps.append(z)
    square = float((gaps[1] ** 2).sum())
    return float(np.clip((gaps[0] * gaps[1]).sum() / square, 0.0, 1.0)) if square > 1e-12 else 0.0


def _workers(pilot: Study, items: Items) -> int:
    """How many people answered a question, usually."""
    said = pilot.judgments.take(pilot.judgments.judge.is_in(judge_ids(pilot, items.judges)))
    said = said.take(said.topic.is_in({topic for topic, _ in items.rows}) & ~said.unit.is_in({""}))
    asked = group(said.topic.ranks(), said.system.ranks(), said.unit.ranks())
    return max(1, round(median(Counter(asked.of_row.tolist()).values())))


def _assumed(given: Assumptions, correlation: float, workers: int, seed: int) -> _World:
    """What a model that correlates so much with people leaves unexplained: 1 - r², of both components."""
    chance = from_assumptions(given, np.random.default_rng(seed)).chance(workers)
    topics, systems, units = chance.shape
    rows = np.moveaxis(chance, 1, 2).reshape(topics * units, systems)
    people = components(rows, np.repeat(np.arange(topics), units), float((rows * (1 - rows)).mean()))
    left = 1 - correlation**2
    residual = Components(people.topic * left, people.unit * left)
    return _World(systems, PAPER[0], PAPER[1], workers, correlation, 1.0, people, residual)


# -- money -----------------------------------------------------------------------------------------------------------


def _ways(world: _World, model: str, question: Question, level: float, prices: Prices) -> tuple[WayToAsk, ...]:
    settings = Settings.for_kind(
        "judge", workers=world.workers, pay=float(prices.judging_pay), fee=float(prices.fee), currency=prices.currency
    )
    total, for_topics = world.topics * world.units, question == "topics"
    between = world.people.of_mean(world.units) / world.topics if for_topics else 0.0
    free = world.topics - 1.0 if for_topics else math.inf

    def cut(units: float, parts: int, least: int, components: Components) -> PartSize:
        tasks = math.ceil(units / settings.units_per_task - 1e-9)
        price = Decimal(str(round(price_of(settings, units / tasks) * tasks * world.systems * world.workers, 6)))
        return PartSize(units, parts, least, price, components.of_mean(units), between, free, level)

    def spread(components: Components) -> tuple[PartSize, ...]:
        sizes = [b for b in range(1, settings.units_per_task + 1) if b <= world.units and total / b >= LEAST_PARTS]
        return tuple(cut(b, round(total / b), LEAST_PARTS, components) for b in sizes or [1])

    return (
        WayToAsk(WHOLE, (cut(world.units, world.topics, min(LEAST_TOPICS, world.topics), world.people),)),
        WayToAsk(SPREAD, spread(world.people)),
        WayToAsk(f"with {model}", spread(world.residual)),
    )


def _savings(ways: tuple[WayToAsk, ...]) -> tuple[Savings, ...]:
    topics = ways[0].cuts[0]
    numbers = sorted({max(topics.least, round(share * topics.parts)) for share in TARGETS})
    widths = [width for number in numbers if (width := topics.width(number))]
    return tuple(Savings(width, *(way.cost_of(width) for way in ways)) for width in widths)


# -- how people see it -----------------------------------------------------------------------------------------------


def _sentence(result: WidthPlan) -> str:
    design = f"{result.systems} systems, {count(result.topics, 'topic')} of {result.units:.3g} units, "
    design += f"{count(result.workers, 'worker')} per task"
    r = f"{result.model} correlates with people at {show(result.correlation, 2)}"
    usual = result.savings[min(1, len(result.savings) - 1)] if result.savings else None
    if usual is None or usual.saved is None:
        return f"{design}: {r}; there is too little to ask about to compare costs."
    costs = [money(cost, result.currency) if cost is not None else "too much" for cost in usual[1:]]
    less = f"{100 * usual.saved:.0f}% less" if usual.saved >= 0 else f"{-100 * usual.saved:.0f}% more"
    return (
        f"{design}: {r}. For an interval of a difference between two systems ({ABOUT[result.question]}) that is "
        f"{usual.width:.3f} wide, whole topics cost {costs[0]}, units spread over all topics {costs[1]}, and these "
        f"{result.ways[2].name} {costs[2]}: {less} than whole topics."
    )


def _tables(result: WidthPlan, level: float) -> tuple[Table, ...]:
    names = tuple(way.name for way in result.ways)
    widths = Table(
        f"Width of {100 * (1 - level):g}% intervals of a difference, by cost",
        (f"cost, {result.currency}", *names),
        tuple((cost, *(way.width_for(cost) for way in result.ways)) for cost in _grid(result)),
        "Judging alone, without writing units; all tasks pay the same by the hour. Parts have 1 to 16 units, whatever "
        "is best for the cost.",
    )
    costs = Table(
        "Cost of the width that some whole topics give",
        ("width", *(f"{name}, {result.currency}" for name in names), "saved, %"),
        tuple((*each, None if each.saved is None else round(100 * each.saved)) for each in result.savings),
        f"saved: {names[2]}, beside whole topics.",
    )
    spread = Table(
        "Variance of a difference, unit by unit",
        ("", "topic", "unit"),
        (("people", *result.people), (f"left by {result.model}", *result.residual)),
        f"topic: what units of a topic share; {result.model} counts with a weight of {result.trust:.2f}.",
    )
    return widths, costs, spread


def _grid(result: WidthPlan) -> list[Decimal]:
    """Costs from the smallest sample to all questions, evenly spaced on a logarithmic scale."""
    topics = result.ways[0].cuts[0]
    low, high = max(way.least for way in result.ways), topics.price * topics.parts
    if not 0 < low < high:
        return [high]
    costs = np.geomspace(float(low), float(high), POINTS)
    return [low, *(Decimal(str(round(cost, 2))) for cost in costs[1:-1]), high]


def _figures(result: WidthPlan) -> tuple[Lines, ...]:
    grid = _grid(result)
    x = tuple(map(float, grid))
    series = tuple(Series(way.name, x, tuple(way.width_for(cost) for cost in grid)) for way in result.ways)
    title = f"Width of the interval of a difference, {ABOUT[result.question]}"
    return (Lines(title, f"cost, {result.currency}", "width", series),)
