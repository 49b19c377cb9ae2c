"""Answer questions about scores and judgments: ``from pyramidion import analysis; analysis.correlate(...)``.

Every question is a function that takes studies or score tables and keyword choices, and returns an ``Answer``: a
sentence, tables, figures, notes, the signature of how it was made, and ``result`` with the named numbers.
"""

from __future__ import annotations

from pyramidion.analysis.agreement import agreement
from pyramidion.analysis.answer import Answer, Table
from pyramidion.analysis.calibrate import calibrate
from pyramidion.analysis.combine import combine
from pyramidion.analysis.compare import compare
from pyramidion.analysis.consistency import consistency
from pyramidion.analysis.correlate import correlate
from pyramidion.analysis.cost import Prices
from pyramidion.analysis.grid_search import grid_search
from pyramidion.analysis.metric_accuracy import metric_accuracy
from pyramidion.analysis.planning import plan
from pyramidion.analysis.planning_with_model import plan_with_model
from pyramidion.analysis.pyramid_pairs import pyramid_pairs
from pyramidion.analysis.pyramid_size import pyramid_size
from pyramidion.analysis.reliability import reliability
from pyramidion.analysis.settings import ScoredSettings
from pyramidion.analysis.significance import significance, tukey, unit_significance
from pyramidion.analysis.simulation import Assumptions
from pyramidion.analysis.stability import drop_topics, rerun, resampling
from pyramidion.analysis.stand_in import stand_in
from pyramidion.analysis.trained_metric import trained_metric

__all__ = [
    "Answer",
    "Assumptions",
    "Prices",
    "ScoredSettings",
    "Table",
    "agreement",
    "calibrate",
    "combine",
    "compare",
    "consistency",
    "correlate",
    "drop_topics",
    "grid_search",
    "metric_accuracy",
    "plan",
    "plan_with_model",
    "pyramid_pairs",
    "pyramid_size",
    "reliability",
    "rerun",
    "resampling",
    "significance",
    "stand_in",
    "trained_metric",
    "tukey",
    "unit_significance",
]
