"""Pages for writers: which ideas a summary has and which it lacks, in plain words and without mentioning others.

A writer's page names no other writer and no reference's author, and has no links, so it can be handed out alone.
The overview and the grade book are for the teacher.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pyramidion.errors import UsageError
from pyramidion.formats.files import new_folder, write_rows, write_text
from pyramidion.report.collect import Findings, TopicContent
from pyramidion.report.rendering import render
from pyramidion.report.tables import file_name
from pyramidion.scoring.explanation import Explanation
from pyramidion.study import ContentUnit
from pyramidion.study.judgments import PRESENT

STYLE = ("shared/base.css", "report.css", "feedback.css")
MOST_MISSING = 8
"""At most this many missing ideas are spelled out; a longer list helps nobody."""
MEANINGS = {
    "modified": "1 is as much as an average reference summary says",
    "lite": "the share of the ideas that are present",
}


class Ideas(NamedTuple):
    """The units of a topic in three groups: in most references, in half of them, in few."""

    main: list[ContentUnit]
    important: list[ContentUnit]
    details: list[ContentUnit]


def group_ideas(units: Iterable[ContentUnit]) -> Ideas:
    """Main ideas have at least three quarters of the greatest weight, important ones half. If there is only one
    tier, all are main."""
    ideas, units = Ideas([], [], []), list(units)
    heaviest = max((unit.weight for unit in units), default=0)
    for unit in units:
        share = unit.weight / heaviest if heaviest else 0.0
        ideas[0 if share >= 0.75 else 1 if share >= 0.5 else 2].append(unit)
    return ideas


def write_feedback(findings: Findings, folder: str | Path, *, systems: Collection[str] | None = None) -> list[Path]:
    """Write every page into a new folder; returns where they are."""
    chosen = [s for s in findings.summaries if s.judged and (systems is None or s.peer.system in systems)]
    if not chosen:
        raise UsageError("nobody judged which units the summaries express; annotate them, or start with auto run")
    topics = {topic.id: topic for topic in findings.topics}
    pages = {page_name(summary): summary for summary in chosen}
    with new_folder(Path(folder)) as place:
        for name, summary in pages.items():
            write_text(place / name, writer_page(findings, topics[summary.peer.topic], summary))
        write_text(place / "overview.html", overview_page(findings, chosen))
        with (place / "grades.csv").open("w", encoding="utf-8", newline="") as file:
            write_rows(file, grade_columns(findings), grade_rows(findings, chosen))
    return [Path(folder) / name for name in [*pages, "overview.html", "grades.csv"]]


def page_name(summary: Explanation) -> str:
    return f"writers/{file_name(summary.peer.system)}/{file_name(summary.peer.topic)}.html"


# -- for the writer ------------------------------------------------------------------------------------------------


def writer_page(findings: Findings, topic: TopicContent, summary: Explanation) -> str:
    """One summary's feedback as a whole page."""
    units = topic.units_for(summary)
    ideas = group_ideas(units)
    missing = [unit for unit in (*ideas.main, *ideas.important) if not _has(summary, unit)]
    weights = {unit.id: unit.weight for unit in units}
    return render(
        "writer.html",
        style=STYLE,
        title=f"Your summary: {topic.topic.title or topic.id}",
        topic=topic.topic,
        summary=summary,
        lead=_in_words(ideas, summary) + _disagreement(summary),
        groups=[
            (name, sum(_has(summary, unit) for unit in group), len(group))
            for name, group in zip(("Main ideas", "Important ideas", "Details"), ideas, strict=True)
            if group
        ],
        text=[(text, _tier(weights.values(), [weights[id] for id in units])) for text, units, _ in summary.pieces],
        missing=[(_label(unit), _quote(topic, unit)) for unit in missing[:MOST_MISSING]],
        more=_more(len(missing[MOST_MISSING:]), sum(not _has(summary, unit) for unit in ideas.details)),
        there=[(_label(unit), _remark(summary, unit)) for group in ideas for unit in group if _has(summary, unit)],
        repeated=[_label(unit) for unit in units if summary.times.get(unit.id, 0) > 1],
        score=_score(findings, summary),
    )


def _has(summary: Explanation, unit: ContentUnit) -> bool:
    return summary.times.get(unit.id, 0) > 0


def _label(unit: ContentUnit) -> str:
    return unit.label or unit.id


def _in_words(ideas: Ideas, summary: Explanation) -> str:
    total = sum(map(len, ideas))
    if not total:
        return "There is nothing to compare this summary with."
    text = f"Your summary has {len(summary.expressed)} of the {total} ideas found in the reference summaries"
    if len(ideas.main) < total:
        main = sum(_has(summary, unit) for unit in ideas.main)
        text += f", and {main} of the {len(ideas.main)} most important ones"
    less = sum(summary.degree(unit.id) < PRESENT for unit in summary.expressed)
    return text + (f". For {less} of them, less than half was found." if less else ".")


def _disagreement(summary: Explanation) -> str:
    split = sum(_is_split(summary, unit) for unit in summary.votes)
    return f" On {split} of them the annotators disagree." if split else ""


def _is_split(summary: Explanation, unit: str) -> bool:
    """Whether only some of several annotators found an idea; it then counts in part."""
    yes, of = summary.votes.get(unit, (0, 0))
    return bool(summary.annotators) and 0 < yes < of


def _remark(summary: Explanation, unit: ContentUnit) -> str:
    """How many annotators found an idea, where not all did; otherwise which part of it counts."""
    if _is_split(summary, unit.id):
        yes, of = summary.votes[unit.id]
        return f"{yes} of {of} annotators"
    degree = summary.degree(unit.id)
    return f"in part: {degree:.2%}" if degree < 1 else ""


def _tier(weights: Collection[int], here: Sequence[int]) -> int:
    """The colour of words that express units: 1 for the top tier, down to 5; 0 where they express none."""
    return min(max(weights) - max(here) + 1, 5) if here else 0


def _quote(topic: TopicContent, unit: ContentUnit) -> str:
    """One wording of an idea: the shortest that is not its label, without an author's name."""
    wordings = [wording.text for wording in topic.wordings(unit) if wording.text and wording.text != unit.label]
    return min(wordings, key=len, default="")


def _more(important: int, details: int) -> str:
    """What else is not there."""
    parts = ((important, "more important idea"), (details, "detail"))
    return " and ".join(f"{number} {noun}{'s' * (number != 1)}" for number, noun in parts if number)


def _score(findings: Findings, summary: Explanation) -> str:
    measure = findings.main.measure
    value = findings.main_scores.get((summary.peer.topic, summary.peer.system))
    if value is None:
        return ""
    meaning = f" ({MEANINGS[measure]})" if measure in MEANINGS else ""
    values = [annotation.measures[measure] for annotation in summary.annotators.values()]
    each = " and ".join(f"{value:.2f}" for value in values if value is not None)
    mean = f"; the mean of {len(values)} annotators' scores, {each}" if each else ""
    return f"Content score: {value:.2f}{meaning}{mean}."


# -- for the teacher -----------------------------------------------------------------------------------------------


def overview_page(findings: Findings, chosen: Sequence[Explanation]) -> str:
    """All writers, topic by topic, and the ideas that most of them missed."""
    by_topic = ((topic, [s for s in chosen if s.peer.topic == topic.id]) for topic in findings.topics)
    return render(
        "overview.html",
        style=STYLE,
        title=f"{findings.heading('writer')}: overview",
        heading=findings.heading("writer"),
        measure=findings.main.measure,
        topics=[_topic_overview(findings, topic, summaries) for topic, summaries in by_topic if summaries],
    )


def _topic_overview(findings: Findings, topic: TopicContent, summaries: Sequence[Explanation]) -> dict[str, Any]:
    def value(summary: Explanation) -> float | None:
        return findings.main_scores.get((topic.id, summary.peer.system))

    writers = []
    for summary in sorted(summaries, key=lambda s: (-(value(s) or 0.0), s.peer.system)):
        main = group_ideas(topic.units_for(summary)).main
        writers.append(
            {
                "name": summary.peer.system,
                "page": page_name(summary).replace("%", "%25"),
                "score": value(summary),
                "main": f"{sum(_has(summary, unit) for unit in main)} of {len(main)}",
                "all": f"{len(summary.expressed)} of {len(summary.pyramid.units)}",
            }
        )
    return {"topic": topic.topic, "writers": writers, "missed": _often_missed(topic, summaries)}


def _often_missed(topic: TopicContent, summaries: Sequence[Explanation]) -> list[tuple[str, str]]:
    """Main and important ideas that half of the writers or fewer have, the rarest first."""
    if len(summaries) < 2:
        return []
    ideas = group_ideas(topic.units)
    counts = [(sum(_has(s, unit) for s in summaries), unit) for unit in (*ideas.main, *ideas.important)]
    rare = sorted((each for each in counts if each[0] * 2 <= len(summaries)), key=lambda each: each[0])
    return [(_label(unit), f"{number} of {len(summaries)}") for number, unit in rare[:MOST_MISSING]]


def grade_columns(findings: Findings) -> tuple[str, ...]:
    counts = ("weight", "ideas", "of ideas", "main ideas", "of main ideas", "repeated", "unmatched")
    return ("writer", "topic", *(s.measure for s in findings.scored), *counts)


def grade_rows(findings: Findings, chosen: Iterable[Explanation]) -> Iterator[tuple[str | float | None, ...]]:
    """One row per summary; numbers are numbers, so a grade book can compute with them."""
    topics = {topic.id: topic for topic in findings.topics}
    scores = [scored.table.per_summary(scored.measure) for scored in findings.scored]
    for summary in chosen:
        peer, expressed = summary.peer, summary.expressed
        main = group_ideas(topics[peer.topic].units_for(summary)).main
        yield (
            peer.system,
            peer.topic,
            *(_grade(values.get((peer.topic, peer.system))) for values in scores),
            _grade(sum(unit.weight * summary.degree(unit.id) for unit in expressed)),
            len(expressed),
            len(summary.pyramid.units),
            sum(_has(summary, unit) for unit in main),
            len(main),
            sum(summary.times[unit.id] - 1 for unit in expressed),
            summary.unmatched,
        )


def _grade(value: float | None) -> float | None:
    """Four decimals are plenty in a grade book."""
    return None if value is None else round(value, 4)
