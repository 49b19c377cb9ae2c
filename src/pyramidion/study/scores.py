"""Scores never travel alone: a table of them carries the signature of how they were made and what was missing."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from pyramidion import distribution
from pyramidion.errors import Problem, needs_extra
from pyramidion.terminal import TerminalTable, printable

if TYPE_CHECKING:
    import pandas


class Score(NamedTuple):
    """One value. ``topic`` is None for a system's mean over topics; ``value`` is None where undefined."""

    topic: str | None
    system: str
    measure: str
    value: float | None


@dataclass(frozen=True, slots=True)
class Signature:
    """How scores were made, short enough to print under a table: ``pyramidion|method:lite|tie:absent|v:0.1.0``."""

    method: str
    choices: tuple[tuple[str, str], ...] = ()
    version: str = field(default_factory=distribution.version)

    @classmethod
    def of(cls, method: str, **choices: object) -> Signature:
        return cls(method, tuple((name.replace("_", "-"), _plain(value)) for name, value in choices.items()))

    @classmethod
    def parse(cls, text: str) -> Signature:
        """Parse a signature; ValueError if the text is not one."""
        name, *parts = text.split("|")
        named = [tuple(part.partition(":")[::2]) for part in parts]
        if name != "pyramidion" or len(named) < 2 or named[0][0] != "method" or named[-1][0] != "v":
            raise ValueError(f"{text!r} is not a signature")
        return cls(named[0][1], tuple((key, value) for key, value in named[1:-1]), named[-1][1])

    @property
    def is_simulated(self) -> bool:
        """Whether answers of a rehearsal are in what was made."""
        return ("simulated", "yes") in self.choices

    def as_simulated(self) -> Signature:
        return self if self.is_simulated else replace(self, choices=(*self.choices, ("simulated", "yes")))

    def __str__(self) -> str:
        parts = [f"{name}:{value}" for name, value in self.choices]
        return "|".join(["pyramidion", f"method:{self.method}", *parts, f"v:{self.version}"])


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple | list | frozenset | set):
        return "+".join(sorted(map(str, value)))
    return str(value)


FAMILIAR = (
    *("modified", "extent", "coverage", "original", "quality", "comprehensive", "precision", "recall", "raw", "lite"),
    *("overall", "linguistic", "content", "responsiveness"),
    *("rouge-1-recall", "rouge-2-recall", "rouge-l-recall", "rouge-su4-recall"),
)
"""The default order of measures: analyses use the first by default."""


def usual_order(measures: Iterable[str]) -> tuple[str, ...]:
    """Familiar measures first, then the others by name: the same whatever the order of rows."""
    place = {measure: number for number, measure in enumerate(FAMILIAR)}
    return tuple(sorted(set(measures), key=lambda measure: (place.get(measure, len(FAMILIAR)), measure)))


def best_first(values: Iterable[float | None], names: Iterable[str]) -> list[int]:
    """Places from the greatest value to the least; undefined ones last, and by name what is equal but for rounding."""
    known = [-math.inf if value is None or math.isnan(value) else float(f"{value:.12g}") for value in values]
    rows = [(-value, name) for value, name in zip(known, names, strict=True)]
    return sorted(range(len(rows)), key=rows.__getitem__)


@dataclass(frozen=True, repr=False)
class ScoreTable:
    """Scores per summary and per system, with their signature and notes on what was missing or excluded.

    ``order`` is the order of measures, if a method or the columns of a file give one; rows never do.
    """

    scores: tuple[Score, ...]
    signature: Signature
    notes: tuple[Problem, ...] = ()
    order: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def of_summaries(cls, scores: Iterable[Score], signature: Signature, notes: Iterable[Problem] = ()) -> ScoreTable:
        """Add each system's mean over its topics to per-summary scores. Undefined scores are left out of the mean.

        Rows are by topic and system; measures keep the order in which they come, which a method decides.
        """
        given = list(scores)
        order = {measure: place for place, measure in enumerate(dict.fromkeys(score.measure for score in given))}
        per_summary = tuple(sorted(given, key=lambda s: (s.topic or "", s.system, order[s.measure])))
        values: dict[tuple[str, str], list[float]] = {}
        for score in per_summary:
            cell = values.setdefault((score.system, score.measure), [])
            if score.value is not None:
                cell.append(score.value)
        means = tuple(
            Score(None, system, measure, math.fsum(cell) / len(cell) if cell else None)
            for (system, measure), cell in sorted(values.items())
        )
        return cls(per_summary + means, signature, tuple(notes), tuple(order))

    @cached_property
    def _values(self) -> Mapping[tuple[str | None, str, str], float | None]:
        return {(score.topic, score.system, score.measure): score.value for score in self.scores}

    @cached_property
    def measures(self) -> tuple[str, ...]:
        """The measures that have scores, in their order."""
        held = {score.measure for score in self.scores}
        given = tuple(measure for measure in self.order if measure in held)
        return (*given, *usual_order(held - set(given)))

    @property
    def systems(self) -> tuple[str, ...]:
        return tuple(sorted({score.system for score in self.scores}))

    @property
    def topics(self) -> tuple[str, ...]:
        return tuple(sorted({score.topic for score in self.scores if score.topic is not None}))

    def value(self, system: str, measure: str, topic: str | None = None) -> float | None:
        """One score; KeyError if the table has no such cell."""
        return self._values[topic, system, measure]

    def per_system(self, measure: str) -> dict[str, float | None]:
        """A system's mean over topics, for every system."""
        return {s.system: s.value for s in self.scores if s.topic is None and s.measure == measure}

    def per_summary(self, measure: str) -> dict[tuple[str, str], float | None]:
        """Scores by (topic, system)."""
        return {(s.topic, s.system): s.value for s in self.scores if s.topic is not None and s.measure == measure}

    def ranking(self, measure: str) -> list[tuple[str, float | None]]:
        """Systems from best to worst; undefined ones last, equal ones by name."""
        means = self.per_system(measure)
        systems = list(means)
        return [(systems[place], means[systems[place]]) for place in best_first(means.values(), systems)]

    @property
    def is_simulated(self) -> bool:
        return self.signature.is_simulated

    def as_simulated(self) -> ScoreTable:
        """The same scores, whose signature says that answers of a rehearsal are in them."""
        return replace(self, signature=self.signature.as_simulated())

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        return f"<ScoreTable: {len(self.systems)} systems, {len(self.topics)} topics, {', '.join(self.measures)}>"

    def __iter__(self) -> Iterator[Score]:
        return iter(self.scores)

    # -- how people see it ----------------------------------------------------------------------------

    def _grid(self) -> tuple[list[str], list[list[str]]]:
        measures = self.measures
        header = ["system", *measures]
        if not measures:
            return header, []
        order = [system for system, _ in self.ranking(measures[0])]
        order += [system for system in self.systems if system not in set(order)]
        rows = [[s, *(_format(self._values.get((None, s, m))) for m in measures)] for s in order]
        return list(map(printable, header)), [list(map(printable, row)) for row in rows]

    def __str__(self) -> str:
        header, rows = self._grid()
        widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
        lines = [
            "  ".join(
                cell.ljust(width) if i == 0 else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in [header, *rows]
        ]
        return "\n".join([*lines, str(self.signature), *_note_lines(self.notes)])

    def __rich__(self) -> TerminalTable:
        header, rows = self._grid()
        return TerminalTable(header, rows, caption=str(self.signature))

    def _repr_html_(self) -> str:
        header, rows = self._grid()
        head = "".join(f"<th>{html.escape(cell)}</th>" for cell in header)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        return (
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
            + "".join(f"<p>{html.escape(line)}</p>" for line in _note_lines(self.notes))
            + f"<details><summary>Signature</summary><code>{html.escape(str(self.signature))}</code></details>"
        )

    def to_pandas(self) -> pandas.DataFrame:
        """The long table: topic, system, measure, value. System means have a missing topic."""
        with needs_extra("ScoreTable.to_pandas", "pandas"):
            import pandas
        return pandas.DataFrame(list(self.scores), columns=list(Score._fields))


def _format(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _note_lines(notes: tuple[Problem, ...], most: int = 5) -> list[str]:
    lines = [f"! {note}" for note in notes[:most]]
    return [*lines, f"! ... and {len(notes) - most} more notes"] if len(notes) > most else lines
