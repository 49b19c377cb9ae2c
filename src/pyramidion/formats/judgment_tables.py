"""Judgments as a plain long table: CSV or JSON Lines, one answer per row, columns under the names people use.

judge (annotator, worker, rater, assessor), topic (document, ...), system, value (score, rating, present, answer), and a
unit or an aspect where there is one; without either, the values rate one aspect named after their column. other
(opponent) is the second system if two were compared. The resulting study has no texts: it is enough for questions about
agreement and differences, but not for scoring.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

import numpy as np

from pyramidion.errors import InputError, Problems
from pyramidion.formats.files import first_fields, parse_number, read_header, read_objects, read_rows, write_rows
from pyramidion.study import Aspect, ContentUnit, Judge, Judgment, Pyramid, Study, Topic
from pyramidion.study.judgments import JudgmentsBuilder

ALIASES: dict[str, tuple[str, ...]] = {
    "judge": ("judge", "annotator", "worker", "workerid", "worker_id", "rater", "assessor"),
    "topic": ("topic", "document", "doc", "eventid", "instance_id", "topic_id", "doc_id"),
    "system": ("system", "systemid", "summarizer_id", "peer", "system_id", "model"),
    "value": ("value", "score", "rating", "present", "answer"),
    "unit": ("unit", "scu", "statement"),
    "other": ("other", "opponent"),
    "aspect": ("aspect", "question", "scale"),
    "task": ("task", "hitid", "predicate"),
}
WRITTEN = (
    *("campaign", "task", "topic", "system", "other", "unit", "aspect"),
    *("worker", "value", "start", "submit", "seconds"),
)
NEEDED = ("judge", "topic", "system", "value")


def recognises(path: Path) -> bool:
    """Whether a file has a column for the judge, the topic, the system and the value."""
    if not path.is_file():
        return False
    if path.suffix.lower() == ".jsonl":
        names = first_fields(path)
    elif path.suffix.lower() == ".csv":
        names = set(read_header(path))
    else:
        return False
    return not set(NEEDED) - _columns(tuple(names)).keys()


def read_judgments(path: str | Path, *, lenient: bool = False) -> Study:
    """The judgments of a long table, with their judges; what is wrong is listed with its line."""
    path = Path(path)
    problems = Problems()
    builder = JudgmentsBuilder()
    seen: dict[tuple[str, ...], tuple[str, int]] = {}
    lower: dict[int, float] = {}
    units: dict[str, dict[str, None]] = {}
    for where, cells in (read_rows if path.suffix.lower() == ".csv" else read_objects)(path, problems):
        judgment = _judgment(cells, where, problems)
        if judgment is None:
            continue
        about = (judgment.topic, judgment.system, judgment.other, judgment.unit, judgment.aspect)
        key = (*about, judgment.judge, judgment.task)
        if key in seen:
            first, row = seen[key]
            problems.error(where, f"the same judge answers the same question twice (first: {first})")
            if judgment.value is not None:
                lower[row] = min(judgment.value, lower.get(row, math.inf))
            continue
        seen[key] = (where.rpartition(", ")[2], len(seen))
        builder.add(judgment)
        if judgment.unit:
            units.setdefault(judgment.topic, {})[judgment.unit] = None
    if problems.errors and not lenient:
        raise InputError(problems.errors)
    judgments = builder.build()
    if lower:  # of two answers the lower one counts, whichever comes first
        rows, values = list(lower), judgments.value.copy()
        values[rows] = np.fmin(values[rows], list(lower.values()))
        judgments = judgments.with_columns(value=values)
    scales = {
        name: [j.value for j in judgments if j.aspect == name and j.value is not None]
        for name in judgments.aspect.names
        if name
    }
    return Study(
        topics=tuple(Topic(name) for name in judgments.topic.names),
        pyramids=tuple(
            Pyramid(topic, (), tuple(ContentUnit(unit, unit) for unit in judged), "crowd")
            for topic, judged in units.items()
        ),
        judges=tuple(Judge(name) for name in judgments.judge.names),
        judgments=judgments,
        aspects=tuple(Aspect(name, min(held), max(held)) for name, held in scales.items() if held),
        notes=tuple(problems),
    )


def write_judgments(study: Study, file: IO[str], *, campaign: str = "") -> None:
    """The judgments of a campaign, one per row, with the times of its assignment. Safe to open in a spreadsheet."""
    work = {(done.task, done.judge): done for done in study.assignments}
    rows = []
    for j in study.judgments:
        done = work[j.task, j.judge]
        about = (campaign, j.task, j.topic, j.system, j.other, j.unit, j.aspect, j.judge)
        rows.append((*about, j.value, done.accepted, done.submitted, done.seconds))
    write_rows(file, WRITTEN, rows)


@lru_cache(maxsize=64)
def _columns(names: tuple[str, ...]) -> dict[str, str]:
    """Which column of the file is which."""
    lower = {name.lower(): name for name in reversed(names)}
    return {part: lower[alias] for part, known in ALIASES.items() for alias in reversed(known) if alias in lower}


def _judgment(cells: Mapping[str, Any], where: str, problems: Problems) -> Judgment | None:
    columns = _columns(tuple(cells))
    if missing := [part for part in NEEDED if part not in columns]:
        problems.error(where, f"no column for the {missing[0]}: it may be called {', '.join(ALIASES[missing[0]])}")
        return None
    held = {part: _text(cells[name]) for part, name in columns.items()}
    for part in ("judge", "topic", "system"):
        if not held[part]:
            problems.error(where, f"{columns[part]} is empty")
            return None
    value = parse_number(held["value"])
    if held["value"] and value is None:
        problems.error(where, f"{columns['value']} {held['value'][:40]!r} is not a number")
        return None
    task = held.get("task", "")
    unit = " ".join(filter(None, (task if columns.get("task") == "predicate" else "", held.get("unit", ""))))
    aspect = "" if unit else held.get("aspect", "") or columns["value"]
    other = held.get("other", "")
    return Judgment(held["topic"], held["system"], held["judge"], value, unit, aspect, task, other=other)


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value.strip() if isinstance(value, str) else json.dumps(value)
