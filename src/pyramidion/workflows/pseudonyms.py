"""Imported crowd workers get pseudonyms like those who come to the server: a vendor's worker ids are ids of people.

Experts keep their names, and pseudonyms of this or another study stay as they are, so that an export can come back.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from pyramidion.model import Column, Judgments, Pyramid, Study

PSEUDONYM = re.compile(r"w[a-z2-7]{16}|forgotten-[0-9a-f]{12}")


def with_pseudonyms(study: Study, pseudonym: Callable[[str], str]) -> Study:
    """The same study, where no worker has the id they came with."""
    others = {judge.id for judge in study.judges if judge.kind != "crowd"}

    def name(id: str) -> str:
        return id if not id or id in others or PSEUDONYM.fullmatch(id) else pseudonym(id)

    return replace(
        study,
        judges=tuple(replace(judge, id=name(judge.id)) for judge in study.judges),
        judgments=_renamed(study.judgments, name),
        assignments=tuple(replace(work, judge=name(work.judge)) for work in study.assignments),
        pyramids=tuple(_with_authors(pyramid, name) for pyramid in study.pyramids),
    )


def _renamed(judgments: Judgments, name: Callable[[str], str]) -> Judgments:
    return judgments.with_columns(judge=Column([name(id) for id in judgments.judge.names], judgments.judge.codes))


def _with_authors(pyramid: Pyramid, name: Callable[[str], str]) -> Pyramid:
    units = tuple(replace(unit, author=name(unit.author)) if unit.author else unit for unit in pyramid.units)
    return replace(pyramid, units=units)
