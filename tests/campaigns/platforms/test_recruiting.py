"""People are let in for each round: once, however often it is tried."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.campaigns.designs import answer_all, desk_in_rounds
from tests.campaigns.platforms.fake_prolific import STUDY, FakeProlific, Fault

from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.plan import release
from pyramidion.campaigns.platforms import Arrival, PlatformError
from pyramidion.campaigns.platforms.prolific import Client, Prolific
from pyramidion.campaigns.recruiting import people_for, recruit
from pyramidion.campaigns.round_report import report_rounds
from pyramidion.campaigns.tasks import JudgeAnswer

SYSTEMS = ("fair", "good")


def prolific_desk(place: Path, **chosen: object) -> CampaignDesk:
    settings = {"platform": "prolific", "platform_study": STUDY, "completion_code": "DONE", **chosen}
    return desk_in_rounds(place / "study.db", **settings)


def release_second(desk: CampaignDesk) -> None:
    answer_all(desk)
    made = release(desk.material(), desk.campaigns.get("judge"), desk.rounds.parts("judge"), 2, SYSTEMS)
    assert desk.rounds.release("judge", 2, SYSTEMS, made, actor="server")


def submit(desk: CampaignDesk, person: str, times: int) -> None:
    entry = desk.workers.enter("judge", Arrival("prolific", person, f"session-{person}", STUDY))
    for _ in range(times):
        lease = desk.assignments.lease("judge", entry.worker, entry.id)
        assert lease is not None
        units = JudgeAnswer(dict.fromkeys(lease.task.units, 1))
        desk.assignments.submit(lease.id, entry.worker, f"key {lease.id}", units)


def test_how_many_people_a_round_needs(tmp_path: Path) -> None:
    desk = prolific_desk(tmp_path, workers=2)
    campaign = desk.campaigns.get("judge")
    assert people_for(desk, campaign, 12) == 24, "nobody has come yet: one task each, 2 for each of 12"
    submit(desk, "ann", 4)
    submit(desk, "ben", 2)
    assert people_for(desk, campaign, 12) == 8, "3 tasks each on average"
    assert people_for(desk, campaign, 1) == 2, "a task needs 2 different people"


def test_a_limit_says_how_many_tasks_a_person_does(tmp_path: Path) -> None:
    desk = prolific_desk(tmp_path, workers=2, most_per_worker=5)
    assert people_for(desk, desk.campaigns.get("judge"), 12) == 5, "24 answers, 5 each"


def test_places_follow_the_rounds(tmp_path: Path, client: Client, prolific: FakeProlific) -> None:
    desk = prolific_desk(tmp_path, most_per_worker=4)
    platform = Prolific(STUDY, client=client)
    assert recruit(desk, "judge", platform) is None, "the first round came with the study"
    assert prolific.calls == []
    release_second(desk)
    report = report_rounds(desk, "judge")
    assert report is not None
    assert (report.people, report.lacks_places) == (3, True)
    assert any("needs about 3 people on the platform, which were not let in yet" in line for line in report.sentences)
    assert recruit(desk, "judge", platform) == 33, "30 were there"
    assert prolific.studies[STUDY]["total_available_places"] == 33
    assert recruit(desk, "judge", platform) is None
    after = report_rounds(desk, "judge")
    assert after is not None
    assert not after.lacks_places


@pytest.mark.parametrize(
    "fault",
    [Fault(status=503, after=True), Fault(after=True)],
    ids=["an error after it was done", "a reply that was lost"],
)
def test_places_are_not_added_twice(tmp_path: Path, client: Client, prolific: FakeProlific, fault: Fault) -> None:
    desk = prolific_desk(tmp_path, most_per_worker=4)
    release_second(desk)
    prolific.faults.extend([None, None, *[fault] * 10])
    with pytest.raises(PlatformError):
        recruit(desk, "judge", Prolific(STUDY, client=client))
    assert desk.rounds.released("judge")[1].places == 33, "it was written down before"
    assert prolific.studies[STUDY]["total_available_places"] == 33, "and Prolific has done it"
    prolific.faults.clear()
    assert recruit(desk, "judge", Prolific(STUDY, client=client)) == 33


def test_invited_people_need_no_places(tmp_path: Path, client: Client, prolific: FakeProlific) -> None:
    desk = desk_in_rounds(tmp_path / "study.db")
    release_second(desk)
    assert recruit(desk, "judge", Prolific(STUDY, client=client)) is None
    assert prolific.calls == []
    report = report_rounds(desk, "judge")
    assert report is not None
    assert (report.people, report.lacks_places) == (None, False)
