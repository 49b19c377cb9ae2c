"""The log of decisions: what was decided at once is one row, and is taken back as one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import pyramidion as pyr
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.management import block_and_remove, decide_answers, decide_worker, undo
from pyramidion.campaigns.monitor import overview
from pyramidion.campaigns.plan import plan
from pyramidion.campaigns.rehearsal import rehearse_campaign
from pyramidion.store.database import Database
from pyramidion.study import Settings

BOSS = {"actor": "boss", "reason": "answered without reading"}


@pytest.fixture
def desk(tmp_path: Path, example: pyr.Study) -> Iterator[CampaignDesk]:
    made = CampaignDesk(Database.create(tmp_path / "study.db"))
    made.import_study(pyr.Study(topics=example.topics, summaries=example.summaries))
    made.start(plan(made.material(), "rate", "rated", Settings.for_kind("rate"), topics=("museum-theft",)))
    rehearse_campaign(made, "rated", workers=6, seed=3)
    yield made
    made.database.close()


def test_a_block_with_removed_answers_is_one_decision(desk: CampaignDesk) -> None:
    worker = next(answer.worker for answer in desk.campaigns.answers("rated") if answer.counted)
    paid, *others = (answer.id for answer in desk.campaigns.answers("rated", worker=worker) if answer.counted)
    decide_answers(desk, "approve", "rated", [paid], actor="boss", reason="good work")
    desk.decisions.tell([paid], "tell-approve", actor="boss", reason="")
    block_and_remove(desk, worker, "rated", **BOSS)
    [row] = [row for row in overview(desk, "rated").log if row.reason == BOSS["reason"]]
    assert (row.action, row.worker, row.answers, row.undo) == ("block-remove", worker, 1 + len(others), True)
    effects = undo(desk, "rated", row.first, row.last, actor="boss", reason="a mistake")
    assert (effects.counted_again, effects.notes) == (1 + len(others), ())
    assert not desk.workers.get(worker).blocked  # type: ignore[union-attr]
    [row] = [row for row in overview(desk, "rated").log if row.reason == BOSS["reason"]]
    assert not row.undo


def test_what_is_not_taken_back_is_said(desk: CampaignDesk) -> None:
    worker = next(answer.worker for answer in desk.campaigns.answers("rated") if answer.counted)
    block_and_remove(desk, worker, "rated", **BOSS)
    [row] = overview(desk, "rated").log
    first = next(answer.id for answer in desk.campaigns.answers("rated", worker=worker))
    decide_answers(desk, "approve", "rated", [first], actor="boss", reason="good work")
    effects = undo(desk, "rated", row.first, row.last, actor="boss", reason="a mistake")
    assert any(note.where == f"1 of {row.answers} answers" for note in effects.notes)


def test_a_rejection_for_another_reason_is_another_decision(desk: CampaignDesk) -> None:
    worker = desk.campaigns.answers("rated")[0].worker
    decide_worker(desk, "block", worker, **BOSS)
    decide_answers(desk, "reject", "rated", worker=worker, actor="boss", reason="empty")
    assert [row.action for row in overview(desk, "rated").log] == ["block", "reject"]
