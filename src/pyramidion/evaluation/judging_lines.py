"""Judge a file line by line, however long it is: memory holds a few hundred lines, and a run that stopped goes on.

A line is an object with ``units`` and a ``summary``; whatever else it holds is kept. Its answer is the same object with
``judge``, ``threshold`` (null for probabilities), ``presence`` (a value for each unit) and ``score``, their mean.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pyramidion.errors import InputError, Problems, UsageError
from pyramidion.evaluation.judging import answered
from pyramidion.formats.files import BadLineError, parse_object, read_lines
from pyramidion.judges import Part, PresenceJudge, cut

DIGITS = 6


Line = dict[str, Any]
"""What stands in a line; ``units`` and ``summary`` are known to be there."""


def judge_lines(lines: Iterable[Line], judge: PresenceJudge, *, threshold: float | None = None) -> Iterator[Line]:
    """The answers in order; by probabilities, or by yes and no from a threshold on."""
    values: list[float] = []
    for (line, part), verdicts in answered(_parts(lines), judge):
        found = verdicts.probability[:, 0].tolist()
        values += found if threshold is None else [float(value >= threshold) for value in found]
        if part.units.stop == len(line["units"]):
            presence, values = [round(value, DIGITS) for value in values], []
            score = round(sum(presence) / len(presence), DIGITS)
            yield {**line, **_how(judge, threshold), "presence": presence, "score": score}


def read(path: Path, *, skip: int = 0) -> Iterator[Line]:
    """The lines of a file after the first so many; InputError names the line that is not as it should be."""
    problems = Problems()
    place = 0
    for number, text in read_lines(path, problems):
        if not text.strip():
            continue
        place += 1
        if place <= skip:
            continue
        content = _content(text, f"{path}, line {number}", problems)
        if problems.errors:
            raise InputError(problems)
        yield content
    if problems.errors:
        raise InputError(problems)


def judge_file(source: Path, target: Path, judge: PresenceJudge, *, threshold: float | None = None) -> Iterator[Line]:
    """Judge a file into another. Answers wait beside the target in ``.part``, which takes its name at the end; a run
    that was interrupted goes on after the last of them. Yields each new answer when it is written."""
    part = target.with_name(target.name + ".part")
    done = _resume(part, source, _how(judge, threshold))
    with part.open("a", encoding="utf-8") as file:
        for answer in judge_lines(read(source, skip=done), judge, threshold=threshold):
            file.write(json.dumps(answer, ensure_ascii=False) + "\n")
            yield answer
    part.replace(target)


def _how(judge: PresenceJudge, threshold: float | None) -> Line:
    return {"judge": judge.name, "threshold": threshold}


def _resume(part: Path, source: Path, how: Line) -> int:
    """How many answers are there already. What was cut off in the middle of a line is taken away."""
    if not part.exists():
        return 0
    done, end, last = 0, 0, b""
    with part.open("rb") as file:
        for raw in file:
            if raw.endswith(b"\n"):
                done, end, last = done + 1, end + len(raw), raw
    with part.open("ab") as file:
        file.truncate(end)
    if done and not _continues(json.loads(last), next(read(source, skip=done - 1), None), how):
        raise UsageError(f"{part} holds answers of another judge, threshold or file; remove it to begin again")
    return done


def _continues(answer: Line, line: Line | None, how: Line) -> bool:
    ours = {*how, "presence", "score"}  # a judged file may be judged again
    same = line is not None and all(answer.get(name) == line[name] for name in line if name not in ours)
    return same and all(answer.get(name) == value for name, value in how.items())


def _parts(lines: Iterable[Line]) -> Iterator[tuple[Line, Part]]:
    for line in lines:
        yield from ((line, part) for part in cut(line["units"], [line["summary"]]))


def _content(text: str, where: str, problems: Problems) -> Line:
    try:
        content = parse_object(text)
    except BadLineError as error:
        problems.error(where, str(error))
        return {}
    units, summary = content.get("units"), content.get("summary")
    if not isinstance(units, list) or not units or not all(isinstance(unit, str) for unit in units):
        problems.error(where, '"units" must be a list of texts, at least one')
    if not isinstance(summary, str):
        problems.error(where, '"summary" must be a text')
    return content
