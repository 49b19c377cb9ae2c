"""Where long work runs: in this process, in several processes of this machine, or on a Dask cluster.

Work is a function that is made once in each process, since models take long to load. An item of work carries all that
the function needs besides: texts, not studies. Results come as they are finished, each with its item, so that whoever
asked can write them down at once; what they are depends on neither the engine nor the number of workers.
"""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from multiprocessing import get_context, parent_process
from threading import Thread, local
from typing import Generic, Protocol, TypeVar

from pyramidion.distribution import version
from pyramidion.errors import LostEngineError, Problem, UsageError


class Sized(Protocol):
    """An item of work; ``size`` says how much work it is."""

    @property
    def size(self) -> int: ...


S = TypeVar("S")
T = TypeVar("T", bound=Sized)
R = TypeVar("R")
Advance = Callable[[int], object]
"""Hears how much work is done."""
Work = Callable[[T, Advance], R]
MakeWork = Callable[[int | None], Work[T, R]]
"""Given the number of threads it may use, by default as many as there are cores. It must be picklable."""

PER_WORKER = 3
"""Items under way for each worker: one is worked on, the others wait beside it, so that nobody waits for us."""
FARTHEST = 12
"""Items for each worker that may be finished before the oldest is."""
PULSE = 5.0
"""Seconds; so often we look whether there still are workers, whatever they are doing."""
TRIES = 3
"""How often all workers may be lost without a single result in between."""


def ignore(_done: int) -> None:
    """Where nobody wants to hear."""


class Engine(Protocol):
    """The port. ``workers`` can work at the same time; ``notes`` are what a user should know about them."""

    workers: int
    notes: Sequence[Problem]
    dashboard: str

    def run(self, make: MakeWork[T, R], items: Iterable[T], advance: Advance = ignore) -> Iterator[tuple[T, R]]:
        """Each item with its result, as they are finished."""


class Placed(Protocol):
    """An item that knows its place among all."""

    @property
    def place(self) -> int: ...


def in_order(finished: Iterable[tuple[Placed, R]]) -> Iterator[R]:
    """Results in the order of their items; those that come early wait."""
    waiting: dict[int, R] = {}
    following = 0
    for item, result in finished:
        waiting[item.place] = result
        while following in waiting:
            yield waiting.pop(following)
            following += 1


@dataclass(frozen=True)
class Step(Generic[S]):
    """One of many things to do, and its place among them."""

    place: int
    content: S
    size: int


def mapped(
    where: Where,
    function: Callable[[S], R],
    contents: Iterable[S],
    advance: Advance = ignore,
    *,
    size: Callable[[S], int] = lambda _content: 1,
) -> Iterator[R]:
    """What a function makes of each, in order. It must be picklable, such as a function of a module or a ``partial``
    of one. ``size`` says how much work each is, which ``advance`` is told when it is done."""
    with started(where) as running:
        steps = (Step(place, content, size(content)) for place, content in enumerate(contents))
        yield from in_order(running.run(partial(_stepping, function), steps, advance))


def _stepping(function: Callable[[S], R], _threads: int | None) -> Work[Step[S], R]:
    def work(step: Step[S], advance: Advance) -> R:
        result = function(step.content)
        advance(step.size)
        return result

    return work


class ThisProcess:
    """One item after the other; hears of progress within an item, too."""

    workers = 1
    notes: Sequence[Problem] = ()
    dashboard = ""

    def run(self, make: MakeWork[T, R], items: Iterable[T], advance: Advance = ignore) -> Iterator[tuple[T, R]]:
        work: Work[T, R] | None = None
        for item in items:
            work = work or make(None)
            yield item, work(item, advance)


class WorkerPool:
    """Any executor of `concurrent.futures` whose workers can import this package: anybody's, or one made here."""

    dashboard = ""

    def __init__(self, executor: Executor, workers: int, *, threads: int = 1, notes: Sequence[Problem] = ()) -> None:
        self.workers, self.notes = workers, notes
        self._executor, self._threads = executor, threads

    def run(self, make: MakeWork[T, R], items: Iterable[T], advance: Advance = ignore) -> Iterator[tuple[T, R]]:
        made_from = pickle.dumps((make, self._threads))
        source, again = enumerate(items), list[tuple[int, T]]()
        under_way: dict[Future[bytes], tuple[int, T]] = {}
        lost = taken = 0
        try:
            while True:
                room = 1 if lost else PER_WORKER * self.workers  # one by one, until it is clear who loses workers
                for place, item in list(self._next(again, source, under_way.values(), taken, room)):
                    under_way[self._submitted(made_from, item)] = place, item
                    taken = max(taken, place + 1)
                if not under_way:
                    return
                finished, _ = wait(under_way, PULSE, FIRST_COMPLETED)
                self._check_workers()
                broken = [under_way.pop(future) for future in finished if _is_lost(future)]
                for future in finished & under_way.keys():
                    _, item = under_way.pop(future)
                    result = pickle.loads(future.result())  # noqa: S301 - our own
                    lost = 0
                    advance(item.size)
                    yield item, result
                if broken:
                    lost += 1
                    again += [*broken, *under_way.values()]
                    under_way.clear()
                    if lost == TRIES:
                        raise LostEngineError("workers keep being lost, perhaps for lack of memory; try fewer")
                    self._renew()
        finally:
            for future in under_way:
                future.cancel()

    def _submitted(self, made_from: bytes, item: T) -> Future[bytes]:
        try:
            return self._executor.submit(_work, version(), made_from, pickle.dumps(item))
        except BrokenExecutor as error:  # a worker was lost since we last looked
            broken: Future[bytes] = Future()
            broken.set_exception(error)
            return broken

    def _next(
        self,
        again: list[tuple[int, T]],
        source: Iterator[tuple[int, T]],
        under_way: Collection[tuple[int, T]],
        taken: int,
        room: int,
    ) -> Iterator[tuple[int, T]]:
        """As many items as there is room for, those first whose worker was lost. Nobody gets far ahead of the slowest:
        what is finished early may have to wait for it, in memory."""
        oldest = min((place for place, _ in (*under_way, *again)), default=taken)
        for _ in range(room - len(under_way)):
            if again:
                yield again.pop(0)
            elif taken - oldest < FARTHEST * self.workers:
                for place, item in islice(source, 1):
                    taken = place + 1
                    yield place, item

    def _check_workers(self) -> None:
        """LostEngineError where nobody is left to wait for."""

    def _renew(self) -> None:
        """Other workers in place of those that are gone."""
        raise LostEngineError("the workers are gone")


def _is_lost(future: Future[bytes]) -> bool:
    return future.cancelled() or isinstance(future.exception(), BrokenExecutor | CancelledError)


class LocalProcesses(WorkerPool):
    """Several processes, which share the cores. Where one is killed, all are replaced; what it had in hand is done
    again."""

    def __init__(self, processes: int) -> None:
        super().__init__(_pool(processes), processes, threads=max(1, (os.cpu_count() or 1) // processes))

    def _renew(self) -> None:
        self.close()
        self._executor = _pool(self.workers)

    def close(self) -> None:
        """All results are there, or nobody wants them any more: what is still being worked on is not waited for."""
        for process in list((getattr(self._executor, "_processes", None) or {}).values()):
            process.terminate()
        self._executor.shutdown(wait=True, cancel_futures=True)


def _pool(processes: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(processes, get_context("spawn"), _begin)


def _begin() -> None:
    leave_interrupts_to_us()
    Thread(target=_end_with_the_command, daemon=True).start()


def _end_with_the_command() -> None:
    """A command that is killed can end nobody, and its workers would wait for work for ever."""
    command = parent_process()
    assert command is not None
    command.join()
    os._exit(1)


def leave_interrupts_to_us() -> None:
    """Ctrl-C reaches worker processes, too; who is interrupted is the command, which ends them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


Where = str | Executor | Engine | None
"""``here``, ``processes:4``, ``dask``, ``dask:4``, ``dask://HOST:PORT``, an executor, or an engine that is running."""
KNOWN = "here, processes, dask and dask://HOST:PORT"


@contextmanager
def started(where: Where = None, *, dashboard: bool = False) -> Iterator[Engine]:
    """An engine, which ends with the block unless it was running before. A ``dashboard`` shows what a local Dask
    cluster does; other clusters have their own."""
    with ExitStack() as until:
        if where is None or where == "here":
            yield ThisProcess()
        elif isinstance(where, Executor):
            yield WorkerPool(where, getattr(where, "_max_workers", None) or os.cpu_count() or 1)
        elif not isinstance(where, str):
            yield where
        elif where.startswith(("dask://", "dask+tls://")):
            from pyramidion.engines.cluster import on_cluster

            yield until.enter_context(on_cluster(where))
        else:
            kind, count = _parsed(where)
            if kind == "dask":
                from pyramidion.engines.cluster import on_local_cluster

                yield until.enter_context(on_local_cluster(count, dashboard=dashboard))
            elif count == 1:
                yield ThisProcess()
            else:
                processes = LocalProcesses(count)
                until.callback(processes.close)
                yield processes


def _parsed(where: str) -> tuple[str, int]:
    kind, _, count = where.partition(":")
    many = int(count) if count.isdecimal() else 0 if count else os.cpu_count() or 1
    if kind not in {"processes", "dask"} or not many:
        raise UsageError(f"unknown engine {where!r}; known are {KNOWN}")
    return kind, many


# -- in a worker --------------------------------------------------------------------------------------------------

_here = local()
"""A thread of a worker keeps its work here, with what it was made from."""


def _work(release: str, made_from: bytes, item: bytes) -> bytes:
    if release != version():  # a cluster may get new workers during a run
        raise UsageError(f"a worker has pyramidion {version()}, and this is {release}; install the same")
    if getattr(_here, "made_from", None) != made_from:
        make, threads = pickle.loads(made_from)  # noqa: S301 - written by `WorkerPool.run`
        _here.work, _here.made_from = make(threads), made_from
    return pickle.dumps(_here.work(pickle.loads(item), ignore))  # noqa: S301 - written by `WorkerPool.run`


# -- threads ------------------------------------------------------------------------------------------------------

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
