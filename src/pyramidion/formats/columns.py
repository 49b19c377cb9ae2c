"""Columns of tables: the names that are recognised, how a caller names them instead, and how a column is read from a
data frame, an Arrow table or a `datasets` object. This is the one place where names of columns live."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pyramidion.errors import UsageError

PREDICTION = (
    *("summary", "prediction", "predictions", "hypothesis", "output", "candidate", "generated", "pred", "hyp"),
    *("decoded", "generated_summary", "system_summary", "model_output", "predicted", "candidates", "hypotheses"),
    *("predicted_summary", "generated_text", "output_text"),
)
REFERENCE = (
    *("reference", "references", "target", "gold", "highlights", "ref", "refs", "targets", "golds"),
    *("reference_summary", "gold_summary", "reference_summaries", "ground_truth", "target_summary"),
    *("reference_text", "gold_text", "target_text"),
)
SYSTEM = (
    *("system", "model", "system_id", "model_id", "summarizer_id", "summarizer", "peer", "model_name", "system_name"),
    "systemid",
)
TOPIC = (
    "topic",
    "id",
    "doc_id",
    "guid",
    "topic_id",
    "event_id",
    "instance_id",
    "example_id",
    "idx",
    "docid",
    "eventid",
)
"""Names that are recognised, the most telling first; in any case, with or without spaces, underscores and hyphens."""

SOURCE = (
    *("source", "document", "documents", "doc", "article", "text", "input", "inputs", "dialogue", "src", "context"),
    *("passage", "story", "source_text", "prompt"),
)
"""What was summarized: not needed for a score, and not read."""
MAYBE_TOPIC = ("document", "doc")
"""The document may be its name."""
INDEX = ("", "unnamed: 0", "index", "__index_level_0__", "level_0")
"""What data frames write beside their columns."""

JUDGMENTS: dict[str, tuple[str, ...]] = {
    "judge": ("judge", "annotator", "worker", "workerid", "worker_id", "rater", "assessor", "annotator_id", "judge_id"),
    "topic": (*(name for name in TOPIC if name != "idx"), *MAYBE_TOPIC, "item"),
    "system": SYSTEM,
    "value": ("value", "score", "rating", "present", "answer"),
    "unit": ("unit", "scu", "statement"),
    "label": ("label", "unit_text", "statement_text", "scu_text"),
    "other": ("other", "opponent"),
    "aspect": ("aspect", "question", "scale"),
    "task": ("task", "hitid", "predicate"),
}
"""The columns of a table of judgments, by what they hold."""

ROLES = ("topic", "system", "summary", "reference", *(role for role in JUDGMENTS if role not in {"topic", "system"}))
"""What a caller may name a column for."""
_ROLE_NAMES = {**dict.fromkeys(TOPIC, "topic"), **dict.fromkeys(REFERENCE, "reference")} | {
    **dict.fromkeys(PREDICTION, "summary"),
    **dict.fromkeys(SYSTEM, "system"),
    **{role: role for role in ROLES},
}

Columns = Mapping[str, tuple[str, ...]]
"""Which columns hold what; only references and summaries may be in several."""


def parse_columns(given: str | Sequence[str] | Mapping[str, str | Sequence[str]] | None) -> Columns:
    """Columns as a caller names them: ``"summary=pred,reference=gold"``, or a mapping. A comma in a column's name is
    part of it, unless what follows reads like the next ``role=``."""
    if isinstance(given, Mapping):
        pairs = [(role, name) for role, held in given.items() for name in ([held] if isinstance(held, str) else held)]
    else:
        pairs = []
        for words in [given] if isinstance(given, str) else given or ():
            for part in re.split(rf",\s*(?=(?:{'|'.join(map(re.escape, _ROLE_NAMES))})=)", words):
                role, is_, name = part.partition("=")
                if not is_ or not name.strip():
                    raise UsageError(f"--columns takes ROLE=COLUMN, e.g. summary=pred,reference=gold; not {part!r}")
                pairs.append((role, name.strip()))
    columns: dict[str, tuple[str, ...]] = {}
    for role, name in pairs:
        known = _ROLE_NAMES.get(role.strip().lower())
        if known is None:
            raise UsageError(f"no column is for {role!r}; name one for: {', '.join(ROLES)}")
        columns[known] = (*columns.get(known, ()), name)
    for role, names in columns.items():
        if len(names) > 1 and role not in {"summary", "reference"}:
            raise UsageError(f"several columns are named for the {role}: {', '.join(names)}; name one")
    return columns


def check_columns(columns: Columns, names: Sequence[str], where: str) -> None:
    """Refuse columns that a table does not have."""
    for role, given in columns.items():
        for name in given:
            if name not in names:
                raise UsageError(f"{where} has no column {name!r} for the {role}; its columns are: {', '.join(names)}")


def matching(names: Sequence[str], known: Iterable[str]) -> list[str]:
    """The columns under one of the known names, the most telling first."""
    held: dict[str, list[str]] = {}
    for name in names:
        held.setdefault(_folded(name), []).append(name)
    return [name for alias in dict.fromkeys(map(_folded, known)) for name in held.get(alias, ())]


def _folded(name: str) -> str:
    """A name without what people write in different ways: Doc ID, doc-id and doc_id are one."""
    return re.sub(r"[\s_-]+", "", name).lower()


def are_known(names: Sequence[str]) -> bool:
    """Whether a column has a name that says what it holds."""
    return bool(matching(names, (*_ROLE_NAMES, *SOURCE)))


def with_plain_columns(table: Any) -> Any:
    """A table whose columns can be read: a lazy frame of polars is collected, and the named levels of a pandas index
    are columns."""
    package = type(table).__module__.partition(".")[0]
    if package == "polars" and hasattr(table, "collect"):
        return table.collect()
    if package == "pandas" and hasattr(table, "columns"):
        held = {str(name) for name in table.columns}
        levels = [n for n, name in enumerate(table.index.names) if name is not None and str(name) not in held]
        return table.reset_index(level=levels) if levels else table
    return table


def column_names(table: Any) -> list[str]:
    """The columns of a data frame, an Arrow table, a `datasets` object, of rows that are mappings, or of columns by
    name; none for anything else."""
    if (names := _names(table)) is not None:
        return list(map(str, names))
    if isinstance(table, Sequence) and table and all(isinstance(row, Mapping) for row in table):
        return list(dict.fromkeys(str(name) for row in table for name in row))
    return []


def _names(table: Any) -> Iterable[Any] | None:
    """The names as the table has them: those of a data frame need not be texts."""
    for attribute in ("column_names", "columns"):
        names = getattr(table, attribute, None)
        if isinstance(names, Mapping) and isinstance(table, Mapping):
            splits = ", ".join(map(str, names))
            raise UsageError(f"these are tables by name ({splits}): give one of them, e.g. data[{next(iter(names))!r}]")
        if names is not None and isinstance(names, Iterable):
            return names
    return table if isinstance(table, Mapping) else None


def read_column(table: Any, name: str) -> list[Any]:
    """The values of a column, as Python has them."""
    if (names := column_names(table)) and name not in names:
        raise UsageError(f"there is no column {name!r}; the columns are: {', '.join(names)}")
    if names.count(name) > 1:
        raise UsageError(f"several columns are called {name!r}: rename them")
    if isinstance(table, Sequence) and not hasattr(table, "column_names"):
        return [row.get(name) for row in table]
    held = _names(table)
    values = table[name if held is None else next(each for each in held if str(each) == name)]
    for convert in ("to_pylist", "tolist", "to_list"):  # Arrow, pandas, polars
        if hasattr(values, convert):
            return list(getattr(values, convert)())
    return list(values)


def recognise(table: Any, what: str, names: Sequence[str]) -> str:
    """The column that has one of these names; raises UsageError unless there is exactly one."""
    columns = column_names(table)
    if not columns:
        raise UsageError(f"this is no table with columns, but {type(table).__name__}: give predictions and references")
    found = matching(columns, names)
    if len(found) == 1:
        return found[0]
    which = "several columns may be" if found else "no column is called like"
    known = matching(columns, (*PREDICTION, *REFERENCE, *SYSTEM, *TOPIC, *INDEX))
    free = found or [name for name in columns if name not in known] or ["COLUMN"]
    listed = ", ".join(columns)
    raise UsageError(f"{which} the {what}: say which, e.g. {what}={free[0]!r}; the columns are: {listed}")
