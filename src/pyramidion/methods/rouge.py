"""ROUGE: Lin 2004. N-gram and longest-common-subsequence overlap by rouge-score; skip-bigrams (SU4) are ours.

SU4 counts unigrams and pairs of words with at most four words between them. Tokens and stems are rouge-score's. With
several references the score is the mean over them ("average"), the best one ("best"), or ROUGE's jackknife: the mean
over leaving each reference out of the best of the others, which makes peers and held-out humans comparable.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, get_args

from rouge_score import rouge_scorer
from rouge_score.tokenizers import DefaultTokenizer, Tokenizer

from pyramidion.errors import Problem, Problems, check_choice
from pyramidion.methods.missing import unscored
from pyramidion.model import Score, ScoreTable, Signature, Study, Summary

Combine = Literal["average", "best", "jackknife"]
Tokens = Literal["ascii", "unicode"]

_VARIANTS = {"rouge-1": "rouge1", "rouge-2": "rouge2", "rouge-l": "rougeL", "rouge-su4": None}
_PARTS = ("recall", "precision", "f")
MEASURES = tuple(f"{variant}-{part}" for variant in _VARIANTS for part in _PARTS)
DEFAULT = tuple(f"{variant}-recall" for variant in _VARIANTS)
MAX_GAP = 4


class Overlap(NamedTuple):
    recall: float
    precision: float
    f: float


class _Cached(Tokenizer):  # type: ignore[misc]  # rouge-score has no types
    """Every text is tokenized once, however many texts it is compared with."""

    def __init__(self, tokenizer: Callable[[str], list[str]]) -> None:
        self._tokenize = tokenizer
        self._known: dict[str, list[str]] = {}

    def tokenize(self, text: str) -> list[str]:
        if text not in self._known:
            self._known[text] = self._tokenize(text)
        return self._known[text]


def _tokenizer(tokens: Tokens, stem: bool) -> _Cached:
    if tokens == "ascii":
        return _Cached(DefaultTokenizer(use_stemmer=stem).tokenize)
    return _Cached(_unicode_words)


def _unicode_words(text: str) -> list[str]:
    """Runs of letters, digits and the marks that combine with them, in one spelling of equal characters."""
    kept = (c if unicodedata.category(c)[0] in "LNM" else " " for c in unicodedata.normalize("NFC", text.lower()))
    return "".join(kept).split()


def skip_bigrams(tokens: Sequence[str], *, max_gap: int = MAX_GAP) -> Counter[tuple[str, ...]]:
    """Unigrams and ordered pairs with at most ``max_gap`` words between them, with counts."""
    found: Counter[tuple[str, ...]] = Counter((token,) for token in tokens)
    for i, first in enumerate(tokens):
        found.update((first, second) for second in tokens[i + 1 : i + 2 + max_gap])
    return found


def skip_bigram_overlap(reference: Counter[tuple[str, ...]], peer: Counter[tuple[str, ...]]) -> Overlap:
    shared = (reference & peer).total()
    recall = shared / reference.total() if reference else 0.0
    precision = shared / peer.total() if peer else 0.0
    return Overlap(recall, precision, 2 * recall * precision / (recall + precision) if shared else 0.0)


class _Rouge:
    """Compares one text with another by the wanted variants."""

    def __init__(self, variants: Sequence[str], tokenizer: _Cached) -> None:
        self._tokenizer = tokenizer
        self._named = {variant: name for variant in variants if (name := _VARIANTS[variant])}
        self._su4 = "rouge-su4" in variants
        self._scorer = rouge_scorer.RougeScorer(list(self._named.values()), tokenizer=tokenizer)
        self._pairs: dict[str, Counter[tuple[str, ...]]] = {}

    def __call__(self, reference: str, peer: str) -> dict[str, Overlap]:
        scores = self._scorer.score(reference, peer)
        found = {
            variant: Overlap(scores[name].recall, scores[name].precision, scores[name].fmeasure)
            for variant, name in self._named.items()
        }
        if self._su4:
            found["rouge-su4"] = skip_bigram_overlap(self._skip_bigrams(reference), self._skip_bigrams(peer))
        return found

    def _skip_bigrams(self, text: str) -> Counter[tuple[str, ...]]:
        if text not in self._pairs:
            self._pairs[text] = skip_bigrams(self._tokenizer.tokenize(text))
        return self._pairs[text]


def over_references(values: Sequence[float], how: Combine) -> float:
    """One score from the scores against several references."""
    if how == "average":
        return sum(values) / len(values)
    if how == "best" or len(values) == 1:
        return max(values)
    best_of_others = [max(*values[:i], *values[i + 1 :], 0.0) for i in range(len(values))]
    return sum(best_of_others) / len(best_of_others)


def score(
    study: Study,
    *,
    measures: Sequence[str] | None = None,
    combine: Combine = "average",
    stem: bool = True,
    tokens: Tokens = "ascii",
    track: Callable[[Sequence[Summary]], Iterable[Summary]] = iter,
) -> ScoreTable:
    """Score every peer against the references of its topic by word overlap. ``track`` may show progress."""
    names = tuple(measures or DEFAULT)
    for name in names:
        check_choice("rouge measure", name, MEASURES)
    check_choice("combine", combine, get_args(Combine))
    check_choice("tokens", tokens, get_args(Tokens))
    parts = {name: name.rsplit("-", 1) for name in names}
    compare = _Rouge(sorted({variant for variant, _ in parts.values()}), _tokenizer(tokens, stem))
    references: dict[str, list[str]] = {}
    for reference in study.references:
        references.setdefault(reference.topic, []).append(reference.text)
    problems = Problems()
    scores: list[Score] = []
    for peer in track(sorted(study.peers, key=lambda p: (p.topic, p.system, p.text))):
        overlaps = [compare(text, peer.text) for text in sorted(references.get(peer.topic, ()))]
        for name, (variant, part) in parts.items():
            against = [getattr(overlap[variant], part) for overlap in overlaps]
            scores.append(Score(peer.topic, peer.system, name, _combined(against, combine)))
    problems.extend(_without_references(study, references))
    if tokens == "ascii":
        problems.extend(_not_latin(study))
    problems.extend(unscored(study, scores))
    signature = Signature.of("rouge", combine=combine, stem=stem and tokens == "ascii", tokens=tokens)
    return ScoreTable.of_summaries(scores, signature, problems)


def _combined(values: Sequence[float], how: Combine) -> float | None:
    return over_references(values, how) if values else None


def _without_references(study: Study, references: dict[str, list[str]]) -> Iterator[Problem]:
    for topic in study.topics:
        if topic.id not in references:
            yield Problem(f"topic {topic.id}", "has no references, so its peers have no ROUGE score", "warning")


def _not_latin(study: Study) -> Iterator[Problem]:
    """rouge-score keeps only a-z and 0-9: other scripts would silently score 0."""
    for summary in study.summaries:
        letters = sum(character.isalpha() for character in summary.text)
        kept = sum(len(token) for token in re.findall(r"[a-z]+", summary.text.lower()))
        if letters and kept < letters / 2:
            yield Problem(
                f"topic {summary.topic}, {summary.role} {summary.system}",
                "is mostly outside a-z, which this tokenizer drops; use tokens unicode",
                "warning",
            )
