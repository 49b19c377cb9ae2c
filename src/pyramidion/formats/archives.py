"""A folder or file packed into one file: .zip, .tar, .tar.gz, .tar.bz2, .tar.xz. It is unpacked aside and read like any
other. Archives come from anywhere: nothing is written outside the folder, links and devices are refused, and what comes
out is counted as it comes, since a few kilobytes may promise terabytes."""

from __future__ import annotations

import lzma
import tarfile
import tempfile
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from pyramidion.errors import UsageError

SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
MOST_FILES = 200_000
MOST_TIMES, AT_LEAST, AT_MOST = 30, 64 * 2**20, 4 * 2**30
"""What comes out may have so many times the size of the archive, which no text reaches, but always so many bytes, and
never more than so many."""
MAX_DEPTH, MAX_NAME = 20, 255
CHUNK = 1024 * 1024
LITTER = frozenset({"__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini"})
"""What file managers put beside the files of people."""


class Packed(NamedTuple):
    name: str
    file: IO[bytes]


def is_archive(path: Path) -> bool:
    return path.name.lower().endswith(SUFFIXES) and path.is_file()


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """The folder or file in an archive, for as long as the block lasts."""
    with tempfile.TemporaryDirectory(prefix="pyramidion-") as folder:
        try:
            _unpack(path, Path(folder))
        except (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, RuntimeError) as error:
            raise UsageError(f"{path} cannot be unpacked: {error}") from None
        yield innermost(Path(folder))


def innermost(folder: Path) -> Path:
    """What a folder is about: while it holds nothing but one folder or one file, that."""
    held = [one for one in folder.iterdir() if one.name not in LITTER]
    while len(held) == 1:
        folder = held[0]
        held = [one for one in folder.iterdir() if one.name not in LITTER] if folder.is_dir() else []
    return folder


def safe_name(name: str) -> tuple[str, ...]:
    """The parts of a file's name inside a folder; raises UsageError where it could lead anywhere else."""
    parts = tuple(unicodedata.normalize("NFC", name).split("/"))
    unsafe = any(part in {"", ".", ".."} or len(part.encode(errors="replace")) > MAX_NAME for part in parts)
    odd = "\\" in name or any(unicodedata.category(letter) in {"Cc", "Cs"} for letter in name)
    if unsafe or odd or len(parts) > MAX_DEPTH or ":" in parts[0]:
        raise UsageError(f"the file name {name[:200]!r} is not allowed: give names of files inside one folder")
    return parts


def _unpack(path: Path, folder: Path) -> None:
    left = min(max(MOST_TIMES * path.stat().st_size, AT_LEAST), AT_MOST)
    files = _zipped(path) if zipfile.is_zipfile(path) else _tarred(path)
    for number, (name, file) in enumerate(files, 1):
        if number > MOST_FILES:
            raise UsageError(f"{path} holds more than {MOST_FILES:,} files")
        parts = safe_name(name.removeprefix("./"))
        if LITTER.intersection(parts):
            continue
        target = folder.joinpath(*parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists():
            raise UsageError(f"{path} holds {name} twice")
        with file, target.open("xb") as out:
            while piece := file.read(CHUNK):
                left -= len(piece)
                if left < 0:
                    raise UsageError(f"{path} holds far more than its size allows for texts, so it is not unpacked")
                out.write(piece)


def _zipped(path: Path) -> Iterator[Packed]:
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            if (info.external_attr >> 16) & 0o170000 == 0o120000:
                raise UsageError(f"{path} holds the link {info.filename}; pack files only")
            if not info.is_dir():
                yield Packed(info.filename, archive.open(info))


def _tarred(path: Path) -> Iterator[Packed]:
    with tarfile.open(path) as archive:
        for info in archive:
            if info.isdir():
                continue
            file = archive.extractfile(info) if info.isfile() else None
            if file is None:
                raise UsageError(f"{path} holds {info.name}, which is a link or a device; pack files only")
            yield Packed(info.name, file)
