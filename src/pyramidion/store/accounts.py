"""Managers, experts and viewers: argon2 passwords, and sessions that cannot be replayed from a stolen database."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import Connection, delete, func, insert, select, update

from pyramidion.errors import UnknownError, UsageError, check_choice
from pyramidion.store import schema
from pyramidion.store.database import Database
from pyramidion.store.keyed import keyed_hash
from pyramidion.store.lockout import LogInFailures

Role = Literal["manager", "expert", "viewer"]
SESSION_SECONDS = 12 * 3600
MIN_PASSWORD = 10
MAX_AGENT = 200
SHOWN_ID = 12
"""How much of a session's id is shown: enough to tell sessions apart, and useless to anybody else."""


def check_password(password: str) -> None:
    if len(password) < MIN_PASSWORD:
        raise UsageError(f"a password needs at least {MIN_PASSWORD} characters")


@dataclass(frozen=True, slots=True)
class Account:
    id: int
    name: str
    role: str
    csrf: str = ""
    session: str = ""
    """The shown id of the session it was found by."""


@dataclass(frozen=True, slots=True)
class AccountSummary:
    name: str
    role: str
    created: float
    sessions: int


@dataclass(frozen=True, slots=True)
class Session:
    """An open session, for people: the id is part of a hash, never the cookie. ``agent`` is how its browser calls
    itself."""

    id: str
    account: str
    role: str
    created: float
    expires: float
    agent: str


def is_session_token(secret: bytes, token: str, now: float | None = None) -> bool:
    """Whether a cookie was made here for a session that has not expired, judged without asking the database."""
    random, _, rest = token.partition(".")
    expires, _, mac = rest.partition(".")
    if len(token) > 200 or not (token.isascii() and expires.isdigit()):
        return False
    if not hmac.compare_digest(mac, keyed_hash(secret, "session", random, expires)):
        return False
    return int(expires) > (time.time() if now is None else now)


class Accounts:
    """``clock`` is replaced in tests."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._hasher = PasswordHasher()
        self._failures = LogInFailures(database, clock)
        self.clock = clock

    @cached_property
    def _nobody(self) -> str:
        """The hash to check if there is no such account; made once, because making it takes as long as checking."""
        return self._hasher.hash("nobody")

    # -- accounts --------------------------------------------------------------------------------------------

    def add(self, name: str, password: str, role: Role = "manager") -> None:
        """Create an account, or change its password and role; a change ends its sessions."""
        check_choice("role", role, get_args(Role))
        check_password(password)
        hashed = self._hasher.hash(password)
        with self._database.write() as connection:
            known = connection.execute(select(schema.accounts.c.id).filter_by(name=name)).first()
            if known:
                connection.execute(update(schema.accounts).filter_by(name=name).values(password=hashed, role=role))
                connection.execute(delete(schema.sessions).filter_by(account_id=known.id))
            else:
                row = {"name": name, "password": hashed, "role": role, "created": self.clock()}
                connection.execute(insert(schema.accounts).values(row))

    def remove(self, name: str, *, force: bool = False) -> int:
        """Remove an account and return how many sessions ended; the last manager only with ``force``."""
        with self._database.write() as connection:
            account = _find(connection, name)
            others = select(func.count()).select_from(schema.accounts).filter_by(role="manager")
            others = others.where(schema.accounts.c.id != account.id)
            if account.role == "manager" and not force and not connection.execute(others).scalar_one():
                raise UsageError(
                    f"{name} is the last manager, without whom nobody can plan or pay; --force removes them"
                )
            ended = connection.execute(delete(schema.sessions).filter_by(account_id=account.id)).rowcount
            connection.execute(delete(schema.accounts).filter_by(id=account.id))
        return ended

    def all(self) -> list[AccountSummary]:
        """Every account by name, with the number of its open sessions."""
        a, s = schema.accounts.c, schema.sessions.c
        is_open = (s.account_id == a.id) & (s.expires > self.clock())
        query = (
            select(a.name, a.role, a.created, func.count(s.id))
            .select_from(schema.accounts.outerjoin(schema.sessions, is_open))
            .group_by(a.id, a.name, a.role, a.created)
            .order_by(a.name)
        )
        with self._database.read() as connection:
            return [AccountSummary(*row) for row in connection.execute(query)]

    # -- sessions --------------------------------------------------------------------------------------------

    def log_in(self, name: str, password: str, *, address: str = "", agent: str = "") -> str | None:
        """A new session's token, or None; LockedOutError after too many failures from this address.

        The time taken does not tell whether the name exists.
        """
        attempt = self._failures.begin(address, name)
        with self._database.read() as connection:
            account = connection.execute(select(schema.accounts).filter_by(name=name)).first()
        if not self._is_right(account.password if account else self._nobody, password) or account is None:
            return None
        now = self.clock()
        token = self._new_token(int(now) + SESSION_SECONDS)
        row = {"id": _digest(token), "account_id": account.id, "csrf": secrets.token_urlsafe(24)}
        seen = {"created": now, "expires": now + SESSION_SECONDS, "agent": _printable(agent)}
        with self._database.write() as connection:
            unchanged = select(schema.accounts.c.id).filter_by(id=account.id, password=account.password)
            if connection.execute(unchanged).first() is None:
                return None  # removed, or the password was changed meanwhile
            self._failures.succeeded(connection, attempt)
            connection.execute(delete(schema.sessions).where(schema.sessions.c.expires < now))
            connection.execute(insert(schema.sessions).values(**row, **seen))
        return token

    def _is_right(self, hashed: str, password: str) -> bool:
        try:
            return self._hasher.verify(hashed, password)
        except (VerificationError, InvalidHashError):
            return False

    def _new_token(self, expires: int) -> str:
        """A cookie that shows by itself that it was made here, so that strangers' requests need no look-up."""
        random = secrets.token_urlsafe(32)
        return f"{random}.{expires}.{keyed_hash(self._database.secret, 'session', random, str(expires))}"

    def of_session(self, token: str) -> Account | None:
        if not is_session_token(self._database.secret, token, self.clock()):
            return None
        s, a = schema.sessions.c, schema.accounts.c
        query = select(a.id, a.name, a.role, s.csrf).join_from(schema.accounts, schema.sessions)
        id = _digest(token)
        with self._database.read() as connection:
            row = connection.execute(query.where(s.id == id, s.expires > self.clock())).first()
        return None if row is None else Account(*row, session=id[:SHOWN_ID])

    def sessions(self, name: str | None = None) -> list[Session]:
        """Open sessions, of one account or of all, the newest first."""
        s, a = schema.sessions.c, schema.accounts.c
        query = select(s.id, a.name, a.role, s.created, s.expires, s.agent).join_from(schema.sessions, schema.accounts)
        query = query.where(s.expires > self.clock()).order_by(s.created.desc(), s.id)
        with self._database.read() as connection:
            if name is not None:
                query = query.where(a.id == _find(connection, name).id)
            return [Session(row[0][:SHOWN_ID], *row[1:]) for row in connection.execute(query)]

    def end_session(self, id: str) -> None:
        """End a session by its shown id."""
        s = schema.sessions.c
        known = len(id) == SHOWN_ID and id.isalnum()
        with self._database.write() as connection:
            if not known or not connection.execute(delete(schema.sessions).where(s.id.startswith(id))).rowcount:
                raise UnknownError(f"there is no open session {id!r}")

    def end_sessions(self, name: str) -> int:
        """End all sessions of an account; returns how many there were."""
        with self._database.write() as connection:
            account = _find(connection, name)
            return connection.execute(delete(schema.sessions).filter_by(account_id=account.id)).rowcount

    def log_out(self, token: str) -> None:
        with self._database.write() as connection:
            connection.execute(delete(schema.sessions).filter_by(id=_digest(token)))


def _find(connection: Connection, name: str) -> Account:
    query = select(schema.accounts.c.id, schema.accounts.c.name, schema.accounts.c.role).filter_by(name=name)
    row = connection.execute(query).first()
    if row is None:
        raise UnknownError(f"there is no account called {name!r}")
    return Account(*row)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _printable(agent: str) -> str:
    return "".join(character for character in agent if character.isprintable())[:MAX_AGENT]
