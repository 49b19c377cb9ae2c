"""Are assessors consistent, and how do the least consistent ones affect the results? Owczarzak et al. 2012.

Two tests of an assessor: identical summaries of a topic should get the same score (Table 1: Krippendorff's alpha over
them, interval for pyramid scores and ordinal for ratings); and what was marked in one summary should be marked in the
others that say the same (Figure 1: the manual pyramid score minus the autoPyramid score, macro-averaged over topics).
Both within a year and over all years; then the effect of leaving out the k worst assessors (see exclusion).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from pyramidion.analysis.answer import Answer, Bars, Estimate, Figure, Table, count
from pyramidion.analysis.assessors import (
    AUTO,
    DECIMALS,
    PYRAMID,
    Authors,
    Cells,
    Exclusion,
    Given,
    Peers,
    Studies,
    annotators,
    by_year,
    exclusion_tables,
    exclusions,
    given_scores,
    kinds_of,
    peer_sets,
    topic_sets,
    year_cell,
)
from pyramidion.errors import Problem, Problems, UsageError
from pyramidion.judges.autoannotate import autoannotate
from pyramidion.scoring.choice import Choice, choose
from pyramidion.scoring.pyramid import peer_scores
from pyramidion.stats.alpha import Distance, alpha
from pyramidion.stats.correlation import MOST_COMPARED, Kind
from pyramidion.study import ScoreTable, Signature, Study

KINDS: tuple[Kind, ...] = ("pearson", "spearman", "kendall")


@dataclass(frozen=True, slots=True)
class AssessorConsistency:
    """One assessor on identical summaries: ``alpha`` is None if undefined; ``difference`` is the mean absolute
    difference. ``year`` is None for all years together; ``rank`` is the rank within the year."""

    kind: str
    assessor: str
    rank: int | None
    alpha: float | None
    groups: int
    difference: float | None
    year: str | None = None


class TopicGap(NamedTuple):
    topic: str
    difference: float


class SummaryGap(NamedTuple):
    topic: str
    system: str
    difference: float


@dataclass(frozen=True, slots=True)
class AutoDifference:
    """Manual minus autoPyramid score: per summary, and averaged over a topic's summaries and an assessor's topics.

    ``year`` is None for all years together.
    """

    assessor: str
    difference: float
    topics: tuple[TopicGap, ...]
    summaries: tuple[SummaryGap, ...]
    year: str | None = None


@dataclass(frozen=True)
class Consistency:
    identical: int
    assessors: tuple[AssessorConsistency, ...]
    auto: tuple[AutoDifference, ...]
    exclusions: tuple[Exclusion, ...]

    def ranking(self, kind: str, year: str | None = None) -> list[str]:
        """Assessors of a kind of score, the most consistent first; those without an alpha are not ranked."""
        mine = [a for a in self.assessors if a.kind == kind and a.year == year and a.rank is not None]
        return [a.assessor for a in sorted(mine, key=lambda a: a.rank or 0)]

    def auto_ranking(self, year: str | None = None) -> list[str]:
        """Assessors by manual minus autoPyramid score, the highest first."""
        mine = [a for a in self.auto if a.year == year]
        return [a.assessor for a in sorted(mine, key=lambda a: (-round(a.difference, DECIMALS), a.assessor))]

    def worst(self, year: str | None = None) -> dict[str, list[str]]:
        """By every criterion, a kind of score or autoPyramid: its assessors, the least consistent first."""
        kinds = dict.fromkeys(a.kind for a in self.assessors)
        found = {kind: self.ranking(kind, year)[::-1] for kind in kinds} | {AUTO: self.auto_ranking(year)[::-1]}
        return {criterion: names for criterion, names in found.items() if names}


def consistency(
    studies: Studies,
    metrics: ScoreTable | Mapping[str, ScoreTable] | None = None,
    *,
    pyramid: str | None = None,
    exclude: Sequence[int] = (1, 2),
    kinds: Sequence[Kind] = KINDS,
    topics: str | None = None,
    peers: Peers = "both",
    human: Sequence[str] = (),
    resamples: int = 1000,
    seed: int = 0,
) -> Answer[Consistency]:
    """Rank assessors by consistency and leave out the worst. Several studies (years) are given by name.

    ``metrics`` are score tables of the same summaries (one per year, with the same names), such as ROUGE-2. ``topics``
    is "main", "update" or a pattern. ``peers`` are those by which exclusion is evaluated: with ("all") and without
    ("no-models") people, that is peers that are also references or that ``human`` names.
    """
    if any(k < 1 for k in exclude):
        raise UsageError(f"cannot leave out {min(exclude)} assessors; give 1 or more")
    held, notes = topic_sets(by_year(studies), topics)
    sets, remarks = peer_sets(held, peers, human)
    scores = given_scores(held, pyramid=pyramid)
    groups = {year: identical_summaries(study) for year, study in held.items()}
    years: list[str | None] = [None, *(held if len(held) > 1 else ())]
    result = Consistency(
        sum(len(found) for found in groups.values()),
        tuple(_assessors(scores, groups, years)),
        tuple(_auto(held, pyramid, years)),
        (),
    )
    tables = _metric_cells(held, metrics)
    found = tuple(
        replace(each, year=year, peers=name)
        for year in years
        for name, out in sets.items()
        for each in exclusions(
            _kept(scores, year, out),
            result.worst(year),
            tables,
            exclude=sorted(set(exclude)),
            kinds=kinds,
            resamples=resamples,
            seed=seed,
        )
    )
    result = replace(result, exclusions=found)
    made = Signature.of(
        "consistency",
        identical="whitespace-normalised",
        alpha="interval+ordinal",
        auto="modified",
        years=len(held),
        topics=topics or "all",
        peers="+".join(sets),
        resamples=resamples,
        seed=seed,
    )
    return Answer(
        "consistency",
        _sentence(result),
        tuple(_tables(result)),
        made,
        result,
        tuple(_figures(result)),
        (*notes, *remarks, *_notes(result, exclude, resamples)),
    )


def _kept(scores: Sequence[Given], year: str | None, without: Authors) -> list[Given]:
    return [s for s in scores if year in (None, s.year) and (s.year, s.system) not in without]


def identical_summaries(study: Study) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Groups of two or more systems per topic whose summaries are the same after normalising whitespace."""
    found: dict[tuple[str, str], list[str]] = {}
    for peer in study.peers:
        if text := " ".join(peer.text.split()):
            found.setdefault((peer.topic, text), []).append(peer.system)
    return tuple((topic, tuple(sorted(same))) for (topic, _), same in sorted(found.items()) if len(same) > 1)


def _assessors(
    scores: Sequence[Given],
    groups: Mapping[str, Sequence[tuple[str, tuple[str, ...]]]],
    years: Sequence[str | None],
) -> Iterator[AssessorConsistency]:
    group_of = {
        (year, topic, system): number
        for number, (year, topic, same) in enumerate((y, t, s) for y, found in groups.items() for t, s in found)
        for system in same
    }
    for kind in kinds_of(scores):
        mine = [s for s in scores if s.kind == kind]
        found = [each for year in years for each in _of_year(kind, mine, group_of, year)]
        place = {each.assessor: number for number, each in enumerate(found) if each.year is None}
        yield from sorted(found, key=lambda each: (place[each.assessor], years.index(each.year)))


def _of_year(
    kind: str, scores: Sequence[Given], group_of: Mapping[tuple[str, str, str], int], year: str | None
) -> Iterator[AssessorConsistency]:
    """The assessors of one year, or of all, by rank; those who are not ranked come last."""
    distance: Distance = "interval" if kind == PYRAMID else "ordinal"
    rows: dict[str, list[tuple[int, float]]] = {}
    for s in scores:
        if year in (None, s.year):
            held = rows.setdefault(s.assessor, [])
            if (number := group_of.get((s.year, s.topic, s.system))) is not None:
                held.append((number, s.value))
    found = {name: alpha([g for g, _ in held], [v for _, v in held], distance=distance) for name, held in rows.items()}
    order = sorted((round(a.value, DECIMALS), name) for name, a in found.items() if a.value is not None)
    rank = {name: len(order) - place for place, (_, name) in enumerate(order)}
    for name in sorted(rows, key=lambda name: (rank.get(name, len(rows) + 1), name)):
        a = found[name]
        yield AssessorConsistency(kind, name, rank.get(name), a.value, a.items, _mean_gap(rows[name]), year)


def _mean_gap(rows: Sequence[tuple[int, float]]) -> float | None:
    """The mean absolute difference between the scores of identical summaries (Gillick and Liu 2010, Table 2)."""
    held: dict[int, list[float]] = {}
    for number, value in rows:
        held.setdefault(number, []).append(value)
    gaps = [abs(a - b) for values in held.values() for i, a in enumerate(values) for b in values[i + 1 :]]
    return float(np.mean(gaps)) if gaps else None


def _auto(studies: Mapping[str, Study], pyramid: str | None, years: Sequence[str | None]) -> Iterator[AutoDifference]:
    rows: dict[str, dict[str, dict[str, list[tuple[str, float]]]]] = {}
    for year, study in studies.items():
        for assessor in annotators(study, pyramid):
            choice = choose(study, kind="expert", pyramid=pyramid, judges=assessor)
            if not choice.on_units.evidence:
                continue
            manual = _modified(choice)
            marked = _modified(replace(choice, on_units=autoannotate(study, choice.on_units)))
            for (topic, system), value in sorted(manual.items()):
                if (topic, system) in marked:
                    topics = rows.setdefault(assessor, {}).setdefault(year, {})
                    topics.setdefault(topic, []).append((system, value - marked[topic, system]))
    for assessor, held in sorted(rows.items()):
        for scope in years:
            if scope is None or scope in held:
                yield _auto_difference(assessor, held, scope)


def _auto_difference(
    assessor: str, held: Mapping[str, Mapping[str, Sequence[tuple[str, float]]]], year: str | None
) -> AutoDifference:
    topics = {
        f"{when}/{topic}" if when and year is None else topic: gaps
        for when, found in held.items()
        if year in (None, when)
        for topic, gaps in sorted(found.items())
    }
    means = tuple(TopicGap(topic, float(np.mean([gap for _, gap in gaps]))) for topic, gaps in topics.items())
    summaries = tuple(SummaryGap(topic, system, gap) for topic, gaps in topics.items() for system, gap in gaps)
    return AutoDifference(assessor, float(np.mean([gap for _, gap in means])), means, summaries, year)


def _modified(choice: Choice) -> dict[tuple[str, str], float]:
    found = {(peer.topic, peer.system): peer.value("modified") for peer in peer_scores(choice, Problems())}
    return {key: value for key, value in found.items() if value is not None}


def _metric_cells(
    studies: Mapping[str, Study], metrics: ScoreTable | Mapping[str, ScoreTable] | None
) -> dict[str, Cells]:
    if metrics is None:
        return {}
    if isinstance(metrics, ScoreTable):
        metrics = {next(iter(studies)): metrics}
    if unknown := sorted(set(metrics) - set(studies)):
        raise UsageError(
            f"there are there are there are there are metrics for {', '.join(unknown)}, but the studies are: "
            f"{', '.join(studies)}"
        )
    found: dict[str, Cells] = {}
    for year, table in metrics.items():
        for measure in table.measures:
            for (topic, system), value in table.per_summary(measure).items():
                if value is not None:
                    found.setdefault(measure, {})[year, topic, system] = value
    return dict(sorted(found.items()))


# -- how people see it ---------------------------------------------------------------------------------------------


def _sentence(result: Consistency) -> str:
    parts = [
        f"{count(result.identical, 'set')} of identical summaries" if result.identical else "No identical summaries"
    ]
    for kind in dict.fromkeys(a.kind for a in result.assessors):
        ranking = result.ranking(kind)
        if len(ranking) > 1:
            parts.append(f"on {kind} {ranking[0]} is the most and {ranking[-1]} the least consistent assessor")
    auto = [a for a in result.auto if a.year is None]
    if auto:
        lowest = min(auto, key=lambda a: a.difference)
        which = "lowest" if len(auto) > 1 else f"{lowest.difference:+.3f}"
        value = f" ({lowest.difference:+.3f})" if len(auto) > 1 else ""
        parts.append(f"manual minus autoPyramid score is {which} for {lowest.assessor}{value}")
    tested = [e for e in result.exclusions if e.p is not None]
    if tested:
        changed = sum(e.p < 0.05 for e in tested if e.p is not None)
        parts.append(f"leaving out the worst changes {changed} of {len(tested)} correlations with metrics at p < .05")
    return "; ".join(parts) + "."


def _notes(result: Consistency, exclude: Sequence[int], resamples: int) -> Iterator[Problem]:
    if not result.identical:
        yield Problem("summaries", "no topic has two identical ones, so consistency on them is undefined", "warning")
    if not result.auto:
        yield Problem(AUTO, "needs evidence marked in peers; there is none", "warning")
    for a in result.assessors:
        if a.groups and a.alpha is None:
            what = f"the {count(a.groups, 'set')} of identical summaries all got the same score: alpha is undefined"
            yield Problem(f"assessor {a.assessor}, {a.kind}{f', {a.year}' if a.year else ''}", what, "warning")
    done = {(e.criterion, e.k) for e in result.exclusions if e.year is None}
    for criterion, names in result.worst().items():
        if left := [k for k in sorted(set(exclude)) if (criterion, k) not in done]:
            ranked = count(len(names), "assessor")
            what = f"{left[0]} or more cannot be left out: only {ranked} are ranked, and one must remain"
            yield Problem(f"worst by {criterion}", what, "warning")
    untested = [e for e in result.exclusions if e.level != "ranking" and e.p is None]
    if resamples and untested:
        what = (
            f"cannot be tested by the bootstrap: undefined in most resamples, or more than {MOST_COMPARED:,} summaries"
        )
        yield Problem(f"{count(len(untested), 'change')} of a correlation", what, "warning")


def _tables(result: Consistency) -> Iterator[Table]:
    several = any(a.year is not None for a in result.assessors)
    when = ("year",) if several else ()
    yield Table(
        "Assessors on identical summaries",
        ("score", "rank", "assessor", *when, "alpha", "sets", "mean |difference|"),
        tuple(
            (a.kind, a.rank, a.assessor, *year_cell(a.year, several), a.alpha, a.groups, a.difference)
            for a in result.assessors
        ),
        "Ranks are within the year, or over all years together." if several else "",
    )
    if result.auto:
        yield Table(
            "Manual minus autoPyramid score",
            ("assessor", *when, "difference", "topics", "summaries", "autoPyramid higher in"),
            tuple(
                (
                    a.assessor,
                    *year_cell(a.year, several),
                    a.difference,
                    len(a.topics),
                    len(a.summaries),
                    sum(gap < 0 for *_, gap in a.summaries),
                )
                for a in result.auto
            ),
            "Averaged over summaries, then topics. Below 0: content was marked elsewhere but not here.",
        )
    yield from exclusion_tables(result.exclusions, several)


def _figures(result: Consistency) -> Iterator[Figure]:
    auto = [a for a in result.auto if a.year is None]
    if auto:
        rows = tuple(Estimate(a.assessor, a.difference) for a in sorted(auto, key=lambda a: -a.difference))
        yield Bars("Manual minus autoPyramid score by assessor", "difference", rows)
    pooled = [a for a in result.assessors if a.year is None]
    for kind in dict.fromkeys(a.kind for a in pooled):
        mine = tuple(Estimate(a.assessor, a.alpha) for a in pooled if a.kind == kind and a.alpha is not None)
        if mine:
            yield Bars(f"Consistency on identical summaries: {kind}", "alpha", mine)
