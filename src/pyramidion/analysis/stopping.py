"""Is it decided? A look at a campaign that goes on in rounds until its goal is reached (stats/looks has the tests)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import Any, Literal

import numpy as np

from pyramidion.analysis.asked_design import asked_parts, choose_design, without_unasked
from pyramidion.analysis.asked_items import items_of_units
from pyramidion.analysis.combine import check_enough
from pyramidion.errors import UsageError
from pyramidion.scoring.choice import PEOPLE
from pyramidion.stats.combining import LEAST_TO_DECIDE, AskedParts, Question, combine
from pyramidion.stats.looks import Flags, decide
from pyramidion.study import Study

GoalKind = Literal["top", "ranking", "width", "pairs"]
LEVEL = 0.05
"""The probability of deciding any pair wrongly, over all looks."""


@dataclass(frozen=True, slots=True)
class Goal:
    """When a campaign has done its work: the best system is known ("top"), every pair is decided ("ranking"), a share
    of the pairs is ("pairs=90%"), or no score's interval is wider than so much from end to end ("width=0.03")."""

    kind: GoalKind
    target: float = 1.0

    @classmethod
    def parse(cls, text: str) -> Goal:
        name, _, value = (part.strip() for part in text.partition("="))
        simple: dict[str, GoalKind] = {"top": "top", "ranking": "ranking"}
        if name in simple and not value:
            return cls(simple[name])
        number = _number(value)
        if name == "pairs" and number is not None and 0 < number <= 1:
            return cls("pairs", number)
        if name == "width" and number is not None and 0 < number < 1 and not value.endswith("%"):
            return cls("width", number)
        raise UsageError(f"the goal {text!r} is not known; use top, ranking, pairs=90% or width=0.03")

    def __str__(self) -> str:
        if self.kind == "pairs":
            return f"pairs={100 * self.target:g}%"
        return f"width={self.target:g}" if self.kind == "width" else self.kind


def _number(text: str) -> float | None:
    text = text.strip()
    try:
        return float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class SystemStanding:
    """A system's score at a look, with an interval that holds over all looks; ``active`` if it is asked about on."""

    system: str
    score: float
    low: float
    high: float
    active: bool


@dataclass(frozen=True, slots=True)
class DecidedPair:
    better: str
    worse: str
    difference: float
    look: int


@dataclass(frozen=True)
class Look:
    """What a look found. ``decided`` has the pairs of all looks so far, ``pairs`` is the number of all pairs."""

    number: int
    looks: int
    goal: str
    question: Question
    standings: tuple[SystemStanding, ...]
    decided: tuple[DecidedPair, ...]
    pairs: int
    answered: int
    reached: bool
    notes: tuple[str, ...] = field(default=())

    @property
    def active(self) -> tuple[str, ...]:
        return tuple(standing.system for standing in self.standings if standing.active)

    @classmethod
    def of(cls, held: Mapping[str, Any]) -> Look:
        """From what `dataclasses.asdict` made of it."""
        return cls(
            **{
                **held,
                "standings": tuple(SystemStanding(**one) for one in held["standings"]),
                "decided": tuple(DecidedPair(**one) for one in held["decided"]),
                "notes": tuple(held["notes"]),
            }
        )


def take_look(
    study: Study,
    *,
    model: str,
    goal: Goal,
    number: int,
    shares: Sequence[float],
    people: str = PEOPLE,
    question: Question = "topics",
    earlier: Look | None = None,
    pyramid: str | None = None,
    topics: Collection[str] | None = None,
    aggregate: str = "majority",
) -> Look:
    """Look number ``number`` (from 1) at a study with the answers so far. ``shares`` say for each planned look what
    share of the parts will have been asked; ``topics`` are those that the design was drawn from, by default all."""
    items = items_of_units(study, people=people, model=model, pyramid=pyramid, aggregate=aggregate)
    items = without_unasked(study, items.of_topics(topics))
    chosen = choose_design(study, items)
    answered = int((~np.isnan(items.people) & chosen.asked).sum())
    return look_at(
        asked_parts(items, chosen),
        items.systems,
        goal=goal,
        number=number,
        shares=shares,
        question=question,
        earlier=earlier,
        answered=answered,
    )


def look_at(
    parts: AskedParts,
    systems: tuple[str, ...],
    *,
    goal: Goal,
    number: int,
    shares: Sequence[float],
    question: Question = "topics",
    earlier: Look | None = None,
    answered: int = 0,
) -> Look:
    """The same from arrays. Too few answers for an interval decide nothing."""
    looks = len(shares)
    if not 1 <= number <= looks:
        raise UsageError(f"look {number} of {looks} was not planned")
    if list(shares) != sorted(shares) or not 0 < shares[0] <= shares[-1] <= 1:
        raise UsageError(f"the shares of planned looks must rise from above 0 to at most 1, not {list(shares)}")
    notes: tuple[str, ...] = ()
    found = combine(parts)
    better = _decided_before(systems, earlier)
    active = np.array([earlier is None or system in earlier.active for system in systems])
    undecided = ~(better | better.T)
    decided = list(earlier.decided) if earlier else []
    try:
        check_enough(parts, systems, question, least=LEAST_TO_DECIDE)
    except UsageError as error:
        notes, undecided = (f"nothing is decided yet: {error}",), np.zeros_like(undecided)
    new, low, high = astuple(
        decide(found, question, undecided, shares=shares, now=number, active=active, level=LEVEL, seed=number)
    )
    for i, j in np.argwhere(new).tolist():
        decided.append(DecidedPair(systems[i], systems[j], float(found.scores[i] - found.scores[j]), number))
    better |= new
    narrow = (high - low <= goal.target) if goal.kind == "width" and not notes else np.zeros(len(systems), dtype=bool)
    active, reached = _still_needed(goal, better, active, narrow)
    standings = tuple(
        SystemStanding(system, float(found.scores[i]), float(low[i]), float(high[i]), bool(active[i]))
        for i, system in enumerate(systems)
    )
    pairs = len(systems) * (len(systems) - 1) // 2
    return Look(number, looks, str(goal), question, standings, tuple(decided), pairs, answered, reached, notes)


def _decided_before(systems: tuple[str, ...], earlier: Look | None) -> Flags:
    better = np.zeros((len(systems), len(systems)), dtype=bool)
    place = {system: number for number, system in enumerate(systems)}
    for pair in earlier.decided if earlier else ():
        better[place[pair.better], place[pair.worse]] = True
    return better


def _still_needed(goal: Goal, better: Flags, active: Flags, narrow: Flags) -> tuple[Flags, bool]:
    """Which systems must be asked about further, and whether the goal is reached."""
    decided = better | better.T
    number = len(active)
    if goal.kind == "width":
        active = active & ~narrow
        return active, not active.any()
    if goal.kind == "top":
        best = active & ~better.any(axis=0)
        reached = int(best.sum()) <= 1
        return best & (not reached), reached
    share = decided.sum() / max(number * (number - 1), 1)
    complete = decided.sum(axis=1) == number - 1
    return active & ~complete, bool(share >= goal.target - 1e-12)
