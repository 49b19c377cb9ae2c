"""`pyramidion analyze grid` as a user meets it, on the bundled example with a tiny grid."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.cli.test_commands import refused, run

import pyramidion as pyr

TINY = ["--percentile", "70,83", "--alpha", "10", "--beta", "2.5,3"]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("grid") / "study.jsonl"
    pyr.save(pyr.example(), path)
    return path


@pytest.fixture(scope="module")
def two_topics(study: Path) -> Path:
    whole = pyr.example()
    ids = {topic.id for topic in whole.topics[:2]}
    some = replace(
        whole,
        topics=whole.topics[:2],
        summaries=tuple(s for s in whole.summaries if s.topic in ids),
        pyramids=tuple(p for p in whole.pyramids if p.topic in ids),
        judgments=pyr.Judgments(j for j in whole.judgments if j.topic in ids),
        tasks=tuple(t for t in whole.tasks if t.topic in ids),
    )
    pyr.save(some, study.with_name("two.jsonl"))
    return study.with_name("two.jsonl")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where finished topics of the tiny grid lie; the first test to come fills it."""
    return tmp_path_factory.mktemp("kept")


def test_the_grid_answers_in_words_tables_and_files(study: Path, kept: Path, tmp_path: Path) -> None:
    files = {"-o": "t.csv", "--latex": "t.tex", "--plot": "t.svg", "--keep": kept}
    options = [part for option, name in files.items() for part in (option, tmp_path / name)]
    done = run("analyze", "grid", study, *TINY, *options)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Of 4 settings, percentile ")
    assert (
        "It was chosen by that figure; when every topic is scored by the best setting of the others it is 0."
        in done.stdout
    )
    assert "pyramidion|method:grid|gold:modified|measure:coverage|by:summary|kind:pearson|" in done.stdout
    assert "warning: the best setting: was chosen on the 4 topics it is scored on" in done.stderr
    with (tmp_path / "t-5.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [list(row)[:3] for row in rows] == [["percentile", "alpha", "beta"]] * 4
    summaries = [float(row["summary"]) for row in rows]
    assert summaries == sorted(summaries, reverse=True)
    assert (tmp_path / "t.tex").read_text().count(r"\toprule") == 5
    assert "percentile" in (tmp_path / "t.svg").read_text()
    assert (tmp_path / "t-2.svg").exists()
    assert len(list(kept.glob("*.grid.json"))) == 4


@pytest.mark.slow
def test_the_grid_agrees_with_correlate(study: Path, kept: Path, tmp_path: Path) -> None:
    done = run("analyze", "grid", study, *TINY, "--keep", kept, "--kind", "kendall", "--by", "system", "--json")
    assert done.returncode == 0, done.stderr
    tables = {t["columns"][0]: t["rows"] for t in json.loads(done.stdout)["tables"]}
    [mine] = [r for r in tables["percentile"] if (r["percentile"], r["beta"]) == ("70", "3")]
    choices = ["--partitioner", "edua-g", "--percentile", "70", "--beta", "3"]
    for arguments in (
        ["auto", "score", study, *choices, "-o", "auto.csv"],
        ["score", study, "-m", "pyramid", "-o", "g.csv"],
    ):
        assert run(*arguments, cwd=tmp_path).returncode == 0
    other = run(
        "analyze", "correlate", "auto.csv", "g.csv", "--gold", "modified", "-m", "coverage", "--json", cwd=tmp_path
    )
    theirs = {r["level"]: r["r"] for r in json.loads(other.stdout)["tables"][0]["rows"] if r["kind"] == "kendall"}
    assert (mine["summary"], mine["system"]) == pytest.approx((theirs["summary"], theirs["system"]))


@pytest.mark.slow
def test_gold_may_be_a_method_or_a_table(study: Path, kept: Path, tmp_path: Path) -> None:
    assert run("score", study, "-m", "lite", "-q", "-o", tmp_path / "people.csv").returncode == 0
    found = [
        json.loads(run("analyze", "grid", study, *TINY, "--keep", kept, "--gold", gold, "--json").stdout)
        for gold in ("lite", tmp_path / "people.csv")
    ]
    assert found[0]["tables"] == found[1]["tables"]
    assert "|gold:lite|" in found[0]["signature"]
    rated = run(
        "analyze", "grid", study, *TINY, "--keep", kept, "--gold", "responsiveness", "--gold-measure", "content"
    )
    assert "agrees best with content" in rated.stdout


@pytest.mark.slow
def test_embedders_are_compared(two_topics: Path, tmp_path: Path) -> None:
    (tmp_path / "corpus.txt").write_text("\n".join(s.text.replace("\n", " ") for s in pyr.example().summaries))
    train = ["auto", "train-wtmf", "corpus.txt", "-o", "m.npz", "--dimensions", "20", "--rounds", "3"]
    assert run(*train, cwd=tmp_path).returncode == 0
    both = ["--similarity", "cosine", "--embedder", "minilm", "--embedder", "wtmf:m.npz"]
    done = run("analyze", "grid", two_topics, *both, "--resamples", "50", "--seed", "2", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert "|embedder:minilm/wtmf:m.npz|" in found["signature"]
    assert "|partitioner:edua-g|alpha:10|beta:2.5|" in found["signature"]
    assert "|interval:percentile|resamples:50|seed:2|" in found["signature"]
    rows = found["tables"][-1]["rows"]
    assert sorted(row["embedder"] for row in rows) == ["minilm", "wtmf:m.npz"]
    for row in rows:
        assert row["low"] <= row["summary"] <= row["high"]
        assert row["system low"] < row["system high"]
    refused(
        run("analyze", "grid", two_topics, *both[2:], cwd=tmp_path),
        2,
        "--embedder has no effect without --similarity cosine",
    )
    lost = ["--similarity", "cosine", "--embedder", "wtmf:none.npz", "--embedder", "wtmf:gone.npz"]
    refused(run("analyze", "grid", two_topics, *lost, cwd=tmp_path), 2, "gone.npz does not exist")


@pytest.mark.slow
def test_partitioners_are_compared_and_one_part_given_twice_is_one(two_topics: Path) -> None:
    options = ["--partitioner", "edua-c", "--partitioner", "edua-c-maximal", "--matcher", "align", "--matcher", "align"]
    done = run("analyze", "grid", two_topics, *options, "--resamples", "0", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert "|partitioner:edua-c/edua-c-maximal|" in found["signature"]
    assert "|matcher:align|" in found["signature"]
    rows = found["tables"][-1]["rows"]
    assert {row["partitioner"] for row in rows} == {"edua-c", "edua-c-maximal"}
    assert rows[0]["summary"] != rows[1]["summary"]
    assert rows[0]["low"] is None


def test_one_topic_is_answered_with_a_warning(study: Path, tmp_path: Path) -> None:
    whole = pyr.example()
    first = whole.topics[0]
    one = pyr.Study((first,), tuple(s for s in whole.summaries if s.topic == first.id))
    pyr.save(one, tmp_path / "one.jsonl")
    assert run("score", study, "-m", "pyramid", "-q", "-o", tmp_path / "gold.csv").returncode == 0
    done = run(
        "analyze",
        "grid",
        tmp_path / "one.jsonl",
        "--gold",
        tmp_path / "gold.csv",
        "--percentile",
        "70,90",
        "--partitioner",
        "edua-x",
    )
    assert done.returncode == 0, done.stderr
    assert "(6 systems, 1 topic)" in done.stdout
    assert "no topic can be left out here" in done.stderr


def test_mistakes_are_explained(study: Path, tmp_path: Path) -> None:
    refused(run("analyze", "grid", study, "--beta", "few"), 2, "--beta: 'few' is not a list of numbers such as 1,1.5,2")
    refused(run("analyze", "grid", study, "--threshold", "0.4,0.5"), 2, "matcher align has no threshold")
    refused(run("analyze", "grid", study, "--partitioner", "edua-x", "--beta", "1,2"), 2, "edua-x has no beta")
    refused(run("analyze", "grid", study, "--measure", "beauty"), 2, "auto measure 'beauty' is unknown")
    refused(run("analyze", "grid", study, "--gold", tmp_path / "none.csv"), 2, "does not exist")
    refused(run("analyze", "grid", study, "--axes", "beta"), 2, "two different parameters")
    refused(run("analyze", "grid", study, "--by", "pooled"), 2, "level 'pooled' is unknown")
    one = ["--percentile", "83", "--alpha", "10", "--beta", "2"]
    refused(run("analyze", "grid", study, *one), 2, "only one setting; give at least two values for some parameter")
    texts = pyr.Study((pyr.Topic("t"),), (pyr.Summary("t", "A", "One.", "reference"), pyr.Summary("t", "x", "Two.")))
    pyr.save(texts, tmp_path / "texts.jsonl")
    refused(run("analyze", "grid", tmp_path / "texts.jsonl"), 2, "the study has no human scores; give a score table")
    gold = tmp_path / "gold.csv"
    gold.write_text("topic,system,measure,value\nt,x,m,0.5\n")
    refused(run("analyze", "grid", tmp_path / "texts.jsonl", "--gold", gold), 1, "no topic has two references")
    whole = pyr.example()
    pyr.save(pyr.Study(whole.topics, tuple(whole.peers)), tmp_path / "peers.jsonl")
    refused(
        run("analyze", "grid", tmp_path / "peers.jsonl", "--gold", gold), 1, "topic drought-plan: has no references"
    )
