"""Small references with alternatives, and similarities for them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import strategies as st

from pyramidion.encoder.sentences import Clause, Segment, SegmentedText, Sentence
from pyramidion.pyramids.graph import SimilarityGraph
from pyramidion.study.texts import Span

Layout = list[list[list[int]]]
"""References > sentences > how many segments each segmentation has."""


def text_of(name: str, sentences: list[list[int]]) -> SegmentedText:
    """A text whose clauses are called by reference and place, so that no two texts are alike."""
    return SegmentedText(
        name,
        tuple(
            Sentence(
                Span(i, i + 1),
                tuple(
                    tuple(Clause((Span(i, i + 1),), f"{name}{i}{cut}{place}") for place in range(size))
                    for cut, size in enumerate(sizes)
                ),
            )
            for i, sizes in enumerate(sentences)
        ),
    )


def segments_of(layout: Layout) -> list[Segment]:
    names = [chr(ord("A") + i) for i in range(len(layout))]
    texts = [text_of(name, sentences) for name, sentences in zip(names, layout, strict=True)]
    return [segment for name, text in zip(names, texts, strict=True) for segment in text.segments(name)]


def random_similarity(size: int, rng: np.random.Generator, *, levels: int = 1000) -> np.ndarray:
    """Symmetric, between 0 and 1; with few levels there are many ties."""
    upper = np.triu(rng.integers(0, levels + 1, size=(size, size)) / levels, 1)
    return upper + upper.T + np.eye(size)


def random_graph(layout: Layout, rng: np.random.Generator, *, levels: int = 1000, **choices: float) -> SimilarityGraph:
    segments = segments_of(layout)
    return SimilarityGraph.of(segments, random_similarity(len(segments), rng, levels=levels), **choices)  # type: ignore[arg-type]


cuts = st.sampled_from([[1], [1], [1, 2], [1, 2, 2], [1, 3]])
layouts = st.lists(st.lists(cuts, min_size=1, max_size=2), min_size=1, max_size=4)
BRUTE = 24  # candidates: more would take brute force too long


@st.composite
def graphs(draw: st.DrawFn) -> SimilarityGraph:
    """A few references with one or two sentences each."""
    layout = draw(layouts)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return random_graph(
        layout, rng, levels=draw(st.sampled_from([2, 5, 1000])), percentile=draw(st.sampled_from([50.0, 70.0, 83.0]))
    )


small_graphs = graphs().filter(lambda graph: graph.cliques.count <= BRUTE)


def pyramids(graph: SimilarityGraph) -> list[list[tuple[int, ...]]]:
    """Brute force: every set of compatible candidate units (the single segments follow from it)."""
    candidates = [tuple(row) for size in graph.cliques.sizes for row in graph.cliques.members[size].tolist()]
    clash = {(a, b) for a, b in combinations(candidates, 2) if graph.excludes[np.ix_(a, b)].any()}

    def extend(chosen: list[tuple[int, ...]], start: int) -> list[list[tuple[int, ...]]]:
        found = [chosen]
        for i in range(start, len(candidates)):
            if not any((unit, candidates[i]) in clash for unit in chosen):
                found += extend([*chosen, candidates[i]], i + 1)
        return found

    return extend([], 0)
