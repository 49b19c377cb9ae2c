"""Managers, experts and viewers: argon2 passwords, and sessions that cannot be replayed from a stolen database."""

from __future__ import annotations

import hashlib
import secrets
import time
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import delete, insert, select, update

from pyramidion.errors import UsageError, check_choice
from pyramidion.store import schema
from pyramidion.store.database import Database

Role = Literal["manager", "expert", "viewer"]
SESSION_SECONDS = 12 * 3600
MIN_PASSWORD = 10


def check_password(password: str) -> None:
    if len(password) < MIN_PASSWORD:
        raise UsageError(f"a password needs at least {MIN_PASSWORD} characters")


@dataclass(frozen=True, slots=True)
class Account:
    id: int
    name: str
    role: str
    csrf: str = ""


class Accounts:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._hasher = PasswordHasher()

    @cached_property
    def _nobody(self) -> str:
        """The hash to check if there is no such account; made once, because making it takes as long as checking."""
        return self._hasher.hash("nobody")

    def add(self, name: str, password: str, role: Role = "manager") -> None:
        check_choice("role", role, get_args(Role))
        check_password(password)
        hashed = self._hasher.hash(password)
        with self._database.write() as connection:
            if connection.execute(select(schema.accounts.c.id).filter_by(name=name)).first():
                connection.execute(update(schema.accounts).filter_by(name=name).values(password=hashed, role=role))
            else:
                row = {"name": name, "password": hashed, "role": role, "created": time.time()}
                connection.execute(insert(schema.accounts).values(row))

    def log_in(self, name: str, password: str) -> str | None:
        """A new session token, or None. The time taken does not tell whether the name exists."""
        with self._database.read() as connection:
            account = connection.execute(select(schema.accounts).filter_by(name=name)).first()
        try:
            self._hasher.verify(account.password if account else self._nobody, password)
        except (VerificationError, InvalidHashError):
            return None
        if account is None:
            return None
        token = secrets.token_urlsafe(32)
        row = {"id": _digest(token), "account_id": account.id, "csrf": secrets.token_urlsafe(24)}
        with self._database.write() as connection:
            connection.execute(delete(schema.sessions).where(schema.sessions.c.expires < time.time()))
            connection.execute(insert(schema.sessions).values(**row, expires=time.time() + SESSION_SECONDS))
        return token

    def of_session(self, token: str) -> Account | None:
        s, a = schema.sessions.c, schema.accounts.c
        query = select(a.id, a.name, a.role, s.csrf).join_from(schema.accounts, schema.sessions)
        with self._database.read() as connection:
            row = connection.execute(query.where(s.id == _digest(token), s.expires > time.time())).first()
        return None if row is None else Account(*row)

    def log_out(self, token: str) -> None:
        with self._database.write() as connection:
            connection.execute(delete(schema.sessions).filter_by(id=_digest(token)))


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
