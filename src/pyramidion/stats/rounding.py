"""Numbers as text that is never on the wrong side of a limit."""

from __future__ import annotations

MOST_DIGITS = 17


def rounded_beside(value: float, limit: float, digits: int = 2) -> str:
    """A number with so many decimals, or as many more as it takes to be where it is: 0.4996 beside 0.5 is not 0.50."""
    for places in range(digits, MOST_DIGITS):
        text = f"{value:.{places}f}"
        if value == limit or (float(text) < limit, float(text) > limit) == (value < limit, value > limit):
            return text
    return repr(value)
