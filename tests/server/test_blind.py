"""Blind experts: no name of a system and nobody else's work reaches them, whatever they ask for. On both databases."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import httpx
import pytest
from tests.databases import Postgres
from tests.server.servers import PASSWORD, logged_in, make_study, served_here

import pyramidion as pyr
from pyramidion.annotation.blind import neutral_labels
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.store.accounts import Accounts

pytestmark = pytest.mark.server
TOPIC, JUDGE = "drought-plan", "annotator"


@dataclass
class Blind:
    desk: CampaignDesk
    url: str
    study: pyr.Study

    def client(self, name: str) -> httpx.Client:
        return logged_in(self.desk, self.url, name)


def named(study: pyr.Study) -> pyr.Study:
    """The example with systems whose names cannot occur by chance, and sources that tell them too."""

    def new(system: str) -> str:
        return f"SYSTEM-{system}"

    peers = {peer.system for peer in study.peers}
    summaries = tuple(
        replace(s, system=new(s.system), source=f"{new(s.system)}.txt") if s.role == "peer" else s
        for s in study.summaries
    )
    judgments = study.judgments
    renamed = judgments.with_columns(
        system=judgments.system.rename(lambda name: new(name) if name in peers else name),
        other=judgments.other.rename(lambda name: new(name) if name in peers else name),
    )
    tasks = tuple(replace(t, system=t.system and new(t.system), other=t.other and new(t.other)) for t in study.tasks)
    return replace(study, summaries=summaries, judgments=renamed, tasks=tasks)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def blind(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, example: Any) -> Iterator[Blind]:
    place = str(tmp_path_factory.mktemp("blind") / "study.db")
    if request.param == "postgresql":
        running: Postgres = request.getfixturevalue("postgres_server")
        place = running.new_database()
    study = named(example)
    desk = make_study(place, study)
    Accounts(desk.database).add("emil", PASSWORD, "expert")
    desk.studies.set_blind(True)
    with served_here(place) as server:
        yield Blind(desk, server.url, study)
        assert "Traceback" not in server.printed(), server.printed()
    desk.database.close()


def begin(client: httpx.Client, **about: Any) -> httpx.Response:
    return client.post("/api/annotate", json={"topic": TOPIC, **about})


def topic_of(client: httpx.Client) -> dict[str, Any]:
    topics = client.get("/api/annotate").json()["topics"]
    found: dict[str, Any] = next(topic for topic in topics if topic["id"] == TOPIC)
    return found


def test_nothing_an_expert_can_ask_for_names_a_system_or_anybody_else(blind: Blind) -> None:
    boss, emil, erin = (blind.client(name) for name in ("boss", "emil", "erin"))
    real = topic_of(boss)["systems"]
    assert all(system.startswith("SYSTEM-") for system in real)
    about = {"kind": "peer", "pyramid": "expert"}
    of_boss = begin(boss, **about, name="boss-made", system=real[0], start="").json()["id"]
    labels = topic_of(emil)["systems"]
    of_emil = begin(emil, **about, name="emil-made", system=labels[0]).json()["id"]
    label = labels[1]
    mine = begin(erin, **about, name="erin-made", system=label)
    assert mine.status_code == 201, mine.text
    second = begin(erin, **about, name="erin-again", system=label).json()["id"]
    pyramid = begin(erin, kind="pyramid", name="erin-pyramid", start="expert").json()["id"]
    id = mine.json()["id"]
    unit = erin.get(f"/api/annotate/{id}").json()["pyramid"]["units"][0]["id"]
    command = {"type": "match_unit", "unit": unit, "spans": [[0, 5]]}
    match = {"command": command, "base": 0}
    third = begin(erin, kind="peer", pyramid=pyramid, name="erin-own-pyramid", system=label).json()["id"]
    everything = (id, third, pyramid, of_emil, of_boss)
    replies = [
        mine,
        erin.post(f"/api/annotate/{id}/commands", json=match),
        erin.post(f"/api/annotate/{id}/commands", json=match),  # a conflict, or a repeated mention
        erin.post(f"/api/annotate/{id}/commands", json={"command": {**command, "spans": [[0, 99999]]}, "base": 1}),
        begin(erin, **about, name="erin-made", system=label),  # taken
        begin(erin, **about, name="x", system=real[0]),
        begin(erin, **about, name="x", system=label, start=JUDGE),
        begin(erin, **about, name="x", system=label, shared=True),
        begin(erin, kind="peer", pyramid=of_boss, name="x", system=label),
        erin.post(f"/api/annotate/{second}/import", json={"file_name": "x.pan", "text": "<annotation/>"}),
        erin.post(f"/api/annotate/{id}/store"),
        erin.post("/api/annotate/adjudicate", json={"start": of_emil, "name": "x"}),
        erin.get("/api/annotate/compare", params={"first": id, "second": second}),
        erin.get("/api/annotate/compare", params={"first": id, "second": of_emil}),
        erin.get("/api/annotate"),
        *(erin.get(f"/annotate{page}") for page in ("", f"/compare?first={id}&second={second}")),
        *(erin.get(f"/annotate/{each}{page}") for each in everything for page in ("", "/print")),
        *(
            erin.get(f"/api/annotate/{each}{what}")
            for each in everything
            for what in (
                "", "/changes", "/events", "/references", "/suggestions",
                "/export?format=pan", "/export?format=pyr", "/export?format=jsonl",
            )
        ),
        *(
            erin.get(path)
            for path in (
                "/manage", "/manage/campaigns/x", "/manage/campaigns/x/export.csv", "/manage/campaigns/x/export.jsonl",
                "/api/manage", "/api/manage/scores", "/api/manage/campaigns/x", "/api/manage/campaigns/x/answers",
            )
        ),
    ]  # fmt: skip
    for reply in replies:
        assert reply.status_code < 500
        wire = f"{reply.headers} {reply.text}"
        for secret in ("SYSTEM", "boss-made", "emil", JUDGE):
            sent = secret.encode() in reply.request.content
            assert sent or secret not in wire, (secret, str(reply.request.url), wire[:2000])
    statuses = {reply.status_code for reply in replies if f"/{of_emil}" in str(reply.request.url)}
    assert statuses == {404}, "other people's annotations do not exist"
    listed = boss.get("/api/annotate").json()
    row = next(row for row in listed["annotations"] if row["id"] == id)
    assert row["system"] in real, "it is stored under the real name"
    assert listed["blind"] is True, "managers are told"


def test_what_a_blind_expert_did_is_that_of_the_right_system(blind: Blind) -> None:
    boss, erin = blind.client("boss"), blind.client("erin")
    labels = neutral_labels(blind.study, blind.desk.database.secret)
    (topic, system), label = next((key, label) for key, label in labels.items() if key[0] == TOPIC)
    id = begin(erin, kind="peer", pyramid="expert", name="resolved", system=label).json()["id"]
    state = erin.get(f"/api/annotate/{id}").json()
    text = next(peer.text for peer in blind.study.peers if (peer.topic, peer.system) == (topic, system))
    assert state["texts"] == [{"name": label, "text": text}]
    assert boss.get(f"/api/annotate/{id}").json()["texts"] == [{"name": system, "text": text}]
    made = boss.post(f"/api/annotate/{id}/store")
    assert made.status_code == 200, made.text
    judged = [j for j in blind.desk.studies.load().judgments if j.judge == "resolved"]
    assert {j.system for j in judged} == {system}
    exported = erin.get(f"/api/annotate/{id}/export", params={"format": "jsonl"}).text
    records = [json.loads(line) for line in exported.splitlines()]
    assert {r["system"] for r in records if r["type"] == "judgment"} == {label}


def test_labels_say_nothing_and_stay(example: pyr.Study) -> None:
    secret, other = b"s" * 32, b"t" * 32
    labels = neutral_labels(example, secret)
    assert len(set(labels)) == len({(key[0], label) for key, label in labels.items()}) == len(example.peers)
    assert all(re.fullmatch(r"summary \d{3,}", label) for label in labels.values())
    assert labels != neutral_labels(example, other)
    by_topic: dict[str, list[str]] = {}
    for (topic, system), _ in sorted(labels.items(), key=lambda item: item[1]):
        by_topic.setdefault(topic, []).append(system)
    assert len(set(map(tuple, by_topic.values()))) > 1, "each topic has an order of its own"
    more = tuple(replace(peer, system=f"new-{peer.system}-{n}") for peer in example.peers for n in range(60))
    grown = neutral_labels(replace(example, summaries=example.summaries + more), secret)
    assert {key: grown[key] for key in labels} == labels, "systems that come later change nothing"
    assert len({(key[0], label) for key, label in grown.items()}) == len(grown), "no label twice in a topic"


def test_switching_it_off_shows_everything_again(blind: Blind) -> None:
    """Last in this file: the setting is that of the shared study."""
    vera = blind.client("vera")
    assert all(system.startswith("SYSTEM-") for system in topic_of(vera)["systems"]), "viewers are not blind"
    erin = blind.client("erin")
    assert erin.get("/manage").headers["location"] == "/annotate"
    blind.desk.studies.set_blind(False)
    while not topic_of(erin)["systems"][0].startswith("SYSTEM-"):
        pass  # within a second
    assert erin.get("/manage").status_code == 200
