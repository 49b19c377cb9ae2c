"""Who has to wait before the next try at a password: the same answer from every process of a server.

Failures are counted for an address together with a name, and for an address alone. So strangers can keep themselves
out, but not the manager whose name they try: from any other address the right password works. After some free tries
the wait doubles with every failure; a try that is refused meanwhile is not counted. A try counts as failed from its
beginning until the password turns out right, so that a hundred tries at once do not get around it.

Addresses and names are stored as keyed hashes and forgotten a day after the last failure.
"""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Connection, delete, select, update

from pyramidion.errors import PyramidionError
from pyramidion.store import schema
from pyramidion.store.database import Database, insert_if_new
from pyramidion.store.keyed import keyed_hash

FREE_TRIES, FREE_TRIES_OF_ADDRESS = 5, 50
"""Failures before anybody has to wait. People who share an address share its tries."""
LONGEST_WAIT = 15 * 60.0
FORGET_SECONDS = 24 * 3600.0


class LockedOutError(PyramidionError):
    """Too many failed tries; ``seconds`` is how long to wait before the next."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(f"too many tries; wait {_in_words(seconds)}")


def _in_words(seconds: float) -> str:
    number, unit = (round(seconds / 60), "minute") if seconds >= 90 else (max(1, round(seconds)), "second")
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"


def wait_after(failures: int, free: int) -> float:
    """Seconds from the last failure to the next try: none at first, then 1, 2, 4, ... up to the longest."""
    return 0.0 if failures < free else min(LONGEST_WAIT, 2.0 ** min(failures - free, 30))


@dataclass(frozen=True, slots=True)
class Try:
    """A try at a password that has begun: the keys it counts for, and how many failures each allows."""

    pair: str
    address: str

    @property
    def limits(self) -> tuple[tuple[str, int], ...]:
        return (self.pair, FREE_TRIES), (self.address, FREE_TRIES_OF_ADDRESS)


class LogInFailures:
    """``clock`` is replaced in tests."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self.clock = clock

    def begin(self, address: str, name: str) -> Try:
        """Count a try as failed until ``succeeded``; LockedOutError, and nothing is counted, if it is too early."""
        secret, place = self._database.secret, network_of(address)
        attempt = Try(keyed_hash(secret, "log-in", place, name), keyed_hash(secret, "log-in", place))
        with self._database.write() as connection:
            now = self.clock()
            f = schema.log_in_failures.c
            connection.execute(delete(schema.log_in_failures).where(f.last < now - FORGET_SECONDS))
            for key in sorted((attempt.pair, attempt.address)):  # always in one order, or two tries wait for each other
                insert_if_new(connection, schema.log_in_failures, who=key, failures=0, last=now)
            free = dict(attempt.limits)
            counted = select(schema.log_in_failures).where(f.who.in_(list(free))).order_by(f.who)
            rows = connection.execute(counted.with_for_update()).all()
            wait = max(row.last + wait_after(row.failures, free[row.who]) - now for row in rows)
            if wait > 0:
                raise LockedOutError(wait)
            mine = update(schema.log_in_failures).where(f.who.in_(list(free)))
            connection.execute(mine.values(failures=f.failures + 1, last=now))
        return attempt

    def succeeded(self, connection: Connection, attempt: Try) -> None:
        """The password was right: the name is free again from this address, and the address has this try back.

        Not more, or somebody with an account could try the passwords of others without end.
        """
        f = schema.log_in_failures.c
        connection.execute(delete(schema.log_in_failures).where(f.who == attempt.pair))
        given_back = update(schema.log_in_failures).where(f.who == attempt.address, f.failures > 0)
        connection.execute(given_back.values(failures=f.failures - 1))


def network_of(address: str) -> str:
    """The address that a client cannot change at will: of IPv6 the first half, which a household has to itself."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is not None:
            return str(ip.ipv4_mapped)
        return str(ipaddress.IPv6Network((int(ip) >> 64 << 64, 64)))
    return str(ip)
