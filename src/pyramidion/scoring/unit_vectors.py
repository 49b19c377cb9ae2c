"""Two systems unit by unit: each content unit is an observation. Nenkova et al. 2007, section 2.

Per-unit values give far more data points than per-summary scores: McNemar's exact test on yes/no, and Wilcoxon and
permutation tests on the values, over all units that both systems were judged on.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from pyramidion.errors import UsageError, check_choice
from pyramidion.scoring.aggregate import majority
from pyramidion.scoring.choice import Choice, choose
from pyramidion.stats.paired import PairedTest, mcnemar, permutation, wilcoxon
from pyramidion.study import Study
from pyramidion.study.judgments import JudgeKind, times


@dataclass(frozen=True, slots=True)
class UnitComparison:
    """How often the two systems express the same units, and the tests of whether they differ."""

    first: str
    second: str
    both: int
    only_first: int
    only_second: int
    neither: int
    tests: tuple[PairedTest, ...]

    def __str__(self) -> str:
        lines = [
            f"{self.first} and {self.second} on {self.both + self.only_first + self.only_second + self.neither} units: "
            f"both {self.both}, only {self.first} {self.only_first}, only {self.second} {self.only_second}, "
            f"neither {self.neither}"
        ]
        lines += [f"  {test.name:12} difference {test.difference:+.3f}  p = {test.p:.4g}" for test in self.tests]
        return "\n".join(lines)


UnitVector = dict[tuple[str, str], float]


def unit_vectors(choice: Choice, topics: Collection[str] | None = None) -> dict[str, UnitVector]:
    """For every system: 1 or 0 for each (topic, unit) it was judged on, with with several judges joined by majority."""
    for topic in topics or ():
        check_choice("judged topic", topic, choice.on_units.topic.present_names())
    vectors: dict[str, UnitVector] = {}
    for judgment in majority(choice.counted(choice.on_units)):
        if judgment.value is not None and (topics is None or judgment.topic in topics):
            vectors.setdefault(judgment.system, {})[judgment.topic, judgment.unit] = float(times(judgment.value) > 0)
    return vectors


def compare_units(
    study: Study,
    first: str,
    second: str,
    *,
    kind: JudgeKind = "expert",
    pyramid: str | None = None,
    judges: str | None = None,
    topics: Collection[str] | None = None,
    seed: int = 0,
) -> UnitComparison:
    """Paired tests of two systems over the units that both were judged on; of all topics, or of some.

    With one topic this is the paper's comparison of two summaries on a single set.
    """
    vectors = unit_vectors(choose(study, kind=kind, pyramid=pyramid, judges=judges), topics)
    for system in (first, second):
        if system not in vectors:
            raise UsageError(f"system {system!r} has no judged units; these have: {', '.join(sorted(vectors))}")
    shared = sorted(vectors[first].keys() & vectors[second].keys())
    if not shared:
        raise UsageError(f"{first!r} and {second!r} have no judged units in common")
    a, b = (np.array([vectors[system][unit] for unit in shared]) for system in (first, second))
    return UnitComparison(
        first,
        second,
        both=int((a * b).sum()),
        only_first=int((a * (1 - b)).sum()),
        only_second=int(((1 - a) * b).sum()),
        neither=int(((1 - a) * (1 - b)).sum()),
        tests=(mcnemar(a, b), wilcoxon(a, b), permutation(a, b, rng=np.random.default_rng(seed))),
    )
