"""Prolific: participants with ids in the link, a completion code, an API for drafts, reviews and bonuses, webhooks."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal
from urllib.parse import urlencode, urlsplit

from pyramidion import remote
from pyramidion.campaigns.platforms import (
    Amount,
    Arrival,
    PlatformError,
    Submission,
    cents,
    check_id,
    check_places,
    check_study,
    check_web_address,
    is_id,
    load_httpx,
    read_ids,
)
from pyramidion.errors import InputError, Problem, UsageError

# ----------------------------------------------------------------------
# Prolific's REST API, as far as a campaign needs it: https://docs.prolific.com/api-reference.
#
# A call is repeated after a network error, 429 or 5xx only where repeating does no harm: reading, and approving or
# rejecting, since a submission is approved once however often one asks. Creating a study and paying a bonus are never
# repeated: if the reply is lost, a person has to check on Prolific before trying again.

BASE_URL = "https://api.prolific.com"
STUDIES, SUBMISSIONS = "/api/v1/studies/", "/api/v1/submissions/"
TRIES = 4
LONGEST_PAUSE = 30.0
MAX_SHOWN = 500
PLACEHOLDERS = "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"

Action = Literal["APPROVE", "REJECT"]


@dataclass(frozen=True, slots=True)
class StudyDraft:
    """A study to be published on Prolific by a person. ``reward`` is in cents or pence, ``minutes`` the usual time."""

    name: str
    description: str
    url: str
    code: str
    places: int
    minutes: int
    reward: int
    devices: tuple[str, ...] = ("desktop", "tablet", "mobile")

    def payload(self) -> dict[str, Any]:
        check_web_address("the address of the campaign", self.url)
        check_id("the completion code", self.code)
        for what, number in (("places", self.places), ("minutes", self.minutes), ("reward", self.reward)):
            if number < 1:
                raise UsageError(f"{what} of a Prolific study must be at least 1, not {number}")
        return {
            "name": self.name,
            "description": self.description,
            "external_study_url": f"{self.url}{'&' if urlsplit(self.url).query else '?'}{PLACEHOLDERS}",
            "prolific_id_option": "url_parameters",
            "completion_codes": [
                {"code": self.code, "code_type": "COMPLETED", "actions": [{"action": "MANUALLY_REVIEW"}]}
            ],
            "total_available_places": self.places,
            "estimated_completion_time": self.minutes,
            "reward": self.reward,
            "device_compatibility": list(self.devices),
        }


class Client:
    """A connection to Prolific. The token is sent in one header and appears nowhere else, neither in errors nor in
    logs.

    ``sleep`` waits between tries.
    """

    def __init__(
        self,
        token: str,
        base_url: str = BASE_URL,
        *,
        timeout: float = 20.0,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        if not re.fullmatch(r"[!-~]+", token):
            raise UsageError("a Prolific API token must be one word without spaces")
        _check_private(base_url)
        self._httpx = load_httpx("Talking to Prolific")
        self._token = token
        self._sleep = sleep
        headers = {"Authorization": f"Token {token}", "Accept": "application/json"}
        self._http = self._httpx.Client(base_url=base_url, headers=headers, timeout=timeout)

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    # -- studies and submissions -------------------------------------------------------------------------

    def create_draft(self, draft: StudyDraft) -> str:
        """Make an unpublished study; returns its id."""
        made = self._call("create a study", "POST", STUDIES, draft.payload())
        return _text(made, "id", "create a study")

    def submissions(self, study: str) -> list[Submission]:
        """All submissions of a study, page by page."""
        path = f"{_study_path(study)}submissions/"
        doing = f"list the submissions of study {study}"
        return [_submission(item, doing) for item in self._items(path, doing)]

    def submission(self, id: str) -> Submission:
        doing = f"look up submission {id}"
        return _submission(self._call(doing, "GET", _submission_path(id)), doing)

    def _items(self, path: str, doing: str) -> Iterator[Any]:
        """Follow the links to the next page by their query alone, so that the token is sent nowhere else."""
        query: str | None = ""
        seen: set[str] = set()
        while query is not None:
            if query in seen:
                raise PlatformError(f"Prolific was asked to {doing} and sent the same page twice")
            seen.add(query)
            page = self._call(doing, "GET", f"{path}?{query}" if query else path)
            if not isinstance(page, dict) or not isinstance(page.get("results"), list):
                raise PlatformError(f"Prolific was asked to {doing} and sent something unreadable")
            yield from page["results"]
            query = _next_query(page)

    # -- decisions and money -----------------------------------------------------------------------------

    def approve(self, submission: str) -> None:
        self._transition(submission, "APPROVE", {})

    def reject(self, submission: str, message: str, category: str = "OTHER") -> None:
        """Reject a submission. Prolific shows the message to the participant and requires at least 100 characters."""
        self._transition(submission, "REJECT", {"message": message, "rejection_category": category})

    def _transition(self, submission: str, action: Action, details: Mapping[str, str]) -> None:
        path = f"{_submission_path(submission)}transition/"
        doing = f"{action.lower()} submission {submission}"
        try:
            self._call(doing, "POST", path, {"action": action, **details}, repeatable=True)
        except PlatformError as error:
            # It may have been done before, by us (with the answer lost) or by a person on Prolific's own pages.
            if error.status != 400 or self.submission(submission).outcome != action.lower():
                raise

    def request_return(self, submission: str, reasons: Sequence[str]) -> None:
        """Ask a participant to return a submission; Prolific writes them a message around the reasons."""
        if not reasons:
            raise UsageError("a request to return a submission needs a reason")
        path = f"{_submission_path(submission)}request-return/"
        body = {"request_return_reasons": list(reasons)}
        self._call(f"ask for the return of submission {submission}", "POST", path, body)

    def bulk_approve(self, submissions: Sequence[str]) -> None:
        """Approve many submissions; Prolific does it in the background."""
        ids = [check_id("a session id", id) for id in submissions]
        body = {"submission_ids": ids}
        self._call(f"approve {len(ids)} submissions", "POST", f"{SUBMISSIONS}bulk-approve/", body, repeatable=True)

    def prepare_bonuses(self, study: str, amounts: Mapping[str, Amount]) -> str:
        """Announce bonuses for submissions of a study, in its currency; returns the id to pay them by."""
        lines = [f"{check_id('a session id', who)},{cents(amount)}" for who, amount in amounts.items()]
        body = {"study_id": check_id("a study id", study), "csv_bonuses": "\n".join(lines)}
        doing = f"prepare {len(lines)} bonuses" if len(lines) != 1 else "prepare a bonus"
        return _text(self._call(doing, "POST", f"{SUBMISSIONS}bonus-payments/", body), "id", doing)

    def pay_bonuses(self, reference: str) -> None:
        """Pay prepared bonuses; Prolific does it within minutes. Calling this twice pays twice."""
        path = f"/api/v1/bulk-bonus-payments/{check_id('the id of a bonus payment', reference)}/pay/"
        self._call(f"pay bonus {reference}", "POST", path)

    def bonuses_paid(self, submission: str) -> Decimal:
        """What was paid on top for a submission so far, in the study's currency. Prolific counts in cents."""
        doing = f"look up the bonuses of submission {submission}"
        paid = self._call(doing, "GET", _submission_path(submission))
        amounts = (paid.get("bonus_payments") or []) if isinstance(paid, dict) else None
        if not isinstance(amounts, list) or not all(isinstance(amount, int | float) for amount in amounts):
            raise PlatformError(f"Prolific was asked to {doing}, but its reply has no amounts")
        return sum((Decimal(str(amount)) for amount in amounts), Decimal(0)) / 100

    def places(self, study: str) -> int:
        """How many people can take part in a study, including those who did."""
        doing = f"look up the places of study {study}"
        return _number(self._call(doing, "GET", _study_path(study)), "total_available_places", doing)

    def set_places(self, study: str, places: int) -> int:
        """Change how many people can take part; once it is published, only more."""
        doing = f"make {places} places in study {study}"
        body = {"total_available_places": places}
        made = self._call(doing, "PATCH", _study_path(study), body, repeatable=True)
        return _number(made, "total_available_places", doing)

    # -- calls -------------------------------------------------------------------------------------------

    def _call(self, doing: str, method: str, path: str, body: Any = None, *, repeatable: bool = False) -> Any:
        """The content of Prolific's answer, None where there is none to read."""
        may_repeat = repeatable or method == "GET"
        try:
            response = remote.ask(
                lambda: self._http.request(method, path, json=body),
                tries=TRIES if may_repeat else 1,
                sleep=self._sleep,
                longest=LONGEST_PAUSE,
            )
        except self._httpx.RequestError as error:
            asked = not may_repeat and not isinstance(error, self._httpx.ConnectError)
            what = f"Prolific could not be asked to {doing}: {self._plain(error) or type(error).__name__}"
            raise PlatformError(
                what + (_LOOK_FIRST if asked else ""), unknown=not isinstance(error, self._httpx.ConnectError)
            ) from None
        if not response.is_success:
            unknown = _LOOK_FIRST if response.status_code >= 500 and not may_repeat else ""
            raise PlatformError(f"Prolific did not {doing}: {self._said(response)}{unknown}", response.status_code)
        try:
            return response.json()
        except ValueError:
            return None

    def _said(self, response: Any) -> str:
        """Prolific's own words: {"error": {"title": ..., "detail": ...}}, or whatever else it sent."""
        try:
            error = response.json()["error"]
            words = ": ".join(str(error[part]) for part in ("title", "detail") if error.get(part))
        except (ValueError, KeyError, TypeError, AttributeError):
            words = ""
        return f"{self._plain(words or response.text) or response.reason_phrase} (HTTP {response.status_code})"

    def _plain(self, words: object) -> str:
        """Fit to be shown: no token, no control characters, not endless."""
        safe = str(words).replace(self._token, "(token)")
        shown = " ".join("".join(c if c.isprintable() else " " for c in safe).split())
        return shown if len(shown) <= MAX_SHOWN else shown[: MAX_SHOWN - 3] + "..."


_LOOK_FIRST = "; it is not known whether it was done, so check on Prolific before you try again"


def _next_query(page: Mapping[str, Any]) -> str | None:
    links = page.get("_links")
    following = links.get("next") if isinstance(links, dict) else None
    href = following.get("href") if isinstance(following, dict) else None
    return urlsplit(href).query if isinstance(href, str) and href else None


def _study_path(id: str) -> str:
    return f"{STUDIES}{check_id('a study id', id)}/"


def _submission_path(id: str) -> str:
    return f"{SUBMISSIONS}{check_id('a session id', id)}/"


def _submission(item: Any, doing: str) -> Submission:
    participant = item.get("participant_id") or item.get("participant") if isinstance(item, dict) else None
    return Submission(_text(item, "id", doing), str(participant or ""), _text(item, "status", doing))


def _text(content: Any, field: str, doing: str) -> str:
    value = content.get(field) if isinstance(content, dict) else None
    if not isinstance(value, str):
        raise PlatformError(f"Prolific was asked to {doing}, but its reply has no {field}")
    return value


def _number(content: Any, field: str, doing: str) -> int:
    value = content.get(field) if isinstance(content, dict) else None
    if not isinstance(value, int):
        raise PlatformError(f"Prolific was asked to {doing}, but its reply has no {field}")
    return value


def _check_private(base_url: str) -> None:
    """The token must not travel in the clear, except on this machine."""
    parts = urlsplit(check_web_address("the address of the Prolific API", base_url))
    if parts.scheme != "https" and parts.hostname not in {"127.0.0.1", "localhost", "::1"}:
        raise UsageError("the address of the Prolific API must begin with https://")


# ----------------------------------------------------------------------
# Prolific as a platform: who came, the completion code, and decisions through the API.

COMPLETE = "https://app.prolific.com/submissions/complete"
MOST_APPROVED = 1000
"""Submissions in one request, as Prolific recommends."""
_ABOUT_SOME = frozenset({400, 404, 409})
"""Statuses that concern some of the submissions, so that the others may still succeed."""


class Prolific:
    """``client`` is needed for everything beyond letting people in and out; ``code`` is the completion code, and
    ``early_code`` the one for those who stop early."""

    name = "prolific"
    pays = True

    def __init__(self, study: str, code: str = "", client: Client | None = None, *, early_code: str = "") -> None:
        self._study = check_id("the Prolific study id", study)
        self._code = check_id("the completion code", code) if code else ""
        self._early_code = check_id("the completion code for those who stop early", early_code) if early_code else ""
        self._client = client

    def arrival(self, params: Mapping[str, str], /) -> Arrival:
        person, session, study = read_ids(params, ("PROLIFIC_PID", "SESSION_ID", "STUDY_ID"))
        check_study(study, self._study)
        return Arrival(self.name, person, session, study)

    @property
    def can_confirm(self) -> bool:
        return self._client is not None

    def confirm(self, arrival: Arrival) -> Arrival:
        """The arrival, verified by asking Prolific whether the session is this person's: ids can be made up."""
        try:
            known = self._api("confirm who came").submission(arrival.session)
        except PlatformError as error:
            if error.status != 404:
                raise
            known = None
        if known is None or known.person != arrival.external:
            raise InputError(Problem("session", "Prolific does not know it as yours; open the study from Prolific"))
        return replace(arrival, verified=True)

    def completion_url(self, _session: str, /, *, early: bool = False) -> str | None:
        code = self._early_code if early else self._code
        return f"{COMPLETE}?{urlencode({'cc': code})}" if code else None

    def approve(self, sessions: Sequence[str], /) -> None:
        """Several at once where Prolific takes them; otherwise one by one, naming those it refuses at the end."""
        client = self._api("approve work")
        for start in range(0, len(sessions), MOST_APPROVED):
            some = sessions[start : start + MOST_APPROVED]
            if len(some) == 1 or not _approved_together(client, some):
                _approve_each(client, some)

    def reject(self, session: str, reason: str, /, category: str = "OTHER") -> None:
        self._api("reject work").reject(session, reason, category)

    def request_return(self, session: str, reasons: Sequence[str], /) -> None:
        self._api("ask for a session to be returned").request_return(session, reasons)

    def prepare_bonus(self, session: str, amount: Amount, /) -> str:
        return self._api("prepare a bonus").prepare_bonuses(self._study, {session: amount})

    def pay_bonus(self, reference: str, /) -> None:
        self._api("pay a bonus").pay_bonuses(reference)

    def bonuses_paid(self, session: str, /) -> Decimal | None:
        return self._api("look up bonuses").bonuses_paid(session)

    def add_places(self, more: int, /) -> int:
        client = self._api("add places")
        return client.set_places(self._study, client.places(self._study) + check_places(more))

    def submissions(self) -> list[Submission]:
        return self._api("list submissions").submissions(self._study)

    def _api(self, purpose: str) -> Client:
        if self._client is None:
            raise UsageError(f"to {purpose} on prolific, an API token is needed")
        return self._client


def _approved_together(client: Client, sessions: Sequence[str]) -> bool:
    """Whether Prolific took them all; where it did not, asking for each says why."""
    try:
        client.bulk_approve(sessions)
    except PlatformError as error:
        if error.status not in _ABOUT_SOME:
            raise
        return False
    return True


def _approve_each(client: Client, sessions: Sequence[str]) -> None:
    refused = []
    for session in sessions:
        try:
            client.approve(session)
        except PlatformError as error:
            if error.status not in _ABOUT_SOME:
                raise
            refused.append(error)
    if refused:
        raise PlatformError("\n".join(map(str, refused)), refused[0].status)


# ----------------------------------------------------------------------
# Messages that Prolific sends when a submission changes: https://docs.prolific.com/api-reference/hooks.
#
# Anybody can send something to our address, so a message counts only if it is signed with the secret of the
# subscription, over the very bytes that came, within the last five minutes.

TIMESTAMP_HEADER = "X-Prolific-Request-Timestamp"
SIGNATURE_HEADER = "X-Prolific-Request-Signature"
MAX_AGE = 300.0
STATUS_CHANGE = "submission.status.change"


@dataclass(frozen=True, slots=True)
class WebhookEvent:
    """One message. ``resource`` of a status change is the session."""

    kind: str
    resource: str
    status: str = ""
    participant: str = ""
    study: str = ""

    @property
    def submission(self) -> Submission | None:
        """The submission whose state changed, if that is what happened."""
        return Submission(self.resource, self.participant, self.status) if self.kind == STATUS_CHANGE else None


def sign_webhook(secret: str, raw_body: bytes, timestamp: str) -> str:
    """base64(HMAC-SHA256(secret, timestamp + body)), as Prolific does it."""
    if not secret:
        raise UsageError("a webhook needs the secret of its subscription")
    digest = hmac.new(secret.encode(), timestamp.encode() + raw_body, hashlib.sha256).digest()
    return base64.b64encode(digest).decode()


def verify_webhook(secret: str, raw_body: bytes, timestamp: str, signature: str, *, now: float | None = None) -> None:
    """Raise InputError unless Prolific signed these bytes, not more than five minutes ago."""
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 13):
        raise InputError(Problem("webhook", "has no valid timestamp"))
    if not hmac.compare_digest(sign_webhook(secret, raw_body, timestamp).encode(), signature.encode(errors="replace")):
        raise InputError(Problem("webhook", "has a wrong signature"))
    # Thirteen digits can only be milliseconds.
    sent = int(timestamp) / (1000 if len(timestamp) == 13 else 1)
    if abs((time.time() if now is None else now) - sent) > MAX_AGE:
        raise InputError(Problem("webhook", "is older than five minutes"))


def read_webhook(raw_body: bytes) -> WebhookEvent:
    """What a verified message says. Unknown kinds are read too; the caller ignores them."""
    try:
        content = json.loads(raw_body)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise InputError(Problem("webhook", "is not a JSON object"))
    fields = ("event_type", "resource_id", "status", "participant_id", "study_id")
    kind, resource, status, participant, study = (content.get(field) or "" for field in fields)
    if not all(isinstance(value, str) for value in (kind, resource, status, participant, study)) or not kind:
        raise InputError(Problem("webhook", "does not say what happened"))
    if kind == STATUS_CHANGE and not (is_id(resource) and status):
        raise InputError(Problem("webhook", "names no submission or no status"))
    return WebhookEvent(kind, resource, status, participant, study)


class Webhooks:
    """The receiving end for one subscription; remembers which messages it has received."""

    def __init__(self, secret: str, clock: Callable[[], float] = time.time) -> None:
        self._secret = secret
        self._clock = clock
        self._seen: dict[str, float] = {}

    def receive(self, raw_body: bytes, timestamp: str, signature: str) -> WebhookEvent | None:
        """The event, or None for a message received before, which should be acknowledged and ignored."""
        now = self._clock()
        verify_webhook(self._secret, raw_body, timestamp, signature, now=now)
        event = read_webhook(raw_body)
        # Twice the age, since a timestamp may also be ahead of our clock by that much.
        self._seen = {known: at for known, at in self._seen.items() if now - at <= 2 * MAX_AGE}
        if signature in self._seen:
            return None
        self._seen[signature] = now
        return event
