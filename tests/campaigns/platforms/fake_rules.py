"""What the fake Prolific does when asked, as strictly as the real one says it does."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qsl

TOKEN = "secret-token-f00"
STUDY = "study1"
WORKSPACE = "workspace1"
MIN_MESSAGE = 100
MOST_BONUSES, MOST_APPROVED = 200, 1000
STARTED = "2026-01-05T09:00:00Z"
CATEGORIES = (
    *("TOO_QUICKLY", "TOO_SLOWLY", "FAILED_INSTRUCTIONS", "INCOMP_LONGITUDINAL", "FAILED_CHECK", "LOW_EFFORT"),
    *("MALINGERING", "NO_CODE", "BAD_CODE", "NO_DATA", "UNSUPP_DEVICE", "OTHER"),
)
STATES = (
    "ACTIVE",
    "APPROVED",
    "AWAITING REVIEW",
    "REJECTED",
    "RESERVED",
    "RETURNED",
    "TIMED-OUT",
    "PARTIALLY APPROVED",
    "SCREENED OUT",
)
DRAFT = {
    "name": "Judge summaries",
    "description": "Read and judge.",
    "external_study_url": "https://study.example.org/enter/judge",
    "prolific_id_option": "url_parameters",
    "completion_codes": [{"code": "C0DE", "code_type": "COMPLETED", "actions": [{"action": "MANUALLY_REVIEW"}]}],
    "total_available_places": 30,
    "estimated_completion_time": 5,
    "reward": 90,
    "device_compatibility": [],
}
OPTIONAL = {"internal_name", "maximum_allowed_time", "project", "submissions_config", "is_external_study_url_secure"}
EVENTS = ("study.status.change", "study.progress.change", "submission.status.change")


@dataclass(frozen=True)
class Call:
    method: str
    path: str
    query: str
    body: Any
    authorization: str


@dataclass(frozen=True)
class Reply:
    status: int
    content: Any
    headers: dict[str, str] = field(default_factory=dict)


def error_detail(status: int, title: str, detail: Any) -> dict[str, Any]:
    return {"status": status, "error_code": 140100, "title": title, "detail": detail}


class ApiError(Exception):
    """A refusal, in an envelope. Some operations send the inside alone."""

    def __init__(self, status: int, title: str, detail: Any, *, bare: bool = False) -> None:
        super().__init__(title)
        self.status = status
        inside = error_detail(status, title, detail)
        self.content = inside if bare else {"error": inside}


def bad_request(detail: Any, *, bare: bool = False) -> ApiError:
    return ApiError(400, "Bad request", detail, bare=bare)


class Rules:
    """``slow`` payments and approvals happen when ``settle`` is called, as the real ones do within minutes."""

    def __init__(self) -> None:
        self.drafts: list[dict[str, Any]] = []
        self.studies: dict[str, dict[str, Any]] = {STUDY: {**DRAFT, "id": STUDY, "status": "ACTIVE"}}
        self.submissions: dict[str, dict[str, Any]] = {}
        self.bonuses: dict[str, list[tuple[str, Decimal]]] = {}
        self.paid: list[str] = []
        self.messages: dict[str, list[str]] = {}
        self.secrets: dict[str, str] = {}
        self.subscriptions: list[dict[str, Any]] = []
        self.keys: list[dict[str, Any]] = []
        self.slow = False
        self.pages_end_with_404 = False
        self.longest_page = 100
        self.misunderstands_amounts = False
        self.bonus_seconds = 0.0
        self._later: list[Callable[[], None]] = []
        self._bonus_request = threading.Lock()

    def add(self, *ids: str, status: str = "AWAITING REVIEW", study: str = STUDY, person: str = "") -> None:
        self.studies.setdefault(study, {**DRAFT, "id": study, "status": "ACTIVE"})
        for id in ids:
            made = {"id": id, "participant_id": person or f"p-{id}", "status": status, "study": study, "bonuses": []}
            self.submissions[id] = made

    def settle(self) -> None:
        while self._later:
            self._later.pop(0)()

    def _do(self, action: Callable[[], None]) -> None:
        self._later.append(action)
        if not self.slow:
            self.settle()

    # -- who asks for what -------------------------------------------------------------------------------

    def answer(self, call: Call) -> Reply:
        if call.path == "/.well-known/study/jwks.json":
            return Reply(200, {"keys": self.keys})
        if call.authorization != f"Token {TOKEN}":
            raise ApiError(401, "Unauthorized", f"Invalid token: {call.authorization.removeprefix('Token ')}")
        for method, pattern, action in self._routes():
            if method == call.method and (match := re.fullmatch(pattern, call.path)):
                return action(call, *match.groups())
        raise ApiError(404, "Not found", f"{call.method} {call.path}")

    def _routes(self) -> list[tuple[str, str, Callable[..., Reply]]]:
        studies, submissions, hooks = "/api/v1/studies/", "/api/v1/submissions/", "/api/v1/hooks/"
        return [
            ("POST", studies, self._create),
            ("GET", f"{studies}([^/]+)/", self._study),
            ("PATCH", f"{studies}([^/]+)/", self._update),
            ("POST", f"{studies}([^/]+)/test-study", self._test),
            ("GET", f"{studies}([^/]+)/submissions/counts/", self._count),
            ("GET", submissions, self._list),
            ("POST", f"{submissions}bulk-approve/", self._bulk_approve),
            ("POST", f"{submissions}bonus-payments/", self._prepare),
            ("POST", "/api/v1/bulk-bonus-payments/([^/]+)/pay/", self._pay),
            ("GET", f"{submissions}([^/]+)/", self._get),
            ("POST", f"{submissions}([^/]+)/transition/", self._transition),
            ("POST", f"{submissions}([^/]+)/request-return/", self._request_return),
            ("GET", f"{hooks}secrets/", self._secrets),
            ("POST", f"{hooks}secrets/", self._make_secret),
            ("GET", f"{hooks}subscriptions/", self._subscriptions),
            ("POST", f"{hooks}subscriptions/", self._subscribe),
            ("POST", f"{hooks}subscriptions/([^/]+)/", self._confirm),
        ]

    # -- studies -----------------------------------------------------------------------------------------

    def _create(self, call: Call) -> Reply:
        body = _body(call, DRAFT, OPTIONAL, bare=True)
        if not body["name"]:
            raise bad_request({"name": ["This field may not be blank."]}, bare=True)
        codes = [code["code"] for code in body["completion_codes"]]
        if len(set(codes)) < len(codes):
            raise bad_request({"completion_codes": ["Each code must be unique within a study."]}, bare=True)
        self.drafts.append(body)
        id = f"draft{len(self.drafts)}"
        self.studies[id] = {**body, "id": id, "status": "UNPUBLISHED"}
        return Reply(201, self.studies[id])

    def _study(self, _call: Call, id: str) -> Reply:
        return Reply(200, self._known_study(id))

    def _update(self, call: Call, id: str) -> Reply:
        study = self._known_study(id)
        draft = study["status"] == "UNPUBLISHED"
        body = _body(call, (), {*DRAFT, *OPTIONAL} if draft else {"total_available_places", "internal_name"})
        places = body.get("total_available_places", study["total_available_places"])
        if not draft and places < study["total_available_places"]:
            raise bad_request({"total_available_places": ["Only increasing is allowed."]})
        if study["status"] == "COMPLETED" and places > study["total_available_places"]:
            study["status"] = "ACTIVE"
        study.update(body)
        return Reply(200, study)

    def _test(self, _call: Call, id: str) -> Reply:
        if self._known_study(id)["status"] != "UNPUBLISHED":
            raise bad_request("Study must be in draft status")
        return Reply(200, {"study_id": f"test-{id}", "study_url": f"https://app.prolific.com/studies/test-{id}"})

    def _count(self, _call: Call, id: str) -> Reply:
        self._known_study(id)
        states = [one["status"] for one in self.submissions.values() if one["study"] == id]
        return Reply(200, {**{state: states.count(state) for state in STATES}, "TOTAL": len(states)})

    # -- submissions -------------------------------------------------------------------------------------

    def _list(self, call: Call) -> Reply:
        query = dict(parse_qsl(call.query))
        if unknown := query.keys() - {"study", "ordering", "page", "page_size"}:
            raise bad_request(f"unknown parameters: {', '.join(sorted(unknown))}", bare=True)
        if query.get("study") not in self.studies:
            raise bad_request({"study": ["This parameter is required."]}, bare=True)
        known = [one for one in self.submissions.values() if one["study"] == query["study"]]
        size = min(int(query.get("page_size", 20)), self.longest_page)
        start = (int(query.get("page", 1)) - 1) * size
        if start and start >= len(known) and self.pages_end_with_404:
            raise ApiError(404, "Not found", "Invalid page.", bare=True)
        people = [one["participant_id"] for one in known]
        results = [
            {
                **{name: one[name] for name in ("id", "participant_id", "status")},
                "started_at": STARTED,
                "has_siblings": people.count(one["participant_id"]) > 1,
            }
            for one in known[start : start + size]
        ]
        return Reply(200, {"results": results})

    def _get(self, _call: Call, id: str) -> Reply:
        known = self._known(id)
        return Reply(200, {**_shown(known), "bonus_payments": known["bonuses"]})

    def _transition(self, call: Call, id: str) -> Reply:
        known = self._known(id)
        body = _body(call, {"action"}, {"message", "rejection_category"})
        wanted = {"APPROVE": "APPROVED", "REJECT": "REJECTED"}.get(body["action"])
        if wanted is None:
            raise bad_request({"action": [f"{body['action']} is not one of the available choices."]})
        if body["action"] == "REJECT":
            if len(body.get("message", "")) < MIN_MESSAGE:
                raise bad_request({"message": ["Ensure this field has at least 100 characters."]})
            if body.get("rejection_category") not in CATEGORIES:
                raise bad_request({"rejection_category": ["This is not a valid choice."]})
        if known["status"] != wanted:  # the same again is ignored
            if known["status"] not in {"AWAITING REVIEW", "TIMED-OUT"}:
                raise bad_request(f"cannot {body['action']} a submission that is {known['status']}")
            known["status"] = wanted
        return Reply(200, _shown(known))

    def _request_return(self, call: Call, id: str) -> Reply:
        known = self._known(id)
        reasons = _body(call, {"request_return_reasons"}, ())["request_return_reasons"]
        if not reasons or not all(reasons):
            raise bad_request({"request_return_reasons": ["This field may not be blank."]})
        if known["status"] not in {"AWAITING REVIEW", "ACTIVE", "TIMED-OUT"}:
            raise bad_request(f"a submission that is {known['status']} cannot be returned")
        self.messages.setdefault(id, []).extend(reasons)
        shown = {"id": id, "status": known["status"], "participant": known["participant_id"]}
        return Reply(200, {**shown, "return_requested": STARTED})

    def _bulk_approve(self, call: Call) -> Reply:
        ids = _body(call, {"submission_ids"}, (), bare=True)["submission_ids"]
        if not 1 <= len(ids) <= MOST_APPROVED:
            raise bad_request(f"1 to {MOST_APPROVED} ids", bare=True)
        for id in ids:
            state = self.submissions.get(id, {}).get("status")
            if state not in {"AWAITING REVIEW", "TIMED-OUT", "APPROVED"}:
                raise bad_request([f"submission {id} cannot be approved"], bare=True)
        self._do(lambda: [self.submissions[id].update(status="APPROVED") for id in ids] and None)
        return Reply(200, "Bulk approve in progress")

    # -- money -------------------------------------------------------------------------------------------

    def _prepare(self, call: Call) -> Reply:
        return self._alone(lambda: self._prepare_alone(call))

    def _prepare_alone(self, call: Call) -> Reply:
        body = _body(call, {"study_id", "csv_bonuses"}, ())
        lines = body["csv_bonuses"].splitlines()
        if not 1 <= len(lines) <= MOST_BONUSES:
            raise bad_request({"csv_bonuses": [f"1 to {MOST_BONUSES} lines"]})
        prepared = [self._bonus(line, body["study_id"]) for line in lines]
        id = f"bulk{len(self.bonuses) + 1}"
        self.bonuses[id] = prepared
        amount = float(sum(amount for _, amount in prepared) * (1 if self.misunderstands_amounts else 100))
        costs = {"amount": amount, "fees": amount / 3, "vat": 0.0, "total_amount": amount * 4 / 3}
        return Reply(201, {"id": id, "study": body["study_id"], **costs})

    def _bonus(self, line: str, study: str) -> tuple[str, Decimal]:
        id, _, amount = line.partition(",")
        known = self.submissions.get(id)
        if known is None or known["study"] != study:
            raise bad_request({"csv_bonuses": [f"{id} has not taken part in study {study}"]})
        if not re.fullmatch(r"\d+(\.\d{1,2})?", amount) or Decimal(amount) == 0:
            raise bad_request({"csv_bonuses": [f"{amount} is not an amount"]})
        return id, Decimal(amount)

    def _pay(self, _call: Call, id: str) -> Reply:
        return self._alone(lambda: self._pay_alone(id))

    def _pay_alone(self, id: str) -> Reply:
        if id not in self.bonuses:
            raise ApiError(404, "Not found", f"no bonus payment {id}")
        self.paid.append(id)
        for session, amount in self.bonuses[id]:
            self._do(
                lambda session=session, amount=amount: self.submissions[session]["bonuses"].append(float(amount * 100))
            )
        return Reply(202, "The bonuses will be paid asynchronously.")

    def _alone(self, action: Callable[[], Reply]) -> Reply:
        if not self._bonus_request.acquire(blocking=False):
            raise bad_request("another bonus request is in progress")
        try:
            time.sleep(self.bonus_seconds)
            return action()
        finally:
            self._bonus_request.release()

    # -- webhooks ----------------------------------------------------------------------------------------

    def _secrets(self, call: Call) -> Reply:
        workspace = dict(parse_qsl(call.query))["workspace_id"]
        known = [self.secrets[workspace]] if workspace in self.secrets else []
        return Reply(200, {"results": [{"id": "x", "value": one, "workspace_id": workspace} for one in known]})

    def _make_secret(self, call: Call) -> Reply:
        workspace = _body(call, {"workspace_id"}, ())["workspace_id"]
        self.secrets[workspace] = f"whsec-{workspace}-{len(self.secrets)}"
        return Reply(201, {"id": "x", "value": self.secrets[workspace], "workspace_id": workspace})

    def _subscriptions(self, _call: Call) -> Reply:
        return Reply(200, {"results": [_public(one) for one in self.subscriptions]})

    def _subscribe(self, call: Call) -> Reply:
        body = _body(call, {"event_type", "target_url", "workspace_id"}, ())
        if body["workspace_id"] not in self.secrets:
            raise bad_request("create a secret for the workspace first")
        if body["event_type"] not in EVENTS:
            raise bad_request({"event_type": ["unknown"]})
        if not body["target_url"].startswith("https://"):
            raise bad_request({"target_url": ["must be a public https address"]})
        id = f"sub{len(self.subscriptions) + 1}"
        self.subscriptions.append({**body, "id": id, "is_enabled": False, "secret": f"hook-secret-{id}"})
        made = self.subscriptions[-1]
        return Reply(201, {"results": [_public(made)]}, {"X-Hook-Secret": made["secret"]})

    def _confirm(self, call: Call, id: str) -> Reply:
        secret = _body(call, {"secret"}, ())["secret"]
        for one in self.subscriptions:
            if one["id"] == id and one["secret"] == secret:
                one["is_enabled"] = True
                return Reply(200, _public(one))
        raise bad_request({"secret": ["wrong"]})

    # -- what is known -----------------------------------------------------------------------------------

    def _known(self, id: str) -> dict[str, Any]:
        if id not in self.submissions:
            raise ApiError(404, "Not found", f"no submission {id}")
        return self.submissions[id]

    def _known_study(self, id: str) -> dict[str, Any]:
        if id not in self.studies:
            raise ApiError(404, "Not found", f"no study {id}")
        return self.studies[id]


def _body(call: Call, required: Collection[str], optional: Collection[str], *, bare: bool = False) -> dict[str, Any]:
    """The fields of a request: all those required, and no unknown ones."""
    if not isinstance(call.body, dict):
        raise bad_request("a JSON object is needed", bare=bare)
    wrong = {name: ["This field is required."] for name in required if name not in call.body}
    wrong |= {name: ["This field is unknown."] for name in call.body if name not in {*required, *optional}}
    if wrong:
        raise bad_request(wrong, bare=bare)
    return call.body


def _shown(known: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": known["id"],
        "participant": known["participant_id"],
        "status": known["status"],
        "study_id": known["study"],
        "started_at": STARTED,
    }


def _public(subscription: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in subscription.items() if name != "secret"}
