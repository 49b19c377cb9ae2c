"""Which systems differ? Every pair of systems, tested on the same topics or on the same content units.

    permutation, bootstrap, wilcoxon   paired over topics, on any measure of a score table
    mcnemar, permutation, wilcoxon     paired over content units (Nenkova et al. 2007, section 2)
    tukey                              all pairs at once on score = a + judge + topic + system (Gillick and Liu 2010)

Pairs tested one by one are corrected by Holm's method; Tukey's test needs no correction. All are two-sided. Chance
never decides: p-values reach any tail (stats/paired), and pairs whose corrected p is within sampling error of the level
are tested again with more draws. If the data itself cannot give a p below the level, a note says so.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from pyramidion.analysis.answer import Answer, Estimate, Heatmap, Intervals, Table, count, listed
from pyramidion.analysis.inputs import (
    Floats,
    Tables,
    choose_measures,
    column_means,
    grid,
    measures_of,
    released,
    restricted,
)
from pyramidion.analysis.pair_tests import RESAMPLES, Correction, PairTests
from pyramidion.analysis.ratings import rated_aspects, ratings_of
from pyramidion.errors import Problem, UsageError, check_choice
from pyramidion.scoring.choice import choose
from pyramidion.scoring.unit_vectors import unit_vectors
from pyramidion.stats.paired import letter_groups, rightmost_different
from pyramidion.stats.tukey import Comparisons
from pyramidion.stats.tukey import tukey as tukey_comparisons
from pyramidion.study import ScoreTable, Signature, Study
from pyramidion.study.judgments import JudgeKind
from pyramidion.study.scores import best_first

TopicTest = Literal["permutation", "bootstrap", "wilcoxon"]
UnitTest = Literal["mcnemar", "permutation", "wilcoxon"]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two systems, the better one first. ``p`` is adjusted for the number of pairs; None where there is no test."""

    better: str
    worse: str
    difference: float | None
    p: float | None
    raw_p: float | None
    n: int
    significant: bool


@dataclass(frozen=True, slots=True)
class Ranked:
    """A system at its rank; ``rightmost`` is the last better system it differs from, ``group`` its letters."""

    rank: int
    system: str
    mean: float | None
    rightmost: str | None
    group: str
    n: int


@dataclass(frozen=True)
class Significance:
    measure: str
    test: str
    level: float
    ranking: tuple[Ranked, ...]
    pairs: tuple[Pair, ...]
    untested: int
    level_out_of_reach: tuple[Pair, ...] = ()
    """Pairs whose p is the smallest possible with so few items, but still not below the level after correction."""

    @property
    def significant(self) -> tuple[Pair, ...]:
        return tuple(pair for pair in self.pairs if pair.significant)


def significance(
    tables: Tables,
    *,
    measure: str | None = None,
    test: TopicTest = "permutation",
    correction: Correction = "holm",
    level: float = 0.05,
    systems: Collection[str] | None = None,
    topics: Collection[str] | None = None,
    resamples: int | None = None,
    seed: int = 0,
) -> Answer[Significance]:
    """Test every pair of systems on the topics both were scored on. ``systems`` and ``topics`` may be patterns."""
    check_choice("test", test, get_args(TopicTest))
    known = measures_of(tables)
    chosen = choose_measures(known, [measure or known[0].name])[0]
    data = grid([chosen], systems=systems, topics=topics)
    cells = data.cells[chosen.name]
    _enough(data.systems, len(data.topics), "topics", chosen.name)
    tests = PairTests(test, correction, level, resamples or RESAMPLES.get(test, 0), seed)
    result = _all_pairs(chosen.name, data.systems, cells.T, tests)
    made = Signature.of(
        "significance",
        measure=chosen.name,
        unit="topic",
        **released(chosen.table),
        **tests.choices(),
        **_restriction(systems, topics),
    )
    return _answer(result, made, (*data.notes, *_untested(result), *_out_of_reach(result, "topic")))


def unit_significance(
    study: Study,
    *,
    kind: JudgeKind = "expert",
    pyramid: str | None = None,
    judges: str | None = None,
    test: UnitTest = "mcnemar",
    correction: Correction = "holm",
    level: float = 0.05,
    systems: Collection[str] | None = None,
    topics: Collection[str] | None = None,
    resamples: int | None = None,
    seed: int = 0,
) -> Answer[Significance]:
    """Test every pair of systems on the content units both were judged on: each unit is an observation."""
    check_choice("test", test, get_args(UnitTest))
    choice = choose(study, kind=kind, pyramid=pyramid, judges=judges)
    judged = restricted("judged topic", choice.on_units.topic.present_names(), topics)
    vectors = unit_vectors(choice, judged)
    chosen = restricted("judged system", vectors, systems)
    units = sorted(set().union(*(vectors[system] for system in chosen)))
    _enough(chosen, len(units), "units", "the study")
    values = np.array([[vectors[system].get(unit, np.nan) for unit in units] for system in chosen])
    tests = PairTests(test, correction, level, resamples or RESAMPLES.get(test, 0), seed)
    result = _all_pairs("units expressed", chosen, values, tests)
    made = Signature.of(
        "significance",
        measure="units",
        unit="content-unit",
        pyramid=choice.pyramid,
        judges=choice.judges,
        **tests.choices(),
        **_restriction(systems, topics),
    )
    return _answer(result, made, (*choice.notes, *_untested(result), *_out_of_reach(result, "unit")))


def tukey(
    source: Study | ScoreTable,
    *,
    measure: str | None = None,
    factors: Sequence[str] | None = None,
    judges: str | None = None,
    systems: Collection[str] | None = None,
    topics: Collection[str] | None = None,
    level: float = 0.05,
) -> Answer[Significance]:
    """All pairs of systems by Tukey's test on a linear model with the other factors as indicators.

    Factors are judge and topic for the ratings in a study, topic for a score table; ``factors=()`` is the one-way test.
    """
    if isinstance(source, Study) and not rated_aspects(source):
        raise UsageError("the study has no ratings; score it first and ask about the score table")
    data = ratings_of(source, measure, judges=judges, systems=systems, topics=topics)
    known = ("judge", "topic") if data.judges else ("topic",)
    wanted = tuple(known if factors is None else factors)
    for factor in wanted:
        check_choice("factor", factor, known)
    _enough(data.systems, len(data.value), "scores", data.measure)
    codes = {"judge": data.judge, "topic": data.topic}
    found = tukey_comparisons(data.value, data.system, [codes[name] for name in wanted])
    plain = np.bincount(data.system, weights=data.value) / np.bincount(data.system)
    means = plain if np.isnan(found.effects).any() else found.effects
    number = np.bincount(data.system)
    order = best_first(means, data.systems)
    raw = _upper(found.p)
    result = _significance(
        data.measure, "tukey", level, data.systems, means, order, found.difference, raw, raw, number[:, None] + number
    )
    model = " + ".join(["a", *wanted, "system"])
    made = Signature.of(
        "significance",
        measure=data.measure,
        test="tukey",
        model=model.replace(" ", ""),
        level=level,
        **(released(source) if isinstance(source, ScoreTable) else {}),
        **_restriction(systems, topics),
    )
    return _answer(result, made, (*data.notes, *_untested(result), *_about_model(found, model)))


def _restriction(systems: Collection[str] | None, topics: Collection[str] | None) -> dict[str, object]:
    """The part of the signature for a restriction to some systems or topics."""
    chosen = {"systems": systems, "topics": topics}
    return {name: [each.replace("|", "/") for each in held] for name, held in chosen.items() if held is not None}


def _upper(matrix: Floats) -> Floats:
    return np.asarray(matrix[np.triu_indices(len(matrix), 1)])


def _about_model(found: Comparisons, model: str) -> list[Problem]:
    notes = []
    if found.df < 1:
        notes.append(Problem(f"model {model}", "has no degrees of freedom left, so nothing can be tested", "warning"))
    elif found.rank < found.columns - model.count("+"):  # an indicator a level is one too many in every factor
        what = (
            f"the design is rank-deficient ({found.columns} columns, rank {found.rank}): judges, topics and systems "
            "are not all linked; differences that the data determines are tested nevertheless"
        )
        notes.append(Problem(f"model {model}", what, "warning"))
    return notes


def _enough(systems: Sequence[str], items: int, noun: str, where: str) -> None:
    if len(systems) < 2:
        raise UsageError(f"{where}: a comparison needs at least 2 systems; there is {listed(list(systems)) or 'none'}")
    if items < 2:
        raise UsageError(f"{where}: a test needs at least 2 {noun}, not {items}")


def _all_pairs(measure: str, systems: tuple[str, ...], values: Floats, tests: PairTests) -> Significance:
    """``values`` is systems x items. A pair is tested on the items both have."""
    first, second = np.triu_indices(len(systems), 1)
    gaps = values[first] - values[second]
    shared = (~np.isnan(gaps)).sum(axis=1)
    raw = np.full(len(gaps), np.nan)
    rows = shared > 1
    raw[rows] = tests.p_values(gaps[rows])
    adjusted = tests.corrected(raw)
    means = column_means(values.T)
    order = best_first(means, systems)
    difference = np.full((len(systems), len(systems)), np.nan)
    defined = shared > 0
    difference[first[defined], second[defined]] = np.nansum(gaps[defined], axis=1) / shared[defined]
    difference = np.where(np.isnan(difference), -difference.T, difference)
    number = np.zeros((len(systems), len(systems)), dtype=np.int64)
    number[first, second] = number[second, first] = shared
    found = _significance(measure, tests.test, tests.level, systems, means, order, difference, raw, adjusted, number)
    least = np.where(rows, 2.0 ** (1 - (np.nan_to_num(gaps) != 0).sum(axis=1)), np.nan)
    if tests.test == "bootstrap":
        return found
    stuck = (raw <= least * 1.001) & (least < 1) & (adjusted >= tests.level)
    names = {frozenset((systems[i], systems[j])) for i, j in zip(first[stuck], second[stuck], strict=True)}
    return replace(found, level_out_of_reach=tuple(p for p in found.pairs if frozenset((p.better, p.worse)) in names))


def _significance(
    measure: str,
    test: str,
    level: float,
    systems: tuple[str, ...],
    means: Floats,
    order: Sequence[int],
    difference: Floats,
    raw: Floats,
    adjusted: Floats,
    number: NDArray[np.int64],
) -> Significance:
    """Everything in the order of ranks. ``raw`` and ``adjusted`` are p-values of the pairs above the diagonal."""
    p, unadjusted = (np.full(difference.shape, np.nan) for _ in range(2))
    for matrix, values in ((p, adjusted), (unadjusted, raw)):
        matrix[np.triu_indices(len(systems), 1)] = values
        matrix.T[np.triu_indices(len(systems), 1)] = values
    differ = (p < level)[np.ix_(order, order)]
    rightmost, letters = rightmost_different(differ), letter_groups(differ)
    names = [systems[i] for i in order]
    ranking = tuple(
        Ranked(
            place + 1,
            names[place],
            _or_none(means[i]),
            None if (at := rightmost[place]) is None else names[at],
            letters[place],
            int(number[i].max()),
        )
        for place, i in enumerate(order)
    )
    pairs = tuple(
        Pair(
            systems[i],
            systems[j],
            _or_none(difference[i, j]),
            _or_none(p[i, j]),
            _or_none(unadjusted[i, j]),
            int(number[i, j]),
            bool(p[i, j] < level),
        )
        for place, i in enumerate(order)
        for j in order[place + 1 :]
    )
    return Significance(measure, test, level, ranking, pairs, sum(pair.p is None for pair in pairs))


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _untested(result: Significance) -> list[Problem]:
    if not result.untested:
        return []
    some = [f"{pair.better} and {pair.worse}" for pair in result.pairs if pair.p is None]
    what = f"could not be tested, because the data does not link them: {listed(some, 3)}"
    return [Problem(count(result.untested, "pair"), what, "warning")]


def _out_of_reach(result: Significance, noun: str) -> list[Problem]:
    """With few items the smallest p that a rank or sign test can give is above the level: say so instead of "no
    difference"."""
    most = max((pair.n for pair in result.pairs), default=0)
    tested = len(result.pairs) - result.untested
    corrected = any(pair.p != pair.raw_p for pair in result.pairs)
    least = 2.0 ** (1 - most) * (tested if corrected else 1)
    instead = "a test on units (--units) or Tukey's (--test tukey) can" if noun == "topic" else "more units can"
    if result.test != "bootstrap" and least >= result.level:
        times = f" before the correction for {count(tested, 'pair')}" if corrected else ""
        what = f"no {result.test} test can be significant: p is at least {2.0 ** (1 - most):.3g}{times}; {instead}"
        return [Problem(count(most, noun), what, "warning")]
    if stuck := result.level_out_of_reach:
        some = listed([f"{pair.better} and {pair.worse}" for pair in stuck], 3)
        what = f"differ on too few {noun}s to be significant: {some}; {instead}"
        return [Problem(count(len(stuck), "pair"), what, "warning")]
    return []


# -- how people see it ---------------------------------------------------------------------------------------------


def _answer(result: Significance, signature: Signature, notes: tuple[Problem, ...]) -> Answer[Significance]:
    ranking = Table(
        f"Ranking by {result.measure}",
        ("rank", "system", "mean", "differs from", "group"),
        tuple((r.rank, r.system, r.mean, r.rightmost or "", r.group) for r in result.ranking),
        "differs from: the lowest of the better-ranked systems that is significantly better. "
        "group: systems that share a letter do not differ.",
    )
    corrected = any(pair.p != pair.raw_p for pair in result.pairs)
    pairs = Table(
        f"Pairs of systems, {result.test}",
        ("better", "worse", "difference", *(("p", "uncorrected p") if corrected else ("p",)), "n", "significant"),
        tuple(
            (p.better, p.worse, p.difference, *((p.p, p.raw_p) if corrected else (p.p,)), p.n, p.significant)
            for p in result.pairs
        ),
    )
    names = [r.system for r in result.ranking]
    return Answer(
        "significance",
        _sentence(result),
        (ranking, pairs),
        signature,
        result,
        (_means(result), _matrix(result, names)),
        notes,
    )


def _sentence(result: Significance) -> str:
    found, tested = len(result.significant), len(result.pairs) - result.untested
    best = result.ranking[0]
    worse = {pair.worse for pair in result.significant if pair.better == best.system}
    equals = [r.system for r in result.ranking[1:] if r.system not in worse]
    text = (
        f"{found:,} of {count(tested, 'pair')} of systems differ significantly in {result.measure} "
        f"({result.test}, level {result.level:g}). "
    )
    if not equals:
        return text + f"{best.system} is better than every other system."
    return text + f"{best.system} is best, but not significantly better than {listed(equals)}."


def _means(result: Significance) -> Intervals:
    rows = tuple(Estimate(r.system, r.mean, label=r.group) for r in result.ranking)
    return Intervals(f"{result.measure}: systems that share a letter do not differ", result.measure, rows)


def _matrix(result: Significance, names: list[str]) -> Heatmap:
    p = {(pair.better, pair.worse): pair.p for pair in result.pairs}
    values = tuple(tuple(p.get((a, b), p.get((b, a))) for b in names) for a in names)
    return Heatmap(f"{result.measure}: p-values, {result.test}", "p", tuple(names), tuple(names), values)
