"""Which pyramid and which judges a method looks at, where a study has several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

import numpy as np

from pyramidion.errors import UsageError
from pyramidion.methods.columns import group, is_in, ranks, take
from pyramidion.model import Judgments, Pyramid, Study
from pyramidion.model.judgments import JudgeKind


@dataclass(frozen=True)
class Choice:
    """The pyramids by topic, the judgments of the chosen judges, and how to name both in a signature."""

    pyramid: str
    pyramids: dict[str, Pyramid]
    judges: str
    judgments: Judgments

    @property
    def on_units(self) -> Judgments:
        """Only judgments on the units of the chosen pyramids."""
        known = {(topic, unit.id) for topic, pyramid in self.pyramids.items() for unit in pyramid.units}
        named = take(self.judgments, is_in(self.judgments.unit, {unit for _, unit in known}))
        pairs = group(ranks(named.topic), ranks(named.unit))
        chosen = np.fromiter(
            ((named.topic[row], named.unit[row]) in known for row in pairs.first.tolist()),
            dtype=bool,
            count=len(pairs),
        )
        return take(named, chosen[pairs.of_row]) if len(named) else named


def choose(study: Study, *, kind: JudgeKind, pyramid: str | None, judges: str | None) -> Choice:
    """Defaults of a method: the pyramid named after its kind of judges, else the only one; likewise the judges.

    ``judges`` is a kind of judge, the id of one judge, or "all".
    """
    name = pyramid if pyramid is not None else _default_pyramid(study, kind)
    pyramids = {p.topic: p for p in study.pyramids if p.name == name}
    if not pyramids:
        raise UsageError(f"the study has no pyramid called {name!r}; it has: {_listed(study.pyramid_names)}")
    named, judgments = choose_judges(study, kind=kind, judges=judges)
    return Choice(name, pyramids, named, judgments)


def _default_pyramid(study: Study, kind: JudgeKind) -> str:
    names = study.pyramid_names
    if not names:
        raise UsageError("the study has no pyramid, so there is nothing to score against")
    if kind in names:
        return kind
    if len(names) == 1:
        return names[0]
    raise UsageError(f"the study has several pyramids; choose one of {_listed(names)}")


def choose_judges(study: Study, *, kind: JudgeKind | None, judges: str | None) -> tuple[str, Judgments]:
    """The judgments by the wanted judges. By default those of the method's kind, or all where there are none."""
    judgments = study.judgments
    if judges is None:
        preferred = take(judgments, is_in(judgments.judge, study.judges_of(kind))) if kind else judgments
        on_units = any(preferred.unit.names[code] for code in set(preferred.unit.codes))
        return (str(kind), preferred) if kind and on_units else ("all", judgments)
    if judges == "all":
        return judges, judgments
    if judges in get_args(JudgeKind):
        wanted = frozenset(judge.id for judge in study.judges if judge.kind == judges)
    else:
        wanted = frozenset({judges})
        if judges not in {judge.id for judge in study.judges}:
            kinds = ", ".join(get_args(JudgeKind))
            raise UsageError(f"no judge is called {judges!r}; give all, a kind ({kinds}) or a judge's id")
    return judges, take(judgments, is_in(judgments.judge, wanted))


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "none"
