"""Addresses of segments, and what a sentence must look like."""

from __future__ import annotations

import pytest
from tests.pyramids.builders import text_of

from pyramidion.encoder.sentences import Clause, SegmentedText, SegmentId, Sentence, SentenceId, left_over
from pyramidion.errors import UsageError
from pyramidion.study.texts import Span


def test_segments_are_addressed_by_summary_sentence_segmentation_and_place() -> None:
    text = text_of("A", [[1, 2], [1]])
    assert [segment.id for segment in text.segments("ref")] == [
        SegmentId("ref", 0, 0, 0),
        SegmentId("ref", 0, 1, 0),
        SegmentId("ref", 0, 1, 1),
        SegmentId("ref", 1, 0, 0),
    ]
    assert [segment.text for segment in text.segments("ref")] == [clause.text for clause in text.clauses()]
    assert SegmentId("ref", 3, 1, 0).of_sentence == SentenceId("ref", 3)


def test_an_empty_text_has_no_segments() -> None:
    assert SegmentedText("").segments("ref") == []


@pytest.mark.parametrize("sizes", [[], [2], [1, 1], [1, 2, 1]])
def test_a_sentence_is_first_whole_and_then_in_pieces(sizes: list[int]) -> None:
    cuts = tuple(tuple(Clause((Span(0, 4),), "word") for _ in range(size)) for size in sizes)
    with pytest.raises(ValueError, match="sentence at 0-4"):
        Sentence(Span(0, 4), cuts)


def test_a_sentence_left_over_stays_whole_or_is_cut_finest() -> None:
    assert left_over([1, 2, 3, 3], "whole") == 0
    assert left_over([1, 2, 3, 3], "finest") == 2
    with pytest.raises(UsageError, match="whole, finest"):
        left_over([1], "half")  # type: ignore[arg-type]
