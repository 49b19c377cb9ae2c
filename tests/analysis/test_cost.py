"""Costs of campaigns: every published sum, then what holds for any."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramidion.analysis.cost import Cost, Rates, campaign_cost, hourly_wage, judging_cost, rating_cost, writing_cost
from pyramidion.errors import UsageError


@pytest.mark.parametrize(
    ("cost", "total"),
    [
        # Shapira et al. 2019, section 4: 4 references x 2 workers x $0.50 x 1.2.
        (writing_cost(4), "4.80"),
        (writing_cost(4 * 10), "48.00"),
        (writing_cost(4 * 20), "96.00"),
        # 2 tasks x 5 workers x $0.45 x 1.2.
        (judging_cost(1, 1), "5.40"),
        (judging_cost(1, 20), "108.00"),
        (judging_cost(25, 10), "1350.00"),
        (judging_cost(22, 20), "2376.00"),
        # Gillick and Liu 2010, section 4, who say $55: 44 x 8 x 2 x $0.07 x 1.1 = $54.208.
        (rating_cost(44, 8), "54.21"),
    ],
)
def test_published_costs(cost: Cost, total: str) -> None:
    assert cost.total == Decimal(total)


def test_a_cost_says_what_it_is_made_of() -> None:
    assert str(judging_cost(1, 1)) == "$5.40 for 10 assignments ($4.50 pay + $0.90 fee)"
    assert str(judging_cost(25, 10)) == "$1,350.00 for 2,500 assignments ($1,125.00 pay + $225.00 fee)"
    assert str(rating_cost(44, 8)) == "$54.21 for 704 assignments ($49.28 pay + $4.93 fee)"
    assert str(campaign_cost(1, pay=2, fee=0, currency="€")) == "€2.00 for 1 assignment (€2.00 pay + €0.00 fee)"
    assert str(campaign_cost(0, pay=2, fee=0, currency="EUR")).startswith("EUR 0.00 for 0 assignments")
    assert Rates.of(0.45, 0.2).cost(10) == judging_cost(1, 1)
    assert Rates(Decimal("0.45"), Decimal("0.2")) == Rates.of("0.45", 0.2)


def test_choices_change_the_cost() -> None:
    # 3 workers on 1 task: 3 x $0.45 x 1.2 = $1.62; 40% fee: 10 x $0.45 x 1.4 = $6.30.
    assert judging_cost(1, 1, tasks_per_summary=1, workers=3).total == Decimal("1.62")
    assert judging_cost(1, 1, fee=0.4).total == Decimal("6.30")
    assert writing_cost(1, workers=1, pay=1, fee=0).total == 1
    assert rating_cost(1, 1, workers=1, pay="0.10").total == Decimal("0.11")


def test_half_a_cent_is_rounded_up_and_a_float_is_what_it_looks_like() -> None:
    assert campaign_cost(1, pay=0.005, fee=0).total == Decimal("0.01")
    assert campaign_cost(3, pay=0.1, fee=0.1).total == Decimal("0.33")  # 0.1 * 3 * 1.1 is 0.33000000000000007
    assert campaign_cost(1, pay=1.005, fee=0).total == Decimal("1.01")  # the float itself is below


def test_hourly_wage() -> None:
    # $0.45 in 3 minutes is $9 an hour; $0.07 in 25 seconds is 0.07 * 144 = $10.08.
    assert hourly_wage(0.45, 180) == Decimal("9.00")
    assert hourly_wage("0.07", 25.0) == Decimal("10.08")
    with pytest.raises(UsageError, match="more than 0 seconds"):
        hourly_wage(1, 0)


@pytest.mark.parametrize("bad", [-1, "x", float("nan"), float("inf"), ""])
def test_bad_amounts_are_refused(bad: float | str) -> None:
    with pytest.raises(UsageError, match="pay must be 0 or more"):
        campaign_cost(1, pay=bad, fee=0)
    with pytest.raises(UsageError, match="fee must be"):
        writing_cost(1, fee=bad)
    with pytest.raises(UsageError, match="seconds must be"):
        hourly_wage(1, bad)  # type: ignore[arg-type]


def test_bad_counts_are_refused() -> None:
    with pytest.raises(UsageError, match="the number of topics cannot be -2"):
        judging_cost(1, -2)
    with pytest.raises(UsageError, match="the number of systems cannot be -1"):
        judging_cost(-1, -2)  # and not a positive product
    with pytest.raises(UsageError, match="the number of assignments cannot be -3"):
        campaign_cost(-3, pay=1, fee=0)


amounts = st.decimals(0, 100, places=3)


@given(assignments=st.integers(0, 10**6), pay=amounts, fee=st.decimals(0, 1, places=2))
def test_the_parts_add_up_and_nothing_is_off_by_more_than_half_a_cent(
    assignments: int, pay: Decimal, fee: Decimal
) -> None:
    cost = campaign_cost(assignments, pay=pay, fee=fee)
    assert cost.total == cost.pay + cost.fee
    assert cost.fee >= 0
    assert abs(cost.total - assignments * pay * (1 + fee)) <= Decimal("0.005")
    assert abs(cost.pay - assignments * pay) <= Decimal("0.005")
    assert campaign_cost(assignments + 1, pay=pay, fee=fee).total >= cost.total
