"""Judges that are programs: is this unit in this summary? One port, and four ways to answer.

``align`` is the embedded model, ``lexical`` needs none, ``nli:MODEL`` asks any entailment model of Hugging Face,
``llm:MODEL`` any chat model behind an OpenAI-compatible endpoint. Others register as `pyramidion.judges`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pyramidion import plugins
from pyramidion.errors import UsageError
from pyramidion.study.texts import Span

# ----------------------------------------------------------------------
# What a presence judge is: questions in, probabilities out, and evidence when somebody asks for it.

Doubles = NDArray[np.float64]
Mention = tuple[Span, ...]


class Questions(NamedTuple):
    """Is each of these units in each of these summaries?"""

    units: Sequence[str]
    summaries: Sequence[str]


@dataclass(frozen=True, slots=True, eq=False)
class Verdicts:
    """Units x summaries: the probability of "present"; and, on request, where in a summary a unit is said."""

    probability: Doubles
    evidence: Callable[[int, int], Mention]


class PresenceJudge(Protocol):
    """Anything that can tell. ``threshold`` is the probability from which on a unit counts as present."""

    @property
    def name(self) -> str: ...

    @property
    def threshold(self) -> float: ...

    def judge(self, questions: Iterable[Questions], /) -> Iterator[Verdicts]:
        """One answer for each of the questions, in order; a judge may read ahead to work in batches."""
        ...


class Part(NamedTuple):
    """Some of the units of a topic and some of its summaries."""

    units: range
    summaries: range
    questions: Questions


PAIRS_OF_WORDS = 4_000_000
"""A matrix of this size takes 16 MB: memory stays flat however many units there are and however long a summary is."""
WORDS_OF_SUMMARIES = 4_000


def cut(units: Sequence[str], summaries: Sequence[str]) -> Iterator[Part]:
    """Cut a topic into parts that a judge can answer at once. Most topics are one part; texts are never cut."""
    for columns in _stretches(summaries, WORDS_OF_SUMMARIES):
        asked = summaries[columns.start : columns.stop]
        for rows in _stretches(units, PAIRS_OF_WORDS // max(1, sum(map(_size, asked)))):
            yield Part(rows, columns, Questions(units[rows.start : rows.stop], asked))


def _stretches(texts: Sequence[str], most: int) -> Iterator[range]:
    """Stretches of at most so many words, or of one text that has more."""
    first, words = 0, 0
    for place, text in enumerate(texts):
        size = _size(text)
        if place > first and words + size > most:
            yield range(first, place)
            first, words = place, 0
        words += size
    if first < len(texts):
        yield range(first, len(texts))


def _size(text: str) -> int:
    """About as many words as it has; letters without spaces between them may be a word each."""
    return max(1, len(text) // 6 if text.isascii() else len(text) // 2)


def make_judge(spec: str, options: Mapping[str, Any] | None = None) -> PresenceJudge:
    """The judge a name stands for: ``align``, or with its model ``nli:roberta-large-mnli``."""
    name, _, model = spec.partition(":")
    factory = plugins.load("judges", name)
    accepted = inspect.signature(factory).parameters
    if strange := [option for option in options or {} if option not in accepted]:
        raise UsageError(f"judge {name} has no choice {strange[0]!r}")
    if "model" in accepted and not model:
        raise UsageError(f"judge {name} needs a model: {name}:MODEL")
    if model and "model" not in accepted:
        raise UsageError(f"judge {name} takes no model, so {spec!r} is none")
    judge: PresenceJudge = factory(**({"model": model} if model else {}), **(options or {}))
    return judge
