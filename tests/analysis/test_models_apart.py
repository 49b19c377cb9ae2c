"""Saved judgments of models do not count as those of people, unless they are asked for by name."""

from __future__ import annotations

from dataclasses import replace

import pytest

import pyramidion as pyr
from pyramidion import analysis
from pyramidion.study import Judge, Judgment, Judgments

MODEL = Judge("machine", "model")


def with_model(study: pyr.Study, *, aspect: str = "") -> pyr.Study:
    """The study with a model that says the opposite of the first answer to everything that people judged."""
    seen = {(j.topic, j.system, j.unit, j.aspect): j for j in study.judgments if not j.other and j.aspect == aspect}
    said = [
        Judgment(
            topic, system, MODEL.id, 10.0 - (j.value or 0.0) if aspect else float(not j.value), unit=unit, aspect=on
        )
        for (topic, system, unit, on), j in seen.items()
    ]
    return replace(study, judges=(*study.judges, MODEL), judgments=Judgments([*study.judgments, *said]))


def test_agreement_on_units_is_that_of_people(example: pyr.Study) -> None:
    mixed = with_model(example)
    people = analysis.agreement(example, resamples=0).result
    found = analysis.agreement(mixed, resamples=0).result
    assert found == people
    assert MODEL.id not in {judge.judge for judge in found.judges}
    asked = analysis.agreement(mixed, judges="all", resamples=0).result
    assert MODEL.id in {judge.judge for judge in asked.judges}
    assert asked.alpha.value < people.alpha.value  # type: ignore[operator]
    alone = analysis.agreement(mixed, judges=MODEL.id, resamples=0).result
    assert [judge.judge for judge in alone.judges] == [MODEL.id]
    same = analysis.agreement(mixed, judges="people", pyramid="crowd", resamples=0).result
    assert same.alpha == people.alpha


@pytest.mark.parametrize("pyramid", ["crowd", "expert"])
def test_every_pyramid_is_that_of_people(example: pyr.Study, pyramid: str) -> None:
    kind = "expert" if pyramid == "expert" else "crowd"
    answers = [
        analysis.agreement(study, pyramid=pyramid, kind=kind, resamples=0)  # type: ignore[arg-type]
        for study in (example, with_model(example))
    ]
    assert answers[0].result == answers[1].result


def test_agreement_on_ratings_is_that_of_people_and_says_so(example: pyr.Study) -> None:
    mixed = with_model(example, aspect="overall")
    people, found = (analysis.agreement(study, aspect="overall", resamples=0) for study in (example, mixed))
    assert found.result == people.result
    assert "ratings of overall: 24 by models are left out; name judges to include them" in map(str, found.notes)
    asked = analysis.agreement(mixed, aspect="overall", judges="all", resamples=0)
    assert MODEL.id in {judge.judge for judge in asked.result.judges}
    assert not [note for note in asked.notes if "left out" in note.what]


def test_differences_and_scores_by_ratings_are_those_of_people(example: pyr.Study) -> None:
    mixed = with_model(example, aspect="overall")
    tests = [analysis.tukey(study, measure="overall").result for study in (example, mixed)]
    assert tests[0] == tests[1]
    tables = [pyr.score(study, "responsiveness") for study in (example, mixed)]
    assert tables[0].scores == tables[1].scores
    assert dict(tables[0].signature.choices)["judges"] == "all"
    assert dict(tables[1].signature.choices)["judges"] == "people"
    assert pyr.score(mixed, "responsiveness", judges="all").scores != tables[0].scores


def test_a_model_can_be_calibrated(example: pyr.Study) -> None:
    found = analysis.calibrate(with_model(example, aspect="overall"), aspect="overall", experts="expert").result
    assert [judge.judge for judge in found.judges] == [MODEL.id]


def test_where_only_models_judged_they_must_be_named(example: pyr.Study) -> None:
    mixed = with_model(example)
    only = replace(mixed, judgments=Judgments(j for j in mixed.judgments if j.judge == MODEL.id))
    with pytest.raises(pyr.UsageError, match=r"units of pyramid crowd: only models have judged it; name them"):
        analysis.agreement(only, resamples=0)
    assert analysis.agreement(only, judges="model", resamples=0).result.judges
    rated = with_model(example, aspect="overall")
    only = replace(rated, judgments=Judgments(j for j in rated.judgments if j.judge == MODEL.id))
    with pytest.raises(pyr.UsageError, match=r"overall: only models have judged"):
        analysis.agreement(only, aspect="overall", resamples=0)


def test_a_pyramid_that_only_a_model_judged_stands_in_no_ones_way(example: pyr.Study) -> None:
    # As after `auto score --save`: the expert's pyramid, and an automatic one with a model's judgments.
    expert = replace(
        example,
        pyramids=tuple(p for p in example.pyramids if p.name == "expert"),
        judgments=Judgments(j for j in example.judgments if j.judge == "annotator"),
        tasks=(),
        assignments=(),
    )
    [first, *_] = expert.pyramids
    units = tuple(replace(unit, id=f"auto-{unit.id}") for unit in first.units)
    automatic = replace(first, name="auto", units=units)
    said = Judgment(first.topic, "lead", MODEL.id, 1.0, unit=units[0].id)
    both = replace(
        expert,
        pyramids=(*expert.pyramids, automatic),
        judges=(*expert.judges, MODEL),
        judgments=Judgments([*expert.judgments, said]),
    )
    assert analysis.agreement(both, resamples=0).result == analysis.agreement(expert, resamples=0).result
