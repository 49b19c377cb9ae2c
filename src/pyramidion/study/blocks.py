"""Judgments as one piece of bytes, column by column: what a database holds instead of a row for each.

A block is a mark with the version, and zlib over a header and arrays. The header is JSON: how many rows there are, the
names in each column, and how much evidence. Then come, little-endian and without gaps: the numbers of the rows, as
differences; for each column of names the place of each row's name (none where all rows have the same one); the values;
the evidence. The same judgments are always the same bytes, and zlib's own checksum notices damage. What is read is
checked like a line of the JSON Lines format: a block may come from anywhere.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pyramidion.study.judgments import NAMED, Codes, Column, Judgments, Mention
from pyramidion.study.records import LONGEST, BadRecordError
from pyramidion.study.texts import Span

MARK = b"PYRJ\x01"
"""The last byte is the version of the layout."""
LEVEL = 1
"""Of zlib: higher ones make blocks a tenth smaller and take several times as long."""
MAX_BYTES = 256 * 1024 * 1024
"""The largest block accepted, unpacked; ours stay far below 10 MiB."""
_LENGTH = struct.Struct("<I")


class JudgmentBlock(NamedTuple):
    """Judgments, and the number of each: those that were added earlier have lower ones."""

    judgments: Judgments
    numbers: Codes


def pack(judgments: Judgments, numbers: ArrayLike) -> bytes:
    """A block of some judgments."""
    columns = {name: getattr(judgments, name).compact() for name in NAMED}
    evidence = flat_evidence(judgments.evidence)
    header = {
        "rows": len(judgments),
        "names": {name: column.names for name, column in columns.items()},
        "evidence": [len(evidence[0]), len(evidence[2]), len(evidence[3])],
    }
    written = json.dumps(header, separators=(",", ":")).encode()
    values = np.where(np.isnan(judgments.value), np.nan, judgments.value + 0.0)  # one kind of NaN and of zero
    arrays = [np.diff(np.asarray(numbers, "<i8"), prepend=0).astype("<i8")]
    arrays += [column.codes.astype(kind) for column in columns.values() if (kind := _kind(len(column.names)))]
    arrays += [values.astype("<f8"), *(part.astype(kind) for part, kind in zip(evidence, _EVIDENCE, strict=True))]
    content = b"".join([_LENGTH.pack(len(written)), written, *(array.tobytes() for array in arrays)])
    return MARK + zlib.compress(content, LEVEL)


def unpack(raw: bytes) -> JudgmentBlock:
    """The judgments of a block; BadRecordError says what is wrong with it."""
    content = _Content(_inflate(raw))
    rows, names, sizes = content.header()
    numbers = np.cumsum(content.take("<i8", rows))
    columns = {}
    for name in NAMED:
        kind = _kind(len(names[name]))
        codes = content.take(kind, rows) if kind else np.zeros(rows, np.int32)
        if rows and int(codes.max()) >= len(names[name]):
            raise BadRecordError(f"column {name!r} of a block refers to a name that it does not have")
        columns[name] = Column(names[name], codes)
    value = content.take("<f8", rows)
    counts = zip(_EVIDENCE, (sizes[0], sizes[0], sizes[1], sizes[2], sizes[2]), strict=True)
    evidence = build_evidence(*(content.take(kind, size) for kind, size in counts), rows=rows)
    content.check_end()
    if np.isinf(value).any():
        raise BadRecordError("a value of a block is not a number")
    if (columns["unit"].is_in({""}) == columns["aspect"].is_in({""})).any():
        raise BadRecordError("a judgment must be about either a unit or an aspect")
    return JudgmentBlock(Judgments.of_columns(**columns, value=value, evidence=evidence), numbers)


def join(blocks: list[JudgmentBlock]) -> JudgmentBlock:
    """Blocks as one, with their rows in the order of their numbers."""
    judgments = Judgments.join([block.judgments for block in blocks])
    numbers = np.concatenate([np.empty(0, np.int64), *(block.numbers for block in blocks)])
    if (np.diff(numbers) >= 0).all():
        return JudgmentBlock(judgments, numbers)
    order = np.argsort(numbers, kind="stable")
    return JudgmentBlock(judgments.take(order), numbers[order])


def _kind(names: int) -> str:
    """How the places in a table of names are written; empty where there is nothing to tell apart."""
    return "" if names < 2 else "<u1" if names <= 1 << 8 else "<u2" if names <= 1 << 16 else "<u4"


# -- evidence ------------------------------------------------------------------------------------------------

_EVIDENCE = 5 * ("<u4",)


def flat_evidence(evidence: dict[int, tuple[Mention, ...]]) -> list[NDArray[np.int64]]:
    """Evidence as arrays: rows that have some, mentions of each, spans of each mention, where these start and end."""
    rows = sorted(evidence)
    mentions = [evidence[row] for row in rows]
    spans = list(chain.from_iterable(chain.from_iterable(mentions)))
    counts = [len(each) for each in mentions], [len(each) for each in chain.from_iterable(mentions)]
    places = [span.start for span in spans], [span.end for span in spans]
    if any(not 0 <= place < LONGEST for place in chain(*places)):
        raise BadRecordError("a span of a judgment's evidence is not in any text")
    return [np.array(part, np.int64) for part in (rows, *counts, *places)]


def build_evidence(
    row: NDArray[Any], mentions: NDArray[Any], spans: NDArray[Any], start: NDArray[Any], end: NDArray[Any], *, rows: int
) -> dict[int, tuple[Mention, ...]]:
    """The evidence of judgments from its arrays; BadRecordError where these do not fit together."""
    fits = int(mentions.sum()) == len(spans) and int(spans.sum()) == len(start)
    if not fits or (len(row) and (int(row.max()) >= rows or (np.diff(row.astype(np.int64)) <= 0).any())):
        raise BadRecordError("the evidence does not fit its rows")
    all_spans = map(Span, start.tolist(), end.tolist())
    all_mentions: Iterator[Mention] = (tuple(islice(all_spans, count)) for count in spans.tolist())
    return {at: tuple(islice(all_mentions, count)) for at, count in zip(row.tolist(), mentions.tolist(), strict=True)}


# -- reading what may be damaged -----------------------------------------------------------------------------


def _inflate(raw: bytes) -> bytes:
    if raw[: len(MARK) - 1] != MARK[:-1]:
        raise BadRecordError("this is not a block of judgments")
    if raw[len(MARK) - 1 : len(MARK)] != MARK[-1:]:
        raise BadRecordError("this block of judgments is from a newer release")
    stream = zlib.decompressobj()
    try:
        content = stream.decompress(raw[len(MARK) :], MAX_BYTES)
    except zlib.error as error:
        raise BadRecordError(f"this block of judgments is damaged: {error}") from None
    if not stream.eof or stream.unused_data:
        raise BadRecordError("this block of judgments is damaged: it is cut off, too long or too large")
    return content


class _Content:
    """Reads one part after another."""

    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0

    def header(self) -> tuple[int, dict[str, list[str]], list[int]]:
        """The number of rows, the names of each column, and the sizes of the evidence."""
        written = self.take("<u1", int(self.take("<u4", 1)[0])).tobytes()
        try:
            held = json.loads(written)
            rows, names, sizes = held["rows"], held["names"], held["evidence"]
            sound = all(type(count) is int and 0 <= count < 1 << 32 for count in (rows, *sizes)) and len(sizes) == 3
            tables = [names[name] for name in NAMED]
            sound &= all(type(table) is list and (table or not rows) for table in tables)
            sound &= all(type(name) is str for table in tables for name in table)
        except (ValueError, TypeError, KeyError, RecursionError):
            sound = False
        if not sound:
            raise BadRecordError("the header of a block of judgments is damaged")
        return rows, names, sizes

    def take(self, kind: str, count: int) -> NDArray[Any]:
        size = count * np.dtype(kind).itemsize
        if self._at + size > len(self._content):
            raise BadRecordError("this block of judgments ends too early")
        part = np.frombuffer(self._content, kind, count, self._at)
        self._at += size
        return part

    def check_end(self) -> None:
        if self._at != len(self._content):
            raise BadRecordError("this block of judgments goes on after its end")
