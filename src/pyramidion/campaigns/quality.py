"""Signs that a worker did not work carefully, to be looked at before anybody is paid, blocked or left out.

    agreement         with others below 0.5: Shapira et al. 2019, section 3 (see pyramidion.scoring.screening)
    too fast          a task in under 25 seconds: Gillick and Liu 2010, section 3.1
    uniform answers   the same answer throughout a task, which they saw in such work, "usually all 10s"
    gold              too few right answers to questions whose answer is known
    pasted            text that is not in the source it should come from

The last two are ours, and so are the limits on uniform answers: one summary may rightly get the same answer to every
question, so it takes half of a worker's tasks, and two of them. Gillick and Liu rejected such work at once; we only
flag it, since rejecting somebody's work is for a person to decide.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, NamedTuple

from pyramidion.errors import InputError, Problem
from pyramidion.stats.rounding import rounded_beside

Reason = Literal["agreement", "too fast", "uniform answers", "gold", "pasted"]

MIN_ANSWERS = 4
"""Fewer equal answers than this mean nothing."""
MIN_UNIFORM_TASKS, MIN_UNIFORM_SHARE = 2, 0.5
MIN_GOLD_ASKED = 2
MIN_PASTED = 20
"""Shorter text (in characters) may be typed or copied from anywhere."""

NOBODY: Mapping[str, float | None] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class WorkRecord:
    """One judge's work on one task.

    ``values`` are the answers, None where there is none; ``pasted`` the texts pasted into the page, and ``source``
    the text they should come from (empty: not known, so nothing is checked).
    """

    judge: str
    task: str
    seconds: float | None
    values: tuple[float | None, ...]
    gold_right: int = 0
    gold_asked: int = 0
    pasted: tuple[str, ...] = ()
    source: str = ""

    @property
    def uniform(self) -> bool:
        answers = [value for value in self.values if value is not None]
        return len(answers) >= MIN_ANSWERS and len(set(answers)) == 1

    @property
    def foreign(self) -> tuple[str, ...]:
        """Pasted texts that are not in the source, whatever their case and spaces."""
        if not self.source:
            return ()
        source = _normal(self.source)
        return tuple(p for p in self.pasted if len(_normal(p)) >= MIN_PASTED and _normal(p) not in source)


@dataclass(frozen=True, slots=True)
class Flag:
    """``tasks`` are those that show it, in order of id."""

    judge: str
    reason: Reason
    detail: str
    tasks: tuple[str, ...] = ()


def flag_workers(
    records: Iterable[WorkRecord],
    *,
    agreement: Mapping[str, float | None] = NOBODY,
    min_agreement: float = 0.5,
    min_seconds: float = 25.0,
    min_gold: float = 0.7,
) -> tuple[Flag, ...]:
    """At most one flag per judge and reason, by judge and then in the order of the list above.

    ``agreement`` is what screening found about each judge, None for one without a partner.
    """
    ordered = sorted(records, key=lambda record: (record.judge, record.task))
    if problems := list(_problems(ordered)):
        raise InputError(problems)
    work: dict[str, list[WorkRecord]] = {judge: [] for judge in sorted({r.judge for r in ordered} | set(agreement))}
    for record in ordered:
        work[record.judge].append(record)
    limits = (min_agreement, min_seconds, min_gold)
    return tuple(
        Flag(judge, sign.reason, sign.detail, tuple(record.task for record in sign.records))
        for judge, done in work.items()
        for sign in _signs(done, agreement.get(judge), *limits)
    )


class _Sign(NamedTuple):
    reason: Reason
    detail: str
    records: Sequence[WorkRecord]


def _signs(
    done: Sequence[WorkRecord], share: float | None, min_agreement: float, min_seconds: float, min_gold: float
) -> Iterator[_Sign]:
    if share is not None and share < min_agreement:
        detail = f"agrees with others at {rounded_beside(share, min_agreement)}, below {min_agreement:g}"
        yield _Sign("agreement", detail, done)
    times = [record.seconds for record in done if record.seconds is not None and record.seconds < min_seconds]
    if times:
        detail = (
            f"{len(times)} of {_count('task', done)} in under {min_seconds:g} seconds, the fastest in {min(times):.3g}"
        )
        yield _Sign("too fast", detail, [r for r in done if r.seconds is not None and r.seconds < min_seconds])
    uniform = [record for record in done if record.uniform]
    if len(uniform) >= MIN_UNIFORM_TASKS and len(uniform) >= MIN_UNIFORM_SHARE * len(done):
        yield _Sign(
            "uniform answers", f"the same answer throughout in {len(uniform)} of {_count('task', done)}", uniform
        )
    right, asked = sum(record.gold_right for record in done), sum(record.gold_asked for record in done)
    if asked >= MIN_GOLD_ASKED and right / asked < min_gold:
        missed = [record for record in done if record.gold_right < record.gold_asked]
        yield _Sign("gold", f"{right} of {asked} gold questions right, below {100 * min_gold:g}%", missed)
    foreign = [record for record in done if record.foreign]
    if foreign:
        texts = [" ".join(text.split()) for record in foreign for text in record.foreign]
        shown = texts[0] if len(texts[0]) <= 60 else texts[0][:57] + "..."
        yield _Sign(
            "pasted", f'text pasted {_count("time", texts)} that is not in the source, first: "{shown}"', foreign
        )


def _problems(records: Sequence[WorkRecord]) -> Iterator[Problem]:
    for (judge, task), count in Counter((record.judge, record.task) for record in records).items():
        if count > 1:
            yield Problem(f"judge {judge}, task {task}", f"has {count} records; there is one per judge and task")
    for record in records:
        where = f"judge {record.judge}, task {record.task}"
        if not 0 <= record.gold_right <= record.gold_asked:
            yield Problem(where, f"{record.gold_right} of {record.gold_asked} gold questions right is impossible")
        if record.seconds is not None and not record.seconds >= 0:
            yield Problem(where, f"{record.seconds} seconds is not a time")


def _count(noun: str, things: Sequence[object]) -> str:
    return f"{len(things)} {noun}" if len(things) == 1 else f"{len(things)} {noun}s"


def _normal(text: str) -> str:
    return " ".join(text.casefold().split())
