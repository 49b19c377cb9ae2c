"""A real HTTP server that speaks the OpenAI protocol: what it says is scripted, what it was asked is kept."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import Any, NamedTuple


class Answer(NamedTuple):
    status: int
    body: str
    headers: Mapping[str, str] = MappingProxyType({})


Reply = Callable[[dict[str, Any]], Answer]


def chat(content: str) -> Answer:
    return Answer(200, json.dumps({"choices": [{"message": {"role": "assistant", "content": content}}]}))


def honest(body: dict[str, Any]) -> Answer:
    """Present is what the summary contains word for word."""
    asked = json.loads(body["messages"][1]["content"])
    answers = [
        {
            "statement": each["statement"],
            "probability": 0.9 if each["text"] in asked["summary"] else 0.1,
            "evidence": each["text"] if each["text"] in asked["summary"] else "",
        }
        for each in asked["statements"]
    ]
    return chat(json.dumps({"answers": answers}))


class ChatServer:
    """``script`` answers the first requests, one by one, and ``otherwise`` all that come after."""

    def __init__(self, script: list[Reply] | None = None, *, otherwise: Reply = honest) -> None:
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self._script, self._lock = list(script or []), threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                with outer._lock:
                    outer.asked.append({"path": self.path, **body})
                    outer.headers.append(dict(self.headers))
                    act = outer._script.pop(0) if outer._script else otherwise
                answer = act(body)
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer.body.encode())

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def __enter__(self) -> ChatServer:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
