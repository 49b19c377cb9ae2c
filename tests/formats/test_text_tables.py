"""Tables of texts in every form that people have them: the same question by every road, the same answer."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import datasets
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.running import run

import pyramidion as pyr
from pyramidion.errors import Problems
from pyramidion.formats import inspect, text_tables
from pyramidion.formats.files import break_at_marks

HEADER = "id,system,summary,reference"
ROWS = [
    {"id": topic, "model": system, "output": f"{system} says {said}.", "gold": f"People say {said} and more."}
    for topic, said in (("floods", "water came"), ("storm", "wind blew"), ("quake", "it shook"))
    for system in ("bart", "t5")
]


def put(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def told(path: Path, **how: Any) -> list[str]:
    return [str(problem) for problem in inspect(path, **how).problems]


def scores(study: pyr.Study) -> dict[tuple[str, str], float | None]:
    return pyr.score(study, "rouge").per_summary("rouge-1-recall")


WANTED = scores(
    pyr.Study(
        tuple(pyr.Topic(topic) for topic in ("floods", "quake", "storm")),
        tuple(
            {
                **{("r", row["id"]): pyr.Summary(row["id"], "reference", row["gold"], "reference") for row in ROWS},
                **{(row["model"], row["id"]): pyr.Summary(row["id"], row["model"], row["output"]) for row in ROWS},
            }.values()
        ),
    )
)
FRAME = pandas.DataFrame(ROWS)


def csv_of(rows: list[dict[str, Any]], **how: Any) -> str:
    file = io.StringIO()
    writer = csv.DictWriter(file, list(rows[0]), **how)
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def wide(folder: Path) -> Path:
    texts = FRAME.pivot(index="id", columns="model", values="output")
    texts["reference"] = FRAME.drop_duplicates("id").set_index("id")["gold"]
    texts.reset_index().to_csv(folder / "wide.csv", index=False)
    return folder / "wide.csv"


def parquet(folder: Path) -> Path:
    lists = [[row["gold"]] for row in ROWS]
    pyarrow.parquet.write_table(pyarrow.table({**FRAME.to_dict("list"), "gold": lists}), folder / "x.parquet")
    return folder / "x.parquet"


def many(folder: Path) -> Path:
    for system, rows in FRAME.groupby("model"):
        rows[["id", "output", "gold"]].to_csv(folder / f"{system}.csv", index=False)
    return folder


ROADS: dict[str, Callable[[Path], Any]] = {
    "csv": lambda folder: put(folder / "x.csv", csv_of(ROWS)),
    "csv of a data frame with its index": lambda folder: put(folder / "x.csv", FRAME.to_csv()),
    "csv with semicolons, CRLF and BOM": lambda folder: put(
        folder / "x.csv", b"\xef\xbb\xbf" + csv_of(ROWS, delimiter=";", lineterminator="\r\n").encode()
    ),
    "tsv": lambda folder: put(folder / "x.tsv", csv_of(ROWS, delimiter="\t")),
    "shuffled": lambda folder: put(folder / "x.csv", FRAME.sample(frac=1, random_state=3).to_csv(index=False)),
    "json lines": lambda folder: put(folder / "x.jsonl", "\n".join(map(json.dumps, ROWS))),
    "json": lambda folder: put(folder / "x.json", json.dumps(ROWS)),
    "json in an object": lambda folder: put(folder / "x.json", json.dumps({"version": 1, "data": ROWS})),
    "json of columns": lambda folder: put(folder / "x.json", FRAME.to_json()),
    "a column called type": lambda folder: put(
        folder / "x.jsonl", "\n".join(json.dumps({"type": "news", **row}) for row in ROWS)
    ),
    "lists in csv": lambda folder: put(
        folder / "x.csv", csv_of([{**row, "gold": json.dumps([row["gold"]])} for row in ROWS])
    ),
    "lists as Python writes them": lambda folder: put(
        folder / "x.csv", csv_of([{**row, "gold": [row["gold"]]} for row in ROWS])
    ),
    "parquet": parquet,
    "wide": wide,
    "a table for each system": many,
    "pandas": lambda _: FRAME,
    "polars": lambda _: polars.DataFrame(ROWS),
    "arrow": lambda _: pyarrow.Table.from_pylist(ROWS),
    "datasets": lambda _: datasets.Dataset.from_list(ROWS),
    "rows": lambda _: ROWS,
    "columns": lambda _: FRAME.to_dict("list"),
}


@pytest.mark.parametrize("road", ROADS)
def test_every_road_leads_to_the_same_scores(road: str, tmp_path: Path) -> None:
    study = pyr.load(ROADS[road](tmp_path))
    assert scores(study) == WANTED
    assert len(study.references) == 3  # what rows repeat is stored once


def test_real_texts_have_the_same_scores_in_a_table(real_data: Path, tmp_path: Path) -> None:
    study = pyr.load(real_data / "realsumm-half")
    pyr.save(study, tmp_path / "x.csv", format="table")
    back = pyr.load(tmp_path / "x.csv")
    assert (len(back.peers), len(back.systems), len(back.references)) == (1250, 25, 50)
    assert scores(back) == scores(study)
    assert not any("<" in s.text and ">" in s.text for s in study.references)


# -- what is recognised ------------------------------------------------------------------------------------------


def test_what_was_recognised_is_said(tmp_path: Path) -> None:
    path = put(tmp_path / "pairs.csv", csv_of(ROWS))
    said = (
        "pairs.csv: a table of texts, one row per summary: topic from id, system from model, summary from output, "
        "reference from gold (6 rows, 2 systems, 3 topics)"
    )
    assert inspect(path).recognised == said
    for command in ("validate", "score", "convert"):
        target = ["out.jsonl"] if command == "convert" else []
        assert run(command, "pairs.csv", *target, cwd=tmp_path).stderr.splitlines()[0] == said
        quiet = run(command, "pairs.csv", *target, "--quiet", *(["--force"] if target else []), cwd=tmp_path)
        assert (quiet.returncode, quiet.stderr) == (0, "")


def test_columns_can_be_named(tmp_path: Path) -> None:
    rows = [{"nr": r["id"], "who": r["model"], "a, b": r["output"], "target=": r["gold"]} for r in ROWS]
    path = put(tmp_path / "odd.csv", csv_of(rows))
    named = "summary=a, b,reference=target=,system=who,topic=nr"
    assert scores(pyr.load(path, columns=named)) == WANTED
    names = {"prediction": "a, b", "reference": "target=", "system": "who", "id": "nr"}
    assert scores(pyr.load(pandas.DataFrame(rows), columns=names)) == WANTED
    assert run("score", str(path), "-m", "rouge", "--columns", named).returncode == 0
    for wrong, message in (
        ("summary=nothing", "has no column 'nothing' for the summary; its columns are: nr, who"),
        ("colour=nr", "no column is for 'colour'; name one for: topic, system, summary"),
        ("summary", "--columns takes ROLE=COLUMN"),
        ("topic=nr,topic=who", "several columns are named for the topic"),
    ):
        with pytest.raises(pyr.UsageError) as caught:
            pyr.load(path, columns=wrong)
        assert message in str(caught.value)


def test_columns_are_for_tables(tmp_path: Path) -> None:
    pyr.save(pyr.example(), tmp_path / "study.jsonl")
    with pytest.raises(pyr.UsageError, match="--columns"):
        pyr.load(tmp_path / "study.jsonl", format="jsonl", columns="summary=text")


def test_columns_of_some_systems_can_be_chosen(tmp_path: Path) -> None:
    path = wide(tmp_path)
    assert pyr.load(path, columns="summary=bart").systems == ("wide",)
    assert pyr.load(path, columns={"summary": ["bart", "t5"]}).systems == ("bart", "t5")


def test_several_references_and_several_columns_of_them(tmp_path: Path) -> None:
    lists = put(tmp_path / "l.jsonl", '{"id": 1, "pred": "x", "refs": ["One text.", ["Two", "sentences."]]}\n')
    columns = put(tmp_path / "c.csv", 'id,pred,reference_1,reference_2\n1,x,One text.,"Two\nsentences."\n')
    for path in (lists, columns):
        found = [(s.system, s.text) for s in pyr.load(path).references]
        assert found == [("1", "One text."), ("2", "Two\nsentences.")]


def test_beside_a_prediction_the_summary_is_the_reference(tmp_path: Path) -> None:
    study = pyr.load(put(tmp_path / "x.csv", "document,summary,id,prediction\nLong story.,Gold.,7,Made.\n"))
    assert [(s.role, s.text) for s in study.summaries] == [("reference", "Gold."), ("peer", "Made.")]


def test_rows_without_an_id(tmp_path: Path) -> None:
    single = pyr.load(put(tmp_path / "one.csv", "prediction,reference\na b,c d\ne f,g h\n"))
    assert [(t.id, single.summary(t.id, "one")) for t in single.topics] == [
        ("1", pyr.Summary("1", "one", "a b")),
        ("2", pyr.Summary("2", "one", "e f")),
    ]
    rows = [{key: row[key] for key in ("model", "output", "gold")} for row in ROWS]
    loaded = inspect(put(tmp_path / "many.csv", csv_of(rows[::-1])))
    assert sorted(scores(loaded.study).values(), key=str) == sorted(WANTED.values(), key=str)
    assert "rows with the same reference are one topic" in loaded.recognised
    uneven = put(tmp_path / "uneven.csv", "system,summary\na,x y\na,z\nb,w\n")
    assert any("name it with --columns topic=COLUMN" in line for line in told(uneven))
    assert pyr.load(uneven, lenient=True).peers == ()


def test_tables_without_ids_are_never_matched_across_a_gap(tmp_path: Path) -> None:
    put(tmp_path / "references.jsonl", '{"gold": "One."}\n{"gold": "Two."}\n{"gold": "Three."}\n')
    put(tmp_path / "bart.jsonl", '{"output": "A."}\n{"output": null}\n{"output": "C."}\n')
    study = pyr.load(tmp_path, lenient=True)
    assert [(s.topic, s.text) for s in study.peers] == [("1", "A."), ("3", "C.")]
    put(tmp_path / "bart.jsonl", '{"output": "A."}\n{"output"}\n{"output": "C."}\n')
    assert any(
        "tables have different numbers of rows (bart.jsonl 2, references.jsonl 3)" in line for line in told(tmp_path)
    )
    assert pyr.load(tmp_path, lenient=True).peers == ()


def test_splits_are_to_be_chosen() -> None:
    with pytest.raises(pyr.UsageError, match=r"give one of them, e\.g\. data\['test'\]"):
        pyr.load(datasets.DatasetDict({"test": datasets.Dataset.from_list(ROWS)}))


@pytest.mark.parametrize(
    ("name", "text", "messages"),
    [
        ("x.csv", "nr,out\n1,Water came down fast.\n", ["no column of summaries", HEADER, "--columns summary=out"]),
        ("x.csv", "id,prediction,output,ref\n1,a,b,c\n", ["several columns may be the summary", "summary=prediction"]),
        ("x.csv", "topic,system,lite\nt,x,0.5\n", ["no column is for the judge", "`pyramidion analyze` reads it"]),
        ("x.json", '{"a": {"b": 1}}', ["nearest layout", HEADER]),
        ("x.csv", "", ["it has no rows", HEADER]),
        ("x.txt", "Water came.", ["belong in a folder", HEADER]),
        ("d/a/1.txt", "Water came.", ["(a) is called references or gold", "references/floods.txt"]),
        ("d/a.txt", "Water came.", ["references.txt and <system>.txt", "bart.txt"]),
    ],
)
def test_what_is_not_recognised_gets_an_example(name: str, text: str, messages: list[str], tmp_path: Path) -> None:
    put(tmp_path / name, text)
    with pytest.raises(pyr.UsageError) as caught:
        pyr.load(tmp_path / name.split("/")[0])
    for message in (*messages, "in no known format", "--from names a format"):
        assert message in str(caught.value)
    assert sum(line.startswith("    ") for line in str(caught.value).splitlines()) == 3


# -- what is wrong -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.csv", f"{HEADER}\n1,a,x,r\n1,a,y,r\n", "line 3: topic 1 has a summary by a already (first: line 2)"),
        ("x.csv", f"{HEADER}\n1,a,x,r\n2,a,y\n", "line 3: has 3 cells, but the header has 4"),
        ("x.csv", f"{HEADER}\n,a,x,r\n", "line 2: id is empty"),
        ("x.csv", f"{HEADER}\n1,a,nan,r\n", "line 2: summary is missing (nan)"),
        ("x.csv", f"{HEADER}\n1,a,0.5,r\n2,a,1,r\n", "column 'summary' holds numbers, where texts are expected"),
        ("x.csv", "id,system,summary,summary,gold\n1,a,x,y,r\n", "has the column 'summary' more than once"),
        ("x.csv", f'{HEADER}\n1,a,x,r\n2,a,"x,r\n3,a,x,r\n', "line 3: has a quote that is never closed, so 2 lines"),
        ("x.csv", f"{HEADER}\n1,a,caf\xe9,r\n".encode("latin-1"), "line 2: byte 0xe9 is not UTF-8"),
        ("x.jsonl", '{"id": 1, "output": null, "gold": "r"}', "line 1: output is missing (null)"),
        (
            "x.jsonl",
            '{"id": 1, "output": 3, "gold": "r"}\n{"id": 2, "output": "x", "gold": "r"}',
            "line 1: output is a number (3), where a text is expected",
        ),
        ("x.jsonl", '{"id": 1, "output": {"a": 1}, "gold": "r"}', "line 1: output is nested ({'a': 1}), where"),
        ("x.jsonl", '{"id": 1, "output": "x", "gold": {"a": 1}}', "line 1: gold is nested"),
        ("x.jsonl", '{"id": [1], "output": "x", "gold": "r"}', "line 1: id is [1], which is not a name"),
        ("x.jsonl", '{"id": 1, "output": "x", "gold": "r"}\n{"id": NaN}', "line 2: NaN is not a valid value"),
        ("x.json", '[{"id": 1, "output": "x", "gold": "r"}, 3]', "record 2: is not an object"),
    ],
)
def test_bad_rows_have_an_address(name: str, text: str | bytes, message: str, tmp_path: Path) -> None:
    path = put(tmp_path / name, text)
    assert any(line.startswith(str(path)) and message in line for line in told(path))
    done = run("convert", name, "out.jsonl", cwd=tmp_path)
    assert done.returncode == 1
    assert message.split("summary")[0] in done.stderr.replace("\n", " ")
    assert not (tmp_path / "out.jsonl").exists()


def test_frames_with_gaps_and_other_types() -> None:
    frame = pandas.DataFrame({"id": [1, 2, 3], "output": ["x", None, 2.5], "gold": ["r", "s", float("nan")]})
    problems = [str(problem) for problem in inspect(frame).problems]
    assert "row 1: output is missing (null)" in problems or "row 1: output is missing (nan)" in problems
    assert any(line.startswith("row 2: output is a number (2.5)") for line in problems)
    kept = pyr.load(frame, lenient=True)
    assert [(s.topic, s.text) for s in kept.peers] == [("1", "x")]


def test_problems_that_are_alike_are_counted(tmp_path: Path) -> None:
    rows = [f"{n},a,{'' if n % 2 else 'x'},r" if n % 5 else f"{n},a,x" for n in range(1, 101)]
    put(tmp_path / "x.csv", "\n".join([HEADER, *rows]))
    done = run("validate", "x.csv", cwd=tmp_path)
    assert "x.csv, line 6: has 3 cells, but the header has 4 (and 19 more like this)" in done.stderr
    assert "20 of 100 rows cannot be read and are left out" in done.stderr
    assert "peers: 40 of 80 have an empty text" in done.stderr
    assert len(done.stderr.splitlines()) == 4
    listed = json.loads(run("validate", "x.csv", "--json", cwd=tmp_path).stdout)
    assert (len(listed["problems"]), listed["format"]) == (22, "table")
    lenient = run("score", "x.csv", "-m", "rouge", "--lenient", cwd=tmp_path)
    assert lenient.returncode == 0
    assert "20 of 100 rows cannot be read and are left out" in lenient.stderr


def test_rows_of_a_topic_that_differ_in_references_are_told(tmp_path: Path) -> None:
    path = put(tmp_path / "x.csv", f"{HEADER}\n1,a,x,r\n1,b,y,s\n")
    assert any("topic 1 has 2 different references on its rows" in line for line in told(path))
    pairs = put(tmp_path / "y.csv", f"{HEADER}\n1,a,x,r\n1,a,x,s\n")  # a row for each reference
    assert [s.text for s in pyr.load(pairs).references] == ["r", "s"]


def test_a_quote_in_a_cell_is_read_as_others_read_it(tmp_path: Path) -> None:
    text = f'{HEADER}\n1,a,""The Color of Justice" was shown.,r\n2,a,He said "no".,r\n3,a,"A ""b"" c",r\n'
    path = put(tmp_path / "x.csv", text)
    expected = pandas.read_csv(path)["summary"].tolist()
    assert [s.text for s in pyr.load(path).peers] == expected
    assert [row["summary"] for row in csv.DictReader(text.splitlines())] == expected


def test_a_text_that_is_a_collection_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyramidion.formats.files.MAX_TEXT", 100)
    put(tmp_path / "references" / "a.txt", "short")
    put(tmp_path / "peers" / "s.txt", "long " * 30)
    assert any("a text may have up to" in line for line in told(tmp_path))
    table = put(tmp_path / "t" / "x.csv", f"{HEADER}\n1,a,{'x ' * 90},r\n")
    assert any("line 2: is" in line and "a text may have up to" in line for line in told(table))


# -- there and back ----------------------------------------------------------------------------------------------

texts = st.text(st.characters(codec="utf-8", exclude_characters="<\0", exclude_categories=["Cs"]), max_size=30).filter(
    lambda text: text.strip() not in {"nan", "NaN"} and "[X_SEP]" not in text
)
names = st.text(st.characters(categories=["L", "Nd"]), min_size=1, max_size=5)
cells = st.dictionaries(st.tuples(names, names), texts.filter(lambda text: not text.strip().isnumeric()), min_size=1)


@given(cells, st.data())
def test_tables_there_and_back(
    tmp_path_factory: pytest.TempPathFactory, held: dict[tuple[str, str], str], data: st.DataObject
) -> None:
    """In every kind of file; and the rows of a table may come in any order."""
    worded = st.lists(texts.map(lambda text: f"word {text}"), min_size=1, max_size=2, unique=True)
    references = {topic: data.draw(worded) for topic, _ in held}
    folder = tmp_path_factory.mktemp("table")
    study = pyr.Study(
        tuple(map(pyr.Topic, sorted(references))),
        (
            *(pyr.Summary(t, str(n), x, "reference") for t, held in references.items() for n, x in enumerate(held, 1)),
            *(pyr.Summary(topic, system, f"word {text}") for (topic, system), text in held.items()),
        ),
    )
    first = None
    for suffix in ("csv", "tsv", "jsonl", "json", "parquet"):
        path = folder / f"x.{suffix}"
        text_tables.write(study, path, Problems())
        back = pyr.load(path, format="table")
        first = first or back
        assert back == first
        assert {(s.topic, s.role, s.text) for s in back.summaries} == {
            (s.topic, s.role, s.text) for s in study.summaries
        }
    lines = (folder / "x.jsonl").read_bytes().splitlines()
    put(folder / "shuffled.jsonl", b"\n".join(data.draw(st.permutations(lines))))
    assert pyr.load(folder / "shuffled.jsonl", format="table") == first


def test_marks_of_sentences_are_boundaries(tmp_path: Path) -> None:
    for marked in ("<t> One. </t> <t> Two. </t>", "One.<q>Two.", "<s>One.</s><s>Two.</s>", "One. [X_SEP] Two."):
        assert break_at_marks(marked) == "One.\nTwo."
        path = put(tmp_path / "x.csv", f"{HEADER}\n1,a,One. Two. Three.,{marked}\n")
        assert pyr.score(pyr.load(path), "rouge").per_system("rouge-1-recall") == {"a": 1.0}
    for plain in ("a < b and c > d", "x <tt> y", "[X]", "<T>"):
        assert break_at_marks(plain) == plain


def test_fifty_systems_and_a_thousand_topics(tmp_path: Path) -> None:
    rows = [
        {"id": f"t{t}", "system": f"s{s}", "summary": f"Word {t}.", "ref": "R."} for t in range(1000) for s in range(50)
    ]
    study = pyr.load(put(tmp_path / "x.csv", csv_of(rows)))
    assert (len(study.peers), len(study.references)) == (50_000, 1000)


def test_empty_references_are_counted(tmp_path: Path) -> None:
    put(tmp_path / "x.csv", "\n".join(["id,prediction,reference", *(f"{n},a,{'r' * (n % 3)}" for n in range(9))]))
    done = run("validate", "x.csv", cwd=tmp_path)
    assert done.returncode == 0
    assert "references: 3 of 9 topics have no reference or only an empty one: 0, 3, 6" in done.stderr
    assert "Valid, with 1 warning." in done.stdout


def test_texts_are_written_to_csv_as_a_table_and_tasks_as_mturk(tmp_path: Path, example: pyr.Study) -> None:
    study = pyr.load(put(tmp_path / "texts.csv", csv_of(ROWS)))
    done = run("convert", "texts.csv", "out.csv", cwd=tmp_path)
    assert "Wrote out.csv (table)." in done.stdout
    assert pyr.load(tmp_path / "out.csv").peers == study.peers
    assert pyr.load(tmp_path / "out.csv").references == study.references
    pyr.save(study, tmp_path / "saved.csv")
    assert (tmp_path / "saved.csv").read_bytes() == (tmp_path / "out.csv").read_bytes()
    assert "(mturk)" in run("convert", "texts.csv", "m.csv", "--to", "mturk", cwd=tmp_path).stdout
    pyr.save(replace(example, summaries=(), tasks=(), assignments=()), tmp_path / "units.csv")
    assert inspect(tmp_path / "units.csv").format == "mturk"
