"""Prolific: participants with ids in the link, a completion code, an API for drafts, reviews and bonuses, webhooks."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from pyramidion.campaigns.platforms import (
    Amount,
    Arrival,
    PlatformError,
    Submission,
    check_id,
    check_study,
    is_id,
    read_ids,
)
from pyramidion.campaigns.platforms.prolific_api import Client
from pyramidion.errors import InputError, Problem, UsageError

# ----------------------------------------------------------------------
# Prolific as a platform: who came, the completion code, and decisions through the API.

COMPLETE = "https://app.prolific.com/submissions/complete"
_ABOUT_ONE = frozenset({400, 404, 409})
"""Answers that say something about one submission, so that the others may still succeed."""


class Prolific:
    """``client`` is needed for everything beyond letting people in and out; ``code`` is the completion code."""

    name = "prolific"
    pays = True

    def __init__(self, study: str, code: str = "", client: Client | None = None) -> None:
        self._study = check_id("the Prolific study id", study)
        self._code = check_id("the completion code", code) if code else ""
        self._client = client

    def arrival(self, params: Mapping[str, str], /) -> Arrival:
        person, session, study = read_ids(params, ("PROLIFIC_PID", "SESSION_ID", "STUDY_ID"))
        check_study(study, self._study)
        return Arrival(self.name, person, session, study)

    @property
    def can_confirm(self) -> bool:
        return self._client is not None

    def confirm(self, arrival: Arrival) -> None:
        """Ask Prolific whether the session is this person's: ids in a link can be made up."""
        try:
            known = self._api("confirm who came").submission(arrival.session)
        except PlatformError as error:
            if error.status != 404:
                raise
            known = None
        if known is None or known.person != arrival.external:
            raise InputError(Problem("session", "Prolific does not know it as yours; open the study from Prolific"))

    def completion_url(self, _session: str, /) -> str | None:
        return f"{COMPLETE}?{urlencode({'cc': self._code})}" if self._code else None

    def approve(self, sessions: Sequence[str], /) -> None:
        """Approve each; those that Prolific refuses are named at the end, the others are approved."""
        client = self._api("approve work")
        refused = []
        for session in sessions:
            try:
                client.approve(session)
            except PlatformError as error:
                if error.status not in _ABOUT_ONE:
                    raise
                refused.append(error)
        if refused:
            raise PlatformError("\n".join(map(str, refused)), refused[0].status)

    def reject(self, session: str, reason: str, /, category: str = "OTHER") -> None:
        self._api("reject work").reject(session, reason, category)

    def bonus(self, external: str, amount: Amount, _reason: str, /) -> None:
        """Prolific has no place for the reason; write to the participant if they should know it."""
        self._api("pay a bonus").pay_bonuses(self._study, {external: amount})

    def submissions(self) -> list[Submission]:
        return self._api("list submissions").submissions(self._study)

    def _api(self, purpose: str) -> Client:
        if self._client is None:
            raise UsageError(f"to {purpose} on prolific, an API token is needed")
        return self._client


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
class Event:
    """What happened to what. ``resource`` of a status change is the session."""

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
        raise InputError(Problem("webhook", "has no sound timestamp"))
    if not hmac.compare_digest(sign_webhook(secret, raw_body, timestamp).encode(), signature.encode(errors="replace")):
        raise InputError(Problem("webhook", "has a wrong signature"))
    # Thirteen digits can only be milliseconds.
    sent = int(timestamp) / (1000 if len(timestamp) == 13 else 1)
    if abs((time.time() if now is None else now) - sent) > MAX_AGE:
        raise InputError(Problem("webhook", "is older than five minutes"))


def read_webhook(raw_body: bytes) -> Event:
    """What a verified message says. Kinds we do not know are read too; the caller leaves them alone."""
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
    return Event(kind, resource, status, participant, study)


class Webhooks:
    """The receiving end for one subscription; knows what it has taken in before."""

    def __init__(self, secret: str, clock: Callable[[], float] = time.time) -> None:
        self._secret = secret
        self._clock = clock
        self._seen: dict[str, float] = {}

    def receive(self, raw_body: bytes, timestamp: str, signature: str) -> Event | None:
        """The event, or None for a message that came before: say thank you and do nothing."""
        now = self._clock()
        verify_webhook(self._secret, raw_body, timestamp, signature, now=now)
        event = read_webhook(raw_body)
        # Twice the age, since a timestamp may also lie ahead of our clock by that much.
        self._seen = {known: at for known, at in self._seen.items() if now - at <= 2 * MAX_AGE}
        if signature in self._seen:
            return None
        self._seen[signature] = now
        return event
