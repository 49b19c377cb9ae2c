"""Which units to ask people about where a model has judged all of them: a random sample with known probabilities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pyramidion.study import Pyramid, Settings, Study, Task


@dataclass(frozen=True, slots=True)
class Part:
    """Units of a topic that are asked about together, for every system that is compared.

    It has place ``place`` (from 1) in the random order of the ``places`` parts of its ``stratum``. ``round`` says when
    it is asked, from 1; 0 means that nobody plans to ask it. In every stratum rounds grow with the place, so what was
    asked after a round is the first n parts of each stratum, each of which had probability n / places.
    """

    topic: str
    units: tuple[str, ...]
    stratum: str
    place: int
    places: int
    round: int


def draw_parts(
    study: Study, pyramids: Mapping[str, Pyramid], model: str, settings: Settings, rng: np.random.Generator
) -> tuple[Part, ...]:
    """All parts of the units of these pyramids, by topic, with the rounds in which they are asked."""
    raise NotImplementedError


def tasks_of(parts: Iterable[Part], study: Study, systems: Sequence[str] = ()) -> Iterator[Task]:
    """A task, not yet named, for every part and every system (all, or some) that has a summary of its topic."""
    peers: dict[str, list[str]] = {}
    for peer in sorted(study.peers, key=lambda peer: peer.system):
        if not systems or peer.system in systems:
            peers.setdefault(peer.topic, []).append(peer.system)
    for part in parts:
        for system in peers.get(part.topic, ()):
            yield Task("", part.topic, system, part.units, stratum=part.stratum, place=part.place, places=part.places)
