"""Tables of an answer for terminals, spreadsheets and papers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyramidion.analysis.answer import Answer, Table, is_number_column
from pyramidion.formats.files import new_file, to_file_name, write_rows
from pyramidion.terminal import TerminalTable, printable

if TYPE_CHECKING:
    from rich.console import RenderableType

MOST_ROWS = 30
"""A terminal gets no more rows of a table than this; files get all."""
LONGEST_NAME = 120

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}


def terminal(answer: Answer[Any], *, most: int = MOST_ROWS) -> Iterator[RenderableType]:
    """What a terminal shows: the sentence, the tables, and how it was made."""
    from rich.text import Text

    yield Text(printable(answer.sentence), style="bold")
    for table in answer.tables:
        yield _draw(table, most)
    yield Text(str(answer.signature), style="dim")


def _draw(table: Table, most: int) -> TerminalTable:
    left_out = len(table.rows) - most
    caption = " ".join(filter(None, [f"... and {left_out} more rows." if left_out > 0 else "", table.note]))
    return TerminalTable(table.shown_heads, table.shown()[:most], table.title, caption, table.naming)


def numbered(path: Path, number: int) -> Path:
    """The first of several files has the given name; the others get -2, -3 and so on."""
    return path if number == 1 else path.with_name(f"{path.stem}-{number}{path.suffix}")


def file_name(id: str) -> str:
    """An id as a file name, harmless on every system; a long one is cut and ends in a hash of all of it."""
    name = to_file_name(id)
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[:LONGEST_NAME]}-{hashlib.sha256(id.encode()).hexdigest()[:12]}"


def write_csv(answer: Answer[Any], path: str | Path) -> list[Path]:
    """One CSV file per table, with full precision; returns where they are."""
    written = []
    for number, table in enumerate(answer.tables, 1):
        target = numbered(Path(path), number)
        with new_file(target) as file:
            write_rows(file, table.columns, table.plain_rows())
        written.append(target)
    return written


def latex(answer: Answer[Any]) -> str:
    """Every table as a booktabs table, ready for a paper; the signature is a comment."""
    return "\n".join([f"% {printable(str(answer.signature))}", *(_latex_table(t) for t in answer.tables)]) + "\n"


def _latex_table(table: Table) -> str:
    layout = "".join("r" if is_number_column(table, place) else "l" for place in range(len(table.columns)))
    lines = [" & ".join(map(_escape, row)) + r" \\" for row in table.shown()]
    note = f" {table.note}" if table.note else ""
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\begin{{tabular}}{{{layout}}}",
            r"\toprule",
            " & ".join(map(_escape, table.shown_heads)) + r" \\",
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            rf"\caption{{{_escape(table.title)}.{_escape(note)}}}",
            r"\end{table}",
        ]
    )


def _escape(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in printable(text))
