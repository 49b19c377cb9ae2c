"""From a study to scores, by any method."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from pyramidion import plugins
from pyramidion.errors import InputError, Problem, UsageError
from pyramidion.scoring.choice import judge_ids, judged_units, without_corrections
from pyramidion.study import Judgments, ScoreTable, Signature, Study
from pyramidion.study.judgments import NO_RATING


def fitting_methods(study: Study, pyramid: str | None = None) -> tuple[str, ...]:
    """The methods that may apply to a study, or to one of its pyramids, the one that fits best first.

    Units are for the method of those who judged them: experts' for pyramid, a crowd's for lite, which screens and
    aggregates; a model's for the method of its name, or else for pyramid where units have different weights. A study
    without judged units has ratings, or only words. Methods that plugins add come last.
    """
    study, _ = without_corrections(study)
    judgments = study.judgments
    on_units = judgments.take(~judgments.unit.is_in({""}))
    if pyramid is not None:
        on_units = judged_units(on_units, {p.topic: p for p in study.pyramids if p.name == pyramid})
    judges = set(on_units.judge.present_names())
    units = ("pyramid", "lite") if _weighed(study, on_units, judges) else ("lite", "pyramid")
    added = plugins.added("methods")
    if judges:
        named = judges & study.judges_of("model") & set(plugins.names("methods"))
        return (*(named if judges == named and len(named) == 1 else units), "responsiveness", "rouge", *added)
    rated = judgments.other.is_in({""}) & ~judgments.aspect.is_in(NO_RATING)
    rest = ("responsiveness", "rouge") if rated.any() else ("rouge", "responsiveness")
    return (*rest, *units, *added)


def _weighed(study: Study, on_units: Judgments, judges: set[str]) -> bool:
    if not judges or judges & study.judges_of("expert"):
        return True
    judged = set(on_units.unit.present_names())
    weights = {unit.weight for pyramid in study.pyramids for unit in pyramid.units if unit.id in judged}
    return weights != {1} and not judges & study.judges_of("crowd")


def fitting_method(study: Study, choices: Mapping[str, Any] | None = None) -> str:
    """The method that fits the study best, preferring those that accept the given choices."""
    choices = choices or {}
    methods = fitting_methods(study, choices.get("pyramid"))
    fitting = (m for m in methods if not choices or choices.keys() <= _parameters(plugins.load("methods", m)).keys())
    return next(fitting, methods[0])


def score(study: Study, method: str | None = None, **choices: Any) -> ScoreTable:
    """Score a study by a method: pyramid, lite, responsiveness, rouge, or any that a plugin adds.

    By default it is the one that fits the study. Keyword arguments are the method's choices, e.g.
    ``score(study, "lite", tie="present")``; the table's signature names the ones it was made with.
    """
    method = fitting_method(study, choices) if method is None else method
    run = plugins.load("methods", method)
    check_choices(method, choices)
    if isinstance(choices.get("measures"), str):
        choices["measures"] = [choices["measures"]]
    table = run(study, **choices)
    assert isinstance(table, ScoreTable)
    notes = (*study.notes, *table.notes)
    if not table.scores:
        raise InputError([Problem("study", f"no summary could be scored by method {method}"), *notes])
    if not _is_simulated(study, table.signature):
        return replace(table, notes=notes)
    return replace(table.as_simulated(), notes=tuple(dict.fromkeys((*study.simulation_notes(), *notes))))


def _is_simulated(study: Study, signature: Signature) -> bool:
    """Whether simulated workers judged, or wrote the units of, what a signature names. Words need nobody."""
    chosen = dict(signature.choices)
    who = {unit.author for p in study.pyramids if p.name == chosen.get("pyramid") for unit in p.units}
    with suppress(UsageError, KeyError):  # a plugin may sign with names of its own
        who |= judge_ids(study, chosen["judges"]) & set(study.judgments.judge.present_names())
    return bool(who & study.simulated)


def check_choices(method: str, choices: Mapping[str, Any]) -> None:
    """Refuse choices that a method does not have. A method that takes any name checks them itself."""
    parameters = _parameters(plugins.load("methods", method))
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return
    known = sorted(parameters.keys() - {"study"})
    for name in choices.keys() - parameters.keys():
        raise UsageError(f"method {method} has no option {name!r}; its options are: {', '.join(known)}")


def _parameters(run: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(run).parameters
