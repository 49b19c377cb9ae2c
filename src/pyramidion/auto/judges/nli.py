"""Any entailment model as a judge: present is what the summary entails. Zhang and Bansal 2021 (Lite2Pyramid).

The summary is the premise, the unit the hypothesis, the probability of entailment the answer. A summary longer than the
model can read is read in windows of whole sentences that overlap by one; the best window counts. One pass for each pair
(and window): slow where `align` is quick.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np

from pyramidion.auto.judges.base import Mention, Questions, Verdicts
from pyramidion.auto.judges.entailment import Entailment, load
from pyramidion.errors import UsageError
from pyramidion.methods.sentences import sentence_spans
from pyramidion.model.texts import Span


class NliJudge:
    """``nli:MODEL``, a folder or a name on the Hugging Face hub. The model is loaded when the first question comes."""

    threshold = 0.5

    def __init__(self, model: str, *, entailment: Entailment | None = None) -> None:
        self.name, self._model, self._given = f"nli:{model}", model, entailment

    @cached_property
    def _entailment(self) -> Entailment:
        return self._given or load(self._model)

    def judge(self, questions: Iterable[Questions], /) -> Iterator[Verdicts]:
        for asked in questions:
            yield self._verdicts(asked)

    def _verdicts(self, asked: Questions) -> Verdicts:
        probability = np.zeros((len(asked.units), len(asked.summaries)))
        where = np.full(probability.shape, -1)
        longest = max((self._entailment.tokens(unit) for unit in asked.units), default=0)
        windows = [self._windows(text, longest) for text in asked.summaries]
        for column, (text, found) in enumerate(zip(asked.summaries, windows, strict=True)):
            rows = [row for row, unit in enumerate(asked.units) if unit.strip() and found]
            pairs = [(window.of(text), asked.units[row]) for row in rows for window in found]
            if pairs:
                answers = self._entailment.probability(pairs).reshape(len(rows), len(found))
                probability[rows, column], where[rows, column] = answers.max(1), answers.argmax(1)

        def evidence(unit: int, summary: int) -> Mention:
            """The window that says it: the best that a whole-text model can tell."""
            return (windows[summary][where[unit, summary]],) if where[unit, summary] >= 0 else ()

        return Verdicts(probability, evidence)

    def _windows(self, text: str, hypothesis: int) -> list[Span]:
        room = self._entailment.longest - hypothesis
        if room < 16:
            raise UsageError(f"{self.name} reads {self._entailment.longest} tokens, too few for units of {hypothesis}")
        spans = [piece for span in sentence_spans(text) for piece in self._fitting(text, span, room)]
        ends = [0, *(span.end for span in spans)]
        # With what stands before it, since many tokenizers count spaces and line breaks.
        sizes = [self._entailment.tokens(text[end : span.end]) for end, span in zip(ends, spans, strict=False)]
        return list(_joined(spans, sizes, room))

    def _fitting(self, text: str, span: Span, room: int) -> Iterator[Span]:
        """A sentence too long for the model is halved at a space, or anywhere, until its pieces fit."""
        if self._entailment.tokens(span.of(text)) <= room or span.end - span.start < 2:
            yield span
            return
        middle = (span.start + span.end) // 2
        space = text.rfind(" ", span.start + 1, middle)
        middle = space if space > span.start else middle
        yield from self._fitting(text, Span(span.start, middle), room)
        yield from self._fitting(text, Span(middle, span.end), room)


def _joined(spans: Sequence[Span], sizes: Sequence[int], room: int) -> Iterator[Span]:
    """As many sentences as fit into each window; the next one starts with the last sentence of the one before."""
    first = 0
    while first < len(spans):
        last, total = first, sizes[first]
        while last + 1 < len(spans) and total + sizes[last + 1] <= room:
            last += 1
            total += sizes[last]
        yield Span(spans[first].start, spans[last].end)
        if last + 1 == len(spans):
            return
        overlaps = last > first and sizes[last] + sizes[last + 1] <= room
        first = last if overlaps else last + 1
