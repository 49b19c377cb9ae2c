"""Who was asked what: a task is one peer summary with units to judge; an assignment is one person doing it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Task:
    """One peer summary and the units shown with it, in the order shown."""

    id: str
    topic: str
    system: str
    units: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Assignment:
    """One judge working on one task; at most one assignment per task and judge. Times as the source wrote them."""

    task: str
    judge: str
    id: str = ""
    accepted: str = ""
    submitted: str = ""
    seconds: float | None = None
