"""A real Dask cluster: a scheduler and two workers, each in a process of its own, some of which are killed."""

from __future__ import annotations

import json
import operator
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Thread

import pytest
import yaml

import pyramidion as pyr
from pyramidion import engines
from pyramidion.analysis import plan
from pyramidion.engines import cluster, mapped, started
from pyramidion.errors import LostEngineError, UsageError
from tests.cli.running import run
from tests.engine_work import die, square, wait_once
from tests.waiting import PATIENCE, until

ROOT = Path(__file__).resolve().parents[1]


@dataclass
class Cluster:
    place: str
    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def address(self) -> str:
        return self.place.replace("dask", "tcp")


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def running_cluster(folder: Path, *, workers: int = 2, path: Path = ROOT) -> Iterator[Cluster]:
    """Without nannies: whoever is killed stays away."""
    port = _free_port()

    def begin(*words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "distributed.cli." + words[0], *words[1:]]
        environment = {**os.environ, "PYTHONPATH": str(path)}
        return subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    loopback = ("--host", "127.0.0.1")
    made = Cluster(
        f"dask://127.0.0.1:{port}", begin("dask_scheduler", *loopback, "--port", str(port), "--no-dashboard")
    )
    try:
        for _ in range(workers):
            how = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(folder))
            made.workers.append(begin("dask_worker", made.address, *loopback, *how))
        yield made
    finally:
        for process in (*made.workers, made.scheduler):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def two_workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running_cluster(tmp_path_factory.mktemp("cluster")) as made:
        until(lambda: _workers(made) == 2, "the workers' arrival")
        yield made


def _workers(made: Cluster) -> int:
    try:
        with started(made.place) as engine:
            return engine.workers
    except UsageError:
        return 0


def copies(many: int) -> pyr.Study:
    """The topics of the bundled example so often, each under a name of its own."""
    study = pyr.example()
    topics, summaries = [], []
    for number in range(many):
        topics += [replace(topic, id=f"{topic.id}-{number}") for topic in study.topics]
        summaries += [replace(summary, topic=f"{summary.topic}-{number}") for summary in study.summaries]
    return pyr.Study(tuple(topics), tuple(summaries))


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_cluster_writes_the_same_bytes_as_this_process(two_workers: Cluster, tmp_path: Path) -> None:
    pyr.save(copies(1), tmp_path / "study.jsonl")
    for name, options in (("here", []), ("there", ["--engine", two_workers.place])):
        assert not run("auto", "run", tmp_path / "study.jsonl", "-o", tmp_path / name, *options).returncode
        judge = ["judge", tmp_path / "here/study.jsonl", "--pyramid", "auto", "--save", tmp_path / f"{name}.jsonl"]
        assert not run(*judge, *options).returncode
    assert contents(tmp_path / "here") == contents(tmp_path / "there")
    assert (tmp_path / "here.jsonl").read_bytes() == (tmp_path / "there.jsonl").read_bytes()
    assert len(contents(tmp_path / "here/parts")) == 4


def test_pairs_and_plans_are_the_same_on_a_cluster(two_workers: Cluster) -> None:
    texts = [summary.text for summary in pyr.example().peers]
    wanted = [texts[0]] * len(texts)
    here, there = (pyr.score_pairs(texts, wanted, engine=where) for where in (None, two_workers.place))
    assert here == there
    assert len(set(here)) > 3
    plans = [plan(campaigns=50, topics=[10, 20], engine=where) for where in (None, two_workers.place)]
    assert plans[0].as_json() == plans[1].as_json()


def test_the_address_of_the_dashboard_is_shown(two_workers: Cluster) -> None:
    asked = ["analyze", "plan", "--campaigns", "5", "--topics", "10"]
    done = run(*asked, "--engine", two_workers.place, "--dashboard")
    assert done.returncode == 0
    assert "Dask's dashboard: http://127.0.0.1:" in done.stderr


def test_other_versions_on_workers_are_refused(two_workers: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "version", lambda: "9.9")
    with pytest.raises(UsageError, match=r"Dask worker tcp://.* has pyramidion .*, and this is 9\.9; install"):
        list(mapped(two_workers.place, square, [1]))


def test_a_worker_of_another_version_that_comes_later_is_refused(
    two_workers: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    with started(two_workers.place) as engine:
        monkeypatch.setattr(engines, "version", lambda: "9.9")
        with pytest.raises(UsageError, match=r"a worker has pyramidion .*, and this is 9\.9; install the same"):
            list(mapped(engine, square, [1]))


def test_a_worker_without_pyramidion_is_refused(tmp_path: Path) -> None:
    hiding = """
import sys

class Hiding:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "pyramidion":
            raise ModuleNotFoundError("No module named 'pyramidion'")

sys.meta_path.insert(0, Hiding())
"""
    (tmp_path / "sitecustomize.py").write_text(hiding)
    refused = pytest.raises(UsageError, match=r"Dask worker tcp://.* has no pyramidion; install version .* there")
    with running_cluster(tmp_path, workers=1, path=tmp_path) as made, refused:
        list(mapped(made.place, square, [1]))


def test_workers_that_compute_differently_are_named(two_workers: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    with started(two_workers.place) as engine:
        assert list(engine.notes) == []
        told = {"tcp://a": ("1", b"x"), "tcp://b": ("1", b"y")}
        monkeypatch.setattr(cluster, "version", lambda: "1")
        [note] = cluster._unlike(type("Client", (), {"run": lambda *_given, **_named: told})())
        assert "the last digits of results depend on who worked on what" in note.what


def test_a_lost_worker_costs_only_what_it_had_in_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = tmp_path / "mark"

    def kill() -> None:
        until(mark.exists, "work on the fatal item")
        os.kill(int(mark.read_text()), signal.SIGKILL)

    with running_cluster(tmp_path) as made:
        until(lambda: _workers(made) == 2, "the workers' arrival")
        killing = Thread(target=kill)
        killing.start()
        assert list(mapped(made.place, partial(wait_once, mark), range(20))) == list(range(20))
        killing.join()
        assert sorted(worker.poll() is None for worker in made.workers) == [False, True]
        monkeypatch.setattr(cluster, "WORKERS_SECONDS", 1)
        with pytest.raises(LostEngineError, match=rf"the Dask cluster at {made.address} has no workers left"):
            list(mapped(made.place, die, [2, 2, 2]))


def test_without_its_scheduler_a_run_says_what_is_kept_and_goes_on_elsewhere(tmp_path: Path) -> None:
    pyr.save(copies(10), tmp_path / "study.jsonl")
    parts = tmp_path / "run/parts"

    def kill() -> None:
        until(lambda: parts.is_dir() and any(parts.glob("*.json")), "the first finished topic")
        made.scheduler.kill()

    with running_cluster(tmp_path) as made:
        until(lambda: _workers(made) == 2, "the workers' arrival")
        killing = Thread(target=kill)
        killing.start()
        again = ["auto", "run", tmp_path / "study.jsonl", "-o", tmp_path / "run"]
        code, _, told = run(*again, "--engine", made.place)
        assert code == 4
        killing.join()
    kept = len(list(parts.glob("*.json")))
    assert f"the Dask scheduler at {made.address} is gone; {kept} of 40 topics are kept in {parts};" in told
    assert "Traceback" not in told
    assert 0 < kept < 40
    assert json.loads(run(*again, "--json").stdout)["known"] == kept
    assert run("auto", "run", tmp_path / "study.jsonl", "-o", tmp_path / "whole", "-q").returncode == 0
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("engine", ["processes", "dask"])
def test_ctrl_c_ends_all_workers_without_a_word_of_theirs(engine: str, tmp_path: Path) -> None:
    pyr.save(copies(10), tmp_path / "study.jsonl")
    words = f"-m pyramidion auto run study.jsonl -o run --engine {engine} --jobs 2"
    again = [sys.executable, *words.split()]
    running = subprocess.Popen(again, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True)
    until(lambda: any((tmp_path / "run").glob("parts/*.json")), "the first finished topic")
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does
    _, told = running.communicate(timeout=PATIENCE)
    assert running.returncode == 130
    assert told.strip() == "Stopped. Finished topics are kept in run; run the same command again to go on after them."
    until(lambda: not _group_lives(running.pid), "the end of all workers")


def test_a_cluster_that_is_not_there_or_has_no_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 1)
    monkeypatch.setattr(cluster, "WORKERS_SECONDS", 1)
    with pytest.raises(UsageError, match=r"there is no Dask scheduler at dask://127\.0\.0\.1:1: "):
        list(mapped("dask://127.0.0.1:1", square, [1]))
    with running_cluster(tmp_path, workers=0) as made:
        until(lambda: _listens(made), "the scheduler's start")
        with pytest.raises(UsageError, match=rf"has no workers; start one: dask worker {made.address}"):
            list(mapped(made.place, square, [1]))


def _listens(made: Cluster) -> bool:
    with socket.socket() as asked:
        return asked.connect_ex(("127.0.0.1", int(made.place.rpartition(":")[2]))) == 0


def _commands(file: str) -> dict[str, list[str]]:
    """The commands of the scheduler and of a worker in an example of deploy/."""
    documents = list(yaml.safe_load_all((ROOT / "deploy" / file).read_text("utf-8")))
    if "services" in documents[0]:
        services = documents[0]["services"]
        return {name: services[name]["entrypoint"] for name in ("scheduler", "worker")}
    containers = [
        container
        for document in documents
        if document["kind"] == "Deployment"
        for container in document["spec"]["template"]["spec"]["containers"]
    ]
    return {container["name"]: container["command"] for container in containers}


@pytest.mark.parametrize("file", ["dask-compose.yaml", "dask-kubernetes.yaml"])
def test_the_commands_of_the_examples_make_a_cluster(file: str, tmp_path: Path) -> None:
    here = {"0.0.0.0": "127.0.0.1", "8786": str(_free_port()), ":8787": "127.0.0.1:0", "/tmp": str(tmp_path)}
    place = f"127.0.0.1:{here['8786']}"
    address = re.compile(r"tcp://[a-z-]+:8786")
    begun = []
    try:
        for words in _commands(file).values():
            told = [address.sub(f"tcp://{place}", here.get(word, word)) for word in words]
            assert told[0] == "dask"
            begun.append(subprocess.Popen([sys.executable, "-m", *told], cwd=tmp_path, stderr=subprocess.DEVNULL))
        wanted = int(words[words.index("--nworkers") + 1])
        until(lambda: _workers(Cluster(f"dask://{place}", begun[0])) == wanted, "the workers' arrival")
        assert list(mapped(f"dask://{place}", operator.neg, range(3))) == [0, -1, -2]
    finally:
        for process in reversed(begun):
            process.terminate()
            process.wait()
