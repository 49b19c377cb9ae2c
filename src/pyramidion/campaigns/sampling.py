"""Which units to ask people about where a model has judged all of them: a random sample with known probabilities.

The units of a topic are cut into parts, units of like unsureness together, and a part is asked about every system that
is compared. Parts of all topics are put into strata by how far two systems may differ on them beyond what the model
says, and each stratum into a random order. Asked are the first parts of each stratum: stratified sampling without
replacement (Cochran 1977, chapter 5), with the allocation of Neyman 1934 and a floor, in case the model is surer than
it should be.

What is predicted is the variance, over pairs of systems, of the difference that the model does not explain. For a unit
that is twice the mean of p (1 - p), which would be right if probabilities were, plus what is left of the model's own
differences because an estimate trusts them in part (``TRUST``). Of two units of a topic, these differences correlate a
little (``ALIKE``), so a part of many units says less than as many units of different topics; but every task needs a
summary to be read. The size of parts is the one with the least minutes x variance.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyramidion.analysis.effort import minutes_of, price_of
from pyramidion.errors import UsageError
from pyramidion.scoring.choice import choose
from pyramidion.stats.combining import LEAST_PARTS, LEAST_TO_DECIDE
from pyramidion.study import Pyramid, Settings, Study, Task
from pyramidion.study.judgments import group

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

MOST_STRATA, PARTS_OF_STRATUM = 4, 4
"""More strata gain little; each has so many parts, and on average so many are asked."""
MIN_OF_STRATUM = 2
FLOOR = 0.5
"""No part is asked with less than this share of the probability that all would have if they had the same."""
TRUST = 0.75
"""How far an estimate is expected to follow the model's differences: the lambda of `pyramidion.stats.combining`."""
ALIKE = 0.1
"""The correlation of what the model does not explain between two units of a topic: .10 in the half of RealSumm and .03
in PyrXSum that we have, with ``align``."""
MOST_UNSURE = 0.5
"""Twice p (1 - p) at p = 0.5: for units that the model has not judged."""
FIRST_ROUND, GROWTH = 0.1, 1.2
"""The first round asks this share of all, at the least; each later one makes it so many times as much, at the least."""


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


class Stratum(NamedTuple):
    """How many parts a stratum has, and how many of them are asked in the end."""

    name: str
    parts: int
    asked: int

    @property
    def probability(self) -> float:
        return self.asked / self.parts


def strata_of(parts: Iterable[Part]) -> tuple[Stratum, ...]:
    asked: dict[str, list[bool]] = {}
    for part in parts:
        asked.setdefault(part.stratum, []).append(part.round > 0)
    return tuple(Stratum(name, len(held), sum(held)) for name, held in sorted(asked.items()))


def shares_of(parts: Sequence[Part]) -> tuple[float, ...]:
    """The share of all parts that has been asked after each round."""
    rounds = max((part.round for part in parts), default=0)
    asked = Counter(part.round for part in parts)
    return tuple(sum(asked[k] for k in range(1, number + 1)) / len(parts) for number in range(1, rounds + 1))


def tasks_of(parts: Iterable[Part], study: Study, systems: Sequence[str] = ()) -> Iterator[Task]:
    """A task, not yet named, for every part and every system (all, or some) that has a summary of its topic."""
    peers: dict[str, list[str]] = {}
    for peer in sorted(study.peers, key=lambda peer: peer.system):
        if not systems or peer.system in systems:
            peers.setdefault(peer.topic, []).append(peer.system)
    for part in parts:
        for system in peers.get(part.topic, ()):
            yield Task("", part.topic, system, part.units, stratum=part.stratum, place=part.place, places=part.places)


def draw_parts(
    study: Study, pyramids: Mapping[str, Pyramid], model: str, settings: Settings, rng: np.random.Generator
) -> tuple[Part, ...]:
    """All parts of the units of these pyramids, by topic, with the rounds in which they are asked."""
    check_share(pyramids, settings.largest_share)
    population = _Population(_unsureness(study, pyramids, model))
    sizes = _Sizes(population, settings, _most_peers(study, pyramids))
    pieces = population.cut(sizes.best(), settings.units_per_task)
    strata = _strata(pieces, sizes.limit(pieces), sizes.parts(pieces))
    prefixes = _prefixes(strata, sizes.looks, sizes.affordable(pieces))
    parts: list[Part] = []
    for name, members in enumerate(strata.members, 1):
        limits = [int(prefix[name - 1]) for prefix in prefixes]
        for place, index in enumerate(rng.permutation(members).tolist(), 1):
            round_ = next((number for number, limit in enumerate(limits, 1) if place <= limit), 0)
            piece = pieces[index]
            shown = tuple(piece.units[i] for i in rng.permutation(len(piece.units)))
            parts.append(Part(piece.topic, shown, str(name), place, len(members), round_))
    return tuple(parts)


def check_share(pyramids: Mapping[str, Pyramid], share: float) -> None:
    """Refuse a sample that would be too small for an interval."""
    number = sum(len(pyramid.sampled) for pyramid in pyramids.values())
    if number < LEAST_PARTS:
        raise UsageError(
            f"there are only {number} units; a sample needs at least {LEAST_PARTS}. Ask about all of them: plan "
            "without a model"
        )
    if share * number + 1e-9 < LEAST_PARTS:
        least = math.ceil(LEAST_PARTS / number * 1000 - 1e-9) / 1000
        raise UsageError(
            f"a share of {share:g} of {number} units is too small for an interval, which needs {LEAST_PARTS} units; "
            f"the smallest share that works is {least:g}"
        )


# -- what the model does not know ------------------------------------------------------------------------------------


class _Unit(NamedTuple):
    variance: float
    id: str


def _unsureness(study: Study, pyramids: Mapping[str, Pyramid], model: str) -> dict[str, list[_Unit]]:
    """The predicted variance of each unit, by topic; the least first."""
    said = choose(study, kind="model", pyramid=next(iter(pyramids.values())).name, judges=model).on_units
    said = said.take(~np.isnan(said.value) & said.system.is_in(set(study.systems)))
    units = group(said.topic.ranks(), said.unit.ranks())
    p = np.clip(said.value, 0.0, 1.0)
    number = np.bincount(units.of_row, minlength=len(units)).astype(np.float64)
    mean, square = (np.bincount(units.of_row, values, minlength=len(units)) / number for values in (p, p * p))
    spread = np.maximum(square - mean**2, 0.0) * number / np.maximum(number - 1, 1)
    variance = 2 * (mean - square + (1 - TRUST) ** 2 * spread)
    first = units.first.tolist()
    known = {(said.topic[row], said.unit[row]): v for row, v in zip(first, variance.tolist(), strict=True)}
    return {
        topic: sorted(_Unit(round(known.get((topic, u.id), MOST_UNSURE), 9), u.id) for u in pyramid.sampled)
        for topic, pyramid in sorted(pyramids.items())
        if pyramid.sampled
    }


def _most_peers(study: Study, pyramids: Mapping[str, Pyramid]) -> int:
    held: dict[str, int] = {}
    for peer in study.peers:
        held[peer.topic] = held.get(peer.topic, 0) + 1
    return max((number for topic, number in held.items() if topic in pyramids), default=1)


# -- parts and their size --------------------------------------------------------------------------------------------


class _Piece(NamedTuple):
    """A part to be: ``sd`` is the predicted standard deviation of what it adds to a difference of two systems."""

    sd: float
    topic: str
    units: tuple[str, ...]


class _Population:
    """The units of all topics, and the ways to cut them."""

    def __init__(self, units: Mapping[str, Sequence[_Unit]]) -> None:
        self._units = units
        self.number = sum(map(len, units.values()))
        self.largest = max(map(len, units.values()))

    def cut(self, size: int, most: int) -> list[_Piece]:
        """Parts of about this size, as even as can be, none larger than ``most``; the surest first."""
        pieces = []
        for topic, units in self._units.items():
            number = max(1, math.floor(len(units) / size + 0.5), math.ceil(len(units) / most))
            bounds = [len(units) * i // number for i in range(number + 1)]
            pieces += [self._piece(topic, units[low:high], len(units)) for low, high in pairwise(bounds)]
        return sorted(pieces)

    def _piece(self, topic: str, units: Sequence[_Unit], of: int) -> _Piece:
        apart, together = sum(u.variance for u in units), sum(math.sqrt(u.variance) for u in units) ** 2
        sd = math.sqrt((1 - ALIKE) * apart + ALIKE * together) / (of * len(self._units))
        return _Piece(round(sd, 12), topic, tuple(unit.id for unit in units))


@dataclass(frozen=True, slots=True)
class Limit:
    """The most that is asked, before it is known which parts are drawn: so many units and so many parts."""

    units: float
    parts: int

    def allows(self, asked: Floats, length: Floats) -> bool:
        return bool(asked @ length <= self.units + 1e-6 and asked.sum() <= self.parts + 1e-6)


class _Sizes:
    """How many parts of a size can be asked, and which size says most for the money."""

    def __init__(self, population: _Population, settings: Settings, peers: int) -> None:
        self._population, self._settings, self._peers = population, settings, peers

    def best(self) -> int:
        """The size with the least loss; with a goal, if that can be, one that leaves much to ask after a first look."""
        most = min(self._settings.units_per_task, self._population.largest)
        cuts = {size: self._population.cut(size, self._settings.units_per_task) for size in range(1, most + 1)}
        allowed = {size: self.parts(pieces) for size, pieces in cuts.items() if self.affordable(pieces) >= LEAST_PARTS}
        for least in (LEAST_PARTS,) if self.looks == 1 else (2 * LEAST_TO_DECIDE, LEAST_TO_DECIDE, LEAST_PARTS):
            if enough := [size for size, number in allowed.items() if number >= least]:
                return min(enough, key=lambda size: (self._loss(cuts[size]), size))
        raise UsageError(self._too_few())

    @property
    def looks(self) -> int:
        return self._settings.looks if self._settings.until else 1

    def limit(self, pieces: Sequence[_Piece]) -> Limit:
        """The share and, where all is asked at once, the budget: in rounds, systems that leave make room for others."""
        most = self._settings.largest_share * self._population.number
        return Limit(most, self.affordable(pieces) if self.looks == 1 else len(pieces))

    def parts(self, pieces: Sequence[_Piece]) -> int:
        """How many parts of average size may be asked."""
        limit = self.limit(pieces)
        return min(math.floor(limit.units * len(pieces) / self._population.number + 1e-9), limit.parts)

    def affordable(self, pieces: Sequence[_Piece]) -> int:
        """How many parts the budget allows if all systems stay; all, without a budget."""
        price = price_of(self._settings, self._population.number / len(pieces)) * self._peers * self._settings.workers
        if not self._settings.budget or not price:
            return len(pieces)
        return min(len(pieces), math.floor(self._settings.budget / price + 1e-9))

    def _loss(self, pieces: Sequence[_Piece]) -> float:
        """Minutes x variance, with the wider interval that few parts give."""
        minutes = sum(minutes_of(self._settings, len(piece.units)) for piece in pieces) / len(pieces)
        free = max(1, self.parts(pieces) - MOST_STRATA)
        wider = 1 + (1.96**2 + 1) / (4 * free)  # the quantile of t beside that of the normal distribution
        return minutes * (sum(piece.sd for piece in pieces) * wider) ** 2

    def _too_few(self) -> str:
        price = price_of(self._settings, 1) * self._peers * self._settings.workers
        return (
            f"the budget of {self._settings.budget:g} is too small for an interval, which needs {LEAST_PARTS} units "
            f"for {self._peers} systems; the smallest that works is {math.ceil(price * LEAST_PARTS)}"
        )


# -- strata, and how much of each ------------------------------------------------------------------------------------


class _Strata(NamedTuple):
    """The pieces of each stratum by number, the surest first; the root mean square of their predicted deviations; their
    mean number of units; and how many of them are asked in the end."""

    members: list[Counts]
    sd: Floats
    length: Floats
    asked: Counts

    @property
    def sizes(self) -> Counts:
        return np.array([len(held) for held in self.members])

    def allocate(self, limit: Limit) -> Counts | None:
        return neyman(self.sizes, self.sd, self.length, limit)


def _strata(pieces: Sequence[_Piece], limit: Limit, asked: int) -> _Strata:
    sd, units = np.array([piece.sd for piece in pieces]), np.array([len(piece.units) for piece in pieces])
    for number in range(min(MOST_STRATA, asked // PARTS_OF_STRATUM), 1, -1):
        members = _equal_sums(sd, number)
        if min(map(len, members)) >= PARTS_OF_STRATUM:
            spread = np.array([math.sqrt((sd[held] ** 2).mean()) for held in members])
            strata = _Strata(members, spread, np.array([units[held].mean() for held in members]), np.zeros(0, np.int64))
            allocated = strata.allocate(limit)
            if allocated is not None and allocated.sum() >= LEAST_PARTS:
                return strata._replace(asked=allocated)
    return _Strata([np.arange(len(pieces))], np.ones(1), np.array([units.mean()]), np.array([asked]))


def _equal_sums(sd: Floats, number: int) -> list[Counts]:
    """Cut sorted values into strata of about the same sum: then each gets about the same number of parts."""
    total = float(sd.sum())
    middle = (np.cumsum(sd) - sd / 2) / total if total else (np.arange(len(sd)) + 0.5) / len(sd)
    which = np.minimum((middle * number).astype(np.int64), number - 1)
    return [np.flatnonzero(which == stratum) for stratum in range(number)]


def neyman(sizes: Counts, sd: Floats, length: Floats, limit: Limit) -> Counts | None:
    """How many of the parts of each stratum to ask: as many as the limit allows, in proportion to their number times
    their standard deviation (Neyman 1934), within floors; None where the floors alone are too much. ``length`` is the
    mean number of units of a part."""
    even = min(limit.units / float(sizes @ length), limit.parts / float(sizes.sum()), 1.0)
    low = np.minimum(np.maximum(np.ceil(FLOOR * even * sizes - 1e-9), MIN_OF_STRATUM), sizes)
    if not limit.allows(low, length):
        return None
    wanted = sizes * sd if sd.all() else sizes.astype(np.float64)
    least, most = 0.0, float((sizes / wanted).max())
    for _ in range(100):
        factor = (least + most) / 2
        within = limit.allows(np.clip(factor * wanted, low, sizes), length)
        least, most = (factor, most) if within else (least, factor)
    exact = np.clip(least * wanted, low, sizes)
    chosen = np.floor(exact + 1e-9)
    for stratum in np.argsort(chosen - exact, kind="stable"):  # the largest remainder first
        more = chosen + (np.arange(len(sizes)) == stratum)
        if more[stratum] <= sizes[stratum] and limit.allows(more, length):
            chosen = more
    return chosen.astype(np.int64)


def _prefixes(strata: _Strata, looks: int, affordable: int) -> list[Counts]:
    """How many parts of each stratum have been asked after each round: the same allocation of fewer parts, growing
    geometrically from at most as many as are affordable. Rounds may be fewer than wished."""
    asked = strata.asked
    total = int(asked.sum())
    first = min(total, affordable, max(LEAST_TO_DECIDE if looks > 1 else LEAST_PARTS, math.ceil(FIRST_ROUND * total)))
    number = min(looks, 1 + math.floor(math.log(total / first) / math.log(GROWTH) + 1e-9))
    if affordable < total:
        number = max(number, 2)
    prefixes = [np.minimum(asked, MIN_OF_STRATUM)]
    for size in np.geomspace(first, total, number)[:-1]:
        prefixes.append(_within(strata, math.floor(size + 0.5), prefixes[-1]))
    return [*prefixes[1:], asked]


def _within(strata: _Strata, size: int, least: Counts) -> Counts:
    """The allocation of so many parts, never fewer of a stratum than before and never more than in the end."""
    allocated = strata.allocate(Limit(math.inf, size))
    whole = np.clip(least if allocated is None else allocated, least, strata.asked)
    while (gap := size - int(whole.sum())) != 0:  # what was cut off goes to, or comes from, the others
        room = strata.asked - whole if gap > 0 else whole - least
        if not room.any():
            break
        whole[int(np.argmax(room))] += 1 if gap > 0 else -1
    return np.asarray(whole, dtype=np.int64)
