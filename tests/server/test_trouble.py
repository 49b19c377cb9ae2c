"""A server whose disk or database fails: everybody is told so, nothing acknowledged is lost, and it goes on afterwards.

Each trouble is a real one: a full and a read-only file system where this machine lets us mount one, a limit on the size
of files, a lock, a file that was moved away, a PostgreSQL that lets nobody in.
"""

from __future__ import annotations

import resource
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from tests.databases import Postgres
from tests.server.servers import Person, answer_to, logged_in, make_study, running_server, served_here, start_campaign

import pyramidion as pyr
from pyramidion.campaigns.desk import CampaignDesk

pytestmark = pytest.mark.server

KEY = "a key of mine"


class Work:
    """A worker with a task, and what happens to their answer."""

    def __init__(self, desk: CampaignDesk, url: str) -> None:
        self.desk, self.url = desk, url
        self.person = Person(desk, url, "work")
        self.task = self.person.first_task()

    def submit(self) -> httpx.Response:
        return self.person.submit(self.task["assignment"], answer_to(self.task["page"]), KEY)

    def check_refused(self, *reasons: str) -> None:
        """The worker, the monitor and the manager are told what is wrong."""
        said = self.submit()
        assert said.status_code == 503, said.text
        assert said.json()["reason"] in reasons, said.text
        assert said.json()["error"].startswith("the server has a problem: ")
        assert int(said.headers["retry-after"]) > 0
        ready = self.not_ready()
        assert {trouble["reason"] for trouble in ready["troubles"]} <= {*reasons, "disk-space"}, ready
        assert httpx.get(f"{self.url}/healthz", trust_env=False).json() == {"status": "up"}, "the process is fine"

    def not_ready(self) -> dict[str, Any]:
        """What /readyz says, at the latest when what it knew is no longer fresh."""
        while True:
            reply = httpx.get(f"{self.url}/readyz", trust_env=False, timeout=60)
            if reply.status_code == 503:
                found: dict[str, Any] = reply.json()
                return found

    def check_recovered(self) -> None:
        """The page sends the same answer again until it is accepted; it is there once."""
        accepted = self.submit()
        assert accepted.status_code == 200, accepted.text
        assert accepted.json() == {"counted": True, "replayed": False}, "the tries before left nothing"
        assert self.submit().json()["replayed"]
        answers = [answer for answer in self.desk.campaigns.answers("work") if answer.state == "submitted"]
        assert len(answers) == 1
        while (reply := httpx.get(f"{self.url}/readyz", trust_env=False, timeout=60)).status_code == 503:
            only_space = {trouble["reason"] for trouble in reply.json()["troubles"]} == {"disk-space"}
            if only_space:
                break  # a small disk is never ready in this respect


def prepare(place: str | Path, example: pyr.Study) -> CampaignDesk:
    desk = make_study(place, example)
    start_campaign(desk, desk.studies.load(), "judge", "work", systems=("lead",), check=False)
    return desk


# -- disks ---------------------------------------------------------------------------------------------------


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Callable[[str], None]]:
    """A file system of 12 MB at ``tmp_path / "disk"``; the function mounts it again with other options."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o"]
    if sys.platform != "linux" or subprocess.run([*mount, "size=12m", "tmpfs", folder], check=False).returncode:
        pytest.skip("file systems can be mounted only by root")
    try:
        yield lambda how: subprocess.run(["mount", "-o", f"remount,{how}", folder], check=True)
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.mark.usefixtures("disk")
def test_a_full_disk(tmp_path: Path, example: pyr.Study) -> None:
    desk = prepare(place := tmp_path / "disk" / "study.db", example)
    with running_server(place) as server:
        work = Work(desk, server.url)
        ballast = tmp_path / "disk" / "ballast"
        with suppress(OSError), ballast.open("wb", buffering=0) as file:
            while True:
                file.write(b"x" * 4096)
        work.check_refused("disk-full", "disk-error")
        ballast.unlink()
        work.check_recovered()
        assert "Traceback" not in server.printed(), server.printed()
        assert "disk" in server.printed(), "whoever runs it finds it in the log"
    desk.database.close()


def test_a_read_only_disk(tmp_path: Path, disk: Callable[[str], None], example: pyr.Study) -> None:
    """Nobody may have a file open for writing when a file system becomes read-only, so this is the server's start."""
    prepare(place := tmp_path / "disk" / "study.db", example).database.close()
    disk("ro")
    done = subprocess.run(
        [sys.executable, "-m", "pyramidion", "serve", str(place), "--port", "0"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == f"error: {place} cannot be opened: it is read-only\n"
    disk("rw")


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="limits of another process are set on Linux only")
def test_files_that_cannot_grow(tmp_path: Path, example: pyr.Study) -> None:
    desk = prepare(place := tmp_path / "study.db", example)
    with running_server(place) as server:
        work = Work(desk, server.url)
        _, hard = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (4096, hard))
        work.check_refused("disk-full", "disk-error")
        page = httpx.get(f"{server.url}/join/{work.person.token}", headers={"Accept": "text/html"}, trust_env=False)
        assert page.status_code in {303, 503}
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (hard, hard))
        work.check_recovered()
        assert "Traceback" not in server.printed(), server.printed()
    desk.database.close()


# -- databases -----------------------------------------------------------------------------------------------


def test_a_database_that_was_moved_away(tmp_path: Path, example: pyr.Study) -> None:
    """SQLite would go on writing into the file that nobody will find again."""
    desk = prepare(place := tmp_path / "study.db", example)
    with running_server(place) as server:
        work = Work(desk, server.url)
        away = place.rename(tmp_path / "elsewhere.db")
        work.check_refused("lost")
        place.touch()  # another file under its name is not the study
        work.check_refused("lost")
        away.rename(place)
        work.check_recovered()
        assert "Traceback" not in server.printed(), server.printed()
    desk.database.close()


def test_a_lock_of_another_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, example: pyr.Study) -> None:
    monkeypatch.setattr("pyramidion.server.app.BUSY_SECONDS", 0.2)
    desk = prepare(place := tmp_path / "study.db", example)
    with served_here(place) as server, closing(sqlite3.connect(place, isolation_level=None)) as other:
        work = Work(desk, server.url)
        boss = logged_in(desk, server.url)
        other.execute("BEGIN IMMEDIATE")
        work.check_refused("busy")
        assert boss.get("/api/manage").status_code == 200, "what only reads goes on"
        reply = boss.post("/api/manage/campaigns/work/state", json={"state": "paused"})
        assert (reply.status_code, reply.json()["reason"]) == (503, "busy")
        other.execute("ROLLBACK")
        work.check_recovered()
        assert "Traceback" not in server.printed(), server.printed()
    desk.database.close()


def test_a_database_server_that_lets_nobody_in(postgres_server: Postgres, example: pyr.Study) -> None:
    place = postgres_server.new_database()
    desk = prepare(place, example)
    name = psycopg.conninfo.conninfo_to_dict(place)["dbname"]
    admin = psycopg.connect(postgres_server.new_database(), autocommit=True)
    with running_server(place) as server:
        work = Work(desk, server.url)
        boss = logged_in(desk, server.url)
        admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
        admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
        work.check_refused("unreachable")
        page = boss.get("/manage", headers={"Accept": "text/html"})
        assert page.status_code == 503
        assert "The server has a problem" in page.text
        admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')
        work.check_recovered()
        assert boss.get("/manage").status_code == 200
        assert "Traceback" not in server.printed(), server.printed()
    admin.close()
    desk.database.close()


def test_a_database_server_that_became_read_only(postgres_server: Postgres, example: pyr.Study) -> None:
    """As a standby is that took over in between."""
    place = postgres_server.new_database()
    desk = prepare(place, example)
    name = psycopg.conninfo.conninfo_to_dict(place)["dbname"]
    admin = psycopg.connect(postgres_server.new_database(), autocommit=True)
    restart = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
    with running_server(place) as server:
        work = Work(desk, server.url)
        admin.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
        admin.execute(restart, [name])
        work.check_refused("read-only")
        admin.execute(f'ALTER DATABASE "{name}" RESET default_transaction_read_only')
        admin.execute(restart, [name])
        work.check_recovered()
        assert "Traceback" not in server.printed(), server.printed()
    admin.close()
    desk.database.close()


def test_a_healthy_server_is_ready(tmp_path: Path, example: pyr.Study) -> None:
    prepare(place := tmp_path / "study.db", example).database.close()
    with served_here(place) as server:
        ready = httpx.get(f"{server.url}/readyz", trust_env=False)
        assert (ready.status_code, ready.json()) == (200, {"status": "ready", "troubles": []})
        for path in ("/healthz", "/readyz"):
            assert httpx.post(f"{server.url}{path}", trust_env=False).status_code == 405
