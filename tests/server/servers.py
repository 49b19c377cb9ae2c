"""Studies and servers for the tests of the web; benchmarks use them too.

`running_server` starts `pyramidion serve`: a process of its own with a process group of its own, so that ending it ends
its children and nothing else. `served_here` runs the same application in a thread of this process; it answers on a real
port, too, and is there at once. Tests use it unless the process itself is what they are about.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

import httpx
import uvicorn

import pyramidion as pyr
from pyramidion.campaigns.checks import CONTENT
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.plan import plan
from pyramidion.campaigns.platforms.local import invite
from pyramidion.server.app import create_app
from pyramidion.server.context import SESSION_COOKIE
from pyramidion.server.serving import configure
from pyramidion.store.accounts import Accounts
from pyramidion.store.database import Database
from pyramidion.study import Settings
from pyramidion.study.tasks import TaskKind

PASSWORD = "correct horse battery"
ACCOUNTS = {"boss": "manager", "erin": "expert", "vera": "viewer"}
STARTS_WITHIN = 60.0  # far more than it needs: only a server that never answers fails
ENDS_WITHIN = 20.0


# -- studies -------------------------------------------------------------------------------------------------


def make_study(place: str | Path, study: pyr.Study | None = None) -> CampaignDesk:
    """A new study database with the bundled example, or another study, and an account for each role."""
    database = Database.create(place, title="A study")
    accounts = Accounts(database)
    for name, role in ACCOUNTS.items():
        accounts.add(name, PASSWORD, role)  # type: ignore[arg-type]
    desk = CampaignDesk(database)
    desk.import_study(study or pyr.example())
    return desk


def only_texts(study: pyr.Study) -> pyr.Study:
    """A study as it is before anybody has written or judged anything."""
    return pyr.Study(topics=study.topics, summaries=study.summaries, aspects=study.aspects)


def start_campaign(
    desk: CampaignDesk,
    study: pyr.Study,
    kind: TaskKind,
    name: str,
    *,
    systems: tuple[str, ...] = (),
    topics: tuple[str, ...] = (),
    **chosen: Any,
) -> None:
    """Plan a campaign and start it."""
    settings = Settings.for_kind(kind, **chosen)
    desk.start(plan(study, kind, name, settings, topics=topics, systems=systems))


def start_many(desk: CampaignDesk, name: str, tasks: int, **chosen: Any) -> None:
    """A judging campaign with so many tasks: the planned ones, over and over under new ids."""
    study = desk.studies.load()
    made = plan(study, "judge", name, Settings.for_kind("judge", **chosen))
    many = tuple(replace(made.tasks[n % len(made.tasks)], id=f"{name}-{n:05}") for n in range(tasks))
    desk.start(replace(made, tasks=many))


# -- servers -------------------------------------------------------------------------------------------------


@dataclass
class Server:
    """A server on this machine; what it printed is in ``output``."""

    url: str
    process: subprocess.Popen[bytes]
    output: IO[bytes] = field(repr=False)

    @property
    def pid(self) -> int:
        return self.process.pid

    def printed(self) -> str:
        self.output.seek(0)
        return self.output.read().decode(errors="replace")

    def kill(self) -> None:
        """kill -9, the children too."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.process.wait()

    def end(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(ENDS_WITHIN)
        except subprocess.TimeoutExpired:
            self.kill()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start_server(place: str | Path, *, processes: int = 1, webhook_secret: str = "", port: int = 0) -> Server:
    """Start `pyramidion serve` and wait until its log-in page answers."""
    port = port or free_port()
    command = [sys.executable, "-m", "pyramidion", "serve", str(place), "--port", str(port)]
    output = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the server
    process = subprocess.Popen(
        [*command, "--processes", str(processes)],
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        env={**os.environ, "PYRAMIDION_PROLIFIC_WEBHOOK_SECRET": webhook_secret, "PROLIFIC_TOKEN": ""},
    )
    server = Server(f"http://127.0.0.1:{port}", process, output)
    try:
        _wait_for(server)
    except BaseException:
        server.kill()
        raise
    return server


def _wait_for(server: Server) -> None:
    until = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < until:
        if server.process.poll() is not None:
            raise RuntimeError(f"the server ended by itself:\n{server.printed()}")
        with suppress(httpx.TransportError):
            if httpx.get(f"{server.url}/login", trust_env=False, timeout=STARTS_WITHIN).status_code == 200:
                return
        time.sleep(0.02)
    raise RuntimeError(f"the server did not answer:\n{server.printed()}")


@contextmanager
def running_server(place: str | Path, *, processes: int = 1, webhook_secret: str = "") -> Iterator[Server]:
    server = start_server(place, processes=processes, webhook_secret=webhook_secret)
    try:
        yield server
    finally:
        server.end()
        server.output.close()


@contextmanager
def two_processes(place: str | Path) -> Iterator[list[Server]]:
    """Two processes on one database: of one server, or two servers where that is refused, on SQLite."""
    with ExitStack() as running:
        if "://" in str(place):
            yield [running.enter_context(running_server(place, processes=2))]
        else:
            yield [running.enter_context(running_server(place)) for _ in range(2)]


class ServerThread(logging.Handler):
    """A server in a thread of this process. Like a process it keeps what it would have printed."""

    def __init__(self, place: str | Path, webhook_secret: str = "", api_token: str = "") -> None:
        super().__init__()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.app = create_app(place, base_url=self.url, webhook_secret=webhook_secret, api_token=api_token)
        self._server = uvicorn.Server(configure(self.app, log_config=None))
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), daemon=True)
        self._lines: list[str] = []

    def start(self) -> None:
        logging.getLogger("uvicorn.error").addHandler(self)
        self._thread.start()

    def end(self) -> None:
        self._server.should_exit = True
        self._thread.join(ENDS_WITHIN)
        logging.getLogger("uvicorn.error").removeHandler(self)
        self.app.state.context.desk.database.close()

    def emit(self, record: logging.LogRecord) -> None:
        if record.thread == self._thread.ident:
            self._lines.append(self.format(record))

    def printed(self) -> str:
        return "\n".join(self._lines)


@contextmanager
def served_here(place: str | Path, *, webhook_secret: str = "") -> Iterator[ServerThread]:
    server = ServerThread(place, webhook_secret)
    server.start()
    try:
        yield server
    finally:
        server.end()


# -- people --------------------------------------------------------------------------------------------------


def browser(url: str, **more: Any) -> httpx.Client:
    """A client with a cookie jar of its own. Nothing goes anywhere but to this machine."""
    # Without certificates to read, a client is made in no time.
    return httpx.Client(base_url=url, verify=False, trust_env=False, timeout=60.0, **more)


class Person:
    """A worker with an invitation, and what the worker page sends for them."""

    def __init__(self, desk: CampaignDesk, url: str, campaign: str, name: str = "") -> None:
        self.campaign = campaign
        self.token = invite(desk.database.secret, campaign, name)
        self.client = browser(url, headers={"X-Requested-With": "pyramidion"})

    def join(self) -> httpx.Response:
        return self.client.get(f"/join/{self.token}")

    def work(self) -> dict[str, Any]:
        response = self.client.get(f"/api/work/{self.campaign}")
        assert response.status_code == 200, response.text
        found: dict[str, Any] = response.json()
        return found

    def agree(self, text: str) -> httpx.Response:
        return self.client.post(f"/api/work/{self.campaign}/consent", json={"text": text})

    def check(self, answers: dict[str, str]) -> dict[str, Any]:
        response = self.client.post(f"/api/work/{self.campaign}/check", json={"answers": answers})
        assert response.status_code == 200, response.text
        found: dict[str, Any] = response.json()
        return found

    def right_answers(self) -> dict[str, str]:
        """The right answers to the questions that are shown to this person now, as somebody finds them who reads."""
        shown = self.work()
        right = {question["id"]: question["right"] for question in CONTENT[shown["kind"]]["questions"]}
        return {
            question["id"]: next(o["value"] for o in question["options"] if o["label"] == right[question["id"]])
            for question in shown["content"]["questions"]
        }

    def first_task(self) -> dict[str, Any]:
        """Join, pass the check where there is one, and ask for a task."""
        self.join()
        found = self.work()
        if found["state"] == "instructions-and-check":
            assert self.check(self.right_answers())["passed"]
            found = self.work()
        assert found["state"] == "task", found
        return found

    def draft(self, assignment: int, draft: dict[str, Any]) -> httpx.Response:
        return self.client.put(f"/api/work/{self.campaign}/{assignment}/draft", json={"draft": draft})

    def submit(self, assignment: int, answer: dict[str, Any], key: str = "a key of mine") -> httpx.Response:
        return self.client.post(f"/api/work/{self.campaign}/{assignment}/submit", json={"key": key, "answer": answer})

    def give_back(self, assignment: int) -> httpx.Response:
        return self.client.post(f"/api/work/{self.campaign}/{assignment}/return", json={})


def answer_to(page: dict[str, Any], value: int = 1) -> dict[str, Any]:
    """A complete answer to any kind of task."""
    if page["kind"] == "write":
        words = page["references"][0].split()
        return {"statements": [" ".join(words[5 * n : 5 * n + 6]) for n in range(page["statements"])]}
    if page["kind"] == "judge":
        return {"units": {unit["id"]: value for unit in page["units"]}}
    if page["kind"] == "rate":
        return {"aspects": {aspect["id"]: 7 for aspect in page["aspects"]}}
    return {"winner": "first"}


def logged_in(desk: CampaignDesk, url: str, name: str = "boss") -> httpx.Client:
    """A client with a session, as after the log-in page, and the header that its pages send."""
    accounts = Accounts(desk.database)
    token = accounts.log_in(name, PASSWORD)
    assert token is not None
    account = accounts.of_session(token)
    assert account is not None
    return browser(url, cookies={SESSION_COOKIE: token}, headers={"X-CSRF-Token": account.csrf})
