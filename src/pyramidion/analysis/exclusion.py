"""What leaving out the least consistent assessors does. Owczarzak et al. 2012, section 4, Tables 2 to 4.

The ranking of systems without the k worst against that with all; and a metric's correlation with the manual scores
before and after, at system level and at summary level (per assessor, then averaged).

Is the correlation after another one than before? Both are taken over the same systems, so they depend on each other,
and both sides of each change, so they share no variable: Steiger's test (Pearson, system level). And for every level
and kind a bootstrap over systems, all summaries of a system together, of the difference after less before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pyramidion.analysis.answer import Cell, Table
from pyramidion.analysis.assessors import ALL_PEERS, NO_MODELS, PYRAMID, Cells, Given, cells_of, system_means
from pyramidion.analysis.inputs import Floats
from pyramidion.stats.correlation import Kind, clustered_correlations, correlation, steiger, weighted_correlations
from pyramidion.stats.intervals import Interval, bootstrap_p, percentile_interval, resampling_weights

AUTO = "autoPyramid"
DECIMALS = 12
"""Differences beyond are rounding errors, which must not decide who is worse or which way a correlation changed."""
Author = tuple[str, str]
Means = Mapping[Author, float]
Sides = tuple[Means, Means]
"""Manual scores and a metric's, by system."""


@dataclass(frozen=True, slots=True)
class Exclusion:
    """What happens without the ``k`` worst assessors by a criterion. ``level`` is ranking, system or summary.

    ``interval`` and ``p`` are of the difference ``r`` - ``before`` by a bootstrap over the ``systems``, ``steiger`` is
    the p of Steiger's test; None where undefined. ``year`` is None for all years together.
    """

    criterion: str
    kind: str
    level: str
    metric: str
    correlation: str
    k: int
    excluded: tuple[str, ...]
    r: float | None
    before: float | None
    systems: int = 0
    steiger: float | None = None
    interval: Interval | None = None
    p: float | None = None
    year: str | None = None
    peers: str = ALL_PEERS


@dataclass(frozen=True)
class _Cut:
    """A criterion's k worst assessors, to be left out."""

    criterion: str
    kind: str
    excluded: tuple[str, ...]

    def found(self, level: str, metric: str, how: str, r: float | None, before: float | None, n: int) -> Exclusion:
        k = len(self.excluded)
        return Exclusion(self.criterion, self.kind, level, metric, how, k, self.excluded, r, before, n)


def exclusions(
    scores: Sequence[Given],
    worst: Mapping[str, Sequence[str]],
    metrics: Mapping[str, Cells],
    *,
    exclude: Sequence[int],
    kinds: Sequence[Kind],
    resamples: int,
    seed: int,
) -> Iterator[Exclusion]:
    """For every criterion and its assessors, worst first. One by alpha judges its own kind of score; autoPyramid judges
    the pyramid.
    """
    for criterion, names in worst.items():
        kind = PYRAMID if criterion == AUTO else criterion
        given = [s for s in scores if s.kind == kind]
        everybody = {s.assessor for s in given}
        cuts = [_Cut(criterion, kind, tuple(names[:k])) for k in exclude if k <= len(names)]
        cuts = [cut for cut in cuts if everybody - set(cut.excluded)]
        if not cuts:
            continue
        yield from _rankings(given, cuts, kinds)
        manual = {cut: _cells(given, cut) for cut in (None, *cuts)}
        for metric, cells in metrics.items():
            draws = _Draws.of(given, cells, resamples, seed)
            for cut in cuts:
                sides = _both_means(manual[None], cells), _both_means(manual[cut], cells)
                yield from (_of_systems(cut, metric, *sides, how, draws) for how in kinds)
            for how in kinds:
                yield from _of_summaries(given, cuts, metric, cells, how, draws)


def _rankings(given: Sequence[Given], cuts: Sequence[_Cut], kinds: Sequence[Kind]) -> Iterator[Exclusion]:
    full = system_means(_cells(given))
    for cut in cuts:
        left = system_means(_cells(given, cut))
        shared = sorted(full.keys() & left.keys())
        for how in kinds:
            r = correlation([full[s] for s in shared], [left[s] for s in shared], how).r
            yield cut.found("ranking", "", how, r, 1.0, len(shared))


def _cells(given: Sequence[Given], cut: _Cut | None = None) -> Cells:
    return cells_of(given, given[0].kind, frozenset(cut.excluded) if cut else frozenset())


@dataclass(frozen=True)
class _Draws:
    """How often each system is drawn in each resample; the same for everything that is compared."""

    place: Mapping[Author, int]
    weights: Floats

    @classmethod
    def of(cls, given: Sequence[Given], metric: Cells, resamples: int, seed: int) -> _Draws:
        systems = sorted({(s.year, s.system) for s in given if (s.year, s.topic, s.system) in metric})
        drawn = (
            resampling_weights(np.random.default_rng(seed), len(systems), resamples) if systems else np.zeros((0, 0))
        )
        return cls({system: number for number, system in enumerate(systems)}, drawn)


def _of_systems(cut: _Cut, metric: str, all_of_them: Sides, left: Sides, how: Kind, draws: _Draws) -> Exclusion:
    """Of system means over the summaries whose assessors are kept; the metric is averaged over the same summaries."""
    shared = sorted(all_of_them[0].keys() & left[0].keys())
    columns = [draws.place[system] for system in shared]
    weights = draws.weights[:, columns]
    before, after = (
        tuple(np.array([side[system] for system in shared]) for side in sides) for sides in (all_of_them, left)
    )
    r, r_before = (correlation(x, y, how).r for x, y in (after, before))
    drawn, drawn_before = (weighted_correlations(x, y, weights, how) for x, y in (after, before))
    exact = steiger((after[0], after[1]), (before[0], before[1])).p if how == "pearson" else None
    return _tested(cut.found("system", metric, how, r, r_before, len(shared)), drawn - drawn_before, exact)


def _both_means(manual: Cells, metric: Cells) -> Sides:
    shared = manual.keys() & metric.keys()
    return system_means({key: manual[key] for key in shared}), system_means({key: metric[key] for key in shared})


def _of_summaries(
    given: Sequence[Given], cuts: Sequence[_Cut], metric: str, cells: Cells, how: Kind, draws: _Draws
) -> Iterator[Exclusion]:
    """The mean over assessors of the correlation over all the summaries an assessor scored."""
    held: dict[str, list[Given]] = {}
    for s in given:
        if (s.year, s.topic, s.system) in cells:
            held.setdefault(s.assessor, []).append(s)
    single: dict[str, float] = {}
    drawn: dict[str, Floats] = {}
    for name, mine in sorted(held.items()):
        x, y = [s.value for s in mine], [cells[s.year, s.topic, s.system] for s in mine]
        r = correlation(x, y, how).r
        if r is not None:
            single[name] = r
            who = np.array([draws.place[s.year, s.system] for s in mine])
            drawn[name] = clustered_correlations(x, y, who, draws.weights, how)
    for cut in cuts:
        kept = [name for name in single if name not in cut.excluded]
        before, after = (float(np.mean([single[n] for n in names])) if names else None for names in (single, kept))
        systems = len({(s.year, s.system) for name in kept for s in held[name]})
        found = cut.found("summary", metric, how, after, before, systems)
        change = _mean([drawn[n] for n in kept]) - _mean(list(drawn.values())) if kept else np.zeros(0)
        yield _tested(found, change)


def _mean(rows: Sequence[Floats]) -> Floats:
    """Over assessors; undefined in a resample where it is for one of them, so that all are means over the same."""
    return np.asarray(np.mean(rows, axis=0))


def _tested(found: Exclusion, change: Floats, exact: float | None = None) -> Exclusion:
    if not len(change) or found.r is None or found.before is None:
        return replace(found, steiger=exact)
    change = np.round(change, DECIMALS)
    return replace(found, steiger=exact, interval=percentile_interval(change), p=bootstrap_p(change))


# -- how people see it ---------------------------------------------------------------------------------------------


def year_cell(year: str | None, several: bool) -> tuple[Cell, ...]:
    """The year in a row of a table, where there are several."""
    return (("all" if year is None else year),) if several else ()


def exclusion_tables(found: Sequence[Exclusion], several: bool) -> Iterator[Table]:
    """Rankings, then correlations with metrics. Years and sets of peers are columns where there are several."""
    sets = {e.peers for e in found}
    where = (*(("year",) if several else ()), *(("peers",) if sets - {ALL_PEERS} else ()))
    for level, title in (
        ("ranking", "Ranking of systems without the worst assessors, against that with all"),
        ("system", "Correlation with metrics, systems"),
        ("summary", "Correlation with metrics, summaries (mean over assessors)"),
    ):
        rows: list[tuple[Cell, ...]] = []
        for e in found:
            if e.level != level:
                continue
            scope = (*year_cell(e.year, several), *((e.peers,) if "peers" in where else ()))
            first = (e.criterion, *scope, *((e.metric,) if e.metric else ()), e.correlation, e.k, ", ".join(e.excluded))
            low, high = (e.interval.low, e.interval.high) if e.interval else (None, None)
            exact = (e.steiger,) if level == "system" else ()
            rows.append((*first, e.r) if level == "ranking" else (*first, e.before, e.r, *exact, low, high, e.p))
        names = ("worst by", *where, *(("metric",) if level != "ranking" else ()), "kind", "k", "without")
        exact_name = ("p, Steiger",) if level == "system" else ()
        test = ("with all", "r", *exact_name, "change, low", "change, high", "p, bootstrap")
        if rows:
            columns = (*names, "r") if level == "ranking" else (*names, *test)
            yield Table(title, columns, tuple(rows), _NOTE if "peers" in where else "")


_NOTE = f"{ALL_PEERS}: systems and people together; {NO_MODELS}: without the people who wrote references."
