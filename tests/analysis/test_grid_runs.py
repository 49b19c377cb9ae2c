"""Grids over studies: resumed, extended, in several processes; human gold only; refusals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.test_evaluation import small_study

import pyramidion as pyr
from pyramidion.analysis.grid_explorer import GridExplorer
from pyramidion.analysis.grid_runs import grid_jobs, grid_settings, human_gold, paper_levels, score_grid
from pyramidion.evaluation import evaluate_study
from pyramidion.jobs import TopicJob
from pyramidion.pyramids.choices import Choices
from pyramidion.pyramids.wtmf import train

GREEDY = Choices(partitioner="edua-g")
LEVELS = {"beta": (3, 1), "percentile": (60, 83)}


@pytest.fixture
def explored(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """What was really computed: topics and numbers of settings."""
    seen: list[tuple[str, int]] = []
    explore = GridExplorer.explore

    def counted(self: GridExplorer, job: TopicJob, settings: Any) -> Iterator[Any]:
        seen.append((job.topic, len(settings)))
        return explore(self, job, settings)

    monkeypatch.setattr(GridExplorer, "explore", counted)
    return seen


def test_the_papers_grid_has_its_degrees_of_freedom() -> None:
    # Gao et al. 2019, appendix B and table 5: alpha 4, beta 4, t_edge 11 degrees of freedom, 300 settings; their choice
    # (10, 2.5, 83) is on it.
    levels = paper_levels(GREEDY)
    assert {name: len(values) for name, values in levels.items()} == {"percentile": 12, "alpha": 5, "beta": 5}
    assert (min(levels["percentile"]), max(levels["percentile"])) == (60, 87)
    assert {83.0} <= set(levels["percentile"])
    assert {2.5} <= set(levels["beta"])
    assert list(paper_levels(Choices())) == ["percentile"]


def test_scores_are_those_of_the_same_choices() -> None:
    study = small_study("x", "y")
    found = score_grid(study, GREEDY, LEVELS, measure="raw")
    assert found.parameters == ("percentile", "beta")
    assert found.settings == ((60, 1), (60, 3), (83, 1), (83, 3))
    assert found.scores.shape == (4, 2, 4)
    assert found.default is None
    expected = evaluate_study(study, replace(GREEDY, percentile=60.0, beta=3.0), explain=False).table
    for t, topic in enumerate(found.topics):
        for s, system in enumerate(found.systems):
            assert found.scores[1, t, s] == pytest.approx(expected.value(system, "raw", topic))
    assert dict(found.fixed)["partitioner"] == "edua-g"
    assert not {"beta", "percentile"} & set(found.fixed)


def test_the_default_is_known_where_it_is_on_the_grid() -> None:
    levels = {"beta": (2.5, 3), "alpha": (10, 20), "percentile": (83, 87)}
    assert score_grid(small_study("x"), GREEDY, levels).default == (83, 10, 2.5)


def test_a_search_goes_on_where_it_was(tmp_path: Path, explored: list[tuple[str, int]]) -> None:
    study = small_study("x", "y")
    done: list[int] = []
    whole = score_grid(study, GREEDY, LEVELS, folder=tmp_path, advance=done.append)
    assert explored == [("x", 4), ("y", 4)]
    assert sum(done) == 8
    again = score_grid(study, GREEDY, LEVELS, folder=tmp_path, advance=done.append)
    assert len(explored) == 2
    assert sum(done) == 16
    assert np.array_equal(again.scores, whole.scores)
    more = score_grid(study, GREEDY, {**LEVELS, "beta": (1, 2, 3)}, folder=tmp_path, measure="quality")
    assert explored[2:] == [("x", 2), ("y", 2)]
    assert more.scores.shape == (6, 2, 4)
    changed = replace(study, summaries=(*study.summaries, pyr.Summary("y", "new", "The Aller rose.")))
    score_grid(changed, GREEDY, LEVELS, folder=tmp_path)
    assert explored[4:] == [("y", 4)]
    (tmp_path / "x.grid.json").write_text("{}")
    score_grid(changed, GREEDY, LEVELS, folder=tmp_path)
    assert explored[5:] == [("x", 4)]
    score_grid(changed, replace(GREEDY, untouched="whole"), LEVELS, folder=tmp_path)
    assert explored[6:] == [("x", 4), ("y", 4)]


def test_what_was_finished_before_an_interruption_is_kept(
    tmp_path: Path, explored: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    study = small_study("x", "y")
    counted = GridExplorer.explore

    def interrupted(self: GridExplorer, job: TopicJob, settings: Any) -> Iterator[Any]:
        if job.topic == "y":
            raise KeyboardInterrupt
        return counted(self, job, settings)

    with monkeypatch.context() as patch:
        patch.setattr(GridExplorer, "explore", interrupted)
        with pytest.raises(KeyboardInterrupt):
            score_grid(study, GREEDY, LEVELS, folder=tmp_path)
    score_grid(study, GREEDY, LEVELS, folder=tmp_path)
    assert explored == [("x", 4), ("y", 4)]


def test_the_order_of_peers_does_not_mix_up_what_is_kept(tmp_path: Path) -> None:
    study = small_study("x")
    first = score_grid(study, GREEDY, LEVELS, folder=tmp_path)
    turned = replace(study, summaries=study.summaries[::-1])
    assert np.array_equal(score_grid(turned, GREEDY, LEVELS, folder=tmp_path).scores, first.scores)


@pytest.mark.slow
def test_processes_give_the_same() -> None:
    study = small_study("x", "y")
    alone = score_grid(study, GREEDY, LEVELS)
    assert np.allclose(score_grid(study, GREEDY, LEVELS, engine="processes:2").scores, alone.scores, atol=1e-9)


def test_parts_are_compared_as_numbers_are(explored: list[tuple[str, int]]) -> None:
    study = small_study("x")
    parts = {"matcher": ["wmin", "align"], "partitioner": ["edua-x", "edua-g"], "beta": (1, 3)}
    found = score_grid(study, Choices(), parts, measure="raw")
    assert found.parameters == ("partitioner", "matcher", "beta")
    # edua-x has no beta: its settings count once.
    assert found.settings == (
        ("edua-g", "align", 1),
        ("edua-g", "align", 3),
        ("edua-g", "wmin", 1),
        ("edua-g", "wmin", 3),
        ("edua-x", "align", None),
        ("edua-x", "wmin", None),
    )
    assert found.levels("beta") == [1, 3]
    assert found.default == ("edua-x", "align", None)
    assert grid_settings(Choices(), parts) == found.settings
    assert explored == [("x", 3), ("x", 3)]  # once for each matcher
    for scores, choices in (
        (found.scores[3], Choices(partitioner="edua-g", matcher="wmin", beta=3.0)),
        (found.scores[4], Choices()),
    ):
        expected = evaluate_study(study, choices, explain=False).table
        assert scores[0] == pytest.approx([expected.value(system, "raw", "x") for system in found.systems])


def test_an_embedder_counts_only_where_vectors_are_compared(tmp_path: Path) -> None:
    corpus = [s.text for s in small_study("x").summaries] * 3
    train(corpus, rng=np.random.default_rng(0), dimensions=5, rounds=2).save(tmp_path / "m.npz")
    wtmf = f"wtmf:{tmp_path / 'm.npz'}"
    levels = {"similarity": ["cosine", "align"], "embedder": [wtmf, "minilm"]}
    found = score_grid(small_study("x"), Choices(matcher="exact"), levels, measure="raw")
    assert found.settings == (("align", None), ("cosine", "minilm"), ("cosine", wtmf))
    assert found.default == ("align", None)
    assert not np.array_equal(found.scores[1], found.scores[2])
    with pytest.raises(pyr.UsageError, match="is used only if similarity is cosine"):
        score_grid(small_study("x"), Choices(), {"embedder": ["minilm", wtmf]})
    with pytest.raises(pyr.UsageError, match="unknown embedder 'word2vec'"):
        score_grid(small_study("x"), Choices(similarity="cosine"), {"embedder": ["minilm", "word2vec"]})


def test_other_parts_leave_what_is_kept_alone(tmp_path: Path, explored: list[tuple[str, int]]) -> None:
    study = small_study("x")
    score_grid(study, GREEDY, LEVELS, folder=tmp_path)
    both = score_grid(study, GREEDY, {**LEVELS, "matcher": ["align", "wmin"]}, folder=tmp_path)
    assert explored == [("x", 4), ("x", 4)]
    again = score_grid(study, Choices(), {**LEVELS, "partitioner": ["edua-g"]}, folder=tmp_path)
    assert len(explored) == 2
    assert np.array_equal(again.scores, both.scores[:4])
    score_grid(study, replace(GREEDY, matcher="wmin"), LEVELS, folder=tmp_path)
    assert len(explored) == 2


def test_a_missing_summary_stays_missing() -> None:
    study = small_study("x", "y")
    lacking = replace(study, summaries=tuple(s for s in study.summaries if (s.topic, s.system) != ("y", "half")))
    found = score_grid(lacking, GREEDY, LEVELS)
    gone = np.isnan(found.scores)
    assert gone[:, found.topics.index("y"), found.systems.index("half")].all()
    assert gone.sum() == 4


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ({"gamma": (1, 2)}, "unknown parameter 'gamma'; known values are: segmenter, similarity"),
        ({"threshold": (0.4, 0.5)}, "matcher align has no threshold"),
        ({"percentile": (60, 101)}, "a percentile must be between 0 and 100, not 101"),
        ({"beta": (-1, 1)}, "beta >= 0"),
        ({"beta": ()}, "beta has no values"),
        ({"matcher": "wmin"}, "matcher: give a list of values"),
        ({"matcher": ["align", "guess"]}, "unknown matcher 'guess'"),
        ({}, "give values of at least one parameter"),
    ],
)
def test_wrong_levels_are_named(levels: dict[str, tuple[float, ...]], message: str) -> None:
    with pytest.raises(pyr.UsageError, match=message):
        score_grid(small_study("x"), GREEDY, levels)


def test_top_k_is_a_whole_number() -> None:
    with pytest.raises(pyr.UsageError, match="top_k must be a whole number"):
        score_grid(small_study("x"), Choices(matcher="wmin"), {"top_k": (1.5, 2)})


def test_one_reference_each_is_refused_and_one_alone_is_noted() -> None:
    def single(*topics: str) -> pyr.Study:
        study = small_study("x", "y")
        return replace(
            study,
            summaries=tuple(s for s in study.summaries if s.role == "peer" or s.topic not in topics or s.system == "A"),
        )

    with pytest.raises(pyr.InputError, match="no topic has two references, so no clauses can be joined"):
        grid_jobs(single("x", "y"))
    found = score_grid(single("x"), GREEDY, LEVELS)
    assert [note.where for note in found.notes] == ["human peers", "human peers", "1 of 2 topics"]
    copy = found.systems.index("copy")
    assert np.isnan(found.scores[:, 0, copy]).all(), "it is the only reference of its topic"
    assert np.ptp(np.delete(found.scores[:, 0], copy, axis=1), axis=0) == pytest.approx(0)
    with pytest.raises(pyr.InputError, match="no topics with references"):
        grid_jobs(pyr.Study())
    only = replace(small_study("x"), summaries=tuple(s for s in small_study("x").summaries if s.role == "reference"))
    with pytest.raises(pyr.InputError, match="no peers to score"):
        grid_jobs(only)


def test_gold_is_what_people_said(example: pyr.Study) -> None:
    assert human_gold(example).signature.method == "pyramid"
    unjudged = replace(example, judgments=pyr.Judgments(j for j in example.judgments if j.aspect))
    assert human_gold(unjudged).signature.method == "responsiveness"
    # A study that only a model has judged has no human scores, whatever it has scores by.
    judged = evaluate_study(small_study("x"), Choices()).study
    assert pyr.score(judged, "pyramid").scores
    with pytest.raises(pyr.UsageError, match="the study has no human scores; give a score table"):
        human_gold(judged)
