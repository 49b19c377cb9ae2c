"""What a teacher corrects on the page `check.html`: a small file, and judgments of a person that replace a program's.

A line of the file is an object: ``topic``, ``system`` and ``unit`` say what is corrected, ``verdict`` is "expressed" or
"not found". The page also writes the unit's ``label`` and a fingerprint of the summary (``text``), so that a correction
never reaches words that nobody has looked at. The file holds all corrections: it replaces earlier ones.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from pyramidion.errors import InputError, Problems, UsageError
from pyramidion.formats.files import read_objects
from pyramidion.judges import with_judge
from pyramidion.scoring.choice import Choice, Weights
from pyramidion.scoring.explain import counted_judges, explaining_choice
from pyramidion.scoring.explanation import Explanation
from pyramidion.study import Judge, Judgment, Study
from pyramidion.study.judgments import EXPRESSED, NOT_FOUND, Mention

TEACHER = "teacher"
"""Who corrects; with a number if the study has a judge of this name, or if several judges are corrected."""
FIELDS = ("topic", "system", "unit", "verdict")


@dataclass(frozen=True)
class Correction:
    """Whether a summary expresses a unit, as a person says who has seen what a program says. ``where`` is the place in
    a file; ``label`` and ``text`` may be empty, and are checked where they are not."""

    topic: str
    system: str
    unit: str
    expressed: bool
    label: str = ""
    text: str = ""
    where: str = field(default="", compare=False)

    def to_json(self) -> dict[str, str]:
        """The object in a file."""
        verdict = EXPRESSED if self.expressed else NOT_FOUND
        values = (self.topic, self.system, self.unit, verdict, self.label, self.text)
        return dict(zip((*FIELDS, "label", "text"), values, strict=True))


def fingerprint(text: str) -> str:
    """Tells one version of a summary from another."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


# -- the file ------------------------------------------------------------------------------------------------------


def read_corrections(path: str | Path) -> list[Correction]:
    """The corrections in a file; InputError names every line that cannot be used."""
    if not Path(path).is_file():
        raise UsageError(f"{path}: no such file; `check.html` in a folder of feedback pages writes one")
    problems = Problems()
    read: dict[tuple[str, str, str], Correction] = {}
    for where, held in read_objects(Path(path), problems):
        if (what := _misfit(held)) is not None:
            problems.error(where, what)
            continue
        question = held["topic"], held["system"], held["unit"]
        label, text = held.get("label", ""), held.get("text", "")
        made = Correction(*question, held["verdict"] == EXPRESSED, label, text, where)
        if (other := read.setdefault(question, made)) != made:
            what = f"unit {made.unit} of {made.system} on {made.topic} has another correction at {other.where}"
            problems.error(where, f"{what}; keep one of them")
    if problems.errors:
        raise InputError(problems)
    return list(read.values())


def _misfit(held: Mapping[str, Any]) -> str | None:
    """What is wrong with an object in the file."""
    for name in FIELDS:
        if not isinstance(held.get(name), str):
            return f"field {name!r} {'must be text' if name in held else 'is missing'}"
    for name in ("label", "text"):
        if not isinstance(held.get(name, ""), str):
            return f"field {name!r} must be text"
    if held["verdict"] not in (EXPRESSED, NOT_FOUND):
        return f'the verdict on unit {held["unit"]} must be "{EXPRESSED}" or "{NOT_FOUND}", not "{held["verdict"]}"'
    return None


def write_corrections(corrections: Iterable[Correction]) -> str:
    """The text of a file."""
    lines = (json.dumps(each.to_json(), ensure_ascii=False, separators=(",", ":")) for each in corrections)
    return "".join(f"{line}\n" for line in lines)


def corrections_of(summaries: Iterable[Explanation]) -> list[Correction]:
    """The corrections that summaries were explained with."""
    return [
        Correction(peer.topic, peer.system, id, each.verdict(id) == EXPRESSED, labels[id], fingerprint(peer.text))
        for each in summaries
        for peer, labels in [(each.peer, {unit.id: unit.label for unit in each.pyramid.units})]
        for id in sorted(each.corrected.keys() & labels.keys())
    ]


# -- the study -----------------------------------------------------------------------------------------------------


def correct(
    study: Study,
    corrections: Iterable[Correction],
    *,
    method: str | None = None,
    pyramid: str | None = None,
    judges: str | None = None,
    weights: Weights | None = None,
) -> Study:
    """The study in which a person's corrections replace the verdicts that summaries are explained by, and all earlier
    corrections of these. InputError lists every correction that does not fit the study."""
    choice = explaining_choice(study, method=method, pyramid=pyramid, judges=judges, weights=weights)
    corrected = correctable_judge(counted_judges(study, choice))
    if corrected is None:
        held = choice.on_units.judge.present_names()
        who = ", ".join(held[:5]) + (", ..." if len(held) > 5 else "")
        raise UsageError(
            f"corrections replace the verdicts of one expert or model, and these are by {who or 'nobody'}; name one "
            "with judges (on the command line --judges)"
        )
    given = list(corrections)
    _check(study, choice, given)
    corrector = _corrector(study, corrected.id)
    evidence = _evidence(study, corrected.id, given)
    new = [
        Judgment(
            each.topic,
            each.system,
            corrector.id,
            float(each.expressed),
            unit=each.unit,
            evidence=evidence.get((each.topic, each.system, each.unit), ()) if each.expressed else (),
        )
        for each in given
    ]
    known = {(topic, unit.id) for topic, held in choice.pyramids.items() for unit in held.units}
    said = study.judgments
    earlier = said.judge.is_in({corrector.id})
    for row in np.flatnonzero(earlier).tolist():
        earlier[row] = (said.topic[row], said.unit[row]) in known
    judgments = said.take(~earlier) + new
    others = tuple(judge for judge in study.judges if judge.id != corrector.id)
    corrects = judgments.judge.is_in({corrector.id}).any()
    return replace(study, judges=with_judge(study.judges, corrector) if corrects else others, judgments=judgments)


def correctable_judge(judges: Iterable[Judge]) -> Judge | None:
    """The only judge of the units; None where several judged, whose answers are joined, or a crowd."""
    first = [judge for judge in judges if not judge.corrects]
    return first[0] if len(first) == 1 and first[0].kind != "crowd" else None


def _corrector(study: Study, corrected: str) -> Judge:
    """Who corrects a judge: whoever did so before, or the first teacher whose name is free."""
    taken = {judge.id for judge in study.judges}
    known = next((judge for judge in study.judges if judge.corrects == corrected), None)
    number = 1
    while (name := TEACHER if number == 1 else f"{TEACHER}-{number}") in taken:
        number += 1
    return known or Judge(name, "expert", corrects=corrected)


def _check(study: Study, choice: Choice, corrections: Iterable[Correction]) -> None:
    problems = Problems()
    units = {(topic, unit.id): unit for topic, held in choice.pyramids.items() for unit in held.units}
    for each in corrections:
        where = each.where or f"correction of unit {each.unit}"
        peer, unit = study.summary(each.topic, each.system), units.get((each.topic, each.unit))
        if each.topic not in choice.pyramids:
            problems.error(where, f"there is no topic {each.topic!r} with a pyramid {choice.pyramid!r}")
        elif peer is None:
            problems.error(where, f"topic {each.topic} has no summary by {each.system!r}")
        elif unit is None:
            problems.error(where, f"topic {each.topic} has no unit {each.unit!r} in pyramid {choice.pyramid!r}")
        elif each.label and each.label != unit.label:
            what = f"unit {each.unit} of topic {each.topic} now reads {unit.label!r}, not {each.label!r}"
            problems.error(where, f"{what}; check it again and remove this line")
        elif each.text and each.text != fingerprint(peer.text):
            what = f"the summary by {each.system} on {each.topic} has changed since unit {each.unit} was checked"
            problems.error(where, f"{what}; check it again and remove this line")
    if problems.errors:
        raise InputError(problems)


def _evidence(
    study: Study, judge: str, corrections: Iterable[Correction]
) -> dict[tuple[str, str, str], tuple[Mention, ...]]:
    """The words that a judge marked for what is corrected."""
    wanted = {(each.topic, each.system, each.unit) for each in corrections}
    said = study.judgments.take(study.judgments.judge.is_in({judge}))
    marked = (((said.topic[row], said.system[row], said.unit[row]), held) for row, held in said.evidence.items())
    return {question: held for question, held in marked if question in wanted}
