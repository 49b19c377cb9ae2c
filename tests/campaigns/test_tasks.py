"""What a worker sees, and what counts as an answer."""

from __future__ import annotations

from typing import Any

import pytest

import pyramidion as pyr
from pyramidion.campaigns.plan import ATTENTION, plan
from pyramidion.campaigns.tasks import check_answer, live_checks, task_page
from pyramidion.study import Campaign, Settings
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
    assert check_answer(asked, {"units": units, "comment": "ok"}) == {"units": units, "comment": "ok"}
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
    assert [unit["id"] for unit in asked["units"]].count(ATTENTION) == 1
    assert "gold" not in str(asked)
    assert all(set(unit) == {"id", "label"} for unit in asked["units"])


def test_rating(example: pyr.Study) -> None:
    asked = page(example, "rate")
    assert len(asked["references"]) == 2
    good = {"overall": 7, "linguistic": 1, "content": 10}
    assert check_answer(asked, {"aspects": good})["aspects"] == dict(sorted(good.items()))
    for wrong in (0, 11, 5.5, "7", None, True, float("nan")):
        assert refused(asked, {"aspects": {**good, "overall": wrong}}) == [
            "Overall quality: must be a whole number from 1 to 10"
        ]


def test_comparing(example: pyr.Study) -> None:
    asked = page(example, "compare")
    assert len(asked["candidates"]) == 2
    assert check_answer(asked, {"winner": "tie"}) == {"winner": "tie"}
    assert refused(asked, {"winner": "both"}) == ["winner: must be first, second or tie"]


def test_writing(example: pyr.Study) -> None:
    asked = page(example, "write", statements=2)
    answer = {"statements": [" A fact is here. ", "Another fact is here."], "pasted": ["from elsewhere"]}
    assert check_answer(asked, answer)["statements"] == ["A fact is here.", "Another fact is here."]
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
