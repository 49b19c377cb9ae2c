"""What a unit is called: a clause that can be read alone, as it is written in a reference.

A label begins with a capital or a number, without the "but" that joined it to something, and its quotation marks and
brackets come in pairs. `label_faults` finds what shows, without understanding it, that a text does not read alone.
Sentences without content ("This was later revised.", "Smith (2018) writes.") are not units: `has_content`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pyramidion.encoder.sentences import content_stems, stem, tokens
from pyramidion.pyramids.grammar import (
    COORDINATING,
    DEMONSTRATIVES,
    DEPENDENT,
    HANGING,
    NOMINATIVE,
    RELATIVE,
    REPORTING,
)
from pyramidion.pyramids.verbs import forms

SHORTEST = 3
"""Words of a label."""
POOR = 3
"""Content words with which a statement about "this" still says nothing by itself, or that is only about who says it."""
_JOINING = re.compile(r"(?:(?:and|but|or|yet|so|then|however|moreover|furthermore|therefore),?\s+)+", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_PAIRS = (("(", ")"), ("[", "]"), ("“", "”"), ("«", "»"))
_OPENING_QUOTE = re.compile(r"(?<!\w)[‘'`](?=\w)")
_CLOSING_QUOTE = re.compile(r"(?<=[\w.,!?…])[’'](?!\w)")
_ABBREVIATED = re.compile(r"(?:\b[^\W\d_]|\.[^\W\d_]+|\b(?:etc|al|Inc|Ltd|Co|Corp|Jr|Sr|vs))\.$")
_LEANING = DEPENDENT | HANGING
_VAGUE = DEMONSTRATIVES | NOMINATIVE


def label_of(text: str) -> str:
    """A clause as a label; its words are not changed."""
    words = " ".join(text.split()).strip(" ,;:–—-")
    words = _paired(words)
    rest = words[joined.end() :] if (joined := _JOINING.match(words)) else words
    words = (rest if len(tokens(rest)) >= SHORTEST else words).strip(" ,;:–—-") or text.strip()
    if words.endswith(".") and not words.endswith("..") and not _ABBREVIATED.search(words):
        words = words[:-1].rstrip()
    return words[:1].upper() + words[1:]


def label_faults(label: str) -> list[str]:
    """What shows that a label does not read alone; empty where nothing does."""
    return list(_faults(label))


def names_subject(label: str) -> bool:
    """Whether it does not begin with a word such as "it", which means something that was named before."""
    return next(iter(tokens(label)), "").lower() not in _VAGUE


def leans(label: str) -> bool:
    """Whether it begins as a clause does that hangs on another, such as "which cost ten million"."""
    return next(iter(tokens(label)), "").lower() in _LEANING


def has_content(sentence: str) -> bool:
    """Whether a sentence says something by itself, apart from citations, from who says it, and from "this"."""
    words = tokens(_IN_BRACKETS.sub(" ", sentence))
    if not words:
        return not _IN_BRACKETS.search(sentence)
    content = content_stems(" ".join(words)).keys() - REPORTING
    small = [word.lower() for word in words]
    if small[0] in DEMONSTRATIVES and len(words) > 1 and forms(small[1]) & {"auxiliary", "past", "s"}:
        return len(content - DEMONSTRATIVES) >= POOR
    return not (stem(small[-1]) in REPORTING and len(content) < POOR and len(words) > 1)


def _paired(words: str) -> str:
    """Without a quotation mark or bracket at either end whose partner is missing."""
    for opening, closing in _PAIRS:
        if words.startswith(opening) and words.count(opening) > words.count(closing):
            words = words[1:].lstrip()
        if words.endswith(closing) and words.count(closing) > words.count(opening):
            words = words[:-1].rstrip()
    if words.count('"') % 2:
        words = words.strip('"') if words.startswith('"') != words.endswith('"') else words
    opened, closed = len(_OPENING_QUOTE.findall(words)), len(_CLOSING_QUOTE.findall(words))
    if opened > closed and words[:1] in "‘'`":
        words = words[1:].lstrip()
    if closed > opened and words[-1:] in "’'" and not words.endswith(("s'", "s’")):
        words = words[:-1].rstrip()
    return words


def _faults(label: str) -> Iterator[str]:
    words = tokens(label)
    if len(words) < SHORTEST:
        yield f"has {len(words)} words"
    first = label.lstrip("([“«\"'‘`$£€¥#@*…. ")[:1]
    if first.islower():
        yield "begins with a small letter"
    for opening, closing in _PAIRS:
        if label.count(opening) != label.count(closing):
            yield f"{opening} and {closing} do not come in pairs"
    if label.count('"') % 2:
        yield 'an odd number of "'
    if words and (small := words[0].lower()) in COORDINATING | RELATIVE | {"whom", "whose"}:
        yield f"begins with {small}"
    if words and (small := words[-1].lower()) in COORDINATING | RELATIVE | {"of", "because", "than", "whether"}:
        yield f"ends with {small}"
