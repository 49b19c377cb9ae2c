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


def chat(content: str | None, *, finish: str = "stop", usage: tuple[int, int] | None = None, **message: Any) -> Answer:
    choice = {"message": {"role": "assistant", "content": content, **message}, "finish_reason": finish}
    body: dict[str, Any] = {"choices": [choice]}
    if usage:
        body["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    return Answer(200, json.dumps(body))


def question(body: dict[str, Any]) -> dict[str, Any]:
    """What the model is asked, as an object."""
    asked: dict[str, Any] = json.loads(body["messages"][1]["content"])
    return asked


def judged(body: dict[str, Any]) -> str:
    """Present is what the summary contains word for word."""
    asked = question(body)
    answers = [
        {
            "statement": each["statement"],
            "probability": 0.9 if each["text"] in asked["summary"] else 0.1,
            "evidence": each["text"] if each["text"] in asked["summary"] else "",
        }
        for each in asked["statements"]
    ]
    return json.dumps({"answers": answers})


def written(body: dict[str, Any]) -> str:
    """The sentences of the text are the facts."""
    asked = question(body)
    facts = [f"{part.strip()}." for part in asked["text"].replace("\n", " ").split(". ") if part.strip()]
    held = [{"statement": fact.replace("..", "."), "source": fact.rstrip(".")} for fact in facts[: asked["facts"]]]
    return json.dumps({"statements": held})


def honest(body: dict[str, Any]) -> Answer:
    """Judges, or writes, as it is asked to."""
    return chat(judged(body) if "statements" in question(body) else written(body), usage=(100, 10))


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
                answer = act({"path": self.path, **body})
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
