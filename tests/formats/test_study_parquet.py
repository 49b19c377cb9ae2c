"""A study in one Parquet file: everything comes back, data frames read it, and what is wrong is named."""

from __future__ import annotations

import builtins
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.cli.running import run
from tests.strategies import studies

import pyramidion as pyr
from pyramidion.formats import guess_format, inspect, save
from pyramidion.study import Judge, Judgment, Judgments, Span, Study, Topic

SMALL = Study(
    topics=(Topic("t", "Café 👩‍👩‍👧\nand a line"),),
    judges=(Judge("ann", "expert", note="as asked"),),
    judgments=Judgments(
        [
            Judgment("t", "s", "ann", None, aspect="covered"),
            Judgment("t", "s", "ann", 0, aspect="unmatched"),
            Judgment("t", "s2", "ann", 0.25, aspect="covered", evidence=((Span(0, 2), Span(5, 7)), (Span(3, 4),))),
            Judgment("t", "s", "ann", 1, aspect="covered", other="s2", task=""),
        ]
    ),
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(study=studies())
def test_everything_comes_back(tmp_path: Path, study: Study) -> None:
    assert save(study, tmp_path / "study.parquet", format="parquet") == ()
    loaded = inspect(tmp_path / "study.parquet")
    assert (loaded.format, loaded.errors) == ("parquet", ())
    assert loaded.study == study
    assert loaded.study.judges == study.judges
    assert [judge.note for judge in loaded.study.judges] == [judge.note for judge in study.judges]


def test_the_example_is_the_same_study_by_every_road(example: Study, tmp_path: Path) -> None:
    first, lines, back = tmp_path / "a.parquet", tmp_path / "a.jsonl", tmp_path / "b.parquet"
    save(example, first)
    assert run("convert", first, lines).returncode == 0
    assert run("convert", lines, back).returncode == 0
    assert pyr.load(back) == pyr.load(lines) == example
    assert back.read_bytes() == first.read_bytes(), "the same study is the same file"
    for command in (("score", "-m", "lite", "--json"), ("validate", "--json"), ("analyze", "agreement", "--json")):
        name, *options = command if command[0] != "analyze" else ("analyze agreement", *command[2:])
        said = [run(*name.split(), path, *options) for path in (first, lines)]
        assert said[0].returncode == 0, said[0].stderr
        assert said[0].stdout.replace("a.parquet", "").replace("parquet", "") == (
            said[1].stdout.replace("a.jsonl", "").replace("jsonl", "")
        )


def test_data_frames_read_the_judgments(tmp_path: Path) -> None:
    save(SMALL, tmp_path / "s.parquet")
    frame = pandas.read_parquet(tmp_path / "s.parquet")
    assert [*frame.columns] == ["topic", "system", "other", "unit", "aspect", "judge", "task", "value", "evidence"]
    assert frame["system"].tolist() == ["s", "s", "s2", "s"]
    assert frame["value"].isna().tolist() == [True, False, False, False], "unanswered is not 0"
    assert frame["unit"].isna().all()
    assert frame["evidence"][2][0][1] == {"start": 5, "end": 7}
    rows = polars.read_parquet(tmp_path / "s.parquet")
    assert rows["value"].to_list() == [None, 0.0, 0.25, 1.0]
    assert rows["other"].to_list() == [None, None, None, "s2"]
    assert rows["evidence"].to_list()[:2] == [None, None]


def test_a_suffix_says_what_is_written(example: Study, tmp_path: Path) -> None:
    texts = Study(topics=example.topics, summaries=example.summaries)
    assert guess_format(tmp_path / "x.parquet", texts) == "table"
    assert guess_format(tmp_path / "x.parquet", example) == "parquet"
    save(texts, tmp_path / "x.parquet")
    assert inspect(tmp_path / "x.parquet").format == "table"
    (tmp_path / "x.parquet").rename(tmp_path / "y")
    save(example, tmp_path / "study", format="parquet")
    assert inspect(tmp_path / "study").format == "parquet", "by its content"


def test_a_table_of_judgments_by_somebody_else_is_read_as_one(tmp_path: Path) -> None:
    """Such as ours after a data frame was changed and saved: then the texts are no longer in it."""
    save(SMALL, tmp_path / "s.parquet")
    frame = pandas.read_parquet(tmp_path / "s.parquet")
    frame.iloc[1:3].assign(aspect="quality").to_parquet(tmp_path / "changed.parquet")
    loaded = inspect(tmp_path / "changed.parquet")
    assert loaded.format == "judgments"
    assert [j.value for j in loaded.study.judgments] == [0, 0.25]


def rewritten(path: Path, change: Callable[[pa.Table], pa.Table], **about: bytes | None) -> Path:
    """The small study with other columns, or other things said about it."""
    save(SMALL, path)
    table = change(pq.read_table(path))
    held = {**pq.read_metadata(path).metadata, **{f"pyramidion.{k}".encode(): v for k, v in about.items()}}
    with pq.ParquetWriter(path, table.schema.remove_metadata()) as writer:
        writer.write_table(table.replace_schema_metadata(None))
        writer.add_key_value_metadata({k: v for k, v in held.items() if v is not None and not k.startswith(b"ARROW")})
    return path


def column(name: str, values: list[Any], kind: Any = None) -> Callable[[pa.Table], pa.Table]:
    return lambda table: table.set_column(table.column_names.index(name), name, pa.array(values, kind))


SPAN = pa.list_(pa.list_(pa.struct([("start", pa.int64()), ("end", pa.int64())])))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (column("aspect", ["covered", None, "covered", "covered"]), "row 2: a judgment must be about either a unit"),
        (column("unit", [None, None, None, "u"]), "row 4: a judgment must be about either a unit or an aspect"),
        (column("judge", ["ann", "ann", None, "ann"]), "row 3: its judge is missing"),
        (column("value", [1.0, np.inf, 1, 1]), "row 2: its value is not a number"),
        (column("value", ["1", "2", "3", "4"]), "its column 'value' must hold numbers, not string"),
        (column("topic", [1, 2, 3, 4]), "its column 'topic' must hold texts, not int64"),
        (column("evidence", [[[{"start": -1, "end": 2}]], None, None, None], SPAN), "is damaged"),
        (column("evidence", [[[None]], None, None, None], SPAN), "a span that is null"),
        (column("evidence", [[None], None, None, None], SPAN), "a span that is null"),
        (column("evidence", ["x", None, None, None]), "is damaged"),
        (lambda table: table.drop_columns(["system", "value"]), "has no column system and no value"),
    ],
)
def test_what_is_wrong_is_named(change: Callable[[pa.Table], pa.Table], message: str, tmp_path: Path) -> None:
    path = rewritten(tmp_path / "s.parquet", change)
    with pytest.raises(pyr.InputError) as failed:
        pyr.load(path)
    assert message in str(failed.value)
    assert str(path) in str(failed.value)


def test_sound_rows_are_read_beside_others(tmp_path: Path) -> None:
    path = rewritten(tmp_path / "s.parquet", column("judge", ["ann", "ann", None, "ann"]))
    assert len(pyr.load(path, lenient=True).judgments) == 3


def test_columns_may_be_missing_plain_or_more(tmp_path: Path) -> None:
    def plain(table: pa.Table) -> pa.Table:
        table = table.drop_columns(["unit", "task", "evidence"]).append_column("mood", pa.array(["good"] * 4))
        return table.set_column(0, "topic", table["topic"].cast(pa.large_string()))

    loaded = inspect(rewritten(tmp_path / "s.parquet", plain))
    assert [str(problem) for problem in loaded.problems if "mood" in str(problem)]
    assert [j.value for j in loaded.study.judgments] == [None, 0, 0.25, 1]


@pytest.mark.parametrize(
    ("about", "message"),
    [
        ({"study": b"2"}, "version b'2' of this format is not supported"),
        ({"records.0": b"!!!"}, "its records are damaged"),
        ({"records.0": b"AAAA"}, "its records are damaged"),
        ({"records.0": None}, "cut off"),
        ({"records.7": b"AAAA"}, "its records are damaged"),
    ],
)
def test_damaged_records_are_named(about: dict[str, bytes | None], message: str, tmp_path: Path) -> None:
    path = rewritten(tmp_path / "s.parquet", lambda table: table, **about)
    with pytest.raises(pyr.InputError, match=r"s\.parquet") as failed:
        pyr.load(path)
    assert message in str(failed.value) or about.get("records.7")


def test_a_bad_record_has_an_address(tmp_path: Path) -> None:
    import base64
    import zlib

    lines = [{"type": "study", "version": 1}, {"type": "topic"}, {"type": "judge", "id": "ann", "kind": "robot"}]
    packed = base64.b64encode(zlib.compress("\n".join(map(json.dumps, lines)).encode()))
    path = rewritten(tmp_path / "s.parquet", lambda table: table, **{"records.0": packed})
    with pytest.raises(pyr.InputError) as failed:
        pyr.load(path)
    assert f"{path}, record 2: field 'id' is missing" in str(failed.value)
    assert f"{path}, record 3: field 'kind' must be one of" in str(failed.value)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_no_bytes_break_the_reader(tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / "s.parquet"
    save(SMALL, path)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(0, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.sampled_from([None, len(content) // 2, 12]))])
    with suppress(pyr.PyramidionError):
        inspect(path, format="parquet")


def test_without_pyarrow_the_error_names_the_extra(
    example: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(example, tmp_path / "s.parquet")
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.partition(".")[0] == "pyarrow":
            raise ModuleNotFoundError(name="pyarrow")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    for act in (lambda: pyr.load(tmp_path / "s.parquet"), lambda: save(example, tmp_path / "t.parquet")):
        with pytest.raises(pyr.PyramidionError, match=r"pip install.*\[parquet\]"):
            act()
    assert not (tmp_path / "t.parquet").exists()


def test_a_failed_write_leaves_the_old_file(example: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.parquet"
    save(SMALL, path)
    before = path.read_bytes()
    monkeypatch.setattr(
        pq.ParquetWriter, "add_key_value_metadata", lambda *_: (_ for _ in ()).throw(OSError(28, "full"))
    )
    with pytest.raises(pyr.UsageError, match="cannot be written"):
        save(example, path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["s.parquet"]
