"""Fail the build when coverage drops: run ``pytest`` in this folder.

``summaries.csv`` is what your system wrote; set the bar a little below what it reaches today.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import pyramidion as pyr

BAR = 0.60
SUMMARIES = Path(__file__).with_name("summaries.csv")


def test_summaries_cover_their_references() -> None:
    with SUMMARIES.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    metric = pyr.Metric()
    scores = metric(rows, prediction="summary", reference="reference")
    mean = scores.mean()
    assert mean is not None, "no summary could be scored: are the references empty?"
    if mean < BAR:
        _, row = min(zip(scores, rows, strict=True), key=lambda pair: 1.0 if pair[0] is None else pair[0])
        worst = metric.explain(row["summary"], row["reference"])
        missed = "\n".join(f"  - {unit.label}" for unit in worst.missed)
        message = f"extent {mean:.3f} is below {BAR}. The worst summary, {row['id']}, misses:\n{missed}"
        pytest.fail(message, pytrace=False)
