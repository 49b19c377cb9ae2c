"""Sentences, word pieces, the shipped encoder and words in context, for pyramids and judges."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


_limiting = Lock()
_limits: list[Any] = []
"""What several threads have limited at the same time: the first limit in force, once for each of them."""


@contextmanager
def one_thread() -> Iterator[None]:
    """For products of small matrices, which several threads make slower: many times so while other programs run. It
    also makes the result the same whatever the number of cores."""
    with _limiting:
        _limits.append(_limits[0] if _limits else _libraries().limit(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with _limiting:
            limit = _limits.pop()
            if not _limits:
                limit.restore_original_limits()


class Recent(Generic[T]):
    """What was made of the texts used last, so that a text is encoded once; ``most`` bounds the sum of the sizes.
    Several threads may share it."""

    def __init__(self, most: int, size: Callable[[T], int] = lambda _: 1) -> None:
        self._most, self._size, self._total = most, size, 0
        self._values: dict[str, T] = {}
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, texts: Iterable[str]) -> dict[str, T]:
        """What is known, by text."""
        with self._lock:
            return {text: self._values[text] for text in texts if text in self._values}

    def keep(self, values: Mapping[str, T]) -> None:
        """Remember these as used now; what was used longest ago goes."""
        with self._lock:
            for text, value in values.items():
                self._drop(text)
                self._values[text] = value
                self._total += self._size(value)
            while self._total > self._most:
                self._drop(next(iter(self._values)))

    def _drop(self, text: str) -> None:
        if text in self._values:
            self._total -= self._size(self._values.pop(text))
