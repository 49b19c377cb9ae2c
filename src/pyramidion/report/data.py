"""What the scripts of a report read: names in order, the overview, and each topic with its summaries.

What is shown of a topic is made of its `TopicSheet` alone, so that many topics can be worked on anywhere.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pyramidion.analysis.answer import Heatmap
from pyramidion.formats.files import write_rows
from pyramidion.report.collect import Findings, TopicContent
from pyramidion.scoring.explanation import Explanation
from pyramidion.study.judgments import EXPRESSED, PERHAPS

UNIT_COLUMNS = ("topic", "system", "unit", "weight", "label", "times", "degree", "yes", "of", "verdict")
SCORE_COLUMNS = ("topic", "system", "method", "measure", "value")


class Place(NamedTuple):
    """A topic and its page in a folder; in a single file the page is empty."""

    id: str
    page: str = ""

    def to_json(self) -> dict[str, str]:
        return {"id": self.id, "page": self.page} if self.page else {"id": self.id}


@dataclass(frozen=True)
class TopicSheet:
    """All that is shown of one topic. ``scores`` are those by the main measure of each method, in the order of
    ``systems``; ``measure`` is the measure of the main method."""

    place: Place
    content: TopicContent
    summaries: tuple[Explanation, ...]
    systems: tuple[str, ...]
    measures: tuple[tuple[str, str], ...]
    scores: tuple[tuple[float | None, ...], ...]
    before: Place | None = None
    after: Place | None = None
    version: str = ""
    simulated: bool = False

    @property
    def measure(self) -> str:
        return self.measures[0][1]


def topic_sheets(findings: Findings, pages: Mapping[str, str] | None = None) -> list[TopicSheet]:
    """One per topic, in order; ``pages`` are the topics' own, by id."""
    places = [Place(topic.id, (pages or {}).get(topic.id, "")) for topic in findings.topics]
    tables = [scored.table.per_summary(scored.measure) for scored in findings.scored]
    return [
        TopicSheet(
            place,
            topic,
            tuple(findings.summaries_of(topic)),
            findings.systems,
            tuple((scored.method, scored.measure) for scored in findings.scored),
            tuple(tuple(_short(table.get((topic.id, name))) for name in findings.systems) for table in tables),
            before,
            after,
            findings.version,
            findings.simulated,
        )
        for topic, before, place, after in zip(
            findings.topics, [None, *places[:-1]], places, [*places[1:], None], strict=True
        )
    ]


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _precise(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")


def compact_json(data: object) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


# -- the overview --------------------------------------------------------------------------------------------------


def head(systems: Iterable[str], measures: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """What every view needs."""
    return {"systems": list(systems), "measures": [{"method": method, "name": name} for method, name in measures]}


def overview(findings: Findings, sheets: Sequence[TopicSheet]) -> dict[str, Any]:
    """What grows with the number of topics: the list of topics, and the scores for the map of systems and topics."""
    alphas = {t.topic: t.alpha.value for answer in findings.agreements[:1] for t in answer.result.topics}
    heatmap = next((f for f in findings.main.ranking.figures if isinstance(f, Heatmap) and f.columns), None)
    columns = set(heatmap.columns) if heatmap else set()
    means = {s.system: s.mean for s in findings.main.ranking.result.systems}
    systems = {system: at for at, system in enumerate(findings.systems)}
    drawn = heatmap and {
        "label": heatmap.label,
        "low": heatmap.low,
        "high": heatmap.high,
        "systems": [[systems[name], _precise(means.get(name))] for name in heatmap.rows],
        "topics": [at for at, topic in enumerate(findings.topics) if topic.id in columns],
    }
    return {
        "topics": [_topic_row(findings, sheet, alphas.get(sheet.place.id)) for sheet in sheets],
        "scores": [sheet.scores[0] for sheet in sheets],
        "map": drawn,
    }


def _topic_row(findings: Findings, sheet: TopicSheet, alpha: float | None) -> dict[str, Any]:
    topic = sheet.content
    scores = {s: v for s in findings.systems if (v := findings.main_scores.get((topic.id, s))) is not None}
    tiers = findings.pyramid_figure(topic).tiers if topic.units else ()
    return {
        **sheet.place.to_json(),
        "title": topic.topic.title,
        "units": len(topic.units),
        "tiers": [[tier.weight, [_short(share) for share in tier.shares]] for tier in tiers],
        "mean": _precise(sum(scores.values()) / len(scores)) if scores else None,
        "best": findings.systems.index(max(scores, key=lambda system: scores[system])) if scores else None,
        "alpha": _precise(alpha),
    }


# -- one topic -----------------------------------------------------------------------------------------------------


def topic_data(sheet: TopicSheet) -> dict[str, Any]:
    topic = sheet.content
    systems = {system: place for place, system in enumerate(sheet.systems)}
    return {
        "id": topic.id,
        "title": topic.topic.title,
        "description": topic.topic.description,
        "references": topic.references,
        "tiers": max((unit.weight for unit in topic.units), default=0),
        "units": [[unit.id, unit.label, unit.weight, topic.wordings(unit)] for unit in topic.units],
        "scores": sheet.scores,
        "summaries": [_summary(sheet, summary, systems[summary.peer.system]) for summary in sheet.summaries],
    }


def _summary(sheet: TopicSheet, summary: Explanation, system: int) -> dict[str, Any]:
    """An explanation with units as places in the topic's list. A human peer has weights of its own."""
    own = {}
    if summary.own:
        weights = {unit.id: unit.weight for unit in summary.pyramid.units}
        own = {"own": summary.own, "weights": [weights.get(unit.id) for unit in sheet.content.units]}
    place = sheet.content.places
    pieces = [
        [text, sorted(place[id] for id in units), *([1] if unmatched else [])] if units or unmatched else [text]
        for text, units, unmatched in summary.pieces
    ]
    expressed = sorted((place[unit.id], unit.id) for unit in summary.expressed)
    counted = sorted((place[unit.id], unit.id) for unit in summary.pyramid.units if 0 < summary.degree(unit.id) < 1)
    return {
        **own,
        "system": system,
        "pieces": pieces,
        "judged": summary.judged,
        "expressed": [[at, max(summary.times.get(id, 0), 1)] for at, id in expressed],
        "perhaps": sorted(place[unit.id] for unit in summary.perhaps),
        "corrected": sorted(place[id] for id in summary.corrected if id in place),
        "degrees": [[at, _short(summary.degree(id))] for at, id in counted],
        "votes": sorted([place[id], *votes] for id, votes in summary.votes.items() if id in place),
        "unmatched": summary.unmatched,
        "quotes": summary.quotes,
        "annotators": [[name, _short(by.measures[sheet.measure])] for name, by in summary.annotators.items()],
    }


# -- files for whoever wants to compute with them ------------------------------------------------------------------


def score_rows(findings: Findings) -> Iterator[tuple[str | float | None, ...]]:
    """Every score of every method. A mean over topics has no topic."""
    for scored in findings.scored:
        for score in scored.table:
            yield score.topic, score.system, scored.method, score.measure, score.value


def unit_rows(sheet: TopicSheet) -> Iterator[tuple[str | float | None, ...]]:
    """Which unit each summary expresses, or perhaps does, and how often, with the votes where several judged."""
    place = sheet.content.places
    for summary in sheet.summaries:
        for verdict, units in ((EXPRESSED, summary.expressed), (PERHAPS, summary.perhaps)):
            for unit in sorted(units, key=lambda unit: place[unit.id]):
                degree = summary.degree(unit.id)
                yield (
                    sheet.content.id,
                    summary.peer.system,
                    unit.id,
                    unit.weight,
                    unit.label,
                    max(summary.times.get(unit.id, 0), 1) if verdict == EXPRESSED else 1,
                    _short(degree) if 0 < degree < 1 else int(verdict == EXPRESSED),
                    *summary.votes.get(unit.id, (None, None)),
                    verdict,
                )


def to_csv(columns: Iterable[str], rows: Iterable[tuple[str | float | None, ...]]) -> str:
    file = io.StringIO()
    write_rows(file, tuple(columns), rows)
    return file.getvalue()
