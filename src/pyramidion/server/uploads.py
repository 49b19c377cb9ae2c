"""Files that a manager sends, written aside as they come.

A browser sends any number of files as one body: a line of JSON with the name and size of each, then their bytes, one
after the other. So a folder of ten thousand files is one request, nothing is held in memory, and there is one limit.
Nothing is kept between two requests: whoever has looked at the preview sends the same files again to add them.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import json
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import IO, Annotated, Any, NamedTuple

from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import Response

from pyramidion.campaigns.uploads import ReadChoices, add_upload, preview_upload, readable_formats
from pyramidion.errors import UsageError
from pyramidion.formats.archives import safe_name
from pyramidion.server.context import Ctx, Manager
from pyramidion.server.security import UPLOADS

router = APIRouter(tags=["manage"])

VARIABLE, DEFAULT_MB = "PYRAMIDION_UPLOAD_MB", 200
MOST_FILES = 100_000
MOST_MANIFEST = 32 * 1024 * 1024
UPLOAD_SECONDS = 900.0


def most_bytes() -> int:
    """The largest upload that is accepted, as the administrator sets it."""
    given = os.environ.get(VARIABLE, "")
    if given and not given.isdigit():
        raise UsageError(f"{VARIABLE} is a number of megabytes, not {given!r}")
    return int(given or DEFAULT_MB) * 1024 * 1024


@router.get(UPLOADS)
def what_can_be_sent(_: Manager) -> dict[str, Any]:
    """The layouts that files may be in, and how large they may be in all."""
    return {"formats": readable_formats(), "most_bytes": most_bytes()}


Choice = Annotated[str, Query(max_length=200)]


@router.post(UPLOADS)
async def send_texts(
    request: Request,
    ctx: Ctx,
    account: Manager,
    format: Choice = "",
    judge: Choice = "",
    lenient: bool = False,
    columns: Annotated[str, Query(max_length=2000)] = "{}",
    digest: Choice = "",
) -> Response:
    """Look at files: what they would add to the study, and every problem. With the ``digest`` of that preview, and the
    same files, they are added."""
    how = ReadChoices(format, _columns(columns), judge, lenient)
    with tempfile.TemporaryDirectory(prefix="pyramidion-upload-") as folder:
        received = await receive(request.stream(), Path(folder), most_bytes())
        if not digest:
            body = await ctx.reader.read(None, preview_upload, folder, how)
        elif digest != received.digest:
            raise HTTPException(409, "the files have changed since the preview; look at them again")
        else:
            body = await ctx.reader.read(None, add_upload, folder, how, account.name, received.files)
            ctx.study_changed()
    return Response(body, media_type="application/json", headers={"X-Digest": received.digest})


def _columns(text: str) -> dict[str, str]:
    try:
        given = json.loads(text)
    except ValueError:
        given = None
    if not isinstance(given, dict) or not all(isinstance(name, str) for name in given.values()):
        raise HTTPException(422, "columns is a JSON object with the name of a column for each role")
    return {role: name for role, name in given.items() if name}


# -- as they come --------------------------------------------------------------------------------------------


class SentFile(NamedTuple):
    parts: tuple[str, ...]
    size: int


class Received(NamedTuple):
    """How many files came, and a digest of all: whoever sends them again can be held to it."""

    files: int
    digest: str


async def receive(stream: AsyncIterator[bytes], folder: Path, most: int) -> Received:
    """Write what comes into a folder; refuses what is too large, cut short, or named to lead out of the folder."""
    try:
        async with asyncio.timeout(UPLOAD_SECONDS):
            return await _receive(stream, folder, most)
    except TimeoutError:
        raise HTTPException(408, "the files took too long to arrive") from None
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
            raise
        raise HTTPException(507, "there is not enough room on the server's disk for these files") from None


async def _receive(stream: AsyncIterator[bytes], folder: Path, most: int) -> Received:
    digest, total, files = hashlib.sha256(), 0, None
    head = b""
    with closing(_Writer(folder)) as writer:
        async for piece in stream:
            digest.update(piece)
            total += len(piece)
            if total > most:
                raise HTTPException(413, f"these files have more than {most // 2**20:,} MB in all")
            rest = piece
            if files is None:
                head += piece
                line, ended, rest = head.partition(b"\n")
                if len(line) > MOST_MANIFEST:
                    raise HTTPException(422, "the list of files is too long")
                if not ended:
                    continue
                files = writer.files = _manifest(line)
            writer.write(rest)
        if files is None or not writer.is_done():
            raise HTTPException(422, "the files did not arrive completely; send them again")
    return Received(len(files), digest.hexdigest())


def _manifest(line: bytes) -> list[SentFile]:
    try:
        given = json.loads(line)
        files = [SentFile(safe_name(str(one["name"])), int(one["size"])) for one in given]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise HTTPException(422, "the list of files cannot be read") from None
    if not 1 <= len(files) <= MOST_FILES or any(file.size < 0 for file in files):
        raise HTTPException(422, f"send 1 to {MOST_FILES:,} files")
    if len({tuple(part.casefold() for part in file.parts) for file in files}) < len(files):
        raise HTTPException(422, "two files have the same name")
    return files


class _Writer:
    """Cuts the bytes that come into files of their sizes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number, self._left = 0, 0
        self._out: IO[bytes] | None = None
        self.files: list[SentFile] = []

    def write(self, data: bytes) -> None:
        while True:
            while self._out is None and self._number < len(self.files):
                self._begin(self.files[self._number])
            if not data or self._out is None:
                break
            piece, data = data[: self._left], data[self._left :]
            self._out.write(piece)
            self._left -= len(piece)
            if not self._left:
                self._end()
        if data:
            raise HTTPException(422, "more came than the list of files says")

    def _begin(self, file: SentFile) -> None:
        target = self._folder.joinpath(*file.parts)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            self._out, self._left = target.open("xb"), file.size
        except (FileExistsError, NotADirectoryError):
            raise HTTPException(422, f"{'/'.join(file.parts)} is a file and a folder") from None
        if not file.size:
            self._end()

    def _end(self) -> None:
        assert self._out is not None
        self._out.close()
        self._out = None
        self._number += 1

    def close(self) -> None:
        if self._out is not None:
            self._out.close()

    def is_done(self) -> bool:
        return self._out is None and self._number == len(self.files)
