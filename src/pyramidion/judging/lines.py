"""Questions in a file of JSON Lines that need not fit into memory: each line with its units, and one summary.

An answer is the same object with ``judge``, ``threshold`` (null for probabilities), ``presence`` (a value for each
unit), ``verdicts`` (how it reads) and ``score``, the mean of the values. Whatever else the line holds is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count, islice
from math import isnan
from pathlib import Path

from pyramidion.engines import Advance, ThisProcess, Where, Work, in_order, started
from pyramidion.errors import InputError, Problems
from pyramidion.formats.files import BadLineError, parse_object, read_lines
from pyramidion.formats.resumable import JsonLine
from pyramidion.judges import PresenceJudge, answers, bounds_of, cut, make_judge
from pyramidion.study.judgments import verdict

ANSWERED = frozenset({"presence", "verdicts", "score"})
DIGITS = 6
LINES_AT_ONCE = 256
"""Lines that a worker is handed together."""


@dataclass(frozen=True)
class LineBatch:
    """Some lines, and their place among all such."""

    place: int
    lines: tuple[JsonLine, ...]

    @property
    def size(self) -> int:
        return len(self.lines)


def answer_lines(
    lines: Iterable[JsonLine], judge: str | PresenceJudge, threshold: float | None = None, *, engine: Where = None
) -> Iterator[JsonLine]:
    """In order; by probabilities, or by yes and no with a threshold. What was not answered is null."""
    with started(engine) as running:
        if isinstance(running, ThisProcess):
            yield from _answers(lines, make_judge(judge) if isinstance(judge, str) else judge, threshold)
            return
        for answered in in_order(running.run(partial(_make_answering, judge, threshold), _batches(lines))):
            yield from answered


def _batches(lines: Iterable[JsonLine]) -> Iterator[LineBatch]:
    source = iter(lines)
    for place in count():
        some = tuple(islice(source, LINES_AT_ONCE))
        if not some:
            return
        yield LineBatch(place, some)


def _make_answering(
    judge: str | PresenceJudge, threshold: float | None, threads: int | None
) -> Work[LineBatch, list[JsonLine]]:
    presence = make_judge(judge, threads=threads) if isinstance(judge, str) else judge

    def work(batch: LineBatch, _advance: Advance) -> list[JsonLine]:
        return list(_answers(batch.lines, presence, threshold))

    return work


def _answers(lines: Iterable[JsonLine], judge: PresenceJudge, threshold: float | None) -> Iterator[JsonLine]:
    bounds = bounds_of(judge)
    blocks = ((line, block) for line in lines for block in cut(line["units"], [line["summary"]]))
    presence: list[float | None] = []
    for line, block, verdicts in answers(blocks, judge):
        presence += [_value(value, threshold) for value in verdicts.probability[:, 0].tolist()]
        if block.units.stop == len(line["units"]):
            given = [value for value in presence if value is not None]
            score = round(sum(given) / len(given), DIGITS) if given else None
            words = [None if value is None else verdict(value, *bounds) for value in presence]
            ours = {"judge": judge.name, "threshold": threshold, "presence": presence, "verdicts": words}
            yield {**line, **ours, "score": score}
            presence = []


def _value(probability: float, threshold: float | None) -> float | None:
    if isnan(probability):
        return None
    return round(probability, DIGITS) if threshold is None else float(probability >= threshold)


def read_questions(path: Path, *, skip: int = 0) -> Iterator[JsonLine]:
    """The lines of a file after the first ones; InputError names an invalid line."""
    problems = Problems()
    lines = ((number, text) for number, text in read_lines(path, problems) if text.strip())
    for number, text in islice(lines, skip, None):
        where = f"{path}, line {number}"
        try:
            content = parse_object(text)
        except BadLineError as error:
            problems.error(where, str(error))
            break
        units = content.get("units")
        if not isinstance(units, list) or not units or not all(isinstance(unit, str) for unit in units):
            problems.error(where, '"units" must be a list of texts, at least one')
        if not isinstance(content.get("summary"), str):
            problems.error(where, '"summary" must be a text')
        if problems.errors:
            break
        yield content
    if problems.errors:
        raise InputError(problems)
