"""Stems of words: the paper's own examples, and NLTK's stems of every word there is."""

from __future__ import annotations

import json
import re
import string
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer

import pyramidion as pyr
from pyramidion.encoder.stems import stem

THEIRS = PorterStemmer()
SUFFIXES = re.findall(
    r"\w+",
    """
    s sses ies ss ied eed ed ing at bl iz y ational tional enci anci izer bli abli alli entli eli ousli ization ation
    ator alism iveness fulness ousness aliti iviti biliti fulli logi icate ative alize iciti ical ful ness al ance ence
    er ic able ible ant ement ment ent ion sion tion ou ism ate iti ous ive ize e ll l
    """,
)


@pytest.mark.parametrize(
    ("word", "wanted"),
    [
        ("caresses", "caress"), ("ponies", "poni"), ("cats", "cat"),  # step 1a
        ("feed", "feed"), ("agreed", "agre"), ("plastered", "plaster"), ("bled", "bled"), ("motoring", "motor"),
        ("sing", "sing"), ("hopping", "hop"), ("falling", "fall"), ("hissing", "hiss"), ("filing", "file"),  # 1b
        ("happy", "happi"),  # 1c
        ("relational", "relat"), ("rational", "ration"), ("vietnamization", "vietnam"), ("hopefulness", "hope"),  # 2
        ("triplicate", "triplic"), ("goodness", "good"),  # 3
        ("revival", "reviv"), ("adoption", "adopt"), ("homologous", "homolog"), ("bowdlerize", "bowdler"),  # 4
        ("probate", "probat"), ("rate", "rate"), ("cease", "ceas"), ("controlling", "control"), ("roll", "roll"),  # 5
        ("Dying", "die"), ("news", "news"), ("dies", "die"), ("died", "die"), ("enjoy", "enjoy"), ("spy", "spi"),
        ("is", "is"), ("A", "a"), ("", ""),
    ],
)  # fmt: skip
def test_examples_of_the_paper_and_where_nltk_differs(word: str, wanted: str) -> None:
    assert stem(word) == wanted


def test_every_word_of_the_vocabulary_has_the_stem_that_nltk_gives_it(example: pyr.Study) -> None:
    pieces = json.loads((files("pyramidion") / "data" / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    words = {word.removeprefix("##") for word in pieces} | set(" ".join(s.text for s in example.summaries).split())
    words |= {word + suffix for word in sorted(words)[::40] for suffix in SUFFIXES}
    assert len(words) > 60_000
    assert not {word: stem(word) for word in words if stem(word) != THEIRS.stem(word)}


LETTERS = st.text(st.sampled_from(string.ascii_letters + string.digits + "aeiouyyllsstté'-"), max_size=9)


@given(st.tuples(LETTERS, st.lists(st.sampled_from(SUFFIXES), max_size=3)))
def test_any_word_has_the_stem_that_nltk_gives_it(parts: tuple[str, list[str]]) -> None:
    word = parts[0] + "".join(parts[1])
    assert stem(word) == THEIRS.stem(word)


def test_a_very_long_word_has_a_stem() -> None:
    assert stem("y" * 20_000 + "alli" * 2000)
