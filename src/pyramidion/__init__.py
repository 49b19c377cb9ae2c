"""Measure how good the content of summaries is.

>>> import pyramidion as pyr
>>> study = pyr.example()
>>> pyr.score(study, "lite").ranking("lite")[0]
('paraphrase', 0.609375)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pyramidion.distribution import version as _version
from pyramidion.errors import InputError, Problem, PyramidionError, UsageError

if TYPE_CHECKING:
    from pyramidion.analysis.combine import combine
    from pyramidion.analysis.systems import compare_systems
    from pyramidion.formats import example, load, save
    from pyramidion.formats.score_tables import read_scores, write_scores
    from pyramidion.judges import judge
    from pyramidion.plain import Metric, PairScores, evaluate, score_pairs
    from pyramidion.scoring.methods import score
    from pyramidion.scoring.unit_vectors import compare_units
    from pyramidion.study import (
        ContentUnit,
        Contributor,
        Judge,
        Judgment,
        Judgments,
        Pyramid,
        Score,
        ScoreTable,
        Signature,
        Span,
        Study,
        Summary,
        Topic,
    )

__version__ = _version()

# Everything but errors needs numpy, so it is fetched when first used and importing this package stays quick. What is
# not listed here comes from pyramidion.study.
_LAZY = {
    "combine": "pyramidion.analysis.combine",
    "compare_systems": "pyramidion.analysis.systems",
    "compare_units": "pyramidion.scoring.unit_vectors",
    "Metric": "pyramidion.plain",
    "PairScores": "pyramidion.plain",
    "evaluate": "pyramidion.plain",
    "score_pairs": "pyramidion.plain",
    "example": "pyramidion.formats",
    "judge": "pyramidion.judges",
    "load": "pyramidion.formats",
    "read_scores": "pyramidion.formats.score_tables",
    "save": "pyramidion.formats",
    "score": "pyramidion.scoring.methods",
    "write_scores": "pyramidion.formats.score_tables",
}

__all__ = [
    "ContentUnit",
    "Contributor",
    "InputError",
    "Judge",
    "Judgment",
    "Judgments",
    "Metric",
    "PairScores",
    "Problem",
    "Pyramid",
    "PyramidionError",
    "Score",
    "ScoreTable",
    "Signature",
    "Span",
    "Study",
    "Summary",
    "Topic",
    "UsageError",
    "combine",
    "compare_systems",
    "compare_units",
    "evaluate",
    "example",
    "judge",
    "load",
    "read_scores",
    "save",
    "score",
    "score_pairs",
    "write_scores",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'pyramidion' has no attribute {name!r}")
    value = getattr(import_module(_LAZY.get(name, "pyramidion.study")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
