"""Words and sentences of plain text, with their positions.

Sentences are told apart by rules for English (and the full stops of Chinese and Japanese). In doubt they see one
sentence rather than two: a unit wrongly dropped for having two is lost work, and a clause segmenter cuts a long
sentence anyway. A blank line always ends one.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, get_args

from pyramidion.encoder import Recent, stems
from pyramidion.errors import check_choice
from pyramidion.study.texts import Span

# Tokens

_TOKEN = re.compile(
    r"""
    (?<![w9]) w (?:\.w)+ (?![w9])                                   # U.S, a.m, e.g
    | c                                                             # one ideograph
    | [w9]+ (?: (?: [-‐‑'’] | (?<=9)[.,:](?=9) ) [w9]+ )*           # well-known, don't, 1,200.50, 10:30
    """,
    re.VERBOSE,
)


def tokens(text: str) -> list[str]:
    """Words and numbers; punctuation is left out. A Chinese or Japanese character counts as a word."""
    text = unicodedata.normalize("NFC", text)
    return [text[match.start() : match.end()] for match in _TOKEN.finditer(text.translate(_SHAPES))]


def _first_token(text: str) -> str:
    """The first of `tokens`, or nothing, without looking for the others."""
    text = unicodedata.normalize("NFC", text)
    match = _TOKEN.search(text.translate(_SHAPES))
    return text[match.start() : match.end()] if match else ""


def _shape(character: str) -> str:
    """w for a letter or its mark, 9 for a digit, c for a letter of a script without spaces, otherwise itself."""
    if character.isalpha():
        kana, han = "\u3040" <= character <= "\u30ff", "\u3400" <= character <= "\u9fff" or character >= "\U00020000"
        return "c" if kana or han else "w"
    if character.isnumeric():
        return "9"
    return "w" if unicodedata.category(character).startswith("M") else character


class _Shapes(dict[int, str]):
    """The shapes of the characters seen so far, by code point, as `str.translate` wants them."""

    def __missing__(self, code: int) -> str:
        shape = self[code] = _shape(chr(code))
        return shape


_SHAPES = _Shapes()


def is_foreign(text: str) -> bool:
    """Whether most letters are not Latin."""
    if text.isascii():
        return False
    letters = [character for character in text if character.isalpha()]
    latin = sum(character < "\u0250" or "\u1e00" <= character < "\u1f00" for character in letters)
    return latin * 2 < len(letters)


# Sentences


def _words(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Lookbehind and possessive repeats: a page full of dots must not take quadratic time.
_MARK = re.compile(r"""(?<![.!?…])([.!?…]++)[)\]"'’”»]*+\s++""")
_IDEOGRAPHIC = re.compile(r"[。！？]++[」』”]*+(?=\s*+[「『“]*+\w)")
_OPENING = "([\"'‘“«"
_BLANK_LINE = re.compile(r"\n[ \t\r]*+\n\s*+")
_NEARBY = 80
"""How many characters around a mark are looked at."""
_TITLES = _words("""
    mr mrs ms messrs dr prof gen sen sens rep reps gov lt col capt cmdr sgt maj adm rev hon pres
    st mt ft vs e.g i.e cf approx incl
""")
_BEFORE_NUMBERS = _words("""
    no nos nr fig figs vol vols p pp art sec ch c ca jan feb mar apr jun jul aug sep sept oct nov dec
""")
_MAY_END = _words("inc corp co cos ltd llc plc bros jr sr etc al dept govt assn ave blvd est ph.d")
_OPENERS = _words("""
    the a an this that these those he she it they we i you his her its their our there here in on at by for from with
    after before when while since as if although but and however also then some many most all both one two no not who
    what why how according
""")


def count_sentences(text: str) -> int:
    """The number of sentences; abbreviations, initials, decimals and ellipses do not end one."""
    return len(sentence_spans(text))


def sentence_spans(text: str) -> list[Span]:
    """Where the sentences of a text are, without the space around them. A text without words has none."""
    first = _first_token(text)
    if not first:
        return []
    ends = sorted({*_stops(text, capitals=not first[0].islower()), len(text)})
    spans = [_stripped(text, start, end) for start, end in zip([0, *ends[:-1]], ends, strict=True)]
    return _with_words(text, [span for span in spans if span.start < span.end])


_ALIKE = str.maketrans("‘’‚“”„«»–—\u00a0", "'''" + 5 * '"' + "-- ")
_AROUND = " \t\r\n\"'.…"


def locate(quote: str, text: str) -> Span | None:
    """Where a text has the words of a quote, the first of several places. Spacing, case, the form of quotation marks
    and dashes, and marks around the quote may differ."""
    place = text.find(quote)
    if quote.strip() and place >= 0:
        return Span(place, place + len(quote))
    words = quote.translate(_ALIKE).strip(_AROUND).split()
    pattern = r"\s+".join(map(re.escape, words))
    found = re.search(pattern, text.translate(_ALIKE), re.IGNORECASE) if words else None
    return Span(*found.span()) if found else None


def _stops(text: str, *, capitals: bool) -> Iterator[int]:
    for match in _MARK.finditer(text):
        before, after = text[max(match.start() - _NEARBY, 0) : match.start()], text[match.end() : match.end() + _NEARBY]
        if _ends(before, match[1], after, capitals):
            yield match.end()
    for match in (*_IDEOGRAPHIC.finditer(text), *_BLANK_LINE.finditer(text)):
        yield match.end()


def _stripped(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    return Span(start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip()))


def _with_words(text: str, spans: list[Span]) -> list[Span]:
    """Signs by themselves ("...", a row of dashes) belong to the sentence before them."""
    sentences: list[Span] = []
    for span in spans:
        if sentences and not _first_token(span.of(text)):
            sentences[-1] = Span(sentences[-1].start, span.end)
        else:
            sentences.append(span)
    if len(sentences) > 1 and not _first_token(sentences[0].of(text)):
        sentences[:2] = [Span(sentences[0].start, sentences[1].end)]
    return sentences


def _ends(before: str, mark: str, after: str, capitals: bool) -> bool:
    """Whether a mark with a space after it ends a sentence. ``capitals``: the writer starts sentences with them."""
    following = after.lstrip(_OPENING)
    if not re.search(r"[^\W\d_]", following) or (capitals and following[0].islower()):
        return False
    if "!" in mark or "?" in mark:
        return True
    if mark != ".":
        return mark == "...."  # an ellipsis, and a full stop after it
    return _full_stop(before, following)


def _full_stop(before: str, following: str) -> bool:
    """Whether a single "." ends a sentence, by the word before it and the text after it."""
    word = before.split()[-1].lstrip(_OPENING) if before.split() else ""
    known = word.lower()
    if known in _TITLES or (known in _BEFORE_NUMBERS and following[0].isnumeric()):
        return False
    if len(word) == 1 and word.isalpha():
        return False  # J. Smith
    if word.isnumeric() and before.strip() == word:
        return False  # the number of a list item
    if known in _MAY_END or re.fullmatch(r"\w(?:\.\w)+", word):
        opener = _first_token(following)
        return opener[:1].isupper() and opener.lower() in _OPENERS
    return True


StemCounts = Counter[str]


def content_stems(text: str) -> StemCounts:
    """How often each stem of a content word occurs; of any word if a text has only stop words."""
    words = tokens(text)
    return Counter(stem(_plain(word)) for word in [w for w in words if not _is_stop_word(w)] or words)


def _is_stop_word(word: str) -> bool:
    """Capitals make a name: the US is not us, nor the WHO who."""
    return _plain(word) in _STOP_WORDS and not (len(word) > 1 and word.isupper())


def _plain(word: str) -> str:
    """Lower case, without possessive 's and the dots of an abbreviation."""
    return re.sub(r"'s?$|(?<=[^\W\d_])\.", "", word.lower().replace("’", "'"))


def stem(word: str) -> str:
    """The stem of a word with Latin letters; other words as they are."""
    return stems.stem(word) if re.search("[a-z]", word) else word


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_STOP_WORDS = _set("""
    a an the this that these those such and or but so if then than as while because
    i me my mine we us our ours you your yours he him his she her hers it its they them their theirs
    who whom whose which what where when there here itself himself herself themselves
    am is are was were be been being have has had having do does did doing will would shall
    of to in on at by for from with about into onto upon within through during among also
""")


# ----------------------------------------------------------------------
# Texts cut into sentences, and sentences into clause-like segments in one or more ways: Gao et al. 2019, section 4.1.
#
# Segmentation 0 of a sentence is the sentence itself; every other segmentation has two or more segments. A pyramid or
# a match uses exactly one segmentation of each sentence. What a segment is called follows from where it is, so a
# segmenter knows texts only, and `SegmentedText.segments` gives the names.

Untouched = Literal["whole", "finest"]
MOST_WAYS = 8
"""Ways to cut a sentence, besides leaving it whole. Separating every subset of clauses would double the number with
each further clause, and scores no better on the bundled example than one clause at a time."""


class SentenceId(NamedTuple):
    """The sentence with this number (from 0) of a summary."""

    summary: str
    sentence: int


class SegmentId(NamedTuple):
    """One segment of one segmentation of one sentence of a summary, each counted from 0."""

    summary: str
    sentence: int
    segmentation: int
    segment: int

    @property
    def of_sentence(self) -> SentenceId:
        return SentenceId(self.summary, self.sentence)


@dataclass(frozen=True, slots=True)
class Clause:
    """Words that say one thing: their characters in the text, and the words as they are to be read.

    ``text`` may repeat a subject from elsewhere in the sentence, as in "He came and [he] saw".
    """

    spans: tuple[Span, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Segment:
    """A clause with its address."""

    id: SegmentId
    spans: tuple[Span, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and the ways to cut it; the first is the whole sentence."""

    span: Span
    segmentations: tuple[tuple[Clause, ...], ...]

    def __post_init__(self) -> None:
        sizes = [len(clauses) for clauses in self.segmentations]
        if not sizes or sizes[0] != 1 or min(sizes[1:], default=2) < 2:
            raise ValueError(
                f"sentence at {self.span.start}-{self.span.end}: segmentation 0 must have one segment and "
                f"every other two or more, not {sizes}"
            )


@dataclass(frozen=True, slots=True)
class SegmentedText:
    """A text with its sentences in order. An empty text has none."""

    text: str
    sentences: tuple[Sentence, ...] = ()

    def clauses(self) -> list[Clause]:
        """Every clause of every segmentation: sentence by sentence, segmentation by segmentation."""
        return [clause for sentence in self.sentences for clauses in sentence.segmentations for clause in clauses]

    def segments(self, summary: str) -> list[Segment]:
        """The same clauses in the same order, with their addresses in the summary of this name."""
        return [
            Segment(SegmentId(summary, number, segmentation, place), clause.spans, clause.text)
            for number, sentence in enumerate(self.sentences)
            for segmentation, clauses in enumerate(sentence.segmentations)
            for place, clause in enumerate(clauses)
        ]


def left_over(counts: Sequence[int], untouched: Untouched) -> int:
    """The segmentation of a sentence with no match, given how many segments each one has.

    ``whole`` keeps the sentence in one piece; ``finest`` takes the (first) segmentation with the most segments.
    """
    check_choice("untouched", untouched, get_args(Untouched))
    return 0 if untouched == "whole" else max(range(len(counts)), key=lambda i: (counts[i], -i))


def one_apart(text: str, sentence: Span, clause: Clause) -> tuple[Clause, Clause]:
    """One clause by itself, and all other words of its sentence together, in their order: Gao et al. 2019, figure 3.

    The clause's last span has its own words; what comes before is a subject that it shares. "She says that it rains and
    that he stays" has "that it rains", and "She says and that he stays". Whichever starts first comes first.
    """
    own = clause.spans[-1]
    around = (_trimmed(text, sentence.start, own.start), _trimmed(text, own.end, sentence.end))
    others = tuple(span for span in around if span)
    rest = Clause(others, " ".join(span.of(text) for span in others))
    return (rest, clause) if others[0] < own else (clause, rest)


def _trimmed(text: str, start: int, end: int) -> Span | None:
    """Without white space around it; None where nothing is left."""
    held = text[start:end]
    return Span(start + len(held) - len(held.lstrip()), start + len(held.rstrip())) if held.strip() else None


class RememberingSegmenter:
    """A segmenter that cuts a text once while it is among the last ones used: many texts can be cut together, which is
    much faster than a few at a time, before each is asked for."""

    def __init__(self, segmenter: Segmenter, most: int) -> None:
        self._segmenter = segmenter
        self._recent: Recent[SegmentedText] = Recent(most)

    def segment(self, texts: Sequence[str]) -> list[SegmentedText]:
        known = self._recent.get(texts)
        new = [text for text in dict.fromkeys(texts) if text not in known]
        known.update(zip(new, self._segmenter.segment(new) if new else (), strict=True))
        self._recent.keep(known)
        return [known[text] for text in texts]


class Segmenter(Protocol):
    """Cuts many texts at once, so that sentences can be encoded in batches."""

    def segment(self, texts: Sequence[str]) -> list[SegmentedText]:
        """One result for each text, in the same order; spans are characters of that text."""
        ...
