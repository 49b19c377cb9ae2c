"""What a worker sees, and what counts as an answer."""

from __future__ import annotations

from typing import Any

import pytest

import pyramidion as pyr
from pyramidion.campaigns.plan import plan
from pyramidion.campaigns.tasks import (
    ATTENTION,
    Answer,
    AttentionCheck,
    CompareAnswer,
    ExpertRatings,
    Gold,
    JudgeAnswer,
    RateAnswer,
    WriteAnswer,
    check_answer,
    count_right,
    judgments,
    read_answer,
    read_gold,
    task_page,
    to_object,
)
from pyramidion.pyramids.statements import live_checks
from pyramidion.study import Campaign, Settings, Task
from pyramidion.study.tasks import TaskKind


def page(study: pyr.Study, kind: TaskKind, **settings: Any) -> dict[str, Any]:
    made = plan(study, kind, "c", Settings.for_kind(kind, **settings))
    task = made.tasks[0]
    return task_page(study, Campaign("c", kind, made.campaign.settings), task, made.gold.get(task.id))


def refused(asked: dict[str, Any], answer: Any) -> list[str]:
    with pytest.raises(pyr.InputError) as caught:
        check_answer(asked, answer)
    return [str(problem) for problem in caught.value.problems]


def test_judging(example: pyr.Study) -> None:
    asked = page(example, "judge")
    assert len(asked["units"]) == 16
    units = {unit["id"]: i % 2 for i, unit in enumerate(asked["units"])}
    assert check_answer(asked, {"units": units, "comment": "ok"}) == JudgeAnswer(units, "ok")
    first = asked["units"][0]["id"]
    assert refused(asked, {"units": {**units, first: None}}) == ["statement 1: is not answered"]
    assert refused(asked, {"units": {**units, first: True}}) == ["statement 1: is not answered"]
    assert len(refused(asked, {"units": {}})) == 16  # nothing is silently defaulted
    assert refused(asked, {"units": {**units, "zz": 1}}) == ["units: unknown statement 'zz'"]
    assert refused(asked, {}) == ["units: must be an object with an answer for each statement"]
    assert refused(asked, []) == ["answer: must be an object"]
    assert "comment" in refused(asked, {"units": units, "comment": "x" * 3000})[0]


def test_the_known_answer_is_asked_but_not_told(example: pyr.Study) -> None:
    asked = page(example, "judge", gold_rate=1.0)
    assert [unit["id"] for unit in asked["units"]] == [f"statement-{number}" for number in range(1, 18)]
    assert "gold" not in str(asked)
    assert ATTENTION not in str(asked)
    assert all(set(unit) == {"id", "label"} for unit in asked["units"])


def test_rating(example: pyr.Study) -> None:
    asked = page(example, "rate")
    assert len(asked["references"]) == 2
    good = {"overall": 7, "linguistic": 1, "content": 10}
    assert check_answer(asked, {"aspects": good}) == RateAnswer(good)
    for wrong in (0, 11, 5.5, "7", None, True, float("nan")):
        assert refused(asked, {"aspects": {**good, "overall": wrong}}) == [
            "Overall quality: must be a whole number from 1 to 10"
        ]


def test_comparing(example: pyr.Study) -> None:
    asked = page(example, "compare")
    assert len(asked["candidates"]) == 2
    assert check_answer(asked, {"winner": "tie"}) == CompareAnswer("tie")
    assert refused(asked, {"winner": ["tie"]}) == ["winner: must be first, second or tie"]
    assert refused(asked, {"winner": "both"}) == ["winner: must be first, second or tie"]


def test_writing(example: pyr.Study) -> None:
    asked = page(example, "write", statements=2)
    answer = {"statements": [" A fact is here. ", "Another fact is here."], "pasted": ["from elsewhere"]}
    assert check_answer(asked, answer) == WriteAnswer(("A fact is here.", "Another fact is here."), ("from elsewhere",))
    assert refused(asked, {"statements": ["one"]}) == ["statements: must be a list of 2 texts"]
    assert refused(asked, {"statements": ["a b c d", "  "]}) == ["statement 2: is empty"]
    assert "longer than" in refused(asked, {"statements": ["x" * 501, "a b c d"]})[0]
    assert "pasted" in refused(asked, {**answer, "pasted": "x"})[0]


def test_live_checks_speak_plainly() -> None:
    found = live_checks(["The river rose by two metres.", "Too short.", "", "The river rose by two metres."])
    assert found[0] == []
    assert found[1] != []
    assert found[2] == []
    assert found[3] != []


STORED: list[tuple[TaskKind, Answer, dict[str, Any]]] = [
    ("judge", JudgeAnswer({"u2": 1, "u1": 0}), {"units": {"u2": 1, "u1": 0}}),
    ("rate", RateAnswer({"overall": 7}, "hm"), {"aspects": {"overall": 7}, "comment": "hm"}),
    ("compare", CompareAnswer("tie"), {"winner": "tie"}),
    ("write", WriteAnswer(("A fact.",)), {"statements": ["A fact."], "pasted": []}),
]


@pytest.mark.parametrize(("kind", "answer", "stored"), STORED)
def test_answers_are_kept_as_version_0_1_kept_them(kind: TaskKind, answer: Answer, stored: dict[str, Any]) -> None:
    assert list(to_object(answer).items()) == list(stored.items())
    assert read_answer(kind, stored) == answer


@pytest.mark.parametrize(
    ("gold", "stored"),
    [
        (AttentionCheck("A bridge fell.", 1, 3), {"label": "A bridge fell.", "value": 1, "position": 3}),
        (ExpertRatings({"overall": 6.5}), {"aspects": {"overall": 6.5}}),
    ],
)
def test_known_answers_are_kept_as_version_0_1_kept_them(gold: Gold, stored: dict[str, Any]) -> None:
    assert list(to_object(gold).items()) == list(stored.items())
    assert read_gold(stored) == gold


def test_known_answers_are_counted() -> None:
    check, ratings = AttentionCheck("x", 1, 0), ExpertRatings({"overall": 6.5, "content": 3})
    assert count_right(check, JudgeAnswer({ATTENTION: 1})) == (1, 1)
    assert count_right(check, JudgeAnswer({ATTENTION: 0})) == (0, 1)
    assert count_right(ratings, RateAnswer({"overall": 8, "content": 9, "linguistic": 1})) == (1, 2)
    assert count_right(None, JudgeAnswer({"u1": 1})) == (0, 0)
    assert count_right(check, None) == (0, 0)


def test_answers_become_judgments() -> None:
    task = Task("t1", "river", "s1", ("u1",), other="s2")
    judged = list(judgments(JudgeAnswer({ATTENTION: 1, "u1": 0}), task, "w"))
    assert judged == [pyr.Judgment("river", "s1", "w", 0, unit="u1", task="t1")]
    [rated] = judgments(RateAnswer({"overall": 7}), task, "w")
    assert (rated.aspect, rated.value) == ("overall", 7)
    [preferred] = judgments(CompareAnswer("second"), task, "w")
    assert (preferred.aspect, preferred.system, preferred.other, preferred.value) == ("preference", "s1", "s2", 0)
    assert not list(judgments(WriteAnswer(("A fact.",)), task, "w"))
