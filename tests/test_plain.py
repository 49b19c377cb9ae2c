"""Scores of pairs of texts, in one line."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pyramidion as pyr
from pyramidion import plugins
from pyramidion.study import Score, Signature

REFERENCES = [
    "The river Aller rose on Monday and flooded the old town. Ten families had to leave their homes.",
    "The museum bought a painting by a local artist. It cost nine thousand euros.",
]
PREDICTIONS = ["The Aller flooded the old town on Monday.", "A museum paid 9,000 euros for a painting."]


def test_a_pair_scores_as_a_topic_of_its_own() -> None:
    scores = pyr.score_pairs(PREDICTIONS, REFERENCES)
    assert scores.measure == "extent"
    for place, (prediction, reference) in enumerate(zip(PREDICTIONS, REFERENCES, strict=True)):
        table = pyr.evaluate(reference, {"s": prediction})
        assert scores[place] == table.value("s", "extent", "topic")
        assert scores.columns["quality"][place] == table.value("s", "quality", "topic")
    assert scores.mean() == pytest.approx(sum(scores) / 2)  # type: ignore[arg-type]
    assert str(scores.signature).startswith("pyramidion|method:auto|pyramid:auto|")
    assert list(scores.to_pandas().columns) == ["extent", "coverage", "quality", "comprehensive", "raw"]


@pytest.mark.parametrize("method", ["auto", "rouge", "align", "lexical"])
def test_the_order_of_pairs_does_not_matter(method: str) -> None:
    predictions, references = [*PREDICTIONS, PREDICTIONS[0], REFERENCES[0]], [*REFERENCES, *REFERENCES]
    metric = pyr.Metric(method)
    forth = metric(predictions, references)
    back = metric(predictions[::-1], references[::-1])
    assert list(forth) == list(back)[::-1]
    assert list(metric(predictions, references)) == list(forth), "made once, called often"


def test_methods_give_what_they_give_elsewhere() -> None:
    rouge = pyr.score_pairs(PREDICTIONS, REFERENCES, method="rouge", measures=["rouge-1-recall"])
    study = pyr.Study(
        (pyr.Topic("t"),), (pyr.Summary("t", "r", REFERENCES[0], "reference"), pyr.Summary("t", "s", PREDICTIONS[0]))
    )
    assert rouge[0] == pyr.score(study, "rouge").value("s", "rouge-1-recall", "t")
    found = pyr.score_pairs(PREDICTIONS, REFERENCES, method="align", units=[["The town was flooded."], ["A dog ran."]])
    assert found[0] is not None
    assert found[1] is not None
    assert found[0] > 0.5 > found[1]


def test_several_references_of_a_pair_are_one_pyramid() -> None:
    scores = pyr.score_pairs(PREDICTIONS[:1], [[REFERENCES[0], "The town of Aller was flooded on Monday."]])
    table = pyr.evaluate([REFERENCES[0], "The town of Aller was flooded on Monday."], {"s": PREDICTIONS[0]})
    assert scores[0] == table.value("s", "extent", "topic")


ROWS = [{"output": p, "gold": r} for p, r in zip(PREDICTIONS, REFERENCES, strict=True)]
COLUMNS = {"output": PREDICTIONS, "gold": REFERENCES}
TABLES = [ROWS, COLUMNS, pd.DataFrame(ROWS), pl.DataFrame(ROWS), pa.Table.from_pylist(ROWS)]


@pytest.mark.parametrize("table", TABLES, ids=["rows", "columns", "pandas", "polars", "arrow"])
def test_tables_of_every_make(table: Any) -> None:
    expected = list(pyr.score_pairs(PREDICTIONS, REFERENCES, method="rouge"))
    assert list(pyr.score_pairs(table, method="rouge")) == expected, "common names are recognised"
    assert list(pyr.score_pairs(table, prediction="output", reference="gold", method="rouge")) == expected
    with pytest.raises(pyr.UsageError, match="there is no column 'pred'; the columns are: output, gold"):
        pyr.score_pairs(table, prediction="pred", reference="gold", method="rouge")


def test_keywords_as_in_other_libraries() -> None:
    assert len(pyr.score_pairs(predictions=PREDICTIONS, references=REFERENCES, method="rouge")) == 2
    assert len(pyr.score_pairs(PREDICTIONS[0], REFERENCES[0], method="rouge")) == 1, "two texts are one pair"


@pytest.mark.parametrize(
    ("call", "why"),
    [
        ((PREDICTIONS, REFERENCES[:1]), "there are 2 predictions, but 1 references: score_pairs"),
        ((PREDICTIONS, REFERENCES[0]), "references are one text, but predictions are several"),
        ((PREDICTIONS * 2, [REFERENCES * 2]), r"give list\(zip\(\*references\)\)"),
        ((PREDICTIONS,), "references are missing: score_pairs"),
        (({"a": ["x"], "b": ["y"]},), "no column is called like the prediction: say which, e.g. prediction='a'"),
        (({"summary": ["x"], "output": ["x"], "gold": ["y"]},), "several columns may be the prediction"),
        ((5,), "references are missing: score_pairs"),
    ],
)
def test_mistakes_are_told_the_right_call(call: tuple[Any, ...], why: str) -> None:
    with pytest.raises(pyr.UsageError, match=why):
        pyr.score_pairs(*call)


@pytest.mark.parametrize("value", [None, float("nan"), 3, b"bytes"])
def test_what_is_no_text_is_named(value: Any) -> None:
    with pytest.raises(pyr.InputError, match="prediction 1"):
        pyr.score_pairs([PREDICTIONS[0], value], REFERENCES)
    with pytest.raises(pyr.InputError, match="reference 1"):
        pyr.score_pairs(PREDICTIONS, [REFERENCES[0], value])


def test_empty_texts() -> None:
    scores = pyr.score_pairs(["", PREDICTIONS[1], PREDICTIONS[0]], [REFERENCES[0], " ", []])
    assert list(scores) == [0.0, None, None]
    assert [str(note) for note in scores.notes] == [
        "pair 1: its references are empty, so it has no score",
        "pair 2: its references are empty, so it has no score",
    ]
    assert list(pyr.score_pairs([], [])) == []


def test_wrong_options_are_named() -> None:
    with pytest.raises(pyr.UsageError, match="method auto has no option 'tie'"):
        pyr.Metric("auto", tie="present")
    with pytest.raises(pyr.UsageError, match="unknown"):
        pyr.Metric("nothing like this")
    with pytest.raises(pyr.UsageError, match="units are for judges"):
        pyr.score_pairs(PREDICTIONS, REFERENCES, units=[["a"], ["b"]])


WORDS = st.lists(
    st.sampled_from(["river", "town", "flood", "monday", "museum", "artist", "ten", "nine"]), max_size=8
).map(" ".join)


@given(st.lists(st.tuples(WORDS, WORDS), max_size=6), st.randoms(use_true_random=False))
@settings(max_examples=15)
def test_a_score_depends_on_its_own_pair_only(pairs: list[tuple[str, str]], random: Any) -> None:
    alone = {pair: pyr.score_pairs([pair[0]], [pair[1]], method="rouge")[0] for pair in pairs}
    random.shuffle(pairs)
    together = pyr.score_pairs([p for p, _ in pairs], [r for _, r in pairs], method="rouge")
    assert list(together) == [alone[pair] for pair in pairs]


def test_notebooks_show_the_mean_first_and_the_signature_folded() -> None:
    page = pyr.score_pairs(PREDICTIONS, REFERENCES, method="rouge")._repr_html_()
    assert page.index("mean of 2 pairs") < page.index("<details><summary>Signature</summary>")


@pytest.mark.parametrize("method", ["auto", "rouge", "align"])
@pytest.mark.parametrize("references", [REFERENCES[0], [REFERENCES[0], "The town of Aller was flooded."]])
def test_an_explanation_has_the_score_that_a_call_gives(method: str, references: Any) -> None:
    metric = pyr.Metric(method)
    for prediction in (PREDICTIONS[0], "A dog ran away.", ""):
        explanation = metric.explain(prediction, references)
        scores = metric([prediction], [references])
        assert explanation.measures == {measure: column[0] for measure, column in scores.columns.items()}
        assert explanation.signature == scores.signature
        assert explanation.judged == (method != "rouge")


def test_an_explanation_says_what_is_expressed_and_what_is_missed() -> None:
    explanation = pyr.Metric().explain(PREDICTIONS[0], REFERENCES[0])
    weighed = sum(explanation.degree(unit.id) * unit.weight for unit in explanation.pyramid.units)
    assert weighed == pytest.approx(explanation.measures["raw"])
    assert [unit.label for unit in explanation.missed] == ["Ten families had to leave their homes"]
    units = ["The town was flooded.", "A dog ran."]
    given = pyr.Metric("align").explain(PREDICTIONS[0], REFERENCES[0], units=units)
    assert [[unit.label for unit in some] for some in (given.expressed, given.missed)] == [[unit] for unit in units]
    assert sum(given.degrees.values()) / 2 == pytest.approx(given.measures["lite"])
    with pytest.raises(pyr.UsageError, match="units are for judges"):
        pyr.Metric().explain(PREDICTIONS[0], REFERENCES[0], units=units)


def test_nothing_explains_a_pair_without_references() -> None:
    explanation = pyr.Metric().explain(PREDICTIONS[0], " ")
    assert (dict(explanation.measures), explanation.judged) == ({}, False)


@pytest.mark.parametrize(("method", "least"), [("auto", 0.95), ("rouge", 0.7), ("align", 0.8)])
def test_a_prediction_that_repeats_its_reference_is_scored_by_it(method: str, least: float) -> None:
    """In a study it would be a human peer, which is compared with the other references only."""
    metric = pyr.Metric(method)
    for references in (REFERENCES[0], [REFERENCES[0], "The town of Aller was flooded."]):
        [score] = metric([REFERENCES[0]], [references])
        assert score is not None
        assert score > least
        assert not metric.explain(REFERENCES[0], references).own
    assert pyr.score_pairs(REFERENCES, REFERENCES, method="rouge").mean() == 1


def test_pairs_by_key_and_arrow_arrays() -> None:
    said, wanted = {"b": "It rained.", "a": "Cats sleep."}, {"a": "Cats sleep.", "b": "It snowed."}
    expected = list(pyr.score_pairs(["It rained.", "Cats sleep."], ["It snowed.", "Cats sleep."], method="rouge"))
    assert list(pyr.score_pairs(said, wanted, method="rouge")) == expected
    arrays = pa.array(list(said.values())), pa.array(["It snowed.", "Cats sleep."])
    assert list(pyr.score_pairs(*arrays, method="rouge")) == expected
    with pytest.raises(pyr.UsageError, match="only one of them has 'c'"):
        pyr.score_pairs(said, {**wanted, "c": "More."})
    with pytest.raises(pyr.UsageError, match="both by key"):
        pyr.score_pairs(said, ["It snowed.", "Cats sleep."])


def test_marks_of_sentences_are_no_words() -> None:
    marked = ["<t> The storm hit Galway . </t>"], ["<t> Schools closed . </t> <t> A storm . </t>"]
    plain = ["The storm hit Galway ."], ["Schools closed .\nA storm ."]
    for method in ("rouge", "auto"):
        assert pyr.score_pairs(*marked, method=method).columns == pyr.score_pairs(*plain, method=method).columns


def test_references_in_several_columns_and_as_lists_in_cells() -> None:
    rows = [{"output": "A storm hit Galway.", "reference_1": "A storm hit.", "reference_2": "Galway had a storm."}]
    expected = list(pyr.score_pairs(["A storm hit Galway."], [["A storm hit.", "Galway had a storm."]], method="rouge"))
    assert list(pyr.score_pairs(rows, method="rouge")) == expected
    renamed = [{"output": "A storm hit Galway.", "x": "A storm hit.", "y": "Galway had a storm."}]
    assert list(pyr.score_pairs(renamed, reference=["x", "y"], method="rouge")) == expected
    listed = [{"output": "A storm hit Galway.", "references": '["A storm hit.", "Galway had a storm."]'}]
    assert list(pyr.score_pairs(listed, method="rouge")) == expected
    with pytest.raises(pyr.UsageError, match=r"called like the reference: say which, e\.g\. reference='x'"):
        pyr.score_pairs(renamed)
    with pytest.raises(pyr.InputError, match=r"reference 0: gold is a number \(3\)"):
        pyr.score_pairs([{"output": "A.", "gold": 3}])


def test_units_need_no_references() -> None:
    unit = "The town was flooded."
    expected = list(pyr.score_pairs([unit], ["x y"], method="align", units=[[unit]]))
    assert list(pyr.score_pairs([unit], method="align", units=[[unit]])) == expected
    assert list(pyr.score_pairs([unit], method="align", units=[unit])) == expected
    with pytest.raises(pyr.UsageError, match=r"for each prediction; the same for all are \[units\] \* n"):
        pyr.score_pairs([unit, unit], method="align", units=[unit, unit])
    with pytest.raises(pyr.UsageError, match="references are missing"):
        pyr.score_pairs([unit], method="align")


def test_measures_have_their_names_where_nothing_was_scored() -> None:
    assert pyr.score_pairs(["a b"], [[]]).mean("coverage") is None
    assert pyr.score_pairs(["a b"], [[]], method="rouge").mean("rouge-2-recall") is None
    assert pyr.score_pairs(["a b"], [[]], method="align").measure == "lite"


def test_an_unknown_method_names_the_known_ones() -> None:
    with pytest.raises(pyr.UsageError, match="auto, rouge, align"):
        pyr.Metric("bleu")


def words_said(study: pyr.Study) -> pyr.ScoreTable:
    """A method of somebody else's."""
    said = [Score(peer.topic, peer.system, "words", float(len(peer.text.split()))) for peer in study.peers]
    return pyr.ScoreTable.of_summaries(said, Signature.of("words"))


def test_methods_that_plugins_add_score_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    added = EntryPoint("words", f"{__name__}:words_said", "pyramidion.methods")
    monkeypatch.setitem(plugins._registered("methods"), "words", added)
    assert list(pyr.score_pairs(PREDICTIONS, REFERENCES, method="words")) == [8.0, 8.0]
