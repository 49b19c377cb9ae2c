"""How many units, topics and workers does it take? Shapira et al. 2019, section 4 and Figures 1 and 2.

From the judgments that were collected, evaluations with fewer units, topics or workers are drawn (70 of each size) and
their system scores correlated with a gold measure, which keeps all its topics, or with the full evaluation itself.
Within one draw sizes are nested: the third unit comes on top of the first two. Each size is an honest random draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from pyramidion.analysis.answer import Answer, Table, count
from pyramidion.analysis.figures import Figure, Lines, Series
from pyramidion.analysis.inputs import Floats, choose_measures, column_means, measures_of
from pyramidion.analysis.votes import Votes, unit_votes
from pyramidion.errors import Problem, UsageError, check_choice
from pyramidion.model import ScoreTable, Signature, Study
from pyramidion.stats.correlation import Kind, row_correlations
from pyramidion.stats.intervals import percentile_interval

Over = Literal["units", "topics", "workers"]
KINDS: tuple[Kind, ...] = ("pearson", "spearman")


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The correlation at one size, over the draws: mean, spread and the middle 95%; None where all are undefined."""

    over: str
    size: int
    kind: str
    mean: float | None
    sd: float | None
    low: float | None
    high: float | None
    undefined: int


@dataclass(frozen=True)
class Curves:
    gold: str
    systems: int
    topics: int
    points: tuple[CurvePoint, ...]

    def curve(self, over: str, kind: str = "pearson") -> tuple[CurvePoint, ...]:
        return tuple(p for p in self.points if (p.over, p.kind) == (over, kind))


def resampling(
    study: Study,
    gold: ScoreTable | None = None,
    *,
    gold_measure: str | None = None,
    over: Sequence[Over] = ("units", "topics", "workers"),
    kinds: Sequence[Kind] = KINDS,
    repetitions: int = 70,
    pyramid: str | None = None,
    judges: str | None = None,
    min_agreement: float | None = 0.5,
    seed: int = 0,
) -> Answer[Curves]:
    """Correlation with the gold as a function of how much was judged."""
    for what in over:
        check_choice("what to draw", what, get_args(Over))
    if repetitions < 1:
        raise UsageError(f"at least 1 repetition, not {repetitions}")
    votes = unit_votes(study, pyramid=pyramid, judges=judges, min_agreement=min_agreement)
    name, target = gold_means(votes, gold, gold_measure)
    points = tuple(
        point
        for place, what in enumerate(over)
        for point in _curve(votes, target, what, kinds, repetitions, np.random.default_rng([seed, place]))
    )
    result = Curves(name, len(votes.systems), len(votes.topics), points)
    made = Signature.of(
        "stability", draw=over, gold=name, repetitions=repetitions, tie="absent", screen=min_agreement, seed=seed
    )
    tables = tuple(_table(result, what) for what in over)
    figures: tuple[Figure, ...] = tuple(_figure(result, what, kinds) for what in over)
    notes = (*votes.notes, *_undefined(points))
    return Answer("stability", _sentence(result, over, kinds[0]), tables, made, result, figures, notes)


def gold_means(votes: Votes, gold: ScoreTable | None, measure: str | None) -> tuple[str, Floats]:
    """What to correlate with: a gold measure's system means, or the scores of the full evaluation."""
    if gold is None:
        return "the full evaluation", column_means(votes.summary_scores())
    known = measures_of(gold)
    chosen = choose_measures(known, [measure or known[0].name])[0]
    means = gold.per_system(chosen.measure)
    shared = [system for system in votes.systems if means.get(system) is not None]
    if len(shared) < 2:
        raise UsageError(f"{chosen.name} scores {len(shared)} of the judged systems; a correlation needs at least 2")
    return chosen.name, np.array([np.nan if (v := means.get(s)) is None else v for s in votes.systems])


def _curve(
    votes: Votes, target: Floats, over: str, kinds: Sequence[Kind], repetitions: int, rng: np.random.Generator
) -> list[CurvePoint]:
    draw = {"units": votes.with_units, "topics": votes.with_topics, "workers": votes.with_workers}[over]
    drawn = np.stack([draw(rng) for _ in range(repetitions)])  # repetitions x sizes x systems
    found = []
    for kind in kinds:
        r = row_correlations(drawn, target, kind)
        for size in range(1, r.shape[1] + 1):
            at = r[:, size - 1]
            defined = at[~np.isnan(at)]
            interval = percentile_interval(at)
            found.append(
                CurvePoint(
                    over,
                    size,
                    kind,
                    float(defined.mean()) if len(defined) else None,
                    float(defined.std(ddof=1)) if len(defined) > 1 else None,
                    interval.low if interval else None,
                    interval.high if interval else None,
                    len(at) - len(defined),
                )
            )
    return found


def _undefined(points: Sequence[CurvePoint]) -> list[Problem]:
    total = sum(point.undefined for point in points)
    if not total:
        return []
    what = "had no correlation, all systems being equal; left out of the means and counted in the tables"
    return [Problem(count(total, "draw"), what, "warning")]


# -- how people see it ---------------------------------------------------------------------------------------------


def _sentence(result: Curves, over: Sequence[str], kind: str) -> str:
    parts = []
    for what in over:
        curve = [point for point in result.curve(what, kind) if point.mean is not None]
        if not curve:
            parts.append(f"{what}: undefined")
            continue
        end, middle = curve[-1], curve[(len(curve) - 1) // 2]
        parts.append(f"{middle.mean:.3f} with {middle.size} of {end.size} {what}")
    reached = [points[-1].mean for what in over if (points := result.curve(what, kind))]
    full = f"{reached[0]:.3f}" if reached and reached[0] is not None else "undefined"
    return f"{kind.capitalize()} with {result.gold} is {full} with everything; it is {'; '.join(parts)} on average."


def _table(result: Curves, over: str) -> Table:
    kinds = list(dict.fromkeys(p.kind for p in result.points))
    by_size = zip(*(result.curve(over, kind) for kind in kinds), strict=True)
    rows = tuple(
        (same[0].size, *(part for p in same for part in (p.mean, p.sd, p.low, p.high)), same[0].undefined)
        for same in by_size
    )
    columns = [f"{kind}{part}" for kind in kinds for part in ("", " sd", " low", " high")]
    return Table(
        f"Correlation with {result.gold} by number of {over}",
        (over, *columns, "undefined"),
        rows,
        "Mean over draws, their standard deviation, and the middle 95% of them.",
    )


def _figure(result: Curves, over: str, kinds: Sequence[Kind]) -> Lines:
    series = []
    for kind in kinds:
        curve = result.curve(over, kind)
        series.append(
            Series(
                kind,
                tuple(float(p.size) for p in curve),
                tuple(p.mean for p in curve),
                tuple(p.low for p in curve),
                tuple(p.high for p in curve),
            )
        )
    noun = "units per topic" if over == "units" else "workers per task" if over == "workers" else over
    return Lines(f"Correlation with {result.gold}", f"number of {noun}", "correlation", tuple(series))
