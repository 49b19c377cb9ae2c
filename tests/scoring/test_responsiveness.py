"""Ratings of whole summaries: the mean over raters, then over topics."""

from __future__ import annotations

import pytest

import pyramidion as pyr
from pyramidion.scoring import responsiveness
from pyramidion.study import Aspect, Judge, Judgment, Judgments, Study, Summary, Topic

RATED = Study(
    topics=(Topic("t1"), Topic("t2")),
    summaries=tuple(Summary(topic, system, "") for topic in ("t1", "t2") for system in "xy"),
    judges=(Judge("a"), Judge("b"), Judge("m", "model")),
    aspects=(Aspect("style", 1, 5), Aspect("length", 1, 5), Aspect("content", 1, 10)),
    judgments=Judgments(
        [
            Judgment("t1", "x", "a", 4, aspect="content"),
            Judgment("t1", "x", "b", 7, aspect="content"),
            Judgment("t1", "x", "m", 10, aspect="content"),
            Judgment("t2", "x", "a", 2, aspect="content"),
            Judgment("t2", "x", "b", None, aspect="content"),
            Judgment("t1", "y", "a", 3, aspect="style"),
        ]
    ),
)


def test_means_by_hand() -> None:
    table = responsiveness.score(RATED)
    # People only: x has (4 + 7) / 2 on t1 and 2 on t2, (5.5 + 2) / 2 in all.
    assert table.value("x", "content", "t1") == 5.5
    assert table.value("x", "content") == 3.75
    assert table.value("x", "style") is None
    assert table.value("y", "style") == 3
    assert "topic t2: not scored, nothing to score them by: y" in map(str, table.notes)
    assert "topic t1: style is undefined for: x" in map(str, table.notes)
    assert responsiveness.score(RATED, judges="all").value("x", "content", "t1") == 7
    assert responsiveness.score(RATED, judges="m").value("x", "content") == 10


def test_measures_are_the_rated_aspects_in_the_order_declared() -> None:
    assert responsiveness.score(RATED).measures == ("style", "content")
    assert responsiveness.score(RATED, measures=["content", "style"]).measures == ("content", "style")
    with pytest.raises(pyr.UsageError, match="unknown rated aspect 'length'; known values are: content, style"):
        responsiveness.score(RATED, measures=["length"])
