"""The public face of the analyses: names, and that every answer says how it was made."""

from __future__ import annotations

import json

import pyramidion as pyr
from pyramidion import analysis
from pyramidion.judging import judge_study


def test_the_public_names_are_these() -> None:
    assert analysis.__all__ == sorted(analysis.__all__)
    assert set(analysis.__all__) == {
        "Answer",
        "Assumptions",
        "Prices",
        "ScoredSettings",
        "Table",
        "agreement",
        "calibrate",
        "combine",
        "compare",
        "consistency",
        "correlate",
        "drop_topics",
        "grid_search",
        "metric_accuracy",
        "plan",
        "plan_with_model",
        "pyramid_pairs",
        "pyramid_size",
        "reliability",
        "rerun",
        "resampling",
        "significance",
        "stand_in",
        "trained_metric",
        "tukey",
        "unit_significance",
    }


def test_every_answer_on_the_example_is_signed_and_plain_json(example: pyr.Study) -> None:
    tables = {method: pyr.score(example, method) for method in ("pyramid", "lite", "rouge")}
    answers = [
        analysis.agreement(example, resamples=20),
        analysis.calibrate(example, experts="rater1"),
        analysis.consistency(example, tables["rouge"]),
        analysis.correlate(tables, gold="modified", metrics=["lite", "rouge-2-recall"], resamples=20, permutations=20),
        analysis.drop_topics(example, tables["pyramid"], share=0.25),
        analysis.metric_accuracy(tables, gold="modified", metrics=["lite"]),
        analysis.plan(example, campaigns=10),
        analysis.plan_with_model(judge_study(example, "lexical").study, "lexical", question="these"),
        analysis.pyramid_pairs(example, pyramid="crowd"),
        analysis.pyramid_size(example),
        analysis.rerun(tables["lite"], tables["lite"]),
        analysis.resampling(example, repetitions=3),
        analysis.significance(tables["lite"]),
        analysis.stand_in(judge_study(example, "lexical").study, resamples=20),
        analysis.tukey(example),
        analysis.unit_significance(example),
    ]
    for answer in answers:
        assert str(answer.signature).startswith("pyramidion|method:")
        assert answer.sentence.endswith(".")
        assert answer.tables
        assert answer.figures
        assert "NaN" not in json.dumps(answer.as_json())
        for table in answer.tables:
            assert len(set(table.columns)) == len(table.columns), table.title
            assert all(len(row) == len(table.columns) for row in table.rows)
