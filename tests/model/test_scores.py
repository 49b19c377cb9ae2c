"""A score table: means over topics, rankings, and how people see it."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest
from rich.console import Console

from pyramidion.errors import Problem
from pyramidion.model import Score, ScoreTable, Signature

TABLE = ScoreTable.of_summaries(
    [
        Score("t1", "a", "m", 0.5),
        Score("t2", "a", "m", 1.0),
        Score("t1", "b", "m", 0.9),
        Score("t2", "b", "m", None),
        Score("t1", "c", "m", None),
    ],
    Signature.of("lite", tie="absent", screen=None, kinds=("b", "a")),
    [Problem("topic t2, system b", "not scored", "warning")],
)


def test_means_leave_undefined_scores_out() -> None:
    assert TABLE.per_system("m") == {"a": 0.75, "b": 0.9, "c": None}
    assert TABLE.ranking("m") == [("b", 0.9), ("a", 0.75), ("c", None)]
    assert TABLE.value("a", "m", "t2") == 1.0
    assert TABLE.per_summary("m")["t2", "b"] is None
    assert (TABLE.systems, TABLE.topics, TABLE.measures) == (("a", "b", "c"), ("t1", "t2"), ("m",))
    with pytest.raises(KeyError):
        TABLE.value("z", "m")


def test_equal_scores_rank_by_name_and_zero_is_not_missing() -> None:
    table = ScoreTable.of_summaries([Score("t", s, "m", 0.0) for s in "cab"], Signature.of("x"))
    assert table.ranking("m") == [("a", 0.0), ("b", 0.0), ("c", 0.0)]


def test_text_shows_ranking_signature_and_notes() -> None:
    lines = str(TABLE).splitlines()
    assert lines[0].split() == ["system", "m"]
    assert lines[1].split() == ["b", "0.9000"]
    assert lines[3].split() == ["c", "-"]
    assert lines[4].startswith("pyramidion|method:lite|tie:absent|screen:None|kinds:a+b|v:")
    assert lines[5] == "! topic t2, system b: not scored"


HOSTILE = ScoreTable.of_summaries(
    [
        Score("t", "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', 1.0),
        Score("t", "[red]x[/red]", "m", 0.5),
    ],
    Signature.of("<b>"),
)


def test_html_is_escaped() -> None:
    page = HOSTILE._repr_html_()
    assert "<script" not in page
    assert "<img" not in page
    assert "&lt;script&gt;" in page


def test_rich_text_is_literal() -> None:
    stream = io.StringIO()
    Console(file=stream, width=200).print(HOSTILE)
    assert "[red]x[/red]" in stream.getvalue()


def test_an_empty_table_can_be_shown() -> None:
    empty = ScoreTable((), Signature.of("lite"))
    assert str(empty).startswith("system")
    assert "<table>" in empty._repr_html_()


def test_to_pandas_is_the_long_table() -> None:
    frame = TABLE.to_pandas()
    assert list(frame.columns) == ["topic", "system", "measure", "value"]
    assert len(frame) == len(TABLE)
    assert frame["topic"].isna().sum() == 3


def test_without_pandas_the_error_names_the_command() -> None:
    code = (
        "import sys; sys.modules['pandas'] = None\n"
        "import pyramidion as pyr\n"
        "try: pyr.ScoreTable((), pyr.Signature.of('x')).to_pandas()\n"
        "except pyr.MissingExtraError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'pyramidion[pandas]'" in done.stdout
