"""Experts annotate through the server: who may, what is refused, what comes out. On both databases."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.databases import Postgres
from tests.server.servers import PASSWORD, browser, logged_in, make_study, served_here
from tests.waiting import until

import pyramidion as pyr
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.server.security import MAX_BODY, MAX_IMPORT
from pyramidion.store.accounts import Accounts

pytestmark = pytest.mark.server

TOPIC = "drought-plan"
EVIL = "<script>alert(1)</script>\"'&{{7*7}}\u202e\u0007"
JSON = dict[str, Any]


@dataclass
class Office:
    """A served study that experts annotate. Tests share it; each begins annotations under names of its own."""

    desk: CampaignDesk
    place: str
    url: str
    study: pyr.Study
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def expert(self, name: str = "erin") -> Expert:
        return Expert(logged_in(self.desk, self.url, name), self)

    def name(self) -> str:
        return f"name {next(self._numbers)}"


@dataclass
class Expert:
    """Somebody logged in, and what the annotation pages send for them."""

    client: httpx.Client
    office: Office

    def begin(self, kind: str = "pyramid", topic: str = TOPIC, **more: Any) -> int:
        response = self.client.post(
            "/api/annotate", json={"kind": kind, "topic": topic, "name": self.office.name(), **more}
        )
        assert response.status_code == 201, response.text
        return int(response.json()["id"])

    def state(self, id: int) -> JSON:
        response = self.client.get(f"/api/annotate/{id}")
        assert response.status_code == 200, response.text
        found: JSON = response.json()
        return found

    def send(self, annotation: int, kind: str, base: int | None = None, **fields: Any) -> httpx.Response:
        version = self.state(annotation)["version"] if base is None else base
        return self.client.post(
            f"/api/annotate/{annotation}/commands", json={"command": {"type": kind, **fields}, "base": version}
        )

    def do(self, annotation: int, kind: str, **fields: Any) -> JSON:
        response = self.send(annotation, kind, **fields)
        assert response.status_code == 200, response.text
        found: JSON = response.json()["state"]
        return found

    def export(self, id: int, format: str) -> httpx.Response:
        return self.client.get(f"/api/annotate/{id}/export", params={"format": format})

    def give(self, id: int, file_name: str, text: str) -> httpx.Response:
        return self.client.post(f"/api/annotate/{id}/import", json={"file_name": file_name, "text": text})

    def store(self, id: int) -> httpx.Response:
        return self.client.post(f"/api/annotate/{id}/store")


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def office(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, example: Any) -> Iterator[Office]:
    place = str(tmp_path_factory.mktemp("office") / "study.db")
    if request.param == "postgresql":
        running: Postgres = request.getfixturevalue("postgres_server")
        place = running.new_database()
    desk = make_study(place, example)
    Accounts(desk.database).add("emil", PASSWORD, "expert")
    with served_here(place) as server:
        yield Office(desk, place, server.url, example)
        assert "Traceback" not in server.printed(), server.printed()
    desk.database.close()


def error(response: httpx.Response) -> str:
    found = response.json()
    assert set(found) >= {"error", "problems"}
    return str(found["error"])


# -- who may do what -----------------------------------------------------------------------------------------


def test_the_desk_says_what_there_is(office: Office) -> None:
    erin = office.expert()
    id = erin.begin(start="expert")
    desk = erin.client.get("/api/annotate").json()
    assert desk["me"] == {"name": "erin", "role": "expert", "may_edit": True}
    topic = next(topic for topic in desk["topics"] if topic["id"] == TOPIC)
    assert topic["references"] == ["A", "B", "C", "D"]
    assert topic["systems"] == list(office.study.systems)
    assert {"expert", "crowd"} <= set(topic["pyramids"])
    assert topic["judges"][0] == "annotator"
    mine = next(head for head in desk["annotations"] if head["id"] == id)
    assert mine["url"] == f"/annotate/{id}"
    assert (mine["owner"], mine["changes"], mine["stored"]) == ("erin", 1, None)
    assert abs(mine["last"] - time.time()) < 3600


def test_viewers_look_and_do_not_touch(office: Office) -> None:
    id = office.expert().begin(shared=True, start="expert")
    vera = office.expert("vera")
    assert vera.client.get("/api/annotate").json()["me"]["may_edit"] is False
    assert vera.state(id)["may_edit"] is False
    for path in ("/changes?since=0", "/events", "/export?format=pyr", "/references"):
        assert vera.client.get(f"/api/annotate/{id}{path}").status_code == 200
    body = {"kind": "pyramid", "topic": TOPIC, "name": office.name()}
    assert vera.client.post("/api/annotate", json=body).status_code == 403
    assert vera.send(id, "undo").status_code == 403
    assert vera.give(id, "a.pyr", "").status_code == 403
    assert vera.store(id).status_code == 403
    adjudicated = {"start": id, "name": office.name()}
    assert vera.client.post("/api/annotate/adjudicate", json=adjudicated).status_code == 403


def test_strangers_and_other_sites_get_nowhere(office: Office) -> None:
    erin = office.expert()
    id = erin.begin()
    stranger = browser(office.url)
    for path in ("", f"/{id}", f"/{id}/changes", f"/{id}/events", f"/{id}/suggestions", f"/{id}/export?format=pyr"):
        assert stranger.get(f"/api/annotate{path}").status_code == 401
    assert stranger.get("/api/annotate/999").status_code == 401, "strangers cannot learn which annotations exist"
    erin.client.headers["X-CSRF-Token"] = "guessed"
    for path, body in ((f"/{id}/commands", {"command": {"type": "undo"}, "base": 0}), (f"/{id}/store", None)):
        assert erin.client.post(f"/api/annotate{path}", json=body).status_code == 403
    assert erin.state(id)["version"] == 0


def test_an_own_annotation_is_changed_by_its_owner_only(office: Office) -> None:
    erin, emil, boss = office.expert(), office.expert("emil"), office.expert("boss")
    id = erin.begin(start="expert")
    for other in (emil, boss):
        assert other.state(id)["may_edit"] is False
        refused = other.send(id, "delete_unit", unit="u01")
        assert refused.status_code == 403
        assert error(refused) == "this annotation belongs to erin; begin your own"
    assert emil.give(id, "x.pyr", "").status_code == 403
    assert emil.store(id).status_code == 403
    assert erin.do(id, "rename_unit", unit="u01", label="mine")["pyramid"]["units"][0]["label"] == "mine"


def test_what_is_not_there(office: Office) -> None:
    erin = office.expert()
    for path in ("", "/changes", "/events", "/suggestions", "/export?format=pyr", "/references"):
        assert erin.client.get(f"/api/annotate/999{path}").status_code == 404
    assert erin.send(999, "undo", base=0).status_code == 404
    assert erin.client.get("/api/annotate/compare", params={"first": 999, "second": 1}).status_code == 404
    assert erin.client.post("/api/annotate/adjudicate", json={"start": 999, "name": "x"}).status_code == 404
    for id in ("0", "-1", "x", str(2**31), "9" * 30):
        assert erin.client.get(f"/api/annotate/{id}").status_code == 422
        assert erin.client.get(f"/annotate/{id}").status_code == 404


BEGINNINGS: list[tuple[JSON, int, str]] = [
    ({"kind": "pyramid", "topic": "nowhere"}, 409, "has no references"),
    ({"kind": "pyramid", "start": "nothing"}, 404, "has no pyramid 'nothing'"),
    ({"kind": "peer", "system": "nobody", "pyramid": "expert"}, 404, "has no peer 'nobody'"),
    ({"kind": "peer", "system": "lead", "pyramid": "nothing"}, 404, "has no pyramid 'nothing'"),
    ({"kind": "peer", "system": "lead"}, 404, "has no pyramid ''"),
    ({"kind": "peer", "system": "lead", "pyramid": 2**31 - 1}, 404, "no annotation"),
    (
        {"kind": "peer", "system": "lead", "pyramid": "expert", "start": "rater1"},
        409,
        "'rater1' has not judged peer 'lead'",
    ),
    ({"kind": "pyramid", "name": " "}, 422, "cannot be the name of an annotation"),
    ({"kind": "pyramid", "name": "two\nlines"}, 422, "cannot be the name of an annotation"),
    ({"kind": "pyramid", "name": EVIL}, 422, "cannot be the name of an annotation"),
    ({"kind": "pyramid", "name": ""}, 422, "not valid"),
    ({"kind": "pyramid", "name": "x" * 101}, 422, "not valid"),
    ({"kind": "both"}, 422, "not valid"),
]


@pytest.mark.parametrize(("body", "status", "why"), BEGINNINGS, ids=str)
def test_beginnings_that_cannot_be(office: Office, body: JSON, status: int, why: str) -> None:
    response = office.expert().client.post("/api/annotate", json={"topic": TOPIC, "name": office.name(), **body})
    assert response.status_code == status
    assert why in error(response)


def test_a_name_is_free_once(office: Office) -> None:
    erin, name = office.expert(), office.name()
    erin.begin(name=name)
    again = erin.client.post("/api/annotate", json={"kind": "pyramid", "topic": TOPIC, "name": name})
    assert again.status_code == 409
    assert "already" in error(again)
    erin.begin(name=name, topic="museum-theft")


# -- building and undoing ------------------------------------------------------------------------------------


def build(expert: Expert, id: int, pyramid: pyr.Pyramid) -> None:
    """Unit by unit, span by span, as somebody clicks."""
    version = 0
    for unit in pyramid.units:
        fields: JSON = {"unit": unit.id, "label": unit.label}
        commands: list[JSON] = [{"type": "add_unit", **fields}]
        for contributor in unit.contributors:
            about = {"type": "add_contributor", "unit": unit.id, "reference": contributor.reference}
            commands += [{**about, "spans": [list(span)]} for span in contributor.spans]
        for command in commands:
            body = {"command": command, "base": version}
            response = expert.client.post(f"/api/annotate/{id}/commands", json=body)
            assert response.status_code == 200, response.text
            version += 1


def golden(study: pyr.Study, folder: Path) -> str:
    """The example's pyramid as `pyramidion convert` writes it."""
    pyramid = study.pyramid(TOPIC, "expert")
    assert pyramid is not None
    alone = pyr.Study(
        topics=tuple(topic for topic in study.topics if topic.id == TOPIC),
        summaries=tuple(summary for summary in study.references if summary.topic == TOPIC),
        pyramids=(pyramid,),
    )
    pyr.save(alone, folder / f"{TOPIC}.pyr")
    return (folder / f"{TOPIC}.pyr").read_text(encoding="utf-8")


def test_a_pyramid_built_from_scratch_is_the_golden_one(office: Office, tmp_path: Path) -> None:
    erin = office.expert()
    id = erin.begin()
    pyramid = office.study.pyramid(TOPIC, "expert")
    assert pyramid is not None
    build(erin, id, pyramid)
    exported = erin.export(id, "pyr")
    assert exported.headers["content-disposition"] == f'attachment; filename="{TOPIC}.pyr"'
    assert exported.text == golden(office.study, tmp_path)
    built = erin.state(id)
    assert built["undo"].startswith("added words of reference")
    assert built["redo"] is None
    for _ in range(50):
        state = erin.do(id, "undo")
    assert len(state["pyramid"]["units"]) < len(pyramid.units)
    for _ in range(50):
        state = erin.do(id, "redo")
    assert (state["pyramid"], state["undo"], state["redo"]) == (built["pyramid"], built["undo"], None)
    assert erin.export(id, "pyr").text == exported.text
    history = erin.client.get(f"/api/annotate/{id}/events").json()
    assert [event["number"] for event in history] == list(range(state["version"]))
    assert history[-1]["says"].startswith("redid change")


REFUSED: list[tuple[JSON, str]] = [
    ({"type": "explode"}, "unknown command 'explode'"),
    ({}, "unknown command None"),
    ({"type": "rename_unit", "unit": "u01"}, "field 'label' is missing"),
    ({"type": "rename_unit", "unit": "u01", "label": 7}, "must be text"),
    ({"type": "rename_unit", "unit": "u99", "label": ""}, "the pyramid has no unit 'u99'"),
    ({"type": "rename_unit", "unit": "u01", "label": "\ud800"}, "half a character"),
    ({"type": "add_contributor", "unit": "u01", "reference": "A", "spans": [[0, 10**9]]}, "not inside the text"),
    ({"type": "add_contributor", "unit": "u01", "reference": "A", "spans": [[-5, 3]]}, "must be [start, end]"),
    ({"type": "add_contributor", "unit": "u01", "reference": "A", "spans": [[5, 5]]}, "not inside the text"),
    ({"type": "add_contributor", "unit": "u01", "reference": "A", "spans": [[0.5, 3]]}, "[start, end]"),
    ({"type": "add_contributor", "unit": "u01", "reference": "A", "spans": []}, "no words"),
    ({"type": "add_contributor", "unit": "u01", "reference": "Z", "spans": [[0, 3]]}, "unknown reference 'Z'"),
    (
        {"type": "add_unit", "contributors": [{"reference": "A", "spans": [[0, 1]]}] * 2},
        "at most one contributor per reference",
    ),
    ({"type": "add_unit", "unit": "u01"}, "unit u01 already exists"),
    ({"type": "merge_units", "units": ["u01"]}, "two or more different units"),
    ({"type": "split_unit", "unit": "u01", "references": ["A", "B", "C", "D"]}, "leave some"),
    ({"type": "match_unit", "unit": "u01", "spans": [[0, 3]]}, "of a pyramid"),
    ({"type": "redo"}, "nothing to redo"),
]


@pytest.mark.parametrize(("command", "why"), REFUSED, ids=str)
def test_impossible_commands_are_refused_with_the_reason(office: Office, command: JSON, why: str) -> None:
    erin = office.expert()
    id = erin.begin(start="expert")
    before = erin.state(id)
    content = json.dumps({"command": command, "base": 1})  # httpx would not send half a character
    headers = {"Content-Type": "application/json"}
    response = erin.client.post(f"/api/annotate/{id}/commands", content=content, headers=headers)
    assert response.status_code == 422
    assert why in error(response)
    assert erin.state(id) == before


def test_versions_from_nowhere_are_refused(office: Office) -> None:
    erin = office.expert()
    id = erin.begin()
    for base in (-1, 5, 2**40, "1", 0.5, None):
        body = {"command": {"type": "add_unit"}, "base": base}
        response = erin.client.post(f"/api/annotate/{id}/commands", json=body)
        assert response.status_code == (200 if base == "0" else 422)


def test_hostile_labels_come_back_as_they_are(office: Office) -> None:
    erin = office.expert()
    id = erin.begin(name=office.name() + " <b>&\"'")
    label = EVIL + "👩‍👩‍👧 é العربية " + "x" * 5000
    state = erin.do(id, "add_unit", label=label, comment=EVIL, contributors=[{"reference": "A", "spans": [[0, 4]]}])
    assert state["pyramid"]["units"][0]["label"] == label
    assert erin.state(id)["pyramid"]["units"][0]["comment"] == EVIL
    pages = [erin.client.get(f"/annotate/{id}{path}").text for path in ("", "/print")]
    assert not any("<script>alert" in page or "<b>&" in page for page in pages)
    assert "{{7*7}}" in pages[1]
    for format in ("pyr", "jsonl"):
        assert erin.export(id, format).status_code == 200
    back = erin.begin()
    assert erin.give(back, "back.pyr", erin.export(id, "pyr").text).status_code == 200


def test_spans_count_characters_of_any_script(tmp_path: Path) -> None:
    """Code points on the wire, whatever the page counts in."""
    text = "👩‍👩‍👧 ate. Cafe\u0301 closed. المطعم مغلق."
    study = pyr.Study(topics=(pyr.Topic("t"),), summaries=(pyr.Summary("t", "A", text, "reference"),))
    desk = make_study(tmp_path / "study.db", study)
    with served_here(tmp_path / "study.db") as server:
        erin = Expert(logged_in(desk, server.url, "erin"), Office(desk, "", server.url, study))
        id = erin.begin(topic="t")
        for words in ("👩‍👩‍👧", "Cafe\u0301", "المطعم"):
            start = text.index(words)
            about = {"reference": "A", "spans": [[start, start + len(words)]]}
            state = erin.do(id, "add_unit", label=words, contributors=[about])
        assert state["texts"] == [{"name": "A", "text": text}]
        again = erin.begin(topic="t")
        assert erin.give(again, "t.pyr", erin.export(id, "pyr").text).status_code == 200
        units = erin.state(again)["pyramid"]["units"]
        assert [text[slice(*unit["contributors"][0]["spans"][0])] for unit in units] == [u["label"] for u in units]
    desk.database.close()


# -- several at once -----------------------------------------------------------------------------------------


def test_a_conflicting_change_is_refused_and_shown(office: Office) -> None:
    erin, emil = office.expert(), office.expert("emil")
    id = erin.begin(shared=True, start="expert")
    assert erin.send(id, "rename_unit", base=1, unit="u01", label="erin's").status_code == 200
    refused = emil.send(id, "rename_unit", base=1, unit="u01", label="emil's")
    assert refused.status_code == 409
    shown = refused.json()
    assert shown["error"] == "this has been changed meanwhile: erin renamed unit u01 to “erin's”"
    assert [(event["author"], event["says"]) for event in shown["events"]] == [("erin", "renamed unit u01 to “erin's”")]
    assert shown["state"]["version"] == 2
    assert shown["state"]["pyramid"]["units"][0]["label"] == "erin's"
    assert shown["state"]["undo"] is None, "the state is emil's, who did nothing"
    assert emil.send(id, "rename_unit", base=1, unit="u02", label="emil's").status_code == 200, "something else"
    labels = [unit["label"] for unit in erin.state(id)["pyramid"]["units"]]
    assert labels[:2] == ["erin's", "emil's"]


def test_changes_of_others_appear(office: Office) -> None:
    erin, emil = office.expert(), office.expert("emil")
    id = erin.begin(shared=True, start="expert")
    nothing = emil.client.get(f"/api/annotate/{id}/changes", params={"since": 1}).json()
    assert nothing == {"version": 1, "pyramid_version": None, "events": [], "state": None}
    erin.do(id, "delete_unit", unit="u01")
    erin.do(id, "undo")
    news = emil.client.get(f"/api/annotate/{id}/changes", params={"since": 1}).json()
    assert [event["says"] for event in news["events"]] == ["deleted unit u01", "undid change 1"]
    assert news["version"] == news["state"]["version"] == 3
    assert news["state"]["may_edit"] is True


def test_a_peer_follows_its_pyramid(office: Office) -> None:
    erin = office.expert()
    pyramid = erin.begin(start="expert")
    peer = erin.begin("peer", system="lead", pyramid=pyramid, start="annotator")
    state = erin.state(peer)
    seen = {"since": state["version"], "pyramid": state["pyramid_version"]}
    assert erin.client.get(f"/api/annotate/{peer}/changes", params=seen).json()["state"] is None
    lost = state["peer"]["matches"][0]["unit"]
    erin.do(pyramid, "delete_unit", unit=lost)
    news = erin.client.get(f"/api/annotate/{peer}/changes", params=seen).json()
    assert (news["version"], news["events"], news["pyramid_version"]) == (1, [], 2)
    assert news["state"]["peer"]["lost"] == [state["peer"]["matches"][0]["id"]]
    assert news["state"]["score"]["observed"] < state["score"]["observed"]


def test_nothing_is_lost_when_two_write_at_once(office: Office) -> None:
    experts = [office.expert(), office.expert("emil")]
    id = experts[0].begin(shared=True)
    together, failures = threading.Barrier(2), []

    def work(expert: Expert) -> None:
        together.wait()
        for number in range(12):
            if (reply := expert.send(id, "add_unit", label=f"{number}")).status_code != 200:
                failures.append(reply.text)

    threads = [threading.Thread(target=work, args=[expert]) for expert in experts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    units = experts[0].state(id)["pyramid"]["units"]
    assert not failures
    assert len({unit["id"] for unit in units}) == 24


# -- peers ---------------------------------------------------------------------------------------------------


def test_a_peer_is_annotated_with_live_scores(office: Office) -> None:
    """u01 and u02 weigh 4; a repeated mention and content in no unit count in the size only."""
    erin = office.expert()
    id = erin.begin("peer", system="lead", pyramid="expert")
    state = erin.state(id)
    assert [text["name"] for text in state["texts"]] == ["lead"]
    assert (state["score"]["observed"], state["score"]["original"]) == (0, 0.0)
    erin.do(id, "match_unit", unit="u01", spans=[[0, 10], [12, 20]])
    erin.do(id, "match_unit", unit="u01", spans=[[30, 40]])
    state = erin.do(id, "mark_unmatched", spans=[[50, 60]])
    score, pyramid = state["score"], office.study.pyramid(TOPIC, "expert")
    assert pyramid is not None
    best = pyramid.best_weights()
    assert score["counts"] | {"units": 33} == score["counts"]
    counted = {name: score["counts"][name] for name in ("matched", "repeated", "unmatched", "size")}
    assert counted == {"matched": 1, "repeated": 1, "unmatched": 1, "size": 3}
    assert score["observed"] == 4
    assert score["original"] == 4 / best[3]
    assert score["modified"] == 4 / best[score["counts"]["expected"]]
    assert score["maximum"] == {"original": best[3], "modified": best[score["counts"]["expected"]]}
    assert [part["name"] for part in score["parts"]][:3] == ["original", "modified", "comprehensive"]
    assert state["peer"]["matches"][0]["spans"] == [[0, 10], [12, 20]]
    assert erin.send(id, "match_unit", unit="u99", spans=[[0, 4]]).status_code == 422
    assert erin.send(id, "add_unit").status_code == 422
    references = erin.client.get(f"/api/annotate/{id}/references").json()["texts"]
    assert [text["name"] for text in references] == ["A", "B", "C", "D"]


def test_suggestions_and_proposals(office: Office) -> None:
    erin = office.expert()
    pyramid = erin.begin(start="expert")
    erin.do(pyramid, "remove_contributor", unit="u02", reference="B")
    found = erin.client.get(f"/api/annotate/{pyramid}/suggestions", params={"unit": "u02"}).json()
    assert "120 litres per day" in found["contributors"][0]["text"]
    assert found["contributors"][0]["reference"] == "B"
    before = erin.state(pyramid)
    assert before["version"] == 2, "nothing is applied by itself"
    suggested = found["contributors"][0]
    fields = {"unit": "u02", "reference": suggested["reference"], "spans": suggested["spans"]}
    assert erin.do(pyramid, "add_contributor", **fields)["pyramid"]["units"][1]["weight"] == 4
    assert erin.client.get(f"/api/annotate/{pyramid}/suggestions", params={"unit": "zz"}).status_code == 422
    assert erin.client.get(f"/api/annotate/{pyramid}/suggestions").status_code == 422

    peer = erin.begin("peer", system="extract", pyramid="expert")
    found = erin.client.get(f"/api/annotate/{peer}/suggestions").json()
    assert "u02" in {match["unit"] for match in found["likely"]}
    assert {proposal["source"] for proposal in found["proposals"]} == {"autoannotate"}, "annotator's other summaries"
    text = erin.state(peer)["texts"][0]["text"]
    for match in [*found["likely"], *found["proposals"]]:
        assert match["text"] == " … ".join(text[start:end] for start, end in match["spans"])


# -- in and out ----------------------------------------------------------------------------------------------


def test_files_go_in_and_out(office: Office, tmp_path: Path) -> None:
    erin = office.expert()
    file = golden(office.study, tmp_path)
    pyramid = erin.begin()
    assert erin.give(pyramid, "any name.PYR", file).json()["event"]["says"] == "imported a pyramid"
    assert erin.export(pyramid, "pyr").text == file
    again = erin.give(pyramid, "again.pyr", file)
    assert (again.status_code, "into an empty one" in error(again)) == (422, True)
    spaced = file.replace(" has decided to ", "  has\tdecided to ")
    assert spaced != file
    moved = erin.begin()
    assert erin.give(moved, "spaced.pyr", spaced).status_code == 200, "white space may differ"
    assert [u["contributors"] for u in erin.state(moved)["pyramid"]["units"]] == [
        u["contributors"] for u in erin.state(pyramid)["pyramid"]["units"]
    ]

    original = erin.begin("peer", system="paraphrase", pyramid="expert", start="annotator")
    exported = erin.export(original, "pan")
    assert exported.headers["content-type"].startswith("application/xml")
    peer = erin.begin("peer", system="paraphrase", pyramid=pyramid)
    assert erin.give(peer, "x.pan", exported.text).status_code == 200
    one, other = erin.state(original), erin.state(peer)
    assert one["score"] == other["score"]
    assert [m["spans"] for m in one["peer"]["matches"]] == [m["spans"] for m in other["peer"]["matches"]]
    assert [m["spans"] for m in one["peer"]["marks"]] == [m["spans"] for m in other["peer"]["marks"]]

    jsonl = erin.export(peer, "jsonl")
    (tmp_path / "study.jsonl").write_text(jsonl.text, encoding="utf-8")
    study = pyr.load(tmp_path / "study.jsonl")
    assert study.problems() == []
    score = pyr.score(study, "pyramid").value("paraphrase", "original", TOPIC)
    assert score == one["score"]["original"]
    assert erin.export(pyramid, "pan").status_code == 422
    assert erin.export(pyramid, "docx").status_code == 422


def test_files_that_do_not_fit_are_refused(office: Office, tmp_path: Path) -> None:
    erin, file = office.expert(), golden(office.study, tmp_path)
    pyramid = erin.begin()
    peer = erin.begin("peer", system="lead", pyramid="expert")
    elsewhere = erin.begin(topic="museum-theft")
    wrong = erin.begin("peer", system="vague", pyramid="expert", start="annotator")
    others = erin.begin("peer", system="lead", pyramid=erin.begin(start="crowd"))
    pan = erin.export(erin.begin("peer", system="lead", pyramid="expert", start="annotator"), "pan").text
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><pyramid><text>&b;</text></pyramid>'
    cases = [
        (pyramid, "x.pan", file, "a .pyr file is needed"),
        (pyramid, "x.exe", file, "a .pyr file is needed"),
        (peer, "x.pyr", file, "a .pan file is needed"),
        (peer, "x.pan", erin.export(wrong, "pan").text, "a different text from that of peer 'lead'"),
        (pyramid, "x.pyr", "", "x.pyr"),
        (pyramid, "x.pyr", "<pyramid", "is not XML"),
        (pyramid, "x.pyr", bomb, "entities"),
        (elsewhere, "x.pyr", file, "is not that of any reference here"),
        (others, "x.pan", pan, "is not in this pyramid"),
    ]
    for id, name, text, why in cases:
        version = erin.state(id)["version"]
        response = erin.give(id, name, text)
        assert response.status_code == 422, (why, response.text)
        assert why in error(response)
        assert "/tmp" not in response.text
        assert erin.state(id)["version"] == version


def test_imports_may_be_larger_than_answers(office: Office, tmp_path: Path) -> None:
    erin, file = office.expert(), golden(office.study, tmp_path)
    id = erin.begin()
    assert erin.give(id, "x.pyr", file + "\n" * MAX_BODY).status_code == 200
    assert erin.give(id, "x.pyr", "x" * MAX_IMPORT).status_code == 413


def peers_of(expert: Expert, pyramid: int, name: str) -> list[int]:
    return [
        expert.begin("peer", system=system, pyramid=pyramid, start="annotator", name=name)
        for system in expert.office.study.systems
    ]


def test_stored_annotations_score_as_the_example_does(office: Office) -> None:
    erin, name = office.expert(), office.name()
    pyramid = erin.begin(start="expert", name=name)
    peers = peers_of(erin, pyramid, name)
    for number, id in enumerate(peers, 1):
        assert erin.store(id).json() == {"stored": {"pyramids": 1, "judgments": 34 * number}}, "what was stored follows"
    table = pyr.score(pyr.load(office.place), "pyramid", pyramid=name, judges=name)
    expected = pyr.score(office.study, "pyramid", judges="annotator")
    for system in office.study.systems:
        for measure in expected.measures:
            assert table.value(system, measure, TOPIC) == expected.value(system, measure, TOPIC)
    held = pyr.load(office.place)
    assert held.problems() == []
    assert {judge.kind for judge in held.judges if judge.id == name} == {"expert"}
    assert (
        next(t for t in erin.client.get("/api/annotate").json()["topics"] if t["id"] == TOPIC)["pyramids"][-1] == name
    )

    erin.do(pyramid, "delete_unit", unit="u01")
    assert erin.store(pyramid).json() == {"stored": {"pyramids": 1, "judgments": 33 * 6}}
    again = pyr.load(office.place)
    assert again.problems() == []
    assert len(again.pyramids) == len(held.pyramids), "replaced"
    assert len(again.judgments) == len(held.judgments) - 6
    stored = again.pyramid(TOPIC, name)
    assert stored is not None
    assert len(stored.units) == 32
    assert erin.state(pyramid)["annotation"]["stored"] == 2
    assert office.expert("boss").store(peers[0]).status_code == 200, "managers store anybody's"


def test_what_others_put_into_the_study_stays(office: Office) -> None:
    erin = office.expert()
    before = pyr.load(office.place)
    scratch = erin.begin(topic="reef-nursery", name="expert")
    refused = erin.store(scratch)
    assert refused.status_code == 409
    assert "did not begin with" in error(refused)
    judged = erin.begin("peer", topic="reef-nursery", system="lead", pyramid="expert", name="annotator")
    assert erin.store(judged).status_code == 409
    mended = erin.begin(topic="museum-theft", name="expert", start="expert")
    erin.do(mended, "rename_unit", unit="u01", label="mended")
    assert erin.store(mended).status_code == 200, "it began with what it replaces"
    erin.do(mended, "delete_unit", unit="u02")
    refused = erin.store(mended)
    assert refused.status_code == 422
    assert "judgments on unknown unit 'u02'" in error(refused)
    after = pyr.load(office.place)
    assert after.problems() == []
    assert after.counts() == before.counts()
    labels = {u.id: u.label for p in after.pyramids if (p.topic, p.name) == ("museum-theft", "expert") for u in p.units}
    assert labels["u01"] == "mended"
    original = office.study.pyramid("reef-nursery", "expert")
    assert after.pyramid("reef-nursery", "expert") == original


def test_storing_at_the_same_moment_leaves_a_sound_study(office: Office) -> None:
    """Both count their units from 1, and a study has an id once."""
    experts, together = [office.expert(), office.expert("emil")], threading.Barrier(2)
    begun = [expert.begin(topic="reef-nursery") for expert in experts]
    for expert, id in zip(experts, begun, strict=True):
        for number in range(5):
            about = {"reference": "A", "spans": [[number, number + 4]]}
            expert.do(id, "add_unit", label=f"{number}", contributors=[about])
    replies: list[int] = []

    def store(expert: Expert, id: int) -> None:
        together.wait()
        replies.extend(expert.store(id).status_code for _ in range(3))

    threads = [threading.Thread(target=store, args=pair) for pair in zip(experts, begun, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert replies == [200] * 6
    study = pyr.load(office.place)
    assert study.problems() == []
    names = {experts[0].state(id)["annotation"]["name"] for id in begun}
    stored = [pyramid for pyramid in study.pyramids if pyramid.name in names]
    assert [len(pyramid.units) for pyramid in stored] == [5, 5]


def test_a_stored_pyramid_serves_peers_by_its_name(office: Office) -> None:
    """Also when another process stored it: the desk follows the study."""
    erin, name = office.expert(), office.name()
    id = erin.begin(name=name, topic="harbor-bridge")
    state = erin.do(id, "add_unit", label="A bridge", contributors=[{"reference": "A", "spans": [[0, 4]]}])
    unit = state["pyramid"]["units"][0]["id"]
    assert erin.store(id).status_code == 200
    peer = erin.begin("peer", topic="harbor-bridge", system="lead", pyramid=name)
    assert erin.do(peer, "match_unit", unit=unit, spans=[[0, 4]])["score"]["observed"] == 1
    other = replace(pyr.example(), pyramids=(pyr.Pyramid("harbor-bridge", ("A",), (), office.name()),))
    office.desk.studies.add(pyr.Study(pyramids=other.pyramids))
    until(lambda: other.pyramids[0].name in erin.client.get("/api/annotate").text)


# -- two annotations -----------------------------------------------------------------------------------------


def test_two_annotations_and_a_third(office: Office) -> None:
    erin, emil = office.expert(), office.expert("emil")
    first, second = erin.begin(start="expert"), emil.begin(start="expert")
    emil.do(second, "remove_contributor", unit="u03", reference="D")
    params = {"first": first, "second": second}
    compared = erin.client.get("/api/annotate/compare", params=params).json()
    assert (compared["kind"], compared["first"]["id"], compared["second"]["owner"]) == ("pyramid", first, "emil")
    assert [text["name"] for text in compared["texts"]] == ["A", "B", "C", "D"]
    rows = compared["rows"]
    assert [row["same"] for row in rows] == [False] + [True] * 32
    assert (rows[0]["first"]["id"], rows[0]["second"]["weight"], rows[0]["differing"]) == ("u03", 3, ["D"])
    body = {"start": second, "name": office.name(), "shared": True}
    third = erin.client.post("/api/annotate/adjudicate", json=body)
    assert third.status_code == 201
    assert erin.state(third.json()["id"])["pyramid"]["units"] == emil.state(second)["pyramid"]["units"]
    peers = [e.begin("peer", system="lead", pyramid="expert", start="annotator") for e in (erin, emil)]
    emil.do(peers[1], "unmatch", id="1")
    rows = erin.client.get("/api/annotate/compare", params={"first": peers[0], "second": peers[1]}).json()["rows"]
    assert (rows[0]["same"], len(rows[0]["first"]), len(rows[0]["second"])) == (False, 1, 0)
    unlike = erin.client.get("/api/annotate/compare", params={"first": first, "second": peers[0]})
    assert unlike.status_code == 409
    refused = erin.client.post("/api/annotate/adjudicate", json={"start": first, "other": peers[0], "name": "x"})
    assert refused.status_code == 409


def test_an_adjudication_is_found_again_with_what_is_settled(office: Office) -> None:
    erin, emil, vera = office.expert(), office.expert("emil"), office.expert("vera")
    mine, theirs = (e.begin("peer", system="lead", pyramid="expert", start="annotator") for e in (erin, emil))
    emil.do(theirs, "unmatch", id="1")
    params = {"first": mine, "second": theirs}
    before = erin.client.get("/api/annotate/compare", params=params).json()
    assert before["thirds"] == []
    assert (before["agreement"]["same"], before["agreement"]["of"]) == (32, 33)
    assert 0 < before["agreement"]["alpha"] < before["agreement"]["words"] == 1
    assert [before[side]["score"] for side in ("first", "second")] == [
        e.state(id)["score"] for e, id in ((erin, mine), (emil, theirs))
    ]
    made = erin.client.post("/api/annotate/adjudicate", json={"start": theirs, "other": mine, "name": office.name()})
    third = made.json()["id"]
    unit = before["rows"][0]["unit"]
    assert erin.do(third, "decide", first=unit, second=unit)["decided"] == [[unit, unit]]
    for expert, may in ((erin, True), (vera, False)):
        (found,) = expert.client.get("/api/annotate/compare", params=params).json()["thirds"]
        assert (found["id"], found["adjudicates"], found["may_edit"]) == (third, [theirs, mine], may)
    assert erin.send(third, "decide", first=unit, second=unit).status_code == 422
    assert erin.do(third, "undo")["decided"] == []


def test_undo_stops_at_the_start_for_every_client(office: Office) -> None:
    erin = office.expert()
    id = erin.begin(start="expert")
    assert (erin.state(id)["undo"], erin.state(id)["starts_with"]) == (None, "imported a pyramid")
    erin.do(id, "rename_unit", unit="u03", label="x")
    erin.do(id, "undo")
    for fields in ({}, {"target": 0}):
        refused = erin.send(id, "undo", **fields)
        assert refused.status_code == 422
        assert "undo stops at what the annotation began with" in error(refused)
    assert len(erin.state(id)["pyramid"]["units"]) == 33


def test_the_summaries_of_a_round(office: Office) -> None:
    """Every summary of the topic, with what the same annotator made of it under the same name with the same pyramid."""
    erin, emil = office.expert(), office.expert("emil")
    name = office.name()
    here = erin.begin("peer", system="lead", pyramid="expert", name=name)
    there = erin.begin("peer", system="repeat", pyramid="expert", name=name, start="annotator")
    emil.begin("peer", system="extract", pyramid="expert")
    rows = erin.client.get(f"/api/annotate/{here}/round").json()
    assert [row["system"] for row in rows] == [s.system for s in office.study.peers if s.topic == TOPIC]
    assert {row["system"]: row["id"] for row in rows if row["id"]} == {"lead": here, "repeat": there}
    assert [(row["changes"], row["url"]) for row in rows if row["system"] == "repeat"] == [(1, f"/annotate/{there}")]


# -- pages ---------------------------------------------------------------------------------------------------


def test_experts_come_to_their_desk(office: Office) -> None:
    client = browser(office.url)
    pages = ["/annotate", "/annotate/guidelines", "/annotate/1", "/annotate/1/print", "/annotate/999"]
    for page in pages:
        assert client.get(page).headers["location"] == f"/login?next={page}", "strangers learn nothing"
    compare = client.get("/annotate/compare?first=1&second=2").headers["location"]
    assert compare == "/login?next=/annotate/compare%3Ffirst%3D1%26second%3D2"
    data = {"name": "erin", "password": PASSWORD}
    assert client.post("/login", data=data).headers["location"] == "/annotate"
    assert client.post("/login", data={**data, "next": "/annotate/1"}).headers["location"] == "/annotate/1"
    assert client.post("/login", data={**data, "name": "boss"}).headers["location"] == "/manage"
    assert 'href="/annotate"' in client.get("/manage").text


def test_pages_obey_the_policy(office: Office) -> None:
    erin = office.expert()
    pyramid = erin.begin(start="expert")
    peer = erin.begin("peer", system="lead", pyramid=pyramid, start="annotator")
    paths = ["", f"/{pyramid}", f"/{peer}", f"/{pyramid}/print", f"/{peer}/print", "/guidelines"]
    for path in [*paths, f"/compare?first={pyramid}&second={pyramid}"]:
        response = erin.client.get(f"/annotate{path}")
        assert response.status_code == 200
        page = response.text
        assert not any(bad in page for bad in ("<script>", "<style", " style=", " onclick="))


def test_the_print_view_has_every_unit_with_its_words(office: Office) -> None:
    erin = office.expert()
    pyramid = erin.begin(start="expert")
    page = erin.client.get(f"/annotate/{pyramid}/print").text
    assert page.count('class="p-unit"') == 33
    assert page.index("Weight 4") < page.index("Weight 3") < page.index("Weight 1")
    assert "Port Ambry&#39;s … people face water rationing" in page
    assert "No units yet" in erin.client.get(f"/annotate/{erin.begin()}/print").text
    peer = erin.begin("peer", system="repeat", pyramid=pyramid, start="annotator")
    state, page = erin.state(peer), erin.client.get(f"/annotate/{peer}/print").text
    assert state["score"]["counts"]["repeated"] > 0
    assert page.count("<bdi>mention ") == len(state["peer"]["matches"])
    assert f"{state['score']['original']:.4f}" in page


def test_the_guidelines_cover_the_method(office: Office) -> None:
    page = office.expert("vera").client.get("/annotate/guidelines").text
    for matter in ("One contributor for each reference", "Split", "Labels", "Repeated mentions", "Content in no unit"):
        assert matter in page
