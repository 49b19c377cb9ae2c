"""The teacher's page: every summary with its ideas and verdicts, which can be corrected in the browser.

The page is one file. A topic with its summaries is packed as in the report; corrections leave the page as a file
(`corrections`), of which new pages are made.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from pyramidion.report.collect import Findings, TopicContent
from pyramidion.report.corrections import correctable_judge, corrections_of, fingerprint
from pyramidion.report.ideas import GROUPS, group_ideas, judged_by, label, wording, words
from pyramidion.report.rendering import embedded_json, packed, render
from pyramidion.scoring.explanation import Explanation
from pyramidion.study.judgments import VERDICTS

STYLE = ("shared/base.css", "report.css", "feedback.css", "check.css")
SCRIPT = ("shared/dom.js", "shared/format.js", "parcels.js", "check.js")


def check_page(findings: Findings, chosen: Sequence[Explanation]) -> str:
    """The whole page as text."""
    by_topic: dict[str, list[Explanation]] = {}
    for summary in sorted(chosen, key=lambda summary: summary.peer.system):
        by_topic.setdefault(summary.peer.topic, []).append(summary)
    topics = [topic for topic in findings.topics if topic.id in by_topic]
    parcels = [json.dumps(_topic(topic, by_topic[topic.id]), ensure_ascii=False) for topic in topics]
    shown = {(summary.peer.topic, summary.peer.system) for summary in chosen}
    others = [s for s in findings.summaries if (s.peer.topic, s.peer.system) not in shown]
    head = {
        "key": hashlib.sha256("\n".join(parcels).encode("utf-8", "surrogatepass")).hexdigest()[:16],
        "verdicts": VERDICTS,
        "groups": GROUPS,
        "topics": [[t.id, t.topic.title, [s.peer.system for s in by_topic[t.id]]] for t in topics],
        "correctable": correctable_judge(findings.judges) is not None,
        "others": [each.to_json() for each in corrections_of(others)],
    }
    return render(
        "check.html",
        style=STYLE,
        script=SCRIPT,
        simulated=findings.simulated,
        title=f"{findings.heading('writer')}: check the verdicts",
        heading=findings.heading("writer"),
        judged=judged_by(findings),
        correctable=head["correctable"],
        head=embedded_json(head),
        parcels={f"topic-{place}": packed(parcel) for place, parcel in enumerate(parcels)},
    )


def place_of(summary: Explanation) -> str:
    """The fragment that opens a summary on the page."""
    return f"#{quote(summary.peer.topic, safe='')}/{quote(summary.peer.system, safe='')}"


def _topic(topic: TopicContent, summaries: Sequence[Explanation]) -> dict[str, Any]:
    """Units as [id, label, a reference's wording], summaries with units as places in that list."""
    return {
        "units": [[unit.id, label(unit), wording(topic, unit), unit.label] for unit in topic.units],
        "writers": [_writer(topic, summary) for summary in summaries],
    }


def _writer(topic: TopicContent, summary: Explanation) -> dict[str, Any]:
    """``verdicts`` are [unit, verdict as first given, group], ``corrected`` [unit, verdict of the teacher]."""
    place = topic.places
    ideas = group_ideas(topic.units_for(summary))
    numbers = {word: number for number, word in enumerate(VERDICTS)}
    grouped = [(unit, group) for group, units in enumerate(ideas) for unit in units]
    verdicts = [
        [place[unit.id], numbers[summary.corrected.get(unit.id, summary.verdict(unit.id))], group]
        for unit, group in grouped
    ]
    return {
        "system": summary.peer.system,
        "text": fingerprint(summary.peer.text),
        "own": bool(summary.own),
        "pieces": [[text, sorted(place[id] for id in units)] if units else [text] for text, units, _ in summary.pieces],
        "verdicts": verdicts,
        "corrected": [[place[u.id], numbers[summary.verdict(u.id)]] for u, _ in grouped if u.id in summary.corrected],
        "words": [[place[unit.id], said] for unit, _ in grouped if (said := words(summary, unit))],
    }
