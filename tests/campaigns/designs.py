"""Studies and campaigns that ask in rounds, small and made by hand, for the tests of the store, the server and pages.

Systems differ by plan: of `shares` of the units, the first in each topic are in the summary, and the model knows it
nearly always. Workers of these tests answer by `truth`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, count
from typing import Any

import numpy as np

import pyramidion as pyr
from pyramidion.analysis.cost import campaign_cost
from pyramidion.analysis.stopping import DecidedPair, Look, SystemStanding
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.plan import Plan, release
from pyramidion.campaigns.sampling import Part
from pyramidion.campaigns.tasks import JudgeAnswer
from pyramidion.store.database import Database
from pyramidion.study import Campaign, ContentUnit, Contributor, Judge, Judgment, Judgments, Pyramid, Settings, Summary

MODEL = "oracle"
SHARES: dict[str, float] = {"good": 0.9, "fair": 0.5, "poor": 0.1}
SYSTEMS = tuple(sorted(SHARES))
TOPICS, UNITS = 8, 12
MANY = 30
"""Topics of which the first round has enough parts for a real look."""


def truth(system: str, unit: str, shares: Mapping[str, float] = SHARES, units: int = UNITS) -> int:
    """Whether a unit is in the summary of a system: those with low numbers are."""
    return int(int(unit.rpartition("-")[2]) <= shares[system] * units + 0.5)


def study_in_rounds(
    shares: Mapping[str, float] = SHARES, topics: int = TOPICS, units: int = UNITS, *, wrong: float = 0.1
) -> pyr.Study:
    """A study with a crowd pyramid that a model has judged; it is ``wrong`` now and then."""
    rng = np.random.default_rng(19)
    names = [f"t{number:02}" for number in range(1, topics + 1)]
    pyramids, summaries, said = [], [], []
    for topic in names:
        made = [
            ContentUnit(f"{topic}-{n}", f"Fact number {n} of {topic} holds.", (Contributor("ann"),))
            for n in range(1, units + 1)
        ]
        pyramids.append(Pyramid(topic, ("ann",), tuple(made), "crowd"))
        summaries.append(Summary(topic, "ann", " ".join(unit.label for unit in made), "reference"))
        for system in shares:
            inside = [unit for unit in made if truth(system, unit.id, shares, units)]
            summaries.append(Summary(topic, system, f"{system} says: " + " ".join(unit.label for unit in inside)))
            for unit in made:
                there = truth(system, unit.id, shares, units)
                value = (0.9 if there else 0.1) if rng.random() >= wrong else (0.4 if there else 0.6)
                said.append(Judgment(topic, system, MODEL, value, unit=unit.id))
    return pyr.Study(
        topics=tuple(pyr.Topic(name, title=f"Topic {name}") for name in names),
        summaries=tuple(summaries),
        pyramids=tuple(pyramids),
        judges=(Judge(MODEL, "model"),),
        judgments=Judgments(said),
        title="Asked in rounds",
    )


def parts_in_rounds(study: pyr.Study, size: int = 4, rounds: Sequence[float] = (0.25, 0.5, 0.75)) -> tuple[Part, ...]:
    """Parts of so many units in two strata; after each round this share of each stratum has been asked."""
    rng = np.random.default_rng(7)
    pieces = [
        (pyramid.topic, tuple(unit.id for unit in pyramid.units[first : first + size]))
        for pyramid in study.pyramids
        for first in range(0, len(pyramid.units), size)
    ]
    parts = []
    for stratum in ("1", "2"):
        members = pieces[int(stratum) - 1 :: 2]
        limits = [round(share * len(members)) for share in rounds]
        for place, index in enumerate(rng.permutation(len(members)).tolist(), 1):
            topic, units = members[index]
            number = next((n for n, limit in enumerate(limits, 1) if place <= limit), 0)
            parts.append(Part(topic, units, stratum, place, len(members), number))
    return tuple(parts)


def plan_in_rounds(
    study: pyr.Study,
    name: str = "judge",
    *,
    parts: Sequence[Part] | None = None,
    rounds: Sequence[float] = (0.25, 0.5, 0.75),
    **chosen: Any,
) -> Plan:
    defaults = {"model": MODEL, "until": "ranking", "question": "these", "workers": 1, "check": False}
    settings = Settings.for_kind("judge", **{**defaults, "looks": len(rounds), **chosen})
    campaign = Campaign(name, "judge", settings)
    drawn = tuple(parts) if parts is not None else parts_in_rounds(study, rounds=rounds)
    first = release(study, campaign, drawn, 1)
    cost = campaign_cost(len(first.tasks), pay="0.45", fee="0.2")
    return Plan(campaign, first.tasks, cost, first.gold, parts=drawn)


def desk_in_rounds(
    place: Any, *, shares: Mapping[str, float] = SHARES, topics: int = TOPICS, **chosen: Any
) -> CampaignDesk:
    """A new database with such a study and a campaign `judge` whose first round is released."""
    desk = CampaignDesk(Database.create(place, title="Asked in rounds"))
    study = study_in_rounds(shares, topics)
    desk.import_study(study)
    desk.start(plan_in_rounds(desk.studies.load(), **chosen))
    return desk


def answer_all(
    desk: CampaignDesk, campaign: str = "judge", *, shares: Mapping[str, float] = SHARES, but: int = 0
) -> int:
    """Let people answer every open task of a campaign truly, but for so many; returns how many answers were given."""
    given, new = 0, 1
    for number in count():
        if desk.campaigns.progress(campaign)["open"] <= but or not new:
            return given
        worker, new = desk.workers.join("local", f"person {number}").id, 0
        while desk.campaigns.progress(campaign)["open"] > but and (lease := desk.assignments.lease(campaign, worker)):
            units = {unit: truth(lease.task.system, unit, shares) for unit in lease.task.units}
            desk.assignments.submit(lease.id, worker, f"key-{lease.id}", JudgeAnswer(units))
            new += 1
        given += new
        new = new or number < 50  # those who came before have done what they may
    raise AssertionError


def look_of(number: int, stay: tuple[str, ...]) -> Look:
    """A look after which these systems stay, and all pairs with another one are decided; where none stays, the goal is
    reached."""
    pairs = [(a, b) for a, b in combinations(SHARES, 2) if a not in stay or b not in stay]
    width = 0.4 / number
    return Look(
        number=number,
        looks=3,
        goal="ranking",
        question="these",
        standings=tuple(
            SystemStanding(s, 0.5 * share + 0.25, 0.5 * share + 0.25 - width, 0.5 * share + 0.25 + width, s in stay)
            for s, share in sorted(SHARES.items())
        ),
        decided=tuple(DecidedPair(a, b, (SHARES[a] - SHARES[b]) / 2, number) for a, b in pairs),
        pairs=3,
        answered=0,
        reached=not stay,
    )


def without_goal(plan: Plan) -> Plan:
    """The same in one round, without a goal."""
    settings = replace(plan.campaign.settings, until="")
    return replace(plan, campaign=replace(plan.campaign, settings=settings))
