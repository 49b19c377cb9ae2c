"""Words of a file are found again in the study's text, or the file is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramidion.annotation.commands import RefusedError, Subject
from pyramidion.annotation.imports import _mover, _same_units, import_of_file
from pyramidion.study import ContentUnit, Contributor, Pyramid, Span

words = st.lists(st.text(st.sampled_from("abé👩\u0301م."), min_size=1, max_size=5), min_size=1, max_size=8)
gaps = st.sampled_from([" ", "\n", "  ", "\t", " \n "])


@given(words, st.data())
def test_spans_move_to_the_same_words(parts: list[str], data: st.DataObject) -> None:
    source, target = (
        "".join(part for word in parts for part in (word, data.draw(gaps, label="gap"))) for _ in range(2)
    )
    start = data.draw(st.integers(0, len(source) - 1))
    span = Span(start, data.draw(st.integers(start + 1, len(source))))
    mover = _mover(source, target)
    assert mover is not None
    moved = mover((span,))
    told = "".join(span.of(source).split())
    assert "".join("".join(piece.of(target).split()) for piece in moved) == told
    assert all(piece.fits(target) for piece in moved)
    assert len(moved) == (1 if told or source == target else 0), "white space alone is nowhere else"


def test_other_words_are_another_text() -> None:
    assert _mover("Rivers ran dry.", "Rivers run dry.") is None
    assert _mover("Rivers ran dry.", "rivers ran dry.") is None


def test_units_are_known_by_label_and_then_by_number() -> None:
    ours = [ContentUnit(id, label) for id, label in (("u01", "One"), ("u02", "Same"), ("u03", "Same"), ("u04", ""))]
    theirs = [
        ContentUnit(id, label) for id, label in (("9", " one"), ("3", "SAME"), ("2", "Same"), ("4", ""), ("5", "Same"))
    ]
    assert _same_units(theirs, ours) == {"9": "u01", "3": "u03", "2": "u02", "4": "u04"}


def test_the_kind_of_file_must_fit() -> None:
    pyramid = Pyramid("t", ("A",), (ContentUnit("1", "x", (Contributor("A"),)),))
    with pytest.raises(RefusedError, match=r"a \.pyr file is needed"):
        import_of_file(Subject.of_pyramid("t", {"A": "x"}), "x.pan", "")
    with pytest.raises(RefusedError, match=r"a \.pan file"):
        import_of_file(Subject.of_peer("t", "s", "x", pyramid), "x", "")
