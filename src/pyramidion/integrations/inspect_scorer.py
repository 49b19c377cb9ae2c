"""A scorer for Inspect: the targets of a sample are its references, the model's output is the prediction.

Registered with Inspect as ``pyramidion/content_score``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import nan
from typing import Any

from pyramidion.errors import InputError, Problem, needs_extra
from pyramidion.plain import Metric
from pyramidion.scoring.explanation import Explanation
from pyramidion.study import ContentUnit

with needs_extra("the scorer for Inspect", "inspect"):
    from anyio import CapacityLimiter, to_thread
    from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
    from inspect_ai.solver import TaskState


@scorer(metrics={"*": [mean(), stderr()]})
def content_score(method: str = "auto", units: str | None = None, **choices: Any) -> Scorer:
    """How much of the content of its targets a model's output expresses.

    ``method`` and its ``choices`` are those of `pyramidion.Metric`. ``units`` is the name of the field in a sample's
    metadata that lists the units to look for, for methods that are judges.
    """
    metric = Metric(method, **choices)
    # Samples wait for models at the same time; scoring one already takes all cores.
    one_at_a_time = CapacityLimiter(1)

    async def score(state: TaskState, target: Target) -> Score:
        wanted = None if units is None else _units(state, units)
        explain = partial(metric.explain, state.output.completion, target.target, units=wanted)
        return _score(await to_thread.run_sync(explain, limiter=one_at_a_time))

    return score


def _units(state: TaskState, field: str) -> list[str]:
    units = state.metadata.get(field)
    if not isinstance(units, list) or not all(isinstance(unit, str) for unit in units):
        raise InputError(Problem(f"sample {state.sample_id}", f"its metadata has no list of texts called {field!r}"))
    return units


def _score(explanation: Explanation) -> Score:
    answer = explanation.peer.text
    if not explanation.measures:
        return Score.unscored(reason="scoring_failed", answer=answer, explanation="The targets are empty.")
    return Score(
        value={measure: nan if value is None else value for measure, value in explanation.measures.items()},
        answer=answer,
        explanation="\n".join(_lines(explanation)) or None,
        metadata={
            "expressed": [_unit(unit, explanation) | _words(unit, explanation) for unit in explanation.expressed],
            "perhaps": [_unit(unit, explanation) | _words(unit, explanation) for unit in explanation.perhaps],
            "missed": [_unit(unit, explanation) for unit in explanation.missed],
            "unmatched": explanation.quotes,
            "signature": str(explanation.signature),
        },
    )


def _lines(explanation: Explanation) -> Iterator[str]:
    if not explanation.judged:  # a method without units
        return
    expressed, perhaps, missed = explanation.expressed, explanation.perhaps, explanation.missed
    too = f", and {len(perhaps)} perhaps" if perhaps else ""
    yield f"{len(expressed)} of {len(explanation.pyramid.units)} units are expressed{too}."
    yield from (f"- expressed ({explanation.degree(unit.id):.2f}): {unit.label}" for unit in expressed)
    yield from (f"- perhaps ({explanation.degree(unit.id):.2f}): {unit.label}" for unit in perhaps)
    yield from (f"- not found: {unit.label}" for unit in missed)
    yield from (f"- in no unit: {words}" for words in explanation.quotes)


def _unit(unit: ContentUnit, explanation: Explanation) -> dict[str, Any]:
    weight = {} if explanation.weight is None else {"weight": unit.weight}
    return {"unit": unit.label, "degree": explanation.degree(unit.id), **weight}


def _words(unit: ContentUnit, explanation: Explanation) -> dict[str, Any]:
    """The words of the output that express a unit, or perhaps do."""
    return {"words": explanation.words(unit.id)}
