"""A model as a judge of whole studies, and what it says about workers."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

import pyramidion as pyr
from pyramidion.analysis.calibrate import check_workers
from pyramidion.campaigns.simulated_workers import SimulatedWorker, answer
from pyramidion.errors import InputError, UsageError
from pyramidion.judges import LabelJudge, TopicToJudge, Verdicts, with_judgments
from pyramidion.judging import judge_study
from pyramidion.study import ContentUnit, Contributor, Judge, Judgment, Judgments, Pyramid, Span, Summary, Topic


class Table:
    """A judge whose answers are given by hand: probabilities by (unit, summary) text."""

    name, threshold = "table", 0.6

    def __init__(self, known):
        self.known = known

    def judge(self, questions):
        for units, summaries, *_ in questions:
            p = np.array([[self.known.get((u, s), 0.0) for s in summaries] for u in units]).reshape(len(units), -1)
            yield Verdicts(p, lambda u, s: (Span(0, 1),))


def study(**changes):
    units = tuple(ContentUnit(f"u{i}", f"unit {i}", (Contributor("A"),)) for i in range(2))
    made = pyr.Study(
        topics=(Topic("t"), Topic("bare")),
        summaries=(
            Summary("t", "A", "text", "reference"),
            Summary("t", "x", "good"),
            Summary("t", "y", "bad"),
            Summary("bare", "x", "no pyramid here"),
        ),
        pyramids=(Pyramid("t", ("A",), units, "expert"),),
    )
    return replace(made, **changes)


KNOWN = {("unit 0", "good"): 0.75, ("unit 1", "good"): 0.5, ("unit 0", "bad"): 0.25}


def test_soft_scores_are_mean_probabilities():
    """x: (.75 + .5) / 2 = .625; y: (.25 + 0) / 2 = .125."""
    found = judge_study(study(), Table(KNOWN))
    assert found.table.per_summary("lite") == {("t", "x"): 0.625, ("t", "y"): 0.125}
    made = "pyramidion|method:lite|pyramid:expert|judges:table|kind:model|values:soft|v:"
    assert str(found.table.signature).startswith(made)
    assert Judge("table", "model", expressed=0.6, perhaps=0.6) in found.study.judges
    assert [str(problem) for problem in found.study.problems()] == [
        "references: 1 of 2 topics have no reference or only an empty one: bare"
    ]


def test_a_threshold_says_yes_or_no():
    found = judge_study(study(), Table(KNOWN), threshold=0.5)
    assert found.table.per_summary("lite") == {("t", "x"): 1.0, ("t", "y"): 0.0}
    assert {j.value for j in found.study.judgments} == {0.0, 1.0}
    with pytest.raises(UsageError, match=r"between 0 and 1, not 1\.5"):
        judge_study(study(), Table(KNOWN), threshold=1.5)


def test_evidence_goes_with_what_is_present():
    held = {(j.unit, j.system): j.evidence for j in judge_study(study(), Table(KNOWN)).study.judgments}
    assert held["u0", "x"] == ((Span(0, 1),),)
    assert held["u1", "x"] == held["u0", "y"] == ()
    bare = judge_study(study(), Table(KNOWN), evidence=False).study.judgments
    assert not bare.evidence


class Doubting(Table):
    """The same, unsure between .25 and .6."""

    expressed, perhaps = 0.6, 0.25


def test_a_judges_bounds_say_how_its_answers_read():
    judged = judge_study(study(), Doubting(KNOWN)).study
    assert judged.judges == (Judge("table", "model", expressed=0.6, perhaps=0.25),)
    verdicts = {(j.system, j.unit): judged.judges[0].verdict(j.value) for j in judged.judgments}
    assert verdicts == {
        ("x", "u0"): "expressed",
        ("x", "u1"): "perhaps",
        ("y", "u0"): "perhaps",
        ("y", "u1"): "not found",
    }
    marked = {(j.system, j.unit) for j in judged.judgments if j.evidence}
    assert marked == {question for question, verdict in verdicts.items() if verdict != "not found"}
    sure = judge_study(judged, Table(KNOWN)).study
    assert sure.judges == (Judge("table", "model", expressed=0.6, perhaps=0.6),), "the newest bounds count"


def test_a_matrix_of_verdicts():
    found = pyr.judge(["unit 0", "unit 1"], ["good", "bad"], judge=Doubting(KNOWN), evidence=True)
    assert found.verdict.tolist() == [["expressed", "perhaps"], ["perhaps", "not found"]]
    assert set(found.evidence) == {(0, 0), (0, 1), (1, 0)}
    assert pyr.judge(["unit 1"], ["good"], judge=Table(KNOWN)).verdict.tolist() == [["not found"]]
    assert pyr.judge([], ["good"], judge=Table(KNOWN)).verdict.shape == (0, 1)
    unknown = pyr.judge(["unit 0"], ["good"], judge=Table({("unit 0", "good"): float("nan")}))
    assert unknown.verdict.tolist() == [[""]]


def test_a_model_beside_people_is_chosen_by_kind_or_name_and_never_mixed_in():
    people = Judgments([Judgment("t", "x", "ann", 0.0, unit="u0"), Judgment("t", "x", "ann", 0.0, unit="u1")])
    for kind in ("crowd", "expert"):
        held = study(judges=(Judge("ann", kind),), judgments=people)
        judged = judge_study(held, Table(KNOWN)).study
        assert pyr.score(judged, "lite").value("x", "lite", "t") == 0.0
        for judges in ("model", "table"):
            table = pyr.score(judged, "lite", judges=judges, aggregate="mean")
            assert table.value("x", "lite", "t") == 0.625


def test_judging_again_replaces_only_its_own_judgments():
    first = judge_study(study(), Table(KNOWN)).study
    other = with_judgments(first, "other", Judgments([Judgment("t", "x", "other", 1.0, unit="u0")]))
    again = judge_study(other, Table({})).study
    assert len(again.judgments) == 5
    assert {j.value for j in again.judgments if j.judge == "table"} == {0.0}
    assert [j.value for j in again.judgments if j.judge == "other"] == [1.0]
    with pytest.raises(UsageError, match="judge 'table' of kind crowd"):
        judge_study(study(judges=(Judge("table", "crowd"),)), Table(KNOWN))


def test_which_pyramid():
    (held,) = study().pyramids
    several = study(pyramids=(replace(held, name="one"), replace(held, name="two")))
    with pytest.raises(UsageError, match="choose one: one, two"):
        judge_study(several, Table(KNOWN))
    with pytest.raises(UsageError, match="no pyramid called 'three'; it has: one, two"):
        judge_study(several, Table(KNOWN), pyramid="three")
    with pytest.raises(UsageError, match="no pyramid, so there are no units"):
        judge_study(study(pyramids=()), Table(KNOWN))
    with pytest.raises(InputError, match="no topic has both"):
        judge_study(study(summaries=()), Table(KNOWN))


def test_an_empty_summary_scores_nothing_and_is_reported():
    held = study()
    blank = tuple(replace(s, text=" ") if s.text == "bad" else s for s in held.summaries)
    for judge in ("align", "lexical"):
        table = judge_study(replace(held, summaries=blank), judge).table
        assert table.value("y", "lite", "t") == 0.0
        assert any("system y: is empty, so every unit is absent" in str(note) for note in table.notes)


def test_topics_are_judged_as_they_come():
    drawn = []

    def endless():
        while True:
            drawn.append(1)
            yield TopicToJudge(Pyramid(f"t{len(drawn)}", (), (ContentUnit("u", "unit 0"),)), {"x": "good"})

    found = list(islice(LabelJudge(Table(KNOWN)).judge_all(endless()), 5))
    assert [list(judgments.topic) for judgments in found] == [["t1"], ["t2"], ["t3"], ["t4"], ["t5"]]
    assert len(drawn) == 5


# -- pyr.judge -----------------------------------------------------------------------------------------------


def test_the_public_function():
    summaries = ["On Friday the river rose.", "The shop will close.", ""]
    found = pyr.judge(["The river rose."], summaries, evidence=True)
    assert found.shape == (1, 3)
    assert np.asarray(found).dtype == np.float64
    assert found.present.tolist() == [[True, False, False]]
    assert found[0, 0] == np.asarray(found)[0, 0] > 0.5
    ((place, spans),) = found.evidence.items()
    assert place == (0, 0)
    assert [span.of(summaries[0]) for span in spans] == ["the river rose"]
    assert not pyr.judge(["The river rose."], summaries).evidence


def test_nothing_to_judge():
    assert pyr.judge([], ["text"]).shape == (0, 1)
    assert pyr.judge(["unit"], []).shape == (1, 0)
    for wrong in ("a text", [1]):
        with pytest.raises(UsageError, match="units must be a list of texts"):
            pyr.judge(wrong, ["text"])


@pytest.mark.slow
def test_many_units_are_judged_in_parts_as_if_at_once():
    units = [f"Fact number {i} was told." for i in range(100_000)]
    summary = " ".join(units[500:700])
    found = pyr.judge(units, [summary, ""], judge="lexical")
    assert found.shape == (100_000, 2)
    assert (found[500:700, 0] > 0.8).all()
    assert (found[:, 1] == 0).all()
    some = pyr.judge(units[450:550], [summary], judge="lexical")
    np.testing.assert_allclose(some.probability[:, 0], found[450:550, 0])


def test_align_gives_the_same_in_parts(monkeypatch):
    from pyramidion import judges as base

    units = ["The river rose.", "A shop closed in May.", "Nobody was hurt.", "12 people left."]
    summaries = ["The river rose and 12 people left.", "In May, a shop closed. Nobody was hurt.", "Nothing."]
    whole = pyr.judge(units, summaries, evidence=True)
    monkeypatch.setattr(base, "WORDS_OF_SUMMARIES", 5)
    monkeypatch.setattr(base, "PAIRS_OF_WORDS", 20)
    parts = pyr.judge(units, summaries, evidence=True)
    np.testing.assert_allclose(parts.probability, whole.probability, atol=1e-5)
    assert parts.evidence == whole.evidence


@pytest.mark.slow
def test_on_published_judgments(real_data):
    """Zhang and Bansal's PyrXSum. The model's numbers were fitted on it, so these are floors, not an evaluation."""
    held = pyr.load(real_data / "pyrxsum")
    people = pyr.score(held, "lite").per_system("lite")
    ours = judge_study(held).table.per_system("lite")
    r = np.corrcoef([people[s] for s in people], [ours[s] for s in people])[0, 1]
    assert r > 0.98
    assert np.mean(list(ours.values())) == pytest.approx(np.mean(list(people.values())), abs=0.02)


# -- careless workers ----------------------------------------------------------------------------------------


def crowd_of(answers):
    """Judgments of workers on units of one topic: {worker: {(system, unit): value}}."""
    return [Judgment("t", s, w, v, unit=u) for w, said in answers.items() for (s, u), v in said.items()]


def test_excess_by_hand():
    """p is .75, .5, .25, 0 for the four questions. ann says 1, 1, 0, 0: |1-.75| - 2(.75)(.25) = -.125, .5 - .5 = 0,
    .25 - .375 = -.125, 0: mean -.0625. bob says the opposite: .375, 0, .375, 1: mean .4375."""
    asked = [("x", "u0"), ("x", "u1"), ("y", "u0"), ("y", "u1")]
    answers = {"ann": [1, 1, 0, 0], "bob": [0, 0, 1, 1], "cid": [1, None, None, None]}
    said = crowd_of({who: dict(zip(asked, values, strict=True)) for who, values in answers.items()})
    held = study(judges=tuple(map(Judge, answers)), judgments=Judgments(said))
    judged = judge_study(held, Table(KNOWN)).study
    bob, ann, cid = check_workers(judged, "table", pyramid="expert")
    assert (bob.worker, bob.answers, bob.excess) == ("bob", 4, pytest.approx(0.4375))
    assert (ann.worker, ann.excess) == ("ann", pytest.approx(-0.0625))
    assert (cid.worker, cid.answers, cid.excess) == ("cid", 1, pytest.approx(-0.125))
    assert bob.deviation == pytest.approx((0.4375 + 0.0625) / (1.4826 * 0.0625))
    assert (bob.suspect, ann.suspect, cid.suspect) == (True, False, False)
    assert bob.agreement == pytest.approx(0.0)


def test_the_careless_of_the_example_stand_out(example):
    judged = judge_study(example, "align", pyramid="crowd", evidence=False).study
    checks = check_workers(judged, "align", pyramid="crowd")
    assert {check.worker for check in checks if check.suspect} == {"worker7", "worker8"}


def test_workers_who_work_alone_can_be_told_apart(example):
    """Nobody shares a task, so agreement says nothing; the units are taken from the summaries, so the model knows."""
    rng = np.random.default_rng(5)
    workers = [SimulatedWorker(f"w{i}", accuracy=0.95 if i < 6 else 0.5) for i in range(8)]
    texts = [peer for peer in example.peers if peer.system == "lead"][:4]
    sentences = {peer.topic: [s.strip() + "." for s in peer.text.split(".") if s.strip()] for peer in texts}
    said, units = [], {}
    for number, worker in enumerate(workers):
        for peer in texts:
            here = sentences[peer.topic][:2]
            there = [s for topic, other in sentences.items() if topic != peer.topic for s in other[:2]]
            asked = {f"{number}-{i}": text for i, text in enumerate([*here, *there])}
            units.setdefault(peer.topic, {}).update(asked)
            truth = {id: float(text in here) for id, text in asked.items()}
            page = {
                "kind": "judge",
                "summary": peer.text,
                "units": [{"id": id, "label": text} for id, text in asked.items()],
            }
            given = answer(worker, page, truth, rng)["units"]
            said += [Judgment(peer.topic, "lead", worker.name, float(v), unit=u) for u, v in given.items()]
    pyramids = tuple(
        Pyramid(topic, (), tuple(ContentUnit(id, text) for id, text in found.items()), "crowd")
        for topic, found in units.items()
    )
    held = pyr.Study(
        topics=example.topics,
        summaries=tuple(texts),
        pyramids=pyramids,
        judges=tuple(Judge(worker.name) for worker in workers),
        judgments=Judgments(said),
    )
    checks = check_workers(judge_study(held).study, "align", pyramid="crowd")
    assert {check.worker for check in checks[:2]} == {"w6", "w7"}
    assert all(check.agreement is None for check in checks)


def test_without_workers_there_is_nobody_to_check():
    judged = judge_study(study(), Table(KNOWN)).study
    with pytest.raises(UsageError, match="nobody can be checked"):
        check_workers(judged, "table", pyramid="expert")
