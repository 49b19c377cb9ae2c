"""`pyramidion serve` as a process: how it starts, ends and restarts, and what its exit codes say."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from sqlalchemy import insert, select
from tests.databases import Postgres
from tests.server.processes import children_of, clients_of, is_running, open_files
from tests.server.servers import Server, free_port, logged_in, make_study, served_here, start_many, start_server
from tests.waiting import PATIENCE, until

from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.server.reader import FEW_ANSWERS
from pyramidion.store import schema

pytestmark = [pytest.mark.server, pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")]


@pytest.fixture
def study(tmp_path: Path) -> Path:
    place = tmp_path / "study.db"
    make_study(place).database.close()
    return place


@pytest.fixture
def shared_study(postgres_server: Postgres) -> str:
    """A study that several processes may serve."""
    place = postgres_server.new_database()
    make_study(place).database.close()
    return place


@contextmanager
def started(place: str | Path, processes: int, port: int = 0) -> Iterator[Server]:
    server = start_server(place, processes=processes, port=port)
    try:
        yield server
    finally:
        server.kill()


def run_serve(*arguments: str, env: dict[str, str] | None = None) -> tuple[int, str]:
    """Run the command until it ends by itself."""
    done = subprocess.run(
        [sys.executable, "-m", "pyramidion", "serve", *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={**os.environ, **(env or {})},
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


# -- exit codes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0), (signal.SIGHUP, 0)])
def test_stopping_is_orderly_and_says_how_it_came(
    study: Path, shared_study: str, processes: int, number: int, code: int
) -> None:
    with started(study if processes == 1 else shared_study, processes) as server:
        until(lambda: len(children_of(server.pid)) == (0 if processes == 1 else processes))
        children = children_of(server.pid)
        server.process.send_signal(number)
        assert server.process.wait(PATIENCE) == code, server.printed()
        assert "Traceback" not in server.printed()
        assert not any(map(is_running, children))


def test_ctrl_c_reaches_all_processes_at_once(shared_study: str) -> None:
    with started(shared_study, 2) as server:
        os.killpg(server.pid, signal.SIGINT)  # as a terminal does
        assert server.process.wait(PATIENCE) == 130
        assert "Traceback" not in server.printed(), server.printed()


@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_port_in_use_is_a_wrong_command(shared_study: str, processes: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        code, said = run_serve(shared_study, "--port", port, "--processes", processes)
    assert code == 2
    assert f"port {port} is in use" in said
    assert "Traceback" not in said


def test_an_address_of_another_machine_is_a_wrong_command(study: Path) -> None:
    code, said = run_serve(str(study), "--host", "192.0.2.1", "--port", "0")
    assert code == 2
    assert "cannot listen on 192.0.2.1" in said


def test_a_bad_database_is_a_wrong_command(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("not a database, but long enough to be looked at" * 50)
    (tmp_path / "empty.db").touch()
    for name in ("missing.db", "text.db", "empty.db"):
        code, said = run_serve(str(tmp_path / name), "--port", "0")
        assert (code, name in said, "Traceback" in said) == (2, True, False), said


def test_several_processes_on_sqlite_are_a_wrong_command(study: Path) -> None:
    code, said = run_serve(str(study), "--port", "0", "--processes", "2")
    assert (code, "PostgreSQL" in said, "Traceback" in said) == (2, True, False), said


def test_processes_that_cannot_start_end_the_server(shared_study: str, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nif '--multiprocessing-fork' in sys.orig_argv:\n    raise SystemExit(7)\n"
    )
    code, said = run_serve(shared_study, "--port", "0", "--processes", "2", env={"PYTHONPATH": str(tmp_path)})
    assert code == 4, said
    assert "ended by itself" in said


# -- kill -9 -------------------------------------------------------------------------------------------------


def is_up(url: str) -> bool:
    with suppress(httpx.TransportError):
        return bool(httpx.get(f"{url}/healthz", trust_env=False).json() == {"status": "up"})
    return False


def test_children_end_with_their_parent_and_a_restart_works_at_once(shared_study: str) -> None:
    port = free_port()
    with started(shared_study, 2, port) as server:
        until(lambda: len(children_of(server.pid)) == 2)
        children = children_of(server.pid)
        os.kill(server.pid, signal.SIGKILL)  # the parent alone
        server.process.wait()
        with started(shared_study, 2, port) as again:
            until(lambda: not any(map(is_running, children)))
            assert is_up(again.url)


def test_a_process_that_dies_is_replaced(shared_study: str) -> None:
    with started(shared_study, 2) as server:
        before = children_of(server.pid)
        assert len(before) == 2
        os.kill(victim := min(before), signal.SIGKILL)
        until(lambda: len(children_of(server.pid) - before) == 1 and victim not in children_of(server.pid))
        for _ in range(10):
            assert httpx.get(f"{server.url}/readyz", trust_env=False, timeout=PATIENCE).status_code == 200
        assert f"server process {victim} ended by itself" in server.printed()
        assert server.process.poll() is None


# -- who gets which connection -------------------------------------------------------------------------------


class People:
    """People who are connected and stay so."""

    def __init__(self, server: Server) -> None:
        self._server, self._port = server, urlsplit(server.url).port or 0
        self.sockets: list[socket.socket] = []

    def come(self, count: int) -> None:
        """One after the other."""
        for _ in range(count):
            one = socket.create_connection(("127.0.0.1", self._port), timeout=PATIENCE)
            self.sockets.append(one)
            self.ask(one)

    def ask(self, one: socket.socket) -> None:
        one.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert one.recv(4096).startswith(b"HTTP/1.1 200")

    def leave(self, ports: set[int]) -> None:
        for one in [one for one in self.sockets if one.getsockname()[1] in ports]:
            one.close()
            self.sockets.remove(one)

    def by_process(self) -> dict[int, set[int]]:
        clients = clients_of(self._server.pid, self._port)
        del clients[self._server.pid]  # it serves nobody, and may just be letting go of the last one
        return clients

    def counts(self) -> list[int]:
        return sorted(map(len, self.by_process().values()))

    def end(self) -> None:
        for one in self.sockets:
            one.close()


def test_every_process_has_the_same_number_of_connections(shared_study: str) -> None:
    with started(shared_study, 3) as server:
        people = People(server)
        people.come(30)
        assert people.counts() == [10, 10, 10]
        lucky, *others = people.by_process().items()
        people.leave({*sorted(lucky[1])[:8], *sorted(others[0][1])[:1]})  # one process has eight fewer, another one
        until(lambda: people.counts() == [2, 9, 10])
        people.come(9)
        assert people.counts() == [10, 10, 10], "whoever comes is given to the process that has the fewest"
        people.end()


def test_a_process_that_was_replaced_gets_its_share(shared_study: str) -> None:
    with started(shared_study, 2) as server:
        people = People(server)
        people.come(8)
        victim, clients = next(iter(people.by_process().items()))
        os.kill(victim, signal.SIGKILL)
        until(lambda: people.counts() == [0, 4])
        people.leave(clients)
        until(lambda: people.come(1) or people.counts()[0] > 0)  # until it is ready, the other one gets everybody
        fewest, most = people.counts()
        people.come(most - fewest)
        assert people.counts() == [most, most]
        people.end()


# -- the process that reads for managers ---------------------------------------------------------------------


def fill(desk: CampaignDesk, campaign: str) -> None:
    """A campaign with more answers than are read in the server itself."""
    start_many(desk, campaign, FEW_ANSWERS // 2 + 1, workers=2, check=False)
    people = [desk.workers.join("local", f"person {number}").id for number in range(2)]
    with desk.database.write() as connection:
        tasks = connection.execute(select(schema.tasks.c.id, schema.tasks.c.body)).all()
        rows = [
            {"task_id": task.id, "worker_id": person, "state": "submitted", "leased": 1e9, "expires": 2e9,
             "submitted": 1e9 + 60 + task.id, "key": "k", "answer": {"units": dict.fromkeys(task.body["units"], place)}}
            for task in tasks for place, person in enumerate(people)
        ]  # fmt: skip
        connection.execute(insert(schema.assignments), rows)


def test_downloads_that_nobody_waits_for_are_not_kept_open(tmp_path: Path) -> None:
    desk = make_study(tmp_path / "study.db")
    fill(desk, "past")
    with started(tmp_path / "study.db", 1) as server:
        manager = logged_in(desk, server.url)
        wanted = manager.build_request("GET", "/manage/campaigns/past/export.jsonl")
        head = "".join(f"{name}: {value}\r\n" for name, value in wanted.headers.items())
        place = urlsplit(server.url)
        for _ in range(5):
            with socket.create_connection((str(place.hostname), int(place.port or 0))) as leaving:
                leaving.sendall(f"GET {wanted.url.path} HTTP/1.1\r\n{head}\r\n".encode())
        assert manager.send(wanted).status_code == 200
        until(lambda: not downloads_of(server.pid))
    desk.database.close()


def downloads_of(pid: int) -> list[str]:
    """The files that a server has written for downloads and still has open."""
    return [name for name in open_files(pid) if "pyramidion-" in name]


def test_large_campaigns_are_read_in_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = make_study(tmp_path / "study.db")
    fill(desk, "past")
    (folder := tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    paths = [
        *(f"/api/manage/campaigns/past{what}" for what in ("", "/answers", "/answers?worker=w1")),
        *(f"/manage/campaigns/past/export.{kind}" for kind in ("csv", "jsonl")),
        "/api/manage/scores",
    ]
    with started(tmp_path / "study.db", 1) as server:
        manager = logged_in(desk, server.url)
        replies = {path: manager.get(path) for path in paths}
        (reader,) = children_of(server.pid)
        assert os.getpriority(os.PRIO_PROCESS, reader) > os.getpriority(os.PRIO_PROCESS, server.pid), "workers first"
        os.kill(reader, signal.SIGKILL)  # as a system short of memory does
        assert manager.get(paths[0]).content == replies[paths[0]].content
        refused = manager.get("/api/manage/scores?method=nonsense")
        assert (refused.status_code, "nonsense" in refused.json()["error"]) == (409, True), refused.text
        (another,) = children_of(server.pid)
        os.kill(server.pid, signal.SIGKILL)
        server.process.wait()
        until(lambda: not is_running(another))
    monkeypatch.setattr("pyramidion.server.reader.FEW_ANSWERS", 10**9)  # the same in a thread
    with served_here(tmp_path / "study.db") as here:
        manager = logged_in(desk, here.url)
        for path, reply in replies.items():
            assert reply.status_code == 200, reply.text
            assert manager.get(path).content == reply.content, path
    assert not list(folder.iterdir()), "downloads leave nothing behind"
    desk.database.close()
