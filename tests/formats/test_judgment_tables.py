"""Plain tables of judgments under the names people use, and what is wrong with them."""

from __future__ import annotations

import json
from pathlib import Path

import polars
import pytest
from tests.cli.running import run

import pyramidion as pyr
from pyramidion.analysis.sources import read_source
from pyramidion.formats.judgment_tables import recognises


def file(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_ratings_become_an_aspect_named_after_their_column(tmp_path: Path) -> None:
    path = file(tmp_path, "r.csv", "Annotator,document,System,corpus,score\n0,d,x,c,4\n1,d,x,c,\n")
    assert recognises(path)
    study = pyr.load(path)
    assert [(j.judge, j.topic, j.system, j.aspect, j.value) for j in study.judgments] == [
        ("0", "d", "x", "score", 4.0),
        ("1", "d", "x", "score", None),
    ]
    assert study.aspects[0].id == "score"


def test_units_become_a_crowd_pyramid(tmp_path: Path) -> None:
    lines = '{"worker": "w", "document": "d", "system": "x", "unit": "u", "present": 1}\n'
    study = pyr.load(file(tmp_path, "j.jsonl", lines))
    assert (study.pyramids[0].name, study.pyramids[0].units[0].id) == ("crowd", "u")
    assert study.judgments[0].value == 1.0


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ("a,d,x,good", "score 'good' is not a number"),
        ("a,d,x,nan", "is not a number"),
        (",d,x,3", "judge is empty"),
        ("a,d,x,3\na,d,x,4", "the same judge answers the same question twice (first: line 2)"),
    ],
)
def test_every_fault_has_its_line(tmp_path: Path, row: str, what: str) -> None:
    path = file(tmp_path, "r.csv", f"judge,topic,system,score\n{row}\n")
    with pytest.raises(pyr.InputError) as caught:
        pyr.load(path)
    assert what in str(caught.value)
    assert "r.csv, line" in str(caught.value)


def test_other_files_are_not_taken_for_judgments(tmp_path: Path) -> None:
    scores = file(tmp_path, "s.csv", "topic,system,measure,value\nt,x,m,0.5\n")
    assert not recognises(scores)
    assert isinstance(read_source(scores), pyr.ScoreTable)
    metrics = file(
        tmp_path, "m.jsonl", '{"instance_id": "d", "summarizer_id": "s", "metrics": {"rouge": {"f": 0.5}}}\n'
    )
    table = read_source(metrics)
    assert isinstance(table, pyr.ScoreTable)
    assert table.value("s", "rouge_f", "d") == 0.5
    pyr.save(pyr.example(), tmp_path / "study.jsonl")
    assert isinstance(read_source(tmp_path / "study.jsonl"), pyr.Study)


def test_what_counts_of_two_answers_does_not_depend_on_the_order_of_rows(tmp_path: Path) -> None:
    path = tmp_path / "j.csv"
    for rows in ("a,d,x,4\na,d,x,\na,d,x,3\n", "a,d,x,\na,d,x,3\na,d,x,4\n"):
        path.write_text("judge,topic,system,value\n" + rows)
        assert [j.value for j in pyr.load(path, lenient=True).judgments] == [3.0]


SCALES = "annotator,id,model,coherence,fluency,seconds\nanna,d,bart,4,5,31\nben,d,bart,2,5,12\nanna,d,t5,1,,20\n"


def test_a_column_for_each_scale(tmp_path: Path) -> None:
    path = file(tmp_path, "r.csv", SCALES)
    study = pyr.load(path)
    assert [(a.id, a.low, a.high) for a in study.aspects] == [("coherence", 1, 4), ("fluency", 5, 6)]
    table = pyr.score(study)
    assert table.signature.method == "responsiveness"
    assert table.per_system("coherence") == {"bart": 3.0, "t5": 1.0}
    assert table.per_system("fluency") == {"bart": 5.0, "t5": None}
    named = file(tmp_path, "n.csv", SCALES.replace("annotator", "who"))
    assert pyr.score(pyr.load(named, columns="judge=who")).per_system("coherence") == {"bart": 3.0, "t5": 1.0}


@pytest.mark.parametrize("with_texts", [False, True])
def test_judgments_are_a_study_with_and_without_texts(tmp_path: Path, with_texts: bool) -> None:
    rows = [
        {"worker": w, "id": t, "system": s, "unit": u, "label": f"Unit {u}.", "present": int((w, u) != ("w3", "u1"))}
        | ({"summary": f"{s} on {t}.", "reference": f"All about {t}."} if with_texts else {})
        for w in ("w1", "w2", "w3")
        for t in ("d1", "d2")
        for s in ("bart", "t5")
        for u in ("u1", "u2")
    ]
    path = file(tmp_path, "j.jsonl", "\n".join(map(json.dumps, rows)))
    study = pyr.load(path)
    assert (len(study.peers), len(study.references)) == ((4, 2) if with_texts else (0, 0))
    assert study.pyramids[0].units[0].label == "Unit u1."
    assert pyr.score(study).per_system("lite") == {"bart": 1.0, "t5": 1.0}
    for command in (
        ["validate"],
        ["score"],
        ["report", "-o", "r.html"],
        ["convert", "out.jsonl"],
        ["analyze", "agreement"],
    ):
        words = [*command[:1], "j.jsonl", *command[1:]] if command[0] != "analyze" else [*command, "j.jsonl"]
        done = run(*words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "a table of judgments, one row per answer: judge from worker, topic from id" in done.stderr
    assert pyr.load(tmp_path / "out.jsonl") == study
    assert pyr.load(polars.DataFrame(rows)) == study


def test_a_word_in_a_scale_is_an_error_and_the_scale_is_kept(tmp_path: Path) -> None:
    path = file(tmp_path, "r.csv", "judge,topic,system,a,b,note\nx,t,s,3,4,\ny,t,s,four,5,9\nx,u,s,2,4,so so\n")
    done = run("validate", "r.csv", cwd=tmp_path)
    assert done.returncode == 1
    assert "r.csv, line 3: a 'four' is not a number" in done.stderr
    assert "aspects a, b; not used: note (3 rows" in done.stderr
    kept = pyr.load(path, lenient=True)
    assert pyr.score(kept).per_system("a") == {"s": 2.5}


def test_answers_that_are_missing_are_counted(tmp_path: Path) -> None:
    path = file(tmp_path, "r.csv", "judge,topic,system,a,b\nx,t,s,n/a,-\ny,t,s,NA,5\nx,u,s,2,4\ny,u,s,N/A,\n")
    loaded = pyr.load(path)
    assert [note.what for note in loaded.notes] == [
        "answers that are missing (the cell is empty, n/a, NA or -): 3 in a, 2 in b"
    ]
    assert pyr.score(loaded).per_system("a") == {"s": 2.0}
    assert pyr.score(loaded).per_system("b") == {"s": 4.5}


@pytest.mark.parametrize(
    ("yes", "no"),
    [("yes", "NO"), ("Y", "n"), ("True", "False"), ("present", "Absent"), ("p", "n"), ("p", "not present"), (1, 0)],
)
def test_units_are_answered_in_words(tmp_path: Path, yes: object, no: object) -> None:
    rows = f"w1,t,s,u,{yes}\nw1,t,s,v,{no}\nw2,t,s,u,{yes}\nw2,t,s,v,-\n"
    study = pyr.load(file(tmp_path, "p.csv", "worker,topic,system,unit,answer\n" + rows))
    assert [j.value for j in study.judgments] == [1.0, 0.0, 1.0, None]


def test_truth_values_of_a_data_frame_are_answers() -> None:
    frame = polars.DataFrame(
        {"worker": ["a", "a"], "topic": ["t"] * 2, "system": ["s"] * 2, "unit": ["u", "v"], "present": [True, False]}
    )
    assert [j.value for j in pyr.load(frame).judgments] == [1.0, 0.0]


def test_a_word_that_is_no_answer_has_its_row(tmp_path: Path) -> None:
    path = file(tmp_path, "p.csv", "worker,topic,system,unit,answer\nw1,t,s,u,maybe\n")
    with pytest.raises(pyr.InputError, match="line 2: answer 'maybe' is not a number, yes or no"):
        pyr.load(path)


ITEMS = "item,judge,value\ni1,a,1\ni1,b,1\ni2,a,0\ni2,b,0\ni3,a,1\ni3,b,0\n"


def test_items_are_topics_of_one_system(tmp_path: Path) -> None:
    file(tmp_path, "work.csv", ITEMS)
    for words in (
        ["validate", "work.csv"],
        ["score", "work.csv"],
        ["report", "work.csv", "-o", "r.html"],
        ["convert", "work.csv", "out.jsonl"],
        ["analyze", "agreement", "work.csv"],
    ):
        done = run(*words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "topic from item, value from value, all by one system, called work (6 rows" in done.stderr
    study = pyr.load(tmp_path / "out.jsonl")
    assert {(j.topic, j.system) for j in study.judgments} == {("i1", "work"), ("i2", "work"), ("i3", "work")}
    assert "3 items, 6 answers" in run("analyze", "agreement", "work.csv", cwd=tmp_path).stdout


def test_items_that_name_topic_and_system_are_taken_apart(tmp_path: Path) -> None:
    path = file(tmp_path, "work.csv", ITEMS.replace("i1", "t/x").replace("i2", "t/y").replace("i3", "u/x"))
    assert "topic/system from item" in run("validate", path).stderr
    assert pyr.score(pyr.load(path)).per_system("value") == {"x": 0.75, "y": 0.0}
    apart = file(tmp_path, "apart.csv", "item,judge,value\na/b,a,1\nc/d,a,0\n")  # nothing says that these are pairs
    assert {topic.id for topic in pyr.load(apart).topics} == {"a/b", "c/d"}


def test_items_are_systems_where_the_caller_says_so(tmp_path: Path) -> None:
    path = file(tmp_path, "work.csv", ITEMS)
    done = run("score", path, "--columns", "system=item")
    assert done.returncode == 0, done.stderr
    assert "system from item, value from value, all on one topic, called work" in done.stderr
    table = pyr.score(pyr.load(path, columns="system=item"))
    assert table.per_system("value") == {"i1": 1.0, "i2": 0.0, "i3": 0.5}


def test_what_is_missing_in_a_table_with_named_columns_is_said_of_judgments(tmp_path: Path) -> None:
    path = file(tmp_path, "r.csv", "judge,who,remark\na,bart,good work\n")
    with pytest.raises(pyr.InputError, match="no column for the value"):
        pyr.load(path, columns="system=who")


def test_rows_of_judgments_in_any_order(tmp_path: Path) -> None:
    rows = SCALES.splitlines()
    back = pyr.load(file(tmp_path, "r.csv", "\n".join([rows[0], *rows[:0:-1]])))
    assert pyr.score(back).scores == pyr.score(pyr.load(file(tmp_path, "s.csv", SCALES))).scores
