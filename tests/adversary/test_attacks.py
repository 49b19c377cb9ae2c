"""No attack gets through, here with few tries; `benchmarks/adversary.py` runs them at full size."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.adversary.attacks import ATTACKS, SECRET, Target, copy_after_stop, prepare
from tests.server.servers import running_server

pytestmark = pytest.mark.server

MOST_MEGABYTES = 60.0
"""100 strangers once made a server hold 560 MB more; a few requests may make it hold some."""


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    place = tmp_path_factory.mktemp("attacked") / "study.db"
    desk = prepare(place)
    with running_server(place, webhook_secret=SECRET) as server:
        yield Target(desk, server.url, server.pid)
        assert "Traceback" not in server.printed(), server.printed()
    desk.database.close()


@pytest.mark.parametrize("name", ATTACKS)
def test_nothing_gets_through(target: Target, name: str) -> None:
    attack, tries, _ = ATTACKS[name]
    outcome = attack(target, tries)
    lucky = 2 if name == "guess checks" else 0  # one in 128 may pass by chance
    assert outcome.tries == tries
    assert outcome.through <= lucky
    if "memory grew by" in outcome.detail:
        assert float(outcome.detail.split()[-2]) < MOST_MEGABYTES


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_copy_of_the_file_holds_every_answer(tmp_path: Path, how: signal.Signals) -> None:
    assert copy_after_stop(tmp_path / "study.db", 10, how).through == 0
