"""Numbers as text that is never on the wrong side of a limit."""

from __future__ import annotations

MOST_DIGITS = 17


def rounded_beside(value: float, *limits: float, digits: int = 2) -> str:
    """A number rounded to the given decimals, or to more if needed to stay on its side of a limit: 0.4996 is not
    shown as 0.50 if the limit is 0.5."""
    for places in range(digits, MOST_DIGITS):
        text = f"{value:.{places}f}"
        if all(value == limit or _side(float(text), limit) == _side(value, limit) for limit in limits):
            return text
    return repr(value)


def _side(value: float, limit: float) -> int:
    return (value > limit) - (value < limit)
