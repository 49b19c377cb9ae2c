"""Our WordPiece gives the ids that the reference implementation gives, whatever the text."""

from __future__ import annotations

from importlib.resources import files
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramidion.encoder.minilm import wordpiece
from pyramidion.encoder.wordpiece import WordPiece

tokenizers = pytest.importorskip("tokenizers", reason="the reference implementation is not installed")


@pytest.fixture(scope="module")
def reference():
    made = tokenizers.Tokenizer.from_file(str(files("pyramidion.data").joinpath("tokenizer.json")))
    made.no_padding()
    made.no_truncation()
    return made


def ids(text: str) -> list[int]:
    return [piece for pieces in wordpiece().words(text).pieces for piece in pieces]


@given(text=st.text(max_size=60))
def test_same_ids_for_any_text(reference, text):
    assert ids(text) == reference.encode(text, add_special_tokens=False).ids


@pytest.mark.parametrize(
    "text",
    [
        "Unaffable, she said: don't pay $1,200.50!",
        "naïve café in São Paulo",
        "中文和 English 混合",
        "ＦＵＬＬ width ﬁ ligature",
        "a\u200bb\u00a0c\td\ufffd",
        "x" * 101,
        "İstanbul'da",
    ],
)
def test_same_ids_for_awkward_text(reference, text):
    assert ids(text) == reference.encode(text, add_special_tokens=False).ids


@given(text=st.text(max_size=60))
def test_words_stand_where_they_say_in_order_and_apart(text):
    spans = wordpiece().words(text).spans
    assert all(span.fits(text) for span in spans)
    assert all(a.end <= b.start or a == b for a, b in pairwise(spans))


def test_greedy_longest_piece_first():
    """By hand: "unwanted" with these pieces is un + ##want + ##ed, and "xy" cannot be made."""
    names = ["[UNK]", "[CLS]", "[SEP]", "un", "##want", "##ed", "##w", "u"]
    cut = WordPiece({name: i for i, name in enumerate(names)})
    assert cut.words("Unwanted xy").pieces == [(3, 4, 5), (0,)]
