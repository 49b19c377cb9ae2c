"""Tasks for `inspect eval`, on summaries that were saved before."""

from __future__ import annotations

from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

from pyramidion.integrations.inspect_scorer import content_score

REFERENCE = "The river Aller rose on Monday and flooded the old town. Ten families had to leave their homes."
PREDICTIONS = ["The Aller flooded the old town on Monday. A dog ran away.", REFERENCE, ""]
REFERENCES: list[str | list[str]] = [REFERENCE, [REFERENCE, "The town of Aller was flooded."], REFERENCE]
FACTS = ["The town was flooded.", "A cat sat on a mat."]


@solver
def saved_summary() -> Solver:
    async def solve(state: TaskState, _generate: Generate) -> TaskState:
        state.output = ModelOutput.from_content("saved", state.metadata["summary"])
        return state

    return solve


def _task(scorer: Scorer, *more: Sample, **metadata: Any) -> Task:
    samples = [
        Sample("Summarise the news.", target=target, metadata={"summary": summary, **metadata})
        for summary, target in zip(PREDICTIONS, REFERENCES, strict=True)
    ]
    return Task(dataset=[*samples, *more], solver=saved_summary(), scorer=scorer)


@task
def by_pyramids() -> Task:
    empty = Sample("Summarise nothing.", target=" ", metadata={"summary": PREDICTIONS[0]})
    return _task(content_score(), empty)


@task
def by_given_units() -> Task:
    return _task(content_score("align", units="facts"), facts=FACTS)


@task
def by_words() -> Task:
    return _task(content_score("rouge", measures=["rouge-1-recall"]))


@task
def without_units() -> Task:
    return _task(content_score("align", units="facts"), facts="one text")
