"""Scores by assessor: every assessor's pyramid scores and ratings, as one long list.

Also the topics and peers that an analysis of assessors covers: Owczarzak et al. 2012 look at main and update topics
separately, and at systems with and without the people who wrote the references (AllPeers, NoModels).
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from pyramidion.analysis.answer import Cell, Table, count, listed
from pyramidion.analysis.inputs import Floats
from pyramidion.analysis.ratings import rated_aspects
from pyramidion.errors import Problem, Problems, UsageError, check_choice
from pyramidion.scoring.choice import choose, own_references
from pyramidion.scoring.pyramid import peer_scores
from pyramidion.stats.correlation import Kind, clustered_correlations, correlation, steiger, weighted_correlations
from pyramidion.stats.intervals import Interval, bootstrap_p, percentile_interval, resampling_weights
from pyramidion.study import Study

PYRAMID = "pyramid"
ALL_PEERS, NO_MODELS = "AllPeers", "NoModels"
Peers = Literal["both", "all", "no-models"]
SETS = {"main": re.compile(r".*[\d._-]A"), "update": re.compile(r".*[\d._-]B")}
"""TAC's two summaries of a topic, as told by their ids: D0801-A or D0801A-A or D0801A, and the same with B."""


@dataclass(frozen=True, slots=True)
class Given:
    """One assessor's score of one summary. ``year`` names the study it comes from."""

    kind: str
    year: str
    assessor: str
    topic: str
    system: str
    value: float


Studies = Study | Mapping[str, Study]


def by_year(studies: Studies) -> Mapping[str, Study]:
    return {"": studies} if isinstance(studies, Study) else studies


def given_scores(studies: Studies, *, pyramid: str | None = None) -> tuple[Given, ...]:
    """Modified pyramid scores from each assessor's own annotation, and every rating."""
    found = [score for year, study in by_year(studies).items() for score in _of_study(year, study, pyramid)]
    if not found:
        raise UsageError("nobody annotated a pyramid or rated a summary")
    return tuple(found)


def _of_study(year: str, study: Study, pyramid: str | None) -> Iterator[Given]:
    for assessor in annotators(study, pyramid):
        choice = choose(study, kind="expert", pyramid=pyramid, judges=assessor)
        for peer in peer_scores(choice, Problems()):
            if (value := peer.value("modified")) is not None:
                yield Given(PYRAMID, year, assessor, peer.topic, peer.system, value)
    judgments = study.judgments
    by_people = ~judgments.judge.is_in(study.judges_of("model"))
    for aspect in rated_aspects(study):
        rated = judgments.take(judgments.aspect.is_in({aspect}) & judgments.other.is_in({""}) & by_people)
        for j in sorted(rated, key=lambda j: (j.judge, j.topic, j.system, j.value or 0.0)):
            if j.value is not None:
                yield Given(aspect, year, j.judge, j.topic, j.system, j.value)


def annotators(study: Study, pyramid: str | None = None) -> Sequence[str]:
    """Who annotated peers against the expert pyramid; a model is not an assessor."""
    if not study.pyramids or (pyramid is None and "expert" not in study.pyramid_names):
        return ()
    choice = choose(study, kind="expert", pyramid=pyramid, judges="all")
    models = study.judges_of("model")
    experts = study.judges_of("expert")
    people = [name for name in choice.on_units.judge.present_names() if name not in models]
    return [name for name in people if name in experts] or people


def kinds_of(scores: Sequence[Given]) -> list[str]:
    return list(dict.fromkeys(score.kind for score in scores))


Cells = dict[tuple[str, str, str], float]


def cells_of(scores: Sequence[Given], kind: str, without: frozenset[str] = frozenset()) -> Cells:
    """The mean score of each summary (year, topic, system) over the assessors that are kept."""
    held: dict[tuple[str, str, str], list[float]] = {}
    for score in scores:
        if score.kind == kind and score.assessor not in without:
            held.setdefault((score.year, score.topic, score.system), []).append(score.value)
    return {key: float(np.mean(values)) for key, values in held.items()}


def system_means(cells: Cells) -> dict[tuple[str, str], float]:
    """Each system's mean over its summaries, by (year, system): systems of different years count as different
    systems."""
    held: dict[tuple[str, str], list[float]] = {}
    for (year, _, system), value in cells.items():
        held.setdefault((year, system), []).append(value)
    return {system: float(np.mean(values)) for system, values in held.items()}


# -- which topics, which peers -------------------------------------------------------------------------------------


def topic_set(study: Study, which: str | None, *, year: str = "") -> Study:
    """The study restricted to its main or update topics, or to topics whose id matches a pattern."""
    if which is None:
        return study
    known = SETS.get(which)
    kept = {
        topic.id
        for topic in study.topics
        if (known.fullmatch(topic.id) if known else fnmatch.fnmatchcase(topic.id, which))
    }
    if not kept:
        letter = "A" if which == "main" else "B"
        hint = (
            f"such ids end in {letter}, like D0801-{letter}" if known else "a set is main, update or a pattern: '*-B'"
        )
        have = listed([topic.id for topic in study.topics]) or "none"
        raise UsageError(
            f"{year + ': ' if year else ''}no topic belongs to the set {which!r} ({hint}); the topics are: {have}"
        )
    judgments = study.judgments
    return replace(
        study,
        topics=tuple(topic for topic in study.topics if topic.id in kept),
        summaries=tuple(summary for summary in study.summaries if summary.topic in kept),
        pyramids=tuple(pyramid for pyramid in study.pyramids if pyramid.topic in kept),
        judgments=judgments.take(judgments.topic.is_in(kept)),
        tasks=tuple(task for task in study.tasks if task.topic in kept),
        assignments=(),
    )


def topic_sets(studies: Mapping[str, Study], which: str | None) -> tuple[dict[str, Study], list[Problem]]:
    """Every year on its main or update topics, and which topics are neither."""
    kept = {year: topic_set(study, which, year=year) for year, study in studies.items()}
    notes: list[Problem] = []
    for year, study in studies.items() if which in SETS else ():
        neither = [t.id for t in study.topics if not any(known.fullmatch(t.id) for known in SETS.values())]
        if neither:
            what = f"left out, because their ids end neither in A (main) nor in B (update): {listed(neither)}"
            notes.append(Problem(f"{year + ', ' if year else ''}{count(len(neither), 'topic')}", what, "warning"))
    return kept, notes


Authors = frozenset[tuple[str, str]]


def human_peers(studies: Mapping[str, Study], human: Sequence[str] = ()) -> Authors:
    """The people among the peers, by (year, name): peers whose summaries are all references, or that match a
    pattern."""
    found: set[tuple[str, str]] = set()
    for year, study in studies.items():
        own = own_references(study)
        machines = {peer.system for peer in study.peers if (peer.topic, peer.system) not in own}
        found |= {(year, system) for system in study.systems if system not in machines}
    everybody = {(year, system) for year, study in studies.items() for system in study.systems}
    for pattern in human:
        named = {(year, system) for year, system in everybody if fnmatch.fnmatchcase(system, pattern)}
        if not named:
            have = listed(sorted({system for _, system in everybody}))
            raise UsageError(f"no peer matches {pattern!r}; give human peers by name or pattern; the peers are: {have}")
        found |= named
    return frozenset(found)


def peer_sets(
    studies: Mapping[str, Study], peers: Peers = "both", human: Sequence[str] = ()
) -> tuple[dict[str, Authors], list[Problem]]:
    """AllPeers and NoModels, each with the peers it leaves out; only the first if no peer is a person."""
    check_choice("peers", peers, get_args(Peers))
    people = human_peers(studies, human)
    sets: dict[str, Authors] = {ALL_PEERS: frozenset(), NO_MODELS: people}
    if peers == "all" or (peers == "both" and not people):
        del sets[NO_MODELS]
    if peers == "no-models":
        del sets[ALL_PEERS]
    if people or peers != "no-models":
        return sets, []
    what = "no peer is a person: no peer's text is also a reference; name people with --human"
    return sets, [Problem("peers", what, "warning")]


# ----------------------------------------------------------------------
# What leaving out the least consistent assessors does. Owczarzak et al. 2012, section 4, Tables 2 to 4.
#
# The ranking of systems without the k worst against that with all; and a metric's correlation with the manual scores
# before and after, at system level and at summary level (per assessor, then averaged).
#
# Is the correlation after another one than before? Both are taken over the same systems, so they depend on each
# other, and both sides of each change, so they share no variable: Steiger's test (Pearson, system level). And for
# every level and kind a bootstrap over systems, all summaries of a system together, of the difference after less
# before.

AUTO = "autoPyramid"
DECIMALS = 12
"""Further digits are rounding errors, which must not decide who is worse or how a correlation changed."""
Author = tuple[str, str]
Means = Mapping[Author, float]
Sides = tuple[Means, Means]
"""Manual scores and a metric's, by system."""


@dataclass(frozen=True, slots=True)
class Exclusion:
    """The effect of leaving out the ``k`` worst assessors by a criterion. ``level`` is ranking, system or summary.

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
    """The effect of exclusion for every criterion (assessors worst first). Alpha applies to its own kind of score;
    autoPyramid to pyramid scores."""
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
    """Rankings, then correlations with metrics. Years and sets of peers are columns if there are several."""
    sets = {e.peers for e in found}
    where = (*(("year",) if several else ()), *(("peers",) if sets - {ALL_PEERS} else ()))
    for level, title in (
        ("ranking", "Ranking of systems without the worst assessors, compared with the ranking by all"),
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
