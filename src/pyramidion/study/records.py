"""A study as plain objects and back: what a line of the JSON Lines format or a row of the store holds.

``to_records`` gives one dictionary a thing, whose ``type`` says what it is; ``Collector`` takes them in any order and
makes the study. The published schema is formats/study.schema.json.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from typing import Any, cast

from pyramidion.study.judgments import Aspect, Judge, JudgeKind, Judgment, JudgmentsBuilder, Mention
from pyramidion.study.study import Study
from pyramidion.study.tasks import KINDS, Assignment, Task, TaskKind
from pyramidion.study.texts import Document, Role, Span, Summary, Topic
from pyramidion.study.units import ContentUnit, Contributor, Pyramid

VERSION = 1
LARGEST = 1e300
"""Numbers beyond this are no measurement, and whole ones no float."""


class BadRecordError(ValueError):
    """A record that cannot be used; says why."""


class Collector:
    """Takes records one by one and makes a study of them."""

    def __init__(self) -> None:
        self._collected: dict[str, list[Any]] = {kind: [] for kind in _READERS}
        self._judgments = JudgmentsBuilder()

    def add(self, record: dict[str, Any]) -> list[str]:
        """Take in one record; returns the names of fields that mean nothing here."""
        fields = deepcopy(record) if record.get("type") != "judgment" else dict(record)
        kind = fields.pop("type", None)
        if kind == "judgment":  # a million of these: kept out of the lists of objects
            self._judgments.add(_judgment(fields))
        elif isinstance(kind, str) and kind in _READERS:
            self._collected[kind].append(_READERS[kind](fields))
        else:
            raise BadRecordError(f"type {kind!r} is unknown; there are: {', '.join([*_READERS, 'judgment'])}")
        return list(fields)

    def study(self) -> Study:
        collected = self._collected
        if len(collected["study"]) > 1:
            raise BadRecordError("there is more than one record of type 'study'")
        return Study(
            topics=tuple(collected["topic"]),
            summaries=tuple(collected["summary"]),
            pyramids=tuple(collected["pyramid"]),
            judges=tuple(collected["judge"]),
            judgments=self._judgments.build(),
            aspects=tuple(collected["aspect"]),
            tasks=tuple(collected["task"]),
            assignments=tuple(collected["assignment"]),
            title="".join(collected["study"]),
        )


# -- one reader a type: each takes the fields it knows out of the object, so that what is left is unknown ----


def _text(fields: dict[str, Any], key: str, default: str | None = None) -> str:
    empty = key in fields and fields[key] is None
    value = fields.pop(key, default)
    if empty or value is None:
        raise BadRecordError(f"field {key!r} is {'null' if empty else 'missing'}")
    if not isinstance(value, str):
        raise BadRecordError(f"field {key!r} must be text, not {json.dumps(value)[:40]}")
    return value


def _number(fields: dict[str, Any], key: str) -> float | None:
    if key not in fields:
        raise BadRecordError(f"field {key!r} is missing (null means unanswered)")
    value = fields.pop(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < LARGEST:
        raise BadRecordError(f"field {key!r} must be a number or null, not {json.dumps(value)[:40]}")
    return float(value)


def _list(fields: dict[str, Any], key: str) -> list[Any]:
    value = fields.pop(key, [])
    if not isinstance(value, list):
        raise BadRecordError(f"field {key!r} must be a list")
    return value


def _texts(fields: dict[str, Any], key: str) -> tuple[str, ...]:
    values = _list(fields, key)
    if not all(isinstance(value, str) for value in values):
        raise BadRecordError(f"field {key!r} must be a list of texts")
    return tuple(values)


def _objects(fields: dict[str, Any], key: str) -> list[dict[str, Any]]:
    values = _list(fields, key)
    if not all(isinstance(value, dict) for value in values):
        raise BadRecordError(f"field {key!r} must be a list of objects")
    return values


def _spans(values: Any) -> tuple[Span, ...]:
    if not isinstance(values, list):
        raise BadRecordError("spans must be a list of [start, end]")
    for value in values:
        if not (isinstance(value, list) and len(value) == 2 and all(type(x) is int and x >= 0 for x in value)):
            raise BadRecordError(f"a span must be [start, end], not {json.dumps(value)[:40]}")
    return tuple(Span(start, end) for start, end in values)


def _choice(fields: dict[str, Any], key: str, allowed: tuple[str, ...]) -> str:
    value = _text(fields, key)
    if value not in allowed:
        raise BadRecordError(f"field {key!r} must be one of {', '.join(allowed)}, not {value!r}")
    return value


def _study(fields: dict[str, Any]) -> str:
    version = fields.pop("version", VERSION)
    if version != VERSION:
        raise BadRecordError(
            f"version {version!r} of this format is unknown here; this release reads version {VERSION}"
        )
    return _text(fields, "title", "")


def _topic(fields: dict[str, Any]) -> Topic:
    documents = tuple(Document(_text(d, "id"), _text(d, "text")) for d in _objects(fields, "documents"))
    return Topic(_text(fields, "id"), _text(fields, "title", ""), _text(fields, "description", ""), documents)


def _summary(fields: dict[str, Any]) -> Summary:
    role = cast(Role, _choice(fields, "role", ("reference", "peer")))
    return Summary(
        _text(fields, "topic"), _text(fields, "system"), _text(fields, "text"), role, _text(fields, "source", "")
    )


def _pyramid(fields: dict[str, Any]) -> Pyramid:
    return Pyramid(
        topic=_text(fields, "topic"),
        references=_texts(fields, "references"),
        units=tuple(map(_unit, _objects(fields, "units"))),
        name=_text(fields, "name", "expert"),
    )


def _unit(fields: dict[str, Any]) -> ContentUnit:
    contributors = tuple(
        Contributor(_text(c, "reference"), _spans(c.pop("spans", []))) for c in _objects(fields, "contributors")
    )
    return ContentUnit(
        id=_text(fields, "id"),
        label=_text(fields, "label"),
        contributors=contributors,
        author=_text(fields, "author", ""),
        group=_text(fields, "group", ""),
        comment=_text(fields, "comment", ""),
    )


def _judge(fields: dict[str, Any]) -> Judge:
    return Judge(_text(fields, "id"), cast(JudgeKind, _choice(fields, "kind", ("expert", "crowd", "model"))))


def _aspect(fields: dict[str, Any]) -> Aspect:
    low, high = _number(fields, "low"), _number(fields, "high")
    if low is None or high is None:
        raise BadRecordError("an aspect needs the numbers 'low' and 'high'")
    return Aspect(_text(fields, "id"), low, high, _text(fields, "title", ""))


def _task(fields: dict[str, Any]) -> Task:
    return Task(
        id=_text(fields, "id"),
        topic=_text(fields, "topic"),
        system=_text(fields, "system", ""),
        units=_texts(fields, "units"),
        kind=cast(TaskKind, _choice(fields, "kind", KINDS)) if "kind" in fields else "judge",
        other=_text(fields, "other", ""),
        references=_texts(fields, "references"),
    )


def _assignment(fields: dict[str, Any]) -> Assignment:
    return Assignment(
        task=_text(fields, "task"),
        judge=_text(fields, "judge"),
        id=_text(fields, "id", ""),
        accepted=_text(fields, "accepted", ""),
        submitted=_text(fields, "submitted", ""),
        seconds=_number(fields, "seconds") if "seconds" in fields else None,
    )


def _judgment(fields: dict[str, Any]) -> Judgment:
    plain = _plain_judgment(fields)
    if plain is not None:
        return plain
    evidence: tuple[Mention, ...] = tuple(map(_spans, _list(fields, "evidence"))) if "evidence" in fields else ()
    return Judgment(
        topic=_text(fields, "topic"),
        system=_text(fields, "system"),
        judge=_text(fields, "judge"),
        value=_number(fields, "value"),
        unit=_text(fields, "unit", ""),
        aspect=_text(fields, "aspect", ""),
        task=_text(fields, "task", ""),
        evidence=evidence,
        other=_text(fields, "other", ""),
    )


_PLAIN = {"topic", "system", "judge", "value", "unit", "aspect", "task"}


def _plain_judgment(fields: dict[str, Any]) -> Judgment | None:
    """The usual judgment, read at a stroke: files have millions of them. None where anything is unusual."""
    if not fields.keys() <= _PLAIN:
        return None
    value = fields.get("value", "")
    if value is not None and not (type(value) in (int, float) and abs(value) < LARGEST):
        return None
    try:
        made = Judgment(**fields)
    except TypeError:
        return None
    texts = (made.topic, made.system, made.judge, made.unit, made.aspect, made.task)
    if not all(type(text) is str for text in texts):
        return None
    fields.clear()
    return made


_READERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "study": _study,
    "topic": _topic,
    "summary": _summary,
    "pyramid": _pyramid,
    "judge": _judge,
    "aspect": _aspect,
    "task": _task,
    "assignment": _assignment,
}


# -- writing -------------------------------------------------------------------------------------------------


def to_records(study: Study) -> Iterator[dict[str, Any]]:
    """The objects of a study in reading order: what is referred to comes before what refers to it."""
    yield {"type": "study", "version": VERSION, **_given(title=study.title)}
    for topic in study.topics:
        documents = [{"id": document.id, "text": document.text} for document in topic.documents]
        yield {
            "type": "topic",
            "id": topic.id,
            **_given(title=topic.title, description=topic.description, documents=documents),
        }
    for summary in study.summaries:
        yield {
            "type": "summary",
            "topic": summary.topic,
            "role": summary.role,
            "system": summary.system,
            "text": summary.text,
            **_given(source=summary.source),
        }
    for pyramid in study.pyramids:
        units = [_unit_object(unit) for unit in pyramid.units]
        yield {
            "type": "pyramid",
            "topic": pyramid.topic,
            "name": pyramid.name,
            "references": list(pyramid.references),
            "units": units,
        }
    for judge in study.judges:
        yield {"type": "judge", "id": judge.id, "kind": judge.kind}
    for aspect in study.aspects:
        low, high = _short(aspect.low), _short(aspect.high)
        yield {"type": "aspect", "id": aspect.id, "low": low, "high": high, **_given(title=aspect.title)}
    for task in study.tasks:
        yield {
            "type": "task",
            "id": task.id,
            "topic": task.topic,
            **_given(
                system=task.system,
                units=list(task.units),
                kind="" if task.kind == "judge" else task.kind,
                other=task.other,
                references=list(task.references),
            ),
        }
    for work in study.assignments:
        seconds = {} if work.seconds is None else {"seconds": _short(work.seconds)}
        yield {
            "type": "assignment",
            "task": work.task,
            "judge": work.judge,
            **_given(id=work.id, accepted=work.accepted, submitted=work.submitted),
            **seconds,
        }
    yield from _judgment_objects(study.judgments)


def _judgment_objects(judgments: Iterable[Judgment]) -> Iterator[dict[str, Any]]:
    for judgment in judgments:
        yield {
            "type": "judgment",
            "topic": judgment.topic,
            "system": judgment.system,
            **_given(other=judgment.other, unit=judgment.unit, aspect=judgment.aspect),
            "judge": judgment.judge,
            "value": _short(judgment.value),
            **_given(task=judgment.task, evidence=[list(map(list, spans)) for spans in judgment.evidence]),
        }


def _unit_object(unit: ContentUnit) -> dict[str, Any]:
    contributors = [
        {"reference": contributor.reference, **_given(spans=list(map(list, contributor.spans)))}
        for contributor in unit.contributors
    ]
    return {
        "id": unit.id,
        "label": unit.label,
        "contributors": contributors,
        **_given(author=unit.author, group=unit.group, comment=unit.comment),
    }


def _given(**fields: Any) -> dict[str, Any]:
    """Leave out what is empty: it reads back as empty."""
    return {key: value for key, value in fields.items() if value}


def _short(value: float | None) -> float | int | None:
    return int(value) if value is not None and float(value).is_integer() else value
