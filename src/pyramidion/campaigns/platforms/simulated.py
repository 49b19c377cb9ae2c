"""Nobody real: a platform without people, to rehearse a campaign from end to end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from pyramidion.campaigns.platforms import (
    Amount,
    Arrival,
    Submission,
    cents,
    check_id,
    check_places,
    check_study,
    check_web_address,
    read_ids,
)
from pyramidion.errors import UsageError


class Simulated:
    """Keeps its books in memory: everything the port promises, at no cost.

    Entry by the parameters ``worker``, ``session`` and ``study``. It pays as Prolific does: a bonus that is paid twice
    is paid twice. References are counted, so that the same calls always get the same ones.
    """

    name = "simulated"
    pays = True

    def __init__(self, study: str = "rehearsal", completion: str = "", places: int = 0) -> None:
        self._study = check_id("the study id", study)
        self._completion = check_web_address("the completion URL", completion) if completion else None
        self._states: dict[str, str] = {}
        self._people: dict[str, str] = {}
        self._prepared: dict[str, tuple[str, Decimal]] = {}
        self.places = places
        self.reasons: dict[str, str] = {}
        self.return_requests: dict[str, tuple[str, ...]] = {}
        self.bonuses: list[tuple[str, Decimal]] = []

    def arrival(self, params: Mapping[str, str], /) -> Arrival:
        worker, session, study = read_ids(params, ("worker", "session", "study"))
        check_study(study, self._study)
        self._states.setdefault(session, "ACTIVE")
        self._people[session] = worker
        return Arrival(self.name, worker, session, study)

    def completion_url(self, _session: str, /, *, early: bool = False) -> str | None:
        return None if early else self._completion

    def set_state(self, session: str, state: str) -> None:
        """What a person does there: finish (AWAITING REVIEW), give up (RETURNED), run out of time (TIMED-OUT)."""
        self._must_know(session)
        self._states[session] = state

    def approve(self, sessions: Sequence[str], /) -> None:
        for session in sessions:
            self._must_know(session)
        self._states.update(dict.fromkeys(sessions, "APPROVED"))

    def reject(self, session: str, reason: str, _category: str = "OTHER", /) -> None:
        self._must_know(session)
        self._states[session] = "REJECTED"
        self.reasons[session] = reason

    def request_return(self, session: str, reasons: Sequence[str], /) -> None:
        self._must_know(session)
        self.return_requests[session] = tuple(reasons)

    def prepare_bonus(self, session: str, amount: Amount, /) -> str:
        self._must_know(check_id("a session id", session))
        reference = f"bonus-{len(self._prepared) + 1}"
        self._prepared[reference] = (session, cents(amount))
        return reference

    def pay_bonus(self, reference: str, /) -> None:
        if reference not in self._prepared:
            raise UsageError(f"the platform {self.name} has no bonus {reference!r}")
        self.bonuses.append(self._prepared[reference])

    def bonuses_paid(self, session: str, /) -> Decimal | None:
        self._must_know(session)
        return sum((amount for paid, amount in self.bonuses if paid == session), Decimal("0.00"))

    def add_places(self, more: int, /) -> int:
        self.places += check_places(more)
        return self.places

    def count_places(self) -> int:
        return self.places

    def ensure_places(self, places: int, /) -> int:
        self.places = max(self.places, places)
        return self.places

    def submissions(self) -> list[Submission]:
        return [Submission(session, self._people[session], state) for session, state in self._states.items()]

    def _must_know(self, session: str) -> None:
        if session not in self._states:
            raise UsageError(f"the platform {self.name} has no session {session!r}")
