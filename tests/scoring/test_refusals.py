"""Choices that do not exist and data that is not there are refused, each with what would do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import pyramidion as pyr
from pyramidion.scoring import lite
from pyramidion.study import UNMATCHED, Judgment, Judgments


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"measures": ["lite", "modified"]}, "unknown lite measure 'modified'; known values are: lite"),
        ({"min_agreement": 1.01}, "min_agreement must be between 0 and 1, not 1.01"),
        ({"min_agreement": -0.01}, "min_agreement must be between 0 and 1, not -0.01"),
        ({"rounds": 0}, "rounds must be at least 1, not 0"),
        ({"tie": "maybe"}, "unknown tie 'maybe'; known values are: absent, present"),
        ({"agreement": "mood"}, "unknown agreement 'mood'; known values are: positional, sequence"),
    ],
)
def test_lite_refuses_what_it_does_not_know(example: pyr.Study, choice: dict[str, Any], message: str) -> None:
    with pytest.raises(pyr.UsageError) as caught:
        pyr.score(example, "lite", **choice)
    assert str(caught.value) == message


def test_the_ends_of_a_share_are_shares(example: pyr.Study) -> None:
    # Nobody agrees less than never, and nobody in the example always agrees.
    assert len(lite.score(example, min_agreement=0).per_summary("lite")) == len(example.peers)
    assert lite.score(example, min_agreement=1).scores == ()


def test_responsiveness_needs_ratings(example: pyr.Study) -> None:
    # Counts of unmatched content and votes between two summaries are no ratings of one.
    unrated = Judgments(
        [
            Judgment("t", "x", "j", 3, aspect=UNMATCHED),
            Judgment("t", "x", "j", 1, aspect="overall", other="y"),
            Judgment("t", "x", "j", 1, unit="u"),
        ]
    )
    with pytest.raises(pyr.UsageError, match="the study has no ratings"):
        pyr.score(replace(example, judgments=unrated), "responsiveness")
