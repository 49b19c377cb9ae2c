"""Replies on disk, so that an interrupted run continues where it stopped and nothing is paid for twice."""

from __future__ import annotations

import sqlite3
import threading
from dataclasses import asdict, dataclass
from pathlib import Path

from pyramidion.folders import cache_folder


@dataclass(frozen=True, slots=True)
class Usage:
    """What a model took for some replies, as the endpoint counts it; ``unreported`` requests have no token counts."""

    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    unreported: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.requests + other.requests,
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            self.unreported + other.unreported,
        )

    def cost(self, price_in: float, price_out: float) -> float:
        """The cost at given prices per million tokens."""
        return (self.tokens_in * price_in + self.tokens_out * price_out) / 1e6

    def text(self, price: tuple[float, float] | None = None) -> str:
        """In words, with the cost if prices are given."""
        said = f"{self.requests:,} request{'s' * (self.requests != 1)}"
        if self.unreported < self.requests:
            said += f", {self.tokens_in:,} tokens in and {self.tokens_out:,} out"
            said += f", {dollars(self.cost(*price))}" if price else ""
        if self.unreported:
            said += f" (tokens of {self.unreported:,} were not reported)"
        return said

    def as_dict(self, price: tuple[float, float] | None = None) -> dict[str, float]:
        return asdict(self) | ({"cost": self.cost(*price)} if price else {})


def dollars(amount: float) -> str:
    """Small amounts with more digits, since a request costs fractions of a cent."""
    return f"${amount:,.2f}" if amount >= 1 or not amount else f"${amount:.4f}"


def default_cache() -> Path:
    return cache_folder() / "llm.sqlite"


class ReplyCache:
    """Replies by the key of their request, and what they took. Threads and processes may share the file."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._database = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
        self._database.execute("PRAGMA journal_mode=WAL")
        # Two tables, because files of earlier versions have only the first.
        self._database.execute("CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, text TEXT NOT NULL)")
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS usage (key TEXT PRIMARY KEY, requests INTEGER NOT NULL, "
            "tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL, unreported INTEGER NOT NULL)"
        )

    def get(self, key: str) -> str | None:
        with self._lock:
            row = self._database.execute("SELECT text FROM replies WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    def usage(self, key: str) -> Usage:
        """What a cached reply took; nothing is known of replies that an earlier version has cached."""
        query = "SELECT requests, tokens_in, tokens_out, unreported FROM usage WHERE key = ?"
        with self._lock:
            row = self._database.execute(query, (key,)).fetchone()
        return Usage(*row) if row else Usage(1, 0, 0, 1)

    def put(self, key: str, text: str, usage: Usage) -> None:
        taken = (key, usage.requests, usage.tokens_in, usage.tokens_out, usage.unreported)
        with self._lock:
            self._database.execute("BEGIN IMMEDIATE")
            try:
                self._database.execute("INSERT OR REPLACE INTO usage VALUES (?, ?, ?, ?, ?)", taken)
                self._database.execute("INSERT OR REPLACE INTO replies VALUES (?, ?)", (key, text))
                self._database.execute("COMMIT")
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
