"""A whole study in one Parquet file, for studies of millions of judgments and for people who use data frames.

The table of the file is the judgments, one in each row, as pandas, polars or DuckDB read it: topic, system, other,
unit, aspect, judge, task, value, evidence. What does not apply is null, and so is the value of a question that nobody
answered. Everything else of the study - texts, pyramids, judges, tasks - is at the end of the file in the format's own
place for such things, as the lines of the JSON Lines format, compressed.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyramidion.errors import Problems, needs_extra
from pyramidion.formats import Format, parts
from pyramidion.formats.files import MAX_LINE, BadLineError, new_file, parse_object
from pyramidion.formats.jsonl import collect
from pyramidion.formats.rows import PARQUET_STUDY, is_parquet_study, open_parquet
from pyramidion.study import Column, Judgments, Study
from pyramidion.study.blocks import build_evidence, flat_evidence
from pyramidion.study.judgments import Mention
from pyramidion.study.records import LARGEST, BadRecordError, to_records

COLUMNS = ("topic", "system", "other", "unit", "aspect", "judge", "task")
"""The columns of names; then come value and evidence."""
NEEDED = ("topic", "system", "judge")
VERSION = b"1"
_RECORDS = b"pyramidion.records."
_PART = 16 * 1024 * 1024
"""The records are cut into parts of so many characters: readers refuse longer ones."""
MAX_RECORDS = 2 * 1024 * 1024 * 1024
"""Bytes of records, unpacked, at most."""
MAX_ROWS = 10**9
ROWS_PER_GROUP = 1 << 18
MOST = 20
"""Rows of one kind of mistake that are named."""


def recognises(path: Path) -> bool:
    return path.is_file() and is_parquet_study(path)


# -- writing -------------------------------------------------------------------------------------------------


def write(study: Study, path: Path, problems: Problems) -> None:
    with needs_extra("A study in Parquet", "parquet"):
        from pyarrow.parquet import ParquetWriter
    table = to_arrow(study.judgments)
    with new_file(path) as file:
        binary: Any = file.buffer  # type: ignore[attr-defined]
        with ParquetWriter(binary, table.schema, compression="zstd") as writer:
            writer.write_table(table, row_group_size=ROWS_PER_GROUP)
            writer.add_key_value_metadata({PARQUET_STUDY: VERSION, **dict(_packed_records(study))})


def to_arrow(judgments: Judgments) -> Any:
    """The judgments as an Arrow table, with the columns of the file."""
    import pyarrow as pa

    columns = {name: _names(getattr(judgments, name).compact()) for name in COLUMNS}
    columns["value"] = pa.array(judgments.value, from_pandas=True)  # NaN becomes null
    columns["evidence"] = _evidence_column(judgments)
    return pa.table(columns)


def _names(column: Column) -> Any:
    import pyarrow as pa

    absent = column.is_in({""})
    first = int(column.names[:1] == ("",))  # names are sorted
    codes = pa.array(np.maximum(column.codes - first, 0), mask=absent)
    return pa.DictionaryArray.from_arrays(codes, pa.array(column.names[first:], pa.string()))


def _evidence_column(judgments: Judgments) -> Any:
    import pyarrow as pa

    rows, mentions, spans, start, end = flat_evidence(judgments.evidence)
    places = pa.StructArray.from_arrays([pa.array(start, pa.uint32()), pa.array(end, pa.uint32())], ["start", "end"])
    of_mention = pa.ListArray.from_arrays(_offsets(spans), places)
    counts = np.zeros(len(judgments), dtype=np.int64)
    counts[rows] = mentions
    return pa.ListArray.from_arrays(_offsets(counts), of_mention, mask=pa.array(counts == 0))


def _offsets(counts: NDArray[np.int64]) -> NDArray[np.int32]:
    return np.concatenate(([0], np.cumsum(counts))).astype(np.int32)


def _packed_records(study: Study) -> Iterator[tuple[bytes, bytes]]:
    lines = (json.dumps(record, ensure_ascii=False) for record in to_records(replace(study, judgments=Judgments())))
    packed = base64.b64encode(zlib.compress("\n".join(lines).encode("utf-8", "surrogatepass"), 6))
    for number, first in enumerate(range(0, len(packed), _PART)):
        yield _RECORDS + str(number).encode(), packed[first : first + _PART]


# -- reading -------------------------------------------------------------------------------------------------


def read(path: Path, problems: Problems) -> Study:
    with needs_extra("A study in Parquet", "parquet"):
        from pyarrow import ArrowException
    try:
        with open_parquet(path) as file:
            study = collect(path, _records(path, file.metadata.metadata or {}, problems), problems)
            if file.metadata.num_rows > MAX_ROWS:
                raise BadLineError(f"has {file.metadata.num_rows:,} rows; at most {MAX_ROWS:,} are read")
            judgments = from_arrow(file.read(), str(path), problems)
    except BadLineError as error:
        problems.error(str(path), str(error))
        return Study()
    except (ArrowException, OSError) as error:
        problems.error(str(path), f"is damaged: {str(error).splitlines()[0]}")
        return Study()
    return replace(study, judgments=study.judgments + judgments)


def _records(path: Path, about: dict[bytes, bytes], problems: Problems) -> Iterator[tuple[str, dict[str, Any]]]:
    """Everything but judgments, each with its place."""
    if (version := about.get(PARQUET_STUDY)) != VERSION:
        raise BadLineError(f"version {version!r} of this format is not supported; this release reads version 1")
    numbers = sorted(int(name) for key in about if (name := key.removeprefix(_RECORDS)) != key and name.isdigit())
    stream = zlib.decompressobj()
    try:
        packed = base64.b64decode(b"".join(about[_RECORDS + str(n).encode()] for n in numbers), validate=True)
        lines = stream.decompress(packed, MAX_RECORDS)
    except (ValueError, KeyError, zlib.error) as error:
        raise BadLineError(f"its records are damaged: {error}") from None
    if not stream.eof:
        raise BadLineError("its records are damaged: they are cut off or too large")
    for number, line in enumerate(lines.split(b"\n"), 1):
        where = f"{path}, record {number}"
        try:
            if len(line) > MAX_LINE:
                raise BadLineError(f"is longer than {MAX_LINE // 2**20} MiB")
            yield where, parse_object(line.decode())
        except (BadLineError, UnicodeDecodeError) as error:
            problems.error(where, str(error))


def from_arrow(table: Any, where: str, problems: Problems) -> Judgments:
    """The judgments of a table with the columns of the file; what is wrong with a row is reported with its number."""
    import pyarrow as pa

    if missing := [name for name in (*NEEDED, "value") if name not in table.column_names]:
        raise BadLineError(f"has no column {' and no '.join(missing)}")
    if len(set(table.column_names)) < len(table.column_names):
        raise BadLineError("has a column more than once")
    for name in sorted(set(table.column_names) - {*COLUMNS, "value", "evidence"}):
        problems.warning(where, f"unknown column {name!r} is ignored")
    count = table.num_rows
    columns = {
        name: _read_names(table[name], name) if name in table.column_names else Column.repeat("", count)
        for name in COLUMNS
    }
    if not (pa.types.is_floating(kind := table["value"].type) or pa.types.is_integer(kind) or pa.types.is_null(kind)):
        raise BadLineError(f"its column 'value' must hold numbers, not {kind}")
    value = table["value"].cast(pa.float64()).to_numpy().astype(np.float64)
    wrong = {
        "a judgment must be about either a unit or an aspect": columns["unit"].is_in({""})
        == columns["aspect"].is_in({""}),
        "its value is not a number": np.abs(value) >= LARGEST,
        **{f"its {name} is missing": columns[name].is_in({""}) for name in NEEDED},
    }
    for what, rows in wrong.items():
        for row in np.flatnonzero(rows)[:MOST].tolist():
            problems.error(f"{where}, row {row + 1}", what)
    evidence = _read_evidence(table["evidence"], count) if "evidence" in table.column_names else {}
    judgments = Judgments.of_columns(**columns, value=value, evidence=evidence)
    return judgments.take(~np.logical_or.reduce(list(wrong.values())))


def _read_names(chunked: Any, name: str) -> Column:
    import pyarrow as pa

    kind = chunked.type.value_type if pa.types.is_dictionary(chunked.type) else chunked.type
    if pa.types.is_null(kind):
        return Column.repeat("", len(chunked))
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        raise BadLineError(f"its column {name!r} must hold texts, not {kind}")
    encoded = chunked if pa.types.is_dictionary(chunked.type) else chunked.dictionary_encode()
    whole = encoded.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):  # without rows
        return Column.repeat("", 0)
    names = ["" if text is None else text for text in whole.dictionary.to_pylist()]
    codes = whole.indices.fill_null(len(names)).to_numpy(zero_copy_only=False)
    return Column([*names, ""], codes).compact()


def _read_evidence(chunked: Any, count: int) -> dict[int, tuple[Mention, ...]]:
    import pyarrow as pa

    wanted = pa.list_(pa.list_(pa.struct([("start", pa.uint32()), ("end", pa.uint32())])))
    if pa.types.is_null(chunked.type) or not count:
        return {}
    whole = pa.concat_arrays(chunked.cast(wanted).chunks)
    mentions = whole.flatten()
    places = mentions.flatten()
    start, end = places.field("start"), places.field("end")
    if mentions.null_count or places.null_count or start.null_count or end.null_count:
        raise BadLineError("its column 'evidence' has a mention or a span that is null")
    counts, spans = (part.value_lengths().fill_null(0).to_numpy(zero_copy_only=False) for part in (whole, mentions))
    rows = np.flatnonzero(counts)
    try:
        return build_evidence(rows, counts[rows], spans, start.to_numpy(), end.to_numpy(), rows=count)
    except BadRecordError as error:
        raise BadLineError(str(error)) from None


FORMAT = Format(
    name="parquet",
    title="a whole study in one Parquet file: judgments as a long table for data frames; holds everything",
    recognises=recognises,
    read=read,
    write=write,
    holds=frozenset(parts(Study())),
)
