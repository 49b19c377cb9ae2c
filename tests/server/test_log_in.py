"""The log-in page, sessions and roles over HTTP: who waits after wrong passwords, and whose session ends when."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import argon2
import httpx
import pytest
from tests.server.servers import ACCOUNTS, PASSWORD, browser, logged_in, make_study, served_here

from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.server.context import SESSION_COOKIE
from pyramidion.store.accounts import Accounts
from pyramidion.store.lockout import FREE_TRIES

pytestmark = pytest.mark.server

HOME, ELSEWHERE = "203.0.113.5", "198.51.100.9"


@dataclass
class Door:
    desk: CampaignDesk
    url: str

    def log_in(self, name: str, password: str, address: str = HOME) -> httpx.Response:
        """As through a proxy on this machine, which says where the client is."""
        client = browser(self.url, headers={"X-Forwarded-For": address, "User-Agent": "a test"})
        return client.post("/login", data={"name": name, "password": password})


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Door]:
    desk = make_study(tmp_path / "study.db")
    with served_here(tmp_path / "study.db") as server:
        yield Door(desk, server.url)
        assert "Traceback" not in server.printed(), server.printed()
    desk.database.close()


def test_only_the_address_that_failed_has_to_wait(door: Door) -> None:
    assert [door.log_in("boss", f"guess {n}").status_code for n in range(FREE_TRIES)] == [401] * FREE_TRIES
    refused = door.log_in("boss", PASSWORD)
    assert refused.status_code == 429
    assert 1 <= int(refused.headers["retry-after"]) <= 2
    assert "Too many tries; wait 1 second." in refused.text
    assert door.log_in("boss", PASSWORD, ELSEWHERE).status_code == 303
    assert door.log_in("vera", PASSWORD).status_code == 303, "another name from the same address"


def test_a_proxy_names_the_client_last(door: Door) -> None:
    """What a client puts into the header itself comes before what the proxy adds, and is not believed."""
    for n in range(FREE_TRIES):
        assert door.log_in("boss", "guess", f"192.0.2.{n}, {HOME}").status_code == 401
    assert door.log_in("boss", PASSWORD, f"192.0.2.99, {HOME}").status_code == 429


def test_unknown_names_cost_the_same_work(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[str] = []
    verify = argon2.PasswordHasher.verify

    def seen(self: argon2.PasswordHasher, hashed: str, password: str) -> bool:
        checked.append(hashed)
        return bool(verify(self, hashed, password))

    monkeypatch.setattr(argon2.PasswordHasher, "verify", seen)
    replies = [door.log_in(name, "wrong") for name in ("boss", "nobody", "")]
    assert len(checked) == 3
    assert len({hashed.rsplit("$", 2)[0] for hashed in checked}) == 1, "the same parameters"
    assert len({(reply.status_code, reply.text) for reply in replies}) == 1


def test_a_new_password_ends_sessions_on_the_server(door: Door) -> None:
    client = browser(door.url, cookies={SESSION_COOKIE: door.log_in("boss", PASSWORD).cookies[SESSION_COOKIE]})
    assert client.get("/api/manage").status_code == 200
    Accounts(door.desk.database).add("boss", "another password")
    assert client.get("/api/manage").status_code == 401


def test_managers_see_sessions_and_end_them(door: Door) -> None:
    other = browser(door.url, cookies={SESSION_COOKIE: door.log_in("erin", PASSWORD).cookies[SESSION_COOKIE]})
    boss = logged_in(door.desk, door.url)
    listed = boss.get("/api/manage/accounts").json()
    assert {(row["name"], row["role"], row["sessions"]) for row in listed["accounts"]} == {
        ("boss", "manager", 1), ("erin", "expert", 1), ("vera", "viewer", 0),
    }  # fmt: skip
    (theirs,) = (row for row in listed["sessions"] if row["account"] == "erin")
    assert (theirs["agent"], theirs["mine"]) == ("a test", False)
    assert [row["mine"] for row in listed["sessions"] if row["account"] == "boss"] == [True]
    address = f"/api/manage/sessions/{theirs['id']}"
    assert httpx.delete(f"{door.url}{address}", cookies=boss.cookies, trust_env=False).status_code == 403, "no token"
    assert boss.delete(address).json() == {"ended": theirs["id"]}
    assert other.get("/api/annotate").status_code == 401
    assert boss.delete(address).status_code == 404
    for name in set(ACCOUNTS) - {"boss"}:
        client = logged_in(door.desk, door.url, name)
        assert client.get("/api/manage/accounts").status_code == 403
        assert client.delete(address).status_code == 403
