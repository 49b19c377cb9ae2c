"""Which measures are not independent of a gold: those made from the gold's own judgments or numbers.

A signature names the pyramid and the judges that scores come from. Two scores of the same units by the same judges are
one set of judgments seen twice, whatever the method, aggregator or measure: their correlation says nothing about a
metric. A table without such a signature may come from anywhere; there, only numbers that equal the gold's, or follow
from them by a straight line, give it away.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from pyramidion.model import ScoreTable, Signature
from pyramidion.model.judgments import JudgeKind

Floats = NDArray[np.float64]
SHARED = "shares judgments with the gold"
SAME = "has the gold's own numbers"
LINEAR = "follows from the gold's numbers by a straight line"
DEPENDENT = " dependent: comes from the judgments or numbers of the gold, so agreement with it says nothing."
"""What a table's note says where it has such a column."""
FEWEST = 4
"""On fewer scores a straight line may be chance."""

_KINDS = frozenset(get_args(JudgeKind))
_GROUPS = {"all": _KINDS, "people": _KINDS - {"model"}, **{kind: frozenset({kind}) for kind in _KINDS}}


def shares_judgments(a: Signature, b: Signature) -> bool:
    """Whether two tables come from judgments of the same judges on the same units, or on the same aspects.

    False where a signature does not say whose judgments they are. One judge's id belongs to a group of judges if the
    signature says that the judge is of such a kind, or does not say of which.
    """
    first, second = dict(a.choices), dict(b.choices)
    if "judges" not in first or "judges" not in second:
        return a.method == b.method == "auto" and first == second  # judged by that run, and not kept
    same_units = first.get("pyramid") == second.get("pyramid")
    ratings = [signature.method == "responsiveness" for signature in (a, b)]
    return same_units and ratings[0] == ratings[1] and _overlap(first, second)


def _overlap(first: Mapping[str, str], second: Mapping[str, str]) -> bool:
    groups = [_GROUPS.get(choices["judges"]) for choices in (first, second)]
    if groups == [None, None]:
        return first["judges"] == second["judges"]
    kinds = [
        (frozenset({choices["kind"]}) if "kind" in choices else _KINDS) if group is None else group
        for choices, group in zip((first, second), groups, strict=True)
    ]
    return bool(kinds[0] & kinds[1])


def why_dependent(gold: ScoreTable, gold_measure: str, table: ScoreTable, measure: str) -> str:
    """Why a measure is not independent of the gold; empty where it is, as far as can be told."""
    return by_signature(gold, gold_measure, table, measure) or by_numbers(*_common(gold, gold_measure, table, measure))


def by_signature(gold: ScoreTable, gold_measure: str, table: ScoreTable, measure: str) -> str:
    """What the signatures give away; other aspects of ratings are other judgments."""
    other_ratings = gold.signature.method == "responsiveness" and gold_measure != measure
    shared = shares_judgments(gold.signature, table.signature) and not other_ratings and not _contradict(gold, table)
    return SHARED if shared else ""


def by_numbers(x: Floats, y: Floats) -> str:
    """What the numbers of the same summaries, or systems, give away."""
    both = ~(np.isnan(x) | np.isnan(y))
    x, y = x[both], y[both]
    if len(x) < FEWEST or np.ptp(x) == 0 or np.ptp(y) == 0:
        return ""
    if np.array_equal(x, y):
        return SAME
    gap = x - x.mean()
    line = y.mean() + gap * (gap @ (y - y.mean()) / (gap @ gap))
    return LINEAR if np.abs(line - y).max() <= 1e-9 * np.ptp(y) else ""


def _contradict(a: ScoreTable, b: ScoreTable) -> bool:
    """Whether two tables made by the same choices differ: then they come from different judgments after all."""
    if a is b or (a.signature.method, a.signature.choices) != (b.signature.method, b.signature.choices):
        return False
    pairs = (_common(a, measure, b, measure) for measure in set(a.measures) & set(b.measures))
    return any(not np.array_equal(x, y) for x, y in pairs)


def _common(a: ScoreTable, of_a: str, b: ScoreTable, of_b: str) -> tuple[Floats, Floats]:
    """The scores of what both have: of summaries, or of systems where one has no others."""
    summaries = a.per_summary(of_a), b.per_summary(of_b)
    if all(summaries):
        pairs = [(value, summaries[1].get(key)) for key, value in summaries[0].items()]
    else:
        means = b.per_system(of_b)
        pairs = [(value, means.get(system)) for system, value in a.per_system(of_a).items()]
    held = np.array([(x, y) for x, y in pairs if x is not None and y is not None], dtype=np.float64).reshape(-1, 2)
    return held[:, 0], held[:, 1]
