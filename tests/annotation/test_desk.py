"""Experts annotate a study in a database: alone and together, from scratch and from what exists."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import pyramidion as pyr
from pyramidion.analysis.pyramid_pairs import UnitPair
from pyramidion.annotation import commands as do
from pyramidion.annotation.commands import Redo, RefusedError, Undo
from pyramidion.annotation.comparison import MatchPair
from pyramidion.annotation.desk import AnnotationDesk, Proposal, peer_score
from pyramidion.annotation.imports import import_of_judgments, import_of_pyramid
from pyramidion.annotation.log import ConflictError
from pyramidion.scoring.pyramid import PeerScore
from pyramidion.store.database import Database
from pyramidion.study import UNMATCHED, ContentUnit, Contributor, Judgment, Judgments, Pyramid, Span, Study

TOPIC = "drought-plan"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    path = tmp_path / "study.db"
    Database.create(path).close()
    return path


@pytest.fixture
def desk(place: Path, example: Study) -> Iterator[AnnotationDesk]:
    database = Database.open(place)
    yield AnnotationDesk(database, lambda: example)
    database.close()


def score_of(desk: AnnotationDesk, id: int) -> PeerScore:
    return peer_score(desk.peer_of(id), desk.pyramid_of(id))


def expert(study: Study) -> Pyramid:
    found = study.pyramid(TOPIC, "expert")
    assert found is not None
    return found


def annotator(study: Study) -> Judgments:
    return Judgments(j for j in study.judgments if j.judge == "annotator")


def build(desk: AnnotationDesk, id: int, pyramid: Pyramid, author: str = "anna") -> None:
    """A pyramid from scratch, piece by piece, as a person would."""
    for unit in pyramid.units:
        made = desk.apply(id, do.AddUnit(unit.id, unit.label), author=author, base=desk.open(id).version)
        for contributor in unit.contributors:
            for span in contributor.spans:
                command = do.AddContributor(unit.id, contributor.reference, (span,))
                made = desk.apply(id, command, author=author, base=made.number + 1)


def test_a_whole_pyramid_built_by_hand_is_the_published_one(desk: AnnotationDesk, place: Path, example: Study) -> None:
    id = desk.begin_pyramid(TOPIC, name="expert", owner="anna").id
    build(desk, id, expert(example))
    assert desk.pyramid_of(id) == expert(example)
    version = desk.open(id).version
    for _ in range(50):
        desk.apply(id, Undo(), author="anna", base=desk.open(id).version)
    assert desk.pyramid_of(id).contributor_count < expert(example).contributor_count
    for _ in range(50):
        desk.apply(id, Redo(), author="anna", base=desk.open(id).version)
    assert desk.pyramid_of(id) == expert(example)
    assert desk.open(id).version == version + 100, "nothing is ever taken out of the log"
    afresh = AnnotationDesk(Database.open(place), lambda: example)
    assert afresh.open(id) == desk.open(id)
    afresh.store._database.close()


def test_an_annotated_peer_scores_as_the_study_does(desk: AnnotationDesk, example: Study) -> None:
    table = pyr.score(example, "pyramid", judges="annotator")
    peers = [peer for peer in example.peers if peer.topic == TOPIC]
    ids = []
    for peer in peers:
        about = {"name": "anna", "owner": "anna", "pyramid": "expert", "start": annotator(example)}
        ids.append(desk.begin_peer(TOPIC, peer.system, **about).id)  # type: ignore[arg-type]
        score = score_of(desk, ids[-1])
        for measure in ("original", "modified", "comprehensive"):
            assert getattr(score, measure) == table.value(peer.system, measure, TOPIC)
    study = desk.study_of(ids)
    assert study.problems() == []
    told = {replace(j, judge="annotator") for j in study.judgments}
    assert told == {j for j in annotator(example) if j.topic == TOPIC and (j.unit or j.aspect == UNMATCHED)}


def test_annotations_go_out_and_come_in_as_pyr_and_pan(desk: AnnotationDesk, example: Study, tmp_path: Path) -> None:
    systems = [peer.system for peer in example.peers if peer.topic == TOPIC]

    def annotate(to: AnnotationDesk, pyramid: Pyramid, judgments: Judgments) -> list[int]:
        begun = to.begin_pyramid(TOPIC, name="expert", owner="anna", start=pyramid).id
        about = {"name": "annotator", "owner": "anna", "pyramid": begun, "start": judgments}
        return [begun, *(to.begin_peer(TOPIC, system, **about).id for system in systems)]  # type: ignore[arg-type]

    ids = annotate(desk, expert(example), annotator(example))
    pyr.save(desk.study_of(ids), tmp_path / "out", format="ducview")
    back = pyr.load(tmp_path / "out")
    other = AnnotationDesk(Database.create(tmp_path / "other.db"), lambda: back)
    again = annotate(other, back.pyramids[0], back.judgments)
    labelled = [[(u.label, u.contributors) for u in d.pyramid_of(i[0]).units] for d, i in ((desk, ids), (other, again))]
    assert labelled[0] == labelled[1]
    for before, after in zip(ids[1:], again[1:], strict=True):
        assert score_of(desk, before).comprehensive == score_of(other, after).comprehensive
        assert [m.spans for m in desk.peer_of(before).matches] == [m.spans for m in other.peer_of(after).matches]
    other.store._database.close()


def test_scores_follow_every_match(desk: AnnotationDesk, example: Study) -> None:
    """Weights of the pyramid: u01 has four contributors; a repeated mention counts in X and not in D."""
    id = desk.begin_peer(TOPIC, "lead", name="anna", owner="anna", pyramid="expert").id
    assert (score_of(desk, id).raw, score_of(desk, id).size) == (0, 0)
    desk.apply(id, do.MatchUnit("u01", (Span(0, 10),)), author="anna", base=0)
    desk.apply(id, do.MatchUnit("u01", (Span(20, 30),)), author="anna", base=1)
    desk.apply(id, do.MarkUnmatched((Span(30, 40),)), author="anna", base=2)
    score = score_of(desk, id)
    assert (score.raw, score.matched, score.repeated, score.unmatched, score.size) == (4, 1, 1, 1, 3)
    best = expert(example).best_weights()
    assert score.original == 4 / best[3]


def test_an_own_annotation_is_changed_by_its_owner_only(desk: AnnotationDesk) -> None:
    id = desk.begin_pyramid(TOPIC, name="anna", owner="anna").id
    with pytest.raises(RefusedError, match="this annotation belongs to anna; ben can begin another"):
        desk.apply(id, do.AddUnit(), author="ben", base=0)
    assert desk.begin_pyramid(TOPIC, name="ben", owner="ben").id != id
    with pytest.raises(pyr.UsageError, match="already has an annotation called 'anna'"):
        desk.begin_pyramid(TOPIC, name="anna", owner="ben")


def test_two_processes_edit_one_pyramid_and_nothing_is_lost(place: Path, example: Study) -> None:
    desks = {name: AnnotationDesk(Database.open(place), lambda: example) for name in ("anna", "ben")}
    id = desks["anna"].begin_pyramid(TOPIC, name="both", owner="anna", shared=True).id
    desks["anna"].apply(id, do.AddUnit("x", "shared"), author="anna", base=0)
    renamed = desks["ben"].apply(id, do.RenameUnit("x", "ben's"), author="ben", base=1)
    with pytest.raises(ConflictError, match="changed meanwhile: ben renamed unit x to “ben's”") as caught:
        desks["anna"].apply(id, do.RenameUnit("x", "anna's"), author="anna", base=1)
    assert caught.value.events == (renamed,)
    assert desks["anna"].open(id).events[1:] == (renamed,)
    together = threading.Barrier(2)

    def work(author: str) -> None:
        together.wait()
        for number in range(15):
            base = desks[author].open(id).version
            desks[author].apply(id, do.AddUnit(f"{author}{number}"), author=author, base=base)

    threads = [threading.Thread(target=work, args=[author]) for author in desks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    first, second = (desk.open(id) for desk in desks.values())
    assert first == second
    assert first.version == 32
    assert isinstance(first.state, Pyramid)
    assert {unit.id for unit in first.state.units} == {"x", *(f"{a}{n}" for a in desks for n in range(15))}
    for desk in desks.values():
        desk.store._database.close()


def test_a_peer_follows_the_pyramid_that_is_being_built(desk: AnnotationDesk) -> None:
    pyramid = desk.begin_pyramid(TOPIC, name="anna", owner="anna").id
    word = (Contributor("A", (Span(0, 4),)),)
    desk.apply(pyramid, do.AddUnit("x", "x", word), author="anna", base=0)
    peer = desk.begin_peer(TOPIC, "lead", name="anna", owner="anna", pyramid=pyramid).id
    desk.apply(peer, do.MatchUnit("x", (Span(0, 4),)), author="anna", base=0)
    assert score_of(desk, peer).raw == 1
    desk.apply(pyramid, do.AddContributor("x", "B", (Span(0, 4),)), author="anna", base=1)
    assert score_of(desk, peer).raw == 2
    desk.apply(pyramid, do.DeleteUnit("x"), author="anna", base=2)
    assert score_of(desk, peer).raw == 0
    assert [match.unit for match in desk.peer_of(peer).lost(desk.pyramid_of(peer))] == ["x"]
    with pytest.raises(RefusedError, match="the pyramid has no unit 'x'"):
        desk.apply(peer, do.MatchUnit("x", (Span(5, 8),)), author="anna", base=1)


def test_proposals_come_from_other_annotated_summaries(place: Path) -> None:
    summaries = [pyr.Summary("t", "r", "Rivers ran dry.", "reference")]
    texts = {"a": "The rivers ran dry in May.", "b": "In May the  Rivers ran dry. Fish died.", "c": "Fish died."}
    summaries += [pyr.Summary("t", system, text) for system, text in texts.items()]
    units = tuple(ContentUnit(id, id, (Contributor("r"),)) for id in ("dry", "fish"))
    study = Study((pyr.Topic("t"),), tuple(summaries), (Pyramid("t", ("r",), units),))
    desk = AnnotationDesk(Database.open(place), lambda: study)
    ids = {s: desk.begin_peer("t", s, name="anna", owner="anna", pyramid="expert").id for s in texts}
    assert desk.proposals(ids["b"]) == []
    desk.apply(ids["a"], do.MatchUnit("dry", (Span(4, 18),)), author="anna", base=0)
    desk.apply(ids["c"], do.MatchUnit("fish", (Span(0, 9),)), author="anna", base=0)
    assert desk.proposals(ids["b"]) == [Proposal("dry", (Span(12, 26),)), Proposal("fish", (Span(28, 37),))]
    accepted = desk.proposals(ids["b"])[0]
    desk.apply(ids["b"], do.MatchUnit(accepted.unit, accepted.spans), author="anna", base=0)
    assert [proposal.unit for proposal in desk.proposals(ids["b"])] == ["fish"]
    desk.store._database.close()


def test_two_pyramids_side_by_side_and_a_third(desk: AnnotationDesk, example: Study) -> None:
    given = expert(example)
    first = desk.begin_pyramid(TOPIC, name="anna", owner="anna", start=given)
    renamed = replace(given, units=tuple(replace(unit, id=f"n{n}") for n, unit in enumerate(reversed(given.units))))
    second = desk.begin_pyramid(TOPIC, name="ben", owner="ben", start=renamed)
    assert all(pair.same for pair in desk.compare(first.id, second.id)), "units are paired by their words"
    desk.apply(second.id, do.RemoveContributor("n32", "D"), author="ben", base=1)
    desk.apply(second.id, do.AddUnit("only", "ben's", (Contributor("A", (Span(0, 1),)),)), author="ben", base=2)
    pairs = desk.compare(first.id, second.id)
    differing = [pair for pair in pairs if isinstance(pair, UnitPair) and not pair.same]
    assert pairs[: len(differing)] == differing, "disagreements first"
    found = [(p.first and p.first.id, p.second and p.second.id, p.differing) for p in differing]
    assert found == [(None, "only", ("A",)), ("u01", "n32", ("D",))]
    third = desk.adjudicate(second.id, name="agreed", owner="cy")
    assert desk.pyramid_of(third.id).units == desk.pyramid_of(second.id).units
    assert (third.owner, third.sources) == ("cy", given.references)
    desk.apply(third.id, do.DeleteUnit("only"), author="cy", base=1)
    assert len(desk.pyramid_of(second.id).units) == len(given.units) + 1, "those it came from stay as they were"


def test_two_peer_annotations_side_by_side(desk: AnnotationDesk) -> None:
    first, second = (
        desk.begin_peer(TOPIC, "lead", name=name, owner=name, pyramid="expert").id for name in ("anna", "ben")
    )
    same, other, late = (Span(0, 5),), (Span(5, 9),), (Span(20, 29),)
    for id, author, spans in ((first, "anna", same), (second, "ben", other)):
        for unit, words in (("u01", same), ("u02", spans)):
            desk.apply(id, do.MatchUnit(unit, words), author=author, base=desk.open(id).version)
    desk.apply(second, do.MatchUnit("u03", late), author="ben", base=2)
    rows = [row for row in desk.compare(first, second) if isinstance(row, MatchPair)]
    assert [(row.unit, len(row.first), len(row.second), row.shared, row.same) for row in rows] == [
        ("u03", 0, 1, 0.0, False),
        ("u02", 1, 1, 0.0, False),
        ("u01", 1, 1, 1.0, True),
    ]
    third = desk.adjudicate(second, name="agreed", owner="cy")
    assert desk.peer_of(third.id) == desk.peer_of(second)
    elsewhere = desk.begin_peer(TOPIC, "extract", name="anna", owner="anna", pyramid="expert").id
    with pytest.raises(pyr.UsageError, match="not of the same text"):
        desk.compare(first, elsewhere)


def test_imports_keep_what_they_can_and_refuse_what_contradicts_itself() -> None:
    double = ContentUnit("u", "", (Contributor("A", (Span(0, 2),)), Contributor("A", (Span(1, 4),)), Contributor("B")))
    imported = import_of_pyramid(Pyramid("t", ("A", "B"), (double,)))
    assert imported.content[0].contributors == (Contributor("A", (Span(0, 4),)), Contributor("B"))
    judgment = Judgment("t", "s", "j", 2.0, unit="u", evidence=((Span(0, 1),),))
    assert import_of_judgments([judgment]).matches == (do.Match("1", "u", (Span(0, 1),)), do.Match("2", "u"))
    with pytest.raises(pyr.InputError, match="system s, u: has evidence for 1 mentions but counts 0"):
        import_of_judgments([replace(judgment, value=0.0)])
    assert import_of_judgments([replace(judgment, value=0.7)]).matches == (do.Match("1", "u", (Span(0, 1),)),)
    with pytest.raises(pyr.InputError, match=r"has evidence for 1 mentions but counts 0\.4"):
        import_of_judgments([replace(judgment, value=0.4)])
    with pytest.raises(pyr.UsageError, match="one judge"):
        import_of_judgments([judgment, replace(judgment, judge="k")])


def test_what_is_not_in_the_study_cannot_be_annotated(desk: AnnotationDesk) -> None:
    with pytest.raises(pyr.UsageError, match="topic 'nothing' has no references"):
        desk.begin_pyramid("nothing", name="anna", owner="anna")
    with pytest.raises(pyr.UsageError, match="has no peer 'nobody'"):
        desk.begin_peer(TOPIC, "nobody", name="anna", owner="anna", pyramid="expert")
    with pytest.raises(pyr.UsageError, match="has no pyramid 'none'"):
        desk.begin_peer(TOPIC, "lead", name="anna", owner="anna", pyramid="none")
    peer = desk.begin_peer(TOPIC, "lead", name="anna", owner="anna", pyramid="expert").id
    with pytest.raises(pyr.UsageError, match="is not a pyramid of topic"):
        desk.begin_peer(TOPIC, "lead", name="ben", owner="ben", pyramid=peer)


def test_the_desk_follows_the_study(place: Path, example: Study) -> None:
    """Pyramids and texts that the study gets later can be annotated at once; what is kept in memory stays right."""
    held = replace(example, pyramids=())
    desk = AnnotationDesk(Database.open(place), lambda: held)
    own = desk.begin_pyramid(TOPIC, name="anna", owner="anna").id
    desk.apply(own, do.AddUnit("x", "x", (Contributor("A", (Span(0, 4),)),)), author="anna", base=0)
    with pytest.raises(pyr.UsageError, match="has no pyramid 'expert'"):
        desk.begin_peer(TOPIC, "lead", name="anna", owner="anna", pyramid="expert")
    held = example
    peer = desk.begin_peer(TOPIC, "lead", name="anna", owner="anna", pyramid="expert").id
    desk.apply(peer, do.MatchUnit("u01", (Span(0, 4),)), author="anna", base=0)
    assert score_of(desk, peer).raw == 4
    assert [unit.id for unit in desk.pyramid_of(own).units] == ["x"]
    lighter = tuple(replace(u, contributors=u.contributors[:1]) for u in expert(example).units)
    others = tuple(p for p in example.pyramids if p != expert(example))
    held = replace(example, pyramids=(*others, replace(expert(example), units=lighter)))
    assert score_of(desk, peer).raw == 1
    desk.store._database.close()
