"""Stopping when it is decided, replayed on real labels: python benchmarks/stopping.py [--quick] [--write]

Labels are in the folder that `--labels` names: what `models/held_out_judgments.py` wrote. Without them a made-up
population is replayed. Every replay asks in rounds and hands what was asked to `pyramidion.analysis.stopping`, as the
server does. Most of an hour on two cores that are busy otherwise.
"""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from replays import LABELS, MADE_UP, Codes, Design, Floats, Parts, Population, populations, spread, whole_topics

from pyramidion.analysis.stopping import Goal, Look, look_at
from pyramidion.stats import looks
from pyramidion.stats.combining import QUESTIONS, Question, combine

TARGET = Path(__file__).parent / "results" / "stopping.md"
REPLAYS, QUICK = 1000, 20
LOOKS, FIRST, LAST = 8, 0.08, 0.8
"""The share asked at the first look, and at the last one where nothing differs: with everything, all is known."""
DRAWS = 1000
"""Fewer than the 10,000 of a real look, for speed: the critical value is a little less exact, and not biased."""
SYSTEMS = 10
SURE = 0.9
"""A design in one go is as large as it must be to reach the goal this often; rounds go on until they reach it."""
SHARES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
Null = Literal["labels copied", "answers copied", "exchanged"]


# -- a campaign in rounds ----------------------------------------------------------------------------------------


class Run(NamedTuple):
    """How a campaign went: what its last look found, and how many judgments it took."""

    last: Look
    judgments: int


def prefixes(parts: Parts, last: float) -> list[Codes]:
    """How many parts of each stratum have been asked at each look, each time more by the same factor."""
    found = [parts.allocated(share) for share in np.geomspace(FIRST, last, LOOKS).tolist()]
    return [np.maximum.reduce(found[: place + 1]) for place in range(LOOKS)]


def campaign(
    parts: Parts,
    goal: Goal,
    question: Question,
    *,
    last: float = 1.0,
    people: Floats | None = None,
    noise: Floats | None = None,
) -> Run:
    """Ask, look, and go on with the systems that stay, until the goal is reached or so large a share was asked."""
    names = tuple(f"system{number:02}" for number in range(parts.population.systems))
    planned = prefixes(parts, last)
    shares = [float(taken.sum() / parts.places.sum()) for taken in planned]
    taken = np.zeros((len(parts.places), len(names)), np.int64)
    look: Look | None = None
    for number, wanted in enumerate(planned, 1):
        stay = np.array([look is None or name in look.active for name in names])
        taken = np.where(stay, wanted[:, None], taken)
        asked = parts.asked(taken, people, noise)
        look = look_at(asked, names, goal=goal, number=number, shares=shares, question=question, earlier=look)
        if look.reached:
            break
    assert look is not None
    return Run(look, parts.judgments(taken))


# -- errors where nothing differs --------------------------------------------------------------------------------


def nothing_differs(population: Population, null: Null, rng: np.random.Generator) -> Population:
    """A population in which all systems have the same score.

    The labels of the first system for all of them; or its answers, of which each system draws its own; or the columns
    of each topic exchanged at random, labels with the model's judgments, and moved to the same mean.
    """
    first = np.zeros(population.systems, np.int64)
    if null == "labels copied":
        return replace(population, people=population.people[:, first])
    if null == "answers copied":
        assert population.answers is not None
        return replace(population, answers=population.answers[:, first]).by_single_answers()
    order = rng.permuted(np.tile(np.arange(population.systems), (population.topics, 1)), axis=1)[population.topic]
    people, model = (np.take_along_axis(table, order, axis=1) for table in (population.people, population.model))
    scores = population.topic_means(people).mean(axis=0)
    return replace(population, people=people - scores + scores.mean(), model=model)


def wrong(population: Population, null: Null, question: Question, replays: int) -> float:
    """How often any pair is decided at any look, although nothing differs."""
    rng = np.random.default_rng(3)  # other replays than those that `looks.CAUTION` was chosen by
    count = 0
    for _ in range(replays):
        these = nothing_differs(population, null, rng)
        if question == "topics":
            these = these.only(rng.integers(0, these.topics, these.topics))
        people, noise = these.answered(2, rng) if null == "answers copied" else (None, None)
        parts = spread(1, 3, FIRST)(these, rng)
        run = campaign(parts, Goal("ranking"), question, last=LAST, people=people, noise=noise)
        count += bool(run.last.decided)
    return count / replays


def wrong_lines(population: Population, replays: int) -> list[str]:
    few = some_systems(population, SYSTEMS)
    nulls: list[Null] = ["labels copied", "exchanged"]
    if few.answers is not None:
        nulls.insert(1, "answers copied")
    lines = []
    for null in nulls:
        times = max(10, replays // 10) if null == "labels copied" else replays  # nothing is left to chance there
        shown = [f"{wrong(few, null, question, times):.1%}" for question in QUESTIONS]
        lines.append(f"| {few.name} | {null} | {times:,} | " + " | ".join(shown) + " |")
    return lines


def some_systems(population: Population, number: int) -> Population:
    chosen = np.linspace(0, population.systems - 1, min(number, population.systems)).astype(np.int64)
    answers = None if population.answers is None else population.answers[:, chosen]
    return replace(population, people=population.people[:, chosen], model=population.model[:, chosen], answers=answers)


# -- judgments until it is decided -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fixed:
    """What a design that asks in one go decides, by share asked (rows) and replay: the share of pairs, and whether the
    best system is known."""

    shares: Floats
    pairs: Floats
    top: Floats

    def needed(self, goal: Goal, chance: float) -> float | None:
        """The share with which the goal is reached with this probability; None if never."""
        reached = self.top if goal.kind == "top" else self.pairs >= goal.target - 1e-9
        rising = np.maximum.accumulate(reached.mean(axis=1)) + 1e-9 * np.arange(len(self.shares))
        return float(np.interp(chance, rising, self.shares)) if rising[-1] >= chance else None


def fixed(population: Population, design: Design, question: Question, *, with_model: bool, replays: int) -> Fixed:
    pairs, top = np.zeros((2, len(SHARES), replays))
    asked_share = np.zeros(len(SHARES))
    every = np.ones((population.systems, population.systems), bool)
    for place, share in enumerate(SHARES):
        rng = np.random.default_rng(place)
        for number in range(replays):
            parts = design(population, rng)
            taken = parts.allocated(share)
            found = combine(parts.asked(taken), with_model=with_model)
            part = float(taken.sum() / parts.places.sum())
            better = looks.decide(found, question, every, shares=[part], now=1, seed=number).better
            pairs[place, number] = 2 * better.sum() / (every.sum() - len(every))
            top[place, number] = (better.sum(axis=1) == len(every) - 1).any()
            asked_share[place] += part / replays
    return Fixed(asked_share, pairs, top)


def needed_lines(population: Population, question: Question, replays: int) -> list[str]:
    """Judgments until the goal is reached, as shares of all: in rounds, and by designs that ask in one go."""
    few = max(10, replays // 2)
    designs = (
        fixed(population, whole_topics, question, with_model=False, replays=few),
        fixed(population, spread(), question, with_model=False, replays=few),
        fixed(population, spread(1, 3), question, with_model=True, replays=few),
    )
    most = float(designs[0].pairs[-1].mean())
    goals = [Goal("pairs", round(most * part, 4)) for part in (0.5, 0.7, 0.9)] if most * _pairs(population) > 3 else []
    lines = []
    for goal in [*goals, Goal("top")]:
        both, alone = (in_rounds(each, goal, question, replays) for each in (population, without_model(population)))
        used = both.judgments / population.people.size
        cells = [f"{both.reached:.0%} | {used:.0%}", f"{alone.judgments / population.people.size:.0%}"]
        for each in designs:
            share = each.needed(goal, SURE)
            ratio = "" if share is None or both.reached < SURE else f" ({used / share:.2f})"
            cells.append("never" if share is None else f"{share:.0%}{ratio}")
        named = "top" if goal.kind == "top" else f"{goal.target / most:.0%} of {most * _pairs(population):.0f} pairs"
        lines.append(f"| {population.name} | {named} | " + " | ".join(cells) + " |")
    return lines


def _pairs(population: Population) -> int:
    return population.systems * (population.systems - 1) // 2


def without_model(population: Population) -> Population:
    """A model that says the same about everything is worth nothing and guides nothing."""
    return replace(population, model=np.full_like(population.model, 0.5))


class Rounds(NamedTuple):
    """On average over replays."""

    reached: float
    judgments: float


def in_rounds(population: Population, goal: Goal, question: Question, replays: int) -> Rounds:
    rng = np.random.default_rng(2)
    runs = [campaign(spread(1, 3, FIRST)(population, rng), goal, question) for _ in range(replays)]
    return Rounds(float(np.mean([run.last.reached for run in runs])), float(np.mean([run.judgments for run in runs])))


# -- the page ----------------------------------------------------------------------------------------------------


def page(labelled: Sequence[Population], replays: int) -> Iterable[str]:
    yield TITLE.format(replays=f"{replays:,}", looks=LOOKS, first=FIRST, draws=f"{DRAWS:,}")
    if labelled[0].name == MADE_UP:
        yield "**A made-up population**: these figures say nothing about real labels.\n"
    yield WRONG.format(caution=looks.CAUTION)
    for population in labelled:
        yield from wrong_lines(population, replays)
    for question, what in (("these", "these topics"), ("topics", "topics of this kind")):
        yield NEEDED.format(what=what)
        for population in labelled:
            yield from needed_lines(some_systems(population, SYSTEMS), question, max(20, replays // 5))  # type: ignore[arg-type]
    machine = f"{platform.machine()}, {os.cpu_count()} shared cores"
    yield f"\nMade by `python benchmarks/stopping.py --write` ({machine}, Python {platform.python_version()})."


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} replays instead of {REPLAYS:,}")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--labels", type=Path, default=LABELS)
    options = parser.parse_args()
    looks.DRAWS = DRAWS
    lines = []
    for line in page(list(populations(options.labels)), QUICK if options.quick else REPLAYS):
        print(line, flush=True)
        lines.append(line)
    if options.write:
        TARGET.write_text("\n".join(lines) + "\n", "utf-8")


TITLE = """# Stopping when it is decided

{replays} replays. Campaigns with at most {looks} looks, the first after {first:.0%} of the parts and the last after all
of them, each time more by the same factor; parts of one unit, more where the model is unsure. A look draws {draws}
paths.
Labels and models are those of [combine](combine.md); of REALSumm's 25 systems ten are compared.
"""
WRONG = """## Errors where nothing differs

How often any pair is decided at any of the looks, although all systems have the same score (at most 5% is wanted). The
goal is the whole ranking, so that nothing ends early, and the last look is at 80%. Nothing differs because the labels
of one system were copied to all, which leaves no differences at all once people are asked; because its single answers
were, of which every system draws two for each judgment; or because the columns of each topic were exchanged at random,
labels with the model's judgments, and moved to the same mean. Pairs are tested at {caution:g} of the level,
which was chosen by other replays of the same labels. The standard error of a figure is .7 points.

| labels | nothing differs by | replays | these topics | topics of this kind |
|---|---|---:|---:|---:|"""
NEEDED = """
## Judgments until it is decided: {what}

Shares of all judgments, on average. A goal of pairs is a share of what everything, asked of people, decides (none where
that is three pairs or fewer). Beside campaigns in rounds: the share that a design asked in one go needs to reach the
goal in 90% of the replays, and in brackets, where rounds reach it as often, rounds with the model / that design. Rounds
need more than people and a model asked in one go, if that is planned with just the right size, which nobody knows
beforehand: the price of looking often, and of finishing the last round. A fifth of the replays.

| labels | goal | reached | rounds, with model | rounds, people | people, whole topics | people, units of all topics | people and model |
|---|---|---:|---:|---:|---:|---:|---:|"""  # noqa: E501

if __name__ == "__main__":
    main()
