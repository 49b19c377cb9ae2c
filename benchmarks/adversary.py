"""Attack a server of our own on this machine at full size; what got through is counted and must be nothing.

Bounded, loopback only, and over by itself after some minutes: `python benchmarks/adversary.py [--quick]`.
"""

from __future__ import annotations

import argparse
import os
import platform
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.adversary.attacks import ATTACKS, SECRET, Outcome, Target, copy_after_stop, prepare
from tests.server.kills import Kills
from tests.server.servers import make_study, running_server, start_many

RESULTS = Path(__file__).parent / "results" / "adversary.md"
KILLS, COPIES = 40, 300


def run(folder: Path, quick: bool) -> Iterator[tuple[Outcome, float]]:
    desk = prepare(folder / "study.db", tasks=400)
    with running_server(folder / "study.db", webhook_secret=SECRET) as server:
        target = Target(desk, server.url, server.pid)
        for attack, few, many in ATTACKS.values():
            begun = time.monotonic()
            yield attack(target, few if quick else many), time.monotonic() - begun
        assert "Traceback" not in server.printed(), server.printed()
    desk.database.close()
    for how in (signal.SIGTERM, signal.SIGINT):
        begun = time.monotonic()
        place = folder / how.name / "study.db"
        place.parent.mkdir()
        yield copy_after_stop(place, 10 if quick else COPIES, how), time.monotonic() - begun
    begun = time.monotonic()
    yield kill(folder / "killed.db", 3 if quick else KILLS), time.monotonic() - begun


def kill(place: Path, times: int) -> Outcome:
    """A lost answer raises AssertionError."""
    desk = make_study(place)
    start_many(desk, "kills", 4000, workers=5, check=False)
    outcome = Kills(desk, place, "kills").run(times)
    desk.database.close()
    detail = f"{len(outcome.acknowledged)} acknowledged answers, {outcome.interrupted} requests cut off"
    return Outcome("kill -9 of a server at work", times, 0, detail)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few tries, and the table is not written")
    quick = parser.parse_args().quick
    lines = ["| attack | tries | got through | seconds | |", "|---|---:|---:|---:|---|"]
    with tempfile.TemporaryDirectory() as folder:
        for outcome, seconds in run(Path(folder), quick):
            about = f"{outcome.tries} | {outcome.through} | {seconds:.0f} | {outcome.detail}"
            lines.append(f"| {outcome.attack} | {about} |")
            print(lines[-1], flush=True)
    if not quick:
        machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
        head = ["# Attacks on the server", "", f"`benchmarks/adversary.py` on {machine}.", ""]
        RESULTS.write_text("\n".join([*head, *lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
