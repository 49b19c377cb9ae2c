"""Signs of careless work, to be checked before anybody is paid, blocked or left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from pyramidion.campaigns.copying import MIN_COPIED, MIN_COPIED_SHARE, Twin, count_copied, normal, repeated_tasks
from pyramidion.errors import InputError, Problem
from pyramidion.stats.rounding import rounded_beside

#     agreement         with others below 0.5: Shapira et al. 2019, section 3 (see pyramidion.scoring.screening)
#     too fast          a task in under 25 seconds: Gillick and Liu 2010, section 3.1
#     uniform answers   the same answer throughout a task, which they saw in such work, "usually all 10s"
#     gold              too few right answers to questions whose answer is known
#     pasted            text that is not in the source it should come from
#     copied, repeated answers, same as another: see pyramidion.campaigns.copying
#
# All from gold on are ours, and so are the limits on uniform answers: one summary may rightly get the same answer to
# every question, so it takes half of a worker's tasks, and two of them. Ratings or preferences that never change are
# flagged from ten tasks on: summaries change sides at random, so one careful worker in 500 always prefers the same one.
# Gillick and Liu rejected such work at once; we only flag it: rejecting somebody's work is for a person to decide.

Reason = Literal[
    "agreement", "too fast", "uniform answers", "gold", "pasted", "copied", "repeated answers", "same as another"
]

MIN_ANSWERS = 4
"""Fewer equal answers than this mean nothing."""
MIN_UNIFORM_TASKS, MIN_UNIFORM_SHARE = 2, 0.5
MIN_SAME_ANSWERS = 10
"""In fewer tasks, the same ratings or the same side may be chance."""
MIN_GOLD_MISSED = 2
"""One task with wrong answers may be a slip, however many known answers it has."""
MIN_PASTED = 20
"""Shorter text (in characters) may be typed or copied from anywhere."""

NOBODY: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class WorkRecord:
    """One judge's work on one task.

    ``values`` are the answers in the order of the page, None where there is none, and ``units`` what they are about;
    ``statements`` are those written, ``pasted`` the texts pasted into the page, and ``source`` the text both should
    come from (empty: not known, so nothing is checked).
    """

    judge: str
    task: str
    seconds: float | None
    values: tuple[float | None, ...]
    gold_right: int = 0
    gold_asked: int = 0
    pasted: tuple[str, ...] = ()
    source: str = ""
    units: frozenset[str] = frozenset()
    statements: tuple[str, ...] = ()

    @property
    def uniform(self) -> bool:
        answers: list[Hashable] = [value for value in self.values if value is not None]
        answers += [normal(text) for text in self.statements]
        return len(answers) >= MIN_ANSWERS and len(set(answers)) == 1

    @property
    def foreign(self) -> tuple[str, ...]:
        """Pasted texts that are not in the source, ignoring case and spacing."""
        if not self.source:
            return ()
        source = normal(self.source)
        return tuple(p for p in self.pasted if len(normal(p)) >= MIN_PASTED and normal(p) not in source)


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
    twins: Mapping[str, Twin] = NOBODY,
    min_agreement: float = 0.5,
    min_seconds: float = 25.0,
    min_gold: float = 0.7,
) -> tuple[Flag, ...]:
    """At most one flag per judge and reason, by judge and then in the order of the list above.

    ``agreement`` is what screening found about each judge, None for one without a partner; ``twins`` are those whose
    answers are the same as another's.
    """
    ordered = sorted(records, key=lambda record: (record.judge, record.task))
    if problems := list(_problems(ordered)):
        raise InputError(problems)
    judges = {record.judge for record in ordered} | set(agreement) | set(twins)
    work: dict[str, list[WorkRecord]] = {judge: [] for judge in sorted(judges)}
    for record in ordered:
        work[record.judge].append(record)
    limits = (min_agreement, min_seconds, min_gold)
    return tuple(
        Flag(judge, sign.reason, sign.detail, tuple(record.task for record in sign.records))
        for judge, done in work.items()
        for sign in (*_signs(done, agreement.get(judge), *limits), *_copies(done, twins.get(judge)))
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
    same = len({record.values for record in done if record.values and not record.units}) == 1
    if same and len(done) >= MIN_SAME_ANSWERS:
        yield _Sign("uniform answers", f"the same answer in all of {_count('task', done)}", done)
    right, asked = sum(record.gold_right for record in done), sum(record.gold_asked for record in done)
    missed = [record for record in done if record.gold_right < record.gold_asked]
    if len(missed) >= MIN_GOLD_MISSED and right / asked < min_gold:
        yield _Sign("gold", f"{right} of {asked} gold questions right, below {100 * min_gold:g}%", missed)
    foreign = [record for record in done if record.foreign]
    if foreign:
        texts = [" ".join(text.split()) for record in foreign for text in record.foreign]
        shown = texts[0] if len(texts[0]) <= 60 else texts[0][:57] + "..."
        yield _Sign(
            "pasted", f'text pasted {_count("time", texts)} that is not in the source, first: "{shown}"', foreign
        )


def _copies(done: Sequence[WorkRecord], twin: Twin | None) -> Iterator[_Sign]:
    copied = {record.task: count_copied(record.statements, record.source) for record in done if record.source}
    number, written = sum(copied.values()), sum(len(record.statements) for record in done if record.source)
    if number >= MIN_COPIED and number >= MIN_COPIED_SHARE * written:
        detail = f"{number} of {written} statements are sentences of the text, word for word"
        yield _Sign("copied", detail, [record for record in done if copied.get(record.task)])
    repeated = repeated_tasks({r.task: (r.units, r.values) for r in done if r.units and len(r.values) >= MIN_ANSWERS})
    if repeated:
        yield _Sign(
            "repeated answers",
            f"the same varied answers, in the same order, in {_count('task', repeated)}",
            [record for record in done if record.task in repeated],
        )
    if twin:
        yield _Sign("same as another", twin.detail, [record for record in done if record.task in twin.tasks])


def _problems(records: Sequence[WorkRecord]) -> Iterator[Problem]:
    for (judge, task), count in Counter((record.judge, record.task) for record in records).items():
        if count > 1:
            yield Problem(f"judge {judge}, task {task}", f"has {count} records; there must be one per judge and task")
    for record in records:
        where = f"judge {record.judge}, task {record.task}"
        if not 0 <= record.gold_right <= record.gold_asked:
            yield Problem(where, f"{record.gold_right} correct of {record.gold_asked} gold questions is impossible")
        if record.seconds is not None and not record.seconds >= 0:
            yield Problem(where, f"{record.seconds} seconds is not a valid duration")


def _count(noun: str, things: Sequence[object]) -> str:
    return f"{len(things)} {noun}" if len(things) == 1 else f"{len(things)} {noun}s"
