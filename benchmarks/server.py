"""What a study server bears: python benchmarks/server.py [--quick] [--write]

Everything runs against real server processes (`pyramidion serve`) on this machine, with 500 annotators as in
annotators.py. The generator is the benchmark's own process; it, the server and the database share the same cores.
SQLite runs with synchronous=FULL, so that each write waits for the disk.

*Exactly 5*: everybody goes on until all tasks are full; then the database is read and compared with the receipts.
*kill -9*: eight people submit while the server is killed, after a drawn number of requests, and started again.
*The manager's page*: the overview of a campaign with 2,000 answers in a study with 80,000 imported judgments, asked for
as its page does; CPU of the server and of the process that reads for it.
*Load*: requests and times of reply over 20 s, after 8 s to warm up; without a pause between an annotator's requests
(then the mean time of reply is 500 / rate: what matters is the rate), and with a mean pause of 0.5 s. CPU is in cores:
seconds of user and system time for a second of the clock; "others" is whatever else ran on the machine, which is waited
for, but not for ever: where others use a core, rates are about half of what they are without, and CPU per request is
the better measure. Connections and requests per process: the fewest and the most, at the most uneven moment.
"""

from __future__ import annotations

import argparse
import os
import platform
import sqlite3
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the tests' way of starting servers and PostgreSQL is ours too

import fastapi  # noqa: E402
import psycopg  # noqa: E402
import sqlalchemy  # noqa: E402
import uvicorn  # noqa: E402
import uvloop  # noqa: E402
from annotators import Annotators, Load  # noqa: E402
from sqlalchemy import insert, select  # noqa: E402
from tests.databases import (  # noqa: E402
    Postgres,
    postgres,
)
from tests.server.kills import Kills  # noqa: E402
from tests.server.processes import clients_of  # noqa: E402
from tests.server.servers import (  # noqa: E402
    Person,
    answer_to,
    logged_in,
    make_study,
    start_many,
    start_server,
)

import pyramidion as pyr  # noqa: E402
from pyramidion.campaigns.desk import CampaignDesk  # noqa: E402
from pyramidion.campaigns.platforms.local import invite  # noqa: E402
from pyramidion.store import schema  # noqa: E402
from pyramidion.study import Judge, Judgments  # noqa: E402

TARGET = ROOT / "benchmarks" / "results" / "server.md"
ANNOTATORS, WANTED, CAMPAIGN = 500, 5, "load"
SHORT_LEASE = 0.25  # minutes, so that some come late
WARM_UP = 8.0
QUIET = 0.3  # cores in use by others
GIVE_UP = 600.0  # seconds after which a run that does not end is stopped


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much of everything; ``--quick`` has less."""

    seconds: float = 20.0
    tasks: int = 500
    kills: int = 30
    starts: int = 5
    imported: int = 80_000
    answers: int = 2_000
    polls: int = 10
    patience: float = 10.0
    """Seconds to wait, before each load, for whatever else runs on the machine to end."""


@dataclass
class Places:
    """Where databases can be made."""

    folder: Path
    server: Postgres
    made: int = field(default=0)

    def new(self, kind: str) -> str:
        self.made += 1
        return str(self.folder / f"study{self.made}.db") if kind == "SQLite" else self.server.new_database()


# -- CPU -----------------------------------------------------------------------------------------------------


def cpu_of_tree(root: int) -> float:
    """Seconds of CPU of a process and all below it, those that have ended too."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            parts = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # gone meanwhile
        pid = int(entry.parent.name)
        parents[pid], ticks[pid] = int(parts[1]), sum(map(int, parts[11:15]))
    below = {root}
    for pid in sorted(parents):
        if parents[pid] in below:
            below.add(pid)
    return sum(ticks.get(pid, 0) for pid in below) / os.sysconf("SC_CLK_TCK")


def cpu_of_machine() -> float:
    user, nice, system, _idle, _wait, irq, softirq = map(int, Path("/proc/stat").read_text().split()[1:8])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


@dataclass
class Cpu:
    """Seconds of CPU so far, by who used them."""

    server: float
    database: float
    generator: float
    machine: float

    @classmethod
    def now(cls, server: int, database: int | None) -> Cpu:
        of_database = cpu_of_tree(database) if database else 0.0
        return cls(cpu_of_tree(server), of_database, time.process_time(), cpu_of_machine())

    def cores_since(self, before: Cpu, seconds: float) -> str:
        server, database = self.server - before.server, self.database - before.database
        generator = self.generator - before.generator
        others = max(0.0, self.machine - before.machine - server - database - generator)
        return " | ".join(f"{part / seconds:.2f}" for part in (server, database, generator, others))


# -- who serves whom -----------------------------------------------------------------------------------------


class Shares:
    """Which process serves which client: looked up again and again, since a connection that is gone tells nothing."""

    def __init__(self, server: int, url: str) -> None:
        self._server, self._port = server, urlsplit(url).port or 80
        self._process_of: dict[int, int] = {}
        self._fewest, self._most = 0, 0

    def look(self) -> None:
        """Note who serves each client, and how many connections a process had when they were shared most unevenly."""
        held = {process: clients for process, clients in clients_of(self._server, self._port).items() if clients}
        for process, clients in held.items():
            self._process_of |= dict.fromkeys(clients, process)
        counts = sorted(map(len, held.values()))
        if counts and counts[-1] * max(1, self._fewest) >= self._most * counts[0]:
            self._fewest, self._most = counts[0], counts[-1]

    def row(self, load: Load) -> str:
        requests: Counter[int] = Counter()
        for port, count in load.ports.items():
            if port in self._process_of:
                requests[self._process_of[port]] += count
        return f"{self._fewest}-{self._most} | {min(requests.values()):,}-{max(requests.values()):,} |"


# -- load ----------------------------------------------------------------------------------------------------


@contextmanager
def served(place: str, processes: int, tasks: int, **settings: float) -> Iterator[tuple[CampaignDesk, str, int]]:
    """A campaign with so many tasks on a running server: the study, where, and the server's process."""
    desk = make_study(place)
    start_many(desk, CAMPAIGN, tasks, workers=WANTED, check=False, **settings)
    server = start_server(place, processes=processes)
    try:
        yield desk, server.url, server.pid
    finally:
        server.end()
        desk.database.close()


def annotators(desk: CampaignDesk, url: str, think: float) -> Annotators:
    def link(name: str) -> str:
        return f"/join/{invite(desk.database.secret, CAMPAIGN, name)}"

    return Annotators(url, CAMPAIGN, link, think=think, lease_seconds=60 * SHORT_LEASE)


def wait_for_quiet(patience: float) -> None:
    until = time.monotonic() + patience
    while time.monotonic() < until:
        before = cpu_of_machine()
        time.sleep(3)
        if cpu_of_machine() - before < 3 * QUIET:
            return


class Window:
    """The measured part of a run: after the warm-up, for so many seconds."""

    def __init__(self, seconds: float, cpu: Callable[[], Cpu], shares: Shares) -> None:
        self._seconds, self._cpu, self._shares = seconds, cpu, shares
        self._opens = time.perf_counter() + WARM_UP
        self._before: Cpu | None = None

    def is_over(self) -> bool:
        now = time.perf_counter()
        if self._before is None and now >= self._opens:
            self._opens, self._before = now, self._cpu()
        if self._before is not None:
            self._shares.look()
        if self._before is None or now < self._opens + self._seconds:
            return False
        self._closes, self._after = now, self._cpu()
        return True

    def row(self, load: Load) -> str:
        assert self._before is not None
        took = self._closes - self._opens
        seconds = [s for at, s in zip(load.sent, load.seconds, strict=True) if self._opens <= at + s < self._closes]
        centiles = statistics.quantiles(seconds, n=100)
        p50, p95, p99 = (f"{centiles[n - 1] * 1000:,.0f}" for n in (50, 95, 99))
        bad = sum(count for status, count in load.statuses.items() if status >= 400)
        cores = self._after.cores_since(self._before, took)
        per_request = (self._after.server - self._before.server) / len(seconds) * 1000
        counts = f"{len(seconds):,} | {len(seconds) / took:,.0f}"
        tail = f"{p50} | {p95} | {p99} | {centiles[98] / centiles[49]:.1f}"
        return f"{counts} | {tail} | {bad} | {cores} | {per_request:.2f} | {self._shares.row(load)}"


LOAD_HEADER = [
    "| database | processes | pause, s | requests | requests/s | p50, ms | p95, ms | p99, ms | p99/p50 "
    "| errors | server, cores | database, cores | generator, cores | others, cores | server CPU, ms/request "
    "| connections per process | requests per process |",
    "|---|" + "---:|" * 16,
]


def measure_load(places: Places, kind: str, processes: int, think: float, seconds: float) -> str:
    tasks = int(1500 * (WARM_UP + seconds) / 3 / WANTED)  # more than anybody gets through
    database = places.server.pid if kind == "PostgreSQL" else None
    with served(places.new(kind), processes, tasks) as (desk, url, pid):
        window = Window(seconds, lambda: Cpu.now(pid, database), Shares(pid, url))
        crowd = annotators(desk, url, think)
        load = uvloop.run(crowd.work(ANNOTATORS, window.is_over, give_up=GIVE_UP))
    return f"| {kind} | {processes} | {think:g} | {window.row(load)}"


# -- exactly 5 -----------------------------------------------------------------------------------------------

EXACT_HEADER = [
    "| database | processes | tasks | people | requests | given back | vanished | came late | sent twice "
    "| surplus kept | 5xx | other errors | receipts not stored | tasks with exactly 5 distinct workers |",
    "|---|" + "---:|" * 13,
]


def measure_exactness(places: Places, kind: str, processes: int, tasks: int) -> str:
    with served(places.new(kind), processes, tasks, lease_minutes=SHORT_LEASE) as (desk, url, _pid):
        crowd = annotators(desk, url, think=0.1)

        def all_full() -> bool:
            return desk.campaigns.progress(CAMPAIGN)["tasks_full"] == tasks

        load = uvloop.run(crowd.work(ANNOTATORS, all_full, give_up=GIVE_UP))
        answers = [answer for answer in desk.campaigns.answers(CAMPAIGN) if answer.state == "submitted"]
        people = len({answer.worker for answer in desk.campaigns.answers(CAMPAIGN)})
    workers: dict[str, list[str]] = {}
    for answer in answers:
        if answer.counted:
            workers.setdefault(answer.task.id, []).append(answer.worker)
    stored = {answer.id: answer.counted for answer in answers}
    lost = sum(stored.get(id) != counted for id, counted in load.receipts.items())
    exact = sum(len(by) == WANTED == len(set(by)) for by in workers.values())
    broken = sum(count for status, count in load.statuses.items() if status >= 500)
    others = sum(count for status, count in load.statuses.items() if 400 <= status < 500)
    deeds = " | ".join(f"{load.deeds[deed]:,}" for deed in ("given back", "vanished", "came late", "sent twice"))
    surplus = sum(answer.surplus for answer in answers)
    total = sum(load.statuses.values())
    return (
        f"| {kind} | {processes} | {tasks:,} | {people:,} | {total:,} | {deeds} | {surplus:,} "
        f"| {broken} | {others} | {lost} | {exact:,} of {tasks:,} |"
    )


# -- starts and kills ----------------------------------------------------------------------------------------


def measure_starts(place: str, times: int) -> list[float]:
    """Seconds from the command to the first page."""
    make_study(place).database.close()
    found = []
    for _ in range(times):
        begun = time.monotonic()
        server = start_server(place)
        found.append(time.monotonic() - begun)
        server.end()
    return sorted(found)


def measure_kills(place: str, times: int) -> str:
    desk = make_study(place)
    start_many(desk, "work", 20 * times + 400, workers=WANTED, check=False)
    outcome = Kills(desk, place, "work", seed=1).run(times)  # raises where an acknowledged answer is not there
    desk.database.close()
    starts = sorted(outcome.starts[1:])
    return (
        f"Killed {times} times: {len(outcome.acknowledged):,} answers acknowledged, all of them found; "
        f"{outcome.interrupted} requests interrupted, of which {outcome.replayed} had been stored and were recognised "
        f"when sent again. Restart to first page: median {statistics.median(starts):.2f} s, slowest {starts[-1]:.2f} s."
    )


# -- the manager's page --------------------------------------------------------------------------------------

POLLS_HEADER = ["| poll | times | CPU of the server, ms each | bytes each |", "|---|---:|---:|---:|"]


def make_large_study(place: str, judgments: int, answers: int) -> CampaignDesk:
    """The example with so many imported judgments, and a campaign with so many answers."""
    study = pyr.example()
    cells = [one for one in study.judgments if one.unit]
    judges = [Judge(f"expert {number}", "expert") for number in range(-(-judgments // len(cells)))]
    imported = [replace(cell, judge=judge.id, task="") for judge in judges for cell in cells][:judgments]
    one_each = {(j.topic, j.system, j.unit, j.judge): j for j in imported}
    known = replace(study, judges=(*study.judges, *judges), judgments=Judgments(one_each.values()))
    desk = make_study(place, known)
    start_many(desk, CAMPAIGN, answers // 2 + 10, workers=2, check=False)
    people = [desk.workers.join("local", f"person {number}").id for number in range(20)]
    with desk.database.write() as connection:
        tasks = connection.execute(select(schema.tasks.c.id, schema.tasks.c.body)).all()[: answers // 2]
        rows = [
            {
                "task_id": task.id, "worker_id": people[(2 * n + place) % 20], "state": "submitted",
                "leased": 1e9, "expires": 2e9, "submitted": 1e9 + 60 + n, "key": "k",
                "answer": {"units": dict.fromkeys(task.body["units"], (n + place) % 2)},
            }
            for n, task in enumerate(tasks) for place in range(2)
        ]  # fmt: skip
        connection.execute(insert(schema.assignments), rows)
    return desk


def measure_polls(place: str, judgments: int, answers: int, times: int) -> Iterator[str]:
    """What asking for the overview costs, as the page of a campaign does it every 3 s."""
    desk = make_large_study(place, judgments, answers)
    server = start_server(place)
    try:
        boss, person = logged_in(desk, server.url), Person(desk, server.url, CAMPAIGN, "late")
        person.join()

        def poll(times: int, answer: bool) -> str:
            spent, size, tag = 0.0, 0, ""
            for _ in range(times):
                if answer:
                    task = person.work()
                    person.submit(task["assignment"], answer_to(task["page"]), key=f"key of {task['assignment']}")
                before = cpu_of_tree(server.pid)
                reply = boss.get(f"/api/manage/campaigns/{CAMPAIGN}", headers={"If-None-Match": tag})
                spent, size = spent + cpu_of_tree(server.pid) - before, size + len(reply.content)
                tag = reply.headers.get("etag", "")
                time.sleep(1.1)  # so that what is looked up once a second is looked up
            return f"{times} | {1000 * spent / times:,.0f} | {size // times:,} |"

        yield f"| the first, after the start | {poll(1, answer=False)}"
        poll(1, answer=False)
        yield f"| nothing has changed | {poll(times, answer=False)}"
        yield f"| one answer has come | {poll(times, answer=True)}"
    finally:
        server.end()
        desk.database.close()


# -- the page ------------------------------------------------------------------------------------------------


def shown(line: str) -> str:
    print(line, flush=True)
    return line


def measure(places: Places, sizes: Sizes) -> list[str]:
    lines = ["## Exactly 5", "", *map(shown, EXACT_HEADER)]
    for kind, processes in (("SQLite", 1), ("PostgreSQL", 4)):
        lines.append(shown(measure_exactness(places, kind, processes, sizes.tasks)))
    lines += ["", "## kill -9", "", shown(measure_kills(places.new("SQLite"), sizes.kills))]
    starts = ", ".join(f"{seconds:.2f}" for seconds in measure_starts(places.new("SQLite"), sizes.starts))
    lines += ["", "## Start to first page", "", shown(f"{starts} s.")]
    lines += ["", "## The manager's page", "", *map(shown, POLLS_HEADER)]
    polls = measure_polls(places.new("SQLite"), sizes.imported, sizes.answers, sizes.polls)
    lines += [*map(shown, polls), "", "## Load", "", *map(shown, LOAD_HEADER)]
    for think in (0.0, 0.5):
        for kind, processes in (("SQLite", 1), ("PostgreSQL", 1), ("PostgreSQL", 2), ("PostgreSQL", 4)):
            wait_for_quiet(sizes.patience)
            lines.append(shown(measure_load(places, kind, processes, think, sizes.seconds)))
    return lines


def machine() -> str:
    about = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":")[1].strip() for line in about if line.startswith("model name")), "")
    return (
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, SQLAlchemy {sqlalchemy.__version__}, "
        f"FastAPI {fastapi.__version__}, uvicorn {uvicorn.__version__}, psycopg {psycopg.__version__}, "
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} shared cores, {model}."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of everything, in a few minutes")
    parser.add_argument("--write", action="store_true", help=f"also write {TARGET.relative_to(ROOT)}")
    chosen = parser.parse_args()
    sizes = Sizes(5.0, 100, 10, 2, imported=8_000, answers=400, polls=3, patience=0.0) if chosen.quick else Sizes()
    with tempfile.TemporaryDirectory() as folder, postgres() as server:
        lines = measure(Places(Path(folder), server), sizes)
    about = (__doc__ or "").split("\n\n", 1)[1].strip()
    text = "\n".join(["# The study server", "", about, "", *lines, "", machine(), ""])
    if chosen.write:
        TARGET.parent.mkdir(exist_ok=True)
        TARGET.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
