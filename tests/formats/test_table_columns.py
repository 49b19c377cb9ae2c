"""Which column holds what: names as people write them, cells where names do not tell, and advice that can be followed
to the letter."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pandas
import polars
import pytest
from tests.cli.running import run

import pyramidion as pyr
from pyramidion.formats import inspect

ROWS = [
    {"topic": topic, "system": system, "summary": f"{system} says that {said}.", "reference": f"People say {said} now."}
    for topic, said in (("floods", "water came"), ("storm", "wind blew"), ("quake", "it shook"))
    for system in ("bart", "t5")
]
WANTED = {
    system: [f"{system} says that {said}." for said in ("water came", "it shook", "wind blew")]
    for system in ("bart", "t5")
}


def put(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def table(path: Path, names: dict[str, str], sep: str = ",", encoding: str = "utf-8") -> Path:
    """The rows under other names, in this order."""
    frame = pandas.DataFrame(ROWS)[list(names)].rename(columns=names)
    frame.to_csv(path, sep=sep, encoding=encoding, index=False)
    return path


def texts(study: pyr.Study) -> dict[str, list[str]]:
    held: dict[str, list[str]] = {}
    for peer in sorted(study.peers, key=lambda peer: (peer.topic, peer.system)):
        held.setdefault(peer.system, []).append(peer.text)
    return held


def warned(source: Any, **how: Any) -> str:
    return "\n".join(map(str, inspect(source, **how).problems))


def refused(source: Any, **how: Any) -> str:
    with pytest.raises(pyr.PyramidionError) as caught:
        pyr.load(source, **how)
    return str(caught.value)


# -- names -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "names",
    [
        ("Doc ID", "Model Name", "Output Text", "Gold Text"),
        ("doc-id", "MODEL_NAME", "Generated Summary", "Reference Summary"),
        ("id", "model_id", "decoded", "references"),  # SummEval
    ],
)
def test_names_are_recognised_however_they_are_written(names: tuple[str, ...], tmp_path: Path) -> None:
    path = table(tmp_path / "x.csv", dict(zip(ROWS[0], names, strict=True)), sep=";", encoding="utf-8-sig")
    study = pyr.load(path)
    assert texts(study) == WANTED
    assert len(study.references) == 3


def test_two_spellings_of_one_name_are_two_columns(tmp_path: Path) -> None:
    path = put(tmp_path / "x.csv", "id,summary,Summary,reference\na,It rained.,It snowed.,One day it rained.\n")
    assert "several columns may be the summary: summary, Summary" in refused(path)


@pytest.mark.parametrize("order", [("row", "doc"), ("doc", "row")])
def test_the_topic_is_what_rows_share(order: tuple[str, str], tmp_path: Path) -> None:
    rows = [{"row": n, "doc": row["topic"], **row} for n, row in enumerate(ROWS)]
    frame = pandas.DataFrame(rows)[[*order, "system", "summary", "reference"]]
    study = pyr.load(frame.rename(columns={"row": "id", "doc": "doc_id"}))
    assert [topic.id for topic in study.topics] == ["floods", "quake", "storm"]


def test_ids_that_number_rows_are_told(tmp_path: Path) -> None:
    frame = pandas.DataFrame(ROWS).drop(columns="topic").reset_index(names="id")
    assert "if id numbers the rows, leave it out" in warned(frame)
    assert "numbers the rows" not in warned(pandas.DataFrame(ROWS))


# -- advice ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "names",
    [
        {"topic": "Doc ID", "system": "Modell", "summary": "Zusammenfassung", "reference": "Referenz"},
        {"topic": "Nr", "system": "my model", "reference": "gold standard", "summary": "the output"},
        {"topic": "wo", "system": "wer", "summary": "was", "reference": "wie"},
        {"system": "wer", "reference": "wie", "topic": "wo", "summary": "was"},
        {"system": "it's $HOME", "topic": "a, b", "reference": "r;s", "summary": "*"},
    ],
    ids=lambda names: "-".join(names.values()),
)
def test_advice_leads_to_the_right_study_if_taken_literally(names: dict[str, str], tmp_path: Path) -> None:
    path = table(tmp_path / "x.csv", names)
    done = run("validate", "x.csv", cwd=tmp_path)
    assert done.returncode != 0
    advice = next(line for line in done.stderr.splitlines() if line.startswith("Name yours"))
    option, columns = shlex.split(advice.partition("e.g. ")[2])
    assert option == "--columns"
    assert texts(pyr.load(path, columns=columns)) == WANTED
    assert run("validate", "x.csv", option, columns, cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("names", [{"topic": "wo", "system": "wer", "summary": "was", "reference": "wie"}])
def test_data_frames_get_the_same_advice(names: dict[str, str]) -> None:
    frame = pandas.DataFrame(ROWS).rename(columns=names)
    message = refused(frame)
    assert "Its columns are: wo, wer, was, wie." in message
    assert message.count("\n    ") == 3
    columns = json.loads(re.search(r"columns=(\{.*\})", message)[1].replace("'", '"'))  # type: ignore[index]
    assert texts(pyr.load(frame, columns=columns)) == WANTED


@pytest.mark.parametrize(
    ("text", "said", "unsaid"),
    [
        ("id,reference\na,One day it rained.\n", "No other column looks like one of summaries.", "--columns"),
        ("id,reference\na,One day.\n", "no column holds summaries", "--columns"),
        (
            'id,summary,reference,references\na,It rained.,One day it rained.,"[""A."", ""B.""]"\n',
            "--columns summary=summary,reference=reference,topic=id",
            "summary=references",
        ),
        ("id,model,summary,gold,ref\na,m,It rained.,x.org,It did rain.\n", "reference=ref,system=model", "=gold"),
    ],
)
def test_advice_names_no_column_twice_and_nothing_for_a_text_that_is_none(
    text: str, said: str, unsaid: str, tmp_path: Path
) -> None:
    message = refused(put(tmp_path / "x.csv", text))
    assert said in message
    assert unsaid not in message


def test_a_column_that_may_name_systems_is_never_passed_over(tmp_path: Path) -> None:
    names = {"system": "engine", "summary": "summary", "reference": "reference"}
    path = table(tmp_path / "numbered.csv", names)
    said = warned(path)
    assert "if 'engine' says which system wrote a summary: --columns system=engine" in said
    path = table(tmp_path / "named.csv", {"topic": "id", **names})
    assert "has a summary by named already (first: line 2); if the column 'engine' names systems: --columns" in warned(
        path
    )
    assert texts(pyr.load(path, columns="system=engine")) == WANTED
    field = put(tmp_path / "field.csv", "topic,id,summary,reference\nnews,1,A b.,C.\nnews,2,D e.,F.\n")
    assert "already (first: line 2); if the column 'id' names topics: --columns topic=id" in warned(field)
    assert len(pyr.load(field, columns="topic=id").peers) == 2


# -- cells -------------------------------------------------------------------------------------------------------


def wide(extra: dict[str, list[str]], reference: str) -> pandas.DataFrame:
    frame = pandas.DataFrame(ROWS).pivot(index="topic", columns="system", values="summary").reset_index()
    frame[reference] = pandas.DataFrame(ROWS).drop_duplicates("topic").sort_values("topic")["reference"].tolist()
    return frame.assign(**extra)


def test_labels_are_no_systems() -> None:
    frame = wide({"genre": ["news"] * 3, "author": ["Jane Doe", "Al Dente", "Jo"], "mail": ["a@b.org"] * 3}, "gold")
    assert texts(pyr.load(frame)) == WANTED
    said = warned(frame)
    assert "columns that are not used: 'genre', 'author', 'mail'; to say which hold summaries" in said
    assert "--columns summary=bart,summary=t5" in said
    named = pyr.load(frame, columns={"summary": ["author", "bart"]})
    assert named.systems == ("author", "bart")


def test_systems_of_few_words_and_of_none_are_systems() -> None:
    short = pandas.DataFrame({"id": [1, 2], "gold": ["rain", "sun"], "a": ["rain", "fog"], "b": ["sun", "sun"]})
    assert pyr.load(short).systems == ("a", "b")
    assert pyr.load(wide({"mute": ["", "", ""]}, "gold")).systems == ("bart", "mute", "t5")


def test_a_summary_beside_texts_by_systems_is_the_reference(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    wide({"document": ["A long story."] * 3}, "summary").to_csv(path, index=False)
    study = pyr.load(path)
    assert texts(study) == WANTED
    assert len(study.references) == 3
    assert "'summary' is taken for the reference beside bart, t5" in warned(path)
    assert pyr.load(path, columns="summary=summary").systems == ("x",)
    assert pyr.load(put(tmp_path / "y.csv", "id,summary,mood\na,It rained.,sad\n")).references == ()


def test_in_a_folder_of_tables_a_summary_is_a_summary(tmp_path: Path) -> None:
    put(tmp_path / "bart.csv", "id,summary,remark\na,It rained.,This one is quite good.\n")
    put(tmp_path / "gold.csv", "id,reference\na,One day it rained.\n")
    assert [(s.system, s.text) for s in pyr.load(tmp_path).peers] == [("bart", "It rained.")]


@pytest.mark.parametrize(
    ("row", "said", "kept"),
    [
        ({"prediction": ["A.", "B."], "reference": "R."}, "prediction is a list in 1 row", ["R.", "A.\nB."]),
        ({"prediction": ["A."], "reference": "R."}, "", ["R.", "A."]),
        ({"prediction": "A.", "references": [["R.", "S."]]}, "references is a list inside a list", ["R.\nS.", "A."]),
        ({"prediction": "A.", "references": ["R.", "S."]}, "", ["R.", "S.", "A."]),
    ],
)
def test_lists_that_are_joined_are_told(row: dict[str, Any], said: str, kept: list[str], tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", json.dumps({"id": "a", **row}))
    assert warned(path).count("are read as the sentences of one") == bool(said)
    assert said in warned(path)
    assert [s.text for s in pyr.load(path).summaries] == kept
    listed = {k: json.dumps(v) if k == "references" else v for k, v in row.items()}
    if isinstance(row["prediction"], str):
        pandas.DataFrame([{"id": "a", **listed}]).to_csv(tmp_path / "x.csv", index=False)
        assert [s.text for s in pyr.load(tmp_path / "x.csv").summaries] == kept


# -- files -------------------------------------------------------------------------------------------------------


def test_json_by_id_and_as_data_frames_are_written(tmp_path: Path) -> None:
    rows = {
        "a": {"prediction": "It rained.", "reference": "One day it rained."},
        "b": {"prediction": "Snow.", "reference": "Snow fell."},
    }
    study = pyr.load(put(tmp_path / "x.json", json.dumps(rows)))
    assert [(s.topic, s.text) for s in study.peers] == [("a", "It rained."), ("b", "Snow.")]
    many = {"a": {"bart": "It rained.", "gold": "One day it rained."}}
    assert pyr.load(put(tmp_path / "y.json", json.dumps(many))).systems == ("bart",)
    frame = pandas.DataFrame(rows).T
    for orient in ("columns", "index", "split", "records"):
        path = put(tmp_path / "z.json", frame.to_json(orient=orient))  # type: ignore[call-overload]
        assert [s.text for s in pyr.load(path).peers] == ["It rained.", "Snow."]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_and_encodings(encoding: str, end: str, tmp_path: Path) -> None:
    text = (
        pandas.DataFrame(ROWS).replace("water", "wäter…", regex=True).to_csv(index=False, lineterminator=end, sep=";")
    )
    study = pyr.load(put(tmp_path / "x.csv", text.encode(encoding)))
    assert len(study.peers) == 6
    assert study.summary("floods", "bart").text == "bart says that wäter… came."  # type: ignore[union-attr]
    lines = end.join(map(json.dumps, ROWS))
    if encoding != "utf-16":
        assert texts(pyr.load(put(tmp_path / "x.jsonl", lines.encode(encoding)))) == WANTED


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("x.json", b'[{"id": 1, "prediction": "a"},\n{"id": 2,', "x.json: is not JSON: Expecting property name"),
        ("x.json", b'[{"id": 1, "prediction": "a"},\n{"id": 2,', "at line 2, column"),
        ("x.json", b'{"prediction": ["a", "b"], "reference": ["c"]}', "different lengths: prediction 2, reference 1"),
        (
            "x.jsonl",
            b'{"id": "a", "prediction": "Caf\xe9"}\n',
            "line 1: byte 0xe9 is not UTF-8; save the file as UTF-8",
        ),
        ("x.csv", b"nr;was\n1;Caf\xe9 ouvert hier soir\n", "line 2: byte 0xe9 is not UTF-8; save the file as UTF-8"),
        ("x.csv", b"nr;was\n1;Il a plu hier soir.\n2;Caf\xe9\n", "line 3: byte 0xe9 is not UTF-8"),
        ("x.csv", b"\xe9a;b\n1;Il a plu hier soir.\n", "line 1: byte 0xe9 is not UTF-8"),
        ("x.csv", "id,summary,reference\na,b,c\n".encode("utf-16") + b"\0", "line 3: is not UTF-16"),
        ("x.csv", "id,summary,reference\na,b,c\n".encode("utf-16-le"), "perhaps UTF-16; save the file as UTF-8"),
        ("x.parquet", b"nothing", "is not Parquet"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(name: str, text: bytes, said: str, tmp_path: Path) -> None:
    message = refused(put(tmp_path / name, text))
    assert said in message
    assert "has no rows" not in message


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (['{"id": 2, "prediction": "Hi there"'], "1 of 3 rows cannot be read and are left out"),
        (['{"id": 2, "prediction": NaN}', "3"], "2 of 4 rows cannot be read and are left out"),
        (['{"id": 2, "prediction": 3, "reference": "A."}'], "1 of 3 rows have a cell that cannot be read"),
        (['{"id": 2, "prediction": "A.", "reference": 4}'], "1 of 3 rows have a cell that cannot be read"),
    ],
)
def test_lenient_reading_says_how_many_rows_are_gone(lines: list[str], said: str, tmp_path: Path) -> None:
    good = ['{"id": 1, "prediction": "A b.", "reference": "A."}', '{"id": 3, "prediction": "C.", "reference": "D."}']
    put(tmp_path / "x.jsonl", "\n".join([good[0], *lines, good[1]]))
    done = run("score", "x.jsonl", "-m", "rouge", "--lenient", cwd=tmp_path)
    assert done.returncode == 0
    assert said in done.stderr


def test_nested_cells_are_no_danger(tmp_path: Path) -> None:
    for depth in range(940, 1000, 2):
        cell = "[" * depth + "]" * depth
        row = json.dumps({"id": 1, "doc_id": 2, "summary": 3, "reference": 4}).replace("1", cell).replace("2", cell)
        assert refused(put(tmp_path / "x.jsonl", f"{row}\n{row}\n"))


# -- tables in memory --------------------------------------------------------------------------------------------


def test_frames_of_every_kind() -> None:
    frame = pandas.DataFrame(ROWS)
    assert texts(pyr.load(polars.DataFrame(ROWS).lazy())) == WANTED
    for index in (["topic", "system"], ["topic"], ["system"]):
        assert texts(pyr.load(frame.set_index(index))) == WANTED
        assert texts(pyr.load(frame.set_index(index, drop=False))) == WANTED
        assert texts(pyr.load(frame.set_index(index), columns={"system": "system"})) == WANTED


def test_tables_without_rows_and_columns_of_different_lengths() -> None:
    frame = pandas.DataFrame(ROWS)
    for empty in (pandas.DataFrame(), frame.iloc[:0], frame[["topic"]].iloc[:0], [], {}, polars.DataFrame()):
        assert "has no rows" in refused(empty)
    uneven = {"prediction": ["a b", "c"], "reference": ["a"]}
    assert refused(uneven) == "the table: has columns of different lengths: prediction 2, reference 1"
    assert "not from Series" in refused(frame["summary"])
