"""Flags about workers: each rule at its limit, then what holds for any records."""

from __future__ import annotations

import random
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramidion.campaigns.copying import Twin
from pyramidion.campaigns.signs import Flag, Reason, WorkRecord, flag_workers
from pyramidion.errors import InputError

VARIED = (1.0, 0.0, 1.0, 1.0)


def work(task: str = "t1", judge: str = "w1", seconds: float | None = 60, values=VARIED, **more) -> WorkRecord:  # type: ignore[no-untyped-def]
    return WorkRecord(judge, task, seconds, values, **more)


def test_careful_work_has_no_flag() -> None:
    source = "Tin prices rose sharply in China last year."
    records = [work(gold_right=2, gold_asked=2, pasted=("prices rose sharply in China",), source=source), work("t2")]
    assert flag_workers(records, agreement={"w1": 0.8}) == ()
    assert flag_workers([]) == ()


def test_agreement_below_the_minimum() -> None:
    records = [work("t2"), work("t1"), work("t1", "w2"), work("t1", "w3")]
    found = flag_workers(records, agreement={"w1": 0.49, "w2": 0.5, "w3": None})
    assert found == (Flag("w1", "agreement", "agrees with others at 0.49, below 0.5", ("t1", "t2")),)
    assert flag_workers(records, agreement={"w2": 0.5}, min_agreement=0.6)[0].judge == "w2"
    # 0.4996 is not 0.50, which would not be below 0.5.
    assert "at 0.4996, below 0.5" in flag_workers(records, agreement={"w1": 0.4996})[0].detail
    # A judge whose records are not here is flagged all the same.
    assert flag_workers([], agreement={"w9": 0.1}) == (
        Flag("w9", "agreement", "agrees with others at 0.10, below 0.5"),
    )


def test_one_task_in_under_25_seconds_is_too_fast() -> None:
    records = [work("t1", seconds=25), work("t2", seconds=24.5), work("t3", seconds=None), work("t4", seconds=9)]
    assert flag_workers(records) == (
        Flag("w1", "too fast", "2 of 4 tasks in under 25 seconds, the fastest in 9", ("t2", "t4")),
    )
    assert flag_workers(records, min_seconds=9) == ()


def test_uniform_answers_in_half_of_the_tasks_and_at_least_two() -> None:
    tens = [work(f"t{i}", values=(10.0,) * 4) for i in range(2)]
    others = [work(f"u{i}") for i in range(3)]
    assert flag_workers(tens + others[:2]) == (
        Flag("w1", "uniform answers", "the same answer throughout in 2 of 4 tasks", ("t0", "t1")),
    )
    assert flag_workers(tens + others) == ()  # 2 of 5
    assert flag_workers(tens[:1]) == ()  # one task may rightly be uniform
    assert flag_workers([work(f"t{i}", values=(10.0,) * 3) for i in range(9)]) == ()  # too few answers to tell


def test_an_unanswered_question_is_no_answer() -> None:
    with_gaps = [work(f"t{i}", values=(1.0, None, 1.0, 1.0, 1.0)) for i in range(2)]
    assert [flag.reason for flag in flag_workers(with_gaps)] == ["uniform answers"]
    assert flag_workers([work(f"t{i}", values=(None,) * 9) for i in range(2)]) == ()


def test_gold_questions_count_over_all_tasks() -> None:
    # 4 of 6 right = 67%, below 70%; 6 of 8 = 75% is not.
    records = [work("t1", gold_right=1, gold_asked=2), work("t2", gold_right=3, gold_asked=4), work("t3")]
    assert flag_workers(records) == (Flag("w1", "gold", "4 of 6 gold questions right, below 70%", ("t1", "t2")),)
    records = [work("t1", gold_right=3, gold_asked=4), work("t2", gold_right=3, gold_asked=4)]
    assert flag_workers(records) == ()
    assert flag_workers(records, min_gold=0.8) != ()
    assert flag_workers([work(gold_right=0, gold_asked=4)]) == ()  # one task may be a slip
    assert flag_workers([work(gold_right=0, gold_asked=4), work("t2", gold_right=1, gold_asked=1)]) == ()


def test_the_same_side_or_the_same_ratings_in_all_of_ten_tasks() -> None:
    for values in ((1.0,), (10.0, 10.0, 10.0)):
        same = [work(f"t{i}", values=values) for i in range(10)]
        [found] = flag_workers(same)
        assert (found.reason, found.detail) == ("uniform answers", "the same answer in all of 10 tasks")
        assert flag_workers(same[:9]) == ()
        assert flag_workers([*same, work("t10", values=(0.5,))]) == ()


def test_copied_sentences_the_same_statement_again_and_the_same_answers_in_every_task() -> None:
    source = "The lake froze. Skaters came from three counties; nobody fell. It thawed in March, when the snow melted."
    sentences = ("the lake froze", "Skaters came from three counties", "Nobody fell.") * 3
    [found] = flag_workers([work(values=(), statements=sentences, source=source)])
    assert (found.reason, found.detail) == ("copied", "9 of 9 statements are sentences of the text, word for word")
    changed = [work(values=(), statements=(*sentences[:8], "It thawed in March.", "Snow melted."), source=source)]
    assert flag_workers(changed) == ()  # 8 of 10
    once = [work(f"t{i}", values=(), statements=("The lake froze.",) * 4) for i in range(2)]
    assert [flag.reason for flag in flag_workers(once)] == ["uniform answers"]
    pattern = (1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0) * 2
    tasks = [work(f"t{i}", values=pattern, units=frozenset({f"u{i}"})) for i in range(3)]
    assert flag_workers(tasks) == (
        Flag("w1", "repeated answers", "the same varied answers, in the same order, in 3 tasks", ("t0", "t1", "t2")),
    )
    assert flag_workers(tasks[:2]) == ()
    same_units = [work(f"t{i}", values=pattern, units=frozenset({"u1"})) for i in range(9)]
    assert flag_workers(same_units) == (), "two summaries may say the same"


def test_somebody_with_a_twin_is_flagged() -> None:
    twin = Twin("w2", "the same answers as w2", ("t2",))
    assert flag_workers([work("t1"), work("t2")], twins={"w1": twin}) == (
        Flag("w1", "same as another", "the same answers as w2", ("t2",)),
    )


def test_pasted_text_must_come_from_the_source() -> None:
    source = "Tin prices rose sharply\n in  China last year."
    fine = ("tin PRICES rose\u00a0sharply in China", "short and foreign", "x" * 19)
    assert flag_workers([work(pasted=fine, source=source)]) == ()
    found = flag_workers([work(pasted=("x" * 20, *fine), source=source)])
    assert found == (
        Flag("w1", "pasted", f'text pasted 1 time that is not in the source, first: "{"x" * 20}"', ("t1",)),
    )
    long = flag_workers([work(pasted=("word " * 30, "x" * 20), source=source)])[0].detail
    assert long == f'text pasted 2 times that is not in the source, first: "{("word " * 30)[:57]}..."'
    assert flag_workers([work(pasted=("x" * 20,))]) == ()  # no source, nothing to compare with


def test_flags_come_by_judge_and_then_by_reason() -> None:
    bad = {"values": (1.0,) * 16, "seconds": 3, "gold_asked": 2, "pasted": ("y" * 30,), "source": "z"}
    pattern = (1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0) * 2
    records = [
        work(task, judge, **{**bad, **more})  # type: ignore[arg-type]
        for judge in ("w2", "w1")
        for task, more in (
            *((f"t{n}", {}) for n in range(3)),
            *((f"u{n}", {"values": pattern, "units": frozenset({str(n)}), "statements": ("z",) * 4}) for n in range(3)),
        )
    ]
    twins = {judge: Twin("w3", "the same", ("t1",)) for judge in ("w1", "w2")}
    found = flag_workers(records, agreement={"w2": 0.2, "w1": 0.1}, twins=twins)
    assert [(flag.judge, flag.reason) for flag in found] == [
        (judge, reason) for judge in ("w1", "w2") for reason in get_args(Reason)
    ]
    assert set().union(*(flag.tasks for flag in found)) == {"t0", "t1", "t2", "u0", "u1", "u2"}


def test_impossible_records_are_refused_with_their_address() -> None:
    records = [work(), work(), work("t2", gold_right=2, gold_asked=1), work("t3", seconds=-1)]
    with pytest.raises(InputError) as caught:
        flag_workers(records)
    assert [str(problem) for problem in caught.value.problems] == [
        "judge w1, task t1: has 2 records; there must be one per judge and task",
        "judge w1, task t2: 2 correct of 1 gold questions is impossible",
        "judge w1, task t3: -1 seconds is not a valid duration",
    ]
    with pytest.raises(InputError, match="nan seconds"):
        flag_workers([work(seconds=float("nan"))])


records = st.lists(
    st.builds(
        WorkRecord,
        st.sampled_from(["w1", "w2", "w3"]),
        st.sampled_from(["t1", "t2", "t3"]),
        st.none() | st.floats(0, 60),
        st.lists(st.sampled_from([None, 0.0, 1.0]), max_size=6).map(tuple),
        st.just(1),
        st.integers(1, 3),
        st.lists(st.text(max_size=30), max_size=2).map(tuple),
        st.text(max_size=40),
    ),
    max_size=8,
    unique_by=lambda record: (record.judge, record.task),
)


@given(records=records, seed=st.integers(0, 99))
def test_order_never_matters_and_each_reason_is_given_once(records: list[WorkRecord], seed: int) -> None:
    found = flag_workers(records, agreement={"w1": 0.3})
    mixed = random.Random(seed).sample(records, len(records))
    assert flag_workers(mixed, agreement={"w1": 0.3}) == found
    assert len({(flag.judge, flag.reason) for flag in found}) == len(found)
    for flag in found:
        assert set(flag.tasks) <= {record.task for record in records if record.judge == flag.judge}


@given(records=records)
def test_others_never_change_what_is_said_about_a_worker(records: list[WorkRecord]) -> None:
    alone = [record for record in records if record.judge == "w1"]
    assert flag_workers(alone) == tuple(flag for flag in flag_workers(records) if flag.judge == "w1")


@given(text=st.text(min_size=20, max_size=60), before=st.text(max_size=9))
def test_copying_from_the_source_is_never_flagged(text: str, before: str) -> None:
    assert flag_workers([work(pasted=(text,), source=f"{before} {text} and more")]) == ()
