"""The judge without a model: the share of a unit's words, weighted by rarity, whose stems the summary has.

Harnly et al. 2005 scored pyramids by shared words; rarity comes from the shipped word list, never from the texts under
evaluation. The share becomes a probability by two numbers fitted on PyrXSum (docs/explanation/judge.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pyramidion.encoder.minilm import wordpiece
from pyramidion.encoder.words import is_word, rarity, stem_code
from pyramidion.judges import Doubles, Questions, Verdicts
from pyramidion.study.judgments import Mention
from pyramidion.study.texts import Span

SLOPE, CONSTANT = 6.0, -4.3
"""Log-odds of "present" = SLOPE x share + CONSTANT: maximum likelihood on PyrXSum, to one decimal."""
THRESHOLD = 0.36
"""The threshold with the greatest F of "present" there."""


@dataclass(frozen=True, slots=True, eq=False)
class Stems:
    """The words of a text: their stems' codes, how much each counts, and where it is."""

    codes: NDArray[np.int64]
    weights: Doubles
    spans: list[Span]

    @classmethod
    def of(cls, text: str) -> Stems:
        cut = wordpiece().words(text)
        words = [(span, pieces) for span, pieces in zip(cut.spans, cut.pieces, strict=True) if is_word(span.of(text))]
        return cls(
            np.array([stem_code(span.of(text).lower()) for span, _ in words], np.int64),
            np.array([rarity(pieces) for _, pieces in words], np.float64),
            [span for span, _ in words],
        )


class LexicalJudge:
    """``lexical``: instant, and blind to paraphrase."""

    name = "lexical"
    threshold = THRESHOLD

    def judge(self, questions: Iterable[Questions], /) -> Iterator[Verdicts]:
        for asked in questions:
            yield _verdicts([Stems.of(unit) for unit in asked.units], [Stems.of(text) for text in asked.summaries])


def _verdicts(units: list[Stems], summaries: list[Stems]) -> Verdicts:
    share = shares(units, summaries)
    wordless = np.array([not len(text.codes) for text in summaries], bool)[None, :]
    wordless = wordless | np.array([not len(unit.codes) for unit in units], bool)[:, None]
    probability = np.where(wordless, 0.0, 1.0 / (1.0 + np.exp(-(SLOPE * share + CONSTANT))))

    def evidence(unit: int, summary: int) -> Mention:
        hits = np.flatnonzero(np.isin(summaries[summary].codes, units[unit].codes))
        return tuple(summaries[summary].spans[place] for place in hits.tolist())

    return Verdicts(probability, evidence)


def shares(units: list[Stems], summaries: list[Stems]) -> Doubles:
    """Units x summaries: how much of each unit's weight the summary has."""
    codes = np.concatenate([np.zeros(0, np.int64), *(unit.codes for unit in units)])
    weights = np.concatenate([np.zeros(0), *(unit.weights for unit in units)])
    of_unit = np.repeat(np.arange(len(units)), [len(unit.codes) for unit in units])
    total = np.maximum(np.bincount(of_unit, weights, minlength=len(units)), 1e-12)
    share = np.zeros((len(units), len(summaries)))
    for column, summary in enumerate(summaries):
        share[:, column] = np.bincount(of_unit, weights * np.isin(codes, summary.codes), minlength=len(units)) / total
    return share
