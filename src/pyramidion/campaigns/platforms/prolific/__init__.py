"""Prolific: participants with ids in the link, completion codes, an API for drafts, reviews and bonuses, webhooks.

This is Prolific as a platform. The client speaks its API; ``drafts`` has studies to be made, ``signed_entry`` the links
that it signs, and ``webhooks`` the messages that it sends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from urllib.parse import urlencode

from pyramidion.campaigns.platforms import (
    Amount,
    Arrival,
    PlatformError,
    Submission,
    check_id,
    check_places,
    check_study,
    read_ids,
)
from pyramidion.campaigns.platforms.prolific.client import REJECTION_CATEGORIES, TRIES, Client, Subscription, TrialStudy
from pyramidion.campaigns.platforms.prolific.drafts import StudyDraft
from pyramidion.campaigns.platforms.prolific.signed_entry import PublishedKeys, SignedEntry
from pyramidion.campaigns.platforms.prolific.webhooks import (
    EVENT_HEADER,
    SIGNATURE_HEADER,
    TIMESTAMP_HEADER,
    WebhookEvent,
    Webhooks,
    read_webhook,
    sign_webhook,
    verify_webhook,
)
from pyramidion.errors import InputError, Problem, UsageError

__all__ = [
    "EVENT_HEADER",
    "REJECTION_CATEGORIES",
    "SIGNATURE_HEADER",
    "TIMESTAMP_HEADER",
    "TRIES",
    "Client",
    "Prolific",
    "PublishedKeys",
    "SignedEntry",
    "StudyDraft",
    "Subscription",
    "TrialStudy",
    "WebhookEvent",
    "Webhooks",
    "read_webhook",
    "sign_webhook",
    "verify_webhook",
]

COMPLETE = "https://app.prolific.com/submissions/complete"
MOST_APPROVED = 1000
"""Submissions in one request, as Prolific recommends."""
_ABOUT_SOME = frozenset({400, 404, 409})
"""Statuses that concern some of the submissions, so that the others may still succeed."""


class Prolific:
    """``client`` is needed for everything beyond letting people in and out.

    ``code`` is the completion code and ``early_code`` the one for those who stop early. With ``signed``, only people
    whose link Prolific has signed come in.
    """

    name = "prolific"
    pays = True

    def __init__(
        self,
        study: str,
        code: str = "",
        client: Client | None = None,
        *,
        early_code: str = "",
        signed: SignedEntry | None = None,
    ) -> None:
        self._study = check_id("the Prolific study id", study)
        self._code = check_id("the completion code", code) if code else ""
        self._early_code = check_id("the completion code for those who stop early", early_code) if early_code else ""
        if code and code == early_code:
            raise UsageError("those who stop early need a completion code of their own")
        self._client = client
        self._signed = signed

    # -- people come and go ------------------------------------------------------------------------------

    def arrival(self, params: Mapping[str, str], /) -> Arrival:
        person, session, study = read_ids(params, ("PROLIFIC_PID", "SESSION_ID", "STUDY_ID"))
        check_study(study, self._study)
        came = Arrival(self.name, person, session, study)
        if self._signed is None:
            return came
        self._signed.verify(came, params)
        return replace(came, verified=True)

    @property
    def can_confirm(self) -> bool:
        return self._client is not None

    def confirm(self, arrival: Arrival) -> Arrival:
        """The arrival, verified by asking Prolific whether the session is this person's, in this study: ids in a link
        can be made up."""
        try:
            known = self._api("confirm who came").submission(arrival.session)
        except PlatformError as error:
            if error.status != 404:
                raise
            known = None
        if known is None or (known.person, known.study) != (arrival.external, arrival.study):
            raise InputError(Problem("session", "Prolific does not know it as yours; open the study from Prolific"))
        return replace(arrival, verified=True)

    def completion_url(self, _session: str, /, *, early: bool = False) -> str | None:
        code = self._early_code if early else self._code
        return f"{COMPLETE}?{urlencode({'cc': code})}" if code else None

    # -- decisions and money -----------------------------------------------------------------------------

    def approve(self, sessions: Sequence[str], /) -> None:
        """Several at once where Prolific takes them; otherwise one by one, naming those it refuses at the end."""
        client = self._api("approve work")
        refused: list[PlatformError] = []
        for start in range(0, len(sessions), MOST_APPROVED):
            some = sessions[start : start + MOST_APPROVED]
            if len(some) == 1 or not _approved_together(client, some):
                refused += _approve_each(client, some)
        if refused:
            raise PlatformError("\n".join(map(str, refused)), refused[0].status)

    def reject(self, session: str, reason: str, category: str = "OTHER", /) -> None:
        """A reason that Prolific would find too short, and an unknown category, are refused before anything is sent."""
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

    def count_places(self) -> int:
        return self._api("count places").places(self._study)

    def ensure_places(self, places: int, /) -> int:
        there = self.count_places()
        return there if there >= places else self._api("add places").set_places(self._study, places)

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


def _approve_each(client: Client, sessions: Sequence[str]) -> list[PlatformError]:
    """What Prolific said about those that it did not approve."""
    refused = []
    for session in sessions:
        try:
            client.approve(session)
        except PlatformError as error:
            if error.status not in _ABOUT_SOME:
                raise
            refused.append(error)
    return refused
