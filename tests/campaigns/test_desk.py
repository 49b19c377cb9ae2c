"""write -> filter -> sample -> judge -> screen -> aggregate -> score, with simulated workers on a real database."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import pyramidion as pyr
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.management import decide_answers, decide_worker
from pyramidion.campaigns.monitor import overview
from pyramidion.campaigns.plan import plan
from pyramidion.campaigns.rehearsal import rehearse_campaign
from pyramidion.campaigns.workers import Workers
from pyramidion.store.database import Database
from pyramidion.study import Settings


@pytest.fixture
def desk(tmp_path: Path, example: pyr.Study) -> CampaignDesk:
    """A study of two topics and three systems: texts only."""
    topics = example.topics[:2]
    kept = {topic.id for topic in topics}
    systems = {"paraphrase", "lead", "offtopic"}
    texts = [s for s in example.summaries if s.topic in kept and (s.role == "reference" or s.system in systems)]
    made = CampaignDesk(Database.create(tmp_path / "study.db"))
    made.import_study(pyr.Study(topics=topics, summaries=tuple(texts)))
    return made


def run(desk: CampaignDesk, kind: str, name: str, *, workers: int = 12, seed: int = 1, **settings: object) -> None:
    chosen = Settings.for_kind(kind, **settings)  # type: ignore[arg-type]
    desk.start(plan(desk.studies.load(), kind, name, chosen))  # type: ignore[arg-type]
    rehearse_campaign(desk, name, workers=workers, seed=seed, careless=0.0, adversarial=0.0)


def test_the_whole_chain(desk: CampaignDesk) -> None:
    run(desk, "write", "write")
    made = desk.make_units("write")
    assert {pyramid.topic for pyramid in made.pyramids} == {topic.id for topic in desk.studies.load().topics}
    assert all(unit.author and unit.contributors for pyramid in made.pyramids for unit in pyramid.units)
    assert all(note.what for note in made.notes)
    desk.store_units(made)
    with pytest.raises(pyr.UsageError, match="already has a crowd pyramid"):
        desk.store_units(made)

    run(desk, "judge", "judge", workers=30)
    progress = desk.campaigns.progress("judge")
    assert progress["submitted"] == progress["wanted"]
    study = desk.study()
    assert [p for p in study.problems() if p.severity == "error"] == []
    table = pyr.score(study, "lite")
    assert set(table.systems) == {"paraphrase", "lead", "offtopic"}
    assert table.ranking("lite")[-1][0] == "offtopic"
    topics = {task.id: (task.kind, task.topic) for task in study.tasks}
    done = {(a.judge, *topics[a.task]) for a in study.assignments}
    wrote = {(worker, topic) for worker, kind, topic in done if kind == "write"}
    judged = {(worker, topic) for worker, kind, topic in done if kind == "judge"}
    assert wrote
    assert not wrote & judged  # nobody judges units of a topic they wrote for


def test_the_answers_survive_export_and_import(desk: CampaignDesk, tmp_path: Path) -> None:
    run(desk, "rate", "rate")
    study = desk.study()
    pyr.save(study, tmp_path / "out.jsonl")
    back = pyr.load(tmp_path / "out.jsonl")
    assert back == study
    assert all(a.accepted and a.submitted and a.seconds for a in back.assignments)
    assert pyr.load(tmp_path / "study.db") == study
    assert pyr.score(back, "responsiveness").measures == ("overall", "linguistic", "content")


def test_importing_twice_changes_nothing(desk: CampaignDesk) -> None:
    held = desk.studies.load()
    assert desk.import_study(held) == 0
    with pytest.raises(pyr.InputError, match="appears 2 times"):
        desk.import_study(pyr.Study(topics=(replace(held.topics[0], title="another title"),)))


def test_new_summaries_of_a_known_topic_need_not_repeat_its_title(desk: CampaignDesk) -> None:
    """A table of a new system's summaries only names the topics."""
    held = desk.studies.load()
    topic = held.topics[0]
    desk.import_study(
        pyr.Study(topics=(pyr.Topic(topic.id),), summaries=(pyr.Summary(topic.id, "new", "Words.", role="peer"),))
    )
    now = desk.studies.load()
    assert now.topics == held.topics
    assert "new" in now.systems


def test_excluded_workers_leave_the_scores_and_come_back(desk: CampaignDesk) -> None:
    run(desk, "rate", "rate")
    worker = desk.campaigns.answers("rate")[0].worker
    before = len(desk.study().judgments)
    decide_worker(desk, "exclude", worker, actor="me", reason="rated without reading")
    assert worker not in set(desk.study().judgments.judge.names)
    assert [str(note) for note in desk.study().notes] == [f"worker {worker}: left out: rated without reading"]
    assert desk.study().notes[0] in pyr.score(desk.study(), "responsiveness").notes
    assert not desk.study(keep_excluded=True).notes
    assert len(desk.study(keep_excluded=True).judgments) == before
    decide_worker(desk, "include", worker, actor="me", reason="looked again")
    assert len(desk.study().judgments) == before


def test_a_table_of_comparisons_reads_back(desk: CampaignDesk, tmp_path: Path) -> None:
    run(desk, "compare", "duel", workers=4)
    path = tmp_path / "duel.csv"
    path.write_text(desk.answers_table("duel"), encoding="utf-8")
    collected, read = desk.study_of("duel"), pyr.load(path)
    assert set(read.judgments) == set(collected.judgments)
    assert len(read.judgments) == len(collected.judgments) > 0
    assert all(j.other and j.other != j.system for j in read.judgments)


def test_decisions_have_consequences(desk: CampaignDesk) -> None:
    run(desk, "rate", "rate", workers=6)
    answers = desk.campaigns.answers("rate")
    worker = answers[0].worker
    mine = [answer.id for answer in answers if answer.worker == worker]
    decide_answers(desk, "approve", "rate", worker=worker, actor="me", reason="good")
    assert {id for id, one in desk.decisions.standings().items() if one.decision == "approve"} == set(mine)
    decide_worker(desk, "block", worker, actor="me", reason="enough")
    known = Workers(desk.database).get(worker)
    assert known is not None
    assert known.blocked == "enough"
    decide_answers(desk, "reopen", "rate", [mine[0]], actor="me", reason="do it again")
    assert desk.campaigns.progress("rate")["submitted"] == len(answers) - 1
    assert [review.action for review in desk.worker_decisions.all()].count("approve") == len(mine)


def test_the_overview_shows_who_is_careless(desk: CampaignDesk, example: pyr.Study) -> None:
    units = tuple(
        p for p in example.pyramids if p.name == "crowd" and p.topic in {t.id for t in desk.studies.load().topics}
    )
    desk.studies.add(pyr.Study(pyramids=units))
    chosen = Settings.for_kind("judge", gold_rate=1.0)
    desk.start(plan(desk.studies.load(), "judge", "judge", chosen))
    rehearse_campaign(desk, "judge", workers=20, careless=0.2, adversarial=0.1, seed=4)
    found = overview(desk, "judge")
    flagged = [worker for worker in found.workers if worker.flags]
    assert 1 <= len(flagged) < len(found.workers)
    assert {flag.reason for worker in flagged for flag in worker.flags} & {"agreement", "gold", "too fast"}
    assert found.alpha is not None
    assert sum(topic["submitted"] for topic in found.by_topic.values()) == found.progress["submitted"]
    shown = found.as_dict()
    assert shown["cost"].startswith("$")
    # What the page shows is never on the other side of the limit a worker is flagged by: 0.4996 is not 0.50.
    for worker in shown["workers"]:
        assert float(worker["agreement_shown"]) == pytest.approx(worker["agreement"], abs=0.005)
        assert (float(worker["agreement_shown"]) < 0.5) == (worker["agreement"] < 0.5)
    assert replace(found, alpha=0.7996).as_dict()["alpha_shown"] == "0.7996"
    assert replace(found, alpha=None).as_dict()["alpha_shown"] is None
    assert str(found.cost.total) == f"{found.progress['submitted'] * 0.54:.2f}"


def test_comparisons_become_preferences(desk: CampaignDesk) -> None:
    run(desk, "compare", "compare")
    votes = [j for j in desk.study().judgments if j.aspect == "preference"]
    assert votes
    assert {j.value for j in votes} <= {0.0, 0.5, 1.0}
    assert all(j.other and j.other != j.system for j in votes)
