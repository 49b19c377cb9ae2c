"""What strangers, slow senders and crowds of connections can cost the server: little."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from tests.server.conftest import Site
from tests.server.servers import answer_to, browser, make_study, running_server, served_here

from pyramidion.campaigns.platforms.local import Pass, sign_pass
from pyramidion.server.connections import MAX_HEAD, MOST_REQUESTS
from pyramidion.server.context import SESSION_COOKIE, WORKER_COOKIE
from pyramidion.server.security import MAX_BODY, MAX_FORM, MAX_IMPORT, MAX_WEBHOOK

pytestmark = pytest.mark.server

PATIENCE = 60.0
STRANGERS = 100


def connect(url: str) -> socket.socket:
    where = urlsplit(url)
    return socket.create_connection((where.hostname, where.port), timeout=PATIENCE)


def status_of(reply: bytes) -> int:
    return int(reply.split(b" ", 2)[1])


def is_closed(connection: socket.socket) -> bool:
    """Waits until the server closes it."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


# -- bodies --------------------------------------------------------------------------------------------------

EVERYWHERE = (
    "/api/annotate/1/import",
    "/api/annotate",
    "/api/work/c/1/submit",
    "/api/manage/plan",
    "/logout",
    "/x",
)


@pytest.mark.parametrize("path", EVERYWHERE)
@pytest.mark.parametrize("declared", [True, False])
def test_a_strangers_body_is_refused_before_it_is_sent(site: Site, path: str, declared: bool) -> None:
    length = f"Content-Length: {MAX_BODY}" if declared else "Transfer-Encoding: chunked"
    with connect(site.url) as stranger:
        stranger.sendall(f"POST {path} HTTP/1.1\r\nHost: x\r\n{length}\r\n\r\n".encode())
        reply = stranger.recv(65536)  # and not a byte of the body was sent
    assert status_of(reply) == 401, reply


def test_forged_and_expired_cookies_are_those_of_strangers(site: Site) -> None:
    secret = site.desk.database.secret
    forged = [
        {SESSION_COOKIE: "x" * 43},
        {SESSION_COOKIE: f"random.{2**40}.{'0' * 64}"},
        {WORKER_COOKIE: sign_pass(b"another secret!!", Pass("w1", "c", 1), 2**31)},
        {WORKER_COOKIE: sign_pass(secret, Pass("w1", "c", 1), 0)},
    ]
    for cookies in forged:
        reply = browser(site.url, cookies=cookies).post("/api/work/c/1/submit", json={"key": "k" * 8})
        assert reply.status_code == 401, cookies


def test_everybody_has_a_limit_of_their_own(site: Site) -> None:
    worker = site.person(campaign := site.campaign())
    task = worker.first_task()
    boss, stranger = site.account(), browser(site.url)
    draft = f"/api/work/{campaign}/{task['assignment']}/draft"
    replies = [
        (stranger.post("/login", content=b"x" * (MAX_FORM + 1)), 413),
        (stranger.post("/login", content=b"x" * MAX_FORM), 401),
        (stranger.post("/webhooks/prolific", content=b"x" * (MAX_WEBHOOK + 1)), 413),
        (stranger.post("/webhooks/prolific", content=b"x" * MAX_WEBHOOK), 401),
        (worker.client.put(draft, content=b"x" * (MAX_BODY + 1)), 413),
        (worker.client.put(draft, content=iter([b"x" * 1000] * 300)), 413),
        (worker.client.put(draft, content=b"x" * MAX_BODY), 422),
        (worker.client.post("/api/annotate/1/import", content=b"x"), 401),
        (boss.post("/api/manage/plan", content=b"x" * (MAX_BODY + 1)), 413),
        (boss.post("/api/annotate/1/import", content=b"x" * (MAX_IMPORT + 1)), 413),
        (boss.post("/api/annotate/999999/import", content=b"x" * MAX_IMPORT), 404),
        (worker.submit(task["assignment"], answer_to(task["page"])), 200),
    ]
    assert [reply.status_code for reply, _ in replies] == [status for _, status in replies]


def memory_of(pid: int) -> int:
    """The most that a process has held so far, in bytes."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return 1024 * int(next(line.split()[1] for line in lines if line.startswith("VmHWM")))


def test_a_hundred_strangers_do_not_fill_the_memory(tmp_path: Path) -> None:
    make_study(tmp_path / "study.db").database.close()
    start, body = threading.Barrier(STRANGERS), b"x" * MAX_IMPORT
    with running_server(tmp_path / "study.db") as server:
        before = memory_of(server.pid)

        def send(_: int) -> int:
            with connect(server.url) as stranger:
                head = f"POST /api/annotate/1/import HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
                start.wait()
                stranger.sendall(head.encode())
                try:
                    stranger.sendall(body)
                except OSError:
                    return 0  # it does not listen any more
                return status_of(stranger.recv(65536))

        with ThreadPoolExecutor(STRANGERS) as threads:
            statuses = set(threads.map(send, range(STRANGERS)))
        grown = memory_of(server.pid) - before
        assert statuses <= {401, 0}
        assert httpx.get(f"{server.url}/healthz", trust_env=False).status_code == 200
    assert grown < 60 * 2**20, f"{grown / 2**20:.0f} MB for {STRANGERS * MAX_IMPORT / 2**20:.0f} MB"


# -- slow and endless requests -------------------------------------------------------------------------------


@pytest.fixture
def quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server that waits for nobody for long."""
    monkeypatch.setattr("pyramidion.server.connections.HEAD_SECONDS", 0.3)
    monkeypatch.setattr("pyramidion.server.security.BODY_SECONDS", 0.3)
    make_study(tmp_path / "study.db").database.close()
    with served_here(tmp_path / "study.db") as server:
        yield server.url


@pytest.mark.parametrize("sent", [b"", b"GET /healthz HT", b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: "])
def test_a_head_that_does_not_end_is_cut(quick: str, sent: bytes) -> None:
    with connect(quick) as slow:
        slow.sendall(sent)
        assert is_closed(slow)


def test_a_second_head_that_does_not_end_is_cut_too(quick: str) -> None:
    with connect(quick) as slow:
        slow.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert status_of(slow.recv(65536)) == 200
        slow.sendall(b"GET /he")
        assert is_closed(slow)


def test_a_body_that_does_not_come_is_cut(quick: str) -> None:
    with connect(quick) as slow:
        slow.sendall(b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nname=")
        reply = b""
        while part := slow.recv(65536):
            reply += part
    assert status_of(reply) == 408
    assert json.loads(reply.rpartition(b"\r\n\r\n")[2])["error"] == "the request took too long to arrive"


def test_the_rest_of_a_refused_body_is_not_waited_for(quick: str) -> None:
    with connect(quick) as slow:
        slow.sendall(b"POST /api/annotate HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n")
        assert status_of(slow.recv(65536)) == 401
        slow.sendall(b"a few bytes")
        assert is_closed(slow)


def test_a_head_that_grows_is_cut(site: Site) -> None:
    with connect(site.url) as endless:
        endless.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n")
        with pytest.raises(OSError, match=r"reset|pipe"):
            endless.sendall((b"X-Long: " + b"x" * 1000 + b"\r\n") * 20_000)
    with connect(site.url) as long:
        long.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: " + b"x" * (MAX_HEAD // 2) + b"\r\n\r\n")
        assert status_of(long.recv(65536)) == 200


# -- connections ---------------------------------------------------------------------------------------------


def test_idle_connections_make_room_for_those_who_ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyramidion.server.connections.CONNECTIONS", 10)
    monkeypatch.setattr("pyramidion.server.serving.CONNECTIONS", 10)
    make_study(tmp_path / "study.db").database.close()
    with served_here(tmp_path / "study.db") as server, ExitStack() as kept:
        worker = kept.enter_context(browser(server.url))
        assert worker.get("/healthz").status_code == 200
        strangers = [kept.enter_context(connect(server.url)) for _ in range(50)]
        assert [worker.get("/healthz").status_code for _ in range(3)] == [200] * 3, "on the connection it had"
        with browser(server.url) as another:
            assert another.get("/healthz").status_code == 200
        assert all(is_closed(stranger) for stranger in strangers[:40]), "those who never asked go first"


def test_a_connection_is_closed_after_many_requests(site: Site) -> None:
    """Whoever has more to ask connects again, and then gets the process that has the fewest connections."""
    with connect(site.url) as connection:
        for number in range(1, MOST_REQUESTS + 1):
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            reply = connection.recv(4096)
            assert status_of(reply) == 200
            assert (b"connection: close" in reply.lower()) == (number == MOST_REQUESTS), number
        assert is_closed(connection)
