"""What an annotator can do, as values. A command says what is wanted; whether it is possible the state decides.

Names of new things (units, matches, marks) may be left empty: they are given when the command is accepted. Spans count
Unicode code points of the reference or of the peer summary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, get_args

from pyramidion.model import ContentUnit, Contributor, Span

Spans = tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Match:
    """One mention of a unit in the peer summary; without spans where an import did not say where."""

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
    """Begin with the units of a pyramid that exists, exactly as they are. Only while there is no unit."""

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
    """More words of a reference for a unit; they join those it has there already."""

    says: ClassVar[str] = "added words of reference {reference} to unit {unit}"
    unit: str
    reference: str
    spans: Spans


@dataclass(frozen=True, slots=True)
class RemoveContributor:
    """Take a contributor out of a unit, or only the words given."""

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
    """Make one unit of several. It keeps the name and place of the first, and its label unless another is given."""

    says: ClassVar[str] = "merged units {shown}"
    units: tuple[str, ...]
    label: str = ""

    @property
    def shown(self) -> str:
        return ", ".join(self.units)


@dataclass(frozen=True, slots=True)
class SplitUnit:
    """Put some contributors of a unit into a new one, which stands right after it."""

    says: ClassVar[str] = "split unit {new} off unit {unit}"
    unit: str
    references: tuple[str, ...]
    label: str = ""
    new: str = ""


@dataclass(frozen=True, slots=True)
class ReorderUnit:
    """Put a unit in front of another, or at the end."""

    says: ClassVar[str] = "moved unit {unit} to another place"
    unit: str
    before: str = ""


# -- annotating a peer ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ImportMatches:
    """Begin with an annotation that exists. Only while nothing is matched or marked."""

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


# -- going back and forth ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Undo:
    """Take back one's own last change. ``target``, the event's number, is filled in on acceptance."""

    says: ClassVar[str] = "undid change {target}"
    target: int = -1


@dataclass(frozen=True, slots=True)
class Redo:
    """Bring back what one undid last, as long as one has changed nothing since."""

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
Edit = PyramidCommand | PeerCommand
Command = Edit | Undo | Redo
COMMANDS: tuple[type[Command], ...] = get_args(Command)


def describe(command: Command) -> str:
    """What a command did, to go after its author's name."""
    names = ("unit", "label", "reference", "to", "shown", "new", "id", "target")
    return command.says.format(**{name: getattr(command, name) for name in names if hasattr(command, name)})
