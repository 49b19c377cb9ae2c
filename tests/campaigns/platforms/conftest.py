"""A fake Prolific for each test that asks for one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.campaigns.platforms.fake_prolific import TOKEN, FakeProlific, fake_prolific

from pyramidion.campaigns.platforms.prolific import Client


@pytest.fixture
def prolific() -> Iterator[FakeProlific]:
    with fake_prolific() as running:
        yield running


@pytest.fixture
def pauses() -> list[float]:
    """How long the client waited between tries, without the waiting."""
    return []


@pytest.fixture
def client(prolific: FakeProlific, pauses: list[float]) -> Iterator[Client]:
    with Client(TOKEN, prolific.url, sleep=pauses.append) as made:
        yield made


@pytest.fixture
def impatient(prolific: FakeProlific, pauses: list[float]) -> Iterator[Client]:
    """For servers that never answer."""
    with Client(TOKEN, prolific.url, timeout=1.0, sleep=pauses.append) as made:
        yield made
