"""How it was chosen what people were asked, and the arrays that `stats.combining` makes estimates from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from pyramidion.analysis.answer import listed
from pyramidion.analysis.asked_items import Flags, Items, Row
from pyramidion.errors import Problem, UsageError
from pyramidion.stats.combining import AskedParts, Codes, Floats
from pyramidion.study import Study

HowChosen = Literal["drawn", "given", "everything", "assumed"]
ALL_BUT_SOME = 0.95
"""Where people answered at least so much, everything was asked, and the rest is missing."""
STRATA = 4
"""Probabilities that all differ are put into so many strata."""


@dataclass(frozen=True)
class Chosen:
    """How rows were put into parts and parts into strata; ``part`` is -1 for rows that were not drawn. ``weight``
    corrects parts whose probability differs from that of their stratum. ``asked`` is rows x systems."""

    design: HowChosen
    part: Codes
    stratum: Codes
    places: Codes
    asked: Flags
    weight: Floats
    notes: tuple[Problem, ...] = ()


def choose_design(
    study: Study, items: Items, *, chances: Mapping[Row, float] | None = None, assume_random: bool = False
) -> Chosen:
    """How it was chosen what people were asked: as its tasks say, as is given, everything, or assumed to be random."""
    answered = ~np.isnan(items.people)
    if chances is not None:
        return _given(items, chances, answered)
    if any(task.stratum and task.kind == items.kind for task in study.tasks):
        return _drawn(study, items, answered)
    share = answered.sum() / items.exist.sum()
    if share >= ALL_BUT_SOME:
        return _single_rows("everything", items, items.exist)
    if not assume_random:
        raise UsageError(
            f"people answered {answered.sum():,} of {items.exist.sum():,} questions, and the study does not say how "
            "these were chosen, so nothing follows for the others. Plan with `campaign plan --with-model`, give the "
            "probabilities with --chances, or say with --assume-random that they were drawn at random"
        )
    what = "is not recorded; the answer assumes that it was drawn at random"
    return _assumed(items, answered, (Problem("what was asked", what, "warning"),))


def _single_rows(design: HowChosen, items: Items, asked: Flags, notes: tuple[Problem, ...] = ()) -> Chosen:
    number = len(items.rows)
    drawn = asked.any(axis=1)
    part = np.where(drawn, np.cumsum(drawn) - 1, -1)
    total = int(drawn.sum())
    zeros, places = np.zeros(total, dtype=np.int64), np.array([number])
    return Chosen(design, part, zeros, places, asked, np.ones(total), notes)


def _assumed(items: Items, answered: Flags, notes: tuple[Problem, ...]) -> Chosen:
    """Whole topics where each topic was asked about completely or not at all, otherwise single rows."""
    topics = np.unique([topic for topic, _ in items.rows], return_inverse=True)[1]
    drawn = answered.any(axis=1)
    rows, held = np.bincount(topics), np.bincount(topics, weights=drawn)
    if not ((held == 0) | (held == rows)).all() or len(rows) == len(items.rows):
        return _single_rows("assumed", items, answered, notes)
    whole = np.cumsum(held > 0) - 1
    total = int((held > 0).sum())
    part = np.where(drawn, whole[topics], -1)
    return Chosen("assumed", part, np.zeros(total, np.int64), np.array([len(rows)]), answered, np.ones(total), notes)


def _drawn(study: Study, items: Items, answered: Flags) -> Chosen:
    """As the tasks say: the parts of each stratum that a system was asked about."""
    row_of = {row: place for place, row in enumerate(items.rows)}
    column_of = {system: place for place, system in enumerate(items.systems)}
    tasks = [task for task in study.tasks if task.stratum and task.kind == items.kind]
    parts = sorted({(task.stratum, task.place) for task in tasks})
    number = {key: place for place, key in enumerate(parts)}
    strata = sorted({stratum for stratum, _ in parts})
    places = {task.stratum: task.places for task in tasks}
    part = np.full(len(items.rows), -1, dtype=np.int64)
    asked = np.zeros(items.people.shape, dtype=bool)
    for task in tasks:
        if places[task.stratum] != task.places:
            what = f"stratum {task.stratum} has {task.places} places, elsewhere {places[task.stratum]}"
            raise UsageError(f"task {task.id}: {what}; combine one campaign at a time")
        for unit in task.units or (items.rows[0][1],):
            row = row_of.get((task.topic, unit))
            if row is None or task.system not in column_of:
                continue
            mine = number[task.stratum, task.place]
            if part[row] not in {-1, mine}:
                what = f"unit {unit} of topic {task.topic} was drawn twice, so it has two probabilities of being asked"
                raise UsageError(f"task {task.id}: {what}; combine one campaign at a time")
            part[row], asked[row, column_of[task.system]] = mine, True
    kept = np.unique(part[part >= 0])
    place_of = np.full(len(parts), -1, dtype=np.int64)
    place_of[kept] = np.arange(len(kept))
    part = np.where(part >= 0, place_of[part], -1)
    stratum = np.array([strata.index(parts[k][0]) for k in kept.tolist()], dtype=np.int64)
    sizes = np.array([places[name] for name in strata], dtype=np.int64)
    _check_population(items, part, stratum, sizes)
    notes = []
    if further := int((answered & ~asked).sum()):
        what = f"{further:,} questions were answered that the design had not drawn; they are left out"
        notes.append(Problem("what was asked", what, "warning"))
    return Chosen("drawn", part, stratum, sizes, asked, np.ones(len(kept)), tuple(notes))


def _check_population(items: Items, part: Codes, stratum: Codes, places: Codes) -> None:
    """Refuse a design that was drawn from other units than those at hand: nothing is known about the rest."""
    units = np.bincount(part[part >= 0], minlength=len(stratum))
    drawn = np.bincount(stratum, minlength=len(places))
    stands_for = float((places * np.bincount(stratum, units, minlength=len(places)) / np.maximum(drawn, 1)).sum())
    if not 0.75 <= stands_for / len(items.rows) <= 1.33:
        raise UsageError(
            f"what was asked was drawn from about {stands_for:,.0f} units, but there are {len(items.rows):,}; name the "
            "topics that the campaign was planned for with --topic"
        )
    topics = [topic for topic, _ in items.rows]
    owner: dict[int, str] = {}
    for row in np.flatnonzero(part >= 0).tolist():
        if owner.setdefault(int(part[row]), topics[row]) != topics[row]:
            raise UsageError("two campaigns have strata of the same name; combine one campaign at a time")


def without_unasked(study: Study, items: Items) -> Items:
    """The items of the systems that a design asked about; all, where no design is recorded."""
    asked = {task.system for task in study.tasks if task.stratum and task.kind == items.kind}
    held = np.array([system in asked for system in items.systems])
    if not asked or held.all() or not held.any():
        return items
    names = [system for system, some in zip(items.systems, held.tolist(), strict=True) if not some]
    note = Problem("systems", f"the design did not ask about {listed(names)}; left out", "warning")
    return replace(items, notes=(*items.notes, note)).only(np.ones(len(items.rows), dtype=bool), held)


def _given(items: Items, chances: Mapping[Row, float], answered: Flags) -> Chosen:
    """Rows with the given probabilities. Those of one probability are a stratum; where there are many probabilities,
    neighbours share one, and each row keeps its own weight."""
    probability = np.array([chances.get(row, np.nan) for row in items.rows])
    drawn = answered.any(axis=1)
    if (missing := drawn & np.isnan(probability)).any():
        topic, unit = items.rows[int(np.argmax(missing))]
        raise UsageError(f"{missing.sum():,} rows that people answered have no probability, such as {unit} of {topic}")
    held = np.flatnonzero(drawn)
    if not len(held):
        raise UsageError("no person has answered a question that has a probability; --people says whose answers to use")
    mine = probability[held]
    values, code = np.unique(mine, return_inverse=True)
    if len(values) > STRATA:
        order = np.argsort(mine, kind="stable")
        code = np.empty(len(mine), dtype=np.int64)
        code[order] = np.arange(len(mine)) * STRATA // len(mine)
    taken = np.bincount(code)
    size = np.maximum(np.bincount(code, weights=1 / mine), taken)
    part = np.full(len(items.rows), -1, dtype=np.int64)
    part[held] = np.arange(len(held))
    weight = (taken / size)[code] / mine
    places = np.maximum(np.rint(size), taken).astype(np.int64)
    return Chosen("given", part, code.astype(np.int64), places, answered, weight)


# -- both together -------------------------------------------------------------------------------------------


def asked_parts(items: Items, chosen: Chosen, people: Floats | None = None) -> AskedParts:
    """The arrays of the estimate. ``people`` may replace the answers, to see what missing ones could change."""
    answers = np.where(chosen.asked, items.people if people is None else people, np.nan)
    topics, topic = np.unique([topic for topic, _ in items.rows], return_inverse=True)
    parts = len(chosen.stratum)
    drawn = chosen.part >= 0
    exist = items.exist
    in_topic = np.zeros((len(topics), len(items.systems)))
    np.add.at(in_topic, topic, exist)
    sums = np.zeros_like(in_topic)
    np.add.at(sums, topic, np.where(exist, items.model, 0.0))
    with np.errstate(invalid="ignore"):
        means = sums / np.where(in_topic > 0, in_topic, np.nan)
    given = ~np.isnan(answers)

    def by_part(values: Floats) -> Floats:
        total = np.zeros((parts, len(items.systems)))
        np.add.at(total, chosen.part[drawn], values[drawn])
        return total

    number = by_part(given.astype(np.float64))
    with np.errstate(invalid="ignore"):
        says = by_part(np.where(given, answers, 0.0)) / np.where(number > 0, number, np.nan)
    whole = by_part(exist.astype(np.float64))
    judged_given = by_part(np.where(given, items.model, 0.0)) / np.maximum(number, 1)
    judged = by_part(np.where(exist, items.model, 0.0)) / np.maximum(whole, 1)
    noise = by_part(np.where(given, items.noise, 0.0)) / np.maximum(number, 1) ** 2
    first = np.full(parts, -1, dtype=np.int64)
    first[chosen.part[drawn][::-1]] = topic[drawn][::-1]
    size = np.bincount(chosen.part[drawn], minlength=parts) / np.bincount(topic)[first]
    model = np.where(number > 0, judged_given, judged)
    share = size * chosen.weight
    return AskedParts(first, chosen.stratum, share, says, model, chosen.places, means, noise if noise.any() else None)
