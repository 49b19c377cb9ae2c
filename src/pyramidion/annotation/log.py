"""An annotation as an append-only list of events; replaying them gives its state.

Every event names the things it touches: a unit, one contributor of a unit, its label, a match. A thing also counts as
touched if it is part of another: deleting a unit touches its contributors too. Two rules follow from that:

- **Rebase or refuse.** A command carries the version (the number of events) its author had seen. If no event since
  then touches the same things, it is accepted on top of them; otherwise it is refused, and those events are shown.
- **Undo and redo** are events that switch an earlier event off and on; the state is that of the events that are on,
  in their order. Undo takes back the author's own last event that is on, but never what the annotation began with: a
  whole pyramid would be gone with one key. It is refused while somebody else's later event that is on touches the
  same things, because that event may build on it. Redo brings back what the author undid last, as long as they changed
  nothing since. It is refused where the events that touch the same things are no longer those that were on when it
  was undone.

Events that touch different things can be swapped, so whatever these rules accept can be replayed without error, and
undo followed by redo changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from pyramidion.annotation import commands as do
from pyramidion.annotation.commands import Command, PeerAnnotation, RefusedError, Spans, State, Subject, describe
from pyramidion.annotation.editing import apply
from pyramidion.errors import PyramidionError
from pyramidion.study.texts import union

Thing = tuple[str, ...]
"""The address of something that can be changed, from the whole to the part: ("unit", "3", "from", "A")."""

EVERY = 64
"""The number of events between saved states, so that undo need not replay everything."""
Stop = tuple[int, State]
"""The state just before the event of this number."""


@dataclass(frozen=True, slots=True)
class Event:
    """An accepted command. ``base`` is the version it was made against, ``touches`` what it changes or builds on."""

    number: int
    author: str
    command: Command
    base: int
    touches: tuple[Thing, ...]
    at: float = 0.0

    def __str__(self) -> str:
        return f"{self.author} {describe(self.command)}"


class ConflictError(PyramidionError):
    """A command that conflicts with other people's ``events``."""

    def __init__(self, what: str, events: Sequence[Event]) -> None:
        self.events = tuple(events)
        super().__init__(f"{what}: {'; '.join(map(str, self.events))}")


@dataclass(frozen=True)
class Annotation:
    """An annotation: its events, which of them are on, and the state they give."""

    subject: Subject
    events: tuple[Event, ...]
    on: frozenset[int]
    state: State
    stops: tuple[Stop, ...] = field(compare=False, repr=False)
    highest: int = 0
    """The greatest number that ever named a unit, match or mark; new names count on from it."""

    @classmethod
    def start(cls, subject: Subject) -> Annotation:
        return cls(subject, (), frozenset(), subject.start, ((0, subject.start),))

    @property
    def version(self) -> int:
        return len(self.events)

    def accept(self, command: Command, *, author: str, base: int, at: float = 0.0) -> Event:
        """The event for a command; RefusedError if it is impossible, ConflictError if others changed the same things
        first."""
        if not 0 <= base <= self.version:
            raise RefusedError(f"version {base} is unknown; this annotation has {self.version} events")
        event = self._event(command, author, base, at)
        since = [other for other in self.events[base:] if _overlap(other.touches, event.touches)]
        if since:
            raise ConflictError("this has been changed meanwhile", since)
        if not isinstance(event.command, do.Undo | do.Redo):
            self.subject.check(event.command)
            wanted = event.command
            known = isinstance(wanted, do.Decide) and wanted in self.decided
            if known or (not isinstance(wanted, do.Decide) and self.extend_with(event).state == self.state):
                raise RefusedError("this changes nothing")
        return event

    def extend_with(self, event: Event) -> Annotation:
        """The annotation with one more event, which it has accepted."""
        command = event.command
        events = (*self.events, event)
        if isinstance(command, do.Undo | do.Redo):
            target = command.target
            on = self.on - {target} if isinstance(command, do.Undo) else self.on | {target}
            stops = tuple(stop for stop in self.stops if stop[0] <= target)
            return Annotation(self.subject, events, on, *_run(stops, events, on), self.highest)
        stops = _with_stop(self.stops, event.number, self.state)
        highest = max(self.highest, _highest(command))
        return Annotation(self.subject, events, self.on | {event.number}, apply(self.state, command), stops, highest)

    @property
    def start_event(self) -> Event | None:
        """What the annotation began with, if not with nothing: undo stops here."""
        first = self.events[0] if self.events else None
        return first if first and isinstance(first.command, do.ImportPyramid | do.ImportMatches) else None

    @property
    def decided(self) -> list[do.Decide]:
        """The disagreements that an adjudicator has settled here."""
        commands = (self.events[number].command for number in sorted(self.on))
        return [command for command in commands if isinstance(command, do.Decide)]

    def undoable(self, author: str) -> Event | None:
        """What undo would take back for this author."""
        changes = self.events[1:] if self.start_event else self.events
        mine = (event for event in reversed(changes) if event.author == author and event.number in self.on)
        return next(mine, None)

    def redoable(self, author: str) -> Event | None:
        """What redo would bring back for this author."""
        undone = _last_undone(self.events, author)
        return None if undone is None else self.events[undone.target]

    def _event(self, command: Command, author: str, base: int, at: float) -> Event:
        if isinstance(command, do.Undo):
            target = self.undoable(author)
            if target is None:
                began = "; undo stops at what the annotation began with" if self.start_event else ""
                raise RefusedError(f"{author} has nothing to undo{began}")
            self._check_undo(target)
            return Event(self.version, author, do.Undo(target.number), base, target.touches, at)
        if isinstance(command, do.Redo):
            target = self.redoable(author)
            if target is None:
                raise RefusedError(f"{author} has nothing to redo")
            self._check_redo(target)
            return Event(self.version, author, do.Redo(target.number), base, target.touches, at)
        named = _with_name(command, str(self.highest + 1))
        return Event(self.version, author, named, base, _touches(named, self.state), at)

    def _check_undo(self, target: Event) -> None:
        later = [e for e in self.events[target.number + 1 :] if e.number in self.on and e.author != target.author]
        if blocking := [event for event in later if _overlap(event.touches, target.touches)]:
            raise ConflictError("this cannot be undone, because others have built on it", blocking)

    def _check_redo(self, target: Event) -> None:
        undo = next(e for e in reversed(self.events) if e.command == do.Undo(target.number))
        changed = sorted((_on(self.events[: undo.number]) ^ self.on) - {target.number})
        if blocking := [self.events[n] for n in changed if _overlap(self.events[n].touches, target.touches)]:
            raise ConflictError("this cannot be redone, because it has been changed meanwhile", blocking)


def replay(subject: Subject, events: Iterable[Event]) -> Annotation:
    """The annotation that these events make."""
    events = tuple(events)
    on = _on(events)
    edits = [event.command for event in events if not isinstance(event.command, do.Undo | do.Redo)]
    ran = _run(((0, subject.start),), events, on)
    return Annotation(subject, events, on, *ran, max(map(_highest, edits), default=0))


def _on(events: Sequence[Event]) -> frozenset[int]:
    on: set[int] = set()
    for event in events:
        if isinstance(event.command, do.Undo):
            on.discard(event.command.target)
        else:
            on.add(event.command.target if isinstance(event.command, do.Redo) else event.number)
    return frozenset(on)


def _run(stops: tuple[Stop, ...], events: Sequence[Event], on: frozenset[int]) -> tuple[State, tuple[Stop, ...]]:
    """The state of the events that are on, from the last stop, and the stops on the way."""
    first, state = stops[-1]
    for number in sorted(number for number in on if number >= first):
        command = events[number].command
        assert not isinstance(command, do.Undo | do.Redo)
        stops = _with_stop(stops, number, state)
        state = apply(state, command)
    return state, stops


def _with_stop(stops: tuple[Stop, ...], number: int, state: State) -> tuple[Stop, ...]:
    return (*stops, (number, state)) if number - stops[-1][0] >= EVERY else stops


def _last_undone(events: Sequence[Event], author: str) -> do.Undo | None:
    """What an author undid last and has not redone; nothing once they changed something since."""
    redone = 0
    for event in reversed(events):
        if event.author != author:
            continue
        if isinstance(event.command, do.Redo):
            redone += 1
        elif not isinstance(event.command, do.Undo):
            return None
        elif not redone:
            return event.command
        else:
            redone -= 1
    return None


# -- names ---------------------------------------------------------------------------------------------------


def _with_name(command: do.Edit, name: str) -> do.Edit:
    """The command with a name for what it makes. Ids are never reused, so that redo finds its own id free."""
    match command:
        case do.AddUnit(unit="") as add:
            return replace(add, unit=name)
        case do.SplitUnit(new="") as split:
            return replace(split, new=name)
        case do.MatchUnit(id="") as match:
            return replace(match, id=name)
        case do.MarkUnmatched(id="") as mark:
            return replace(mark, id=name)
    return command


def _highest(command: Command) -> int:
    match command:
        case do.AddUnit(unit=name) | do.SplitUnit(new=name) | do.MatchUnit(id=name) | do.MarkUnmatched(id=name):
            names = [name]
        case do.ImportPyramid(content):
            names = [unit.id for unit in content]
        case do.ImportMatches(matches, marks):
            names = [match.id for match in matches] + [mark.id for mark in marks]
        case _:
            return 0
    return max((int(name) for name in names if name.isascii() and name.isdigit()), default=0)


# -- what is touched -----------------------------------------------------------------------------------------


def _touches(command: do.Edit, state: State) -> tuple[Thing, ...]:
    match command:
        case do.ImportPyramid():
            return (("unit",),)
        case do.AddUnit(unit) | do.DeleteUnit(unit):
            return (("unit", unit),)
        case do.RenameUnit(unit):
            return (("unit", unit, "label"),)
        case do.CommentUnit(unit):
            return (("unit", unit, "comment"),)
        case do.AddContributor(unit, reference) | do.RemoveContributor(unit, reference):
            return (_contributor(unit, reference),)
        case do.MoveContributor(unit, reference, to):
            return (_contributor(unit, reference), _contributor(to, reference))
        case do.MergeUnits(units):
            return tuple(("unit", unit) for unit in units)
        case do.SplitUnit(unit, new=new):  # whether some contributors stay depends on all of them
            return (("unit", unit, "from"), ("unit", new))
        case do.ReorderUnit(unit, before):
            return tuple(("unit", id, "place") for id in (unit, before) if id)
        case do.Decide(first, second):
            return (("row", first, second),)
    return _touches_of_peer(command, state)


def _touches_of_peer(command: do.PeerCommand, state: State) -> tuple[Thing, ...]:
    matches, marks = (state.matches, state.marks) if isinstance(state, PeerAnnotation) else ((), ())
    match command:
        case do.ImportMatches():
            return (("unit",), ("words",), ("name",))
        case do.MatchUnit(unit, _, id):
            return (("unit", unit), ("name", id))
        case do.Unmatch(id):
            return (("name", id), *(("unit", match.unit) for match in matches if match.id == id))
        case do.MarkUnmatched(spans, id):
            return (_words(spans), ("name", id))
    return (("name", command.id), *(_words(mark.spans) for mark in marks if mark.id == command.id))


def _contributor(unit: str, reference: str) -> Thing:
    return ("unit", unit, "from", reference)


def _words(spans: Spans) -> Thing:
    return ("words", " ".join(f"{start}-{end}" for start, end in union(spans)))


def _overlap(some: Iterable[Thing], others: Sequence[Thing]) -> bool:
    return any(one[: len(other)] == other[: len(one)] for one in some for other in others)
