"""What every test may use: the bundled example, and the real data where a checkout has it beside it."""

from __future__ import annotations

from pathlib import Path

import argon2
import pytest
from hypothesis import settings

import pyramidion as pyr

# Timing never decides a test: shared machines are slow now and then.
settings.register_profile("steady", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("steady")

# What a password costs to guess it also costs each log-in of a test. test_store.py looks at the real cost.
REAL_COST = argon2.PasswordHasher.__init__.__defaults__
argon2.PasswordHasher.__init__.__defaults__ = (1, 8, 1, *(REAL_COST or ())[3:])

REAL_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def example() -> pyr.Study:
    return pyr.example()


@pytest.fixture
def real_password_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passwords are hashed as for real people."""
    monkeypatch.setattr(argon2.PasswordHasher.__init__, "__defaults__", REAL_COST)


@pytest.fixture
def real_data() -> Path:
    """Published data sets that cannot be part of this repository."""
    if not REAL_DATA.is_dir():
        pytest.skip("the published data sets are not beside this checkout (../shared/data)")
    return REAL_DATA
