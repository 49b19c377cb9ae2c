"""Automatic evaluation of studies: pyramids from references, judgments and scores of peers, no people needed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from multiprocessing import get_context
from typing import Any

from pyramidion.auto.choices import Choices
from pyramidion.auto.evaluator import Evaluator, ScoredPeer
from pyramidion.auto.log import peer_lines, pyramid_lines
from pyramidion.auto.pyramids import NAME, BuiltPyramid
from pyramidion.auto.scores import MEASURES
from pyramidion.errors import InputError, Problem, UsageError, check_choice
from pyramidion.methods.missing import unscored
from pyramidion.methods.pyramid import score as score_by_judgments
from pyramidion.model import (
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
from pyramidion.model.judgments import JudgmentsBuilder
from pyramidion.workflows.evaluate import AUTO, auto_pyramid

JUDGE = Judge(AUTO, "model")
Advance = Callable[[int], None]


@dataclass(frozen=True)
class TopicJob:
    """What is to be done for one topic. Where there is no pyramid yet, one is built from the references."""

    topic: str
    references: Mapping[str, str]
    peers: Mapping[str, str]
    pyramid: Pyramid | None = None
    name: str = NAME
    explain: bool = False

    @property
    def size(self) -> int:
        """How much work it is, in peers; building a pyramid counts as one."""
        return len(self.peers) + 1


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
    prepared = evaluator.prepare(built.pyramid, job.references)
    log = list(pyramid_lines(built, job.references)) if job.explain else []
    scores: list[Score] = []
    judgments = JudgmentsBuilder()
    for peer in evaluator.score(prepared, job.peers.items(), explain=job.explain):
        scores += [Score(job.topic, peer.system, m, v) for m, v in zip(MEASURES, peer.scores, strict=True)]
        if job.explain:
            for judgment in _judgments(prepared.pyramid, peer):
                judgments.add(judgment)
            log += peer_lines(prepared.pyramid, peer, job.peers[peer.system])
        advance(1)
    text = "\n".join([*log, ""]) if log else ""
    return TopicResult(
        job.topic, built.pyramid, tuple(scores), judgments.build(), text, built.notes, job.pyramid is None
    )


def _built(job: TopicJob, evaluator: Evaluator) -> BuiltPyramid:
    if job.pyramid is not None:
        return BuiltPyramid(job.pyramid, evaluator.choices.floor or 0.0)
    return evaluator.build(job.topic, job.references, name=job.name)


def _judgments(pyramid: Pyramid, peer: ScoredPeer) -> Iterator[Judgment]:
    """The degree of each unit, with where it is said; and how much of the peer is not in the pyramid."""
    where = {each.unit: each.mention for each in peer.judged.found}
    for number, (unit, degree) in enumerate(zip(pyramid.units, peer.judged.degrees, strict=True)):
        evidence = (where[number],) if where.get(number) else ()
        yield Judgment(pyramid.topic, peer.system, JUDGE.id, degree, unit=unit.id, evidence=evidence)
    yield Judgment(pyramid.topic, peer.system, JUDGE.id, float(peer.judged.unmatched), aspect=UNMATCHED)


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


def topic_jobs(
    study: Study, *, pyramid: str = NAME, peers: bool = True, rebuild: bool = False, explain: bool = False
) -> list[TopicJob]:
    """A job for each topic that has references or peers; refuses topics with peers and nothing to build from."""
    references, candidates = _by_topic(study.references), _by_topic(study.peers if peers else ())
    found, problems = [], []
    for topic in study.topics:
        mine, theirs = references.get(topic.id, {}), candidates.get(topic.id, {})
        held = None if rebuild else study.pyramid(topic.id, pyramid)
        if not mine and held is None:
            if theirs or not peers:
                problems.append(Problem(f"topic {topic.id}", "has no references to build a pyramid from"))
            continue
        found.append(TopicJob(topic.id, mine, theirs, held, pyramid, explain))
    if problems:
        raise InputError(problems)
    if not found:
        raise InputError(Problem("study", "there are no topics with references"))
    return found


def _by_topic(summaries: Iterable[Summary]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for summary in summaries:
        found.setdefault(summary.topic, {})[summary.system] = summary.text
    return found


# -- studies -------------------------------------------------------------------------------------------------


def build_pyramids(
    study: Study,
    choices: Choices | None = None,
    *,
    name: str = NAME,
    processes: int = 1,
    advance: Advance = lambda _: None,
) -> Study:
    """The study with a pyramid for each topic; one of the same name is replaced. ``notes`` says what came up."""
    jobs = topic_jobs(study, pyramid=name, peers=False, rebuild=True)
    results = list(run_topics(jobs, choices or Choices(), processes=processes, advance=advance))
    notes = (*study.notes, *foreign(study), *(note for result in results for note in result.notes))
    return replace(with_results(study, results), notes=notes)


def evaluate_study(
    study: Study,
    choices: Choices | None = None,
    *,
    pyramid: str = NAME,
    explain: bool = True,
    processes: int = 1,
    advance: Advance = lambda _: None,
) -> Evaluation:
    """Score all peers against the pyramids of a name, an expert's as well; missing ones are built.

    ``explain`` keeps judgments and a log; without it, memory stays small however many peers there are.
    """
    choices = choices or Choices()
    _check_pyramid(study, pyramid)
    jobs = topic_jobs(study, pyramid=pyramid, explain=explain)
    results = list(run_topics(jobs, choices, processes=processes, advance=advance))
    return assembled(study, choices, results, pyramid=pyramid)


def _check_pyramid(study: Study, name: str) -> None:
    """Only pyramids under our own name are built; a wrong name must not quietly give another pyramid."""
    if name != NAME and name not in study.pyramid_names:
        known = ", ".join(study.pyramid_names) or "none"
        raise UsageError(f"the study has no pyramid called {name!r} (it has: {known}); {NAME!r} is built where missing")


def assembled(study: Study, choices: Choices, results: Sequence[TopicResult], *, pyramid: str) -> Evaluation:
    """One table and one study of the results of all topics."""
    scores = [score for result in results for score in result.scores]
    notes = [*foreign(study), *(note for result in results for note in result.notes), *unscored(study, scores)]
    built = [result.topic for result in results if result.built]
    if 0 < len(built) < len(results):
        what = f"the other {len(results) - len(built)} have one already, however that was made"
        notes.append(Problem(f"{len(built)} topics", f"pyramid {pyramid} was built; {what}", "warning"))
    table = ScoreTable.of_summaries(scores, choices.signature(pyramid=pyramid, built=bool(built)), notes)
    log = "\n".join([str(table.signature), "", *(result.log for result in results)])
    return Evaluation(table, with_results(study, results), log)


def with_results(study: Study, results: Sequence[TopicResult]) -> Study:
    """The study with new pyramids and judgments in place of older ones of the same name and judge."""
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


def foreign(study: Study) -> list[Problem]:
    """One warning for all texts mostly in other letters than the segmenter and the encoder were trained on."""
    strange = [s for s in study.summaries if _is_foreign(s.text)]
    if not strange:
        return []
    first = f"{strange[0].role} {strange[0].system} of topic {strange[0].topic}"
    what = (
        f"mostly not in Latin letters (the first is {first}); segmenter and encoder know English, so clauses and "
        "similarities are less reliable"
    )
    return [Problem(f"{len(strange)} of {len(study.summaries)} texts", what, "warning")]


def _is_foreign(text: str) -> bool:
    if text.isascii():
        return False
    letters = [character for character in text if character.isalpha()]
    latin = sum(character < "\u0250" or "\u1e00" <= character < "\u1f00" for character in letters)
    return latin * 2 < len(letters)


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
        return replace(table, signature=Signature(AUTO, (*table.signature.choices, ("choices", "kept"))))
    table = evaluate_study(study, _choices(choices), pyramid=pyramid or NAME, explain=False).table
    if measures is None:
        return table
    scores = tuple(score for name in measures for score in table.scores if score.measure == name)
    return replace(table, scores=scores, order=tuple(measures))


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
