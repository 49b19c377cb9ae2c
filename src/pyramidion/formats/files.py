"""Read hostile files safely and write files atomically. Reading is bounded and says where it failed. Writing goes to
a temporary file beside the target that is renamed at the end, so a reader never sees half a file and a failed run
leaves the old file unchanged."""

from __future__ import annotations

import codecs
import csv
import json
import math
import os
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

MAX_LINE = 32 * 1024 * 1024
"""Longest line accepted, in bytes. The longest real one (a document set) is far below 1 MiB."""

csv.field_size_limit(MAX_LINE)


def read_text(path: Path, problems: Problems) -> str | None:
    """A whole text file exactly as it is, line ends included: UTF-8, with or without a byte order mark.

    Other bytes are an error that names its place, and the text is missing: a substitute for unreadable characters
    would be scored as if somebody had written it.
    """
    raw = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        problems.error(str(path), f"line {line}: byte {raw[error.start]:#04x} is not UTF-8; save the file as UTF-8")
        return None


class _Line(NamedTuple):
    """``text`` of an unsound line is there for its quotes only."""

    number: int
    text: str
    sound: bool


def _lines(path: Path, problems: Problems) -> Iterator[_Line]:
    """Numbered lines without their line feed, one at a time. What cannot be read is reported."""
    with path.open("rb") as file:
        number = 0
        while raw := file.readline(MAX_LINE):
            number += 1
            where = f"{path}, line {number}"
            if len(raw) == MAX_LINE and not raw.endswith(b"\n"):
                problems.error(where, f"is longer than {MAX_LINE // 2**20} MiB")
                while (rest := file.readline(MAX_LINE)) and not rest.endswith(b"\n"):
                    pass
                yield _Line(number, "", False)
                continue
            text = raw.removesuffix(b"\n")
            if number == 1:
                text = text.removeprefix(codecs.BOM_UTF8)
            try:
                yield _Line(number, text.decode(), True)
            except UnicodeDecodeError as error:
                problems.error(where, f"byte {text[error.start]:#04x} is not UTF-8; save the file as UTF-8")
                yield _Line(number, text.decode(errors="replace"), False)


def read_lines(path: Path, problems: Problems) -> Iterator[tuple[int, str]]:
    """The lines that can be read, with their numbers; the others are reported."""
    return ((line.number, line.text) for line in _lines(path, problems) if line.sound)


def read_every_line(path: Path, problems: Problems) -> list[str | None]:
    """All lines, where the number of a line says what it is about: None for one that cannot be read."""
    return [line.text.removesuffix("\r") if line.sound else None for line in _lines(path, problems)]


def read_cells(path: Path, problems: Problems, *, strict: bool = False) -> Iterator[tuple[str, list[str]]]:
    """The rows of a CSV, each with its address. A row with a line that cannot be read is reported and left out."""
    unsound: set[int] = set()

    def texts() -> Iterator[str]:
        for line in _lines(path, problems):
            if not line.sound:
                unsound.add(line.number)
            yield line.text + "\n"

    reader = csv.reader(texts(), skipinitialspace=True, strict=strict)
    done = 0
    try:
        for row in reader:
            if unsound.isdisjoint(range(done + 1, reader.line_num + 1)):
                yield f"{path}, line {reader.line_num}", row
            done = reader.line_num
    except csv.Error as error:
        problems.error(f"{path}, line {reader.line_num}", f"is not CSV: {error}")


def read_rows(path: Path, problems: Problems) -> Iterator[tuple[str, dict[str, str]]]:
    """Rows of a CSV with a header, each with its address; spaces around names and cells are removed."""
    header: list[str] | None = None
    for where, row in read_cells(path, problems, strict=True):
        if not any(cell.strip() for cell in row):
            continue
        if header is None:
            header = [plain_cell(name.strip()) for name in row]
        elif len(row) != len(header):
            problems.error(where, f"has {len(row)} cells, but the header has {len(header)}")
        else:
            yield where, {name: plain_cell(cell) for name, cell in zip(header, row, strict=True)}


def read_header(path: Path) -> list[str]:
    """The column names of a CSV file, or nothing if it has none. Never raises an error on unexpected content."""
    try:
        with path.open("rb") as file:
            first = file.readline(1 << 20).decode("utf-8-sig", errors="replace")
        return [name.strip() for name in next(csv.reader([first], skipinitialspace=True), [])]
    except (OSError, csv.Error):
        return []


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


def write_rows(file: IO[str], header: Sequence[str], rows: Iterable[Sequence[str | float | None]]) -> None:
    """CSV with safe text cells; numbers stay numbers, None is an empty cell."""
    file.write(",".join(map(_to_cell, header)) + "\n")
    for row in rows:
        file.write(",".join(_to_cell(cell) for cell in row) + "\n")


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
    needs = text != text.strip() or any(character in text for character in ',"\r\n')
    return '"' + text.replace('"', '""') + '"' if needs else text


class BadLineError(ValueError):
    """A line that cannot be used; its message goes to the problems with the line's address."""


def parse_object(line: str) -> dict[str, Any]:
    """One JSON object, strictly: no NaN, no lone surrogates, nothing that only JavaScript accepts."""
    try:
        fields = json.loads(line, parse_constant=_no_constant)
        if "\\ud" in line or "\\uD" in line:
            json.dumps(fields, ensure_ascii=False).encode("utf-8")
    except json.JSONDecodeError as error:
        raise BadLineError(f"is not JSON: {error.msg} at column {error.colno}") from None
    except UnicodeEncodeError:
        raise BadLineError("holds half of a surrogate pair, which is not text") from None
    except RecursionError:
        raise BadLineError("is nested too deeply") from None
    except BadLineError:
        raise
    except ValueError as error:  # an integer with more digits than Python converts
        raise BadLineError(f"is not JSON: {error}") from None
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


def first_fields(path: Path) -> set[str]:
    """The names of fields in the first line of a JSON Lines file; none where that is not an object."""
    try:
        return set(parse_object(next(read_lines(path, Problems()), (1, ""))[1]))
    except BadLineError:
        return set()


def parse_number(text: str) -> float | None:
    """A finite number, or None where the text is not one."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _no_constant(name: str) -> float:
    raise BadLineError(f"{name} is not a valid value; write null for a missing value")


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
def new_folder(path: Path) -> Iterator[Path]:
    """A folder that gets its name only when the block ends without error. An existing one must be empty."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise UsageError(f"{path} already exists; choose another name or remove it first")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name[:80]}.", suffix=".part"))
    try:
        yield temporary
        if not any(temporary.iterdir()):
            raise UsageError(f"{path} is not written: the format can hold nothing of this study")
        _allow_others_to_read(temporary, executable=True)
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
