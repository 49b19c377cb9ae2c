"""A score table: means over topics, rankings, and how people see it."""

from __future__ import annotations

import io
import sys
from importlib import metadata

import pytest
from rich.console import Console

from pyramidion import distribution
from pyramidion.errors import MissingExtraError, Problem
from pyramidion.study import Score, ScoreTable, Signature
from pyramidion.study.scores import best_first

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


def test_what_is_equal_but_for_rounding_is_ranked_by_name() -> None:
    means = {"b": 0.1 + 0.2, "a": 0.3, "c": 0.3 + 1e-9, "d": None, "e": float("nan")}
    assert [list(means)[place] for place in best_first(means.values(), means)] == ["c", "a", "b", "d", "e"]


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


def test_only_long_names_of_measures_go_over_two_lines() -> None:
    stream = io.StringIO()
    names = ("rouge-1-f", "rouge-su4-precision")
    Console(file=stream, width=200).print(
        ScoreTable.of_summaries([Score("t", "s", n, 1.0) for n in names], TABLE.signature)
    )
    lines = stream.getvalue().splitlines()
    assert any("rouge-1-f" in line for line in lines)
    assert not any("rouge-su4-precision" in line for line in lines)


def test_names_cannot_steer_a_terminal() -> None:
    table = ScoreTable.of_summaries([Score("t", "a\x1b[31mb", "m\n", 1.0)], Signature.of("x"))
    assert str(table).splitlines()[:2] == ["system       m\ufffd", "a\ufffd[31mb  1.0000"]


def test_an_empty_table_can_be_shown() -> None:
    empty = ScoreTable((), Signature.of("lite"))
    assert str(empty).startswith("system")
    assert "<table>" in empty._repr_html_()


def test_to_pandas_is_the_long_table() -> None:
    frame = TABLE.to_pandas()
    assert list(frame.columns) == ["topic", "system", "measure", "value"]
    assert len(frame) == len(TABLE)
    assert frame["topic"].isna().sum() == 3


def test_without_pandas_the_error_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)  # how Python spells "cannot be imported"
    with pytest.raises(MissingExtraError, match=r"to_pandas needs.*pip install 'pyramidion-eval\[pandas\]'"):
        TABLE.to_pandas()


def test_a_signature_reads_back_from_its_text() -> None:
    text = "pyramidion|method:lite|tie:absent|screen:positional<0.5x1|v:0.1.0"
    signature = Signature.parse(text)
    assert signature == Signature("lite", (("tie", "absent"), ("screen", "positional<0.5x1")), "0.1.0")
    assert str(signature) == text
    assert Signature.parse(str(TABLE.signature)) == TABLE.signature
    assert str(Signature.of("auto", min_agreement=0.5, clip=True, exact=False)).startswith(
        "pyramidion|method:auto|min-agreement:0.5|clip:yes|exact:no|v:"
    )


@pytest.mark.parametrize(
    "text", ["", "pyramidion|method:lite", "sacrebleu|method:lite|v:1", "pyramidion|lite|v:1", "pyramidion|method:x|1"]
)
def test_what_is_no_signature_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a signature"):
        Signature.parse(text)


def test_a_source_tree_that_is_not_installed_has_no_version(monkeypatch: pytest.MonkeyPatch) -> None:
    distribution.version.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "path", [])
        assert Signature.of("x").version == "unknown"
    distribution.version.cache_clear()
    assert Signature.of("x").version == metadata.version("pyramidion-eval")


def test_a_table_says_what_it_holds() -> None:
    assert repr(TABLE) == "<ScoreTable: 3 systems, 2 topics, m>"


def test_only_the_first_five_notes_are_shown() -> None:
    notes = [Problem(f"topic {i}", "not scored", "warning") for i in range(7)]
    lines = str(ScoreTable.of_summaries([Score("t", "s", "m", 1.0)], Signature.of("x"), notes)).splitlines()[3:]
    assert lines == [*(f"! topic {i}: not scored" for i in range(5)), "! ... and 2 more notes"]
    lines = str(ScoreTable.of_summaries([Score("t", "s", "m", 1.0)], Signature.of("x"), notes[:5])).splitlines()[3:]
    assert lines == [f"! topic {i}: not scored" for i in range(5)]
