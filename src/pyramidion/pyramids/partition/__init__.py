"""The result of a partitioner: units that cover every sentence of every reference by exactly one segmentation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from pyramidion.encoder.sentences import SentenceId, Untouched, left_over
from pyramidion.pyramids.graph import SimilarityGraph

Nodes = tuple[int, ...]


class Unit(NamedTuple):
    """A content unit: the segments that contribute to it (numbers in the caller's order), one per reference."""

    members: tuple[int, ...]
    attraction: float

    @property
    def weight(self) -> int:
        return len(self.members)


@dataclass(frozen=True)
class Partition:
    """A pyramid in terms of segments.

    Units come heaviest and most attractive first. ``segmentations`` says how each sentence was cut, ``objective`` is
    what the partitioner maximises, ``proven`` whether nothing can be better.
    """

    units: tuple[Unit, ...]
    segmentations: Mapping[SentenceId, int]
    objective: float
    proven: bool
    notes: tuple[str, ...] = ()


class Partitioner(Protocol):
    def __call__(self, graph: SimilarityGraph, *, untouched: Untouched = "whole") -> Partition:
        """Further keyword arguments are the partitioner's own."""
        ...


def assemble(
    graph: SimilarityGraph,
    chosen: Iterable[Nodes],
    *,
    untouched: Untouched,
    objective: float | None = None,
    proven: bool,
    notes: Sequence[str] = (),
) -> Partition:
    """Add the single segments to the chosen units of two and more, and use the caller's numbering. The default
    objective is the paper's AP."""
    shared = list(chosen)
    cut = _segmentations(graph, shared, untouched)
    used = {node for unit in shared for node in unit}
    singles = [
        (node,)
        for node in range(len(graph.order))
        if node not in used and cut[graph.sentence_of[node]] == graph.segmentation_of[node]
    ]
    units = [(nodes, graph.attraction(nodes)) for nodes in [*shared, *singles]]
    units.sort(key=lambda unit: (-len(unit[0]), -unit[1], unit[0]))
    named = tuple(Unit(tuple(int(graph.order[i]) for i in nodes), attraction) for nodes, attraction in units)
    return Partition(
        named,
        {sentence: cut[i] for i, sentence in enumerate(graph.sentences)},
        attraction_of_pyramid(named) if objective is None else objective,
        proven,
        (*graph.notes, *notes),
    )


def attraction_of_pyramid(units: Iterable[Unit]) -> float:
    """AP: the mean attraction of each weight class, summed over the classes (Gao et al. 2019, figure 5)."""
    classes: dict[int, list[float]] = defaultdict(list)
    for unit in units:
        classes[unit.weight].append(unit.attraction)
    return sum(sum(members) / len(members) for members in classes.values())


def leaves_a_single(graph: SimilarityGraph, chosen: Sequence[Nodes]) -> bool:
    """Whether the chosen units leave a segment of a segmentation they need, or a whole sentence, alone."""
    used = {node for unit in chosen for node in unit}
    cut = {int(graph.sentence_of[node]): int(graph.segmentation_of[node]) for node in used}
    if len(cut) < len(graph.sentences):
        return True
    pairs = zip(graph.sentence_of.tolist(), graph.segmentation_of.tolist(), strict=True)
    needed = [sentence for sentence, segmentation in pairs if cut[sentence] == segmentation]
    return len(needed) > len(used)


def _segmentations(graph: SimilarityGraph, chosen: Iterable[Nodes], untouched: Untouched) -> dict[int, int]:
    """The segmentation of each sentence, by number."""
    sizes: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for sentence, segmentation in zip(graph.sentence_of.tolist(), graph.segmentation_of.tolist(), strict=True):
        sizes[sentence][segmentation] += 1
    cut = {}
    for sentence, counts in sizes.items():
        cuts = sorted(counts)
        cut[sentence] = cuts[left_over([counts[segmentation] for segmentation in cuts], untouched)]
    for unit in chosen:
        for node in unit:
            cut[int(graph.sentence_of[node])] = int(graph.segmentation_of[node])
    return cut
