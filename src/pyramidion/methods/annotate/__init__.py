"""Expert annotation: pyramids and peers annotated by commands, kept as events, undone and redone without limit."""

from pyramidion.methods.annotate.commands import Command, Mark, Match, Redo, Undo, describe
from pyramidion.methods.annotate.log import Annotation, ConflictError, Event, replay
from pyramidion.methods.annotate.subject import PeerAnnotation, RefusedError, State, Subject

__all__ = [
    "Annotation",
    "Command",
    "ConflictError",
    "Event",
    "Mark",
    "Match",
    "PeerAnnotation",
    "Redo",
    "RefusedError",
    "State",
    "Subject",
    "Undo",
    "describe",
    "replay",
]
