"""Which statements are judged, and in which task: Shapira et al. 2019, sections 3 and 4.

All statements of a topic are pooled without merging, so a fact told by several references has more chances to be
drawn. The paper samples 32 a topic and judges them in two tasks of 16.

The paper does not say how it sampled. We draw equally from every reference, so that no reference's choice of content
weighs more because its writers wrote more, and we spread each reference evenly over the tasks. Both depend on the
generator and the ids only, never on the order in which statements come.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from pyramidion.campaigns.statements import by_reference
from pyramidion.errors import Problem, UsageError
from pyramidion.study import ContentUnit

ByReference = Mapping[str, list[ContentUnit]]


@dataclass(frozen=True, slots=True)
class Sample:
    """Units in the order of ids, in no group yet; ``shortfalls`` says which references had too few."""

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

    A remainder goes to references chosen at random. What a reference lacks comes from the others and is reported.
    ``references`` names those to draw from, so that one without any unit is missed; by default, those with units.
    """
    if size < 1:
        raise UsageError(f"a sample has at least 1 unit, not {size}")
    written = by_reference(units)
    names = sorted(set(written if references is None else references))
    supply = _shuffled({name: written.get(name, []) for name in names}, rng)
    drawn = list(_in_turn(supply))[:size]
    chosen = sorted((replace(unit, group="") for unit in drawn), key=lambda unit: unit.id)
    return Sample(tuple(chosen), tuple(_shortfalls({name: len(supply[name]) for name in names}, size)))


def split_into_groups(
    units: Iterable[ContentUnit], *, group_size: int = 16, rng: np.random.Generator
) -> tuple[ContentUnit, ...]:
    """Put every unit into one of the groups "1", "2", ...; all have the given size except perhaps the last.

    In full groups the number of units of a reference differs by at most 1; a smaller last group has its fair share.
    """
    if group_size < 1:
        raise UsageError(f"a group has at least 1 unit, not {group_size}")
    # Reference after reference: whatever takes units at even steps takes evenly from each of them.
    queue = [unit for written in _shuffled(by_reference(units), rng).values() for unit in written]
    full, rest = divmod(len(queue), group_size)
    in_last = {(2 * i + 1) * len(queue) // (2 * rest) for i in range(rest)}
    dealt = [i for i in range(len(queue)) if i not in in_last]
    number = dict.fromkeys(in_last, full + 1) | {i: turn % full + 1 for turn, i in enumerate(dealt)}
    order = sorted(range(len(queue)), key=lambda i: (number[i], queue[i].id))
    return tuple(replace(queue[i], group=str(number[i])) for i in order)


def _shuffled(written: ByReference, rng: np.random.Generator) -> dict[str, list[ContentUnit]]:
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
            what = f"has {count} units where its share is {share}; other references fill in"
            yield Problem(f"reference {name}", what, "warning")
    if (total := sum(supply.values())) < size:
        yield Problem("sample", f"there are only {total} units, not {size}", "warning")
