"""What changed between two runs or versions of a study: scores, ranks, judged units, texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pyramidion.analysis.answer import Answer, Point, Scatter, Table, count
from pyramidion.analysis.inputs import Measure, choose_measures, measures_of
from pyramidion.errors import Problem, UsageError
from pyramidion.scoring.aggregate import majority
from pyramidion.study import ScoreTable, Signature, Study

SAME = 1e-9
"""Scores that differ by less are equal: the order of a sum must not show up as a change."""

Value = float | None
Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SystemDifference:
    """A system's mean and rank before and after; None if it has none."""

    measure: str
    system: str
    first: Value
    second: Value
    first_rank: int | None
    second_rank: int | None

    @property
    def change(self) -> Value:
        return None if self.first is None or self.second is None else self.second - self.first

    @property
    def changed(self) -> bool:
        return not _same(self.first, self.second) or self.first_rank != self.second_rank


@dataclass(frozen=True, slots=True)
class Changes:
    """How many things of a kind are the same, changed, only in the second or only in the first."""

    what: str
    same: int
    changed: int
    added: int
    removed: int


@dataclass(frozen=True)
class Differences:
    systems: tuple[SystemDifference, ...]
    summaries: tuple[tuple[str, str, str, Value, Value], ...]
    units: tuple[tuple[str, str, str, Value, Value], ...]
    changes: tuple[Changes, ...]


def differences(
    first: Mapping[str, ScoreTable],
    second: Mapping[str, ScoreTable],
    *,
    studies: tuple[Study, Study] | None = None,
    measure: str | None = None,
) -> Answer[Differences]:
    """Compare score tables measure by measure, and with ``studies`` their judgments, units and texts as well."""
    pairs = _pairs(measures_of(first), measures_of(second), measure)
    systems = tuple(row for a, b in pairs for row in _systems(a, b))
    summaries = tuple(row for a, b in pairs for row in _summaries(a, b))
    units = tuple(_units(*studies)) if studies else ()
    kinds = tuple(_kinds(*studies)) if studies else ()
    result = Differences(systems, summaries, units, kinds)
    made = Signature.of("diff", measures="+".join(a.name for a, _ in pairs))
    figures = tuple(
        Scatter(
            f"{a.name}, before and after",
            "first",
            "second",
            tuple(
                Point(d.system, d.first, d.second)
                for d in systems
                if d.measure == a.name and d.first is not None and d.second is not None
            ),
            diagonal=True,
        )
        for a, _ in pairs
    )
    return Answer(
        "diff",
        _sentence(result, len(pairs)),
        _tables(result, measure is not None),
        made,
        result,
        figures,
        _notes(pairs),
    )


def _pairs(first: Sequence[Measure], second: Sequence[Measure], wanted: str | None) -> list[tuple[Measure, Measure]]:
    if wanted is not None:
        return [(choose_measures(first, [wanted])[0], choose_measures(second, [wanted])[0])]
    there = {m.name: m for m in second}
    found = [(m, there[m.name]) for m in first if m.name in there]
    if not found:
        names = [", ".join(m.name for m in held) for held in (first, second)]
        raise UsageError(f"the two have no measure in common ({names[0]}; {names[1]})")
    return found


def _same(a: Value, b: Value) -> bool:
    return a is b or (a is not None and b is not None and abs(a - b) < SAME)


def _systems(a: Measure, b: Measure) -> Iterable[SystemDifference]:
    before, after = (
        {name: (value, rank) for rank, (name, value) in enumerate(m.table.ranking(m.measure), 1)} for m in (a, b)
    )
    for system in dict.fromkeys([*before, *after]):
        (first, old), (second, new) = before.get(system, (None, None)), after.get(system, (None, None))
        yield SystemDifference(a.name, system, first, second, old, new)


def _summaries(a: Measure, b: Measure) -> Iterable[tuple[str, str, str, Value, Value]]:
    """Summaries whose score changed, the largest change first."""
    before, after = a.table.per_summary(a.measure), b.table.per_summary(b.measure)
    changed = [k for k in dict.fromkeys([*before, *after]) if not _same(before.get(k), after.get(k))]
    changed.sort(key=lambda k: (-abs((after.get(k) or 0.0) - (before.get(k) or 0.0)), k))
    for topic, system in changed:
        yield a.name, topic, system, before.get((topic, system)), after.get((topic, system))


def _units(first: Study, second: Study) -> Iterable[tuple[str, str, str, Value, Value]]:
    """Judged units whose majority changed: topic, system, unit, before, after."""
    before, after = _verdicts(first), _verdicts(second)
    for key in sorted(before.keys() | after.keys()):
        if not _same(before.get(key), after.get(key)):
            topic, system, unit = key
            yield topic, system, unit, before.get(key), after.get(key)


def _verdicts(study: Study) -> dict[Key, Value]:
    return {(j.topic, j.system, j.unit): j.value for j in majority(study.judgments) if j.unit}


_READ: dict[str, Callable[[Study], Mapping[Key, object]]] = {
    "summaries": lambda study: {(s.topic, s.role, s.system): s.text for s in study.summaries},
    "content units": lambda study: {
        (p.topic, p.name, u.id): replace(u, contributors=tuple(sorted(u.contributors, key=str)))
        for p in study.pyramids
        for u in p.units
    },
    "judgments": lambda study: {
        (j.topic, j.system, j.unit, j.aspect, j.other, j.judge): j.value for j in study.judgments
    },
    "units as judged (majority)": _verdicts,
}


def _kinds(first: Study, second: Study) -> Iterable[Changes]:
    for what, read in _READ.items():
        before, after = read(first), read(second)
        common = before.keys() & after.keys()
        changed = sum(before[key] != after[key] for key in common)
        yield Changes(what, len(common) - changed, changed, len(after.keys() - common), len(before.keys() - common))


def _notes(pairs: Sequence[tuple[Measure, Measure]]) -> tuple[Problem, ...]:
    """Note if the scores were made in different ways, which alone makes them differ."""
    found = dict.fromkeys(
        (str(a.table.signature), str(b.table.signature))
        for a, b in pairs
        if str(a.table.signature) != str(b.table.signature)
    )
    return tuple(Problem("signatures differ", f"{a} and {b}", "warning") for a, b in found)


# -- how people see it ---------------------------------------------------------------------------------------------


def _sentence(result: Differences, measures: int) -> str:
    changed = [d for d in result.systems if d.changed]
    if not changed and not result.summaries and not result.units:
        data = ", but the data did" if any(c.changed or c.added or c.removed for c in result.changes) else ""
        return f"No score and no rank changed in {count(measures, 'measure')}{data}."
    moved = {d.system for d in changed if d.first_rank != d.second_rank}
    sizes = [(abs(d.change), d) for d in changed if d.change is not None]
    text = f"{len({d.system for d in changed})} of {count(len({d.system for d in result.systems}), 'system')} changed"
    if sizes:
        size, top = max(sizes, key=lambda pair: pair[0])
        text += f", {top.system} most ({top.measure} {top.change:+.3f})" if size else ""
    text += f"; {count(len(moved), 'system')} changed rank" if moved else "; no rank changed"
    if result.changes:
        text += f"; {count(len(result.units), 'judged unit')} changed"
    return text + "."


def _tables(result: Differences, every: bool) -> tuple[Table, ...]:
    """With one measure every system is listed, with several those that changed."""
    tables = []
    if shown := [d for d in result.systems if every or d.changed]:
        rows = tuple((d.measure, d.system, d.first, d.second, d.change, d.first_rank, d.second_rank) for d in shown)
        title = "Systems" if every else "Systems that changed"
        tables.append(Table(title, ("measure", "system", "first", "second", "change", "rank", "new rank"), rows))
    if result.changes:
        held = tuple((c.what, c.same, c.changed, c.added, c.removed) for c in result.changes)
        tables.append(Table("What the studies hold", ("", "same", "changed", "added", "removed"), held))
    if result.summaries:
        columns = ("measure", "topic", "system", "first", "second")
        tables.append(Table("Summaries that changed, the largest change first", columns, result.summaries))
    if result.units:
        columns = ("topic", "system", "unit", "first", "second")
        tables.append(Table("Judged units that changed", columns, result.units))
    return tuple(tables)
