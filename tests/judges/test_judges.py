"""The judges, each through the one port they share."""

from __future__ import annotations

import json
import math
import sys

import numpy as np
import onnx
import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper

from pyramidion import judges as judges_base
from pyramidion.errors import MissingExtraError, UsageError
from pyramidion.judges import Questions, cut, lexical, make_judge
from pyramidion.judges.align import AlignJudge
from pyramidion.judges.nli import NliJudge, entailment_class

UNITS = ["Police arrested 12 protesters.", "The march had been banned.", "The company raised its dividend."]
SUMMARIES = ["Police arrested 12 protesters in the capital. The march had been banned.", "", "It rained."]


def only(judge, units, summaries):
    (verdicts,) = judge.judge([Questions(units, summaries)])
    return verdicts


# -- parts ---------------------------------------------------------------------------------------------------


@given(st.lists(st.text(max_size=40), max_size=12), st.lists(st.text(max_size=80), max_size=8), st.integers(1, 60))
def test_parts_cover_every_pair_once(units, summaries, most):
    saved = judges_base.PAIRS_OF_WORDS, judges_base.WORDS_OF_SUMMARIES
    judges_base.PAIRS_OF_WORDS, judges_base.WORDS_OF_SUMMARIES = most * 10, most
    try:
        parts = list(cut(units, summaries))
    finally:
        judges_base.PAIRS_OF_WORDS, judges_base.WORDS_OF_SUMMARIES = saved
    seen = [(u, s) for part in parts for s in part.summaries for u in part.units]
    assert sorted(seen) == [(u, s) for u in range(len(units)) for s in range(len(summaries))]
    for part in parts:
        assert list(part.questions.units) == [units[u] for u in part.units]
        assert list(part.questions.summaries) == [summaries[s] for s in part.summaries]


def test_an_ordinary_topic_is_one_part_and_a_huge_one_many():
    assert len(list(cut(UNITS, SUMMARIES))) == 1
    parts = list(cut(["The river rose on Friday."] * 100_000, ["word " * 10_000]))
    assert len(parts) > 100
    assert max(len(part.units) for part in parts) * 5 * 10_000 < 10_000_000


# -- names ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("nobody", "unknown judge 'nobody'; known values are: align, lexical, llm, nli"),
        ("nli", "needs a model: nli:MODEL"),
        ("align:large", "judge align takes no model"),
    ],
)
def test_wrong_names_say_what_there_is(spec, message):
    with pytest.raises(UsageError, match=message):
        make_judge(spec)


def test_strange_choices_are_refused():
    with pytest.raises(UsageError, match="judge lexical has no option 'base_url'"):
        make_judge("lexical", {"base_url": "x"})
    assert make_judge("nli:some/model").name == "nli:some/model"


# -- lexical -------------------------------------------------------------------------------------------------


def test_lexical_by_hand():
    """ "the river rose": the stands first in the word list (log1p(1)); the summary has "river" and, by its stem, "rose"
    is missing: share = (ln 2 + rarity(river)) / total."""
    unit, text = lexical.Stems.of("the river rose"), "The rivers fell."
    the, river, rose = unit.weights
    assert the == pytest.approx(math.log(2))
    assert the < river
    share = (the + river) / (the + river + rose)
    found = only(make_judge("lexical"), ["the river rose"], [text])
    assert found.probability[0, 0] == pytest.approx(1 / (1 + math.exp(-(6.0 * share - 4.3))))
    assert [span.of(text) for span in found.evidence(0, 0)] == ["The", "rivers"]


@given(st.lists(st.text(max_size=60), max_size=5), st.lists(st.text(max_size=60), max_size=5))
def test_lexical_takes_any_text_and_judges_each_pair_as_if_alone(units, summaries):
    judge = make_judge("lexical")
    together = only(judge, units, summaries)
    assert together.probability.shape == (len(units), len(summaries))
    for u, unit in enumerate(units):
        for s, summary in enumerate(summaries):
            alone = only(judge, [unit], [summary])
            assert together.probability[u, s] == pytest.approx(alone.probability[0, 0])
            assert together.evidence(u, s) == alone.evidence(0, 0)
            assert all(span.fits(summary) for span in alone.evidence(0, 0))


# -- align ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def align():
    return AlignJudge()


def test_align_knows_what_is_said(align):
    found = only(align, UNITS, SUMMARIES)
    present = found.probability >= align.threshold
    assert present.tolist() == [[True, False, False], [True, False, False], [False, False, False]]
    assert (found.probability[:, 1] == 0).all()
    assert [span.of(SUMMARIES[0]) for span in found.evidence(1, 0)] == ["The march had been banned"]


def test_align_batches_without_mixing_topics_up(align):
    topics = [Questions([UNITS[i % 3]], [SUMMARIES[0], UNITS[(i + 1) % 3]]) for i in range(400)]
    found = [verdicts.probability for verdicts in AlignJudge().judge(topics)]
    for asked, p in list(zip(topics, found, strict=True))[:3]:
        np.testing.assert_allclose(p, only(align, asked.units, asked.summaries).probability, atol=1e-5)
    np.testing.assert_array_equal(found[0], found[399])


def test_align_reads_ahead_no_further_than_a_batch(align):
    drawn = []

    def endless():
        while True:
            drawn.append(1)
            yield Questions(UNITS, SUMMARIES)

    answers = align.judge(endless())
    for _ in range(5):
        next(answers)
    assert len(drawn) < 1000


def test_align_takes_units_in_other_scripts_and_signs(align):
    units = ["河水在星期五上涨。", "Река поднялась.", "!!!", "", "\u202eabc", "x" * 5000]
    found = only(align, units, [SUMMARIES[0], "Река поднялась в пятницу."]).probability
    assert np.isfinite(found).all()
    assert found[2].tolist() == found[3].tolist() == [0, 0]
    assert found[1, 1] > found[0, 1]


def test_align_finds_a_unit_at_the_end_of_a_long_summary(align):
    long = " ".join(f"Visitor {i} looked at the old harbour and left." for i in range(1200))
    summary = f"{long} The march had been banned."
    found = only(align, ["The march had been banned."], [summary])
    assert len(summary.split()) > 10_000
    assert found.probability[0, 0] > 0.8
    assert found.evidence(0, 0)[-1].of(summary) == "The march had been banned"


# -- nli -----------------------------------------------------------------------------------------------------


class WordModel:
    """Entails what it contains; a token is a word; it reads 20 of them."""

    longest = 20

    def __init__(self):
        self.pairs = []

    def tokens(self, text):
        return len(text.split())

    def probability(self, pairs):
        assert all(len(a.split()) + len(b.split()) <= self.longest for a, b in pairs)
        self.pairs += pairs
        return np.array([0.9 if b.rstrip(".") in a else 0.2 for a, b in pairs])


def test_nli_reads_long_summaries_in_windows_that_overlap():
    sentences = [f"Fact {i} is told here now." for i in range(9)]
    model = WordModel()
    found = only(NliJudge("words", entailment=model), ["Fact 8 is", "Fact 99 is"], [" ".join(sentences), " "])
    assert found.probability.tolist() == [[0.9, 0.0], [0.2, 0.0]]
    windows = list(dict.fromkeys(premise for premise, _ in model.pairs))
    assert windows[0] == " ".join(sentences[:2])
    assert windows[1] == " ".join(sentences[1:3])
    assert {s for window in windows for s in sentences if s in window} == set(sentences)
    summary = " ".join(sentences)
    assert [span.of(summary) for span in found.evidence(0, 0)] == [" ".join(sentences[7:])]
    assert found.evidence(0, 1) == ()


def test_nli_cuts_a_sentence_that_is_too_long_and_loses_nothing():
    model = WordModel()
    text = " ".join(f"word{i}" for i in range(100))
    only(NliJudge("words", entailment=model), ["short one"], [text])
    assert {word for premise, _ in model.pairs for word in premise.split()} == set(text.split())


def test_nli_refuses_units_that_leave_no_room():
    with pytest.raises(UsageError, match="too few for units of 9"):
        only(NliJudge("words", entailment=WordModel()), ["a b c d e f g h i"], ["text"])


def test_nli_without_its_packages_says_how_to_get_them(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'pyramidion-eval\[nli\]'"):
        only(NliJudge("some/model"), ["a"], ["b"])


def test_nli_with_a_real_model_on_disk(tmp_path):
    pytest.importorskip("torch", reason="torch is not installed: nli models cannot run here")
    transformers = pytest.importorskip("transformers")
    words = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *"abcdefghijklmnopqrstuvwxyz",
        *(f"##{c}" for c in "abcdefghij"),
    ]
    (tmp_path / "vocab.txt").write_text("\n".join(words))
    transformers.BertTokenizer(str(tmp_path / "vocab.txt")).save_pretrained(tmp_path)
    labels = {0: "contradiction", 1: "neutral", 2: "entailment"}
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=64,
        num_labels=3,
        id2label=labels,
        label2id={name: number for number, name in labels.items()},
    )
    transformers.BertForSequenceClassification(config).save_pretrained(tmp_path)
    judge = make_judge(f"nli:{tmp_path}")
    found = only(judge, ["a b", "c"], ["a b c d", "e f. " * 60, ""])
    assert found.probability.shape == (2, 3)
    assert (found.probability[:, :2] > 0).all()
    assert (found.probability[:, 2] == 0).all()
    with pytest.raises(UsageError, match=r"cannot be loaded .*; give a folder"):
        only(make_judge(f"nli:{tmp_path / 'nothing'}"), ["a"], ["b"])


def test_nli_by_onnxruntime_alone(tmp_path):
    """The model: the log-odds of entailment are the number of words (id 5 and up) in the hypothesis (type 1)."""
    names = ["input_ids", "attention_mask", "token_type_ids"]
    nodes = [
        helper.make_node("Greater", ["input_ids", "four"], ["word"]),
        helper.make_node("Cast", ["word"], ["counts"], to=TensorProto.INT64),
        helper.make_node("Mul", ["counts", "token_type_ids"], ["second"]),
        helper.make_node("Mul", ["second", "attention_mask"], ["there"]),
        helper.make_node("ReduceSum", ["there", "axis"], ["total"], keepdims=1),
        helper.make_node("Cast", ["total"], ["odds"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["odds", "only_entailment"], ["logits"]),
    ]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"]) for name in names]
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 3])
    constants = [
        helper.make_tensor("four", TensorProto.INT64, [], [4]),
        helper.make_tensor("axis", TensorProto.INT64, [1], [1]),
        helper.make_tensor("only_entailment", TensorProto.FLOAT, [3], [0.0, 0.0, 1.0]),
    ]
    graph = helper.make_graph(nodes, "counts", inputs, [output], constants)
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "model.onnx"
    )
    labels = {"0": "contradiction", "1": "neutral", "2": "ENTAILMENT"}
    (tmp_path / "config.json").write_text(json.dumps({"id2label": labels, "max_position_embeddings": 64}))
    vocabulary = {sign: place for place, sign in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b"])}
    tokenizer = tokenizers.BertWordPieceTokenizer(vocabulary)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    judge = make_judge(f"nli:{tmp_path}")
    found = only(judge, ["a", "a b b", "a a a a a"], ["a b a b", "b. " * 100, ""])
    expected = [np.exp(count) / (np.exp(count) + 2) for count in (1, 3, 5)]
    assert found.probability[:, 0] == pytest.approx(expected, abs=1e-6)
    assert found.probability[:, 1] == pytest.approx(expected, abs=1e-6)
    assert found.probability[:, 2].tolist() == [0, 0, 0]
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(UsageError, match=r"cannot be loaded .*; give a folder"):
        only(make_judge(f"nli:{tmp_path}"), ["a"], ["b"])


def test_a_classifier_without_entailment_is_refused():
    with pytest.raises(UsageError, match="not an entailment model: its classes are POSITIVE, NEGATIVE"):
        entailment_class("m", {0: "POSITIVE", 1: "NEGATIVE"})
    assert entailment_class("m", {0: "not_entailment", 1: "ENTAILMENT"}) == 1


def test_a_number_is_the_same_in_digits_and_in_words():
    judge = AlignJudge()
    same, other = "Police arrested twelve protesters.", "Police arrested thirty protesters."
    found = only(judge, ["Police arrested 12 protesters."], [same, other]).probability[0]
    assert found[0] > judge.threshold
    assert found[0] > found[1] + 0.2
