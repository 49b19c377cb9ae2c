"""Models compared with people: by hand, then against the parts it is made of, then what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import pyramidion as pyr
from pyramidion.analysis import agreement, stand_in
from pyramidion.analysis.stand_in import ONE_PERSON
from pyramidion.errors import UsageError
from pyramidion.judging import judge_study
from pyramidion.study import ContentUnit, Contributor, Judge, Judgment, Judgments, Pyramid, Summary, Topic

UNITS = ("u1", "u2", "u3", "u4")
PEOPLE = {  # unit: answers of three workers, by system
    "x": {"u1": (1, 1, 1), "u2": (1, 1, 0), "u3": (0, 0, 1), "u4": (0, 0, 0)},
    "y": {"u1": (1, 0, 0), "u2": (0, 0, 0), "u3": (1, 1, 1), "u4": (1, 1, 0)},
    "z": {"u1": (0, 0, 0), "u2": (0, 0, 0), "u3": (0, 0, 0), "u4": (1, 1, 1)},
}
MODEL: dict[str, dict[str, float | None]] = {
    "x": {"u1": 0.9, "u2": 0.4, "u3": 0.2, "u4": 0.1},  # misses u2
    "y": {"u1": 0.7, "u2": 0.3, "u3": 0.8, "u4": None},  # adds u1, leaves u4 out
    "z": {"u1": 0.0, "u2": 0.1, "u3": 0.2, "u4": 1.0},
}


def small() -> pyr.Study:
    people = [
        Judgment("t", system, f"w{n}", float(answer), unit=unit, task=system)
        for system, units in PEOPLE.items()
        for unit, answers in units.items()
        for n, answer in enumerate(answers)
    ]
    model = [Judgment("t", s, "llm:m", value, unit=u) for s, units in MODEL.items() for u, value in units.items()]
    units = tuple(ContentUnit(unit, unit, (Contributor("r"),)) for unit in UNITS)
    return pyr.Study(
        topics=(Topic("t"),),
        summaries=(Summary("t", "r", "Text.", "reference"), *(Summary("t", system, system) for system in PEOPLE)),
        pyramids=(Pyramid("t", ("r",), units, "crowd"),),
        judges=(*(Judge(f"w{n}") for n in range(3)), Judge("llm:m", "model")),
        judgments=Judgments([*people, *model]),
    )


def test_units_by_hand() -> None:
    result = stand_in(small(), resamples=0).result
    found = result.on_units("llm:m")
    # The vote: x has u1 and u2, y has u3 and u4, z has u4. The model, of 11: misses x/u2 and adds y/u1.
    assert (found.units, found.missing) == (11, 1)
    assert found.same == pytest.approx(9 / 11)
    assert found.precision == pytest.approx(3 / 4)  # x/u1, y/u3, z/u4, and y/u1 in vain
    assert found.recall == pytest.approx(3 / 4)
    # Nominal alpha by hand: 22 answers, 8 of them "present"; 2 of 11 pairs differ.
    assert found.alpha.value == pytest.approx(1 - (2 / 11) / (2 * 8 * 14 / (22 * 21)))
    values = [v for units in MODEL.values() for v in units.values() if v is not None]
    shares = [
        float(np.mean(PEOPLE[s][u])) for s, units in MODEL.items() for u, value in units.items() if value is not None
    ]
    assert found.r == pytest.approx(stats.pearsonr(values, shares).statistic)


def test_one_person_by_hand() -> None:
    person = stand_in(small(), resamples=0).result.on_units(ONE_PERSON)
    # Of 36 answers: where one of three differs, it differs from the other two, and those two meet a tie ("absent").
    same = 0
    for units in PEOPLE.values():
        for answers in units.values():
            for n, answer in enumerate(answers):
                others = [other for m, other in enumerate(answers) if m != n]
                same += answer == (2 * sum(others) > 2)
    assert (person.units, person.missing) == (36, 0)
    assert person.same == pytest.approx(same / 36)


def test_summaries_and_systems_by_hand() -> None:
    result = stand_in(small(), resamples=0).result
    people = [2 / 4, 2 / 4, 1 / 4]
    model = [1.6 / 4, 1.8 / 3, 1.3 / 4]
    for level in ("summary", "system"):  # one topic: the same numbers
        found = result.on_scores("llm:m", level)
        assert found.n == 3
        assert found.pearson == pytest.approx(stats.pearsonr(people, model).statistic)
        assert found.spearman == pytest.approx(stats.spearmanr(people, model).statistic)
        assert found.kendall == pytest.approx(stats.kendalltau(people, model).statistic)
        assert found.bias == pytest.approx(np.mean(np.subtract(model, people)))
        assert found.error == pytest.approx(np.mean(np.abs(np.subtract(model, people))))


def test_the_numbers_are_those_of_scores_and_of_agreement(example: pyr.Study) -> None:
    judged = judge_study(judge_study(example, "lexical").study, "align").study
    answer = stand_in(judged, threshold=0.5, resamples=50)
    people = pyr.score(example, "lite").per_summary("lite")
    for model in ("align", "lexical"):
        mine = pyr.score(judged, "lite", judges=model, aggregate="mean").per_summary("lite")
        keys = sorted(people)
        found = answer.result.on_scores(model, "summary")
        assert found.pearson == pytest.approx(stats.pearsonr([people[k] for k in keys], [mine[k] for k in keys])[0])
    # With a single person the vote is the answer, and agreement of two judges is the same question.
    one = replace(judged, judgments=Judgments(j for j in judged.judgments if j.judge in {"worker1", "align"}))
    hard = replace(one, judgments=Judgments(replace(j, value=float((j.value or 0) >= 0.5)) for j in one.judgments))
    expected = agreement(hard, judges="all", pyramid="crowd", resamples=0).result.alpha
    found_alpha = stand_in(hard, models=["align"], resamples=0).result.on_units("align").alpha
    assert found_alpha.value == pytest.approx(expected.value)
    assert found_alpha.items == expected.items


def test_units_by_a_model_are_compared_by_scores_and_where_people_judged_them_by_units() -> None:
    study = small()
    own = Pyramid("t", ("r",), (ContentUnit("llm-001", "a", (Contributor("r"),), author="llm:m"),), "llm")
    by_model = [Judgment("t", s, "llm:m", v, unit="llm-001") for s, v in zip("xyz", (0.9, 0.6, 0.2), strict=True)]
    both = replace(study, pyramids=(*study.pyramids, own), judgments=study.judgments + by_model)
    result = stand_in(both, resamples=0).result
    assert result.pyramid == "crowd"
    assert {(each.pyramid, each.judge) for each in result.units} == {("crowd", "llm:m"), ("crowd", ONE_PERSON)}
    assert result.on_scores("llm:m", "system", "llm").n == 3
    by_people = [Judgment("t", s, "w0", v, unit="llm-001", task="more") for s, v in zip("xyz", (1, 0, 0), strict=True)]
    result = stand_in(replace(both, judgments=both.judgments + by_people), pyramid="crowd", resamples=0).result
    assert result.on_units("llm:m", "llm").same == pytest.approx(2 / 3)
    assert result.on_scores("crowd", "system", "llm").n == 3


def test_the_order_of_judgments_does_not_matter() -> None:
    study = small()
    other = replace(study, judgments=study.judgments.take(np.random.default_rng(3).permutation(len(study.judgments))))
    assert str(stand_in(study)) == str(stand_in(other))


def test_what_is_missing_is_said() -> None:
    study = small()
    assert "llm:m on pyramid crowd: 1 unit that people judged is unanswered" in map(str, stand_in(study).notes)
    alone = replace(study, judgments=Judgments(j for j in study.judgments if j.judge != "llm:m"))
    with pytest.raises(UsageError, match="no judgments by models"):
        stand_in(alone)
    nobody = replace(study, judgments=Judgments(j for j in study.judgments if j.judge == "llm:m"))
    with pytest.raises(UsageError, match="people have no judgments on pyramid crowd"):
        stand_in(nobody)
    with pytest.raises(UsageError, match="no model 'llm:other' has judged here; there are: llm:m"):
        stand_in(study, models=["llm:other"])
    with pytest.raises(UsageError, match="a threshold must be above 0"):
        stand_in(study, threshold=0)
