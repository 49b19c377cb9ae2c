"""Which systems differ, asked by every road: the command, the report and Python give the same answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.running import run

import pyramidion as pyr
from pyramidion.analysis.systems import compare_systems
from pyramidion.report.collect import findings
from pyramidion.study import ContentUnit, Contributor, Judge, Judgment, Judgments, Pyramid, Study, Summary, Topic


def judged(topics: int, systems: int, seed: int = 0) -> Study:
    """Experts judged ten units per topic; each system expresses more of them than the one before."""
    rng = np.random.default_rng(seed)
    names = [f"t{t:02}" for t in range(topics)]
    peers = [f"s{s:02}" for s in range(systems)]
    units = tuple(ContentUnit(f"u{u}", f"fact {u}", (Contributor("A"),)) for u in range(10))
    judgments = [
        Judgment(topic, system, "ann", float(rng.random() < (s + 1) / (systems + 1)), unit=unit.id)
        for topic in names
        for s, system in enumerate(peers)
        for unit in units
    ]
    return Study(
        topics=tuple(map(Topic, names)),
        summaries=tuple(Summary(topic, system, f"{system} on {topic}.") for topic in names for system in peers),
        pyramids=tuple(Pyramid(topic, ("A",), units) for topic in names),
        judges=(Judge("ann", "expert"),),
        judgments=Judgments(judgments),
    )


def command(*arguments: object) -> dict[str, Any]:
    done = run("analyze", "significance", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(
    ("topics", "systems", "test"), [(20, 25, "permutation"), (12, 6, "permutation"), (4, 6, "tukey"), (1, 5, "mcnemar")]
)
def test_every_road_gives_the_same_answer(topics: int, systems: int, test: str, tmp_path: Path) -> None:
    study = judged(topics, systems)
    pyr.save(study, tmp_path / "study.jsonl")
    pyr.write_scores(pyr.score(study), tmp_path / "scores.csv")
    here = compare_systems(study)
    assert here.result.test == test
    report = findings(study).main.ranking.result
    assert report.test == test
    assert [(s.system, s.group) for s in report.systems] == [(r.system, r.group) for r in here.result.ranking]
    asked = command(tmp_path / "study.jsonl")
    assert asked["signature"] == str(here.signature)
    assert [row["group"] for row in asked["tables"][0]["rows"]] == [r.group for r in here.result.ranking]
    if topics > 1:  # a table alone has no units
        of_table = command(tmp_path / "scores.csv", "--measure", "modified")
        assert [r["p"] for r in of_table["tables"][1]["rows"]] == pytest.approx([p.p for p in here.result.pairs])


def test_the_groups_of_25_systems_are_those_of_disjoint_intervals() -> None:
    found = findings(judged(50, 25)).main.ranking.result
    best, worst = found.systems[0], found.systems[-1]
    assert best.interval is not None
    assert worst.interval is not None
    assert best.interval.low > worst.interval.high
    assert not set(best.group) & set(worst.group)


def test_options_that_would_change_nothing_are_refused(example: pyr.Study) -> None:
    scores = pyr.score(example, "pyramid")
    for source, options, what in (
        (scores, {"judges": "expert"}, "does not say who judged"),
        (scores, {"units": True}, "has no units"),
        (example, {"test": "mcnemar", "measure": "modified"}, "measure has no effect on a test on units"),
        (example, {"test": "mcnemar", "resamples": 500}, "resamples has no effect on the mcnemar test"),
        (example, {"test": "bootstrap", "units": True}, "unknown test on units 'bootstrap'"),
        (scores, {"test": "tukey", "correction": "holm"}, "correction has no effect on Tukey's test"),
        (scores, {"test": "wilcoxon", "resamples": 500}, "resamples has no effect on the wilcoxon test"),
        (scores, {"test": "permutation", "factors": ("topic",)}, "factors has no effect on the permutation test"),
        (scores, {"test": "magic"}, "unknown test 'magic'; known values are: permutation"),
        (scores, {"test": "permutation", "resamples": 50}, "50 resamples are too few"),
    ):
        with pytest.raises(pyr.UsageError, match=what):
            compare_systems(source, **options)  # type: ignore[arg-type]


def test_a_measure_finds_its_method(example: pyr.Study) -> None:
    assert compare_systems(example, measure="lite").result.measure == "lite"
    assert compare_systems(example, measure="overall").result.measure == "overall"
    with pytest.raises(pyr.UsageError, match="unknown measure 'beauty'; known values are: modified"):
        compare_systems(example, measure="beauty")


def test_on_ratings_tukey_takes_the_single_ratings(example: pyr.Study) -> None:
    answer = compare_systems(example, measure="overall")
    assert "model:a+judge+topic+system" in str(answer.signature)
