"""Annotation by commands: what each does, what is refused and why, undo and redo, several authors at once."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

import pyramidion as pyr
from pyramidion.annotation import commands as do
from pyramidion.annotation import log
from pyramidion.annotation.commands import Command, Mark, Match, PeerAnnotation, Redo, RefusedError, Subject, Undo
from pyramidion.annotation.editing import difference
from pyramidion.annotation.events import command_object, event_object, read_command, read_event
from pyramidion.annotation.log import Annotation, ConflictError, replay
from pyramidion.study import UNMATCHED, ContentUnit, Contributor, Judge, Judgment, Judgments, Pyramid, Span
from pyramidion.study.texts import union

TEXTS = {"A": "The old bridge was closed.", "B": "It closed 👩‍👩‍👧 the bridge.", "C": "גשר נסגר"}
PEER = "The bridge closed. A ferry runs. The bridge is shut."
TOPIC = Subject.of_pyramid("t", TEXTS)
UNITS = Pyramid(
    "t",
    tuple(TEXTS),
    (ContentUnit("1", "closed", (Contributor("A"), Contributor("B"))), ContentUnit("2", "old", (Contributor("A"),))),
)
SUMMARY = Subject.of_peer("t", "s", PEER, UNITS)


def spans(*pairs: tuple[int, int]) -> tuple[Span, ...]:
    return tuple(Span(*pair) for pair in pairs)


def after(
    subject: Subject | Annotation, *commands: Command, author: str = "anna", base: int | None = None
) -> Annotation:
    made = subject if isinstance(subject, Annotation) else Annotation.start(subject)
    for command in commands:
        event = made.accept(command, author=author, base=made.version if base is None else base)
        made = made.extend_with(event)
    return made


def pyramid(annotation: Annotation) -> Pyramid:
    assert isinstance(annotation.state, Pyramid)
    return annotation.state


def shape(annotation: Annotation) -> dict[str, dict[str, list[list[int]]]]:
    """Units with the spans of each reference, in order."""
    return {
        unit.id: {c.reference: [list(span) for span in c.spans] for c in unit.contributors}
        for unit in pyramid(annotation).units
    }


TWO = (
    do.AddUnit(label="closed", contributors=(Contributor("A", spans((19, 25))), Contributor("B", spans((3, 9))))),
    do.AddUnit(label="bridge", contributors=(Contributor("A", spans((8, 14))),)),
)


# -- pyramids ------------------------------------------------------------------------------------------------


def test_a_pyramid_is_built_step_by_step() -> None:
    made = after(TOPIC, *TWO)
    assert shape(made) == {"1": {"A": [[19, 25]], "B": [[3, 9]]}, "2": {"A": [[8, 14]]}}
    assert [unit.weight for unit in pyramid(made).units] == [2, 1]
    made = after(made, do.RenameUnit("2", "a bridge"), do.CommentUnit("2", "old?"))
    assert pyramid(made).units[1] == ContentUnit("2", "a bridge", (Contributor("A", spans((8, 14))),), comment="old?")
    assert list(shape(after(made, do.ReorderUnit("2", "1")))) == ["2", "1"]
    assert list(shape(after(made, do.ReorderUnit("1")))) == ["2", "1"]
    assert list(shape(after(made, do.DeleteUnit("1")))) == ["2"]


def test_more_words_of_a_reference_join_its_contributor() -> None:
    made = after(TOPIC, *TWO, do.AddContributor("1", "A", spans((15, 20), (0, 3))))
    assert shape(made)["1"]["A"] == [[0, 3], [15, 25]]
    made = after(made, do.RemoveContributor("1", "A", spans((1, 17))))
    assert shape(made)["1"]["A"] == [[0, 1], [17, 25]]
    assert shape(after(made, do.RemoveContributor("1", "A", spans((0, 26)))))["1"] == {"B": [[3, 9]]}
    assert shape(after(made, do.RemoveContributor("1", "A")))["1"] == {"B": [[3, 9]]}


def test_contributors_move_and_units_merge_and_split() -> None:
    made = after(TOPIC, *TWO)
    moved = after(made, do.MoveContributor("1", "A", "2"))
    assert shape(moved) == {"1": {"B": [[3, 9]]}, "2": {"A": [[8, 14], [19, 25]]}}
    merged = after(made, do.CommentUnit("2", "why"), do.MergeUnits(("2", "1"), "bridge closed"))
    assert shape(merged) == {"2": {"A": [[8, 14], [19, 25]], "B": [[3, 9]]}}
    assert (pyramid(merged).units[0].label, pyramid(merged).units[0].comment) == ("bridge closed", "why")
    split = after(merged, do.AddUnit(label="last"), do.SplitUnit("2", ("B",), "it closed"))
    assert shape(split) == {"2": {"A": [[8, 14], [19, 25]]}, "4": {"B": [[3, 9]]}, "3": {}}


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (do.RenameUnit("9", "x"), "the pyramid has no unit '9'"),
        (do.AddContributor("1", "D", spans((0, 1))), "unit 1, contributor D: unknown reference 'D'.*A, B, C"),
        (do.AddContributor("1", "C", spans((3, 9))), r"contributor C: span 3-9 is not inside.*reference C \(8 char"),
        (do.AddContributor("1", "C", spans((3, 3))), "span 3-3"),
        (do.AddContributor("1", "C", spans((-1, 3))), "span -1-3"),
        (do.AddContributor("1", "C", ()), "no words of reference C"),
        (do.AddContributor("1", "B", spans((3, 9))), "changes nothing"),
        (do.AddUnit("1"), "unit 1 already exists"),
        (do.AddUnit(contributors=(Contributor("D", spans((0, 1))),)), "unit 3, contributor D: unknown reference"),
        (do.AddUnit(" x"), "cannot be a unit's id"),
        (do.AddUnit(label="\ud83d"), "half a character"),
        (do.AddUnit(contributors=(Contributor("A", spans((0, 1))),) * 2), "at most one contributor"),
        (do.RemoveContributor("2", "B"), "unit 2 “bridge” has no contributor from reference 'B'"),
        (do.RemoveContributor("1", "A", spans((0, 3))), "unit 1, contributor A: span 0-3 is not part of it"),
        (do.MoveContributor("1", "A", "1"), "already in this unit"),
        (do.MoveContributor("1", "A", "7"), "no unit '7'"),
        (do.MergeUnits(("1",)), "two or more different units"),
        (do.MergeUnits(("1", "1")), "two or more different units"),
        (do.SplitUnit("1", ("A", "B")), "leave some"),
        (do.SplitUnit("1", ()), "leave some"),
        (do.ReorderUnit("1", "1"), "before itself"),
        (do.ReorderUnit("2"), "changes nothing"),
        (do.ImportPyramid((ContentUnit("7", ""),)), "into an empty one; this one has 2 units"),
        (do.MatchUnit("1", spans((0, 1))), "is of a pyramid"),
        (Redo(), "nothing to redo"),
    ],
)
def test_what_is_impossible_is_refused_with_the_reason(command: Command, reason: str) -> None:
    with pytest.raises(RefusedError, match=reason):
        after(TOPIC, *TWO, command)


def test_an_existing_pyramid_is_imported_exactly(example: pyr.Study) -> None:
    given = example.pyramids[0]
    texts = {s.system: s.text for s in example.references if s.topic == given.topic}
    made = after(Subject.of_pyramid(given.topic, texts), do.ImportPyramid(given.units), do.AddUnit(label="new"))
    assert pyramid(made).units[:-1] == given.units
    assert pyramid(made).units[-1].id == "1"


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (("x", "y", "x"), "two units with the same id"),
        (("x", ""), "'' cannot be a unit's id"),
        (("x" * 101,), f"'{'x' * 40}' cannot be a unit's id"),
        (("a\nb",), r"'a\\nb' cannot be a unit's id: an id is short, on one line, without surrounding spaces"),
    ],
)
def test_imported_units_need_good_names_of_their_own(names: tuple[str, ...], reason: str) -> None:
    with pytest.raises(RefusedError, match=reason):
        after(TOPIC, do.ImportPyramid(tuple(ContentUnit(name, "") for name in names)))
    assert list(shape(after(TOPIC, do.ImportPyramid((ContentUnit("x" * 100, ""),))))) == ["x" * 100]


# -- peers ---------------------------------------------------------------------------------------------------


def test_a_peer_is_matched_and_every_mention_counts() -> None:
    made = after(
        SUMMARY,
        do.MatchUnit("1", spans((4, 17))),
        do.MatchUnit("1", spans((37, 43), (47, 51))),
        do.MarkUnmatched(spans((19, 31))),
    )
    state = made.state
    assert not isinstance(state, Pyramid)
    assert state.count_mentions() == {"1": 2}
    assert state.judgments(UNITS, "anna") == [
        Judgment("t", "s", "anna", 2, unit="1", evidence=(spans((4, 17)), spans((37, 43), (47, 51)))),
        Judgment("t", "s", "anna", 0, unit="2"),
        Judgment("t", "s", "anna", 1, aspect=UNMATCHED, evidence=(spans((19, 31)),)),
    ]
    emptied = after(made, do.Unmatch("1"), do.RemoveMark("3")).state
    assert emptied == replace(state, matches=(Match("2", "1", spans((37, 43), (47, 51))),), marks=())
    assert state.lost(replace(UNITS, units=UNITS.units[1:])) == state.matches


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (do.MatchUnit("9", spans((0, 1))), "the pyramid has no unit '9'"),
        (do.MatchUnit("2", spans((0, 99))), r"match of unit 2: span 0-99 is not inside the text of peer s \(52"),
        (do.MatchUnit("2", ()), "no words of peer s"),
        (do.MatchUnit("1", spans((0, 1), (1, 3))), "already matched to these words"),
        (do.MatchUnit("2", spans((0, 1)), id="1"), "short unique id"),
        (do.MarkUnmatched(spans((4, 8))), "already marked"),
        (do.Unmatch("2"), "no match '2'"),
        (do.RemoveMark("1"), "no mark '1'"),
        (do.ImportMatches((Match("7", "1"),)), "not empty"),
        (do.AddUnit(), "is of a peer summary"),
    ],
)
def test_what_is_impossible_for_a_peer_is_refused(command: Command, reason: str) -> None:
    with pytest.raises(RefusedError, match=reason):
        after(SUMMARY, do.MatchUnit("1", spans((0, 3))), do.MarkUnmatched(spans((4, 8))), command)


def test_an_existing_annotation_is_imported_exactly_and_names_count_on_from_it() -> None:
    matches, marks = (Match("4", "1"), Match("x", "2", spans((4, 10)))), (Mark("6"), Mark("٩", spans((0, 3))))
    made = after(SUMMARY, do.ImportMatches(matches, marks), do.MatchUnit("1", spans((0, 3))))
    assert isinstance(made.state, PeerAnnotation)
    assert (made.state.matches, made.state.marks) == ((*matches, Match("7", "1", spans((0, 3)))), marks)
    for wrong in (do.ImportMatches((Match("1", "9"),)), do.ImportMatches((), (Mark("1", spans((0, 99))),))):
        with pytest.raises(RefusedError, match=r"no unit '9'|content in no unit: span 0-99 is not inside"):
            after(SUMMARY, wrong)


@pytest.mark.parametrize(
    "command",
    [
        do.ImportMatches((Match("1", "1"), Match("1", "2"))),
        do.ImportMatches((Match("1", "1"),), (Mark("1"),)),
        do.ImportMatches((Match("", "1"),)),
        do.ImportMatches((), (Mark("x" * 101),)),
    ],
)
def test_imported_matches_and_marks_need_short_names_of_their_own(command: Command) -> None:
    with pytest.raises(RefusedError, match="imported matches and marks need short unique ids"):
        after(SUMMARY, command)


# -- several authors -----------------------------------------------------------------------------------------


def test_a_stale_command_is_rebased_or_refused_with_what_others_did() -> None:
    made = after(TOPIC, *TWO)
    ben = after(made, do.RenameUnit("1", "shut"), author="ben")
    rebased = after(ben, do.AddContributor("1", "C", spans((0, 3))), base=2)
    assert shape(rebased)["1"]["C"] == [[0, 3]]
    assert pyramid(rebased).units[0].label == "shut"
    with pytest.raises(ConflictError, match="changed meanwhile: ben renamed unit 1 to “shut”") as caught:
        after(ben, do.DeleteUnit("1"), base=2)
    assert caught.value.events == ben.events[2:]
    assert list(shape(after(ben, do.DeleteUnit("1"), base=3))) == ["2"]
    with pytest.raises(ConflictError, match="ben renamed"):
        after(ben, do.MergeUnits(("2", "1")), base=2)
    with pytest.raises(RefusedError, match="version 4 is unknown"):
        after(ben, do.DeleteUnit("1"), base=4)


def test_a_removal_meanwhile_is_shown_as_a_conflict() -> None:
    made = after(SUMMARY, do.MatchUnit("1", spans((0, 3))))
    ben = after(made, do.Unmatch("1"), author="ben")
    with pytest.raises(ConflictError, match="ben removed match 1"):
        after(ben, do.Unmatch("1"), base=1)
    with pytest.raises(ConflictError, match="ben removed match 1"):
        after(ben, do.MatchUnit("1", spans((5, 6))), base=1)


def test_undo_takes_back_ones_own_last_change() -> None:
    made = after(TOPIC, *TWO)
    made = after(made, do.CommentUnit("2", "ben was here"), author="ben")
    with pytest.raises(ConflictError, match=r"cannot be undone.*ben commented on unit 2"):
        after(made, Undo())
    made = after(made, Undo(), author="ben")
    assert shape(after(made, Undo())) == {"1": shape(made)["1"]}
    assert shape(after(made, Undo(), Undo())) == {}
    with pytest.raises(RefusedError, match="anna has nothing to undo"):
        after(made, Undo(), Undo(), Undo())


def test_redo_ends_where_one_goes_on_and_where_others_changed_the_ground() -> None:
    made = after(TOPIC, *TWO, do.RenameUnit("1", "x"), Undo())
    assert pyramid(after(made, Redo())).units[0].label == "x"
    with pytest.raises(RefusedError, match="nothing to redo"):
        after(made, do.AddUnit(), Redo())
    ben = after(made, do.RenameUnit("1", "y"), author="ben")
    with pytest.raises(ConflictError, match=r"cannot be redone.*ben renamed unit 1 to “y”"):
        after(ben, Redo())
    assert after(after(ben, Undo(), author="ben"), Redo()).state == after(made, Redo()).state


def test_several_changes_are_undone_and_redone_in_turn() -> None:
    labels = [f"label {i}" for i in range(4)]
    made = after(TOPIC, do.AddUnit(label="first"), *(do.RenameUnit("1", label) for label in labels))
    shown = []
    for command in (Undo(), Undo(), Redo(), Undo(), Undo(), Redo(), Redo(), Redo()):
        made = after(made, command)
        shown.append(pyramid(made).units[0].label)
    assert shown == [labels[i] for i in (2, 1, 2, 1, 0, 1, 2, 3)]
    assert made.redoable("anna") is None
    assert made.undoable("ben") is None
    assert replay(TOPIC, made.events) == made


def test_many_changes_replay_and_undo_as_few_do() -> None:
    # More than twice as many as are kept between two states on the way.
    count = 2 * log.EVERY + 5
    made = after(TOPIC, *(do.AddUnit(label=str(i)) for i in range(count)))
    assert [number for number, _ in made.stops] == [0, log.EVERY, 2 * log.EVERY]
    again = replay(TOPIC, made.events)
    assert (again, again.stops) == (made, made.stops)
    for _ in range(10):
        made = after(made, Undo())
    assert [unit.label for unit in pyramid(made).units] == [str(i) for i in range(count - 10)]


def test_a_change_that_builds_on_something_undone_is_not_redone() -> None:
    made = after(after(TOPIC, *TWO), do.RenameUnit("2", "x"), Undo(), author="ben")
    made = after(made, Undo())  # anna's unit 2 is gone, so ben's new label has nowhere to go
    with pytest.raises(ConflictError, match=r"cannot be redone.*anna added unit 2"):
        after(made, Redo(), author="ben")


@pytest.mark.parametrize(
    ("made", "removed", "again"),
    [
        (do.MarkUnmatched(spans((0, 3))), do.RemoveMark("1"), do.MarkUnmatched(spans((0, 3)))),
        (do.MatchUnit("1", spans((0, 3))), do.Unmatch("1"), do.MatchUnit("1", spans((0, 3)))),
    ],
)
def test_what_somebody_else_made_again_does_not_come_back_twice(
    made: Command, removed: Command, again: Command
) -> None:
    """Were Anna to undo her removal, the same words would be marked by two."""
    ben = after(after(SUMMARY, made, removed), again, author="ben")
    with pytest.raises(ConflictError, match="cannot be undone"):
        after(ben, Undo())
    other = do.MarkUnmatched(spans((5, 9)))  # other words stand in nobody's way
    assert after(after(after(SUMMARY, made, removed), other, author="ben"), Undo()).version == 4


def test_a_split_builds_on_all_contributors_of_the_unit() -> None:
    """Ben leaves one contributor in the unit; were Anna to take it back, his split would leave none."""
    made = after(TOPIC, *TWO, do.AddContributor("1", "C", spans((0, 3))))
    made = after(made, do.SplitUnit("1", ("A", "B")), author="ben")
    with pytest.raises(ConflictError, match="ben split unit 3 off unit 1"):
        after(made, Undo())


def test_names_are_never_used_twice() -> None:
    made = after(TOPIC, *TWO, Undo(), do.AddUnit())
    assert list(shape(made)) == ["1", "3"]


def test_undo_stops_at_what_the_annotation_began_with() -> None:
    """One key too many must not remove a whole pyramid, whoever asks and however."""
    began = after(TOPIC, do.ImportPyramid(UNITS.units))
    changed = after(began, do.RenameUnit("1", "x"), Undo())
    for made in (began, changed):
        assert made.undoable("anna") is None
        with pytest.raises(RefusedError, match="nothing to undo; undo stops at what the annotation began with"):
            after(made, Undo())
        with pytest.raises(RefusedError, match="stops at what the annotation began with"):
            after(made, Undo(0))
    assert changed.state == began.state
    summary = after(SUMMARY, do.ImportMatches((Match("1", "1"),)))
    with pytest.raises(RefusedError, match="stops at what the annotation began with"):
        after(summary, Undo())


def test_a_start_that_an_older_release_undid_can_be_brought_back() -> None:
    undone = [*after(TOPIC, do.ImportPyramid(UNITS.units)).events]
    undone.append(replace(undone[0], number=1, command=Undo(0), base=1))
    made = replay(TOPIC, undone)
    assert shape(made) == {}
    assert list(shape(after(made, Redo()))) == ["1", "2"]


def test_what_an_adjudicator_has_settled_is_kept_and_can_be_undone() -> None:
    made = after(TOPIC, *TWO, do.Decide("1", "7"))
    assert (made.decided, made.state) == ([do.Decide("1", "7")], after(TOPIC, *TWO).state)
    with pytest.raises(RefusedError, match="changes nothing"):
        after(made, do.Decide("1", "7"))
    assert after(made, Undo()).decided == []
    assert after(made, Undo(), Redo()).decided == made.decided
    assert after(SUMMARY, do.Decide("", "")).decided == [do.Decide()]


# -- JSON ----------------------------------------------------------------------------------------------------


def test_commands_read_back_from_json(example: pyr.Study) -> None:
    commands: list[Command] = [
        *TWO,
        do.ImportPyramid(example.pyramids[0].units),
        do.ImportMatches((Match("1", "2", spans((1, 2))), Match("2", "2")), (Mark("3"),)),
        do.MergeUnits(("1", "2")),
        do.SplitUnit("1", ("A",)),
        Undo(3),
    ]
    for command in commands:
        assert read_command(json.loads(json.dumps(command_object(command)))) == command
    assert command_object(do.MatchUnit("1", spans((0, 3)))) == {"type": "match_unit", "unit": "1", "spans": [[0, 3]]}


def test_events_read_back_from_json_and_say_what_was_done() -> None:
    made = after(TOPIC, *TWO, do.MergeUnits(("2", "1")), do.AddUnit("x"), Undo())
    assert [str(event) for event in made.events] == [
        "anna added unit 1",
        "anna added unit 2",
        "anna merged units 2, 1",
        "anna added unit x",
        "anna undid change 3",
    ]
    event = made.accept(do.AddUnit(), author="ben", base=1, at=12.5)
    assert event_object(event) == {
        "number": 5,
        "author": "ben",
        "command": {"type": "add_unit", "unit": "3"},
        "base": 1,
        "touches": [["unit", "3"]],
        "at": 12.5,
    }
    for done in (*made.events, event):
        assert read_event(json.loads(json.dumps(event_object(done)))) == done


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ([], "must be an object"),
        ({"type": "fly"}, "unknown command 'fly'; known values are: import_pyramid, add_unit"),
        ({"type": []}, "unknown command"),
        ({"type": "rename_unit", "unit": "1"}, "rename_unit: field 'label' is missing"),
        ({"type": "rename_unit", "unit": 1, "label": ""}, "rename_unit: field 'unit' must be text, not 1"),
        ({"type": "delete_unit", "unit": "1", "x": 1}, "field 'x' is unknown"),
        ({"type": "mark_unmatched", "spans": [[1, True]]}, r"'spans\[0\]' must be \[start, end\], not \[1, true\]"),
        ({"type": "mark_unmatched", "spans": ["1" * 50]}, rf"must be \[start, end\], not \"{'1' * 39}$"),
        ({"type": "merge_units", "units": "12"}, "must be a list"),
        ({"type": "undo", "target": "1"}, "must be a whole number"),
        ({"type": "undo", "target": "1" * 50}, f"'target' must be a whole number, not \"{'1' * 39}$"),
        ({"type": "delete_unit", "unit": ["1" * 50]}, rf"delete_unit: field 'unit' must be text, not \[\"{'1' * 38}$"),
        ({"type": "add_unit", "contributors": [{"spans": []}]}, r"field 'contributors\[0\].reference' is missing"),
    ],
)
def test_what_is_no_command_is_refused(value: object, reason: str) -> None:
    with pytest.raises(RefusedError, match=reason):
        read_command(value)


# -- properties ----------------------------------------------------------------------------------------------

places = st.integers(0, 30)
some_spans = st.lists(st.tuples(places, st.integers(1, 9)).map(lambda p: Span(p[0], sum(p))), max_size=3).map(tuple)


@given(some_spans, some_spans)
def test_spans_are_sets_of_characters(first: tuple[Span, ...], second: tuple[Span, ...]) -> None:
    def characters(found: tuple[Span, ...]) -> set[int]:
        return {place for start, end in found for place in range(start, end)}

    joined, cut = union(first + second), difference(first, second)
    assert characters(joined) == characters(first) | characters(second)
    assert characters(cut) == characters(first) - characters(second)
    for found in (joined, cut):
        assert all(a.end < b.start for a, b in pairwise(found))


names = st.sampled_from(["", "", "", "x"])
references = st.sampled_from(["A", "A", "B", "B", "C", "D"])
words = st.sampled_from([spans((0, 3)), spans((2, 5)), spans((0, 1), (4, 8)), spans((0, 8)), spans((7, 99)), ()])
some_contributors = st.lists(st.builds(Contributor, references, words), max_size=2).map(tuple)
labels = st.sampled_from(["", "a", "é 👩‍👩‍👧"])


def pyramid_commands(state: Pyramid) -> st.SearchStrategy[Command]:
    """Mostly possible ones: about units that are there, and one that is not."""
    units = st.sampled_from([unit.id for unit in state.units][:4] * 3 + ["x"])
    return st.one_of(
        st.builds(do.AddUnit, names, labels, some_contributors),
        st.builds(do.RenameUnit, units, labels),
        st.builds(do.CommentUnit, units, labels),
        st.builds(do.DeleteUnit, units),
        st.builds(do.AddContributor, units, references, words),
        st.builds(do.AddContributor, units, references, words),
        st.builds(do.RemoveContributor, units, references, words),
        st.builds(do.MoveContributor, units, references, units),
        st.builds(do.MergeUnits, st.lists(units, min_size=1, max_size=3).map(tuple), labels),
        st.builds(do.SplitUnit, units, st.lists(references, min_size=1, max_size=2).map(tuple), labels, names),
        st.builds(do.ReorderUnit, units, st.just("") | units),
        st.just(do.ImportPyramid(UNITS.units)),
        decisions,
    )


decisions = st.builds(do.Decide, st.sampled_from(["", "1", "2"]), st.sampled_from(["", "1"]))


def peer_commands(state: PeerAnnotation) -> st.SearchStrategy[Command]:
    matches = st.sampled_from([match.id for match in state.matches] * 3 + ["x"])
    marks = st.sampled_from([mark.id for mark in state.marks] * 3 + ["x"])
    return st.one_of(
        st.builds(do.MatchUnit, st.sampled_from(["1", "1", "2", "9"]), words, names),
        st.builds(do.Unmatch, matches),
        st.builds(do.MarkUnmatched, words, names),
        st.builds(do.RemoveMark, marks),
        st.just(do.ImportMatches((Match("1", "1"), Match("2", "2", spans((4, 10)))), (Mark("x", spans((0, 3))),))),
        decisions,
    )


TOPICS = (pyr.Topic("t"),)
STUDY = pyr.Study(
    topics=TOPICS,
    summaries=(
        *(pyr.Summary("t", name, text, "reference") for name, text in TEXTS.items()),
        pyr.Summary("t", "s", PEER),
    ),
)


class Annotating(RuleBasedStateMachine):
    """Three people do anything in any order, from what they last saw, and go back and forth."""

    subject = TOPIC
    authors = st.sampled_from(["anna", "ben", "cy"])

    def __init__(self) -> None:
        super().__init__()
        self.now = Annotation.start(self.subject)

    def attempt(self, command: Command, author: str, behind: int = 0) -> bool:
        try:
            base = max(self.now.version - behind, 0)
            event = self.now.accept(command, author=author, base=base)
        except (RefusedError, ConflictError):
            return False
        self.now = self.now.extend_with(read_event(json.loads(json.dumps(event_object(event)))))
        assert self.now.events[-1] == event
        return True

    @rule(data=st.data(), author=authors, behind=st.sampled_from([0, 0, 0, 3]))
    def command(self, data: st.DataObject, author: str, behind: int) -> None:
        state = self.now.state
        possible = pyramid_commands(state) if isinstance(state, Pyramid) else peer_commands(state)
        self.attempt(data.draw(possible), author, behind)

    @rule(author=authors, behind=st.sampled_from([0, 0, 0, 2]))
    def undo(self, author: str, behind: int) -> None:
        before = self.now
        if self.attempt(Undo(), author, behind):
            undone = self.now
            assert self.attempt(Redo(), author), "what was just undone can be redone"
            assert self.now.state == before.state
            self.now = undone

    @rule(author=authors, behind=st.sampled_from([0, 0, 0, 2]))
    def redo(self, author: str, behind: int) -> None:
        before = self.now
        if self.attempt(Redo(), author, behind):
            redone = self.now
            assert self.attempt(Undo(), author)
            assert self.now.state == before.state
            self.now = redone

    @rule()
    def take_back_everything_and_bring_it_back(self) -> None:
        before, order = self.now, []
        start = self.now.events[:1] if self.now.start_event else ()
        while self.now.on - {event.number for event in start}:
            order.append(self.now.events[max(self.now.on)].author)
            assert self.attempt(Undo(), order[-1]), "the very last change can always be undone"
        assert self.now.state == replay(self.subject, start).state, "but not what it began with"
        assert not any(self.attempt(Undo(), author) for author in ("anna", "ben", "cy"))
        for author in reversed(order):
            assert self.attempt(Redo(), author)
        assert (self.now.state, self.now.on) == (before.state, before.on)
        self.now = before

    @invariant()
    def replaying_gives_the_same(self) -> None:
        assert replay(self.subject, self.now.events) == self.now

    @invariant()
    def the_rules_of_the_method_hold(self) -> None:
        state = self.now.state
        if isinstance(state, Pyramid):
            study = replace(STUDY, pyramids=(state,))
            for unit in state.units:
                assert unit.weight == len(unit.contributors) == len({c.reference for c in unit.contributors})
        else:
            judgments = Judgments(state.judgments(UNITS, "anna"))
            study = replace(STUDY, pyramids=(UNITS,), judgments=judgments, judges=(Judge("anna", "expert"),))
            ids = [match.id for match in state.matches] + [mark.id for mark in state.marks]
            assert len(set(ids)) == len(ids)
        assert not [problem for problem in study.problems() if problem.severity == "error"]


class AnnotatingPeers(Annotating):
    subject = SUMMARY


@pytest.mark.slow
@pytest.mark.parametrize("machine", [Annotating, AnnotatingPeers])
def test_whatever_people_do_the_annotation_stays_sound(
    machine: type[Annotating], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "EVERY", 3)  # so that short logs have stops too
    run_state_machine_as_test(machine, settings=settings(max_examples=60, stateful_step_count=40))  # type: ignore[no-untyped-call]
