"""Whatever a legal study holds, a question is answered without NaN and without a warning, or refused in words."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import crowds, studies

import pyramidion as pyr
from pyramidion import analysis
from pyramidion.analysis.inputs import measures_of
from pyramidion.analysis.sources import scored_by_all

Question = Callable[[pyr.Study], Any]

OF_STUDIES: dict[str, Question] = {
    "agreement": lambda s: analysis.agreement(s, resamples=10),
    "agreement on an aspect": lambda s: analysis.agreement(s, aspect="overall", resamples=10),
    "reliability": lambda s: analysis.reliability(s, s, resamples=10),
    "calibrate": lambda s: analysis.calibrate(s, experts="w1"),
    "consistency": analysis.consistency,
    "compare": analysis.compare,
    "pyramid size": analysis.pyramid_size,
    "pyramid size, original": lambda s: analysis.pyramid_size(s, measure="original"),
    "pyramid size, references": lambda s: analysis.pyramid_size(s, held_out="references"),
    "pyramid size, five": lambda s: analysis.pyramid_size(s, held_out="five"),
    "resampling": lambda s: analysis.resampling(s, repetitions=2),
    "plan": lambda s: analysis.plan(s, campaigns=2, topics=(2,), units=(3,), workers=(2,)),
    "tukey": analysis.tukey,
    "units": lambda s: analysis.unit_significance(s, kind="crowd"),
}
OF_TABLES: dict[str, Callable[[dict[str, pyr.ScoreTable], str], Any]] = {
    "correlate": lambda t, gold: analysis.correlate(t, gold=gold, resamples=5, permutations=5),
    "permutation": lambda t, _: analysis.significance(t),
    "bootstrap": lambda t, _: analysis.significance(t, test="bootstrap", resamples=100),
    "wilcoxon": lambda t, _: analysis.significance(t, test="wilcoxon"),
    "accuracy": lambda t, gold: analysis.metric_accuracy(t, gold=gold, samples=3),
    "tukey": lambda t, _: analysis.tukey(next(iter(t.values()))),
    "rerun": lambda t, _: analysis.rerun(next(iter(t.values())), next(iter(t.values()))),
}


def answered(ask: Callable[[], Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            answer = ask()
        except pyr.PyramidionError:
            return
    json.dumps(answer.as_json(), allow_nan=False)
    assert str(answer)


@pytest.mark.slow
@pytest.mark.parametrize("question", OF_STUDIES)
@settings(max_examples=25)
@given(study=studies() | crowds())
def test_questions_about_studies(question: str, study: pyr.Study) -> None:
    answered(lambda: OF_STUDIES[question](study))


@pytest.mark.parametrize("question", OF_TABLES)
@settings(max_examples=25)
@given(study=crowds() | st.just(pyr.Study()))
def test_questions_about_tables(question: str, study: pyr.Study) -> None:
    try:
        tables = scored_by_all(study)
    except pyr.PyramidionError:
        return
    gold = measures_of(tables)[0].name
    answered(lambda: OF_TABLES[question](tables, gold))
