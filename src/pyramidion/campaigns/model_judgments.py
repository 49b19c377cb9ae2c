"""What a model has to have judged before it can guide a campaign, and what to ask it where that is missing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from pyramidion.analysis.answer import count
from pyramidion.errors import UsageError
from pyramidion.scoring.choice import TO_BE_JUDGED, Choice, choose, named_pyramid
from pyramidion.study import Judgments, Pyramid, Study
from pyramidion.study.judgments import group

if TYPE_CHECKING:
    from pyramidion.judges import TopicToJudge

Pyramids = Mapping[str, Pyramid]
"""By topic; all have the same name."""


def judged_pyramids(study: Study, pyramid: str | None) -> dict[str, Pyramid]:
    """The pyramids, by topic, of which units can be judged: with units, of topics with peers."""
    names = study.pyramid_names
    name = named_pyramid(names, pyramid, prefer=TO_BE_JUDGED) if names else ""
    with_peers = {peer.topic for peer in study.peers}
    held = {topic.id: study.pyramid(topic.id, name) for topic in study.topics if topic.id in with_peers}
    return {topic: pyramid for topic, pyramid in sorted(held.items()) if pyramid and pyramid.units}


def name_of(pyramids: Pyramids) -> str:
    return next(iter(pyramids.values())).name


def check_model(study: Study, pyramids: Pyramids, model: str, systems: Collection[str]) -> None:
    """Refuse a model that has not judged everything: what it says is part of every estimate."""
    check_kind(study, model)
    if model not in {judge.id for judge in study.judges}:
        models = ", ".join(sorted(study.judges_of("model"))) or "none"
        raise UsageError(
            f"the study has no judgments of a model {model!r} (models that have judged it: {models}); `pyramidion "
            "campaign plan STUDY judge --with-model MODEL` lets a model judge everything first"
        )
    if missing := unjudged(study, pyramids, model, systems):
        topic, system = missing[0]
        raise UsageError(
            f"model {model!r} has not judged all units of {count(len(missing), 'summary', 'summaries')}, such as that "
            f"of {system} on topic {topic}; `pyramidion campaign plan STUDY judge --with-model {model}` asks it"
        )


def check_kind(study: Study, model: str) -> None:
    for judge in study.judges:
        if judge.id == model and judge.kind != "model":
            raise UsageError(f"judge {model!r} is of kind {judge.kind}; only a model can judge everything beforehand")


def unjudged(study: Study, pyramids: Pyramids, model: str, systems: Collection[str]) -> list[tuple[str, str]]:
    """The topics and systems of summaries that the model has not judged in full; an answer that it did not give is
    missing."""
    peers = sorted((p.topic, p.system) for p in study.peers if p.topic in pyramids and p.system in systems)
    if model not in {judge.id for judge in study.judges}:
        return peers
    choice = choose(study, kind="model", pyramid=name_of(pyramids), judges=model)
    said = _said(choice, pyramids, systems)
    summaries = group(said.topic.ranks(), said.system.ranks())
    number = np.bincount(summaries.of_row, minlength=len(summaries)).tolist()
    first = summaries.first.tolist()
    known = {(said.topic[row], said.system[row]): held for row, held in zip(first, number, strict=True)}
    return [key for key in peers if known.get(key, 0) < _units_for(choice, pyramids[key[0]], key[1])]


def _said(choice: Choice, pyramids: Pyramids, systems: Collection[str]) -> Judgments:
    """What was answered about the units and systems that a campaign may ask about."""
    held = choice.on_units.system.is_in(set(systems)) & ~np.isnan(choice.on_units.value)
    said = choice.on_units.take(held)
    known = {(topic, unit.id) for topic, pyramid in pyramids.items() for unit in pyramid.sampled}
    units = group(said.topic.ranks(), said.unit.ranks())
    asked = np.array([(said.topic[row], said.unit[row]) in known for row in units.first.tolist()], dtype=bool)
    return said.take(asked[units.of_row]) if len(said) else said


def _units_for(choice: Choice, pyramid: Pyramid, system: str) -> int:
    """How many units a model is asked about: a human peer only about those of the other references."""
    own = choice.own.get((pyramid.topic, system))
    if own is None:
        return len(pyramid.sampled)
    return len({unit.id for unit in pyramid.without(own).units} & {unit.id for unit in pyramid.sampled})


def questions_about(study: Study, pyramids: Pyramids, summaries: Iterable[tuple[str, str]]) -> list[TopicToJudge]:
    """What to ask a model about some summaries, by topic and system."""
    from pyramidion.jobs import judged_topics

    wanted = set(summaries)
    asked = []
    for each in judged_topics(study, name_of(pyramids)):
        texts = {system: text for system, text in each.texts.items() if (each.pyramid.topic, system) in wanted}
        if texts:
            asked.append(each._replace(texts=texts))
    return asked


def without_known(study: Study, model: str, said: Judgments) -> Judgments:
    """The model's judgments but those that the study has already."""
    known = study.judgments.take(study.judgments.judge.is_in({model}))
    held = set(zip(known.topic, known.system, known.unit, strict=True))
    new = [key not in held for key in zip(said.topic, said.system, said.unit, strict=True)]
    return said.take(np.array(new, dtype=bool)) if new else said
