"""Many settings on the same texts: the same scores as one by one, without doing the same work again."""

from __future__ import annotations

from dataclasses import replace

import pytest

import pyramidion as pyr
from pyramidion.encoder.minilm import Encoder
from pyramidion.evaluation.choices import Choices
from pyramidion.evaluation.evaluator import Evaluator
from pyramidion.evaluation.grid import GridEvaluator
from pyramidion.pyramids.graph import SimilarityGraph

TOPIC = "museum-theft"


@pytest.fixture(scope="module")
def references(example: pyr.Study) -> dict[str, str]:
    return {s.system: s.text for s in example.references if s.topic == TOPIC}


@pytest.fixture(scope="module")
def peers(example: pyr.Study) -> dict[str, str]:
    return {s.system: s.text for s in example.peers if s.topic == TOPIC} | {"empty": ""}


@pytest.mark.parametrize(
    ("common", "varied"),
    [
        ({"partitioner": "edua-g"}, [{"beta": 1.0, "percentile": 70.0}, {"beta": 3.0, "alpha": -20.0}]),
        ({"partitioner": "edua-x"}, [{"percentile": 60.0}, {"percentile": 90.0}]),
        ({"partitioner": "edua-x", "similarity": "cosine"}, [{"percentile": 80.0}, {"percentile": 95.0}]),
        ({"matcher": "wmin", "partitioner": "edua-c"}, [{"top_k": 1}, {"top_k": 3, "threshold": 0.6}]),
        ({"matcher": "exact", "similarity": "cosine"}, [{"threshold": 0.3}, {"threshold": 0.7, "percentile": 90.0}]),
    ],
)
def test_scores_are_those_of_the_evaluator(
    common: dict[str, str], varied: list[dict[str, float]], references: dict[str, str], peers: dict[str, str]
) -> None:
    base = Choices(**common)  # type: ignore[arg-type]
    settings = [replace(base, **values) for values in varied]  # type: ignore[arg-type]
    found = list(GridEvaluator(base).explore(TOPIC, references, list(peers.values()), settings))
    assert {each.choices for each in found} == set(settings)
    assert found[0].scores != found[1].scores
    for each in found:
        evaluator = Evaluator(each.choices)
        prepared = evaluator.prepare(evaluator.build(TOPIC, references).pyramid, references)
        expected = [peer.scores for peer in evaluator.score(prepared, peers.items())]
        for ours, theirs in zip(each.scores, expected, strict=True):
            assert ours == pytest.approx(theirs, abs=1e-9)


def test_texts_are_encoded_and_graphs_are_made_once(
    references: dict[str, str], peers: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded, graphs = [], []
    encode, made = Encoder.encode, SimilarityGraph.of.__func__  # type: ignore[attr-defined]
    monkeypatch.setattr(Encoder, "encode", lambda *args, **kw: encoded.append(1) or encode(*args, **kw))
    monkeypatch.setattr(SimilarityGraph, "of", classmethod(lambda *args, **kw: graphs.append(1) or made(*args, **kw)))
    base = Choices(partitioner="edua-g")
    few = [replace(base, beta=2.5, percentile=83.0)]
    many = [replace(base, beta=b, percentile=p) for b in (1.0, 2.0, 3.0) for p in (85.0, 80.0, 75.0)]
    list(GridEvaluator(base).explore(TOPIC, references, list(peers.values()), few))
    once = len(encoded)
    list(GridEvaluator(base).explore(TOPIC, references, list(peers.values()), many))
    assert len(encoded) == 2 * once
    assert len(graphs) == 1 + 3


def test_more_peers_than_are_held_at_once_score_the_same(
    references: dict[str, str], peers: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    base = Choices()
    [whole] = GridEvaluator(base).explore(TOPIC, references, list(peers.values()), [base])
    monkeypatch.setattr("pyramidion.evaluation.grid.PEERS_AT_ONCE", 2)
    [parts] = GridEvaluator(base).explore(TOPIC, references, list(peers.values()), [base])
    for one, other in zip(whole.scores, parts.scores, strict=True):
        assert one == pytest.approx(other, abs=1e-9)


def test_empty_references_are_named() -> None:
    base = Choices()
    with pytest.raises(pyr.InputError, match="topic t: its references are empty"):
        list(GridEvaluator(base).explore("t", {"A": "", "B": " "}, ["One."], [base]))
    [found] = GridEvaluator(base).explore("t", {"A": "The bridge is open.", "B": ""}, ["The bridge is open."], [base])
    assert [str(note) for note in found.notes] == ["topic t, reference B: is empty and left out"]
    assert found.scores[0].coverage == pytest.approx(1.0, abs=0.05)
    assert not next(GridEvaluator(base).explore("t", {"A": "It is open."}, [], [base])).scores
