"""Prolific's REST API, as far as a campaign needs it: https://docs.prolific.com/api-reference.

A call is repeated after a network error, 429 or 5xx only where repeating does no harm: reading, setting places, and
approving or rejecting, since a submission is approved once however often one asks. Creating a study, writing to a
participant and paying a bonus are never repeated: if the reply is lost, look on Prolific before trying again.
"""

from __future__ import annotations

import math
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal, NamedTuple, TypeGuard
from urllib.parse import urlencode, urlsplit

from pyramidion import remote
from pyramidion.campaigns.platforms import (
    Amount,
    PlatformError,
    Submission,
    cents,
    check_id,
    check_web_address,
    load_httpx,
)
from pyramidion.campaigns.platforms.prolific.drafts import StudyDraft
from pyramidion.campaigns.platforms.prolific.webhooks import STATUS_CHANGE
from pyramidion.errors import UsageError

BASE_URL = "https://api.prolific.com"
STUDIES, SUBMISSIONS, HOOKS = "/api/v1/studies/", "/api/v1/submissions/", "/api/v1/hooks/"
TRIES = 4
LONGEST_PAUSE = 30.0
MAX_SHOWN = 500
PAGE_SIZE, DEFAULT_PAGE_SIZE = 100, 20
MOST_BONUSES = 200
"""Lines in one request, as Prolific recommends."""
MIN_MESSAGE = 100
"""Characters that Prolific requires of the explanation of a rejection."""
REJECTION_CATEGORIES = (
    "TOO_QUICKLY",
    "TOO_SLOWLY",
    "FAILED_INSTRUCTIONS",
    "INCOMP_LONGITUDINAL",
    "FAILED_CHECK",
    "LOW_EFFORT",
    "MALINGERING",
    "NO_CODE",
    "BAD_CODE",
    "NO_DATA",
    "UNSUPP_DEVICE",
    "OTHER",
)

Action = Literal["APPROVE", "REJECT"]
_NOTHING_SENT = "; nothing was sent"
_LOOK_FIRST = "; it is not known whether it was done, so check on Prolific before you try again"
_one_bonus_request = threading.Lock()
"""Prolific does not take bonus requests side by side."""


class TrialStudy(NamedTuple):
    """A copy of a draft that only test participants of the workspace see."""

    id: str
    url: str


class Subscription(NamedTuple):
    """Prolific sends messages of one kind to one address."""

    id: str
    kind: str
    url: str


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
        check_private("the address of the Prolific API", base_url)
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

    # -- studies -----------------------------------------------------------------------------------------

    def create_draft(self, draft: StudyDraft) -> str:
        """Make an unpublished study; returns its id."""
        made = self._call("create a study", "POST", STUDIES, draft.payload())
        return _text(made, "id", "create a study")

    def create_test_study(self, draft: str) -> TrialStudy:
        """Publish a copy of a draft to the workspace's test participants. Only some workspaces may."""
        doing = f"make a test study of {draft}"
        made = self._call(doing, "POST", f"{_study_path(draft)}test-study")
        return TrialStudy(_text(made, "study_id", doing), _text(made, "study_url", doing))

    def places(self, study: str) -> int:
        """How many people can take part in a study, including those who did."""
        doing = f"look up the places of study {study}"
        return _count(self._call(doing, "GET", _study_path(study)), "total_available_places", doing)

    def set_places(self, study: str, places: int) -> int:
        """Change how many people can take part; once it is published, only to more. A study that was full opens."""
        doing = f"make {places} places in study {study}"
        made = self._call(doing, "PATCH", _study_path(study), {"total_available_places": places}, repeatable=True)
        return _count(made, "total_available_places", doing)

    # -- submissions -------------------------------------------------------------------------------------

    def submissions(self, study: str) -> list[Submission]:
        """All submissions of a study, oldest first."""
        doing = f"list the submissions of study {check_id('a study id', study)}"
        asked = {"study": study, "ordering": "started_at", "page_size": PAGE_SIZE}
        return [_submission(item, doing, study) for item in self._items(SUBMISSIONS, asked, doing)]

    def submission(self, id: str) -> Submission:
        doing = f"look up submission {id}"
        return _submission(self._call(doing, "GET", _submission_path(id)), doing)

    def counts(self, study: str) -> dict[str, int]:
        """How many submissions of a study are in each state, and their TOTAL."""
        doing = f"count the submissions of study {study}"
        counted = self._call(doing, "GET", f"{_study_path(study)}submissions/counts/")
        if not isinstance(counted, dict):
            raise PlatformError(f"Prolific was asked to {doing} and sent something unreadable")
        return {state: _count(counted, state, doing) for state in counted}

    def _items(self, path: str, asked: Mapping[str, object], doing: str) -> Iterator[Any]:
        """Everything on the pages of a list, once. Prolific does not say which page is the last or how long pages may
        be, so the end is a page that is short even for its default, has nothing new, or does not exist."""
        seen: set[str] = set()
        number = 1
        while True:
            try:
                page = self._call(doing, "GET", f"{path}?{urlencode({**asked, 'page': number})}")
            except PlatformError as error:
                if number > 1 and error.status == 404:
                    return
                raise
            if not isinstance(page, dict) or not isinstance(page.get("results"), list):
                raise PlatformError(f"Prolific was asked to {doing} and sent something unreadable")
            new = [item for item in page["results"] if _text(item, "id", doing) not in seen]
            yield from new
            if not new or len(page["results"]) < DEFAULT_PAGE_SIZE:
                return
            seen.update(item["id"] for item in new)
            number += 1

    # -- decisions ---------------------------------------------------------------------------------------

    def approve(self, submission: str) -> None:
        self._transition(submission, "APPROVE", {})

    def bulk_approve(self, submissions: Sequence[str]) -> None:
        """Approve many submissions; Prolific does it in the background."""
        ids = [check_id("a session id", id) for id in submissions]
        body = {"submission_ids": ids}
        self._call(f"approve {len(ids)} submissions", "POST", f"{SUBMISSIONS}bulk-approve/", body, repeatable=True)

    def reject(self, submission: str, message: str, category: str = "OTHER") -> None:
        """Reject a submission. Prolific shows the message to the participant and requires at least 100 characters."""
        if category not in REJECTION_CATEGORIES:
            known = ", ".join(REJECTION_CATEGORIES)
            raise PlatformError(f"Prolific has no rejection category {category!r}, but: {known}{_NOTHING_SENT}", 400)
        if len(message.strip()) < MIN_MESSAGE:
            said = len(message.strip())
            needs = f"Prolific requires an explanation of at least {MIN_MESSAGE} characters for a rejection"
            raise PlatformError(f"{needs}, not {said}: say what was wrong and where{_NOTHING_SENT}", 400)
        self._transition(submission, "REJECT", {"message": message.strip(), "rejection_category": category})

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
        stated = [reason.strip() for reason in reasons]
        if not stated or not all(stated):
            raise UsageError("a request to return a submission needs a reason")
        path = f"{_submission_path(submission)}request-return/"
        self._call(f"ask for the return of submission {submission}", "POST", path, {"request_return_reasons": stated})

    # -- bonuses -----------------------------------------------------------------------------------------

    def prepare_bonuses(self, study: str, amounts: Mapping[str, Amount]) -> str:
        """Announce bonuses for submissions of a study, in its currency; returns the id to pay them by."""
        if not 1 <= len(amounts) <= MOST_BONUSES:
            raise UsageError(f"Prolific takes 1 to {MOST_BONUSES} bonuses at a time, not {len(amounts)}")
        exact = {check_id("a session id", session): cents(amount) for session, amount in amounts.items()}
        lines = "\n".join(f"{session},{amount}" for session, amount in exact.items())
        body = {"study_id": check_id("a study id", study), "csv_bonuses": lines}
        doing = (
            f"prepare {len(exact)} bonuses" if len(exact) > 1 else f"prepare a bonus for submission {next(iter(exact))}"
        )
        with _one_bonus_request:
            made = self._call(doing, "POST", f"{SUBMISSIONS}bonus-payments/", body)
        reference = check_reference(_text(made, "id", doing))
        understood, meant = made.get("amount"), sum(exact.values()) * 100
        # Prolific replies in cents. Better not to pay at all than to pay a hundred times as much.
        if len(exact) == 1 and _is_number(understood) and Decimal(str(understood)) != meant:
            said = f"Prolific was asked to {doing} of {meant} cents and understood {understood}; nothing is paid"
            raise PlatformError(said, 400)
        return reference

    def pay_bonuses(self, reference: str) -> None:
        """Pay prepared bonuses; Prolific does it within minutes. Calling this twice pays twice."""
        path = f"/api/v1/bulk-bonus-payments/{check_reference(reference)}/pay/"
        with _one_bonus_request:
            self._call(f"pay the prepared bonus {reference}", "POST", path)

    def bonuses_paid(self, submission: str) -> Decimal:
        """What was paid on top for a submission so far, in the study's currency. Prolific counts in cents."""
        doing = f"look up the bonuses of submission {submission}"
        known = self._call(doing, "GET", _submission_path(submission))
        _text(known, "id", doing)
        amounts = known.get("bonus_payments") or []
        if not isinstance(amounts, list) or not all(map(_is_number, amounts)):
            raise PlatformError(f"Prolific was asked to {doing}, but its reply has no amounts")
        return sum((Decimal(str(amount)) for amount in amounts), Decimal(0)) / 100

    # -- webhooks ----------------------------------------------------------------------------------------

    def webhook_secret(self, workspace: str) -> str:
        """The secret that messages of a workspace are signed with; one is made if there is none. A secret that exists
        is kept, since other subscriptions of the workspace rely on it."""
        workspace = check_id("a workspace id", workspace)
        doing = f"look up the webhook secret of workspace {workspace}"
        known = self._results(doing, f"{HOOKS}secrets/?{urlencode({'workspace_id': workspace})}")
        for secret in known:
            return _text(secret, "value", doing)
        doing = f"make a webhook secret for workspace {workspace}"
        return _text(self._call(doing, "POST", f"{HOOKS}secrets/", {"workspace_id": workspace}), "value", doing)

    def subscribe(self, workspace: str, url: str, kind: str = STATUS_CHANGE) -> Subscription:
        """Have messages of one kind sent to an address, and confirm that they are wanted. A subscription that exists
        is kept. The workspace needs a secret first."""
        if urlsplit(check_web_address("the address for messages", url)).scheme != "https":
            raise UsageError(f"Prolific sends messages to https addresses only, not to {url}")
        asked = {"event_type": kind, "target_url": url, "workspace_id": check_id("a workspace id", workspace)}
        doing = f"subscribe {url} to {kind}"
        for known in self._results(doing, f"{HOOKS}subscriptions/?{urlencode({'workspace_id': workspace})}"):
            if isinstance(known, dict) and known.get("event_type") == kind and known.get("target_url") == url:
                return Subscription(_text(known, "id", doing), kind, url)
        made = self._send(doing, "POST", f"{HOOKS}subscriptions/", asked)
        content = _content(made)
        listed = content.get("results") if isinstance(content, dict) else None
        id = check_id("a subscription id", _text(listed[-1] if listed else content, "id", doing))
        secret = made.headers.get("X-Hook-Secret", "")
        if not secret:
            raise PlatformError(f"Prolific was asked to {doing}, but its reply has no X-Hook-Secret to confirm it with")
        self._call(f"confirm subscription {id}", "POST", f"{HOOKS}subscriptions/{id}/", {"secret": secret})
        return Subscription(id, kind, url)

    def _results(self, doing: str, path: str) -> list[Any]:
        page = self._call(doing, "GET", path)
        results = page.get("results") if isinstance(page, dict) else None
        if not isinstance(results, list):
            raise PlatformError(f"Prolific was asked to {doing} and sent something unreadable")
        return results

    # -- calls -------------------------------------------------------------------------------------------

    def _call(self, doing: str, method: str, path: str, body: Any = None, *, repeatable: bool = False) -> Any:
        """The content of Prolific's answer, None where there is none to read."""
        return _content(self._send(doing, method, path, body, repeatable=repeatable))

    def _send(self, doing: str, method: str, path: str, body: Any = None, *, repeatable: bool = False) -> Any:
        may_repeat = repeatable or method == "GET"
        try:
            response = remote.ask(
                lambda: self._http.request(method, path, json=body),
                tries=TRIES if may_repeat else 1,
                sleep=self._sleep,
                longest=LONGEST_PAUSE,
            )
        except self._httpx.RequestError as error:
            reached = not isinstance(error, self._httpx.ConnectError | self._httpx.ConnectTimeout)
            what = f"Prolific could not be asked to {doing}: {self._plain(error) or type(error).__name__}"
            raise PlatformError(what + (_LOOK_FIRST if reached and not may_repeat else ""), unknown=reached) from None
        if not response.is_success:
            unknown = _LOOK_FIRST if response.status_code >= 500 and not may_repeat else ""
            raise PlatformError(f"Prolific did not {doing}: {self._said(response)}{unknown}", response.status_code)
        return response

    def _said(self, response: Any) -> str:
        """Prolific's own words: {"error": {"title": ..., "detail": ...}}, the inner part alone, or whatever else."""
        content = _content(response)
        error = content.get("error", content) if isinstance(content, dict) else None
        told = (
            [_words(error[part]) for part in ("title", "detail") if error.get(part)] if isinstance(error, dict) else []
        )
        return (
            f"{self._plain(': '.join(told) or response.text) or response.reason_phrase} (HTTP {response.status_code})"
        )

    def _plain(self, words: object) -> str:
        """Fit to be shown: no token, no control characters, not endless."""
        safe = str(words).replace(self._token, "(token)")
        shown = " ".join("".join(c if c.isprintable() else " " for c in safe).split())
        return shown if len(shown) <= MAX_SHOWN else shown[: MAX_SHOWN - 3] + "..."


def _content(response: Any) -> Any:
    try:
        return response.json()
    except (ValueError, RecursionError):
        return None


def _words(detail: Any) -> str:
    """A detail is a text, a list of texts, or lists by field."""
    if isinstance(detail, list):
        return " ".join(map(_words, detail))
    if isinstance(detail, dict):
        return "; ".join(f"{field}: {_words(said)}" for field, said in detail.items())
    return str(detail)


def _study_path(id: str) -> str:
    return f"{STUDIES}{check_id('a study id', id)}/"


def _submission_path(id: str) -> str:
    return f"{SUBMISSIONS}{check_id('a session id', id)}/"


def check_reference(reference: str) -> str:
    return check_id("the id of a prepared bonus", reference)


def _submission(item: Any, doing: str, study: str = "") -> Submission:
    """One of a list, which names the participant one way, or one looked up, which does it another way."""
    session, state = _text(item, "id", doing), _text(item, "status", doing)
    person = item.get("participant_id") or item.get("participant")
    return Submission(session, str(person or ""), state, str(item.get("study_id") or study))


def _text(content: Any, field: str, doing: str) -> str:
    value = content.get(field) if isinstance(content, dict) else None
    if not isinstance(value, str) or not value:
        raise PlatformError(f"Prolific was asked to {doing}, but its reply has no {field}")
    return value


def _count(content: Any, field: str, doing: str) -> int:
    """Prolific's interface says that counts are numbers, not that they are whole."""
    value = content.get(field) if isinstance(content, dict) else None
    if not _is_number(value) or value != int(value):
        raise PlatformError(f"Prolific was asked to {doing}, but its reply has no {field}")
    return int(value)


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def check_private(what: str, url: str) -> str:
    """What is asked there must not travel in the clear, except on this machine."""
    parts = urlsplit(check_web_address(what, url))
    if parts.scheme != "https" and parts.hostname not in {"127.0.0.1", "localhost", "::1"}:
        raise UsageError(f"{what} must begin with https://")
    return url
