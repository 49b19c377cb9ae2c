"""ROUGE: Lin 2004. Overlap of n-grams, of the longest common subsequence, and of skip-bigrams (SU4).

Tokens, stems and numbers are rouge-score's, to the last bit, if it has the variant; counting a reference once for all
its peers and finding the subsequence by whole words of bits (Hyyro 2004, "Bit-parallel LCS-length computation
revisited") makes it many times faster. SU4 counts unigrams and pairs of words with at most four words between them.
With several references the score is the mean over them ("average"), the best one ("best"), or ROUGE's jackknife: the
mean over leaving each reference out of the best of the others, which makes peers and held-out humans comparable. A peer
that is itself a reference is compared with the others only; under the jackknife that is the best of the others.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Literal, NamedTuple, get_args

from pyramidion.encoder import stems
from pyramidion.errors import Problem, Problems, check_choice
from pyramidion.scoring.choice import own_references, scored_by_others, unscored
from pyramidion.study import Score, ScoreTable, Signature, Study, Summary

Combine = Literal["average", "best", "jackknife"]
Tokens = Literal["ascii", "unicode"]

_VARIANTS = ("rouge-1", "rouge-2", "rouge-l", "rouge-su4")
_PARTS = ("recall", "precision", "f")
MEASURES = tuple(f"{variant}-{part}" for variant in _VARIANTS for part in _PARTS)
DEFAULT = tuple(f"{variant}-recall" for variant in _VARIANTS)
MAX_GAP = 4


class Overlap(NamedTuple):
    recall: float
    precision: float
    f: float


Grams = Counter[tuple[str, ...]]


def _tokenizer(tokens: Tokens, stem: bool) -> Callable[[str], list[str]]:
    if tokens == "unicode":
        return _unicode_words
    return _stems if stem else _ascii_words


def _ascii_words(text: str) -> list[str]:
    """Runs of a-z and 0-9, as rouge-score has them."""
    return re.findall("[a-z0-9]+", text.lower())


def _stems(text: str) -> list[str]:
    """As rouge-score, words of three letters stay as they are."""
    return [stems.stem(word) if len(word) > 3 else word for word in _ascii_words(text)]


def _unicode_words(text: str) -> list[str]:
    """Runs of letters, digits and the marks that combine with them, in one spelling of equal characters."""
    kept = (c if unicodedata.category(c)[0] in "LNM" else " " for c in unicodedata.normalize("NFC", text.lower()))
    return "".join(kept).split()


def n_grams(tokens: Sequence[str], n: int) -> Grams:
    return Counter(zip(*(tokens[i:] for i in range(n)), strict=False))


def skip_bigrams(tokens: Sequence[str], *, max_gap: int = MAX_GAP) -> Grams:
    """Unigrams and ordered pairs with at most ``max_gap`` words between them, with counts."""
    grams: Grams = Counter((token,) for token in tokens)
    for i, first in enumerate(tokens):
        grams.update((first, second) for second in tokens[i + 1 : i + 2 + max_gap])
    return grams


def overlap(shared: int, reference: int, peer: int) -> Overlap:
    """The overlap as a share of the reference and of the peer."""
    recall = shared / reference if reference else 0.0
    precision = shared / peer if peer else 0.0
    return Overlap(recall, precision, 2 * precision * recall / (precision + recall) if shared else 0.0)


def common_subsequence(places: Mapping[str, int], size: int, tokens: Iterable[str]) -> int:
    """The length of the longest common subsequence; ``places`` has a bit for each place of a token in the reference."""
    whole = (1 << size) - 1
    free = whole
    for token in tokens:
        if here := free & places.get(token, 0):
            free = (free + here | free - here) & whole
    return size - free.bit_count()


class _Text:
    """A text as the variants see it, each form made when it is first needed."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self._grams: dict[str, tuple[Grams, int]] = {}
        self._places: dict[str, int] = {}

    def grams(self, variant: str) -> tuple[Grams, int]:
        """The n-grams or skip-bigrams, and how many there are."""
        if variant not in self._grams:
            grams = skip_bigrams(self.tokens) if variant == "rouge-su4" else n_grams(self.tokens, int(variant[-1]))
            self._grams[variant] = grams, grams.total()
        return self._grams[variant]

    @property
    def places(self) -> dict[str, int]:
        if not self._places:
            for place, token in enumerate(self.tokens):
                self._places[token] = self._places.get(token, 0) | 1 << place
        return self._places

    def overlap(self, peer: _Text, variant: str) -> Overlap:
        """The share of this reference that a peer has, and of the peer that this reference has."""
        if variant == "rouge-l":
            size = len(self.tokens)
            return overlap(common_subsequence(self.places, size, peer.tokens), size, len(peer.tokens))
        (mine, size), (theirs, peer_size) = self.grams(variant), peer.grams(variant)
        return overlap(sum(min(n, theirs[gram]) for gram, n in mine.items() if gram in theirs), size, peer_size)


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
    own: Mapping[tuple[str, str], str] | None = None,
    track: Callable[[Sequence[Summary]], Iterable[Summary]] = iter,
) -> ScoreTable:
    """Score every peer against the references of its topic by word overlap. ``own`` says which reference each human
    peer is, by default the one with the same text. ``track`` may show progress."""
    names = tuple(measures or DEFAULT)
    for name in names:
        check_choice("rouge measure", name, MEASURES)
    check_choice("combine", combine, get_args(Combine))
    check_choice("tokens", tokens, get_args(Tokens))
    parts = {name: name.rsplit("-", 1) for name in names}
    variants = sorted({variant for variant, _ in parts.values()})
    words = _tokenizer(tokens, stem)
    references: dict[str, list[Summary]] = {}
    for reference in sorted(study.references, key=lambda r: (r.topic, r.text)):
        references.setdefault(reference.topic, []).append(reference)
    own = own_references(study) if own is None else own
    problems = Problems()
    scores: list[Score] = []
    ordered = track(sorted(study.peers, key=lambda p: (p.topic, p.system, p.text)))
    for topic, peers in groupby(ordered, key=lambda peer: peer.topic):
        texts = [(reference.system, _Text(words(reference.text))) for reference in references.get(topic, ())]
        for peer in peers:
            mine, text = own.get((topic, peer.system)), _Text(words(peer.text))
            others = [reference for name, reference in texts if name != mine]
            overlaps = {variant: [other.overlap(text, variant) for other in others] for variant in variants}
            how = "best" if combine == "jackknife" and mine else combine
            for name, (variant, part) in parts.items():
                against = [getattr(each, part) for each in overlaps[variant]]
                scores.append(Score(topic, peer.system, name, over_references(against, how) if against else None))
    problems.extend(_without_references(study, references))
    alone = {topic for topic, texts in references.items() if len(texts) == 1}
    problems.extend(scored_by_others(own, alone))
    if tokens == "ascii":
        problems.extend(_not_latin(study))
    problems.extend(unscored(study, scores))
    signature = Signature.of("rouge", combine=combine, stem=stem and tokens == "ascii", tokens=tokens)
    return ScoreTable.of_summaries(scores, signature, problems)


def _without_references(study: Study, references: Mapping[str, object]) -> Iterator[Problem]:
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
                "is mostly outside a-z, which this tokenizer drops; use --tokens unicode",
                "warning",
            )
