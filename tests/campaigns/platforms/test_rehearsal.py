"""A simulated crowd drives a memory and the store in process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyramidion as pyr
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.plan import plan
from pyramidion.campaigns.rehearsal import InProcess, rehearse, rehearse_campaign
from pyramidion.campaigns.signs import Reason
from pyramidion.campaigns.simulated_workers import SimulatedWorker, WorkerKind, answer, crowd
from pyramidion.campaigns.tables import Campaigns
from pyramidion.campaigns.tasks import Answer, check_answer
from pyramidion.store.database import Database
from pyramidion.study import Settings


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@dataclass
class Held:
    worker: str
    task: int
    state: str = "leased"
    key: str = ""
    answer: Answer | None = None


class Memory:
    """Exactly so many workers for each task, in memory."""

    def __init__(self, pages: list[dict[str, Any]], wanted: int) -> None:
        self.pages, self.wanted = pages, wanted
        self.held: list[Held] = []
        self.replays = 0

    def next_task(self, worker: str, /) -> tuple[int, dict[str, Any]] | None:
        for id, held in enumerate(self.held):
            if held.worker == worker and held.state == "leased":
                return id, self.pages[held.task]
        mine = {held.task for held in self.held if held.worker == worker}
        for task, page in enumerate(self.pages):
            if task not in mine and len(self.of(task)) < self.wanted:
                self.held.append(Held(worker, task))
                return len(self.held) - 1, page
        return None

    def of(self, task: int, *states: str) -> list[Held]:
        return [h for h in self.held if h.task == task and h.state in (states or ("leased", "submitted"))]

    def truth(self, _assignment: int, /) -> dict[str, float]:
        return {}

    def submit(self, worker: str, assignment: int, key: str, answer: dict[str, Any], /) -> None:
        held = self.held[assignment]
        assert held.worker == worker
        assert 8 <= len(key) <= 100
        checked = check_answer(self.pages[held.task], answer)
        if held.state == "submitted":
            assert (held.key, held.answer) == (key, checked)
            self.replays += 1
        held.state, held.key, held.answer = "submitted", key, checked

    def give_back(self, worker: str, assignment: int, /) -> None:
        assert self.held[assignment].worker == worker
        self.held[assignment].state = "returned"


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
    assert (done.submitted.total(), done.abandoned, done.repeated) == (24, 0, 0)
    assert done.seconds > 0
    assert len(done.submitted) > 3, "work is spread over the crowd"


def test_it_ends_where_there_are_too_few_workers() -> None:
    assert rehearse(Memory(judging_pages(2), 5), crowd(3, rng()), rng()).submitted.total() == 6
    assert rehearse(Memory(judging_pages(2), 5), [], rng()).submitted.total() == 0


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
    assert done.submitted.total() == 120
    assert done.repeated == memory.replays > 3
    assert done.abandoned == sum(held.state == "returned" for held in memory.held) > 10


def test_time_passes_as_told() -> None:
    waited: list[float] = []
    done = rehearse(Memory(judging_pages(), 1), crowd(2, rng()), rng(), wait=waited.append)
    assert sum(waited) == pytest.approx(done.seconds)
    assert len(waited) == 8


# -- the store, in process -----------------------------------------------------------------------------------


@pytest.fixture
def desk(tmp_path: Path, example: pyr.Study) -> Iterator[CampaignDesk]:
    opened = CampaignDesk(Database.create(tmp_path / "study.db"))
    opened.import_study(pyr.Study(topics=example.topics, summaries=example.summaries))
    yield opened
    opened.database.close()


def test_a_campaign_from_writing_to_scores(desk: CampaignDesk) -> None:
    topics = [topic.id for topic in desk.studies.load().topics[:1]]
    systems = list(desk.studies.load().systems[:2])
    settings = Settings.for_kind("write", workers=2, lease_minutes=30)
    desk.start(plan(desk.studies.load(), "write", "write", settings, topics=topics))
    run(desk, "write", crowd(10, rng(1), abandon=0.1, twice=0.2, prefix="writer"))
    made = desk.make_units("write")
    desk.store_units(made)
    assert made.kept >= 32
    judging = Settings.for_kind("judge", workers=3, lease_minutes=30)
    desk.start(plan(desk.studies.load(), "judge", "judge", judging, topics=topics, systems=systems))
    run(desk, "judge", crowd(25, rng(2), abandon=0.1, twice=0.2))
    counted = Counter(a.task.id for a in Campaigns(desk.database).answers("judge") if a.counted)
    assert set(counted.values()) == {3}
    assert len(counted) == 4
    scores = pyr.score(desk.study(), "lite").per_system("lite")
    assert set(scores) == set(systems)


# -- who is caught, and who is hurt --------------------------------------------------------------------------


@pytest.fixture
def judging(tmp_path: Path, example: pyr.Study) -> Iterator[CampaignDesk]:
    opened = CampaignDesk(Database.create(tmp_path / "judging.db"))
    opened.import_study(example)
    settings = Settings.for_kind("judge", workers=20, gold_rate=1.0, consent="Freely.")
    opened.start(plan(opened.studies.load(), "judge", "judge", settings))
    yield opened
    opened.database.close()


def test_the_check_stops_bots_and_lets_readers_in(judging: CampaignDesk) -> None:
    done = rehearse_campaign(judging, "judge", workers=100, shares={"bot": 0.5}, careless=0, adversarial=0, seed=1)
    careful, bots = done.gates
    assert (careful.kind, bots.kind, careful.came, bots.came) == ("careful", "bot", 50, 50)
    assert bots.failed_check >= 45  # each passes with a chance of 0.8%
    assert careful.failed_check <= 5
    assert (careful.worked, bots.worked) == (50 - careful.failed_check, 50 - bots.failed_check)
    assert sum(done.submitted.values()) == judging.campaigns.progress("judge")["submitted"]
    assert careful.caught <= 8
    assert len(judging.workers.consents("judge")) == 100, "they agree as people do"
    # The check that the server asks counts their tries: nobody who failed gets another one.
    again = rehearse_campaign(judging, "judge", workers=100, shares={"bot": 0.5}, careless=0, adversarial=0, seed=1)
    assert [gate.failed_check for gate in again.gates] == [careful.failed_check, bots.failed_check]


def test_every_kind_of_cheat_has_a_gate(tmp_path: Path, example: pyr.Study) -> None:
    """Without the comprehension check, so that everybody works: what flags them is what they do."""
    desk = CampaignDesk(Database.create(tmp_path / "study.db"))
    desk.import_study(example)
    settings = Settings.for_kind("judge", workers=20, gold_rate=1.0, check=False)
    desk.start(plan(desk.studies.load(), "judge", "judge", settings))
    shares: dict[WorkerKind, float] = {
        "bot": 0.1,
        "copier": 0.1,
        "speeder": 0.1,
        "straight-liner": 0.1,
        "colluder": 0.1,
    }
    done = rehearse_campaign(desk, "judge", workers=60, shares=shares, careless=0, adversarial=0, seed=2)
    desk.database.close()
    gates = {gate.kind: gate for gate in done.gates}
    assert {kind: gate.came for kind, gate in gates.items()} == {"careful": 30, **dict.fromkeys(shares, 6)}
    assert all(gate.worked == gate.came and gate.failed_check == 0 for gate in gates.values())
    expected: dict[WorkerKind, Reason] = {
        "bot": "too fast",
        "copier": "repeated answers",
        "speeder": "too fast",
        "straight-liner": "uniform answers",
    }
    assert {kind: gates[kind].flagged[reason] for kind, reason in expected.items()} == dict.fromkeys(expected, 6)
    assert gates["colluder"].flagged["same as another"] in {4, 6}, (
        "pairs who are right most of the time need more tasks"
    )
    assert gates["careful"].caught <= 2
    assert not gates["careful"].flagged.keys() & {"too fast", "repeated answers", "uniform answers", "same as another"}


def test_copiers_and_pairs_are_found_in_writing(desk: CampaignDesk) -> None:
    settings = Settings.for_kind("write", workers=8, check=False)
    desk.start(plan(desk.studies.load(), "write", "write", settings))
    shares: dict[WorkerKind, float] = {"copier": 0.1, "colluder": 0.1}
    done = rehearse_campaign(desk, "write", workers=40, shares=shares, careless=0, adversarial=0, seed=3)
    gates = {gate.kind: gate for gate in done.gates}
    assert gates["copier"].flagged["copied"] == gates["copier"].worked == 4
    assert gates["colluder"].flagged["same as another"] == gates["colluder"].worked == 4
    assert gates["careful"].caught == 0


def test_colluders_come_in_pairs_and_send_the_same() -> None:
    people = crowd(20, rng(4), shares={"colluder": 0.2}, careless=0, adversarial=0)
    pairs = Counter(person.pair for person in people if person.kind == "colluder")
    assert sorted(pairs.values()) == [2, 2]
    page = judging_pages(1)[0]
    [first, second] = [person for person in people if person.pair == next(iter(pairs))]
    assert answer(first, page, None, rng(1)) == answer(second, page, None, rng(2))


def run(desk: CampaignDesk, campaign: str, people: list[SimulatedWorker]) -> None:
    api = InProcess(desk, campaign)
    rehearse(api, people, rng(3), wait=api.wait)
