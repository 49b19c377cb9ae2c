"""Which systems differ? One answer everywhere: the command, the report and Python call `compare_systems`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from pyramidion import analysis
from pyramidion.analysis.answer import Answer, Estimate, Heatmap, Intervals, Table, count
from pyramidion.analysis.inputs import choose_measures, grid, measures_of, released, restricted
from pyramidion.analysis.significance import Significance
from pyramidion.errors import InputError, Problem, UsageError, check_choice
from pyramidion.scoring.explain import KINDS
from pyramidion.scoring.litepyramids import Compat
from pyramidion.scoring.methods import fitting_methods, score
from pyramidion.stats.intervals import Interval, percentile_interval, resampling_weights, weighted_means
from pyramidion.study import ScoreTable, Signature, Study
from pyramidion.study.scores import best_first

Test = Literal["permutation", "bootstrap", "wilcoxon", "mcnemar", "tukey"]
ON_UNITS = ("mcnemar", "permutation", "wilcoxon")

MAIN_MEASURES = {"pyramid": "modified", "rouge": "rouge-2-recall"}
"""What systems are ranked by; of other methods the first measure."""

ENOUGH_TOPICS = 10
"""With fewer, paired tests over topics have no power: six topics are needed for a p below .05 in a single pair."""


def main_measure(method: str, table: ScoreTable) -> str:
    """The measure systems are ranked by: the method's usual one, or the first that has values."""
    wanted = [MAIN_MEASURES.get(method, ""), *table.measures]
    held = [name for name in wanted if any(s.value is not None for s in table if s.measure == name)]
    return held[0] if held else table.measures[0]


def compare_systems(
    source: Study | ScoreTable,
    *,
    table: ScoreTable | None = None,
    measure: str | None = None,
    test: Test | None = None,
    units: bool = False,
    factors: Sequence[str] | None = None,
    correction: str | None = None,
    level: float = 0.05,
    systems: Collection[str] | None = None,
    topics: Collection[str] | None = None,
    judges: str | None = None,
    pyramid: str | None = None,
    compat: Compat | None = None,
    resamples: int | None = None,
    seed: int = 0,
) -> Answer[Significance]:
    """Test every pair of systems of a study or a score table; options that do not apply to the test are refused.

    By default the test is a permutation test over topics where there are at least ``ENOUGH_TOPICS``; with fewer,
    Tukey's on the scores by topic, or on the ratings themselves; on a single topic McNemar's on its content units.
    ``table`` holds the study's scores if they are already known. With ``compat`` they are made as by a released script.
    """
    check_choice("test", test or "tukey", get_args(Test))
    study = source if isinstance(source, Study) else None
    if study is None and (judges is not None or pyramid is not None or compat is not None):
        raise UsageError(
            "a score table does not say who judged what; to choose judges, a pyramid or compat, give the study itself"
        )
    among: dict[str, Any] = {"systems": systems, "topics": topics, "level": level}
    drawing: dict[str, Any] = {"correction": correction or "holm", "seed": seed, "resamples": resamples}
    if units or test == "mcnemar":
        _refuse("a test on units", measure=measure, factors=factors, compat=compat)
        return _on_units(study, test, judges, pyramid, **among, **drawing)
    method, scores = _scores(source, table, measure, judges=judges, pyramid=pyramid, compat=compat)
    measure = measure or main_measure(method, scores)
    chosen = test or _fitting_test(method, scores, study, topics)
    if chosen == "mcnemar":
        _refuse("a test on units, the only one for a single topic,", factors=factors, compat=compat)
        return _on_units(study, chosen, judges, pyramid, **among, **drawing, method=method)
    if chosen == "tukey":
        _refuse("Tukey's test", correction=correction, resamples=resamples)
        rated = study if method == "responsiveness" else None
        return analysis.tukey(
            rated or scores, measure=measure, factors=factors, judges=judges if rated else None, **among
        )
    _refuse(f"the {chosen} test", factors=factors, resamples=resamples if chosen == "wilcoxon" else None)
    return analysis.significance(scores, measure=measure, test=chosen, **among, **drawing)


def _refuse(what: str, **options: object) -> None:
    """An option that would change nothing is refused, so that nobody believes it did."""
    for name, value in options.items():
        if value is not None:
            raise UsageError(f"{name} has no effect on {what}; remove it or choose another test")


def _on_units(
    study: Study | None,
    test: str | None,
    judges: str | None,
    pyramid: str | None,
    *,
    method: str | None = None,
    **options: Any,
) -> Answer[Significance]:
    if study is None:
        raise UsageError("a score table has no units; a test on units needs the study")
    test = test or "mcnemar"
    check_choice("test on units", test, ON_UNITS)
    if test != "permutation":
        _refuse(f"the {test} test", resamples=options["resamples"])
    given = _given(judges=judges, pyramid=pyramid)
    method = method or next((m for m in fitting_methods(study, pyramid) if m in KINDS), "pyramid")
    return analysis.unit_significance(study, kind=KINDS[method], test=test, **given, **options)  # type: ignore[arg-type]


def _given(**choices: str | None) -> dict[str, str]:
    return {name: value for name, value in choices.items() if value is not None}


def _scores(
    source: Study | ScoreTable,
    table: ScoreTable | None,
    measure: str | None,
    **choices: str | None,
) -> tuple[str, ScoreTable]:
    """The method and the scores to compare systems by: the one that fits, or the first that has the measure."""
    if isinstance(source, ScoreTable):
        table = source
    if table is not None:
        return table.signature.method, table
    assert isinstance(source, Study)
    known: list[str] = []
    reasons: list[str] = []
    given = _given(**choices)
    for method in ("lite",) if "compat" in given else fitting_methods(source, given.get("pyramid")):
        try:
            found = score(source, method, **given)
        except (UsageError, InputError) as error:
            reasons.append(f"{method}: {str(error).splitlines()[0]}")
            continue
        if measure is None or measure in found.measures:
            return method, found
        known += found.measures
    if measure is not None and known:
        check_choice("measure", measure, known)
    raise UsageError("\n".join(["the study cannot be scored by any method", *reasons]))


def _fitting_test(method: str, scores: ScoreTable, study: Study | None, topics: Collection[str] | None) -> Test:
    count = len(restricted("topic", scores.topics, topics)) if scores.topics else 0
    if count >= ENOUGH_TOPICS:
        return "permutation"
    return "mcnemar" if study is not None and count < 2 and method in KINDS else "tukey"


# ----------------------------------------------------------------------
# Which system is best, and how certain is that? Every system's mean over topics, its interval, and which systems do
# not differ.
#
# Intervals are percentile bootstraps over topics: would other topics of this kind give the same mean? Letters come
# from whichever significance test the caller ran: systems that share a letter do not differ.


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
    naming: Callable[[str], str] = str,
) -> Answer[Ranking]:
    """Rank the systems of a table by one measure. ``groups`` is the test whose letters are shown; ``naming`` says what
    the sentence and the figures call the measure."""
    chosen = choose_measures(measures_of(table), [measure or table.measures[0]])[0]
    data = grid([chosen], means="given")
    cells, means = data.cells[chosen.name], data.means[chosen.name]
    drawn = weighted_means(resampling_weights(np.random.default_rng(seed), len(cells), resamples), cells)
    letters = {} if groups is None else {r.system: r.group for r in groups.result.ranking}
    order = best_first(means, data.systems)
    number = (~np.isnan(cells)).sum(axis=0)
    given = _given_intervals(table, chosen.measure, confidence)
    systems = tuple(
        RankedSystem(
            place,
            data.systems[i],
            None if np.isnan(means[i]) else float(means[i]),
            given.get(data.systems[i]) or (percentile_interval(drawn[:, i], confidence) if number[i] > 1 else None),
            letters.get(data.systems[i], ""),
            int(number[i]),
        )
        for place, i in enumerate(order, 1)
    )
    result = Ranking(chosen.name, systems, "" if groups is None else groups.result.test)
    made = Signature.of(
        "ranking",
        of=table.signature.method,
        measure=chosen.name,
        **released(table),
        interval="given" if given else "percentile-over-topics",
        resamples=resamples,
        test=result.test or "none",
        seed=seed,
    )
    notes: tuple[Problem, ...] = data.notes if groups is None else (*data.notes, *groups.notes)
    name = naming(chosen.name)
    figures = (_figure(result, name), _heatmap(result, name, cells[:, order], data.topics)) if len(data.topics) else ()
    return Answer("ranking", _sentence(result, name, groups), (_table(result),), made, result, figures, notes)


def _given_intervals(table: ScoreTable, measure: str, confidence: float) -> dict[str, Interval]:
    """The intervals that an estimate brings along (see analysis/combine)."""
    low, high = (table.per_system(f"{measure}-{end}") for end in ("low", "high"))
    ends = {system: (low[system], high.get(system)) for system in low}
    return {s: Interval(a, b, confidence, 0) for s, (a, b) in ends.items() if a is not None and b is not None}


def _sentence(result: Ranking, name: str, groups: Answer[Significance] | None) -> str:
    best = result.systems[0]
    if best.mean is None:
        return f"No system has a score by {name}."
    topics = count(max(s.topics for s in result.systems), "topic")
    text = f"{best.system} ranks first by {name}: {best.mean:.3f} on {topics}."
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


def _figure(result: Ranking, name: str) -> Intervals:
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
    return Intervals(f"Systems by {name}", name, rows)


def _heatmap(result: Ranking, name: str, cells: np.ndarray, topics: tuple[str, ...]) -> Heatmap:
    values = tuple(tuple(None if np.isnan(v) else float(v) for v in column) for column in cells.T)
    known = [v for row in values for v in row if v is not None]
    names = tuple(s.system for s in result.systems)
    top = max([1.0 if max(known, default=0.0) <= 1 else 0.0, *known]) if known else 1.0
    return Heatmap(f"{name} of every summary", name, names, topics, values, min([0.0, *known]), top)
