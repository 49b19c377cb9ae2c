"""Work for the tests of engines: worker processes import it from here."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from pyramidion.engines import Advance, Work
from pyramidion.errors import UsageError


@dataclass(frozen=True)
class Number:
    value: int
    size: int = 1


@dataclass(frozen=True)
class Squared:
    value: int
    process: int
    made: int
    """How often the work had been made in that process."""


_made: list[int] = []


def make_squares(_threads: int | None) -> Work[Number, Squared]:
    _made.append(os.getpid())

    def square(number: Number, advance: Advance) -> Squared:
        advance(number.size)
        return Squared(number.value**2, os.getpid(), len(_made))

    return square


def square(value: int) -> int:
    return value**2


def refuse(value: int) -> int:
    raise UsageError(f"{value} is too much")


def die(value: int) -> int:
    if value == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return value


def die_once(mark: Path, value: int) -> int:
    """The first who is asked about 2 is killed."""
    if value == 2 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return value


def wait_for(mark: Path, value: int) -> int:
    """0 is done when somebody says so."""
    while value == 0 and not mark.exists():
        time.sleep(0.01)
    return value


def sleep_long(mark: Path, value: int) -> int:
    if value:
        time.sleep(20)
        mark.touch()
    return value


def wait_once(mark: Path, value: int) -> int:
    """The first who is asked about 2 says who it is, and waits for the worst."""
    if value == 2 and not mark.exists():
        mark.with_suffix(".new").write_text(str(os.getpid()))
        mark.with_suffix(".new").rename(mark)
        time.sleep(120)
    return value


def hold_open(pipe: Path, value: int) -> int:
    """The pipe is open for as long as this process lives; 1 takes long."""
    _held.append(pipe.open("w"))
    print(value, file=_held[-1], flush=True)
    if value:
        time.sleep(120)
    return value


_held: list[TextIO] = []
