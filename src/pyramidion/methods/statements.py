"""Which crowd-written statements are fit to be judged: Shapira et al. 2019, section 3, "Pyramid creation".

A statement is one short sentence. Those of more than one sentence, of more than 20 or of 3 and fewer tokens are
dropped, and so is the longer of two near-duplicates written from the same reference. Every drop has its reason.

Near-duplicates have a cosine of at least 0.95 between their bags of lemmas. Where we deviate, and why:
- stems stand for lemmas: Porter's stemmer needs no download, and it merges at least the forms of a lemma that differ
  by a regular ending. Words without any letter a-z are taken as they are;
- only content words count, and the paper does not say which those are: words of negation, possibility, direction and
  amount stay in, since "prices may rise after the vote" and "prices did not rise before the vote" are not the same;
- the released scripts measure |A and B| / min(|A|, |B|) on sets, by which a statement equals any longer one that
  contains its words; ``similarity="overlap"`` does that, for comparison.

Sentences are told apart by rules for English. They would rather see one sentence than two: a wrongly dropped statement
is lost work, and a long one fails the limit of tokens anyway.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from pyramidion.errors import InputError, Problem, UsageError, check_choice
from pyramidion.model import ContentUnit

Similarity = Literal["cosine", "overlap"]
Bag = Counter[str]

MIN_TOKENS, MAX_TOKENS = 4, 20
SAME = 0.95
"""From this similarity on, two statements say the same."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """``duplicate_of`` is the id of the kept statement that says the same, or empty."""

    unit: ContentUnit
    reason: str
    duplicate_of: str = ""


@dataclass(frozen=True, slots=True)
class Filtered:
    """Both in the order of unit ids."""

    kept: tuple[ContentUnit, ...]
    dropped: tuple[Dropped, ...]


def filter_statements(
    units: Iterable[ContentUnit],
    *,
    min_tokens: int = MIN_TOKENS,
    max_tokens: int = MAX_TOKENS,
    threshold: float = SAME,
    similarity: Similarity = "cosine",
) -> Filtered:
    """Sort the statements of one topic into those to keep and those to drop. The order they come in never matters.

    Of near-duplicates the one with the fewest tokens stays, then the one with the lowest id. A statement that is
    dropped for its form takes no other one with it.
    """
    likeness = _likeness(similarity, threshold)
    kept: list[ContentUnit] = []
    dropped: list[Dropped] = []
    for written in by_reference(units).values():
        shortest_first = sorted(written, key=lambda unit: (len(tokens(unit.label)), unit.id))
        bags: dict[str, Bag] = {}
        for unit in shortest_first:
            bag = content_stems(unit.label)
            if faults := "; ".join(_faults(unit.label, min_tokens, max_tokens)):
                dropped.append(Dropped(unit, faults))
            elif twin := _twin(bag, bags, likeness, threshold):
                dropped.append(Dropped(unit, f"nearly the same as {twin}, from the same reference", twin))
            else:
                bags[unit.id] = bag
                kept.append(unit)
    return Filtered(
        tuple(sorted(kept, key=lambda unit: unit.id)), tuple(sorted(dropped, key=lambda drop: drop.unit.id))
    )


def check_statement(
    text: str,
    earlier: Sequence[str] = (),
    *,
    min_tokens: int = MIN_TOKENS,
    max_tokens: int = MAX_TOKENS,
    threshold: float = SAME,
    similarity: Similarity = "cosine",
) -> list[str]:
    """What the writer should change about a statement, given the writer's other ones. Nothing: it is fine."""
    likeness = _likeness(similarity, threshold)
    if not text.strip():
        return ["This is empty."]
    found = [f"This has {fault}." for fault in _faults(text, min_tokens, max_tokens)]
    bags = {str(number): content_stems(other) for number, other in enumerate(earlier, 1)}
    if twin := _twin(content_stems(text), bags, likeness, threshold):
        found.append(f"This says nearly the same as your statement {twin}.")
    return found


def by_reference(units: Iterable[ContentUnit]) -> dict[str, list[ContentUnit]]:
    """The units written from each reference, both in order of id; refuses units that do not name exactly one."""
    found: dict[str, list[ContentUnit]] = {}
    problems = []
    seen: set[str] = set()
    for unit in sorted(units, key=lambda unit: unit.id):
        if unit.id in seen:
            problems.append(Problem(f"unit {unit.id}", "appears more than once; ids must be unique"))
        elif len(unit.contributors) != 1:
            problems.append(
                Problem(
                    f"unit {unit.id}", f"a statement comes from 1 reference, this one from {len(unit.contributors)}"
                )
            )
        else:
            found.setdefault(unit.contributors[0].reference, []).append(unit)
        seen.add(unit.id)
    if problems:
        raise InputError(problems)
    return dict(sorted(found.items()))


def _faults(text: str, min_tokens: int, max_tokens: int) -> Iterator[str]:
    if (sentences := count_sentences(text)) > 1:
        yield f"{sentences} sentences instead of one"
    size = len(tokens(text))
    words = f"{size} word" if size == 1 else f"{size} words"
    if size > max_tokens:
        yield f"{words}, more than {max_tokens}"
    if size < min_tokens:
        yield f"{words}, fewer than {min_tokens}"


def _twin(bag: Bag, others: dict[str, Bag], likeness: Callable[[Bag, Bag], float], threshold: float) -> str:
    """The most similar of those that are similar enough, the first of equals; empty where there is none."""
    best, name = max(((likeness(bag, other), id) for id, other in others.items()), key=lambda x: x[0], default=(0, ""))
    return name if best >= threshold else ""


# Similarity of two statements


def cosine(a: Bag, b: Bag) -> float:
    dot = sum(count * b[stem] for stem, count in a.items())
    # One root of the product, not a product of roots: equal bags then give exactly 1.
    return dot / math.sqrt(_square(a) * _square(b)) if dot else 0.0


def _square(bag: Bag) -> int:
    return sum(count * count for count in bag.values())


def overlap(a: Bag, b: Bag) -> float:
    """How much of the smaller set of stems the larger one contains."""
    shared = len(a.keys() & b.keys())
    return shared / min(len(a), len(b)) if shared else 0.0


_SIMILARITIES: dict[str, Callable[[Bag, Bag], float]] = {"cosine": cosine, "overlap": overlap}


def _likeness(similarity: str, threshold: float) -> Callable[[Bag, Bag], float]:
    check_choice("similarity", similarity, _SIMILARITIES)
    if not 0 < threshold <= 1:
        raise UsageError(f"a similarity threshold lies above 0 and up to 1, not at {threshold}")
    return _SIMILARITIES[similarity]


def content_stems(text: str) -> Bag:
    """How often each stem of a content word occurs; of all words where a text has only stop words."""
    words = tokens(text)
    return Counter(_stem(_plain(word)) for word in [w for w in words if not _is_stop_word(w)] or words)


def _is_stop_word(word: str) -> bool:
    """Capitals make a name: the US is not us, nor the WHO who."""
    return _plain(word) in _STOP_WORDS and not (len(word) > 1 and word.isupper())


def _plain(word: str) -> str:
    """Lower case, without possessive 's and the dots of an abbreviation."""
    return re.sub(r"'s?$|(?<=[^\W\d_])\.", "", word.lower().replace("’", "'"))


@cache
def _stemmer() -> Any:
    from nltk.stem.porter import PorterStemmer  # slow to import, so only when it is needed

    return PorterStemmer()


def _stem(word: str) -> str:
    return str(_stemmer().stem(word)) if re.search("[a-z]", word) else word


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_STOP_WORDS = _set("""
    a an the this that these those such and or but so if then than as while because
    i me my mine we us our ours you your yours he him his she her hers it its they them their theirs
    who whom whose which what where when there here itself himself herself themselves
    am is are was were be been being have has had having do does did doing will would shall
    of to in on at by for from with about into onto upon within through during among also
""")


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
    """Words and numbers; punctuation is none. A Chinese or Japanese character counts as a word."""
    text = unicodedata.normalize("NFC", text)
    shape = "".join(map(_shape, text))
    return [text[match.start() : match.end()] for match in _TOKEN.finditer(shape)]


def _shape(character: str) -> str:
    """w for a letter or its mark, 9 for a digit, c for a letter of a script without spaces, otherwise itself."""
    if character.isalpha():
        kana, han = "\u3040" <= character <= "\u30ff", "\u3400" <= character <= "\u9fff" or character > "\U00020000"
        return "c" if kana or han else "w"
    if character.isnumeric():
        return "9"
    return "w" if unicodedata.category(character).startswith("M") else character


# Sentences

# Lookbehind and possessive repeats: a page full of dots must not take quadratic time.
_MARK = re.compile(r"""(?<![.!?…])([.!?…]++)[)\]"'’”»]*+\s++""")
_IDEOGRAPHIC = re.compile(r"[。！？]++[」』”]*+(?=\s*+[「『“]*+\w)")
_OPENING = "([\"'‘“«"
_NEARBY = 80
"""How many characters around a mark are looked at."""
_TITLES = _set("""
    mr mrs ms messrs dr prof gen sen sens rep reps gov lt col capt cmdr sgt maj adm rev hon pres
    st mt ft vs e.g i.e cf approx incl
""")
_BEFORE_NUMBERS = _set("""
    no nos nr fig figs vol vols p pp art sec ch c ca jan feb mar apr jun jul aug sep sept oct nov dec
""")
_MAY_END = _set("inc corp co cos ltd llc plc bros jr sr etc al dept govt assn ave blvd est ph.d")
_OPENERS = _set("""
    the a an this that these those he she it they we i you his her its their our there here in on at by for from with
    after before when while since as if although but and however also then some many most all both one two no not who
    what why how according
""")


def count_sentences(text: str) -> int:
    """How many sentences there are; abbreviations, initials, decimals and ellipses end none."""
    words = tokens(text)
    if not words:
        return 0
    capitals = not words[0][0].islower()
    ends = 0
    for match in _MARK.finditer(text):
        before, after = text[max(match.start() - _NEARBY, 0) : match.start()], text[match.end() : match.end() + _NEARBY]
        ends += _ends(before, match[1], after, capitals)
    return 1 + ends + len(_IDEOGRAPHIC.findall(text))


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
        opener = (tokens(following) or [""])[0]
        return opener[:1].isupper() and opener.lower() in _OPENERS
    return True
