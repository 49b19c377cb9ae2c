"""Unit by unit: the paired comparison of two systems, and why a summary has its score."""

from __future__ import annotations

from dataclasses import replace

import pytest

import pyramidion as pyr
from pyramidion.methods.explain import explain


def test_two_systems_on_the_same_units(example: pyr.Study) -> None:
    found = pyr.compare_units(example, "paraphrase", "offtopic")
    units = sum(len(p.units) for p in example.pyramids if p.name == "expert")
    assert found.both == found.only_second == 0
    assert found.only_first + found.neither == units
    # All disagreements go one way: McNemar's exact p is 2 / 2^n.
    assert found.tests[0].p == pytest.approx(2 / 2**found.only_first)
    assert "paraphrase and offtopic on 135 units" in str(found)
    crowd = pyr.compare_units(example, "paraphrase", "extract", kind="crowd", pyramid="crowd")
    assert crowd.both + crowd.only_first + crowd.only_second + crowd.neither == 128


def test_comparison_says_what_is_missing(example: pyr.Study) -> None:
    with pytest.raises(pyr.UsageError, match="'nobody' has no judged units; these have: extract"):
        pyr.compare_units(example, "paraphrase", "nobody")


def test_an_explanation_adds_up(example: pyr.Study) -> None:
    found = explain(example, "reef-nursery", "extract")
    assert sum(unit.weight for unit in found.expressed) == found.score.raw
    assert len(found.expressed) + len(found.missed) == len(found.pyramid.units)
    weights = [unit.weight for unit in found.missed]
    assert weights == sorted(weights, reverse=True)
    marked = {i for i, weight in enumerate(found.weight_at()) if weight}
    assert marked == {
        i for mentions in found.evidence.values() for mention in mentions for span in mention for i in range(*span)
    }
    assert set(found.evidence) == {unit.id for unit in found.expressed}


def test_explaining_what_is_not_there(example: pyr.Study) -> None:
    with pytest.raises(pyr.UsageError, match="it has: extract, lead"):
        explain(example, "reef-nursery", "gpt")
    without = replace(example, pyramids=example.pyramids[2:])  # the first topic's two pyramids are gone
    with pytest.raises(pyr.UsageError, match="no pyramid called 'expert'"):
        explain(without, example.topics[0].id, "extract")
