"""After each round a look, then the next round or the end. Looks are written by hand where it is not about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.campaigns.designs import (
    MODEL,
    SYSTEMS,
    answer_all,
    desk_in_rounds,
    look_of,
    plan_in_rounds,
    study_in_rounds,
    without_goal,
)

import pyramidion as pyr
from pyramidion.analysis.stopping import Look
from pyramidion.campaigns import advancing
from pyramidion.campaigns.advancing import Advance, advance, change_state, go_on
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.management import decide_answers, decide_worker
from pyramidion.campaigns.monitor import overview
from pyramidion.campaigns.plan import plan
from pyramidion.campaigns.round_report import RoundsReport, report_rounds
from pyramidion.study import Judge, Judgment, Judgments, Settings, Study

Script = Mapping[int, tuple[str, ...]]
"""After each look, the systems that stay; none: the goal is reached."""


@pytest.fixture
def write_looks(monkeypatch: pytest.MonkeyPatch) -> Callable[[Script], list[Study]]:
    """Let looks say what is written; returns the studies that were looked at."""
    seen: list[Study] = []

    def write(script: Script) -> list[Study]:
        def take(study: Study, *, number: int, **_: Any) -> Look:
            seen.append(study)
            return look_of(number, script[number])

        monkeypatch.setattr(advancing, "take_look", take)
        return seen

    return write


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "study.db"


def report(desk: CampaignDesk) -> RoundsReport:
    made = report_rounds(desk, "judge")
    assert made is not None
    return made


def step(desk: CampaignDesk) -> Advance:
    answer_all(desk)
    return advance(desk, "judge", actor="server")


def asked_of(desk: CampaignDesk) -> dict[str, set[tuple[str, int]]]:
    """The places of strata that were asked of each system."""
    asked: dict[str, set[tuple[str, int]]] = {}
    for stored in desk.campaigns.tasks("judge"):
        asked.setdefault(stored.task.system, set()).add((stored.task.stratum, stored.task.place))
    return asked


# -- by itself -----------------------------------------------------------------------------------------------


def test_nothing_happens_until_all_answers_are_in(place: Path, write_looks: Any) -> None:
    looked = write_looks({1: SYSTEMS})
    desk = desk_in_rounds(place)
    answer_all(desk, but=1)
    assert advance(desk, "judge", actor="server") == Advance(open_tasks=1)
    assert (looked, desk.rounds.looks("judge"), len(desk.rounds.released("judge"))) == ([], [], 1)
    assert report(desk).status == "asking"


def test_systems_that_have_left_are_asked_about_no_more(place: Path, write_looks: Any) -> None:
    looked = write_looks({1: ("fair", "good"), 2: ("fair", "good", "poor"), 3: ("fair", "good")})
    desk = desk_in_rounds(place)
    first = step(desk)
    assert first.look is not None
    assert first.released is not None
    assert (first.look.look.number, first.released.number, first.released.systems) == (1, 2, ("fair", "good"))
    assert first.released.tasks == 12, "3 of 12 parts in each of 2 strata, for 2 systems"
    second = step(desk)
    assert second.released is not None
    assert second.released.systems == ("fair", "good"), "who has left stays away, whatever a later look says"
    assert step(desk).stop == advancing.Stop(
        "everything", "everything planned has been asked; the goal (ranking) is not reached"
    )
    asked = asked_of(desk)
    assert asked["good"] == asked["fair"] == {(stratum, n) for stratum in "12" for n in range(1, 10)}
    assert asked["poor"] == {(stratum, n) for stratum in "12" for n in range(1, 4)}, "the first places of each order"
    tasks = [stored.task for stored in desk.campaigns.tasks("judge")]
    assert {task.places for task in tasks} == {12}
    assert len({task.id for task in tasks}) == len(tasks) == 18 + 12 + 12
    assert len(looked) == 3
    assert report(desk).left == {"poor": 1}
    assert desk.campaigns.get("judge").state == "paused"


def test_doing_it_again_changes_nothing(place: Path, write_looks: Any) -> None:
    looked = write_looks({1: SYSTEMS, 2: ()})
    desk = desk_in_rounds(place)
    step(desk)
    for _ in range(3):
        assert advance(desk, "judge", actor="server") == Advance(open_tasks=18)
    assert step(desk).stop == advancing.Stop("goal", "the goal is reached (ranking)")
    for _ in range(3):
        again = advance(desk, "judge", actor="server")
        assert (again.look, again.released, again.state) == (None, None, "paused")
        assert again.stop == advancing.Stop("goal", "the goal is reached (ranking)")
    assert len(looked) == 2
    assert [one.look.number for one in desk.rounds.looks("judge")] == [1, 2]
    assert [one.number for one in desk.rounds.released("judge")] == [1, 2]


def test_a_server_that_died_after_the_look_goes_on_from_it(place: Path, write_looks: Any) -> None:
    looked = write_looks({1: ("good",)})
    desk = desk_in_rounds(place)
    answer_all(desk)
    desk.rounds.add_look("judge", look_of(1, ("fair", "good")), "server that died")
    done = advance(desk, "judge", actor="server")
    assert done.look is None, "it was taken before"
    assert done.released is not None
    assert done.released.systems == ("fair", "good")
    assert looked == []


@pytest.mark.parametrize("stay", [SYSTEMS, ()], ids=["which goes on", "which stops"])
def test_somebody_else_is_faster_while_a_look_is_taken(
    place: Path, monkeypatch: pytest.MonkeyPatch, stay: tuple[str, ...]
) -> None:
    others: list[Advance] = []

    def take(_: Study, *, number: int, **__: Any) -> Look:
        if not others:
            others.append(Advance())
            others[0] = advance(desk, "judge", actor="the faster one")
            return look_of(number, ("good",))  # another answer than theirs, which comes too late
        return look_of(number, stay)

    monkeypatch.setattr(advancing, "take_look", take)
    desk = desk_in_rounds(place)
    answer_all(desk)
    mine = advance(desk, "judge", actor="the slower one")
    assert (mine.look, mine.released) == (None, None)
    assert [one.actor for one in desk.rounds.looks("judge")] == ["the faster one"]
    assert desk.rounds.looks("judge")[0].look == look_of(1, stay)
    assert [one.number for one in desk.rounds.released("judge")] == ([1, 2] if stay else [1])


def test_a_server_that_died_before_it_stopped_stops(place: Path, write_looks: Any) -> None:
    write_looks({})
    desk = desk_in_rounds(place)
    answer_all(desk)
    desk.rounds.add_look("judge", look_of(1, ()), "server that died")
    assert report(desk).status == "looking"
    assert advance(desk, "judge", actor="server").state == "paused"
    assert report(desk).status == "stopped"


def test_a_look_that_fails_stops_the_campaign_and_is_tried_again_when_it_resumes(
    place: Path, write_looks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = desk_in_rounds(place)
    answer_all(desk)

    def fail(*_: Any, **__: Any) -> Look:
        raise pyr.UsageError("the model has judged nothing")

    monkeypatch.setattr(advancing, "take_look", fail)
    done = advance(desk, "judge", actor="server")
    assert done.stop == advancing.Stop("trouble", "no look could be taken: the model has judged nothing")
    assert (desk.campaigns.get("judge").state, desk.rounds.looks("judge")) == ("paused", [])
    assert report(desk).stop == done.stop, "a manager reads why"
    assert report(desk).status == "stopped"
    assert not desk.rounds.has_stopped("judge"), "for workers it is only paused"
    write_looks({1: SYSTEMS})
    change_state(desk, "judge", "running")
    assert step(desk).released is not None
    assert [one.look.number for one in desk.rounds.looks("judge")] == [1]


def test_a_mistake_of_ours_changes_nothing(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = desk_in_rounds(place)
    answer_all(desk)

    def fail(*_: Any, **__: Any) -> Look:
        raise ZeroDivisionError

    monkeypatch.setattr(advancing, "take_look", fail)
    with pytest.raises(ZeroDivisionError):
        advance(desk, "judge", actor="server")
    assert desk.rounds.due() == ["judge"], "it is tried again"


def test_a_campaign_without_a_goal_has_no_rounds(place: Path) -> None:
    desk = desk_in_rounds(place)
    desk.start(without_goal(plan_in_rounds(desk.studies.load(), "plain", rounds=(0.5,))))
    assert report_rounds(desk, "plain") is None
    assert overview(desk, "plain").as_dict()["rounds"] is None
    answer_all(desk, "plain")
    assert (desk.rounds.due(), desk.campaigns.get("plain").state) == ([], "running")
    for do in (lambda: advance(desk, "plain", actor="me"), lambda: go_on(desk, "plain", actor="me", reason="more")):
        with pytest.raises(pyr.UsageError, match="campaign plain has no goal, so it has no rounds"):
            do()
    change_state(desk, "plain", "paused")
    change_state(desk, "plain", "running")


# -- money ---------------------------------------------------------------------------------------------------


def test_the_budget_is_the_limit(place: Path, write_looks: Any) -> None:
    """Each round has 18 tasks for one worker at 0.45 and a fee of a fifth: 9.72."""
    write_looks({1: SYSTEMS, 2: SYSTEMS})
    desk = desk_in_rounds(place, budget=19.5)
    now = report(desk)
    assert (str(now.spent.total), str(now.this_round.total)) == ("0.00", "9.72")
    assert (str(now.next_round and now.next_round.total), str(now.most.total)) == ("9.72", "19.44")
    assert step(desk).released is not None
    done = step(desk)
    what = "round 3 would cost $9.72, and $19.44 of the budget of $19.50 is spent"
    assert done.stop == advancing.Stop("budget", what)
    for do in (
        lambda: go_on(desk, "judge", actor="boss", reason="a little more"),
        lambda: change_state(desk, "judge", "running"),
    ):
        with pytest.raises(pyr.UsageError, match=r"round 3 would cost \$9\.72"):
            do()
    assert report(desk).further is None
    assert "at most $19.44 of a budget of $19.50" in " ".join(report(desk).sentences)


def test_money_goes_to_the_systems_that_are_left(place: Path, write_looks: Any) -> None:
    """After poor has left, a round has 12 tasks for 2 workers: 12.96 instead of 19.44."""
    write_looks({1: ("fair", "good")})
    desk = desk_in_rounds(place, workers=2)
    assert str(report(desk).most.total) == "58.32"
    step(desk)
    now = report(desk)
    assert (str(now.spent.total), str(now.this_round.total)) == ("19.44", "12.96")
    assert str(now.most.total) == "45.36", "19.44 + 12.96 + 12.96"
    assert (now.judged.asked, now.judged.planned, now.judged.whole) == (
        2 * 4 * (18 + 12),
        2 * 4 * 54,
        2 * 4 * 72,
    ), "2 workers, 4 units in a part"


# -- what a manager decides ----------------------------------------------------------------------------------


def test_going_on_beyond_the_goal_is_for_one_round_and_recorded(place: Path, write_looks: Any) -> None:
    write_looks({1: ("fair", "good"), 2: (), 3: ()})
    desk = desk_in_rounds(place)
    with pytest.raises(pyr.UsageError, match="round 1 of campaign judge is still being asked"):
        go_on(desk, "judge", actor="boss", reason="more")
    step(desk)
    assert step(desk).stop is not None
    assert str(report(desk).further and report(desk).further.total) == "6.48", "12 tasks for one worker"
    with pytest.raises(pyr.UsageError, match=r"the goal is reached .* use `campaign go-on`"):
        change_state(desk, "judge", "running")
    made = go_on(desk, "judge", actor="boss", reason="narrower intervals")
    assert (made.number, made.systems, made.actor, made.reason) == (3, ("fair", "good"), "boss", "narrower intervals")
    assert desk.campaigns.get("judge").state == "running"
    with pytest.raises(pyr.UsageError, match="still being asked"):
        go_on(desk, "judge", actor="boss", reason="and more")
    done = step(desk)
    assert done.look is not None
    assert done.stop == advancing.Stop("goal", "the goal is reached (ranking)"), "it stops again"
    with pytest.raises(pyr.UsageError, match="has asked everything that was planned"):
        go_on(desk, "judge", actor="boss", reason="and more")
    change_state(desk, "judge", "closed")
    with pytest.raises(pyr.UsageError, match="closed permanently"):
        go_on(desk, "judge", actor="boss", reason="and more")
    assert report(desk).status == "closed"


def test_a_campaign_that_goes_on_by_itself_needs_nobody(place: Path, write_looks: Any) -> None:
    write_looks({1: SYSTEMS})
    desk = desk_in_rounds(place)
    answer_all(desk)
    with pytest.raises(pyr.UsageError, match="goes on by itself"):
        go_on(desk, "judge", actor="boss", reason="more")


def test_a_pause_holds_the_look_back(place: Path, write_looks: Any) -> None:
    looked = write_looks({1: SYSTEMS})
    desk = desk_in_rounds(place)
    answer_all(desk)
    change_state(desk, "judge", "paused")
    assert advance(desk, "judge", actor="server") == Advance(state="paused")
    assert (looked, report(desk).status) == ([], "paused")
    change_state(desk, "judge", "running")
    assert advance(desk, "judge", actor="server").released is not None


def test_answers_removed_after_the_end_are_asked_again_and_looked_at_no_more(place: Path, write_looks: Any) -> None:
    looked = write_looks({1: ()})
    desk = desk_in_rounds(place)
    step(desk)
    answer = desk.campaigns.answers("judge")[0]
    decide_answers(desk, "reject", "judge", [answer.id], actor="boss", reason="all the same")
    change_state(desk, "judge", "running")
    assert advance(desk, "judge", actor="server") == Advance(open_tasks=1)
    other = desk.workers.join("local", "somebody else").id
    lease = desk.assignments.lease("judge", other)
    assert lease is not None
    assert answer.answer is not None
    desk.assignments.submit(lease.id, other, "a key of theirs", answer.answer)
    assert advance(desk, "judge", actor="server").stop == advancing.Stop("goal", "the goal is reached (ranking)")
    assert (desk.campaigns.get("judge").state, len(looked)) == ("paused", 1)


# -- what a look reads and an export has ---------------------------------------------------------------------


def test_a_look_reads_this_campaign_and_the_model_and_nobody_else(place: Path, write_looks: Any) -> None:
    looked = write_looks({1: SYSTEMS})
    desk = desk_in_rounds(place)
    study = desk.studies.load()
    unit = study.pyramids[0].units[0].id
    said = Judgment(study.topics[0].id, "good", "erin", 1, unit=unit)
    desk.import_study(pyr.Study(judges=(Judge("erin", "expert"),), judgments=Judgments([said])))
    desk.start(plan_in_rounds(desk.studies.load(), "other"))
    answer_all(desk, "other")
    answer_all(desk)
    mine = desk.campaigns.answers("judge")
    lazy = desk.workers.join("local", "somebody lazy").id
    decide_answers(desk, "reopen", "judge", [mine[0].id], actor="boss", reason="asked again")
    lease = desk.assignments.lease("judge", lazy)
    assert lease is not None
    assert mine[0].answer is not None
    desk.assignments.submit(lease.id, lazy, "a key of theirs", mine[0].answer)
    decide_worker(desk, "exclude", lazy, actor="boss", reason="lazy")
    advance(desk, "judge", actor="server")
    [seen] = looked
    assert set(seen.judgments.judge.present_names()) == {MODEL, mine[0].worker}
    tasks = {stored.task for stored in desk.campaigns.tasks("judge") if stored.task.id.startswith("judge:1-")}
    assert set(seen.tasks) == tasks, "also the one whose only answer was left out"
    assert [p for p in seen.problems() if p.severity == "error"] == []


def test_exports_have_every_released_task(place: Path, tmp_path: Path, write_looks: Any) -> None:
    write_looks({1: ("fair", "good")})
    desk = desk_in_rounds(place)
    step(desk)
    for study in (desk.study(), desk.study_of("judge")):
        assert len(study.tasks) == 30
        assert len({work.task for work in study.assignments}) == 18, "12 wait for answers"
        assert all(task.stratum and 1 <= task.place <= task.places == 12 for task in study.tasks)
    pyr.save(desk.study(), tmp_path / "out.jsonl")
    assert pyr.load(tmp_path / "out.jsonl") == desk.study() == pyr.load(place)


def test_units_of_later_rounds_stay_although_their_writing_was_removed(place: Path) -> None:
    desk = desk_in_rounds(place)
    parts = desk.rounds.parts("judge")
    planned = {(part.topic, unit) for part in parts if part.round for unit in part.units}
    assert desk.asked_units() == planned
    assert len(planned) == 72


def test_the_parts_are_kept_as_they_were_drawn(place: Path) -> None:
    planned = plan_in_rounds(study_in_rounds())
    desk = desk_in_rounds(place)
    assert desk.rounds.parts("judge") == planned.parts
    assert any(part.round == 0 for part in planned.parts)


def test_tasks_of_a_round_have_names_that_no_other_campaign_gives(place: Path, write_looks: Any) -> None:
    write_looks({1: SYSTEMS})
    desk = desk_in_rounds(place)
    settings = Settings.for_kind("judge", workers=1)
    desk.start(plan(desk.studies.load(), "judge", "judge-2", settings))
    assert step(desk).released is not None


def test_a_start_that_fails_leaves_nothing(place: Path) -> None:
    desk = desk_in_rounds(place)
    twice = plan_in_rounds(desk.studies.load(), "again")
    doubled = replace(twice, parts=(*twice.parts, twice.parts[0]))
    with pytest.raises(Exception, match=r"one_part_per_place|UNIQUE"):
        desk.start(doubled)
    assert [campaign.name for campaign in desk.campaigns.all()] == ["judge"]
