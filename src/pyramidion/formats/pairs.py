"""From what people have to pairs of texts: a prediction, and one or more references for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from typing import Any

from pyramidion.errors import InputError, Problem, Problems, UsageError
from pyramidion.formats.columns import (
    PREDICTION,
    REFERENCE,
    column_names,
    read_column,
    recognise,
    with_plain_columns,
)
from pyramidion.formats.files import break_at_marks
from pyramidion.formats.rows import BadCellError, texts_in
from pyramidion.formats.text_columns import numbered_references

RIGHT_CALL = "score_pairs(predictions, references), with one reference, or a list of references, for each prediction"


def read_pairs(
    predictions: Any,
    references: Any,
    prediction: str | None = None,
    reference: str | Sequence[str] | None = None,
    *,
    optional: bool = False,
) -> tuple[list[str], list[tuple[str, ...]]]:
    """The predictions, and the references of each, out of whatever `score_pairs` takes; refuses what is not a text.
    With ``optional``, there may be no references."""
    if references is not None and (prediction or reference):
        raise UsageError("column names are for a table: score_pairs(table, prediction=..., reference=...)")
    if references is None:
        predictions, references = _of_table(predictions, prediction, reference, optional)
    elif isinstance(predictions, Mapping) or isinstance(references, Mapping):
        predictions, references = _by_key(predictions, references)
    if isinstance(predictions, str):
        predictions, references = [predictions], [references]
    if isinstance(references, str):
        raise UsageError(f"references are one text, but predictions are several: {RIGHT_CALL}")
    texts, wanted = _values(predictions), _values(references)
    if len(texts) != len(wanted):
        raise UsageError(_unequal(texts, wanted))
    return (
        [_text(text, f"prediction {place}") for place, text in enumerate(texts)],
        [_texts(given, f"reference {place}") for place, given in enumerate(wanted)],
    )


def read_units(units: Sequence[Sequence[str]], predictions: int) -> list[tuple[str, ...]]:
    """The units to look for in each prediction; those of a single one need no list around them."""
    given = _values(units)
    if given and all(isinstance(unit, str) for unit in given):
        if predictions != 1:
            raise UsageError("units must be a list of texts for each prediction; the same for all are [units] * n")
        given = [given]
    if len(given) != predictions:
        raise UsageError(f"there are {predictions} predictions, but {len(given)} lists of units")
    return [_texts(each, f"units {place}") for place, each in enumerate(given)]


def _of_table(
    table: Any, prediction: str | None, reference: str | Sequence[str] | None, optional: bool
) -> tuple[Any, list[list[str]]]:
    table = with_plain_columns(table)
    names = column_names(table)
    if not names:
        if optional:
            return table, [[] for _ in ([table] if isinstance(table, str) else _values(table))]
        raise UsageError(f"references are missing: {RIGHT_CALL}; or give a table with columns for both")
    predictions = read_column(table, prediction or recognise(table, "prediction", PREDICTION))
    columns = [reference] if isinstance(reference, str) else list(reference or numbered_references(names))
    if not columns and not optional:
        columns = [recognise(table, "reference", REFERENCE)]
    cells = [read_column(table, column) for column in columns]
    rows = ([each[place] for each in cells] for place in range(len(predictions)))
    return predictions, [_of_cells(row, columns, place) for place, row in enumerate(rows)]


def _of_cells(cells: Sequence[Any], columns: Sequence[str], place: int) -> list[str]:
    """The references in the cells of a row; a cell may hold a list, also as JSON or Python writes it."""
    problems = Problems()
    try:
        texts = [text for cell, name in zip(cells, columns, strict=True) for text in texts_in(cell, name, "", problems)]
    except BadCellError as error:
        raise InputError(Problem(f"reference {place}", str(error))) from None
    if problems.errors:
        raise InputError([Problem(f"reference {place}", problem.what) for problem in problems])
    return texts


def _by_key(predictions: Any, references: Any) -> tuple[list[Any], list[Any]]:
    if not (isinstance(predictions, Mapping) and isinstance(references, Mapping)):
        raise UsageError(f"give predictions and references both by key, or both in order: {RIGHT_CALL}")
    if alone := sorted(map(str, predictions.keys() ^ references.keys())):
        raise UsageError(f"predictions and references must have the same keys; only one of them has {alone[0]!r}")
    return list(predictions.values()), [references[key] for key in predictions]


def _values(given: Any) -> list[Any]:
    """A list of an Arrow array, a column of a data frame, or whatever else has values in order."""
    return list(given.to_pylist() if hasattr(given, "to_pylist") else given)


def _unequal(texts: Sequence[Any], wanted: Sequence[Any]) -> str:
    by_set = wanted and all(not isinstance(one, str) and len(one) == len(texts) for one in wanted)
    hint = "; your references seem to be listed by set: give list(zip(*references))" if by_set else ""
    return f"there are {len(texts)} predictions, but {len(wanted)} references: {RIGHT_CALL}{hint}"


def _texts(given: Any, where: str) -> tuple[str, ...]:
    if isinstance(given, str):
        return (_text(given, where),)
    if isinstance(given, Iterable) and not isinstance(given, bytes | Mapping):
        return tuple(_text(text, where) for text in given)
    return (_text(given, where),)


def _text(value: Any, where: str) -> str:
    if isinstance(value, str):
        return break_at_marks(value)
    missing = value is None or (isinstance(value, float) and isnan(value))
    what = "is missing" if missing else f"is not a text but {type(value).__name__} {value!r:.40}"
    raise InputError(Problem(where, what))
