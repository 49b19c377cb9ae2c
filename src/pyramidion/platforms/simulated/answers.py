"""What a simulated worker answers to a task page of any kind.

The right answer comes from ``truth`` where it is known: 0 or 1 for a unit, a rating for an aspect, the qualities of
``first`` and ``second`` in a comparison. Otherwise shared words decide: a unit is present when most of its words are
in the summary, and a summary is as good as the share of the references' words that it has.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from pyramidion.errors import check_choice
from pyramidion.platforms.simulated.statements import Cutter
from pyramidion.platforms.simulated.workers import SimulatedWorker

Page = Mapping[str, Any]
Truth = Mapping[str, float]

NOT_KNOWN: Truth = MappingProxyType({})
PRESENT = 0.6
"""From this share of a unit's words on, a summary is taken to say it."""
SAME = 0.02
"""Summaries whose qualities differ less are equally good."""
NOISE = 0.08
"""Standard deviation of a rating, as a share of the scale."""


def answer(worker: SimulatedWorker, page: Page, truth: Truth | None, rng: np.random.Generator) -> dict[str, Any]:
    """A complete answer to a task page; right or wrong, but always one that the server accepts."""
    check_choice("kind of task", page["kind"], _KINDS)
    return _KINDS[page["kind"]](worker, page, truth or NOT_KNOWN, rng)


def _judge(worker: SimulatedWorker, page: Page, truth: Truth, rng: np.random.Generator) -> dict[str, Any]:
    units = page["units"]
    if rng.random() < worker.laziness:
        return {"units": dict.fromkeys((unit["id"] for unit in units), _says_yes(worker, 0.5, rng))}
    return {"units": {unit["id"]: _presence(worker, unit, page, truth, rng) for unit in units}}


def _presence(worker: SimulatedWorker, unit: Page, page: Page, truth: Truth, rng: np.random.Generator) -> int:
    known = truth.get(unit["id"])
    present = _share(unit["label"], page["summary"]) >= PRESENT if known is None else known >= 0.5
    return _says_yes(worker, worker.accuracy if present else 1 - worker.accuracy, rng)


def _says_yes(worker: SimulatedWorker, chance: float, rng: np.random.Generator) -> int:
    return int(rng.random() < chance + worker.bias)


def _rate(worker: SimulatedWorker, page: Page, truth: Truth, rng: np.random.Generator) -> dict[str, Any]:
    if rng.random() < worker.laziness:
        # "Usually all 10s": Gillick and Liu 2010, section 3.
        return {"aspects": {aspect["id"]: math.floor(aspect["high"]) for aspect in page["aspects"]}}
    quality = _quality(page["summary"], page["references"])
    right = rng.random() < worker.accuracy
    return {"aspects": {a["id"]: _rating(worker, a, truth.get(a["id"]), quality, right, rng) for a in page["aspects"]}}


def _rating(
    worker: SimulatedWorker,
    aspect: Page,
    known: float | None,
    quality: float,
    right: bool,
    rng: np.random.Generator,
) -> int:
    low, high = aspect["low"], aspect["high"]
    place = quality if known is None else (known - low) / (high - low)
    seen = (place if right else 1 - place) + worker.bias + NOISE * rng.standard_normal()
    return int(min(max(round(low + seen * (high - low)), math.ceil(low)), math.floor(high)))


def _compare(worker: SimulatedWorker, page: Page, truth: Truth, rng: np.random.Generator) -> dict[str, Any]:
    if rng.random() < worker.laziness:
        return {"winner": "first"}
    first, second = (
        truth.get(name, _quality(text, page["references"]))
        for name, text in zip(("first", "second"), page["candidates"], strict=True)
    )
    if abs(first - second) < SAME:
        if rng.random() < worker.accuracy:
            return {"winner": "tie"}
        chance = 0.5
    else:
        chance = worker.accuracy if first > second else 1 - worker.accuracy
    return {"winner": "first" if _says_yes(worker, chance, rng) else "second"}


def _write(worker: SimulatedWorker, page: Page, _truth: Truth, rng: np.random.Generator) -> dict[str, Any]:
    cutter = Cutter(" ".join(page["references"]), rng)
    wanted = page["statements"]
    written = cutter.statements(wanted)
    if rng.random() < worker.laziness:
        return {"statements": written[:1] * wanted, "pasted": []}
    for number in range(wanted):
        if rng.random() >= worker.accuracy:
            written[number] = cutter.too_long() if number == 0 or rng.random() < 0.5 else written[number - 1]
    return {"statements": written, "pasted": []}


_KINDS: dict[str, Callable[[SimulatedWorker, Page, Truth, np.random.Generator], dict[str, Any]]] = {
    "write": _write,
    "judge": _judge,
    "rate": _rate,
    "compare": _compare,
}


# -- shared words --------------------------------------------------------------------------------------------


def _quality(text: str, references: list[str]) -> float:
    """From 0 to 1; in the middle where there is nothing to compare with."""
    told = [_share(reference, text) for reference in references if reference.strip()]
    # The root, since good summaries share only a quarter of their words: ratings then use the whole scale.
    return math.sqrt(sum(told) / len(told)) if told else 0.5


def _share(wanted: str, text: str) -> float:
    """The share of one text's words that another has."""
    words = _words(wanted)
    return len(words & _words(text)) / len(words) if words else 0.0


def _words(text: str) -> set[str]:
    """Words of more than three letters, which are mostly content; all of them where a text has only short ones."""
    words = set(re.findall(r"\w+", text.casefold()))
    return {word for word in words if len(word) > 3} or words
