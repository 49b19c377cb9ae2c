"""The Prolific client against a real server on this machine that behaves, and misbehaves, as Prolific does."""

from __future__ import annotations

import logging
from dataclasses import replace
from decimal import Decimal

import pytest
from tests.campaigns.platforms.fake_prolific import STUDY, TOKEN, FakeProlific, Fault

import pyramidion as pyr
from pyramidion.campaigns.platforms import Arrival, PlatformError, Submission
from pyramidion.campaigns.platforms.prolific import TRIES, Client, Prolific, StudyDraft

DRAFT = StudyDraft(
    name="Judge summaries",
    description="Read and judge.",
    url="https://study.example.org/enter/judge",
    code="C0DE",
    places=30,
    minutes=5,
    reward=90,
)
MESSAGE = "Your answers contradict the text that was shown beside them in nearly every statement. " * 2


# -- drafts --------------------------------------------------------------------------------------------------


def test_a_draft_says_what_prolific_needs(client: Client, prolific: FakeProlific) -> None:
    assert client.create_draft(DRAFT) == "draft1"
    assert prolific.studies == [
        {
            "name": "Judge summaries",
            "description": "Read and judge.",
            "external_study_url": "https://study.example.org/enter/judge?PROLIFIC_PID={{%PROLIFIC_PID%}}"
            "&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}",
            "prolific_id_option": "url_parameters",
            "completion_codes": [
                {"code": "C0DE", "code_type": "COMPLETED", "actions": [{"action": "MANUALLY_REVIEW"}]}
            ],
            "total_available_places": 30,
            "estimated_completion_time": 5,
            "reward": 90,
            "device_compatibility": ["desktop", "tablet", "mobile"],
        }
    ]
    assert [(call.method, call.path) for call in prolific.calls] == [("POST", "/api/v1/studies/")]  # not published


def test_an_address_with_a_query_keeps_it() -> None:
    payload = replace(DRAFT, url="https://x.example/enter?campaign=judge").payload()
    assert payload["external_study_url"].startswith("https://x.example/enter?campaign=judge&PROLIFIC_PID={{%")


@pytest.mark.parametrize("wrong", [{"url": "/enter"}, {"code": "a b"}, {"places": 0}, {"minutes": 0}, {"reward": 0}])
def test_a_wrong_draft_is_not_sent(client: Client, prolific: FakeProlific, wrong: dict[str, str]) -> None:
    with pytest.raises(pyr.UsageError):
        client.create_draft(replace(DRAFT, **wrong))  # type: ignore[arg-type]
    assert prolific.calls == []


def test_what_prolific_says_is_in_the_error(client: Client) -> None:
    with pytest.raises(
        PlatformError, match=r"did not create a study: Bad request.*may not be blank.*HTTP 400"
    ) as caught:
        client.create_draft(replace(DRAFT, name=""))
    assert caught.value.status == 400


# -- reading -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7])
def test_every_page_is_read(client: Client, prolific: FakeProlific, count: int) -> None:
    prolific.add(*(f"s{i}" for i in range(count)))
    prolific.add("elsewhere", study="study2")
    assert [s.session for s in client.submissions(STUDY)] == [f"s{i}" for i in range(count)]


def test_links_to_other_hosts_do_not_get_the_token(client: Client, prolific: FakeProlific) -> None:
    prolific.link_host = "http://127.0.0.1:1/evil"
    prolific.add("s1", "s2", "s3")
    assert len(client.submissions(STUDY)) == 3


def test_states_and_who_left(client: Client, prolific: FakeProlific) -> None:
    for id, status in [("s1", "RETURNED"), ("s2", "TIMED-OUT"), ("s3", "APPROVED"), ("s4", "ACTIVE")]:
        prolific.add(id, status=status)
    found = {one.session: one.outcome for one in Prolific(STUDY, client=client).submissions()}
    assert found == {"s1": "withdraw", "s2": "leave", "s3": "approve", "s4": None}
    spelled = [Submission("s", "p", state).outcome for state in ("timed_out", "Timed out", "AWAITING REVIEW", "")]
    assert spelled == ["leave", "leave", None, None]


def test_made_up_ids_are_not_confirmed(client: Client, prolific: FakeProlific) -> None:
    prolific.add("s1")
    platform = Prolific(STUDY, client=client)
    platform.confirm(Arrival("prolific", "p-s1", "s1", STUDY))
    for external, session in (("p-other", "s1"), ("p-s1", "s9")):
        with pytest.raises(pyr.InputError, match="does not know it as yours"):
            platform.confirm(Arrival("prolific", external, session, STUDY))


# -- decisions and money -------------------------------------------------------------------------------------


def test_refused_approvals_are_named_and_the_others_done(client: Client, prolific: FakeProlific) -> None:
    prolific.add("s1", "s3")
    prolific.add("s2", status="RETURNED")
    with pytest.raises(PlatformError) as caught:
        Prolific(STUDY, client=client).approve(["s1", "s2", "gone", "s3"])
    assert "submission s2" in str(caught.value)
    assert "RETURNED" in str(caught.value)
    assert "submission gone" in str(caught.value)
    assert [prolific.submissions[id]["status"] for id in ("s1", "s2", "s3")] == ["APPROVED", "RETURNED", "APPROVED"]


def test_rejections_carry_message_and_category(client: Client, prolific: FakeProlific) -> None:
    prolific.add("s1", "s2")
    platform = Prolific(STUDY, client=client)
    platform.reject("s1", MESSAGE, "LOW_EFFORT")
    assert prolific.calls[-1].body == {"action": "REJECT", "message": MESSAGE, "rejection_category": "LOW_EFFORT"}
    with pytest.raises(PlatformError, match="at least 100 characters"):
        platform.reject("s2", "too fast")
    assert prolific.submissions["s2"]["status"] == "AWAITING REVIEW"


def test_bonuses_are_prepared_and_paid_once(client: Client, prolific: FakeProlific) -> None:
    prolific.add("s1", "s2")
    platform = Prolific(STUDY, client=client)
    platform.pay_bonus(platform.prepare_bonus("s1", 0.1))
    client.pay_bonuses(client.prepare_bonuses(STUDY, {"s1": 1, "s2": "2.5"}))
    assert prolific.paid == ["s1,0.10", "s1,1.00\ns2,2.50"]
    assert (platform.bonuses_paid("s1"), platform.bonuses_paid("s2")) == (Decimal("1.10"), Decimal("2.50"))


@pytest.mark.parametrize("id", ["../studies", "a/b", "a?b", "", "a b", "x" * 101])
def test_ids_cannot_leave_their_place_in_an_address(client: Client, prolific: FakeProlific, id: str) -> None:
    for call in (client.approve, client.submission, client.submissions):
        with pytest.raises(pyr.UsageError, match="letters, digits"):
            call(id)
    with pytest.raises(pyr.UsageError, match="letters, digits"):
        client.prepare_bonuses(STUDY, {id: 1})
    assert prolific.calls == []


# -- trouble -------------------------------------------------------------------------------------------------

TROUBLE = {
    "429": Fault(status=429),
    "500": Fault(status=500),
    "503": Fault(status=503),
    "hang": Fault(hang=True),
    "drop": Fault(),
}
any_trouble = pytest.mark.parametrize("fault", TROUBLE.values(), ids=TROUBLE.keys())


@any_trouble
def test_reading_is_tried_again(impatient: Client, prolific: FakeProlific, pauses: list[float], fault: Fault) -> None:
    prolific.add("s1")
    prolific.faults.append(fault)
    assert [s.session for s in impatient.submissions(STUDY)] == ["s1"]
    assert (len(prolific.calls), pauses) == (2, [1.0])


def test_pauses_grow_and_prolific_may_ask_for_longer_ones(
    client: Client, prolific: FakeProlific, pauses: list[float]
) -> None:
    waits = [Fault(status=429), Fault(status=429, headers={"Retry-After": "9"}), Fault(status=429)]
    prolific.faults.extend(waits)
    client.submissions(STUDY)
    assert pauses == [1.0, 9.0, 4.0]
    prolific.faults.append(Fault(status=429, headers={"Retry-After": "86400"}))
    client.submissions(STUDY)
    assert pauses[-1] == 30.0


@any_trouble
def test_it_gives_up_in_the_end(impatient: Client, prolific: FakeProlific, pauses: list[float], fault: Fault) -> None:
    prolific.faults.extend([fault] * TRIES)
    with pytest.raises(PlatformError, match="list the submissions of study study1"):
        impatient.submissions(STUDY)
    assert (len(prolific.calls), pauses) == (TRIES, [1.0, 2.0, 4.0])


@any_trouble
@pytest.mark.parametrize("after", [False, True], ids=["not done", "done, answer lost"])
def test_approving_is_tried_again_and_happens_once(
    impatient: Client, prolific: FakeProlific, fault: Fault, after: bool
) -> None:
    prolific.add("s1")
    prolific.faults.append(replace(fault, after=after))
    impatient.approve("s1")
    assert prolific.submissions["s1"]["status"] == "APPROVED"


def test_approving_the_rejected_is_an_error(client: Client, prolific: FakeProlific) -> None:
    prolific.add("s1", status="REJECTED")
    with pytest.raises(PlatformError, match="cannot APPROVE a submission that is REJECTED"):
        client.approve("s1")


@any_trouble
@pytest.mark.parametrize("step", [0, 1], ids=["preparing", "paying"])
def test_money_is_never_sent_twice(
    impatient: Client, prolific: FakeProlific, pauses: list[float], fault: Fault, step: int
) -> None:
    prolific.add("s1")
    prolific.faults.extend([*[None] * step, replace(fault, after=True)])
    with pytest.raises(PlatformError, match="bonus"):
        impatient.pay_bonuses(impatient.prepare_bonuses(STUDY, {"s1": 1}))
    assert (len(prolific.calls), pauses) == (1 + step, [])
    assert len(prolific.bonuses) == 1
    assert len(prolific.paid) == step


def test_a_lost_answer_about_money_says_to_look_first(impatient: Client, prolific: FakeProlific) -> None:
    prolific.faults.append(Fault(hang=True))
    with pytest.raises(PlatformError, match="check on Prolific before you try again"):
        impatient.pay_bonuses(impatient.prepare_bonuses(STUDY, {"s1": 1}))
    assert prolific.paid == []


def test_studies_are_not_created_twice(client: Client, prolific: FakeProlific) -> None:
    prolific.faults.append(Fault(status=500, after=True))
    with pytest.raises(PlatformError, match="check on Prolific before you try again"):
        client.create_draft(DRAFT)
    assert len(prolific.studies) == 1


def test_nobody_there_is_said_plainly(pauses: list[float]) -> None:
    with Client(TOKEN, "http://127.0.0.1:1", sleep=pauses.append) as client:
        with pytest.raises(PlatformError, match="could not be asked to look up submission s1") as caught:
            client.submission("s1")
        with pytest.raises(PlatformError) as sure:
            client.pay_bonuses("bulk1")
    assert caught.value.status is None
    assert "before you try again" not in str(sure.value)  # it was certainly not done


# -- the token -----------------------------------------------------------------------------------------------


def test_the_token_is_sent_and_never_shown(
    client: Client, prolific: FakeProlific, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    prolific.add("s1")
    client.submissions(STUDY)
    assert prolific.calls[0].authorization == f"Token {TOKEN}"
    with Client(TOKEN + "x", prolific.url) as wrong, pytest.raises(PlatformError, match="HTTP 401") as caught:
        wrong.submissions(STUDY)  # the fake repeats the token in its answer
    shown = f"{caught.value!r} {caplog.text} {client!r} {Prolific(STUDY, client=client)!r}"
    assert "Invalid token: (token)" in shown
    assert TOKEN not in shown


@pytest.mark.parametrize("url", ["http://api.prolific.com", "ftp://x", "api.prolific.com", "http://127.0.0.1.evil.com"])
def test_the_token_never_travels_in_the_clear(url: str) -> None:
    with pytest.raises(pyr.UsageError, match="https://"):
        Client(TOKEN, url)


@pytest.mark.parametrize("token", ["", "a b", "a\nb", "ä"])
def test_a_token_is_one_word(token: str) -> None:
    with pytest.raises(pyr.UsageError, match="one word"):
        Client(token)
