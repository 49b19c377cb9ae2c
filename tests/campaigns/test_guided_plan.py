"""Judging campaigns that a model guides: what is asked, what it pays and costs, what is refused, and how it reads."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from tests.campaigns.judged_studies import MODEL, judged_study

import pyramidion as pyr
from pyramidion.analysis.effort import in_proportion, minutes_of
from pyramidion.campaigns.plan import Plan, plan, release
from pyramidion.campaigns.tasks import AttentionCheck
from pyramidion.judging import judge_study
from pyramidion.study import Judge, Judgments, Settings, Study


def planned(study: Study, **chosen: Any) -> Plan:
    return plan(study, "judge", "j", Settings.for_kind("judge", model=MODEL, **chosen))


@pytest.fixture(scope="module")
def study() -> Study:
    return judged_study([10] * 20, 5)


def test_one_task_for_each_part_and_system(study: Study) -> None:
    made = planned(study)
    asked = [part for part in made.parts if part.round]
    assert len(made.tasks) == 5 * len(asked)
    assert Counter((t.topic, t.units) for t in made.tasks) == {(p.topic, p.units): 5 for p in asked}
    assert all(1 <= task.place <= task.places for task in made.tasks)
    assert len({task.id for task in made.tasks}) == len(made.tasks)
    with_tasks = replace(study, tasks=made.tasks)
    assert with_tasks.problems() == []


def test_rounds_have_tasks_of_their_own_and_are_always_the_same(study: Study) -> None:
    made = planned(study, until="ranking", gold_rate=0.1)
    rounds = max(part.round for part in made.parts)
    assert rounds >= 3
    released = [release(study, made.campaign, made.parts, number) for number in range(1, rounds + 1)]
    assert (released[0].tasks, released[0].gold) == (made.tasks, made.gold)
    again = [release(study, made.campaign, made.parts, number) for number in range(1, rounds + 1)]
    assert again == released
    ids = [task.id for each in released for task in each.tasks]
    assert len(set(ids)) == len(ids)
    some = release(study, made.campaign, made.parts, 2, ["s01", "s03"])
    assert {task.system for task in some.tasks} == {"s01", "s03"}
    assert {t.units for t in some.tasks} == {t.units for t in released[1].tasks}
    assert release(study, made.campaign, made.parts, rounds + 1).tasks == ()


def test_every_task_has_a_unit_of_known_answer_if_that_is_wanted(study: Study) -> None:
    made = planned(study, gold_rate=0.2)
    assert made.gold.keys() == {task.id for task in made.tasks}
    sizes = {task.id: len(task.units) for task in made.tasks}
    checks = {id: gold for id, gold in made.gold.items() if isinstance(gold, AttentionCheck)}
    assert len(checks) == len(made.gold)
    assert all(0 <= check.position <= sizes[id] for id, check in checks.items())
    assert {check.value for check in checks.values()} == {0, 1}


def test_shorter_tasks_pay_the_same_by_the_hour() -> None:
    full = Settings.for_kind("judge")  # .5 + 16 x .15 = 2.9 minutes for $0.45
    assert minutes_of(full, 16) == pytest.approx(2.9)
    short = in_proportion(full, 5)  # 1.25 minutes: .45 x 1.25 / 2.9 = .194
    assert (short.pay, short.min_seconds) == (0.19, 11.0)
    assert in_proportion(full, 16) == full
    assert in_proportion(replace(full, pay=0.0), 5).pay == 0
    assert in_proportion(replace(full, pay=0.01), 1).pay == 0.01
    checked = replace(full, gold_rate=0.1)  # a known answer more: 1.4 of 3.05 minutes
    assert in_proportion(checked, 5).pay == pytest.approx(0.21)


def test_costs_by_hand(study: Study) -> None:
    made = planned(study, share=0.5, until="top")
    guide, paid = made.guide, made.campaign.settings
    assert guide is not None
    size = 200 / len(made.parts)
    assert paid.pay == pytest.approx(0.45 * (0.5 + 0.15 * size) / 2.9, abs=0.005)
    rate = Decimal(str(paid.pay)) * Decimal("1.2") * 5 * 5  # five systems, five workers
    assert guide.first.total == rate * sum(part.round == 1 for part in made.parts)
    assert made.cost.total == guide.most.total == rate * sum(part.round > 0 for part in made.parts)
    # 20 topics x 5 systems x 1 task of up to 16 units x 5 workers x $0.45 x 1.2
    assert guide.everything.total == Decimal("270.00")
    assert (guide.questions, guide.systems) == (1000, 5)
    assert guide.asked == 5 * sum(len(part.units) for part in made.parts if part.round)


def test_a_budget_is_never_exceeded(study: Study) -> None:
    for budget in (70, 87.5, 110):
        made = planned(study, share=1.0, budget=budget)
        assert budget * 0.9 < made.cost.total <= budget  # all at once: as much as it pays for
        in_rounds = planned(study, share=1.0, budget=budget, until="top")
        assert in_rounds.guide is not None
        assert in_rounds.guide.first.total <= in_rounds.cost.total <= budget
        # Rounds go on beyond: systems that leave make room.
        assert sum(p.round > 0 for p in in_rounds.parts) > sum(p.round > 0 for p in made.parts)
    assert planned(study, budget=1e6).cost == planned(study).cost


def test_sentences_say_what_is_asked_drawn_done_and_paid(study: Study) -> None:
    text = " ".join(planned(study, until="pairs=90%").sentences)
    assert re.search(
        r"asked about at most \d+ of 200 units, each for all 5 systems: [\d,]+ of 1,000 questions \(\d+%\)\.", text
    )
    assert re.search(
        r"cut into \d+ parts, in \d strata by how unsure model is\. .*parts .* are \d+ of \d+ \(\d+%\), ", text
    )
    assert re.search(
        r"A task is one summary with \d( to \d)? units?, for 5 workers; it takes about \d\.\d minutes", text
    )
    assert re.search(r"pays \$0\.\d\d, which is \$\d+\.\d\d per hour \(\$0\.45 is the pay for 16 units\)", text)
    assert re.search(r"Round 1 of at most \d: \$[\d.,]+ for [\d,]+ assignments .*until 90% of all pairs", text)
    assert re.search(r"Cost at most: \$[\d.]+ .*tasks of up to 16 units at \$0\.45, would cost \$270\.00\.", text)
    plain = " ".join(planned(study).sentences)
    assert re.search(r"asked about \d+ of 200 units", plain)
    assert "Round" not in plain
    assert "until" not in plain
    assert plan(study, "judge", "j").sentences == []


def test_human_peers_are_asked_about_like_all_others(example: pyr.Study) -> None:
    judged = judge_study(example, "lexical", pyramid="expert", evidence=False).study
    human = replace(
        judged,
        summaries=(*judged.summaries, *(replace(r, role="peer", system="human") for r in judged.references[::4])),
    )
    chosen = Settings.for_kind("judge", model="lexical", share=0.8, question="these")
    with pytest.raises(pyr.UsageError, match="has not judged all units of 4 summaries, such as that of human on topic"):
        plan(human, "judge", "j", chosen, pyramid="expert")
    again = judge_study(human, "lexical", pyramid="expert", evidence=False).study
    made = plan(again, "judge", "j", chosen, pyramid="expert")
    asked = Counter((task.topic, task.units) for task in made.tasks)
    by_hand = {(t.topic, t.units) for t in made.tasks if t.system == "human"}
    assert by_hand == set(asked)
    assert [str(note) for note in made.notes if note.where == "human peers"] == [
        "human peers: human are references themselves; they are asked about, but estimates with a model leave them out "
        "(--system chooses systems)"
    ]


def test_crowd_pyramids_are_asked_about_by_sampled_units(example: pyr.Study) -> None:
    judged = judge_study(example, "lexical", pyramid="crowd", evidence=False).study
    made = plan(judged, "judge", "j", Settings.for_kind("judge", model="lexical", question="these"))
    units = {(part.topic, unit) for part in made.parts for unit in part.units}
    assert units == {(p.topic, u.id) for p in judged.pyramids if p.name == "crowd" for u in p.sampled}
    assert len(units) == 4 * 32


def test_some_topics_and_systems_need_only_their_judgments(study: Study) -> None:
    few = replace(study, judgments=study.judgments.take(study.judgments.topic.is_in({"t00", "t01"})))
    with pytest.raises(pyr.UsageError, match="has not judged all units of 90 summaries"):
        planned(few)
    chosen = Settings.for_kind("judge", model=MODEL, share=1.0, question="these")
    made = plan(few, "judge", "j", chosen, topics=["t00", "t01"], systems=["s00", "s02"])
    assert {(task.topic, task.system) for task in made.tasks} <= {
        (t, s) for t in ("t00", "t01") for s in ("s00", "s02")
    }
    assert {part.topic for part in made.parts} == {"t00", "t01"}


def test_a_model_that_left_questions_open_cannot_guide(study: Study) -> None:
    value = study.judgments.value.copy()
    value[:7] = np.nan
    with pytest.raises(pyr.UsageError, match="has not judged all units of 5 summaries, such as that of s00 on"):
        planned(replace(study, judgments=study.judgments.with_columns(value=value)))


def test_topics_without_units_or_peers_are_left_out(study: Study) -> None:
    bare = replace(
        study,
        pyramids=study.pyramids[1:],
        summaries=tuple(s for s in study.summaries if s.topic != "t01"),
        judgments=study.judgments.take(~study.judgments.topic.is_in({"t00", "t01"})),
    )
    made = planned(bare)
    assert [note.where for note in made.notes] == ["topic t00", "topic t01"]
    assert "t01" not in {part.topic for part in made.parts}


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"model": "aling"}, r"no judgments of a model 'aling' \(models that have judged it: model\)"),
        ({"model": "anna"}, "judge 'anna' is of kind expert"),
        ({"share": 0.01}, "smallest share that works is 0.1"),
        ({"until": "tops"}, "the goal 'tops' is not known; use top, ranking"),
        ({"until": "width=3"}, "the goal .* is not known"),
        ({"question": "those"}, "these, topics"),
        ({"looks": 3}, "looks has no effect without a goal"),
        ({"units_per_topic": 3}, "units_per_topic has no effect with a model"),
        ({"model": "", "until": "top"}, "until has no effect without a model"),
        ({"model": "", "budget": 9.0}, "budget has no effect without a model"),
    ],
)
def test_what_cannot_be_planned_is_explained(study: Study, chosen: dict[str, Any], message: str) -> None:
    with_expert = replace(study, judges=(*study.judges, Judge("anna", "expert")))
    with pytest.raises(pyr.UsageError, match=message):
        plan(with_expert, "judge", "j", Settings.for_kind("judge", **{"model": MODEL, **chosen}))


def test_only_judging_can_be_guided(study: Study) -> None:
    with pytest.raises(pyr.UsageError, match="judging only, not a campaign of kind rate"):
        plan(study, "rate", "r", Settings.for_kind("rate", model=MODEL))
    with pytest.raises(pyr.UsageError, match="at least 2 systems; there is s01"):
        plan(study, "judge", "j", Settings.for_kind("judge", model=MODEL), systems=["s01"])
    with pytest.raises(pyr.UsageError, match="at least 5 topics, not 2; ask about these topics alone"):
        plan(study, "judge", "j", Settings.for_kind("judge", model=MODEL), topics=["t00", "t01"])
    with pytest.raises(pyr.UsageError, match="nothing to judge"):
        planned(replace(study, pyramids=(), judgments=Judgments()))


def test_a_plan_says_when_asking_about_everything_costs_less() -> None:
    small, larger = (planned(judged_study([10] * topics, 5), until="top").sentences for topics in (6, 20))
    assert any("That is less than the first round" in sentence for sentence in small)
    assert any("less than this may cost at most; --budget sets a limit" in sentence for sentence in larger)
    assert not any("That is less" in sentence for sentence in planned(judged_study([10] * 40, 5)).sentences)
