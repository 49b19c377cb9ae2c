"""As many summaries as one likes, made of real ones: for benchmarks of size.

A sentence here is the first half of a real one and the second half of another of the same few documents, so that hardly
any occurs twice and an encoder cannot live on what it has seen. Lengths are those of news summaries.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import pyramidion as pyr
from pyramidion.encoder.sentences import sentence_spans
from pyramidion.study import Study, Summary, Topic

POOL = 4
"""Documents whose sentences are mixed into a topic."""
SENTENCES = 3


def recombined(data: Path, *, topics: int, peers: int, references: int = 2, seed: int = 0) -> Study:
    """Topics with references and peers, always the same for the same numbers."""
    real = pyr.load(data / "realsumm-half")
    said: dict[str, dict[str, list[list[str]]]] = {}
    for summary in real.summaries:
        sentences = said.setdefault(summary.topic, {}).setdefault(summary.role, [])
        sentences += [span.of(summary.text).split() for span in sentence_spans(summary.text)]
    rng, documents = np.random.default_rng(seed), sorted(said)
    made: list[Summary] = []
    for number in range(topics):
        pool = [said[documents[place]] for place in rng.choice(len(documents), POOL, replace=False)]
        for role, many in (("reference", references), ("peer", peers)):
            mixed = [words for document in pool for words in document[role] if len(words) > 3]
            for place in range(many):
                name = f"{role}-{place + 1}"
                made.append(Summary(f"t{number + 1:05}", name, _text(mixed, rng), role))  # type: ignore[arg-type]
    return Study(tuple(Topic(f"t{number + 1:05}") for number in range(topics)), tuple(made))


def _text(sentences: list[list[str]], rng: np.random.Generator) -> str:
    halves = [sentences[place] for place in rng.integers(len(sentences), size=2 * SENTENCES)]
    pairs = zip(halves[::2], halves[1::2], strict=True)
    return " ".join(" ".join([*one[: len(one) // 2], *two[len(two) // 2 :]]) for one, two in pairs)
