"""How long a grid search takes against scoring its settings one by one: python benchmarks/grid.py [--write]

The bundled example (4 topics of 4 references, 6 systems) under settings of EDUA-G. Both ways give the same scores, and
that is checked. A ratio is taken within a round; the median of three rounds is shown.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import time
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import NamedTuple

import numpy as np

import pyramidion as pyr
from pyramidion.analysis.grid_runs import paper_levels, score_grid
from pyramidion.evaluation import evaluate_study
from pyramidion.pyramids.choices import Choices

TARGET = Path(__file__).parent / "results" / "grid.md"
BASE = Choices(partitioner="edua-g")
SMALL = {"percentile": (70.0, 83.0), "beta": (1.0, 3.0)}
ROUNDS = 3


class Round(NamedTuple):
    """Seconds of a small grid, of its settings one by one, and of the paper's grid."""

    small: float
    alone: float
    paper: float


def one_round(study: pyr.Study) -> Round:
    start = time.perf_counter()
    grid = score_grid(study, BASE, SMALL)
    small = time.perf_counter() - start
    start = time.perf_counter()
    tables = [
        evaluate_study(study, replace(BASE, percentile=percentile, beta=beta), explain=False).table
        for percentile in SMALL["percentile"]
        for beta in SMALL["beta"]
    ]
    alone = time.perf_counter() - start
    start = time.perf_counter()
    score_grid(study, BASE)
    paper = time.perf_counter() - start
    for scores, table in zip(grid.scores, tables, strict=True):
        expected = [[table.value(system, "coverage", topic) for system in grid.systems] for topic in grid.topics]
        assert np.allclose(scores, np.array(expected, dtype=float), atol=1e-9)
    return Round(small, alone, paper)


def row(name: str, together: list[float], alone: list[float]) -> str:
    ratios = sorted(a / t for t, a in zip(together, alone, strict=True))
    middle = statistics.median(ratios)
    cells = f"{statistics.median(together):.1f} s | {statistics.median(alone):,.0f} s"
    return f"| {name} | {cells} | {middle:.0f} ({ratios[0]:.0f} to {ratios[-1]:.0f}) |"


def page() -> str:
    study = pyr.example()
    evaluate_study(study, BASE, explain=False)  # loads the encoder
    rounds = [one_round(study) for _ in range(ROUNDS)]
    few, many = (prod(map(len, levels.values())) for levels in (SMALL, paper_levels(BASE)))
    lines = [
        "# Grid search over automatic pyramids",
        "",
        f"The bundled example: 4 topics, 6 systems. Python {platform.python_version()}, {os.cpu_count()} cores. Other",
        "work ran beside it, so that seconds move; a ratio is of one round, and all rounds are within the brackets.",
        "",
        "| settings | as a grid | one by one | ratio |",
        "|--:|--:|--:|--:|",
        row(str(few), [r.small for r in rounds], [r.alone for r in rounds]),
        row(f"{many} (the paper's)", [r.paper for r in rounds], [r.alone / few * many for r in rounds]),
        "",
        f"One by one, {many} settings were not run: their time is that of {few}, multiplied.",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/grid.md")
    text = page()
    print(text)
    if parser.parse_args().write:
        TARGET.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
