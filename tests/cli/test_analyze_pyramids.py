"""`pyramidion analyze pyramids` as a user meets it: the bundled example's expert beside pyramids that were built."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.test_commands import refused, run

import pyramidion as pyr


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two topics, and two automatic pyramids of each."""
    folder = tmp_path_factory.mktemp("pyramids")
    whole = pyr.example()
    kept = [topic for topic in whole.topics if topic.id in {"museum-theft", "reef-nursery"}]
    ids = {topic.id for topic in kept}
    some = pyr.Study(
        tuple(kept),
        tuple(s for s in whole.references if s.topic in ids),
        tuple(p for p in whole.pyramids if p.topic in ids and p.name == "expert"),
    )
    pyr.save(some, folder / "plain.jsonl")
    for source, target, options in (
        ("plain", "one", []),
        ("one", "built", ["--name", "complete", "--partitioner", "edua-c"]),
    ):
        done = run("auto", "build", folder / f"{source}.jsonl", "-o", folder / f"{target}.jsonl", *options)
        assert done.returncode == 0, done.stderr
    return folder / "built.jsonl"


def test_the_example_in_words_tables_and_files(study: Path, tmp_path: Path) -> None:
    done = run(
        "analyze",
        "pyramids",
        study,
        "-o",
        tmp_path / "t.csv",
        "--latex",
        tmp_path / "t.tex",
        "--plot",
        tmp_path / "t.svg",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Over 2 topics: ")
    assert "have a partner among the" in done.stdout
    assert "pyramidion|method:pyramids|pyramid:auto|against:expert|overlap:dice|least:0.25|" in done.stdout
    assert (tmp_path / "t-5.csv").exists()
    assert "expert" in (tmp_path / "t.svg").read_text()


def test_table_2_of_the_paper_the_complete_search_is_nearly_flat(study: Path) -> None:
    """Gao et al. 2019, table 2: EDUA-C has one unit of each weight above 2, manual pyramids have several."""
    done = run("analyze", "pyramids", study, "--pyramid", "auto", "--pyramid", "complete", "--json")
    assert done.returncode == 0, done.stderr
    tables = json.loads(done.stdout)["tables"]
    tiers = {(row["topic"], row["pyramid"]): row for row in tables[0]["rows"]}
    for topic in ("museum-theft", "reef-nursery"):
        assert [tiers[topic, "complete"][f"weight {weight}"] for weight in (4, 3, 2)] == [1, 1, 1]
        assert [tiers[topic, "expert"][f"weight {weight}"] for weight in (4, 3)] >= [6, 6]
    alike = {row["pyramid"]: row for row in tables[1]["rows"] if row["topic"] == "all topics"}
    assert alike["auto"]["contributors of expert"] > alike["complete"]["contributors of expert"] + 0.05
    weights = {row["pyramid"]: row for row in tables[2]["rows"] if row["topic"] == "all topics"}
    assert weights["auto"]["pearson"] > weights["complete"]["pearson"]


def test_topics_and_the_least_overlap_are_obeyed(study: Path) -> None:
    def pairs(*options: object) -> list[dict[str, object]]:
        done = run("analyze", "pyramids", study, *options, "--json")
        assert done.returncode == 0, done.stderr
        found: list[dict[str, object]] = json.loads(done.stdout)["tables"][3]["rows"]
        return found

    assert {row["topic"] for row in pairs("--topic", "reef*")} == {"reef-nursery"}
    strict = pairs("--least", 0.8)
    assert 0 < len(strict) < len(pairs())
    assert min(row["overlap"] for row in strict) >= 0.8  # type: ignore[type-var, operator]
    assert {row["pyramid"] for row in pairs("--pyramid", "complete", "--against", "auto")} == {"complete"}


def test_what_is_missing_is_said_with_what_to_do(study: Path) -> None:
    plain = study.with_name("plain.jsonl")
    refused(run("analyze", "pyramids", plain), 2, "to build one from its references: pyramidion auto build STUDY -o")
    refused(run("analyze", "pyramids", study, "--against", "gold"), 2, "no pyramid called 'gold' to compare with")
    refused(run("analyze", "pyramids", study, "--pyramid", "expert"), 2, "compared with itself")
    refused(run("analyze", "pyramids", study, "--least", "2"), 2, "above 0 and at most 1, not 2")
    refused(run("analyze", "pyramids", study, "--topic", "none"), 2, "no topic with a pyramid is called none")
