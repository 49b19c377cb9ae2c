"""Consistency within a year and over all, main and update topics, with and without people, tests of what changed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.analysis.assessed_years import annotated_year

import pyramidion as pyr
from pyramidion.analysis import consistency
from pyramidion.analysis.assessors import Exclusion, cells_of, given_scores, human_peers, system_means, topic_set
from pyramidion.stats.correlation import steiger
from pyramidion.study import Aspect, Judge, Judgment, Judgments, Score, ScoreTable, Study, Summary

ONE, FACTS = annotated_year(1)
TWO, MORE = annotated_year(2, year="09")
YEARS = {"2008": ONE, "2009": TWO}


def pick(found: tuple[Exclusion, ...], **wanted: object) -> Exclusion:
    [only] = [e for e in found if all(getattr(e, name) == value for name, value in wanted.items())]
    return only


def test_the_study_is_sound() -> None:
    assert not [problem for problem in ONE.problems() if problem.severity == "error"]


def test_each_years_alpha_and_rank_are_those_of_the_year_alone() -> None:
    answer = consistency(YEARS, resamples=0)
    for year, study in YEARS.items():
        alone = {a.assessor: a for a in consistency(study, resamples=0).result.assessors}
        within = {a.assessor: a for a in answer.result.assessors if a.year == year}
        assert within == {name: replace(a, year=year) for name, a in alone.items()}
        assert answer.result.ranking("pyramid", year) == consistency(study, resamples=0).result.ranking("pyramid")
    pooled = {a.assessor: a.groups for a in answer.result.assessors if a.year is None}
    # s0 and s1 are the same on each of 12 topics, four an assessor and year
    assert pooled == {"careful": 8, "fair": 8, "sloppy": 8}
    table = answer.tables[0]
    assert table.column("year") == ["all", "2008", "2009"] * 3
    assert table.column("assessor")[:4] == ["careful", "careful", "careful", "fair"]


def test_autopyramid_is_given_by_year_and_over_all() -> None:
    result = consistency(YEARS, resamples=0).result
    sloppy = {a.year: a for a in result.auto if a.assessor == "sloppy"}
    assert list(sloppy) == [None, "2008", "2009"]
    # macro-averaged: every topic counts once, and both years have four of this assessor's
    assert sloppy[None].difference == pytest.approx((sloppy["2008"].difference + sloppy["2009"].difference) / 2)
    assert result.auto_ranking()[-1] == "sloppy"
    assert result.auto_ranking("2009")[-1] == "sloppy"


def test_a_careful_annotator_overlooks_nothing_that_was_marked_elsewhere() -> None:
    # The careful one marked every fact everywhere, so autoPyramid can find no more than that; the sloppy one half.
    auto = {a.assessor: a for a in consistency(ONE, resamples=0).result.auto}
    assert all(gap >= 0 for *_, gap in auto["careful"].summaries)
    assert auto["sloppy"].difference < -0.1


def test_exclusion_by_autopyramid_stands_beside_that_by_alpha() -> None:
    # Assessor "even" overlooks the same facts in identical summaries: perfect alpha, poor autoPyramid.
    rows = []
    for j in ONE.judgments:
        even = j.judge == "careful" and int(j.unit[1:]) % 2 and j.system in {"s0", "s1", "s2", "s3"}
        rows.append(replace(j, value=0, evidence=()) if even else j)
    study = replace(ONE, judgments=Judgments(rows))
    found = consistency(study, FACTS, exclude=(1,), resamples=0).result
    assert found.ranking("pyramid")[0] == "careful"
    assert found.auto_ranking()[0] == "fair"
    by = {e.criterion: e.excluded for e in found.exclusions if e.level == "ranking"}
    assert set(by) == {"pyramid", "autoPyramid"}
    assert by["pyramid"] == (found.ranking("pyramid")[-1],)
    assert by["autoPyramid"] == (found.auto_ranking()[-1],)


def test_people_are_peers_that_wrote_references() -> None:
    assert human_peers(YEARS) == {("2008", "H1"), ("2009", "H1")}
    assert human_peers({"": ONE}, ["s[01]"]) == {("", "H1"), ("", "s0"), ("", "s1")}
    # a system whose output happens to be a reference once is still a system
    lucky = next(s for s in ONE.references if s.system == "H2")
    peers = [replace(s, text=lucky.text) if (s.topic, s.system) == (lucky.topic, "s5") else s for s in ONE.peers]
    assert human_peers({"": replace(ONE, summaries=(*ONE.references, *peers))}) == {("", "H1")}
    with pytest.raises(pyr.UsageError, match=r"no peer matches 'Z'; .* peers are: H1, s0"):
        consistency(ONE, human=["Z"])


def test_correlations_with_and_without_people() -> None:
    found = consistency(ONE, FACTS, exclude=(1,), kinds=("pearson",), resamples=0)
    both = {
        e.peers: e
        for e in found.result.exclusions
        if (e.level, e.metric, e.criterion) == ("system", "facts", "pyramid")
    }
    assert {name: e.systems for name, e in both.items()} == {"AllPeers": 9, "NoModels": 8}
    # By hand, without people: means over all topics of facts and of pyramid scores.
    scores = [s for s in given_scores(ONE) if s.system != "H1"]
    manual = system_means(cells_of(scores, "pyramid"))
    cells = FACTS.per_summary("facts")
    metric = {s: np.mean([v for (_, name), v in cells.items() if name == s and v is not None]) for _, s in manual}
    expected = np.corrcoef([manual["", s] for s in metric], list(metric.values()))[0, 1]
    assert both["NoModels"].before == pytest.approx(expected)
    assert both["NoModels"].before != pytest.approx(both["AllPeers"].before)
    assert "peers:AllPeers+NoModels" in str(found.signature)
    for peers, names in (("all", {"AllPeers"}), ("no-models", {"NoModels"})):
        assert {e.peers for e in consistency(ONE, peers=peers, resamples=0).result.exclusions} == names  # type: ignore[arg-type]


def test_no_people_among_the_peers_is_said() -> None:
    machines = replace(ONE, summaries=tuple(s for s in ONE.summaries if s.system != "H1" or s.role == "reference"))
    machines = replace(machines, judgments=Judgments([j for j in ONE.judgments if j.system != "H1"]))
    assert {e.peers for e in consistency(machines, resamples=0).result.exclusions} == {"AllPeers"}
    notes = consistency(machines, peers="no-models", resamples=0).notes
    assert any("no peer is a person" in str(note) for note in notes)


@pytest.mark.parametrize(("which", "ends"), [("main", "A"), ("update", "B"), ("*-B", "B"), ("D0800-?", "AB")])
def test_topics_of_a_set(which: str, ends: str) -> None:
    kept = topic_set(ONE, which)
    assert {topic.id[-1] for topic in kept.topics} == set(ends)
    assert not [problem for problem in kept.problems() if problem.severity == "error"]
    assert {j.topic for j in kept.judgments} == {s.topic for s in kept.summaries} == {t.id for t in kept.topics}
    answer = consistency(ONE, topics=which, resamples=0)
    assert answer.result.assessors == consistency(kept, resamples=0).result.assessors
    assert f"topics:{which}" in str(answer.signature)


@pytest.mark.parametrize(
    ("topic", "main", "update"),
    [("D0801-A", 1, 0), ("D0801A-B", 0, 1), ("D0801A", 1, 0), ("D0802B", 0, 1), ("D0703C", 0, 0), ("BETA", 0, 0)],
)
def test_how_ids_tell_main_from_update(topic: str, main: int, update: int) -> None:
    study = Study(topics=(pyr.Topic(topic), pyr.Topic("D1-A"), pyr.Topic("D1-B")))
    assert (topic in {t.id for t in topic_set(study, "main").topics}) == main
    assert (topic in {t.id for t in topic_set(study, "update").topics}) == update


def test_topics_in_no_set_are_named() -> None:
    with pytest.raises(pyr.UsageError, match=r"no topic belongs to the set '\*-C' .* topics are: D0800-A"):
        consistency(ONE, topics="*-C")
    with pytest.raises(pyr.UsageError, match="2009: no topic belongs to the set 'main'"):
        consistency({"2008": ONE, "2009": topic_set(TWO, "update")}, topics="main")
    extra = replace(ONE, topics=(*ONE.topics, pyr.Topic("pilot")))
    notes = list(map(str, consistency(extra, topics="main").notes))
    assert any("their ids end neither in A" in note and "pilot" in note for note in notes)


def test_the_change_of_a_correlation_is_tested() -> None:
    answer = consistency(ONE, FACTS, exclude=(1,), peers="all")
    found = answer.result.exclusions
    system = pick(found, criterion="pyramid", level="system", metric="facts", correlation="pearson")
    out = frozenset(system.excluded)
    scores = given_scores(ONE)
    cells = {("", *key): value for key, value in FACTS.per_summary("facts").items() if value is not None}
    sides = []
    for without in (out, frozenset()):
        manual = cells_of(scores, "pyramid", without)
        metric = system_means({key: cells[key] for key in manual})
        sides.append(([system_means(manual)[s] for s in sorted(metric)], [metric[s] for s in sorted(metric)]))
    assert system.steiger == pytest.approx(steiger(*sides).p)  # type: ignore[arg-type]
    for e in found:
        assert (e.steiger is not None) == (e.level == "system" and e.correlation == "pearson")
        if e.level != "ranking":
            assert e.interval is not None
            assert e.p is not None
            assert (e.p < 0.05) == (e.interval.low > 0 or e.interval.high < 0) or 0.02 < e.p < 0.08
    assert "correlations with metrics at p < .05" in answer.sentence


def test_a_planted_change_is_found_and_none_is_not() -> None:
    # "wild" answers at random on every fifth topic of 30: without that, the metric correlates better on summaries.
    rng = np.random.default_rng(5)
    truth = rng.normal(size=20)
    judges, rows, cells, peers = ("wild", "a", "b", "c", "d"), [], [], []
    for t in range(30):
        today = truth + rng.normal(size=20)
        today[1] = today[0]
        for s in range(20):
            judge, quality = judges[t % 5], today[s]
            value = 5 + (3 * rng.normal() if judge == "wild" else quality + 0.3 * rng.normal())
            rows.append(Judgment(f"t{t}", f"s{s}", judge, float(value), aspect="overall"))
            cells.append(Score(f"t{t}", f"s{s}", "metric", float(quality)))
            peers.append(Summary(f"t{t}", f"s{s}", f"text {max(s, 1)}"))  # s0 and s1 are the same
    study = Study(
        topics=tuple(pyr.Topic(f"t{t}") for t in range(30)),
        summaries=tuple(peers),
        judges=tuple(Judge(name, "expert") for name in judges),
        judgments=Judgments(rows),
        aspects=(Aspect("overall", -20, 30),),
    )
    table = ScoreTable.of_summaries(cells, pyr.Signature.of("test"))
    found = consistency(study, table, exclude=(1, 2)).result
    for how in ("pearson", "spearman", "kendall"):
        first, second = (pick(found.exclusions, level="summary", metric="metric", correlation=how, k=k) for k in (1, 2))
        assert first.excluded == ("wild",)
        assert (first.r or 0) > (first.before or 0)
        assert (first.p or 1) < 0.01
        assert (second.r or 0) == pytest.approx(first.r or 0, abs=0.03)


def test_resamples_and_seed_are_obeyed() -> None:
    none = consistency(ONE, FACTS, resamples=0)
    assert all(e.p is None and e.interval is None for e in none.result.exclusions)
    assert not any("bootstrap" in str(note) for note in none.notes)
    first, again, other = (
        consistency(ONE, FACTS, peers="all", kinds=("spearman",), resamples=100, seed=seed).result.exclusions
        for seed in (0, 0, 1)
    )
    assert first == again
    assert first != other


def test_the_order_of_rows_does_not_matter() -> None:
    rng = np.random.default_rng(0)
    rows = list(ONE.judgments)
    mixed = replace(
        ONE,
        judgments=Judgments([rows[i] for i in rng.permutation(len(rows))]),
        summaries=tuple(ONE.summaries[i] for i in rng.permutation(len(ONE.summaries))),
    )
    table = replace(FACTS, scores=FACTS.scores[::-1])  # the last measure comes first
    first, second = (consistency(s, t, resamples=100).result for s, t in ((ONE, FACTS), (mixed, table)))
    assert [a.assessor for a in first.assessors] == [a.assessor for a in second.assessors]
    keys = ("criterion", "level", "metric", "correlation", "k", "peers", "excluded")
    for a, b in zip(first.exclusions, second.exclusions, strict=True):
        assert [getattr(a, key) for key in keys] == [getattr(b, key) for key in keys]
        assert (b.r, b.before, b.steiger, b.p) == pytest.approx((a.r, a.before, a.steiger, a.p))


def test_models_are_no_assessors() -> None:
    # What a model marked or rated is left out, also where it is all there is on a pyramid.
    said = [Judgment("D0800-A", "s0", "gpt", 1, unit="u0"), Judgment("D0800-A", "s0", "gpt", 3, aspect="overall")]
    study = replace(
        ONE,
        judges=(*ONE.judges, Judge("gpt", "model")),
        judgments=Judgments([*ONE.judgments, *said]),
        aspects=(Aspect("overall", 1, 5),),
    )
    assert {s.assessor for s in given_scores(study)} == {"careful", "fair", "sloppy"}
    with pytest.raises(pyr.UsageError, match="nobody annotated a pyramid"):
        given_scores(replace(study, judgments=Judgments(said)))


def test_too_many_to_leave_out_is_said() -> None:
    answer = consistency(ONE, exclude=(3,), resamples=0)
    assert not answer.result.exclusions
    assert any("3 or more cannot be left out: only 3 assessors are ranked" in str(note) for note in answer.notes)
    with pytest.raises(pyr.UsageError, match="cannot leave out 0 assessors"):
        consistency(ONE, exclude=(0,))
