"""Ideal content: the paper's figure, then every set of units of small pyramids."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pyramidion as pyr
from pyramidion.scoring.ideal import ideal_content


def pyramid(*weights: int) -> pyr.Pyramid:
    names = tuple(f"R{n}" for n in range(max(weights, default=0)))
    units = tuple(
        pyr.ContentUnit(f"u{place}", f"fact {place}", tuple(pyr.Contributor(name) for name in names[:weight]))
        for place, weight in enumerate(weights)
    )
    return pyr.Pyramid("t", names, units)


def test_figure_1_of_the_paper() -> None:
    """Nenkova et al. 2007: two units in the uppermost tier and four in the next give six optimal summaries of four."""
    found = ideal_content(pyramid(3, 4, 3, 4, 3, 3), 4)
    assert found.number == 6
    assert found.weight == 4 + 4 + 3 + 3
    assert [unit.id for unit in found.required] == ["u1", "u3"]
    assert [unit.id for unit in found.free] == ["u0", "u2", "u4", "u5"]
    assert found.chosen == 2
    sets = [{unit.id for unit in one} for one in found.sets()]
    assert len(sets) == 6
    assert all({"u1", "u3"} < one and len(one) == 4 for one in sets)


def test_max_is_that_of_the_worked_example() -> None:
    """Gao et al. 2019, section 4.6: three units of weight 5 and two of weight 4 make Max(5) = 23."""
    found = ideal_content(pyramid(5, 4, 5, 4, 5, 2, 1), 5)
    assert (found.weight, found.number, found.size) == (23, 1, 5)
    assert found.free == ()


def test_a_tier_that_fits_is_required_and_nothing_is_free() -> None:
    found = ideal_content(pyramid(2, 2, 1, 1, 1), 2)
    assert (len(found.required), found.free, found.chosen, found.number) == (2, (), 0, 1)


def test_more_than_there_is() -> None:
    found = ideal_content(pyramid(2, 1), 5)
    assert (found.asked, found.size, found.weight, found.number) == (5, 2, 3, 1)
    assert ideal_content(pyramid(), 3).weight == 0
    nothing = ideal_content(pyramid(2, 1), 0)
    assert (nothing.size, nothing.weight, nothing.number) == (0, 0, 1)
    with pytest.raises(pyr.UsageError, match="number of units cannot be -1"):
        ideal_content(pyramid(2, 1), -1)


@given(st.lists(st.integers(1, 4), max_size=7), st.integers(0, 8))
def test_the_sets_are_all_that_no_other_set_outweighs(weights: list[int], size: int) -> None:
    base = pyramid(*weights)
    found = ideal_content(base, size)
    everything = list(combinations(base.units, min(size, len(base.units))))
    best = max(sum(unit.weight for unit in some) for some in everything)
    optimal = {frozenset(unit.id for unit in some) for some in everything if sum(u.weight for u in some) == best}
    assert found.weight == best
    assert found.number == len(optimal)
    assert {frozenset(unit.id for unit in some) for some in found.sets()} == optimal
