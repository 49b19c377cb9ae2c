"""JSON Lines: the native format, which holds everything. One object per line; its ``type`` says what it is.

The schema of a line is published in study.schema.json next to this file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pyramidion.errors import Problems
from pyramidion.formats import Format, parts
from pyramidion.formats.files import first_fields, new_file, read_objects
from pyramidion.study import Study
from pyramidion.study.records import KINDS, BadRecordError, Collector, to_records


def recognises(path: Path) -> bool:
    """By the first line; one that is broken counts if it says that it has a type."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        first = file.readline(1 << 16).removeprefix(b"\xef\xbb\xbf").lstrip()
    if not first.startswith(b"{") or b'"type"' not in first or b'"instance_id"' in first:
        return False
    fields = first_fields(path)
    return not fields or is_native(fields) or not isinstance(fields.get("type"), str)


def is_native(fields: Mapping[str, Any]) -> bool:
    """Whether an object is one of this format's, and not a row of a table that has a column called type."""
    return fields.get("type") in ("study", *KINDS)


def read(path: Path, problems: Problems) -> Study:
    return collect(path, read_objects(path, problems), problems)


def collect(path: Path, records: Iterable[tuple[str, dict[str, Any]]], problems: Problems) -> Study:
    """The study that records make, each of which has its address in a file."""
    collector = Collector()
    for where, record in records:
        try:
            for field in collector.add(record):
                problems.warning(where, f"unknown field {field!r} is ignored")
        except ValueError as error:
            problems.error(where, str(error))
    try:
        return collector.study()
    except BadRecordError as error:
        problems.error(str(path), str(error))
        return Study()


def write(study: Study, path: Path, problems: Problems) -> None:
    with new_file(path) as file:
        for record in to_records(study):
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


FORMAT = Format(
    name="jsonl",
    title="one JSON object per line; holds everything",
    recognises=recognises,
    read=read,
    write=write,
    holds=frozenset(parts(Study())),
)
