"""What all feedback pages say alike: how the ideas of a topic are grouped, counted and quoted, and who judged."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pyramidion.report.collect import Findings, TopicContent
from pyramidion.scoring.explanation import Explanation
from pyramidion.study import ContentUnit
from pyramidion.study.judgments import EXPRESSED, PERHAPS

GROUPS = ("Main ideas", "Important ideas", "Details")
LONGEST_QUOTE = 240


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
        share = unit.weight / heaviest if heaviest else 1.0
        ideas[0 if share >= 0.75 else 1 if share >= 0.5 else 2].append(unit)
    return ideas


class Reached(NamedTuple):
    """How many of some ideas a summary expresses, and how many perhaps."""

    expressed: int
    perhaps: int
    total: int

    def __str__(self) -> str:
        return f"{self.expressed} of {self.total}{perhaps_more(self.expressed, self.perhaps)}"


def perhaps_more(expressed: int, perhaps: int) -> str:
    return f", perhaps {perhaps}{' more' if expressed else ''}" if perhaps else ""


def reached(summary: Explanation, units: Iterable[ContentUnit]) -> Reached:
    verdicts = [summary.verdict(unit.id) for unit in units]
    return Reached(verdicts.count(EXPRESSED), verdicts.count(PERHAPS), len(verdicts))


def content_measure(findings: Findings) -> str:
    """What pages call the content score: what its ideas add up to, by whatever method; otherwise the main measure."""
    known = findings.main.table.measures
    return next((name for name in ("modified", "coverage") if name in known), findings.main.measure)


def label(unit: ContentUnit) -> str:
    return unit.label or unit.id


def wording(topic: TopicContent, unit: ContentUnit) -> str:
    """How a reference says an idea: the shortest wording that is not its label, without an author's name."""
    wordings = [each.text for each in topic.wordings(unit) if _letters(each.text) not in ("", _letters(unit.label))]
    return shortened(min(wordings, key=len, default=""))


def _letters(text: str) -> str:
    """What is left of a text without the signs that make no difference to a reader."""
    return "".join(filter(str.isalnum, text.casefold()))


def words(summary: Explanation, unit: ContentUnit) -> str:
    """The summary's words for an idea."""
    return shortened(" … ".join(summary.words(unit.id)))


def shortened(text: str) -> str:
    """A quotation on one line that does not fill the page."""
    line = " ".join(text.split()).rstrip(",;:")
    return line if len(line) <= LONGEST_QUOTE else f"{line[:LONGEST_QUOTE].rsplit(' ', 1)[0]} …"


# -- who judged, and how far to trust it ---------------------------------------------------------------------------


class Judged(NamedTuple):
    """Who judged, in words. ``program`` is whether only programs did; ``right`` says how often, where that is known."""

    who: str
    program: bool
    right: str = ""


def judged_by(findings: Findings) -> Judged:
    judges = [judge for judge in findings.judges if not judge.corrects]
    programs = [judge.id for judge in judges if judge.kind == "model"]
    people = len(judges) - len(programs)
    if not programs:
        return Judged("a person" if people == 1 else f"{people} people", program=False)
    who = "a computer program" if len(programs) == 1 else f"{len(programs)} computer programs"
    if people:
        return Judged(f"{'a person' if people == 1 else f'{people} people'} and {who}", program=False)
    return Judged(who, program=True, right=_how_often(findings))


def _how_often(findings: Findings) -> str:
    """How often the program is right, in figures measured where people had judged too."""
    known = findings.accuracy
    if known is None:
        return "How often it is right on texts like these has not been measured."
    there, absent, finds = (None if share is None else f"about {100 * share:.0f}" for share in known)
    text = "Where it was compared with people, on news and ideas in people’s words, “expressed” was right "
    text += f"{there} times in 100, and “not found” {absent} times in 100."
    return text if finds is None else f"{text} Of 100 ideas that people find, it calls {finds} expressed."
