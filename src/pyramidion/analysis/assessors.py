"""Scores by who gave them: every assessor's pyramid scores and ratings, as one long list.

Also which topics and which peers an analysis of assessors is about: Owczarzak et al. 2012 look at main and update
topics apart, and at systems with and without the people who wrote the references (AllPeers, NoModels).
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from pyramidion.analysis.answer import count, listed
from pyramidion.analysis.ratings import rated_aspects
from pyramidion.errors import Problem, Problems, UsageError, check_choice
from pyramidion.methods.choice import choose
from pyramidion.methods.columns import is_in, present_names, take
from pyramidion.methods.human_peers import own_references
from pyramidion.methods.pyramid import peer_scores
from pyramidion.model import Study

PYRAMID = "pyramid"
ALL_PEERS, NO_MODELS = "AllPeers", "NoModels"
Peers = Literal["both", "all", "no-models"]
SETS = {"main": re.compile(r".*[\d._-]A"), "update": re.compile(r".*[\d._-]B")}
"""TAC's two summaries of a topic, as its ids tell them: D0801-A or D0801A-A or D0801A, and the same with B."""


@dataclass(frozen=True, slots=True)
class Given:
    """One assessor's score of one summary. ``year`` names the study it comes from."""

    kind: str
    year: str
    assessor: str
    topic: str
    system: str
    value: float


Studies = Study | Mapping[str, Study]


def by_year(studies: Studies) -> Mapping[str, Study]:
    return {"": studies} if isinstance(studies, Study) else studies


def given_scores(studies: Studies, *, pyramid: str | None = None) -> tuple[Given, ...]:
    """Modified pyramid scores from each assessor's own annotation, and every rating."""
    found = [score for year, study in by_year(studies).items() for score in _of_study(year, study, pyramid)]
    if not found:
        raise UsageError("no assessor annotated a pyramid or rated anything")
    return tuple(found)


def _of_study(year: str, study: Study, pyramid: str | None) -> Iterator[Given]:
    for assessor in annotators(study, pyramid):
        choice = choose(study, kind="expert", pyramid=pyramid, judges=assessor)
        for peer in peer_scores(choice, Problems()):
            if (value := peer.value("modified")) is not None:
                yield Given(PYRAMID, year, assessor, peer.topic, peer.system, value)
    judgments = study.judgments
    by_people = ~is_in(judgments.judge, study.judges_of("model"))
    for aspect in rated_aspects(study):
        rated = take(judgments, is_in(judgments.aspect, {aspect}) & is_in(judgments.other, {""}) & by_people)
        for j in sorted(rated, key=lambda j: (j.judge, j.topic, j.system, j.value or 0.0)):
            if j.value is not None:
                yield Given(aspect, year, j.judge, j.topic, j.system, j.value)


def annotators(study: Study, pyramid: str | None = None) -> Sequence[str]:
    """Who annotated peers against the expert pyramid; a model is not an assessor."""
    if not study.pyramids or (pyramid is None and "expert" not in study.pyramid_names):
        return ()
    choice = choose(study, kind="expert", pyramid=pyramid, judges="all")
    models = study.judges_of("model")
    experts = study.judges_of("expert")
    people = [name for name in present_names(choice.on_units.judge) if name not in models]
    return [name for name in people if name in experts] or people


def kinds_of(scores: Sequence[Given]) -> list[str]:
    return list(dict.fromkeys(score.kind for score in scores))


Cells = dict[tuple[str, str, str], float]


def cells_of(scores: Sequence[Given], kind: str, without: frozenset[str] = frozenset()) -> Cells:
    """The mean score of each summary (year, topic, system) over the assessors that are kept."""
    held: dict[tuple[str, str, str], list[float]] = {}
    for score in scores:
        if score.kind == kind and score.assessor not in without:
            held.setdefault((score.year, score.topic, score.system), []).append(score.value)
    return {key: float(np.mean(values)) for key, values in held.items()}


def system_means(cells: Cells) -> dict[tuple[str, str], float]:
    """Each system's mean over its summaries, by (year, system): systems of different years are different ones."""
    held: dict[tuple[str, str], list[float]] = {}
    for (year, _, system), value in cells.items():
        held.setdefault((year, system), []).append(value)
    return {system: float(np.mean(values)) for system, values in held.items()}


# -- which topics, which peers -------------------------------------------------------------------------------------


def topic_set(study: Study, which: str | None, *, year: str = "") -> Study:
    """The study on its main or update topics alone, or on those whose id fits a pattern."""
    if which is None:
        return study
    known = SETS.get(which)
    kept = {
        topic.id
        for topic in study.topics
        if (known.fullmatch(topic.id) if known else fnmatch.fnmatchcase(topic.id, which))
    }
    if not kept:
        letter = "A" if which == "main" else "B"
        hint = f"its ids end in {letter}, as D0801-{letter}" if known else "a set is main, update or a pattern: '*-B'"
        have = listed([topic.id for topic in study.topics]) or "none"
        raise UsageError(f"{year + ': ' if year else ''}no topic is in the set {which!r} ({hint}); topics are: {have}")
    judgments = study.judgments
    return replace(
        study,
        topics=tuple(topic for topic in study.topics if topic.id in kept),
        summaries=tuple(summary for summary in study.summaries if summary.topic in kept),
        pyramids=tuple(pyramid for pyramid in study.pyramids if pyramid.topic in kept),
        judgments=take(judgments, is_in(judgments.topic, kept)),
        tasks=tuple(task for task in study.tasks if task.topic in kept),
        assignments=(),
    )


def topic_sets(studies: Mapping[str, Study], which: str | None) -> tuple[dict[str, Study], list[Problem]]:
    """Every year on its main or update topics, and which topics are neither."""
    kept = {year: topic_set(study, which, year=year) for year, study in studies.items()}
    notes: list[Problem] = []
    for year, study in studies.items() if which in SETS else ():
        neither = [t.id for t in study.topics if not any(known.fullmatch(t.id) for known in SETS.values())]
        if neither:
            what = f"neither main (ids that end in A) nor update (in B), so left out: {listed(neither)}"
            notes.append(Problem(f"{year + ', ' if year else ''}{count(len(neither), 'topic')}", what, "warning"))
    return kept, notes


Authors = frozenset[tuple[str, str]]


def human_peers(studies: Mapping[str, Study], human: Sequence[str] = ()) -> Authors:
    """People among the peers, by (year, name): all their peers are references too, or a pattern names them."""
    found: set[tuple[str, str]] = set()
    for year, study in studies.items():
        own = own_references(study)
        machines = {peer.system for peer in study.peers if (peer.topic, peer.system) not in own}
        found |= {(year, system) for system in study.systems if system not in machines}
    everybody = {(year, system) for year, study in studies.items() for system in study.systems}
    for pattern in human:
        named = {(year, system) for year, system in everybody if fnmatch.fnmatchcase(system, pattern)}
        if not named:
            have = listed(sorted({system for _, system in everybody}))
            raise UsageError(
                f"no peer is called {pattern!r}; human peers are given by name or pattern, peers are: {have}"
            )
        found |= named
    return frozenset(found)


def peer_sets(
    studies: Mapping[str, Study], peers: Peers = "both", human: Sequence[str] = ()
) -> tuple[dict[str, Authors], list[Problem]]:
    """AllPeers and NoModels, each with the peers it leaves out; the first alone where no peer is a person."""
    check_choice("peers", peers, get_args(Peers))
    people = human_peers(studies, human)
    sets: dict[str, Authors] = {ALL_PEERS: frozenset(), NO_MODELS: people}
    if peers == "all" or (peers == "both" and not people):
        del sets[NO_MODELS]
    if peers == "no-models":
        del sets[ALL_PEERS]
    if people or peers != "no-models":
        return sets, []
    what = "none is a person's: no text of a peer is also a reference; name people with --human"
    return sets, [Problem("peers", what, "warning")]
