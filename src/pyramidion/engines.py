"""Where work runs, and what is kept of it: this process or several of this machine; finished parts are not done again.

Work is a function made once in each process, since models take long to load; results come in the order of the items.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Protocol, TypeVar

from pyramidion.errors import UsageError


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


_here: list[Work[Any, Any]] = []
"""A process of a pool keeps its work here."""


def _start(make: MakeWork[Any, Any], threads: int) -> None:
    _here[:] = [make(threads)]


def _work(item: Any) -> Any:
    return _here[0](item, ignore)


# -- what is finished ---------------------------------------------------------------------------------------------


def fingerprint(*inputs: object) -> str:
    """The same for the same inputs, and for nothing else."""
    return sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()


class Parts:
    """Finished parts of a run, each in a file of its own; without a folder nothing is kept.

    A part counts only under the key it was written with, which says what it was made from.
    """

    def __init__(self, folder: Path | None, suffix: str = ".json") -> None:
        self._folder, self._suffix = folder, suffix

    def read(self, name: str, key: str) -> dict[str, Any]:
        """What an earlier run has kept; nothing where it was made from something else or cannot be read."""
        try:
            held = json.loads(self._path(name).read_bytes()) if self._folder else {}
            return held if held["key"] == key else {}
        except (OSError, ValueError, KeyError, TypeError):
            return {}

    def write(self, name: str, key: str, content: Mapping[str, Any]) -> None:
        """The file appears when it is whole."""
        if self._folder is None:
            return
        path = self._path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f".{path.name}.part")
        unfinished.write_text(json.dumps({"key": key, **content}, ensure_ascii=False), encoding="utf-8")
        unfinished.replace(path)

    def _path(self, name: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{name}{self._suffix}"


JsonLine = dict[str, Any]


def append_lines(
    target: Path, make: Callable[[int], Iterable[JsonLine]], continues: Callable[[int, JsonLine], bool]
) -> Iterator[JsonLine]:
    """Write lines of JSON as they come. They wait beside the target in ``.part``, which takes its name at the end.

    ``make`` gives the lines after the first so many, which an interrupted run has written; ``continues`` says whether
    the last of those is ours. Yields each new line when it is written.
    """
    part = target.with_name(target.name + ".part")
    done, last = _whole_lines(part) if part.exists() else (0, b"")
    if done and not continues(done, json.loads(last)):
        raise UsageError(f"{part} was written from another file or with other choices; remove it to begin again")
    with part.open("a", encoding="utf-8") as file:
        for line in make(done):
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
            yield line
    part.replace(target)


def _whole_lines(part: Path) -> tuple[int, bytes]:
    """How many lines there are, and the last. What was cut off in the middle of a line is taken away."""
    done, end, last = 0, 0, b""
    with part.open("rb") as file:
        for raw in file:
            if raw.endswith(b"\n"):
                done, end, last = done + 1, end + len(raw), raw
    with part.open("ab") as file:
        file.truncate(end)
    return done, last
