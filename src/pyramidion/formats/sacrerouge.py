"""SacreROUGE instances (Deutsch and Roth 2020): JSON Lines, one object for each summary of each instance.

{"instance_id": "d1", "summarizer_id": "s1", "summarizer_type": "peer", "summary": {"text": "..."},
 "references": [{"summarizer_id": "A", "summarizer_type": "reference", "text": "..."}],
 "documents": [{"filename": "a.txt", "text": "..."}]}

A text may be a list of sentences, which are joined by line feeds. Every line of an instance repeats its references
and documents; if they differ, those that sort first are kept, whatever the order of the lines.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from pyramidion.errors import Problems
from pyramidion.formats import Format
from pyramidion.formats.files import BadLineError, break_at_marks, first_fields, new_file, read_objects
from pyramidion.study import Document, Study, Summary, Topic
from pyramidion.study.texts import Role

_FIELDS = {"instance_id", "summarizer_id", "summarizer_type", "summary", "references", "documents"}
_ROLES: dict[str, Role] = {"peer": "peer", "reference": "reference"}


def recognises(path: Path) -> bool:
    if not path.is_file() or path.suffix.lower() != ".jsonl":
        return False
    fields = first_fields(path)
    return "instance_id" in fields and not fields.keys().isdisjoint({"summary", "references"})


# -- reading -------------------------------------------------------------------------------------------------


def read(path: Path, problems: Problems) -> Study:
    reader = _Reader(problems)
    for where, fields in read_objects(path, problems):
        try:
            reader.add(where, fields)
        except BadLineError as error:
            problems.error(where, str(error))
    return reader.study()


class _Reader:
    """Collects the lines of one file; what lines repeat is kept once and compared."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.topics: dict[str, None] = {}
        self.documents: dict[str, tuple[Document, ...]] = {}
        self.references: dict[tuple[str, str], Summary] = {}
        self.peers: dict[tuple[str, str], Summary] = {}
        self.unknown: set[str] = set()

    def add(self, where: str, fields: dict[str, Any]) -> None:
        topic = _name(fields, "instance_id")
        references = _references(fields, topic)
        documents = _documents(fields)
        summary = _summary(fields, topic)
        if "summary" in fields and summary is None:
            who = fields.get("summarizer_id")
            self.problems.error(where, f"field 'summary' is null: the summary of {topic} by {who} is missing")
        self.topics[topic] = None
        for reference in references:
            self._add_reference(where, reference)
        if documents is not None:
            known = self.documents.setdefault(topic, documents)
            if known != documents:
                what = f"documents of {topic} differ from an earlier line; those that sort first are kept"
                self.problems.warning(where, what)
                self.documents[topic] = min(known, documents, key=lambda texts: [(d.id, d.text) for d in texts])
        if summary is not None and summary.role == "reference":
            self._add_reference(where, summary)
        elif summary is not None:
            self._add_peer(where, summary)
        for key in sorted(fields.keys() - _FIELDS - self.unknown):
            self.problems.warning(where, f"unknown field {key!r} is ignored, here and below")
            self.unknown.add(key)

    def _add_reference(self, where: str, reference: Summary) -> None:
        known = self.references.setdefault((reference.topic, reference.system), reference)
        if known != reference:
            what = f"text of reference {reference.system} of {reference.topic} differs from an earlier one"
            self.problems.warning(where, f"{what}; the one that sorts first is kept")
            self.references[reference.topic, reference.system] = min(known, reference, key=lambda summary: summary.text)

    def _add_peer(self, where: str, peer: Summary) -> None:
        known = self.peers.setdefault((peer.topic, peer.system), peer)
        if known is not peer:
            what = f"summary of {peer.topic} by {peer.system} appears twice; the one that sorts first is kept"
            self.problems.error(where, what)
            self.peers[peer.topic, peer.system] = min(known, peer, key=lambda summary: summary.text)

    def study(self) -> Study:
        return Study(
            topics=tuple(Topic(id, documents=self.documents.get(id, ())) for id in self.topics),
            summaries=(*self.references.values(), *self.peers.values()),
        )


def _name(fields: dict[str, Any], key: str, default: str | None = None) -> str:
    """A name; upstream files have numbers too."""
    value = fields.get(key)
    if value is None:
        value = default
    if value is None:
        raise BadLineError(f"field {key!r} is missing")
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise BadLineError(f"field {key!r} must be text, not {json.dumps(value)[:40]}")
    return str(value)


def _text(value: Any, what: str) -> str:
    if isinstance(value, dict):
        value = value.get("text")
    if isinstance(value, list) and all(isinstance(sentence, str) for sentence in value):
        value = "\n".join(value)
    if not isinstance(value, str):
        raise BadLineError(f"{what} has no 'text' that is text or a list of sentences")
    return break_at_marks(value)


def _objects(fields: dict[str, Any], key: str) -> list[dict[str, Any]]:
    values = fields.get(key) or []
    if not isinstance(values, list):
        raise BadLineError(f"field {key!r} must be a list")
    return [value if isinstance(value, dict) else {"text": value} for value in values]


def _references(fields: dict[str, Any], topic: str) -> list[Summary]:
    return [
        Summary(topic, _name(held, "summarizer_id", str(number)), _text(held, f"reference {number}"), "reference")
        for number, held in enumerate(_objects(fields, "references"), 1)
    ]


def _documents(fields: dict[str, Any]) -> tuple[Document, ...] | None:
    if fields.get("documents") is None:
        return None
    return tuple(
        Document(_name(held, "filename", str(number)), _text(held, f"document {number}"))
        for number, held in enumerate(_objects(fields, "documents"), 1)
    )


def _summary(fields: dict[str, Any], topic: str) -> Summary | None:
    if fields.get("summary") is None:
        return None
    role = _name(fields, "summarizer_type", "peer")
    if role not in _ROLES:
        raise BadLineError(f"field 'summarizer_type' must be peer or reference, not {role!r}")
    return Summary(topic, _name(fields, "summarizer_id"), _text(fields["summary"], "field 'summary'"), _ROLES[role])


# -- writing -------------------------------------------------------------------------------------------------


def write(study: Study, path: Path, problems: Problems) -> None:
    references: dict[str, list[dict[str, str]]] = defaultdict(list)
    for summary in study.references:
        references[summary.topic].append(
            {"summarizer_id": summary.system, "summarizer_type": "reference", "text": summary.text}
        )
    documents = {topic.id: [{"filename": d.id, "text": d.text} for d in topic.documents] for topic in study.topics}
    with new_file(path) as file:
        for peer in study.peers:
            line = {
                "instance_id": peer.topic,
                "summarizer_id": peer.system,
                "summarizer_type": "peer",
                "summary": {"text": peer.text},
                "references": references[peer.topic],
                **({"documents": documents[peer.topic]} if documents.get(peer.topic) else {}),
            }
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    held = {peer.topic for peer in study.peers}
    for topic in study.topics:
        if topic.id not in held:
            problems.warning(f"topic {topic.id}", "is left out: every line holds a peer summary, and it has none")


FORMAT = Format(
    name="sacrerouge",
    title="SacreROUGE instances: JSON Lines with instance_id, summarizer_id, summary and references",
    recognises=recognises,
    read=read,
    write=write,
    holds=frozenset({"documents", "references", "peers"}),
)
