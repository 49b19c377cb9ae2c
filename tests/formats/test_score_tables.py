"""Score tables in every layout of the field."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import ids

import pyramidion as pyr
from pyramidion.study import Score, ScoreTable, Signature

tables = st.dictionaries(
    st.tuples(st.none() | ids, ids, st.sampled_from(["m", "rouge-2-recall", "=x"])), st.none() | st.floats(0, 10)
).map(lambda cells: ScoreTable(tuple(Score(*key, value) for key, value in cells.items()), Signature.of("x")))


@pytest.mark.parametrize("suffix", [".csv", ".json", ".jsonl", ".parquet"])
@given(table=tables)
def test_there_and_back(tmp_path_factory: pytest.TempPathFactory, suffix: str, table: ScoreTable) -> None:
    path = tmp_path_factory.mktemp("scores") / f"scores{suffix}"
    pyr.write_scores(table, path)
    if table.scores:
        assert pyr.read_scores(path).scores == table.scores
    else:
        with pytest.raises(pyr.InputError, match="contains no scores"):
            pyr.read_scores(path)


def test_csv_is_the_long_table_and_no_cell_is_a_formula(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    pyr.write_scores(ScoreTable.of_summaries([Score("t", "=cmd|' /C calc'!A0", "lite", 0.5)], Signature.of("x")), path)
    assert path.read_text().splitlines() == [
        "topic,system,measure,value",
        "t,'=cmd|' /C calc'!A0,lite,0.5",
        ",'=cmd|' /C calc'!A0,lite,0.5",
    ]


def test_json_carries_signature_and_notes(tmp_path: Path, example: pyr.Study) -> None:
    table = pyr.score(example, "lite")
    pyr.write_scores(table, tmp_path / "scores.json")
    held = json.loads((tmp_path / "scores.json").read_text())
    assert held["signature"] == str(table.signature)
    assert len(held["notes"]) == 2
    assert held["scores"][0] == {"topic": "drought-plan", "system": "extract", "measure": "lite", "value": 0.46875}


def test_an_unknown_suffix_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(pyr.UsageError, match=r"\.csv, \.json, \.jsonl, \.parquet"):
        pyr.write_scores(ScoreTable((), Signature.of("x")), tmp_path / "scores.xls")
    assert list(tmp_path.iterdir()) == []


def test_stacked_litepyramids_tables_with_minus_one_for_missing(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(
        "systemId, pyramid, resp\n1, 0.25, 2.5\nA, 0.5, 4\n\n\n"
        "eventId, pyramid, resp\nD1, 0.3, 3\n\n\n"
        "systemId, eventId, pyramid, resp\n1, D1, 0.2, -1\n1, D2, 0.3, 2.5\n"
    )
    table = pyr.read_scores(path)
    assert table.per_system("pyramid") == {"1": 0.25, "A": 0.5}
    assert table.per_summary("resp") == {("D1", "1"): None, ("D2", "1"): 2.5}


def test_the_names_that_others_give_to_columns(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("doc_id,model,mine\nd1,base,0.5\n")
    assert pyr.read_scores(path).scores == (Score("d1", "base", "mine", 0.5),)


def test_sacrerouge_metrics(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    metrics = {"rouge-1": {"recall": 0.4}, "resp": 3}
    line = {"instance_id": "d1", "summarizer_id": "9", "summarizer_type": "peer", "metrics": metrics}
    path.write_text(json.dumps(line))
    table = pyr.read_scores(path)
    assert set(table.scores) == {Score("d1", "9", "rouge-1_recall", 0.4), Score("d1", "9", "resp", 3.0)}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("s.csv", "name,value\nx,1\n", "line 1: no column is called system or topic"),
        ("s.csv", "system,lite\nx,1\ny\n", "line 3: has 1 cells, but the header has 2"),
        ("s.csv", "system,lite\nx,nan\n", "line 2, lite: 'nan' is not a number"),
        ("s.csv", "system,lite\nx,high\n", "'high' is not a number"),
        ("s.csv", "system,measure,value\nx,lite,-1x\n", "line 2, lite: '-1x' is not a number"),
        ("s.csv", "system,lite\nx,1\nx,2\n", "system x, measure lite appears twice"),
        ("s.csv", "", "contains no scores"),
        ("s.csv", "topic,name,lite\nt,x,1\n", "needs a column called system"),
        ("s.csv", "topic;system;lite\nt;x;0,5\n", "line 2, lite: '0,5' is not a number"),
        ("s.json", "{", "is not JSON"),
        ("s.jsonl", '{"system": 3}', "line 1: needs a text 'system'"),
        ("s.jsonl", '{"system": "x", "measure": "m", "value": "high"}', "'high' is not a number"),
    ],
)
def test_bad_tables_are_named(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(pyr.InputError) as caught:
        pyr.read_scores(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_lenient_reads_what_it_can(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("system,lite\nx,1\ny,high\n")
    table = pyr.read_scores(path, lenient=True)
    assert table.per_system("lite") == {"x": 1.0, "y": None}
    assert len(table.notes) == 1


def test_our_own_json_keeps_signature_and_notes(tmp_path: Path, example: pyr.Study) -> None:
    table = pyr.score(example, "lite")
    pyr.write_scores(table, str(tmp_path / "scores.json"))
    back = pyr.read_scores(str(tmp_path / "scores.json"))
    assert back.signature == table.signature
    assert back.notes == table.notes


def test_notes_keep_how_severe_they_are_and_older_files_did_not_say(tmp_path: Path) -> None:
    found = pyr.Problem("a.txt", "is empty", "error"), pyr.Problem("b.txt", "is short", "warning")
    table = pyr.ScoreTable((pyr.Score("t", "x", "m", 1.0),), Signature.of("lite"), found)
    path = tmp_path / "scores.json"
    pyr.write_scores(table, path)
    assert pyr.read_scores(path).notes == found
    path.write_text(path.read_text().replace('"severity": "error",', "").replace('"severity": "warning",', ""))
    assert "severity" not in path.read_text()
    assert [(note.where, note.severity) for note in pyr.read_scores(path).notes] == [
        ("a.txt", "warning"),
        ("b.txt", "warning"),
    ]


@pytest.mark.parametrize("text", ["", "sacrebleu|method:x|v:1", "pyramidion|tie:absent", "pyramidion|method:x"])
def test_what_is_no_signature(text: str) -> None:
    with pytest.raises(ValueError, match="is not a signature"):
        Signature.parse(text)


def test_what_is_kept_of_a_doubled_score_does_not_depend_on_the_order_of_rows(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    for rows in ("x,2\nx,\nx,1\n", "x,1\nx,2\nx,\n"):
        path.write_text("system,lite\n" + rows)
        assert pyr.read_scores(path, lenient=True).per_system("lite") == {"x": 1.0}


def test_a_row_that_cannot_be_read_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_bytes(b"system,topic,lite\nx,t1,1\nx,t\xe9,0\ny,t1,0.5\n")
    with pytest.raises(pyr.InputError, match="line 3: byte 0xe9 is not UTF-8"):
        pyr.read_scores(path)
    assert pyr.read_scores(path, lenient=True).per_summary("lite") == {("t1", "x"): 1.0, ("t1", "y"): 0.5}
