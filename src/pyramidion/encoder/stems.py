"""The stem of an English word: Porter 1980, "An algorithm for suffix stripping", with the changes that NLTK makes.

ROUGE in Python is counted over NLTK's stems, so these are the same stems, word by word; a test compares them. NLTK
itself would add seven packages to every install, and a second to the first score. Its changes to the paper are a few
irregular forms, short words (*dies*, *died*, *ax*), *y* after a consonant (*spy*, *enjoy*), and the order of -alli.
"""

from __future__ import annotations

from functools import lru_cache

Rules = tuple[tuple[str, str], ...]


def _rules(text: str) -> Rules:
    """Pairs such as ``ational>ate``; the first suffix that a word ends with is the one that counts."""
    return tuple((suffix, new) for suffix, _, new in (rule.partition(">") for rule in text.split()))


_IRREGULAR = dict(
    _rules("skies>sky sky>sky dying>die lying>lie tying>tie news>news innings>inning inning>inning outings>outing")
    + _rules("outing>outing cannings>canning canning>canning howe>howe proceed>proceed exceed>exceed succeed>succeed")
)
_PLURALS = _rules("sses>ss ies>i ss>ss s>")
_DERIVED = _rules("""
    ational>ate tional>tion enci>ence anci>ance izer>ize bli>ble alli>al entli>ent eli>e ousli>ous ization>ize
    ation>ate ator>ate alism>al iveness>ive fulness>ful ousness>ous aliti>al iviti>ive biliti>ble fulli>ful
""")
_ENDINGS = _rules("icate>ic ative> alize>al iciti>ic ical>ic ful> ness>")
_LAST = _rules("al> ance> ence> er> ic> able> ible> ant> ement> ment> ent> ion> ou> ism> ate> iti> ous> ive> ize>")


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The stem, in lower case."""
    lower = word.lower()
    if lower in _IRREGULAR:
        return _IRREGULAR[lower]
    if len(word) <= 2:
        return lower
    short = _without_plural(lower)
    short = _without_past(short)
    if short.endswith("y") and len(short) > 2 and _sounds(short[:-1])[-1] == "c":
        short = short[:-1] + "i"
    short = _without_derivation(short)
    short = _replaced(short, _ENDINGS, 0)
    short = _without_last(short)
    return _tidy(short)


def _sounds(text: str) -> str:
    """A c for every consonant and a v for every vowel; y is a vowel after a consonant."""
    sounds = ""
    for letter in text:
        vowel = letter in "aeiou" or (letter == "y" and sounds.endswith("c"))
        sounds += "v" if vowel else "c"
    return sounds


def _measure(text: str) -> int:
    """How often a vowel is followed by a consonant: Porter's m."""
    return _sounds(text).count("vc")


def _ends_short(text: str) -> bool:
    """Whether the end sounds as in *hop* or *wil*, or the whole as in *ax*: Porter's *o."""
    sounds = _sounds(text)
    return (sounds.endswith("cvc") and text[-1] not in "wxy") or sounds == "vc"


def _replaced(word: str, rules: Rules, least: int) -> str:
    """The word with its suffix replaced, if what is before the suffix has a measure above ``least``."""
    for suffix, new in rules:
        if word.endswith(suffix):
            rest = word.removesuffix(suffix)
            return rest + new if _measure(rest) > least else word
    return word


def _without_plural(word: str) -> str:
    if word.endswith("ies") and len(word) == 4:  # dies, but not flies
        return word[:-1]
    return _replaced(word, _PLURALS, -1)


def _without_past(word: str) -> str:
    """Without -ed and -ing."""
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]  # died, but not spied
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    suffix = next((suffix for suffix in ("ed", "ing") if word.endswith(suffix)), "")
    rest = word.removesuffix(suffix)
    if not suffix or "v" not in _sounds(rest):
        return word
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    sounds = _sounds(rest)
    if rest[-1:] == rest[-2:-1] and sounds.endswith("c"):
        return rest if rest[-1] in "lsz" else rest[:-1]
    return rest + "e" if sounds.count("vc") == 1 and _ends_short(rest) else rest


def _without_derivation(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]) > 0:
        return _without_derivation(word[:-2])
    if word.endswith("logi"):  # the l is part of the stem, so that short ones as in geology count
        return word[:-1] if _measure(word[:-3]) > 0 else word
    return _replaced(word, _DERIVED, 0)


def _without_last(word: str) -> str:
    if word.endswith("ion") and not word.endswith(("sion", "tion")):
        return word
    return _replaced(word, _LAST, 1)


def _tidy(word: str) -> str:
    """Without a final -e, and with one l for two."""
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _ends_short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
