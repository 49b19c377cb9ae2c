"""How long workers wait while a manager reads: python benchmarks/stalls.py [--answers 5000 ...] [--write]

A real server process (`pyramidion serve`, SQLite, one process) holds a judging campaign with so many answers of 16
units. Forty annotators, as in annotators.py, work on another campaign with a mean pause of 0.25 s before each request;
their times of reply are measured while a manager does nothing, asks for the overview again and again, or downloads the
answers. Generator, server and database share the cores of this machine.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import uvloop  # noqa: E402
from annotators import Annotators, Load  # noqa: E402
from sqlalchemy import insert, select  # noqa: E402
from tests.server.servers import logged_in, make_study, start_many, start_server  # noqa: E402

from pyramidion.campaigns.desk import CampaignDesk  # noqa: E402
from pyramidion.campaigns.platforms.local import invite  # noqa: E402
from pyramidion.server.context import SESSION_COOKIE  # noqa: E402
from pyramidion.store import schema  # noqa: E402

TARGET = ROOT / "benchmarks" / "results" / "stalls.md"
PEOPLE, THINK, SECONDS, WARM_UP = 40, 0.25, 20.0, 3.0
WORKERS_OF_TASK = 5
HEADER = [
    "| answers | the manager | requests of workers | p50, ms | p95, ms | slowest, ms | manager waits, s | size |",
    "|---:|---|---:|---:|---:|---:|---|---:|",
]


def fill(desk: CampaignDesk, campaign: str, answers: int) -> None:
    """A campaign in which so many answers have been given, by a hundred people of different care."""
    start_many(desk, campaign, answers // WORKERS_OF_TASK, workers=WORKERS_OF_TASK, check=False)
    rng = random.Random(0)
    people = [desk.workers.join("local", f"past {number}").id for number in range(100)]
    with desk.database.write() as connection:
        tasks = connection.execute(
            select(schema.tasks.c.id, schema.tasks.c.body)
            .join_from(schema.tasks, schema.campaigns)
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


READER = """
import sys, time, urllib.request
asked = urllib.request.Request(sys.argv[1], headers={"Cookie": sys.argv[2]})
while True:
    begun, size = time.perf_counter(), 0
    with urllib.request.urlopen(asked) as reply:
        while part := reply.read(1 << 20):
            size += len(part)
    print(time.perf_counter() - begun, size, flush=True)
    time.sleep(0.5)
"""


class Reader:
    """A manager who asks for the same thing again and again, in a process of their own until told to stop."""

    def __init__(self, url: str, cookie: str) -> None:
        self._process = subprocess.Popen([sys.executable, "-c", READER, url, cookie], stdout=subprocess.PIPE, text=True)
        self.seconds: list[float] = []
        self.size = 0

    def stop(self) -> None:
        self._process.terminate()
        said, _ = self._process.communicate()
        for line in said.splitlines():
            self.seconds.append(float(line.split()[0]))
            self.size = int(line.split()[1])


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
    times_read = reader.seconds if reader else []
    waited = f"{statistics.median(times_read):.2f} ({len(times_read)})" if times_read else "-"
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
    cookie = f"{SESSION_COOKIE}={logged_in(desk, server.url).cookies[SESSION_COOKIE]}"
    paths = {
        "does nothing": "",
        "watches the overview": "/api/manage/campaigns/past",
        "reads the answers": "/api/manage/campaigns/past/answers",
        "downloads the study (JSON Lines)": "/manage/campaigns/past/export.jsonl",
        "downloads the answers (CSV)": "/manage/campaigns/past/export.csv",
        "reads the scores": "/api/manage/scores",
    }
    lines = []
    try:
        for what, path in paths.items():
            reader = Reader(f"{server.url}{path}", cookie) if path else None
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
    busy = f"{os.cpu_count()} cores, {os.getloadavg()[0]:.1f} processes at work on them before (load average)."
    print(*HEADER, sep="\n", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        lines = [line for answers in chosen.answers for line in measure(Path(folder), answers)]
    if chosen.write:
        about = (__doc__ or "").split("\n\n", 1)[1].strip()
        text = ["# What a manager's reading costs workers", "", about, "", *HEADER, *lines, "", busy, ""]
        TARGET.write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    main()
