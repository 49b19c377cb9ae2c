"""Any entailment model as a judge: present is what the summary entails. Zhang and Bansal 2021 (Lite2Pyramid).

The summary is the premise, the unit the hypothesis, the probability of entailment the answer. A summary longer than the
model can read is read in windows of whole sentences that overlap by one; the best window counts. One pass for each pair
(and window): slow where `align` is quick.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from pyramidion.auto.judges.base import Doubles, Mention, Questions, Verdicts
from pyramidion.errors import MissingExtraError, UsageError
from pyramidion.methods.sentences import sentence_spans
from pyramidion.model.texts import Span

BATCH = 16


class Entailment(Protocol):
    """What the judge needs of a model."""

    longest: int
    """Tokens of premise and hypothesis together."""

    def tokens(self, text: str) -> int: ...

    def probability(self, pairs: Sequence[tuple[str, str]]) -> Doubles:
        """That each premise entails its hypothesis."""
        ...


class NliJudge:
    """``nli:MODEL``, a name on the Hugging Face hub or a folder. The model is loaded when the first question comes."""

    threshold = 0.5

    def __init__(self, model: str, *, entailment: Entailment | None = None) -> None:
        self.name, self._model, self._given = f"nli:{model}", model, entailment

    @cached_property
    def _entailment(self) -> Entailment:
        return self._given or TransformersEntailment(self._model)

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


class TransformersEntailment:
    """A sequence classifier of Hugging Face with a class for entailment."""

    def __init__(self, model: str) -> None:
        self._torch, transformers = _installed()
        try:
            self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(model)
            self._classifier: Any = transformers.AutoModelForSequenceClassification.from_pretrained(model)
        except (OSError, ValueError) as error:
            reason = str(error).strip().split("\n")[0]
            what = "give a folder with its weights, or a name on the Hugging Face hub where the network reaches it"
            raise UsageError(f"nli:{model} cannot be loaded: {what} ({reason})") from None
        self._classifier.eval()
        self._class = _entailment_class(model, self._classifier.config.id2label)
        positions = getattr(self._classifier.config, "max_position_embeddings", None) or 512
        limit = min(self._tokenizer.model_max_length, positions, 4096)
        self.longest = (
            limit - 16
        )  # the signs around and between the texts, RoBERTa's reserved positions, and some slack

    def tokens(self, text: str) -> int:
        return len(self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])

    def probability(self, pairs: Sequence[tuple[str, str]]) -> Doubles:
        order = sorted(range(len(pairs)), key=lambda place: len(pairs[place][0]))  # batches of similar length
        found = np.zeros(len(pairs))
        for start in range(0, len(order), BATCH):
            places = order[start : start + BATCH]
            premises, hypotheses = zip(*(pairs[place] for place in places), strict=True)
            inputs = self._tokenizer(list(premises), list(hypotheses), padding=True, return_tensors="pt")
            with self._torch.inference_mode():
                logits = self._classifier(**inputs).logits
            found[places] = logits.softmax(-1)[:, self._class].numpy()
        return found


def _installed() -> tuple[Any, Any]:
    try:
        import torch
        import transformers
    except ImportError:
        raise MissingExtraError("judge nli", "nli") from None
    return torch, transformers


def _entailment_class(model: str, labels: dict[int, str]) -> int:
    for number, label in labels.items():
        if label.lower() in {"entailment", "entail", "entails", "entailed", "yes"}:
            return int(number)
    raise UsageError(f"nli:{model} is no entailment model: its classes are {', '.join(labels.values())}")
