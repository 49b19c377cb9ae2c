"""TEMPORARY: stands in for the statistics until they land."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist, mean, stdev
from typing import Any, Literal

from pyramidion.errors import UsageError
from pyramidion.study import Study


@dataclass(frozen=True)
class Goal:
    kind: Literal["top", "ranking", "width", "pairs"]
    target: float | None = None

    @classmethod
    def parse(cls, text: str) -> Goal:
        if text in {"top", "ranking"}:
            return cls(text)  # type: ignore[arg-type]
        if match := re.fullmatch(r"width=([\d.]+)", text):
            return cls("width", float(match[1]))
        if match := re.fullmatch(r"pairs=([\d.]+)%", text):
            return cls("pairs", float(match[1]) / 100)
        raise UsageError(f"unknown goal {text!r}; use top, ranking, width=0.03 or pairs=90%")

    def __str__(self) -> str:
        if self.kind == "width":
            return f"width={self.target:g}"
        return f"pairs={100 * (self.target or 0):g}%" if self.kind == "pairs" else self.kind


@dataclass(frozen=True)
class Standing:
    system: str
    score: float
    low: float
    high: float
    active: bool


@dataclass(frozen=True)
class DecidedPair:
    better: str
    worse: str
    difference: float
    low: float
    high: float
    look: int


@dataclass(frozen=True)
class Look:
    number: int
    looks: int
    question: str
    standings: tuple[Standing, ...]
    decided: tuple[DecidedPair, ...]
    pairs: int
    active: tuple[str, ...]
    reached: bool
    asked: int
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Look:
        return cls(
            **{
                **stored,
                "standings": tuple(Standing(**one) for one in stored["standings"]),
                "decided": tuple(DecidedPair(**one) for one in stored["decided"]),
                "active": tuple(stored["active"]),
                "notes": tuple(stored["notes"]),
            }
        )


def take_look(
    study: Study,
    *,
    people: str = "crowd",
    model: str,
    goal: Goal,
    number: int,
    looks: int,
    question: str,
    earlier: Look | None = None,
    pyramid: str | None = None,
) -> Look:
    crowd = {judge.id for judge in study.judges if judge.kind == people}
    parts = {task.id: (task.stratum, task.place, task.system) for task in study.tasks if task.stratum}
    said: dict[tuple[str, int, str], list[float]] = defaultdict(list)
    for judgment in study.judgments:
        if judgment.judge in crowd and judgment.task in parts and judgment.value is not None:
            said[parts[judgment.task]].append(judgment.value)
    cells = {key: mean(values) for key, values in said.items()}
    systems = sorted({system for _, _, system in cells})
    if not systems:
        raise UsageError("nobody has answered anything")
    by_system = {s: {key[:2]: value for key, value in cells.items() if key[2] == s} for s in systems}
    pairs = list(combinations(systems, 2))
    z = NormalDist().inv_cdf(1 - 0.05 / looks / max(len(pairs), 1) / 2)
    decided = {frozenset((d.better, d.worse)): d for d in (earlier.decided if earlier else ())}
    for a, b in pairs:
        shared = [by_system[a][key] - by_system[b][key] for key in by_system[a] if key in by_system[b]]
        if frozenset((a, b)) in decided or len(shared) < 3:
            continue
        middle, error = mean(shared), stdev(shared) / math.sqrt(len(shared))
        if abs(middle) > z * error:
            better, worse = (a, b) if middle > 0 else (b, a)
            size = abs(middle)
            pair = DecidedPair(better, worse, size, size - z * error, size + z * error, number)
            decided[frozenset((a, b))] = pair
    active = [s for s in systems if any(frozenset((s, o)) not in decided for o in systems if o != s)]
    if earlier:
        active = [s for s in active if s in earlier.active]
    standings = []
    for system in systems:
        values = list(by_system[system].values())
        error = stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.5
        middle = mean(values)
        standings.append(Standing(system, middle, middle - z * error, middle + z * error, system in active))
    wanted = {"ranking": 1.0, "top": 1.0, "width": 2.0, "pairs": goal.target or 1.0}[goal.kind]
    return Look(
        number,
        looks,
        question,
        tuple(sorted(standings, key=lambda one: -one.score)),
        tuple(decided.values()),
        len(pairs),
        tuple(active),
        len(decided) >= wanted * len(pairs),
        len(cells),
        (),
    )
