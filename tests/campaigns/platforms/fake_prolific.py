"""A real HTTP server on this machine that speaks as much of Prolific's API as we use, with its faults on demand.

Whatever is asked and answered is checked against Prolific's published interface, where that is at hand.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from tests.campaigns.platforms import interface
from tests.campaigns.platforms.fake_rules import STUDY, TOKEN, ApiError, Call, Reply, Rules, error_detail

__all__ = ["STUDY", "TOKEN", "ApiError", "Call", "FakeProlific", "Fault", "fake_prolific"]


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one request: a status, silence, or a closed line - before or after it is carried out."""

    status: int = 0
    hang: bool = False
    after: bool = False
    headers: dict[str, str] = field(default_factory=dict)


class FakeProlific(Rules):
    def __init__(self) -> None:
        super().__init__()
        self.url = ""
        self.calls: list[Call] = []
        self.exchanges: list[interface.Exchange] = []
        self.faults: deque[Fault | None] = deque()
        self.closing = threading.Event()

    @property
    def keys_url(self) -> str:
        return f"{self.url}/.well-known/study/jwks.json"

    def check_exchanges(self) -> None:
        """Fail where something was asked or answered that Prolific's interface does not have."""
        if interface.FOLDER.is_dir():
            wrong = [problem for exchange in self.exchanges for problem in interface.problems(exchange)]
            assert not wrong, "\n".join(wrong)


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
            exchange = interface.Exchange(call.method, call.path, call.query, call.body, call.authorization)
            fake.calls.append(call)
            fault = fake.faults.popleft() if fake.faults else None
            reply = self._carry_out(call) if fault is None or fault.after else None
            if fault is not None:
                reply = Reply(fault.status, {"error": error_detail(fault.status, "Try later", "")}, fault.headers)
            assert reply is not None
            if reply.status:
                fake.exchanges.append(replace(exchange, status=reply.status, answer=reply.content))
                self._reply(reply)
            else:
                fake.exchanges.append(exchange)
                if fault is not None and fault.hang:
                    fake.closing.wait(10)
                self.close_connection = True

        def _carry_out(self, call: Call) -> Reply:
            try:
                return fake.answer(call)
            except ApiError as error:
                return Reply(error.status, error.content)

        def _reply(self, reply: Reply) -> None:
            raw = json.dumps(reply.content).encode()
            self.send_response(reply.status)
            for name, value in {**reply.headers, "Content-Length": str(len(raw))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_args: object) -> None: ...

    return Handler


@contextmanager
def fake_prolific(*, checked: bool = True) -> Iterator[FakeProlific]:
    """``checked=False`` is for those who ask for what Prolific does not have, to see it refused."""
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
    if checked:
        fake.check_exchanges()
