"""Tables as people have them (CSV, TSV, JSON Lines, JSON, Parquet, data frames, Arrow, `datasets`), as named columns
and addressed rows. Cells keep their types; what a cell means is for the reader of the table."""

from __future__ import annotations

import ast
import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from pyramidion.errors import MissingExtraError, Problems, needs_extra
from pyramidion.formats.columns import TOPIC, are_known, column_names, read_column, with_plain_columns
from pyramidion.formats.files import (
    BadLineError,
    break_at_marks,
    is_too_long,
    parse_json,
    parse_number,
    read_header,
    read_objects,
    read_rows,
)

CSV, LINES, JSON, PARQUET = (".csv", ".tsv", ".tab"), (".jsonl", ".ndjson"), (".json",), (".parquet",)
SUFFIXES = (*CSV, *LINES, *JSON, *PARQUET)
MAX_JSON = 512 * 1024 * 1024
"""Largest .json file, which is read at once; JSON Lines have no such limit."""

LONGEST_ID = 80
"""A document's name is shorter than its text."""

SAMPLE = 200
"""So many rows say what the columns of a table hold, where it is not read as a whole."""

LONGEST_LABEL = 3
"""In words: authors and genres have labels, systems write sentences."""
_CLOSING, _SENTENCE_ENDS = " \t\r\n\"'”’»)", frozenset(".!?…。！？")

Row = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True)
class RowTable:
    """Rows with their addresses. ``name`` is the file's, without suffix."""

    name: str
    columns: list[str]
    rows: list[Row]

    def holds_numbers(self, column: str) -> bool:
        """Whether a column has nothing but numbers, and at least one."""
        cells = [cell for _, row in self.rows if not is_missing(cell := row.get(column)) and cell != ""]
        return bool(cells) and all(map(is_number, cells))

    def holds_names(self, column: str) -> bool:
        """Whether a column has nothing but names in its cells."""
        return all(is_name(row.get(column)) for _, row in self.rows)

    def holds_labels(self, column: str) -> bool:
        """Whether a column has nothing but a few words in its cells, which are not sentences, and at least one such."""
        cells = [cell for _, row in self.rows if not is_missing(cell := row.get(column)) and cell != ""]
        return bool(cells) and not any(map(_is_sentence, cells))

    def holds_texts(self, column: str) -> bool:
        """Whether a column has sentences in its cells."""
        return any(_is_sentence(row.get(column)) for _, row in self.rows)

    def values(self, *columns: str) -> list[tuple[Hashable, ...]]:
        """What a column, or several together, have in each row, to be compared."""
        return [tuple(_comparable(row.get(column)) for column in columns) for _, row in self.rows]

    def repeats(self, *columns: str) -> bool:
        """Whether two rows have the same in a column, or in several together."""
        values = self.values(*columns)
        return len({*values}) < len(values)

    def may_name_systems(self, column: str) -> bool:
        """Whether a column has labels that rows share, and more than one."""
        values = self.values(column)
        return 1 < len({*values}) < len(values) and self.holds_labels(column) and not self.holds_numbers(column)


def size_in_words(**counts: int) -> str:
    """Such as 1,250 rows, 25 systems, 1 topic."""
    return ", ".join(
        f"{count:,} {things.removesuffix('s') if count == 1 else things}" for things, count in counts.items()
    )


def is_table(path: Path) -> bool:
    return path.is_file() and path.suffix.lower() in SUFFIXES and not is_parquet_study(path)


PARQUET_STUDY = b"pyramidion.study"
"""The key in a Parquet file that says that it is a whole study, and not a table of texts or judgments."""
_PARQUET_MARK = b"PAR1"
_MOST_ABOUT_PARQUET = 1 << 30


def is_parquet_study(path: Path) -> bool:
    """Whether a file is a study in Parquet, by what it says about itself at its end; without any package for it."""
    with path.open("rb") as file:
        if file.read(len(_PARQUET_MARK)) != _PARQUET_MARK:
            return False
        file.seek(max(file.seek(0, 2) - 8, 0))
        tail = file.read()
        size = int.from_bytes(tail[:4], "little")
        if tail[4:] != _PARQUET_MARK or not 0 < size < min(_MOST_ABOUT_PARQUET, file.tell() - 8):
            return False
        file.seek(-8 - size, 2)
        return PARQUET_STUDY in file.read(size)


def read_table(source: Any, problems: Problems) -> RowTable:
    """A whole table: a path, or an object with columns."""
    if not isinstance(source, Path):
        table = with_plain_columns(source)
        names = column_names(table)
        try:
            return RowTable("", names, [(f"row {n}", row) for n, row in enumerate(_by_row(names, table))])
        except BadLineError as error:
            problems.error("the table", str(error))
            return RowTable("", names, [])
    suffix = source.suffix.lower()
    unsound = len(problems.errors)
    if suffix in CSV:
        rows: list[Row] = list(read_rows(source, problems))
        return RowTable(source.stem, _checked(source, read_header(source), problems), rows)
    if suffix in LINES:
        rows = list(read_objects(source, problems))
    elif suffix in PARQUET:
        try:
            table = open_parquet(source).read()
        except BadLineError as error:
            problems.error(str(source), str(error))
            return RowTable(source.stem, [], [])
        names = column_names(table)
        rows = [(f"{source}, row {n}", row) for n, row in enumerate(_by_row(names, table), 1)]
        return RowTable(source.stem, names, rows)
    else:
        rows = list(_json_rows(source, problems))
    if rows and (lost := len(problems.errors) - unsound):
        problems.warning(str(source), f"{lost:,} of {len(rows) + lost:,} rows cannot be read and are left out")
    return RowTable(source.stem, _names_in(rows), rows)


def _names_in(rows: list[Row]) -> list[str]:
    return list(dict.fromkeys(name for _, row in rows for name in row))


def _checked(path: Path, names: list[str], problems: Problems) -> list[str]:
    for name in sorted({name for name in names if name and names.count(name) > 1}):
        problems.error(str(path), f"has the column {name!r} more than once")
    return list(dict.fromkeys(names))


def _by_row(names: list[str], table: Any) -> Iterator[dict[str, Any]]:
    columns = [read_column(table, name) for name in names]
    _check_lengths(names, columns)
    return (dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True))


def _check_lengths(names: Sequence[str], columns: Sequence[Sequence[Any]]) -> None:
    if len({len(column) for column in columns}) > 1:
        shown = ", ".join(f"{name} {len(column):,}" for name, column in zip(names, columns, strict=True))
        raise BadLineError(f"has columns of different lengths: {shown}")


def first_row(path: Path) -> dict[str, Any]:
    """The first row of a table, by which it is recognised; empty where there is none, or columns without a row."""
    table = first_rows(path, Problems(), 1)
    return dict(table.rows[0][1]) if table.rows else dict.fromkeys(table.columns)


def first_rows(path: Path, problems: Problems, most: int = SAMPLE) -> RowTable:
    """The first rows of a file that can be read, with its columns."""
    suffix = path.suffix.lower()
    try:
        if suffix in CSV:
            return RowTable(
                path.stem, list(dict.fromkeys(read_header(path))), [*islice(read_rows(path, problems), most)]
            )
        if suffix in PARQUET:
            file = open_parquet(path)
            batch = next(file.iter_batches(batch_size=most), file.schema_arrow.empty_table())
            names = column_names(batch)
            return RowTable(path.stem, names, [(str(path), row) for row in _by_row(names, batch)])
        rows: Iterator[Row] = read_objects(path, problems) if suffix in LINES else _json_rows(path, problems)
        held = [*islice(rows, most)]
        return RowTable(path.stem, _names_in(held), held)
    except (MissingExtraError, OSError, BadLineError) as error:
        problems.error(str(path), str(error))
        return RowTable(path.stem, [], [])


def open_parquet(path: Path) -> Any:
    with needs_extra("Parquet", "parquet"):
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    try:
        return ParquetFile(path)
    except (ArrowException, ValueError) as error:
        raise BadLineError(f"is not Parquet: {error}") from None


# -- JSON --------------------------------------------------------------------------------------------------------


def _json_rows(path: Path, problems: Problems) -> Iterator[Row]:
    """The objects of a list, also of one inside an object; objects by id; or columns by name, as data frames are
    written."""
    if (size := path.stat().st_size) > MAX_JSON:
        problems.error(str(path), f"is {size / 2**20:,.0f} MiB long; write so many rows as JSON Lines")
        return
    try:
        text = path.read_bytes().decode("utf-8-sig")
        held = parse_json(text) if text.strip() else []
    except UnicodeDecodeError as error:
        problems.error(str(path), f"byte {error.object[error.start]:#04x} is not UTF-8; save the file as UTF-8")
        return
    except BadLineError as error:
        problems.error(str(path), str(error))
        return
    try:
        listed = held if isinstance(held, list) else _inner_rows(held)
    except BadLineError as error:
        problems.error(str(path), str(error))
        return
    if listed is None:
        problems.error(str(path), "holds no list of objects, one per row")
        return
    for number, row in enumerate(listed, 1):
        if isinstance(row, dict):
            yield f"{path}, record {number}", row
        else:
            problems.error(f"{path}, record {number}", "is not an object")


def _inner_rows(held: Any) -> list[Any] | None:
    if not isinstance(held, dict) or not held:
        return None
    inner = [value for value in held.values() if isinstance(value, list) and any(isinstance(x, dict) for x in value)]
    if len(inner) == 1:
        return list(inner[0])
    names, rows = held.get("columns"), held.get("data")
    if (
        isinstance(names, list)
        and isinstance(rows, list)
        and all(isinstance(r, list) and len(r) == len(names) for r in rows)
    ):
        return [dict(zip(map(str, names), row, strict=True)) for row in rows]  # a data frame, split
    if all(isinstance(value, dict) for value in held.values()):
        names = list(dict.fromkeys(name for row in held.values() for name in row))
        if are_known(names) and not are_known(list(held)):  # the rows by id: otherwise the names would be outside
            id_name = next(name for name in (*TOPIC, "") if name not in names)
            return [{id_name: id, **row} for id, row in held.items()]
    columns = [list(value.values()) if isinstance(value, dict) else value for value in held.values()]
    if not all(isinstance(column, list) for column in columns):
        return None
    _check_lengths(list(held), columns)
    return [dict(zip(held, cells, strict=True)) for cells in zip(*columns, strict=True)]


def reference_names(most: int) -> tuple[str, ...]:
    """Names for references that have none."""
    return ("reference",) if most == 1 else tuple(str(number) for number in range(1, most + 1))


# -- cells -------------------------------------------------------------------------------------------------------


class BadCellError(ValueError):
    """A cell that cannot be used; its message goes to the problems with the row's address."""


def is_missing(cell: Any) -> bool:
    """None, and what data frames have in its place."""
    return cell is None or (isinstance(cell, float) and cell != cell) or type(cell).__name__ in {"NAType", "NaTType"}


def is_number(cell: Any) -> bool:
    if isinstance(cell, str):
        return parse_number(cell) is not None
    return isinstance(cell, int | float) and not isinstance(cell, bool)


def is_name(cell: Any) -> bool:
    return is_number(cell) or (isinstance(cell, str) and len(cell) <= LONGEST_ID and "\n" not in cell)


def _comparable(cell: Any) -> Hashable:
    """A text, a number or a list of texts; of anything else only its type, for it may be nested without end."""
    if isinstance(cell, str | int | float) and not is_missing(cell):
        return cell
    items = _items(cell)
    named = type(cell).__name__
    return named if items is None else tuple(i if isinstance(i, str) else type(i).__name__ for i in items)


def _is_sentence(cell: Any) -> bool:
    """Whether a cell has more than a few words, or ends as a sentence does; a list may be of sentences."""
    for text in [cell] if isinstance(cell, str) else _items(cell) or ():
        if isinstance(text, str):
            ends = text.rstrip(_CLOSING)[-1:] in _SENTENCE_ENDS
            if ends or len(text.split(None, LONGEST_LABEL)) > LONGEST_LABEL:
                return True
    return False


def name_in(cell: Any, column: str) -> str:
    """A name: a text, or a whole number, which data frames turn into a fraction where one is missing."""
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    if isinstance(cell, str | int) and not isinstance(cell, bool) and (name := str(cell).strip()):
        return name
    raise BadCellError(
        f"{column} is {'empty' if is_missing(cell) or cell == '' else f'{cell!r:.40}, which is not a name'}"
    )


def text_in(cell: Any, column: str, where: str, problems: Problems) -> str | None:
    """A text, or sentences in a list; None if it is too long, which is reported."""
    if (items := _items(cell)) is not None and all(isinstance(item, str) for item in items):
        cell = "\n".join(items)
    if is_missing(cell) or (isinstance(cell, str) and cell.strip() in {"nan", "NaN", "<NA>"}):
        raise BadCellError(f"{column} is missing ({'null' if cell is None else cell})")
    if not isinstance(cell, str):
        nested = isinstance(cell, Mapping) or _items(cell) is not None
        what = "nested" if nested else "a number" if is_number(cell) else type(cell).__name__
        raise BadCellError(f"{column} is {what} ({cell!r:.40}), where a text is expected")
    return None if is_too_long(len(cell), where, problems) else break_at_marks(cell)


def texts_in(cell: Any, column: str, where: str, problems: Problems) -> list[str]:
    """The texts of a cell: one, or several in a list, or in a list as JSON or Python writes it. None if missing."""
    if is_missing(cell) or cell == "":
        return []
    items = _items(_listed(cell) if isinstance(cell, str) else cell)
    read = [text_in(item, column, where, problems) for item in ([cell] if items is None else items)]
    return [text for text in read if text is not None]


def _items(cell: Any) -> list[Any] | None:
    """What is in a list, or in an array; None for anything else."""
    if hasattr(cell, "tolist"):
        cell = cell.tolist()
    return list(cell) if isinstance(cell, Sequence) and not isinstance(cell, str | bytes) else None


def _listed(cell: str) -> Any:
    if not (cell.startswith(("[", "(")) and cell.rstrip().endswith(("]", ")"))):
        return cell
    for parse in (json.loads, ast.literal_eval):
        try:
            held = parse(cell)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(held, list | tuple) and held and all(isinstance(i, str) or _is_list_of_texts(i) for i in held):
            return list(held)
    return cell


def _is_list_of_texts(cell: Any) -> bool:
    items = _items(cell)
    return items is not None and len(items) > 0 and all(isinstance(item, str) for item in items)


def joins_texts(cell: Any, *, inside_a_list: bool = False) -> bool:
    """Whether a cell has several texts that are read as the sentences of one: in a list, or in one inside a list."""
    if inside_a_list:
        held = _items(_listed(cell) if isinstance(cell, str) else cell) or ()
        return any(joins_texts(item) for item in held if not isinstance(item, str))
    return _is_list_of_texts(cell) and len(_items(cell) or ()) > 1
