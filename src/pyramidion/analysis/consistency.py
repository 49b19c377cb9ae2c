"""Are assessors consistent, and what do the least consistent ones do to the results? Owczarzak et al. 2012.

Two tests of an assessor: identical summaries of a topic should get the same score (Table 1: Krippendorff's alpha over
them, interval for pyramid scores and ordinal for ratings); and what was marked in one summary should be marked in the
others that say the same (Figure 1: the manual pyramid score less the autoPyramid score, macro-averaged over topics).

Then the effect of leaving out the k worst assessors: on the ranking of systems (Table 2), and on any metric's
correlation with the manual scores at system level (Table 3) and at summary level, averaged over assessors (Table 4).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pyramidion.analysis.answer import Answer, Cell, Table, count
from pyramidion.analysis.assessors import (
    PYRAMID,
    Cells,
    Given,
    Studies,
    annotators,
    by_year,
    cells_of,
    given_scores,
    kinds_of,
    system_means,
)
from pyramidion.analysis.figures import Bars, Estimate, Figure
from pyramidion.errors import Problem, UsageError
from pyramidion.methods.aggregate import majority
from pyramidion.methods.autoannotate import autoannotate
from pyramidion.methods.choice import choose
from pyramidion.methods.pyramid import PeerScore
from pyramidion.model import Judgments, Pyramid, ScoreTable, Signature, Study
from pyramidion.stats.alpha import Distance, alpha
from pyramidion.stats.correlation import Kind, correlation

KINDS: tuple[Kind, ...] = ("pearson", "spearman", "kendall")


@dataclass(frozen=True, slots=True)
class AssessorConsistency:
    """One assessor on identical summaries: ``alpha`` None where undefined; ``difference`` is the mean absolute one."""

    kind: str
    assessor: str
    rank: int | None
    alpha: float | None
    groups: int
    difference: float | None


class TopicGap(NamedTuple):
    topic: str
    difference: float


class SummaryGap(NamedTuple):
    topic: str
    system: str
    difference: float


@dataclass(frozen=True, slots=True)
class AutoDifference:
    """Manual less autoPyramid score: per summary, and averaged over a topic's summaries and an assessor's topics."""

    assessor: str
    difference: float
    topics: tuple[TopicGap, ...]
    summaries: tuple[SummaryGap, ...]


@dataclass(frozen=True, slots=True)
class Exclusion:
    """What happens without the ``k`` worst assessors by a criterion. ``level`` is ranking, system or summary."""

    criterion: str
    kind: str
    level: str
    metric: str
    correlation: str
    k: int
    excluded: tuple[str, ...]
    r: float | None
    before: float | None


@dataclass(frozen=True)
class Consistency:
    identical: int
    assessors: tuple[AssessorConsistency, ...]
    auto: tuple[AutoDifference, ...]
    exclusions: tuple[Exclusion, ...]

    def ranking(self, kind: str) -> list[str]:
        """Assessors of a kind of score, the most consistent first; those without an alpha are not ranked."""
        mine = [a for a in self.assessors if a.kind == kind and a.rank is not None]
        return [a.assessor for a in sorted(mine, key=lambda a: a.rank or 0)]


def consistency(
    studies: Studies,
    metrics: ScoreTable | Mapping[str, ScoreTable] | None = None,
    *,
    pyramid: str | None = None,
    exclude: Sequence[int] = (1, 2),
    kinds: Sequence[Kind] = KINDS,
) -> Answer[Consistency]:
    """Rank assessors by consistency and leave out the worst. Several studies (years) are given by name.

    ``metrics`` are score tables of the same summaries (one a year, by the same names): ROUGE-2, or any.
    """
    held = by_year(studies)
    scores = given_scores(held, pyramid=pyramid)
    groups = {year: identical_summaries(study) for year, study in held.items()}
    assessors = tuple(_assessors(scores, groups))
    auto = tuple(_auto(held, pyramid))
    criteria = {kind: _worst_by_alpha(assessors, kind) for kind in kinds_of(scores)}
    if auto:
        criteria["autoPyramid"] = [a.assessor for a in sorted(auto, key=lambda a: a.difference)]
    tables = _metric_cells(held, metrics)
    exclusions = tuple(
        found
        for criterion, worst in criteria.items()
        for found in _exclusions(scores, criterion, worst, tables, exclude, kinds)
    )
    identical = sum(len(found) for found in groups.values())
    result = Consistency(identical, assessors, auto, exclusions)
    made = Signature.of(
        "consistency", identical="whitespace-normalised", alpha="interval+ordinal", auto="modified", years=len(held)
    )
    notes = tuple(_notes(result))
    return Answer(
        "consistency", _sentence(result), tuple(_tables(result)), made, result, tuple(_figures(result)), notes
    )


def identical_summaries(study: Study) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Topics with the systems whose summaries are the same after normalising whitespace; two or more each."""
    found: dict[tuple[str, str], list[str]] = {}
    for peer in study.peers:
        if text := " ".join(peer.text.split()):
            found.setdefault((peer.topic, text), []).append(peer.system)
    return tuple((topic, tuple(sorted(same))) for (topic, _), same in sorted(found.items()) if len(same) > 1)


def _assessors(
    scores: Sequence[Given], groups: Mapping[str, Sequence[tuple[str, tuple[str, ...]]]]
) -> Iterator[AssessorConsistency]:
    group_of = {
        (year, topic, system): number
        for number, (year, topic, same) in enumerate((y, t, s) for y, found in groups.items() for t, s in found)
        for system in same
    }
    for kind in kinds_of(scores):
        distance: Distance = "interval" if kind == PYRAMID else "ordinal"
        rows: dict[str, list[tuple[int, float]]] = {s.assessor: [] for s in scores if s.kind == kind}
        for s in scores:
            if s.kind == kind and (number := group_of.get((s.year, s.topic, s.system))) is not None:
                rows[s.assessor].append((number, s.value))
        found = {
            name: alpha([g for g, _ in held], [v for _, v in held], distance=distance) for name, held in rows.items()
        }
        order = sorted((a.value, name) for name, a in found.items() if a.value is not None)
        rank = {name: len(order) - place for place, (_, name) in enumerate(order)}
        for name in sorted(rows, key=lambda name: (rank.get(name, len(rows) + 1), name)):
            a = found[name]
            yield AssessorConsistency(kind, name, rank.get(name), a.value, a.items, _mean_gap(rows[name]))


def _mean_gap(rows: Sequence[tuple[int, float]]) -> float | None:
    """The mean absolute difference between the scores of identical summaries (Gillick and Liu 2010, Table 2)."""
    held: dict[int, list[float]] = {}
    for number, value in rows:
        held.setdefault(number, []).append(value)
    gaps = [abs(a - b) for values in held.values() for i, a in enumerate(values) for b in values[i + 1 :]]
    return float(np.mean(gaps)) if gaps else None


def _auto(studies: Mapping[str, Study], pyramid: str | None) -> Iterator[AutoDifference]:
    rows: dict[str, dict[str, list[tuple[str, float]]]] = {}
    for year, study in studies.items():
        for assessor in annotators(study, pyramid):
            choice = choose(study, kind="expert", pyramid=pyramid, judges=assessor)
            if not choice.on_units.evidence:
                continue
            manual, marked = (
                _modified(choice.pyramids, js) for js in (choice.on_units, autoannotate(study, choice.on_units))
            )
            for (topic, system), value in sorted(manual.items()):
                place = f"{year}/{topic}" if year else topic
                if (topic, system) in marked:
                    rows.setdefault(assessor, {}).setdefault(place, []).append((system, value - marked[topic, system]))
    for assessor, topics in sorted(rows.items()):
        means = tuple(
            TopicGap(topic, float(np.mean([gap for _, gap in held]))) for topic, held in sorted(topics.items())
        )
        summaries = tuple(
            SummaryGap(topic, system, gap) for topic, held in sorted(topics.items()) for system, gap in held
        )
        yield AutoDifference(assessor, float(np.mean([gap for _, gap in means])), means, summaries)


def _modified(pyramids: Mapping[str, Pyramid], judgments: Judgments) -> dict[tuple[str, str], float]:
    counts: dict[tuple[str, str], dict[str, float]] = {}
    for j in majority(judgments):
        if j.value is not None:
            counts.setdefault((j.topic, j.system), {})[j.unit] = j.value
    found = {key: PeerScore(pyramids[key[0]], expressed).modified for key, expressed in counts.items()}
    return {key: value for key, value in found.items() if value is not None}


# -- leaving out the worst -----------------------------------------------------------------------------------------


def _worst_by_alpha(assessors: Sequence[AssessorConsistency], kind: str) -> list[str]:
    ranked = [a for a in assessors if a.kind == kind and a.rank is not None]
    return [a.assessor for a in sorted(ranked, key=lambda a: -(a.rank or 0))]


def _metric_cells(
    studies: Mapping[str, Study], metrics: ScoreTable | Mapping[str, ScoreTable] | None
) -> dict[str, Cells]:
    if metrics is None:
        return {}
    if isinstance(metrics, ScoreTable):
        metrics = {next(iter(studies)): metrics}
    if unknown := sorted(set(metrics) - set(studies)):
        raise UsageError(f"metrics for {', '.join(unknown)}, but the studies are: {', '.join(studies)}")
    found: dict[str, Cells] = {}
    for year, table in metrics.items():
        for measure in table.measures:
            for (topic, system), value in table.per_summary(measure).items():
                if value is not None:
                    found.setdefault(measure, {})[year, topic, system] = value
    return found


def _exclusions(
    scores: Sequence[Given],
    criterion: str,
    worst: Sequence[str],
    metrics: Mapping[str, Cells],
    exclude: Sequence[int],
    kinds: Sequence[Kind],
) -> Iterator[Exclusion]:
    """A criterion judges its own kind of score; autoPyramid judges the pyramid."""
    kind = PYRAMID if criterion == "autoPyramid" else criterion
    everybody = {s.assessor for s in scores if s.kind == kind}
    for k in exclude:
        out = frozenset(worst[:k])
        if len(out) < k or len(everybody - out) < 1:
            continue
        named = tuple(worst[:k])
        for how in kinds:
            full, left = (system_means(cells_of(scores, kind, without)) for without in (frozenset(), out))
            yield Exclusion(criterion, kind, "ranking", "", how, k, named, _related(full, left, how), 1.0)
            for metric, cells in metrics.items():
                before, after = (_system_level(scores, kind, cells, how, w) for w in (frozenset(), out))
                yield Exclusion(criterion, kind, "system", metric, how, k, named, after, before)
                before, after = (_summary_level(scores, kind, cells, how, w) for w in (frozenset(), out))
                yield Exclusion(criterion, kind, "summary", metric, how, k, named, after, before)


def _related(first: Mapping[str, float], second: Mapping[str, float], how: Kind) -> float | None:
    shared = sorted(first.keys() & second.keys())
    return correlation([first[s] for s in shared], [second[s] for s in shared], how).r


def _system_level(
    scores: Sequence[Given], kind: str, metric: Cells, how: Kind, without: frozenset[str]
) -> float | None:
    """Of system means over the topics whose assessors are kept; the metric is averaged over the same summaries."""
    cells = cells_of(scores, kind, without)
    shared = cells.keys() & metric.keys()
    manual, automatic = ({key: part[key] for key in shared} for part in (cells, metric))
    return _related(system_means(manual), system_means(automatic), how)


def _summary_level(
    scores: Sequence[Given], kind: str, metric: Cells, how: Kind, without: frozenset[str]
) -> float | None:
    """The mean over assessors of the correlation over all the summaries an assessor scored."""
    held: dict[str, list[tuple[float, float]]] = {}
    for s in scores:
        key = (s.year, s.topic, s.system)
        if s.kind == kind and s.assessor not in without and key in metric:
            held.setdefault(s.assessor, []).append((s.value, metric[key]))
    each = [correlation([a for a, _ in pairs], [b for _, b in pairs], how).r for pairs in held.values()]
    defined = [r for r in each if r is not None]
    return float(np.mean(defined)) if defined else None


# -- how people see it ---------------------------------------------------------------------------------------------


def _sentence(result: Consistency) -> str:
    parts = [
        f"{count(result.identical, 'set')} of identical summaries" if result.identical else "No identical summaries"
    ]
    for kind in dict.fromkeys(a.kind for a in result.assessors):
        ranking = result.ranking(kind)
        if len(ranking) > 1:
            parts.append(f"on {kind} {ranking[0]} is the most and {ranking[-1]} the least consistent assessor")
    if result.auto:
        lowest = min(result.auto, key=lambda a: a.difference)
        which = "lowest" if len(result.auto) > 1 else f"{lowest.difference:+.3f}"
        value = f" ({lowest.difference:+.3f})" if len(result.auto) > 1 else ""
        parts.append(f"manual less autoPyramid score is {which} for {lowest.assessor}{value}")
    return "; ".join(parts) + "."


def _notes(result: Consistency) -> Iterator[Problem]:
    if not result.identical:
        yield Problem("summaries", "no two of a topic are identical, so consistency on them is undefined", "warning")
    if not result.auto:
        yield Problem("autoPyramid", "needs evidence marked in peers; there is none", "warning")
    lone = [a for a in result.assessors if a.groups and a.alpha is None]
    for a in lone:
        what = f"the {count(a.groups, 'set')} of identical summaries got one and the same score: alpha is undefined"
        yield Problem(f"assessor {a.assessor}, {a.kind}", what, "warning")


def _tables(result: Consistency) -> Iterator[Table]:
    yield Table(
        "Assessors on identical summaries",
        ("score", "rank", "assessor", "alpha", "sets", "mean |difference|"),
        tuple((a.kind, a.rank, a.assessor, a.alpha, a.groups, a.difference) for a in result.assessors),
    )
    if result.auto:
        yield Table(
            "Manual less autoPyramid score",
            ("assessor", "difference", "topics", "summaries", "autoPyramid higher in"),
            tuple(
                (a.assessor, a.difference, len(a.topics), len(a.summaries), sum(gap < 0 for *_, gap in a.summaries))
                for a in result.auto
            ),
            "Averaged over summaries, then topics. Below 0: content was marked elsewhere but not here.",
        )
    for level, title in (
        ("ranking", "Ranking of systems without the worst assessors, against that with all"),
        ("system", "Correlation with metrics, systems"),
        ("summary", "Correlation with metrics, summaries (mean over assessors)"),
    ):
        rows: list[tuple[Cell, ...]] = [
            (
                e.criterion,
                *((e.metric,) if e.metric else ()),
                e.correlation,
                e.k,
                ", ".join(e.excluded),
                *((e.before,) if e.metric else ()),
                e.r,
            )
            for e in result.exclusions
            if e.level == level
        ]
        names = ("metric",) if level != "ranking" else ()
        before = ("with all",) if level != "ranking" else ()
        if rows:
            columns = ("worst by", *names, "kind", "k", "without", *before, "r")
            yield Table(title, columns, tuple(rows))


def _figures(result: Consistency) -> Iterator[Figure]:
    if result.auto:
        rows = tuple(Estimate(a.assessor, a.difference) for a in sorted(result.auto, key=lambda a: -a.difference))
        yield Bars("Manual less autoPyramid score by assessor", "difference", rows)
    for kind in dict.fromkeys(a.kind for a in result.assessors):
        mine = tuple(Estimate(a.assessor, a.alpha) for a in result.assessors if a.kind == kind and a.alpha is not None)
        if mine:
            yield Bars(f"Consistency on identical summaries: {kind}", "alpha", mine)
