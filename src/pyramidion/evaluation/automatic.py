"""Automatic evaluation of studies: pyramids from references, judgments and scores of peers, no people needed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, fields, replace
from itertools import chain, count
from multiprocessing import get_context
from typing import Any

from pyramidion.errors import InputError, Problem, UsageError, check_choice
from pyramidion.evaluation.choices import Choices
from pyramidion.evaluation.evaluator import Evaluator, ScoredPeer
from pyramidion.evaluation.jobs import TopicJob, foreign, human_peers, topic_jobs, without_references
from pyramidion.evaluation.log import peer_lines, pyramid_lines
from pyramidion.evaluation.scores import MEASURES, NO_SCORES, PeerScores
from pyramidion.pyramids.build import NAME, BuiltPyramid
from pyramidion.scoring.choice import own_references
from pyramidion.scoring.methods import AUTO, auto_pyramid
from pyramidion.scoring.missing import unscored
from pyramidion.scoring.pyramid import score as score_by_judgments
from pyramidion.study import (
    UNMATCHED,
    Judge,
    Judgment,
    Judgments,
    Pyramid,
    Score,
    ScoreTable,
    Signature,
    Study,
    Summary,
    Topic,
)
from pyramidion.study.judgments import JudgmentsBuilder

JUDGE = Judge(AUTO, "model")
Advance = Callable[[int], None]


@dataclass(frozen=True)
class TopicResult:
    """A topic's pyramid, its peers' scores and, where asked for, judgments and a log."""

    topic: str
    pyramid: Pyramid
    scores: tuple[Score, ...]
    judgments: Judgments = field(default_factory=Judgments)
    log: str = ""
    notes: tuple[Problem, ...] = ()
    built: bool = True


@dataclass(frozen=True)
class Evaluation:
    """Scores, and the study with the pyramids and judgments behind them."""

    table: ScoreTable
    study: Study = field(repr=False)
    log: str = field(repr=False, default="")


def run_topic(job: TopicJob, evaluator: Evaluator, advance: Advance = lambda _: None) -> TopicResult:
    """Build the pyramid, where there is none, and score the peers."""
    built = _built(job, evaluator)
    advance(1)
    log = list(pyramid_lines(built, job.references)) if job.explain else []
    found: dict[str, PeerScores] = dict.fromkeys(job.peers, NO_SCORES)
    judgments = JudgmentsBuilder()
    for own, peers in job.peers_by_own_reference().items():
        pyramid = built.pyramid.without(own) if own else built.pyramid
        if own and not pyramid.units:
            advance(len(peers))
            continue
        prepared = evaluator.prepare(pyramid, job.references)
        for peer in evaluator.score(prepared, peers):
            found[peer.system] = peer.scores
            if job.explain:
                for judgment in _judgments(prepared.pyramid, peer):
                    judgments.add(judgment)
                log += peer_lines(prepared.pyramid, peer, job.peers[peer.system], own)
            advance(1)
    scores = (Score(job.topic, system, m, v) for system in found for m, v in zip(MEASURES, found[system], strict=True))
    text = "\n".join([*log, ""]) if log else ""
    return TopicResult(
        job.topic, built.pyramid, tuple(scores), judgments.build(), text, built.notes, job.pyramid is None
    )


def _built(job: TopicJob, evaluator: Evaluator) -> BuiltPyramid:
    if job.pyramid is not None:
        return BuiltPyramid(job.pyramid, evaluator.choices.floor or 0.0)
    return evaluator.build(job.topic, job.references, name=job.name)


def _judgments(pyramid: Pyramid, peer: ScoredPeer) -> Iterator[Judgment]:
    """The degree of each unit, with where it is said; and how much of the peer is not in the pyramid, and what."""
    where = {each.unit: each.mention for each in peer.judged.found}
    for number, (unit, degree) in enumerate(zip(pyramid.units, peer.judged.degrees, strict=True)):
        evidence = (where[number],) if where.get(number) else ()
        yield Judgment(pyramid.topic, peer.system, JUDGE.id, degree, unit=unit.id, evidence=evidence)
    outside = peer.judged.outside
    yield Judgment(pyramid.topic, peer.system, JUDGE.id, float(len(outside)), aspect=UNMATCHED, evidence=outside)


# -- many topics ---------------------------------------------------------------------------------------------


def run_topics(
    jobs: Sequence[TopicJob], choices: Choices, *, processes: int = 1, advance: Advance = lambda _: None
) -> Iterator[TopicResult]:
    """Topic by topic, in order. One process uses all cores for encoding; more help where partitioning takes long."""
    if processes <= 1 or len(jobs) < 2:
        evaluator = Evaluator(choices) if jobs else None
        for job in jobs:
            assert evaluator is not None
            yield run_topic(job, evaluator, advance)
        return
    threads = max(1, (os.cpu_count() or 1) // processes)
    with ProcessPoolExecutor(processes, get_context("spawn"), _start, (choices, threads)) as pool:
        for job, result in zip(jobs, pool.map(_run_here, jobs), strict=True):
            advance(job.size)
            yield result


_here: list[Evaluator] = []
"""A process of a pool keeps its evaluator here."""


def _start(choices: Choices, threads: int) -> None:
    _here[:] = [Evaluator(choices, threads=threads)]


def _run_here(job: TopicJob) -> TopicResult:
    return run_topic(job, _here[0])


# -- studies -------------------------------------------------------------------------------------------------


def build_pyramids(
    study: Study,
    choices: Choices | None = None,
    *,
    name: str = NAME,
    processes: int = 1,
    advance: Advance = lambda _: None,
) -> Study:
    """The study with a pyramid for each topic; one that was built under the name is replaced. ``notes`` says what came
    up."""
    jobs = topic_jobs(study, pyramid=name, peers=False, rebuild=True)
    results = list(run_topics(jobs, choices or Choices(), processes=processes, advance=advance))
    notes = [*foreign(study), *without_references(study, jobs, peers=False), *set_aside(study, results)[1]]
    notes += [note for result in results for note in result.notes]
    return replace(with_results(study, results), notes=(*study.notes, *notes))


def evaluate_study(
    study: Study,
    choices: Choices | None = None,
    *,
    pyramid: str | None = None,
    explain: bool = True,
    processes: int = 1,
    advance: Advance = lambda _: None,
) -> Evaluation:
    """Score all peers against the pyramids that were built for this, or those of a name, an expert's as well; missing
    ones are built.

    ``explain`` keeps judgments and a log; without it, memory stays small however many peers there are.
    """
    choices = choices or Choices()
    check_pyramid(study, pyramid)
    jobs = topic_jobs(study, pyramid=pyramid, explain=explain)
    results = list(run_topics(jobs, choices, processes=processes, advance=advance))
    return assembled(study, choices, jobs, results)


def check_pyramid(study: Study, name: str | None) -> None:
    """Only pyramids under our own name are built; a wrong name must not quietly give another pyramid."""
    if name not in {None, NAME, *study.pyramid_names}:
        known = ", ".join(study.pyramid_names) or "none"
        raise UsageError(f"the study has no pyramid called {name!r} (it has: {known}); {NAME!r} is built where missing")


def assembled(study: Study, choices: Choices, jobs: Sequence[TopicJob], results: Sequence[TopicResult]) -> Evaluation:
    """One table and one study of the results of all topics, in the order of their jobs."""
    pyramid = jobs[0].name
    scores = sorted((score for result in results for score in result.scores), key=_place)
    notes = [*foreign(study), *without_references(study, jobs), *set_aside(study, results)[1]]
    notes += [note for result in results for note in result.notes]
    notes += [*human_peers(jobs), *unscored(study, scores)]
    built = [result.topic for result in results if result.built]
    if 0 < len(built) < len(results):
        what = f"the other {len(results) - len(built)} have one already, however that was made"
        notes.append(Problem(f"{len(built)} topics", f"pyramid {pyramid} was built; {what}", "warning"))
    table = ScoreTable.of_summaries(scores, choices.signature(pyramid=pyramid, built=bool(built)), notes)
    log = "\n".join([str(table.signature), "", *(result.log for result in results)])
    return Evaluation(table, with_results(study, results), log)


def set_aside(study: Study, results: Iterable[TopicResult]) -> tuple[Study, list[Problem]]:
    """The study with pyramids renamed that came with the data under a name that was built now, and a note on them."""
    built = {(result.topic, result.pyramid.name): result.pyramid for result in results if result.built}
    held = {(p.topic, p.name): p for p in study.pyramids if (p.topic, p.name) in built}
    theirs = {key for key, pyramid in held.items() if not _share_units(pyramid, built[key])}
    if not theirs:
        return study, []
    [name] = {name for _, name in theirs}
    new = next(other for number in count(1) if (other := _given(name, number)) not in study.pyramid_names)
    what = f"came with the study; it is kept as {new}, and a new one was built from the references"
    note = Problem(f"pyramid {name} of {len(theirs)} topics", what, "warning")
    pyramids = (replace(p, name=new) if (p.topic, p.name) in theirs else p for p in study.pyramids)
    return replace(study, pyramids=tuple(pyramids)), [note]


def _given(name: str, number: int) -> str:
    return f"{name}-given" if number == 1 else f"{name}-given-{number}"


def _share_units(one: Pyramid, other: Pyramid) -> bool:
    """Units are known by their ids, so two pyramids of a study cannot both have one."""
    return bool({unit.id for unit in one.units} & {unit.id for unit in other.units})


def with_results(study: Study, results: Sequence[TopicResult]) -> Study:
    """The study with new pyramids and judgments in place of older ones that were built under the same name, and of
    what the same judge said."""
    study, _ = set_aside(study, results)
    made = {(result.topic, result.pyramid.name): result.pyramid for result in results}
    pyramids = tuple(({(p.topic, p.name): p for p in study.pyramids} | made).values())
    gone = {(p.topic, u.id) for p in study.pyramids if (p.topic, p.name) in made for u in p.units}
    gone -= {(p.topic, u.id) for p in made.values() for u in p.units}
    judged = any(len(result.judgments) for result in results)
    if not judged and not gone:
        return replace(study, pyramids=pyramids)
    again = {(result.topic, system) for result in results for system in result.judgments.system.names}
    old = (j for j in study.judgments if not (j.judge == JUDGE.id and (j.topic, j.system) in again))
    new = (judgment for result in results for judgment in result.judgments)
    judgments = Judgments(chain((j for j in old if (j.topic, j.unit) not in gone), new))
    judges = study.judges if not judged or JUDGE in study.judges else (*study.judges, JUDGE)
    return replace(study, pyramids=pyramids, judges=judges, judgments=judgments)


# -- the interfaces ------------------------------------------------------------------------------------------


def score(
    study: Study,
    *,
    measures: Sequence[str] | None = None,
    pyramid: str | None = None,
    judges: str | None = None,
    **choices: Any,
) -> ScoreTable:
    """The method ``auto``: scores by automatic pyramids, or by any pyramid of the study.

    What an earlier run has judged, by whatever choices, is scored by its judgments; peers that came later are noted as
    missing. Choices (or the command `auto score`) judge everything anew.
    """
    for name in measures or ():
        check_choice("auto measure", name, MEASURES)
    judged = auto_pyramid(study)
    if not choices and (judges or (judged and pyramid in {None, judged})):
        table = score_by_judgments(
            study, measures=measures or MEASURES, pyramid=pyramid or judged, judges=judges or JUDGE.id
        )
        return _with_lonely_peers(study, replace(table, signature=_kept(table.signature)))
    table = evaluate_study(study, _choices(choices), pyramid=pyramid, explain=False).table
    if measures is None:
        return table
    scores = tuple(score for name in measures for score in table.scores if score.measure == name)
    return replace(table, scores=scores, order=tuple(measures))


def _kept(signature: Signature) -> Signature:
    return Signature(AUTO, (*signature.choices, ("choices", "kept")))


def _with_lonely_peers(study: Study, table: ScoreTable) -> ScoreTable:
    """With a missing score for each peer that nothing is left for without its own reference, as the run gave it."""
    name = dict(table.signature.choices)["pyramid"]
    pyramids = {pyramid.topic: pyramid for pyramid in study.pyramids if pyramid.name == name}
    scores = [score for score in table if score.topic is not None]
    scored = {(score.topic, score.system) for score in scores}
    lonely = [
        (topic, system)
        for (topic, system), own in own_references(study).items()
        if (topic, system) not in scored and topic in pyramids and not pyramids[topic].without(own).units
    ]
    if not lonely:
        return table
    scores += [Score(topic, system, measure, None) for topic, system in lonely for measure in table.measures]
    return ScoreTable.of_summaries(sorted(scores, key=_place), table.signature, table.notes)


def _place(score: Score) -> tuple[str, str]:
    return str(score.topic), score.system


def _choices(named: Mapping[str, Any]) -> Choices:
    known = [part.name for part in fields(Choices)]
    for name in named.keys() - known:
        raise UsageError(f"method auto has no choice {name!r}; it has: {', '.join(['pyramid', 'judges', *known])}")
    return Choices(**named)


def evaluate(
    references: str | Sequence[str] | Mapping[str, str | Sequence[str]],
    peers: Mapping[str, str] | Mapping[str, Mapping[str, str]],
    **choices: Any,
) -> ScoreTable:
    """Score summaries by what the references say, without any judgments.

    ``references``: the texts of one topic, or texts by topic. ``peers``: a text by system, or by topic and system.
    Choices are e.g. ``partitioner="edua-g"``, ``matcher="wmin"``; the table's signature names them all.
    """
    return score(_study(references, peers), **choices)


def _study(references: Any, peers: Any) -> Study:
    if not isinstance(peers, Mapping):
        raise UsageError("peers are a text by system, or by topic and system")
    nested = any(isinstance(value, Mapping) for value in peers.values())
    if isinstance(references, Mapping) != nested:
        raise UsageError("give references and peers both by topic, or both of one topic")
    by_topic = references if nested else {"topic": references}
    texts = {topic: _texts(topic, found) for topic, found in by_topic.items()}
    candidates = peers if nested else {"topic": peers}
    summaries = [
        Summary(topic, str(number), text, "reference")
        for topic, found in texts.items()
        for number, text in enumerate(found, 1)
    ]
    summaries += [Summary(topic, system, text) for topic, found in candidates.items() for system, text in found.items()]
    topics = tuple(Topic(topic) for topic in dict.fromkeys([*texts, *candidates]))
    study = Study(topics, tuple(summaries))
    if problems := [problem for problem in study.problems() if problem.severity == "error"]:
        raise InputError(problems)
    return study


def _texts(topic: str, found: Any) -> list[str]:
    texts = [found] if isinstance(found, str) else list(found)
    if not all(isinstance(text, str) for text in texts):
        raise UsageError(f"topic {topic}: references are texts")
    return texts
