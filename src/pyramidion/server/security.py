"""What every response carries and every request must satisfy."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Literal

from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY = 256 * 1024
"""The largest answer (8 statements, pasted texts, a comment) is far smaller."""
MAX_IMPORT = 4 * 1024 * 1024
"""A .pan file, with its copy of the pyramid; the largest of DUC has a tenth of that."""
MAX_WEBHOOK, MAX_FORM = 64 * 1024, 32 * 1024
"""What anybody may send: a platform's message, which is signed, and the log-in form."""
UPLOADS = "/api/manage/uploads"
"""Files that managers send: handed on as they come, and counted by whoever writes them down."""
BODY_SECONDS = 60.0
"""From the head of a request to the end of its body."""

CSP = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "font-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)
HEADERS = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",  # invitation links must not leak to anyone
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
RAW_HEADERS = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
NOT_STORED, REVALIDATED = (b"cache-control", b"no-store"), (b"cache-control", b"no-cache")
OURS = {name for name, _ in [*RAW_HEADERS, NOT_STORED]}

Sender = Literal["staff", "worker", "stranger"]
"""Who a request comes from, as far as signatures tell; whether a session still holds is for its handler to say."""


class Guard:
    """ASGI middleware: security headers on everything, no caching of what is personal, bounded bodies.

    Whether a body is read is decided by the head of the request alone: a stranger's is refused unread.
    """

    def __init__(self, app: ASGIApp, recognise: Callable[[Mapping[str, str]], Sender]) -> None:
        self.app = app
        self._recognise = recognise

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        static = scope["path"].startswith("/static/")

        async def guarded_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                kept = [header for header in message["headers"] if header[0] not in OURS]
                message["headers"] = [*kept, *RAW_HEADERS, REVALIDATED if static else NOT_STORED]
            await send(message)

        sent = dict(scope["headers"])
        declared = sent.get(b"content-length", b"0")
        if declared.strip(b"0") == b"" and b"transfer-encoding" not in sent:
            await self.app(scope, receive, guarded_send)
            return
        most = self._most(scope)
        if most and scope["path"] == UPLOADS:
            await self.app(scope, receive, guarded_send)
        elif not most:
            await _refuse(guarded_send, 401, "log in, or open your personal invitation link first")
        elif not declared.isdigit() or int(declared) > most:
            await _refuse(guarded_send, 413, "the request is too large")
        else:
            await self._with_body(scope, receive, guarded_send, most)

    def _most(self, scope: Scope) -> int:
        """The largest body that is read, in bytes; 0 if none is."""
        path = scope["path"]
        if path == "/login":
            return MAX_FORM
        if path.startswith("/webhooks/"):
            return MAX_WEBHOOK
        cookies = [value for name, value in scope["headers"] if name == b"cookie"]
        sender = self._recognise(cookie_parser(b"; ".join(cookies).decode("latin-1")))
        if sender == "staff":
            return MAX_IMPORT if path.startswith("/api/annotate/") else MAX_BODY
        return MAX_BODY if sender == "worker" else 0

    async def _with_body(self, scope: Scope, receive: Receive, send: Send, most: int) -> None:
        try:
            async with asyncio.timeout(BODY_SECONDS):
                body = await _read(receive, most)
        except TimeoutError:
            await _refuse(send, 408, "the request took too long to arrive", close=True)
        except _GoneError:
            return
        else:
            if body is None:
                await _refuse(send, 413, "the request is too large")
            else:
                await self.app(scope, _replay(body, receive), send)


class _GoneError(Exception):
    """The client has left."""


async def _read(receive: Receive, most: int) -> bytes | None:
    """A whole body, counted as it comes, for its declared length may be missing; None where it is too large."""
    parts, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _GoneError
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            return None
        more = message.get("more_body", False)
    return b"".join(parts)


def _replay(body: bytes, receive: Receive) -> Receive:
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay


async def _refuse(send: Send, status: int, why: str, *, close: bool = False) -> None:
    body = json.dumps({"error": why, "problems": []}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if close:
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def safe_path(target: str) -> str:
    """A path on this server to go to after logging in; anything else becomes the overview."""
    ok = target.startswith("/") and not target.startswith(("//", "/\\")) and "\\" not in target and target.isprintable()
    return target if ok else "/manage"
