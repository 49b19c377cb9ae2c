"""What people at a study server notice of another version: python benchmarks/server_beside.py CHECKOUT [--write]

The loads of server.py on this version and on a checkout of another, in turn, twice each, by the same 500 annotators:
whatever else the machine does meets both. Each is measured by the benchmark in its own checkout.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from server import ROOT, TARGET, Sizes, machine, shown

BESIDE_TARGET = TARGET.with_name("server_beside.md")
ABOUT = """\
Made by `python benchmarks/server_beside.py CHECKOUT --write`: the loads of [server.md](server.md) on this version and
on commit {commit}, in turn, twice each, by the same 500 annotators. In between, the
process with the fewest connections is given the next, PostgreSQL is asked fewer times per request, tasks whose places
are held are not counted for everybody who asks, and Python looks for garbage less often."""
BESIDE = (("PostgreSQL", 4, 0.0), ("PostgreSQL", 4, 0.5), ("PostgreSQL", 2, 0.0), ("SQLite", 1, 0.0))
SHOWN = (
    *("database", "processes", "pause, s", "requests/s", "p50, ms", "p99, ms", "errors"),
    *("server, cores", "database, cores", "others, cores", "server CPU, ms/request"),
)
ONE_LOAD = """
import sys, tempfile
from pathlib import Path
sys.path.insert(0, "benchmarks")
import server
kind, processes, think, seconds = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder, server.postgres() as database:
    places = server.Places(Path(folder), database)
    print(server.LOAD_HEADER[0])
    print(server.measure_load(places, kind, int(processes), float(think), float(seconds)))
"""


def measure_in(checkout: Path, kind: str, processes: int, think: float, seconds: float) -> dict[str, str]:
    """One load on another version of pyramidion, by its own benchmark; the cells of its row by their column."""
    command = [sys.executable, "-c", ONE_LOAD, kind, str(processes), str(think), str(seconds)]
    environment = os.environ | {"PYTHONPATH": str(checkout.resolve() / "src")}
    done = subprocess.run(command, cwd=checkout, env=environment, check=True, capture_output=True, text=True)
    header, row = ([cell.strip() for cell in line.strip("| ").split("|")] for line in done.stdout.splitlines()[-2:])
    return dict(zip(header, row, strict=True))


def commit_of(checkout: Path) -> str:
    asked = ["git", "-C", str(checkout), "rev-parse", "--short", "HEAD"]
    return subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()


def measure_beside(checkout: Path, seconds: float) -> Iterator[str]:
    """Both versions in turn, so that whatever else the machine does meets both."""
    yield "| version | " + " | ".join(SHOWN) + " | p99/p50 |"
    yield "|---" * 2 + "|" + "---:|" * len(SHOWN)
    for load in BESIDE:
        for _ in range(2):
            for version, folder in (("before", checkout), ("now", ROOT)):
                cells = measure_in(folder, *load, seconds)
                tail = float(cells["p99, ms"].replace(",", "")) / float(cells["p50, ms"].replace(",", ""))
                yield f"| {version} | " + " | ".join(cells[name] for name in SHOWN) + f" | {tail:.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path, help="a checkout of another version")
    parser.add_argument("--write", action="store_true", help=f"also write {BESIDE_TARGET.relative_to(ROOT)}")
    chosen = parser.parse_args()
    about = ABOUT.format(commit=commit_of(chosen.checkout))
    lines = [*map(shown, measure_beside(chosen.checkout, Sizes().seconds))]
    if chosen.write:
        text = "\n".join(["# The study server beside an earlier version", "", about, "", *lines, "", machine(), ""])
        BESIDE_TARGET.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
