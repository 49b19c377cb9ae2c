"""Work that is prepared while other work is done, and what several threads share meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from threadpoolctl import ThreadpoolController

from pyramidion.encoder import Recent, one_thread
from pyramidion.engines import prepared_ahead


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
