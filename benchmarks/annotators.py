"""Annotators at work against a real server, in a closed loop: each sends the next request when the last is answered.

One asyncio process plays all of them, each with a keep-alive connection and a bare HTTP/1.1 client of its own: a client
library would cost more than the server. One task is three requests: ask for it, save a draft, submit. Of the tasks 20%
are abandoned: half are given back, and half of the people with the others come late with their answer; a newcomer takes
the seat of whoever vanishes. 10% of the answers are sent twice.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import urlsplit

from tests.server.servers import answer_to

GIVES_BACK, VANISHES, COMES_LATE, SENDS_TWICE = 0.1, 0.1, 0.5, 0.1
LOOKS_AGAIN = 1.0  # seconds until somebody who found nothing to do asks again
HEADERS = "Host: 127.0.0.1\r\nX-Requested-With: pyramidion\r\nContent-Type: application/json\r\n"
STATUS, LENGTH = slice(9, 12), re.compile(rb"\ncontent-length: (\d+)", re.IGNORECASE)
COOKIE = re.compile(rb"\nset-cookie: ([^;]+)", re.IGNORECASE)
CLOSES = re.compile(rb"\nconnection: close", re.IGNORECASE)


@dataclass
class Load:
    """What happened: when each request was sent and how long its reply took, and what people hold receipts for."""

    sent: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    deeds: Counter[str] = field(default_factory=Counter)
    ports: Counter[int] = field(default_factory=Counter)
    """Replies by the port of the client, which tells the connections apart."""
    receipts: dict[int, bool] = field(default_factory=dict)


class Client(asyncio.Protocol):
    """Somebody with a cookie, who sends one request at a time, and connects again where the server has closed."""

    def __init__(self, load: Load, host: str, port: int, cookie: str = "") -> None:
        self._load, self._host, self._port = load, host, port
        self.cookie = cookie
        self._buffer = b""
        self._reply: asyncio.Future[bytes] | None = None
        self._transport: asyncio.Transport | None = None
        self._lost = asyncio.Event()

    async def _connect(self) -> asyncio.Transport:
        if self._transport is None:
            self._lost.clear()
            await asyncio.get_running_loop().create_connection(lambda: self, self._host, self._port)
        assert self._transport is not None
        return self._transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._own_port = transport.get_extra_info("sockname")[1]

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n") + 4
        if end < 4:
            return
        length = LENGTH.search(self._buffer, 0, end)
        if len(self._buffer) >= end + (int(length[1]) if length else 0):
            reply, self._buffer = self._buffer, b""
            self._settle(reply)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._lost.set()
        if self._reply is not None and not self._reply.done():
            self._reply.set_exception(exc or ConnectionResetError("the server closed the connection"))

    def _settle(self, reply: bytes) -> None:
        assert self._reply is not None, "a reply that nobody asked for"
        if not self._reply.done():
            self._reply.set_result(reply)

    async def send(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        content = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\n{HEADERS}Cookie: {self.cookie}\r\nContent-Length: {len(content)}\r\n\r\n"
        begun = time.perf_counter()
        transport = await self._connect()
        self._reply = asyncio.get_running_loop().create_future()
        transport.write(head.encode() + content)
        reply = await self._reply
        self._load.sent.append(begun)
        self._load.seconds.append(time.perf_counter() - begun)
        self._load.statuses[int(reply[STATUS])] += 1
        self._load.ports[self._own_port] += 1
        head_of_reply, _, text = reply.partition(b"\r\n\r\n")
        if CLOSES.search(head_of_reply):
            await self._lost.wait()
        if cookie := COOKIE.search(head_of_reply):
            self.cookie = cookie[1].decode()
        found: dict[str, Any] = json.loads(text) if text.startswith(b"{") else {}
        return found

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


class Annotators:
    """``invite`` makes a personal link's path for a name; ``think`` is the mean pause before each request."""

    def __init__(
        self, url: str, campaign: str, invite: Callable[[str], str], *, think: float, lease_seconds: float
    ) -> None:
        self._url, self._campaign, self._invite = urlsplit(url), campaign, invite
        self._think, self._lease_seconds = think, lease_seconds
        self._numbers = itertools.count(1)
        self._over = asyncio.Event()
        self._late: list[asyncio.Task[None]] = []
        self.load = Load()

    async def work(self, count: int, until: Callable[[], bool], *, give_up: float) -> Load:
        """Work on until there is no reason to; whoever is late by then still comes."""
        seats = [asyncio.create_task(self._seat(random.Random(seed))) for seed in range(count)]
        watching = asyncio.create_task(self._watch(until))
        async with asyncio.timeout(give_up):
            await asyncio.gather(watching, *seats)
            await asyncio.gather(*self._late)
        return self.load

    async def _watch(self, until: Callable[[], bool]) -> None:
        while not await asyncio.to_thread(until):
            await asyncio.sleep(0.5)
        self._over.set()

    async def _seat(self, rng: random.Random) -> None:
        """One person after the other."""
        while not self._over.is_set():
            person = await self._newcomer()
            while not self._over.is_set():
                await self._pause(rng)
                task = await person.send("GET", f"/api/work/{self._campaign}")
                if task.get("state") != "task":
                    await asyncio.sleep(LOOKS_AGAIN)
                elif not await self._does(person, task, rng):
                    break
            person.close()

    def _person(self, cookie: str = "") -> Client:
        return Client(self.load, self._url.hostname or "", self._url.port or 80, cookie)

    async def _newcomer(self) -> Client:
        person = self._person()
        await person.send("GET", self._invite(f"person {next(self._numbers)}"))
        return person

    async def _pause(self, rng: random.Random) -> None:
        if self._think:
            await asyncio.sleep(rng.expovariate(1 / self._think))

    async def _does(self, person: Client, task: dict[str, Any], rng: random.Random) -> bool:
        """What somebody makes of a task; False if they are gone."""
        id, answer = task["assignment"], answer_to(task["page"], rng.randrange(2))
        await self._pause(rng)
        await person.send("PUT", f"/api/work/{self._campaign}/{id}/draft", {"draft": answer})
        await self._pause(rng)
        fate = rng.random()
        if fate < GIVES_BACK:
            self.load.deeds["given back"] += 1
            await person.send("POST", f"/api/work/{self._campaign}/{id}/return", {})
        elif fate < GIVES_BACK + VANISHES:
            self.load.deeds["vanished"] += 1
            if rng.random() < COMES_LATE:
                self._late.append(asyncio.create_task(self._come_late(person.cookie, id, answer)))
            return False
        else:
            await self._submit(person, id, answer)
            if rng.random() < SENDS_TWICE:
                self.load.deeds["sent twice"] += 1
                await self._submit(person, id, answer)
        return True

    async def _come_late(self, cookie: str, id: int, answer: dict[str, Any]) -> None:
        await asyncio.sleep(self._lease_seconds + 1)
        person = self._person(cookie)
        self.load.deeds["came late"] += 1
        await self._submit(person, id, answer)
        person.close()

    async def _submit(self, person: Client, id: int, answer: dict[str, Any]) -> None:
        receipt = await person.send(
            "POST", f"/api/work/{self._campaign}/{id}/submit", {"key": f"key of {id}", "answer": answer}
        )
        assert self.load.receipts.setdefault(id, receipt["counted"]) == receipt["counted"], "a replay changes nothing"
