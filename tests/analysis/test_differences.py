"""What changed between two runs, on data where the answer is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

import pyramidion as pyr
from pyramidion.analysis.sources import changes as differences
from pyramidion.study import ScoreTable, Signature


def table(**means: float) -> ScoreTable:
    scores = [pyr.Score(f"t{n}", system, "m", value) for system, value in means.items() for n in range(2)]
    return ScoreTable.of_summaries(scores, Signature.of("test"))


def test_nothing_changed() -> None:
    same = differences(pyr.example(), pyr.example())
    assert same.sentence.startswith("No score and no rank changed")
    assert [c.changed + c.added + c.removed for c in same.result.changes] == [0, 0, 0, 0]


def test_scores_and_ranks() -> None:
    found = differences(table(a=0.5, b=0.4, gone=0.1), table(a=0.5, b=0.7, new=0.2))
    rows = {d.system: (d.first, d.second, d.first_rank, d.second_rank) for d in found.result.systems}
    assert rows == {
        "a": (0.5, 0.5, 1, 2),
        "b": (0.4, 0.7, 2, 1),
        "gone": (0.1, None, 3, None),
        "new": (None, 0.2, None, 3),
    }
    assert found.sentence == "4 of 4 systems changed, b most (m +0.300); 4 systems changed rank."
    assert {row[1:3] for row in found.result.summaries} == {
        (topic, system) for topic in ("t0", "t1") for system in ("b", "gone", "new")
    }


def test_judgments_that_changed_are_counted_and_named() -> None:
    study = pyr.example()
    row = next(r for r, j in enumerate(study.judgments) if j.unit and j.judge == "annotator" and j.value == 0)
    changed = study.judgments[row]
    held = [replace(j, value=1.0) if number == row else j for number, j in enumerate(study.judgments)]
    found = differences(study, replace(study, judgments=pyr.Judgments(held)))
    assert found.result.units == ((changed.topic, changed.system, changed.unit, 0.0, 1.0),)
    judged = next(c for c in found.result.changes if c.what == "judgments")
    assert (judged.same, judged.changed, judged.added, judged.removed) == (len(study.judgments) - 1, 1, 0, 0)
    assert {d.system for d in found.result.systems if d.changed} == {changed.system}


def test_tables_without_a_common_measure_are_refused() -> None:
    other = ScoreTable.of_summaries([pyr.Score("t", "a", "x", 1.0)], Signature.of("other"))
    with pytest.raises(pyr.UsageError, match="no measure in common"):
        differences(table(a=1.0), other)
    noted = differences(table(a=1.0), replace(table(a=1.0), signature=Signature.of("test", tie="present")))
    assert "signatures differ" in str(noted.notes[0])
