"""Pure rendering of results: tables and plots of answers, the report page, feedback for writers.

``from pyramidion import report; report.plot(answer, "figure.svg")``
"""

from __future__ import annotations

from pyramidion.report.corrections import Correction, correct, read_corrections
from pyramidion.report.feedback import write_feedback
from pyramidion.report.folder import write_report_folder
from pyramidion.report.page import report_page
from pyramidion.report.plots import SUFFIXES as PLOT_SUFFIXES
from pyramidion.report.plots import need_plots, plot, write_figures
from pyramidion.report.tables import latex, terminal, write_csv

__all__ = [
    "PLOT_SUFFIXES",
    "Correction",
    "correct",
    "latex",
    "need_plots",
    "plot",
    "read_corrections",
    "report_page",
    "terminal",
    "write_csv",
    "write_feedback",
    "write_figures",
    "write_report_folder",
]
