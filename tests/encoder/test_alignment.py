from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyramidion.encoder.alignment import Alignment, Finding, Texts
from pyramidion.encoder.minilm import HIDDEN, Encoder
from pyramidion.encoder.words import Bag, bags
from pyramidion.judges.presence import JudgedUnits, PresenceModel, default_model
from pyramidion.pyramids.clauses import ClauseSegmenter
from pyramidion.pyramids.similarity import AlignSimilarity as Similar
from pyramidion.pyramids.similarity import CosineSimilarity as Cosine
from pyramidion.study import Span

FINDING = Finding(1.0, 4.0, 8.0, 2.0, 0.5, -5.0)
ALONE = {"constant": -4.0, "mean": 4.0, "weakest": 3.0, "one": 0.0, "lost": -2.0}
PLAIN = PresenceModel(ALONE | {"pyramid": 0.0}, {}, finding=FINDING)


def words(*rows):
    """A bag by hand: (direction, stem, rarity, is a number) for each word."""
    vectors = np.zeros((len(rows), HIDDEN), np.float32)
    for vector, row in zip(vectors, rows, strict=True):
        vector[: len(row[0])] = row[0]
    return Bag(
        vectors,
        np.array([row[1] for row in rows], np.int64),
        np.array([row[2] for row in rows], np.float32),
        np.array([bool(row[3]) for row in rows], bool),
        [Span(2 * i, 2 * i + 1) for i in range(len(rows))],
        np.zeros(len(rows), np.intp),
    )


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def test_by_hand():
    """Unit: a word that is there (cosine 1, same stem, rarity 3), a number that is not (cosine 0.6, rarity 1).

    found = sigmoid(8 + 2 - 5) = .99331 and sigmoid(8 x 0.6 - 5 + 0.5) = sigmoid(0.3) = .57444; shares 3/4 and 1/4;
    mean .88859; weakest = -ln(3/4 e^(-4 x .99331) + 1/4 e^(-4 x .57444)) / 4; the number is not in the summary.
    """
    unit = words(([1, 0], 7, 3.0, False), ([0, 1], 8, 1.0, True))
    summary = words(([1, 0], 7, 2.0, False), ([0.8, 0.6], 9, 2.0, True))
    judged = JudgedUnits([unit], [summary], credited=np.array([[False]]), model=PLAIN)
    found = judged.alignment
    there, half = sigmoid(5), sigmoid(0.3)
    mean = 0.75 * there + 0.25 * half
    weakest = -math.log(0.75 * math.exp(-4 * there) + 0.25 * math.exp(-4 * half)) / 4
    assert found.mean()[0, 0] == pytest.approx(mean, abs=1e-6)
    assert judged.probability()[0, 0] == pytest.approx(sigmoid(4 * mean + 3 * weakest - 2 - 4), abs=1e-6)
    assert found.evidence(0, 0) == (Span(0, 3),)


def test_what_is_not_credited_stays_below_the_threshold():
    unit = words(([1.0], 1, 1.0, False))
    model = replace(PLAIN, alone=PLAIN.alone | {"constant": 9.0}, threshold=0.4)
    p = JudgedUnits([unit], [unit, unit], credited=np.array([[True, False]]), model=model).probability()[0]
    assert p[0] > 0.99
    assert p[1] == pytest.approx(0.399)


def test_texts_without_words_are_in_nothing_and_contain_nothing():
    empty, full = words(), words(([1.0], 1, 1.0, False))
    p = JudgedUnits([empty, full], [full, empty, full], model=PLAIN).probability()
    assert p.shape == (2, 3)
    assert (p[0] == 0).all()
    assert p[1, 1] == 0
    assert p[1, 0] == p[1, 2] > 0.5


@given(st.integers(0, 10_000))
@settings(max_examples=40)
def test_each_pair_is_judged_as_if_alone(seed):
    rng = np.random.default_rng(seed)

    def some(most):
        n = int(rng.integers(0, most))
        rows = [
            (rng.normal(size=5), int(rng.integers(4)), float(rng.uniform(0.5, 9)), rng.random() < 0.3) for _ in range(n)
        ]
        return words(*rows)

    units, summaries = [some(5) for _ in range(4)], [some(9) for _ in range(3)]
    together = JudgedUnits(units, summaries, model=PLAIN)
    for u, unit in enumerate(units):
        for s, summary in enumerate(summaries):
            alone = JudgedUnits([unit], [summary], pyramid=units, model=PLAIN)
            assert together.probability()[u, s] == pytest.approx(alone.probability()[0, 0], abs=1e-6)
            assert together.alignment.mean()[u, s] == pytest.approx(alone.alignment.mean()[0, 0], abs=1e-6)
            assert together.alignment.evidence(u, s) == alone.alignment.evidence(0, 0)


@pytest.fixture(scope="module")
def encoder():
    return Encoder()


def judged(encoder, unit, summary):
    one, other = bags([unit, summary], encoder)
    return JudgedUnits([one], [other]).probability()[0, 0]


def test_what_is_said_in_other_words_is_nearer_than_what_is_not_said(encoder):
    summary = "Police arrested 12 protesters in the capital on Sunday. The march had been banned."
    assert judged(encoder, "Twelve demonstrators were detained by police.", summary) > 0.3
    assert judged(encoder, "Police arrested 12 protesters.", summary) > 0.8
    assert judged(encoder, "The company raised its dividend.", summary) < 0.05
    assert judged(encoder, "Police arrested 40 protesters.", summary) < judged(
        encoder, "Police arrested 12 protesters.", summary
    )


def test_common_words_are_evidence_only_beside_others_or_alone():
    """The unit's words 1 and 2 are found as words 0 and 1 (side by side), the common word 3 as word 3, further on."""
    one, two, common, other = ([1.0], [0, 1.0], [0, 0, 1.0], [0, 0, 0, 1.0])
    unit = words((one, 1, 0.5, False), (two, 2, 9.0, False), (common, 3, 0.5, False))
    summary = words((one, 1, 0.5, False), (two, 2, 9.0, False), (other, 9, 9.0, False), (common, 3, 0.5, False))
    only_common = summary.only([0, 2, 3])
    found = Alignment(Texts.of([unit]), Texts.of([summary, only_common]), FINDING)
    assert found.evidence(0, 0) == (Span(0, 3),)
    assert found.evidence(0, 1) == (Span(0, 7),)


def test_evidence_is_where_it_is_said(encoder):
    unit, summary = "The march had been banned.", "Police arrested 12 protesters on Sunday. The march had been banned."
    one, other = bags([unit, summary], encoder)
    found = JudgedUnits([one], [other]).alignment.evidence(0, 0)
    assert [span.of(summary) for span in found] == ["The march had been banned"]


def test_fitted_numbers_have_the_signs_they_should():
    model = default_model()
    assert model.finding.cosine > 0
    assert model.finding.stem > 0
    for weights in (model.alone, model.read):
        assert weights["mean"] > 0
        assert weights["weakest"] > 0
        assert weights["lost"] < 0


def test_similarity_of_clauses_is_symmetric_and_greatest_with_itself(encoder):
    texts = ClauseSegmenter(encoder).segment(["He came home and she left because it was late.", "The shop will close."])
    similar = Similar(encoder)
    prepared = similar.prepare(texts)
    found = similar.between(prepared, prepared)
    assert found.shape == (sum(len(t.clauses()) for t in texts),) * 2
    np.testing.assert_allclose(found, found.T, atol=1e-6)
    assert (found.max(1) <= found.diagonal() + 1e-6).all()
    assert 0 <= found.min() <= found.max() <= 1


def test_cosine_embeds_each_distinct_clause_once():
    asked = []

    def embed(texts):
        asked.extend(texts)
        return np.eye(len(texts), 9)

    (text,) = ClauseSegmenter().segment(["It was late. It was late. We left."])
    similar = Cosine(embed)
    prepared = similar.prepare([text])
    assert asked == ["It was late.", "We left."]
    assert similar.between(prepared, prepared).tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
