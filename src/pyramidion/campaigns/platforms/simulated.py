"""Nobody real: workers with settable faults rehearse a campaign from end to end, in process or against a server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any
from urllib.parse import quote

from pyramidion.campaigns.platforms import (
    Amount,
    Arrival,
    PlatformError,
    Submission,
    cents,
    check_id,
    check_study,
    check_web_address,
    load_httpx,
    read_ids,
)
from pyramidion.errors import UsageError

# ----------------------------------------------------------------------
# A platform that keeps its books in memory: everything the port promises, at no cost.


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


# ----------------------------------------------------------------------
# A running server as seen by simulated workers: the calls that the worker pages make.

HEADERS = {"X-Requested-With": "pyramidion", "Accept": "application/json"}
MAX_SHOWN = 300
TIMEOUT_SECONDS = 30.0


class HttpApi:
    """Workers of one campaign, each with the cookie that their invitation gave them.

    ``links`` are the tokens of workers by name; ``check`` the right answers to the comprehension questions, needed
    where the campaign asks them.
    """

    def __init__(
        self,
        base_url: str,
        campaign: str,
        links: Mapping[str, str],
        *,
        check: Mapping[str, Any] | None = None,
    ) -> None:
        httpx = load_httpx("Rehearsing against a server")
        self._httpx = httpx
        self._base = check_web_address("the address of the server", base_url)
        self._campaign = campaign
        self._links = links
        self._check = check
        self._transport = httpx.HTTPTransport()
        self._clients: dict[str, Any] = {}

    def close(self) -> None:
        self._transport.close()

    def __enter__(self) -> HttpApi:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def next_task(self, worker: str, /) -> tuple[int, dict[str, Any]] | None:
        found = self._work(worker)
        if found["state"] == "instructions-and-check":
            self._pass_check(worker)
            found = self._work(worker)
            if found["state"] == "instructions-and-check":
                raise UsageError("the answers given for the comprehension questions are not right")
        return (found["assignment"], found["page"]) if found["state"] == "task" else None

    def submit(self, worker: str, assignment: int, key: str, answer: dict[str, Any], /) -> Any:
        return self._call(worker, "POST", f"/api/assignments/{assignment}/submit", {"key": key, "answer": answer})

    def give_back(self, worker: str, assignment: int, /) -> Any:
        return self._call(worker, "POST", f"/api/assignments/{assignment}/return", {})

    def _work(self, worker: str) -> dict[str, Any]:
        path = f"/api/work/{quote(self._campaign, safe='')}"
        found = self._call(worker, "GET", path)
        if not isinstance(found, dict) or "state" not in found:
            raise PlatformError(f"GET {path} gave no state")
        return found

    def _pass_check(self, worker: str) -> None:
        if self._check is None:
            raise UsageError("the campaign asks comprehension questions; give their right answers, or plan it without")
        path = f"/api/work/{quote(self._campaign, safe='')}/check"
        self._call(worker, "POST", path, {"answers": dict(self._check)})

    def _call(self, worker: str, method: str, path: str, body: Any = None) -> Any:
        client = self._clients.get(worker) or self._join(worker)
        response = self._send(client, method, path, body)
        return response.json() if response.content else None

    def _join(self, worker: str) -> Any:
        """Open the invitation once; the cookie it sets is this worker's from then on."""
        if worker not in self._links:
            raise UsageError(f"worker {worker} has no invitation")
        # One pool of connections for all: a client of its own per worker, with its own certificates, is slow to make.
        client = self._httpx.Client(
            transport=self._transport, base_url=self._base, headers=HEADERS, timeout=TIMEOUT_SECONDS
        )
        self._send(client, "GET", f"/join/{quote(self._links[worker], safe='')}")
        self._clients[worker] = client
        return client

    def _send(self, client: Any, method: str, path: str, body: Any = None) -> Any:
        try:
            response = client.request(method, path, json=body)
        except self._httpx.RequestError as error:
            raise PlatformError(f"{method} {path}: {error or type(error).__name__}") from None
        if response.status_code >= 400:
            said = "".join(c for c in response.text[:MAX_SHOWN] if c.isprintable())
            raise PlatformError(f"{method} {path}: HTTP {response.status_code} {said}", response.status_code)
        return response
