"""Many settings on the same texts: the same scores as one by one, without doing the same work again."""

from __future__ import annotations

from dataclasses import replace

import pytest

import pyramidion as pyr
from pyramidion.analysis.grid_explorer import GridExplorer
from pyramidion.encoder.minilm import Encoder
from pyramidion.evaluation import Evaluator
from pyramidion.jobs import TopicJob
from pyramidion.pyramids.choices import Choices
from pyramidion.pyramids.graph import SimilarityGraph
from pyramidion.scoring.auto import MEASURES

TOPIC = "museum-theft"


@pytest.fixture(scope="module")
def job(example: pyr.Study) -> TopicJob:
    references = {s.system: s.text for s in example.references if s.topic == TOPIC}
    peers = {s.system: s.text for s in example.peers if s.topic == TOPIC} | {"empty": ""}
    return TopicJob(TOPIC, references, peers)


@pytest.mark.slow
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
    common: dict[str, str], varied: list[dict[str, float]], job: TopicJob
) -> None:
    base = Choices(**common)  # type: ignore[arg-type]
    settings = [replace(base, **values) for values in varied]  # type: ignore[arg-type]
    found = list(GridExplorer(base).explore(job, settings))
    assert {each.choices for each in found} == set(settings)
    assert found[0].scores != found[1].scores
    for each in found:
        expected = Evaluator(each.choices).run(job).scores
        ours = {
            (who, name): value
            for who, found in each.scores.items()
            for name, value in zip(MEASURES, found, strict=True)
        }
        assert ours == pytest.approx({(s.system, s.measure): s.value for s in expected}, abs=1e-9)


def test_texts_are_encoded_and_graphs_are_made_once(job: TopicJob, monkeypatch: pytest.MonkeyPatch) -> None:
    encoded, graphs = [], []
    end, made = Encoder._end, SimilarityGraph.of.__func__  # type: ignore[attr-defined]
    monkeypatch.setattr(
        Encoder, "_end", lambda self, chunk, *rest: encoded.extend(chunk.new) or end(self, chunk, *rest)
    )
    monkeypatch.setattr(SimilarityGraph, "of", classmethod(lambda *args, **kw: graphs.append(1) or made(*args, **kw)))
    base = Choices(partitioner="edua-g")
    few = [replace(base, beta=2.5, percentile=83.0)]
    many = [replace(base, beta=b, percentile=p) for b in (1.0, 2.0, 3.0) for p in (85.0, 80.0, 75.0)]
    list(GridExplorer(base).explore(job, few))
    once = set(encoded)
    encoded.clear()
    list(GridExplorer(base).explore(job, many))
    assert once <= set(encoded)
    assert len(encoded) == len(set(encoded)), "labels of other units are new, nothing is encoded twice"
    assert len(graphs) == 1 + 3


def test_more_peers_than_are_held_at_once_score_the_same(job: TopicJob, monkeypatch: pytest.MonkeyPatch) -> None:
    base = Choices()
    [whole] = GridExplorer(base).explore(job, [base])
    monkeypatch.setattr("pyramidion.judges.aligned.PEERS_AT_ONCE", 2)
    [parts] = GridExplorer(base).explore(job, [base])
    for system, values in whole.scores.items():
        assert values == pytest.approx(parts.scores[system], abs=1e-9)


def test_empty_references_are_named() -> None:
    base = Choices()
    with pytest.raises(pyr.InputError, match="topic t: its references are empty"):
        list(GridExplorer(base).explore(TopicJob("t", {"A": "", "B": " "}, {"x": "One."}), [base]))
    one = TopicJob("t", {"A": "The bridge is open.", "B": ""}, {"x": "The bridge is open."})
    [found] = GridExplorer(base).explore(one, [base])
    assert [str(note) for note in found.notes] == ["topic t, reference B: is empty and is left out"]
    assert found.scores["x"][MEASURES.index("coverage")] == pytest.approx(1.0, abs=0.05)
    assert not next(GridExplorer(base).explore(TopicJob("t", {"A": "It is open."}, {}), [base])).scores


def test_sentences_without_content_are_no_trouble() -> None:
    base = Choices()
    references = {
        "A": "The bridge is open. This was later revised. The mayor cut a ribbon on Monday.",
        "B": "The bridge opened on Monday. (Smith 2018).",
    }
    job = TopicJob("t", references, {"x": "The bridge is open."})
    for choices in (base, replace(base, matcher="wmin")):
        [found] = GridExplorer(choices).explore(job, [choices])
        result = Evaluator(choices).run(job)
        assert found.scores["x"] == pytest.approx([score.value for score in result.scores])
        assert [note.where for note in found.notes] == ["topic t, reference A", "topic t, reference B"]
