"""The main job: references and peers in; pyramids built, units judged, peers scored.

`evaluate_study` builds pyramids (`pyramids`), lets the judge ``auto`` look for their units (`judges`) and scores by its
judgments alone (`scoring.auto`). `pyramidion.judging` asks any other judge about the pyramids that a study has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import numpy as np

from pyramidion.engines import Advance, Where, Work, ignore, started
from pyramidion.errors import LostEngineError, Problem, UsageError
from pyramidion.formats import auto_run
from pyramidion.formats.auto_run import TopicResult
from pyramidion.formats.files import to_file_name
from pyramidion.formats.resumable import Parts
from pyramidion.jobs import (
    TopicBatch,
    TopicJob,
    check_pyramid,
    human_peers,
    job_key,
    topic_batches,
    topic_jobs,
)
from pyramidion.judges import (
    bounds_of,
    with_judge,
)
from pyramidion.judges.align import AlignJudge
from pyramidion.judges.aligned import AlignedJudge
from pyramidion.judges.contributors import PEERS_AT_ONCE, ContributorJudge, Tell
from pyramidion.pyramids.build import NAME, Builder, BuiltPyramid, foreign_texts, set_aside
from pyramidion.pyramids.choices import Choices
from pyramidion.scoring import auto
from pyramidion.scoring.choice import (
    AUTO,
    auto_pyramid,
    unscored,
    without_references,
)
from pyramidion.scoring.pyramid import PeerScore
from pyramidion.study import Judge, Judgment, Judgments, Pyramid, Score, ScoreTable, Study


class Evaluator:
    """Builds pyramids and judges peers with given choices. The encoder takes as many threads as there are cores."""

    def __init__(self, choices: Choices | None = None, *, threads: int | None = None) -> None:
        self.choices = choices or Choices()
        self.builder = Builder(self.choices, threads=threads)
        match, segmenter = self.choices.match(), self.builder.segmenter
        self.judge: AlignedJudge | ContributorJudge = (
            AlignedJudge(AUTO, segmenter, AlignJudge.sharing(self.builder.encoder))
            if match is None
            else ContributorJudge(AUTO, segmenter, self.builder.similarity, match)
        )

    def score(
        self, pyramid: Pyramid, references: Mapping[str, str], peers: Iterable[tuple[str, str]]
    ) -> Iterator[Score]:
        """Judge and score peers, given by system and text, some hundred at a time: they need not fit into memory."""
        source = iter(peers)
        while some := dict(islice(source, PEERS_AT_ONCE)):
            scores = auto.peer_scores(pyramid, self.judge.judge(pyramid, some, references), {})
            yield from _rows(pyramid.topic, some, scores)

    def run_all(self, batch: TopicBatch, advance: Advance = ignore) -> list[TopicResult]:
        """The results of some topics; sentences of small topics are encoded together, which is much faster."""
        if len(batch.jobs) == 1:
            return [self.run(batch.jobs[0], advance)]
        self.prepare(batch)
        built = [self.built(job) for job in batch.jobs]
        if isinstance(self.judge, AlignedJudge):
            self.judge.prepare(each.pyramid for each in built)
        return [self.run(job, advance, each) for job, each in zip(batch.jobs, built, strict=True)]

    def prepare(self, batch: TopicBatch) -> None:
        """Encode the sentences of some topics and cut them into clauses, which is remembered."""
        texts = [text for job in batch.jobs for texts in (job.references, job.peers) for text in texts.values()]
        self.builder.segmenter.segment(texts)

    def built(self, job: TopicJob) -> BuiltPyramid:
        """The pyramid of a topic, built where there is none."""
        if job.pyramid is None:
            return self.builder.build(job.topic, job.references, name=job.name)
        return BuiltPyramid(job.pyramid, self.choices.floor or 0.0)

    def run(self, job: TopicJob, advance: Advance = ignore, built: BuiltPyramid | None = None) -> TopicResult:
        """Judge the peers of a topic by its pyramid and score them by what was judged."""
        built = built or self.built(job)
        advance(1)
        similarity: dict[str, Mapping[str, float]] = {}

        def tell(system: str, found: Mapping[str, float]) -> None:
            similarity[system] = found
            advance(1)

        rows = self.judged(job, built.pyramid, tell)
        advance(len(job.peers.keys() - similarity.keys()))
        result = _scored(job, TopicResult(built.pyramid, Judgments(rows), built.notes, job.pyramid is None))
        if not job.explain:
            return replace(result, judgments=Judgments())
        log = [*auto_run.pyramid_lines(built.pyramid, built.threshold, built.notes, job.references)]
        for system, said in groupby(rows, key=lambda judgment: judgment.system):
            own = job.own.get(system, "")
            pyramid = built.pyramid.without(own) if own else built.pyramid
            values = [(score.measure, score.value) for score in result.scores if score.system == system]
            log += auto_run.peer_lines(pyramid, system, job.peers[system], said, values, similarity[system], own)
        return replace(result, log="\n".join([*log, ""]))

    def judged(self, job: TopicJob, pyramid: Pyramid, tell: Tell = lambda _system, _similarity: None) -> list[Judgment]:
        """The peers of a topic, each that is a reference beside the others; the only reference has nothing to be
        compared with."""
        rows: list[Judgment] = []
        for own, peers in job.peers_by_own_reference().items():
            others = pyramid.without(own) if own else pyramid
            if others.units or not own:
                rows += self.judge.judge(others, peers, job.references, tell=tell)
        return rows


def _scored(job: TopicJob, result: TopicResult) -> TopicResult:
    """With the scores that follow from the judgments; undefined for a peer that is the only reference."""
    scores = auto.peer_scores(result.pyramid, result.judgments, job.own)
    return replace(result, scores=tuple(_rows(job.topic, job.peers, scores)))


def _rows(topic: str, systems: Iterable[str], scores: Mapping[str, PeerScore]) -> Iterator[Score]:
    return (Score(topic, system, *pair) for system in systems for pair in auto.values(scores.get(system)))


def run_topics(
    jobs: Sequence[TopicJob],
    choices: Choices,
    *,
    folder: Path | None = None,
    engine: Where = None,
    advance: Advance = ignore,
) -> tuple[list[TopicResult], int]:
    """The results, in order, and how many of them an earlier run had left in the folder that keeps finished topics,
    where their logs stay. One process uses all cores for encoding; more processes help if partitioning takes long."""
    parts = Parts(folder)
    names = {job.topic: (to_file_name(job.topic), job_key(job, choices) if folder else "") for job in jobs}
    kept = ((job, auto_run.from_part(parts.read(*names[job.topic]))) for job in jobs)
    done = {job.topic: replace(_scored(job, held), log="") for job, held in kept if held}
    known = len(done)
    advance(sum(job.size for job in jobs if job.topic in done))
    todo = [job for job in jobs if job.topic not in done]
    with started(engine) as running, kept_for_the_next_time(folder, done, len(jobs)):
        batches = topic_batches(todo, running.workers)
        for _, results in running.run(partial(_make_run, choices), batches, advance):
            for result in results:
                if folder:
                    parts.write(*names[result.topic], auto_run.to_part(result))
                done[result.topic] = replace(result, log="") if folder else result
    return [done[job.topic] for job in jobs], known


@contextmanager
def kept_for_the_next_time(folder: Path | None, done: Sized, of: int) -> Iterator[None]:
    """Where the workers are lost, say what is kept and how to go on."""
    try:
        yield
    except LostEngineError as error:
        what = f"{len(done)} of {of} topics are kept in {folder}; run the same command again to go on after them"
        raise LostEngineError(f"{error}; {what if folder else 'nothing was kept'}") from None


def _make_run(choices: Choices, threads: int | None) -> Work[TopicBatch, list[TopicResult]]:
    return Evaluator(choices, threads=threads).run_all


@dataclass(frozen=True)
class Evaluation:
    """Scores, and the study with the pyramids and judgments behind them."""

    table: ScoreTable
    study: Study = field(repr=False)
    log: str = field(repr=False, default="")


@dataclass(frozen=True)
class RunDone:
    """What a run gave for which topics, how many of them were known from an earlier one, and what was not exported."""

    evaluation: Evaluation
    topics: tuple[str, ...]
    pyramid: str
    known: int
    notes: tuple[Problem, ...] = ()


def build_pyramids(
    study: Study, choices: Choices | None = None, *, name: str = NAME, engine: Where = None, advance: Advance = ignore
) -> Study:
    """The study with a pyramid for each topic; an earlier one built under the same name is replaced. ``notes``
    collects warnings."""
    jobs = topic_jobs(study, pyramid=name, peers=False, rebuild=True)
    results, _ = run_topics(jobs, choices or Choices(), engine=engine, advance=advance)
    notes = _building_notes(study, jobs, results, peers=False)
    return replace(with_results(study, results), notes=(*study.notes, *notes))


def evaluate_study(
    study: Study,
    choices: Choices | None = None,
    *,
    pyramid: str | None = None,
    explain: bool = True,
    engine: Where = None,
    advance: Advance = ignore,
) -> Evaluation:
    """Score all peers against the pyramids that were built for this, or those of a name, an expert's as well; missing
    ones are built.

    ``explain`` keeps judgments and a log; without it, memory stays small however many peers there are.
    """
    choices = choices or Choices()
    check_pyramid(study, pyramid)
    jobs = topic_jobs(study, pyramid=pyramid, explain=explain)
    results, _ = run_topics(jobs, choices, engine=engine, advance=advance)
    return _assembled(study, choices, jobs, results)


def run(study: Study, folder: Path, choices: Choices, **how: Any) -> RunDone:
    """Build, judge, score and write everything into a folder: a new one, or that of an earlier run, which goes on."""
    return write_run(evaluate_into(study, folder, choices, **how), folder)


def evaluate_into(
    study: Study,
    folder: Path,
    choices: Choices,
    *,
    pyramid: str | None = None,
    engine: Where = None,
    advance: Advance = ignore,
) -> RunDone:
    """The first part of `run`, in which a folder keeps only what is finished. Pyramids are built from the references,
    whatever pyramids the study has, unless one of them is named."""
    check_pyramid(study, pyramid)
    jobs = topic_jobs(study, pyramid=pyramid, rebuild=pyramid is None, explain=True)
    auto_run.make_folder(folder)
    results, known = run_topics(jobs, choices, folder=folder / auto_run.PARTS, engine=engine, advance=advance)
    made = _assembled(study, choices, jobs, results)
    return RunDone(made, tuple(job.topic for job in jobs), jobs[0].name, known)


def write_run(done: RunDone, folder: Path) -> RunDone:
    """The second part: all files for people and other tools, which takes a while where there are many summaries."""
    names, made = map(to_file_name, done.topics), done.evaluation
    return replace(done, notes=auto_run.write_run(folder, made.table, made.study, names, pyramid=done.pyramid))


def _assembled(study: Study, choices: Choices, jobs: Sequence[TopicJob], results: Sequence[TopicResult]) -> Evaluation:
    """One table and one study of the results of all topics, in the order of their jobs."""
    pyramid = jobs[0].name
    scores = sorted((score for each in results for score in each.scores), key=lambda s: (str(s.topic), s.system))
    notes = [*_building_notes(study, jobs, results, peers=True), *human_peers(jobs), *unscored(study, scores)]
    built = sum(result.built for result in results)
    if 0 < built < len(results):
        what = f"the other {len(results) - built} have one already, however that was made"
        notes.append(Problem(f"{built} topics", f"pyramid {pyramid} was built; {what}", "warning"))
    table = ScoreTable.of_summaries(scores, choices.signature(pyramid=pyramid, built=built > 0), notes)
    logs = [result.log for result in results if result.log]
    log = "\n".join([str(table.signature), "", *logs]) if logs else ""
    return Evaluation(table, with_results(study, results), log)


def _building_notes(
    study: Study, jobs: Iterable[TopicJob], results: Sequence[TopicResult], *, peers: bool
) -> list[Problem]:
    missing = without_references(study, {job.topic for job in jobs}, peers=peers)
    _, given = set_aside(study, (result.pyramid for result in results if result.built))
    return [*foreign_texts(study), *missing, *given, *(note for result in results for note in result.notes)]


def with_results(study: Study, results: Sequence[TopicResult]) -> Study:
    """The study with new pyramids and judgments in place of older ones that were built under the same name, and of
    what the same judge said."""
    study, _ = set_aside(study, (result.pyramid for result in results if result.built))
    made = {(result.topic, result.pyramid.name): result.pyramid for result in results}
    pyramids = tuple(({(p.topic, p.name): p for p in study.pyramids} | made).values())
    # A judgment is about the words of a unit: under the same id, other words are another unit.
    kept_units = {(p.topic, u.id, u.label) for p in made.values() for u in p.units}
    units = [(p.topic, u.id, u.label) for p in study.pyramids if (p.topic, p.name) in made for u in p.units]
    gone = {unit[:2] for unit in units if unit not in kept_units}
    new = Judgments.join([result.judgments for result in results])
    if not len(new) and not gone:
        return replace(study, pyramids=pyramids)
    again = set(zip(new.topic, new.system, strict=True))
    known = study.judgments
    kept = [
        (topic, unit) not in gone and not (judge == AUTO and (topic, system) in again)
        for topic, system, unit, judge in zip(known.topic, known.system, known.unit, known.judge, strict=True)
    ]
    judge = Judge(AUTO, "model", **bounds_of(AlignJudge())._asdict())  # a matcher says 0 or 1: any bounds will do
    judges = with_judge(study.judges, judge) if len(new) else study.judges
    return replace(study, pyramids=pyramids, judges=judges, judgments=known.take(np.array(kept, dtype=bool)) + new)


def choices_of(given: Mapping[str, Any]) -> Choices:
    known = [part.name for part in fields(Choices)]
    for name in given.keys() - known:
        raise UsageError(f"method auto has no option {name!r}; its options are: {', '.join(known)}")
    return Choices(**given)


def score(
    study: Study,
    *,
    measures: Sequence[str] | None = None,
    pyramid: str | None = None,
    judges: str | None = None,
    **choices: Any,
) -> ScoreTable:
    """The method ``auto``: scores by automatic pyramids, or by any pyramid of the study.

    The judgments of an earlier run, whatever its choices, are scored if there are any; peers added later are noted as
    missing. Giving choices (or using the command `auto score`) judges everything again.
    """
    auto.check_measures(measures)
    judged = auto_pyramid(study)
    if not choices and (judges or (judged and pyramid in {None, judged})):
        return auto.score(study, measures=measures, pyramid=pyramid or judged, judges=judges or AUTO)
    table = evaluate_study(study, choices_of(choices), pyramid=pyramid, explain=False).table
    if measures is None:
        return table
    scores = tuple(score for name in measures for score in table.scores if score.measure == name)
    return replace(table, scores=scores, order=tuple(measures))
