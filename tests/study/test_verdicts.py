"""Values as people read them: expressed, perhaps or not found, by the bounds of whoever gave them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pyramidion as pyr
from pyramidion.judges import accuracy, bounds_of, make_judge
from pyramidion.judges.accuracy import JudgeAccuracy
from pyramidion.store.database import Database
from pyramidion.store.studies import Studies
from pyramidion.study import Judge
from pyramidion.study.judgments import VERDICTS, verdict
from pyramidion.study.records import CODEC

SHARES = st.floats(0, 1)


def test_bounds_are_the_lowest_values_of_a_verdict() -> None:
    judge = Judge("m", "model", expressed=0.566, perhaps=0.166)
    values = (0.0, 0.1659, 0.166, 0.5659, 0.566, 1.0, 3.0)
    assert [judge.verdict(value) for value in values] == [
        "not found",
        "not found",
        "perhaps",
        "perhaps",
        "expressed",
        "expressed",
        "expressed",
    ]


@given(SHARES, SHARES, SHARES, SHARES)
def test_more_never_reads_as_less(one: float, other: float, high: float, low: float) -> None:
    bounds = max(high, low), min(high, low)
    first, second = (VERDICTS.index(verdict(value, *bounds)) for value in sorted((one, other)))
    assert first >= second


@given(SHARES)
def test_people_never_say_perhaps(value: float) -> None:
    assert Judge("ann", "expert").verdict(value) == ("expressed" if value >= 0.5 else "not found")


def test_what_is_absent_is_not_found_whatever_the_bounds() -> None:
    assert verdict(0.0, 0.0, 0.0) == "not found"


def with_judge(**about: object) -> list[str]:
    lines = [{"type": "study", "version": 1}, {"type": "judge", "id": "m", "kind": "model", **about}]
    return [json.dumps(line) for line in lines]


def test_bounds_travel_and_old_files_still_read(tmp_path: Path) -> None:
    path = tmp_path / "old.jsonl"
    path.write_text("\n".join(with_judge()))
    assert pyr.load(path).judges == (Judge("m", "model"),)
    path.write_text("\n".join(with_judge(expressed=0.6, perhaps=0.2)))
    held = pyr.load(path)
    assert held.judges == (Judge("m", "model", expressed=0.6, perhaps=0.2),)
    pyr.save(held, tmp_path / "new.jsonl")
    assert pyr.load(tmp_path / "new.jsonl").judges == held.judges
    database = Database.create(tmp_path / "study.db")
    Studies(database).add(held)
    assert Studies(database).load().judges == held.judges
    database.close()


def test_only_bounds_that_differ_are_written() -> None:
    assert CODEC.encode(Judge("ann", "expert")) == {"id": "ann", "kind": "expert"}
    written = CODEC.encode(Judge("m", "model", expressed=0.6, perhaps=0.5))
    assert written == {"id": "m", "kind": "model", "expressed": 0.6}


@pytest.mark.parametrize(("expressed", "perhaps"), [(0.2, 0.6), (1.5, 0.2), (0.5, -0.1)])
def test_impossible_bounds_are_refused_with_the_judges_name(tmp_path: Path, expressed: float, perhaps: float) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text("\n".join(with_judge(expressed=expressed, perhaps=perhaps)))
    with pytest.raises(pyr.InputError, match=r"judge m: its bounds, expressed .* must be between 0 and 1"):
        pyr.load(path)
    path.write_text("\n".join(with_judge(expressed="high")))
    with pytest.raises(pyr.InputError, match="field 'expressed' must be a number"):
        pyr.load(path)


def test_the_judges_that_come_along_have_bounds() -> None:
    align = bounds_of(make_judge("align"))
    assert 0 < align.perhaps < align.expressed < 1
    nli = bounds_of(make_judge("nli:anything"))
    assert nli == (0.5, 0.25)
    lexical = make_judge("lexical")
    assert bounds_of(lexical) == (lexical.threshold, lexical.threshold)


# -- how often the embedded judge is right ---------------------------------------------------------------------------


def test_figures_are_the_lowest_of_all_collections(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = {
        "pyrxsum": {"expressed_right": 0.83, "not_found_right": 0.94, "recall": 0.5},
        "realsumm": {"expressed_right": 0.86, "not_found_right": 0.91, "recall": 0.4},
    }
    card = {"expressed": 0.6, "perhaps": 0.2, "held_out": {"auc": 0.9, "read": measured}}
    monkeypatch.setattr(accuracy, "model_card", lambda: card)
    assert accuracy.accuracy(Judge("align", "model", expressed=0.6, perhaps=0.2)) == JudgeAccuracy(0.83, 0.91, 0.4)
    assert accuracy.accuracy(Judge("auto", "model", expressed=0.6, perhaps=0.2)) == JudgeAccuracy(0.83, 0.91, 0.4)
    for other in (
        Judge("align", "model"),
        Judge("align", "model", expressed=0.6, perhaps=0.1),
        Judge("align", "expert", expressed=0.6, perhaps=0.2),
        Judge("llm:x", "model", expressed=0.6, perhaps=0.2),
    ):
        assert accuracy.accuracy(other) is None
    card["held_out"] = {"auc": 0.9}
    assert accuracy.accuracy(Judge("align", "model", expressed=0.6, perhaps=0.2)) is None
