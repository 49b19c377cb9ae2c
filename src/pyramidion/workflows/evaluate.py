"""From a study to scores, by any method."""

from __future__ import annotations

import inspect
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from pyramidion import plugins
from pyramidion.errors import InputError, Problem, UsageError
from pyramidion.methods.columns import is_in, present_names, take
from pyramidion.model import UNMATCHED, ScoreTable, Study


def fitting_methods(study: Study) -> tuple[str, ...]:
    """Pyramid, lite, responsiveness and rouge, the one that fits the study best first.

    Units are for the method of those who judged them: experts' for pyramid, a crowd's for lite, which screens and
    aggregates. A study without judged units has ratings, or only words.
    """
    judgments = study.judgments
    judges = set(present_names(take(judgments, ~is_in(judgments.unit, {""})).judge))
    only_crowd = not judges & study.judges_of("expert") and bool(judges & study.judges_of("crowd"))
    units = ("lite", "pyramid") if only_crowd else ("pyramid", "lite")
    if judges:
        return (*units, "responsiveness", "rouge")
    rated = is_in(judgments.other, {""}) & ~is_in(judgments.aspect, {"", UNMATCHED})
    return ("responsiveness", "rouge", *units) if rated.any() else ("rouge", "responsiveness", *units)


def fitting_method(study: Study, choices: Collection[str] = ()) -> str:
    """The method that fits the study best, of those that know the choices where some do."""
    methods = fitting_methods(study)
    known = {method: inspect.signature(plugins.load("methods", method)).parameters for method in methods}
    return next((method for method in methods if known[method].keys() >= set(choices)), methods[0])


def score(study: Study, method: str | None = None, **choices: Any) -> ScoreTable:
    """Score a study by a method: pyramid, lite, responsiveness, rouge, or any that a plugin adds.

    By default it is the one that fits the study. Keyword arguments are the method's choices, e.g.
    ``score(study, "lite", tie="present")``; the table's signature names the ones it was made with.
    """
    method = fitting_method(study, choices) if method is None else method
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
