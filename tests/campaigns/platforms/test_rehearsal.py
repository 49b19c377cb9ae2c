"""The same simulated crowd drives a memory, the store in process and a server over HTTP."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.campaigns.platforms.fake_study import CAMPAIGN, Memory, study_server

import pyramidion as pyr
from pyramidion.campaigns.assignments import Assignments
from pyramidion.campaigns.desk import Desk
from pyramidion.campaigns.plan import plan
from pyramidion.campaigns.platforms import PlatformError
from pyramidion.campaigns.platforms.simulated import HttpApi
from pyramidion.campaigns.platforms.simulated_workers import SimulatedWorker, crowd
from pyramidion.campaigns.records import Campaigns
from pyramidion.campaigns.rehearsal import Api, rehearse
from pyramidion.campaigns.tasks import check_answer, task_page
from pyramidion.campaigns.workers import Workers
from pyramidion.store.database import Database
from pyramidion.study import Settings


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def judging_pages(count: int = 8, units: int = 5) -> list[dict[str, Any]]:
    asked = [{"id": f"u{i}", "label": f"statement {i}"} for i in range(units)]
    return [{"kind": "judge", "task": f"t{n}", "summary": "", "references": [], "units": asked} for n in range(count)]


def exactly(memory: Memory, wanted: int) -> None:
    for task in range(len(memory.pages)):
        workers = [held.worker for held in memory.of(task, "submitted")]
        assert len(workers) == len(set(workers)) == wanted
        assert memory.of(task, "leased") == []


def test_everything_is_done_in_the_end() -> None:
    memory = Memory(judging_pages(), 3)
    done = rehearse(memory, crowd(6, rng(1)), rng(2))
    exactly(memory, 3)
    assert (done.total, done.abandoned, done.repeated) == (24, 0, 0)
    assert done.seconds > 0
    assert len(done.submitted) > 3, "work is spread over the crowd"


def test_it_ends_where_there_are_too_few_workers() -> None:
    assert rehearse(Memory(judging_pages(2), 5), crowd(3, rng()), rng()).total == 6
    assert rehearse(Memory(judging_pages(2), 5), [], rng()).total == 0


def test_the_same_seed_gives_the_same_campaign() -> None:
    first, again, other = (Memory(judging_pages(), 3) for _ in range(3))
    for memory, seed in ((first, 3), (again, 3), (other, 4)):
        rehearse(memory, crowd(8, rng(1), abandon=0.2, twice=0.1), rng(seed))
    assert first.held == again.held
    assert first.held != other.held


def test_tasks_given_back_are_done_by_others_and_double_clicks_count_once() -> None:
    memory = Memory(judging_pages(40), 3)
    done = rehearse(memory, crowd(40, rng(1), abandon=0.2, twice=0.1), rng(2))
    exactly(memory, 3)
    assert done.total == 120
    assert done.repeated == memory.replays > 3
    assert done.abandoned == sum(held.state == "returned" for held in memory.held) > 10


def test_who_vanishes_keeps_the_place_and_never_comes_back() -> None:
    memory = Memory(judging_pages(4), 2)
    lost = SimulatedWorker("lost", abandon=1.0)
    done = rehearse(memory, [lost, *crowd(4, rng(1))], rng(2), leaving="vanish")
    assert (done.abandoned, done.total) == (1, 7)
    for held in memory.held:  # the lease expires
        held.state = held.state.replace("leased", "expired")
    assert rehearse(memory, crowd(4, rng(1)), rng(3)).total == 1
    exactly(memory, 2)
    with pytest.raises(pyr.UsageError, match="return, vanish"):
        rehearse(memory, [lost], rng(), leaving="slam the door")  # type: ignore[arg-type]


def test_truth_is_asked_page_by_page() -> None:
    pages = judging_pages(4)
    truth = {page["task"]: {f"u{i}": (n + i) % 2 for i in range(5)} for n, page in enumerate(pages)}
    memory = Memory(pages, 2)
    perfect = [SimulatedWorker(name, accuracy=1.0) for name in "ab"]
    rehearse(memory, perfect, rng(), truth=lambda page: truth[page["task"]])
    assert all(held.answer["units"] == truth[pages[held.task]["task"]] for held in memory.held)


def test_time_passes_as_told() -> None:
    waited: list[float] = []
    done = rehearse(Memory(judging_pages(), 1), crowd(2, rng()), rng(), wait=waited.append)
    assert sum(waited) == pytest.approx(done.seconds)
    assert len(waited) == 8


# -- the store, in process -----------------------------------------------------------------------------------


class InProcess:
    """What a server does for a worker, without the server."""

    def __init__(self, desk: Desk, campaign: str) -> None:
        self.campaign = desk.campaigns.get(campaign)
        self.study = desk.studies.load()
        self.now = 0.0
        self.assignments = Assignments(desk.database, lambda: self.now)
        self.workers = Workers(desk.database)
        self.pages: dict[int, dict[str, Any]] = {}

    def wait(self, seconds: float) -> None:
        self.now += seconds

    def next_task(self, worker: str, /) -> tuple[int, dict[str, Any]] | None:
        lease = self.assignments.lease(self.campaign.name, self.workers.join("simulated", worker).id)
        if lease is None:
            return None
        self.pages[lease.id] = task_page(self.study, self.campaign, lease.task)
        return lease.id, self.pages[lease.id]

    def submit(self, worker: str, assignment: int, key: str, answer: dict[str, Any], /) -> None:
        clean = check_answer(self.pages[assignment], answer)
        self.assignments.submit(assignment, self.workers.pseudonym("simulated", worker), key, clean)

    def give_back(self, worker: str, assignment: int, /) -> None:
        self.assignments.give_back(assignment, self.workers.pseudonym("simulated", worker))


@pytest.fixture
def desk(tmp_path: Path, example: pyr.Study) -> Iterator[Desk]:
    opened = Desk(Database.create(tmp_path / "study.db"))
    opened.import_study(pyr.Study(topics=example.topics, summaries=example.summaries))
    yield opened
    opened.database.close()


@pytest.mark.parametrize("leaving", ["return", "vanish"])
def test_a_campaign_from_writing_to_scores(desk: Desk, leaving: Any) -> None:
    topics = [topic.id for topic in desk.studies.load().topics[:1]]
    systems = list(desk.studies.load().systems[:2])
    settings = Settings.for_kind("write", workers=2, lease_minutes=30)
    desk.start(plan(desk.studies.load(), "write", "write", settings, topics=topics))
    run(desk, "write", crowd(10, rng(1), abandon=0.1, twice=0.2, prefix="writer"), leaving)
    made = desk.make_units("write")
    desk.store_units(made)
    assert made.kept >= 32
    judging = Settings.for_kind("judge", workers=3, lease_minutes=30)
    desk.start(plan(desk.studies.load(), "judge", "judge", judging, topics=topics, systems=systems))
    run(desk, "judge", crowd(25, rng(2), abandon=0.1, twice=0.2), leaving)
    counted = Counter(a.task.id for a in Campaigns(desk.database).answers("judge") if a.counted)
    assert set(counted.values()) == {3}
    assert len(counted) == 4
    scores = pyr.score(desk.study(), "lite").per_system("lite")
    assert set(scores) == set(systems)


def run(desk: Desk, campaign: str, people: list[SimulatedWorker], leaving: Any) -> None:
    api = InProcess(desk, campaign)
    rehearse(api, people, rng(3), wait=api.wait, leaving=leaving)
    api.wait(31 * 60)
    rehearse(api, people, rng(4), wait=api.wait)


# -- a server, over HTTP -------------------------------------------------------------------------------------

LINKS = {f"worker-{i}": f"1.token_{i}.mac" for i in range(1, 7)}
RIGHT = {"q1": "present", "q2": "absent"}


@pytest.mark.parametrize("check", [None, RIGHT], ids=["no questions", "questions first"])
def test_over_http_it_is_the_same_campaign(check: dict[str, str] | None) -> None:
    people = crowd(6, rng(1), abandon=0.2, twice=0.2)
    memory, direct = Memory(judging_pages(), 3), Memory(judging_pages(), 3)
    with study_server(memory, LINKS, check) as server, HttpApi(server.url, CAMPAIGN, LINKS, check=check) as api:
        over_http = rehearse(api, people, rng(2))
    assert over_http == rehearse(direct, people, rng(2))
    assert memory.held == direct.held
    assert {marked for _, marked in server.requests} == {"pyramidion"}
    assert len(server.cookies) == 6, "everybody joins once"
    assert (server.passed == set(LINKS)) == (check is not None)


@pytest.mark.parametrize("check", [None, {"q1": "absent"}])
def test_comprehension_questions_need_right_answers(check: dict[str, str] | None) -> None:
    with (
        study_server(Memory(judging_pages(), 1), LINKS, RIGHT) as server,
        HttpApi(server.url, CAMPAIGN, LINKS, check=check) as api,
        pytest.raises(pyr.UsageError, match="comprehension questions"),
    ):
        api.next_task("worker-1")


@pytest.mark.parametrize("state", ["done", "paused", "closed", "blocked", "check-failed"])
def test_in_any_other_state_there_is_no_task(state: str) -> None:
    with study_server(Memory(judging_pages(), 1), LINKS) as server, HttpApi(server.url, CAMPAIGN, LINKS) as api:
        server.state = state
        assert api.next_task("worker-1") is None


def test_what_goes_wrong_is_said() -> None:
    links = {**LINKS, "forger": "1.x.y"}
    with study_server(Memory(judging_pages(), 1), LINKS) as server, HttpApi(server.url, CAMPAIGN, links) as api:
        with pytest.raises(PlatformError, match=r"HTTP 403.*not valid"):
            api.next_task("forger")
        with pytest.raises(pyr.UsageError, match="no invitation"):
            api.next_task("stranger")
        with HttpApi(server.url, "other", LINKS) as elsewhere, pytest.raises(PlatformError, match="HTTP 404") as caught:
            elsewhere.next_task("worker-1")
    assert caught.value.status == 404
    with HttpApi("http://127.0.0.1:1", CAMPAIGN, LINKS) as nobody, pytest.raises(PlatformError, match="GET /join/"):
        nobody.next_task("worker-1")


def test_everything_that_offers_the_calls_is_an_api() -> None:
    apis: list[Api] = [Memory([], 1), HttpApi("http://127.0.0.1:1", CAMPAIGN, {})]
    assert apis
