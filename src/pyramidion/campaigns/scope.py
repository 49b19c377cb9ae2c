"""The part of a study that a campaign asks about."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from pyramidion.errors import UnknownError, UsageError
from pyramidion.study import Study
from pyramidion.study.tasks import TaskKind


def part_of(study: Study, topics: Sequence[str], systems: Sequence[str]) -> Study:
    """The study with some of its topics and systems; with all if none are named."""
    known_topics, known_systems = [topic.id for topic in study.topics], study.systems
    for what, asked, known in (("topic", topics, known_topics), ("system", systems, known_systems)):
        for id in asked:
            if id not in known:
                raise UnknownError(f"unknown {what} {id!r}; known values are: {', '.join(known)}")
    return replace(
        study,
        # By id, so that the same seed draws the same units however the study is ordered.
        topics=tuple(sorted((t for t in study.topics if not topics or t.id in topics), key=lambda t: t.id)),
        summaries=tuple(
            s
            for s in study.summaries
            if (not topics or s.topic in topics) and (s.role == "reference" or not systems or s.system in systems)
        ),
    )


def without_units(study: Study, kind: TaskKind, without: Collection[tuple[str, str]]) -> Study:
    """The study as if some units were in no pyramid; they stay in the study, so that they can be asked about later."""
    if kind != "judge":
        raise UsageError(f"units are left out of judging only, not of a campaign of kind {kind}")
    known = {(pyramid.topic, unit.id) for pyramid in study.pyramids for unit in pyramid.units}
    topics = {topic.id for topic in study.topics}
    for topic, unit in without:
        if topic in topics and (topic, unit) not in known:
            raise UnknownError(f"topic {topic} has no unit {unit!r} that could be left out")
    return replace(
        study,
        pyramids=tuple(
            replace(pyramid, units=tuple(unit for unit in pyramid.units if (pyramid.topic, unit.id) not in without))
            for pyramid in study.pyramids
        ),
    )
