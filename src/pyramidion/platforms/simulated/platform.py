"""A platform that keeps its books in memory: everything the port promises, at no cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from pyramidion.errors import UsageError
from pyramidion.platforms.base import (
    Amount,
    Arrival,
    Submission,
    cents,
    check_id,
    check_study,
    check_web_address,
    read_ids,
)


class Simulated:
    """Entry by the parameters ``worker``, ``session`` and ``study``; what was decided and paid can be looked at."""

    name = "simulated"
    pays = True

    def __init__(self, study: str = "rehearsal", completion: str = "") -> None:
        self._study = check_id("the study id", study)
        self._completion = check_web_address("the completion URL", completion) if completion else None
        self._states: dict[str, str] = {}
        self._people: dict[str, str] = {}
        self.reasons: dict[str, str] = {}
        self.bonuses: list[tuple[str, Decimal, str]] = []

    def arrival(self, params: Mapping[str, str], /) -> Arrival:
        worker, session, study = read_ids(params, ("worker", "session", "study"))
        check_study(study, self._study)
        self._states.setdefault(session, "ACTIVE")
        self._people[session] = worker
        return Arrival(self.name, worker, session, study)

    def completion_url(self, _session: str, /) -> str | None:
        return self._completion

    def set_state(self, session: str, state: str) -> None:
        """What a person does there: finish (AWAITING REVIEW), give up (RETURNED), run out of time (TIMED-OUT)."""
        self._must_know(session)
        self._states[session] = state

    def approve(self, sessions: Sequence[str], /) -> None:
        for session in sessions:
            self._must_know(session)
        self._states.update(dict.fromkeys(sessions, "APPROVED"))

    def reject(self, session: str, reason: str, /) -> None:
        self._must_know(session)
        self._states[session] = "REJECTED"
        self.reasons[session] = reason

    def bonus(self, external: str, amount: Amount, reason: str, /) -> None:
        self.bonuses.append((check_id("a worker id", external), cents(amount), reason))

    def submissions(self) -> list[Submission]:
        return [Submission(session, self._people[session], state) for session, state in self._states.items()]

    def _must_know(self, session: str) -> None:
        if session not in self._states:
            raise UsageError(f"the platform {self.name} knows no session {session!r}")
