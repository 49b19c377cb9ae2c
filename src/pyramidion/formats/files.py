"""Read hostile files safely and write files atomically. Reading is bounded and says where it failed. Writing goes to
a temporary file beside the target that is renamed at the end, so a reader never sees half a file and a failed run
leaves the old file unchanged."""

from __future__ import annotations

import codecs
import csv
import json
import math
import os
import re
import shutil
import tempfile
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import quote, unquote

from pyramidion.errors import Problems, UsageError
from pyramidion.formats.line_ends import open_lines

MAX_LINE = 32 * 1024 * 1024
"""Longest line accepted, in bytes. The longest real one (a document set) is far below 1 MiB."""

MAX_TEXT = 8 * 1024 * 1024
"""Longest single text accepted, in bytes or characters: no summary is as long as ten novels, and ROUGE would need 20
times as much memory."""

csv.field_size_limit(MAX_LINE)

_MARKS = re.compile(r"\s*(?:(?:</?[tsqn]>|<S_SEP>|\[X_SEP\])\s*)+")


def break_at_marks(text: str) -> str:
    """The text with a line feed for the marks that tools for news put around or between sentences: ``<t> ... </t>``,
    ``<s>``, ``<q>``, ``<n>``. They are boundaries, never words."""
    if ("<" not in text and "[X_SEP]" not in text) or not _MARKS.search(text):
        return text
    return _MARKS.sub("\n", text).strip("\n")


def is_too_long(size: int, where: str, problems: Problems) -> bool:
    """Whether a text is too long to be a summary; reported."""
    if size > MAX_TEXT:
        what = f"is {size / 2**20:,.0f} MiB long; a text may have up to {MAX_TEXT // 2**20} MiB"
        problems.error(where, f"{what}: is it one text, or a whole collection?")
    return size > MAX_TEXT


def read_text(path: Path, problems: Problems) -> str | None:
    """A whole text file with its line ends: UTF-8, with or without a byte order mark; marks of sentences become line
    feeds.

    Other bytes are an error that names its place, and the text is missing: a substitute for unreadable characters
    would be scored as if somebody had written it.
    """
    if is_too_long(path.stat().st_size, str(path), problems):
        return None
    raw = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    try:
        return break_at_marks(raw.decode())
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        problems.error(str(path), f"line {line}: byte {raw[error.start]:#04x} is not UTF-8; save the file as UTF-8")
        return None


class _Line(NamedTuple):
    """``text`` of an unsound line is there for its quotes only."""

    number: int
    text: str
    sound: bool


def _lines(path: Path, problems: Problems, *, utf16: bool = False) -> Iterator[_Line]:
    """Numbered lines without their line feed, one at a time. What cannot be read is reported."""
    number = 0
    with open_lines(path, MAX_LINE, utf16=utf16) as read:
        try:
            while raw := read():
                number += 1
                if len(raw) >= MAX_LINE and not raw.endswith(b"\n"):
                    problems.error(f"{path}, line {number}", f"is longer than {MAX_LINE // 2**20} MiB")
                    while (rest := read()) and not rest.endswith(b"\n"):
                        pass
                    yield _Line(number, "", False)
                    continue
                text = raw.removesuffix(b"\n")
                if number == 1:
                    text = text.removeprefix(codecs.BOM_UTF8)
                try:
                    yield _Line(number, text.decode(), True)
                except UnicodeDecodeError as error:
                    what = f"byte {text[error.start]:#04x} is not UTF-8; save the file as UTF-8"
                    problems.error(f"{path}, line {number}", what)
                    yield _Line(number, text.decode(errors="replace"), False)
        except UnicodeDecodeError as error:  # of UTF-16, after which nothing is certain
            what = f"is not UTF-16, though the file begins like it: {error.reason}; save the file as UTF-8"
            problems.error(f"{path}, line {number + 1}", what)
            yield _Line(number + 1, "", False)


def read_lines(path: Path, problems: Problems) -> Iterator[tuple[int, str]]:
    """The lines that can be read, with their numbers; the others are reported."""
    return ((line.number, line.text) for line in _lines(path, problems) if line.sound)


def read_every_line(path: Path, problems: Problems) -> list[str | None]:
    """All lines, where the number of a line says what it is about: None for one that cannot be read."""
    return [line.text.removesuffix("\r") if line.sound else None for line in _lines(path, problems)]


def read_cells(path: Path, problems: Problems) -> Iterator[tuple[str, list[str]]]:
    """The rows of a CSV, each with its address, as Python's csv module and pandas read them: a quote in the middle of
    a cell is part of it. What cannot be read is reported and left out, and reading goes on."""
    return ((where, row) for where, row in _every_row(path, problems) if row is not None)


def _every_row(path: Path, problems: Problems) -> Iterator[tuple[str, list[str] | None]]:
    """The rows of a CSV; None for one that cannot be read, which is reported."""
    unsound: set[int] = set()
    at_end = False

    def texts() -> Iterator[str]:
        nonlocal at_end
        for line in _lines(path, problems, utf16=True):
            if not line.sound:
                unsound.add(line.number)
            yield line.text + "\n"
        at_end = True

    reader = csv.reader(texts(), delimiter=_delimiter(path), skipinitialspace=True)
    done = 0
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            problems.error(f"{path}, line {reader.line_num}", f"is not CSV: {error}")
            yield "", None
        else:
            if at_end:  # every line ends in a line feed, so only an open quote makes the reader look for another line
                what = f"has a quote that is never closed, so {reader.line_num - done} lines up to the end are one cell"
                problems.error(f"{path}, line {done + 1}", f"{what} and are left out")
            sound = not at_end and unsound.isdisjoint(range(done + 1, reader.line_num + 1))
            yield f"{path}, line {reader.line_num}", row if sound else None
        done = reader.line_num


def _delimiter(path: Path) -> str:
    """What is between the cells: as the first line has it, for spreadsheets write semicolons in half of Europe."""
    if path.suffix.lower() in {".tsv", ".tab"}:
        return "\t"
    with open_lines(path, 1 << 20, utf16=True) as read:
        try:
            first = re.sub(rb'"[^"]*"', b"", read())
        except UnicodeDecodeError:
            return ","
    return max(",;\t", key=lambda mark: (mark == "," and b"," in first, first.count(mark.encode())))


def read_rows(path: Path, problems: Problems) -> Iterator[tuple[str, dict[str, str]]]:
    """Rows of a CSV with a header, each with its address; spaces around names are removed. Says how many were left
    out."""
    header: list[str] | None = None
    rows = lost = 0
    for where, row in _every_row(path, problems):
        if row is not None and not any(cell.strip() for cell in row):
            continue
        if header is None and row is not None:
            header = [plain_cell(name.strip()) for name in row]
            continue
        rows += 1
        if header is None or row is None:
            lost += 1
        elif len(row) != len(header):
            problems.error(where, f"has {len(row)} cells, but the header has {len(header)}")
            lost += 1
        else:
            yield where, {name: plain_cell(cell) for name, cell in zip(header, row, strict=True)}
    if lost:
        problems.warning(str(path), f"{lost:,} of {rows:,} rows cannot be read and are left out")


def read_header(path: Path) -> list[str]:
    """The column names of a CSV file, or nothing if it has none. Never raises an error on unexpected content."""
    try:
        cells = next((row for _, row in read_cells(path, Problems()) if any(cell.strip() for cell in row)), [])
    except OSError:
        return []
    return [plain_cell(name.strip()) for name in cells]


_FORMULA, _SEPARATORS = frozenset("=+-@\N{MINUS SIGN}"), frozenset("\t\r")
LONGEST_NAME = 80
_UNSEEN_CATEGORIES = {"Cc", "Cf", "Mn", "Me", "Zs", "Zl", "Zp"}
_BLANK_LETTERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters by their category that show nothing: fillers of Hangul, and the empty Braille pattern."""


def _is_formula(text: str) -> bool:
    """Whether a spreadsheet might run a cell: its first character that shows is one of a formula, in any width.

    What shows nothing (spaces, format characters, marks) and apostrophes before it are passed over, since programs
    differ in what they strip.
    """
    for character in text:
        if character in _SEPARATORS:
            return True
        if character == "'" or character in _BLANK_LETTERS or unicodedata.category(character) in _UNSEEN_CATEGORIES:
            continue
        return unicodedata.normalize("NFKC", character)[:1] in _FORMULA
    return False


def safe_cell(text: str) -> str:
    """A cell no spreadsheet runs as a formula: an apostrophe goes before a dangerous beginning."""
    return f"'{text}" if _is_formula(text) else text


def plain_cell(cell: str) -> str:
    """Undo ``safe_cell``."""
    return cell[1:] if cell.startswith("'") and _is_formula(cell) else cell


def write_rows(
    file: IO[str], header: Sequence[str], rows: Iterable[Sequence[str | float | None]], *, delimiter: str = ","
) -> None:
    """CSV with safe text cells; numbers stay numbers, None is an empty cell."""
    file.write(delimiter.join(map(_to_cell, header)) + "\n")
    for row in rows:
        file.write(delimiter.join(_to_cell(cell) for cell in row) + "\n")


def _to_cell(cell: str | float | None) -> str:
    if cell is None:
        return ""
    if not isinstance(cell, str):
        return repr(cell)
    return _name_cell(cell) if len(cell) <= LONGEST_NAME else _quote(safe_cell(cell))


@lru_cache(maxsize=20_000)
def _name_cell(text: str) -> str:
    """The same ids come in row after row."""
    return _quote(safe_cell(text))


def _quote(text: str) -> str:
    """The csv module leaves a bare carriage return or outer spaces unquoted, which read back as something else."""
    needs = text != text.strip() or any(character in text for character in ',\t"\r\n')
    return '"' + text.replace('"', '""') + '"' if needs else text


class BadLineError(ValueError):
    """A line that cannot be used; its message goes to the problems with the line's address."""


def _no_constant(name: str) -> float:
    raise BadLineError(f"{name} is not a valid value; write null for a missing value")


_STRICT = json.JSONDecoder(parse_constant=_no_constant)


def parse_json(text: str) -> Any:
    """A JSON value, strictly: no NaN, no lone surrogates, nothing that only JavaScript accepts."""
    try:
        held = _STRICT.decode(text)
        if "\\ud" in text or "\\uD" in text:
            json.dumps(held, ensure_ascii=False).encode("utf-8")
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column" if "\n" in text else "column"
        raise BadLineError(f"is not JSON: {error.msg} at {place} {error.colno}") from None
    except UnicodeEncodeError:
        raise BadLineError("holds half of a surrogate pair, which is not text") from None
    except RecursionError:
        raise BadLineError("is nested too deeply") from None
    except BadLineError:
        raise
    except ValueError as error:  # an integer with more digits than Python converts
        raise BadLineError(f"is not JSON: {error}") from None
    return held


def parse_object(line: str) -> dict[str, Any]:
    """One JSON object, as strictly."""
    fields = parse_json(line)
    if not isinstance(fields, dict):
        raise BadLineError("is not a JSON object")
    return fields


def read_objects(path: Path, problems: Problems) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a JSON Lines file, each with its address; lines that hold none are reported."""
    for number, line in read_lines(path, problems):
        if line.strip():
            where = f"{path}, line {number}"
            try:
                yield where, parse_object(line)
            except BadLineError as error:
                problems.error(where, str(error))


def first_fields(path: Path) -> dict[str, Any]:
    """The object in the first line of a JSON Lines file; empty where that is not an object."""
    try:
        return parse_object(next(read_lines(path, Problems()), (1, ""))[1])
    except BadLineError:
        return {}


def parse_number(text: str) -> float | None:
    """A finite number, or None where the text is not one."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def to_file_name(id: str) -> str:
    """An id as a file name that every system accepts, and that ``from_file_name`` turns back."""
    name = quote(id, safe=" !#$&'()+,;=@[]{}~^")
    name = name.encode("ascii").decode()
    return name.replace(".", "%2E", 1) if name.startswith(".") else name


def from_file_name(name: str) -> str:
    return unquote(name)


@contextmanager
def new_file(path: Path) -> Iterator[IO[str]]:
    """Open a file for writing text exactly; it gets its name only when the block ends without error."""
    if path.is_dir():
        raise UsageError(f"{path} is a folder, not a file")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:80]}.", suffix=".part")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _allow_others_to_read(Path(temporary))
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


@contextmanager
def new_folder(path: Path, *, instead_of: bool = False) -> Iterator[Path]:
    """A folder that gets its name only when the block ends without error. An existing one must be empty; if it is to
    be replaced, it goes in that moment, and the caller has made sure that nothing in it is missed."""
    if path.exists() and not instead_of and (not path.is_dir() or any(path.iterdir())):
        raise UsageError(f"{path} already exists; choose another name or remove it first")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name[:80]}.", suffix=".part"))
    try:
        yield temporary
        if not any(temporary.iterdir()):
            raise UsageError(f"{path} is not written: the format can hold nothing of this study")
        _allow_others_to_read(temporary, executable=True)
        if path.exists() and instead_of:
            old = path.replace(temporary.with_suffix(".old"))
            temporary.replace(path)
            shutil.rmtree(old, ignore_errors=True)
            return
        if path.exists():
            path.rmdir()
        temporary.replace(path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def _allow_others_to_read(path: Path, executable: bool = False) -> None:
    """mkstemp makes private files; give them the permissions an ordinary new file would have."""
    mask = os.umask(0)
    os.umask(mask)
    path.chmod((0o777 if executable else 0o666) & ~mask)


def write_text(path: Path, text: str) -> None:
    """Write a text exactly, line ends included. Inside ``new_folder``, which makes the whole appear at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8"))


def subfolders(path: Path) -> list[Path]:
    return sorted(entry for entry in path.iterdir() if entry.is_dir() and not entry.name.startswith("."))


def files(path: Path, suffix: str) -> list[Path]:
    """Visible files with a suffix, sorted by name; none where the folder is missing."""
    if not path.is_dir():
        return []
    return sorted(
        e for e in path.iterdir() if e.is_file() and e.suffix.lower() == suffix and not e.name.startswith(".")
    )
