"""Commands under test are never told to take long, however busy the machine is."""

from __future__ import annotations

import pytest

from pyramidion.cli import output, waiting


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "LONG", 3600.0)
    monkeypatch.setattr(waiting, "LONG", 3600.0)
