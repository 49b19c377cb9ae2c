"""Pure rendering of answers: tables for terminals, CSV and LaTeX, and plots.

``from pyramidion import report; report.plot(answer, "figure.svg")``
"""

from __future__ import annotations

from pyramidion.report.plots import SUFFIXES as PLOT_SUFFIXES
from pyramidion.report.plots import need_plots, plot
from pyramidion.report.tables import latex, terminal, write_csv

__all__ = ["PLOT_SUFFIXES", "latex", "need_plots", "plot", "terminal", "write_csv"]
