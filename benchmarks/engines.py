"""Long work on several engines: what Dask costs beside local processes, how it grows, and 100,000 summaries.

    python benchmarks/engines.py [DATA] [--summaries N] [--write]

DATA is ../shared/data by default. --summaries 100000 (the default is 1,000) adds the long run. --write also writes
benchmarks/results/engines.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from statistics import median

from recombined import recombined

import pyramidion as pyr

ROOT = Path(__file__).resolve().parent.parent
RESULT = ROOT / "benchmarks/results/engines.md"
PULSE = 0.5
ROUNDS = 2
ABOUT = """Made by `python benchmarks/engines.py --summaries 100000 --write`. Every run is a real `auto run` of
summaries recombined from real ones (recombined.py), without encodings of earlier runs."""


@dataclass(frozen=True)
class Run:
    """Seconds, the greatest memory of the command itself and of any worker (MB), and a checksum of what it wrote."""

    seconds: float
    own: int
    worker: int
    wrote: str


def processes_of(parent: int) -> list[int]:
    """A process and all below it."""
    try:
        tasks = list(Path(f"/proc/{parent}/task").iterdir())
        below = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []
    return [parent, *(each for child in below for each in processes_of(child))]


def memory(process: int) -> int:
    """The most that it ever had, in MB."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return max((int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM")), default=0)


def checksum(folder: Path) -> str:
    digest = sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            digest.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


def run(study: Path, *options: str) -> Run:
    folder = Path(tempfile.mkdtemp(prefix="pyramidion-")) / "run"
    command = [sys.executable, "-m", "pyramidion", "auto", "run", str(study), "-o", str(folder), "--json", *options]
    environment = {**os.environ, "PYRAMIDION_ENCODINGS_MB": "0"}
    begun = time.monotonic()
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        peaks: dict[int, int] = {}
        assert process.stdout is not None
        while process.poll() is None:
            peaks |= {each: max(memory(each), peaks.get(each, 0)) for each in processes_of(process.pid)}
            if process.poll() is None:
                time.sleep(PULSE)
                os.set_blocking(process.stdout.fileno(), False)
                process.stdout.read()
    seconds = time.monotonic() - begun
    assert process.returncode == 0, f"{command} ended with {process.returncode}"
    others = [peak for each, peak in peaks.items() if each != process.pid]
    made = Run(seconds, peaks[process.pid], max(others, default=0), checksum(folder))
    shutil.rmtree(folder.parent)
    return made


def compared(study: Path, summaries: int) -> list[str]:
    """Engines in turn, so that whatever else the machine does meets all of them."""
    engines = {
        "this process": [],
        "2 processes": ["--jobs", "2"],
        "Dask, 1 worker": ["--engine", "dask", "--jobs", "1"],
        "Dask, 2 workers": ["--engine", "dask", "--jobs", "2"],
    }
    runs: dict[str, list[Run]] = {name: [] for name in engines}
    for _ in range(ROUNDS):
        for name, options in engines.items():
            runs[name].append(run(study, *options))
            print(f"{name:16} {runs[name][-1]}", flush=True)
    assert len({each.wrote for some in runs.values() for each in some}) == 1, "engines differ"
    base = median(each.seconds for each in runs["2 processes"])
    lines = [
        f"{summaries:,} summaries, {ROUNDS} runs of each in turn, whole commands with all that they start and write.",
        f"All {ROUNDS * len(runs)} runs left the same bytes.",
        "",
        "| engine | s, median | s, all | beside 2 processes | memory of the command, MB | of the largest worker, MB |",
        "|---|---:|---|---:|---:|---:|",
    ]
    for name, some in runs.items():
        middle, every = median(each.seconds for each in some), ", ".join(f"{each.seconds:.1f}" for each in some)
        own, worker = max(each.own for each in some), max(each.worker for each in some)
        lines.append(f"| {name} | {middle:.1f} | {every} | {middle / base:.2f} | {own} | {worker or '-'} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="?", type=Path, default=ROOT.parent / "shared/data")
    parser.add_argument("--summaries", type=int, default=1_000)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        study = Path(folder) / "study.jsonl"
        small = min(5_000, given.summaries)
        pyr.save(recombined(given.data, topics=small // 50, peers=50), study)
        lines = ["# Engines", "", ABOUT, "", "## Beside each other", "", *compared(study, small)]
        if given.summaries > small:
            pyr.save(recombined(given.data, topics=given.summaries // 100, peers=100), study)
            lines += ["", f"## {given.summaries:,} summaries", "", *_long(study, given.summaries)]
    cores, machine = os.cpu_count(), platform.machine()
    parts = ", ".join(f"{name} {version(name)}" for name in ("distributed", "onnxruntime", "numpy"))
    lines += ["", f"Python {platform.python_version()}, {parts}, Linux {machine}, {cores} shared cores."]
    print("\n".join(lines))
    if given.write:
        RESULT.write_text("\n".join(lines) + "\n")


def _long(study: Path, summaries: int) -> list[str]:
    topics = sum(1 for line in study.open() if json.loads(line)["type"] == "topic")
    size = study.stat().st_size / 1e6
    made = run(study, "--jobs", "2")
    return [
        f"{topics:,} topics of 2 references and 100 peers each, of three sentences ({size:.0f} MB of JSON Lines), by "
        f"`auto run --jobs 2`: {made.seconds / 60:.1f} minutes, {summaries / made.seconds:.0f} summaries per second; "
        f"the command itself took at most {made.own} MB of memory, a worker at most {made.worker} MB.",
    ]


if __name__ == "__main__":
    main()
