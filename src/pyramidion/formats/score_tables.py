"""Score tables: written as long CSV, JSON, JSON Lines or Parquet; read from those and the field's other layouts.

The long table has the columns topic, system, measure, value; a system's mean over topics has an empty topic. Also
read: wide CSV (one column per measure), SacreROUGE metrics JSONL, and the score files released with LitePyramids
(three tables stacked in one file: by system, by topic, by both; -1 means missing).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pyramidion.errors import InputError, MissingExtraError, Problem, Problems, UsageError
from pyramidion.formats.columns import JUDGMENTS
from pyramidion.formats.files import (
    new_file,
    parse_number,
    plain_cell,
    read_cells,
    read_header,
    read_objects,
    write_rows,
)
from pyramidion.study import Score, ScoreTable, Signature

COLUMNS = Score._fields
SUFFIXES = (".csv", ".json", ".jsonl", ".parquet")
_TOPIC, _SYSTEM = set(JUDGMENTS["topic"]), set(JUDGMENTS["system"])


def write_scores(table: ScoreTable, path: str | Path) -> None:
    """Write a table in the form that the file's suffix names."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise UsageError(
            f"{path}: scores can be written to {', '.join(SUFFIXES)}, not {suffix or 'a name without suffix'}"
        )
    if suffix == ".parquet":
        _write_parquet(table, path)
        return
    with new_file(path) as file:
        if suffix == ".csv":
            write_rows(file, COLUMNS, table.scores)
        elif suffix == ".jsonl":
            file.writelines(json.dumps(score._asdict(), ensure_ascii=False) + "\n" for score in table)
        else:
            json.dump(as_json(table), file, ensure_ascii=False, indent=1)
            file.write("\n")


def as_json(table: ScoreTable) -> dict[str, Any]:
    """A table as one JSON object, with its signature and notes."""
    return {
        "signature": str(table.signature),
        "notes": [note.as_dict() for note in table.notes],
        "scores": [score._asdict() for score in table],
    }


def need_parquet() -> None:
    """Check early for pyarrow, which pandas would report only when writing."""
    if find_spec("pandas") is None or find_spec("pyarrow") is None:
        raise MissingExtraError("Parquet", "parquet")


def _write_parquet(table: ScoreTable, path: Path) -> None:
    need_parquet()
    frame = table.to_pandas()
    with new_file(path) as file:
        frame.to_parquet(file.buffer, index=False)  # type: ignore[attr-defined]


def read_scores(path: str | Path, *, lenient: bool = False) -> ScoreTable:
    """Read a score table in any of the known layouts. A value of -1 or an empty cell is missing, not a score."""
    path = Path(path)
    if not path.is_file():
        raise UsageError(f"{path} does not exist")
    problems = Problems()
    scores = tuple(_READERS.get(path.suffix.lower(), _from_csv)(path, problems))
    if not scores:
        problems.error(str(path), "contains no scores; it needs a column called system and at least one with numbers")
    scores = tuple(_unique(scores, str(path), problems))
    if problems.errors and not lenient:
        raise InputError(problems.errors)
    signature, notes = _provenance(path)
    return ScoreTable(scores, signature, (*notes, *problems), _column_order(path))


def _column_order(path: Path) -> tuple[str, ...]:
    """The columns of a wide CSV give an order of measures; the rows of a long table do not."""
    columns = read_header(path) if path.suffix.lower() not in _READERS or path.suffix.lower() == ".csv" else []
    return () if {"measure", "value"} <= {*columns} else tuple(columns)


def _provenance(path: Path) -> tuple[Signature, tuple[Problem, ...]]:
    """Our own JSON says how its scores were made and what was missing; other files do not."""
    imported = Signature.of("imported", file=path.name), ()
    if path.suffix.lower() != ".json":
        return imported
    try:
        held = json.loads(path.read_bytes())
        return Signature.parse(held["signature"]), tuple(map(_note, held.get("notes", [])))
    except (ValueError, KeyError, TypeError, AttributeError):
        return imported


def _note(held: dict[str, Any]) -> Problem:
    """A note as it was written; the first versions did not write how severe it is."""
    return Problem(str(held["where"]), str(held["what"]), "error" if held.get("severity") == "error" else "warning")


def _unique(scores: Iterable[Score], where: str, problems: Problems) -> Iterator[Score]:
    """Each score once. Of two for the same cell the lower one is kept, whichever comes first."""
    seen: dict[tuple[str | None, str, str], Score] = {}
    for score in scores:
        key = (score.topic, score.system, score.measure)
        known = seen.setdefault(key, score)
        if known is not score:
            at = f"topic {score.topic}, " if score.topic else ""
            problems.error(where, f"{at}system {score.system}, measure {score.measure} appears twice")
            seen[key] = min(known, score, key=lambda s: (s.value is None, s.value or 0.0))
    yield from seen.values()


def _from_csv(path: Path, problems: Problems) -> Iterator[Score]:
    """One table or several stacked ones: a row that names a topic or system column starts a new header."""
    header: list[str] | None = None
    for where, row in read_cells(path, problems):
        cells = [plain_cell(cell.strip()) for cell in row]
        if not any(cells):
            header = None  # a blank line ends a stacked table
        elif header is None or cells == header:
            header = _header(cells, where, problems)
        elif len(cells) != len(header):
            problems.error(where, f"has {len(cells)} cells, but the header has {len(header)}")
        else:
            yield from _row(dict(zip(header, cells, strict=True)), where, problems)


def _header(cells: list[str], where: str, problems: Problems) -> list[str]:
    lower = {cell.lower() for cell in cells}
    if not lower & (_SYSTEM | _TOPIC):
        problems.error(where, f"no column is called system or topic; the columns are: {', '.join(cells)}")
    return cells


def _row(cells: dict[str, str], where: str, problems: Problems) -> Iterator[Score]:
    topic = next((value for name, value in cells.items() if name.lower() in _TOPIC), "") or None
    system = next((value for name, value in cells.items() if name.lower() in _SYSTEM), "")
    if not system:
        return  # means over systems for one topic: not a score of any system
    missing = {"", "-", "na", "n/a"}
    if "measure" in cells and "value" in cells:  # our own long table, in which -1 is a number like any other
        values = {cells["measure"]: cells["value"]}
    else:
        values = {n: v for n, v in cells.items() if n.lower() not in _TOPIC | _SYSTEM}
        missing |= {"-1", "-1.0"}
    for measure, text in values.items():
        value = None if text.lower() in missing else parse_number(text)
        if value is None and text.lower() not in missing:
            problems.error(f"{where}, {measure}", f"{text!r} is not a number; leave a missing score empty")
        yield Score(topic, system, measure, value)


def _from_jsonl(path: Path, problems: Problems) -> Iterator[Score]:
    for where, item in read_objects(path, problems):
        yield from _object(item, where, problems)


def _from_json(path: Path, problems: Problems) -> Iterator[Score]:
    try:
        held = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        problems.error(str(path), f"is not JSON: {error}")
        return
    listed = held.get("scores") if isinstance(held, dict) else held
    if not isinstance(listed, list):
        problems.error(str(path), "contains no list of scores")
        return
    for number, item in enumerate(listed, 1):
        yield from _object(item, f"{path}, score {number}", problems)


def _object(item: Any, where: str, problems: Problems) -> Iterator[Score]:
    """Our own long form, or a SacreROUGE line whose metrics may be nested."""
    if not isinstance(item, dict):
        problems.error(where, "is not a JSON object")
        return
    system = item.get("system", item.get("summarizer_id"))
    topic = item.get("topic", item.get("instance_id"))
    if not isinstance(system, str) or not (topic is None or isinstance(topic, str)):
        problems.error(where, "needs a text 'system' and, if it has a topic, a text 'topic'")
        return
    metrics = item["metrics"] if "metrics" in item else {str(item.get("measure")): item.get("value")}
    for measure, value in _flatten(metrics):
        if value is not None and not _is_number(value):
            problems.error(where, f"{measure}: {str(value)[:40]!r} is not a number")
            value = None
        yield Score(topic or None, system, measure, None if value is None else float(value))


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < 1e300  # larger whole numbers do not fit into a float


def _flatten(metrics: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    if not isinstance(metrics, dict):
        yield prefix, metrics
        return
    for name, value in metrics.items():
        yield from _flatten(value, f"{prefix}_{name}" if prefix else str(name))


def _from_parquet(path: Path, problems: Problems) -> Iterator[Score]:
    need_parquet()
    import pandas

    frame = pandas.read_parquet(path)
    if missing := [name for name in COLUMNS if name not in frame.columns]:
        problems.error(str(path), f"column {missing[0]!r} is missing")
        return
    for number, item in enumerate(frame.loc[:, list(COLUMNS)].astype(object).to_dict("records"), 1):
        plain = {str(name): None if pandas.isna(value) else value for name, value in item.items()}
        yield from _object(plain, f"{path}, row {number}", problems)


_READERS = {".jsonl": _from_jsonl, ".json": _from_json, ".parquet": _from_parquet, ".csv": _from_csv}
