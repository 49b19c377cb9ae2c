"""How far the embedded judge can be trusted: its bounds, and how often its verdicts are right.

The numbers are in data/judge.json, where training leaves them; nothing of this is known about other judges.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from pyramidion.study import Judge

JUDGES = ("align", "auto")
"""The ids under which the embedded model judges."""


@cache
def model_card() -> dict[str, Any]:
    """What data/judge.json says."""
    card: dict[str, Any] = json.loads(files("pyramidion.data").joinpath("judge.json").read_text("utf-8"))
    return card


class JudgeAccuracy(NamedTuple):
    """Shares, each the lowest of all labelled collections: of what reads "expressed" that people find it too, of what
    reads "not found" that people do not, and of what people find that reads "expressed"."""

    expressed_right: float
    not_found_right: float
    recall: float | None = None


def accuracy(judge: Judge) -> JudgeAccuracy | None:
    """How often a judge is right. Nobody knows it of judges other than the embedded one, nor by other bounds."""
    card = model_card()
    bounds = (card.get("expressed"), card.get("perhaps"))
    if judge.kind != "model" or judge.id not in JUDGES or (judge.expressed, judge.perhaps) != bounds:
        return None
    measured = [held for held in card.get("held_out", {}).get("read", {}).values() if isinstance(held, dict)]
    lowest = {
        name: min(held[name] for held in measured if name in held)
        for name in JudgeAccuracy._fields
        if any(name in held for held in measured)
    }
    return JudgeAccuracy(**lowest) if {"expressed_right", "not_found_right"} <= lowest.keys() else None
