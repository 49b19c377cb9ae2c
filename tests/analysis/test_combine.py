"""People and a model together, through the public interface."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.combined_studies import SYSTEMS, labels, rated_study, study_of

import pyramidion as pyr
from pyramidion.analysis import significance
from pyramidion.analysis.combine import Combination, combine
from pyramidion.report.collect import findings
from pyramidion.study import Judge, Judgment, Judgments, Study, Summary, Topic


def truth(topics: int = 12, units: int = 6, seed: int = 0) -> dict[str, float]:
    known = labels(topics, units, seed)
    return {system: float(np.mean([v for (_, _, s), (v, _) in known.items() if s == system])) for system in SYSTEMS}


def scores(found: Combination) -> dict[str, float]:
    return {s.system: s.score for s in found.systems}


def without_tasks(study: Study) -> Study:
    moved = Judgments(Judgment(j.topic, j.system, j.judge, j.value, unit=j.unit) for j in study.judgments)
    return replace(study, tasks=(), judgments=moved)


def test_everything_asked_gives_the_scores_that_people_give() -> None:
    study = study_of(asked=1.0)
    found = combine(study, question="these").result
    assert scores(found) == pytest.approx(pyr.score(study, "lite", judges="crowd").per_system("lite"))
    assert found.worth is None
    assert found.half_width == pytest.approx(0, abs=1e-12)
    assert "adds nothing" in combine(study).sentence


def test_a_part_gives_estimates_with_intervals_and_what_the_model_was_worth() -> None:
    answer = combine(study_of(topics=40, asked=0.4, mistakes=0.0), question="these")
    found = answer.result
    for system, score in truth(40).items():
        held = next(s for s in found.systems if s.system == system)
        assert held.low <= score <= held.high
    assert found.answered == 0.4 * found.questions == 384
    assert found.half_width < found.people_half_width
    assert found.worth is not None
    assert found.worth > 50
    assert answer.sentence.startswith("People answered 384 of 960 questions (40%). For these topics, the difference")
    assert f"align was worth {round(found.worth)} further answers" in answer.sentence
    assert [s.system for s in found.systems] == sorted(SYSTEMS, key=lambda s: -scores(found)[s])
    assert len(found.pairs) == 6
    best = found.pairs[0]
    assert best.difference == pytest.approx(scores(found)[best.better] - scores(found)[best.worse])
    assert best.low < best.difference < best.high


def test_intervals_for_topics_of_this_kind_are_wider() -> None:
    study = study_of(topics=20)
    these, kind = (combine(study, question=question).result for question in ("these", "topics"))
    assert scores(these) == scores(kind)
    assert all(a.low >= b.low - 1e-12 for a, b in zip(these.systems, kind.systems, strict=True))
    assert these.half_width < kind.half_width


def test_what_was_chosen_by_hand_is_refused_unless_it_is_said_to_be_random() -> None:
    study = without_tasks(study_of())
    with pytest.raises(pyr.UsageError, match=r"does not say how these were chosen.*--assume-random"):
        combine(study)
    found = combine(study, assume_random=True)
    assert scores(found.result) == pytest.approx(scores(combine(study_of()).result))
    assert "is not recorded; the answer assumes" in str(found.notes[0])
    assert "asked:assumed 144 of 288" in str(found.signature)


def test_whole_topics_are_told_from_single_units() -> None:
    """Of 12 units a topic the variance between whole topics counts, not that between units."""
    study = without_tasks(study_of(topics=40, asked=lambda topic, _: int(topic[1:]) % 2 == 0))
    found = combine(study, assume_random=True, question="these").result
    spread = combine(without_tasks(study_of(topics=40)), assume_random=True, question="these").result
    assert found.answered == spread.answered
    assert found.half_width != pytest.approx(spread.half_width, rel=0.01)


def test_given_probabilities() -> None:
    study = study_of(topics=30)
    rows = {(task.topic, task.units[0]) for task in study.tasks}
    same = combine(without_tasks(study), chances=dict.fromkeys(rows, 0.5), question="these").result
    assert scores(same) == pytest.approx(scores(combine(study, question="these").result))
    with pytest.raises(pyr.UsageError, match="have no probability, such as u"):
        combine(without_tasks(study), chances={("t00", "u0"): 0.5})
    with pytest.raises(pyr.UsageError, match=r"must be above 0 and at most 1, not 1\.5"):
        combine(without_tasks(study), chances={("t00", "u0"): 1.5})


def test_unequal_probabilities_do_not_bias() -> None:
    """Units that everybody expresses are asked three times as often; unless that is said, the estimate is off."""
    known = labels(40)
    common = {(t, u): all(known[t, u, s][0] for s in SYSTEMS) for t, u, _ in known}
    errors, naive = [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        chance = {row: 0.75 if often else 0.25 for row, often in common.items()}
        drawn = {row for row in sorted(chance) if rng.random() < chance[row]}
        study = study_of(topics=40, asked=lambda t, u, d=drawn: (t, u) in d, drawn=False, mistakes=0.0)  # type: ignore[misc]
        right = scores(combine(study, chances=chance, question="these").result)
        wrong = scores(combine(study, assume_random=True, question="these").result)
        errors.append(np.mean([right[s] - truth(40)[s] for s in SYSTEMS]))
        naive.append(np.mean([wrong[s] - truth(40)[s] for s in SYSTEMS]))
    assert abs(np.mean(errors)) < 0.01
    assert np.mean(naive) > 0.02


def test_missing_answers_are_reported_with_what_they_could_change() -> None:
    study = study_of(topics=20)
    gone = {task.id for task in study.tasks if task.system == "beta" and task.place % 10 == 0}
    kept = Judgments(j for j in study.judgments if j.task not in gone)
    note = str(combine(replace(study, judgments=kept)).notes[-1])
    assert f"{len(gone)} of {len(study.tasks)} questions that were asked have no answer" in note
    assert "no score would change by more than 0." in note


def test_answers_that_the_design_had_not_drawn_are_left_out() -> None:
    study = study_of(topics=20)
    free = next(
        r for r in sorted({(t, u) for t, u, _ in labels(20)}) if r not in {(k.topic, k.units[0]) for k in study.tasks}
    )
    extra = Judgment(free[0], "alpha", "w0", 1.0, unit=free[1])
    found = combine(replace(study, judgments=study.judgments + Judgments([extra])))
    assert scores(found.result) == scores(combine(study).result)
    assert "1 questions were answered that the design had not drawn" in str(found.notes[0])


def test_too_little_is_an_error_that_says_how_much_is_needed() -> None:
    with pytest.raises(pyr.UsageError, match=r"14 drawn parts about alpha.*at least 20"):
        combine(study_of(asked=14 / 72))
    with pytest.raises(pyr.UsageError, match=r"at least 5 topics, not 4.*--question these"):
        combine(study_of(topics=4, units=10, asked=0.6))
    assert combine(study_of(topics=4, units=10, asked=0.6), question="these").result.topics == 4


def test_an_unknown_model_and_one_that_judged_too_little() -> None:
    study = study_of()
    with pytest.raises(pyr.UsageError, match="no judgments of a model called 'llm'; its models are: align"):
        combine(study, model="llm")
    half = Judgments(j for j in study.judgments if j.judge != "align" or j.topic == "t00")
    with pytest.raises(pyr.UsageError, match="align has not judged 264 of 288 questions"):
        combine(replace(study, judgments=half))
    most = Judgments(j for j in study.judgments if j.judge != "align" or (j.topic, j.unit) != ("t00", "u0"))
    assert "has not judged 4 of 288" in str(combine(replace(study, judgments=most)).notes[0])


def test_single_answers_have_wider_intervals_than_votes_taken_as_they_are() -> None:
    study = study_of(topics=30, workers=1, mistakes=0.25)
    vote, single = (combine(study, question="these", aggregate=how).result for how in ("majority", "mean"))
    assert scores(vote) == pytest.approx(scores(single))
    assert single.half_width > vote.half_width


def test_mean_answers_are_estimated_as_well() -> None:
    study = study_of(topics=30, workers=4, mistakes=0.2)
    found = combine(study, aggregate="mean").result
    assert "aggregate:mean" in str(found.table.signature)
    assert found.half_width < found.people_half_width


def test_ratings_stay_on_their_scale() -> None:
    study = rated_study()
    found = combine(study, model="rater", aspect="overall").result
    assert found.measure == "overall"
    assert all(1 <= s.low < s.score < s.high <= 10 for s in found.systems)
    assert [s.system for s in found.systems] == list(SYSTEMS)
    assert found.half_width < found.people_half_width
    assert found.correlation is not None
    assert found.correlation > 0.6
    with pytest.raises(pyr.UsageError, match="no aspect 'style'; it has: overall"):
        combine(study, model="rater", aspect="style")


def test_the_table_goes_into_other_analyses(tmp_path: Path) -> None:
    found = combine(study_of(topics=20)).result
    pyr.write_scores(found.table, tmp_path / "both.json")
    table = pyr.read_scores(tmp_path / "both.json")
    assert "judges:crowd+align|estimate:yes" in str(table.signature)
    assert set(table.measures) == {"lite", "lite-low", "lite-high"}
    assert table.measures[0] == "lite"
    assert table.per_system("lite") == pytest.approx(scores(found))
    tested = significance(table, measure="lite", test="wilcoxon").result
    assert {r.system for r in tested.ranking} == set(SYSTEMS)
    assert pyr.compare_systems(table, measure="lite").result


def test_human_peers_are_left_out() -> None:
    study = study_of(topics=20)
    human = [replace(s, role="reference") for s in study.summaries if s.system == "beta"]
    found = combine(replace(study, summaries=(*study.summaries, *human)))
    assert {s.system for s in found.result.systems} == {"alpha", "gamma", "delta"}
    assert "are references themselves" in str(found.notes[0])


def test_a_drawn_unit_that_is_asked_by_two_designs_is_refused() -> None:
    study = study_of(topics=20)
    again = replace(study.tasks[0], id="again", stratum="other", place=1, places=5)
    with pytest.raises(pyr.UsageError, match="was drawn twice"):
        combine(replace(study, tasks=(*study.tasks, again)))


def test_people_can_be_named() -> None:
    study = study_of(topics=20)
    expert = replace(study, judges=(*study.judges, Judge("anna", "expert")))
    assert combine(expert, people="crowd").result.answered == combine(study).result.answered
    with pytest.raises(pyr.UsageError, match="no person has judged"):
        combine(study, people="align")


def test_scores_of_what_was_asked_say_that_they_are_not_of_everything() -> None:
    notes = [str(note) for note in pyr.score(study_of(topics=20), "lite", judges="crowd").notes]
    assert any("asked about 60 of 120, drawn with probabilities" in note for note in notes)
    everything = pyr.score(study_of(topics=20, asked=1.0), "lite", judges="crowd").notes
    assert not any("drawn with probabilities" in str(note) for note in everything)


def test_a_report_shows_the_estimate_with_its_own_intervals() -> None:
    study = study_of(topics=20)
    found = combine(study).result
    shown = findings(study, metrics={"both": found.table}, resamples=50).scored
    both = next(scored for scored in shown if scored.method == "crowd+align (estimate)")
    held = {s.system: (s.interval.low, s.interval.high) for s in both.ranking.result.systems if s.interval}
    assert held == {s.system: (s.low, s.high) for s in found.systems}
    assert "interval:given" in str(both.ranking.signature)


def only_tasks(study: Study, topics: set[str], stratum: str = "all") -> Study:
    """The same study as if a design had been drawn from some topics only."""
    rows = sorted({(t.topic, t.units[0]) for t in study.tasks if t.topic in topics})
    place = {row: number for number, row in enumerate(rows, 1)}
    tasks = [
        replace(t, place=place[t.topic, t.units[0]], places=len(rows) * 2, stratum=stratum)
        for t in study.tasks
        if t.topic in topics
    ]
    kept = {task.id for task in tasks}
    return replace(
        study, tasks=tuple(tasks), judgments=Judgments(j for j in study.judgments if not j.task or j.task in kept)
    )


def test_a_design_over_some_topics_says_nothing_about_the_others() -> None:
    study = study_of(topics=20)
    some = {f"t{number:02}" for number in range(10)}
    part = only_tasks(study, some)
    with pytest.raises(pyr.UsageError, match=r"drawn from about \d+ units, but there are 120.*--topic"):
        combine(part)
    assert combine(part, topics=sorted(some)).result.topics == 10
    assert combine(part, topics=["t0*"]).result.topics == 10


def test_a_design_over_some_systems_leaves_the_others_out() -> None:
    study = study_of(topics=20)
    tasks = tuple(task for task in study.tasks if task.system in {"alpha", "beta"})
    kept = {task.id for task in tasks}
    part = replace(study, tasks=tasks, judgments=Judgments(j for j in study.judgments if not j.task or j.task in kept))
    found = combine(part)
    assert {s.system for s in found.result.systems} == {"alpha", "beta"}
    assert "did not ask about delta, gamma" in str(found.notes[0])


def test_two_campaigns_with_strata_of_one_name_are_not_mixed() -> None:
    study = study_of(topics=20)
    first, second = ({f"t{n:02}" for n in range(*ends)} for ends in ((0, 10), (10, 20)))
    tasks = (*only_tasks(study, first).tasks, *only_tasks(study, second).tasks)
    with pytest.raises(pyr.UsageError, match=r"one campaign at a time|drawn from about"):
        combine(replace(study, tasks=tasks))
    apart = (*only_tasks(study, first, "a-1").tasks, *only_tasks(study, second, "b-1").tasks)
    assert combine(replace(study, tasks=apart)).result.answered == combine(study).result.answered


def test_a_system_without_a_summary_of_a_judged_topic_is_left_out() -> None:
    study = study_of(topics=20)
    bare = replace(
        study,
        topics=(*study.topics, Topic("other")),
        summaries=(*study.summaries, Summary("other", "zeta", "Text.", "peer")),
    )
    found = combine(bare)
    assert {s.system for s in found.result.systems} == set(SYSTEMS)
    assert "have no summary of a topic with units" in " ".join(map(str, found.notes))


def test_a_system_with_few_summaries_is_refused() -> None:
    study = study_of(topics=20)
    kept = tuple(s for s in study.summaries if s.system != "delta" or s.topic in {"t00", "t01"})
    few = Judgments(j for j in study.judgments if j.system != "delta" or j.topic in {"t00", "t01"})
    tasks = tuple(t for t in study.tasks if t.system != "delta" or t.topic in {"t00", "t01"})
    with pytest.raises(pyr.UsageError, match=r"drawn parts? about delta|not 2 as for delta"):
        combine(replace(study, summaries=kept, judgments=few, tasks=tasks))


def test_judging_tasks_do_not_choose_what_was_rated() -> None:
    rated, judged = rated_study(asked=1.0), study_of(topics=30)
    both = replace(rated, tasks=judged.tasks)
    assert combine(both, model="rater", aspect="overall").result.answered == 120


def test_chances_without_answers_are_refused() -> None:
    study = replace(without_tasks(study_of()), judges=(*study_of().judges, Judge("anna", "expert")))
    with pytest.raises(pyr.UsageError, match="no person has"):
        combine(study, people="anna", chances={("t00", "u0"): 0.5})


def test_one_answer_to_everything_is_not_everything_answered() -> None:
    study = study_of(topics=20)
    alike = Judgments(replace(j, value=0.0) if j.judge != "align" else j for j in study.judgments)
    assert "people answered everything alike" in combine(replace(study, judgments=alike)).sentence
