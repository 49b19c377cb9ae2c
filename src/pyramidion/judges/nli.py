"""Any entailment model as a judge: a unit is present if the summary entails it. Zhang and Bansal 2021 (Lite2Pyramid).

The summary is the premise, the unit the hypothesis, the probability of entailment the answer. A summary longer than the
model can read is read in windows of whole sentences that overlap by one; the best window counts. One pass for each pair
(and window): much slower than `align`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from pyramidion.encoder.minilm import session_of
from pyramidion.encoder.sentences import sentence_spans
from pyramidion.errors import UsageError, needs_extra
from pyramidion.judges import Doubles, Questions, Verdicts
from pyramidion.study.judgments import Mention
from pyramidion.study.texts import Span

# ----------------------------------------------------------------------
# Entailment models for the judge `nli`: by onnxruntime, which the core has, or by transformers and torch.

BATCH = 16
SLACK = 16
"""Tokens kept free: the signs around and between the texts, and RoBERTa's reserved positions."""


class Entailment(Protocol):
    """What the judge needs of a model."""

    longest: int
    """Tokens of premise and hypothesis together."""

    def tokens(self, text: str) -> int: ...

    def probability(self, pairs: Sequence[tuple[str, str]]) -> Doubles:
        """That each premise entails its hypothesis."""
        ...


def load(model: str, threads: int | None = None) -> Entailment:
    """A folder with an ONNX file needs no torch; everything else is left to transformers."""
    for name in ("model.onnx", "onnx/model.onnx"):
        if (Path(model) / name).is_file():
            return OnnxEntailment(Path(model), name, threads)
    return TransformersEntailment(model, threads)


class OnnxEntailment:
    """A folder as `optimum-cli export onnx` writes it: the model, tokenizer.json and config.json."""

    def __init__(self, folder: Path, file: str = "model.onnx", threads: int | None = None) -> None:
        with needs_extra("judge nli with an ONNX model", "nli-onnx"):
            from tokenizers import Tokenizer
        try:
            config = json.loads((folder / "config.json").read_text("utf-8"))
            self._tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
            self._session: Any = session_of(folder / file, threads or 0)
        except Exception as error:  # tokenizers and onnxruntime raise bare exceptions
            raise _cannot_be_loaded(str(folder), error) from None
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._inputs = {given.name for given in self._session.get_inputs()}
        self._pad = config.get("pad_token_id") or 0
        self._class = entailment_class(str(folder), {int(k): v for k, v in config.get("id2label", {}).items()})
        self.longest = min(config.get("max_position_embeddings") or 512, 4096) - SLACK

    def tokens(self, text: str) -> int:
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def probability(self, pairs: Sequence[tuple[str, str]]) -> Doubles:
        encoded = self._tokenizer.encode_batch(list(pairs))
        probability = np.zeros(len(pairs))
        for places in _batches([len(each.ids) for each in encoded]):
            longest = max(len(encoded[place].ids) for place in places)
            inputs = {
                "input_ids": np.full((len(places), longest), self._pad, np.int64),
                "attention_mask": np.zeros((len(places), longest), np.int64),
                "token_type_ids": np.zeros((len(places), longest), np.int64),
            }
            for row, place in enumerate(places):
                size = len(encoded[place].ids)
                inputs["input_ids"][row, :size] = encoded[place].ids
                inputs["attention_mask"][row, :size] = 1
                inputs["token_type_ids"][row, :size] = encoded[place].type_ids
            wanted = {name: array for name, array in inputs.items() if name in self._inputs}
            logits = np.asarray(self._session.run(None, wanted)[0], np.float64)
            weights = np.exp(logits - logits.max(1, keepdims=True))
            probability[places] = weights[:, self._class] / weights.sum(1)
        return probability


class TransformersEntailment:
    """A sequence classifier of Hugging Face with a class for entailment."""

    def __init__(self, model: str, threads: int | None = None) -> None:
        self._torch, transformers = _installed()
        if threads:
            self._torch.set_num_threads(threads)
        try:
            self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(model)
            self._classifier: Any = transformers.AutoModelForSequenceClassification.from_pretrained(model)
        except (OSError, ValueError) as error:
            raise _cannot_be_loaded(model, error) from None
        self._classifier.eval()
        self._class = entailment_class(model, self._classifier.config.id2label)
        positions = getattr(self._classifier.config, "max_position_embeddings", None) or 512
        self.longest = min(self._tokenizer.model_max_length, positions, 4096) - SLACK

    def tokens(self, text: str) -> int:
        return len(self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])

    def probability(self, pairs: Sequence[tuple[str, str]]) -> Doubles:
        probability = np.zeros(len(pairs))
        for places in _batches([len(premise) for premise, _ in pairs]):
            premises, hypotheses = zip(*(pairs[place] for place in places), strict=True)
            inputs = self._tokenizer(list(premises), list(hypotheses), padding=True, return_tensors="pt")
            with self._torch.inference_mode():
                logits = self._classifier(**inputs).logits
            probability[places] = logits.softmax(-1)[:, self._class].numpy()
        return probability


def _batches(sizes: Sequence[int]) -> list[list[int]]:
    """Places in batches of similar size."""
    order = sorted(range(len(sizes)), key=sizes.__getitem__)
    return [order[start : start + BATCH] for start in range(0, len(order), BATCH)]


def _installed() -> tuple[Any, Any]:
    with needs_extra("judge nli", "nli"):
        import torch
        import transformers
    return torch, transformers


def _cannot_be_loaded(model: str, error: Exception) -> UsageError:
    reason = str(error).strip().split("\n")[0]
    what = "give a folder with its weights, or a name on the Hugging Face hub where the network reaches it"
    return UsageError(f"nli:{model} cannot be loaded ({reason}); {what}")


def entailment_class(model: str, labels: dict[int, str]) -> int:
    for number, label in labels.items():
        if label.lower() in {"entailment", "entail", "entails", "entailed", "yes"}:
            return int(number)
    raise UsageError(f"nli:{model} is not an entailment model: its classes are {', '.join(labels.values())}")


class NliJudge:
    """``nli:MODEL``, a folder or a name on the Hugging Face hub. The model is loaded when the first question comes."""

    threshold = 0.5
    expressed, perhaps = threshold, threshold / 2
    """Nobody has measured where any such model errs; half of what it takes to be sure is worth asking about."""

    def __init__(self, model: str, *, entailment: Entailment | None = None, threads: int | None = None) -> None:
        self.name, self._model, self._given, self._threads = f"nli:{model}", model, entailment, threads

    @property
    def made_of(self) -> str:
        """The files of a model in a folder, which may be replaced by another's."""
        files = sorted(path for path in Path(self._model).glob("*") if path.is_file())
        return repr([(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in files])

    @cached_property
    def _entailment(self) -> Entailment:
        return self._given or load(self._model, self._threads)

    def judge(self, questions: Iterable[Questions], /) -> Iterator[Verdicts]:
        for asked in questions:
            yield self._verdicts(asked)

    def _verdicts(self, asked: Questions) -> Verdicts:
        probability = np.zeros((len(asked.units), len(asked.summaries)))
        where = np.full(probability.shape, -1)
        longest = max((self._entailment.tokens(unit) for unit in asked.units), default=0)
        windows = [self._windows(text, longest) for text in asked.summaries]
        for column, (text, spans) in enumerate(zip(asked.summaries, windows, strict=True)):
            rows = [row for row, unit in enumerate(asked.units) if unit.strip() and spans]
            pairs = [(window.of(text), asked.units[row]) for row in rows for window in spans]
            if pairs:
                answers = self._entailment.probability(pairs).reshape(len(rows), len(spans))
                probability[rows, column], where[rows, column] = answers.max(1), answers.argmax(1)

        def evidence(unit: int, summary: int) -> Mention:
            """The window that expresses the unit: a whole-text model cannot be more precise."""
            return (windows[summary][where[unit, summary]],) if where[unit, summary] >= 0 else ()

        return Verdicts(probability, evidence)

    def _windows(self, text: str, hypothesis: int) -> list[Span]:
        room = self._entailment.longest - hypothesis
        if room < 16:
            raise UsageError(f"{self.name} reads {self._entailment.longest} tokens, too few for units of {hypothesis}")
        spans = [piece for span in sentence_spans(text) for piece in self._fitting(text, span, room)]
        ends = [0, *(span.end for span in spans)]
        # With what is before it, since many tokenizers count spaces and line breaks.
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
