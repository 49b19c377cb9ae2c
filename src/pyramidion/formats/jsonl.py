"""JSON Lines: the native format, which holds everything. One object per line; its ``type`` says what it is.

The schema of a line is published in study.schema.json next to this file.
"""

from __future__ import annotations

import json
from pathlib import Path

from pyramidion.errors import Problems
from pyramidion.formats import Format, parts
from pyramidion.formats.files import new_file, read_objects
from pyramidion.study import Study
from pyramidion.study.records import BadRecordError, Collector, to_records


def recognises(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        first = file.readline(1 << 16).removeprefix(b"\xef\xbb\xbf").lstrip()
    return first.startswith(b"{") and b'"type"' in first and b'"instance_id"' not in first


def read(path: Path, problems: Problems) -> Study:
    collector = Collector()
    for where, record in read_objects(path, problems):
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
