"""Numpy views of judgment columns, and grouping by several of them.

Groups come out in the order of their names, so results do not depend on the order in which judgments arrived.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pyramidion.study import Column, Judgments

Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]


def values(judgments: Judgments) -> NDArray[np.float64]:
    return np.frombuffer(judgments.value, dtype=np.float64)


def _raw(column: Column) -> NDArray[np.int32]:
    return np.frombuffer(column.codes, dtype=np.int32)


def ranks(column: Column) -> Codes:
    """The code of each row, renumbered by the alphabetical order of names."""
    if all(map(str.__lt__, column.names, column.names[1:])):
        return _raw(column).astype(np.int64)
    order = sorted(range(len(column.names)), key=column.names.__getitem__)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank[_raw(column)]


def present_names(column: Column) -> list[str]:
    """The names that some row has, sorted."""
    return sorted(column.names[code] for code in np.flatnonzero(np.bincount(_raw(column))).tolist())


def is_in(column: Column, names: frozenset[str] | set[str]) -> Mask:
    """Which rows have one of these names."""
    wanted = np.fromiter((name in names for name in column.names), dtype=bool, count=len(column.names))
    return np.asarray(wanted[_raw(column)], dtype=bool) if len(wanted) else np.zeros(0, dtype=bool)


@dataclass(frozen=True, slots=True)
class Groups:
    """Rows grouped by equal names: ``of_row[i]`` is the group of row i, ``first[g]`` some row of group g."""

    of_row: Codes
    first: Codes

    def __len__(self) -> int:
        return len(self.first)


def group(*columns: Codes) -> Groups:
    """Group rows that agree in all columns; groups are sorted by the first column, then the second, and so on."""
    key = columns[0]
    for column in columns[1:]:
        width = int(column.max()) + 1 if len(column) else 1
        if len(key) and (int(key.max()) + 1) * width >= 2**62:  # compress before the product overflows
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
        key = key * width + column
    return _grouped(key)


def _grouped(key: Codes) -> Groups:
    span = int(key.max()) + 1 if len(key) else 0
    if span <= 8 * len(key) + 1024:  # dense keys: counting beats sorting
        first_of_key = np.full(span, -1, dtype=np.int64)
        first_of_key[key[::-1]] = np.arange(len(key) - 1, -1, -1)
        used = first_of_key >= 0
        number = np.cumsum(used) - 1
        return Groups(number[key], first_of_key[used])
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    return Groups(inverse.astype(np.int64), first.astype(np.int64))


def take(judgments: Judgments, rows: NDArray[np.generic]) -> Judgments:
    """The judgments of these rows, given as numbers or as a mask."""
    if rows.dtype == bool and rows.all():
        return judgments
    index = np.flatnonzero(rows) if rows.dtype == bool else rows.astype(np.int64)
    evidence = {}
    if judgments.evidence:
        evidence = {new: judgments.evidence[old] for new, old in enumerate(index.tolist()) if old in judgments.evidence}
    return judgments.with_columns(
        **_taken(judgments, index), value=array("d", values(judgments)[index].tobytes()), evidence=evidence
    )


def _taken(judgments: Judgments, index: Codes) -> dict[str, Column]:
    """These rows of every column that holds names."""
    found = {}
    for name, column in judgments.named_columns().items():
        codes = _raw(column)[index] if len(column) else np.zeros(0, dtype=np.int32)
        found[name] = Column(column.names, array("i", codes.tobytes()))
    return found


def with_values(judgments: Judgments, value: NDArray[np.float64]) -> Judgments:
    """The same judgments with other values."""
    return judgments.with_columns(value=array("d", value.tobytes()))


def as_judged_by(name: str, judgments: Judgments, rows: Codes, value: NDArray[np.float64]) -> Judgments:
    """One judgment per row, with new values, all by one judge (an aggregate of many) and of no task."""
    zeros = array("i", bytes(4 * len(rows)))
    alone = {"judge": Column((name,), zeros), "task": Column(("",), zeros)}
    new = array("d", value.astype(np.float64).tobytes())
    return judgments.with_columns(**_taken(judgments, rows) | alone, value=new, evidence={})
