"""What a report is made of: which method leads, which test gives the letters, intervals derived by hand."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import pyramidion as pyr
from pyramidion import plugins
from pyramidion.analysis import sources as analyses
from pyramidion.analysis.systems import ranking
from pyramidion.evaluation import evaluate_study
from pyramidion.report import collect as reporting
from pyramidion.report.collect import findings
from pyramidion.report.plots import write_figures
from pyramidion.study import ScoreTable, Signature
from pyramidion.study.judgments import JudgeKind


def table(**values: list[float | None]) -> ScoreTable:
    scores = [pyr.Score(f"t{n}", s, "m", value) for s, held in values.items() for n, value in enumerate(held)]
    return ScoreTable.of_summaries(scores, Signature.of("test"))


def test_intervals_are_over_topics() -> None:
    """Means of two topics drawn with replacement: 0 and 1 give 0, 0.5 or 1, so 95% of them lie from 0 to 1."""
    found = ranking(table(steady=[0.5, 0.5], shaky=[0.0, 1.0], new=[0.4, None]), resamples=400).result
    held = {s.system: s for s in found.systems}
    assert [s.rank for s in found.systems] == [1, 2, 3]
    assert held["new"].mean == 0.4
    assert held["new"].interval is None
    assert held["new"].topics == 1
    steady, shaky = held["steady"].interval, held["shaky"].interval
    assert steady
    assert shaky
    assert (steady.low, steady.high) == (0.5, 0.5)
    assert (shaky.low, shaky.high) == (0.0, 1.0)
    assert found.scale == (0.0, 1.0)


def test_the_first_method_that_applies_leads() -> None:
    study = pyr.example()
    found = findings(study, resamples=20)
    assert [s.method for s in found.scored] == ["pyramid", "lite", "responsiveness", "rouge"]
    assert [s.measure for s in found.scored] == ["modified", "lite", "overall", "rouge-2-recall"]
    assert [s.ranking.result.test for s in found.scored] == ["tukey"] * 4
    other = findings(study, method="responsiveness", resamples=20)
    assert other.main.method == "responsiveness"
    assert not [s for s in other.summaries if s.judged]
    with pytest.raises(pyr.UsageError, match="no pyramid called 'x'"):
        findings(study, pyramid="x")


def test_automatic_pyramids_are_explained_by_their_own_judge() -> None:
    judged = evaluate_study(replace(pyr.example(), pyramids=(), judgments=pyr.Judgments(), tasks=())).study
    found = findings(judged, method="auto", resamples=20)
    assert (found.main.method, found.main.measure) == ("auto", "extent")
    assert found.main_scores["museum-theft", "extract"] == found.main.table.value("extract", "extent", "museum-theft")
    assert len([s for s in found.summaries if s.judged and s.evidence]) > 12


def test_the_test_fits_the_number_of_topics() -> None:
    """Units on one topic, Tukey's test on few, a permutation test over topics on ten or more."""
    study = pyr.example()
    one = replace(
        study,
        topics=study.topics[:1],
        summaries=tuple(s for s in study.summaries if s.topic == study.topics[0].id),
        pyramids=tuple(p for p in study.pyramids if p.topic == study.topics[0].id),
        judgments=pyr.Judgments(replace(j, task="") for j in study.judgments if j.topic == study.topics[0].id),
        tasks=(),
    )
    assert findings(one, resamples=20).main.ranking.result.test == "mcnemar"
    many = table(a=[0.9] * 12, b=[0.1] * 12)
    lead = reporting._scored(study, "metric", many, None, None, 20, 0)
    assert lead.ranking.result.test == "permutation"
    assert [s.group for s in lead.ranking.result.systems] == ["a", "b"]


def test_choices_of_judges_reach_the_scores() -> None:
    found = findings(pyr.example(), method="lite", judges="worker1", resamples=20)
    assert dict(found.main.table.signature.choices)["judges"] == "worker1"
    assert not any(s.votes for s in found.summaries)  # one judge gives no votes to count


def judged_by_two(kind: JudgeKind, other: JudgeKind = "expert") -> pyr.Study:
    """The example's pyramids by experts, judged by two people of each of these kinds."""
    whole = pyr.example()
    pyramids = tuple(pyramid for pyramid in whole.pyramids if pyramid.name == "expert")
    given = [j for j in whole.judgments if j.unit and j.judge in whole.judges_of("expert")]
    judges = tuple(pyr.Judge(f"{each}{n}", each) for each in dict.fromkeys((kind, other)) for n in range(2))
    answers = [
        replace(j, judge=judge.id, value=0.0 if judge.id.endswith("1") and at % 5 == 0 else j.value)
        for judge in judges
        for at, j in enumerate(given)
    ]
    return replace(whole, pyramids=pyramids, judges=judges, judgments=pyr.Judgments(answers), tasks=())


def figure_names(study: pyr.Study, folder: Path) -> list[str]:
    """The files that a report's figures would be in; none is drawn."""
    return [path.name for path in write_figures(findings(study, resamples=20), folder, track=lambda _: ())]


def test_the_agreement_of_the_same_judges_is_shown_once(tmp_path: Path) -> None:
    """Pyramid and lite scores are both made of what these judges said of this pyramid."""
    study = judged_by_two("expert")
    found = findings(study, resamples=20)
    assert {"pyramid", "lite"} <= {s.method for s in found.scored}
    assert [(a.result.measure, len(a.result.judges)) for a in found.agreements] == [("units of pyramid expert", 2)]
    names = figure_names(study, tmp_path)
    assert names.count("judges-units-of-pyramid-expert.svg") == 1
    assert len(set(names)) == len(names)


def test_no_figure_is_written_over_another(tmp_path: Path) -> None:
    """Experts and a crowd judge the same pyramid."""
    study = judged_by_two("crowd")
    assert [len(a.result.judges) for a in findings(study, resamples=20).agreements] == [2, 2]
    names = figure_names(study, tmp_path)
    assert {"judges-units-of-pyramid-expert.svg", "judges-units-of-pyramid-expert-2.svg"} <= set(names)
    assert len(set(names)) == len(names)


def test_further_score_tables_are_correlated() -> None:
    study = pyr.example()
    lengths = [pyr.Score(s.topic, s.system, "length", float(len(s.text))) for s in study.peers]
    metric = ScoreTable.of_summaries(lengths, Signature.of("length"))
    found = findings(study, metrics={"length": metric}, resamples=20)
    assert found.correlations
    assert found.correlations.result.of("length").n == 6


def test_rouge_is_left_to_a_score_table_where_it_would_take_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analyses, "MOST_FOR_ROUGE", 10)
    found = findings(pyr.example(), resamples=20)
    assert "rouge" not in [s.method for s in found.scored]
    assert [note.where for note in found.notes if "--scores" in note.what] == ["ROUGE"]
    texts = replace(pyr.example(), pyramids=(), judgments=pyr.Judgments(), tasks=(), judges=(), aspects=())
    assert findings(texts, resamples=20).main.method == "rouge"  # but where nothing else applies, it is computed


def test_a_study_that_cannot_be_scored_is_refused_with_reasons() -> None:
    with pytest.raises(pyr.UsageError, match="cannot be scored by any method"):
        findings(pyr.Study(topics=(pyr.Topic("t"),)))


def test_without_a_title_a_study_is_called_by_its_size() -> None:
    named = findings(pyr.example(), resamples=20)
    bare = replace(named, title="")
    assert (bare.heading("writer"), bare.heading("system")) == ("6 writers on 4 topics", "6 systems on 4 topics")
    assert named.heading("writer") == pyr.example().title


def words_said(study: pyr.Study) -> ScoreTable:
    """A method as a plugin would add it."""
    scores = [pyr.Score(s.topic, s.system, "words", float(len(s.text.split()))) for s in study.peers]
    return ScoreTable.of_summaries(scores, Signature.of("words"))


def test_methods_of_plugins_take_part_wherever_a_study_is_scored_by_all(monkeypatch: pytest.MonkeyPatch) -> None:
    added = EntryPoint("words", f"{__name__}:words_said", "pyramidion.methods")
    monkeypatch.setitem(plugins._registered("methods"), "words", added)
    tables = analyses.scored_by_all(pyr.example())
    assert list(tables) == ["pyramid", "lite", "responsiveness", "rouge", "words"]
    assert max(tables["words"].per_system("words").values()) > 50
    with pytest.raises(pyr.UsageError, match=r"method words has no option 'tie'; its options are: $"):
        pyr.score(pyr.example(), "words", tie="absent")


def test_only_methods_that_tell_more_have_a_tab() -> None:
    """A crowd's statements without contributors weigh nothing, so Pyramid scores add nothing to lite scores; without
    references there is no ROUGE. What is asked for is shown all the same."""
    whole = pyr.example()
    [*pyramids] = [p for p in whole.pyramids if p.name == "crowd"]
    bare = [
        replace(p, references=(), units=tuple(replace(unit, contributors=()) for unit in p.units)) for p in pyramids
    ]
    judged = whole.judgments.take(whole.judgments.judge.is_in(whole.judges_of("crowd")))
    crowd = replace(whole, pyramids=tuple(pyramids), judgments=judged)
    assert "pyramid" in [s.method for s in findings(crowd, resamples=20).scored]
    weightless = replace(crowd, pyramids=tuple(bare), summaries=tuple(whole.peers))
    found = findings(weightless, resamples=20)
    assert [s.method for s in found.scored if s.method in {"lite", "pyramid", "rouge"}] == ["lite"]
    assert any("no references" in note.what for note in found.notes)
    assert findings(weightless, method="pyramid", resamples=20).main.method == "pyramid"
