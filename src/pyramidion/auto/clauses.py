"""Cut sentences into clauses with a small head over the encoder's layers: the default segmenter.

Gao et al. 2019, section 4.1, cut a constituency parse: every tensed verb phrase starts a segment, and its subject goes
with it. We learn both from the elementary discourse units and the dependencies of the GUM corpus (`models/
train_segmenter.py` trains and measures): for each word, whether a clause starts there, and whether it is part of a
subject. A clause without a subject of its own gets the one before it. Numbers stay numbers.

A sentence has up to two segmentations besides itself: at every boundary, and at the surest one alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import islice, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyramidion.auto.encoder import Encoded, Encoder, Floats
from pyramidion.auto.segments import Clause, SegmentedText, Sentence
from pyramidion.auto.words import is_word
from pyramidion.methods.sentences import sentence_spans
from pyramidion.model.texts import Span

MIN_WORDS = 3
"""A clause with fewer words goes to its neighbour."""
AT_ONCE, GAP = 64, 2
"""Sentences tagged together, and the empty words between them that keep them apart."""


class Tags(NamedTuple):
    """For each word of a sentence: the log-odds that a clause starts there, and that it is part of a subject."""

    starts: Floats
    subject: Floats


class ClauseSegmenter:
    """Cuts English. Other languages are cut too, by what the encoder makes of them, and less well."""

    def __init__(self, encoder: Encoder | None = None, *, threshold: float = 0.5) -> None:
        self._encoder = encoder or Encoder()
        self._cut = float(np.log(threshold / (1 - threshold)))

    def segment(self, texts: Sequence[str]) -> list[SegmentedText]:
        """Sentences of all texts are encoded together."""
        spans = [sentence_spans(text) for text in texts]
        sentences = (span.of(text) for text, found in zip(texts, spans, strict=True) for span in found)
        tagged = tags(self._encoder.encode(sentences, layers=True))
        return [
            SegmentedText(text, tuple(self._sentence(text, span, *next(tagged)) for span in found))
            for text, found in zip(texts, spans, strict=True)
        ]

    def _sentence(self, text: str, span: Span, words: Encoded, tags: Tags) -> Sentence:
        whole = (Clause((span,), span.of(text)),)
        ways = [_clauses(text, span, words.spans, starts, tags) for starts in self._ways(words, tags)]
        return Sentence(span, (whole, *ways))

    def _ways(self, words: Encoded, tags: Tags) -> Iterator[list[int]]:
        """First words of clauses, for each way to cut."""
        sure = np.flatnonzero(tags.starts[1:] > self._cut) + 1
        finest = _long_enough(words.spans, sure.tolist(), tags.starts)
        if finest:
            yield finest
        if len(finest) > 1:
            yield [max(finest, key=lambda place: float(tags.starts[place]))]


def tags(sentences: Iterable[Encoded]) -> Iterator[tuple[Encoded, Tags]]:
    """Each sentence with its tags; some are computed at a time, which is much faster than one by one."""
    source = iter(sentences)
    while some := list(islice(source, AT_ONCE)):
        yield from zip(some, _tags(some), strict=True)


def _tags(sentences: Sequence[Encoded]) -> Iterator[Tags]:
    """Two convolutions over the words' layers; what `models/train_segmenter.py` trains."""
    head = _head()
    sizes = np.array([len(words.spans) for words in sentences])
    starts = np.cumsum([0, *sizes[:-1] + GAP])
    rows = np.concatenate([np.arange(start, start + size) for start, size in zip(starts, sizes, strict=True)])
    mask = np.zeros((int(starts[-1] + sizes[-1] + GAP), 1), np.float32)  # 0 between sentences
    mask[rows] = 1
    x = np.zeros((len(mask), len(head["narrow_bias"])), np.float32)
    x[rows] = np.concatenate([words.layers for words in sentences if words.layers is not None]) @ head["narrow_weight"]
    x = _gelu(x + head["narrow_bias"]) * mask
    for name in ("around1", "around2"):
        x = (x + _gelu(_around(x, head[f"{name}_weight"]) + head[f"{name}_bias"])) * mask
    out = x @ head["out_weight"] + head["out_bias"]
    for start, size in zip(starts, sizes, strict=True):
        yield Tags(*out[start : start + size].T)


def _around(x: Floats, kernel: Floats) -> Floats:
    """A convolution over words: kernel is places x inputs x outputs."""
    reach = len(kernel) // 2
    padded = np.pad(x, ((reach, reach), (0, 0)))
    total = padded[: len(x)] @ kernel[0]
    for place in range(1, len(kernel)):
        total += padded[place : place + len(x)] @ kernel[place]
    return np.asarray(total, np.float32)


def _gelu(x: NDArray[np.float32]) -> Floats:
    from scipy.special import erf

    return np.asarray(x * (0.5 + 0.5 * erf(x * np.float32(0.70710678))), np.float32)


@cache
def _head() -> dict[str, Floats]:
    """The trained arrays, with inputs before outputs."""
    with files("pyramidion.data").joinpath("segmenter.npz").open("rb") as file, np.load(file) as arrays:
        return {name: np.ascontiguousarray(arrays[name].T, np.float32) for name in arrays.files}


def _long_enough(spans: Sequence[Span], starts: list[int], surety: Floats) -> list[int]:
    """Drop the least sure boundaries until no clause is too short."""
    starts = list(starts)
    while starts:
        edges = [0, *starts, len(spans)]
        short = [i for i in range(len(edges) - 1) if edges[i + 1] - edges[i] < MIN_WORDS]
        if not short:
            break
        around = {edges[i] for i in short} | {edges[i + 1] for i in short}
        starts.remove(min((s for s in starts if s in around), key=lambda s: float(surety[s])))
    return starts


def _clauses(text: str, sentence: Span, spans: Sequence[Span], starts: list[int], tags: Tags) -> tuple[Clause, ...]:
    edges = [0, *starts, len(spans)]
    shown = sentence.of(text)
    in_subject = (tags.subject > 0) & np.array([is_word(span.of(shown)) for span in spans], bool)
    found: list[Clause] = []
    subject: tuple[int, int] | None = None
    for first, last in pairwise(edges):
        own = _subject(in_subject, first, last)
        here = _between(sentence, spans, first, last)
        if own is None and subject is not None:
            attached = _between(sentence, spans, *subject)
            found.append(Clause((attached, here), f"{attached.of(text)} {here.of(text)}"))
        else:
            found.append(Clause((here,), here.of(text)))
        subject = own or subject
    return tuple(found)


def _subject(inside: NDArray[np.bool_], first: int, last: int) -> tuple[int, int] | None:
    """The first run of words of a subject in a clause."""
    places = np.flatnonzero(inside[first:last])
    if not len(places):
        return None
    start = end = first + int(places[0])
    while end < last and inside[end]:
        end += 1
    return start, end


def _between(sentence: Span, spans: Sequence[Span], first: int, last: int) -> Span:
    """The characters of some words; a sentence's words know where they stand in the sentence."""
    return Span(sentence.start + spans[first].start, sentence.start + spans[last - 1].end)
