"""What an annotator can do, as values. A command says what is wanted; the state decides whether it is possible.

Names of new things (units, matches, marks) may be left empty: they are given when the command is accepted. Spans count
Unicode code points of the reference or of the peer summary.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, get_args

from pyramidion.errors import PyramidionError
from pyramidion.study import UNMATCHED, ContentUnit, Contributor, Judgment, Pyramid, Span

Spans = tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Match:
    """One mention of a unit in the peer summary; without spans if an import did not give them."""

    id: str
    unit: str
    spans: Spans = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """Content of the peer summary that is in no unit of the pyramid."""

    id: str
    spans: Spans = ()


# -- building a pyramid --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ImportPyramid:
    """Begin with the units of an existing pyramid, unchanged. Only possible while there are no units."""

    says: ClassVar[str] = "imported a pyramid"
    content: tuple[ContentUnit, ...]


@dataclass(frozen=True, slots=True)
class AddUnit:
    says: ClassVar[str] = "added unit {unit}"
    unit: str = ""
    label: str = ""
    contributors: tuple[Contributor, ...] = ()
    comment: str = ""


@dataclass(frozen=True, slots=True)
class RenameUnit:
    says: ClassVar[str] = "renamed unit {unit} to “{label}”"
    unit: str
    label: str


@dataclass(frozen=True, slots=True)
class CommentUnit:
    says: ClassVar[str] = "commented on unit {unit}"
    unit: str
    comment: str


@dataclass(frozen=True, slots=True)
class DeleteUnit:
    says: ClassVar[str] = "deleted unit {unit}"
    unit: str


@dataclass(frozen=True, slots=True)
class AddContributor:
    """Add words of a reference to a unit, joined to those it already has there."""

    says: ClassVar[str] = "added words of reference {reference} to unit {unit}"
    unit: str
    reference: str
    spans: Spans


@dataclass(frozen=True, slots=True)
class RemoveContributor:
    """Remove a contributor from a unit, or only the given words."""

    says: ClassVar[str] = "removed words of reference {reference} from unit {unit}"
    unit: str
    reference: str
    spans: Spans = ()


@dataclass(frozen=True, slots=True)
class MoveContributor:
    says: ClassVar[str] = "moved contributor {reference} of unit {unit} to unit {to}"
    unit: str
    reference: str
    to: str


@dataclass(frozen=True, slots=True)
class MergeUnits:
    """Merge several units into one. It keeps the id and place of the first, and its label unless another is given."""

    says: ClassVar[str] = "merged units {shown}"
    units: tuple[str, ...]
    label: str = ""

    @property
    def shown(self) -> str:
        return ", ".join(self.units)


@dataclass(frozen=True, slots=True)
class SplitUnit:
    """Put some contributors of a unit into a new one, which comes right after it."""

    says: ClassVar[str] = "split unit {new} off unit {unit}"
    unit: str
    references: tuple[str, ...]
    label: str = ""
    new: str = ""


@dataclass(frozen=True, slots=True)
class ReorderUnit:
    """Put a unit in front of another, or at the end."""

    says: ClassVar[str] = "reordered unit {unit}"
    unit: str
    before: str = ""


# -- annotating a peer ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ImportMatches:
    """Begin with an existing annotation. Only possible while nothing is matched or marked."""

    says: ClassVar[str] = "imported an annotation"
    matches: tuple[Match, ...] = ()
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class MatchUnit:
    """These words of the peer express a unit. Every further match of the same unit is a repeated mention."""

    says: ClassVar[str] = "matched unit {unit}"
    unit: str
    spans: Spans
    id: str = ""


@dataclass(frozen=True, slots=True)
class Unmatch:
    says: ClassVar[str] = "removed match {id}"
    id: str


@dataclass(frozen=True, slots=True)
class MarkUnmatched:
    """These words of the peer are a content unit that the pyramid does not have."""

    says: ClassVar[str] = "marked content in no unit"
    spans: Spans
    id: str = ""


@dataclass(frozen=True, slots=True)
class RemoveMark:
    says: ClassVar[str] = "removed mark {id}"
    id: str


# -- adjudicating --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Decide:
    """A disagreement of the two annotations that this one adjudicates is settled: the one about these units of the
    first and the second ("" where it has none). What was decided is in the other commands; this says that it was."""

    says: ClassVar[str] = "settled a disagreement"
    first: str = ""
    second: str = ""


# -- going back and forth ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Undo:
    """Undo the author's own last change. ``target``, the event's number, is filled in on acceptance."""

    says: ClassVar[str] = "undid change {target}"
    target: int = -1


@dataclass(frozen=True, slots=True)
class Redo:
    """Redo the author's last undone change, if they have changed nothing since."""

    says: ClassVar[str] = "redid change {target}"
    target: int = -1


PyramidCommand = (
    ImportPyramid
    | AddUnit
    | RenameUnit
    | CommentUnit
    | DeleteUnit
    | AddContributor
    | RemoveContributor
    | MoveContributor
    | MergeUnits
    | SplitUnit
    | ReorderUnit
)
PeerCommand = ImportMatches | MatchUnit | Unmatch | MarkUnmatched | RemoveMark
Edit = PyramidCommand | PeerCommand | Decide
Command = Edit | Undo | Redo
COMMANDS: tuple[type[Command], ...] = get_args(Command)


def describe(command: Command) -> str:
    """Describe what a command did, to follow its author's name."""
    names = ("unit", "label", "reference", "to", "shown", "new", "id", "target")
    return command.says.format(**{name: getattr(command, name) for name in names if hasattr(command, name)})


# ----------------------------------------------------------------------
# What is annotated: the texts, the state an annotation starts from, and what an annotation of a peer says.


class RefusedError(PyramidionError):
    """A command that is not possible; names the unit, contributor, span and text that prevent it."""


@dataclass(frozen=True, slots=True)
class PeerAnnotation:
    """What one annotation says about one peer summary so far."""

    topic: str
    system: str
    matches: tuple[Match, ...] = ()
    marks: tuple[Mark, ...] = ()

    def count_mentions(self) -> dict[str, int]:
        """How often each matched unit is expressed."""
        counts: dict[str, int] = {}
        for match in self.matches:
            counts[match.unit] = counts.get(match.unit, 0) + 1
        return counts

    def judgments(self, pyramid: Pyramid, judge: str) -> list[Judgment]:
        """One judgment for every unit of the pyramid, 0 if it is not matched, and the count of unmatched content."""
        mentions: dict[str, list[Match]] = {}
        for match in self.matches:
            mentions.setdefault(match.unit, []).append(match)
        of_units = [self._judgment(judge, mentions.get(unit.id, ()), unit=unit.id) for unit in pyramid.units]
        return [*of_units, self._judgment(judge, self.marks, aspect=UNMATCHED)]

    def _judgment(self, judge: str, mentions: Iterable[Match | Mark], *, unit: str = "", aspect: str = "") -> Judgment:
        spans = [mention.spans for mention in mentions]
        evidence = tuple(filter(None, spans))
        return Judgment(self.topic, self.system, judge, len(spans), unit, aspect, evidence=evidence)

    def lost(self, pyramid: Pyramid) -> tuple[Match, ...]:
        """Matches of units that the pyramid no longer has; they do not count until they are matched again."""
        known = {unit.id for unit in pyramid.units}
        return tuple(match for match in self.matches if match.unit not in known)


State = Pyramid | PeerAnnotation


@dataclass(frozen=True)
class Subject:
    """What is annotated: the state it starts from and the texts that spans refer to; for a peer also the pyramid."""

    start: State
    texts: Mapping[str, str]
    pyramid: Pyramid | None = None
    _units: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        units = self.pyramid.units if self.pyramid else ()
        object.__setattr__(self, "_units", frozenset(unit.id for unit in units))

    @classmethod
    def of_pyramid(cls, topic: str, references: Mapping[str, str], name: str = "expert") -> Subject:
        return cls(Pyramid(topic, tuple(references), (), name), references)

    @classmethod
    def of_peer(cls, topic: str, system: str, text: str, pyramid: Pyramid) -> Subject:
        return cls(PeerAnnotation(topic, system), {system: text}, pyramid)

    def check(self, command: Edit) -> None:
        """Refuse a command that does not fit the texts and the pyramid. Not repeated on replay."""
        if isinstance(command, Decide):
            return
        if isinstance(command, PyramidCommand) is not isinstance(self.start, Pyramid):
            raise RefusedError(f"this annotation is of a {'pyramid' if self.pyramid is None else 'peer summary'}")
        for text in _texts(command):
            _check_text(text)
        match command:
            case ImportPyramid(content):
                for unit in content:
                    self._check_contributors(unit.id, unit.contributors, bare=True)
            case AddUnit(unit, _, contributors):
                self._check_contributors(unit, contributors)
            case AddContributor(unit, reference, spans):
                self._check_contributors(unit, (Contributor(reference, spans),))
            case RemoveContributor(unit, reference, spans) if spans:
                self._check_contributors(unit, (Contributor(reference, spans),))
            case MatchUnit(unit, spans):
                self._check_match(unit, spans)
            case MarkUnmatched(spans):
                self._check_peer_spans("content in no unit", spans)
            case ImportMatches(matches, marks):
                for match in matches:
                    self._check_match(match.unit, match.spans, bare=True)
                for mark in marks:
                    self._check_peer_spans("content in no unit", mark.spans, bare=True)

    def _check_contributors(self, unit: str, contributors: Iterable[Contributor], *, bare: bool = False) -> None:
        seen = set()
        for contributor in contributors:
            name = contributor.reference
            where = f"unit {unit}, contributor {name}"
            if name not in self.texts:
                raise RefusedError(
                    f"{where}: unknown reference {name!r}; known references are: {', '.join(self.texts)}"
                )
            if name in seen:
                raise RefusedError(f"{where}: a unit can have at most one contributor per reference")
            seen.add(name)
            self._check_spans(where, contributor.spans, f"reference {name}", self.texts[name], bare)

    def _check_match(self, unit: str, spans: Spans, *, bare: bool = False) -> None:
        if unit not in self._units:
            raise RefusedError(f"the pyramid has no unit {unit!r}")
        self._check_peer_spans(f"match of unit {unit}", spans, bare=bare)

    def _check_peer_spans(self, where: str, spans: Spans, *, bare: bool = False) -> None:
        ((system, text),) = self.texts.items()
        self._check_spans(where, spans, f"peer {system}", text, bare)

    def _check_spans(self, where: str, spans: Spans, name: str, text: str, bare: bool) -> None:
        if not spans and not bare:
            raise RefusedError(f"{where}: no words of {name} are given")
        for span in spans:
            if not span.fits(text):
                raise RefusedError(
                    f"{where}: span {span.start}-{span.end} is not inside the text of {name} ({len(text)} characters)"
                )


def _texts(command: Edit) -> Iterable[str]:
    match command:
        case AddUnit(_, label, _, comment):
            return (label, comment)
        case RenameUnit(_, label) | MergeUnits(_, label) | SplitUnit(_, _, label):
            return (label,)
        case CommentUnit(_, comment):
            return (comment,)
        case ImportPyramid(content):
            return (text for unit in content for text in (unit.label, unit.comment, unit.author, unit.group))
    return ()


def _check_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise RefusedError(
            f"{text[:40]!r} is not valid text: it contains half a character (a lone surrogate)"
        ) from None
