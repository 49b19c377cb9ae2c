"""Score tables side by side: which measures, systems and topics they have, and what is missing."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from pyramidion.analysis.answer import listed
from pyramidion.errors import Problem, UsageError, check_choice
from pyramidion.stats.intervals import divided
from pyramidion.study import ScoreTable, Signature
from pyramidion.study.judgments import JudgeKind

# ----------------------------------------------------------------------
# Which measures are not independent of a gold: those made from the gold's own judgments or numbers.
#
# A signature names the pyramid and the judges that scores come from. Two scores of the same units by the same judges
# are one set of judgments seen twice, whatever the method, aggregator or measure: their correlation says nothing
# about a metric. A table without such a signature may come from anywhere; there, only numbers that equal the gold's,
# or follow from them by a straight line, give it away.

SHARED = "shares judgments with the gold"
SAME = "has the gold's own numbers"
LINEAR = "follows from the gold's numbers by a straight line"
DEPENDENT = " dependent: comes from the judgments or numbers of the gold, so agreement with it says nothing."
"""The note of a table that has such a column."""
FEWEST = 4
"""With fewer scores a straight line may be coincidence."""

_KINDS = frozenset(get_args(JudgeKind))
_GROUPS = {"all": _KINDS, "people": _KINDS - {"model"}, **{kind: frozenset({kind}) for kind in _KINDS}}


def shares_judgments(a: Signature, b: Signature) -> bool:
    """Whether two tables come from judgments of the same judges on the same units, or on the same aspects.

    False where a signature does not say whose judgments they are. One judge's id belongs to a group of judges if the
    signature says that the judge is of such a kind, or does not say of which.
    """
    first, second = dict(a.choices), dict(b.choices)
    if "judges" not in first or "judges" not in second:
        return a.method == b.method == "auto" and first == second  # judged by that run, and not kept
    same_units = first.get("pyramid") == second.get("pyramid")
    ratings = [signature.method == "responsiveness" for signature in (a, b)]
    return same_units and ratings[0] == ratings[1] and _overlap(first, second)


def _overlap(first: Mapping[str, str], second: Mapping[str, str]) -> bool:
    groups = [_GROUPS.get(choices["judges"]) for choices in (first, second)]
    if groups == [None, None]:
        return first["judges"] == second["judges"]
    kinds = [
        (frozenset({choices["kind"]}) if "kind" in choices else _KINDS) if group is None else group
        for choices, group in zip((first, second), groups, strict=True)
    ]
    return bool(kinds[0] & kinds[1])


def why_dependent(gold: ScoreTable, gold_measure: str, table: ScoreTable, measure: str) -> str:
    """Why a measure is not independent of the gold; empty where it is, as far as can be told."""
    return by_signature(gold, gold_measure, table, measure) or by_numbers(*_common(gold, gold_measure, table, measure))


def by_signature(gold: ScoreTable, gold_measure: str, table: ScoreTable, measure: str) -> str:
    """The dependence that signatures reveal; ratings of other aspects are other judgments."""
    other_ratings = gold.signature.method == "responsiveness" and gold_measure != measure
    shared = shares_judgments(gold.signature, table.signature) and not other_ratings and not _contradict(gold, table)
    return SHARED if shared else ""


def by_numbers(x: Floats, y: Floats) -> str:
    """The dependence that the numbers of the same summaries, or systems, reveal."""
    both = ~(np.isnan(x) | np.isnan(y))
    x, y = x[both], y[both]
    if len(x) < FEWEST or np.ptp(x) == 0 or np.ptp(y) == 0:
        return ""
    if np.array_equal(x, y):
        return SAME
    gap = x - x.mean()
    line = y.mean() + gap * (gap @ (y - y.mean()) / (gap @ gap))
    return LINEAR if np.abs(line - y).max() <= 1e-9 * np.ptp(y) else ""


def _contradict(a: ScoreTable, b: ScoreTable) -> bool:
    """Whether two tables made by the same choices differ: then they come from different judgments after all."""
    if a is b or (a.signature.method, a.signature.choices) != (b.signature.method, b.signature.choices):
        return False
    pairs = (_common(a, measure, b, measure) for measure in set(a.measures) & set(b.measures))
    return any(not np.array_equal(x, y) for x, y in pairs)


def _common(a: ScoreTable, of_a: str, b: ScoreTable, of_b: str) -> tuple[Floats, Floats]:
    """The scores of what both have: of summaries, or of systems where one has no others."""
    summaries = a.per_summary(of_a), b.per_summary(of_b)
    if all(summaries):
        pairs = [(value, summaries[1].get(key)) for key, value in summaries[0].items()]
    else:
        means = b.per_system(of_b)
        pairs = [(value, means.get(system)) for system, value in a.per_system(of_a).items()]
    held = np.array([(x, y) for x, y in pairs if x is not None and y is not None], dtype=np.float64).reshape(-1, 2)
    return held[:, 0], held[:, 1]


Floats = NDArray[np.float64]
Means = Literal["shared", "given"]
Tables = ScoreTable | Sequence[ScoreTable] | Mapping[str, ScoreTable]


@dataclass(frozen=True)
class Measure:
    """One measure of one table, under a name that is unique among those it is compared with."""

    name: str
    table: ScoreTable
    measure: str


def released(*tables: ScoreTable) -> dict[str, object]:
    """The part of a signature that names the released script whose way scores were made; empty for our own way."""
    names = {value for table in tables for name, value in table.signature.choices if name == "compat"}
    return {"compat": names} if names else {}


def measures_of(tables: Tables) -> tuple[Measure, ...]:
    """Every measure of every table. If two tables have a measure of the same name, the table's name is put in front."""
    if isinstance(tables, ScoreTable):
        tables = {tables.signature.method: tables}
    if not isinstance(tables, Mapping):
        tables = {f"{number}": table for number, table in enumerate(tables, 1)}
    owners: dict[str, list[str]] = {}
    for label, table in tables.items():
        for measure in table.measures:
            owners.setdefault(measure, []).append(label)
    return tuple(
        Measure(measure if len(owners[measure]) == 1 else f"{label}:{measure}", table, measure)
        for label, table in tables.items()
        for measure in table.measures
    )


def choose_measures(known: Sequence[Measure], names: Iterable[str]) -> tuple[Measure, ...]:
    """Measures by name, or by a pattern such as ``rouge-*``."""
    chosen: dict[str, Measure] = {}
    for name in names:
        found = [m for m in known if m.name == name] or [m for m in known if fnmatch.fnmatchcase(m.name, name)]
        if not found:
            check_choice("measure", name, [m.name for m in known])
        chosen |= {m.name: m for m in found}
    return tuple(chosen.values())


@dataclass(frozen=True)
class Compared:
    """A gold and the metrics to be compared with it; ``dependent`` says why some are not independent of it."""

    gold: Measure
    metrics: tuple[Measure, ...]
    dependent: Mapping[str, str]
    notes: tuple[Problem, ...]


def gold_and_metrics(tables: Tables, gold: str, metrics: Sequence[str] | None) -> Compared:
    """The gold measure, and the others: all that are independent of it, or those that are named."""
    known = measures_of(tables)
    chosen = choose_measures(known, [gold])
    if len(chosen) != 1:
        raise UsageError(f"{gold!r} names several measures: {', '.join(m.name for m in chosen)}")
    others = known if metrics is None else choose_measures(known, metrics)
    others = tuple(m for m in others if m.name != chosen[0].name)
    if not others:
        raise UsageError(f"no other measure can be compared with {gold!r}; give another score table")
    why = {m.name: dependence(chosen[0], m) for m in others}
    dependent = {name: reason for name, reason in why.items() if reason}
    if metrics is not None:
        what = "so its agreement with the gold says nothing about it"
        return Compared(chosen[0], others, dependent, _told(dependent, what))
    if len(dependent) == len(others):
        names = listed(list(dependent))
        raise UsageError(
            f"every other measure comes from the judgments or numbers of {gold!r} itself: {names}; give another score "
            "table, or name a measure with --metric to see it anyway"
        )
    independent = tuple(m for m in others if m.name not in dependent)
    what = "so it is left out; name it with --metric to see it anyway"
    return Compared(chosen[0], independent, {}, _told(dependent, what))


def dependence(gold: Measure, metric: Measure) -> str:
    """Why a metric is not independent of the gold; empty where it is, as far as can be told."""
    return why_dependent(gold.table, gold.measure, metric.table, metric.measure)


def _told(dependent: Mapping[str, str], what: str) -> tuple[Problem, ...]:
    """One note for each reason."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in dependent.items():
        by_reason.setdefault(reason, []).append(name)
    each = {reason: "each " if len(names) > 1 else "" for reason, names in by_reason.items()}
    return tuple(Problem(listed(n), f"{each[reason]}{reason}, {what}", "warning") for reason, n in by_reason.items())


@dataclass(frozen=True)
class Grid:
    """Measures over the same topics and systems: ``cells[name]`` is topics x systems, NaN where missing.

    ``means[name]`` are the system means to compare: over these topics, or as given in the table.
    """

    systems: tuple[str, ...]
    topics: tuple[str, ...]
    cells: dict[str, Floats]
    means: dict[str, Floats]
    notes: tuple[Problem, ...]


def grid(
    measures: Sequence[Measure],
    *,
    systems: Collection[str] | None = None,
    topics: Collection[str] | None = None,
    means: Means = "shared",
) -> Grid:
    """Put measures over their common systems and topics. ``systems`` and ``topics`` may be patterns.

    A table without scores by topic contributes its own means; the topics are then those of the others.
    """
    check_choice("means", means, get_args(Means))
    by_topic = {m.name: m.table.per_summary(m.measure) for m in measures}
    by_system = {m.name: m.table.per_system(m.measure) for m in measures}
    held = {m.name: {s for _, s in by_topic[m.name]} | set(by_system[m.name]) for m in measures}
    shared = _shared("system", held, systems)
    with_topics = {name: {topic for topic, _ in found} for name, found in by_topic.items() if found}
    common = _shared("topic", with_topics, topics) if with_topics else ()
    cells = {
        m.name: np.array(
            [[_number(by_topic[m.name].get((topic, system))) for system in shared] for topic in common]
        ).reshape(len(common), len(shared))
        for m in measures
    }
    notes = [*_unshared("system", held, shared, systems), *_unshared("topic", with_topics, common, topics)]
    found: dict[str, Floats] = {}
    for m in measures:
        given = np.array([_number(by_system[m.name].get(system)) for system in shared])
        own = column_means(cells[m.name])
        found[m.name] = given if means == "given" or not by_topic[m.name] else own
        notes += _missing(m.name, cells[m.name], shared, common, bool(by_topic[m.name]))
        if not by_topic[m.name] and with_topics:
            notes.append(Problem(m.name, "has no scores by topic; its system means are used instead", "warning"))
    return Grid(shared, common, cells, found, tuple(notes))


def column_means(cells: Floats) -> Floats:
    """Each system's mean over the topics it has; NaN where it has none. Further axes may come before the topics."""
    present = ~np.isnan(cells)
    total, number = np.where(present, cells, 0.0).sum(axis=-2), present.sum(axis=-2)
    return divided(total, number)


def _number(value: float | None) -> float:
    return np.nan if value is None else value


def _shared(noun: str, held: Mapping[str, set[str]], wanted: Collection[str] | None) -> tuple[str, ...]:
    common = set.intersection(*held.values())
    if not common:
        sizes = "; ".join(f"{name}: {', '.join(sorted(found)[:3])}, ..." for name, found in held.items())
        raise UsageError(f"the tables have no {noun} in common ({sizes})")
    return restricted(noun, common, wanted)


def restricted(noun: str, names: Collection[str], wanted: Collection[str] | None) -> tuple[str, ...]:
    """The names that match the given names or patterns such as ``bert-*``, sorted; each pattern must match
    something."""
    if wanted is None:
        return tuple(sorted(names))
    chosen: set[str] = set()
    for pattern in wanted:
        fitting = {pattern} & set(names) or {name for name in names if fnmatch.fnmatchcase(name, pattern)}
        if not fitting:
            some = ", ".join(sorted(names)[:10]) + (", ..." if len(names) > 10 else "")
            raise UsageError(f"no {noun} matches {pattern!r}; the {noun}s are: {some}")
        chosen |= fitting
    return tuple(sorted(chosen))


def _unshared(
    noun: str, held: Mapping[str, set[str]], shared: Sequence[str], wanted: Collection[str] | None
) -> Iterator[Problem]:
    if wanted is not None:
        return  # the user chose
    for name, found in held.items():
        if lacking := sorted(found - set(shared)):
            listed = ", ".join(lacking[:5]) + (", ..." if len(lacking) > 5 else "")
            what = f"{len(lacking)} of its {len(found)} {noun}s are in no other table and are left out: {listed}"
            yield Problem(name, what, "warning")


def _missing(
    name: str, cells: Floats, systems: Sequence[str], topics: Sequence[str], has_topics: bool
) -> Iterator[Problem]:
    lacking = np.argwhere(np.isnan(cells)) if has_topics else np.zeros((0, 2), dtype=np.int64)
    if len(lacking):
        some = ", ".join(f"{systems[s]} on {topics[t]}" for t, s in lacking[:3])
        more = ", ..." if len(lacking) > 3 else ""
        yield Problem(name, f"{len(lacking)} of {cells.size} cells are missing: {some}{more}", "warning")
