"""Scores as by the script released with Lightweight Pyramids, `compat="litepyramids-2019"`.

The script is not at hand, and no scores of single summaries were published with the worker answers they come from. So
the numbers are checked against a second implementation, released_script.py.
"""

from __future__ import annotations

import difflib
import itertools
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.scoring.released_script import results, second_implementation, write

import pyramidion as pyr
from pyramidion.errors import UsageError
from pyramidion.scoring.choice import choose
from pyramidion.scoring.explain import explain, unit_judgments
from pyramidion.scoring.lite import VoteChoices, take_vote
from pyramidion.study import Assignment, ContentUnit, Judge, Judgment, Judgments, Pyramid, Study, Summary, Task, Topic

COMPAT = "litepyramids-2019"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(results(random.Random(5)), tmp_path / "results.csv")


def scored(study: Study, **choices: Any) -> dict[tuple[str, str], float | None]:
    return dict(pyr.score(study, "lite", compat=COMPAT, **choices).per_summary("lite"))


def excluded(study: Study, **choices: Any) -> set[str]:
    choice = choose(study, kind="crowd", pyramid=None, judges=None)
    screening = take_vote(study, choice, VoteChoices(compat=COMPAT, **choices)).screening
    assert screening is not None
    return {worker.judge for worker in screening.excluded}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("rounds", [1, 2, 3])
@pytest.mark.parametrize("minimum", [0.5, 0.65])
def test_the_same_numbers_as_a_second_implementation(tmp_path: Path, seed: int, rounds: int, minimum: float) -> None:
    path = write(results(random.Random(seed)), tmp_path / "results.csv")
    study = pyr.load(path)
    expected, bad = second_implementation(path, rounds, minimum)
    assert scored(study, rounds=rounds, min_agreement=minimum) == pytest.approx(expected, abs=1e-12)
    assert excluded(study, rounds=rounds, min_agreement=minimum) == bad


def test_the_files_above_exercise_every_rule(tmp_path: Path) -> None:
    """Otherwise the comparison would show nothing: somebody is excluded and comes back, blanks and sevens matter."""
    returned = blanks = sevens = 0
    for seed in range(6):
        path = write(results(random.Random(seed)), tmp_path / f"{seed}.csv")
        study = pyr.load(path)
        rounds = [second_implementation(path, number, 0.65)[1] for number in (1, 2)]
        returned += len(rounds[0] - rounds[1])
        ours = pyr.score(study, "lite", min_agreement=None).per_summary("lite")
        theirs = scored(study, min_agreement=None)
        blanks += ours != theirs
        sevens += any(round(value * 32, 6) % 1 for value in theirs.values())
    assert min(returned, blanks, sevens) > 0


# -- known numbers -------------------------------------------------------------------------------------------------


def answered(*answers: str, units: int | None = None) -> Study:
    """One summary and one task; an answer is a text of p, n and "?", by workers a, b, c, ... in this order."""
    ids = tuple(f"u{number}" for number in range(units or len(answers[0])))
    judges = "abcdefghij"[: len(answers)]
    value = {"p": 1.0, "n": 0.0, "?": None}
    return Study(
        topics=(Topic("t"),),
        summaries=(Summary("t", "s", "-"),),
        pyramids=(Pyramid("t", (), tuple(ContentUnit(id, id) for id in ids), "crowd"),),
        judges=tuple(map(Judge, judges)),
        judgments=Judgments(
            Judgment("t", "s", judge, value[letter], unit=unit, task="1")
            for judge, given in zip(judges, answers, strict=True)
            for unit, letter in zip(ids, given, strict=False)
        ),
        tasks=(Task("1", "t", "s", ids),),
        assignments=tuple(Assignment("1", judge, id=judge) for judge in judges),
    )


def agreements(study: Study) -> dict[str, float | None]:
    choice = choose(study, kind="crowd", pyramid=None, judges=None)
    screening = take_vote(study, choice, VoteChoices(compat=COMPAT, min_agreement=0.0)).screening
    assert screening is not None
    return {worker.judge: worker.agreement for worker in screening.workers}


def test_two_workers_who_disagree_on_all_16_alternating_answers_agree_at_94_percent() -> None:
    """The known case: a shift by one has 15 of 16 in common, 2 * 15 / 32. Position by position they never agree."""
    study = answered("pn" * 8, "np" * 8)
    assert agreements(study) == {"a": 0.9375, "b": 0.9375}
    assert not excluded(study)
    with pytest.raises(pyr.InputError, match="no summary could be scored"):
        pyr.score(study, "lite")  # by position both are excluded


def test_the_ratio_depends_on_who_comes_first() -> None:
    """difflib takes the longest common run, of several the first in the first sequence."""
    one, two = "ppnp", "nppp"
    there = difflib.SequenceMatcher(None, one, two).ratio()
    back = difflib.SequenceMatcher(None, two, one).ratio()
    assert there != back
    assert agreements(answered(one, two)) == {"a": there, "b": there}
    assert agreements(answered(two, one)) == {"a": back, "b": back}


def test_the_order_of_statements_is_that_of_the_task_not_of_ids() -> None:
    # With 11 units, u10 would come before u2 by name.
    one, two = "ppppppppppn", "ppnpppppppp"
    shown = difflib.SequenceMatcher(None, one, two).ratio()
    by_name = [sorted(range(11), key=lambda number: f"u{number}")] * 2
    named = difflib.SequenceMatcher(
        None, *("".join(text[i] for i in order) for text, order in zip((one, two), by_name, strict=True))
    )
    assert named.ratio() != shown
    assert agreements(answered(one, two))["a"] == shown


@pytest.mark.parametrize(
    ("answers", "share"),
    [
        ("ppn", 1.0),
        ("ppnn", 0.0),  # a tie is "not present"
        ("p???n", 1.0),  # three blanks, each "present"
        ("?", 1.0),
        ("pppnn", 1.0),
        ("pppnnn", 1 / 2),  # of 6 combinations of five, 3 leave out an n
        ("ppppnnn", (4 * 3 + 3) / 21),  # three p and two n in 4 * 3 of the 21, four p and one n in 3
        ("ppnnnnnnnn", 0.0),
    ],
)
def test_five_answers_decide(answers: str, share: float) -> None:
    assert scored(answered(*answers), min_agreement=None) == {("t", "s"): pytest.approx(share)}


def test_a_unit_of_the_task_without_any_judgment_is_a_blank_too() -> None:
    study = answered("pnn", "pnn", "pn", units=3)
    assert scored(study, min_agreement=None) == {("t", "s"): pytest.approx(1 / 3)}
    assert scored(answered("pn", "pn", "pn", units=3), min_agreement=None) == {("t", "s"): pytest.approx(2 / 3)}


def test_an_exclusion_is_forgotten_after_the_next_round() -> None:
    """d disagrees with all and goes; then c is measured without d and goes instead, and d counts again."""
    study = answered("pppp", "pppp", "pnnn", "nnnn")
    minimum = {"min_agreement": 0.6}
    first, second = excluded(study, **minimum), excluded(study, rounds=2, **minimum)
    assert "d" in first
    assert "d" not in second
    assert excluded(study, rounds=10**5, **minimum) in (first, second)
    notes = [str(note) for note in pyr.score(study, "lite", compat=COMPAT, rounds=2, **minimum).notes]
    assert "judge d: excluded in an earlier round, and counted again" in notes


# -- order ---------------------------------------------------------------------------------------------------------


def test_shuffled_rows_give_the_same_scores(file: Path) -> None:
    """Of the file's order only that of the assignments of one HIT means something."""
    study = pyr.load(file)
    expected, who = scored(study, rounds=2), excluded(study)
    for seed in range(5):
        rng = random.Random(seed)
        tasks = rng.sample(study.tasks, len(study.tasks))
        by_task = [[work for work in study.assignments if work.task == task.id] for task in tasks]
        mixed = replace(
            study,
            judgments=Judgments(rng.sample(list(study.judgments), len(study.judgments))),
            judges=tuple(rng.sample(study.judges, len(study.judges))),
            tasks=tuple(tasks),
            assignments=tuple(itertools.chain.from_iterable(by_task)),
        )
        assert scored(mixed, rounds=2) == expected
        assert excluded(mixed) == who


def test_the_order_within_a_hit_is_part_of_the_definition(file: Path) -> None:
    study = pyr.load(file)
    backwards = replace(study, assignments=study.assignments[::-1])
    assert agreements(backwards) != agreements(study)


def test_a_study_without_assignments_is_refused_where_the_order_matters(file: Path) -> None:
    study = replace(pyr.load(file), assignments=())
    with pytest.raises(UsageError, match=r"task D\w+: the study does not say whose answers come first, those of w\d"):
        scored(study)
    assert scored(study, min_agreement=None) == scored(pyr.load(file), min_agreement=None)
    same_both_ways = replace(answered("ppnn", "ppnp"), assignments=())
    assert agreements(same_both_ways) == {"a": 0.75, "b": 0.75}


def test_a_study_without_tasks_is_refused(file: Path) -> None:
    with pytest.raises(UsageError, match=r"topic D1, system a, unit \d+: no task of the study says in which order"):
        scored(replace(pyr.load(file), tasks=()))


# -- refusals, signature, deprecation ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "choice", [{"tie": "present"}, {"aggregate": "mean"}, {"seed": 1}, {"agreement": "sequence"}], ids=str
)
def test_what_the_script_decides_cannot_be_chosen(file: Path, choice: dict[str, Any]) -> None:
    [name] = choice
    with pytest.raises(UsageError, match=f"compat litepyramids-2019 has its own {name}; remove {name} or compat"):
        scored(pyr.load(file), **choice)


def test_other_refusals(file: Path) -> None:
    study = pyr.load(file)
    with pytest.raises(UsageError, match="unknown compat 'pyreval'; known values are: litepyramids-2019"):
        pyr.score(study, "lite", compat="pyreval")
    with pytest.raises(UsageError, match="method pyramid has no option 'compat'"):
        pyr.score(study, "pyramid", compat=COMPAT)
    half = replace(study, judgments=study.judgments.with_columns(value=study.judgments.value * 0.5))
    with pytest.raises(UsageError, match=r"topic D\d, system \w, judge w\d: 0.5 is neither present"):
        scored(half)


def test_the_signature_says_so(file: Path) -> None:
    signature = str(pyr.score(pyr.load(file), "lite", compat=COMPAT, rounds=2).signature)
    assert "|compat:litepyramids-2019|screen:sequence<0.5x2|aggregate:majority-of-5|tie:absent|" in signature


def test_agreement_sequence_is_deprecated_and_is_the_same_measure(file: Path) -> None:
    study = pyr.load(file)
    table = pyr.score(study, "lite", agreement="sequence", min_agreement=0.65)
    assert any(str(note).startswith("agreement sequence: is deprecated") for note in table.notes)
    noted = {note.where.removeprefix("judge ") for note in table.notes if "excluded in round 1" in note.what}
    assert noted == second_implementation(file, 1, 0.65)[1]


# -- explanations --------------------------------------------------------------------------------------------------


def test_what_explanations_show_adds_up_to_the_score(file: Path) -> None:
    study = pyr.load(file)
    table = pyr.score(study, "lite", compat=COMPAT)
    explanations = list(unit_judgments(study, "lite", compat=COMPAT).explanations(study.peers, table))
    for explanation in explanations:
        total = sum(explanation.degree(unit.id) for unit in explanation.expressed)
        assert total / len(explanation.times) == pytest.approx(explanation.measures["lite"])
        one = explain(study, explanation.peer.topic, explanation.peer.system, compat=COMPAT)
        assert one.measures == explanation.measures
    assert any(explanation.degrees for explanation in explanations)  # some have seven answers


def test_a_human_peer_is_scored_as_any_other(file: Path) -> None:
    """A file of results has no references, so the script cannot know."""
    study = pyr.load(file)
    human = Summary("D1", "A", "a on D1", "reference")
    pyramids = tuple(
        replace(p, references=("A",), units=tuple(replace(u, contributors=(pyr.Contributor("A"),)) for u in p.units))
        for p in study.pyramids
    )
    known = replace(study, summaries=(*study.summaries, human), pyramids=pyramids)
    assert scored(known) == scored(study)
    assert not [note for note in pyr.score(known, "lite", compat=COMPAT).notes if note.where == "human peers"]
