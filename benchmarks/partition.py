"""How fast references become a pyramid: python benchmarks/partition.py [--write]

Similarities are those of made-up references: facts with Zipfian popularity, one to three of them in a sentence that may
be cut in two or three ways, as noisy vectors. The noise is chosen such that the number of candidate units is that of
real topics on which the released PyrEval took 358 s (EDUA-C, 4 references, 89 segments), 164 s (EDUA-G, 5, 115) and
648 s (EDUA-G, 6, 162). Times are seconds after encoding, best of three, and include finding the candidates where it
says so. Beside that, in the same run: the same cliques listed (not scored) by a plain depth-first search over Python
sets, and EDUA-X as one integer programme over all candidates, with a limit of 60 s.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from pyramidion.encoder.sentences import Clause, Segment, SegmentedText, Sentence
from pyramidion.judges import exact, wmin
from pyramidion.judges.matching import PeerMatch, WeightedUnits
from pyramidion.pyramids.graph import SimilarityGraph
from pyramidion.pyramids.partition import Partition, edua_c, edua_g, edua_x, packing
from pyramidion.study.texts import Span

TARGET = Path(__file__).parent / "results" / "partition.md"
DIMENSIONS = 100
PATIENCE = 60.0
SIZES = [(4, 89, 1_700), (5, 115, 5_718), (6, 162, 23_580), (7, 236, 93_000)]
GROWTH = range(2, 11)
CUTS: dict[int, list[list[list[int]]]] = {
    1: [[[0]]],
    2: [[[0, 1]], [[0], [1]]],
    3: [[[0, 1, 2]], [[0], [1], [2]], [[0, 1], [2]]],
}


class Made(NamedTuple):
    segments: list[Segment]
    similarity: NDArray[np.float64]


def make(references: int, segments: int, noise: float, seed: int = 0) -> Made:
    """References with this many segments in all, alternatives included."""
    rng = np.random.default_rng(seed)
    facts = 25
    fact = rng.normal(size=(facts, DIMENSIONS))
    topic = 0.5 * rng.normal(size=DIMENSIONS)
    popularity = np.arange(1, facts + 1) ** -0.7
    found: list[Segment] = []
    vectors = []
    for number in range(references):
        goal = segments * (number + 1) // references
        names, sentence = f"R{number}", 0
        while len(found) < goal:
            told = int(rng.choice([1, 2, 3], p=[0.45, 0.35, 0.2]))
            which = rng.choice(facts, size=told, replace=False, p=popularity / popularity.sum())
            clauses = fact[which] + topic + noise * rng.normal(size=(told, DIMENSIONS))
            text = SegmentedText("", (_sentence(sentence, told),))
            for segment, part in zip(text.segments(names), [part for cut in CUTS[told] for part in cut], strict=True):
                found.append(Segment(segment.id._replace(sentence=sentence), segment.spans, segment.text))
                vectors.append(clauses[part].mean(axis=0))
            sentence += 1
    unit = np.array(vectors) / np.linalg.norm(vectors, axis=1, keepdims=True)
    return Made(found, unit @ unit.T)


def _sentence(number: int, told: int) -> Sentence:
    span = Span(number, number + 1)
    cuts = (tuple(Clause((span,), f"{number} {part}") for part in cut) for cut in CUTS[told])
    return Sentence(span, tuple(cuts))


def nearest(references: int, segments: int, candidates: int) -> Made:
    """References whose number of candidates comes nearest to that asked for."""
    tried = [make(references, segments, noise, seed) for noise in np.arange(0.8, 3.0, 0.2) for seed in range(3)]
    counts = [SimilarityGraph.of(*made, max_cliques=4 * candidates).cliques.count for made in tried]
    return tried[int(np.abs(np.log(np.array(counts) / candidates)).argmin())]


def best_of(times: int, run: Callable[[], object]) -> float:
    found = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        found.append(time.perf_counter() - start)
    return min(found)


def plain_search(graph: SimilarityGraph) -> list[list[int]]:
    """The cliques by plain depth-first search over Python sets."""
    reference = np.array([node.id.summary for node in graph.nodes])
    edges = (graph.similarity >= graph.threshold) & (reference[:, None] != reference[None, :])
    later = [set(np.flatnonzero(row).tolist()) for row in np.triu(edges, 1)]
    found: list[list[int]] = []
    waiting = [([node], near) for node, near in enumerate(later)]
    while waiting:
        clique, common = waiting.pop()
        for node in common:
            found.append([*clique, node])
            waiting.append((found[-1], common & later[node]))
    return found


def one_programme(graph: SimilarityGraph) -> str:
    """EDUA-X the plain way: every candidate in one integer programme."""
    gains = [
        packing.Candidates(graph.cliques.members[size], (size - 1) * (attraction - graph.threshold + 0.001))
        for size, attraction in graph.cliques.attraction.items()
    ]
    problem = packing._Problem(graph, gains, by_class=False)
    every = np.arange(graph.cliques.count)
    start = time.perf_counter()
    found = problem._branch(every, every[:0], packing._Effort(10**6, time.monotonic() + PATIENCE))
    seconds = time.perf_counter() - start
    if not found.proven:
        return f"> {PATIENCE:.0f}"
    best = edua_x.partition(graph).objective
    assert abs(problem.value(found.columns) - best) < 1e-5, "the two must agree"
    return f"{seconds:.2f}"


def shape(found: Partition) -> str:
    count = Counter(unit.weight for unit in found.units)
    return " ".join(f"{count[weight]}" for weight in range(max(count), 0, -1))


def sizes() -> Iterable[str]:
    yield (
        "| references | segments | candidates | finding them, s | plain search, s | ratio "
        "| EDUA-C, s | EDUA-G, s | EDUA-X, s | X as one programme, s | proven C / X |"
    )
    yield "|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|"
    for references, segments, candidates in SIZES:
        made = nearest(references, segments, candidates)
        graph = SimilarityGraph.of(*made)
        finding = best_of(3, partial(SimilarityGraph.of, *made))
        peer = best_of(3, partial(plain_search, graph))
        assert len(plain_search(graph)) == graph.cliques.count, "the two must agree"
        c, g, x = (best_of(3, partial(each.partition, graph)) for each in (edua_c, edua_g, edua_x))
        proven = " / ".join("yes" if each.partition(graph).proven else "no" for each in (edua_c, edua_x))
        yield (
            f"| {references} | {len(graph.order)} | {graph.cliques.count:,} | {finding:.3f} | {peer:.2f} "
            f"| {peer / finding:.0f} | {c:.2f} | {g:.3f} | {x:.2f} | {one_programme(graph)} | {proven} |"
        )


def growth() -> Iterable[str]:
    yield (
        "| references | segments | percentile | candidates | with finding them, s: EDUA-C | EDUA-G | EDUA-X "
        "| proven C / X | units by weight, from the top (X) |"
    )
    yield "|---:|---:|---:|---:|---:|---:|---:|---|---|"
    for references in GROWTH:
        made = make(references, 50 * references, 1.3)
        graph = SimilarityGraph.of(*made)
        start = best_of(1, partial(SimilarityGraph.of, *made))
        c, g, x = (start + best_of(3, partial(each.partition, graph)) for each in (edua_c, edua_g, edua_x))
        found = edua_x.partition(graph)
        proven = " / ".join("yes" if each.proven else "no" for each in (edua_c.partition(graph), found))
        yield (
            f"| {references} | {len(graph.order)} | {graph.percentile:g} | {graph.cliques.count:,} "
            f"| {c:.2f} | {g:.2f} | {x:.2f} | {proven} | {shape(found)} |"
        )


def matching() -> Iterable[str]:
    """Peers of eight sentences against a pyramid of 60 units of five references."""
    rng = np.random.default_rng(3)
    weights = np.clip(rng.zipf(2.0, size=60), 1, 5)
    units = WeightedUnits.of(weights, np.repeat(np.arange(60), weights))
    peers = []
    for _ in range(200):
        told = rng.choice([1, 2, 3], size=8, p=[0.45, 0.35, 0.2]).tolist()
        peer = SegmentedText("", tuple(_sentence(number, each) for number, each in enumerate(told)))
        peers.append((peer, rng.beta(2, 5, size=(len(peer.clauses()), int(weights.sum()))) ** 0.7))
    yield "| matcher | threshold | peers a second | weight found, mean |"
    yield "|---|---:|---:|---:|"
    for threshold in (0.4, 0.5):
        for name, match in (("wmin", wmin.match), ("exact", exact.match)):
            run = partial(_match_all, match, units, peers, threshold)
            yield f"| {name} | {threshold} | {len(peers) / best_of(3, run):,.0f} | {run():.2f} |"


def _match_all(
    match: Callable[..., PeerMatch],
    units: WeightedUnits,
    peers: Iterable[tuple[SegmentedText, object]],
    threshold: float,
) -> float:
    found = [match(units, peer, similarity, threshold=threshold) for peer, similarity in peers]
    return float(np.mean([each.weight for each in found]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"also write {TARGET}")
    write = parser.parse_args().write
    lines = ["# From similarities to a pyramid", "", (__doc__ or "").split("\n\n", 1)[1].strip(), ""]
    more = [
        ("", sizes),
        (
            "\n## How it grows\n\n50 segments a reference. Above 500,000 candidates the percentile of t_edge is raised "
            "in whole steps until they fit:\nthe time stays bounded, and the result says so.\n",
            growth,
        ),
        ("\n## Matching\n\nPeers of eight sentences against 60 units, one process.\n", matching),
    ]
    for heading, table in more:
        lines.append(heading) if heading else None
        for row in table():
            lines.append(row)
            print(row, flush=True)
    lines += [
        "",
        f"Python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}, "
        f"{platform.system()} {platform.machine()}, 2 shared cores.",
        "",
    ]
    if write:
        TARGET.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
