"""What every test may use: the bundled example, and the real data where a checkout has it beside it."""

from __future__ import annotations

import csv
import json
import os
import tempfile
from functools import cache
from pathlib import Path

import argon2
import pytest
from hypothesis import settings

import pyramidion as pyr

# Every test process has a core to itself at best; threads of numpy's that wait for each other only waste it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# No test reads or writes what the user's own runs keep, and every test encodes for itself unless it says otherwise.
_kept = tempfile.TemporaryDirectory(prefix="pyramidion-cache-")
os.environ["XDG_CACHE_HOME"] = _kept.name
os.environ["PYRAMIDION_ENCODINGS_MB"] = "0"
os.environ["PYRAMIDION_SAY_AFTER"] = "100000"  # what commands print must not depend on how long they take

# Timing never decides a test: shared machines are slow now and then.
settings.register_profile("steady", deadline=None, max_examples=60, derandomize=True)
settings.register_profile("quick", settings.get_profile("steady"), max_examples=15)  # for make check
settings.load_profile("steady")

# Nothing changes a study, and reading it takes longer than most tests.
pyr.example = cache(pyr.example)

# What a password costs to guess it also costs each log-in of a test. test_store.py looks at the real cost.
REAL_COST = argon2.PasswordHasher.__init__.__defaults__
argon2.PasswordHasher.__init__.__defaults__ = (1, 8, 1, *(REAL_COST or ())[3:])

HERE = Path(__file__).resolve().parent
REAL_DATA = HERE.parents[1] / "shared" / "data"


@pytest.fixture(scope="session")
def example() -> pyr.Study:
    return pyr.example()


@pytest.fixture
def real_password_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passwords are hashed as for real people."""
    monkeypatch.setattr(argon2.PasswordHasher.__init__, "__defaults__", REAL_COST)


@pytest.fixture(scope="session")
def qapyramid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The judgments of data/qapyramid in the layout in which they were released, with numbers for texts."""
    path = tmp_path_factory.mktemp("qapyramid") / "judgments.jsonl"
    with (HERE / "data" / "qapyramid" / "judgments.csv").open() as table, path.open("w") as file:
        for row in csv.DictReader(table):
            document, predicate, unit = (row.pop(name) for name in ("document", "predicate", "unit"))
            place = {"document": document, "predicate": predicate, "unit": unit}
            for system, answers in row.items():
                for worker, present in zip(answers[::2], answers[1::2], strict=True):
                    judgment = {"system": system, **place, "worker": worker, "present": int(present)}
                    file.write(json.dumps(judgment) + "\n")
    return path


@pytest.fixture
def real_data() -> Path:
    """Published data sets that cannot be part of this repository."""
    if not REAL_DATA.is_dir():
        pytest.skip("the published data sets are not beside this checkout (../shared/data)")
    return REAL_DATA
