"""Everything that can go wrong for a user, in one small tree.

    PyramidionError
    ├── UsageError          a name, option or combination that does not exist; names those that do
    │   └── UnknownError    something requested by name or number does not exist
    ├── InputError          data that cannot be accepted; carries every Problem found
    ├── MissingExtraError   an optional part is not installed; names the command that installs it
    └── FailedError         something could not go on, though nothing was wrong with how it was started: a server
                            (ServerFailedError), the workers of long work (LostEngineError)

A ``Problem`` is not an exception: readers and methods collect problems, and only their caller decides whether to stop
(the default) or to continue and show the list (``lenient``).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal

from pyramidion.distribution import install_command

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong at one location, e.g. ``Problem("peers.csv, line 12", "value is not a number")``."""

    where: str
    what: str
    severity: Severity = "error"

    def __str__(self) -> str:
        return f"{self.where}: {self.what}" if self.where else self.what

    def as_dict(self) -> dict[str, str]:
        """The problem in JSON, in the same shape everywhere."""
        return {"severity": self.severity, "where": self.where, "what": self.what}


_NOUNS = re.compile(
    r"(line|lines|row|record|score|topic|system|unit|judge|reference|peer|aspect|task|pyramid|document|assignment"
    r"|contributor) .*"
)
_PARTICULAR = re.compile(r"'[^']*'|\"[^\"]*\"|\d+(?:[.,]\d+)*")
FEW = 3
"""So many alike are shown one by one."""


def group_alike(problems: Iterable[Problem]) -> list[Problem]:
    """The problems with those that differ only in their place, or in what they quote, as one with a count."""
    alike: dict[tuple[str, ...], list[Problem]] = {}
    for problem in problems:
        where = (_NOUNS.sub(r"\1", part) for part in problem.where.split(", "))
        alike.setdefault((problem.severity, _PARTICULAR.sub("#", problem.what), *where), []).append(problem)
    grouped: list[Problem] = []
    for same in alike.values():
        if len(same) <= FEW:
            grouped += same
        else:
            grouped.append(replace(same[0], what=f"{same[0].what} (and {len(same) - 1:,} more like this)"))
    return grouped


class Problems:
    """A growing list of problems: readers add to it instead of raising at the first one."""

    def __init__(self) -> None:
        self._items: list[Problem] = []
        self.recognised = ""
        """What a reader took the input for, in one line, where it could have been something else."""

    def error(self, where: str, what: str) -> None:
        self._items.append(Problem(where, what, "error"))

    def warning(self, where: str, what: str) -> None:
        self._items.append(Problem(where, what, "warning"))

    def extend(self, problems: Iterable[Problem]) -> None:
        self._items.extend(problems)

    @property
    def errors(self) -> list[Problem]:
        return [problem for problem in self._items if problem.severity == "error"]

    @property
    def warnings(self) -> list[Problem]:
        return [problem for problem in self._items if problem.severity == "warning"]

    def __iter__(self) -> Iterator[Problem]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)


class PyramidionError(Exception):
    """The root: catch this to catch everything this package raises on purpose."""

    def __reduce__(self) -> tuple[object, ...]:
        """Errors travel between processes as they are, whatever they are made from."""
        return _remake, (type(self), self.args, dict(self.__dict__))


def _remake(kind: type[PyramidionError], args: tuple[object, ...], parts: dict[str, object]) -> PyramidionError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(parts)
    return error


class UsageError(PyramidionError):
    """The caller asked for something that does not exist or does not fit together."""


class UnknownError(UsageError):
    """Something requested by name or number does not exist."""


class InputError(PyramidionError):
    """Data that cannot be accepted. ``problems`` lists everything found, not only the first."""

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        self.problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
        grouped = group_alike(self.problems)
        shown = [str(problem) for problem in grouped[:20]]
        if len(grouped) > len(shown):
            shown.append(f"... and {len(grouped) - len(shown)} more")
        super().__init__("\n".join(shown))


class MissingExtraError(PyramidionError):
    """An optional part is not installed."""

    def __init__(self, purpose: str, extra: str) -> None:
        self.extra = extra
        super().__init__(f"{purpose} needs an optional part. Install it with: {install_command(extra)}")


class FailedError(PyramidionError):
    """Something could not go on, though nothing was wrong with how it was started."""


class ServerFailedError(FailedError):
    """A server."""


class LostEngineError(FailedError):
    """The workers of long work, or what connects us with them."""


@contextmanager
def needs_extra(purpose: str, extra: str) -> Iterator[None]:
    """Around imports of an optional part: if it is not installed, name the extra. Other mistakes are not hidden."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("pyramidion"):
            raise
        raise MissingExtraError(purpose, extra) from None


def check_choice(what: str, value: str, known: Collection[str]) -> None:
    """Refuse a name that is not known, and list those that are."""
    if value not in known:
        raise UsageError(f"unknown {what} {value!r}; known values are: {', '.join(known)}")
