"""Train WTMF on one's own texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pyramidion.encoder.sentences import sentence_spans
from pyramidion.errors import Problems, UsageError
from pyramidion.formats.files import read_lines, read_text

if TYPE_CHECKING:
    from pyramidion.pyramids.wtmf import WtmfModel


def train_wtmf(
    corpus: Path,
    target: Path,
    *,
    dimensions: int = 100,
    rounds: int = 20,
    absent_weight: float = 0.01,
    regularisation: float = 20.0,
    min_count: int = 2,
    seed: int = 0,
    progress: Callable[[int, float], None] = lambda _round, _loss: None,
) -> WtmfModel:
    """Learn from a file with one text a line, or from the sentences of a folder's .txt files; write the model."""
    from pyramidion.pyramids.wtmf import train

    if not corpus.exists():
        raise UsageError(f"{corpus} does not exist")
    model = train(
        corpus_texts(corpus),
        rng=np.random.default_rng(seed),
        dimensions=dimensions,
        absent_weight=absent_weight,
        regularisation=regularisation,
        rounds=rounds,
        min_count=min_count,
        progress=progress,
    )
    target.parent.mkdir(parents=True, exist_ok=True)
    model.save(target)
    return model


def corpus_texts(corpus: Path) -> Iterator[str]:
    """Texts one at a time; lines and files that are not UTF-8 are left out."""
    problems = Problems()
    if corpus.is_file():
        yield from (line for _, line in read_lines(corpus, problems) if line.strip())
        return
    for file in sorted(corpus.rglob("*.txt")):
        text = read_text(file, problems) or ""
        yield from (span.of(text) for span in sentence_spans(text))
