"""The grid search: by hand, against brute force, on data with a known truth, and on what cannot be answered."""

from __future__ import annotations

import json
import warnings
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import pyramidion as pyr
from pyramidion.analysis import ScoredSettings, correlate, grid_search
from pyramidion.analysis.answer import Contour, Intervals, Lines
from pyramidion.study import Score, ScoreTable, Signature


def table(cells: np.ndarray, measure: str = "gold") -> ScoreTable:
    """Topics x systems as a score table; NaN is None."""
    scores = [
        Score(f"t{t}", f"s{s}", measure, None if np.isnan(cells[t, s]) else float(cells[t, s]))
        for t, s in np.ndindex(cells.shape)
    ]
    return ScoreTable.of_summaries(scores, Signature.of("test"))


def scored(scores: np.ndarray, *levels: tuple[float, ...], default: tuple[float, ...] | None = None) -> ScoredSettings:
    settings = tuple(product(*levels))
    topics, systems = (tuple(f"{name}{i}" for i in range(n)) for name, n in zip("ts", scores.shape[1:], strict=True))
    return ScoredSettings("coverage", tuple("abc"[: len(levels)]), settings, topics, systems, scores, default)


# Three systems; r of (1, 2, 3) with the gold (1, 2, 3) is 1, of (3, 2, 1) it is -1, of (1, 3, 2) it is 1/2 and of
# (2, 1, 3) it is 1/2: all have a sum of squares of 2, and cross products of 2, -2, 1 and 1.
UP, DOWN, HALF, OTHER = [1, 2, 3], [3, 2, 1], [1, 3, 2], [2, 1, 3]
GOLD = np.array([UP, UP], dtype=float)
SMALL = np.array([[UP, UP], [UP, DOWN], [HALF, OTHER], [UP, HALF]], dtype=float)


def test_by_hand() -> None:
    # a is 1, 1, 2, 2 and b is 5, 6, 5, 6. Summary level: 1, 0, 1/2, 3/4.
    # System means: (1, 2, 3), (2, 2, 2), (1.5, 2, 2.5), (1, 2.5, 2.5): r is 1, undefined, 1 and
    # 1.5 / sqrt(2 * 1.5) = 0.8660.
    found = grid_search(scored(SMALL, (1, 2), (5, 6), default=(2, 6)), table(GOLD)).result
    assert [s.r.summary for s in found.settings] == pytest.approx([1, 0, 0.5, 0.75])
    assert found.of(1, 6).r.system is None
    assert [found.of(a, b).r.system for a, b in ((1, 5), (2, 5), (2, 6))] == pytest.approx([1, 1, np.sqrt(0.75)])
    assert found.best.setting == (1, 5)
    assert (found.ties, found.topics, found.systems) == (1, 2, 3)
    assert found.default is not None
    assert found.default.r.summary == pytest.approx(0.75)
    assert found.average.summary == pytest.approx(2.25 / 4)
    # Parameter a: means 1/2 and 5/8, grand mean 9/16; between 2 (1/16)^2 * 2 = 1/64 over 1;
    # within 2 (1/2)^2 + 2 (1/8)^2 = 17/32 over 2. F = (1/64) / (17/64) = 1/17.
    a = found.effect("a")
    assert a.f == pytest.approx(1 / 17)
    assert (a.between, a.within) == (1, 2)
    assert a.share == pytest.approx((1 / 64) / (1 / 64 + 17 / 32))
    assert {m.value: m.mean.summary for m in found.means if m.parameter == "b"} == pytest.approx({5: 0.75, 6: 0.375})
    # On t1 the first setting is best, so t0 is scored by it. On t0 the first, second and fourth are equally good, and
    # the first is taken: t1 is scored by it, too.
    assert [left.chosen for left in found.left_out] == [(1, 5), (1, 5)]
    assert found.honest is not None
    assert (found.honest.summary, found.honest.system) == pytest.approx((1, 1))


def test_what_is_best_elsewhere_need_not_be_best_here() -> None:
    # One parameter with two values: the first ranks topic 0 rightly and topic 1 half, the second the other way round
    # but worse on topic 0. On all topics the first is best with 3/4. Left out, topic 0 has the second (-1), which is
    # best on topic 1, and topic 1 the first (1/2): the honest figure is -1/4.
    scores = np.array([[UP, HALF], [DOWN, UP]], dtype=float)
    found = grid_search(scored(scores, (1, 2)), table(GOLD)).result
    assert found.best.setting == (1,)
    assert found.best.r.summary == pytest.approx(0.75)
    assert [(left.topic, left.chosen) for left in found.left_out] == [("t0", (2,)), ("t1", (1,))]
    assert [left.r for left in found.left_out] == pytest.approx([-1, 0.5])
    assert [left.inside for left in found.left_out] == pytest.approx([1, 1])
    assert found.honest is not None
    assert found.honest.summary == pytest.approx(-0.25)


def brute_force(scores: np.ndarray, gold: np.ndarray, by: str) -> float:
    """Leave every topic out, with loops and scipy."""
    topics = range(gold.shape[0])

    def goodness(setting: int, kept: list[int]) -> float:
        if by == "summary":
            return float(np.mean([stats.pearsonr(scores[setting, t], gold[t]).statistic for t in kept]))
        return float(stats.pearsonr(scores[setting][kept].mean(axis=0), gold[kept].mean(axis=0)).statistic)

    chosen = []
    for left in topics:
        kept = [t for t in topics if t != left]
        chosen.append(max(range(len(scores)), key=lambda setting, kept=kept: goodness(setting, kept)))  # type: ignore[misc]
    rows = np.stack([scores[setting, t] for t, setting in enumerate(chosen)])
    if by == "system":
        return float(stats.pearsonr(rows.mean(axis=0), gold.mean(axis=0)).statistic)
    return float(np.mean([stats.pearsonr(rows[t], gold[t]).statistic for t in topics]))


@pytest.mark.slow
@given(seed=st.integers(0, 1000), topics=st.integers(2, 6), by=st.sampled_from(["summary", "system"]))
def test_equals_brute_force(seed: int, topics: int, by: str) -> None:
    rng = np.random.default_rng(seed)
    gold, scores = rng.normal(size=(topics, 5)), rng.normal(size=(6, topics, 5))
    found = grid_search(scored(scores, (1, 2, 3), (4, 5)), table(gold), by=by).result
    assert found.honest is not None
    assert found.honest.at(by) == pytest.approx(brute_force(scores, gold, by))
    groups = [[s.r.at(by) for s in found.settings if s.setting[0] == a] for a in (1, 2, 3)]
    expected = stats.f_oneway(*groups)
    assert found.effect("a").f == pytest.approx(expected.statistic)
    assert found.effect("a").p == pytest.approx(expected.pvalue)


@given(seed=st.integers(0, 1000), topics=st.integers(2, 6))
def test_the_honest_figure_is_never_better_than_the_best(seed: int, topics: int) -> None:
    # Summed over topics: a topic's own r is the sum of its setting less what that has on the others, which is at least
    # what the best setting has there.
    rng = np.random.default_rng(seed)
    found = grid_search(
        scored(rng.normal(size=(8, topics, 4)), (1, 2), (1, 2), (1, 2)), table(rng.normal(size=(topics, 4)))
    )
    assert found.result.honest is not None
    assert found.result.honest.summary <= found.result.best.r.summary + 1e-9  # type: ignore[operator]


@pytest.mark.slow
def test_on_noise_the_best_looks_good_and_the_honest_figure_does_not() -> None:
    best, honest = [], []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        found = grid_search(
            scored(rng.normal(size=(40, 5, 6)), tuple(range(40))), table(rng.normal(size=(5, 6)))
        ).result
        assert found.honest is not None
        best.append(found.best.r.summary or 0.0)
        honest.append(found.honest.summary or 0.0)
    assert np.mean(best) > 0.35
    assert abs(np.mean(honest)) < 3 * np.std(honest) / np.sqrt(len(honest))


def test_a_parameter_that_matters_is_found() -> None:
    # Noise grows with a and not with b.
    rng = np.random.default_rng(0)
    gold = rng.normal(size=(8, 10))
    noise = np.repeat([0.2, 0.8, 2.0], 4)[:, None, None]
    answer = grid_search(
        scored(gold + noise * rng.normal(size=(12, 8, 10)), (1, 2, 3), (4, 5, 6, 7)), table(gold), axes=["a", "b"]
    )
    assert answer.result.best.setting[0] == 1
    assert answer.result.effect("a").p < 0.001  # type: ignore[operator]
    assert answer.result.effect("b").p > 0.05  # type: ignore[operator]
    assert "A matters most" in answer.sentence
    first = answer.figures[0]
    assert isinstance(first, Contour)
    assert (first.x, first.y, first.xs, first.ys) == ("a", "b", (1, 2, 3), (4, 5, 6, 7))
    assert first.values[2][0] == pytest.approx(answer.result.of(1, 6).r.summary)
    assert first.mark is not None
    assert (first.mark.x, first.mark.y) == answer.result.best.setting


def test_heights_are_means_over_the_other_parameters() -> None:
    rng = np.random.default_rng(1)
    answer = grid_search(
        scored(rng.normal(size=(8, 3, 5)), (1, 2), (3, 4), (5, 6)), table(rng.normal(size=(3, 5))), axes=["c", "a"]
    )
    first, found = answer.figures[0], answer.result
    assert isinstance(first, Contour)
    expected = np.mean([found.of(2, b, 5).r.summary for b in (3, 4)])  # type: ignore[arg-type]
    assert first.values[1][0] == pytest.approx(expected)


def test_every_answer_warns_that_the_best_was_chosen() -> None:
    answer = grid_search(scored(SMALL, (1, 2), (5, 6)), table(GOLD))
    assert [note.where for note in answer.notes] == ["the best setting"]
    assert "its figure is too good" in answer.notes[0].what
    assert answer.tables[0].rows[0] == ("the best setting of all topics", 1.0, 1.0)
    one = grid_search(scored(SMALL[:, :1], (1, 2), (5, 6)), table(GOLD[:1]))
    assert one.result.honest is None
    assert one.result.ties == 3
    assert "no topic can be left out" in one.notes[0].what
    assert "(tied with 2 others)" in one.sentence


def test_a_gold_without_topics_gives_the_system_level() -> None:
    means = ScoreTable(tuple(Score(None, f"s{i}", "gold", float(i)) for i in range(3)), Signature.of("test"))
    answer = grid_search(scored(SMALL, (1, 2), (5, 6)), means)
    assert answer.result.by == "system"
    assert answer.result.best.r.system == pytest.approx(1)
    assert answer.result.honest is None
    assert any("no scores by topic" in note.what for note in answer.notes)


def test_one_parameter_is_drawn_as_a_curve() -> None:
    [figure] = grid_search(scored(SMALL, (1, 2, 3, 4)), table(GOLD)).figures
    assert isinstance(figure, Lines)
    assert figure.series[0].y == pytest.approx((1, 0, 0.5, 0.75))


def test_names_are_compared_with_intervals_and_drawn_one_by_one() -> None:
    rng = np.random.default_rng(3)
    gold = rng.normal(size=(6, 5))
    names: tuple[str, ...] = ("minilm", "wtmf")
    one = ScoredSettings(
        "coverage",
        ("embedder",),
        tuple((name,) for name in names),
        tuple(f"t{i}" for i in range(6)),
        tuple(f"s{i}" for i in range(5)),
        gold + np.array([0.3, 1.5])[:, None, None] * rng.normal(size=(2, 6, 5)),
    )
    answer = grid_search(one, table(gold), resamples=200, seed=1)
    assert "Of 2 settings, embedder minilm agrees best" in answer.sentence
    assert "matters most" not in answer.sentence  # there is nothing else
    assert "|embedder:minilm/wtmf|" in str(answer.signature)
    assert "|resamples:200|seed:1|" in str(answer.signature)
    # The same figures and intervals as `correlate`.
    tables = {"gold": table(gold), "minilm": table(one.scores[0], "minilm")}
    other = correlate(tables, gold="gold", resamples=200, seed=1).result
    found = answer.result.of("minilm")
    for level, interval in (("summary", found.summary), ("system", found.system)):
        theirs = other.of("minilm", level)
        assert found.r.at(level) == pytest.approx(theirs.r)
        assert interval == theirs.over_topics
    first, second = answer.figures
    assert isinstance(first, Intervals)
    assert [row.name for row in first.rows] == ["minilm", "wtmf"]
    assert (first.rows[0].low, first.rows[0].high) == (found.summary.low, found.summary.high)  # type: ignore[union-attr]
    assert second.title.endswith("system level")
    with pytest.raises(pyr.UsageError, match="axes of a contour plot are numbers, and embedder has names"):
        grid_search(one, table(gold), axes=["embedder", "embedder"])
    assert grid_search(one, table(gold), resamples=0).result.of("wtmf").system is None


def test_a_setting_without_a_parameter_is_in_no_group_of_it() -> None:
    # beta belongs to g only. Summary level: g with 1 and 2 has 1 and 0; x has 1/2.
    found = grid_search(
        ScoredSettings(
            "coverage",
            ("partitioner", "beta"),
            (("g", 1), ("g", 2), ("x", None)),
            ("t0", "t1"),
            ("s0", "s1", "s2"),
            SMALL[:3],
        ),
        table(GOLD),
    )
    assert {(m.parameter, m.value): m.mean.summary for m in found.result.means} == pytest.approx(
        {("partitioner", "g"): 0.5, ("partitioner", "x"): 0.5, ("beta", 1): 1, ("beta", 2): 0}
    )
    assert (found.result.effect("beta").between, found.result.effect("beta").within) == (1, 0)
    assert found.result.effect("partitioner").f == pytest.approx(0)
    assert [row[:2] for row in found.tables[-1].rows] == [("g", "1"), ("x", None), ("g", "2")]
    assert [type(figure) for figure in found.figures] == [Lines, Intervals, Intervals]


def test_settings_that_make_no_difference_are_all_best() -> None:
    answer = grid_search(scored(np.stack([GOLD] * 4), (1, 2), (5, 6)), table(GOLD))
    assert answer.result.ties == 4
    assert answer.result.effect("a").f is None
    assert "No parameter makes any difference." in answer.sentence


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"by": "pooled"}, "level 'pooled' is unknown"),
        ({"kind": "tau"}, "correlation 'tau' is unknown"),
        ({"axes": ["a", "z"]}, "unknown varied parameter 'z'; known values are: a, b"),
        ({"axes": ["a"]}, "two different parameters"),
        ({"gold_measure": "beauty"}, "unknown measure 'beauty'; known values are: gold"),
    ],
)
def test_wrong_choices_are_named(change: dict[str, object], message: str) -> None:
    with pytest.raises(pyr.UsageError, match=message):
        grid_search(scored(SMALL, (1, 2), (5, 6)), table(GOLD), **change)  # type: ignore[arg-type]


def test_what_cannot_be_answered_is_said() -> None:
    with pytest.raises(pyr.UsageError, match="only one setting"):
        grid_search(scored(SMALL[:1], (1,)), table(GOLD))
    with pytest.raises(pyr.UsageError, match="at least 2 systems; gold scores 1 of those evaluated"):
        grid_search(scored(SMALL, (1, 2), (5, 6)), table(GOLD[:, :1]))
    with pytest.raises(pyr.UsageError, match="no setting has a defined summary-level correlation"):
        grid_search(scored(SMALL, (1, 2), (5, 6)), table(np.ones((2, 3))))
    other = ScoreTable.of_summaries([Score("x", f"s{i}", "gold", i / 3) for i in range(3)], Signature.of("test"))
    with pytest.raises(pyr.UsageError, match="no topic in common"):
        grid_search(scored(SMALL, (1, 2), (5, 6)), other)
    with pytest.raises(pyr.UsageError, match="settings x topics x systems"):
        scored(SMALL, (1, 2))


def test_what_one_side_lacks_is_left_out_and_said() -> None:
    gold = np.array([[1, 2, 3, np.nan], [1, 2, 3, 4], [4, 2, np.nan, 1]])
    scores = np.random.default_rng(0).normal(size=(2, 2, 5))
    answer = grid_search(scored(scores, (1, 2)), table(gold))
    where = [str(note) for note in answer.notes]
    assert "systems s4: have no gold; left out" in where
    assert "1 of 8 summaries: have no score or no gold; left out" in where
    assert (answer.result.systems, answer.result.topics) == (4, 2)
    expected = stats.pearsonr(scores[0, 0, :3], [1, 2, 3]).statistic
    other = stats.pearsonr(scores[0, 1, :4], [1, 2, 3, 4]).statistic
    assert answer.result.of(1).r.summary == pytest.approx((expected + other) / 2)


CELLS = st.sampled_from([0.0, 0.5, 1.0, float("nan")])


@given(data=st.data(), topics=st.integers(1, 3), systems=st.integers(1, 4), by=st.sampled_from(["summary", "system"]))
def test_whatever_is_missing_or_constant_no_nan_comes_out(
    data: st.DataObject, topics: int, systems: int, by: str
) -> None:
    def cells(*shape: int) -> np.ndarray:
        size = int(np.prod(shape))
        return np.array(data.draw(st.lists(CELLS, min_size=size, max_size=size))).reshape(shape)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            answer = grid_search(
                scored(cells(4, topics, systems), (1, 2), (3, 4)), table(cells(topics, systems)), by=by
            )
        except pyr.UsageError:
            return
    json.dumps(answer.as_json(), allow_nan=False)
    assert str(answer)
