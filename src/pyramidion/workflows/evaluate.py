"""From a study to scores, by any method."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pyramidion import plugins
from pyramidion.errors import InputError, Problem, UsageError
from pyramidion.model import ScoreTable, Study


def score(study: Study, method: str = "lite", **choices: Any) -> ScoreTable:
    """Score a study by a method: pyramid, lite, responsiveness, rouge, or any that a plugin adds.

    Keyword arguments are the method's choices, e.g. ``score(study, "lite", tie="present")``; the table's signature
    names the ones it was made with.
    """
    run = plugins.load("methods", method)
    if isinstance(choices.get("measures"), str):
        choices["measures"] = [choices["measures"]]
    try:
        table = run(study, **choices)
    except TypeError as error:
        if "unexpected keyword argument" in str(error):
            raise UsageError(f"method {method}: {str(error).split(') ')[-1]}") from None
        raise
    assert isinstance(table, ScoreTable)
    notes = (*study.notes, *table.notes)
    if not table.scores:
        raise InputError([Problem("study", f"no summary could be scored by method {method}"), *notes])
    return replace(table, notes=notes)
