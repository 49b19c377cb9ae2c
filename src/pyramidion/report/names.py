"""What pages and figures call methods and measures: the names that readers know, not those that commands take."""

from __future__ import annotations

import re
from typing import NamedTuple


class MethodTitle(NamedTuple):
    name: str
    who: str


METHODS = {
    "pyramid": MethodTitle("Pyramid", "experts annotate"),
    "lite": MethodTitle("Lightweight Pyramid", "a crowd judges"),
    "responsiveness": MethodTitle("Responsiveness", "people rate the whole summary"),
    "auto": MethodTitle("Automatic pyramid", "no people: words are aligned"),
    "rouge": MethodTitle("ROUGE", "overlapping words"),
}
_MEASURES = {
    **{name: f"Pyramid score ({name})" for name in ("modified", "original", "comprehensive", "extent")},
    **{name: f"Automatic pyramid score ({name})" for name in ("coverage", "quality")},
    "lite": "Lightweight Pyramid score",
    **{name: f"Responsiveness ({name})" for name in ("overall", "content", "linguistic")},
    "responsiveness": "Responsiveness",
}
MEANINGS = {
    "modified": "1 is as much as an average reference summary says",
    "coverage": "1 is as much as an average reference summary says",
    "original": "1 is the best that as many units can reach",
    "lite": "the share of the units that are expressed",
}
"""What a reader must know to read a number."""
_ROUGE = re.compile(r"rouge-(\w+)-(\w+)")


def method_title(method: str) -> MethodTitle:
    return METHODS.get(method, MethodTitle(method, ""))


def measure_title(measure: str) -> str:
    """What readers call a measure. One that a model's judgments were scored by (``align:modified``) names the model; a
    measure of somebody's own table keeps its name."""
    judge, _, own = measure.rpartition(":")
    rouge = _ROUGE.fullmatch(own)
    title = f"ROUGE-{rouge[1].upper()} {rouge[2]}" if rouge else _MEASURES.get(own)
    if title is None:
        return measure
    return f"{title}, by {judge}" if judge else title
