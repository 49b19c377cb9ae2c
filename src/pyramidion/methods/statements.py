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
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from pyramidion.errors import InputError, Problem, UsageError, check_choice
from pyramidion.methods.sentences import count_sentences, tokens
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
    return Counter(stem(_plain(word)) for word in [w for w in words if not _is_stop_word(w)] or words)


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


def stem(word: str) -> str:
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
