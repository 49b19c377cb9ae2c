"""`pyramidion auto` as a user meets it."""

from __future__ import annotations

import csv
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from tests.cli import running
from tests.cli.running import Done

import pyramidion as pyr

REFERENCES = {
    "A": "The river Aller flooded the old town on Monday. Ten families had to leave their homes.",
    "B": "Ten families left their homes after the Aller flooded the old town on Monday.",
}
PEERS = {"good": "The Aller flooded the old town, and ten families left.", "bad": "The museum bought a painting."}


def run(*arguments: object, cwd: Path | None = None) -> Done:
    return running.run("auto", *arguments, cwd=cwd)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Plain text files, and nothing else."""
    path = tmp_path_factory.mktemp("auto") / "texts"
    for topic in ("flood", "again"):
        for kind, texts in (("references", REFERENCES), ("peers", PEERS)):
            place = path / "topics" / topic / kind
            place.mkdir(parents=True)
            for name, text in texts.items():
                (place / f"{name}.txt").write_text(text)
    return path


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_run_does_it_all_in_one_call_and_goes_on_where_it_was(folder: Path, tmp_path: Path) -> None:
    done = run("run", folder, "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "good" in done.stdout
    assert done.stdout.endswith(f"report {tmp_path / 'out' / 'study.jsonl'}\n")
    table = rows(tmp_path / "out" / "scores.csv")
    assert list(table[0]) == ["topic", "system", "measure", "value"]
    assert {row["measure"] for row in table} == {"extent", "raw", "quality", "coverage", "comprehensive"}
    assert {row["topic"] for row in table} == {"flood", "again", ""}
    assert "PEER good of topic flood" in (tmp_path / "out" / "log.txt").read_text()
    assert sorted(path.name for path in (tmp_path / "out" / "pyramids").iterdir())[:3] == [
        "again.bad.auto.pan",
        "again.good.auto.pan",
        "again.pyr",
    ]
    again = json.loads(run("run", folder, "-o", tmp_path / "out", "--json").stdout)
    assert (again["topics"], again["known"]) == (2, 2)
    assert again["signature"].startswith("pyramidion|method:auto|")
    for options in ([], ["--matcher", "wmin"]):
        place = tmp_path / f"by{len(options)}"
        made = json.loads(run("run", folder, "-o", place, "--json", *options).stdout)
        again = json.loads(running.run("score", place / "study.jsonl", "--json").stdout)
        assert again["scores"] == made["scores"], "the study gives the same scores as the run"


def test_build_writes_what_the_name_says(folder: Path, tmp_path: Path) -> None:
    done = run("build", folder, "-o", tmp_path / "p.jsonl", "--partitioner", "edua-g", "--beta", "2", "--json")
    held = json.loads(done.stdout)
    assert set(held["tiers"]) == {"again", "flood"}
    assert "|partitioner:edua-g|alpha:10|beta:2|" in held["signature"]
    study = pyr.load(tmp_path / "p.jsonl")
    assert {pyramid.name for pyramid in study.pyramids} == {"auto"}
    assert run("build", folder, "-o", tmp_path / "pyrs", "-q").returncode == 0
    assert sorted(path.name for path in (tmp_path / "pyrs").iterdir()) == ["again.pyr", "flood.pyr"]


def test_build_adds_to_a_study_database(folder: Path, tmp_path: Path) -> None:
    from pyramidion.campaigns.desk import CampaignDesk, Database

    place = tmp_path / "study.db"
    refused = run("build", folder, "-o", place)
    assert refused.returncode == 2
    assert "pyramidion init" in refused.stderr
    Database.create(place, title="Floods").close()
    done = run("build", folder, "-o", place)
    assert done.returncode == 0, done.stderr
    desk = CampaignDesk.open(place)
    assert {(pyramid.topic, pyramid.name) for pyramid in desk.studies.load().pyramids} == {
        ("again", "auto"),
        ("flood", "auto"),
    }
    desk.database.close()


def test_score_uses_what_was_built_and_saves_what_it_found(folder: Path, tmp_path: Path) -> None:
    run("build", folder, "-o", tmp_path / "p.jsonl", "-q")
    done = run(
        "score", tmp_path / "p.jsonl", "-o", tmp_path / "s.csv", "--save", tmp_path / "s.jsonl", "--by", "summary"
    )
    assert done.returncode == 0, done.stderr
    assert "partitioner" not in done.stdout, "the pyramid was there already"
    values = {(r["topic"], r["system"]): float(r["value"]) for r in rows(tmp_path / "s.csv") if r["measure"] == "raw"}
    assert values["flood", "good"] > values["flood", "bad"]
    study = pyr.load(tmp_path / "s.jsonl")
    assert study.pyramids == pyr.load(tmp_path / "p.jsonl").pyramids
    assert {judge.id: judge.kind for judge in study.judges} == {"auto": "model"}


def test_matchers_can_be_chosen_and_wrong_options_are_named(folder: Path, tmp_path: Path) -> None:
    done = run("score", folder, "--matcher", "wmin", "--threshold", "0.4", "--json")
    assert "|matcher:wmin|top-k:2|threshold:0.4|" in json.loads(done.stdout)["signature"]
    for arguments, message in (
        (["--matcher", "best"], "unknown matcher 'best'"),
        (["--top-k", "3"], "matcher align has no top-k"),
        (["--alpha", "3"], "partitioner edua-x has no alpha"),
        (["-o", "scores.txt"], "scores can be written to"),
        (["--pyramid", "mine"], "no pyramid called 'mine'"),
        (["--similarity", "cosine", "--embedder", "wtmf:none.npz"], "none.npz does not exist"),
    ):
        refused = run("score", folder, *arguments, cwd=tmp_path)
        assert refused.returncode == 2, refused.stderr
        assert message in refused.stderr
        assert "Traceback" not in refused.stderr


def test_a_topic_without_references_is_an_error_with_its_name(tmp_path: Path) -> None:
    place = tmp_path / "texts" / "topics" / "lonely" / "peers"
    place.mkdir(parents=True)
    (place / "x.txt").write_text("Something.")
    done = run("score", tmp_path / "texts", "--from", "folder")
    assert done.returncode == 1
    assert "topic lonely: has no references" in done.stderr


def test_one_such_topic_among_others_is_a_warning(folder: Path, tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    shutil.copytree(folder, texts)
    place = texts / "topics" / "lonely" / "peers"
    place.mkdir(parents=True)
    (place / "good.txt").write_text("Something.")
    done = run("run", texts, "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "topic lonely: has no references" in done.stderr
    assert {row["topic"] for row in rows(tmp_path / "out" / "scores.csv")} == {"flood", "again", ""}


def test_a_run_uses_a_named_pyramid_and_says_what_it_could_not_export(folder: Path, tmp_path: Path) -> None:
    study = pyr.load(folder)
    units = (pyr.ContentUnit("stu-1", "The Aller flooded the old town.", (pyr.Contributor("A"),)),)
    brought = tuple(pyr.Pyramid(topic.id, ("A", "B"), units, "auto") for topic in study.topics)
    pyr.save(replace(study, pyramids=brought), tmp_path / "brought.jsonl")
    built = run("run", tmp_path / "brought.jsonl", "-o", tmp_path / "built")
    assert built.returncode == 0, built.stderr
    assert "|partitioner:edua-x|" in built.stdout
    assert "kept as auto-given" in built.stderr
    done = run("run", tmp_path / "brought.jsonl", "-o", tmp_path / "named", "--pyramid", "auto")
    assert done.returncode == 0, done.stderr
    assert "partitioner" not in done.stdout
    assert "good" in done.stdout
    assert "no DUCView files" in done.stderr
    assert "pyramids/" not in done.stdout
    values = {r["system"]: float(r["value"]) for r in rows(tmp_path / "named" / "scores.csv") if r["measure"] == "raw"}
    assert values["good"] > 0.5 > values["bad"]


def test_a_trained_wtmf_model_is_an_embedder(folder: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join([*REFERENCES.values(), *PEERS.values()] * 3))
    done = run("train-wtmf", corpus, "-o", tmp_path / "m.npz", "--dimensions", "5", "--json")
    assert done.returncode == 0, done.stderr
    losses = json.loads(done.stdout)["losses"]
    assert losses == sorted(losses, reverse=True)
    choices = ["--similarity", "cosine", "--embedder", f"wtmf:{tmp_path / 'm.npz'}", "--matcher", "exact"]
    held = json.loads(run("score", folder, *choices, "--json").stdout)
    assert "|embedder:wtmf:" in held["signature"]
    assert run("train-wtmf", corpus, "-o", tmp_path / "m.txt").returncode == 2
    texts = run("train-wtmf", folder, "-o", tmp_path / "n.npz", "--dimensions", "5", "--json")
    assert json.loads(texts.stdout)["words"] > 5
