"""What every response carries and every request must satisfy."""

from __future__ import annotations

import time
from collections import defaultdict, deque

from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY = 256 * 1024
"""The largest answer (8 statements, pasted texts, a comment) is far smaller."""
MAX_IMPORT = 4 * 1024 * 1024
"""A .pan file, with its copy of the pyramid; the largest of DUC has a tenth of that."""
TRIES, WINDOW_SECONDS = 8, 60.0
"""How many times a password may be tried, and for how long these tries count."""

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


class Guard:
    """ASGI middleware: security headers on everything, no caching of what is personal, bounded bodies."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

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
        most = MAX_IMPORT if scope["path"].startswith("/api/annotate/") else MAX_BODY
        if not declared.isdigit() or int(declared) > most:
            await _refuse(guarded_send)
        elif b"transfer-encoding" not in sent:
            await self.app(scope, receive, guarded_send)
        elif (body := await _read(receive, most)) is None:
            await _refuse(guarded_send)
        else:
            await self.app(scope, _replay(body, receive), guarded_send)


async def _read(receive: Receive, most: int) -> bytes | None:
    """A body without a declared length, counted as it comes; None where it is too large or never ends."""
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        if message["type"] == "http.disconnect" or len(body) > most:
            return None
        more = message.get("more_body", False)
    return body


def _replay(body: bytes, receive: Receive) -> Receive:
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay


async def _refuse(send: Send) -> None:
    body = b'{"error": "the request is too large", "problems": []}'
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class Throttle:
    """At most a given number of tries per key and time window: slows down password guessing on one process."""

    def __init__(self) -> None:
        self._seen: dict[str, deque[float]] = defaultdict(deque)

    def allows(self, key: str) -> bool:
        now = time.monotonic()
        if len(self._seen) > 10_000:  # an attacker must not fill the memory with keys
            self._seen.clear()
        seen = self._seen[key]
        while seen and seen[0] < now - WINDOW_SECONDS:
            seen.popleft()
        seen.append(now)
        return len(seen) <= TRIES


def safe_path(target: str) -> str:
    """A path on this server to go to after logging in; anything else becomes the overview."""
    ok = target.startswith("/") and not target.startswith(("//", "/\\")) and "\\" not in target and target.isprintable()
    return target if ok else "/manage"
