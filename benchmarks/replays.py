"""Labels of people beside a model's, and campaigns replayed on them: what `combine.py` and `stopping.py` measure with.

A population is everything that people would say if they were asked about all units of all summaries. A replay draws
what is asked of it, as a campaign does, and hands it to the project's own estimator.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from pyramidion.stats.combining import AskedParts
from pyramidion.study import Column, ContentUnit, Contributor, Judge, Judgments, Pyramid, Study, Summary, Topic

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Model = Literal["good", "useless", "biased"]
MODELS: tuple[Model, ...] = get_args(Model)
OVERRATED = 0.2
"""What the biased model adds to every second system."""
COLLECTIONS = ("pyrxsum", "realsumm", "qapyramid")
MADE_UP = "made up"
LABELS = Path(__file__).resolve().parents[2] / "shared" / "held-out"
SHARE, STRATA = 0.25, 3
ASKED_PER_STRATUM = 6
"""Fewer strata rather than fewer parts asked in one: degrees of freedom cost more than strata save."""


@dataclass(frozen=True, eq=False)
class Population:
    """Rows are units, columns systems. ``answers`` has the single answers of workers in a third dimension, NaN where
    there are fewer; ``people`` is the label that is taken for true."""

    name: str
    topic: Codes
    people: Floats
    model: Floats
    answers: Floats | None = None

    @cached_property
    def topics(self) -> int:
        return int(self.topic.max()) + 1

    @cached_property
    def sizes(self) -> Codes:
        """Units of each topic."""
        return np.bincount(self.topic, minlength=self.topics)

    @property
    def systems(self) -> int:
        return int(self.people.shape[1])

    @cached_property
    def by_topic(self) -> Floats:
        """Topics x systems: the scores if everything was asked."""
        return self.topic_means(self.people)

    @cached_property
    def scores(self) -> Floats:
        return np.asarray(self.by_topic.mean(axis=0))

    @cached_property
    def model_means(self) -> Floats:
        return self.topic_means(self.model)

    def topic_means(self, values: Floats) -> Floats:
        return _sums(values, self.topic, self.topics) / self.sizes[:, None]

    def only(self, topics: Codes) -> Population:
        """These topics, in this order; one that comes twice becomes two."""
        starts = np.concatenate([[0], np.cumsum(self.sizes)])
        rows = np.concatenate([np.arange(starts[topic], starts[topic + 1]) for topic in topics.tolist()])
        again = np.repeat(np.arange(len(topics)), self.sizes[topics])
        return Population(self.name, again, self.people[rows], self.model[rows],
                          None if self.answers is None else self.answers[rows])  # fmt: skip

    def judged_by(self, model: Model, rng: np.random.Generator) -> Population:
        """With a model that knows nothing, or with one that overrates every second system."""
        if model == "useless":
            return replace(self, model=rng.permutation(self.model.ravel()).reshape(self.model.shape))
        if model == "biased":
            overrated = np.arange(self.systems) % 2 == 0
            return replace(self, model=np.clip(self.model + OVERRATED * overrated, 0.0, 1.0))
        return self

    def by_single_answers(self) -> Population:
        """With the mean of all answers as the truth."""
        assert self.answers is not None
        return replace(self, people=np.nanmean(self.answers, axis=2))

    def answered(self, workers: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """What so many workers say about each unit and system, drawn from the answers that there are, and the variance
        of their mean, as `pyramidion.analysis.asked_items` tells it from these answers: if there is one of each, it
        takes all that is beyond the model."""
        assert self.answers is not None
        held = (~np.isnan(self.answers)).sum(axis=2)
        pick = (rng.random((*held.shape, workers)) * held[..., None]).astype(np.int64)
        said = np.take_along_axis(self.answers, pick, axis=2)
        mean = said.mean(axis=2)
        return mean, said.var(axis=2, ddof=1) / workers if workers > 1 else (mean - self.model) ** 2


def _sums(values: Floats, group: Codes, groups: int) -> Floats:
    """Of each column, by group; rows of a group need not be together."""
    order = np.argsort(group, kind="stable")
    held = np.bincount(group, minlength=groups)
    sums = np.zeros((groups, values.shape[1]))
    starts = np.concatenate([[0], np.cumsum(held)[:-1]])
    some = held > 0
    sums[some] = np.add.reduceat(values[order], starts[some], axis=0)
    return sums


# -- where labels come from --------------------------------------------------------------------------------------


def populations(folder: Path | None) -> Iterator[Population]:
    """Those that `models/held_out_judgments.py` left in a folder; without one, a made-up population."""
    if folder is None or not folder.is_dir():
        yield made_up(np.random.default_rng(0))
        return
    for name in COLLECTIONS:
        if (folder / f"{name}.csv").is_file():
            yield read(folder, name)


def read(folder: Path, name: str) -> Population:
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    topics, systems = (_numbers(row[column] for row in rows) for column in ("topic", "system"))
    units = _numbers(sorted({(row["topic"], row["unit"]) for row in rows}, key=lambda key: topics[key[0]]))
    people, model = np.full((2, len(units), len(systems)), np.nan)
    for row in rows:
        place = units[row["topic"], row["unit"]], systems[row["system"]]
        people[place], model[place] = float(row["people"]), float(row["model"])
    topic = np.array([topics[key[0]] for key in units])
    answers = None
    if (path := folder / f"{name}_crowd.csv").is_file():
        with path.open(encoding="utf-8", newline="") as file:
            said = list(csv.DictReader(file))
        answers = np.full((*people.shape, max(int(row["answer"]) for row in said)), np.nan)
        for row in said:
            place = units[row["topic"], row["unit"]], systems[row["system"]]
            answers[(*place, int(row["answer"]) - 1)] = float(row["value"])
    return Population(name, topic, people, model, answers)


def _numbers(values: Iterable[Any]) -> dict[Any, int]:
    return {value: number for number, value in enumerate(dict.fromkeys(values))}


def made_up(rng: np.random.Generator, topics: int = 60, systems: int = 10, units: int = 10) -> Population:
    """A latent value of each unit, topic and system is what people and the model see, each with errors."""
    topic = np.repeat(np.arange(topics), rng.integers(units // 2, units * 3 // 2, topics))
    latent = 0.4 * rng.normal(size=systems) + 0.5 * rng.normal(size=(topics, systems))[topic]
    latent += rng.normal(size=(len(topic), 1))
    errors = rng.normal(size=(len(topic), 1)), rng.normal(size=(len(topic), systems))
    model = 1 / (1 + np.exp(-(1.2 * latent + 0.8 * errors[0] + 0.8 * errors[1])))
    people = (latent + rng.normal(size=latent.shape) > 0).astype(np.float64)
    wrong = rng.random((*people.shape, 3)) < 0.12
    return Population(MADE_UP, topic, people, model, np.abs(people[..., None] - wrong))


def as_study(population: Population, asked: NDArray[np.bool_]) -> Study:
    """The study that holds a population: the model's judgments of everything, and a worker's of some units."""
    topics = [f"topic{number:05}" for number in range(population.topics)]
    systems = [f"system{number:03}" for number in range(population.systems)]
    first = np.concatenate([[0], np.cumsum(population.sizes)[:-1]])
    units = [f"unit{number:03}" for number in range(int(population.sizes.max()))]
    number = np.arange(len(population.topic)) - first[population.topic]
    rows = np.concatenate([np.arange(len(asked)), np.flatnonzero(asked)]).repeat(population.systems)
    columns = np.tile(np.arange(population.systems), len(asked) + int(asked.sum()))
    by_model = np.arange(len(rows)) < population.model.size
    nothing = Column.repeat("", len(rows))
    return Study(
        topics=tuple(map(Topic, topics)),
        summaries=tuple(Summary(topic, system, "text") for topic in topics for system in systems),
        pyramids=tuple(
            Pyramid(topic, ("A",), tuple(ContentUnit(u, u, (Contributor("A"),)) for u in units[:size]), "crowd")
            for topic, size in zip(topics, population.sizes.tolist(), strict=True)
        ),
        judges=(Judge("worker"), Judge("align", "model")),
        judgments=Judgments.of_columns(
            topic=Column(topics, population.topic[rows]),
            system=Column(systems, columns),
            unit=Column(units, number[rows]),
            aspect=nothing,
            judge=Column(["worker", "align"], by_model.astype(np.int32)),
            task=nothing,
            value=np.where(by_model, population.model[rows, columns], population.people[rows, columns]),
        ),
    )


# -- what is asked -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Parts:
    """The units of a population, cut into parts: ``part`` numbers that of each unit, ``order`` has the parts of each
    stratum in the order in which they are asked."""

    population: Population
    part: Codes
    topic: Codes
    stratum: Codes
    place: Codes
    places: Codes
    sizes: Codes
    spread: Floats

    def asked(self, taken: Codes, people: Floats | None = None, noise: Floats | None = None) -> AskedParts:
        """The first so many parts of each stratum, for all systems or for each; by what people say about each unit, the
        labels by default."""
        held = self.population
        drawn = self.place[:, None] < (taken if taken.ndim == 2 else taken[:, None])[self.stratum]
        chosen = np.flatnonzero(drawn.any(axis=1))
        number = np.full(len(self.topic), -1)
        number[chosen] = np.arange(len(chosen))
        rows = np.flatnonzero(number[self.part] >= 0)
        part = number[self.part[rows]]
        sizes = self.sizes[chosen][:, None]

        def means(values: Floats) -> Floats:
            return _sums(values[rows], part, len(chosen)) / sizes

        return AskedParts(
            self.topic[chosen],
            self.stratum[chosen],
            self.sizes[chosen] / held.sizes[self.topic[chosen]],
            np.where(drawn[chosen], means(held.people if people is None else people), np.nan),
            means(held.model),
            self.places,
            held.model_means,
            None if noise is None else means(noise) / sizes,
        )

    def judgments(self, taken: Codes) -> int:
        """How many people are asked for; ``taken`` has a column for each system."""
        return int((self.sizes[:, None] * (self.place[:, None] < taken[self.stratum])).sum())

    def allocated(self, share: float, floor: float = 0.5) -> Codes:
        """How many parts of each stratum to ask so that about this share of all parts is asked: in proportion to their
        spread (Neyman), with a floor on each stratum's share, and never fewer than two."""
        places = self.places
        least = np.minimum(np.maximum(2, floor * share * places), places)
        total = max(share * places.sum(), least.sum())
        wanted = places * np.maximum(self.spread, 1e-9)
        low, high = 0.0, float((places / wanted).max())
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if np.clip(middle * wanted, least, places).sum() < total else (low, middle)
        return np.asarray(np.round(np.clip(high * wanted, least, places)), np.int64)


def cut(population: Population, rng: np.random.Generator, *, part: int = 1, strata: int = 1) -> Parts:
    """Units of like unsureness of a topic form a part of about so many units, parts of like spread a stratum."""
    unsure = (population.model * (1 - population.model)).mean(axis=1)
    order = np.lexsort((rng.random(len(unsure)), unsure if strata > 1 else np.zeros(len(unsure)), population.topic))
    first = np.concatenate([[0], np.cumsum(population.sizes)[:-1]])
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order)) - first[population.topic[order]]
    counts = np.maximum(1, np.round(population.sizes / part).astype(np.int64))
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    number = starts[population.topic] + rank * counts[population.topic] // population.sizes[population.topic]
    parts = int(counts.sum())
    topic = np.repeat(np.arange(population.topics), counts)
    sizes = np.bincount(number, minlength=parts)
    predicted = np.sqrt(np.bincount(number, unsure, parts)) / population.sizes[topic]
    strata = max(1, min(strata, parts // 4))
    level = np.empty(parts, np.int64)
    level[np.lexsort((rng.random(parts), predicted))] = np.arange(parts) * strata // parts
    places = np.bincount(level, minlength=strata)
    place = np.empty(parts, np.int64)
    place[np.lexsort((rng.random(parts), level))] = np.arange(parts) - np.concatenate(
        [[0], np.cumsum(places)[:-1]]
    ).repeat(places)
    spread = np.bincount(level, predicted, strata) / places
    return Parts(population, number, topic, level, place, places, sizes, spread)


def whole_topics(population: Population, rng: np.random.Generator) -> Parts:
    """The usual design: every topic is one part, asked about as a whole."""
    topics = population.topics
    return Parts(
        population,
        population.topic,
        np.arange(topics),
        np.zeros(topics, np.int64),
        rng.permutation(topics),
        np.array([topics]),
        population.sizes,
        np.ones(1),
    )


Design = Callable[[Population, np.random.Generator], Parts]


def spread(part: int = 1, strata: int = 1, share: float = SHARE) -> Design:
    """Units of all topics; with strata, more where the model is unsure."""

    def drawn(population: Population, rng: np.random.Generator) -> Parts:
        most = int(share * len(population.topic) / part / ASKED_PER_STRATUM)
        return cut(population, rng, part=part, strata=max(1, min(strata, most)))

    return drawn


def pairs_of(systems: int) -> tuple[Codes, Codes]:
    return np.triu_indices(systems, 1)


def gaps(scores: Floats) -> Floats:
    return np.asarray(scores[:, None] - scores)
