"""How long workers wait while a manager reads: python benchmarks/stalls.py [--answers 5000 ...] [--write]

A real server process (`pyramidion serve`, SQLite, one process) holds a judging campaign with so many answers of 16
units. Forty annotators, as in annotators.py, work on another campaign with a mean pause of 0.25 s before each request;
their times of reply are measured while a manager does nothing, asks for the overview again and again, or downloads the
answers. Generator, server and database share the cores of this machine.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import uvloop  # noqa: E402
from annotators import Annotators, Load  # noqa: E402
from sqlalchemy import insert, select  # noqa: E402
from tests.server.servers import logged_in, make_study, start_many, start_server  # noqa: E402

from pyramidion.campaigns.desk import CampaignDesk  # noqa: E402
from pyramidion.campaigns.platforms.local import invite  # noqa: E402
from pyramidion.store import schema  # noqa: E402

TARGET = ROOT / "benchmarks" / "results" / "stalls.md"
PEOPLE, THINK, SECONDS, WARM_UP = 40, 0.25, 15.0, 3.0
WORKERS_OF_TASK = 5
HEADER = [
    "| answers | the manager | requests of workers | p50, ms | p95, ms | slowest, ms | manager waited, s (times) | size |",
    "|---:|---|---:|---:|---:|---:|---|---:|",
]


def fill(desk: CampaignDesk, campaign: str, answers: int) -> None:
    """A campaign in which so many answers have been given, by a hundred people of different care."""
    start_many(desk, campaign, answers // WORKERS_OF_TASK, workers=WORKERS_OF_TASK, check=False)
    rng = random.Random(0)
    people = [desk.workers.join("local", f"past {number}").id for number in range(100)]
    with desk.database.write() as connection:
        tasks = connection.execute(
            select(schema.tasks.c.id, schema.tasks.c.body).join_from(schema.tasks, schema.campaigns)
            .where(schema.campaigns.c.name == campaign)
        ).all()
        rows = []
        for task in tasks:
            for worker in rng.sample(people, WORKERS_OF_TASK):
                begun = 1_700_000_000 + rng.random() * 1e6
                units = {unit: int(rng.random() < 0.5) for unit in task.body["units"]}
                rows.append(
                    {"task_id": task.id, "worker_id": worker, "state": "submitted", "leased": begun,
                     "expires": begun + 3600, "submitted": begun + 60, "key": "k", "answer": {"units": units}}
                )  # fmt: skip
        connection.execute(insert(schema.assignments), rows)


class Reader(threading.Thread):
    """A manager who does the same thing until told to stop."""

    def __init__(self, read: Callable[[], int]) -> None:
        super().__init__(daemon=True)
        self._read = read
        self._over = threading.Event()
        self.seconds: list[float] = []
        self.size = 0

    def run(self) -> None:
        while not self._over.is_set():
            begun = time.perf_counter()
            self.size = self._read()
            self.seconds.append(time.perf_counter() - begun)
            self._over.wait(0.5)

    def stop(self) -> None:
        self._over.set()
        self.join()


def work(desk: CampaignDesk, url: str, campaign: str) -> Load:
    def link(name: str) -> str:
        return f"/join/{invite(desk.database.secret, campaign, name)}"

    crowd = Annotators(url, campaign, link, think=THINK, lease_seconds=15)
    until = time.monotonic() + WARM_UP + SECONDS
    return uvloop.run(crowd.work(PEOPLE, lambda: time.monotonic() > until, give_up=300))


def row(answers: int, what: str, load: Load, reader: Reader | None) -> str:
    since = load.sent[0] + WARM_UP
    seconds = sorted(s for at, s in zip(load.sent, load.seconds, strict=True) if at > since)
    centiles = statistics.quantiles(seconds, n=100)
    waited = "-" if reader is None else f"{statistics.median(reader.seconds):.2f} ({len(reader.seconds)})"
    size = "-" if reader is None else f"{reader.size / 1e6:.1f} MB"
    bad = sum(count for status, count in load.statuses.items() if status >= 400)
    assert not bad, load.statuses
    times = f"{centiles[49] * 1000:.1f} | {centiles[94] * 1000:.1f} | {seconds[-1] * 1000:.0f}"
    return f"| {answers:,} | {what} | {len(seconds):,} | {times} | {waited} | {size} |"


def measure(folder: Path, answers: int) -> list[str]:
    desk = make_study(place := folder / f"study{answers}.db")
    fill(desk, "past", answers)
    start_many(desk, "now", 3000, workers=WORKERS_OF_TASK, check=False)
    server = start_server(place)
    manager = logged_in(desk, server.url)
    manager.timeout = 600

    def asking(path: str) -> Callable[[], int]:
        return lambda: len(manager.get(path).raise_for_status().content)

    readers = {
        "does nothing": None,
        "watches the overview": asking("/api/manage/campaigns/past"),
        "reads the answers": asking("/api/manage/campaigns/past/answers"),
        "downloads the study (JSON Lines)": asking("/manage/campaigns/past/export.jsonl"),
        "downloads the answers (CSV)": asking("/manage/campaigns/past/export.csv"),
        "reads the scores": asking("/api/manage/scores"),
    }
    lines = []
    try:
        for what, read in readers.items():
            reader = Reader(read) if read else None
            if reader:
                reader.start()
            load = work(desk, server.url, "now")
            if reader:
                reader.stop()
            lines.append(row(answers, what, load, reader))
            print(lines[-1], flush=True)
    finally:
        server.end()
        desk.database.close()
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, nargs="+", default=[5000, 20000])
    parser.add_argument("--write", action="store_true", help=f"also write {TARGET.relative_to(ROOT)}")
    chosen = parser.parse_args()
    print(*HEADER, sep="\n", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        lines = [line for answers in chosen.answers for line in measure(Path(folder), answers)]
    if chosen.write:
        about = (__doc__ or "").split("\n\n", 1)[1].strip()
        text = ["# What a manager's reading costs workers", "", about, "", *HEADER, *lines, ""]
        TARGET.write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    main()
