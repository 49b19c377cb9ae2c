"""How long a server asks to wait, and how many may ask it at once."""

from __future__ import annotations

import threading
from email.utils import formatdate

import httpx
import pytest

from pyramidion.remote import ask, used_up_for, wanted_wait
from pyramidion.remote.pace import Pace, StoppedError

NOW = 1_700_000_000.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "120"}, 120.0),
        ({"Retry-After": "1.5"}, 1.5),
        ({"Retry-After": formatdate(NOW + 30, usegmt=True)}, 30.0),
        ({"Retry-After": formatdate(NOW - 30, usegmt=True)}, 0.0),
        ({"Retry-After": "-3"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "1" * 400}, None),
        ({"retry-after-ms": "250"}, 0.25),
        ({"x-ratelimit-reset-requests": "1h2m3.5s"}, 3723.5),
        ({"x-ratelimit-reset-tokens": "17ms"}, 0.017),
        ({"x-ratelimit-reset-tokens": "17 bananas"}, None),
        ({"X-RateLimit-Reset": str(int(NOW * 1000) + 4000)}, 4.0),
        ({"X-RateLimit-Reset": str(int(NOW) + 9)}, 9.0),
        ({"X-RateLimit-Reset": "9"}, 9.0),
        ({}, None),
    ],
)
def test_the_time_that_a_server_asks_for(headers: dict[str, str], seconds: float | None) -> None:
    found = wanted_wait(httpx.Headers(headers), now=lambda: NOW)
    assert found == (None if seconds is None else pytest.approx(seconds))


def test_only_a_limit_that_is_used_up_makes_others_wait() -> None:
    headers = {"x-ratelimit-remaining-requests": "3", "x-ratelimit-reset-requests": "9s"}
    assert used_up_for(headers) == 0.0
    assert used_up_for({**headers, "x-ratelimit-remaining-requests": "0"}) == 9.0


def test_a_wait_is_never_longer_than_the_longest() -> None:
    slept: list[float] = []
    busy = httpx.Response(429, headers={"Retry-After": "3600"})
    assert ask(lambda: busy, tries=3, sleep=slept.append, longest=5.0) is busy
    assert slept == [5.0, 5.0]


def test_fewer_at_once_after_too_many_requests_and_more_again_after_answers() -> None:
    pace = Pace(8)
    for limit in (4, 2, 1, 1):
        pace.slow_down()
        assert pace.limit == limit
    for answers in range(1, 8):
        for _ in range(answers):
            assert pace.limit == answers
            pace.speed_up()
    for _ in range(100):
        pace.speed_up()
    assert pace.limit == 8


def test_everybody_waits_when_one_is_told_to() -> None:
    slept: list[float] = []
    pace = Pace(2, sleep=slept.append, clock=lambda: sum(slept))
    pace.hold(3.0)
    pace.hold(1.0)  # a shorter wait does not end a longer one
    for _ in range(2):
        with pace.turn():
            pass
    assert slept == [3.0]


def test_no_more_than_the_limit_are_under_way() -> None:
    pace, inside, release = Pace(2), threading.Semaphore(0), threading.Event()
    running, most, lock = 0, 0, threading.Lock()

    def work() -> None:
        nonlocal running, most
        with pace.turn():
            with lock:
                running += 1
                most = max(most, running)
            inside.release()
            release.wait(60)
            with lock:
                running -= 1

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for _ in range(2):
        assert inside.acquire(timeout=60)
    release.set()
    for thread in threads:
        thread.join(60)
    assert most == 2


def test_nobody_waits_for_a_run_that_has_stopped() -> None:
    pace = Pace(1)
    pace.hold(10_000.0)
    stopped: list[bool] = []

    def work() -> None:
        try:
            with pace.turn():
                stopped.append(False)
        except StoppedError:
            stopped.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    pace.stop()
    thread.join(60)
    assert stopped == [True]
