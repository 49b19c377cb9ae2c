"""Which column of a table of texts holds what: one row per summary, or one column per system."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
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
from pyramidion.formats.rows import RowTable

_CALLED = "|".join(sorted(REFERENCE, key=len, reverse=True)).replace("_", "[ _-]?")
_NUMBERED = re.compile(rf"(?:{_CALLED})[ _.-]?(?:\d+|[a-z])", re.IGNORECASE)
ABOUT = (
    *("split", "url", "date", "dataset", "language", "lang", "domain", "category", "title", "name", "type"),
    "source_id",
)
"""Columns that say something about a row; beside columns of systems they are not systems."""


def columns_option(columns: Columns) -> str:
    """The option that names columns, as a shell takes it literally."""
    return f"--columns {shlex.quote(','.join(f'{role}={name}' for role, held in columns.items() for name in held))}"


def numbered_references(names: Sequence[str]) -> tuple[str, ...]:
    """Columns such as reference_1 and reference_2, where none is called like the reference itself."""
    return () if matching(names, REFERENCE) else tuple(name for name in names if _NUMBERED.fullmatch(name))


class NoTextsError(UsageError):
    """A table that is not a table of texts, or that is one in several ways; the message says what is missing."""


@dataclass(frozen=True)
class TextColumns:
    """With ``wide`` there is a column of summaries for each system, named after it; ``left_out`` are columns that were
    not taken for systems for what their cells have. ``note`` says what was decided by the cells."""

    topic: str | None
    system: str | None
    summaries: tuple[str, ...]
    references: tuple[str, ...]
    wide: bool
    unused: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    note: str = ""

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


def text_columns(table: RowTable, given: Columns, *, among_others: bool = False) -> TextColumns:
    """What the columns of a table hold, by the names that are given or else recognised, and where names do not tell, by
    their cells; raises `NoTextsError`. Among other tables, which may hold the references, none is made of a summary.
    """
    names = table.columns
    taken = {name for held in given.values() for name in held}
    free = [name for name in names if name not in taken]
    references = given.get("reference", tuple(matching(free, REFERENCE)))
    summaries = given.get("summary", tuple(matching(free, PREDICTION)))
    if not references:
        references = numbered_references(free)
    system = given["system"][0] if "system" in given else next(iter(matching(free, SYSTEM)), None)
    topic = given["topic"][0] if "topic" in given else _topic(table, free, system)
    about = {system, topic, *taken, *matching(names, (*SOURCE, *INDEX, *ABOUT))}
    rest = [name for name in names if name not in {*summaries, *references, *about}]
    note = ""
    if not references and "summary" not in given and matching(summaries[:1], ("summary",)):
        written = [name for name in rest if table.holds_texts(name)] if system is None and not among_others else []
        if len(summaries) == 2 or (len(summaries) == 1 and written):
            # beside a prediction, or texts by systems, what is called the summary is the one to be reached, as in XSum
            references, summaries = summaries[:1], summaries[1:]
            note = "" if summaries else f"{references[0]!r} is taken for the reference beside {', '.join(written)}"
    wide = len(given.get("summary", ())) > 1
    left_out: tuple[str, ...] = ()
    if not summaries and references and system is None:
        summaries, left_out = _systems(table, rest)
        wide = True
    for role, held in (("summary", () if wide else summaries), ("reference", references)):
        if len(held) > 1 and role not in given and not all(map(_NUMBERED.fullmatch, held)):
            raise NoTextsError(f"several columns may be the {role}: {', '.join(held)}")
    if not summaries and not references:
        raise NoTextsError("it has no column of summaries and none of references")
    known = {*summaries, *references, system, topic, *taken, *matching(names, (*SOURCE, *INDEX))}
    unused = tuple(name for name in names if name not in known)
    return TextColumns(
        topic, system, tuple(summaries), tuple(references), wide and bool(summaries), unused, left_out, note
    )


def _topic(table: RowTable, free: Sequence[str], system: str | None) -> str | None:
    """The column of topics. Of several, one that rows share: the other numbers the rows."""
    candidates = matching(free, TOPIC)
    if len(candidates) > 1:
        shared = [name for name in candidates if table.repeats(name)]
        apart = [name for name in shared if system is not None and not table.repeats(name, system)]
        candidates = apart or shared or candidates
    return next(iter(candidates), None) or next(
        (name for name in matching(free, MAYBE_TOPIC) if table.holds_names(name)), None
    )


def _systems(table: RowTable, names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns that systems wrote, and those that have nothing but labels where others have sentences."""
    written = [name for name in names if not table.holds_numbers(name)]
    if any(map(table.holds_texts, written)):
        labels = tuple(filter(table.holds_labels, written))
        return tuple(name for name in written if name not in labels), labels
    return tuple(written), ()
