"""A study server in miniature: exactly k workers a task in memory, and the worker's side of it over real HTTP."""

from __future__ import annotations

import json
import re
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from pyramidion.campaigns.tasks import check_answer

CAMPAIGN = "judge 1"


@dataclass
class Held:
    worker: str
    task: int
    state: str = "leased"
    key: str = ""
    answer: dict[str, Any] = field(default_factory=dict)


class Memory:
    """Speaks the Api protocol directly."""

    def __init__(self, pages: list[dict[str, Any]], wanted: int) -> None:
        self.pages, self.wanted = pages, wanted
        self.held: list[Held] = []
        self.replays = 0

    def next_task(self, worker: str, /) -> tuple[int, dict[str, Any]] | None:
        for id, held in enumerate(self.held):
            if held.worker == worker and held.state == "leased":
                return id, self.pages[held.task]
        mine = {held.task for held in self.held if held.worker == worker}
        for task, page in enumerate(self.pages):
            if task not in mine and len(self.of(task)) < self.wanted:
                self.held.append(Held(worker, task))
                return len(self.held) - 1, page
        return None

    def of(self, task: int, *states: str) -> list[Held]:
        return [h for h in self.held if h.task == task and h.state in (states or ("leased", "submitted"))]

    def submit(self, worker: str, assignment: int, key: str, answer: dict[str, Any], /) -> None:
        held = self.held[assignment]
        assert held.worker == worker
        assert 8 <= len(key) <= 100
        clean = check_answer(self.pages[held.task], answer)
        if held.state == "submitted":
            assert (held.key, held.answer) == (key, clean)
            self.replays += 1
        held.state, held.key, held.answer = "submitted", key, clean

    def give_back(self, worker: str, assignment: int, /) -> None:
        assert self.held[assignment].worker == worker
        self.held[assignment].state = "returned"


class StudyServer:
    """``memory`` behind HTTP; ``right`` are the answers to the comprehension questions, None: none are asked."""

    def __init__(self, memory: Memory, links: dict[str, str], right: dict[str, Any] | None) -> None:
        self.memory, self.right, self.url = memory, right, ""
        self.people = {token: worker for worker, token in links.items()}
        self.cookies: dict[str, str] = {}
        self.passed: set[str] = set()
        self.state = ""
        self.requests: list[tuple[str, str]] = []

    def handle(self, method: str, path: str, cookie: str, body: Any) -> tuple[int, Any, str]:
        """Status, content, and a cookie to set."""
        if match := re.fullmatch(r"/join/(.+)", path):
            if match[1] not in self.people:
                return 403, {"error": "this link is not valid"}, ""
            made = secrets.token_hex(8)
            self.cookies[made] = self.people[match[1]]
            return 303, None, made
        if cookie not in self.cookies:
            return 401, {"error": "open your link"}, ""
        return *self._work(method, path, self.cookies[cookie], body), ""

    def _work(self, method: str, path: str, worker: str, body: Any) -> tuple[int, Any]:
        if path == "/api/work/judge%201" and method == "GET":
            return 200, self._state(worker)
        if path == "/api/work/judge%201/check" and method == "POST":
            if body["answers"] == self.right:
                self.passed.add(worker)
            return 200, {"passed": worker in self.passed}
        match = re.fullmatch(r"/api/assignments/(\d+)/(submit|return)", path)
        if match is None or method != "POST":
            return 404, {"error": "not found"}
        if match[2] == "submit":
            self.memory.submit(worker, int(match[1]), body["key"], body["answer"])
        else:
            self.memory.give_back(worker, int(match[1]))
        return 200, {"counted": True}

    def _state(self, worker: str) -> dict[str, Any]:
        if self.state:
            return {"state": self.state}
        if self.right is not None and worker not in self.passed:
            return {"state": "instructions-and-check", "questions": []}
        found = self.memory.next_task(worker)
        if found is None:
            return {"state": "done", "completion": None}
        return {"state": "task", "assignment": found[0], "page": found[1], "progress": {}}


def _handler(server: StudyServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # headers and body in one packet, or each request waits for an acknowledgement

        def do_GET(self) -> None:
            self._serve()

        def do_POST(self) -> None:
            self._serve()

        def _serve(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            server.requests.append((self.command, self.headers.get("X-Requested-With") or ""))
            sent = SimpleCookie(self.headers.get("Cookie") or "").get("worker")
            status, content, cookie = server.handle(
                self.command, self.path, sent.value if sent else "", json.loads(raw) if raw else None
            )
            reply = b"" if content is None else json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(reply)))
            if cookie:
                self.send_header("Set-Cookie", f"worker={cookie}; HttpOnly; SameSite=Lax; Path=/")
                self.send_header("Location", "/work/judge%201")
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *_args: object) -> None: ...

    return Handler


@contextmanager
def study_server(memory: Memory, links: dict[str, str], right: dict[str, Any] | None = None) -> Iterator[StudyServer]:
    study = StudyServer(memory, links, right)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(study))
    server.daemon_threads = True
    study.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield study
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
