"""Nothing is compared with itself: which measures come from the gold's own judgments or numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pyramidion as pyr
from pyramidion.analysis import correlate, metric_accuracy
from pyramidion.analysis.inputs import LINEAR, SAME, SHARED, shares_judgments, why_dependent
from pyramidion.analysis.sources import scored_by_all, scored_by_models
from pyramidion.evaluation import evaluate_study
from pyramidion.formats.score_tables import read_scores, write_scores
from pyramidion.judging import judge_study
from pyramidion.report.collect import findings
from pyramidion.study import Judge, Judgment, Judgments, Score, ScoreTable, Signature

OF = Signature.of
EXPERTS = OF("pyramid", pyramid="expert", judges="expert", xa="half-up")


@pytest.mark.parametrize(
    ("other", "shared"),
    [
        (OF("pyramid", pyramid="expert", judges="expert", xa="floor"), True),
        (OF("lite", pyramid="expert", judges="expert", aggregate="mean"), True),  # the same answers, other sums
        (OF("lite", pyramid="expert", judges="all"), True),
        (OF("lite", pyramid="expert", judges="people"), True),
        (OF("lite", pyramid="expert", judges="crowd"), False),
        (OF("lite", pyramid="expert", judges="model"), False),
        (OF("lite", pyramid="crowd", judges="expert"), False),  # other units
        (OF("pyramid", pyramid="expert", judges="ann", kind="expert"), True),
        (OF("pyramid", pyramid="expert", judges="align", kind="model"), False),
        (OF("auto", pyramid="expert", judges="auto", kind="model"), False),
        (OF("auto", pyramid="expert", matcher="align"), False),
        (OF("responsiveness", judges="expert"), False),
        (OF("rouge", combine="average"), False),
        (OF("imported", file="scores.csv"), False),
    ],
)
def test_whose_judgments_on_which_units(other: Signature, shared: bool) -> None:
    assert shares_judgments(EXPERTS, other) == shares_judgments(other, EXPERTS) == shared
    assert shares_judgments(Signature.parse(str(EXPERTS)), Signature.parse(str(other))) == shared


def test_single_judges_are_themselves() -> None:
    first, second = (OF("lite", pyramid="p", judges=name, kind="crowd") for name in ("w1", "w2"))
    assert shares_judgments(first, first)
    assert not shares_judgments(first, second)
    run, other = (OF("auto", pyramid="auto", matcher=name) for name in ("align", "wmin"))
    assert shares_judgments(run, run)
    assert not shares_judgments(run, other)


def table(cells: dict[str, np.ndarray], signature: Signature) -> ScoreTable:
    scores = [
        Score(f"t{t}", f"s{s}", name, float(value))
        for name, array in cells.items()
        for t, row in enumerate(array)
        for s, value in enumerate(row)
    ]
    return ScoreTable.of_summaries(scores, signature)


def random(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random((12, 6))


def test_without_a_signature_numbers_tell() -> None:
    gold = random(0)
    held = table(
        {"gold": gold, "same": gold, "percent": 100 * gold - 3, "near": gold + 1e-4 * random(1), "other": random(2)},
        OF("imported", file="scores.csv"),
    )
    assert [why_dependent(held, "gold", held, name) for name in held.measures[1:]] == [SAME, LINEAR, "", ""]
    answer = correlate(held, gold="gold", resamples=0, permutations=0)
    assert {c.metric for c in answer.result.correlations} == {"near", "other"}
    assert [str(note) for note in answer.notes[:2]] == [
        "same: has the gold's own numbers, so it is left out; name it with --metric to see it anyway",
        "percent: follows from the gold's numbers by a straight line, so it is left out; name it with --metric to see "
        "it anyway",
    ]


def test_the_same_choices_with_other_numbers_are_other_judgments() -> None:
    """Two annotations of one study have the same signature; correlating them is no self-comparison."""
    first, second = (table({"modified": random(seed)}, EXPERTS) for seed in (0, 1))
    assert why_dependent(first, "modified", second, "modified") == ""
    assert why_dependent(first, "modified", replace(first), "modified") == SHARED


def test_measures_of_one_annotation_are_left_out_or_marked() -> None:
    study = pyr.example()
    tables = scored_by_all(study)
    answer = correlate(tables, gold="modified", resamples=0)
    metrics = {c.metric for c in answer.result.correlations}
    assert {"lite", "overall", "rouge-2-recall"} <= metrics
    assert not metrics & {"original", "comprehensive", "precision", "recall"}
    assert any("each shares judgments with the gold, so it is left out" in note.what for note in answer.notes)
    named = correlate(tables, gold="modified", metrics=["original", "rouge-2-recall"], resamples=0)
    assert named.result.of("original").dependent == SHARED
    assert named.result.of("rouge-2-recall").dependent == ""
    assert named.sentence.startswith("rouge-2-recall agrees best with modified on systems")
    assert named.tables[0].records()[0]["dependent"] is True
    assert not named.result.differences
    alone = correlate(tables, gold="modified", metrics=["original"], resamples=0)
    assert alone.sentence.startswith("original shares judgments with the gold (modified), so Pearson r = ")
    verdicts = metric_accuracy(tables, gold="modified", level=0.15)
    assert not {m.metric for m in verdicts.result.metrics} & {"original", "comprehensive", "precision", "recall"}
    with pytest.raises(pyr.UsageError, match=r"every other measure comes from .* 'modified' itself: original, "):
        correlate(tables["pyramid"], gold="modified")


def test_another_aggregator_of_the_same_crowd_is_marked() -> None:
    study = pyr.example()
    tables = {"majority": pyr.score(study, "lite"), "mean": pyr.score(study, "lite", aggregate="mean")}
    found = correlate(tables, gold="majority:lite", metrics=["mean:lite"], resamples=0)
    assert found.result.of("mean:lite").dependent == SHARED


def test_json_tables_keep_what_they_come_from(tmp_path: Path) -> None:
    study = pyr.example()
    tables = {}
    for number, measures in enumerate((["modified"], ["recall"])):
        write_scores(pyr.score(study, "pyramid", measures=measures), tmp_path / f"{number}.json")
        tables[str(number)] = read_scores(tmp_path / f"{number}.json")
    found = correlate(tables, gold="modified", metrics=["recall"], resamples=0)
    assert found.result.of("recall").dependent == SHARED


# -- models ----------------------------------------------------------------------------------------------------------


def judged(study: pyr.Study, pyramid: str, judge: str = "model-1", seed: int = 0) -> pyr.Study:
    """The study with degrees by a model that is partly right, as `pyramidion judge --save` leaves them."""
    rng = np.random.default_rng(seed)
    units = {(p.topic, u.id) for p in study.pyramids if p.name == pyramid for u in p.sampled}
    truth = {(j.topic, j.system, j.unit): j.value or 0.0 for j in study.judgments if (j.topic, j.unit) in units}
    new = [
        Judgment(topic, system, judge, round(0.6 * min(value, 1.0) + 0.4 * float(rng.random()), 3), unit=unit)
        for (topic, system, unit), value in sorted(truth.items())
    ]
    return replace(study, judges=(*study.judges, Judge(judge, "model")), judgments=Judgments([*study.judgments, *new]))


def test_saved_judgments_of_models_are_metrics() -> None:
    study = judged(judged(pyr.example(), "expert"), "crowd")
    tables = scored_by_all(study)
    found = scored_by_models(study, tables)
    assert {label: held.measures for label, held in found.items()} == {
        "model-1@crowd": ("model-1@crowd:lite",),
        "model-1@expert": ("model-1@expert:modified", "model-1@expert:recall"),
    }
    by_hand = pyr.score(study, "pyramid", pyramid="expert", judges="model-1")
    for system in by_hand.systems:
        mine = found["model-1@expert"].value(system, "model-1@expert:modified")
        assert mine == by_hand.value(system, "modified")
    answer = correlate(tables | found, gold="modified", resamples=0, permutations=0)
    assert answer.result.of("model-1@expert:modified").r is not None
    shuffled = replace(study, judgments=Judgments(list(study.judgments)[::-1]))
    assert scored_by_models(shuffled, tables) == found


def test_the_report_correlates_models_with_people() -> None:
    found = findings(judged(pyr.example(), "expert"), resamples=20)
    assert found.correlations
    metrics = {c.metric for c in found.correlations.result.correlations}
    assert {m for m in metrics if ":" in m} == {"model-1:modified"}
    assert not metrics & {"original", "comprehensive", "precision", "recall"}


@pytest.mark.slow
def test_a_model_alone_is_no_metric_beside_itself() -> None:
    study = pyr.example()
    bare = replace(study, judgments=Judgments(), tasks=(), assignments=(), judges=(), aspects=())
    model = judge_study(bare, pyramid="crowd").study
    tables = scored_by_all(model)
    assert scored_by_models(model, tables) == {}
    both = evaluate_study(study).study
    assert list(scored_by_models(both, scored_by_all(both))) == ["auto"]
    shown = findings(both, resamples=20).correlations
    assert shown
    assert {c.metric for c in shown.result.correlations if ":" in c.metric} == {"auto:extent"}
