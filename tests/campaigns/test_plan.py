"""From a study to tasks: counts, costs, balance, known answers."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

import pyramidion as pyr
from pyramidion.campaigns.checks import CONTENT
from pyramidion.campaigns.plan import plan
from pyramidion.campaigns.tasks import AttentionCheck, ExpertRatings, to_object
from pyramidion.study import Aspect, ContentUnit, Contributor, Pyramid, Settings, Summary, Topic
from pyramidion.study.tasks import TaskKind


def test_the_papers_designs_cost_what_the_papers_paid(example: pyr.Study) -> None:
    # 4 topics x 4 references x 2 workers x $0.50 x 1.2 = $19.20; 4 x 6 x 2 tasks x 5 x $0.45 x 1.2 = $129.60.
    write, judge = plan(example, "write", "w"), plan(example, "judge", "j")
    assert (len(write.tasks), write.assignments, str(write.cost.total)) == (16, 32, "19.20")
    assert (len(judge.tasks), judge.assignments, str(judge.cost.total)) == (48, 240, "129.60")
    assert all(len(task.units) == 16 for task in judge.tasks)


def test_every_summary_gets_every_group_once(example: pyr.Study) -> None:
    tasks = plan(example, "judge", "j").tasks
    seen = Counter((task.topic, task.system, unit) for task in tasks for unit in task.units)
    assert set(seen.values()) == {1}
    assert len(seen) == 4 * 6 * 32


def test_units_without_groups_are_sampled_and_split(example: pyr.Study) -> None:
    made = plan(
        example, "judge", "j", Settings.for_kind("judge", units_per_topic=10, units_per_task=4), pyramid="expert"
    )
    sizes = Counter(len(task.units) for task in made.tasks if task.system == "lead")
    assert sizes == {4: 4, 3: 8}  # 10 units per topic: 4 + 3 + 3


@pytest.mark.parametrize("contributors", [("A",), ("A", "B")], ids=["of one reference", "merged"])
def test_tasks_that_pay_the_same_are_as_long_as_each_other(contributors: tuple[str, ...]) -> None:
    held = tuple(map(Contributor, contributors))
    study = pyr.Study(
        topics=(Topic("t"),),
        summaries=(
            *(Summary("t", system, "A text.") for system in "XY"),
            *(Summary("t", reference, "A text.", "reference") for reference in contributors),
        ),
        pyramids=(Pyramid("t", contributors, tuple(ContentUnit(f"u{n}", f"Unit {n}.", held) for n in range(17))),),
    )
    tasks = plan(study, "judge", "j").tasks
    assert sorted(len(task.units) for task in tasks) == [8, 8, 9, 9]  # not 16 and 1
    assert len({frozenset(task.units) for task in tasks}) == 2  # the same units together for all systems
    assert plan(study, "judge", "j").tasks == tasks


def test_rating_and_comparing(example: pyr.Study) -> None:
    rate, compare = plan(example, "rate", "r"), plan(example, "compare", "c")
    assert len(rate.tasks) == 24
    assert all(len(set(task.references)) == 2 for task in rate.tasks)
    assert len(compare.tasks) == 4 * 15
    pairs = Counter(frozenset((task.system, task.other)) for task in compare.tasks)
    assert set(pairs.values()) == {4}
    lefts = Counter(task.system for task in compare.tasks)
    assert all(count < 20 for count in lefts.values())  # nobody is always on the left
    assert plan(replace(example, aspects=(), judgments=pyr.Judgments()), "rate", "r").aspects != ()


@pytest.mark.parametrize(("kind", "readers"), [("rate", "raters"), ("compare", "those who compare")])
def test_few_references_are_one_note_for_all_topics(example: pyr.Study, kind: TaskKind, readers: str) -> None:
    first = example.references[0].system
    one = replace(example, summaries=(*example.peers, *(r for r in example.references if r.system == first)))
    [note] = plan(replace(one, pyramids=(), judgments=pyr.Judgments()), kind, "r").notes
    assert str(note).endswith(f": has 1 reference; {readers} should see two (and 3 more like this)")
    assert plan(example, kind, "r").notes == ()


def test_scales_that_the_usual_questions_are_not_about_are_reported(example: pyr.Study) -> None:
    own = replace(example, aspects=(Aspect("fluency", 1, 5, "Fluency"),), judgments=pyr.Judgments())
    [note] = plan(own, "rate", "r").notes
    assert str(note).startswith("scales Fluency: the usual questions are about content and language")
    written = {**CONTENT["rate"], "title": "Rate the fluency"}
    assert plan(own, "rate", "r", instructions=written).notes == ()


def test_the_same_seed_gives_the_same_plan(example: pyr.Study) -> None:
    chosen = Settings.for_kind("judge", seed=3, gold_rate=0.5)
    first, again = (plan(example, "judge", "j", chosen) for _ in range(2))
    assert (first.tasks, first.gold) == (again.tasks, again.gold)
    assert plan(example, "judge", "j", replace(chosen, seed=4)).tasks != first.tasks


def test_known_answers_are_mixed_in_at_the_set_rate(example: pyr.Study) -> None:
    made = plan(example, "judge", "j", Settings.for_kind("judge", gold_rate=0.25))
    assert len(made.gold) == 48  # a task without one would have a unit less than the others
    tasks = {task.id: task for task in made.tasks}
    for id, gold in made.gold.items():
        peer = example.summary(tasks[id].topic, tasks[id].system)
        assert peer is not None
        assert isinstance(gold, AttentionCheck)
        said = gold.label.casefold().rstrip(".") in peer.text.casefold()
        assert said == (gold.value == 1)
    assert {getattr(gold, "value", None) for gold in made.gold.values()} == {0, 1}
    assert len(plan(example, "rate", "r", Settings.for_kind("rate", gold_rate=0.25)).gold) == 6
    rated = plan(example, "rate", "r", Settings.for_kind("rate", gold_rate=1.0))
    assert len(rated.gold) == 24
    assert all(isinstance(gold, ExpertRatings) for gold in rated.gold.values())
    assert all(set(to_object(gold)["aspects"]) == {"overall", "linguistic", "content"} for gold in rated.gold.values())


def test_some_topics_and_systems(example: pyr.Study) -> None:
    made = plan(example, "judge", "j", topics=["reef-nursery"], systems=["lead", "extract"])
    assert {(task.topic, task.system) for task in made.tasks} == {("reef-nursery", "lead"), ("reef-nursery", "extract")}
    with pytest.raises(pyr.UsageError, match="unknown topic 'reef'"):
        plan(example, "judge", "j", topics=["reef"])


@pytest.mark.parametrize("name", ["", "a/b", "..", "a b", "ü", "x" * 61, "-x"])
def test_names_that_break_addresses_are_refused(example: pyr.Study, name: str) -> None:
    with pytest.raises(pyr.UsageError, match="a campaign's name"):
        plan(example, "judge", name)


def test_what_cannot_be_planned_is_explained(example: pyr.Study) -> None:
    texts = replace(example, pyramids=(), judgments=pyr.Judgments(), tasks=())
    with pytest.raises(pyr.UsageError, match="nothing to judge"):
        plan(texts, "judge", "j")
    with pytest.raises(pyr.UsageError, match="nothing to write"):
        plan(replace(texts, summaries=texts.peers), "write", "w")
    with pytest.raises(pyr.UsageError, match="write, judge, rate, compare"):
        plan(texts, "guess", "g")  # type: ignore[arg-type]
