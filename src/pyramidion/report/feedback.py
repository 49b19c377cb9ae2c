"""Pages for writers: which ideas a summary has and which it lacks, in plain words and without mentioning others.

A writer's page names no other writer and no reference's author, and has no links, so it can be handed out alone.
The overview, the page for checking verdicts (`checking`) and the grade book are for the teacher.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pyramidion.errors import UsageError
from pyramidion.formats.files import new_folder, write_rows, write_text
from pyramidion.report.checking import check_page, place_of
from pyramidion.report.collect import Findings, TopicContent
from pyramidion.report.corrections import corrections_of, write_corrections
from pyramidion.report.folder import refuse_strange_files
from pyramidion.report.ideas import (
    GROUPS,
    content_measure,
    group_ideas,
    judged_by,
    label,
    perhaps_more,
    reached,
    shortened,
    wording,
    words,
)
from pyramidion.report.rendering import render
from pyramidion.report.tables import file_name
from pyramidion.scoring.explanation import Explanation
from pyramidion.study import ContentUnit
from pyramidion.study.judgments import EXPRESSED, NOT_FOUND, PERHAPS

STYLE = ("shared/base.css", "report.css", "feedback.css")
MOST_LISTED = 8
"""At most this many ideas that are missing, or perhaps there, are spelled out; a longer list helps nobody."""
CONTENT = "content score"
MEANINGS = dict.fromkeys(("modified", "coverage"), "1 is as much as an average reference summary says") | {
    "lite": "the share of the ideas that are expressed"
}
COLOURS = {"t1": "a main idea", "t2": "an important idea", "t3": "a detail", PERHAPS: "perhaps an idea"}
"""How words of a summary are marked, and what that means."""
OVERVIEW, CHECK, CORRECTIONS, GRADES = "overview.html", "check.html", "corrections.jsonl", "grades.csv"
WRITERS = "writers"


def write_feedback(
    findings: Findings, folder: str | Path, *, systems: Collection[str] | None = None, replace: bool = False
) -> list[Path]:
    """Write every page into a new folder; returns where they are. ``replace`` puts it in the place of an earlier one,
    which must hold nothing else. Corrections that the findings were made with are kept in the folder."""
    chosen = [s for s in findings.summaries if s.judged and (systems is None or s.peer.system in systems)]
    if not chosen:
        raise UsageError("nobody judged which units the summaries express; annotate them, or start with auto run")
    topics = {topic.id: topic for topic in findings.topics}
    pages = {page_name(summary): summary for summary in chosen}
    corrections = write_corrections(corrections_of(findings.summaries))
    if replace:
        refuse_strange_files(
            Path(folder), OVERVIEW, (OVERVIEW, CHECK, CORRECTIONS, GRADES, f"{WRITERS}/*/*.html"), "feedback pages"
        )
    with new_folder(Path(folder), instead_of=replace) as place:
        for name, summary in pages.items():
            write_text(place / name, writer_page(findings, topics[summary.peer.topic], summary))
        write_text(place / OVERVIEW, overview_page(findings, chosen))
        write_text(place / CHECK, check_page(findings, chosen))
        if corrections:
            write_text(place / CORRECTIONS, corrections)
        with (place / GRADES).open("w", encoding="utf-8", newline="") as file:
            write_rows(file, grade_columns(findings), grade_rows(findings, chosen))
    return [Path(folder) / name for name in [*pages, OVERVIEW, CHECK, *([CORRECTIONS] if corrections else []), GRADES]]


def refuse_to_forget(folder: Path, findings: Findings) -> None:
    """Refuse to replace a folder whose corrections the new pages would not have."""
    held = folder / CORRECTIONS
    known = write_corrections(corrections_of(findings.summaries)).splitlines()
    if held.is_file() and not set(held.read_text("utf-8", "replace").splitlines()) <= set(known):
        what = f"{held} has corrections that the new pages would not have"
        raise UsageError(f"{folder} is not replaced: {what}; give it with --corrections, or move it away first")


def page_name(summary: Explanation) -> str:
    return f"{WRITERS}/{file_name(summary.peer.system)}/{file_name(summary.peer.topic)}.html"


# -- for the writer ------------------------------------------------------------------------------------------------


class Idea(NamedTuple):
    """An idea as a page lists it: its group by number, the words of the summary or of a reference, and a remark."""

    group: int
    label: str
    words: str = ""
    remark: str = ""


def writer_page(findings: Findings, topic: TopicContent, summary: Explanation) -> str:
    """One summary's feedback as a whole page."""
    units = topic.units_for(summary)
    ideas = group_ideas(units)
    group_of = {unit.id: number for number, group in enumerate(ideas) for unit in group}

    def found(verdict: str) -> list[Idea]:
        mine = [unit for group in ideas for unit in group if summary.verdict(unit.id) == verdict]
        return [Idea(group_of[u.id], label(u), words(summary, u), _remark(summary, u)) for u in mine]

    missing = [unit for unit in (*ideas.main, *ideas.important) if summary.verdict(unit.id) == NOT_FOUND]
    details = sum(summary.verdict(unit.id) == NOT_FOUND for unit in ideas.details)
    perhaps, text = found(PERHAPS), list(_marked(summary, group_of))
    looks = {look for _, look in text}
    return render(
        "writer.html",
        style=STYLE,
        simulated=findings.simulated,
        title=f"Your summary: {topic.topic.title or topic.id}",
        topic=topic.topic,
        summary=summary,
        lead=_in_words(summary, ideas.main, units) + _disagreement(summary),
        groups=[
            (n, name, reached(summary, group))
            for n, (name, group) in enumerate(zip(GROUPS, ideas, strict=True), 1)
            if group
        ],
        judged=judged_by(findings),
        text=text,
        colours=[(look, meaning) for look, meaning in COLOURS.items() if look in looks],
        missing=[
            Idea(group_of[unit.id], label(unit), wording(topic, unit), _checked(summary, unit))
            for unit in missing[:MOST_LISTED]
        ],
        more=_more(len(missing[MOST_LISTED:]), details),
        perhaps=perhaps[:MOST_LISTED],
        more_perhaps=len(perhaps[MOST_LISTED:]),
        there=found(EXPRESSED),
        repeated=[label(unit) for unit in units if summary.times.get(unit.id, 0) > 1],
        quotes=[shortened(quote) for quote in summary.quotes],
        score=_score(findings, summary),
    )


def _marked(summary: Explanation, group_of: dict[str, int]) -> Iterator[tuple[str, str]]:
    """The text in stretches, each with how it looks: the group of the most important idea that it expresses (t1 to t3),
    "perhaps", or nothing."""
    for text, units, _ in summary.pieces:
        groups = [group_of[id] for id in units if summary.verdict(id) == EXPRESSED]
        yield text, f"t{min(groups) + 1}" if groups else PERHAPS if units else ""


def _in_words(summary: Explanation, main: Sequence[ContentUnit], units: Sequence[ContentUnit]) -> str:
    if not units:
        return "There is nothing to compare this summary with."
    some = reached(summary, main)
    noun = f"main idea{'s' * (some.total != 1)}"
    text = f"Your summary expresses {some.expressed} of the {some.total} {noun} of the reference summaries"
    text += f"{perhaps_more(some.expressed, some.perhaps).replace(',', ', and')}."
    every = reached(summary, units)
    return text if every.total == some.total else f"{text} Of all {every.total} ideas it expresses {every.expressed}."


def _disagreement(summary: Explanation) -> str:
    split = sum(_is_split(summary, unit) for unit in summary.votes)
    return f" On {split} of them the annotators disagree." if split else ""


def _is_split(summary: Explanation, unit: str) -> bool:
    """Whether only some of several annotators found an idea; it then counts in part."""
    yes, of = summary.votes.get(unit, (0, 0))
    return bool(summary.annotators) and 0 < yes < of


def _remark(summary: Explanation, unit: ContentUnit) -> str:
    """How many annotators found an idea, where not all did, and whether a teacher corrected it."""
    if _is_split(summary, unit.id):
        yes, of = summary.votes[unit.id]
        return f"{yes} of {of} annotators"
    return _checked(summary, unit)


def _checked(summary: Explanation, unit: ContentUnit) -> str:
    return "checked by your teacher" if unit.id in summary.corrected else ""


def _more(important: int, details: int) -> str:
    """What else is not found."""
    parts = ((important, "more main or important idea"), (details, "detail"))
    return " and ".join(f"{number} {noun}{'s' * (number != 1)}" for number, noun in parts if number)


def _score(findings: Findings, summary: Explanation) -> str:
    measure = content_measure(findings)
    value = summary.measures.get(measure)
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
    measure = content_measure(findings)
    return render(
        "overview.html",
        style=STYLE,
        simulated=findings.simulated,
        title=f"{findings.heading('writer')}: overview",
        heading=findings.heading("writer"),
        judged=judged_by(findings),
        corrected=sum(len(summary.corrected) for summary in chosen),
        check=CHECK,
        measure=CONTENT if measure in MEANINGS else measure,
        meaning=MEANINGS.get(measure, ""),
        topics=[_topic_overview(findings, topic, summaries) for topic, summaries in by_topic if summaries],
    )


def _topic_overview(findings: Findings, topic: TopicContent, summaries: Sequence[Explanation]) -> dict[str, Any]:
    def value(summary: Explanation) -> float | None:
        return summary.measures.get(content_measure(findings))

    writers = [
        {
            "name": summary.peer.system,
            "page": page_name(summary).replace("%", "%25"),
            "check": f"{CHECK}{place_of(summary)}",
            "score": value(summary),
            "main": reached(summary, group_ideas(topic.units_for(summary)).main),
            "all": reached(summary, summary.pyramid.units),
        }
        for summary in sorted(summaries, key=lambda s: (-(value(s) or 0.0), s.peer.system))
    ]
    return {"topic": topic.topic, "writers": writers, **_class_ideas(topic, summaries)}


class ClassIdea(NamedTuple):
    """How many of the writers express an idea, and how many perhaps."""

    label: str
    expressed: int
    perhaps: int
    writers: int

    def __str__(self) -> str:
        return f"{self.expressed} of {self.writers}{perhaps_more(self.expressed, self.perhaps)}"


def _class_ideas(topic: TopicContent, summaries: Sequence[Explanation]) -> dict[str, list[ClassIdea]]:
    """Main and important ideas that half of the writers or fewer express, the rarest first; and those that are most
    often only perhaps there, which are worth checking first."""
    if len(summaries) < 2:
        return {"missed": [], "perhaps": []}
    ideas = group_ideas(topic.units)
    counted = []
    for unit in (*ideas.main, *ideas.important):
        verdicts = [summary.verdict(unit.id) for summary in summaries]
        counted.append(ClassIdea(label(unit), verdicts.count(EXPRESSED), verdicts.count(PERHAPS), len(summaries)))
    missed = sorted((idea for idea in counted if idea.expressed * 2 <= idea.writers), key=lambda idea: idea[1:3])
    perhaps = sorted((idea for idea in counted if idea.perhaps), key=lambda idea: -idea.perhaps)
    return {"missed": missed[:MOST_LISTED], "perhaps": perhaps[:MOST_LISTED]}


def grade_columns(findings: Findings) -> tuple[str, ...]:
    counts = ("weight", "ideas", "of ideas", "main ideas", "of main ideas", "repeated", "unmatched")
    return ("writer", "topic", *(s.measure for s in findings.scored), *counts, "perhaps", "main perhaps", "corrected")


def grade_rows(findings: Findings, chosen: Iterable[Explanation]) -> Iterator[tuple[str | float | None, ...]]:
    """One row per summary; numbers are numbers, so a grade book can compute with them."""
    topics = {topic.id: topic for topic in findings.topics}
    scores = [scored.table.per_summary(scored.measure) for scored in findings.scored]
    for summary in chosen:
        peer, units = summary.peer, summary.pyramid.units
        main, every = reached(summary, group_ideas(topics[peer.topic].units_for(summary)).main), reached(summary, units)
        yield (
            peer.system,
            peer.topic,
            *(_grade(values.get((peer.topic, peer.system))) for values in scores),
            _grade(sum(unit.weight * summary.degree(unit.id) for unit in units)),
            every.expressed,
            every.total,
            main.expressed,
            main.total,
            sum(max(summary.times.get(unit.id, 0) - 1, 0) for unit in units),
            summary.unmatched,
            every.perhaps,
            main.perhaps,
            len(summary.corrected),
        )


def _grade(value: float | None) -> float | None:
    """Four decimals are plenty in a grade book."""
    return None if value is None else round(value, 4)
