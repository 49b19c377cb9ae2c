"""Studies in which people judged a random part of the units and a model all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pyramidion.study import (
    Aspect,
    ContentUnit,
    Judge,
    Judgment,
    Judgments,
    Pyramid,
    Study,
    Summary,
    Task,
    Topic,
)

SYSTEMS = ("alpha", "beta", "gamma", "delta")


def labels(
    topics: int = 12, units: int = 6, seed: int = 0, step: float = 0.15
) -> dict[tuple[str, str, str], tuple[int, float]]:
    """A truth and a model's probability for each topic, unit and system: alpha expresses most, delta least."""
    rng = np.random.default_rng(seed)
    found = {}
    for t in range(topics):
        for u in range(units):
            common = rng.random()
            for s, system in enumerate(SYSTEMS):
                present = int(rng.random() < 0.35 * common + step * (len(SYSTEMS) - s))
                found[f"t{t:02}", f"u{u}", system] = (
                    present,
                    float(np.clip(0.3 + 0.4 * present + rng.normal(0, 0.2), 0, 1)),
                )
    return found


def study_of(
    *,
    topics: int = 12,
    units: int = 6,
    asked: float | Callable[[str, str], bool] = 0.5,
    workers: int = 3,
    mistakes: float = 0.1,
    drawn: bool = True,
    seed: int = 0,
    step: float = 0.15,
) -> Study:
    """``asked`` is the share of (topic, unit) that people judge, drawn at random, or says which."""
    rng = np.random.default_rng(seed)
    known = labels(topics, units, seed, step)
    rows = sorted({(topic, unit) for topic, unit, _ in known})
    order = [rows[i] for i in rng.permutation(len(rows))]
    chosen = [row for row in order if asked(*row)] if callable(asked) else order[: round(asked * len(rows))]
    tasks = [
        Task(f"{place}-{system}", topic, system, (unit,), stratum="all", place=place, places=len(rows))
        for place, (topic, unit) in enumerate(chosen, 1)
        for system in SYSTEMS
    ]
    answers = [
        Judgment(task.topic, task.system, f"w{worker}", abs(truth - int(rng.random() < mistakes)), unit=task.units[0],
                 task=task.id if drawn else "")
        for task in tasks
        for truth in (known[task.topic, task.units[0], task.system][0],)
        for worker in range(workers)
    ]  # fmt: skip
    judged = [Judgment(t, s, "align", p, unit=u) for (t, u, s), (_, p) in sorted(known.items())]
    return Study(
        topics=tuple(Topic(f"t{t:02}") for t in range(topics)),
        summaries=tuple(Summary(f"t{t:02}", s, f"What {s} says.", "peer") for t in range(topics) for s in SYSTEMS),
        pyramids=tuple(
            Pyramid(f"t{t:02}", (), name="crowd", units=tuple(ContentUnit(f"u{u}", f"Unit {u}.") for u in range(units)))
            for t in range(topics)
        ),
        judges=(*(Judge(f"w{w}", "crowd") for w in range(workers)), Judge("align", "model")),
        judgments=Judgments([*answers, *judged]),
        tasks=tuple(tasks) if drawn else (),
    )


def rated_study(topics: int = 30, asked: float = 0.8, seed: int = 0) -> Study:
    """People rate some topics' summaries from 1 to 10, a model all of them."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(topics)
    judgments, tasks = [], []
    for t in range(topics):
        for s, system in enumerate(SYSTEMS):
            truth = np.clip(7 - s + rng.normal(0, 1.5), 1, 10)
            model = float(np.clip(truth + rng.normal(0, 1), 1, 10))
            judgments.append(Judgment(f"t{t:02}", system, "rater", model, aspect="overall"))
            place = int(np.flatnonzero(order == t)[0]) + 1
            if place <= round(asked * topics):
                task = Task(f"{t}-{system}", f"t{t:02}", system, kind="rate", stratum="all", place=place, places=topics)
                tasks.append(task)
                for w in range(2):
                    rating = float(np.clip(round(truth + rng.normal(0, 0.5)), 1, 10))
                    judgments.append(Judgment(task.topic, system, f"w{w}", rating, aspect="overall", task=task.id))
    base = study_of(topics=topics)
    judges = (Judge("w0", "crowd"), Judge("w1", "crowd"), Judge("rater", "model"))
    aspects = (Aspect("overall", 1, 10, "Overall"),)
    held = Judgments(judgments)
    return replace(base, judges=judges, judgments=held, aspects=aspects, tasks=tuple(tasks), pyramids=())
