"""One call from texts to everything: scores, study, pyramids to open elsewhere, and a log.

Every finished topic is written aside, so that a run that was stopped goes on where it was; a topic whose texts or whose
choices have changed is done again.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from pyramidion.errors import InputError, Problem, UsageError
from pyramidion.evaluation.automatic import (
    JUDGE,
    Advance,
    Evaluation,
    TopicResult,
    assembled,
    check_pyramid,
    run_topics,
)
from pyramidion.evaluation.choices import Choices
from pyramidion.evaluation.jobs import TopicJob, topic_jobs
from pyramidion.formats import guess_format, save
from pyramidion.formats.files import new_file, to_file_name
from pyramidion.formats.score_tables import write_scores
from pyramidion.pyramids.build import NAME
from pyramidion.study import Score, Study, Topic
from pyramidion.study.records import Collector, to_records

PARTS = "parts"
PYRAMIDS = "pyramids"
_OURS = frozenset({PARTS, PYRAMIDS, "scores.csv", "study.jsonl", "log.txt"})


@dataclass(frozen=True)
class RunDone:
    """What a run gave, how many of the topics an earlier one had finished, and what could not be exported."""

    evaluation: Evaluation
    topics: int
    known: int
    notes: tuple[Problem, ...] = ()


def run(
    study: Study,
    folder: Path,
    choices: Choices,
    *,
    pyramid: str | None = None,
    processes: int = 1,
    advance: Advance = lambda _: None,
) -> RunDone:
    """Build, score and write everything into a folder: a new one, or that of an earlier run.

    Pyramids are built from the references, whatever the study brings, unless one of its own is named.
    """
    check_pyramid(study, pyramid)
    jobs = topic_jobs(study, pyramid=pyramid, rebuild=pyramid is None, explain=True)
    _make(folder)
    keys = {job.topic: fingerprint(job, choices) for job in jobs}
    done = {job.topic: found for job in jobs if (found := _read_part(_part(folder, job.topic), keys[job.topic]))}
    known = len(done)
    advance(sum(job.size for job in jobs if job.topic in done))
    todo = [job for job in jobs if job.topic not in done]
    for result in run_topics(todo, choices, processes=processes, advance=advance):
        _write_part(_part(folder, result.topic), keys[result.topic], result)
        done[result.topic] = result
    evaluation = assembled(study, choices, jobs, [done[job.topic] for job in jobs])
    lost = _write(evaluation, folder, jobs[0].name)
    return RunDone(evaluation, len(jobs), known, lost)


def _make(folder: Path) -> None:
    """Only a new folder, or one an earlier run made: nobody's files are replaced."""
    if folder.exists() and (not folder.is_dir() or {entry.name for entry in folder.iterdir()} - _OURS):
        raise UsageError(f"{folder} holds other files; choose another folder")
    folder.mkdir(parents=True, exist_ok=True)


def _write(evaluation: Evaluation, folder: Path, pyramid: str) -> tuple[Problem, ...]:
    """Scores first; an export to another tool's format that does not fit is no reason to stop."""
    write_scores(evaluation.table, folder / "scores.csv")
    with new_file(folder / "log.txt") as file:
        file.write(evaluation.log)
    save(evaluation.study, folder / "study.jsonl")
    shutil.rmtree(folder / PYRAMIDS, ignore_errors=True)
    try:
        save(only_automatic(evaluation.study, pyramid), folder / PYRAMIDS, format="ducview")
    except (InputError, UsageError) as error:
        return (Problem(str(folder / PYRAMIDS), f"no DUCView files: {str(error).splitlines()[0]}", "warning"),)
    return ()


def only_automatic(study: Study, name: str = NAME) -> Study:
    """The study with its automatic pyramids alone, for formats that hold one pyramid a topic."""
    return replace(
        study,
        pyramids=tuple(pyramid for pyramid in study.pyramids if pyramid.name == name),
        judges=tuple(judge for judge in study.judges if judge == JUDGE),
        judgments=study.judgments.take(study.judgments.judge.is_in({JUDGE.id})),
        aspects=(),
        tasks=(),
        assignments=(),
    )


def write_pyramids(study: Study, target: str, *, name: str) -> None:
    """Write a study with its new pyramids to a .jsonl or .pyr file or a folder of .pyr files."""
    path = Path(target)
    suffix = path.suffix.lower()
    if suffix in {".db", ".sqlite", ".sqlite3"}:
        raise UsageError(f"{target} does not exist; make it with: pyramidion init {target}")
    format = guess_format(path) if suffix else "ducview"
    save(only_automatic(study, name) if format == "ducview" else study, path, format=format)


# -- finished topics, written aside --------------------------------------------------------------------------


def _part(folder: Path, topic: str) -> Path:
    return folder / PARTS / f"{to_file_name(topic)}.json"


def fingerprint(job: TopicJob, choices: Choices) -> str:
    """The same for the same texts, choices and version, and for nothing else."""
    model = choices.embedder.partition(":")[2]
    trained = sha256(Path(model).read_bytes()).hexdigest() if Path(model).is_file() else ""
    held = [str(choices.signature(pyramid=job.name)), trained, dict(job.references), dict(job.peers), repr(job.pyramid)]
    return sha256(json.dumps(held, sort_keys=True).encode()).hexdigest()


def _write_part(path: Path, key: str, result: TopicResult) -> None:
    study = Study(topics=(Topic(result.topic),), pyramids=(result.pyramid,), judgments=result.judgments)
    held = {
        "key": key,
        "scores": [(score.system, score.measure, score.value) for score in result.scores],
        "notes": [(note.where, note.what) for note in result.notes],
        "log": result.log,
        "built": result.built,
        "study": list(to_records(study)),
    }
    with new_file(path) as file:
        json.dump(held, file, ensure_ascii=False)


def _read_part(path: Path, key: str) -> TopicResult | None:
    """An earlier result, where it answers the same question; a file that cannot be read does not."""
    try:
        held = json.loads(path.read_bytes())
        return _result(held) if held["key"] == key else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _result(held: Mapping[str, Any]) -> TopicResult:
    collector = Collector()
    for record in held["study"]:
        collector.add(record)
    study = collector.study()
    [topic], [pyramid] = study.topics, study.pyramids
    return TopicResult(
        topic.id,
        pyramid,
        tuple(Score(topic.id, system, measure, value) for system, measure, value in held["scores"]),
        study.judgments,
        held["log"],
        tuple(Problem(where, what, "warning") for where, what in held["notes"]),
        held["built"],
    )
