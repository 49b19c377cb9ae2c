"""Work in this process and in others, work that is prepared ahead, and what several threads share meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from select import select

import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import ThreadpoolController

from pyramidion.encoder import Recent, one_thread
from pyramidion.engines import FARTHEST, PER_WORKER, Step, Where, in_order, mapped, prepared_ahead, started
from pyramidion.errors import LostEngineError, UsageError
from tests import engine_work
from tests.engine_work import Number, die, die_once, make_squares, refuse, sleep_long, square, wait_for
from tests.waiting import until

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 60.0
ENGINES = ["here", "processes:2", "dask:2"]


@pytest.mark.parametrize("where", ENGINES)
def test_every_item_comes_back_with_its_result_and_work_is_made_once_in_each_process(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_work, "_made", [])  # another test may have worked in this process
    heard: list[int] = []
    with started(where) as engine:
        assert engine.workers == (1 if where == "here" else 2)
        numbers = [Number(value, size=value) for value in range(12)]
        found = {item.value: result for item, result in engine.run(make_squares, numbers, heard.append)}
    assert {value: result.value for value, result in found.items()} == {value: value**2 for value in range(12)}
    assert {result.made for result in found.values()} == {1}
    assert sum(heard) == sum(range(12))


@pytest.mark.parametrize("where", [*ENGINES, pytest.param(ThreadPoolExecutor(3), id="threads")])
def test_what_is_mapped_comes_in_order(where: Where) -> None:
    assert list(mapped(where, square, range(7))) == [0, 1, 4, 9, 16, 25, 36]
    assert list(mapped(where, square, [])) == []


@pytest.mark.parametrize("where", ENGINES)
def test_an_error_of_ours_arrives_as_it_is(where: str) -> None:
    with pytest.raises(UsageError, match=r"^3 is too much$"):
        list(mapped(where, refuse, [3]))


@given(st.permutations(range(8)))
def test_results_in_any_order_are_put_in_theirs(order: list[int]) -> None:
    assert list(in_order((Step(place, place, 1), place * 10) for place in order)) == [place * 10 for place in range(8)]


@pytest.mark.parametrize("where", ["processes:2", "dask:2"])
def test_a_killed_process_costs_only_what_it_had_in_hand(where: str, tmp_path: Path) -> None:
    killed = tmp_path / "killed"
    assert list(mapped(where, partial(die_once, killed), range(9))) == list(range(9))
    assert killed.exists()


def test_work_that_kills_every_process_ends_with_an_error_and_not_before_the_rest_is_done() -> None:
    done: list[int] = []
    with pytest.raises(LostEngineError, match="workers keep being lost, perhaps for lack of memory"):
        list(mapped("processes:2", die, range(9), lambda _: done.append(1)))
    assert len(done) == 8


class Counting(Executor):
    """Counts what is under way, and never hands anything out before it is asked for the oldest."""

    def __init__(self) -> None:
        self.pool = ThreadPoolExecutor(2)
        self.most = self.under_way = 0

    def submit(self, function, /, *given, **named):  # type: ignore[no-untyped-def]
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        future = self.pool.submit(function, *given, **named)
        future.add_done_callback(lambda _: setattr(self, "under_way", self.under_way - 1))
        return future


def test_items_are_taken_as_there_is_room_for_them() -> None:
    taken: list[int] = []

    def numbers() -> Iterator[Number]:
        for value in range(1000):
            taken.append(value)
            yield Number(value)

    executor = Counting()
    with started(executor) as engine:
        engine.workers = 2
        running = engine.run(make_squares, numbers())
        next(running)
        assert len(taken) <= PER_WORKER * 2
        assert len(list(running)) == 999
    assert executor.most <= PER_WORKER * 2


def test_results_that_wait_for_a_slow_one_are_few(tmp_path: Path) -> None:
    mark, taken, at_the_end = tmp_path / "go", list[int](), list[int]()

    def numbers() -> Iterator[int]:
        for value in range(1000):
            taken.append(value)
            yield value

    def go() -> None:
        at_the_end.append(len(taken))
        mark.touch()

    threading.Timer(2.0, go).start()
    with ThreadPoolExecutor(2) as executor:
        assert list(mapped(executor, partial(wait_for, mark), numbers())) == list(range(1000))
    assert at_the_end[0] <= FARTHEST * 2 + 1


def test_a_process_that_is_killed_between_two_looks_is_replaced() -> None:
    with started("processes:2") as engine:
        running = engine.run(make_squares, (Number(value) for value in range(30)))
        done = [next(running)]
        pool = engine._executor  # type: ignore[attr-defined]
        for process in list(pool._processes.values()):
            process.kill()
            process.join()
        until(lambda: pool._broken)
        done += running
    assert sorted(item.value for item, _ in done) == list(range(30))


def test_work_that_nobody_waits_for_is_ended(tmp_path: Path) -> None:
    mark = tmp_path / "finished"
    results = mapped("processes:2", partial(sleep_long, mark), range(8))
    assert next(results) == 0
    results.close()  # as an error or Ctrl-C does
    assert not mark.exists()


@pytest.mark.parametrize("where", ["processes:2", "dask:2"])
def test_workers_end_with_a_command_that_is_killed(where: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    code = f"""
from functools import partial
from pathlib import Path
from select import select
from pyramidion.engines import mapped
from tests.engine_work import hold_open
if __name__ == "__main__":
    list(mapped({where!r}, partial(hold_open, Path({str(tmp_path / "pipe")!r})), [0, 1]))
"""
    (tmp_path / "command.py").write_text(code)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = subprocess.Popen([sys.executable, str(tmp_path / "command.py")], env=environment)
    with (tmp_path / "pipe").open("rb", buffering=0) as pipe:
        heard = b""
        while len(heard) < len(b"0\n1\n"):
            heard += pipe.read(4)
        command.kill()
        command.wait()
        ended, _, _ = select([pipe], [], [], PATIENCE)
        assert ended, "workers are still there"
        assert pipe.read(1) == b""


@pytest.mark.parametrize("unknown", ["spark", "processes:0", "processes:x", "dask:-1", "here:2"])
def test_an_unknown_engine_is_refused_with_those_that_are_known(unknown: str) -> None:
    with pytest.raises(UsageError, match=r"unknown engine .*; known are here, processes, dask and dask://HOST:PORT"):
        list(mapped(unknown, square, [1]))


def test_the_next_item_is_prepared_while_one_is_worked_on() -> None:
    prepared = {number: threading.Event() for number in range(4)}
    worked_on = []
    for number in prepared_ahead(range(4), lambda each: prepared[each].set()):
        assert prepared[number].is_set()
        if number + 1 in prepared:
            assert prepared[number + 1].wait(10), "only asking for the next item would have prepared it"
        worked_on.append(number)
    assert worked_on == [0, 1, 2, 3]
    assert list(prepared_ahead([], prepared.__getitem__)) == []


def test_an_item_that_cannot_be_prepared_stops_the_work() -> None:
    def prepare(number: int) -> None:
        if number == 2:
            raise ValueError("no third item")

    def work() -> Iterator[int]:
        yield from prepared_ahead(range(4), prepare)

    done = []
    with pytest.raises(ValueError, match="no third item"):
        done.extend(work())
    running = work()
    next(running)
    running.close()  # an interrupted caller waits for nothing but the item in hand
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("ahead")]


def test_threads_that_limit_each_other_leave_no_limit() -> None:
    def threads() -> list[int]:
        return [library["num_threads"] for library in ThreadpoolController().select(user_api="blas").info()]

    before = threads()
    entered, leave = threading.Event(), threading.Event()

    def limited() -> None:
        with one_thread():
            entered.set()
            leave.wait(10)

    other = threading.Thread(target=limited)
    with one_thread():
        other.start()
        assert entered.wait(10)
    assert set(threads()) <= {1}, "the other thread is still computing"
    leave.set()
    other.join(10)
    assert threads() == before


def test_what_was_used_longest_ago_is_forgotten() -> None:
    recent: Recent[str] = Recent(6, len)
    recent.keep({"a": "xx", "b": "xx", "c": "xx"})
    recent.keep({"a": "xxx"})
    assert recent.get("abc") == {"a": "xxx", "c": "xx"}
    recent.keep({"d": "x" * 7})  # more than there is room for
    assert len(recent) == 0
    recent.keep({"e": "xxxxxx"})
    assert recent.get("e") == {"e": "xxxxxx"}
