"""What every test may use: the bundled example, and the real data where a checkout has it beside it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

import pyramidion as pyr

# Timing never decides a test: shared machines are slow now and then.
settings.register_profile("steady", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("steady")

REAL_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def example() -> pyr.Study:
    return pyr.example()


@pytest.fixture
def real_data() -> Path:
    """Published data sets that cannot be part of this repository."""
    if not REAL_DATA.is_dir():
        pytest.skip("the published data sets are not beside this checkout (../shared/data)")
    return REAL_DATA
