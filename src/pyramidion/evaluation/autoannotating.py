"""A study with the annotations that autoannotate makes: what people marked in some summaries, found in the others."""

from __future__ import annotations

from dataclasses import dataclass, field

from pyramidion.errors import Problem, UsageError
from pyramidion.evaluation.judging import with_judgments
from pyramidion.judges.autoannotate import JUDGE, Evidence
from pyramidion.scoring.choice import Choice, choose
from pyramidion.study import Judgments, Study, Summary
from pyramidion.study.judgments import JudgmentsBuilder


@dataclass(frozen=True)
class AutoAnnotated:
    """The study with the new judgments, how many summaries got them, and how many of the questions were a yes."""

    study: Study = field(repr=False)
    judge: str
    learned_from: tuple[str, ...]
    summaries: int
    judgments: int
    found: int
    notes: tuple[Problem, ...] = ()


def autoannotate_study(
    study: Study,
    *,
    judge: str = JUDGE,
    pyramid: str | None = None,
    judges: str | None = None,
    only_missing: bool = False,
) -> AutoAnnotated:
    """Annotate every peer, or only those that ``judges`` (by default the experts) did not, on all units of its pyramid.

    A summary for which there is nothing to learn from, because no other of its topic has evidence, is left out and
    named: not annotated is not the same as not expressed.
    """
    if not judge.strip() or judge != judge.strip():
        raise UsageError(f"{judge!r} is not a name for a judge; it is not empty and has no spaces around it")
    choice = choose(study, kind="expert", pyramid=pyramid, judges=judges)
    before = {judge} & study.judges_of("model")  # what it said itself teaches nothing
    manual = choice.on_units.take(~choice.on_units.judge.is_in(before))
    evidence = Evidence.of(study, manual)
    if not evidence.known:
        raise UsageError(_nothing(choice, manual))
    annotated = set(zip(manual.topic, manual.system, strict=True))
    wanted = [p for p in study.peers if p.topic in choice.pyramids]
    if only_missing:
        wanted = [p for p in wanted if (p.topic, p.system) not in annotated]
        if not wanted:
            raise UsageError("no summary is missing: every peer of a topic with this pyramid is annotated already")
    taught = [p for p in wanted if evidence.can_teach(p)]
    if not taught:
        raise UsageError("no other summary of these topics has evidence, so there is nothing to learn from")
    new = _annotations(taught, evidence, choice, judge)
    whole = with_judgments(study, judge, new)
    notes = (*choice.notes, *_untaught([p for p in wanted if not evidence.can_teach(p)]))
    found = sum(value > 0 for value in new.value)
    return AutoAnnotated(whole, judge, tuple(manual.judge.present_names()), len(taught), len(new), found, notes)


def _annotations(summaries: list[Summary], evidence: Evidence, choice: Choice, judge: str) -> Judgments:
    found = JudgmentsBuilder()
    for summary in sorted(summaries, key=lambda s: (s.topic, s.system)):
        units = [unit.id for unit in choice.pyramids[summary.topic].units]
        for judgment in evidence.annotate(summary, units, judge):
            found.add(judgment)
    return found.build()


def _nothing(choice: Choice, manual: Judgments) -> str:
    who = ", ".join(manual.judge.present_names()[:5]) or "nobody"
    return (
        f"there is nothing to learn from: no evidence is marked in any summary for the units of pyramid "
        f"{choice.pyramid!r} (it was annotated by {who}); autoannotate needs summaries with marked words, as DUCView's "
        f".pan files and the pages of `annotate` have them"
    )


def _untaught(summaries: list[Summary]) -> list[Problem]:
    by_topic: dict[str, list[str]] = {}
    for summary in summaries:
        by_topic.setdefault(summary.topic, []).append(summary.system)
    return [
        Problem(
            f"topic {topic}",
            f"no other summary has evidence, so not annotated: {', '.join(sorted(systems)[:5])}"
            + (f" and {len(systems) - 5} more" if len(systems) > 5 else ""),
            "warning",
        )
        for topic, systems in sorted(by_topic.items())
    ]
