"""The Prolific client against a real server on this machine that behaves, and misbehaves, as Prolific does."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from tests.campaigns.platforms.fake_prolific import STUDY, TOKEN, FakeProlific, Fault

import pyramidion as pyr
from pyramidion.campaigns.platforms import Arrival, PlatformError, Submission
from pyramidion.campaigns.platforms.prolific import TRIES, Client, Prolific, StudyDraft, Subscription, TrialStudy

DRAFT = StudyDraft(
    name="Judge summaries",
    description="Read and judge.",
    url="https://study.example.org/enter/judge",
    code="C0DE",
    places=30,
    minutes=5,
    reward=90,
)
MESSAGE = "Your answers contradict the text that was shown beside them in nearly every statement. " * 2 + "Sorry."


# -- drafts --------------------------------------------------------------------------------------------------


def test_a_draft_says_what_prolific_needs(client: Client, prolific: FakeProlific) -> None:
    assert client.create_draft(DRAFT) == "draft1"
    assert prolific.drafts == [
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


def test_those_who_stop_early_have_a_code_of_their_own(client: Client, prolific: FakeProlific) -> None:
    client.create_draft(replace(DRAFT, early_code="EARLY"))
    client.create_draft(replace(DRAFT, early_code="EARLY", early_reward=20))
    reviewed, paid = (draft["completion_codes"][1] for draft in prolific.drafts)
    assert reviewed == {"code": "EARLY", "code_type": "OTHER", "actions": [{"action": "MANUALLY_REVIEW"}]}
    pay = {"action": "FIXED_SCREEN_OUT_PAYMENT", "fixed_screen_out_reward": 20, "slots": 30}
    assert paid == {"code": "EARLY", "code_type": "FIXED_SCREENOUT", "actions": [pay]}


def test_a_draft_asks_for_signed_links(client: Client, prolific: FakeProlific) -> None:
    client.create_draft(replace(DRAFT, signed=True))
    assert prolific.drafts[0]["is_external_study_url_secure"] is True


@pytest.mark.parametrize(
    "wrong",
    [
        {"url": "/enter"},
        {"code": "a b"},
        {"places": 0},
        {"minutes": 0},
        {"reward": 0},
        {"devices": ("toaster",)},
        {"early_code": "C0DE"},
        {"early_code": "a b"},
        {"early_reward": 20},
        {"early_code": "EARLY", "early_reward": 90},
        {"early_code": "EARLY", "early_reward": -1},
    ],
)
def test_a_wrong_draft_is_not_sent(client: Client, prolific: FakeProlific, wrong: dict[str, Any]) -> None:
    with pytest.raises(pyr.UsageError):
        client.create_draft(replace(DRAFT, **wrong))
    assert prolific.calls == []


def test_what_prolific_says_is_in_the_error(client: Client) -> None:
    with pytest.raises(
        PlatformError, match=r"did not create a study: Bad request.*may not be blank.*HTTP 400"
    ) as caught:
        client.create_draft(replace(DRAFT, name=""))
    assert caught.value.status == 400


# -- reading -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["empty", "404"])
@pytest.mark.parametrize("longest", [20, 33, 100], ids=lambda longest: f"pages of {longest}")
@pytest.mark.parametrize("count", [0, 1, 19, 20, 21, 66, 100])
def test_every_page_is_read(client: Client, prolific: FakeProlific, count: int, longest: int, end: str) -> None:
    """However long Prolific lets a page be, and however it says that there are no more."""
    prolific.longest_page, prolific.pages_end_with_404 = longest, end == "404"
    prolific.add(*(f"s{i}" for i in range(count)))
    prolific.add("elsewhere", study="study2")
    assert [s.session for s in client.submissions(STUDY)] == [f"s{i}" for i in range(count)]


def test_a_study_that_does_not_exist_is_not_an_empty_one(client: Client) -> None:
    with pytest.raises(PlatformError, match="study: This parameter is required"):
        client.submissions("unknown1")


def test_submissions_are_counted_by_state(client: Client, prolific: FakeProlific) -> None:
    prolific.add("s1", "s2")
    prolific.add("s3", status="TIMED-OUT")
    counts = client.counts(STUDY)
    assert (counts["AWAITING REVIEW"], counts["TIMED-OUT"], counts["APPROVED"], counts["TOTAL"]) == (2, 1, 0, 3)


def test_states_and_who_left(client: Client, prolific: FakeProlific) -> None:
    for id, status in [("s1", "RETURNED"), ("s2", "TIMED-OUT"), ("s3", "APPROVED"), ("s4", "ACTIVE")]:
        prolific.add(id, status=status)
    found = {one.session: one.outcome for one in Prolific(STUDY, client=client).submissions()}
    assert found == {"s1": "withdraw", "s2": "leave", "s3": "approve", "s4": None}
    assert {one.study for one in Prolific(STUDY, client=client).submissions()} == {STUDY}
    states = ("timed_out", "Timed out", "SCREENED OUT", "PARTIALLY APPROVED", "AWAITING REVIEW", "")
    spelled = [Submission("s", "p", state).outcome for state in states]
    assert spelled == ["leave", "leave", "leave", "approve", None, None]


def test_made_up_ids_are_not_confirmed(client: Client, prolific: FakeProlific) -> None:
    prolific.add("s1")
    platform = Prolific(STUDY, client=client)
    came = platform.arrival({"PROLIFIC_PID": "p-s1", "SESSION_ID": "s1", "STUDY_ID": STUDY})
    assert not came.verified
    assert platform.confirm(came) == replace(came, verified=True)
    prolific.add("s2", study="study2", person="p-s1")
    for external, session in (("p-other", "s1"), ("p-s1", "s9"), ("p-s1", "s2")):
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
    asked = len(prolific.calls)
    for reason, category, why in (
        ("too fast", "OTHER", "at least 100 characters for a rejection, not 8"),
        (f"too fast{' ' * 100}", "OTHER", "not 8"),
        (MESSAGE, "RUDE", "no rejection category 'RUDE', but: TOO_QUICKLY"),
    ):
        with pytest.raises(PlatformError, match=why) as caught:
            platform.reject("s2", reason, category)
        assert (caught.value.status, caught.value.unknown) == (400, False)
    assert len(prolific.calls) == asked, "nothing was sent"


def test_many_are_approved_with_one_request(client: Client, prolific: FakeProlific) -> None:
    sessions = [f"s{i}" for i in range(1001)]
    prolific.add(*sessions)
    Prolific(STUDY, client=client).approve(sessions)
    assert {one["status"] for one in prolific.submissions.values()} == {"APPROVED"}
    assert [call.path.removeprefix("/api/v1/submissions/") for call in prolific.calls] == [
        "bulk-approve/",
        "s1000/transition/",
    ]
    Prolific(STUDY, client=client).approve(sessions[:5])
    Prolific(STUDY, client=client).approve([])
    assert len(prolific.calls) == 3


def test_bulk_approval_is_not_tried_one_by_one_when_prolific_is_down(client: Client, prolific: FakeProlific) -> None:
    prolific.add("s1", "s2")
    prolific.faults.extend([Fault(status=503)] * TRIES)
    with pytest.raises(PlatformError, match="approve 2 submissions") as caught:
        Prolific(STUDY, client=client).approve(["s1", "s2"])
    assert caught.value.unknown
    assert len(prolific.calls) == TRIES


def test_a_return_is_asked_for_once_and_with_a_reason(client: Client, prolific: FakeProlific) -> None:
    prolific.add("s1")
    client.request_return("s1", ["Did not finish the study", " Withdrew consent "])
    assert prolific.messages == {"s1": ["Did not finish the study", "Withdrew consent"]}
    for reasons in ([], [" "]):
        with pytest.raises(pyr.UsageError, match="needs a reason"):
            client.request_return("s1", reasons)
    prolific.faults.append(Fault(status=503, after=True))
    with pytest.raises(PlatformError, match="check on Prolific"):
        client.request_return("s1", ["Did not finish the study"])
    assert len(prolific.calls) == 2, "a participant does not get the same message again and again"


# -- bonuses -------------------------------------------------------------------------------------------------


def test_bonuses_are_prepared_and_paid_once(client: Client, prolific: FakeProlific) -> None:
    prolific.add("s1", "s2")
    platform = Prolific(STUDY, client=client)
    platform.pay_bonus(platform.prepare_bonus("s1", 0.1))
    client.pay_bonuses(client.prepare_bonuses(STUDY, {"s1": 1, "s2": "2.5"}))
    asked = [call.body["csv_bonuses"] for call in prolific.calls if call.body]
    assert asked == ["s1,0.10", "s1,1.00\ns2,2.50"]
    assert prolific.paid == ["bulk1", "bulk2"]
    assert (platform.bonuses_paid("s1"), platform.bonuses_paid("s2")) == (Decimal("1.10"), Decimal("2.50"))


def test_a_payment_shows_when_prolific_has_made_it(client: Client, prolific: FakeProlific) -> None:
    prolific.add("s1")
    prolific.slow = True
    client.pay_bonuses(client.prepare_bonuses(STUDY, {"s1": "1.50"}))
    assert client.bonuses_paid("s1") == 0
    prolific.settle()
    assert client.bonuses_paid("s1") == Decimal("1.50")


def test_whoever_took_part_elsewhere_gets_no_bonus_here(client: Client, prolific: FakeProlific) -> None:
    prolific.add("s1", study="study2")
    with pytest.raises(PlatformError, match="s1 has not taken part in study study1") as caught:
        client.prepare_bonuses(STUDY, {"s1": 1})
    assert not caught.value.unknown


def test_an_amount_that_prolific_understood_differently_is_not_paid(client: Client, prolific: FakeProlific) -> None:
    prolific.add("s1")
    prolific.misunderstands_amounts = True
    with pytest.raises(PlatformError, match=r"of 150.00 cents and understood 1.5; nothing is paid"):
        Prolific(STUDY, client=client).prepare_bonus("s1", "1.50")
    assert prolific.paid == []


def test_bonuses_come_in_sound_numbers(client: Client, prolific: FakeProlific) -> None:
    for count in (0, 201):
        with pytest.raises(pyr.UsageError, match=f"1 to 200 bonuses at a time, not {count}"):
            client.prepare_bonuses(STUDY, {f"s{i}": 1 for i in range(count)})
    assert prolific.calls == []


def test_bonus_requests_wait_for_each_other(prolific: FakeProlific) -> None:
    """Prolific refuses them side by side, even from several connections."""
    prolific.add(*(f"s{i}" for i in range(6)))
    prolific.bonus_seconds = 0.02

    def pay(session: str) -> None:
        with Client(TOKEN, prolific.url) as client:
            client.pay_bonuses(client.prepare_bonuses(STUDY, {session: 1}))

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(pay, prolific.submissions))
    assert len(prolific.paid) == 6


# -- places and trials ---------------------------------------------------------------------------------------


def test_places_are_raised_and_a_full_study_opens_again(client: Client, prolific: FakeProlific) -> None:
    platform = Prolific(STUDY, client=client)
    prolific.studies[STUDY]["status"] = "COMPLETED"
    assert platform.add_places(10) == 40
    assert prolific.studies[STUDY]["status"] == "ACTIVE"
    assert prolific.calls[-1].body == {"total_available_places": 40}
    with pytest.raises(PlatformError, match="Only increasing is allowed"):
        client.set_places(STUDY, 39)
    prolific.faults.extend([None, Fault(status=503, after=True)])
    assert platform.add_places(5) == 45, "asked again, since the number is the same"


def test_a_trial_is_made_of_a_draft(client: Client, prolific: FakeProlific) -> None:
    made = client.create_test_study(client.create_draft(DRAFT))
    assert made == TrialStudy("test-draft1", "https://app.prolific.com/studies/test-draft1")
    with pytest.raises(PlatformError, match="draft status"):
        client.create_test_study(STUDY)


# -- webhooks are set up -------------------------------------------------------------------------------------

TARGET = "https://study.example.org/webhooks/prolific"


def test_a_subscription_is_made_and_confirmed_once(client: Client, prolific: FakeProlific) -> None:
    secret = client.webhook_secret("workspace1")
    assert client.webhook_secret("workspace1") == secret, "a new one would break other subscriptions"
    made = client.subscribe("workspace1", TARGET)
    assert made == Subscription("sub1", "submission.status.change", TARGET)
    assert prolific.subscriptions[0]["is_enabled"]
    assert client.subscribe("workspace1", TARGET) == made
    assert client.subscribe("workspace1", TARGET, "study.status.change").id == "sub2"
    assert len(prolific.subscriptions) == 2


def test_subscriptions_need_a_secret_and_https(client: Client, prolific: FakeProlific) -> None:
    with pytest.raises(PlatformError, match="create a secret"):
        client.subscribe("workspace1", TARGET)
    asked = len(prolific.calls)
    with pytest.raises(pyr.UsageError, match="https addresses only"):
        client.subscribe("workspace1", "http://study.example.org/webhooks/prolific")
    assert len(prolific.calls) == asked


@pytest.mark.parametrize("id", ["../studies", "a/b", "a?b", "", "a b", "x" * 101])
def test_ids_cannot_leave_their_place_in_an_address(client: Client, prolific: FakeProlific, id: str) -> None:
    for call in (client.approve, client.submission, client.submissions, client.counts, client.places):
        with pytest.raises(pyr.UsageError, match="letters, digits"):
            call(id)
    for also in (
        lambda: client.prepare_bonuses(STUDY, {id: 1}),
        lambda: client.pay_bonuses(id),
        lambda: client.bulk_approve(["s1", id]),
        lambda: client.request_return(id, ["x"]),
        lambda: client.set_places(id, 5),
        lambda: client.webhook_secret(id),
    ):
        with pytest.raises(pyr.UsageError, match="letters, digits"):
            also()
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
    assert len(prolific.drafts) == 1


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
