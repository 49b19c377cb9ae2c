"""Clients that attack a server of ours on this machine, as strangers, workers and thieves would over the network.

Each attack is bounded by a number of tries, says how many there were and how many got through, and stops by itself.
`test_attacks.py` runs them small; `benchmarks/adversary.py` at full size.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import socket
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from tests.server.servers import (
    ENDS_WITHIN,
    Person,
    answer_to,
    browser,
    make_study,
    running_server,
    start_campaign,
    start_many,
)

from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.platforms.local import Pass, sign_pass
from pyramidion.campaigns.platforms.prolific import EVENT_HEADER, SIGNATURE_HEADER, TIMESTAMP_HEADER, sign_webhook
from pyramidion.server.context import WORKER_COOKIE

SECRET = "the secret of a subscription"
STUDY = "study1"
PLATFORM: dict[str, Any] = {"platform": "prolific", "platform_study": STUDY, "completion_code": "DONE"}


@dataclass(frozen=True)
class Outcome:
    """How many tries there were, and how many got what they should not."""

    attack: str
    tries: int
    through: int
    detail: str = ""


@dataclass(frozen=True)
class Target:
    """A served study with campaigns ``judge``, ``write`` and ``paid``, and a check in ``checked``."""

    desk: CampaignDesk
    url: str
    pid: int = 0


def prepare(place: str | Path, tasks: int = 60) -> CampaignDesk:
    """A study whose campaigns have enough to do for every attack."""
    desk = make_study(place)
    study = desk.studies.load()
    start_many(desk, "judge", tasks, workers=5, check=False)
    start_campaign(desk, study, "write", "write", check=False)
    start_campaign(desk, study, "judge", "paid", check=False, workers=50, **PLATFORM)
    start_campaign(desk, study, "judge", "checked", check=True, workers=50)
    return desk


def _ours(**more: str) -> dict[str, str]:
    return {"X-Requested-With": "pyramidion", **more}


# -- links and passes ------------------------------------------------------------------------------------------


def trespass(target: Target, tries: int, seed: int = 0) -> Outcome:
    """Somebody with a pass to one campaign asks for the tasks of others, and sends them answers."""
    rng = random.Random(seed)
    ann = Person(target.desk, target.url, "judge", "trespasser")
    task = ann.first_task()
    cookie = {"Cookie": f"{WORKER_COOKIE}={ann.client.cookies[WORKER_COOKIE]}"}
    client = browser(target.url, headers=_ours(**cookie))
    through = 0
    for _ in range(tries):
        campaign = rng.choice(["write", "paid", "checked", "no such campaign"])
        path, id = f"/api/work/{campaign}", rng.choice([task["assignment"], rng.randrange(1, 500)])
        choices: list[tuple[str, str, Any]] = [
            ("GET", "", None),
            ("POST", f"/{id}/submit", {"key": "a key of mine", "answer": answer_to(task["page"])}),
            ("PUT", f"/{id}/draft", {"draft": {}}),
            ("POST", "/check", {"answers": {}}),
        ]
        method, tail, body = rng.choice(choices)
        sent = client.request(method, path + tail, json=body)
        through += sent.status_code < 400
    return Outcome("a pass at another campaign", tries, through)


def forge_passes(target: Target, tries: int, seed: int = 0) -> Outcome:
    """Cookies that were changed, cut, signed with another secret, or made for nobody."""
    rng = random.Random(seed)
    ann = Person(target.desk, target.url, "judge", "forged against")
    ann.join()
    good = ann.client.cookies[WORKER_COOKIE]
    through = 0
    for number in range(tries):
        place = rng.randrange(len(good))
        changed = good[:place] + rng.choice("ABCdef012._-") + good[place + 1 :]
        stranger = sign_pass(rng.randbytes(32), Pass(f"w{number}", "judge", number), time.time())
        cookie = rng.choice([changed, good[:place], good + "A", stranger, ann.token])
        if cookie == good:
            continue
        client = browser(target.url, headers=_ours(Cookie=f"{WORKER_COOKIE}={cookie}"))
        through += client.get("/api/work/judge").status_code == 200
    return Outcome("a forged pass", tries, through)


def guess_sessions(target: Target, tries: int, seed: int = 0) -> Outcome:
    """Strangers who know somebody's id on a platform, but not their session, want the person's task and draft."""
    rng = random.Random(seed)
    ids = {"PROLIFIC_PID": "victim", "STUDY_ID": STUDY}
    owner = browser(target.url, headers=_ours())
    owner.get("/enter/paid", params={**ids, "SESSION_ID": "of-the-victim"})
    task = owner.get("/api/work/paid").json()
    owner.put(f"/api/work/paid/{task['assignment']}/draft", json={"draft": {"private": "words of the victim"}})
    through = 0
    for _ in range(tries):
        thief = browser(target.url, headers=_ours())
        thief.get("/enter/paid", params={**ids, "SESSION_ID": f"{rng.getrandbits(64):x}"})
        shown = thief.get("/api/work/paid")
        body = {"key": "a key of mine", "answer": answer_to(task["page"])}
        sent = thief.post(f"/api/work/paid/{task['assignment']}/submit", json=body)
        through += "words of the victim" in shown.text or sent.status_code < 400
    kept = owner.get("/api/work/paid").json()["draft"] == {"private": "words of the victim"}
    return Outcome("a known id with a guessed session", tries, through + (not kept))


# -- requests nobody should send -------------------------------------------------------------------------------

PATHS = ["/api/work/judge", "/api/work/judge/1/submit", "/api/work/judge/1/draft", "/api/manage", "/login", "/join/x"]
PATHS += [
    "/enter/paid",
    "/api/manage/plan",
    "/api/annotate",
    "/webhooks/prolific",
    "/work/judge",
    "/api/work/judge/check",
]


def send_garbage(target: Target, tries: int, seed: int = 0) -> Outcome:
    """Malformed paths, headers and bodies, with and without a pass; a server error is one that got through."""
    rng = random.Random(seed)
    ann = Person(target.desk, target.url, "judge", "careless")
    ann.join()
    cookie = f"{WORKER_COOKIE}={ann.client.cookies[WORKER_COOKIE]}"
    through = 0
    with httpx.Client(base_url=target.url, trust_env=False, timeout=60) as client:
        for body in _garbage(rng, tries):
            headers = _ours(**{"Content-Type": rng.choice(["application/json", "text/plain", "", "x" * 300])})
            if rng.random() < 0.5:
                headers["Cookie"] = cookie
            path = rng.choice(PATHS) + rng.choice(
                ["", "/", "?a=%00", "/%ff", "/" + "x" * 500, "/../..", "?" + "y" * 3000]
            )
            method = rng.choice(["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD"])
            through += client.request(method, path, content=body, headers=headers).status_code >= 500
    return Outcome("a malformed request that broke something", tries, through)


def _garbage(rng: random.Random, tries: int) -> Iterator[bytes]:
    deep = b"[" * 5000 + b"]" * 5000
    fixed = [
        b"",
        b"{",
        b"null",
        b"[]",
        b'{"key": 1}',
        b'{"answer": NaN}',
        b"\xff\xfe",
        deep,
        b'{"a": "\\ud800"}',
        b"x" * 9000,
    ]
    for _ in range(tries):
        yield rng.choice(fixed) if rng.random() < 0.7 else rng.randbytes(rng.randrange(1, 2000))


def post_bodies(target: Target, tries: int, size: int = 4_000_000) -> Outcome:
    """Strangers send large bodies at the same time and never finish them; one that is answered as if all were well got
    through. The detail says by how much the server's memory grew."""
    host, port = target.url.removeprefix("http://").split(":")
    before, most, open_sockets = _memory(target.pid), 0.0, []
    for number in range(tries):
        path = ["/api/work/judge/1/submit", "/api/annotate/1/commands", "/api/manage/plan"][number % 3]
        head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nX-Requested-With: pyramidion\r\nContent-Length: {size}\r\n\r\n"
        stranger = socket.create_connection((host, int(port)), timeout=2)
        open_sockets.append(stranger)
        with suppress(OSError):  # refused before the whole body was sent
            stranger.sendall(head.encode() + b"x" * (size - 1))
        most = max(most, _memory(target.pid))
    through = 0
    for stranger in open_sockets:
        with suppress(OSError), stranger:
            stranger.settimeout(0.2)
            through += stranger.recv(100).startswith(b"HTTP/1.1 2")
    grown = f"memory grew by {most - before:.0f} MB" if target.pid else ""
    return Outcome("a large body from a stranger", tries, through, grown)


def _memory(pid: int) -> float:
    """Megabytes that a process and its children hold."""
    if not pid:
        return 0.0
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    sizes = [Path(f"/proc/{each}/statm").read_text().split()[1] for each in [str(pid), *children]]
    return sum(map(int, sizes)) * os.sysconf("SC_PAGE_SIZE") / 1e6


def replay_messages(target: Target, tries: int, seed: int = 0) -> Outcome:
    """One true message of a platform again and again, under other ids and with changed bytes."""
    rng = random.Random(seed)
    body = json.dumps(
        {"event_type": "submission.status.change", "resource_id": "s-replay", "status": "RETURNED"}
    ).encode()
    worker = browser(target.url, headers=_ours())
    worker.get("/enter/paid", params={"PROLIFIC_PID": "replayed", "SESSION_ID": "s-replay", "STUDY_ID": STUDY})
    worker.get("/api/work/paid")
    stamp = str(int(time.time()))
    signed = {TIMESTAMP_HEADER: stamp, SIGNATURE_HEADER: sign_webhook(SECRET, body, stamp), EVENT_HEADER: "event-1"}
    stranger = browser(target.url)
    first = stranger.post("/webhooks/prolific", content=body, headers=signed)
    assert first.json() == {"freed": 1}, first.text
    through = 0
    for number in range(tries):
        sent, headers = body, dict(signed)
        if rng.random() < 0.5:
            headers[EVENT_HEADER] = f"event-{number + 2}"
        else:
            sent = body.replace(b"RETURNED", rng.choice([b"APPROVED", b"REJECTED"]))
        answer = stranger.post("/webhooks/prolific", content=sent, headers=headers)
        through += answer.status_code == 200 and answer.json()["freed"] != 0
        through += sent != body and answer.status_code == 200
    return Outcome("a platform's message replayed or changed", tries, through)


# -- gates -----------------------------------------------------------------------------------------------------


def guess_checks(target: Target, tries: int, seed: int = 0) -> Outcome:
    """Bots click at random through the comprehension check, with as many tries as they are given."""
    rng = random.Random(seed)
    through = 0
    for number in range(tries):
        bot = Person(target.desk, target.url, "checked", f"bot {number}")
        bot.join()
        for _ in range(10):
            shown = bot.work()
            if shown["state"] != "instructions-and-check":
                break
            bot.check({question["id"]: _click(rng, question) for question in shown["content"]["questions"]})
        through += bot.work()["state"] == "task"
    return Outcome("a bot at the comprehension check", tries, through)


def _click(rng: random.Random, question: dict[str, Any]) -> str:
    return str(rng.choice(question["options"])["value"])


# -- what is kept ----------------------------------------------------------------------------------------------


def copy_after_stop(place: Path, answers: int, how: signal.Signals = signal.SIGTERM) -> Outcome:
    """Stop a server in an orderly way and copy its file alone: does the copy hold every acknowledged answer?"""
    desk = make_study(place)
    start_many(desk, "judge", answers, workers=1, check=False)
    with running_server(place) as server:
        receipts = _submit(desk, server.url, answers)
        desk.database.close()
        os.kill(server.pid, how)
        server.process.wait(ENDS_WITHIN)
    copy = place.with_name("copy.db")
    shutil.copyfile(place, copy)
    lost = receipts - _submitted(copy)
    return Outcome(f"a copy of the file after {how.name}", answers, len(lost))


def _submit(desk: CampaignDesk, url: str, answers: int) -> set[int]:
    ann = Person(desk, url, "judge", "busy")
    ann.join()
    receipts = set()
    for _ in range(answers):
        task = ann.work()
        sent = ann.submit(task["assignment"], answer_to(task["page"]), key=f"key of {task['assignment']:08}")
        assert sent.status_code == 200, sent.text
        receipts.add(task["assignment"])
    return receipts


def _submitted(file: Path) -> set[int]:
    with closing(sqlite3.connect(file)) as connection:
        return {row[0] for row in connection.execute("SELECT id FROM assignments WHERE state = 'submitted'")}


Attack = Callable[[Target, int], Outcome]
ATTACKS: dict[str, tuple[Attack, int, int]] = {
    "trespass": (trespass, 30, 2000),
    "forge passes": (forge_passes, 30, 2000),
    "guess sessions": (guess_sessions, 10, 300),
    "send garbage": (send_garbage, 150, 5000),
    "post bodies": (post_bodies, 10, 100),
    "replay messages": (replay_messages, 20, 1000),
    "guess checks": (guess_checks, 12, 200),
}
"""Each attack with its number of tries in the tests and at full size."""
