"""The editor's page makes every change before the server does: both must accept, refuse and make the same.

The page's own code runs under node, with this test as its server. Sequences of commands are random but seeded.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pyramidion.annotation.commands import PeerAnnotation, RefusedError, Subject, describe
from pyramidion.annotation.events import command_object, read_command
from pyramidion.annotation.log import Annotation, ConflictError
from pyramidion.study import ContentUnit, Contributor, Pyramid

TEXTS = {"A": "The old bridge was closed.", "B": "It closed 👩‍👩‍👧 the bridge.", "C": "גשר נסגר"}
PEER = "The bridge 👍 closed. A ferry runs. The bridge is shut."
UNITS = Pyramid("t", tuple(TEXTS), tuple(ContentUnit(f"u{n}", f"unit {n}", (Contributor("A"),)) for n in range(1, 5)))
SUBJECTS = {
    "pyramid": Subject.of_pyramid("t", TEXTS),
    "peer": Subject.of_peer("t", "s", PEER, UNITS),
}
# As a file may have them: spans in any order that touch, and contributors and matches without a place.
LOOSE = (
    {"reference": "A", "spans": [[9, 12], [4, 9]]},
    {"reference": "B"},
    {"reference": "C", "spans": [[0, 3], [2, 5]]},
)
IMPORTS = {
    "pyramid": {
        "type": "import_pyramid",
        "content": [{"id": f"i{n}", "label": f"imported {n}", "contributors": list(LOOSE[: n + 1])} for n in range(3)],
    },
    "peer": {
        "type": "import_matches",
        "matches": [{"id": "m1", "unit": "u1", "spans": [[4, 7], [0, 4]]}, {"id": "m2", "unit": "u2"}],
        "marks": [{"id": "m3", "spans": [[20, 22], [21, 25]]}],
    },
}
SEQUENCES, STEPS = 100, 16
KINDS = [(kind, seed) for kind in SUBJECTS for seed in range(0, SEQUENCES, 25)]


@pytest.fixture(scope="module")
def node() -> Iterator[subprocess.Popen[str]]:
    path = shutil.which("node")
    if path is None:
        reason = "node is not installed: whether the editor's page and the server agree was not checked"
        if os.environ.get("CI"):
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    driver = Path(__file__).with_name("parity.js")
    with subprocess.Popen([path, str(driver)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.terminate()


class Server:
    """What the server's API does with an annotation, without HTTP and database."""

    def __init__(self, kind: str, imported: bool) -> None:
        self.kind = kind
        self.annotation = Annotation.start(SUBJECTS[kind])
        if imported:
            self.apply(IMPORTS[kind], author="somebody")

    def apply(self, command: dict[str, Any], *, author: str = "me", base: int | None = None) -> dict[str, Any]:
        base = self.annotation.version if base is None else base
        event = self.annotation.accept(read_command(command), author=author, base=base)
        self.annotation = self.annotation.extend_with(event)
        return shown_event(event)

    def refuses(self, command: dict[str, Any]) -> bool:
        try:
            self.annotation.accept(read_command(command), author="me", base=self.annotation.version)
        except RefusedError:
            return True
        return False

    def answer(self, request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if request["method"] == "GET":
            since = int(request["path"].rsplit("=", 1)[1])
            return 200, {"events": [shown_event(e) for e in self.annotation.events[since:]], "state": self.state()}
        try:
            event = self.apply(request["body"]["command"], base=request["body"]["base"])
        except ConflictError as error:
            events = [shown_event(each) for each in error.events]
            return 409, {"error": str(error), "events": events, "state": self.state()}
        except RefusedError as error:
            return 422, {"error": str(error), "problems": []}
        return 200, {"event": event, "state": self.state()}

    def content(self) -> dict[str, Any]:
        state = self.annotation.state
        peer = state if isinstance(state, PeerAnnotation) else None
        pyramid = UNITS if isinstance(state, PeerAnnotation) else state
        matches = [] if peer is None else [{"id": m.id, "unit": m.unit, "spans": m.spans} for m in peer.matches]
        marks = [] if peer is None else [{"id": m.id, "spans": m.spans} for m in peer.marks]
        plain = {"pyramid": list(map(shown_unit, pyramid.units)), "peer": peer and {"matches": matches, "marks": marks}}
        content: dict[str, Any] = json.loads(json.dumps(plain))
        return content

    def state(self) -> dict[str, Any]:
        content = self.content()
        undo, redo = self.annotation.undoable("me"), self.annotation.redoable("me")
        return {
            "annotation": {"id": 1},
            "version": self.annotation.version,
            "pyramid_version": None,
            "may_edit": True,
            "texts": [{"name": name, "text": text} for name, text in self.annotation.subject.texts.items()],
            "pyramid": {"name": "p", "references": list(TEXTS), "units": content["pyramid"]},
            "peer": content["peer"],
            "score": None,
            "undo": None if undo is None else describe(undo.command),
            "redo": None if redo is None else describe(redo.command),
        }


def shown_event(event: Any) -> dict[str, Any]:
    command = command_object(event.command)
    return {"number": event.number, "author": event.author, "says": describe(event.command), "command": command}


def shown_unit(unit: ContentUnit) -> dict[str, Any]:
    words = [{"reference": c.reference, "spans": c.spans} for c in unit.contributors]
    return {"id": unit.id, "label": unit.label, "comment": unit.comment, "weight": unit.weight, "contributors": words}


class Page:
    """The page under node; ``names`` maps the names it gives to new things to those that the server gives them."""

    def __init__(self, node: subprocess.Popen[str], server: Server) -> None:
        self.node, self.server = node, server
        self.names: dict[str, str] = {}
        self.said: list[Any] = []
        self.ask("start", state=server.state())

    def ask(self, op: str, **given: Any) -> Any:
        assert self.node.stdin
        assert self.node.stdout
        self.node.stdin.write(json.dumps({"op": op, **given}) + "\n")
        self.node.stdin.flush()
        reply = json.loads(self.node.stdout.readline())
        self.request, self.now = reply["request"], reply["now"]
        self.said += reply["said"]
        named = dict(reply["named"])
        self.names = {ideal: named.get(name, name) for ideal, name in self.names.items()}
        return reply

    def command(self, command: dict[str, Any]) -> Any:
        """Give a command that names things as the server does."""
        if command["type"] in ("undo", "redo"):
            return self.ask(command["type"])
        return self.ask("do", command=swapped(command, self.names))

    def deliver(self) -> None:
        """Let the server answer what is on its way."""
        while self.request:
            status, body = self.server.answer(self.request)
            self.ask("answer", status=status, body=body)


def swapped(value: Any, names: dict[str, str]) -> Any:
    """The same with other names for things."""
    if isinstance(value, dict):
        return {key: swapped(item, names) for key, item in value.items()}
    if isinstance(value, list):
        return [swapped(item, names) for item in value]
    return names.get(value, value) if isinstance(value, str) else value


# -- random commands -----------------------------------------------------------------------------------------


def random_spans(rng: random.Random, text: str) -> list[list[int]]:
    spans = []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        start = rng.randrange(len(text))
        spans.append([start, rng.randint(start + 1, len(text))])
    if rng.random() < 0.06:
        spans.append(rng.choice(([3, 3], [5, 2], [0, len(text) + 1], [-1, 2])))
    return [] if rng.random() < 0.04 else spans


def random_command(rng: random.Random, server: Server) -> dict[str, Any]:
    roll = rng.random()
    if roll < 0.2:
        return {"type": "undo" if roll < 0.12 else "redo"}
    if roll < 0.22:  # of the other kind of annotation
        return {"type": "remove_mark", "id": "1"} if server.kind == "pyramid" else {"type": "delete_unit", "unit": "u1"}
    return (random_edit if server.kind == "pyramid" else random_match)(rng, server.content())


def random_edit(rng: random.Random, content: dict[str, Any]) -> dict[str, Any]:
    units = content["pyramid"]
    ids = [unit["id"] for unit in units]
    unit = rng.choice([*ids, *ids, *ids, "gone"])
    words = {each["id"]: each["contributors"] for each in units}.get(unit, [])
    own = [each["reference"] for each in words]
    reference = rng.choice([*own, *own, *TEXTS, "X"] if rng.random() < 0.1 else [*own, *own, *TEXTS])
    label = rng.choice(("", "a label", "another", "half \ud83d", "👍"))
    spans = random_spans(rng, TEXTS.get(reference, "no such text"))
    held = next((each["spans"] for each in words if each["reference"] == reference), [])
    contributors = [
        {"reference": r, "spans": random_spans(rng, TEXTS[r])} for r in rng.choices(list(TEXTS), k=rng.randrange(4))
    ]
    commands = [
        {"type": "add_unit", "label": label, "contributors": contributors},
        {"type": "add_unit", "label": label, "unit": rng.choice((*ids, " ", "x y", "a\nb", "n" * 101, "\u200b"))},
        {"type": "rename_unit", "unit": unit, "label": label},
        {"type": "comment_unit", "unit": unit, "comment": label},
        {"type": "delete_unit", "unit": unit},
        {"type": "add_contributor", "unit": unit, "reference": reference, "spans": spans},
        {"type": "add_contributor", "unit": unit, "reference": reference, "spans": held},
        {"type": "remove_contributor", "unit": unit, "reference": reference},
        {"type": "remove_contributor", "unit": unit, "reference": reference, "spans": spans},
        {"type": "move_contributor", "unit": unit, "reference": reference, "to": rng.choice([*ids, "gone"])},
        {"type": "merge_units", "units": rng.choices([*ids, "gone"], k=rng.randrange(4)), "label": label},
        {
            "type": "split_unit",
            "unit": unit,
            "references": rng.choices([*own, "A"], k=rng.randrange(3)),
            "label": label,
        },
        {"type": "reorder_unit", "unit": unit, "before": rng.choice([*ids, "", "gone"])},
    ]
    return rng.choice([commands[0], *commands])


def random_match(rng: random.Random, content: dict[str, Any]) -> dict[str, Any]:
    peer = content["peer"]
    mentions = [*peer["matches"], *peer["marks"]]
    ids = [each["id"] for each in mentions]
    spans = random_spans(rng, PEER)
    again = rng.choice([each["spans"] for each in mentions] or [spans])
    unit = rng.choice(("u1", "u2", "u3", "gone"))
    return rng.choice(
        [
            {"type": "match_unit", "unit": unit, "spans": spans},
            {"type": "match_unit", "unit": unit, "spans": again},
            {"type": "match_unit", "unit": unit, "spans": spans, "id": rng.choice([*ids, "n" * 101, "a\nb"])},
            {"type": "mark_unmatched", "spans": spans},
            {"type": "mark_unmatched", "spans": again},
            {"type": "unmatch", "id": rng.choice([*ids, "gone"])},
            {"type": "remove_mark", "id": rng.choice([*ids, "gone"])},
        ]
    )


MAKES = {"add_unit": "unit", "split_unit": "new", "match_unit": "id", "mark_unmatched": "id"}


def without_lost(content: dict[str, Any]) -> dict[str, Any]:
    return {
        "pyramid": content["pyramid"],
        "peer": content["peer"] and {k: content["peer"][k] for k in ("matches", "marks")},
    }


# -- tests ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "first"), KINDS)
def test_page_and_server_accept_refuse_and_make_the_same(node: subprocess.Popen[str], kind: str, first: int) -> None:
    """One command at a time: what the page shows at once is what the server makes of it a moment later."""
    taken = refused = guessed = 0
    for seed in range(first, first + 25):
        rng = random.Random(seed)
        server = Server(kind, imported=rng.random() < 0.5)
        page = Page(node, server)
        for _ in range(STEPS):
            command = random_command(rng, server)
            where = f"{kind}, sequence {seed}: {command}"
            refusal = server.refuses(command)
            before = server.content()
            reply = page.command(command)
            assert (reply["result"] is False) == refusal, f"{where}: {reply['said']}"
            page.deliver()
            assert without_lost(page.now) == server.content(), where
            if refusal:
                refused += 1
                continue
            taken += 1
            made = server.annotation.events[-1].command
            field = MAKES.get(command["type"])
            names = {reply["result"]: getattr(made, field)} if field else {}
            seen = swapped(without_lost(reply["shown"]), names)
            if command["type"] in ("undo", "redo") and seen == before:  # not known yet, as right after loading
                continue
            guessed += command["type"] in ("undo", "redo")
            assert seen == server.content(), where
        assert not [said for said in page.said if said["type"] == "conflict"]
    assert taken > 100
    assert refused > 50
    assert guessed > 10


@pytest.mark.parametrize(("kind", "first"), KINDS)
def test_changes_that_wait_come_to_the_same(node: subprocess.Popen[str], kind: str, first: int) -> None:
    """The network comes and goes: what waits is undone and redone on the page, and the outcome is as if it had not."""
    for seed in range(first, first + 25):
        rng = random.Random(1000 + seed)
        imported = rng.random() < 0.5
        server, ideal = Server(kind, imported), Server(kind, imported)  # ideal: every command arrives at once
        page = Page(node, server)
        for _ in range(STEPS):
            command = random_command(rng, ideal)
            where = f"{kind}, sequence {seed}: {command}"
            refusal = ideal.refuses(command)
            waiting = page.request is not None
            reply = page.command(command)
            if refusal and command["type"] == "undo" and waiting:
                page.deliver()  # while an undo is on its way, only the server knows whether anything is left to undo
            else:
                assert (reply["result"] is False) == refusal, f"{where}: {reply['said']}"
            if not refusal:
                event = ideal.apply(command)
                if command["type"] in MAKES:
                    page.names[event["command"][MAKES[command["type"]]]] = reply["result"]
            goes = command["type"] in ("undo", "redo")
            if rng.random() < 0.3 or (goes and nameless(page.now) != nameless(ideal.content())):
                page.deliver()  # what was done before the page was loaded, only the server can undo
            assert nameless(page.now) == nameless(ideal.content()), where
        page.deliver()
        assert not [said for said in page.said if said["type"] == "conflict"], page.said
        assert without_lost(page.now) == server.content()
        assert nameless(server.content()) == nameless(ideal.content()), f"{kind}, sequence {seed}"


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "first"), KINDS)
def test_two_annotators_come_to_the_same(node: subprocess.Popen[str], kind: str, first: int) -> None:
    """While somebody else changes the annotation too, the page ends with what the server has."""
    for seed in range(first, first + 25):
        rng = random.Random(2000 + seed)
        server = Server(kind, imported=True)
        page = Page(node, server)
        for _ in range(STEPS):
            if rng.random() < 0.3:
                theirs = random_command(rng, server)
                try:
                    server.apply(theirs, author="ben")
                except (RefusedError, ConflictError):
                    continue
            page.command(random_command(rng, server))
            if rng.random() < 0.4:
                page.deliver()
        page.deliver()
        page.command(
            {"type": "add_unit"} if kind == "pyramid" else {"type": "mark_unmatched", "spans": [[0, len(PEER)]]}
        )
        page.deliver()
        assert without_lost(page.now) == server.content(), f"{kind}, sequence {seed}"


def nameless(content: dict[str, Any]) -> dict[str, Any]:
    """Content without the names of what was made: names count up, also for what is undone."""
    peer = content["peer"]
    return {
        "pyramid": [{**unit, "id": ""} for unit in content["pyramid"]],
        "peer": peer and {part: [{**each, "id": ""} for each in peer[part]] for part in ("matches", "marks")},
    }
