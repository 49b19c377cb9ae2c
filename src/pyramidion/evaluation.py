"""The main job: references and peers in; pyramids built, units judged, peers scored.

`evaluate_study` builds pyramids (`pyramids`), lets the judge ``auto`` look for their units (`judges`) and scores by its
judgments alone (`scoring.auto`). `judge_study` asks any other judge about the pyramids that a study has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any

import numpy as np

from pyramidion.engines import Advance, Work, engine, ignore
from pyramidion.errors import Problem, UsageError
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
    judged_topics,
    topic_batches,
    topic_jobs,
)
from pyramidion.judges import (
    DEFAULT,
    LabelJudge,
    PresenceJudge,
    bounds_of,
    make_judge,
    texts_by_topic,
    with_judge,
    with_judgments,
)
from pyramidion.judges.align import AlignJudge
from pyramidion.judges.aligned import AlignedJudge
from pyramidion.judges.contributors import PEERS_AT_ONCE, ContributorJudge, Tell
from pyramidion.pyramids.build import NAME, Builder, BuiltPyramid, foreign_texts, set_aside
from pyramidion.pyramids.choices import Choices
from pyramidion.pyramids.writer import NAME as LLM
from pyramidion.pyramids.writer import LlmWriter
from pyramidion.scoring import auto, lite
from pyramidion.scoring.choice import (
    AUTO,
    TO_BE_JUDGED,
    auto_pyramid,
    named_pyramid,
    unscored,
    without_references,
)
from pyramidion.scoring.pyramid import PeerScore
from pyramidion.study import Judge, Judgment, Judgments, Pyramid, Score, ScoreTable, Signature, Study


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
    processes: int = 1,
    advance: Advance = ignore,
) -> tuple[list[TopicResult], int]:
    """The results, in order, and how many of them an earlier run had left in the folder that keeps finished topics. One
    process uses all cores for encoding; more processes help if partitioning takes long."""
    parts = Parts(folder)
    names = {job.topic: (to_file_name(job.topic), job_key(job, choices) if folder else "") for job in jobs}
    kept = [(job, auto_run.from_part(parts.read(*names[job.topic]))) for job in jobs]
    done = {job.topic: _scored(job, held) for job, held in kept if held}
    known = len(done)
    advance(sum(job.size for job in jobs if job.topic in done))
    todo = list(topic_batches([job for job in jobs if job.topic not in done], processes))
    for results in engine(processes, len(todo)).map(partial(_make_run, choices), todo, advance):
        for result in results:
            if folder:
                parts.write(*names[result.topic], auto_run.to_part(result))
            done[result.topic] = result
    return [done[job.topic] for job in jobs], known


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
    """What a run gave, how many of the topics an earlier one had finished, and what could not be exported."""

    evaluation: Evaluation
    topics: int
    known: int
    notes: tuple[Problem, ...] = ()


def build_pyramids(
    study: Study, choices: Choices | None = None, *, name: str = NAME, processes: int = 1, advance: Advance = ignore
) -> Study:
    """The study with a pyramid for each topic; an earlier one built under the same name is replaced. ``notes``
    collects warnings."""
    jobs = topic_jobs(study, pyramid=name, peers=False, rebuild=True)
    results, _ = run_topics(jobs, choices or Choices(), processes=processes, advance=advance)
    notes = _building_notes(study, jobs, results, peers=False)
    return replace(with_results(study, results), notes=(*study.notes, *notes))


def evaluate_study(
    study: Study,
    choices: Choices | None = None,
    *,
    pyramid: str | None = None,
    explain: bool = True,
    processes: int = 1,
    advance: Advance = ignore,
) -> Evaluation:
    """Score all peers against the pyramids that were built for this, or those of a name, an expert's as well; missing
    ones are built.

    ``explain`` keeps judgments and a log; without it, memory stays small however many peers there are.
    """
    choices = choices or Choices()
    check_pyramid(study, pyramid)
    jobs = topic_jobs(study, pyramid=pyramid, explain=explain)
    results, _ = run_topics(jobs, choices, processes=processes, advance=advance)
    return _assembled(study, choices, jobs, results)


def run(
    study: Study,
    folder: Path,
    choices: Choices,
    *,
    pyramid: str | None = None,
    processes: int = 1,
    advance: Advance = ignore,
) -> RunDone:
    """Build, judge, score and write everything into a folder: a new one, or that of an earlier run, which goes on.
    Pyramids are built from the references, whatever pyramids the study has, unless one of them is named."""
    check_pyramid(study, pyramid)
    jobs = topic_jobs(study, pyramid=pyramid, rebuild=pyramid is None, explain=True)
    auto_run.make_folder(folder)
    results, known = run_topics(jobs, choices, folder=folder / auto_run.PARTS, processes=processes, advance=advance)
    made = _assembled(study, choices, jobs, results)
    lost = auto_run.write_run(folder, made.table, made.study, made.log, pyramid=jobs[0].name)
    return RunDone(made, len(jobs), known, lost)


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
    log = "\n".join([str(table.signature), "", *(result.log for result in results)])
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
    new = Judgments(chain.from_iterable(result.judgments for result in results))
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


def judge_study(
    study: Study,
    judge: str | PresenceJudge = DEFAULT,
    *,
    pyramid: str | None = None,
    threshold: float | None = None,
    evidence: bool = True,
) -> Evaluation:
    """Judge and score all peers: by probabilities, or by yes and no with a threshold. Units that the judge did not
    answer are missing: they are judgments without a value, named in the notes, and count for no score."""
    presence = make_judge(judge) if isinstance(judge, str) else judge
    if threshold is not None and not 0 <= threshold <= 1:
        raise UsageError(f"a threshold must be between 0 and 1, not {threshold}")
    name = named_pyramid(study.pyramid_names, pyramid, prefer=TO_BE_JUDGED)
    asked = judged_topics(study, name)
    missing: list[Problem] = []
    judged_all = LabelJudge(presence, threshold, evidence).judge_all(asked, tell=missing.append)
    new = Judgments(chain.from_iterable(judged_all))
    judged = with_judgments(study, presence.name, new, bounds=bounds_of(presence))
    if note := getattr(presence, "note", ""):
        judged = _noted(judged, presence.name, f"judged pyramid {name}", note)
    table = lite.score(judged, pyramid=name, judges=presence.name, aggregate="mean", min_agreement=None)
    values = "soft" if threshold is None else f"from-{threshold:g}"
    how = {"pyramid": name, "judges": presence.name, "kind": "model", "values": values}
    signature = Signature.of("lite", **how, **getattr(presence, "choices", {}))
    empty = [
        Problem(f"topic {peer.topic}, system {peer.system}", "is empty, so every unit is absent", "warning")
        for peer in study.peers
        if not peer.text.strip() and study.pyramid(peer.topic, name)
    ]
    explained = {note.where for note in missing}  # the method only knows that there is no judgment
    others = [note for note in table.notes if note.where not in explained]
    notes = (*study.notes, *empty, *missing, *others)
    return Evaluation(replace(table, signature=signature, notes=notes), judged)


def write_units(
    study: Study,
    writer: LlmWriter,
    *,
    name: str = LLM,
    advance: Advance = ignore,
) -> Study:
    """The study with a pyramid for each topic that a model has written from the references, as crowd workers do; an
    earlier one of the same name is replaced. ``notes`` collects what was left out and why."""
    topics = written_topics(study)
    results: list[TopicResult] = []
    notes = list(without_references(study, topics, peers=False))
    for made in writer.write(topics, name=name):
        notes += made.notes
        if made.pyramid is not None:
            results.append(TopicResult(made.pyramid, Judgments(), (), built=True))
        advance(1)
    _, given = set_aside(study, (result.pyramid for result in results))
    judges = {judge.id: judge for judge in (Judge(writer.name, "model"), *study.judges)}
    written = replace(with_results(study, results), judges=tuple(judges.values()))
    written = _noted(written, writer.name, f"wrote pyramid {name}", writer.note)
    return replace(written, notes=(*study.notes, *given, *notes))


def written_topics(study: Study) -> dict[str, dict[str, str]]:
    """The references of each topic that has any, by name: what a model writes units from."""
    references = texts_by_topic(study.references)
    said = {topic.id: references[topic.id] for topic in study.topics if topic.id in references}
    return {topic: texts for topic, texts in said.items() if any(map(str.isalnum, chain.from_iterable(texts.values())))}


def _noted(study: Study, judge: str, what: str, note: str) -> Study:
    """The study with a line about what a judge has done, in place of an earlier one about the same."""

    def noted(held: Judge) -> Judge:
        lines = [line for line in held.note.splitlines() if not line.startswith(f"{what}: ")]
        return replace(held, note="\n".join([*lines, f"{what}: {note}"]))

    return replace(study, judges=tuple(noted(held) if held.id == judge else held for held in study.judges))


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
