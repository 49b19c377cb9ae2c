"""Columns of tables, whatever the table is made of, and the names that people give them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pyramidion.errors import UsageError

PREDICTION = ("summary", "prediction", "predictions", "hypothesis", "output", "candidate", "generated", "pred")
REFERENCE = ("reference", "references", "target", "gold", "highlights", "ref", "refs")
SYSTEM = ("system", "model")
TOPIC = ("topic", "id", "doc_id", "guid")
"""Names that are recognised, in any case, the most telling first."""


def column_names(table: Any) -> list[str]:
    """The columns of a data frame, an Arrow table, a `datasets` object, of rows that are mappings, or of columns by
    name; none for anything else."""
    if isinstance(table, Mapping):
        return list(map(str, table))
    for attribute in ("column_names", "columns"):
        if (names := getattr(table, attribute, None)) is not None and isinstance(names, Iterable):
            return list(map(str, names))
    if isinstance(table, Sequence) and table and isinstance(table[0], Mapping):
        return list(map(str, table[0]))
    return []


def read_column(table: Any, name: str) -> list[Any]:
    """The values of a column, as Python has them."""
    if (names := column_names(table)) and name not in names:
        raise UsageError(f"there is no column {name!r}; the columns are: {', '.join(names)}")
    if isinstance(table, Sequence) and not hasattr(table, "column_names"):
        return [row.get(name) for row in table]
    values = table[name]
    for convert in ("to_pylist", "tolist", "to_list"):  # Arrow, pandas, polars
        if hasattr(values, convert):
            return list(getattr(values, convert)())
    return list(values)


def recognise(table: Any, what: str, names: Sequence[str]) -> str:
    """The column that has one of these names; raises UsageError unless there is exactly one."""
    columns = column_names(table)
    if not columns:
        raise UsageError(f"this is no table with columns, but {type(table).__name__}: give predictions and references")
    matching = [column for name in names for column in columns if column.lower() == name]
    if len(set(matching)) == 1:
        return matching[0]
    which = "several columns may be" if matching else "no column is called like"
    example = f"{what}={(matching or columns)[0]!r}"
    raise UsageError(f"{which} the {what}: say which, e.g. {example}; the columns are: {', '.join(columns)}")
