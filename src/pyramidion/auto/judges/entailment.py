"""Entailment models for the judge `nli`: by onnxruntime, which the core has, or by transformers and torch."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from pyramidion.auto.judges.base import Doubles
from pyramidion.errors import MissingExtraError, UsageError

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


def load(model: str) -> Entailment:
    """A folder with an ONNX file needs no torch; everything else is left to transformers."""
    for name in ("model.onnx", "onnx/model.onnx"):
        if (Path(model) / name).is_file():
            return OnnxEntailment(Path(model), name)
    return TransformersEntailment(model)


class OnnxEntailment:
    """A folder as `optimum-cli export onnx` writes it: the model, tokenizer.json and config.json."""

    def __init__(self, folder: Path, file: str = "model.onnx") -> None:
        import onnxruntime

        try:
            from tokenizers import Tokenizer
        except ImportError:
            raise MissingExtraError("judge nli with an ONNX model", "nli-onnx") from None
        try:
            config = json.loads((folder / "config.json").read_text("utf-8"))
            self._tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
            self._session: Any = onnxruntime.InferenceSession(str(folder / file), providers=["CPUExecutionProvider"])
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
        found = np.zeros(len(pairs))
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
            found[places] = weights[:, self._class] / weights.sum(1)
        return found


class TransformersEntailment:
    """A sequence classifier of Hugging Face with a class for entailment."""

    def __init__(self, model: str) -> None:
        self._torch, transformers = _installed()
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
        found = np.zeros(len(pairs))
        for places in _batches([len(premise) for premise, _ in pairs]):
            premises, hypotheses = zip(*(pairs[place] for place in places), strict=True)
            inputs = self._tokenizer(list(premises), list(hypotheses), padding=True, return_tensors="pt")
            with self._torch.inference_mode():
                logits = self._classifier(**inputs).logits
            found[places] = logits.softmax(-1)[:, self._class].numpy()
        return found


def _batches(sizes: Sequence[int]) -> list[list[int]]:
    """Places in batches of similar size."""
    order = sorted(range(len(sizes)), key=sizes.__getitem__)
    return [order[start : start + BATCH] for start in range(0, len(order), BATCH)]


def _installed() -> tuple[Any, Any]:
    try:
        import torch
        import transformers
    except ImportError:
        raise MissingExtraError("judge nli", "nli") from None
    return torch, transformers


def _cannot_be_loaded(model: str, error: Exception) -> UsageError:
    reason = str(error).strip().split("\n")[0]
    what = "give a folder with its weights, or a name on the Hugging Face hub where the network reaches it"
    return UsageError(f"nli:{model} cannot be loaded: {what} ({reason})")


def entailment_class(model: str, labels: dict[int, str]) -> int:
    for number, label in labels.items():
        if label.lower() in {"entailment", "entail", "entails", "entailed", "yes"}:
            return int(number)
    raise UsageError(f"nli:{model} is no entailment model: its classes are {', '.join(labels.values())}")
