"""Aggregation models that weigh judges by how reliable they seem, through crowd-kit (the extra ``crowd``).

Dawid and Skene 1979; MACE: Hovy et al. 2013; GLAD: Whitehill et al. 2009. Rows are sorted before they go in, so the
order of judgments does not matter. MACE starts from random numbers, which are seeded.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from pyramidion.errors import MissingExtraError
from pyramidion.scoring.aggregate import Tie, answered_only, questions
from pyramidion.study import Judgments


def _classifiers() -> Any:
    try:
        from crowdkit.aggregation import classification
    except ImportError:
        raise MissingExtraError("This aggregation", "crowd") from None
    return classification


def _aggregate(name: str, model: Any, judgments: Judgments) -> Judgments:
    import pandas

    asked = questions(judgments)
    answered = answered_only(judgments)
    filled = ~np.isnan(judgments.value)
    table = pandas.DataFrame(
        {"task": asked.of_row[filled], "worker": answered.judge.ranks(), "label": answered.value.astype(object)}
    ).sort_values(["task", "worker"], ignore_index=True)
    result = np.full(len(asked), np.nan)
    if len(table):
        with warnings.catch_warnings():  # crowd-kit's use of pandas is its business, not the user's
            warnings.simplefilter("ignore", DeprecationWarning)
            labels = model.fit_predict(table)
        result[labels.index.to_numpy()] = labels.to_numpy(dtype=np.float64)
    return judgments.as_judged_by(name, asked.first, result)


def dawid_skene(judgments: Judgments, *, tie: Tie = "absent", seed: int = 0) -> Judgments:
    """A confusion matrix for every judge, by expectation maximisation."""
    return _aggregate("dawid-skene", _classifiers().DawidSkene(n_iter=100, tol=1e-6), judgments)


def mace(judgments: Judgments, *, tie: Tie = "absent", seed: int = 0) -> Judgments:
    """A probability of spamming for every judge, and what they say when they spam."""
    return _aggregate("mace", _classifiers().MACE(n_restarts=10, random_state=seed), judgments)


def glad(judgments: Judgments, *, tie: Tie = "absent", seed: int = 0) -> Judgments:
    """An ability for every judge and a difficulty for every question."""
    return _aggregate("glad", _classifiers().GLAD(n_iter=100), judgments)
