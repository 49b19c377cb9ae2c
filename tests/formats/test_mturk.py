from __future__ import annotations

import csv
import io
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import studies

import pyramidion as pyr
from pyramidion.errors import Problems, UsageError
from pyramidion.formats import jsonl, mturk
from pyramidion.formats.mturk.columns import join_ids, kind_of, split_ids
from pyramidion.scoring.screening import screen
from pyramidion.study import (
    Assignment,
    ContentUnit,
    Contributor,
    Judge,
    Judgment,
    Judgments,
    Pyramid,
    Study,
    Summary,
    Task,
    Topic,
)

LITEPYRAMIDS = Path(__file__).resolve().parents[3] / "shared" / "data" / "litepyramids-2005"
EXAMPLE = Path(jsonl.__file__).parents[1] / "data" / "example.jsonl"

TEXTS = st.one_of(
    st.sampled_from(
        ["", "word", "=1+1", "'=x", "a\r\nb", "a\rb", " led", "👩‍👩‍👧 e\u0301", "שלום", 'say "hi", now', "\x00"]
    ),
    st.text(max_size=12),
)

UNITS = """eventId,questionId,questionText,answer,author,sourceSummaryId,forUse
D407,0,"Rain, much of it, fell.",Y,w1,D407.M.250.B.D,0
D407,1,Wind blew.,Y,w2,D407.M.250.B.A,1
"""
UNUSED = UNITS.replace("A,1\n", "A,0\n")
WRITING_INPUT = """eventId,summaryId,summary_text
D407,D407.M.250.B.D,"Rain fell.
Much of it."
"""
JUDGING_INPUT = """eventId,summaryId,qIdList,summary_text,statement_1,statement_2
D407,D407.M.250.B.09,0;1,It rained.,"Rain, much of it, fell.",Wind blew.
D407,baseline,1,Storm.,Wind blew.,
D407,baseline,"[""0""]",Storm.,"Rain, much of it, fell.",
"""
RESULTS = """HITId,HITTypeId,AssignmentId,WorkerId,AssignmentStatus,AcceptTime,SubmitTime,WorkTimeInSeconds,\
Input.eventId,Input.summaryId,Input.qIdList,Input.summary_text,Input.statement_1,Input.statement_2,\
Answer.S1Answer,Answer.S2Answer
H1,T,A1,W1,Approved,Mon,Tue,30,D407,9,0 1,It rained.,"Rain, much of it, fell.",Wind blew.,p,n
H1,T,A2,W2,Submitted,,,,D407,9,0 1,It rained.,"Rain, much of it, fell.",Wind blew.,Not present,
"""
WRITTEN = """HITId,AssignmentId,WorkerId,Input.eventId,Input.summaryId,Input.summary_text,Answer.fact1,Answer.fact2
H7,A1,W1,D407,D407.M.250.B.D,Rain fell.,It rained.,
H7,A2,W2,D407,D407.M.250.B.D,Rain fell.,  Rain fell. ,Much rain.
"""
STATED = (ContentUnit("0", "Rain, much of it, fell."), ContentUnit("1", "Wind blew."))


def make(root: Path, **texts: str) -> Path:
    for name, text in texts.items():
        (root / f"{name}.csv").write_bytes(text.encode())
    return root


def read(path: Path) -> tuple[Study, list[str], list[str]]:
    problems = Problems()
    study = mturk.read(path, problems)
    return study, [str(p) for p in problems.errors], [str(p) for p in problems.warnings]


def write(study: Study, path: Path) -> list[str]:
    problems = Problems()
    mturk.write(study, path, problems)
    assert not problems.errors
    return [str(p) for p in problems.warnings]


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_bytes().decode(), newline="")))


# -- units ---------------------------------------------------------------------------------------------------


def test_a_unit_file(tmp_path: Path) -> None:
    study, errors, warnings = read(make(tmp_path, units=UNITS) / "units.csv")
    assert (errors, warnings, study.problems()) == ([], [], [])
    units = (
        ContentUnit("0", "Rain, much of it, fell.", (Contributor("D"),), author="w1"),
        ContentUnit("1", "Wind blew.", (Contributor("A"),), author="w2", group="1"),
    )
    assert study == Study(topics=(Topic("D407"),), pyramids=(Pyramid("D407", ("A", "D"), units, "crowd"),))


def test_files_over_the_same_units_are_batches(tmp_path: Path) -> None:
    second = UNITS.replace("D,0\n", "D,1\n").replace("A,1\n", "A,0\n")
    other = UNITS.replace("D407,", "D408,")
    study, errors, warnings = read(make(tmp_path, a=UNITS, b=second, c=other))
    assert (errors, warnings) == ([], [])
    assert [[unit.group for unit in pyramid.units] for pyramid in study.pyramids] == [["2", "1"], ["", "1"]]


def test_other_marks_are_kept_as_groups(tmp_path: Path) -> None:
    study, errors, _ = read(make(tmp_path, a=UNITS.replace("D,0\n", "D,late\n"), b=UNITS.replace("A,1\n", "A,0\n")))
    assert errors == []
    assert [unit.group for unit in study.pyramids[0].units] == ["late", "1"]


def test_an_answer_other_than_y_is_ignored_with_a_warning(tmp_path: Path) -> None:
    path = make(tmp_path, units=UNITS.replace("Y,w2", "N,w2")) / "units.csv"
    study, errors, warnings = read(path)
    assert (len(study.pyramids[0].units), errors) == (2, [])
    assert warnings == [f"{path}, line 3: answer 'N' is ignored; only Y is allowed"]


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("A,0\n", "A,2\n", "b.csv, line 3: unit 1 of D407 is in two batches"),
        (
            "Wind blew.",
            "Wind howled.",
            "b.csv, line 3: unit 1 of D407 has a different text, author or source than before",
        ),
        ("D407,1,", "D407,0,", "b.csv, line 3: unit 0 of D407 has a different text, author or source than before"),
        ("D407,1,Wind blew.,Y,w2,D407.M.250.B.A,0\n", "", None),
        ("D407,1,", "D407,,", "b.csv, line 3: column 'questionId' is empty"),
        ("Wind blew.", " ", "b.csv, line 3: column 'questionText' is empty"),
        (",forUse\n", ",use\n", "b.csv: looks like a file of units, but has no column 'forUse'"),
        ("answer,author", "author,author", "b.csv: has the column 'author' more than once"),
    ],
)
def test_unit_files_that_do_not_fit(tmp_path: Path, old: str, new: str, error: str | None) -> None:
    assert old in UNUSED
    _, errors, _ = read(make(tmp_path, a=UNITS, b=UNUSED.replace(old, new)))
    assert errors == ([f"{tmp_path}/{error}"] if error else [])


def test_a_unit_twice_in_one_file(tmp_path: Path) -> None:
    path = make(tmp_path, units=UNITS + UNITS.splitlines()[2] + "\n") / "units.csv"
    assert read(path)[1] == [f"{path}, line 4: unit 1 of D407 is in this file twice"]


# -- inputs --------------------------------------------------------------------------------------------------


def test_writing_input(tmp_path: Path) -> None:
    study, errors, warnings = read(make(tmp_path, w=WRITING_INPUT))
    assert (errors, warnings) == ([], [])
    text = "Rain fell.\nMuch of it."
    assert study.summaries == (Summary("D407", "D", text, "reference", source="D407.M.250.B.D"),)


def test_judging_input(tmp_path: Path) -> None:
    study, errors, warnings = read(make(tmp_path, j=JUDGING_INPUT))
    assert (errors, warnings) == ([], [])
    assert study == Study(
        topics=(Topic("D407"),),
        summaries=(
            Summary("D407", "9", "It rained.", source="D407.M.250.B.09"),
            Summary("D407", "baseline", "Storm."),
        ),
        pyramids=(Pyramid("D407", (), STATED, "crowd"),),
        tasks=(
            Task("D407/9/1", "D407", "9", ("0", "1")),
            Task("D407/baseline/1", "D407", "baseline", ("1",)),
            Task("D407/baseline/2", "D407", "baseline", ("0",)),
        ),
    )


def test_tasks_of_several_input_files_are_told_apart(tmp_path: Path) -> None:
    head, first, second, third = JUDGING_INPUT.splitlines(keepends=True)
    study, errors, _ = read(make(tmp_path, a=head + first + second, b=head + first + third))
    assert errors == []
    assert [(task.id, task.units) for task in study.tasks] == [
        ("D407/9/1", ("0", "1")),
        ("D407/baseline/1", ("1",)),
        ("D407/baseline/2", ("0",)),
    ]


PLAN_HEAD = "eventId,summaryId,qIdList,summary_text,statement_1\n"


def plan(units: Iterable[int]) -> str:
    """An input file with a task of one statement for each unit, all on one summary."""
    return PLAN_HEAD + "".join(f"t,s,u{unit},A text.,Statement {unit}.\n" for unit in units)


@given(st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=8), min_size=1, max_size=3))
def test_a_planned_task_has_the_first_number_that_is_free_or_its_own(files: list[list[int]]) -> None:
    """Counted from its row in its file, as it was done one number after the other."""
    expected: dict[str, int] = {}
    for units in files:
        for row, unit in enumerate(units, 1):
            number = row
            while expected.setdefault(f"t/s/{number}", unit) != unit:
                number += 1
    with tempfile.TemporaryDirectory() as place:
        named = {f"f{n}": plan(units) for n, units in enumerate(files)}
        study, errors, _ = read(make(Path(place), **named))
    assert errors == []
    assert {task.id: task.units for task in study.tasks} == {id: (f"u{unit}",) for id, unit in expected.items()}


@given(st.permutations(range(12)))
def test_the_order_of_rows_does_not_matter(order: list[int]) -> None:
    """In a plan that names no task twice, and in results, whose tasks have ids."""
    head = RESULTS.splitlines(keepends=True)[0]
    row = "H{0},T,A{1},W{1},Approved,Mon,Tue,30,t,s,u{0},A text.,Statement {0}.,,p,\n"
    answers = [row.format(number % 4, number) for number in range(12)]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        sorted_plan, _, _ = read(make(folder, f=plan(range(12))))
        planned, _, _ = read(make(folder, f=plan(order)))
        sorted_results, _, _ = read(make(folder, f=head + "".join(answers)))
        results, errors, _ = read(make(folder, f=head + "".join(answers[number] for number in order)))
    assert errors == []
    assert {task.units for task in planned.tasks} == {task.units for task in sorted_plan.tasks}
    assert len(planned.tasks) == 12
    for name in ("tasks", "assignments", "judgments", "judges", "summaries"):
        assert set(getattr(results, name)) == set(getattr(sorted_results, name)), name


def test_reading_takes_as_many_steps_per_task_for_many_tasks_as_for_few(tmp_path: Path) -> None:
    """Two input files with different tasks of one summary. Calls are counted, not time."""

    def steps(count: int) -> int:
        folder = tmp_path / str(count)
        folder.mkdir()
        make(folder, a=plan(range(count)), b=plan(range(count, 2 * count)))
        calls = 0

        def count_call(_frame: object, event: str, _about: object) -> None:
            nonlocal calls
            calls += event in {"call", "c_call"}

        sys.setprofile(count_call)
        try:
            study = mturk.read(folder, Problems())
        finally:
            sys.setprofile(None)
        assert len(study.tasks) == 2 * count
        return calls

    few, many = steps(50), steps(400)
    assert many < 1.1 * 8 * few


def test_a_column_of_hits_names_the_tasks(tmp_path: Path) -> None:
    head, first, *_ = JUDGING_INPUT.splitlines()
    study, errors, warnings = read(make(tmp_path, j=f"{head},HITId\n{first},H1\n"))
    assert (errors, warnings) == ([], [])
    assert [task.id for task in study.tasks] == ["H1"]


@pytest.mark.parametrize(
    ("cell", "ids"),
    [
        ('["a", 1]', ["a", "1"]),
        ("['a', 'b']", ["a", "b"]),
        ("(a,b)", ["a", "b"]),
        ("a;b", ["a", "b"]),
        ("a ; b;", ["a", "b"]),
        ("a,b", ["a", "b"]),
        ("a|b", ["a", "b"]),
        ("a\tb", ["a", "b"]),
        ("a_b", ["a", "b"]),
        ("a_1;b_2", ["a_1", "b_2"]),
        ("a_1,x;b_2", ["a_1,x", "b_2"]),
        ("a", None),
        ("a;b;c", None),
        ("", None),
    ],
)
def test_ways_to_write_two_ids(cell: str, ids: list[str] | None) -> None:
    assert split_ids(cell, 2) == ids


IDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zs", "Zl", "Zp"]), min_size=1, max_size=4)


@given(st.lists(IDS | st.sampled_from(["[1", "2]", "a;b", "(x)", "a b", "1_2"]), min_size=1, max_size=4))
def test_joined_ids_are_split_again(ids: list[str]) -> None:
    assert split_ids(join_ids(ids), len(ids)) == ids


# -- results -------------------------------------------------------------------------------------------------


def test_judging_results(tmp_path: Path) -> None:
    study, errors, warnings = read(make(tmp_path, r=RESULTS))
    assert (errors, warnings) == ([], [])
    values = {("W1", "0"): 1, ("W1", "1"): 0, ("W2", "0"): 0, ("W2", "1"): None}
    assert study == Study(
        topics=(Topic("D407"),),
        summaries=(Summary("D407", "9", "It rained."),),
        pyramids=(Pyramid("D407", (), STATED, "crowd"),),
        judges=(Judge("W1", "crowd"), Judge("W2", "crowd")),
        judgments=Judgments(
            Judgment("D407", "9", judge, value, unit=unit, task="H1") for (judge, unit), value in values.items()
        ),
        tasks=(Task("H1", "D407", "9", ("0", "1")),),
        assignments=(Assignment("H1", "W1", "A1", "Mon", "Tue", 30), Assignment("H1", "W2", "A2")),
    )


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("p", 1),
        ("P", 1),
        ("present", 1),
        ("Y", 1),
        ("1", 1),
        ("n", 0),
        ("NOT PRESENT", 0),
        ("0", 0),
        ("", None),
        (" ", None),
    ],
)
def test_ways_to_answer(tmp_path: Path, said: str, value: float | None) -> None:
    study, errors, _ = read(make(tmp_path, r=RESULTS.replace(",p,n\n", f",p,{said}\n")))
    assert errors == []
    assert next(j.value for j in study.judgments if j.judge == "W1" and j.unit == "1") == value


def test_a_rejected_assignment_is_left_out(tmp_path: Path) -> None:
    study, errors, warnings = read(make(tmp_path, r=RESULTS.replace("Approved", "Rejected")))
    assert errors == []
    assert warnings == [f"{tmp_path / 'r.csv'}, line 2: is a rejected assignment; it is left out"]
    assert [judge.id for judge in study.judges] == ["W2"]


def test_an_answer_to_nothing_is_reported(tmp_path: Path) -> None:
    one = RESULTS.replace("0 1,It", "0,It").replace('fell.",Wind blew.,', 'fell.",,').splitlines(keepends=True)
    study, errors, warnings = read(make(tmp_path, r="".join(one[:2])))
    assert errors == []
    column = "column 'Answer.S2Answer' has an answer, but 'Input.statement_2' is empty"
    assert warnings == [f"{tmp_path / 'r.csv'}, line 2: {column}"]
    assert len(study.judgments) == 1


def test_columns_nobody_knows_are_named(tmp_path: Path) -> None:
    text = (
        RESULTS.replace("Answer.S2Answer\n", "Answer.S2Answer,Answer.mood\n")
        .replace("n\n", "n,\n")
        .replace("present,\n", "present,,\n")
    )
    _, errors, warnings = read(make(tmp_path, r=text))
    assert errors == []
    assert warnings == [f"{tmp_path / 'r.csv'}: columns that are not used: 'Answer.mood'"]


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        (
            ",p,n\n",
            ",p,maybe\n",
            ", line 2: column 'Answer.S2Answer' is 'maybe', neither p (present) nor n (not present)",
        ),
        ("A1,W1", "A1,", ", line 2: column 'WorkerId' is empty"),
        ("Tue,30", "Tue,nan", ", line 2: column 'WorkTimeInSeconds' is 'nan', which is not a number"),
        ("Tue,30", "Tue,soon", ", line 2: column 'WorkTimeInSeconds' is 'soon', which is not a number"),
        (
            ',9,0 1,It rained.,"Rain, much of it, fell.",Wind blew.,p',
            ',9,0;1;2,It rained.,"Rain, much of it, fell.",Wind blew.,p',
            ", line 2: column 'Input.qIdList' is '0;1;2': not 2 ids, one per statement",
        ),
        (
            '9,0 1,It rained.,"Rain, much of it, fell.",Wind blew.,p',
            '9,0 0,It rained.,"Rain, much of it, fell.",Wind blew.,p',
            ", line 2: column 'Input.qIdList' is '0 0': an id appears twice",
        ),
        (
            "Wind blew.,Not",
            "Wind howled.,Not",
            ", line 3: unit 1 of D407 has a different text than before: 'Wind howled.'",
        ),
        (
            '9,0 1,It rained.,"Rain, much of it, fell.",Wind blew.,Not',
            '9,0 5,It rained.,"Rain, much of it, fell.",Wind blew.,Not',
            ", line 3: unit 5 of D407 has the text of unit 1: 'Wind blew.'",
        ),
        (
            '9,0 1,It rained.,"Rain, much of it, fell.",Wind blew.,Not',
            '9,0 1,It poured.,"Rain, much of it, fell.",Wind blew.,Not',
            ", line 3: peer 9 of D407 has a different text than before",
        ),
        (
            'D407,9,0 1,It rained.,"Rain, much of it, fell.",Wind blew.,Not',
            'D407,8,0 1,It rained.,"Rain, much of it, fell.",Wind blew.,Not',
            ", line 3: HIT H1 appeared before with another summary or other units",
        ),
        ("A2,W2", "A1,W2", ", line 3: assignment A1 was read before with different answers"),
        (",p,n\n", ",p\n", ", line 2: has 15 cells, but the header has 16"),
        ("Input.eventId", "Input.event", ": looks like a file of judging results, but has no column 'Input.eventId'"),
        ("WorkerId", "Worker", ": looks like a file of judging results, but has no column 'WorkerId'"),
        (
            "Answer.S2Answer",
            "Answer.S3Answer",
            ": looks like a file of judging results, but has no column 'Answer.S2Answer'",
        ),
    ],
)
def test_results_that_do_not_fit_are_errors_with_their_address(tmp_path: Path, old: str, new: str, error: str) -> None:
    assert RESULTS.count(old) == 1
    path = make(tmp_path, r=RESULTS.replace(old, new)) / "r.csv"
    study, errors, _ = read(path)
    assert errors == [f"{path}{error}"]
    assert [problem for problem in study.problems() if problem.severity == "error"] == []


def test_bytes_that_are_no_text_and_broken_quotes_are_errors(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_bytes(RESULTS.encode().replace(b"It rained", b"It \xe9ained", 1))
    errors = read(path)[1]
    assert errors[0] == f"{path}, line 2: byte 0xe9 is not UTF-8; save the file as UTF-8"
    path.write_text(UNITS.replace('fell."', "fell."))
    assert read(path)[1] == [
        f"{path}, line 2: has a quote that is never closed, so 2 lines up to the end are one cell and are left out"
    ]


def test_writing_results(tmp_path: Path) -> None:
    study, errors, warnings = read(make(tmp_path, w=WRITTEN))
    assert (errors, warnings, study.problems()) == ([], [], [])
    assert study == Study(
        topics=(Topic("D407"),),
        summaries=(Summary("D407", "D", "Rain fell.", "reference", source="D407.M.250.B.D"),),
        pyramids=(
            Pyramid(
                "D407",
                ("D",),
                tuple(
                    ContentUnit(id, label, (Contributor("D"),), author=author)
                    for id, label, author in (
                        ("1", "It rained.", "W1"),
                        ("2", "Rain fell.", "W2"),
                        ("3", "Much rain.", "W2"),
                    )
                ),
                "crowd",
            ),
        ),
    )


# -- folders -------------------------------------------------------------------------------------------------


def test_files_of_one_folder_are_merged(tmp_path: Path) -> None:
    """Input and results speak of the same tasks; a second download repeats assignments."""
    again = RESULTS.replace("Approved", "Submitted")
    texts = {"units": UNITS, "input": JUDGING_INPUT, "results": RESULTS, "results2": again}
    references = WRITING_INPUT.replace("Rain fell.\nMuch of it.", "Rain fell.")
    study, errors, warnings = read(make(tmp_path, **texts, written=WRITTEN, references=references))
    assert errors == []
    assert [problem for problem in study.problems() if problem.severity == "error"] == []
    assert warnings == [
        f"{tmp_path / 'results2.csv'}, line 2: assignment A1 appears twice; it is read once",
        f"{tmp_path / 'results2.csv'}, line 3: assignment A2 appears twice; it is read once",
        "topic D407: 3 units of the writing results are left out, because other files here say which units are used",
    ]
    assert [task.id for task in study.tasks] == ["H1", "D407/baseline/1", "D407/baseline/2"]
    assert [(s.role, s.system) for s in study.summaries] == [("reference", "D"), ("peer", "9"), ("peer", "baseline")]
    assert study.summaries[1].source == "D407.M.250.B.09"
    assert len(study.judgments) == 4
    assert [unit.author for unit in study.pyramids[0].units] == ["w1", "w2"]
    assert study.pyramids[0].references == ("A", "D")


def test_the_unit_file_knows_best(tmp_path: Path) -> None:
    same = UNITS.replace('"Rain, much of it, fell."', "Wind blew.")
    two = JUDGING_INPUT.replace('"Rain, much of it, fell."', "Wind blew.")
    assert read(make(tmp_path, units=same, input=two))[1] == []
    path = make(tmp_path, units=UNITS.splitlines()[0] + "\n" + UNITS.splitlines()[2], input=JUDGING_INPUT)
    assert read(path)[1] == [f"{path}/input.csv, line {n}: unit 0 of D407 is not in the unit file" for n in (2, 4)]


def test_other_texts_for_one_summary_are_an_error(tmp_path: Path) -> None:
    path = make(tmp_path, a=WRITING_INPUT, b=WRITING_INPUT.replace("Rain", "Hail"))
    assert read(path)[1] == [f"{path}/b.csv, line 3: reference D of D407 has a different text than before"]


def test_other_files_are_ignored_with_a_warning(tmp_path: Path) -> None:
    path = make(tmp_path, units=UNITS, scores="systemId,score\n1,2\n")
    assert mturk.recognises(path)
    assert read(path)[2] == [
        f"{path}/scores.csv: is ignored: its columns are not those of an MTurk or LitePyramids file"
    ]
    kinds = "units, writing input, judging input, judging results, writing results"
    assert read(path / "scores.csv")[1] == [f"{path}/scores.csv: has none of: {kinds} (recognised by their columns)"]
    assert not mturk.recognises(path / "scores.csv")
    assert not mturk.recognises(path / "nowhere")
    assert not mturk.recognises(EXAMPLE)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (UNITS, "units"),
        (WRITING_INPUT, "writing input"),
        (JUDGING_INPUT, "judging input"),
        (RESULTS, "judging results"),
        (WRITTEN, "writing results"),
        ("topic,system,score\n", None),
        ("HITId,Input.topic,Answer.overall\n", None),
        ("\n", None),
    ],
)
def test_kinds_are_told_apart_by_their_columns(text: str, kind: str | None) -> None:
    assert kind_of(text.splitlines()[0].split(",")) == kind


# -- writing -------------------------------------------------------------------------------------------------


def crowd_part(study: Study) -> Study:
    crowd = study.judges_of("crowd")
    return replace(
        study,
        topics=tuple(Topic(topic.id) for topic in study.topics),
        pyramids=tuple(p for p in study.pyramids if p.name == "crowd"),
        judges=tuple(judge for judge in study.judges if judge.id in crowd),
        judgments=Judgments(j for j in study.judgments if j.judge in crowd),
        aspects=(),
        title="",
    )


def assert_same(study: Study, other: Study) -> None:
    assert study.topics == other.topics
    assert Counter(study.summaries) == Counter(other.summaries)
    assert study.pyramids == other.pyramids
    assert Counter(study.judges) == Counter(other.judges)
    assert Counter(study.judgments) == Counter(other.judgments)
    assert study.tasks == other.tasks
    assert Counter(study.assignments) == Counter(other.assignments)


def test_the_example_keeps_its_crowd_part(tmp_path: Path) -> None:
    example = jsonl.read(EXAMPLE, Problems())
    warnings = write(example, tmp_path / "out")
    assert warnings == [
        "pyramid expert: is left out: these files hold one pyramid per topic",
        "mturk: judgments left out, because they are not by crowd workers on units and tasks that are written: 810",
    ]
    names = ["judging_input.csv", "judging_results.csv", "units-1.csv", "units-2.csv", "writing_input.csv"]
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == names
    study, errors, warnings = read(tmp_path / "out")
    assert (errors, warnings) == ([], [])
    assert_same(study, crowd_part(example))


def test_unit_files_look_as_litepyramids_has_them(tmp_path: Path) -> None:
    units = tuple(
        ContentUnit(id, f"Fact {id}.", (Contributor("A"),), "w", group)
        for id, group in zip("abc", ("1", "2", ""), strict=True)
    )
    study = Study(topics=(Topic("t"),), pyramids=(Pyramid("t", ("A",), units, "crowd"),))
    assert write(study, tmp_path / "out") == []
    assert [row["forUse"] for row in rows(tmp_path / "out" / "units-1.csv")] == ["1", "0", "0"]
    assert [row["forUse"] for row in rows(tmp_path / "out" / "units-2.csv")] == ["0", "1", "0"]
    assert write(study, tmp_path / "one.csv") == []
    assert [row["forUse"] for row in rows(tmp_path / "one.csv")] == ["1", "2", "0"]
    assert_same(read(tmp_path / "out")[0], study)
    assert_same(read(tmp_path / "one.csv")[0], study)


def test_cells_cannot_run_as_formulas(tmp_path: Path) -> None:
    study = Study(topics=(Topic("t"),), summaries=(Summary("t", "A", "=HYPERLINK(1)", "reference"),))
    write(study, tmp_path / "w.csv")
    assert [row["summary_text"] for row in rows(tmp_path / "w.csv")] == ["'=HYPERLINK(1)"]
    assert read(tmp_path / "w.csv")[0] == study


def test_one_file_cannot_hold_several_kinds(tmp_path: Path) -> None:
    example = jsonl.read(EXAMPLE, Problems())
    with pytest.raises(
        UsageError, match=r"needs units\.csv, writing_input\.csv, judging_input\.csv, judging_results\.csv"
    ):
        write(example, tmp_path / "all.csv")
    with pytest.raises(UsageError, match="judging tasks to write"):
        write(Study(topics=(Topic("t"),)), tmp_path / "none")
    assert list(tmp_path.iterdir()) == []


def small(**parts: object) -> Study:
    units = (ContentUnit("a", "One.", (Contributor("A"),)), ContentUnit("b", "Two.", (Contributor("A"),)))
    study = Study(
        topics=(Topic("t"),),
        summaries=(Summary("t", "s", "peer"),),
        pyramids=(Pyramid("t", ("A",), units, "crowd"),),
        judges=(Judge("w"), Judge("e", "expert")),
        tasks=(Task("T", "t", "s", ("a", "b")),),
    )
    return replace(study, **parts)  # type: ignore[arg-type]


def test_judgments_without_a_task_get_one(tmp_path: Path) -> None:
    study = small(
        judgments=Judgments([Judgment("t", "s", "w", 1, unit="b"), Judgment("t", "s", "w", 0, unit="a")]), tasks=()
    )
    assert write(study, tmp_path / "out") == []
    back = read(tmp_path / "out")[0]
    assert back.tasks == (Task("t/s/1", "t", "s", ("a", "b")),)
    assert {(j.unit, j.value, j.task) for j in back.judgments} == {("a", 0, "t/s/1"), ("b", 1, "t/s/1")}


def test_a_new_task_takes_no_name_that_is_taken(tmp_path: Path) -> None:
    study = small(tasks=(Task("t/s/1", "t", "s", ("a",)),), judgments=Judgments([Judgment("t", "s", "w", 1, unit="b")]))
    write(study, tmp_path / "out")
    assert [task.id for task in read(tmp_path / "out")[0].tasks] == ["t/s/1", "t/s/2"]


@pytest.mark.parametrize(
    ("parts", "warning"),
    [
        (
            {"judgments": [Judgment("t", "s", "e", 1, unit="a", task="T")]},
            "judgments left out, because they are not by crowd workers on units and tasks that are written: 1",
        ),
        (
            {"judgments": [Judgment("t", "s", "w", 1, unit="z", task="T")]},
            "judgments left out, because they are not by crowd workers on units and tasks that are written: 1",
        ),
        (
            {"judgments": [Judgment("t", "s", "w", 1, unit="a", task="T")]},
            "units without a judgment, which read back as unanswered: 1",
        ),
        (
            {
                "judgments": [
                    Judgment("t", "s", "w", value, unit=unit, task="T") for unit, value in (("a", 0.5), ("b", None))
                ]
            },
            "judgments with values other than 0 and 1, which read back as unanswered: 1",
        ),
        ({"assignments": (Assignment("T", "w", "A1"),)}, "assignments without judgments left out: 1"),
        ({"tasks": (Task("T", "t", "s", ("z",)),)}, "tasks left out, because their peers or units are not written: 1"),
        ({"tasks": ()}, "peers left out, because they are in no task: 1"),
        (
            {"summaries": (Summary("t", "s", "peer", source="s.txt"),)},
            "source names lost, because they are not NIST ids: 1",
        ),
    ],
)
def test_what_these_files_cannot_hold_is_counted(tmp_path: Path, parts: dict[str, object], warning: str) -> None:
    if isinstance(found := parts.get("judgments"), list):
        parts = {**parts, "judgments": Judgments(found)}
    assert f"mturk: {warning}" in write(small(**parts), tmp_path / "out")


def test_an_assignment_without_details_is_reported(tmp_path: Path) -> None:
    judgments = Judgments(Judgment("t", "s", "w", 1, unit=unit, task="T") for unit in "ab")
    warnings = write(small(judgments=judgments, assignments=(Assignment("T", "w"),)), tmp_path / "out")
    assert warnings == ["mturk: assignments without id and times, which read back as none: 1"]
    assert read(tmp_path / "out")[0].assignments == ()


def test_units_and_topics_that_do_not_fit_are_named(tmp_path: Path) -> None:
    units = (
        ContentUnit("a", " ", (Contributor("A"),)),
        ContentUnit("b", "Both.", (Contributor("A"), Contributor("B"))),
        ContentUnit("c", "Zero.", (Contributor("A"),), group="0"),
    )
    study = Study(topics=(Topic("t"), Topic("empty")), pyramids=(Pyramid("t", ("A", "B"), units, "expert"),))
    assert write(study, tmp_path / "out") == [
        "pyramid expert: will be read back as 'crowd'",
        "topic t, unit a: has an empty label and is left out",
        "topic t, pyramid expert: its references read back as A",
        "mturk: units lose all references but the first: 1",
        "mturk: units whose group '0' will be read back as not used: 1",
        "topic empty: has no units, references or tasks: it is left out",
    ]


def test_a_system_named_like_a_nist_id_is_reported(tmp_path: Path) -> None:
    study = Study(topics=(Topic("t"),), summaries=(Summary("t", "D1.M.250.A.9", "x", "reference"),))
    assert write(study, tmp_path / "out") == ["system D1.M.250.A.9: looks like a NIST id and will be read back as '9'"]


@st.composite
def campaigns(draw: st.DrawFn) -> Study:
    """A crowd study in which everything has its place in these files."""
    topics, summaries, pyramids, tasks, judgments, assignments = [], [], [], [], [], []
    for topic in draw(st.lists(st.sampled_from(["D407", "ü 2", "=3"]), min_size=1, unique=True)):
        topics.append(Topic(topic))
        summaries += [Summary(topic, name, draw(TEXTS), "reference", source=f"D1.M.250.A.{name}") for name in "AB"]
        summaries += [Summary(topic, system, draw(TEXTS)) for system in ("9", "a;b")]
        labels = draw(st.lists(TEXTS.filter(str.strip), min_size=1, max_size=4))
        groups = [draw(st.sampled_from(["", "1", "2", "3", "late"])) for _ in labels]
        units = tuple(
            ContentUnit(
                id, label, (Contributor(draw(st.sampled_from("AB"))),), draw(st.sampled_from(["", "w 1"])), group
            )
            for id, label, group in zip(("0", "1;2", "[x]", "-"), labels, groups, strict=False)
        )
        pyramids.append(Pyramid(topic, ("A", "B"), units, "crowd"))
        for system in ("9", "a;b"):
            shown = tuple(draw(st.lists(st.sampled_from([unit.id for unit in units]), min_size=1, unique=True)))
            task = Task(f"{topic} {system}", topic, system, shown)
            tasks.append(task)
            for judge in draw(st.sets(st.sampled_from(["w1", "w2"]))):
                seconds = draw(st.none() | st.sampled_from([0.0, 12.5, 600.0]))
                assignments.append(
                    Assignment(task.id, judge, f"A{len(assignments)}", draw(st.sampled_from(["", "Mon"])), "", seconds)
                )
                values = [draw(st.sampled_from([0, 1, None])) for _ in shown]
                judgments += [
                    Judgment(topic, system, judge, value, unit=unit, task=task.id)
                    for unit, value in zip(shown, values, strict=True)
                ]
    return Study(
        topics=tuple(topics),
        summaries=tuple(summaries),
        pyramids=tuple(pyramids),
        judges=tuple(map(Judge, sorted({judgment.judge for judgment in judgments}))),
        judgments=Judgments(judgments),
        tasks=tuple(tasks),
        assignments=tuple(assignments),
    )


@given(campaigns())
def test_what_is_written_reads_back(original: Study) -> None:
    with tempfile.TemporaryDirectory() as place:
        assert write(original, Path(place) / "out") == []
        study, errors, warnings = read(Path(place) / "out")
    assert (errors, warnings) == ([], [])
    assert_same(study, original)


@given(studies())
def test_any_study_can_be_written_and_then_loses_nothing_more(original: Study) -> None:
    with tempfile.TemporaryDirectory() as place:
        write(original, Path(place) / "once")
        study, errors, _ = read(Path(place) / "once")
        assert errors == []
        assert [p for p in study.problems() if p.severity == "error"] == []
        assert write(study, Path(place) / "twice") == []
        assert read(Path(place) / "twice")[0] == study


@pytest.mark.skipif(not LITEPYRAMIDS.is_dir(), reason="the real data in ../shared/data is not here")
def test_litepyramids(tmp_path: Path) -> None:
    study, errors, warnings = read(LITEPYRAMIDS)
    assert (errors, study.problems()) == ([], [])
    assert [Path(warning.split(": ")[0]).name for warning in warnings] == [
        "2005ManualScoresAvg.csv",
        "2005RougeScoresAvg.csv",
    ]
    units = [unit for pyramid in study.pyramids for unit in pyramid.units]
    assert (len(study.topics), len(units)) == (10, 494)
    assert Counter(unit.group for unit in units) == {"": 174, "1": 160, "2": 160}
    assert len({unit.author for unit in units}) == 22
    assert write(study, tmp_path / "out") == []
    assert read(tmp_path / "out")[0] == study
    for name in ("1", "2"):
        assert (
            rows(tmp_path / "out" / f"units-{name}.csv")[0].keys() == rows(LITEPYRAMIDS / f"batch{name}.csv")[0].keys()
        )


# -- released files ------------------------------------------------------------------------------------------------

ANONYMOUS = """\
Input.eventId,Input.summaryId,Input.qIdList,Input.summary_text,Input.statement_1,Input.statement_2,\
Answer.S1Answer,Answer.S2Answer,
d1,bart,"['7', '8']",It rained.,Rain fell.,BLANK,p,n,
d1,bart,"['7', '8']",It rained.,Rain fell.,BLANK,n,n,
d1,bart,"['7', '8']",It rained.,Rain fell.,BLANK,p,n,
"""


def test_workers_without_ids_are_anonymous(tmp_path: Path) -> None:
    path = make(tmp_path, r=ANONYMOUS) / "r.csv"
    study, errors, warnings = read(path)
    assert errors == []
    assert any(
        "3 answers have no WorkerId" in line and "nothing is known of single workers" in line for line in warnings
    )
    assert [(j.judge, j.unit, j.value) for j in study.judgments] == [
        ("anonymous-1", "7", 1.0),
        ("anonymous-2", "7", 0.0),
        ("anonymous-3", "7", 1.0),
    ]
    assert [unit.id for unit in study.pyramids[0].units] == ["7"]
    assert screen(study.judgments).excluded == ()
    assert {worker.agreement for worker in screen(study.judgments).workers} == {None}
    assert pyr.score(study, "lite").per_system("lite") == {"bart": 1.0}


def test_systems_of_one_name_in_two_folders_are_two(tmp_path: Path) -> None:
    for name in ("abs", "ext"):
        (tmp_path / name).mkdir()
    make(tmp_path / "abs", r=ANONYMOUS)
    make(tmp_path / "ext", r=ANONYMOUS.replace("It rained.", "Rain fell."))
    assert pyr.load(tmp_path).systems == ("abs_bart", "ext_bart")
    make(tmp_path / "ext", r=ANONYMOUS)
    assert pyr.load(tmp_path).systems == ("bart",)


def test_the_released_crowd_files_give_the_released_labels(real_data: Path) -> None:
    """The majority of the anonymous answers is what Lite2-3Pyramid released as labels, for all 1,250 summaries."""
    found = pyr.score(pyr.load(real_data / "realsumm-half" / "crowd"), "lite").per_summary("lite")
    labels = pyr.score(pyr.load(real_data / "realsumm-half"), "pyramid").per_summary("recall")
    wanted = {(topic, system): value for (topic, system), value in labels.items()}
    for (topic, system), value in found.items():
        names = [name for name in (system, f"abs_{system}", f"ext_{system}") if (topic, name) in wanted]
        assert wanted.pop((topic, names[0])) == pytest.approx(value)
    assert len(found) == 1250
    assert wanted == {}


def test_a_stray_quote_is_part_of_the_unit(tmp_path: Path) -> None:
    """As in a released file of units of DUC 2006."""
    line = "D1,{0},{1},Y,w1,A,1\n"
    text = "eventId,questionId,questionText,answer,author,sourceSummaryId,forUse\n" + "".join(
        line.format(n, '""The Color of Justice" was shown.' if n == 3 else f'"Unit ""{n}"", as it is."')
        for n in range(9)
    )
    study, errors, _ = read(make(tmp_path, u=text) / "u.csv")
    assert errors == []
    labels = [unit.label for unit in study.pyramids[0].units]
    assert labels == [row["questionText"] for row in csv.DictReader(text.splitlines())]
    assert len(labels) == 9
