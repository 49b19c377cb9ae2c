"""Judgments as a plain long table: one answer per row, or one row per judge and summary with a column for each scale.

judge (annotator, worker, rater, assessor), topic (document, id, ...), system, value (score, rating, present, answer),
and a unit or an aspect where there is one; without either, the values rate one aspect named after their column, and
without a column of values every column of numbers is an aspect. other (opponent) is the second system if two were
compared. Summaries and references are read where there are columns for them; a study without texts is a study.
Without a system, what was judged are items: each is a topic of one system, or both where all are called topic/system.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from pyramidion.errors import Problems
from pyramidion.formats import Format
from pyramidion.formats.columns import (
    INDEX,
    JUDGMENTS,
    PREDICTION,
    REFERENCE,
    SOURCE,
    Columns,
    check_columns,
    matching,
)
from pyramidion.formats.files import from_file_name, parse_number, write_rows
from pyramidion.formats.jsonl import is_native
from pyramidion.formats.mturk.columns import ANSWERS
from pyramidion.formats.rows import (
    BadCellError,
    RowTable,
    first_row,
    is_missing,
    is_number,
    is_table,
    read_table,
    reference_names,
    size_in_words,
    text_in,
    texts_in,
)
from pyramidion.study import Aspect, Column, ContentUnit, Judge, Judgment, Pyramid, Study, Summary, Topic
from pyramidion.study.judgments import Judgments, JudgmentsBuilder

WRITTEN = (
    *("campaign", "task", "topic", "system", "other", "unit", "aspect"),
    *("worker", "value", "start", "submit", "seconds"),
)
NEEDED = ("judge", "topic", "system")
TIMES = ("start", "submit", "seconds", "campaign", "time", "worktimeinseconds", "measure", "metrics")
"""Columns of numbers that are not ratings."""
NO_ANSWER = ("", "n/a", "na", "-")
"""What people write, in any case, where there is no answer."""
ITEM = "item"


@dataclass(frozen=True)
class _Layout:
    """Which column is which; ``scales`` are columns of ratings, one for each aspect. For the role that is ``assumed``
    there is no column: everything is of the ``only`` system or topic, unless items are ``split`` into both."""

    columns: Mapping[str, str]
    scales: tuple[str, ...]
    summary: str | None
    references: tuple[str, ...]
    unused: tuple[str, ...]
    assumed: str = ""
    only: str = ""
    split: bool = False

    @property
    def missing(self) -> list[str]:
        wanted = NEEDED if self.scales else (*NEEDED, "value")
        return [role for role in wanted if role not in self.columns and role != self.assumed]

    def described(self) -> str:
        read = [f"{role} from {name}" for role, name in self.columns.items()]
        if self.split:
            read[list(self.columns).index("topic")] = f"topic/system from {self.columns['topic']}"
        elif self.assumed:
            read.append(f"all {'by' if self.assumed == 'system' else 'on'} one {self.assumed}, called {self.only}")
        if self.scales:
            read.append(f"aspects {', '.join(self.scales)}")
        kind = "one column per scale" if self.scales else "one row per answer"
        not_used = f"; not used: {', '.join(self.unused)}" if self.unused else ""
        return f"a table of judgments, {kind}: {', '.join(read)}{not_used}"


def _layout(names: list[str], given: Columns, numbers: Iterable[str]) -> _Layout:
    taken = {name for held in given.values() for name in held}
    free = [name for name in names if name not in taken]
    columns = {}
    for role, known in JUDGMENTS.items():
        if name := given[role][0] if role in given else next(iter(matching(free, known)), None):
            columns[role] = name
    summary = next(iter(given.get("summary", matching(free, PREDICTION))), None)
    references = tuple(given.get("reference", matching(free, REFERENCE)))
    texts = (*given.get("summary", matching(free, PREDICTION)), *references)
    scales: tuple[str, ...] = ()
    if "value" not in columns and "unit" not in columns:
        about = {*columns.values(), *texts, *matching(names, (*SOURCE, *INDEX, *TIMES))}
        scales = tuple(name for name in numbers if name not in about)
    used = {*columns.values(), *scales, summary, *references, *matching(names, INDEX)}
    unused = tuple(name for name in names if name not in used)
    assumed = "" if texts else _assumed(columns, given)
    return _Layout(columns, scales, summary, references, unused, assumed)


def _assumed(columns: Mapping[str, str], given: Columns) -> str:
    """What a table of items needs no column for. Without a value, columns of numbers may be systems instead of scales,
    unless rows are about items; and who takes items for systems must have said so."""
    if "system" not in columns and "topic" in columns:
        return "system" if "value" in columns or columns["topic"].strip().lower() == ITEM else ""
    return "topic" if "topic" not in columns and "system" in given else ""


def recognises(path: Path, columns: Columns | None = None) -> bool:
    """Whether a file has a column for the judge, the topic or item, and the value, or for values on scales."""
    row = first_row(path) if is_table(path) else {}
    if not row or is_native(row):
        return False
    names = [*row]
    if {"measure", "metrics"} & {*names}:
        return False
    numbers = [name for name in names if is_number(row[name])]
    # Beside texts a cell without an answer is as likely an empty remark.
    if not matching(names, (*PREDICTION, *REFERENCE)):
        numbers += [name for name in names if _is_unanswered(row[name])]
    return not _layout(names, columns or {}, numbers).missing


def read(source: Any, problems: Problems, columns: Columns | None = None) -> Study:
    table = read_table(source, problems)
    where = str(source) if isinstance(source, Path) else "the table"
    check_columns(columns or {}, table.columns, where)
    layout = _layout(table.columns, columns or {}, [name for name in table.columns if _holds_ratings(table, name)])
    for role in layout.missing:
        known = f"it may be called {', '.join(JUDGMENTS[role])}, or be named with --columns {role}=COLUMN"
        problems.error(where, f"no column for the {role}: {known}")
    if layout.missing:
        return Study()
    if layout.assumed:
        split = layout.assumed == "system" and _are_pairs(table, layout.columns["topic"])
        layout = replace(layout, only=from_file_name(table.name) or layout.assumed, split=split)
    collected = _Collected(layout, problems)
    study = collected.study(table)
    if unanswered := collected.unanswered:
        by_column = ", ".join(f"{count:,} in {column}" for column, count in unanswered.items())
        problems.warning(where, f"answers that are missing (the cell is empty, n/a, NA or -): {by_column}")
    size = size_in_words(rows=len(table.rows), judges=len(study.judges), topics=len(study.topics))
    problems.recognised = f"{source.name + ': ' if isinstance(source, Path) else ''}{layout.described()} ({size})"
    return study


def _is_unanswered(cell: Any) -> bool:
    return _text(cell).lower() in NO_ANSWER


def _holds_ratings(table: RowTable, column: str) -> bool:
    """Whether most answers in a column are numbers; one that is not is an error in a scale rather than a remark."""
    cells = [cell for _, row in table.rows if not _is_unanswered(cell := row.get(column))]
    return sum(map(is_number, cells)) * 2 > len(cells)


def _are_pairs(table: RowTable, column: str) -> bool:
    """Whether all items are called ``topic/system``, and some share their topic or their system."""
    items = {_text(row.get(column)) for _, row in table.rows} - {""}
    pairs = [item.split("/") for item in items]
    if not all(len(pair) == 2 and all(part.strip() for part in pair) for pair in pairs):
        return False
    return any(len({pair[side] for pair in pairs}) < len(pairs) for side in (0, 1))


@dataclass
class _Collected:
    """The rows of a table, which become a study."""

    layout: _Layout
    problems: Problems
    builder: JudgmentsBuilder = field(default_factory=JudgmentsBuilder)
    seen: dict[tuple[str, ...], tuple[str, int]] = field(default_factory=dict)
    lower: dict[int, float] = field(default_factory=dict)
    units: dict[str, dict[str, str]] = field(default_factory=dict)
    texts: dict[tuple[str, str], str] = field(default_factory=dict)
    references: dict[str, dict[str, None]] = field(default_factory=dict)
    unanswered: Counter[str] = field(default_factory=Counter)

    def study(self, table: RowTable) -> Study:
        for where, cells in table.rows:
            of_row = list(self._judgments(where, cells))
            for judgment in of_row:
                self._add(where, judgment)
            if of_row:
                self._add_texts(where, cells, of_row[0])
        judgments = self._lowered(self.builder.build())
        if self.texts:  # tasks of texts are declared with what they ask, which a table does not say
            judgments = judgments.with_columns(task=Column.repeat("", len(judgments)))
        names = reference_names(max(map(len, self.references.values()), default=0))
        references = (
            Summary(topic, name, text, "reference")
            for topic, texts in sorted(self.references.items())
            for name, text in zip(names, sorted(texts), strict=True)
        )
        peers = (Summary(topic, system, text) for (topic, system), text in sorted(self.texts.items()))
        return Study(
            topics=tuple(Topic(name) for name in judgments.topic.names),
            summaries=(*references, *peers),
            pyramids=tuple(
                Pyramid(topic, (), tuple(ContentUnit(unit, label) for unit, label in judged.items()), "crowd")
                for topic, judged in self.units.items()
            ),
            judges=tuple(Judge(name) for name in judgments.judge.names),
            judgments=judgments,
            aspects=tuple(_aspects(judgments)),
        )

    def _add(self, where: str, judgment: Judgment) -> None:
        about = (judgment.topic, judgment.system, judgment.other, judgment.unit, judgment.aspect)
        key = (*about, judgment.judge, judgment.task)
        if key in self.seen:
            first, row = self.seen[key]
            self.problems.error(where, f"the same judge answers the same question twice (first: {first})")
            if judgment.value is not None:
                self.lower[row] = min(judgment.value, self.lower.get(row, math.inf))
            return
        self.seen[key] = (where.rpartition(", ")[2], len(self.seen))
        self.builder.add(judgment)

    def _lowered(self, judgments: Judgments) -> Judgments:
        """Of two answers to one question the lower one counts, whichever comes first."""
        if not self.lower:
            return judgments
        rows, values = list(self.lower), judgments.value.copy()
        values[rows] = np.fmin(values[rows], list(self.lower.values()))
        return judgments.with_columns(value=values)

    def _judgments(self, where: str, cells: Mapping[str, Any]) -> Iterator[Judgment]:
        columns = self.layout.columns
        held = {self.layout.assumed: self.layout.only}
        held |= {role: _text(cells.get(name)) for role, name in columns.items()}
        for role in NEEDED:
            if not held[role]:
                self.problems.error(where, f"{columns[role]} is empty")
                return
        if self.layout.split:
            held["topic"], held["system"] = (part.strip() for part in held["topic"].split("/"))
        task = held.get("task", "")
        unit = " ".join(
            filter(None, (task if columns.get("task", "").lower() == "predicate" else "", held.get("unit", "")))
        )
        for column in self.layout.scales or (columns["value"],):
            written = _text(cells.get(column))
            value = parse_number(written)
            if value is None and not self.layout.scales:
                value = ANSWERS.get(written.lower())
            if _is_unanswered(written):
                self.unanswered[column] += 1
            elif value is None:
                expected = "a number" if self.layout.scales or not unit else "a number, yes or no"
                self.problems.error(where, f"{column} {written[:40]!r} is not {expected}")
                continue
            aspect = "" if unit else column if self.layout.scales else held.get("aspect", "") or column
            if unit:
                self.units.setdefault(held["topic"], {}).setdefault(unit, held.get("label", "") or held["unit"])
            about = (held["topic"], held["system"], held["judge"], value, unit, aspect, task)
            yield Judgment(*about, other=held.get("other", ""))

    def _add_texts(self, where: str, cells: Mapping[str, Any], judgment: Judgment) -> None:
        try:
            if self.layout.summary and not is_missing(cell := cells.get(self.layout.summary)):
                text = text_in(cell, self.layout.summary, where, self.problems)
                known = self.texts.setdefault((judgment.topic, judgment.system), text or "")
                if text is not None and known != text:
                    self.problems.error(where, f"topic {judgment.topic} has another summary by {judgment.system}")
            for column in self.layout.references:
                for text in texts_in(cells.get(column), column, where, self.problems):
                    self.references.setdefault(judgment.topic, {})[text] = None
        except BadCellError as error:
            self.problems.error(where, str(error))


def _aspects(judgments: Judgments) -> Iterator[Aspect]:
    """Scales run from the lowest value to the highest that was given; one value alone is the lower end."""
    for name in filter(None, judgments.aspect.names):
        given = judgments.value[judgments.aspect.is_in({name}) & ~np.isnan(judgments.value)]
        if len(given):
            low, high = float(given.min()), float(given.max())
            yield Aspect(name, low, high if high > low else low + 1)


def write_judgments(study: Study, file: IO[str], *, campaign: str = "") -> None:
    """The judgments of a campaign, one per row, with the times of its assignment. Safe to open in a spreadsheet."""
    work = {(done.task, done.judge): done for done in study.assignments}
    rows = []
    for j in study.judgments:
        done = work[j.task, j.judge]
        about = (campaign, j.task, j.topic, j.system, j.other, j.unit, j.aspect, j.judge)
        rows.append((*about, j.value, done.accepted, done.submitted, done.seconds))
    write_rows(file, WRITTEN, rows)


def _text(value: Any) -> str:
    if is_missing(value):
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value.strip() if isinstance(value, str) else json.dumps(value, default=str)


FORMAT = Format(
    name="judgments",
    title="tables of judgments (CSV, TSV, JSON, JSON Lines, Parquet): one row per answer, or one column per scale",
    recognises=recognises,
    read=read,
    holds=frozenset({"unit judgments", "ratings", "references", "peers"}),
    by_columns=True,
)
