"""A study with annotations by the judge autoannotate: what people marked in some summaries, found in the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain

from pyramidion.errors import Problem, UsageError
from pyramidion.judges import texts_by_topic, with_judgments
from pyramidion.judges.autoannotate import JUDGE, Autoannotator, Evidence
from pyramidion.scoring.choice import choose
from pyramidion.study import Judgments, Study


@dataclass(frozen=True)
class AutoAnnotated:
    """The study with the new judgments, how many summaries got them, and how many units were found."""

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
        raise UsageError(f"{judge!r} is not a name for a judge; a name is not empty and has no spaces around it")
    choice = choose(study, kind="expert", pyramid=pyramid, judges=judges)
    before = {judge} & study.judges_of("model")  # what it said itself teaches nothing
    manual = choice.on_units.take(~choice.on_units.judge.is_in(before))
    teachers = tuple(manual.judge.present_names())
    evidence = Evidence.of(study, manual)
    if not evidence.known:
        raise UsageError(
            f"there are no marked words to search for: no summary has evidence for the units of pyramid "
            f"{choice.pyramid!r} (it was annotated by {', '.join(teachers[:5]) or 'nobody'}); autoannotate needs "
            "summaries with marked words, as DUCView's .pan files and the pages of `annotate` have them"
        )
    annotated = set(zip(manual.topic, manual.system, strict=True)) if only_missing else set()
    wanted = texts_by_topic(
        peer for peer in study.peers if peer.topic in choice.pyramids and (peer.topic, peer.system) not in annotated
    )
    if only_missing and not wanted:
        raise UsageError("nothing to do: every peer of a topic with this pyramid is already annotated")
    taught = sum(evidence.can_teach(topic, system) for topic, texts in wanted.items() for system in texts)
    if not taught:
        raise UsageError("no other summary of these topics has marked words to search for")
    judged = [Autoannotator(evidence, judge).judge(choice.pyramids[t], texts) for t, texts in sorted(wanted.items())]
    new = Judgments(chain.from_iterable(judged))
    notes = (*choice.notes, *_untaught(wanted, evidence))
    found = int((new.value > 0).sum())
    return AutoAnnotated(with_judgments(study, judge, new), judge, teachers, taught, len(new), found, notes)


def _untaught(wanted: Mapping[str, Mapping[str, str]], evidence: Evidence) -> Iterator[Problem]:
    for topic, texts in sorted(wanted.items()):
        systems = sorted(system for system in texts if not evidence.can_teach(topic, system))
        more = f" and {len(systems) - 5} more" if len(systems) > 5 else ""
        if systems:
            what = f"no other summary has evidence, so not annotated: {', '.join(systems[:5])}{more}"
            yield Problem(f"topic {topic}", what, "warning")
