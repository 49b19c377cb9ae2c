"""A rehearsal goes through all rounds until the goal is reached, and says that nobody real has answered."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.campaigns.designs import MANY, MODEL, desk_in_rounds, study_in_rounds, truth

import pyramidion as pyr
from pyramidion.campaigns.rehearsal import Truths, rehearse_campaign
from pyramidion.study import Judge, Judgment, Judgments


def test_a_rehearsal_ends_when_the_goal_is_reached(tmp_path: Path) -> None:
    found = []
    for number in range(2):
        desk = desk_in_rounds(tmp_path / f"{number}.db", topics=MANY, workers=3, check=True)
        done = rehearse_campaign(desk, "judge", workers=20, careless=0.1, adversarial=0.0, abandon=0.05, seed=5)
        assert done.rounds is not None
        assert done.rounds.stop is not None
        assert (done.rounds.status, done.rounds.stop.reason) == ("stopped", "goal")
        assert [(pair.better, pair.worse) for pair in sorted(done.rounds.decided, key=str)] == [
            ("fair", "poor"),
            ("good", "fair"),
            ("good", "poor"),
        ]
        assert done.rounds.judged.asked < done.rounds.judged.whole
        assert done.submitted.total() == desk.campaigns.progress("judge")["submitted"]
        assert {one.actor for one in done.rounds.looks} == {"rehearsal"}
        assert done.rounds.simulated
        assert "simulated: these answers are not people's" in done.rounds.sentences
        found.append([replace(one.look) for one in done.rounds.looks])
        desk.database.close()
    assert found[0] == found[1], "a seed gives the same campaign again"


def test_too_few_workers_end_a_rehearsal_within_a_round(tmp_path: Path) -> None:
    desk = desk_in_rounds(tmp_path / "study.db", workers=3)
    done = rehearse_campaign(desk, "judge", workers=2, careless=0.0, adversarial=0.0, seed=1)
    assert done.rounds is not None
    assert (done.rounds.status, done.rounds.looks, done.rounds.number) == ("asking", (), 1)


def test_what_is_true_comes_from_people_and_else_from_the_model() -> None:
    study = study_in_rounds()
    unit = study.pyramids[0].units[-1].id
    topic = study.topics[0].id
    assert truth("good", unit) == 0
    people = [Judgment(topic, "good", name, value, unit=unit) for name, value in (("a", 1), ("b", 1), ("c", 0))]
    told = replace(
        study,
        judges=(*study.judges, *(Judge(name, "expert") for name in "abc")),
        judgments=study.judgments + people,
    )
    assert [Truths(told, MODEL, seed).of(topic, "good", unit) for seed in range(20)] == [1.0] * 20, "2 of 3 say so"
    assert Truths(told, MODEL, 0).of(topic, "good", "unheard of") is None


@pytest.mark.parametrize("chance", [0.0, 0.25, 1.0])
def test_what_is_drawn_is_as_likely_as_the_model_says(chance: float) -> None:
    units = [f"u-{number}" for number in range(2000)]
    said = Judgments(Judgment("t", "s", MODEL, chance, unit=unit) for unit in units)
    study = pyr.Study(judges=(Judge(MODEL, "model"),), judgments=said)
    first, again = Truths(study, MODEL, 0), Truths(study, MODEL, 0)
    drawn = [first.of("t", "s", unit) for unit in units]
    assert sum(map(bool, drawn)) / len(units) == pytest.approx(chance, abs=0.03)
    assert drawn == [again.of("t", "s", unit) for unit in units], "once for all workers"
