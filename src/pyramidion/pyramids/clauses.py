"""Cut sentences into clauses with a small head over the encoder's layers: the default segmenter.

Gao et al. 2019, section 4.1, cut a constituency parse: every tensed verb phrase starts a segment, and its subject goes
with it. We learn both from the elementary discourse units and the dependencies of the GUM corpus (`models/
train_segmenter.py` trains and measures): for each word, whether a clause starts there, and whether it is part of a
subject. Of these boundaries only those are used where both sides can then be read alone (`readings`), so unlike in the
paper, who says something stays with what is said. Numbers stay numbers.

A sentence has up to two segmentations besides itself: at every such boundary, and at the surest one alone. The
segmenter ``clauses-apart`` adds one for each clause set apart while the others stay together in their order, as in the
paper's figure 3 (`sentences.one_apart`). It is not the default because scores hardly differ;
`docs/explanation/automatic.md` has the figures.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyramidion.encoder import one_thread
from pyramidion.encoder.encodings import encoding_cache
from pyramidion.encoder.minilm import Encoded, Encoder, Floats, key_of, made_by, wordpiece
from pyramidion.encoder.sentences import MOST_WAYS, Clause, SegmentedText, Sentence, one_apart, sentence_spans
from pyramidion.encoder.wordpiece import Words
from pyramidion.pyramids.grammar import SentenceWords, WordRange
from pyramidion.pyramids.readings import ClauseReading, enclosed, readings
from pyramidion.study.texts import Span

AT_ONCE, GAP = 64, 2
"""Sentences tagged together, and the empty words between them that keep them apart."""


class Tags(NamedTuple):
    """For each word of a sentence: the log-odds that a clause starts there, and that it is part of a subject."""

    starts: Floats
    subject: Floats


class ClauseSegmenter:
    """Cuts English sentences. Other languages are cut too, but less well."""

    def __init__(self, encoder: Encoder | None = None, *, threshold: float = 0.5, apart: bool = False) -> None:
        self._encoder, self._apart = encoder or Encoder(), apart
        self._cut = float(np.log(threshold / (1 - threshold)))

    def segment(self, texts: Sequence[str]) -> list[SegmentedText]:
        """Sentences of all texts are encoded together."""
        spans = [sentence_spans(text) for text in texts]
        tagged = self._tagged(span.of(text) for text, inside in zip(texts, spans, strict=True) for span in inside)
        return [
            SegmentedText(text, tuple(self._sentence(text, span, *tagged[span.of(text)]) for span in inside))
            for text, inside in zip(texts, spans, strict=True)
        ]

    def _tagged(self, sentences: Iterable[str]) -> dict[str, tuple[Words, Tags]]:
        """The words and tags of each sentence. Tags are kept on disk, because the layers would take too much room."""
        disk = encoding_cache(_made_by)
        cut = {sentence: wordpiece().words(sentence) for sentence in dict.fromkeys(sentences)}
        keys = {sentence: key_of(words) for sentence, words in cut.items()}
        held = disk.get(set(keys.values())) if disk else {}
        tagged = {sentence: _from_bytes(held[key]) for sentence, key in keys.items() if key in held}
        new = [sentence for sentence in cut if sentence not in tagged]
        made = {
            sentence: found
            for sentence, (_, found) in zip(new, tags(self._encoder.encode(new, layers=True)), strict=True)
        }
        if disk:
            disk.put({keys[sentence]: np.stack(found).tobytes() for sentence, found in made.items()})
        tagged |= made
        return {sentence: (words, tagged[sentence]) for sentence, words in cut.items()}

    def _sentence(self, text: str, span: Span, words: Words, tags: Tags) -> Sentence:
        starts = _boundaries(span.of(text), words.spans, tags.starts, self._cut)
        read = SentenceWords([word.of(span.of(text)) for word in words.spans], tags.subject)

        def cut(at: Sequence[int]) -> tuple[Clause, ...]:
            return tuple(_clause(text, span, words.spans, reading) for reading in readings(read, at, starts))

        whole = (Clause((span,), span.of(text)),)
        fine = readings(read, starts, starts)
        if len(fine) < 2:
            return Sentence(span, (whole,))
        finest = cut(starts)
        places = {reading.own.first for reading in fine}
        by_surety = sorted(places.intersection(starts), key=lambda place: (-float(tags.starts[place]), place))
        ways = [finest, *islice((way for place in by_surety if len(way := cut([place])) > 1), 1)]
        if self._apart and len(finest) > 2:
            ways += [way for place in (starts[0], starts[-1]) if len(way := cut([place])) > 1]
            surety = {span.start + words.spans[place].start: float(tags.starts[place]) for place in starts}
            inner = sorted(finest[1:-1], key=lambda clause: -surety.get(clause.spans[-1].start, 0.0))
            ways += [one_apart(text, span, clause) for clause in inner]
        return Sentence(span, (whole, *list(dict.fromkeys(ways))[:MOST_WAYS]))


def each_apart(encoder: Encoder | None = None) -> ClauseSegmenter:
    """The segmenter ``clauses-apart``."""
    return ClauseSegmenter(encoder, apart=True)


def _from_bytes(held: bytes) -> Tags:
    return Tags(*np.frombuffer(held, np.float32).reshape(len(Tags._fields), -1))


@cache
def _made_by() -> bytes:
    """Names all that tags depend on besides a sentence's pieces: the encoder and the head."""
    return sha256(made_by() + files("pyramidion.data").joinpath("segmenter.npz").read_bytes()).digest()


def tags(sentences: Iterable[Encoded]) -> Iterator[tuple[Encoded, Tags]]:
    """Each sentence with its tags; some are computed at a time, which is much faster than one by one."""
    source = iter(sentences)
    while some := list(islice(source, AT_ONCE)):
        with one_thread():
            tagged = list(_tags(some))
        yield from zip(some, tagged, strict=True)


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


def _boundaries(text: str, spans: Sequence[Span], surety: Floats, cut: float) -> list[int]:
    """Words that surely start a clause, but never inside brackets or quotation marks."""
    sure = (np.flatnonzero(surety[1:] > cut) + 1).tolist()
    closed = list(enclosed(text))
    return [word for word in sure if not any(start <= spans[word].start < end for start, end in closed)]


def _clause(text: str, sentence: Span, spans: Sequence[Span], reading: ClauseReading) -> Clause:
    own = _between(sentence, spans, reading.own)
    read = _between(sentence, spans, WordRange(reading.own.first + reading.skipped, reading.own.last))
    carried = tuple(_between(sentence, spans, part) for part in reading.carried)
    return Clause((*carried, own), " ".join(span.of(text) for span in (*carried, read)))


def _between(sentence: Span, spans: Sequence[Span], piece: WordRange) -> Span:
    """The characters of some words; a sentence's words know where they are in the sentence."""
    return Span(sentence.start + spans[piece.first].start, sentence.start + spans[piece.last - 1].end)
