"""What we ask of Prolific, and what the fake answers, against Prolific's published interface."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx
import pytest
from tests.campaigns.platforms import interface
from tests.campaigns.platforms.fake_prolific import STUDY, TOKEN, FakeProlific, fake_prolific
from tests.campaigns.platforms.fake_rules import CATEGORIES, STATES
from tests.campaigns.platforms.interface import Exchange
from tests.campaigns.platforms.test_prolific import DRAFT, MESSAGE, TARGET

from pyramidion.campaigns.platforms import PlatformError
from pyramidion.campaigns.platforms.prolific import REJECTION_CATEGORIES, Client

published = pytest.mark.skipif(not interface.FOLDER.is_dir(), reason="Prolific's interface is not in ../shared/data")

CALLS: dict[str, Callable[[Client], Any]] = {
    "create_draft": lambda client: client.create_draft(
        replace(DRAFT, early_code="EARLY", early_reward=20, signed=True, devices=("desktop",))
    ),
    "create_test_study": lambda client: client.create_test_study(client.create_draft(DRAFT)),
    "places": lambda client: client.places(STUDY),
    "set_places": lambda client: client.set_places(STUDY, 31),
    "submissions": lambda client: client.submissions(STUDY),
    "submission": lambda client: client.submission("s1"),
    "counts": lambda client: client.counts(STUDY),
    "approve": lambda client: client.approve("s1"),
    "bulk_approve": lambda client: client.bulk_approve(["s1", "s2"]),
    "reject": lambda client: client.reject("s1", MESSAGE, "LOW_EFFORT"),
    "request_return": lambda client: client.request_return("s1", ["Did not finish the study"]),
    "prepare_bonuses": lambda client: client.prepare_bonuses(STUDY, {"s1": "1.50", "s2": 2}),
    "pay_bonuses": lambda client: client.pay_bonuses(client.prepare_bonuses(STUDY, {"s1": 1})),
    "bonuses_paid": lambda client: client.bonuses_paid("s1"),
    "webhook_secret": lambda client: client.webhook_secret("workspace1"),
    "subscribe": lambda client: (client.webhook_secret("workspace1"), client.subscribe("workspace1", TARGET)),
}


@published
@pytest.mark.parametrize("name", [name for name, _ in inspect.getmembers(Client, inspect.isfunction) if name[0] != "_"])
def test_everything_the_client_asks_is_in_the_interface(client: Client, prolific: FakeProlific, name: str) -> None:
    """Every public method: a new one fails here until it has a line above."""
    if name == "close":
        return
    prolific.add("s1", "s2")
    CALLS[name](client)
    assert prolific.exchanges
    assert [problem for one in prolific.exchanges for problem in interface.problems(one)] == []
    assert all(one.status in {200, 201, 202} for one in prolific.exchanges)


@published
def test_refusals_look_as_published(client: Client, prolific: FakeProlific) -> None:
    prolific.add("s1", status="RETURNED")
    refused = (
        lambda: client.create_draft(replace(DRAFT, name="")),
        lambda: client.set_places(STUDY, 1),
        lambda: client.submissions("unknown1"),
        lambda: client.submission("unknown1"),
        lambda: client.approve("s1"),
        lambda: client.bulk_approve(["s1"]),
        lambda: client.request_return("s1", ["x"]),
        lambda: client.prepare_bonuses(STUDY, {"unknown1": 1}),
        lambda: client.pay_bonuses("unknown1"),
        lambda: client.subscribe("workspace1", TARGET),
    )
    for ask in refused:
        with pytest.raises(PlatformError, match="HTTP 40"):
            ask()
    assert {one.status for one in prolific.exchanges} >= {400, 404}
    prolific.check_exchanges()


@published
def test_published_words_are_ours() -> None:
    operation = next(one for one in interface.operations() if one.parts["operationId"] == "transition-submission")
    schemas = operation.components["schemas"]
    assert set(schemas["SubmissionTransitionRejectionCategory"]["enum"]) == set(REJECTION_CATEGORIES) == set(CATEGORIES)
    assert {*STATES, "UNKNOWN"} == set(schemas["SubmissionDetailStatus"]["enum"])
    assert "at least 100 chars" in schemas["SubmissionTransition"]["properties"]["message"]["description"]


LIST = Exchange("GET", "/api/v1/submissions/", "study=study1&page=1", None, "Token x", 200, {"results": []})
APPROVE = Exchange("POST", "/api/v1/submissions/bulk-approve/", "", {"submission_ids": ["s1"]}, "Token x", 200, "ok")


@published
@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (replace(LIST, path="/api/v1/submission/"), "no such operation"),
        (replace(LIST, method="PATCH"), "no such operation"),
        (replace(LIST, query="page=1"), "query study: is missing"),
        (replace(LIST, query="study=study1&limit=5"), "query limit: is unknown"),
        (replace(LIST, query="study=study1&page=x"), "query page.*not of type 'integer'"),
        (replace(LIST, authorization=""), "Authorization"),
        (replace(LIST, body={}), "no body is expected"),
        (replace(LIST, status=201), "201: is not declared"),
        (replace(LIST, answer={"results": [{"id": "s1"}]}), "'participant_id' is a required property"),
        (replace(LIST, answer={"results": [], "meta": {}}), "'meta' was unexpected"),
        (replace(LIST, status=400, answer={"message": "no"}), "not valid under any"),
        (replace(APPROVE, body={"submission_ids": ["s1"], "study_id": "x"}), "not valid under any"),
        (replace(APPROVE, body={"submission_ids": "s1"}), "not valid under any"),
        (replace(APPROVE, answer={"done": True}), "not of type 'string'"),
    ],
)
def test_the_check_finds_what_is_wrong(wrong: Exchange, why: str) -> None:
    assert interface.problems(LIST) == interface.problems(APPROVE) == []
    assert re.search(why, "\n".join(interface.problems(wrong)))


# -- the fake is as strict ------------------------------------------------------------------------------------

SUBMISSIONS = "/api/v1/submissions/"
REJECT = {"action": "REJECT", "message": "x" * 100, "rejection_category": "OTHER"}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", f"{SUBMISSIONS}s1/transition/", {"action": "APPROVE", "note": "thanks"}),
        ("POST", f"{SUBMISSIONS}s1/transition/", {"action": "PRAISE"}),
        ("POST", f"{SUBMISSIONS}s1/transition/", {}),
        ("POST", f"{SUBMISSIONS}s1/transition/", REJECT | {"message": "x" * 99}),
        ("POST", f"{SUBMISSIONS}s1/transition/", REJECT | {"rejection_category": "RUDE"}),
        ("POST", f"{SUBMISSIONS}s1/transition/", {"action": "REJECT", "message": "x" * 100}),
        ("POST", f"{SUBMISSIONS}left/transition/", REJECT),
        ("POST", f"{SUBMISSIONS}left/request-return/", {"request_return_reasons": ["x"]}),
        ("POST", f"{SUBMISSIONS}s1/request-return/", {"request_return_reasons": []}),
        ("POST", f"{SUBMISSIONS}bulk-approve/", {"submission_ids": ["s1", "left"]}),
        ("POST", f"{SUBMISSIONS}bulk-approve/", {"submission_ids": ["s1"] * 1001}),
        *(
            ("POST", f"{SUBMISSIONS}bonus-payments/", {"study_id": STUDY, "csv_bonuses": lines})
            for lines in ("", "s1", "s1,", "s1,0", "s1,1.234", "s1,-1", "s1,1e3", "s9,1", "else,1", "s1,1\n" * 201)
        ),
        ("POST", f"{SUBMISSIONS}bonus-payments/", {"csv_bonuses": "s1,1"}),
        ("PATCH", f"/api/v1/studies/{STUDY}/", {"total_available_places": 29}),
        ("PATCH", f"/api/v1/studies/{STUDY}/", {"reward": 1}),
        ("POST", "/api/v1/studies/", {"name": "x"}),
        ("GET", f"{SUBMISSIONS}?study={STUDY}&offset=2", None),
        ("GET", SUBMISSIONS, None),
    ],
)
def test_the_fake_refuses_what_prolific_refuses(method: str, path: str, body: Any) -> None:
    with fake_prolific(checked=False) as fake:
        fake.add("s1")
        fake.add("left", status="RETURNED")
        fake.add("else", study="study2")
        headers = {"Authorization": f"Token {TOKEN}"}
        answer = httpx.request(method, f"{fake.url}{path}", json=body, headers=headers)
        assert answer.status_code == 400, answer.text
        assert (fake.submissions["s1"]["status"], fake.bonuses, fake.messages) == ("AWAITING REVIEW", {}, {})
        # Written by hand from the interface, so that the fake is strict where that is not at hand too.
        if interface.FOLDER.is_dir():
            assert not [problem for one in fake.exchanges for problem in interface.problems(one) if "answer" in problem]


def test_the_fake_pays_twice_what_is_paid_twice(client: Client, prolific: FakeProlific) -> None:
    prolific.add("s1")
    prepared = client.prepare_bonuses(STUDY, {"s1": 1})
    client.pay_bonuses(prepared)
    client.pay_bonuses(prepared)
    assert client.bonuses_paid("s1") == 2


def test_the_fake_refuses_bonus_requests_side_by_side(prolific: FakeProlific) -> None:
    prolific.add("s1")
    headers = {"Authorization": f"Token {TOKEN}"}
    body = {"study_id": STUDY, "csv_bonuses": "s1,1"}
    with prolific._bonus_request:
        answer = httpx.post(f"{prolific.url}{SUBMISSIONS}bonus-payments/", json=body, headers=headers)
    assert (answer.status_code, prolific.bonuses) == (400, {})
