"""Score a study's peers under every setting of a grid, and get the human scores to compare with.

A setting has values of numbers (a percentile, a threshold) and of parts (an embedder, a partitioner): the table of
embedders in Gao et al. 2019 is a grid, too. Every finished topic can be kept in a folder: an interrupted search
continues where it stopped, and a larger grid computes only its new settings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pyramidion.analysis.grid_explorer import PARTS, VARIED, GridExplorer, Scores, shared_choices
from pyramidion.analysis.inputs import Floats
from pyramidion.analysis.settings import ScoredSettings, Setting, Value
from pyramidion.engines import Advance, Where, Work, ignore, started
from pyramidion.errors import InputError, Problem, UsageError, check_choice
from pyramidion.evaluation import kept_for_the_next_time
from pyramidion.formats.files import to_file_name
from pyramidion.formats.resumable import Parts
from pyramidion.jobs import TopicJob, human_peers, job_key, topic_jobs
from pyramidion.pyramids.build import NAME, foreign_texts
from pyramidion.pyramids.choices import Choices
from pyramidion.scoring.auto import MEASURES
from pyramidion.scoring.choice import without_references
from pyramidion.scoring.methods import score
from pyramidion.study import ScoreTable, Study

PERCENTILES = (60.0, 62.0, 65.0, 67.0, 70.0, 72.0, 75.0, 77.0, 80.0, 83.0, 85.0, 87.0)
ALPHAS = (10.0, 20.0, 30.0, 40.0, 50.0)
BETAS = (1.0, 1.5, 2.0, 2.5, 3.0)
"""The grid of Gao et al. 2019: their ranges, and as many levels as their degrees of freedom say."""

HUMAN = ("pyramid", "lite", "responsiveness")
"""Methods that score by what people judged, in the order in which one is taken as gold."""

Levels = Mapping[str, Sequence[float] | Sequence[str]]


def paper_levels(choices: Choices) -> dict[str, Sequence[float] | Sequence[str]]:
    """The paper's grid, as far as the partitioner has its parameters."""
    greedy = {"alpha": ALPHAS, "beta": BETAS} if choices.partitioner == "edua-g" else {}
    return {"percentile": PERCENTILES, **greedy}


def human_gold(study: Study) -> ScoreTable:
    """The study's scores by people: its pyramid, otherwise its crowd's units, otherwise its ratings. Models'
    judgments are not used."""
    models = study.judges_of("model")
    people = replace(study, judgments=study.judgments.take(~study.judgments.judge.is_in(models)))
    reasons = []
    for method in HUMAN:
        try:
            return score(people, method)
        except (UsageError, InputError) as error:
            reasons.append(f"{method}: {str(error).splitlines()[0]}")
    raise UsageError("the study has no human scores; give a score table as gold\n" + "\n".join(reasons))


def score_grid(
    study: Study,
    choices: Choices | None = None,
    levels: Levels | None = None,
    *,
    measure: str = "coverage",
    folder: Path | None = None,
    engine: Where = None,
    advance: Advance = ignore,
) -> ScoredSettings:
    """Score the peers under all combinations of the levels; ``choices`` says what they have in common.

    ``advance`` is called for every setting of every topic. ``folder`` keeps finished topics for the next time.
    """
    check_choice("auto measure", measure, MEASURES)
    choices = choices or Choices(partitioner="edua-g")
    grid = _Grid.of(choices, paper_levels(choices) if levels is None else levels)
    jobs = grid_jobs(study)
    by_topic = _all_topics(jobs, grid, folder, engine, advance)
    systems = tuple(sorted({system for job in jobs for system in job.peers}))
    notes = [*foreign_texts(study), *without_references(study, [job.topic for job in jobs]), *human_peers(jobs)]
    notes += [*_few_references(jobs), *_joint_notes(made for topic in by_topic for made in topic)]
    default = _default(grid)
    return ScoredSettings(
        measure,
        grid.parameters,
        grid.settings,
        tuple(job.topic for job in jobs),
        systems,
        _cells(by_topic, systems, MEASURES.index(measure)),
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
        what = "no topic has two references, so no clauses can be joined and no parameter has any effect"
        raise InputError(Problem("study", what))
    return jobs


def _few_references(jobs: Sequence[TopicJob]) -> list[Problem]:
    alone = [job.topic for job in jobs if len(job.references) < 2]
    what = "only one reference, so all settings give the same scores"
    return [Problem(f"{len(alone)} of {len(jobs)} topics", what, "warning")] if alone else []


def grid_settings(choices: Choices, levels: Levels) -> tuple[Setting, ...]:
    """The settings that `score_grid` would score: combinations that differ only in parameters without effect count
    as one."""
    return _Grid.of(choices, levels).settings


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
            if isinstance(values, str) or not values:
                raise UsageError(f"{name} has no values" if not values else f"{name}: give a list of values")
        names = tuple(name for name in VARIED if name in levels)
        made = (dict(zip(names, each, strict=True)) for each in product(*(_sorted(name, levels) for name in names)))
        choices = tuple(dict.fromkeys(_combined(base, values) for values in made))
        for name in names:
            if not any(each.uses(name) for each in choices):
                _refuse(choices[0], name, levels)
        return cls(base, names, tuple(_setting(each, names) for each in choices), choices)


def _sorted(name: str, levels: Levels) -> list[Any]:
    return sorted({str(value) if name in PARTS else float(value) for value in levels[name]})


def _combined(base: Choices, values: Mapping[str, Any]) -> Choices:
    """These values, but for those that make no difference beside the others."""
    parts = {name: value for name, value in values.items() if name in PARTS}
    if parts.get("similarity", base.similarity) != "cosine":
        parts["embedder"] = Choices.embedder
    made = replace(base, **parts)
    return replace(made, **_typed({n: v for n, v in values.items() if n not in PARTS and made.uses(n)}))


def _refuse(choices: Choices, name: str, levels: Levels) -> None:
    """Say why no setting has a parameter; the choices themselves know best."""
    for value in _sorted(name, levels):
        replace(choices, **_typed({name: value}))
    raise UsageError(f"{name} has no effect in any of these settings")


def _typed(values: Mapping[str, Any]) -> dict[str, Any]:
    """top_k counts units."""
    if (top_k := values.get("top_k")) is not None and (top_k < 1 or top_k != int(top_k)):
        raise UsageError(f"top_k must be a whole number of at least 1, not {top_k:g}")
    return {name: int(value) if name == "top_k" else value for name, value in values.items()}


def _setting(choices: Choices, names: Sequence[str]) -> Setting:
    """The values of some parameters; what nobody chooses is known from the signature, None is what is not used."""
    named = dict(choices.signature(pyramid=NAME).choices)

    def value(name: str) -> Value:
        if not choices.uses(name):
            return None
        given: Value = getattr(choices, name)
        if isinstance(given, str):
            return given
        return float(named[name.replace("_", "-")] if given is None else given)

    return tuple(value(name) for name in names)


def _default(grid: _Grid) -> Setting:
    """The setting that is used where nobody chooses any of the parameters."""
    return _setting(replace(grid.base, **{name: getattr(Choices, name) for name in grid.parameters}), grid.parameters)


def _fixed(choices: Choices, parameters: Sequence[str]) -> dict[str, str]:
    varied = {name.replace("_", "-") for name in parameters}
    named = choices.signature(pyramid=NAME).choices
    return {name.replace("-", "_"): value for name, value in named if name not in varied | {"pyramid"}}


# -- topic by topic ------------------------------------------------------------------------------------------


class _Made(NamedTuple):
    """What one setting gave to the peers of a topic; and (where, what) of notes."""

    scores: Scores
    notes: list[list[str]]


class _Todo(NamedTuple):
    """A topic, what some settings share, and the settings."""

    job: TopicJob
    common: Choices
    settings: list[Choices]

    @property
    def size(self) -> int:
        return len(self.settings)


def _all_topics(
    jobs: Sequence[TopicJob], grid: _Grid, folder: Path | None, engine: Where, advance: Advance
) -> list[list[_Made]]:
    """For each topic, in order, what each setting gave, in order."""
    shared: dict[Choices, list[Choices]] = {}
    for choices in grid.choices:
        shared.setdefault(shared_choices(choices), []).append(choices)
    kept = {job.topic: _Kept(folder, job, shared) for job in jobs}
    todo = []
    for common, settings in shared.items():
        for job in jobs:
            new = [choices for choices in settings if _name(choices) not in kept[job.topic].known[common]]
            advance(len(settings) - len(new))
            if new:
                todo.append(_Todo(job, common, new))
    finished: set[str] = set()
    with started(engine) as running, kept_for_the_next_time(folder, finished, len(jobs)):
        for each, made in running.run(_make_explore, todo, advance):
            kept[each.job.topic].add(each.common, made)
            finished.add(each.job.topic)
    return [[kept[job.topic].known[shared_choices(each)][_name(each)] for each in grid.choices] for job in jobs]


def _name(choices: Choices) -> str:
    return str(choices.signature(pyramid=NAME))


def _cells(by_topic: Sequence[Sequence[_Made]], systems: Sequence[str], measure: int) -> Floats:
    """Settings x topics x systems."""
    missing = [None] * len(MEASURES)
    rows = [[[made.scores.get(system, missing)[measure] for system in systems] for made in topic] for topic in by_topic]
    return np.array(rows, dtype=np.float64).swapaxes(0, 1)


def _joint_notes(results: Iterable[_Made]) -> list[Problem]:
    """Every note once, with the number of settings it came up in."""
    counted = Counter((where, what) for made in results for where, what in made.notes)
    return [
        Problem(where, f"{what} (in {many} settings)", "warning") for (where, what), many in sorted(counted.items())
    ]


def _make_explore(threads: int | None) -> Work[_Todo, dict[str, _Made]]:
    """Explores topics one after the other; the explorer is made anew only where what settings share changes."""
    last: list[GridExplorer] = []

    def explore(todo: _Todo, advance: Advance) -> dict[str, _Made]:
        if not last or last[0].choices != todo.common:
            last[:] = [GridExplorer(todo.common, threads=threads)]
        made = {}
        for choices, scores, notes in last[0].explore(todo.job, todo.settings):
            made[_name(choices)] = _Made(scores, [[note.where, note.what] for note in notes])
            advance(1)
        return made

    return explore


class _Kept:
    """The results of one topic by what their settings share, and by name; in a file, if there is a folder. A result
    counts only for the same texts, choices, models and version; those of other parts are left where they are."""

    def __init__(self, folder: Path | None, job: TopicJob, shared: Iterable[Choices]) -> None:
        self._parts, self._name = Parts(folder, ".grid.json"), to_file_name(job.topic)
        self._texts = job_key(job, Choices()) if folder else ""
        self._keys = {common: job_key(job, common) if folder else "" for common in shared}
        self.known: dict[Choices, dict[str, _Made]] = {common: {} for common in self._keys}
        self._held: dict[str, Any] = {}
        try:
            self._held = self._parts.read(self._name, self._texts).get("shared", {})
            for common, key in self._keys.items():
                self.known[common] = {name: _Made(*made) for name, made in self._held.get(key, {}).items()}
        except (TypeError, AttributeError):  # something else was written to the file
            self.known, self._held = {common: {} for common in self._keys}, {}

    def add(self, common: Choices, made: dict[str, _Made]) -> None:
        self.known[common] |= made
        self._held[self._keys[common]] = self.known[common]
        self._parts.write(self._name, self._texts, {"shared": self._held})
