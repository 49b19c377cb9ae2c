"""A study's peers under every setting of a grid, and the human scores to hold them against.

Every finished topic can be kept in a folder: a search that was stopped goes on where it was, and a larger grid computes
its new settings only.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pyramidion.analysis.inputs import Floats
from pyramidion.analysis.settings import ScoredSettings, Setting
from pyramidion.auto.choices import Choices
from pyramidion.auto.graph import PERCENTILE
from pyramidion.auto.grid import VARIED, GridEvaluator
from pyramidion.auto.pyramids import NAME
from pyramidion.auto.scores import MEASURES
from pyramidion.errors import InputError, Problem, UsageError, check_choice
from pyramidion.formats.files import new_file, to_file_name
from pyramidion.methods.columns import is_in, take
from pyramidion.model import ScoreTable, Study
from pyramidion.workflows.automatic import Advance
from pyramidion.workflows.automatic_jobs import TopicJob, foreign, human_peers, topic_jobs, without_references
from pyramidion.workflows.automatic_run import fingerprint
from pyramidion.workflows.evaluate import score

PERCENTILES = (60.0, 62.0, 65.0, 67.0, 70.0, 72.0, 75.0, 77.0, 80.0, 83.0, 85.0, 87.0)
ALPHAS = (10.0, 20.0, 30.0, 40.0, 50.0)
BETAS = (1.0, 1.5, 2.0, 2.5, 3.0)
"""The grid of Gao et al. 2019: their ranges, and as many levels as their degrees of freedom say."""

HUMAN = ("pyramid", "lite", "responsiveness")
"""Methods that score by what people judged, in the order in which one is taken as gold."""

Levels = Mapping[str, Sequence[float]]


def paper_levels(choices: Choices) -> dict[str, Sequence[float]]:
    """The paper's grid, as far as the partitioner has its parameters."""
    greedy = {"alpha": ALPHAS, "beta": BETAS} if choices.partitioner == "edua-g" else {}
    return {"percentile": PERCENTILES, **greedy}


def human_gold(study: Study) -> ScoreTable:
    """The study's scores by people: its pyramid, else its crowd's units, else its ratings. No model has a say."""
    models = study.judges_of("model")
    people = replace(study, judgments=take(study.judgments, ~is_in(study.judgments.judge, models)))
    reasons = []
    for method in HUMAN:
        try:
            return score(people, method)
        except (UsageError, InputError) as error:
            reasons.append(f"{method}: {str(error).splitlines()[0]}")
    raise UsageError("no human scores to compare with; give a score table as gold\n" + "\n".join(reasons))


def score_grid(
    study: Study,
    choices: Choices | None = None,
    levels: Levels | None = None,
    *,
    measure: str = "coverage",
    folder: Path | None = None,
    processes: int = 1,
    advance: Advance = lambda _: None,
) -> ScoredSettings:
    """Score the peers under all combinations of the levels; ``choices`` says what they have in common.

    ``advance`` is told of every setting of every topic. ``folder`` keeps finished topics for the next time.
    """
    check_choice("auto measure", measure, MEASURES)
    choices = choices or Choices(partitioner="edua-g")
    grid = _Grid.of(choices, paper_levels(choices) if levels is None else levels)
    jobs = grid_jobs(study)
    found = _all_topics(jobs, grid, folder, processes, advance)
    systems = tuple(sorted({system for job in jobs for system in job.peers}))
    left_out = [*without_references(study, jobs), *human_peers(jobs)]
    notes = [
        *foreign(study),
        *left_out,
        *_few_references(jobs),
        *_joint_notes(made for topic in found for made in topic),
    ]
    default = tuple(_default(choices, name) for name in grid.parameters)
    return ScoredSettings(
        measure,
        grid.parameters,
        grid.settings,
        tuple(job.topic for job in jobs),
        systems,
        _cells(found, systems, MEASURES.index(measure)),
        default if default in grid.settings else None,
        _fixed(choices, grid.parameters),
        tuple(notes),
    )


def grid_jobs(study: Study) -> list[TopicJob]:
    """The topics to score; refuses studies on which no setting can make a difference."""
    jobs = [job for job in topic_jobs(study, rebuild=True) if job.peers]
    if not jobs:
        raise InputError(Problem("study", "there are no peers to score"))
    if all(len(job.references) < 2 for job in jobs):
        what = "no topic has two references, so there is nothing to join and no parameter makes a difference"
        raise InputError(Problem("study", what))
    return jobs


def _few_references(jobs: Sequence[TopicJob]) -> list[Problem]:
    alone = [job.topic for job in jobs if len(job.references) < 2]
    what = "one reference only, so that all settings give the same"
    return [Problem(f"{len(alone)} of {len(jobs)} topics", what, "warning")] if alone else []


@dataclass(frozen=True)
class _Grid:
    base: Choices
    parameters: tuple[str, ...]
    settings: tuple[Setting, ...]
    choices: tuple[Choices, ...]

    @classmethod
    def of(cls, base: Choices, levels: Levels) -> _Grid:
        if not levels:
            raise UsageError(f"give values of at least one parameter: {', '.join(VARIED)}")
        for name, values in levels.items():
            check_choice("parameter", name, VARIED)
            if not values:
                raise UsageError(f"{name} has no values")
        names = tuple(name for name in VARIED if name in levels)
        settings = tuple(product(*(sorted({float(value) for value in levels[name]}) for name in names)))
        made = (dict(zip(names, setting, strict=True)) for setting in settings)
        return cls(base, names, settings, tuple(replace(base, **_typed(values)) for values in made))


def _typed(values: Mapping[str, float]) -> dict[str, Any]:
    """top_k counts units."""
    if (top_k := values.get("top_k")) is not None and (top_k < 1 or top_k != int(top_k)):
        raise UsageError(f"top_k is a whole number of at least 1, not {top_k:g}")
    return {name: int(value) if name == "top_k" else value for name, value in values.items()}


def _default(choices: Choices, name: str) -> float:
    """What a parameter is where nobody chooses it: its value in the signature."""
    return float(dict(_unchosen(choices).signature(pyramid=NAME).choices)[name.replace("_", "-")])


def _unchosen(choices: Choices) -> Choices:
    """The same with nothing said about what is varied."""
    return replace(choices, percentile=PERCENTILE, alpha=None, beta=None, top_k=None, threshold=None)


def _fixed(choices: Choices, parameters: Sequence[str]) -> dict[str, str]:
    varied = {name.replace("_", "-") for name in parameters}
    named = choices.signature(pyramid=NAME).choices
    return {name.replace("-", "_"): value for name, value in named if name not in varied | {"pyramid"}}


# -- topic by topic ------------------------------------------------------------------------------------------


class _Made(NamedTuple):
    """What one setting gave to the peers of a topic: by system the values of `MEASURES`; and (where, what) of notes."""

    scores: dict[str, list[float | None]]
    notes: list[list[str]]


def _all_topics(
    jobs: Sequence[TopicJob], grid: _Grid, folder: Path | None, processes: int, advance: Advance
) -> list[list[_Made]]:
    """For each topic, in order, what each setting gave, in order."""
    names = [str(choices.signature(pyramid=NAME)) for choices in grid.choices]
    known: dict[str, dict[str, _Made]] = {}
    todo = []
    for job in jobs:
        held = known[job.topic] = _Kept(folder, job, grid.base).read() if folder is not None else {}
        new = [choices for name, choices in zip(names, grid.choices, strict=True) if name not in held]
        advance(len(names) - len(new))
        if new:
            todo.append((job, new))
    for job, made in _run(todo, grid.base, processes, advance):
        known[job.topic] |= made
        if folder is not None:
            _Kept(folder, job, grid.base).write(known[job.topic])
    return [[known[job.topic][name] for name in names] for job in jobs]


def _cells(found: Sequence[Sequence[_Made]], systems: Sequence[str], measure: int) -> Floats:
    """Settings x topics x systems."""
    missing = [None] * len(MEASURES)
    rows = [[[made.scores.get(system, missing)[measure] for system in systems] for made in topic] for topic in found]
    return np.array(rows, dtype=np.float64).swapaxes(0, 1)


def _joint_notes(found: Iterable[_Made]) -> list[Problem]:
    """Every note once, with the number of settings it came up in."""
    counted = Counter((where, what) for made in found for where, what in made.notes)
    return [
        Problem(where, f"{what} (in {many} settings)", "warning") for (where, what), many in sorted(counted.items())
    ]


Todo = tuple[TopicJob, list[Choices]]


def _run(
    todo: Sequence[Todo], base: Choices, processes: int, advance: Advance
) -> Iterator[tuple[TopicJob, dict[str, _Made]]]:
    """Topic by topic, in order; more than one process helps where partitioning takes long."""
    if processes <= 1 or len(todo) < 2:
        evaluator = GridEvaluator(base) if todo else None
        for job, settings in todo:
            assert evaluator is not None
            yield job, _explored(evaluator, job, settings, advance)
        return
    threads = max(1, (os.cpu_count() or 1) // processes)
    with ProcessPoolExecutor(processes, get_context("spawn"), _start, (base, threads)) as pool:
        for (job, settings), made in zip(todo, pool.map(_run_here, todo), strict=True):
            advance(len(settings))
            yield job, made


_here: list[GridEvaluator] = []
"""A process of a pool keeps its evaluator here."""


def _start(base: Choices, threads: int) -> None:
    _here[:] = [GridEvaluator(base, threads=threads)]


def _run_here(todo: Todo) -> dict[str, _Made]:
    return _explored(_here[0], *todo, lambda _: None)


def _explored(
    evaluator: GridEvaluator, job: TopicJob, settings: Sequence[Choices], advance: Advance
) -> dict[str, _Made]:
    found = {}
    own = {number: job.own[system] for number, system in enumerate(job.peers) if system in job.own}
    peers = list(job.peers.values())
    for choices, scores, notes in evaluator.explore(job.topic, job.references, peers, settings, own=own):
        name = str(choices.signature(pyramid=NAME))
        by_system = {system: list(peer) for system, peer in zip(job.peers, scores, strict=True)}
        found[name] = _Made(by_system, [[note.where, note.what] for note in notes])
        advance(1)
    return found


class _Kept:
    """A topic's settings in a file of their own, which counts only for the same texts, choices and version."""

    def __init__(self, folder: Path, job: TopicJob, base: Choices) -> None:
        self._path = folder / f"{to_file_name(job.topic)}.grid.json"
        self._key = fingerprint(job, _unchosen(base))

    def read(self) -> dict[str, _Made]:
        """What an earlier search has found; a file that cannot be read holds nothing."""
        try:
            held = json.loads(self._path.read_bytes())
            return {name: _Made(*made) for name, made in held["settings"].items()} if held["key"] == self._key else {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}

    def write(self, settings: Mapping[str, _Made]) -> None:
        with new_file(self._path) as file:
            json.dump({"key": self._key, "settings": settings}, file)
