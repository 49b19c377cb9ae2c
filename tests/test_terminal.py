"""Tables on terminals of any width: nothing is cut, numbers stay on one line, and a wide table goes on below."""

from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from pyramidion.terminal import TerminalTable

NAMES = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=40)
NUMBERS = st.floats(-1000, 1000).map(lambda value: f"{value:.4f}")


def printed(table: TerminalTable, width: int) -> list[str]:
    file = io.StringIO()
    Console(file=file, width=width, force_terminal=False).print(table)
    return file.getvalue().splitlines()


@given(
    st.lists(NAMES, min_size=1, max_size=12, unique=True),
    st.lists(NAMES, min_size=1, max_size=6, unique=True),
    st.integers(60, 120),
    st.data(),
)
def test_nothing_is_cut(measures: list[str], systems: list[str], width: int, data: st.DataObject) -> None:
    rows = [(system, *(data.draw(NUMBERS) for _ in measures)) for system in systems]
    lines = printed(TerminalTable(("system", *measures), rows), width)
    text = "\n".join(lines)
    assert max(map(len, lines)) <= width
    assert "\u2026" not in text
    for system, *numbers in rows:
        assert all(number in text for number in numbers)
        assert system[:16] in text  # a longer name goes on in the next line


def test_a_wide_table_goes_on_below_with_the_names_of_its_rows() -> None:
    measures = [f"measure-{number}" for number in range(10)]
    rows = [("lead", *["0.1234"] * 10), ("offtopic", *["-"] * 10)]
    lines = printed(TerminalTable(("system", *measures), rows, title="Scores", caption="how|made"), 80)
    assert [line.split()[0] for line in lines if "0.1234" in line] == ["lead", "lead"]
    assert sum("Scores" in line for line in lines) == 1
    assert lines[-1] == "how|made"


def test_control_characters_of_a_file_do_not_reach_the_terminal() -> None:
    lines = printed(TerminalTable(("system",), [("evil\x1b[2J",)]), 80)
    assert "\x1b" not in "".join(lines)
