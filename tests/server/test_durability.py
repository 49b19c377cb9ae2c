"""kill -9 at any moment: whoever has a receipt has an answer in the database, and the server starts again."""

from __future__ import annotations

import pytest
from tests.server.kills import Kills
from tests.server.servers import make_study, start_many

pytestmark = pytest.mark.server

TIMES = {"sqlite": 10, "postgresql": 3}  # benchmarks/server.py does it a hundred times


@pytest.mark.load
def test_no_acknowledged_answer_is_lost(place: str) -> None:
    desk = make_study(place)
    times = TIMES["sqlite" if desk.database.sqlite else "postgresql"]
    start_many(desk, "work", 400, workers=2, check=False)
    outcome = Kills(desk, place, "work", seed=3).run(times)
    assert len(outcome.starts) == times + 1
    assert outcome.acknowledged
    assert outcome.interrupted, "people were at work when it happened"
    assert outcome.statuses <= {200, 303}, outcome.statuses
    desk.database.close()
