"""Studies that a model has judged, of any size, without texts worth reading."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pyramidion.study import (
    ContentUnit,
    Contributor,
    Judge,
    Judgments,
    Pyramid,
    Study,
    Summary,
    Topic,
)
from pyramidion.study.judgments import Column

MODEL = "model"


def judged_study(sizes: Sequence[int], systems: int, probability: NDArray[np.float64] | None = None) -> Study:
    """Topics with so many units each; the model's probabilities are units x systems, drawn if they are not given."""
    if probability is None:
        probability = np.random.default_rng(0).beta(0.6, 0.9, size=(sum(sizes), systems))
    width = len(str(len(sizes)))
    topics = [f"t{number:0{width}}" for number in range(len(sizes))]
    units = [[f"u{number}" for number in range(size)] for size in sizes]
    names = [f"s{number:02}" for number in range(systems)]
    return Study(
        topics=tuple(Topic(id) for id in topics),
        summaries=tuple(
            Summary(topic, name, f"The text of {name} on {topic} says this and that.")
            for topic in topics
            for name in names
        ),
        pyramids=tuple(
            Pyramid(
                topic,
                ("A",),
                tuple(ContentUnit(id, f"Label {id} of {topic}.", (Contributor("A"),)) for id in ids),
                "expert",
            )
            for topic, ids in zip(topics, units, strict=True)
        ),
        judges=(Judge(MODEL, "model"),),
        judgments=_judgments(topics, units, names, probability),
    )


def _judgments(
    topics: list[str], units: list[list[str]], names: list[str], probability: NDArray[np.float64]
) -> Judgments:
    every = sorted({id for ids in units for id in ids})
    place = {id: number for number, id in enumerate(every)}
    topic = np.repeat(np.arange(len(topics)), [len(ids) * len(names) for ids in units])
    unit = np.repeat([place[id] for ids in units for id in ids], len(names))
    rows = len(topic)
    return Judgments.of_columns(
        topic=Column(topics, topic),
        system=Column(names, np.tile(np.arange(len(names)), rows // len(names))),
        unit=Column(every, unit),
        aspect=Column.repeat("", rows),
        judge=Column.repeat(MODEL, rows),
        task=Column.repeat("", rows),
        value=probability.ravel(),
    )
