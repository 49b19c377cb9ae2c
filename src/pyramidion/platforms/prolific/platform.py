"""Prolific as a platform: who came, the completion code, and decisions through the API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from pyramidion.errors import InputError, Problem, UsageError
from pyramidion.platforms.base import Amount, Arrival, PlatformError, Submission, check_id, check_study, read_ids
from pyramidion.platforms.prolific.api import Client

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
