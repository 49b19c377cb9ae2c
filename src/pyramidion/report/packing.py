"""What a report page carries besides its markup: numbers for sorting, and topics that are unpacked when opened.

A topic with all its summaries is gzipped JSON in base64: 60 systems on 100 topics stay below 10 MB, and the browser
touches only what is looked at.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
from typing import Any

from pyramidion.formats.files import write_rows
from pyramidion.report.findings import Findings
from pyramidion.report.markup import Markup, element, embedded_json
from pyramidion.scoring.explain import ShownSummary, ShownTopic


def head(findings: Findings) -> Markup:
    """What every view needs: names in order, and the scores by main measures."""
    data = {
        "systems": list(findings.systems),
        "topics": [{"id": topic.id, "title": topic.title} for topic in findings.topics],
        "measures": [{"method": s.method, "name": s.measure} for s in findings.scored],
        "scores": [_matrix(findings, s.table.per_summary(s.measure)) for s in findings.scored],
    }
    return element("script", embedded_json(data), type="application/json", id="head")


def _matrix(findings: Findings, values: Any) -> list[list[float | None]]:
    return [[_short(values.get((topic.id, system))) for system in findings.systems] for topic in findings.topics]


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def parcels(findings: Findings) -> list[Markup]:
    """One parcel a topic, and the scores in full for whoever wants to download them."""
    systems = {system: place for place, system in enumerate(findings.systems)}
    topics = [
        _parcel(
            f"topic-{place}", json.dumps(_topic(findings, topic, systems), ensure_ascii=False, separators=(",", ":"))
        )
        for place, topic in enumerate(findings.topics)
    ]
    return [*topics, _parcel("file-scores.csv", scores_csv(findings))]


def _parcel(name: str, held: str) -> Markup:
    packed = base64.b64encode(gzip.compress(held.encode("utf-8", "replace"), 6, mtime=0)).decode()
    return element("script", Markup(packed), type="application/gzip", id=name)


def _topic(findings: Findings, topic: ShownTopic, systems: dict[str, int]) -> dict[str, Any]:
    return {
        "id": topic.id,
        "title": topic.title,
        "description": topic.description,
        "references": [list(wording) for wording in topic.references],
        "tiers": topic.tiers,
        "units": [[u.id, u.label, u.weight, [list(w) for w in u.wordings]] for u in topic.units],
        "summaries": [_summary(summary, systems[summary.system]) for summary in findings.summaries_of(topic.id)],
    }


def _summary(summary: ShownSummary, system: int) -> dict[str, Any]:
    pieces = [
        [piece.text, list(piece.units), 1]
        if piece.unmatched
        else [piece.text, list(piece.units)]
        if piece.units
        else [piece.text]
        for piece in summary.pieces
    ]
    own = {"own": summary.own, "weights": list(summary.weights)} if summary.own else {}
    return {
        **own,
        "system": system,
        "pieces": pieces,
        "judged": summary.judged,
        "expressed": [[e.unit, e.times] for e in summary.expressed],
        "degrees": [[e.unit, _short(e.degree)] for e in summary.expressed if e.degree < 1],
        "votes": [list(v) for v in summary.votes],
        "unmatched": summary.unmatched,
        "quotes": list(summary.unmatched_quotes),
        "annotators": [[name, _short(value)] for name, value in summary.annotators],
    }


def scores_csv(findings: Findings) -> str:
    """Every score of every method: topic, system, method, measure, value. A mean over topics has no topic."""
    file = io.StringIO()
    rows = (
        (score.topic, score.system, scored.method, score.measure, score.value)
        for scored in findings.scored
        for score in scored.table
    )
    write_rows(file, ("topic", "system", "method", "measure", "value"), rows)
    return file.getvalue()
