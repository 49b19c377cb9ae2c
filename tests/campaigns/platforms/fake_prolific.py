"""A real HTTP server on this machine that speaks as much of Prolific's API as we use, with its faults on demand."""

from __future__ import annotations

import json
import re
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "secret-token-f00"
STUDY = "study1"
PAGE = 2
MIN_MESSAGE = 100


@dataclass(frozen=True)
class Call:
    method: str
    path: str
    query: str
    body: Any
    authorization: str


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one request: a status, silence, or a closed line - before or after it is carried out."""

    status: int = 0
    hang: bool = False
    after: bool = False
    headers: dict[str, str] = field(default_factory=dict)


class ApiError(Exception):
    def __init__(self, status: int, title: str, detail: Any) -> None:
        super().__init__(title)
        self.status = status
        self.content = {"error": {"status": status, "error_code": 140100, "title": title, "detail": detail}}


class FakeProlific:
    def __init__(self) -> None:
        self.url = ""
        self.studies: list[dict[str, Any]] = []
        self.submissions: dict[str, dict[str, Any]] = {}
        self.bonuses: dict[str, str] = {}
        self.paid: list[str] = []
        self.places = 30
        self.calls: list[Call] = []
        self.faults: deque[Fault | None] = deque()
        self.closing = threading.Event()
        self.link_host = ""

    def add(self, *ids: str, status: str = "AWAITING REVIEW", study: str = STUDY) -> None:
        for id in ids:
            self.submissions[id] = {"id": id, "participant_id": f"p-{id}", "status": status, "study": study}

    # -- what the API does -------------------------------------------------------------------------------

    def answer(self, call: Call) -> tuple[int, Any]:
        if call.authorization != f"Token {TOKEN}":
            raise ApiError(401, "Unauthorized", f"Invalid token: {call.authorization.removeprefix('Token ')}")
        for method, pattern, action in self._routes():
            if method == call.method and (match := re.fullmatch(pattern, call.path)):
                return action(call, *match.groups())
        raise ApiError(404, "Not found", f"{call.method} {call.path}")

    def _routes(self) -> list[tuple[str, str, Callable[..., tuple[int, Any]]]]:
        return [
            ("POST", "/api/v1/studies/", self._create),
            ("GET", "/api/v1/studies/([^/]+)/submissions/", self._list),
            ("GET", "/api/v1/submissions/([^/]+)/", self._get),
            ("POST", "/api/v1/submissions/([^/]+)/transition/", self._transition),
            ("POST", "/api/v1/submissions/([^/]+)/request-return/", self._request_return),
            ("POST", "/api/v1/submissions/bulk-approve/", self._bulk_approve),
            ("GET", "/api/v1/studies/([^/]+)/", self._study),
            ("PATCH", "/api/v1/studies/([^/]+)/", self._study),
            ("POST", "/api/v1/submissions/bonus-payments/", self._prepare),
            ("POST", "/api/v1/bulk-bonus-payments/([^/]+)/pay/", self._pay),
        ]

    def _create(self, call: Call) -> tuple[int, Any]:
        if not call.body["name"]:
            raise ApiError(400, "Bad request", {"name": ["This field may not be blank."]})
        self.studies.append(call.body)
        return 201, {"id": f"draft{len(self.studies)}", "status": "UNPUBLISHED", **call.body}

    def _list(self, call: Call, study: str) -> tuple[int, Any]:
        found = [s for s in self.submissions.values() if s["study"] == study]
        start = int(parse_qs(call.query).get("offset", ["0"])[0])
        more = start + PAGE < len(found)
        link = f"{self.link_host or self.url}{call.path}?limit={PAGE}&offset={start + PAGE}"
        links = {"next": {"href": link if more else None, "title": "Next"}}
        return 200, {"results": found[start : start + PAGE], "_links": links, "meta": {"count": len(found)}}

    def _get(self, _call: Call, id: str) -> tuple[int, Any]:
        return 200, self._known(id)

    def _transition(self, call: Call, id: str) -> tuple[int, Any]:
        submission, action = self._known(id), call.body["action"]
        if submission["status"] not in {"AWAITING REVIEW", "TIMED-OUT"}:
            raise ApiError(400, "Bad transition", f"cannot {action} a submission that is {submission['status']}")
        if action == "REJECT" and len(call.body["message"]) < MIN_MESSAGE:
            raise ApiError(400, "Bad request", {"message": ["Ensure this field has at least 100 characters."]})
        submission["status"] = {"APPROVE": "APPROVED", "REJECT": "REJECTED"}[action]
        return 200, submission

    def _request_return(self, _call: Call, id: str) -> tuple[int, Any]:
        return 200, self._known(id)

    def _bulk_approve(self, call: Call) -> tuple[int, Any]:
        for id in call.body["submission_ids"]:
            if self._known(id)["status"] not in {"AWAITING REVIEW", "APPROVED"}:
                raise ApiError(400, "Bad request", f"{id} is {self._known(id)['status']}")
        for id in call.body["submission_ids"]:
            self._known(id)["status"] = "APPROVED"
        return 200, "in progress"

    def _study(self, call: Call, id: str) -> tuple[int, Any]:
        self.places = (call.body or {}).get("total_available_places", self.places)
        return 200, {"id": id, "total_available_places": self.places}

    def _prepare(self, call: Call) -> tuple[int, Any]:
        for line in call.body["csv_bonuses"].splitlines():
            self._known(line.split(",")[0])
        id = f"bulk{len(self.bonuses) + 1}"
        self.bonuses[id] = call.body["csv_bonuses"]
        return 201, {"id": id, "study": call.body["study_id"]}

    def _pay(self, _call: Call, id: str) -> tuple[int, Any]:
        if id not in self.bonuses:
            raise ApiError(404, "Not found", f"no bonus payment {id}")
        self.paid.append(self.bonuses[id])
        for line in self.bonuses[id].splitlines():
            session, amount = line.split(",")
            self.submissions[session].setdefault("bonus_payments", []).append(float(amount) * 100)
        return 202, None

    def _known(self, id: str) -> dict[str, Any]:
        if id not in self.submissions:
            raise ApiError(404, "Not found", f"no submission {id}")
        return self.submissions[id]


def _handler(fake: FakeProlific) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # headers and body in one packet, or each request waits for an acknowledgement

        def do_GET(self) -> None:
            self._serve()

        def do_POST(self) -> None:
            self._serve()

        def do_PATCH(self) -> None:
            self._serve()

        def _serve(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            parts = urlsplit(self.path)
            body = json.loads(raw) if raw else None
            call = Call(self.command, parts.path, parts.query, body, self.headers.get("Authorization") or "")
            fake.calls.append(call)
            fault = fake.faults.popleft() if fake.faults else None
            if fault is None or fault.after:
                status, content = self._carry_out(call)
            if fault is None:
                self._reply(status, content, {})
            elif fault.status:
                self._reply(fault.status, {"error": {"title": "Try later"}}, fault.headers)
            else:
                if fault.hang:
                    fake.closing.wait(10)
                self.close_connection = True

        def _carry_out(self, call: Call) -> tuple[int, Any]:
            try:
                return fake.answer(call)
            except ApiError as error:
                return error.status, error.content

        def _reply(self, status: int, content: Any, headers: dict[str, str]) -> None:
            raw = b"" if content is None else json.dumps(content).encode()
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(raw))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_args: object) -> None: ...

    return Handler


@contextmanager
def fake_prolific() -> Iterator[FakeProlific]:
    fake = FakeProlific()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(fake))
    server.daemon_threads = True
    fake.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield fake
    finally:
        fake.closing.set()
        server.shutdown()
        thread.join()
        server.server_close()
