"""The lines of a file, whatever they end in: line feeds, carriage returns and line feeds, or carriage returns alone."""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_START = 1 << 20
"""So many bytes tell how the lines of a file end."""
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@contextmanager
def open_lines(path: Path, longest: int, *, utf16: bool = False) -> Iterator[Callable[[], bytes]]:
    """A function that reads the next line of a file, up to ``longest``, with a line feed wherever it ended in one, or
    in the carriage return of a file that has no line feeds. With ``utf16`` a file that begins with the byte order mark
    of UTF-16, as spreadsheets write it, is read as UTF-8."""
    with path.open("rb") as file:
        start = file.read(_START)
        file.seek(0)
        is_utf16 = utf16 and start.startswith(_UTF16)
        end = "\r" if b"\r" in start and b"\n" not in start else "\n"
        if end == "\n" and not is_utf16:
            yield lambda: file.readline(longest)
            return
        text = io.TextIOWrapper(file, "utf-16" if is_utf16 else "latin-1", newline=end)

        def read() -> bytes:
            line = text.readline(longest)
            line = line.removesuffix(end) + "\n" if line.endswith(end) else line
            return line.encode("utf-8" if is_utf16 else "latin-1")

        yield read
