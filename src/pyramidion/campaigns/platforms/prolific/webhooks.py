"""Messages that Prolific sends when a submission changes: https://docs.prolific.com/api-reference/webhooks.

Anybody can send something to our address, so a message counts only if it is signed with the secret of the workspace,
over the very bytes that came, not long ago.

Prolific delivers a message at least once: it tries again, for hours, until it gets a good answer, and messages may
come in any order. So nothing is remembered here. Whoever applies an event keeps its ``id`` and its ``digest`` in the
same transaction, and leaves alone what is older than the last one applied to the same submission. The id alone would
not do, since Prolific does not sign it; nor would the digest, which changes with every delivery.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable
from dataclasses import dataclass

from pyramidion.campaigns.platforms import Submission, is_id
from pyramidion.errors import InputError, Problem, UsageError

TIMESTAMP_HEADER = "X-Prolific-Request-Timestamp"
SIGNATURE_HEADER = "X-Prolific-Request-Signature"
EVENT_HEADER = "X-Event-ID"
STATUS_CHANGE = "submission.status.change"

MAX_AGE = 24 * 3600.0
"""Seconds; a message that could not be delivered is tried again for a while."""
MAX_AHEAD = 300.0
"""Seconds that the clock of Prolific may be ahead of ours."""


@dataclass(frozen=True, slots=True)
class WebhookEvent:
    """One message. ``resource`` of a status change is the session.

    ``id`` is the same for all deliveries of one event, ``digest`` for all copies of one delivery; ``at`` is when it
    was sent, in seconds since 1970.
    """

    kind: str
    resource: str
    status: str = ""
    participant: str = ""
    study: str = ""
    id: str = ""
    at: float = 0.0
    digest: str = ""

    @property
    def submission(self) -> Submission | None:
        """The submission whose state changed, if that is what happened."""
        if self.kind != STATUS_CHANGE:
            return None
        return Submission(self.resource, self.participant, self.status, self.study)


def sign_webhook(secret: str, raw_body: bytes, timestamp: str) -> str:
    """base64(HMAC-SHA256(secret, timestamp + body)), as Prolific does it."""
    if not secret:
        raise UsageError("a webhook needs the secret of its workspace")
    digest = hmac.new(secret.encode(), timestamp.encode() + raw_body, hashlib.sha256).digest()
    return base64.b64encode(digest).decode()


def verify_webhook(secret: str, raw_body: bytes, timestamp: str, signature: str, *, now: float | None = None) -> float:
    """When Prolific signed these bytes; raises InputError if it did not, or long ago."""
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 13):
        raise InputError(Problem("webhook", "has no valid timestamp"))
    if not hmac.compare_digest(sign_webhook(secret, raw_body, timestamp).encode(), signature.encode(errors="replace")):
        raise InputError(Problem("webhook", "has a wrong signature"))
    # Thirteen digits can only be milliseconds.
    sent = int(timestamp) / (1000 if len(timestamp) == 13 else 1)
    if not -MAX_AHEAD <= (time.time() if now is None else now) - sent <= MAX_AGE:
        raise InputError(Problem("webhook", "is older than a day, or from the future"))
    return sent


def read_webhook(raw_body: bytes, *, event_id: str = "", at: float = 0.0) -> WebhookEvent:
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
    if any(value and not is_id(value) for value in (participant, study)):
        raise InputError(Problem("webhook", "names no sound participant or study"))
    if event_id and not is_id(event_id):
        raise InputError(Problem("webhook", f"has no valid {EVENT_HEADER}"))
    digest = hashlib.sha256(f"{at}\0".encode() + raw_body).hexdigest()
    return WebhookEvent(kind, resource, status, participant, study, event_id or digest, at, digest)


class Webhooks:
    """The receiving end of one workspace's subscriptions."""

    def __init__(self, secret: str, clock: Callable[[], float] = time.time) -> None:
        self._secret = secret
        self._clock = clock

    def receive(self, raw_body: bytes, timestamp: str, signature: str, event_id: str = "") -> WebhookEvent:
        """What a message says, given its three headers; raises InputError unless Prolific sent it. Without an id of
        its own, an event is known by its digest."""
        at = verify_webhook(self._secret, raw_body, timestamp, signature, now=self._clock())
        return read_webhook(raw_body, event_id=event_id, at=at)
