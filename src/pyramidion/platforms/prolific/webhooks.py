"""Messages that Prolific sends when a submission changes: https://docs.prolific.com/api-reference/hooks.

Anybody can send something to our address, so a message counts only if it is signed with the secret of the
subscription, over the very bytes that came, within the last five minutes.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable
from dataclasses import dataclass

from pyramidion.errors import InputError, Problem, UsageError
from pyramidion.platforms.base import Submission, is_id

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
