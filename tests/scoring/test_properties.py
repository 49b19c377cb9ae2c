"""What must hold for every input: order and names never matter, and more content never lowers coverage."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import crowds

import pyramidion as pyr
from pyramidion.scoring import lite, pyramid, responsiveness, rouge
from pyramidion.scoring.pyramid import PeerScore
from pyramidion.scoring.screening import screen
from pyramidion.study import Judge, Judgments, Score, Study


def scores(table: pyr.ScoreTable) -> set[Score]:
    return set(table.scores)


def shuffled(study: Study, seed: int) -> Study:
    """The same study with references, units, judgments, summaries and topics in another order."""
    rng = random.Random(seed)

    def mix(items):  # type: ignore[no-untyped-def]
        return tuple(rng.sample(list(items), len(items)))

    return replace(
        study,
        topics=mix(study.topics),
        summaries=mix(study.summaries),
        judges=mix(study.judges),
        judgments=Judgments(mix(study.judgments)),
        pyramids=mix([replace(p, references=mix(p.references), units=mix(p.units)) for p in study.pyramids]),
    )


@settings(max_examples=100)
@given(study=crowds(), seed=st.integers(0, 99))
def test_order_never_matters_to_a_crowd(study: Study, seed: int) -> None:
    unscreened = {"compat": "litepyramids-2019", "min_agreement": None}  # its screening has an order: test_litepyramids
    for choices in ({}, {"aggregate": "mean"}, {"tie": "present"}, {"rounds": 2}, unscreened):
        assert scores(lite.score(shuffled(study, seed), **choices)) == scores(lite.score(study, **choices))  # type: ignore[arg-type]


@settings(max_examples=100)
@given(study=crowds())
def test_renaming_judges_never_matters(study: Study) -> None:
    names = {judge.id: f"judge {len(study.judges) - i}" for i, judge in enumerate(study.judges)}
    renamed = replace(
        study,
        judges=tuple(Judge(names[judge.id], judge.kind) for judge in study.judges),
        judgments=Judgments(replace(j, judge=names[j.judge]) for j in study.judgments),
    )
    assert scores(lite.score(renamed)) == scores(lite.score(study))
    found = {names[w.judge]: (w.agreement, w.round) for w in screen(study.judgments, rounds=2).workers}
    assert found == {w.judge: (w.agreement, w.round) for w in screen(renamed.judgments, rounds=2).workers}


@pytest.mark.parametrize("method", [pyramid, lite, responsiveness, rouge])
def test_order_never_matters_to_any_method(example: Study, method) -> None:  # type: ignore[no-untyped-def]
    expected = {(s.topic, s.system, s.measure): s.value for s in method.score(example)}
    found = {(s.topic, s.system, s.measure): s.value for s in method.score(shuffled(example, 5))}
    assert found == expected


@given(data=st.data())
def test_one_more_matched_unit_never_lowers_coverage(example: Study, data: st.DataObject) -> None:
    found = data.draw(st.sampled_from([p for p in example.pyramids if p.name == "expert"]))
    units = [unit.id for unit in found.units]
    some = data.draw(st.dictionaries(st.sampled_from(units), st.integers(1, 3)))
    more = {**some, data.draw(st.sampled_from(units)): 1}
    before, after = (PeerScore(found, counts, 0) for counts in (some, more))
    assert after.modified is not None
    assert before.modified is not None
    assert after.modified >= before.modified
    assert after.recall is not None
    assert after.recall >= (before.recall or 0)


@given(data=st.data())
def test_a_sub_pyramid_weighs_what_its_references_say(example: Study, data: st.DataObject) -> None:
    found = data.draw(st.sampled_from([p for p in example.pyramids if p.name == "expert"]))
    kept = data.draw(st.sets(st.sampled_from(found.references), min_size=1))
    smaller = found.restricted_to(kept)
    assert set(smaller.references) == kept
    weights = {unit.id: unit.weight for unit in smaller.units}
    assert weights == {u.id: n for u in found.units if (n := len(u.references & kept))}


@given(study=crowds())
def test_scores_stay_between_zero_and_one(study: Study) -> None:
    for score in lite.score(study, aggregate="mean"):
        assert score.value is None or 0 <= score.value <= 1
