"""The other main job: any judge asked about the pyramids that a study has; and pyramids that a model writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path

from pyramidion.distribution import version
from pyramidion.engines import Advance, ThisProcess, Where, Work, ignore, started
from pyramidion.errors import Problem, UsageError
from pyramidion.evaluation import Evaluation, kept_for_the_next_time, with_results
from pyramidion.formats.auto_run import TopicResult
from pyramidion.formats.files import to_file_name
from pyramidion.formats.resumable import Parts, fingerprint
from pyramidion.jobs import judged_topics, models_digest
from pyramidion.judges import (
    DEFAULT,
    LabelJudge,
    PresenceJudge,
    TopicToJudge,
    bounds_of,
    make_judge,
    texts_by_topic,
    with_judgments,
)
from pyramidion.pyramids.build import set_aside
from pyramidion.pyramids.writer import NAME as LLM
from pyramidion.pyramids.writer import LlmWriter
from pyramidion.scoring import lite
from pyramidion.scoring.choice import TO_BE_JUDGED, named_pyramid, without_references
from pyramidion.study import Judge, Judgments, Signature, Study
from pyramidion.study.records import Collector, to_records

TEXTS_AT_ONCE = 256
"""Texts and units that a worker is handed together, and that are lost where a run is interrupted."""


@dataclass(frozen=True)
class JudgingBatch:
    """Pyramids with texts that are judged together; ``places`` are theirs among all."""

    places: tuple[int, ...]
    asked: tuple[TopicToJudge, ...]

    @property
    def size(self) -> int:
        return sum(len(each.texts) for each in self.asked)


@dataclass(frozen=True)
class JudgedTopic:
    """What was said about the texts of a pyramid, and which units stay without an answer."""

    judgments: Judgments
    missing: tuple[Problem, ...] = ()


def judge_study(
    study: Study,
    judge: str | PresenceJudge = DEFAULT,
    *,
    pyramid: str | None = None,
    threshold: float | None = None,
    evidence: bool = True,
    folder: Path | None = None,
    engine: Where = None,
    advance: Advance = ignore,
) -> Evaluation:
    """Judge and score all peers: by probabilities, or by yes and no with a threshold. Units that the judge did not
    answer are missing: they are judgments without a value, named in the notes, and count for no score.

    ``folder`` keeps finished topics for the next time. On another ``engine`` than this process each worker makes its
    own judge, so a judge that is not given by name must be picklable. ``advance`` hears of every text.
    """
    presence = make_judge(judge) if isinstance(judge, str) else judge
    if threshold is not None and not 0 <= threshold <= 1:
        raise UsageError(f"a threshold must be between 0 and 1, not {threshold}")
    name = named_pyramid(study.pyramid_names, pyramid, prefer=TO_BE_JUDGED)
    asked = judged_topics(study, name)
    kept = _KeptTopics(folder, presence, threshold, evidence)
    done = {place: held for place, each in enumerate(asked) if (held := kept.read(place, each))}
    advance(sum(len(asked[place].texts) for place in done))
    todo = [(place, each) for place, each in enumerate(asked) if place not in done]
    with started(engine) as running, kept_for_the_next_time(folder, done, len(asked)):
        alone = isinstance(running, ThisProcess)
        make = partial(_make_judging, presence if alone else judge, threshold, evidence)
        batches = _batches(todo, None if alone and folder is None else running.workers)
        for batch, results in running.run(make, batches, advance):
            for place, each, result in zip(batch.places, batch.asked, results, strict=True):
                kept.write(place, each, result)
                done[place] = result
    missing = [note for place in range(len(asked)) for note in done[place].missing]
    new = Judgments.join([done[place].judgments for place in range(len(asked))])
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


# -- the work -----------------------------------------------------------------------------------------------------


def _batches(asked: Sequence[tuple[int, TopicToJudge]], workers: int | None) -> Iterator[JudgingBatch]:
    """Everything at once where nobody shares the work and nothing is kept: judges read ahead by themselves."""
    texts = sum(_size(each) for _, each in asked)
    most = texts if workers is None else min(TEXTS_AT_ONCE, texts // workers)
    some: list[tuple[int, TopicToJudge]] = []
    held = 0
    for place, each in asked:
        if some and held + _size(each) > most:
            yield _batch(some)
            some, held = [], 0
        some.append((place, each))
        held += _size(each)
    if some:
        yield _batch(some)


def _batch(some: Sequence[tuple[int, TopicToJudge]]) -> JudgingBatch:
    return JudgingBatch(tuple(place for place, _ in some), tuple(each for _, each in some))


def _size(asked: TopicToJudge) -> int:
    return len(asked.texts) + len(asked.pyramid.sampled)


def _make_judging(
    judge: str | PresenceJudge, threshold: float | None, evidence: bool, threads: int | None
) -> Work[JudgingBatch, list[JudgedTopic]]:
    presence = make_judge(judge, threads=threads) if isinstance(judge, str) else judge
    asking = LabelJudge(presence, threshold, evidence)

    def work(batch: JudgingBatch, advance: Advance) -> list[JudgedTopic]:
        judged = []
        notes: list[Problem] = []
        for each, judgments in zip(batch.asked, asking.judge_all(batch.asked, tell=notes.append), strict=True):
            judged.append(JudgedTopic(judgments, tuple(notes)))
            notes.clear()
            advance(len(each.texts))
        return judged

    return work


class _KeptTopics:
    """Judged topics in files, if there is a folder. One counts only for the same judge, texts, models and version; one
    in which answers are missing is not kept, so that they are asked for again."""

    def __init__(self, folder: Path | None, judge: PresenceJudge, threshold: float | None, evidence: bool) -> None:
        self._parts, self._keeps = Parts(folder, ".judged.json"), folder is not None
        made_of = (judge.name, getattr(judge, "made_of", ""), repr(getattr(judge, "choices", {})))
        self._how = (*made_of, threshold, evidence, version())

    def read(self, place: int, asked: TopicToJudge) -> JudgedTopic | None:
        if not self._keeps:
            return None
        held = self._parts.read(self._name(place, asked), self._key(asked))
        try:
            collector = Collector()
            for record in held["study"]:
                collector.add(record)
            return JudgedTopic(collector.study().judgments)
        except (ValueError, KeyError, TypeError):
            return None

    def write(self, place: int, asked: TopicToJudge, judged: JudgedTopic) -> None:
        if self._keeps and not judged.missing:
            records = list(to_records(Study(judgments=judged.judgments)))
            self._parts.write(self._name(place, asked), self._key(asked), {"study": records})

    def _name(self, place: int, asked: TopicToJudge) -> str:
        return f"{to_file_name(asked.pyramid.topic)}-{place + 1}"

    def _key(self, asked: TopicToJudge) -> str:
        units = [(unit.id, unit.label) for unit in asked.pyramid.sampled]
        return fingerprint(*self._how, models_digest(), asked.pyramid.topic, units, dict(asked.texts), asked.references)


# -- pyramids that a model writes ---------------------------------------------------------------------------------


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
