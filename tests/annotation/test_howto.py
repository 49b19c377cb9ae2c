"""What the guide for annotators says of the time saved is what was counted."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_both_shares_of_the_time_are_given() -> None:
    counted = (ROOT / "benchmarks" / "results" / "desk_keystrokes.md").read_text(encoding="utf-8")
    (shares,) = re.findall(r"instead of .*?\((\d+%)\); with M, .*? instead of .*?\((\d+%)\)", counted)
    guide = (ROOT / "docs" / "howto" / "annotate.md").read_text(encoding="utf-8")
    (told,) = (part for part in guide.split("\n\n") if "desk_keystrokes.md" in part)
    assert tuple(re.findall(r"\d+%", told)) == shares
