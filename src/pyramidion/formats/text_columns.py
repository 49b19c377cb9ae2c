"""Which column of a table of texts holds what: one row per summary, or one column per system."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pyramidion.errors import UsageError
from pyramidion.formats.columns import (
    INDEX,
    MAYBE_TOPIC,
    PREDICTION,
    REFERENCE,
    SOURCE,
    SYSTEM,
    TOPIC,
    Columns,
    matching,
)

_NUMBERED = re.compile(rf"(?:{'|'.join(sorted(REFERENCE, key=len, reverse=True))})[ _.-]?(?:\d+|[a-z])", re.IGNORECASE)
_ABOUT = {
    "split",
    "url",
    "date",
    "dataset",
    "language",
    "lang",
    "domain",
    "category",
    "title",
    "name",
    "type",
    "source_id",
}
"""Columns that say something about a row; beside columns of systems they are no systems."""


def numbered_references(names: Sequence[str]) -> tuple[str, ...]:
    """Columns such as reference_1 and reference_2, where none is called like the reference itself."""
    return () if matching(names, REFERENCE) else tuple(name for name in names if _NUMBERED.fullmatch(name))


class NoTextsError(UsageError):
    """A table that is no table of texts, or that is one in several ways; the message says what is missing."""


@dataclass(frozen=True)
class TextColumns:
    """With ``wide`` there is a column of summaries for each system, named after it."""

    topic: str | None
    system: str | None
    summaries: tuple[str, ...]
    references: tuple[str, ...]
    wide: bool
    unused: tuple[str, ...]

    def described(self, one_system: str, numbered: str) -> str:
        parts = [f"topic from {self.topic}" if self.topic is not None else numbered]
        if not self.wide and self.summaries:
            parts.append(one_system if self.system is None else f"system from {self.system}")
            parts.append(f"summary from {self.summaries[0]}")
        if self.references:
            parts.append(f"reference{'s' * (len(self.references) > 1)} from {', '.join(self.references)}")
        if self.wide:
            shown = ", ".join(self.summaries[:5]) + (", ..." if len(self.summaries) > 5 else "")
            parts.append(f"system{'s' * (len(self.summaries) > 1)} {shown}")
        kind = "one column per system" if self.wide else "one row per summary" if self.summaries else "references"
        return f"a table of texts, {kind}: {', '.join(parts)}"


def text_columns(
    names: Sequence[str], given: Columns, holds_numbers: Callable[[str], bool], is_short: Callable[[str], bool]
) -> TextColumns:
    """What the columns of a table hold, by the names that are given or else recognised; raises `NoTextsError`.

    ``holds_numbers`` and ``is_short`` say what a column has in its cells: nothing but numbers, or names.
    """
    taken = {name for held in given.values() for name in held}
    free = [name for name in names if name not in taken]

    def one_of(role: str, known: Sequence[str]) -> str | None:
        return given[role][0] if role in given else next(iter(matching(free, known)), None)

    references = given.get("reference", tuple(matching(free, REFERENCE)))
    summaries = given.get("summary", tuple(matching(free, PREDICTION)))
    if not references:
        references = tuple(name for name in free if _NUMBERED.fullmatch(name))
    if not references and "summary" not in given and len(summaries) == 2 and summaries[0].lower() == "summary":
        # beside a prediction, what is called the summary is the one to be reached, as in XSum
        references, summaries = summaries[:1], summaries[1:]
    system, topic = one_of("system", SYSTEM), one_of("topic", TOPIC)
    if topic is None:
        topic = next((name for name in matching(free, MAYBE_TOPIC) if is_short(name)), None)
    known = {*summaries, *references, system, topic, *taken, *matching(names, (*SOURCE, *INDEX))}
    rest = [name for name in names if name not in known]
    wide = len(given.get("summary", ())) > 1
    if not summaries and references and system is None:
        summaries = tuple(name for name in rest if name.lower() not in _ABOUT and not holds_numbers(name))
        rest = [name for name in rest if name not in summaries]
        wide = True
    for role, held in (("summary", () if wide else summaries), ("reference", references)):
        if len(held) > 1 and role not in given and not all(map(_NUMBERED.fullmatch, held)):
            listed = ", ".join(held)
            raise NoTextsError(
                f"several columns may be the {role}: {listed}; say which with --columns {role}={held[0]}"
            )
    if not summaries and not references:
        raise NoTextsError("it has no column of summaries and none of references")
    return TextColumns(topic, system, tuple(summaries), tuple(references), wide and bool(summaries), tuple(rest))
