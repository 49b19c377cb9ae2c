"""The report: one HTML file that needs nothing else. The overview is markup; details are built when opened.

A topic with all its summaries is gzipped JSON in base64: 60 systems on 100 topics stay below 10 MB, and the browser
unpacks only what is viewed.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from pyramidion.analysis.agreement import Agreement
from pyramidion.analysis.answer import Answer, Heatmap, Scatter, Tiers, show
from pyramidion.formats.files import write_rows
from pyramidion.report.collect import Findings, Scored, TopicContent
from pyramidion.report.rendering import embedded_json, packed, render
from pyramidion.scoring.explanation import Explanation
from pyramidion.scoring.screening import MINIMUM, WorkerAgreement
from pyramidion.stats.rounding import rounded_beside

STYLE = ("shared/base.css", "report.css")
SCRIPT = ("shared/dom.js", "shared/format.js", "parcels.js", "data.js", "tables.js", "main.js")
MOST_NOTES = 200
MOST_SCATTERS = 6
NUMBERS_FIT = 14
"""With more topics than this, the cells of the heat map have no room for numbers."""
STEPS = 10
"""Colour steps of a heat map, from h0 to h9."""
MOST_BLOCKS = 36
"""A tier with more units is drawn as one bar."""
METHODS = {
    "pyramid": ("Pyramid", "experts annotate"),
    "lite": ("Lightweight Pyramids", "a crowd judges"),
    "responsiveness": ("Ratings", "people rate the whole summary"),
    "auto": ("Automatic pyramids", "no people: words are aligned"),
    "rouge": ("ROUGE", "overlapping words"),
}
TESTS = {
    "mcnemar": "McNemar’s test on content units, Holm-corrected",
    "permutation": "permutation test over topics, Holm-corrected",
    "tukey": "Tukey’s test on scores by topic",
}


def report_page(findings: Findings) -> str:
    """The whole page as text."""
    heatmap = next((f for f in findings.main.ranking.figures if isinstance(f, Heatmap) and f.columns), None)
    return render(
        "report.html",
        style=STYLE,
        script=SCRIPT,
        title=findings.heading("system"),
        version=str(findings.main.table.signature).rsplit("|v:", 1)[-1],
        findings=findings,
        standings=[_standing(findings, scored) for scored in findings.scored],
        heatmap=heatmap,
        means={s.system: s.mean for s in findings.main.ranking.result.systems},
        wide=heatmap is not None and len(heatmap.columns) > NUMBERS_FIT,
        has_pyramids=any(topic.units for topic in findings.topics),
        topics=[_topic_row(findings, topic) for topic in findings.topics],
        alphas={t.topic: t.alpha.value for answer in findings.agreements[:1] for t in answer.result.topics},
        agreements=[_agreement(findings, answer) for answer in findings.agreements],
        metrics=_metrics(findings),
        notes=findings.notes[:MOST_NOTES],
        head=embedded_json(_head(findings)),
        parcels=dict(_parcels(findings)),
        steps=STEPS,
        tests=TESTS,
        describe=lambda method: METHODS.get(method, (method, "")),
        show=show,
        link=link,
        heat_step=heat_step,
    )


def link(*parts: str) -> str:
    """A fragment that the page's script opens: #topic/D0601 or #summary/D0601/peer%209."""
    return "#" + "/".join(quote(part, safe="") for part in parts)


# -- what the sections show ----------------------------------------------------------------------------------------


def _standing(findings: Findings, scored: Scored) -> dict[str, Any]:
    """A ranking, and the ranks that the other methods give."""
    result = scored.ranking.result
    others = [other for other in findings.scored if other is not scored]
    return {
        "scored": scored,
        "result": result,
        "scale": nice_scale(*result.scale),
        "letters": sorted({letter for s in result.systems for letter in s.group}),
        "ranks": {
            other.method: {s.system: s.rank for s in other.ranking.result.systems if s.mean is not None}
            for other in others
        },
    }


def _topic_row(findings: Findings, topic: TopicContent) -> dict[str, Any]:
    scores = {s: v for s in findings.systems if (v := findings.main_scores.get((topic.id, s))) is not None}
    return {
        "content": topic,
        "pyramid": TierDrawing(findings.pyramid_figure(topic)) if topic.units else None,
        "mean": sum(scores.values()) / len(scores) if scores else None,
        "best": max(scores, key=lambda system: scores[system], default=None),
    }


def _agreement(findings: Findings, answer: Answer[Agreement]) -> dict[str, Any]:
    judges = sorted(answer.result.judges, key=lambda judge: (judge.alpha is None, -(judge.alpha or 0.0)))
    workers = {worker.judge: worker for worker in findings.workers}
    screened = any(judge.judge in workers for judge in judges)
    excluded = [worker for worker in findings.workers if worker.excluded] if screened else []
    return {
        "answer": answer,
        "judges": judges,
        "scale": Scale(min([0.0, *(judge.alpha for judge in judges if judge.alpha is not None)]), 1.0),
        "screened": screened,
        "excluded": {worker.judge for worker in findings.workers if worker.excluded},
        "reasons": "; ".join(f"{w.judge} ({_percent(w)} over {w.pairs} pairs)" for w in excluded[:20]),
    }


def _percent(worker: WorkerAgreement) -> str:
    return rounded_beside(100 * (worker.agreement or 0.0), 100 * MINIMUM, digits=0) + "%"


def _metrics(findings: Findings) -> dict[str, Any] | None:
    """Correlations with the main measure, the strongest first, and a scatter plot of each of the first."""
    answer = findings.correlations
    if answer is None:
        return None
    at = {(c.metric, c.level, c.kind): c for c in answer.result.correlations}
    metrics = dict.fromkeys(c.metric for c in answer.result.correlations)
    by_system = {metric: at[key] for metric in metrics if (key := (metric, "system", "pearson")) in at}
    lows = (c.over_topics.low if c.over_topics else c.r for c in by_system.values() if c.r is not None)
    order = sorted(by_system, key=lambda metric: -(by_system[metric].r or 0.0))
    scatters = [figure for figure in answer.figures if isinstance(figure, Scatter)]
    scatters.sort(key=lambda figure: order.index(figure.x) if figure.x in order else len(order))
    return {
        "answer": answer,
        "scale": Scale(min([0.0, *lows]), 1.0),
        "rows": [
            (c, at.get((c.metric, "system", "spearman")), at.get((c.metric, "summary", "pearson")))
            for c in sorted(by_system.values(), key=lambda c: (c.r is None, -(c.r or 0.0)))
        ],
        "plots": [ScatterDrawing(figure, by_system.get(figure.x)) for figure in scatters[:MOST_SCATTERS]],
    }


# -- small pictures: places across are percentages, so they fit any width; colours are classes of the style ---------


@dataclass(frozen=True)
class Scale:
    """Maps numbers to percentages, with a margin at both ends."""

    low: float
    high: float

    def at(self, value: float) -> str:
        return f"{self.place(value):.2f}%"

    def place(self, value: float) -> float:
        span = self.high - self.low or 1.0
        return 2 + 96 * (min(max(value, self.low), self.high) - self.low) / span

    def ticks(self, most: int = 5) -> list[float]:
        """Round numbers across the scale."""
        span = self.high - self.low or 1.0
        raw = span / max(most - 1, 1)
        size = 10.0 ** math.floor(math.log10(raw))
        step = next(size * m for m in (1, 2, 2.5, 5, 10) if size * m >= raw * 0.999)
        first = math.ceil(self.low / step - 1e-9)
        return [round(n * step, 10) for n in range(first, math.floor(self.high / step + 1e-9) + 1)]

    def bar(self, value: float) -> list[float]:
        """Where a bar from 0 to a value begins and ends."""
        return sorted((self.place(max(self.low, 0.0)), self.place(value)))


def nice_scale(low: float, high: float) -> Scale:
    """A scale that ends at a round number above everything shown."""
    if high <= low:
        high = low + 1.0
    rough = Scale(low, high).ticks(5)
    step = rough[1] - rough[0] if len(rough) > 1 else high - low
    return Scale(
        math.floor(low / step + 1e-9) * step if low < 0 else 0.0, round(math.ceil(high / step - 1e-9) * step, 10)
    )


def heat_step(value: float, low: float = 0, high: float = 1) -> int:
    span = high - low or 1.0
    return min(int(STEPS * (value - low) / span), STEPS - 1)


class ScatterDrawing:
    """Where the points of a scatter plot are."""

    width, height, left, bottom = 300, 220, 44, 34

    def __init__(self, figure: Scatter, correlation: Any) -> None:
        self.figure = figure
        self.x, self.y = (_roomy(getattr(point, axis) for point in figure.points) for axis in ("x", "y"))
        self.r = "" if correlation is None or correlation.r is None else f"r = {correlation.r:.3f}"

    def across(self, value: float) -> float:
        return self.left + (self.width - self.left - 12) * (value - self.x.low) / (self.x.high - self.x.low)

    def up(self, value: float) -> float:
        floor = self.height - self.bottom
        return floor - (floor - 10) * (value - self.y.low) / (self.y.high - self.y.low)


def _roomy(values: Iterable[float]) -> Scale:
    known = list(values) or [0.0, 1.0]
    low, high = min(known), max(known)
    room = (high - low or abs(high) or 1.0) * 0.08
    return Scale(min(low - room, 0.0) if low >= 0 and low < (high - low) else low - room, high + room)


class TierDrawing:
    """A pyramid's tiers as rows of blocks, one per unit, coloured by the share of summaries that express it."""

    def __init__(self, figure: Tiers) -> None:
        self.figure = figure
        size, gap, self.block_height = 10, 2, 12
        widest = max((min(len(tier.shares), MOST_BLOCKS) for tier in figure.tiers), default=1)
        self.width = widest * (size + gap) - gap
        self.height = max(len(figure.tiers) * (self.block_height + gap) - gap, 1)
        self.blocks: list[tuple[float, int, int, int]] = []
        """Where each block is: x, y, width, and the step of its colour."""
        for row, (_, shares) in enumerate(figure.tiers):
            y = row * (self.block_height + gap)
            if len(shares) > MOST_BLOCKS:
                self.blocks.append((0, y, self.width, heat_step(sum(shares) / len(shares))))
                continue
            start = (self.width - (len(shares) * (size + gap) - gap)) / 2
            for place, share in enumerate(sorted(shares, reverse=True)):
                self.blocks.append((start + place * (size + gap), y, size, heat_step(share)))

    def __str__(self) -> str:
        counts = ", ".join(f"{len(tier.shares)} of weight {tier.weight}" for tier in self.figure.tiers)
        return f"{self.figure.title}: {counts}"


# -- data for the script -------------------------------------------------------------------------------------------


def _head(findings: Findings) -> dict[str, Any]:
    """What every view needs: names in order, and the scores by main measures."""
    return {
        "systems": list(findings.systems),
        "topics": [{"id": topic.id, "title": topic.topic.title} for topic in findings.topics],
        "measures": [{"method": s.method, "name": s.measure} for s in findings.scored],
        "scores": [_matrix(findings, s.table.per_summary(s.measure)) for s in findings.scored],
    }


def _matrix(findings: Findings, values: Mapping[tuple[str, str], float | None]) -> list[list[float | None]]:
    return [[_short(values.get((topic.id, system))) for system in findings.systems] for topic in findings.topics]


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _parcels(findings: Findings) -> Iterator[tuple[str, str]]:
    """One parcel per topic, and the scores in full for whoever wants to download them."""
    systems = {system: place for place, system in enumerate(findings.systems)}
    for place, topic in enumerate(findings.topics):
        data = {
            "id": topic.id,
            "title": topic.topic.title,
            "description": topic.topic.description,
            "references": topic.references,
            "tiers": max((unit.weight for unit in topic.units), default=0),
            "units": [[unit.id, unit.label, unit.weight, topic.wordings(unit)] for unit in topic.units],
            "summaries": [
                _summary(findings, topic, summary, systems[summary.peer.system])
                for summary in findings.summaries_of(topic)
            ],
        }
        yield f"topic-{place}", packed(json.dumps(data, ensure_ascii=False, separators=(",", ":")))
    yield "file-scores.csv", packed(_scores_csv(findings))


def _summary(findings: Findings, topic: TopicContent, summary: Explanation, system: int) -> dict[str, Any]:
    """An explanation with units as places in the topic's list. A human peer has weights of its own."""
    own = {}
    if summary.own:
        weights = {unit.id: unit.weight for unit in summary.pyramid.units}
        own = {"own": summary.own, "weights": [weights.get(unit.id) for unit in topic.units]}
    place = topic.places
    pieces = [
        [text, sorted(place[id] for id in units), *([1] if unmatched else [])] if units or unmatched else [text]
        for text, units, unmatched in summary.pieces
    ]
    expressed = sorted((place[unit.id], unit.id) for unit in summary.expressed)
    counted = sorted((place[unit.id], unit.id) for unit in summary.pyramid.units if 0 < summary.degree(unit.id) < 1)
    measure = findings.main.measure
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
        "annotators": [[name, _short(by.measures[measure])] for name, by in summary.annotators.items()],
    }


def _scores_csv(findings: Findings) -> str:
    """Every score of every method: topic, system, method, measure, value. A mean over topics has no topic."""
    file = io.StringIO()
    rows = (
        (score.topic, score.system, scored.method, score.measure, score.value)
        for scored in findings.scored
        for score in scored.table
    )
    write_rows(file, ("topic", "system", "method", "measure", "value"), rows)
    return file.getvalue()
