"""Automatic scores add up: to the log, to `show`, to the report and to the feedback, by whichever road they come."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import pyramidion as pyr
from pyramidion.evaluation import Evaluator, evaluate_study
from pyramidion.report.collect import findings
from pyramidion.stats.correlation import correlation
from tests.cli import running

TOPIC = "museum-theft"
NAMES = ("extent", "coverage", "quality", "comprehensive", "raw")
UNIT_LINE = re.compile(r"^  ([01]\.\d{4})  \((\d+)\) auto-\d+ ", re.MULTILINE)


class Ran(NamedTuple):
    """A folder that `auto run` left, and its table by system and measure."""

    folder: Path
    values: dict[tuple[str, str], float | None]

    @property
    def study(self) -> Path:
        return self.folder / "study.jsonl"


def texts_of(example: pyr.Study, *topics: str) -> pyr.Study:
    """Texts alone, with one more peer: a person, who wrote the first reference."""
    kept = tuple(s for s in example.summaries if s.topic in topics)
    people = tuple(
        pyr.Summary(s.topic, "person", f"  {s.text}\n") for s in kept if (s.role, s.system) == ("reference", "A")
    )
    return pyr.Study(tuple(t for t in example.topics if t.id in topics), (*kept, *people))


@pytest.fixture(scope="module", params=["align", "wmin"])
def ran(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    place = tmp_path_factory.mktemp("run")
    pyr.save(texts_of(pyr.example(), TOPIC), place / "texts.jsonl")
    done = running.run("auto", "run", place / "texts.jsonl", "-o", place / "out", "--matcher", request.param, "--json")
    assert done.returncode == 0, done.stderr
    table = json.loads(done.stdout)["scores"]
    return Ran(place / "out", {(s["system"], s["measure"]): s["value"] for s in table if s["topic"] == TOPIC})


def systems(ran: Ran) -> list[str]:
    return sorted({system for system, _ in ran.values})


VERDICTS = ("expressed", "perhaps", "missed")


def listed_weight(shown: dict[str, Any]) -> float:
    """What the units that `show --json` lists weigh together, whatever the verdict."""
    return sum(unit["weight"] * unit["degree"] for verdict in VERDICTS for unit in shown[verdict])


def test_the_table_is_the_file(ran: Ran) -> None:
    with (ran.folder / "scores.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["topic"] == TOPIC]
    assert {(r["system"], r["measure"]): float(r["value"]) for r in rows} == pytest.approx(ran.values)
    assert "person" in systems(ran)


def test_the_log_adds_up_to_the_scores(ran: Ran) -> None:
    log = (ran.folder / "log.txt").read_text()
    for system in systems(ran):
        part = log.split(f"PEER {system} of topic {TOPIC}\n")[1].split("\nPEER ")[0]
        lines = UNIT_LINE.findall(part)
        raw = sum(float(degree) * int(weight) for degree, weight in lines)
        assert raw == pytest.approx(ran.values[system, "raw"], abs=1e-9)
        unmatched = part.count("\n  unmatched  “")
        assert f"{unmatched} segments unmatched; {len(lines) + unmatched} content units in all" in part
        assert min((float(degree) for degree, _ in lines), default=1) >= 0.2


def test_show_adds_up_to_the_scores(ran: Ran) -> None:
    for system in systems(ran):
        held = json.loads(running.run("show", ran.study, "--system", system, "--json").stdout)
        assert [held[name] for name in NAMES] == pytest.approx([ran.values[system, name] for name in NAMES], abs=1e-9)
        assert listed_weight(held) == pytest.approx(held["raw"], abs=1e-9)
        ids = [unit["id"] for verdict in VERDICTS for unit in held[verdict]]
        assert len(ids) == len(set(ids))


def test_report_and_feedback_add_up_to_the_scores(ran: Ran, tmp_path: Path) -> None:
    found = findings(pyr.load(ran.study), resamples=20)
    for summary in found.summaries:
        raw = sum(unit.weight * summary.degree(unit.id) for unit in summary.pyramid.units)
        system = summary.peer.system
        assert raw == pytest.approx(ran.values[system, "raw"], abs=1e-9)
        assert found.main_scores[TOPIC, system] == pytest.approx(ran.values[system, "extent"], abs=1e-9)
        assert len(summary.quotes) == summary.unmatched
    assert running.run("feedback", ran.study, "-o", tmp_path / "pages").returncode == 0
    with (tmp_path / "pages" / "grades.csv").open(newline="") as file:
        weights = {row["writer"]: float(row["weight"]) for row in csv.DictReader(file)}
    raw = {system: ran.values[system, "raw"] for system in systems(ran)}
    assert weights == pytest.approx(raw, abs=5e-5)
    page = (tmp_path / "pages" / "writers" / "extract" / f"{TOPIC}.html").read_text()
    there = page.split("What is there</h2>")[1].split("</section>")[0]
    [extract] = [summary for summary in found.summaries if summary.peer.system == "extract"]
    assert len(re.findall("<li>", there)) == len(extract.expressed)
    assert all(unit.label in unescape(there) for unit in extract.expressed)


def test_every_road_gives_the_same(ran: Ran) -> None:
    def values(held: dict[str, Any]) -> dict[tuple[str, str], float]:
        return {(s["system"], s["measure"]): s["value"] for s in held["scores"] if s["topic"] == TOPIC}

    kept = json.loads(running.run("score", ran.study, "--json").stdout)
    assert values(kept) == pytest.approx(ran.values, abs=1e-12)
    options = ["-m", "pyramid", "--pyramid", "auto", "--judges", "auto"]
    by_hand = values(json.loads(running.run("score", ran.study, *options, "--json").stdout))
    for system in systems(ran):
        assert by_hand[system, "modified"] == pytest.approx(ran.values[system, "coverage"], abs=1e-12)
        assert by_hand[system, "original"] == pytest.approx(ran.values[system, "quality"], abs=1e-12)
    again = json.loads(running.run("auto", "score", ran.study, *_matcher(ran), "--json").stdout)
    assert values(again) == pytest.approx(ran.values, abs=1e-6)
    study = pyr.load(ran.study)
    references = {s.system: s.text for s in study.references}
    peers = {s.system: s.text for s in study.peers}
    table = pyr.evaluate([references[name] for name in sorted(references)], peers, matcher=_matcher(ran)[1])
    assert {(s.system, s.measure): s.value for s in table if s.topic} == pytest.approx(ran.values, abs=1e-6)


def _matcher(ran: Ran) -> list[str]:
    return ["--matcher", "wmin" if "|matcher:wmin|" in (ran.folder / "log.txt").read_text() else "align"]


def test_a_models_probabilities_add_up_by_the_same_rule(example: pyr.Study, tmp_path: Path) -> None:
    """`judge --save`, then the Pyramid method on what it saved."""
    pyramids = tuple(p for p in example.pyramids if (p.topic, p.name) == (TOPIC, "expert"))
    pyr.save(replace(texts_of(example, TOPIC), pyramids=pyramids), tmp_path / "in.jsonl")
    done = running.run("judge", tmp_path / "in.jsonl", "--save", tmp_path / "j.jsonl", "-q")
    assert done.returncode == 0, done.stderr
    table = pyr.score(pyr.load(tmp_path / "j.jsonl"), "pyramid", measures=["raw"])
    for system in table.systems:
        shown = running.run("show", tmp_path / "j.jsonl", "--system", system, "-m", "pyramid", "--json")
        assert listed_weight(json.loads(shown.stdout)) == pytest.approx(table.value(system, "raw", TOPIC), abs=1e-9)


@pytest.mark.slow
def test_quality_agrees_with_experts_on_the_bundled_example(example: pyr.Study) -> None:
    """The figures of docs/explanation/automatic.md. Before the sums were over one list, quality had .632."""
    bare = replace(example, pyramids=(), judgments=pyr.Judgments(), judges=(), tasks=(), assignments=())
    ours = evaluate_study(bare, explain=False).table
    experts = pyr.score(example, "pyramid", measures=["modified", "original", "comprehensive", "raw"])
    expected = {"coverage": 0.805, "quality": 0.700, "comprehensive": 0.765, "raw": 0.793}
    for measure, expert in zip(expected, experts.measures, strict=True):
        mine, theirs = ours.per_summary(measure), experts.per_summary(expert)
        found = correlation([mine[key] for key in sorted(mine)], [theirs[key] for key in sorted(mine)])
        assert found.r == pytest.approx(expected[measure], abs=5e-4)
        assert measure == "raw" or measure == "coverage" or max(mine.values()) <= 1  # type: ignore[type-var,operator]


# -- peers that are references --------------------------------------------------------------------------------


def test_a_human_peer_is_scored_by_the_pyramid_of_the_others(example: pyr.Study) -> None:
    """By hand: the built pyramid without the contributors of reference A, and nothing else changed."""
    study = texts_of(example, TOPIC)
    found = evaluate_study(study)
    references = {s.system: s.text for s in study.references}
    [built] = found.study.pyramids
    assert set(built.references) == set(references), "it is built from all references"
    evaluator = Evaluator()
    others = built.restricted_to(set(references) - {"A"})
    by_hand, against_itself = (
        [score.value for score in evaluator.score(pyramid, references, [("person", references["A"])])]
        for pyramid in (others, built)
    )
    assert [found.table.value("person", name, TOPIC) for name in NAMES] == pytest.approx(by_hand, abs=1e-9)
    assert by_hand[0] < against_itself[0] - 0.1  # type: ignore[operator]
    assert [str(note) for note in found.table.notes] == [
        f"human peers: 1 peer is itself a reference (person on {TOPIC} is A), so it is scored against the others only"
    ]
    assert "It is reference A itself, so it is compared with the other references only." in found.log
    units = {j.unit for j in found.study.judgments if j.system == "person" and j.unit}
    assert units == {unit.id for unit in others.units}


def test_the_only_reference_has_no_score_by_any_road(tmp_path: Path) -> None:
    texts = {"same": "The river  rose on Monday.", "other": "On Monday the river rose by a metre."}
    table = pyr.evaluate(["The river rose on Monday."], texts)
    assert [table.value("same", name) for name in NAMES] == [None] * len(NAMES)
    assert table.value("other", "coverage") is not None
    assert any("no other, so it has no score" in note.what for note in table.notes)
    summaries = (
        pyr.Summary("t", "A", "The river rose on Monday.", "reference"),
        *(pyr.Summary("t", name, text) for name, text in texts.items()),
    )
    judged = evaluate_study(pyr.Study((pyr.Topic("t"),), summaries)).study
    pyr.save(judged, tmp_path / "s.jsonl")
    again = pyr.score(pyr.load(tmp_path / "s.jsonl"))
    assert again.per_summary("quality") == pytest.approx({("t", k): table.value(k, "quality") for k in texts})
    assert any("no other, so it has no score" in note.what for note in again.notes)


def test_a_copy_of_a_reference_that_the_pyramid_does_not_have_is_an_ordinary_peer(example: pyr.Study) -> None:
    study = texts_of(example, TOPIC)
    [built] = evaluate_study(study).study.pyramids
    others = replace(built.restricted_to(["B", "C", "D"]), name="others")
    table = evaluate_study(replace(study, pyramids=(others,)), pyramid="others", explain=False).table
    assert not [note for note in table.notes if note.where == "human peers"]
    expected = evaluate_study(study, explain=False).table
    assert table.value("person", "coverage") == pytest.approx(expected.value("person", "coverage"), abs=1e-6)


# -- real data ------------------------------------------------------------------------------------------------


def test_published_summaries_add_up_and_units_that_came_along_are_not_used(real_data: Path) -> None:
    """25 systems on two documents of REALSumm, whose STUs.txt is read as a pyramid called auto."""
    study = pyr.load(real_data / "realsumm-half")
    topics = study.topics[:2]
    ids = {topic.id for topic in topics}
    few = pyr.Study(
        topics,
        tuple(s for s in study.summaries if s.topic in ids),
        tuple(p for p in study.pyramids if p.topic in ids),
    )
    found = evaluate_study(few)
    assert {p.name for p in found.study.pyramids} == {"auto", "auto-given", "expert"}
    assert "|partitioner:edua-x|" in str(found.table.signature)
    raw, quality = found.table.per_summary("raw"), found.table.per_summary("quality")
    assert len(raw) == 50
    assert max(quality.values()) <= 1  # type: ignore[type-var]
    for part in found.log.split("\nPEER ")[1:]:
        system, topic = part.split("\n")[0].split(" of topic ")
        total = sum(float(degree) * int(weight) for degree, weight in UNIT_LINE.findall(part))
        assert total == pytest.approx(raw[topic, system], abs=1e-9)
