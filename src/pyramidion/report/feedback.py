"""Pages for writers: which ideas a summary has and which it lacks, in plain words and without a word about others.

A writer's page names no other writer and no reference's author, and links to nothing, so it can be handed out alone.
The overview and the grade book are for the teacher.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyramidion.errors import UsageError
from pyramidion.formats.files import new_folder, write_rows, write_text
from pyramidion.report.findings import Findings
from pyramidion.report.markup import Child, Markup, asset, document, element
from pyramidion.report.names import file_name
from pyramidion.scoring.explain import ShownSummary, ShownTopic, ShownUnit, compared
from pyramidion.study.judgments import PRESENT

STYLE = ("base.css", "report.css", "feedback.css")
MOST_MISSING = 8
"""So many missing ideas are spelled out; a longer list helps nobody."""


OWN = "Your summary is itself one of the reference summaries, so it is compared with the others only."


@dataclass(frozen=True)
class Ideas:
    """The units of a topic in three groups, as places: in most references, in half of them, in few."""

    main: tuple[int, ...]
    important: tuple[int, ...]
    details: tuple[int, ...]


def ideas(topic: ShownTopic) -> Ideas:
    """Main ideas weigh at least three quarters of the heaviest, important ones half. In one tier, all are main."""
    groups: tuple[list[int], list[int], list[int]] = ([], [], [])
    for place, unit in enumerate(topic.units):
        share = unit.weight / topic.tiers if topic.tiers else 0.0
        groups[0 if share >= 0.75 else 1 if share >= 0.5 else 2].append(place)
    return Ideas(*map(tuple, groups))


def write_feedback(findings: Findings, folder: str | Path, *, systems: Collection[str] | None = None) -> list[Path]:
    """Write every page into a new folder; returns where they are."""
    chosen = [s for s in findings.summaries if s.judged and (systems is None or s.system in systems)]
    if not chosen:
        raise UsageError("nobody judged which units the summaries express; annotate them, or start with auto run")
    topics = {topic.id: topic for topic in findings.topics}
    names: list[str] = []
    with new_folder(Path(folder)) as place:
        for summary in chosen:
            name = page_name(summary)
            write_text(place / name, writer_page(findings, topics[summary.topic], summary))
            names.append(name)
        write_text(place / "overview.html", overview_page(findings, chosen))
        with (place / "grades.csv").open("w", encoding="utf-8", newline="") as file:
            write_rows(file, grade_columns(findings), grade_rows(findings, chosen))
    return [Path(folder) / name for name in [*names, "overview.html", "grades.csv"]]


def page_name(summary: ShownSummary) -> str:
    return f"writers/{file_name(summary.system)}/{file_name(summary.topic)}.html"


# -- for the writer ------------------------------------------------------------------------------------------------


def writer_page(findings: Findings, topic: ShownTopic, summary: ShownSummary) -> str:
    """One summary's feedback as a whole page."""
    topic, summary = compared(topic, summary)
    held = {found.unit: found.times for found in summary.expressed}
    groups = ideas(topic)
    title = f"Your summary: {topic.title or topic.id}"
    return document(
        title,
        element(
            "main",
            element("p", "Feedback on the content of a summary", class_="eyebrow"),
            element("h1", topic.title or topic.id, dir="auto"),
            element("p", _in_words(groups, held, topic, summary) + _disagreement(summary), class_="lead"),
            element("p", OWN, class_="muted") if summary.own else None,
            _progress(groups, held),
            _text(topic, summary),
            _missing(topic, groups, held),
            _there(topic, groups, held, _partly(summary) | _votes(summary)),
            _besides(topic, summary, held),
            element("p", _score(findings, summary), class_="muted small"),
            class_="letter",
        ),
        style=asset(*STYLE),
        class_="report",
    )


def _partly(summary: ShownSummary) -> dict[int, str]:
    """Ideas that a program found in part, and which part of them counts."""
    return {found.unit: f"in part: {found.degree:.2%}" for found in summary.expressed if found.degree < 1}


def _in_words(groups: Ideas, held: dict[int, int], topic: ShownTopic, summary: ShownSummary) -> str:
    total, found = len(topic.units), len(held)
    if not total:
        return "There is nothing to compare this summary with."
    main = sum(place in held for place in groups.main)
    text = f"Your summary has {found} of the {total} ideas found in the reference summaries"
    if len(groups.main) < total:
        text += f", and {main} of the {len(groups.main)} most important ones"
    less = sum(found.degree < PRESENT for found in summary.expressed)
    return text + (f". Of {less} of them, less than half was found." if less else ".")


def _votes(summary: ShownSummary) -> dict[int, str]:
    """Ideas that only some of several annotators found, and how many did; they count in that part."""
    if not summary.annotators:
        return {}
    return {vote.unit: f"{vote.yes} of {vote.of} annotators" for vote in summary.votes if 0 < vote.yes < vote.of}


def _disagreement(summary: ShownSummary) -> str:
    found = len(_votes(summary))
    return f" On {found} of them the annotators disagree." if found else ""


def _progress(groups: Ideas, held: dict[int, int]) -> Markup:
    named = (("Main ideas", groups.main), ("Important ideas", groups.important), ("Details", groups.details))
    rows = [
        element(
            "div",
            element("dt", name),
            element(
                "dd",
                element("progress", value=(found := sum(p in held for p in places)), max=len(places), aria_label=name),
                element("span", f"{found} of {len(places)}"),
            ),
        )
        for name, places in named
        if places
    ]
    return element("dl", rows, class_="reached")


def _text(topic: ShownTopic, summary: ShownSummary) -> Markup:
    def piece(text: str, units: tuple[int, ...]) -> Child:
        if not units:
            return text
        heaviest = max(topic.units[place].weight for place in units)
        return element("mark", text, class_=f"t{min(topic.tiers - heaviest + 1, 5)}")

    note = "The coloured words express ideas of the reference summaries." if summary.marked else None
    return element(
        "section",
        element("h2", "Your text"),
        element("p", [piece(p.text, p.units) for p in summary.pieces], class_="text", dir="auto"),
        element("p", note, class_="muted small") if note else None,
        class_="part",
    )


def _missing(topic: ShownTopic, groups: Ideas, held: dict[int, int]) -> Markup:
    lacking = [place for group in (groups.main, groups.important) for place in group if place not in held]
    rest = [place for place in groups.details if place not in held]
    shown = lacking[:MOST_MISSING]
    left = len(lacking) - len(shown)
    if not lacking:
        body: list[Child] = [element("p", "Nothing important is missing. Well done.")]
    else:
        body = [element("ul", [_idea(topic.units[place]) for place in shown], class_="ideas")]
    more = " and ".join(
        part
        for part in (
            f"{left} more important idea{'s' * (left != 1)}" if left else "",
            f"{len(rest)} detail{'s' * (len(rest) != 1)}" if rest else "",
        )
        if part
    )
    if more:
        body.append(element("p", f"Also not there: {more}.", class_="muted small"))
    return element("section", element("h2", "What you could add"), body, class_="part")


def _idea(unit: ShownUnit) -> Markup:
    """An idea with one wording of it: the shortest that is not its label, and nobody's name."""
    wordings = sorted((w.text for w in unit.wordings if w.text and w.text != unit.label), key=len)
    quote = element("span", f"A reference says: “{wordings[0]}”", class_="muted", dir="auto") if wordings else None
    return element("li", element("b", unit.label or unit.id, dir="auto"), quote)


def _there(topic: ShownTopic, groups: Ideas, held: dict[int, int], remarks: Mapping[int, str]) -> Markup:
    ordered = [place for group in (groups.main, groups.important, groups.details) for place in group if place in held]
    lines = [
        element(
            "li",
            topic.units[place].label or topic.units[place].id,
            element("span", f" {remarks[place]}", class_="muted") if place in remarks else None,
            dir="auto",
        )
        for place in ordered
    ]
    body = element("ul", lines, class_="ideas there") if lines else element("p", "None of the ideas was found.")
    return element("section", element("h2", "What is there"), body, class_="part")


def _besides(topic: ShownTopic, summary: ShownSummary, held: dict[int, int]) -> Markup | None:
    parts: list[Child] = []
    again = [topic.units[place].label or topic.units[place].id for place, times in held.items() if times > 1]
    if again:
        parts += [element("h3", "Said more than once"), element("ul", [element("li", a, dir="auto") for a in again])]
    if summary.unmatched_quotes:
        quotes = [element("li", f"“{quote}”", dir="auto") for quote in summary.unmatched_quotes]
        parts += [
            element("h3", "In none of the reference summaries"),
            element("ul", quotes),
            element(
                "p", "That need not be wrong: the references left it out, so room may be better spent.", class_="muted"
            ),
        ]
    return element("section", parts, class_="part small") if parts else None


def _score(findings: Findings, summary: ShownSummary) -> str:
    value = findings.main_scores.get((summary.topic, summary.system))
    if value is None:
        return ""
    meaning = {
        "modified": "1 is as much as an average reference summary says",
        "lite": "the share of the ideas that is there",
    }.get(findings.main.measure)
    each = " and ".join(f"{by.value:.2f}" for by in summary.annotators if by.value is not None)
    mean = f"; the mean of {len(summary.annotators)} annotators' scores, {each}" if each else ""
    return f"Content score: {value:.2f}" + (f" ({meaning})" if meaning else "") + f"{mean}."


# -- for the teacher -----------------------------------------------------------------------------------------------


def overview_page(findings: Findings, chosen: Sequence[ShownSummary]) -> str:
    """All writers, topic by topic, and the ideas that most of them missed."""
    body = [_topic_overview(findings, topic, [s for s in chosen if s.topic == topic.id]) for topic in findings.topics]
    return document(
        f"{findings.heading('writer')}: overview",
        element(
            "main",
            element("p", "For the teacher: names every writer", class_="eyebrow"),
            element("h1", findings.heading("writer"), dir="auto"),
            [part for part in body if part],
            class_="wide letter overview",
        ),
        style=asset(*STYLE),
        class_="report",
    )


def _topic_overview(findings: Findings, topic: ShownTopic, held: Sequence[ShownSummary]) -> Markup | None:
    if not held:
        return None
    scores = findings.main_scores
    ordered = sorted(held, key=lambda s: (-(scores.get((topic.id, s.system)) or 0.0), s.system))
    groups = ideas(topic)
    rows = []
    for mine, summary in (compared(topic, each) for each in ordered):
        main = ideas(mine).main
        there = {found.unit for found in summary.expressed}
        value = scores.get((topic.id, summary.system))
        rows.append(
            element(
                "tr",
                element("th", element("a", summary.system, href=page_name(summary).replace("%", "%25")), scope="row"),
                element("td", "–" if value is None else f"{value:.2f}", class_="number"),
                element("td", f"{sum(p in there for p in main)} of {len(main)}", class_="number"),
                element("td", f"{len(there)} of {len(mine.units)}", class_="number"),
            )
        )
    head = [
        element("th", name, scope="col", class_="number" if place else None)
        for place, name in enumerate(("writer", findings.main.measure, "main ideas", "all ideas"))
    ]
    return element(
        "section",
        element("h2", topic.title or topic.id, dir="auto"),
        element(
            "div",
            element("table", element("thead", element("tr", head)), element("tbody", rows)),
            class_="table-wrap",
        ),
        _missed(topic, groups, held),
        class_="part",
    )


def _missed(topic: ShownTopic, groups: Ideas, held: Sequence[ShownSummary]) -> Child:
    """Main and important ideas that half of the writers or fewer have, the rarest first."""
    times = {
        place: sum(any(found.unit == place for found in s.expressed) for s in held)
        for place in (*groups.main, *groups.important)
    }
    rare = sorted((place for place, n in times.items() if n * 2 <= len(held)), key=lambda p: (times[p], p))
    if not rare or len(held) < 2:
        return None
    lines = [
        element(
            "li",
            topic.units[p].label or topic.units[p].id,
            element("span", f" {times[p]} of {len(held)}", class_="muted"),
        )
        for p in rare[:MOST_MISSING]
    ]
    return [element("h3", "Often missed"), element("ul", lines, dir="auto")]


def grade_columns(findings: Findings) -> tuple[str, ...]:
    counts = ("weight", "ideas", "of ideas", "main ideas", "of main ideas", "repeated", "unmatched")
    return ("writer", "topic", *(s.measure for s in findings.scored), *counts)


def grade_rows(findings: Findings, chosen: Sequence[ShownSummary]) -> Iterator[tuple[str | float | None, ...]]:
    """One row a summary; numbers are numbers, so a grade book can compute with them."""
    topics = {topic.id: topic for topic in findings.topics}
    scores = [scored.table.per_summary(scored.measure) for scored in findings.scored]
    for topic, summary in (compared(topics[each.topic], each) for each in chosen):
        main = ideas(topic).main
        there = {found.unit for found in summary.expressed}
        yield (
            summary.system,
            summary.topic,
            *(_grade(held.get((summary.topic, summary.system))) for held in scores),
            _grade(sum(topic.units[found.unit].weight * found.degree for found in summary.expressed)),
            len(there),
            len(topic.units),
            sum(place in there for place in main),
            len(main),
            sum(found.times - 1 for found in summary.expressed),
            summary.unmatched,
        )


def _grade(value: float | None) -> float | None:
    """Four decimals are plenty in a grade book."""
    return None if value is None else round(value, 4)
