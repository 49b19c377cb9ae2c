"""From several judges to one: aggregators take judgments and return judgments.

Shapira et al. 2019, section 3: majority vote, ties resolved as "not present". An unanswered question is missing: it
never counts as a vote, and a question nobody answered stays missing. (The released scripts count it as present.)

Wawa (worker agreement with aggregate, as the crowd-sourcing platforms call it) is a vote weighted by how often a judge
agrees with the majority; it needs no extra.

Models that weigh judges by how reliable they seem come from crowd-kit (extra ``crowd``): Dawid and Skene 1979; MACE:
Hovy et al. 2013; GLAD: Whitehill et al. 2009. Rows are sorted before they go in, so the order of judgments does not
matter. MACE starts from random numbers, which are seeded.
"""

from __future__ import annotations

import warnings
from typing import Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from pyramidion.errors import check_choice, needs_extra
from pyramidion.stats.alpha import levels
from pyramidion.study import Judgments
from pyramidion.study.judgments import Groups, group

Floats = NDArray[np.float64]
Tie = Literal["absent", "present"]


class Aggregator(Protocol):
    """The signature of every aggregator, whether or not it has ties or uses random numbers."""

    def __call__(self, judgments: Judgments, *, tie: Tie = "absent", seed: int = 0) -> Judgments: ...


def questions(judgments: Judgments) -> Groups:
    """Judgments that answer the same question about the same summary, in the order of names."""
    asked = (judgments.topic, judgments.system, judgments.other, judgments.unit, judgments.aspect)
    return group(*(column.ranks() for column in asked))


def majority(judgments: Judgments, *, tie: Tie = "absent", seed: int = 0) -> Judgments:
    """What most judges say: the middle answer; of two middle answers the lower, or with tie="present" the higher.
    For yes and no that is the majority vote; for counts it is never "absent" if most say that the unit is present."""
    asked = questions(judgments)
    value = judgments.value
    return judgments.as_judged_by("majority", asked.first, _middle(asked, value, np.ones(len(value)), tie))


def wawa(judgments: Judgments, *, tie: Tie = "absent", seed: int = 0) -> Judgments:
    """A vote weighted by skill, the share of a judge's answers that agree with the majority. Both votes, the equal one
    that measures skill and the weighted one, resolve ties by ``tie``.
    """
    asked = questions(judgments)
    value = judgments.value
    answered = ~np.isnan(value)
    majority_says = _middle(asked, value, np.ones(len(value)), tie)[asked.of_row]
    judge = judgments.judge.ranks()
    agreed = np.bincount(judge[answered], weights=(value == majority_says)[answered], minlength=len(judge))
    answers = np.bincount(judge[answered], minlength=len(judge))
    skill = agreed / np.maximum(answers, 1)
    return judgments.as_judged_by("wawa", asked.first, _middle(asked, value, skill[judge], tie))


def _middle(asked: Groups, value: Floats, weight: Floats, tie: Tie) -> Floats:
    """The weighted middle answer to each question; NaN if nobody answered. For yes and no that is the vote. Weights
    that differ only by rounding errors are a tie."""
    check_choice("tie", tie, get_args(Tie))
    answered = ~np.isnan(value)
    distinct, level = levels(value[answered])
    voted = asked.of_row[answered]
    choices = group(voted, level)  # by question, then from the lowest value to the highest
    question, votes = voted[choices.first], np.bincount(choices.of_row, weights=weight[answered])
    total = np.bincount(voted, weights=weight[answered], minlength=len(asked))
    so_far = votes.copy()  # will be the votes for this value or a lower one, added up within each question
    place = np.arange(len(question)) - np.searchsorted(question, question)
    for number in range(1, int(place.max(initial=0)) + 1):
        rows = np.flatnonzero(place == number)
        so_far[rows] += so_far[rows - 1]
    slack = 1e-9 * total[question] * (1 if tie == "absent" else -1)
    reached = np.flatnonzero(so_far + slack > total[question] / 2)[::-1]  # the last one assigned stays: the lowest
    result = np.full(len(asked), np.nan)
    result[question[reached]] = distinct[level[choices.first[reached]]]
    return result


def mean(judgments: Judgments, *, tie: Tie = "absent", seed: int = 0) -> Judgments:
    """The mean of the answers. The paper tried it instead of the majority and found it worse."""
    asked = questions(judgments)
    value = judgments.value
    order = np.lexsort((value, asked.of_row))  # sums of fractions depend on the order of adding
    order = order[~np.isnan(value[order])]
    count = np.bincount(asked.of_row[order], minlength=len(asked))
    total = np.bincount(asked.of_row[order], weights=value[order], minlength=len(asked))
    result = np.divide(total, count, out=np.full(len(asked), np.nan), where=count > 0)
    return judgments.as_judged_by("mean", asked.first, result)


# -- crowd-kit -----------------------------------------------------------------------------------------------------


def _classifiers() -> Any:
    with needs_extra("This aggregation", "crowd"):
        from crowdkit.aggregation import classification
    return classification


def _fit(name: str, model: Any, judgments: Judgments) -> Judgments:
    import pandas

    asked = questions(judgments)
    filled = ~np.isnan(judgments.value)
    answered = judgments.take(filled)
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
    return _fit("dawid-skene", _classifiers().DawidSkene(n_iter=100, tol=1e-6), judgments)


def mace(judgments: Judgments, *, tie: Tie = "absent", seed: int = 0) -> Judgments:
    """Estimates for every judge the probability of spamming and the answers given then."""
    return _fit("mace", _classifiers().MACE(n_restarts=10, random_state=seed), judgments)


def glad(judgments: Judgments, *, tie: Tie = "absent", seed: int = 0) -> Judgments:
    """An ability for every judge and a difficulty for every question."""
    return _fit("glad", _classifiers().GLAD(n_iter=100), judgments)
