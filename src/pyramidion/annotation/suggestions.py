"""Suggestions for an annotator: likely contributors, units that may be the same, units a peer likely expresses.

All by the embedded encoder (`pyramidion.encoder`): words in the context of their sentence, aligned to each other.
Ranked, never applied. Measured on the bundled example by hiding what the annotator did
(tests/annotation/test_suggestions.py).
"""

from __future__ import annotations

import re
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pyramidion.annotation.commands import PeerAnnotation, RefusedError
from pyramidion.study import ContentUnit, Pyramid, Span
from pyramidion.study.texts import union

if TYPE_CHECKING:  # the encoder is loaded when the first suggestion is asked for
    from pyramidion.encoder.minilm import Encoder
    from pyramidion.encoder.sentences import Clause
    from pyramidion.encoder.words import Bag
    from pyramidion.pyramids.clauses import ClauseSegmenter
    from pyramidion.pyramids.similarity import AlignSimilarity

T = TypeVar("T")
Doubles = NDArray[np.float64]
Spans = tuple[Span, ...]
MOST = 10
KEPT_TEXTS = 200
"""Number of texts whose vectors are cached, least recently used first out: about 200 MB with 250 words each."""
KEPT_LABELS = 2000
SIMILAR, SAME = 0.25, 0.3
"""Clauses and units below these are not shown. In the bundled example 19 of 20 hidden contributors are above."""
LIKELY = 0.3
"""A unit with a lower probability is not shown as expressed; the judge `align` says "present" from .34 on."""
PAUSE = re.compile(r"[.,;:!?)…]\s|[(–—]")
LINKING = frozenset(("and", "but", "or"))
PART_STARTS = LINKING | frozenset(
    ("because", "which", "who", "whose", "that", "while", "after", "before", "when", "where", "although")
)
"""Where a part of a clause may begin: after a pause, or with one of these words."""


class SuggestedContributor(NamedTuple):
    reference: str
    spans: Spans
    similarity: float


class SameUnit(NamedTuple):
    unit: str
    label: str
    similarity: float


class LikelyMatch(NamedTuple):
    unit: str
    spans: Spans
    similarity: float


@dataclass(frozen=True)
class UnitSuggestions:
    contributors: tuple[SuggestedContributor, ...]
    same: tuple[SameUnit, ...]


@dataclass(frozen=True, eq=False)
class _EncodedText:
    """A text, its words with their vectors, and its clauses with theirs."""

    text: str
    words: Bag
    clauses: tuple[tuple[Clause, Bag], ...]

    def within(self, spans: Spans) -> Bag:
        """The words inside some spans, with the vectors they have in their sentence."""
        places = (range(bisect_left(self._starts, span.start), bisect_right(self._ends, span.end)) for span in spans)
        return self.words.only(sorted({place for inside in places for place in inside}))

    def saying(self, clause: int, sayings: Sequence[Bag]) -> Spans:
        """The neighbouring parts of a clause that are most similar to what a unit says: an expert marks no more. On the
        bundled example they are the expert's words but for a few in 59% of 306 cases, whole clauses in 28%."""
        cut, words = self.clauses[clause]
        starts = [0, *(place for place in range(1, len(words)) if self._parted(words, place)), len(words)]
        runs = [range(first, end) for at, first in enumerate(starts) for end in starts[at + 1 :]]
        runs = [run[1:] if len(run) > 1 and self._word(words, run[0]) in LINKING else run for run in runs]
        similarity = _similarity(sayings, [words.only(run) for run in runs]).mean(0)
        best = runs[int(similarity.argmax())]
        told = Span(words.spans[best[0]].start, words.spans[best[-1]].end)
        parts = (Span(max(told.start, part.start), min(told.end, part.end)) for part in union(cut.spans))
        return tuple(part for part in parts if part.start < part.end)

    def _parted(self, words: Bag, place: int) -> bool:
        between = self.text[words.spans[place - 1].end : words.spans[place].start]
        return bool(PAUSE.search(between)) or self._word(words, place) in PART_STARTS

    def _word(self, words: Bag, place: int) -> str:
        return words.spans[place].of(self.text).lower()

    @cached_property
    def _starts(self) -> list[int]:
        return [span.start for span in self.words.spans]

    @cached_property
    def _ends(self) -> list[int]:
        return [span.end for span in self.words.spans]


class Suggester:
    """Loads the encoder with the first question and remembers the texts used last. For several threads."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._texts: dict[str, _EncodedText] = {}
        self._labels: dict[str, Bag] = {}

    # -- pyramids --------------------------------------------------------------------------------------------

    def for_unit(self, pyramid: Pyramid, texts: Mapping[str, str], unit: str) -> UnitSuggestions:
        """Clauses of the references that have no contributor yet, and other units, most similar first."""
        asked = next((known for known in pyramid.units if known.id == unit), None)
        if asked is None:
            raise RefusedError(f"the pyramid has no unit {unit!r}")
        read, labels = self._read_texts(texts), self._labels_of(pyramid.units)
        sayings = {known.id: _sayings(known, read, labels) for known in pyramid.units}
        mine = sayings[unit]
        if not mine:
            return UnitSuggestions((), ())
        return UnitSuggestions(_contributors(asked, mine, read), _same(asked, mine, pyramid.units, sayings))

    # -- peers -----------------------------------------------------------------------------------------------

    def for_peer(
        self, peer: PeerAnnotation, text: str, pyramid: Pyramid, references: Mapping[str, str]
    ) -> tuple[LikelyMatch, ...]:
        """Units not matched yet that the peer likely expresses, and where."""
        matched = peer.count_mentions()
        open_units = [unit for unit in pyramid.units if unit.id not in matched]
        read, labels = self._read_texts(references), self._labels_of(open_units)
        told = ((unit.id, _sayings(unit, read, labels)) for unit in open_units)
        sayings = {id: bags for id, bags in told if bags}
        here = self._read_texts({peer.system: text})[peer.system]
        if not sayings or not here.clauses:
            return ()
        ranked = sorted(_probabilities(sayings, here.words).items(), key=lambda pair: -pair[1])
        likely = {id: probability for id, probability in ranked[:MOST] if probability >= LIKELY}
        places = _best_clauses([sayings[id] for id in likely], here)
        return tuple(LikelyMatch(id, spans, likely[id]) for id, spans in zip(likely, places, strict=True))

    # -- texts -----------------------------------------------------------------------------------------------

    @cached_property
    def _tools(self) -> tuple[Encoder, ClauseSegmenter, AlignSimilarity]:
        from pyramidion.encoder.minilm import Encoder
        from pyramidion.pyramids.clauses import ClauseSegmenter
        from pyramidion.pyramids.similarity import AlignSimilarity

        encoder = Encoder()
        return encoder, ClauseSegmenter(encoder), AlignSimilarity(encoder)

    def _read_texts(self, texts: Mapping[str, str]) -> dict[str, _EncodedText]:
        """Texts by the names they have here."""
        encoded = self._recall(self._texts, texts.values(), self._encode, KEPT_TEXTS)
        return {name: encoded[text] for name, text in texts.items()}

    def _encode(self, texts: list[str]) -> Iterator[_EncodedText]:
        _, segmenter, aligner = self._tools
        segmented = segmenter.segment(texts)
        for cut, aligned in zip(segmented, aligner.prepare(segmented), strict=True):
            yield _EncodedText(cut.text, aligned.whole, tuple(zip(cut.clauses(), aligned.clauses, strict=True)))

    def _labels_of(self, units: Iterable[ContentUnit]) -> dict[str, Bag]:
        from pyramidion.encoder.words import bags

        def encode(labels: list[str]) -> Iterator[Bag]:
            return bags(labels, self._tools[0])

        return self._recall(self._labels, (unit.label for unit in units), encode, KEPT_LABELS)

    def _recall(
        self, kept: dict[str, T], texts: Iterable[str], make: Callable[[list[str]], Iterable[T]], most: int
    ) -> dict[str, T]:
        """Each text is encoded once; one thread at a time, because the encoder already uses all cores."""
        wanted = list(dict.fromkeys(texts))
        with self._turn:
            new = [text for text in wanted if text not in kept]
            made = dict(zip(new, make(new), strict=True)) if new else {}
            recalled = {text: kept.pop(text) if text in kept else made[text] for text in wanted}
            kept.update(recalled)  # the texts used last come last
            for text in list(kept)[: max(0, len(kept) - most)]:
                del kept[text]
        return recalled


# -- similarity ----------------------------------------------------------------------------------------------


def _sayings(unit: ContentUnit, read: Mapping[str, _EncodedText], labels: Mapping[str, Bag]) -> list[Bag]:
    """The ways a unit is said: by each of its contributors, and by its label."""
    told = [read[c.reference].within(c.spans) for c in unit.contributors if c.reference in read]
    return [words for words in (*told, labels[unit.label]) if len(words)]


def _similarity(first: Sequence[Bag], second: Sequence[Bag]) -> Doubles:
    """Each with each, as pyramids are built by."""
    from pyramidion.pyramids.similarity import similarity

    return similarity(first, second)


def _contributors(
    unit: ContentUnit, sayings: Sequence[Bag], read: Mapping[str, _EncodedText]
) -> tuple[SuggestedContributor, ...]:
    others = {name: text for name, text in read.items() if name not in unit.references}
    free = [(name, number, *cut) for name, text in others.items() for number, cut in enumerate(text.clauses)]
    if not free:
        return ()
    similarity = _similarity(sayings, [words for *_, words in free]).mean(0)
    taken: list[tuple[str, Spans]] = []
    suggested: list[SuggestedContributor] = []
    for place in np.argsort(-similarity, kind="stable").tolist():
        name, number, clause, _ = free[place]
        if similarity[place] < SIMILAR or len(suggested) == MOST:
            break
        if not any(known == name and _overlap(spans, clause.spans) for known, spans in taken):
            taken.append((name, clause.spans))
            suggested.append(SuggestedContributor(name, read[name].saying(number, sayings), float(similarity[place])))
    return tuple(suggested)


def _probabilities(sayings: Mapping[str, Sequence[Bag]], text: Bag) -> dict[str, float]:
    """That a text expresses each unit: by what of it is found best, a contributor or the label."""
    from pyramidion.judges.presence import JudgedUnits

    asked = [(id, saying) for id, ways in sayings.items() for saying in ways]
    answers = JudgedUnits([saying for _, saying in asked], [text]).probability()[:, 0].tolist()
    best: dict[str, float] = {}
    for (id, _), probability in zip(asked, answers, strict=True):
        best[id] = max(probability, best.get(id, 0.0))
    return best


def _best_clauses(units: Sequence[Sequence[Bag]], text: _EncodedText) -> list[Spans]:
    """Where a text says each unit: in one clause, since single words that fit are anywhere."""
    if not units:
        return []
    similarity = _means(_similarity([saying for unit in units for saying in unit], [w for _, w in text.clauses]), units)
    return [text.saying(place, unit) for place, unit in zip(similarity.argmax(1).tolist(), units, strict=True)]


def _means(rows: Doubles, groups: Sequence[Sequence[Bag]]) -> Doubles:
    """The mean row of each group; the rows of all groups follow each other."""
    sizes = np.array([len(group) for group in groups])
    sums = np.add.reduceat(rows, np.cumsum([0, *sizes[:-1]]), axis=0)
    return np.asarray(sums / sizes[:, None])


def _overlap(some: Spans, others: Spans) -> bool:
    return any(one.start < other.end and other.start < one.end for one in some for other in others)


def _same(
    unit: ContentUnit, mine: Sequence[Bag], units: Iterable[ContentUnit], sayings: Mapping[str, Sequence[Bag]]
) -> tuple[SameUnit, ...]:
    others = [other for other in units if other is not unit and sayings[other.id]]
    if not others:
        return ()
    told = [sayings[other.id] for other in others]
    similarity = _similarity([saying for unit in told for saying in unit], mine).mean(1, keepdims=True)
    means = _means(similarity, told)[:, 0]
    ranked = sorted(zip(others, means.tolist(), strict=True), key=lambda pair: -pair[1])
    return tuple(SameUnit(other.id, other.label, mean) for other, mean in ranked[:MOST] if mean >= SAME)
