"""Sampling statements and splitting them into tasks: small cases by hand, then what holds for any supply."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramidion.errors import InputError, UsageError
from pyramidion.pyramids.statements import sample_units, split_into_groups
from pyramidion.study import ContentUnit, Contributor


def written(**counts: int) -> list[ContentUnit]:
    """So many statements of each reference."""
    return [
        ContentUnit(f"{name}{i:02}", f"statement {i}", (Contributor(name),), author="w1", group="old")
        for name, count in counts.items()
        for i in range(count)
    ]


def per_reference(units: tuple[ContentUnit, ...]) -> Counter[str]:
    return Counter(unit.contributors[0].reference for unit in units)


def groups(units: tuple[ContentUnit, ...]) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    for unit in units:
        found.setdefault(unit.group, Counter())[unit.contributors[0].reference] += 1
    return found


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_the_papers_numbers() -> None:
    # 4 references with about 13 statements each; 32 are judged, 8 of each, in two tasks of 16 with 4 of each.
    sample = sample_units(written(A=13, B=13, C=12, D=13), rng=rng())
    assert per_reference(sample.units) == {"A": 8, "B": 8, "C": 8, "D": 8}
    assert sample.shortfalls == ()
    assert {unit.group for unit in sample.units} == {""}
    tasks = groups(split_into_groups(sample.units, rng=rng()))
    assert tasks == {name: Counter(A=4, B=4, C=4, D=4) for name in ("1", "2")}


def test_a_shortfall_is_filled_from_the_others_and_reported() -> None:
    # A lacks 6 of its share of 8; the other three give 10 each.
    sample = sample_units(written(A=2, B=13, C=13, D=13), rng=rng())
    assert per_reference(sample.units) == {"A": 2, "B": 10, "C": 10, "D": 10}
    assert [(p.severity, str(p)) for p in sample.shortfalls] == [
        ("warning", "reference A: has only 2 of its share of 8 units; other references fill in")
    ]


def test_the_remainder_goes_to_references_chosen_at_random() -> None:
    lucky = Counter()
    for seed in range(40):
        sample = sample_units(written(A=5, B=5, C=5), size=10, rng=rng(seed))
        counts = per_reference(sample.units)
        assert sorted(counts.values()) == [3, 3, 4]
        lucky[max(counts, key=lambda name: counts[name])] += 1
    assert min(lucky[name] for name in "ABC") >= 5


def test_a_reference_without_statements_is_missed_when_it_is_named() -> None:
    units = written(A=8, B=8)
    sample = sample_units(units, size=9, rng=rng(), references=["A", "B", "C"])
    assert [str(p) for p in sample.shortfalls] == [
        "reference C: has only 0 of its share of 3 units; other references fill in"
    ]
    assert sorted(per_reference(sample.units).values()) == [4, 5]
    assert per_reference(sample_units(units, size=9, rng=rng(), references=["A"]).units) == {"A": 8}


def test_too_few_statements_are_all_taken_and_reported() -> None:
    sample = sample_units(written(A=3, B=9), rng=rng())
    assert len(sample.units) == 12
    assert str(sample.shortfalls[-1]) == "sample: there are only 12 units, not 32"
    empty = sample_units([], rng=rng())
    assert empty.units == ()
    assert [str(p) for p in empty.shortfalls] == ["sample: there are only 0 units, not 32"]


def test_groups_are_as_equal_as_they_can_be() -> None:
    # 36 units, 12 of each reference: three groups of 12 with 4 of each, not 16, 16 and 4.
    found = groups(split_into_groups(written(A=12, B=12, C=12), rng=rng()))
    assert found == {name: Counter(A=4, B=4, C=4) for name in "123"}
    sizes = [counts.total() for counts in groups(split_into_groups(written(A=9, B=8), rng=rng())).values()]
    assert sizes == [9, 8]
    assert groups(split_into_groups(written(A=3), rng=rng())) == {"1": Counter(A=3)}
    assert split_into_groups([], rng=rng()) == ()


def test_groups_come_in_the_order_of_their_numbers() -> None:
    found = split_into_groups(written(A=33), group_size=3, rng=rng())
    assert list(dict.fromkeys(unit.group for unit in found)) == [str(n) for n in range(1, 12)]


def test_bad_input_is_refused() -> None:
    with pytest.raises(UsageError, match="at least 1 unit, not 0"):
        sample_units([], size=0, rng=rng())
    with pytest.raises(UsageError, match="at least 1 unit, not 0"):
        split_into_groups([], group_size=0, rng=rng())
    with pytest.raises(InputError, match="unit A00: appears more than once"):
        sample_units([*written(A=1), *written(A=1)], rng=rng())
    with pytest.raises(InputError, match="unit A00: a statement must come from 1 reference, this one comes from 0"):
        split_into_groups([replace(written(A=1)[0], contributors=())], rng=rng())


supplies = st.dictionaries(st.sampled_from("ABCDE"), st.integers(1, 20), max_size=5)


@given(supply=supplies, size=st.integers(1, 60), seed=st.integers(0, 99))
def test_a_sample_is_as_large_and_as_even_as_the_supply_allows(supply: dict[str, int], size: int, seed: int) -> None:
    units = written(**supply)
    sample = sample_units(units, size=size, rng=rng(seed))
    assert len(sample.units) == min(size, len(units))
    assert len({unit.id for unit in sample.units}) == len(sample.units)
    assert {replace(unit, group="old") for unit in sample.units} <= set(units)
    counts = per_reference(sample.units)
    most = max((counts[name] for name in supply), default=0)
    # Nobody gives two more than somebody who had one left to give.
    assert all(counts[name] >= most - 1 for name in supply if counts[name] < supply[name])
    short = {p.where for p in sample.shortfalls} - {"sample"}
    assert short == {f"reference {name}" for name in supply if supply[name] < size // len(supply)}
    assert (len(units) < size) == any(p.where == "sample" for p in sample.shortfalls)


@given(supply=supplies, group_size=st.integers(1, 20), seed=st.integers(0, 99))
def test_groups_are_few_and_even(supply: dict[str, int], group_size: int, seed: int) -> None:
    units = written(**supply)
    found = split_into_groups(units, group_size=group_size, rng=rng(seed))
    assert {replace(unit, group="old") for unit in found} == set(units)
    assert len(found) == len(units)
    by_group = groups(found)
    assert len(by_group) == -(-len(units) // group_size)
    for counts in ([held.total() for held in by_group.values()], *([c[n] for c in by_group.values()] for n in supply)):
        assert max(counts, default=0) - min(counts, default=0) <= 1


@given(supply=supplies, seed=st.integers(0, 99))
def test_only_the_seed_decides(supply: dict[str, int], seed: int) -> None:
    units = written(**supply)
    mixed = random.Random(seed).sample(units, len(units))
    assert sample_units(mixed, size=10, rng=rng(seed)) == sample_units(units, size=10, rng=rng(seed))
    assert split_into_groups(mixed, group_size=4, rng=rng(seed)) == split_into_groups(
        units, group_size=4, rng=rng(seed)
    )


def test_another_seed_gives_another_sample() -> None:
    units = written(A=20, B=20)
    assert sample_units(units, size=10, rng=rng(1)) != sample_units(units, size=10, rng=rng(2))
    assert split_into_groups(units, rng=rng(1)) != split_into_groups(units, rng=rng(2))
