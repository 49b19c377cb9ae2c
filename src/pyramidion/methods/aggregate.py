"""From several judges to one: aggregators take judgments and return judgments.

Shapira et al. 2019, section 3: majority vote, ties resolved as "not present". An unanswered question is missing: it
never counts as a vote, and a question nobody answered stays missing. (The released scripts count it as present.)
"""

from __future__ import annotations

from typing import Literal, Protocol, get_args

import numpy as np

from pyramidion.errors import check_choice
from pyramidion.methods.columns import Groups, as_judged_by, group, ranks, take, values
from pyramidion.model import Judgments
from pyramidion.stats.levels import levels

Tie = Literal["absent", "present"]


class Aggregator(Protocol):
    """Every aggregator has this signature, whether or not it can tie or draws random numbers."""

    def __call__(self, judgments: Judgments, *, tie: Tie = "absent", seed: int = 0) -> Judgments: ...


def questions(judgments: Judgments) -> Groups:
    """Judgments that answer the same question about the same summary, in the order of names."""
    asked = (judgments.topic, judgments.system, judgments.other, judgments.unit, judgments.aspect)
    return group(*map(ranks, asked))


def majority(judgments: Judgments, *, tie: Tie = "absent", seed: int = 0) -> Judgments:
    """What most judges say: the middle one of their answers, of two the lower, or the higher with tie="present".

    On yes and no that is the majority vote; on counts it is never "absent" where most say that the unit is there.
    """
    check_choice("tie", tie, get_args(Tie))
    asked = questions(judgments)
    value = values(judgments)
    answered = ~np.isnan(value)
    distinct, level = levels(value[answered])
    voted = asked.of_row[answered]
    choices = group(voted, level)  # by question, then from the lowest value to the highest
    question, votes = voted[choices.first], np.bincount(choices.of_row)
    total = np.bincount(voted, minlength=len(asked))
    before = np.cumsum(votes) - (np.cumsum(total) - total)[question]  # votes for this value or a lower one
    middle = (total - 1) // 2 if tie == "absent" else total // 2
    reached = np.flatnonzero(before > middle[question])[::-1]  # of several, the last one assigned stays: the lowest
    result = np.full(len(asked), np.nan)
    result[question[reached]] = distinct[level[choices.first[reached]]]
    return as_judged_by("majority", judgments, asked.first, result)


def mean(judgments: Judgments, *, tie: Tie = "absent", seed: int = 0) -> Judgments:
    """The mean of the answers. The paper tried it instead of the majority and found it worse."""
    asked = questions(judgments)
    value = values(judgments)
    answered = ~np.isnan(value)
    count = np.bincount(asked.of_row[answered], minlength=len(asked))
    total = np.bincount(asked.of_row[answered], weights=value[answered], minlength=len(asked))
    result = np.divide(total, count, out=np.full(len(asked), np.nan), where=count > 0)
    return as_judged_by("mean", judgments, asked.first, result)


def answered_only(judgments: Judgments) -> Judgments:
    return take(judgments, ~np.isnan(values(judgments)))
