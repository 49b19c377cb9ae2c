"""Write LitePyramids and MTurk files: what to upload for writing and judging, and results as they are downloaded."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyramidion.errors import Problems, UsageError
from pyramidion.formats.files import new_file, new_folder, write_rows
from pyramidion.formats.mturk.columns import PYRAMID, answer_column, join_ids, system_of
from pyramidion.study import Assignment, Study, Task
from pyramidion.study.texts import Role

_NAME = "mturk"
_UNIT_COLUMNS = ("eventId", "questionId", "questionText", "answer", "author", "sourceSummaryId", "forUse")
_WRITING_COLUMNS = ("eventId", "summaryId", "summary_text")
_JUDGING_COLUMNS = ("eventId", "summaryId", "qIdList", "summary_text")
_RESULT_COLUMNS = ("HITId", "AssignmentId", "WorkerId", "AcceptTime", "SubmitTime", "WorkTimeInSeconds")
_ANSWER_OF: dict[float | None, str] = {1.0: "p", 0.0: "n", None: ""}

_Answers = dict[str, float | None]


@dataclass(frozen=True)
class _Table:
    header: Sequence[str]
    rows: list[list[str]]


def write(study: Study, path: Path, problems: Problems) -> None:
    writer = _Writer(study, problems)
    single = path.suffix.lower() == ".csv"
    tables = {**writer.units(single), **writer.writing_input(), **writer.judging()}
    if not tables:
        raise UsageError("the study has no units, references or judging tasks to write for MTurk")
    if single and len(tables) > 1:
        raise UsageError(f"{path} is one file, but the study needs {', '.join(tables)}; give a folder instead")
    writer.report_left_out(tables)
    if single:
        _write_table(path, next(iter(tables.values())))
        return
    with new_folder(path) as root:
        for name, table in tables.items():
            _write_table(root / name, table)


def _write_table(path: Path, table: _Table) -> None:
    with new_file(path) as file:
        write_rows(file, table.header, table.rows)


class _Writer:
    """Makes the tables of one study, and reports what does not fit into them."""

    def __init__(self, study: Study, problems: Problems) -> None:
        self.study = study
        self.problems = problems
        self.pyramid_name = self._chosen_pyramid()
        self.pyramids = {
            pyramid.topic: tuple(unit for unit in pyramid.units if unit.label.strip())
            for pyramid in study.pyramids
            if pyramid.name == self.pyramid_name
        }
        self.labels = {(topic, unit.id): unit.label for topic, units in self.pyramids.items() for unit in units}

    def _chosen_pyramid(self) -> str:
        names = self.study.pyramid_names
        chosen = PYRAMID if PYRAMID in names or len(names) != 1 else names[0]
        for name in names:
            if name != chosen:
                self.problems.warning(f"pyramid {name}", "is left out: these files hold one pyramid per topic")
            elif name != PYRAMID:
                self.problems.warning(f"pyramid {name}", f"will be read back as {PYRAMID!r}")
        return chosen

    def _warn(self, count: int, what: str) -> None:
        if count:
            self.problems.warning(_NAME, f"{what}: {count}")

    def _summary_id(self, topic: str, system: str, role: Role) -> str:
        """The id a summary had where it came from, if it says whose it is; else the name of its system."""
        summary = self.study.summary(topic, system, role)
        return summary.source if summary and summary.source and system_of(summary.source) == system else system

    # -- units and references --------------------------------------------------------------------------------

    def units(self, single: bool) -> dict[str, _Table]:
        """One file for each group of units, as LitePyramids has it: all units, with the group's own marked."""
        self._report_units()
        groups = sorted(
            {unit.group for units in self.pyramids.values() for unit in units if unit.group}, key=_group_order
        )
        if not any(self.pyramids.values()):
            return {}
        if single or len(groups) <= 1:
            return {"units.csv": _Table(_UNIT_COLUMNS, list(self._unit_rows({group: group for group in groups})))}
        width = len(str(len(groups)))
        tables = {}
        for number, group in enumerate(groups, 1):
            marks = {group: "1" if group == str(number) else group}
            tables[f"units-{number:0{width}}.csv"] = _Table(_UNIT_COLUMNS, list(self._unit_rows(marks)))
        return tables

    def _unit_rows(self, marks: dict[str, str]) -> Iterator[list[str]]:
        for topic in self.study.topics:
            for unit in self.pyramids.get(topic.id, ()):
                source = unit.contributors[0].reference if unit.contributors else ""
                source = self._summary_id(topic.id, source, "reference")
                yield [topic.id, unit.id, unit.label, "Y", unit.author, source, marks.get(unit.group, "0")]

    def _report_units(self) -> None:
        references: dict[str, set[str]] = defaultdict(set)
        for summary in self.study.references:
            references[summary.topic].add(summary.system)
        for pyramid in self.study.pyramids:
            if pyramid.name != self.pyramid_name:
                continue
            for unit in pyramid.units:
                if not unit.label.strip():
                    self.problems.warning(
                        f"topic {pyramid.topic}, unit {unit.id}", "has an empty label and is left out"
                    )
            kept = self.pyramids[pyramid.topic]
            held = references[pyramid.topic] | {unit.contributors[0].reference for unit in kept if unit.contributors}
            if held != set(pyramid.references):
                what = f"its references read back as {', '.join(sorted(held)) or 'none'}"
                self.problems.warning(f"topic {pyramid.topic}, pyramid {pyramid.name}", what)
        kept_units = [unit for units in self.pyramids.values() for unit in units]
        self._warn(sum(len(unit.references) > 1 for unit in kept_units), "units lose all references but the first")
        self._warn(sum(unit.group == "0" for unit in kept_units), "units whose group '0' will be read back as not used")

    def writing_input(self) -> dict[str, _Table]:
        rows = [[s.topic, self._summary_id(s.topic, s.system, "reference"), s.text] for s in self.study.references]
        return {"writing_input.csv": _Table(_WRITING_COLUMNS, rows)} if rows else {}

    # -- judging ---------------------------------------------------------------------------------------------

    def judging(self) -> dict[str, _Table]:
        tasks = {task.id: task for task in self.study.tasks if self._fits(task)}
        self._warn(len(self.study.tasks) - len(tasks), "tasks left out, because their peers or units are not written")
        answers = self._answers(tasks)
        tables: dict[str, _Table] = {}
        most = max((len(task.units) for task in tasks.values()), default=1) or 1
        shown = [*_JUDGING_COLUMNS, *(f"statement_{number}" for number in range(1, most + 1))]
        if tasks:
            rows = [[*self._input_cells(task, most), task.id] for task in tasks.values()]
            tables["judging_input.csv"] = _Table([*shown, "HITId"], rows)
        rows = list(self._result_rows(tasks, answers, most))
        if rows:
            answered = [answer_column(number) for number in range(1, most + 1)]
            header = [*_RESULT_COLUMNS, *(f"Input.{name}" for name in shown), *answered]
            tables["judging_results.csv"] = _Table(header, rows)
        return tables

    def _fits(self, task: Task) -> bool:
        known = all((task.topic, unit) in self.labels for unit in task.units)
        return known and self.study.summary(task.topic, task.system) is not None

    def _input_cells(self, task: Task, most: int) -> list[str]:
        peer = self.study.summary(task.topic, task.system)
        assert peer is not None
        statements = [self.labels[task.topic, unit] for unit in task.units]
        blanks = [""] * (most - len(statements))
        id = self._summary_id(task.topic, task.system, "peer")
        return [task.topic, id, join_ids(task.units), peer.text, *statements, *blanks]

    def _answers(self, tasks: dict[str, Task]) -> dict[tuple[str, str], _Answers]:
        """What each judge said in each task. Judgments without a task get one for each summary, added to the tasks."""
        crowd = self.study.judges_of("crowd")
        answers: dict[tuple[str, str], _Answers] = defaultdict(dict)
        loose: dict[tuple[str, str], dict[str, _Answers]] = defaultdict(lambda: defaultdict(dict))
        left_out = without_text = 0
        for judgment in self.study.judgments:
            if judgment.judge not in crowd or (judgment.topic, judgment.unit) not in self.labels:
                left_out += bool(judgment.unit)
            elif not judgment.task:
                loose[judgment.topic, judgment.system][judgment.judge][judgment.unit] = judgment.value
            elif judgment.task in tasks and judgment.unit in tasks[judgment.task].units:
                answers[judgment.task, judgment.judge][judgment.unit] = judgment.value
            else:
                left_out += 1
        self._warn(
            left_out, "judgments left out, because they are not by crowd workers on units and tasks that are written"
        )
        for (topic, system), judges in loose.items():
            judged = {unit for given in judges.values() for unit in given}
            task = self._new_task(topic, system, judged, tasks)
            if self._fits(task):
                tasks[task.id] = task
                answers.update({(task.id, judge): given for judge, given in judges.items()})
            else:
                without_text += sum(map(len, judges.values()))
        self._warn(without_text, "judgments left out, because the study does not have the summaries they are about")
        return answers

    def _new_task(self, topic: str, system: str, judged: set[str], tasks: dict[str, Task]) -> Task:
        taken = {*tasks, *(task.id for task in self.study.tasks)}
        number = 1
        while f"{topic}/{system}/{number}" in taken:
            number += 1
        units = tuple(unit.id for unit in self.pyramids[topic] if unit.id in judged)
        return Task(f"{topic}/{system}/{number}", topic, system, units)

    def _result_rows(
        self, tasks: dict[str, Task], answers: dict[tuple[str, str], _Answers], most: int
    ) -> Iterator[list[str]]:
        works = {(work.task, work.judge): work for work in self.study.assignments}
        self._warn(sum(key not in answers for key in works), "assignments without judgments left out")
        bare = sum(work == Assignment(work.task, work.judge) for work in works.values())
        self._warn(bare, "assignments without id and times, which read back as none")
        losses: Counter[str] = Counter()
        for (id, judge), given in answers.items():
            task = tasks[id]
            work = works.get((id, judge), Assignment(id, judge))
            losses["units without a judgment, which read back as unanswered"] += len(task.units) - len(given)
            other_values = sum(value not in _ANSWER_OF for value in given.values())
            losses["judgments with values other than 0 and 1, which read back as unanswered"] += other_values
            cells = [_ANSWER_OF.get(given.get(unit), "") for unit in task.units]
            details = [id, work.id, judge, work.accepted, work.submitted, _number(work.seconds)]
            yield [*details, *self._input_cells(task, most), *cells, *[""] * (most - len(cells))]
        for what, count in losses.items():
            self._warn(count, what)

    # -- what the tables do not hold -------------------------------------------------------------------------

    def report_left_out(self, tables: dict[str, _Table]) -> None:
        topics = {row[0] for name, table in tables.items() if name != "judging_results.csv" for row in table.rows}
        for topic in self.study.topics:
            if topic.id not in topics:
                self.problems.warning(f"topic {topic.id}", "has no units, references or tasks: it is left out")
        judging = tables.get("judging_input.csv", _Table((), []))
        peers = {(row[0], row[1]) for row in judging.rows}
        ids = {s: self._summary_id(s.topic, s.system, s.role) for s in self.study.summaries}
        lost = sum((s.topic, ids[s]) not in peers for s in self.study.peers)
        self._warn(lost, "peers left out, because they are in no task")
        self._warn(
            sum(bool(s.source) and ids[s] != s.source for s in ids), "source names lost, because they are not NIST ids"
        )
        for name in sorted({s.system for s in ids if system_of(ids[s]) != s.system}):
            self.problems.warning(
                f"system {name}", f"looks like a NIST id and will be read back as {system_of(name)!r}"
            )


def _group_order(group: str) -> tuple[bool, bool, int, str]:
    """Group "1" first, as the first file's; then other numbers, then names."""
    number = group.isascii() and group.isdigit()
    return group != "1", not number, int(group) if number else 0, group


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return str(int(value)) if value.is_integer() else repr(value)
