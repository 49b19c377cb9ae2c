"""Accounts, their sessions, and who has to wait before trying a password again. On both databases."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

import pyramidion as pyr
from pyramidion.store import schema
from pyramidion.store.accounts import SESSION_SECONDS, Accounts, is_session_token
from pyramidion.store.database import Database
from pyramidion.store.lockout import (
    FORGET_SECONDS,
    FREE_TRIES,
    FREE_TRIES_OF_ADDRESS,
    LONGEST_WAIT,
    LockedOutError,
    network_of,
    wait_after,
)

RIGHT, HOME, ELSEWHERE = "correct horse battery", "192.0.2.1", "198.51.100.7"


class Clock:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def accounts(database: Database, clock: Clock) -> Accounts:
    made = Accounts(database, clock)
    made.add("boss", RIGHT)
    return made


def fail(accounts: Accounts, times: int, *, name: str = "boss", address: str = HOME) -> None:
    for number in range(times):
        assert accounts.log_in(name, f"guess {number}", address=address) is None


# -- accounts and sessions -----------------------------------------------------------------------------------


def test_a_new_password_ends_all_sessions_of_its_account_only(accounts: Accounts) -> None:
    accounts.add("erin", RIGHT, "expert")
    mine = [accounts.log_in("boss", RIGHT) for _ in range(2)]
    other = accounts.log_in("erin", RIGHT)
    accounts.add("boss", "another password")
    assert [accounts.of_session(token or "") for token in mine] == [None, None]
    assert accounts.of_session(other or "") is not None
    assert accounts.log_in("boss", RIGHT) is None
    assert accounts.log_in("boss", "another password") is not None


def test_a_removed_account_is_gone_with_its_sessions(accounts: Accounts) -> None:
    accounts.add("erin", RIGHT, "expert")
    token = accounts.log_in("erin", RIGHT)
    assert token is not None
    assert accounts.remove("erin") == 1
    assert accounts.of_session(token) is None
    assert accounts.log_in("erin", RIGHT) is None
    assert [account.name for account in accounts.all()] == ["boss"]
    with pytest.raises(pyr.UsageError, match="no account called 'erin'"):
        accounts.remove("erin")


def test_the_last_manager_stays_unless_it_is_meant(accounts: Accounts) -> None:
    accounts.add("vera", RIGHT, "viewer")
    with pytest.raises(pyr.UsageError, match="last manager"):
        accounts.remove("boss")
    accounts.add("second", RIGHT, "manager")
    accounts.remove("boss")
    with pytest.raises(pyr.UsageError, match="last manager"):
        accounts.remove("second")
    accounts.remove("second", force=True)
    assert [account.name for account in accounts.all()] == ["vera"]


def test_sessions_are_listed_and_ended_one_by_one(accounts: Accounts, clock: Clock) -> None:
    accounts.add("erin", RIGHT, "expert")
    first = accounts.log_in("boss", RIGHT, agent="Laptop\x07 (lost)") or ""
    clock.now += 60
    second = accounts.log_in("boss", RIGHT, agent="x" * 1000) or ""
    accounts.log_in("erin", RIGHT)
    listed = accounts.sessions("boss")
    assert [session.created for session in listed] == [clock.now, clock.now - 60]
    assert [session.agent for session in listed] == ["x" * 200, "Laptop (lost)"]
    assert {session.account for session in accounts.sessions()} == {"boss", "erin"}
    assert [(account.name, account.sessions) for account in accounts.all()] == [("boss", 2), ("erin", 1)]
    assert listed[1].id not in first, "what is shown does not log anybody in"
    accounts.end_session(listed[1].id)
    assert accounts.of_session(first) is None
    assert accounts.of_session(second) is not None
    for unknown in (listed[1].id, "", "%", "_" * 12):
        with pytest.raises(pyr.UsageError, match="no open session"):
            accounts.end_session(unknown)
    assert accounts.end_sessions("boss") == 1
    assert accounts.sessions("boss") == []
    assert len(accounts.sessions()) == 1


def test_a_token_shows_by_itself_whether_it_was_made_here(accounts: Accounts, database: Database, clock: Clock) -> None:
    token = accounts.log_in("boss", RIGHT) or ""
    random, expires, mac = token.split(".")
    assert is_session_token(database.secret, token, clock.now)
    assert not is_session_token(b"another secret" * 3, token, clock.now)
    forged = [f"{random}.{int(expires) + 1}.{mac}", f"x{token}", "", "..", f"{random}..{mac}", f"é.{expires}.{mac}"]
    assert not any(is_session_token(database.secret, each, clock.now) for each in forged)
    clock.now += SESSION_SECONDS
    assert not is_session_token(database.secret, token, clock.now)
    assert accounts.of_session(token) is None


# -- the lock-out --------------------------------------------------------------------------------------------


def test_waits_double_and_refused_tries_do_not_extend_them(accounts: Accounts, clock: Clock) -> None:
    fail(accounts, FREE_TRIES)
    waits = []
    for _ in range(4):
        with pytest.raises(LockedOutError) as refused:
            accounts.log_in("boss", RIGHT, address=HOME)
        waits.append(refused.value.seconds)
        clock.now += refused.value.seconds / 2
        for _ in range(20):
            with pytest.raises(LockedOutError):
                accounts.log_in("boss", "another guess", address=HOME)
        clock.now += refused.value.seconds / 2
        fail(accounts, 1)
    assert waits == [1, 2, 4, 8]


def test_strangers_cannot_keep_the_manager_out(accounts: Accounts) -> None:
    fail(accounts, FREE_TRIES, address=ELSEWHERE)
    with pytest.raises(LockedOutError):
        accounts.log_in("boss", RIGHT, address=ELSEWHERE)
    assert accounts.log_in("boss", RIGHT, address=HOME) is not None


def test_the_right_password_frees_the_name_but_not_the_address(accounts: Accounts, clock: Clock) -> None:
    accounts.add("vera", RIGHT, "viewer")
    for number in range(FREE_TRIES_OF_ADDRESS):
        fail(accounts, 1, name=f"name {number}")
        if not number % 10:  # somebody with an account cannot win tries back by using it
            assert accounts.log_in("vera", RIGHT, address=HOME) is not None
    with pytest.raises(LockedOutError):
        accounts.log_in("vera", RIGHT, address=HOME)
    assert accounts.log_in("vera", RIGHT, address=ELSEWHERE) is not None
    clock.now += FORGET_SECONDS + 1
    assert accounts.log_in("vera", RIGHT, address=HOME) is not None


def test_failures_are_those_of_all_processes(accounts: Accounts, place: str, clock: Clock) -> None:
    fail(accounts, FREE_TRIES)
    other = Database.open(place)
    with pytest.raises(LockedOutError):
        Accounts(other, clock).log_in("boss", RIGHT, address=HOME)
    other.close()


def test_tries_at_once_are_no_way_around_the_limit(accounts: Accounts) -> None:
    checked, start = [], threading.Barrier(20)

    def guess(number: int) -> None:
        start.wait()
        try:
            checked.append(accounts.log_in("boss", f"guess {number}", address=HOME))
        except LockedOutError:
            return

    with ThreadPoolExecutor(20) as threads:
        list(threads.map(guess, range(20)))
    assert checked == [None] * FREE_TRIES


def test_neither_names_nor_addresses_are_stored(accounts: Accounts, database: Database) -> None:
    fail(accounts, 1)
    with database.read() as connection:
        rows = connection.execute(select(schema.log_in_failures)).all()
    assert len(rows) == 2
    assert not any("boss" in str(row) or HOME in str(row) for row in rows)


def test_unknown_names_are_counted_like_known_ones(accounts: Accounts) -> None:
    fail(accounts, FREE_TRIES, name="nobody")
    with pytest.raises(LockedOutError):
        accounts.log_in("nobody", RIGHT, address=HOME)


def test_an_address_cannot_be_changed_within_a_network() -> None:
    assert network_of("2001:db8:1:2:3::4") == network_of("2001:db8:1:2:ffff::1") != network_of("2001:db8:1:3::4")
    assert network_of("::ffff:192.0.2.1") == network_of("192.0.2.1") != network_of("192.0.2.2")
    assert network_of("unknown") == "unknown"


def test_the_wait_has_an_end() -> None:
    assert [wait_after(failures, 5) for failures in (0, 4, 5, 6, 7)] == [0, 0, 1, 2, 4]
    assert wait_after(10_000, 5) == LONGEST_WAIT
