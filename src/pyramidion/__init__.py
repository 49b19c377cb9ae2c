"""Find out how good the content of summaries is.

>>> import pyramidion as pyr
>>> study = pyr.example()
>>> pyr.score(study, "lite").ranking("lite")[0]
('paraphrase', 0.609375)
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from pyramidion.errors import InputError, Problem, PyramidionError, UsageError
from pyramidion.model import (
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

if TYPE_CHECKING:
    from pyramidion.formats.score_tables import read_scores, write_scores
    from pyramidion.methods.unit_vectors import compare_units
    from pyramidion.workflows.automatic import evaluate
    from pyramidion.workflows.comparing import compare_systems
    from pyramidion.workflows.evaluate import score
    from pyramidion.workflows.judging import judge
    from pyramidion.workflows.studies import example, load, save

try:
    __version__ = version("pyramidion")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "unknown"

# The verbs import numpy or readers; they are fetched when first used, so that importing this package stays quick.
_LAZY = {
    "compare_systems": "pyramidion.workflows.comparing",
    "compare_units": "pyramidion.methods.unit_vectors",
    "evaluate": "pyramidion.workflows.automatic",
    "example": "pyramidion.workflows.studies",
    "judge": "pyramidion.workflows.judging",
    "load": "pyramidion.workflows.studies",
    "read_scores": "pyramidion.formats.score_tables",
    "save": "pyramidion.workflows.studies",
    "score": "pyramidion.workflows.evaluate",
    "write_scores": "pyramidion.formats.score_tables",
}

__all__ = [
    "ContentUnit",
    "Contributor",
    "InputError",
    "Judge",
    "Judgment",
    "Judgments",
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
    "compare_systems",
    "compare_units",
    "evaluate",
    "example",
    "judge",
    "load",
    "read_scores",
    "save",
    "score",
    "write_scores",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'pyramidion' has no attribute {name!r}")
    value = getattr(import_module(_LAZY[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
