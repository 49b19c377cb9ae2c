"""Rejected and withdrawn work, from the answer to the score table, and what the platform hears of it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.campaigns.platforms.fake_prolific import STUDY, TOKEN, FakeProlific, Fault, fake_prolific

import pyramidion as pyr
from pyramidion.campaigns.decisions import DecisionConflictError
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.management import approve_unflagged, block_and_remove, decide_answers, decide_worker
from pyramidion.campaigns.monitor import overview, spent
from pyramidion.campaigns.payments import PaymentConflictError
from pyramidion.campaigns.plan import plan
from pyramidion.campaigns.platforms import Arrival
from pyramidion.campaigns.platforms.prolific import Client, Prolific, WebhookEvent
from pyramidion.campaigns.platforms.prolific.webhooks import STATUS_CHANGE
from pyramidion.campaigns.rehearsal import rehearse_campaign
from pyramidion.campaigns.sync import follow, follow_message, list_intents, pay_decisions
from pyramidion.campaigns.tables import StoredAnswer
from pyramidion.campaigns.tasks import RateAnswer
from pyramidion.campaigns.workers import Entry
from pyramidion.store.database import Database
from pyramidion.study import Settings

BOSS = {"actor": "boss", "reason": "answered without reading"}


@pytest.fixture
def desk(tmp_path: Path, example: pyr.Study) -> Iterator[CampaignDesk]:
    """The texts and crowd units of the bundled example, without anybody's judgments."""
    made = CampaignDesk(Database.create(tmp_path / "study.db"))
    units = tuple(pyramid for pyramid in example.pyramids if pyramid.name == "crowd")
    made.import_study(pyr.Study(topics=example.topics, summaries=example.summaries, pyramids=units))
    yield made
    made.database.close()


def begin(desk: CampaignDesk, kind: Any, name: str, *, topics: tuple[str, ...] = (), **settings: Any) -> None:
    chosen = Settings.for_kind(kind, **settings)
    desk.start(plan(desk.material(), kind, name, chosen, topics=topics))


def rehearse(desk: CampaignDesk, name: str, **more: Any) -> None:
    rehearse_campaign(desk, name, **{"workers": 20, "careless": 0.2, "adversarial": 0.05, "seed": 3, **more})


def majority_scores(lines: list[dict[str, Any]], without: set[tuple[str, str]]) -> dict[str, float]:
    """Shapira et al. 2019, computed anew from exported records: the share of units that most workers saw (tie: absent),
    averaged over topics. ``without``: judgments of these (task, worker) are passed over."""
    votes: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for record in lines:
        if record["type"] == "judgment" and (record["task"], record["judge"]) not in without:
            votes[record["system"], record["topic"], record["unit"]].append(record["value"])
    present: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for (system, topic, _), values in votes.items():
        present[system, topic].append(sum(values) * 2 > len(values))
    topics: dict[str, list[float]] = defaultdict(list)
    for (system, _), units in present.items():
        topics[system].append(sum(units) / len(units))
    return {system: sum(values) / len(values) for system, values in topics.items()}


def exported(study: pyr.Study, path: Path) -> list[dict[str, Any]]:
    pyr.save(study, path)
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_scores_of_a_campaign_are_those_of_the_answers_that_are_left(desk: CampaignDesk, tmp_path: Path) -> None:
    """240 answers of simulated workers, every seventh rejected, and everything of one worker removed."""
    begin(desk, "judge", "judge")
    rehearse(desk, "judge")
    everything = exported(desk.study(), tmp_path / "before.jsonl")
    answers = desk.campaigns.answers("judge")
    assert len(answers) == 240
    before = pyr.score(desk.study(), "lite", min_agreement=None).per_system("lite")
    assert before == pytest.approx(majority_scores(everything, set()))

    some = [answer.id for answer in answers][::7]
    done = decide_answers(desk, "reject", "judge", some, **BOSS)
    worst = Counter(answer.worker for answer in answers if answer.id not in some).most_common(1)[0][0]
    blocked = block_and_remove(desk, worst, "judge", **BOSS)
    gone = {one.answer for one in (*done.answers, *blocked.rejected.answers)} | set(some)
    assert done.removed + blocked.rejected.removed == len(gone) > 40
    out = {(answer.task.id, answer.worker) for answer in answers if answer.id in gone}

    expected = majority_scores(everything, out)
    assert expected != before
    assert pyr.score(desk.study(), "lite", min_agreement=None).per_system("lite") == pytest.approx(expected, abs=1e-12)
    loaded = pyr.load(tmp_path / "study.db")
    assert pyr.score(loaded, "lite", min_agreement=None).per_system("lite") == pytest.approx(expected, abs=1e-12)
    for held in (loaded, desk.study_of("judge"), desk.study(keep_excluded=True)):
        assert len(held.assignments) == 240 - len(gone)
        assert not out & {(a.task, a.judge) for a in held.assignments}
        assert not out & {(j.task, j.judge) for j in held.judgments}
    told = [str(note) for note in loaded.notes if note.where != "SIMULATED"]
    assert told == [f"campaign judge: answers left out: {len(gone)} rejected"]
    assert len({line.split(",")[0] for line in desk.answers_table("judge").splitlines()}) > 1
    assert not [line for line in desk.answers_table("judge").splitlines() if worst in line]

    seen = overview(desk, "judge")
    assert (seen.progress["submitted"], seen.progress["open"]) == (240 - len(gone), len(gone))
    assert str(seen.cost.total) == f"{(240 - len(gone)) * 0.54:.2f}"
    assert spent(desk) == f"judge: {seen.cost} (simulated: nobody was paid)"
    assert sum(topic["submitted"] for topic in seen.by_topic.values()) == 240 - len(gone)
    [of_worst] = [one for one in seen.workers if one.worker == worst]
    assert (of_worst.removed, of_worst.agreement, of_worst.blocked) == (of_worst.submitted, None, BOSS["reason"])

    rehearse(desk, "judge", workers=60, seed=4)
    refilled = [answer for answer in desk.campaigns.answers("judge") if answer.counted]
    assert Counter(answer.task.id for answer in refilled) == dict.fromkeys({a.task.id for a in answers}, 5)
    again = {(answer.task.id, answer.worker) for answer in refilled} & out
    assert not again, "a place is offered to somebody else"


@pytest.mark.parametrize("kind", ["rate", "compare"])
def test_ratings_and_votes_leave_too(desk: CampaignDesk, kind: str) -> None:
    begin(desk, kind, kind, topics=("museum-theft",))
    rehearse(desk, kind)
    answers = desk.campaigns.answers(kind)
    whole = desk.study()
    decide_answers(desk, "reject", kind, [answers[0].id], **BOSS)
    left = desk.study()
    expected = [j for j in whole.judgments if (j.task, j.judge) != (answers[0].task.id, answers[0].worker)]
    assert list(left.judgments) == expected
    assert 0 < len(left.judgments) < len(whole.judgments)


def test_a_worker_is_decided_about_in_one_campaign(desk: CampaignDesk) -> None:
    for name in ("one", "two"):
        begin(desk, "rate", name, topics=("museum-theft",))
        rehearse(desk, name, workers=4)
    mine = by_worker(desk, "one")
    worker = next(iter(mine))
    first, *others = mine[worker]
    decide_answers(desk, "approve", "one", [first.id], **BOSS)
    done = decide_answers(desk, "reject", "one", worker=worker, **BOSS)
    assert [one.answer for one in done.answers] == [answer.id for answer in others]
    assert [str(note) for note in done.notes] == [
        f"answers {first.id}: already approved and not changed; give their ids to reject them"
    ]
    assert all(answer.counted for answer in desk.campaigns.answers("two"))
    assert not desk.decisions.standings("two")
    stranger = desk.workers.join("local", "stranger").id
    with pytest.raises(pyr.UsageError, match="submitted nothing to campaign one"):
        decide_answers(desk, "reject", "one", worker=stranger, **BOSS)
    for wrong in ({}, {"answers": [first.id], "worker": worker}):
        with pytest.raises(pyr.UsageError, match="say which answers"):
            decide_answers(desk, "reject", "one", **wrong, **BOSS)  # type: ignore[arg-type]


def by_worker(desk: CampaignDesk, campaign: str) -> dict[str, list[StoredAnswer]]:
    found: dict[str, list[StoredAnswer]] = defaultdict(list)
    for answer in desk.campaigns.answers(campaign):
        found[answer.worker].append(answer)
    return found


def test_a_block_keeps_answers_unless_told_otherwise(desk: CampaignDesk) -> None:
    for name in ("one", "two"):
        begin(desk, "rate", name, topics=("museum-theft",))
        rehearse(desk, name, workers=4)
    worker = desk.campaigns.answers("one")[0].worker
    before = len(desk.study().judgments)
    decide_worker(desk, "block", worker, **BOSS)
    assert len(desk.study().judgments) == before
    decide_worker(desk, "unblock", worker, **BOSS)
    tried = block_and_remove(desk, worker, "one", **BOSS, dry_run=True)
    known = desk.workers.get(worker)
    assert known is not None
    assert known.blocked is None
    assert len(desk.study().judgments) == before
    assert block_and_remove(desk, worker, "one", **BOSS) == tried
    assert not [a for a in desk.campaigns.answers("one") if a.worker == worker and a.counted]
    assert [a for a in desk.campaigns.answers("two") if a.worker == worker and a.counted]
    known = desk.workers.get(worker)
    assert known is not None
    assert known.blocked == BOSS["reason"]


def test_what_is_removed_from_a_closed_campaign_is_offered_to_nobody(desk: CampaignDesk) -> None:
    begin(desk, "rate", "rate", topics=("museum-theft",))
    rehearse(desk, "rate", workers=3)
    desk.campaigns.set_state("rate", "closed")
    done = decide_answers(desk, "reject", "rate", [desk.campaigns.answers("rate")[0].id], **BOSS)
    assert [str(note) for note in done.notes] == ["campaign rate: it is closed, so nobody is given the open places"]


def test_those_with_rejected_answers_are_approved_for_the_others(desk: CampaignDesk) -> None:
    begin(desk, "rate", "rate", topics=("museum-theft",))
    rehearse(desk, "rate", workers=3, careless=0, adversarial=0)
    first, *others = desk.campaigns.answers("rate")
    decide_answers(desk, "reject", "rate", [first.id], **BOSS)
    approve_unflagged(desk, "rate", actor="boss", reason="good")
    standings = desk.decisions.standings("rate")
    assert standings[first.id].decision == "reject"
    assert {standings[one.id].decision for one in others if one.id in standings} <= {"approve"}


# -- what was written ----------------------------------------------------------------------------------------


@pytest.fixture
def writing(tmp_path: Path, example: pyr.Study) -> Iterator[CampaignDesk]:
    """Texts of one topic with two systems, and what simulated workers wrote."""
    topic = example.topics[0]
    texts = [s for s in example.summaries if s.topic == topic.id and (s.role == "reference" or s.system in {"lead"})]
    made = CampaignDesk(Database.create(tmp_path / "writing.db"))
    made.import_study(pyr.Study(topics=(topic,), summaries=tuple(texts)))
    begin(made, "write", "write")
    rehearse(made, "write", workers=8, careless=0, adversarial=0)
    yield made
    made.database.close()


def authors(study: pyr.Study, topic: str) -> Counter[str]:
    pyramid = study.pyramid(topic, "crowd")
    return Counter(unit.author for unit in pyramid.units) if pyramid else Counter()


def test_units_of_rejected_writing_are_not_made(writing: CampaignDesk) -> None:
    first = writing.campaigns.answers("write")[0]
    decide_answers(writing, "reject", "write", [first.id], **BOSS)
    made = writing.make_units("write")
    others = {a.worker for a in writing.campaigns.answers("write") if a.counted}
    assert {unit.author for pyramid in made.pyramids for unit in pyramid.units} <= others
    statements = set(first.statements)
    assert not statements & {unit.label for p in made.pyramids for unit in p.units if unit.author == first.worker}


def test_units_that_nobody_was_asked_about_leave_and_come_back(writing: CampaignDesk) -> None:
    first = writing.campaigns.answers("write")[0]
    topic = first.task.topic
    writing.store_units(writing.make_units("write"))
    before = authors(writing.material(), topic)
    assert before[first.worker]
    done = decide_answers(writing, "reject", "write", [first.id], **BOSS)
    assert not done.notes
    pyramid = writing.material().pyramid(topic, "crowd")
    assert pyramid is not None
    labels = {unit.label for unit in pyramid.units if unit.author == first.worker}
    assert not labels & set(first.statements)
    assert before.total() > len(pyramid.units) > 0
    assert authors(writing.study(), topic) == authors(writing.material(), topic)
    begin(writing, "judge", "judge")
    kept = {unit.id for p in writing.material().pyramids for unit in p.units}
    assert all(set(task.task.units) <= kept for task in writing.campaigns.tasks("judge"))
    decide_answers(writing, "restore", "write", [first.id], **BOSS)
    assert authors(writing.material(), topic) == before


def test_units_in_use_stay_and_scores_say_so(writing: CampaignDesk) -> None:
    first = writing.campaigns.answers("write")[0]
    writing.store_units(writing.make_units("write"))
    begin(writing, "judge", "judge", workers=2, separate_writers=False)
    rehearse(writing, "judge", workers=4)
    asked = {unit for task in writing.campaigns.tasks("judge") for unit in task.task.units}
    pyramid = writing.material().pyramid(first.task.topic, "crowd")
    assert pyramid is not None
    used = {
        unit.id
        for unit in pyramid.units
        if unit.author == first.worker and unit.label in first.statements and unit.id in asked
    }
    rest = sum(judgment.unit in used for judgment in writing.study().judgments)
    assert rest == 2 * len(used) > 0
    done = decide_answers(writing, "reject", "write", [first.id], **BOSS, dry_run=True)
    expected = (
        f"topic {first.task.topic}, rejected answer {first.id}: {len(used)} of its units are in pyramid crowd and "
        f"tasks ask about them; they stay, and {rest} judgments rest on them"
    )
    assert [str(note) for note in done.notes] == [expected]
    decide_answers(writing, "reject", "write", [first.id], **BOSS)
    assert expected in [str(note) for note in pyr.score(writing.study(), "lite").notes]


# -- the platform --------------------------------------------------------------------------------------------

LONG = {"actor": "boss", "reason": "Most answers contradict the text that was shown, see the instructions. " * 2}


@pytest.fixture
def prolific() -> Iterator[FakeProlific]:
    with fake_prolific() as running:
        yield running


@pytest.fixture
def platform(prolific: FakeProlific) -> Iterator[Prolific]:
    with Client(TOKEN, prolific.url, sleep=lambda _: None) as client:
        yield Prolific(STUDY, "C0DE", client)


Work = Callable[..., list[int]]


@pytest.fixture
def work(desk: CampaignDesk, prolific: FakeProlific) -> Work:
    """Participants of a Prolific campaign with so many answers each; gives the ids of the answers."""
    begin(desk, "rate", "paid", topics=("museum-theft",), platform="prolific", platform_study=STUDY, workers=2)
    aspects = {"overall": 5, "linguistic": 5, "content": 5}

    def do(session: str, answers: int = 1) -> list[int]:
        prolific.add(session)
        entry = desk.workers.enter("paid", Arrival("prolific", f"p-{session}", session, STUDY))
        worker = entry.worker
        ids = []
        for _ in range(answers):
            lease = desk.assignments.lease("paid", worker, entry.id)
            assert lease is not None
            desk.assignments.submit(lease.id, worker, f"key {lease.id}", RateAnswer(aspects))
            ids.append(lease.id)
        return ids

    return do


def counts(desk: CampaignDesk) -> set[int]:
    return {answer.id for answer in desk.campaigns.answers("paid") if answer.counted}


def status_of(prolific: FakeProlific, *sessions: str) -> list[str]:
    return [prolific.submissions[session]["status"] for session in sessions]


def test_decisions_are_carried_over_once(
    desk: CampaignDesk, prolific: FakeProlific, platform: Prolific, work: Work
) -> None:
    good, bad, open_ = work("s1", 2), work("s2", 2), work("s3")
    decide_answers(desk, "approve", "paid", good, **LONG)
    decide_answers(desk, "reject", "paid", bad, **LONG)
    assert counts(desk) == {*good, *open_}
    pending = {one.worker: one.decision for one in overview(desk, "paid").pending}
    assert sorted(pending.values()) == ["approve", "reject"]
    report = pay_decisions(desk, "paid", platform)
    assert sorted(line.split()[0] for line in report.done) == ["approved", "rejected"]
    assert not report.failed
    assert status_of(prolific, "s1", "s2", "s3") == ["APPROVED", "REJECTED", "AWAITING REVIEW"]
    assert not overview(desk, "paid").pending
    before = len(prolific.calls)
    again = pay_decisions(desk, "paid", platform)
    assert (again.done, again.failed) == ([], [])
    assert all(call.method == "GET" for call in prolific.calls[before:])
    with pytest.raises(DecisionConflictError, match="cannot be rejected: the platform was told"):
        decide_answers(desk, "reject", "paid", good, **LONG)
    with pytest.raises(DecisionConflictError, match="cannot be restored: the platform was told"):
        decide_answers(desk, "restore", "paid", bad, **LONG)
    assert counts(desk) == {*good, *open_}
    prolific.submissions["s2"]["status"] = "APPROVED"  # a person overturns it there
    follow(desk, "paid", "prolific", platform.submissions())
    assert counts(desk) == {*good, *bad, *open_}


def test_a_refused_decision_is_pending_and_can_be_taken_back(
    desk: CampaignDesk, prolific: FakeProlific, platform: Prolific, work: Work
) -> None:
    """Prolific wants 100 characters of explanation."""
    bad, good = work("s1"), work("s2")
    decide_answers(desk, "reject", "paid", bad, **BOSS)
    decide_answers(desk, "approve", "paid", good, **BOSS)
    report = pay_decisions(desk, "paid", platform)
    [failed] = report.failed
    assert "at least 100 characters" in failed
    assert status_of(prolific, "s1", "s2") == ["AWAITING REVIEW", "APPROVED"], "the others are carried over"
    assert counts(desk) == {*good}, "here it is rejected all the same"
    [pending] = overview(desk, "paid").pending
    assert (pending.decision, len(pending.answers)) == ("reject", 1)
    assert "at least 100 characters" in pending.problem
    decide_answers(desk, "restore", "paid", bad, **BOSS)
    decide_answers(desk, "reject", "paid", bad, **LONG)
    assert not pay_decisions(desk, "paid", platform).failed
    assert status_of(prolific, "s1") == ["REJECTED"]


@pytest.mark.parametrize("heard", [True, False], ids=["heard", "not heard"])
def test_nothing_is_undone_while_the_platform_may_know(
    desk: CampaignDesk, prolific: FakeProlific, platform: Prolific, work: Work, heard: bool
) -> None:
    """The line breaks at the call, before or after Prolific has done it; nobody knows which."""
    bad = work("s1")
    decide_answers(desk, "reject", "paid", bad, **LONG)
    prolific.faults.append(None)  # the list of submissions
    prolific.faults.extend([Fault(status=503, after=heard), *[Fault(status=503)] * 8])
    report = pay_decisions(desk, "paid", platform)
    assert len(report.failed) == 1
    assert "pending" in report.failed[0]
    with pytest.raises(DecisionConflictError, match="may have been told"):
        decide_answers(desk, "restore", "paid", bad, **LONG)
    assert counts(desk) == set()
    prolific.faults.clear()
    follow(desk, "paid", "prolific", platform.submissions())
    if heard:
        assert not overview(desk, "paid").pending
        with pytest.raises(DecisionConflictError, match="was told that it is rejected"):
            decide_answers(desk, "restore", "paid", bad, **LONG)
    else:
        decide_answers(desk, "restore", "paid", bad, **LONG)
        assert counts(desk) == set(bad)
    assert (status_of(prolific, "s1") == ["REJECTED"]) == heard == (counts(desk) == set())


def test_half_a_session_is_told_to_nobody(
    desk: CampaignDesk, prolific: FakeProlific, platform: Prolific, work: Work
) -> None:
    first, second = work("s1", 2)
    decide_answers(desk, "approve", "paid", [first], **LONG)
    decide_answers(desk, "reject", "paid", [second], **LONG)
    report = pay_decisions(desk, "paid", platform)
    assert len(report.failed) == 1
    assert "one decision for all" in report.failed[0]
    assert status_of(prolific, "s1") == ["AWAITING REVIEW"]
    assert [one.decision for one in overview(desk, "paid").pending] == [""]
    decide_answers(desk, "approve", "paid", [second], **LONG)
    decide_answers(desk, "reopen", "paid", [second], **LONG)
    assert not pay_decisions(desk, "paid", platform).failed
    assert status_of(prolific, "s1") == ["APPROVED"]
    assert counts(desk) == {first}, "paid, and in no score"


def test_the_record_follows_the_platform(
    desk: CampaignDesk, prolific: FakeProlific, platform: Prolific, work: Work
) -> None:
    sessions = {name: work(name) for name in ("returned", "rejected", "approved", "timed", "open")}
    decide_answers(desk, "reject", "paid", sessions["approved"], **BOSS)  # but there somebody approves it
    for name, status in [("returned", "RETURNED"), ("rejected", "REJECTED"), ("approved", "APPROVED")]:
        prolific.submissions[name]["status"] = status
    prolific.submissions["timed"]["status"] = "TIMED-OUT"
    prolific.add("stranger", status="RETURNED")
    report = follow(desk, "paid", "prolific", platform.submissions())
    assert counts(desk) == {*sessions["approved"], *sessions["timed"], *sessions["open"]}
    assert report.freed == 2
    assert len(report.done) == 3
    standings = desk.decisions.standings("paid")
    words = {name: standings[id].decision for name, [id] in sessions.items() if id in standings}
    assert words == {"returned": "withdraw", "rejected": "reject", "approved": "approve"}
    assert {review.actor for review in desk.worker_decisions.all()} == {"boss", "prolific"}
    assert not overview(desk, "paid").pending
    assert follow(desk, "paid", "prolific", platform.submissions()).done == []


def test_somebody_who_left_withdraws_only_there(desk: CampaignDesk, work: Work) -> None:
    [here] = work("s1")
    begin(desk, "rate", "second", topics=("museum-theft",), platform="prolific", platform_study="study2", workers=1)
    entry = desk.workers.enter("second", Arrival("prolific", "p-s1", "s9", "study2"))
    worker = entry.worker
    lease = desk.assignments.lease("second", worker, entry.id)
    assert lease is not None
    desk.assignments.submit(lease.id, worker, "k", RateAnswer({}))
    left = WebhookEvent(STATUS_CHANGE, "s1", "RETURNED", "p-s1", "study3", "event 1", 100.0, "digest 1")
    follow_message(desk, "prolific", left)
    assert here in counts(desk), "a study that is not ours"
    left = replace(left, study="", id="event 2", digest="digest 2")
    assert follow_message(desk, "prolific", left).freed == 1, "the session says which of two"
    assert here not in counts(desk)
    desk.decisions.decide("paid", [here], "approve", actor="boss", reason="a mistake", by_platform=True)
    again = replace(left, at=101.0, digest="digest 3")
    copied = replace(left, id="event 9")
    late = replace(left, id="event 0", at=50.0, digest="digest 0")
    for repeated in (left, again, copied, late):
        assert follow_message(desk, "prolific", repeated).freed == 0
        assert here in counts(desk), "the same event again, the same bytes under another id, or an older event"
    assert follow_message(desk, "prolific", replace(left, id="event 3", at=102.0, digest="digest 4")).freed == 1
    assert [answer.counted for answer in desk.campaigns.answers("second")] == [True]


def test_blocking_somebody_who_is_paid_reopens(desk: CampaignDesk, platform: Prolific, work: Work) -> None:
    paid = work("s1", 2)
    decide_answers(desk, "approve", "paid", paid, **LONG)
    pay_decisions(desk, "paid", platform)
    worker = desk.campaigns.answers("paid")[0].worker
    done = block_and_remove(desk, worker, "paid", **LONG)
    assert (len(done.rejected.answers), [one.removed for one in done.reopened.answers]) == (0, ["reopened"] * 2)
    assert counts(desk) == set()
    assert not overview(desk, "paid").pending


# -- money goes where it belongs -----------------------------------------------------------------------------


def rate(desk: CampaignDesk, campaign: str, person: str, session: str, study: str) -> tuple[Entry, int]:
    """One answer of a person who came to a campaign in a session; its entry and its id."""
    entry = desk.workers.enter(campaign, Arrival("prolific", person, session, study))
    lease = desk.assignments.lease(campaign, entry.worker, entry.id)
    assert lease is not None
    desk.assignments.submit(lease.id, entry.worker, f"key {lease.id}", RateAnswer({}))
    return entry, lease.id


def test_a_person_in_two_studies_is_decided_and_paid_in_each(
    desk: CampaignDesk, prolific: FakeProlific, platform: Prolific
) -> None:
    """Rejected in A, bonus for B: neither may reach the other's session, in whatever order the person came."""
    for name, study in (("a", STUDY), ("b", "study2")):
        begin(desk, "rate", name, topics=("museum-theft",), platform="prolific", platform_study=study, workers=2)
        prolific.add(f"s-{name}", study=study)
        prolific.submissions[f"s-{name}"]["participant_id"] = "ann"
    entry, in_a = rate(desk, "a", "ann", "s-a", STUDY)
    _, in_b = rate(desk, "b", "ann", "s-b", "study2")
    decide_answers(desk, "reject", "a", [in_a], **LONG)
    decide_answers(desk, "approve", "b", [in_b], **LONG)
    decide_worker(desk, "bonus", entry.worker, amount=1.5, campaign="b", **BOSS)
    assert [tuple(intent) for intent in list_intents(desk, "a")] == [("reject", entry.worker, "s-a", STUDY, 1, "")]
    assert [tuple(intent) for intent in list_intents(desk, "b")] == [
        ("approve", entry.worker, "s-b", "study2", 1, ""),
        ("bonus", entry.worker, "s-b", "study2", 0, "1.5"),
    ]
    assert not pay_decisions(desk, "a", platform).failed
    assert status_of(prolific, "s-a", "s-b") == ["REJECTED", "AWAITING REVIEW"]
    assert platform.bonuses_paid("s-a") == 0
    with Client(TOKEN, prolific.url, sleep=lambda _: None) as client:
        of_b = Prolific("study2", "C0DE", client)
        assert not pay_decisions(desk, "b", of_b).failed
        assert status_of(prolific, "s-a", "s-b") == ["REJECTED", "APPROVED"]
        assert (of_b.bonuses_paid("s-a"), of_b.bonuses_paid("s-b")) == (0, Decimal("1.5"))
        pay_decisions(desk, "b", of_b)
        assert of_b.bonuses_paid("s-b") == Decimal("1.5"), "paid once"
    [payment] = desk.payments.all("b")
    assert (payment.session, payment.state, desk.payments.owed("b")) == ("s-b", "paid", {})


PAY = """
import sys
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.platforms.prolific import Client, Prolific, WebhookEvent
from pyramidion.campaigns.platforms.prolific.webhooks import STATUS_CHANGE
from pyramidion.campaigns.sync import pay_decisions

place, url, token, study = sys.argv[1:]
with Client(token, url, sleep=lambda _: None) as client:
    pay_decisions(CampaignDesk.open(place), "paid", Prolific(study, "C0DE", client))
"""


@pytest.mark.parametrize("heard", [True, False], ids=["after it was paid", "before it was paid"])
def test_a_crash_while_paying_neither_loses_nor_repeats_a_bonus(
    desk: CampaignDesk, prolific: FakeProlific, platform: Prolific, work: Work, heard: bool
) -> None:
    """The process that pays is killed while the platform carries out the payment."""
    [answer] = work("s1")
    worker = desk.campaigns.answers("paid")[0].worker
    decide_answers(desk, "approve", "paid", [answer], **LONG)
    decide_worker(desk, "bonus", worker, amount=2, campaign="paid", **BOSS)
    payers: list[subprocess.Popen[bytes]] = []

    def kill_the_payer(*call: Any) -> tuple[int, Any]:
        paid = pay(*call) if heard else (500, {})
        payers[0].kill()
        payers[0].wait()
        return paid

    pay = prolific._pay
    place = str(desk.database.engine.url.database)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prolific, "_pay", kill_the_payer)
        payers.append(subprocess.Popen([sys.executable, "-c", PAY, place, prolific.url, TOKEN, STUDY]))
        assert payers[0].wait(60) == -signal.SIGKILL
    [left] = desk.payments.all("paid")
    assert (left.state, desk.payments.owed("paid")) == ("sending", {})
    report = pay_decisions(desk, "paid", platform)
    [left] = desk.payments.all("paid")
    if heard:
        assert (report.failed, left.state) == ([], "paid")
    else:
        assert "may or may not have arrived" in report.failed[0]
        assert (left.state, platform.bonuses_paid("s1")) == ("sending", 0), "it is not sent again by itself"
        desk.payments.settle("paid", left.id, paid=False, actor="boss")
        assert not pay_decisions(desk, "paid", platform).failed
    assert platform.bonuses_paid("s1") == 2
    pay_decisions(desk, "paid", platform)
    assert (platform.bonuses_paid("s1"), desk.payments.owed("paid")) == (2, {})


def test_two_programs_cannot_pay_the_same_bonus(desk: CampaignDesk, work: Work) -> None:
    work("s1")
    [entry] = desk.workers.entries("paid")
    decide_worker(desk, "bonus", entry.worker, amount=2, campaign="paid", **BOSS)
    first, amount = desk.payments.intend("paid", entry.id, Decimal(0))
    assert amount == 2
    with pytest.raises(PaymentConflictError, match="another program"):
        desk.payments.intend("paid", entry.id, Decimal(0))
    desk.payments.move(first, "intended", "failed", "refused")
    assert desk.payments.intend("paid", entry.id, Decimal(0))[1] == 2
    with pytest.raises(PaymentConflictError, match="no longer intended"):
        desk.payments.move(first, "intended", "sending")
    with pytest.raises(pyr.UsageError, match="submitted nothing to campaign"):
        decide_worker(desk, "bonus", desk.workers.join("prolific", "x").id, amount=2, campaign="paid", **BOSS)
