"""What should the next evaluation cost? Simulated campaigns, before money is spent.

Each design (so many topics, units a topic and workers a task) is played many times: topics and units are drawn, workers
vote, systems are scored as lightweight pyramids are, and it is noted how well the scores correlate with the truth and
whether a paired t-test over topics tells two systems apart. The world they are drawn from is

    a pilot study     its topics and units with replacement, and each unit's share of workers who found it; the pilot's
                      own scores are the truth
    assumptions       systems with true scores around a mean, topics and units that are easier or harder for all of them
                      (on the logit scale), and workers who are right with a given probability

Votes of different workers are taken to be independent given the unit; the cost is that of methods/cost.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from scipy import special, stats

from pyramidion.analysis.answer import Answer, Cell, Table, count
from pyramidion.analysis.figures import Figure, Lines, Series
from pyramidion.analysis.inputs import Floats, column_means
from pyramidion.analysis.votes import Votes, unit_votes
from pyramidion.errors import Problem, UsageError
from pyramidion.methods.cost import campaign_cost, money
from pyramidion.model import Signature, Study
from pyramidion.stats.correlation import row_correlations
from pyramidion.stats.intervals import blocks, divided

PAPER = (20, 32, 5)
"""Topics, units and workers of Shapira et al. 2019."""
UNITS_PER_TASK, WRITERS = 16, 2
POPULATION = (200, 96)
"""Topics and units in an assumed world: enough that drawing from it is drawing anew."""


@dataclass(frozen=True)
class Assumptions:
    """A world without a pilot. ``difference`` is that between the two best systems, which are to be told apart."""

    systems: int = 10
    mean: float = 0.35
    spread: float = 0.10
    difference: float = 0.05
    accuracy: float = 0.85
    topic_spread: float = 0.5
    unit_spread: float = 1.0
    interaction: float = 0.4

    def __post_init__(self) -> None:
        if self.systems < 2:
            raise UsageError(f"at least 2 systems, not {self.systems}")
        for name, low in (("mean", 0.0), ("accuracy", 0.5)):
            value = getattr(self, name)
            if not low < value <= 1:
                raise UsageError(f"{name} lies above {low:g} and is at most 1, not {value}")


@dataclass(frozen=True, slots=True)
class Prices:
    """What people are paid, and the platform's fee as a share of it. Units are written from each of the references."""

    judging_pay: str = "0.45"
    writing_pay: str = "0.50"
    fee: str = "0.20"
    currency: str = "$"
    references: int = 4

    def cost(self, systems: int, topics: int, units: int, workers: int) -> Decimal:
        tasks = math.ceil(units / UNITS_PER_TASK)
        rates = {"fee": self.fee, "currency": self.currency}
        written = campaign_cost(topics * self.references * WRITERS, pay=self.writing_pay, **rates)
        judged = campaign_cost(systems * topics * tasks * workers, pay=self.judging_pay, **rates)
        return written.total + judged.total


@dataclass(frozen=True)
class World:
    """``chance(workers)[t, s, u]`` is the chance that most of so many workers find unit u in system s's summary of
    topic t; NaN is padding. ``truth`` holds the true score of each system.
    """

    systems: tuple[str, ...]
    truth: Floats
    chance: Callable[[int], Floats]
    pair: tuple[int, int]
    source: str


@dataclass(frozen=True, slots=True)
class Design:
    """What one design is expected to give. ``separated`` is the mean power over all pairs of systems."""

    topics: int
    units: int
    workers: int
    pearson: float | None
    spearman: float | None
    power: float | None
    separated: float | None
    cost: Decimal

    @property
    def name(self) -> str:
        parts = ((self.topics, "topic"), (self.units, "unit"), (self.workers, "worker"))
        return " x ".join(count(number, noun) for number, noun in parts)


@dataclass(frozen=True)
class Plan:
    systems: int
    pair: tuple[str, str]
    difference: float
    wanted: float
    designs: tuple[Design, ...]
    recommended: Design | None
    paper: Design
    currency: str


def plan(
    pilot: Study | Assumptions | None = None,
    *,
    topics: Sequence[int] = (5, 10, 15, 20, 30, 40),
    units: Sequence[int] = (8, 16, 32, 48),
    workers: Sequence[int] = (1, 3, 5),
    pair: tuple[str, str] | None = None,
    power: float = 0.8,
    level: float = 0.05,
    campaigns: int = 300,
    prices: Prices | None = None,
    pyramid: str | None = None,
    judges: str | None = None,
    seed: int = 0,
) -> Answer[Plan]:
    """Simulate designs and recommend the cheapest with the wanted power; the paper's design is always among them.

    The two systems to tell apart are those of ``pair``, or in a pilot two that differ as much as the median pair.
    """
    for name, values in (("topics", topics), ("units", units), ("workers", workers)):
        if not values or min(values) < 1:
            raise UsageError(f"the numbers of {name} are 1 or more, not {', '.join(map(str, values)) or 'none'}")
    rng = np.random.default_rng(seed)
    notes: list[Problem] = []
    if isinstance(pilot, Study):
        world = _from_pilot(unit_votes(pilot, pyramid=pyramid, judges=judges), pair, notes)
    else:
        world = _from_assumptions(pilot or Assumptions(), rng)
    sizes = [sorted({*part, papers}) for part, papers in zip((topics, units, workers), PAPER, strict=True)]
    paid = prices or Prices()
    played = [
        Design(*design, *figures, paid.cost(len(world.systems), *design))
        for design, figures in _play(world, sizes, campaigns, level, rng)
    ]
    result = _chosen(world, sorted(played, key=lambda d: (d.cost, -(d.power or 0.0))), power, paid.currency)
    if result.recommended is not None and result.recommended.workers < 2:
        what = "nobody votes against a careless worker, and none can be screened out; the pilot's workers were screened"
        notes.append(Problem("one worker a task", what if world.source == "pilot" else what.split(";")[0], "warning"))
    made = Signature.of(
        "plan", world=world.source, test="paired-t", level=level, power=power, campaigns=campaigns, seed=seed
    )
    return Answer("plan", _sentence(result), _tables(result), made, result, tuple(_figures(result)), tuple(notes))


def _chosen(world: World, designs: Sequence[Design], wanted: float, currency: str) -> Plan:
    """The cheapest design with enough power; of those that cost the same, the most powerful comes first."""
    enough = [d for d in designs if d.power is not None and d.power >= wanted]
    paper = next(d for d in designs if (d.topics, d.units, d.workers) == PAPER)
    one, other = world.pair
    pair, gap = (world.systems[one], world.systems[other]), float(world.truth[one] - world.truth[other])
    best = enough[0] if enough else None
    return Plan(len(world.systems), pair, gap, wanted, tuple(designs), best, paper, currency)


def _from_pilot(votes: Votes, pair: tuple[str, str] | None, notes: list[Problem]) -> World:
    answered = ~np.isnan(votes.answers)
    number = answered.sum(axis=3)
    found = np.where(number > 0, np.nan_to_num(votes.answers).sum(axis=3) / np.maximum(number, 1), np.nan)
    truth = column_means(votes.summary_scores())
    if len(votes.systems) < 2:
        raise UsageError("a plan needs a pilot with at least 2 systems")
    if len(votes.topics) < 8:
        what = f"only {count(len(votes.topics), 'topic')}: how topics vary is known badly, so power is a rough guess"
        notes.append(Problem("pilot", what, "warning"))
    chosen = _typical(truth)
    if pair is not None:
        for name in pair:
            if name not in votes.systems:
                raise UsageError(f"system {name!r} is not in the pilot; it has: {', '.join(votes.systems)}")
        one, other = (votes.systems.index(name) for name in pair)
        chosen = (one, other) if truth[one] >= truth[other] else (other, one)
    return World(votes.systems, truth, lambda workers: _majority(found, workers), chosen, "pilot")


def _typical(truth: Floats) -> tuple[int, int]:
    """The pair whose difference is closest to the median of all, the better system first."""
    first, second = np.triu_indices(len(truth), 1)
    gaps = np.abs(truth[first] - truth[second])
    place = int(np.argmin(np.abs(gaps - np.nanmedian(gaps))))
    one, other = int(first[place]), int(second[place])
    return (one, other) if truth[one] >= truth[other] else (other, one)


def _from_assumptions(given: Assumptions, rng: np.random.Generator) -> World:
    """Systems spread evenly by normal quantiles; the best is ``difference`` above the second."""
    places = stats.norm.ppf((np.arange(given.systems - 1) + 0.5) / max(given.systems - 1, 1))[::-1]
    rest = given.mean + given.spread * places
    truth = np.clip(np.concatenate([[rest[0] + given.difference], rest]), 0.01, 0.99)
    topics, units = POPULATION
    easier = given.topic_spread * rng.normal(size=(topics, 1, 1)) + given.unit_spread * rng.normal(
        size=(topics, 1, units)
    )
    logit = easier + given.interaction * rng.normal(size=(topics, len(truth), 1))
    base = np.array([_centre(value, logit[:, s]) for s, value in enumerate(truth)])
    present = special.expit(logit + base[None, :, None])

    def chance(workers: int) -> Floats:
        seen, imagined = (float(stats.binom.sf(workers // 2, workers, p)) for p in (given.accuracy, 1 - given.accuracy))
        return np.asarray(present * seen + (1 - present) * imagined)

    names = tuple(f"system {number}" for number in range(1, len(truth) + 1))
    return World(names, truth, chance, (0, 1), "assumptions")


def _centre(wanted: float, logit: Floats) -> float:
    """The offset at which a system's mean chance over all topics and units is the wanted score."""
    low, high = -20.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if special.expit(logit + middle).mean() < wanted else (low, middle)
    return (low + high) / 2


Figures4 = tuple[float | None, float | None, float | None, float | None]


def _play(
    world: World, sizes: Sequence[Sequence[int]], campaigns: int, level: float, rng: np.random.Generator
) -> Iterator[tuple[tuple[int, int, int], Figures4]]:
    """Every design; those with the same number of workers are parts of the same drawn campaigns."""
    topics, units, workers = sizes
    for people in workers:
        present = world.chance(people)
        drawn = [
            _campaigns(present, max(topics), units, many, rng)
            for many in blocks(campaigns, max(1, 30_000_000 // (max(topics) * present.shape[1] * max(units))))
        ]
        scores = np.concatenate(drawn)  # campaigns x units sizes x topics x systems
        for place, size in enumerate(units):
            for many in topics:
                yield (many, size, people), _measured(scores[:, place, :many], world, level)


def _majority(found: Floats, workers: int) -> Floats:
    """The chance that more than half of so many workers find a unit."""
    return np.asarray(stats.binom.sf(workers // 2, workers, found))


def _campaigns(present: Floats, topics: int, units: Sequence[int], campaigns: int, rng: np.random.Generator) -> Floats:
    """Scores of drawn topics by the first so many of drawn units: campaigns x sizes x topics x systems."""
    which = rng.integers(0, len(present), size=(campaigns, topics))
    judged = ~np.isnan(present).all(axis=1)  # topics x units: padding is never drawn
    held = judged.sum(axis=1)
    order = np.argsort(~judged, axis=1, kind="stable")
    pick = (rng.random((campaigns, topics, max(units))) * held[which][..., None]).astype(np.int64)
    unit = np.take_along_axis(order[which], pick, axis=2)
    chance = present[which[:, :, None], :, unit]  # campaigns x topics x units x systems
    missing = np.isnan(chance)
    outcome = (rng.random(chance.shape) < np.nan_to_num(chance)).cumsum(axis=2)
    asked = (~missing).cumsum(axis=2)
    at = np.array(units) - 1
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.moveaxis(outcome[:, :, at] / asked[:, :, at], 2, 1)


def _measured(scores: Floats, world: World, level: float) -> Figures4:
    """Mean correlations with the truth, the power to separate the pair, and its mean over all pairs."""
    means = column_means(scores)
    pearson, spearman = (_mean(row_correlations(means, world.truth, kind)) for kind in ("pearson", "spearman"))
    many = scores.shape[1]
    if many < 2:
        return pearson, spearman, None, None
    first, second = np.triu_indices(scores.shape[2], 1)
    gaps = scores[:, :, first] - scores[:, :, second]
    shared = ~np.isnan(gaps)
    number = shared.sum(axis=1)
    mean = divided(np.where(shared, gaps, 0.0).sum(axis=1), number)
    spread = (np.where(shared, gaps - mean[:, None], 0.0) ** 2).sum(axis=1)
    error = np.sqrt(divided(spread, number * (number - 1.0)))
    right = mean * np.sign(world.truth[first] - world.truth[second])
    # Significant and in the right direction; a pair with one topic in common cannot be tested.
    critical = stats.t.isf(level / 2, np.maximum(np.arange(many + 1) - 1, 1))
    found = right > critical[number] * error
    one, other = sorted(world.pair)
    target = np.flatnonzero((first == one) & (second == other))[0]
    return pearson, spearman, float(found[:, target].mean()), float(found.mean())


def _mean(values: Floats) -> float | None:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else None


# -- how people see it ---------------------------------------------------------------------------------------------


def efficient(designs: Sequence[Design]) -> list[Design]:
    """Designs that no cheaper one equals in power, from the cheapest on."""
    best, kept = -1.0, []
    for design in designs:
        if (design.power or 0.0) > best:
            best = design.power or 0.0
            kept.append(design)
    return kept


def _sentence(result: Plan) -> str:
    first, second = result.pair
    goal = f"To tell {first} from {second} (a difference of {result.difference:.3f}) with power {result.wanted:g}"
    paper = f"The paper's design ({result.paper.name}) has power {result.paper.power or 0:.2f}"
    paper += f" for {_price(result, result.paper)}."
    if result.recommended is None:
        most = max(result.designs, key=lambda d: d.power or 0.0)
        return f"{goal}, none of the designs is enough; the best is {most.name} with {most.power or 0:.2f}. {paper}"
    return f"{goal}, {result.recommended.name} is the cheapest: {_price(result, result.recommended)}. {paper}"


def _price(result: Plan, design: Design) -> str:
    return money(design.cost, result.currency)


def _tables(result: Plan) -> tuple[Table, ...]:
    columns = ("topics", "units", "workers", f"cost, {result.currency}", "power", "all pairs", "Pearson", "Spearman")

    def row(d: Design) -> tuple[Cell, ...]:
        return d.topics, d.units, d.workers, d.cost, d.power, d.separated, d.pearson, d.spearman

    note = (
        f"power: to find {result.pair[0]} better than {result.pair[1]}; all pairs: mean power over all pairs of "
        f"{result.systems} systems; Pearson, Spearman: expected correlation with the true system scores."
    )
    return (
        Table(
            "Designs worth their money: none cheaper has more power",
            columns,
            tuple(map(row, efficient(result.designs))),
            note,
        ),
        Table("All designs, the cheapest first", columns, tuple(map(row, result.designs))),
    )


def _figures(result: Plan) -> Iterator[Figure]:
    _, units, workers = PAPER
    by_workers = sorted({d.workers for d in result.designs})
    by_units = sorted({d.units for d in result.designs})
    first, second = result.pair
    yield Lines(
        f"Power to tell {first} from {second}, {units} units",
        "topics",
        "power",
        tuple(_series(result, count(w, "worker"), "power", units=units, workers=w) for w in by_workers),
    )
    yield Lines(
        f"Expected correlation with the true scores, {workers} workers",
        "topics",
        "Pearson",
        tuple(_series(result, count(u, "unit"), "pearson", units=u, workers=workers) for u in by_units),
    )
    kept = efficient(result.designs)
    cost, power = tuple(float(d.cost) for d in kept), tuple(d.power for d in kept)
    mark = float(result.recommended.cost) if result.recommended else None
    yield Lines("Power that money buys", f"cost, {result.currency}", "power", (Series("", cost, power),), mark)


def _series(result: Plan, name: str, part: str, *, units: int, workers: int) -> Series:
    held = sorted((d.topics, getattr(d, part)) for d in result.designs if (d.units, d.workers) == (units, workers))
    return Series(name, tuple(float(t) for t, _ in held), tuple(v for _, v in held))
