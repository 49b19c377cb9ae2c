"""The worked cases of Lightweight Pyramids: Shapira et al. 2019, section 3."""

from __future__ import annotations

import pytest

from pyramidion.scoring import lite
from pyramidion.scoring.aggregate import majority, mean
from pyramidion.scoring.screening import screen
from pyramidion.study import ContentUnit, Contributor, Judge, Judgment, Judgments, Pyramid, Study, Summary, Topic


def votes(*values: float | None) -> Judgments:
    return Judgments(Judgment("t", "s", f"w{i}", value, unit="u") for i, value in enumerate(values))


@pytest.mark.parametrize(
    ("given", "absent", "present"),
    [
        ((1, 1, 1, 0, 0), 1, 1),
        ((1, 1, 0, 0), 0, 1),  # a tie: "not present" is the paper's default
        ((1, None, None, None, None), 1, 1),  # unanswered is no vote
        ((0, 1, None), 0, 1),
        ((None, None), None, None),  # nobody answered: missing, never present
        ((2, 2, 1, 0), 1, 2),  # counts: the middle one, of two the lower
        ((0, 1, 2), 1, 1),  # two of three say that it is there
        ((1, 2, 3, 0, 0), 1, 1),
    ],
)
def test_majority_of_one_unit(given: tuple[float | None, ...], absent: float | None, present: float | None) -> None:
    assert majority(votes(*given))[0].value == absent
    assert majority(votes(*given), tie="present")[0].value == present


def test_mean_of_one_unit() -> None:
    assert mean(votes(1, 1, 0, None))[0].value == 2 / 3
    assert mean(votes(None))[0].value is None


def answers(worker: str, pattern: str, task: str = "t1") -> list[Judgment]:
    meaning = {"p": 1.0, "n": 0.0, "?": None}
    return [Judgment("t", "s", worker, meaning[letter], unit=f"u{i:02}", task=task) for i, letter in enumerate(pattern)]


def test_two_workers_who_disagree_on_all_16_alternating_answers() -> None:
    # Position by position they never agree. The released script's measure, tests/scoring/test_litepyramids.py, is .94.
    disagreeing = Judgments(answers("a", "pn" * 8) + answers("b", "np" * 8))
    assert [w.agreement for w in screen(disagreeing).workers] == [0.0, 0.0]
    assert len(screen(disagreeing).excluded) == 2


def test_agreement_is_the_mean_over_pairs_not_over_units() -> None:
    # a and b agree on 3 of 4 units of task 1; a and c on 0 of 1 unit of task 2: a's mean is (0.75 + 0) / 2.
    judged = Judgments(answers("a", "pppp") + answers("b", "pppn") + answers("a", "p", "t2") + answers("c", "n", "t2"))
    found = {w.judge: (w.agreement, w.pairs) for w in screen(judged).workers}
    assert found == {"a": (0.375, 2), "b": (0.75, 1), "c": (0.0, 1)}


def test_unanswered_units_do_not_count_as_agreement() -> None:
    # Of the units that both answered, they agree on 1 of 2.
    judged = Judgments(answers("a", "pp??") + answers("b", "pn?p"))
    assert {w.agreement for w in screen(judged).workers} == {0.5}
    assert not screen(judged).excluded  # below 0.5, not at it


def test_a_worker_without_a_partner_is_kept_and_flagged() -> None:
    judged = Judgments(answers("a", "pp") + answers("b", "pp") + answers("alone", "nn", "t2"))
    screening = screen(judged)
    assert {w.judge: w.agreement for w in screening.workers}["alone"] is None
    assert not screening.excluded
    assert "alone" in set(screening.kept.judge)


def test_further_rounds_measure_those_who_are_left() -> None:
    # Shares: a-b 1, a-c and b-c .5, a-d and b-d 0, c-d .5. Round 1: a and b (1 + .5 + 0) / 3 = .5, c .5, d 1/6.
    # With minimum .5 only d goes. Round 2, without d: a and b .75, c .5; nobody goes. With minimum .55 in round 2 c
    # would go, but a and b would have gone in round 1 already.
    judged = Judgments(answers("a", "pppp") + answers("b", "pppp") + answers("c", "ppnn") + answers("d", "nnnn"))
    once = screen(judged)
    assert {w.judge: w.agreement for w in once.workers} == {"a": 0.5, "b": 0.5, "c": 0.5, "d": pytest.approx(1 / 6)}
    assert [(w.judge, w.round) for w in once.excluded] == [("d", 1)]
    twice = screen(judged, rounds=2)
    assert {w.judge: w.agreement for w in twice.workers} == {"a": 0.75, "b": 0.75, "c": 0.5, "d": pytest.approx(1 / 6)}
    assert [(w.judge, w.round) for w in twice.excluded] == [("d", 1)]


def two_topic_study() -> Study:
    units = tuple(ContentUnit(u, u, (Contributor("A"),)) for u in ("u1", "u2", "u3", "u4"))
    judged = {
        # topic t1, system x: u1 3 of 5, u2 2 of 4 (tie), u3 unanimous, u4 nobody answered -> 2 of 3 judged
        ("t1", "x", "u1"): (1, 1, 1, 0, 0),
        ("t1", "x", "u2"): (1, 1, 0, 0, None),
        ("t1", "x", "u3"): (1, 1, 1, 1, 1),
        ("t1", "x", "u4"): (None, None, None, None, None),
        # topic t2, system x: 1 of 4
        **{("t2", "x", u): (int(u == "u1"),) * 5 for u in ("u1", "u2", "u3", "u4")},
        # topic t1, system y: 0 of 4; topic t2 is missing for y
        **{("t1", "y", u): (0,) * 5 for u in ("u1", "u2", "u3", "u4")},
    }
    return Study(
        topics=(Topic("t1"), Topic("t2")),
        summaries=(Summary("t1", "x", "-"), Summary("t2", "x", "-"), Summary("t1", "y", "-"), Summary("t2", "y", "-")),
        pyramids=(Pyramid("t1", ("A",), units, "crowd"), Pyramid("t2", ("A",), units, "crowd")),
        judges=tuple(Judge(f"w{i}") for i in range(5)),
        judgments=Judgments(
            Judgment(t, s, f"w{i}", v, unit=u) for (t, s, u), given in judged.items() for i, v in enumerate(given)
        ),
    )


def test_from_raw_judgments_to_system_scores() -> None:
    table = lite.score(two_topic_study(), min_agreement=None)
    assert table.value("x", "lite", "t1") == 2 / 3  # u1 and u3 of three judged units; the tie counts as absent
    assert table.value("x", "lite", "t2") == 1 / 4
    assert table.value("x", "lite") == (2 / 3 + 1 / 4) / 2
    assert table.value("y", "lite") == 0.0
    assert lite.score(two_topic_study(), min_agreement=None, tie="present").value("x", "lite", "t1") == 1.0


def test_what_is_missing_is_reported_with_its_address() -> None:
    notes = [str(note) for note in lite.score(two_topic_study(), min_agreement=None).notes]
    assert "topic t1, system x: 1 units without judgment: u4" in notes
    assert "topic t2: not scored, nothing to score them by: y" in notes
    assert len(notes) == 2
