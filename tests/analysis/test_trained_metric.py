"""The trained metric: a year nobody judged, features from a table, people, main and update, and who is left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from tests.analysis.assessed_years import annotated_year

import pyramidion as pyr
from pyramidion.analysis import trained_metric
from pyramidion.analysis.features import BUILT_IN, features_of, summary_features
from pyramidion.analysis.trained_metric import predicted_scores
from pyramidion.stats.correlation import williams
from pyramidion.stats.regression import non_negative, robust
from pyramidion.study import Judgments, Score, ScoreTable, Study

MADE = {year: annotated_year(seed, year=year[2:]) for seed, year in enumerate(("2008", "2009", "2010"))}
YEARS = {year: study for year, (study, _) in MADE.items()}
TABLES = {year: table for year, (_, table) in MADE.items()}
UNJUDGED = {**YEARS, "2010": replace(YEARS["2010"], judgments=Judgments(), judges=(), pyramids=())}


def changed(change: Callable[[Score], Score | None], year: str = "2009") -> dict[str, ScoreTable]:
    """The tables with some scores of a year changed or gone."""
    scores = [after for score in TABLES[year] if (after := change(score)) is not None]
    return {**TABLES, year: replace(TABLES[year], scores=tuple(scores))}


def test_a_year_nobody_judged_is_predicted_as_if_it_had_been() -> None:
    judged = trained_metric(YEARS, features=TABLES, exclude=())
    blind = trained_metric(UNJUDGED, features=TABLES, exclude=())
    (known,), (new,) = judged.result, blind.result
    assert new.scores == known.scores
    assert (new.fit, new.features, new.weights, new.year2) == (known.fit, known.features, known.weights, known.year2)
    assert (new.year3, new.p, new.r()) == ({}, {}, None)
    assert [p.predicted for p in new.predicted] == [p.predicted for p in known.predicted]
    assert {p.gold for p in new.predicted} == {None}
    assert not blind.figures
    assert "in year 3, which nobody judged, s0 is predicted to be the best of 9 systems" in blind.sentence
    assert blind.tables[1].columns == ("rank", "system", "predicted")
    assert known.r(peers="NoModels") == pytest.approx(0.95, abs=0.05)  # the metric counts facts, as people do


def test_the_weights_are_those_of_the_chosen_fit_on_the_second_year() -> None:
    (found,) = trained_metric(YEARS, features=TABLES, names=["facts"], exclude=()).result
    gold = pyr.score(YEARS["2009"], "pyramid").per_summary("modified")
    x = np.array([[TABLES["2009"].value(system, "facts", topic)] for topic, system in sorted(gold)], dtype=float)
    y = np.array([gold[key] for key in sorted(gold)], dtype=float)
    line = {"robust": robust, "non-negative": non_negative}[found.fit](x, y)
    assert found.weights == pytest.approx(line.weights.tolist(), rel=1e-4)
    (topic, system), value = next(iter(found.scores.items()))
    expected = line.intercept + line.weights[0] * (TABLES["2010"].value(system, "facts", topic) or 0)
    assert value == pytest.approx(expected, rel=1e-4)


def test_predictions_are_a_score_table_with_its_making() -> None:
    answer = trained_metric(UNJUDGED, features=TABLES, exclude=(1,))
    table = predicted_scores(answer)
    assert table.measures == ("predicted", "predicted-without-1-by-alpha", "predicted-without-1-by-autoPyramid")
    assert set(table.topics) == {topic.id for topic in YEARS["2010"].topics}
    assert table.ranking("predicted")[0][0] == "s0"
    assert "method:trained-metric|target:pyramid" in str(table.signature)
    assert "|on:" in str(table.signature)


def test_summaries_that_some_did_not_judge_are_predicted_all_the_same() -> None:
    third = YEARS["2010"]
    less = replace(third, judgments=Judgments([j for j in third.judgments if j.system != "s3"]))
    answer = trained_metric({**YEARS, "2010": less}, features=TABLES, exclude=())
    (found,) = answer.result
    held = {p.system: p for p in found.predicted}
    assert held["s3"].gold is None
    assert held["s2"].gold is not None
    assert found.year3["AllPeers"][0].n == 8
    assert any("12 of 108 summaries have no pyramid score" in str(note).replace(":", "") for note in answer.notes)


def test_who_is_left_out_by_alpha_and_by_autopyramid() -> None:
    answer = trained_metric(YEARS, features=TABLES, exclude=(1, 2))
    found = {(t.criterion, len(t.excluded)): t for t in answer.result}
    assert set(found) == {("", 0), ("alpha", 1), ("alpha", 2), ("autoPyramid", 1), ("autoPyramid", 2)}
    assert found["autoPyramid", 1].excluded == ("sloppy",)
    only = trained_metric(YEARS, features=TABLES, exclude_by=("autoPyramid",)).result
    assert [t.criterion for t in only] == ["", "autoPyramid"]
    with pytest.raises(pyr.UsageError, match="unknown criterion 'luck'; known values are: alpha, autoPyramid"):
        trained_metric(YEARS, features=TABLES, exclude_by=("luck",))
    notes = trained_metric(YEARS, features=TABLES, exclude=(3,)).notes
    assert any("3 cannot be left out: autoPyramid ranks 3 assessors" in str(note) for note in notes)


def test_the_difference_is_tested_on_the_same_systems() -> None:
    whole, less = trained_metric(YEARS, features=TABLES, exclude_by=("autoPyramid",)).result
    assert whole.p == {}
    gold = {p.system: p.gold for p in whole.predicted}
    for name, out in (("AllPeers", set()), ("NoModels", {"H1"})):
        kept = [s for s in gold if s not in out]
        sides = [[{p.system: p.predicted for p in t.predicted}[s] for s in kept] for t in (less, whole)]
        assert less.p[name] == pytest.approx(williams(*sides, [gold[s] for s in kept]).p)  # type: ignore[misc]
    assert less.year3["AllPeers"][0].n == 9
    assert less.year3["NoModels"][0].n == 8


def test_main_and_update_are_trained_apart() -> None:
    (found,) = trained_metric(YEARS, features=TABLES, topics="update", exclude=()).result
    assert {topic[-1] for topic, _ in found.scores} == {"B"}
    with pytest.raises(pyr.UsageError, match="2008: no topic belongs to the set"):
        trained_metric(YEARS, features=TABLES, topics="nothing")


def test_our_own_features_and_those_of_a_table_together() -> None:
    (ours,) = trained_metric(YEARS, names=["words", "distinct-words"], exclude=()).result
    assert set(ours.features) <= {"words", "distinct-words"}
    mixed = features_of(YEARS, TABLES, ["facts", "w*", "rouge-2-recall"], most=10)
    assert mixed.names == ("facts", "rouge-2-recall", "words")
    assert mixed.own == {"facts", "noise"}
    assert features_of(YEARS, TABLES, most=10).names == ("facts", "noise")
    # Without documents there is no overlap with them; all others are there.
    assert set(features_of(YEARS, most=10).names) == set(BUILT_IN) - {"document-overlap"}
    # A table's feature comes before ours of the same name.
    renamed = {
        y: replace(t, scores=tuple(s._replace(measure="words") for s in t if s.measure == "facts"))
        for y, t in TABLES.items()
    }
    same = features_of(YEARS, renamed, most=10)
    assert same.columns["2008"]["words"] == TABLES["2008"].per_summary("facts")
    assert summary_features(YEARS["2008"], ["words"]).measures == ("words",)


def test_missing_cells_are_named_or_left_out() -> None:
    gone = changed(lambda s: None if (s.topic, s.system, s.measure) == ("D0901-A", "s2", "facts") else s)
    with pytest.raises(pyr.InputError, match="2009: topic D0901-A, system s2: feature 'facts' is missing"):
        trained_metric(YEARS, features=gone)
    with pytest.raises(pyr.InputError, match=r"mine\.csv: topic D0901-A"):
        trained_metric(YEARS, features=gone, files={"2009": "mine.csv"})
    answer = trained_metric(YEARS, features=gone, lenient=True)
    assert any("is missing" in str(note) and "left out" in str(note) for note in answer.notes)
    trained_metric(YEARS, features=gone, names=["noise"])  # only what is used must be there
    many = changed(lambda s: None if s.measure == "noise" and s.system in {"s1", "s2"} else s)
    with pytest.raises(pyr.InputError) as refused:
        trained_metric(YEARS, features=many)
    assert len(refused.value.problems) == 11
    assert "missing for 14 more summaries" in str(refused.value.problems[-1])


def test_a_gap_in_the_third_year_matters_also_where_nobody_judged() -> None:
    gone = changed(lambda s: None if (s.topic, s.system) == ("D1000-A", "s2") else s, "2010")
    with pytest.raises(pyr.InputError, match="2010: topic D1000-A, system s2"):
        trained_metric(UNJUDGED, features=gone)


def test_tables_that_do_not_fit_are_refused() -> None:
    other = changed(lambda s: s._replace(measure="facts2") if s.measure == "facts" else s)
    with pytest.raises(pyr.UsageError, match="feature 'facts2' is in 2009, but not in 2008"):
        trained_metric(YEARS, features=other)
    means = changed(lambda s: s if s.topic is None else None)
    with pytest.raises(pyr.UsageError, match="2009 has no features; it needs the columns topic, system"):
        trained_metric(YEARS, features=means)
    with pytest.raises(pyr.UsageError, match="no feature table for 2010"):
        trained_metric(YEARS, features={y: t for y, t in TABLES.items() if y != "2010"})
    with pytest.raises(pyr.UsageError, match="unknown feature 'beauty'; known values are: facts, noise, words"):
        trained_metric(YEARS, features=TABLES, names=["beauty"])
    with pytest.raises(pyr.UsageError, match="feature 'document-overlap' needs documents"):
        trained_metric(YEARS, names=["document-overlap"])
    huge = changed(lambda s: s._replace(value=1e200) if s.measure == "facts" and s.topic else s)
    with pytest.raises(pyr.UsageError, match="2009: feature 'facts' has values beyond 1e"):
        trained_metric(YEARS, features=huge)
    wide = [s._replace(measure=f"f{i}") for s in TABLES["2008"] if s.measure == "facts" for i in range(11)]
    with pytest.raises(pyr.UsageError, match=r"11 features given; .* between 1 and 10"):
        features_of({"2008": YEARS["2008"]}, {"2008": replace(TABLES["2008"], scores=tuple(wide))}, most=10)


def test_neither_the_order_of_rows_nor_units_of_measurement_matter() -> None:
    rng = np.random.default_rng(3)
    mixed, scaled = {}, {}
    for year, table in TABLES.items():
        scores = [table.scores[i] for i in rng.permutation(len(table.scores))]
        mixed[year] = replace(table, scores=tuple(scores))
        bigger = (s._replace(value=1e9 * (s.value or 0)) if s.measure == "facts" else s for s in scores)
        scaled[year] = replace(table, scores=tuple(bigger))
    studies = {}
    for year, study in YEARS.items():
        rows = list(study.judgments)
        studies[year] = replace(study, judgments=Judgments([rows[i] for i in rng.permutation(len(rows))]))
    expected = trained_metric(YEARS, features=TABLES).result
    for features in (mixed, scaled):
        for found, wanted in zip(trained_metric(studies, features=features).result, expected, strict=True):
            assert (found.fit, found.features, found.excluded) == (wanted.fit, wanted.features, wanted.excluded)
            assert found.scores == pytest.approx(dict(wanted.scores))


def test_a_third_year_may_have_no_texts_at_all() -> None:
    bare = {**YEARS, "2010": Study(topics=YEARS["2010"].topics)}
    (found,) = trained_metric(bare, features=TABLES, exclude=()).result
    assert found.scores == trained_metric(UNJUDGED, features=TABLES, exclude=()).result[0].scores
