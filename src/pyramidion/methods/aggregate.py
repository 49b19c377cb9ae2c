"""From several judges to one: aggregators take judgments and return judgments.

Shapira et al. 2019, section 3: majority vote, ties resolved as "not present". An unanswered question is missing: it
never counts as a vote, and a question nobody answered stays missing. (The released scripts count it as present.)
"""

from __future__ import annotations

from typing import Literal, Protocol, get_args

import numpy as np

from pyramidion.errors import check_choice
from pyramidion.methods.columns import Groups, as_judged_by, group, levels, ranks, take, values
from pyramidion.model import Judgments

Tie = Literal["absent", "present"]


class Aggregator(Protocol):
    """Every aggregator has this signature, whether or not it can tie or draws random numbers."""

    def __call__(self, judgments: Judgments, *, tie: Tie = "absent", seed: int = 0) -> Judgments: ...


def questions(judgments: Judgments) -> Groups:
    """Judgments that answer the same question about the same summary, in the order of names."""
    asked = (judgments.topic, judgments.system, judgments.other, judgments.unit, judgments.aspect)
    return group(*map(ranks, asked))


def majority(judgments: Judgments, *, tie: Tie = "absent", seed: int = 0) -> Judgments:
    """The value most judges gave. Of equally frequent values the lowest wins, or the highest with tie="present"."""
    check_choice("tie", tie, get_args(Tie))
    asked = questions(judgments)
    value = values(judgments)
    answered = ~np.isnan(value)
    distinct, level = levels(value[answered])
    voted = asked.of_row[answered]
    choices = group(voted, level)  # by question, then from the lowest value to the highest
    question, votes = voted[choices.first], np.bincount(choices.of_row)
    most = np.zeros(len(asked), dtype=votes.dtype)
    np.maximum.at(most, question, votes)
    winners = np.flatnonzero(votes == most[question])
    if tie == "absent":  # of equals the last one assigned stays
        winners = winners[::-1]
    result = np.full(len(asked), np.nan)
    result[question[winners]] = distinct[level[choices.first[winners]]]
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


def one_judge(judgments: Judgments) -> bool:
    """Whether there is nothing to aggregate."""
    return len(set(judgments.judge.codes)) <= 1


def answered_only(judgments: Judgments) -> Judgments:
    return take(judgments, ~np.isnan(values(judgments)))
