"""`pyramidion analyze`: questions about scores and judgments. Each command is one question."""

from __future__ import annotations

from pyramidion.cli.analyze import designs, grids, judges, scores
from pyramidion.cli.analyze.asking import analyze

__all__ = ["analyze", "designs", "grids", "judges", "scores"]
