"""Sentences, word pieces, the shipped encoder and words in context, for pyramids and judges."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """For products of small matrices, which several threads make slower: many times so while other programs run. It
    also makes the result the same whatever the number of cores."""
    with _libraries().limit(limits=1, user_api="blas"):
        yield


class Recent(Generic[T]):
    """What was made of the texts used last, so that a text is encoded once; ``most`` bounds the sum of the sizes."""

    def __init__(self, most: int, size: Callable[[T], int] = lambda _: 1) -> None:
        self._most, self._size = most, size
        self._values: dict[str, T] = {}

    def __len__(self) -> int:
        return len(self._values)

    def get(self, texts: Iterable[str]) -> dict[str, T]:
        """What is known, by text."""
        return {text: self._values[text] for text in texts if text in self._values}

    def keep(self, values: Mapping[str, T]) -> None:
        """Remember these as used now; what was used longest ago goes."""
        for text, value in values.items():
            self._values.pop(text, None)
            self._values[text] = value
        total = sum(map(self._size, self._values.values()))
        for text in list(self._values):
            if total <= self._most:
                break
            total -= self._size(self._values.pop(text))
