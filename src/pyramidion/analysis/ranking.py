"""Which system is best, and how certain is that? Every system's mean over topics, its interval, and which systems do
not differ.

Intervals are percentile bootstraps over topics: would other topics of this kind give the same mean? Letters come from
whichever significance test the caller ran: systems that share a letter do not differ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pyramidion.analysis.answer import Answer, Estimate, Heatmap, Intervals, Table, count
from pyramidion.analysis.inputs import choose_measures, grid, measures_of
from pyramidion.analysis.significance import Significance
from pyramidion.errors import Problem
from pyramidion.stats.intervals import Interval, percentile_interval, resampling_weights, weighted_means
from pyramidion.study import ScoreTable, Signature


@dataclass(frozen=True, slots=True)
class RankedSystem:
    """``group`` is empty if nothing was tested; ``interval`` is None with fewer than two topics."""

    rank: int
    system: str
    mean: float | None
    interval: Interval | None
    group: str
    topics: int


@dataclass(frozen=True)
class Ranking:
    measure: str
    systems: tuple[RankedSystem, ...]
    test: str

    @property
    def scale(self) -> tuple[float, float]:
        """The ends of an axis: 0, or less if scores are below it, and the highest bound or 1."""
        known = [s for s in self.systems if s.mean is not None]
        ends = [end for s in known if s.interval for end in (s.interval.low, s.interval.high)]
        ends += [s.mean for s in known if s.mean is not None]
        return min([0.0, *ends]), max(ends, default=1.0) or 1.0


def ranking(
    table: ScoreTable,
    *,
    measure: str | None = None,
    groups: Answer[Significance] | None = None,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Answer[Ranking]:
    """Rank the systems of a table by one measure. ``groups`` is the test whose letters are shown."""
    chosen = choose_measures(measures_of(table), [measure or table.measures[0]])[0]
    data = grid([chosen], means="given")
    cells, means = data.cells[chosen.name], data.means[chosen.name]
    drawn = weighted_means(resampling_weights(np.random.default_rng(seed), len(cells), resamples), cells)
    letters = {} if groups is None else {r.system: r.group for r in groups.result.ranking}
    order = np.lexsort((np.array(data.systems), -np.nan_to_num(means, nan=-np.inf)))
    number = (~np.isnan(cells)).sum(axis=0)
    systems = tuple(
        RankedSystem(
            place,
            data.systems[i],
            None if np.isnan(means[i]) else float(means[i]),
            percentile_interval(drawn[:, i], confidence) if number[i] > 1 else None,
            letters.get(data.systems[i], ""),
            int(number[i]),
        )
        for place, i in enumerate(order.tolist(), 1)
    )
    result = Ranking(chosen.name, systems, "" if groups is None else groups.result.test)
    made = Signature.of(
        "ranking",
        of=table.signature.method,
        measure=chosen.name,
        interval="percentile-over-topics",
        resamples=resamples,
        test=result.test or "none",
        seed=seed,
    )
    notes: tuple[Problem, ...] = data.notes if groups is None else (*data.notes, *groups.notes)
    figures = (_figure(result), _heatmap(result, cells[:, order], data.topics)) if len(data.topics) else ()
    return Answer("ranking", _sentence(result, groups), (_table(result),), made, result, figures, notes)


def _sentence(result: Ranking, groups: Answer[Significance] | None) -> str:
    best = result.systems[0]
    if best.mean is None:
        return f"No system has a score by {result.measure}."
    topics = count(max(s.topics for s in result.systems), "topic")
    text = f"{best.system} ranks first by {result.measure}: {best.mean:.3f} on {topics}."
    if groups is None:
        return text
    worse = {pair.worse for pair in groups.result.significant if pair.better == best.system}
    equals = [s.system for s in result.systems[1:] if s.mean is not None and s.system not in worse]
    if not equals:
        return f"{text} It is significantly better than every other system." if worse else text
    others = ", ".join(equals[:3]) + (f" and {len(equals) - 3} more" if len(equals) > 3 else "")
    return f"{text} It does not differ significantly from {others}."


def _table(result: Ranking) -> Table:
    return Table(
        f"Systems by {result.measure}",
        ("rank", "system", "mean", "low", "high", "group", "topics"),
        tuple(
            (
                s.rank,
                s.system,
                s.mean,
                s.interval.low if s.interval else None,
                s.interval.high if s.interval else None,
                s.group,
                s.topics,
            )
            for s in result.systems
        ),
        "low, high: 95% interval over other topics. group: systems that share a letter do not differ.",
    )


def _figure(result: Ranking) -> Intervals:
    rows = tuple(
        Estimate(
            s.system,
            s.mean,
            s.interval.low if s.interval else None,
            s.interval.high if s.interval else None,
            s.group,
        )
        for s in result.systems
    )
    return Intervals(f"Systems by {result.measure}", result.measure, rows)


def _heatmap(result: Ranking, cells: np.ndarray, topics: tuple[str, ...]) -> Heatmap:
    values = tuple(tuple(None if np.isnan(v) else float(v) for v in column) for column in cells.T)
    known = [v for row in values for v in row if v is not None]
    names = tuple(s.system for s in result.systems)
    top = max([1.0 if max(known, default=0.0) <= 1 else 0.0, *known]) if known else 1.0
    return Heatmap(f"{result.measure} of every summary", result.measure, names, topics, values, min([0.0, *known]), top)
