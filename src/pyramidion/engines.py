"""Where work runs: in this process, or in several processes of this machine.

Work is a function made once in each process, since models take long to load; results come in the order of the items.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from typing import Any, Protocol, TypeVar


class Sized(Protocol):
    """An item of work; ``size`` says how much work it is."""

    @property
    def size(self) -> int: ...


T = TypeVar("T", bound=Sized)
R = TypeVar("R")
Advance = Callable[[int], object]
"""Hears how much work is done."""
Work = Callable[[T, Advance], R]
MakeWork = Callable[[int | None], Work[T, R]]
"""Given the number of threads it may use, by default as many as there are cores. It must be picklable."""


def ignore(_done: int) -> None:
    """Where nobody wants to hear."""


class Engine(Protocol):
    """The port: `concurrent.futures.Executor.map` for work that is made once in each process."""

    def map(self, make: MakeWork[T, R], items: Sequence[T], advance: Advance = ignore) -> Iterator[R]: ...


class ThisProcess:
    """One item after the other."""

    def map(self, make: MakeWork[T, R], items: Sequence[T], advance: Advance = ignore) -> Iterator[R]:
        if items:
            work = make(None)
            yield from (work(item, advance) for item in items)


class LocalProcesses:
    """Several processes, which share the cores."""

    def __init__(self, processes: int) -> None:
        self._processes = processes

    def map(self, make: MakeWork[T, R], items: Sequence[T], advance: Advance = ignore) -> Iterator[R]:
        threads = max(1, (os.cpu_count() or 1) // self._processes)
        with ProcessPoolExecutor(self._processes, get_context("spawn"), _start, (make, threads)) as pool:
            for item, result in zip(items, pool.map(_work, items), strict=True):
                advance(item.size)
                yield result


def engine(processes: int, items: int) -> Engine:
    """Processes pay only where there is more than one item."""
    return LocalProcesses(processes) if processes > 1 and items > 1 else ThisProcess()


AHEAD = 2
"""Items that are prepared at once: while one waits for the encoder, the other is cut into clauses."""


def prepared_ahead(items: Sequence[R], prepare: Callable[[R], None]) -> Iterator[R]:
    """Each item after it has been prepared: in a thread, while those before it are worked on."""
    if len(items) == 1:  # a thread would only cost: computing libraries set themselves up for each
        prepare(items[0])
        yield items[0]
        return
    waiting: list[tuple[R, Future[None]]] = []
    with ThreadPoolExecutor(AHEAD, "ahead") as threads:
        for item in items:
            waiting.append((item, threads.submit(prepare, item)))
            if len(waiting) > AHEAD:
                yield _ready(*waiting.pop(0))
        for item, preparing in waiting:
            yield _ready(item, preparing)


def _ready(item: R, preparing: Future[None]) -> R:
    preparing.result()
    return item


_here: list[Work[Any, Any]] = []
"""A process of a pool keeps its work here."""


def _start(make: MakeWork[Any, Any], threads: int) -> None:
    _here[:] = [make(threads)]


def _work(item: Any) -> Any:
    return _here[0](item, ignore)
