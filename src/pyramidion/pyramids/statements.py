"""Which written units are fit to be judged: Shapira et al. 2019, section 3, "Pyramid creation".

A statement is one short sentence. Statements with more than one sentence, with more than 20 tokens or with 3 and fewer
tokens are dropped, and so is the longer of two near-duplicates written from the same reference. Every drop has its
reason.

Near-duplicates have a cosine of at least 0.95 between their bags of lemmas. Where we deviate, and why:
- stems are used for lemmas: Porter's stemmer needs no download, and it merges at least the forms of a lemma that differ
  by a regular ending. Words without any letter a-z are not stemmed;
- only content words count, and the paper does not say which those are: words of negation, possibility, direction and
  amount stay in, since "prices may rise after the vote" and "prices did not rise before the vote" are not the same;
- the released scripts measure |A and B| / min(|A|, |B|) on sets, by which a statement equals any longer one that
  contains its words; ``similarity="overlap"`` does that, for comparison.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from pyramidion.encoder.sentences import StemCounts, content_stems, count_sentences, tokens
from pyramidion.errors import InputError, Problem, UsageError, check_choice
from pyramidion.study import ContentUnit, Pyramid

Similarity = Literal["cosine", "overlap"]

MIN_TOKENS, MAX_TOKENS = 4, 20
SAME = 0.95
"""Two statements with at least this similarity say the same."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """``duplicate_of`` is the id of the kept statement that says the same, or empty."""

    unit: ContentUnit
    reason: str
    duplicate_of: str = ""


@dataclass(frozen=True, slots=True)
class Filtered:
    """Both in the order of unit ids."""

    kept: tuple[ContentUnit, ...]
    dropped: tuple[Dropped, ...]


def filter_statements(
    units: Iterable[ContentUnit],
    *,
    min_tokens: int = MIN_TOKENS,
    max_tokens: int = MAX_TOKENS,
    threshold: float = SAME,
    similarity: Similarity = "cosine",
) -> Filtered:
    """Sort the statements of one topic into those to keep and those to drop. The order they come in never matters.

    Of near-duplicates the one with the fewest tokens stays, then the one with the lowest id. A statement dropped for
    its form does not cause another to be dropped.
    """
    likeness = _likeness(similarity, threshold)
    kept: list[ContentUnit] = []
    dropped: list[Dropped] = []
    for written in by_reference(units).values():
        shortest_first = sorted(written, key=lambda unit: (len(tokens(unit.label)), unit.id))
        bags: dict[str, StemCounts] = {}
        for unit in shortest_first:
            bag = content_stems(unit.label)
            if faults := "; ".join(_faults(unit.label, min_tokens, max_tokens)):
                dropped.append(Dropped(unit, faults))
            elif twin := _twin(bag, bags, likeness, threshold):
                dropped.append(Dropped(unit, f"nearly the same as {twin}, from the same reference", twin))
            else:
                bags[unit.id] = bag
                kept.append(unit)
    return Filtered(
        tuple(sorted(kept, key=lambda unit: unit.id)), tuple(sorted(dropped, key=lambda drop: drop.unit.id))
    )


def check_statement(text: str, earlier: Sequence[str] = ()) -> list[str]:
    """What the writer should change about a statement, given the writer's other ones; empty where it is fine."""
    if not text.strip():
        return ["This is empty."]
    problems = [f"This has {fault}." for fault in _faults(text, MIN_TOKENS, MAX_TOKENS)]
    bags = {str(number): content_stems(other) for number, other in enumerate(earlier, 1)}
    if twin := _twin(content_stems(text), bags, cosine, SAME):
        problems.append(f"This says nearly the same as your statement {twin}.")
    return problems


def live_checks(statements: Sequence[str]) -> list[list[str]]:
    """For each statement, what is wrong with it, also compared with those before it."""
    return [
        check_statement(text, statements[:number]) if text.strip() else [] for number, text in enumerate(statements)
    ]


def by_reference(units: Iterable[ContentUnit]) -> dict[str, list[ContentUnit]]:
    """The units written from each reference, both in order of id; refuses units that do not name exactly one."""
    grouped: dict[str, list[ContentUnit]] = {}
    problems = []
    seen: set[str] = set()
    for unit in sorted(units, key=lambda unit: unit.id):
        if unit.id in seen:
            problems.append(Problem(f"unit {unit.id}", "appears more than once; ids must be unique"))
        elif len(unit.contributors) != 1:
            problems.append(
                Problem(
                    f"unit {unit.id}",
                    f"a statement must come from 1 reference, this one comes from {len(unit.contributors)}",
                )
            )
        else:
            grouped.setdefault(unit.contributors[0].reference, []).append(unit)
        seen.add(unit.id)
    if problems:
        raise InputError(problems)
    return dict(sorted(grouped.items()))


def _faults(text: str, min_tokens: int, max_tokens: int) -> Iterator[str]:
    if (sentences := count_sentences(text)) > 1:
        yield f"{sentences} sentences instead of one"
    size = len(tokens(text))
    words = f"{size} word" if size == 1 else f"{size} words"
    if size > max_tokens:
        yield f"{words}, more than {max_tokens}"
    if size < min_tokens:
        yield f"{words}, fewer than {min_tokens}"


def _twin(
    bag: StemCounts,
    others: dict[str, StemCounts],
    likeness: Callable[[StemCounts, StemCounts], float],
    threshold: float,
) -> str:
    """The most similar of those that are similar enough, the first of equals; empty where there is none."""
    best, name = max(((likeness(bag, other), id) for id, other in others.items()), key=lambda x: x[0], default=(0, ""))
    return name if best >= threshold else ""


# Similarity of two statements


def cosine(a: StemCounts, b: StemCounts) -> float:
    dot = sum(count * b[stem] for stem, count in a.items())
    # One root of the product, not a product of roots: equal bags then give exactly 1.
    return dot / math.sqrt(_square(a) * _square(b)) if dot else 0.0


def _square(bag: StemCounts) -> int:
    return sum(count * count for count in bag.values())


def overlap(a: StemCounts, b: StemCounts) -> float:
    """How much of the smaller set of stems the larger one contains."""
    shared = len(a.keys() & b.keys())
    return shared / min(len(a), len(b)) if shared else 0.0


_SIMILARITIES: dict[str, Callable[[StemCounts, StemCounts], float]] = {"cosine": cosine, "overlap": overlap}


def _likeness(similarity: str, threshold: float) -> Callable[[StemCounts, StemCounts], float]:
    check_choice("similarity", similarity, _SIMILARITIES)
    if not 0 < threshold <= 1:
        raise UsageError(f"a similarity threshold is above 0 and at most 1, not {threshold}")
    return _SIMILARITIES[similarity]


# ----------------------------------------------------------------------
# Which statements are judged, and in which task: Shapira et al. 2019, sections 3 and 4.
#
# All statements of a topic are pooled without merging, so a fact told by several references has more chances to be
# drawn. The paper samples 32 per topic and judges them in two tasks of 16.
#
# The paper does not say how it sampled. We draw equally from every reference, so that no reference's choice of content
# weighs more because its writers wrote more, and we spread each reference evenly over the tasks. Both depend on the
# generator and the ids only, never on the order in which statements come.

ByReference = Mapping[str, list[ContentUnit]]


@dataclass(frozen=True, slots=True)
class Sample:
    """Units in the order of ids, not grouped yet; ``shortfalls`` says which references had too few."""

    units: tuple[ContentUnit, ...]
    shortfalls: tuple[Problem, ...] = ()


def sample_units(
    units: Iterable[ContentUnit],
    *,
    size: int = 32,
    rng: np.random.Generator,
    references: Collection[str] | None = None,
) -> Sample:
    """Draw the units of one topic to be judged, the same number from each reference.

    A remainder goes to references chosen at random. If a reference has too few, the others fill in, and this is
    reported. ``references`` names those to draw from, so that one without units is noticed; by default, those with
    units.
    """
    if size < 1:
        raise UsageError(f"a sample must have at least 1 unit, not {size}")
    written = by_reference(units)
    names = sorted(set(written if references is None else references))
    supply = _shuffle({name: written.get(name, []) for name in names}, rng)
    drawn = list(_in_turn(supply))[:size]
    chosen = sorted((replace(unit, group="") for unit in drawn), key=lambda unit: unit.id)
    return Sample(tuple(chosen), tuple(_shortfalls({name: len(supply[name]) for name in names}, size)))


def split_into_groups(
    units: Iterable[ContentUnit], *, group_size: int = 16, rng: np.random.Generator
) -> tuple[ContentUnit, ...]:
    """Put every unit into one of the groups "1", "2", ...: as few as can be and as equal as can be, none larger than
    ``group_size``, since all tasks pay the same. 17 units are 9 and 8, not 16 and 1.

    The number of units of a reference differs by at most 1 between groups.
    """
    if group_size < 1:
        raise UsageError(f"a group must have at least 1 unit, not {group_size}")
    # Reference after reference: whatever takes units at even steps takes evenly from each of them.
    queue = [unit for written in _shuffle(by_reference(units), rng).values() for unit in written]
    count = math.ceil(len(queue) / group_size)
    dealt = sorted((i % count + 1, unit.id, unit) for i, unit in enumerate(queue))
    return tuple(replace(unit, group=str(number)) for number, _, unit in dealt)


def _shuffle(written: ByReference, rng: np.random.Generator) -> dict[str, list[ContentUnit]]:
    """The same units, references and units of each in random order."""
    names = list(written)
    return {
        name: [written[name][i] for i in rng.permutation(len(written[name]))]
        for name in [names[i] for i in rng.permutation(len(names))]
    }


def _in_turn(supply: ByReference) -> Iterator[ContentUnit]:
    """One unit of each reference, then a second one of each that has it, and so on."""
    for turn in range(max(map(len, supply.values()), default=0)):
        yield from (written[turn] for written in supply.values() if turn < len(written))


def _shortfalls(supply: Mapping[str, int], size: int) -> Iterator[Problem]:
    share = size // len(supply) if supply else 0
    for name, count in supply.items():
        if count < share:
            what = f"has only {count} of its share of {share} units; other references fill in"
            yield Problem(f"reference {name}", what, "warning")
    if (total := sum(supply.values())) < size:
        yield Problem("sample", f"there are only {total} units, not {size}", "warning")


# ----------------------------------------------------------------------
# The pyramid of a topic: what people, or a model, have written from its references.


@dataclass(frozen=True)
class WrittenPyramid:
    """A pyramid of written units, those to be judged in groups; every statement left out is in the notes."""

    pyramid: Pyramid
    notes: tuple[Problem, ...]
    dropped: tuple[Dropped, ...] = ()


BY_HAND = "by a manager"


def pool_units(
    topic: str,
    references: tuple[str, ...],
    written: Iterable[ContentUnit],
    *,
    name: str,
    units_per_topic: int,
    units_per_task: int,
    rng: np.random.Generator,
    keep: Collection[str] = (),
    drop: Collection[str] = (),
) -> WrittenPyramid:
    """Filter what was written, draw the units to be judged and put them into groups. What somebody wants to ``keep`` or
    ``drop``, by id, is, whatever the filter says; a statement that is dropped causes no other to be dropped."""
    filtered = _by_hand(tuple(written), keep, drop)
    notes = [
        Problem(f"topic {topic}, statement {d.unit.id}", f"dropped: {d.reason}", "warning") for d in filtered.dropped
    ]
    sample = sample_units(filtered.kept, size=units_per_topic, rng=rng, references=references)
    notes += [replace(problem, where=f"topic {topic}, {problem.where}") for problem in sample.shortfalls]
    groups = {unit.id: unit.group for unit in split_into_groups(sample.units, group_size=units_per_task, rng=rng)}
    kept = tuple(replace(unit, group=groups.get(unit.id, "")) for unit in filtered.kept)
    return WrittenPyramid(Pyramid(topic, references, kept, name), tuple(notes), filtered.dropped)


def _by_hand(written: tuple[ContentUnit, ...], keep: Collection[str], drop: Collection[str]) -> Filtered:
    filtered = filter_statements(unit for unit in written if unit.id not in drop)
    dropped = [one for one in filtered.dropped if one.unit.id not in keep]
    restored = [one.unit for one in filtered.dropped if one.unit.id in keep]
    dropped += [Dropped(unit, BY_HAND) for unit in written if unit.id in drop]
    kept = sorted([*filtered.kept, *restored], key=lambda unit: unit.id)
    return Filtered(tuple(kept), tuple(sorted(dropped, key=lambda one: one.unit.id)))
