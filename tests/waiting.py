"""Waiting for what happens sooner or later."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
PATIENCE = 90.0  # only what never happens fails


def until(happened: Callable[[], T], what: str = "it") -> T:
    """The first answer that counts as true, asked for again and again."""
    end = time.monotonic() + PATIENCE
    while not (found := happened()):
        assert time.monotonic() < end, f"{what} never happened"
        time.sleep(0.02)
    return found
