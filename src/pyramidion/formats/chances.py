"""With what probability people were asked about a unit: a table with the columns topic, unit and probability."""

from __future__ import annotations

from pathlib import Path

from pyramidion.errors import InputError, Problem, Problems
from pyramidion.formats.files import parse_number, read_header, read_rows

COLUMNS = ("topic", "unit", "probability")


def read_chances(path: str | Path) -> dict[tuple[str, str], float]:
    """The probabilities by topic and unit. A row may also name a system, if all systems have the same."""
    path = Path(path)
    problems = Problems()
    if lacking := [name for name in COLUMNS if name not in read_header(path)]:
        raise InputError(Problem(str(path), f"needs the columns {', '.join(COLUMNS)}; it has no {', '.join(lacking)}"))
    found: dict[tuple[str, str], float] = {}
    for where, row in read_rows(path, problems):
        key, value = (row["topic"], row["unit"]), parse_number(row["probability"])
        if value is None or not 0 < value <= 1:
            problems.error(where, f"probability {row['probability']!r} is not a number above 0 and at most 1")
        elif found.setdefault(key, value) != value:
            what = f"unit {key[1]} of topic {key[0]} has two probabilities, {found[key]:g} and {value:g}"
            problems.error(where, f"{what}; a unit must be asked with the same one about every system")
    if problems.errors:
        raise InputError(problems.errors)
    return found
