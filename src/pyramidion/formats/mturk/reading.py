"""Reading LitePyramids and MTurk CSVs into one study."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from pyramidion.errors import Problems
from pyramidion.formats.files import break_at_marks, files, parse_number, read_header, read_rows, subfolders
from pyramidion.formats.mturk.columns import (
    ANSWERS,
    BLANK,
    PYRAMID,
    REQUIRED,
    Kind,
    answer_column,
    ignored_columns,
    kind_of,
    missing_columns,
    split_ids,
    statement_columns,
    system_of,
)
from pyramidion.study import Assignment, ContentUnit, Contributor, Judge, Judgment, Pyramid, Study, Summary, Task, Topic
from pyramidion.study.judgments import JudgmentsBuilder
from pyramidion.study.texts import Role

_Row = dict[str, str]


class _BadRowError(Exception):
    """A row that cannot be used; its message goes to the problems with the row's address."""


def recognises(path: Path) -> bool:
    return any(kind_of(read_header(file)) for file in _files(path))


def _files(path: Path) -> list[Path]:
    """One file, those of a folder, or those of its folders if it has none itself."""
    if path.is_file():
        return [path] if path.suffix.lower() == ".csv" else []
    return files(path, ".csv") or [
        f for folder in (subfolders(path) if path.is_dir() else ()) for f in files(folder, ".csv")
    ]


def read(path: Path, problems: Problems) -> Study:
    reader = _Reader(problems)
    tables = _tables(path, problems)
    renamed = _same_names(tables)
    for kind, file in tables:
        for where, row in read_rows(file, problems):
            if (id := row.get("Input.summaryId", "")) in renamed:
                row["Input.summaryId"] = f"{file.parent.name}_{id}"
            try:
                reader.add(kind, file, where, row)
            except _BadRowError as error:
                problems.error(where, str(error))
    if reader.anonymous:
        what = "no WorkerId: the n-th answer on a summary is called anonymous-n, so nothing is known of single workers"
        problems.warning(str(path), f"{reader.anonymous:,} answers have {what}")
    return reader.study()


def _same_names(tables: list[tuple[Kind, Path]]) -> set[str]:
    """The ids of summaries that have different texts on the same topic in different folders: two systems of one
    name, which the folder's name tells apart."""
    if len({file.parent for _, file in tables}) < 2:
        return set()
    texts: dict[tuple[str, str], dict[str, Path]] = defaultdict(dict)
    for kind, file in tables:
        if kind == "judging results":
            for _, row in read_rows(file, Problems()):
                texts[row["Input.eventId"], row["Input.summaryId"]].setdefault(row["Input.summary_text"], file.parent)
    return {id for (_, id), held in texts.items() if len({*held.values()}) > 1}


def _tables(path: Path, problems: Problems) -> list[tuple[Kind, Path]]:
    """The usable files of each kind, kinds in reading order and files by name."""
    tables = [path] if path.is_file() else _files(path)
    kinds: dict[Kind, list[Path]] = {kind: [] for kind in REQUIRED}
    for file in tables:
        header = read_header(file)
        kind = kind_of(header)
        if kind is not None:
            if _check_columns(kind, file, header, problems):
                kinds[kind].append(file)
        elif file != path:
            problems.warning(str(file), "is ignored: its columns are not those of an MTurk or LitePyramids file")
    if not any(kind_of(read_header(file)) for file in tables):
        problems.error(str(path), f"has none of: {', '.join(REQUIRED)} (recognised by their columns)")
    return [(kind, file) for kind, named in kinds.items() for file in named]


def _check_columns(kind: Kind, file: Path, header: list[str], problems: Problems) -> bool:
    missing = missing_columns(kind, header)
    twice = sorted({name for name in header if header.count(name) > 1})
    for name in missing:
        problems.error(str(file), f"looks like a file of {kind}, but has no column {name!r}")
    for name in twice:
        problems.error(str(file), f"has the column {name!r} more than once")
    if ignored := ignored_columns(kind, header):
        problems.warning(str(file), f"columns that are not used: {', '.join(map(repr, ignored))}")
    return not missing and not twice


def _required_cell(row: _Row, column: str) -> str:
    if not row[column].strip():
        raise _BadRowError(f"column {column!r} is empty")
    return row[column].strip()


@dataclass
class _ListedUnit:
    """A unit of the unit files, and what each file says about its use."""

    unit: ContentUnit
    uses: dict[Path, str] = field(default_factory=dict)


class _Units:
    """Units from three sources. The unit files know best, then the judged statements, then what writers wrote."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.listed: dict[str, dict[str, _ListedUnit]] = defaultdict(dict)
        self.stated: dict[str, dict[str, str]] = defaultdict(dict)
        self.stating: dict[tuple[str, str], str] = {}
        """Which unit of a topic has a text."""
        self.written: dict[str, list[ContentUnit]] = defaultdict(list)

    def add_row(self, file: Path, row: _Row) -> None:
        topic, reference = _required_cell(row, "eventId"), row["sourceSummaryId"].strip()
        unit = ContentUnit(
            id=_required_cell(row, "questionId"),
            label=row["questionText"],
            contributors=(Contributor(system_of(reference)),) if reference else (),
            author=row["author"].strip(),
        )
        if not unit.label.strip():
            raise _BadRowError("column 'questionText' is empty")
        known = self.listed[topic].setdefault(unit.id, _ListedUnit(unit))
        if known.unit != unit:
            raise _BadRowError(f"unit {unit.id} of {topic} has a different text, author or source than before")
        if file in known.uses:
            raise _BadRowError(f"unit {unit.id} of {topic} is in this file twice")
        use = row["forUse"].strip()
        known.uses[file] = "" if use == "0" else use
        if sum(map(bool, known.uses.values())) > 1 and known.uses[file]:
            raise _BadRowError(f"unit {unit.id} of {topic} is in two batches")

    def add_statement(self, topic: str, id: str, text: str) -> None:
        """Check a judged statement against what is known of its unit; without unit files it makes the unit."""
        if topic in self.listed:
            if id not in self.listed[topic]:
                raise _BadRowError(f"unit {id} of {topic} is not in the unit file")
            expected = self.listed[topic][id].unit.label
        else:
            stated = self.stated[topic]
            if id not in stated and (other := self.stating.setdefault((topic, text), id)) != id:
                raise _BadRowError(f"unit {id} of {topic} has the text of unit {other}: {text[:60]!r}")
            expected = stated.setdefault(id, text)
        if text != expected:
            raise _BadRowError(f"unit {id} of {topic} has a different text than before: {text[:60]!r}")

    def add_written(self, topic: str, reference: str, author: str, label: str) -> None:
        known = self.written[topic]
        known.append(ContentUnit(str(len(known) + 1), label, (Contributor(reference),), author=author))

    def pyramid(self, topic: str, references: set[str]) -> Pyramid | None:
        if topic in self.written and (topic in self.listed or topic in self.stated):
            count = len(self.written[topic])
            what = (
                f"{count} units of the writing results are left out, because other files here say which units are used"
            )
            self.problems.warning(f"topic {topic}", what)
        if topic in self.stated:
            units = tuple(ContentUnit(id, label) for id, label in self.stated[topic].items())
            return Pyramid(topic, (), units, PYRAMID)
        units = tuple(self._units_with_groups(topic)) or tuple(self.written.get(topic, ()))
        named = {name for unit in units for name in unit.references}
        return Pyramid(topic, tuple(sorted(named | references)), units, PYRAMID) if units else None

    def _units_with_groups(self, topic: str) -> Iterator[ContentUnit]:
        """With several files over the same units, each is a batch, and forUse only says yes or no."""
        listed = self.listed.get(topic, {}).values()
        batches = sorted({file for entry in listed for file in entry.uses})
        several = any(len(entry.uses) > 1 for entry in listed)
        for entry in listed:
            file, use = next(((file, use) for file, use in entry.uses.items() if use), (None, ""))
            group = str(batches.index(file) + 1) if several and file is not None and use == "1" else use
            yield replace(entry.unit, group=group)


class _PlannedTasks:
    """Tasks of input files without ids: each gets its number among the tasks of its summary.

    A second input file starts counting anew: a task that an earlier file has at the same number or after it is that
    task; another gets the next number.
    """

    def __init__(self) -> None:
        self.tasks: list[Task] = []
        self.rows: Counter[tuple[Path, str, str]] = Counter()
        self.named: Counter[str] = Counter()
        self.last: dict[tuple[str, str, tuple[str, ...]], int] = {}
        """The greatest number of a task with these units."""

    def add(self, file: Path, task: Task) -> None:
        name, about = f"{task.topic}/{task.system}", (task.topic, task.system, task.units)
        self.rows[file, task.topic, task.system] += 1
        if self.last.get(about, 0) < self.rows[file, task.topic, task.system]:
            self.named[name] += 1
            self.last[about] = self.named[name]
            self.tasks.append(replace(task, id=f"{name}/{self.named[name]}"))


class _Reader:
    """Collects the rows of all files into one study."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.topics: dict[str, None] = {}
        self.summaries: dict[tuple[str, Role, str], Summary] = {}
        self.units = _Units(problems)
        self.planned = _PlannedTasks()
        self.tasks: dict[str, Task] = {}
        self.judges: dict[str, Judge] = {}
        self.assignments: list[Assignment] = []
        self.seen: dict[tuple[Kind, str], tuple[str, ...]] = {}
        self.judgments = JudgmentsBuilder()
        self.answered: dict[tuple[str, str, tuple[str, ...]], int] = defaultdict(int)
        self.anonymous = 0

    def add(self, kind: Kind, file: Path, where: str, row: _Row) -> None:
        if kind == "units":
            if row.get("answer", "Y").strip() != "Y":
                self.problems.warning(where, f"answer {row['answer']!r} is ignored; only Y is allowed")
            self.units.add_row(file, row)
            self.topics[_required_cell(row, "eventId")] = None
        elif kind == "writing input":
            self._summary("reference", row)
        elif kind == "judging input":
            self._add_planned_task(file, row)
        elif self._is_usable(kind, where, row):
            if kind == "judging results":
                self._add_answers(where, row)
            else:
                self._add_statements(row)

    def _summary(self, role: Role, row: _Row, prefix: str = "") -> Summary:
        topic, id = _required_cell(row, f"{prefix}eventId"), _required_cell(row, f"{prefix}summaryId")
        system, text = system_of(id), break_at_marks(row[f"{prefix}summary_text"])
        summary = Summary(topic, system, text, role, source=id if id != system else "")
        known = self.summaries.setdefault((topic, role, system), summary)
        if known.text != text:
            raise _BadRowError(f"{role} {system} of {topic} has a different text than before")
        self.topics[topic] = None
        return known

    def _is_usable(self, kind: Kind, where: str, row: _Row) -> bool:
        """Whether to use a result: not rejected, and not read before."""
        if row.get("AssignmentStatus", "").strip().lower() == "rejected":
            self.problems.warning(where, "is a rejected assignment; it is left out")
            return False
        id = row.get("AssignmentId", "").strip()
        # Only what was said: its status and approval may have changed between two downloads.
        about = (row.get("HITId", ""), row.get("WorkerId", ""))
        answers = (*about, *(cell for name, cell in row.items() if name.startswith("Answer.")))
        if not id or (kind, id) not in self.seen:
            self.seen[kind, id] = answers
            return True
        if self.seen[kind, id] != answers:
            raise _BadRowError(f"assignment {id} was read before with different answers")
        self.problems.warning(where, f"assignment {id} appears twice; it is read once")
        return False

    # -- judging ---------------------------------------------------------------------------------------------

    def _task(self, id: str, row: _Row, statements: dict[int, str], prefix: str = "") -> Task:
        """The task of a row, after checking that ids, statements and summary agree with what is known."""
        topic, cell = _required_cell(row, f"{prefix}eventId"), row[f"{prefix}qIdList"]
        shown = _shown(row)
        if (given := split_ids(cell, len(shown))) is None:
            raise _BadRowError(f"column '{prefix}qIdList' is {cell!r}: not {len(shown)} ids, one per statement")
        ids = [id for id, number in zip(given, shown, strict=True) if number in statements]
        if len(set(ids)) < len(ids):
            raise _BadRowError(f"column '{prefix}qIdList' is {cell!r}: an id appears twice")
        peer = self._summary("peer", row, prefix)
        for unit, text in zip(ids, statements.values(), strict=True):
            self.units.add_statement(topic, unit, text)
        return Task(id, topic, peer.system, tuple(ids))

    def _add_planned_task(self, file: Path, row: _Row) -> None:
        task = self._task(row.get("HITId", "").strip(), row, _statements(row))
        if task.id:
            self._add_task(task)
        elif task.units:
            self.planned.add(file, task)

    def _add_task(self, task: Task) -> None:
        if self.tasks.setdefault(task.id, task) != task:
            raise _BadRowError(f"HIT {task.id} appeared before with another summary or other units")

    def _anonymous(self, task: Task) -> tuple[Task, str]:
        """A task and its worker in a file without their ids. An answer of somebody unknown is a task of its own, so
        that nobody's agreement with others is measured."""
        self.anonymous += 1
        about = (task.topic, task.system, task.units)
        self.answered[about] += 1
        number = self.answered[about]
        return replace(task, id=f"{task.topic}/{task.system}/answer-{number}"), f"anonymous-{number}"

    def _add_answers(self, where: str, row: _Row) -> None:
        statements = _statements(row)
        answers, seconds = _answers(row, statements), _seconds(row)
        if "WorkerId" in row:
            judge = _required_cell(row, "WorkerId")
            task = self._task(_required_cell(row, "HITId"), row, statements, "Input.")
        else:
            task, judge = self._anonymous(self._task("", row, statements, "Input."))
        self._add_task(task)
        for number, name in statement_columns(row).items():
            if not row[name].strip() and row[answer_column(number)].strip():
                self.problems.warning(where, f"column {answer_column(number)!r} has an answer, but {name!r} is empty")
        self.judges.setdefault(judge, Judge(judge, "crowd"))
        work = Assignment(
            task=task.id,
            judge=judge,
            id=row.get("AssignmentId", "").strip(),
            accepted=row.get("AcceptTime", "").strip(),
            submitted=row.get("SubmitTime", "").strip(),
            seconds=seconds,
        )
        if work != Assignment(task.id, judge):
            self.assignments.append(work)
        for unit, value in zip(task.units, answers, strict=True):
            self.judgments.add(Judgment(task.topic, task.system, judge, value, unit=unit, task=task.id))

    # -- writing ---------------------------------------------------------------------------------------------

    def _add_statements(self, row: _Row) -> None:
        author = _required_cell(row, "WorkerId")
        reference = self._summary("reference", row, "Input.")
        for column, cell in row.items():
            if column.startswith("Answer.") and cell.strip():
                self.units.add_written(reference.topic, reference.system, author, cell.strip())

    def study(self) -> Study:
        references: dict[str, set[str]] = defaultdict(set)
        for topic, role, system in self.summaries:
            if role == "reference":
                references[topic].add(system)
        pyramids = [self.units.pyramid(topic, references[topic]) for topic in self.topics]
        done = {(task.topic, task.system, task.units) for task in self.tasks.values()}
        waiting = [task for task in self.planned.tasks if (task.topic, task.system, task.units) not in done]
        return Study(
            topics=tuple(map(Topic, self.topics)),
            summaries=tuple(self.summaries.values()),
            pyramids=tuple(pyramid for pyramid in pyramids if pyramid is not None),
            judges=tuple(self.judges.values()),
            judgments=self.judgments.build(),
            tasks=(*self.tasks.values(), *waiting),
            assignments=tuple(self.assignments),
        )


def _shown(row: _Row) -> dict[int, str]:
    """What is shown in place of statements, by the number of their column."""
    return {number: row[name] for number, name in statement_columns(row).items() if row[name].strip()}


def _statements(row: _Row) -> dict[int, str]:
    """The statements shown, by the number of their column."""
    return {number: text for number, text in _shown(row).items() if text.strip() != BLANK}


def _answers(row: _Row, statements: dict[int, str]) -> list[float | None]:
    answers = []
    for number in statements:
        column = answer_column(number)
        answer = row[column].strip().lower()
        if answer not in ANSWERS:
            raise _BadRowError(f"column {column!r} is {row[column]!r}, neither p (present) nor n (not present)")
        answers.append(ANSWERS[answer])
    return answers


def _seconds(row: _Row) -> float | None:
    cell = row.get("WorkTimeInSeconds", "").strip()
    seconds = parse_number(cell)
    if cell and seconds is None:
        raise _BadRowError(f"column 'WorkTimeInSeconds' is {cell!r}, which is not a number")
    return seconds
