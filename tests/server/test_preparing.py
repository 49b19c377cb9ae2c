"""What managers prepare in the browser: texts, drafts, previews, units. What is refused, and who did what."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from tests.server.conftest import Site
from tests.server.servers import Person, answer_to, logged_in, make_study, only_texts, served_here

import pyramidion as pyr
from pyramidion.campaigns.checks import CONTENT
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.preparing import edit_unit, list_units
from pyramidion.judging import judge_study
from pyramidion.server import uploads

pytestmark = pytest.mark.server

UPLOADS = "/api/manage/uploads"
TABLE = "id,system,summary,reference\nfloods,bart,Water came.,The river rose.\nfloods,t5,Rain fell.,The river rose.\n"
TOPIC = "museum-theft"


@pytest.fixture
def own(tmp_path: Path) -> Iterator[tuple[CampaignDesk, httpx.Client]]:
    """A study of its own, empty, and its manager."""
    desk = make_study(tmp_path / "study.db", pyr.Study())
    with served_here(tmp_path / "study.db") as server:
        yield desk, logged_in(desk, server.url)
        assert "Traceback" not in server.printed(), server.printed()
    desk.database.close()


def packed(files: Mapping[str, str | bytes]) -> bytes:
    """Files as the page sends them."""
    contents = [text.encode() if isinstance(text, str) else text for text in files.values()]
    sizes = [{"name": name, "size": len(text)} for name, text in zip(files, contents, strict=True)]
    return json.dumps(sizes).encode() + b"\n" + b"".join(contents)


def send(client: httpx.Client, files: Mapping[str, str | bytes], **choices: str) -> httpx.Response:
    return client.post(UPLOADS, content=packed(files), params=choices)


# -- texts ---------------------------------------------------------------------------------------------------


def test_texts_are_previewed_then_added_once(own: tuple[CampaignDesk, httpx.Client]) -> None:
    desk, boss = own
    seen = send(boss, {"texts.csv": TABLE})
    found = seen.json()
    assert (found["format"], found["can_add"], found["errors"]) == ("table", True, 0)
    assert found["counts"]["peers"] == found["new"]["peers"] == 2
    assert found["topics"] == [{"id": "floods", "title": "", "references": 1, "peers": 2, "units": 0}]
    assert {"topic": "floods", "role": "peer", "system": "t5", "text": "Rain fell."} in found["texts"]
    assert desk.studies.load().counts()["peers"] == 0, "nothing is added by looking"

    changed = send(boss, {"texts.csv": TABLE.replace("Rain", "Snow")}, digest=seen.headers["x-digest"])
    assert changed.status_code == 409
    assert desk.studies.load().counts()["peers"] == 0
    added = send(boss, {"texts.csv": TABLE}, digest=seen.headers["x-digest"])
    assert added.json()["counts"]["peers"] == 2
    assert boss.get("/api/manage").json()["counts"]["peers"] == 2, "seen at once"
    again = send(boss, {"texts.csv": TABLE}).json()
    assert (again["can_add"], sum(again["new"].values())) == (True, 0)
    [change] = boss.get("/api/manage/changes").json()["changes"]
    assert (change["actor"], change["action"], change["detail"]["files"]) == ("boss", "import", 1)


def test_conflicts_and_errors_are_named_with_their_places(own: tuple[CampaignDesk, httpx.Client]) -> None:
    desk, boss = own
    desk.import_study(pyr.Study(topics=(pyr.Topic("floods"),), summaries=(pyr.Summary("floods", "bart", "Other."),)))
    found = send(boss, {"texts.csv": TABLE}).json()
    assert (found["can_add"], found["conflicts"]) == (False, 1)
    assert found["problems"][0]["where"] == "topic floods, peer bart"
    digest = send(boss, {"texts.csv": TABLE}).headers["x-digest"]
    assert send(boss, {"texts.csv": TABLE}, digest=digest).status_code == 422
    assert desk.studies.load().counts()["peers"] == 1

    unsound = {"mine/references/x.txt": b"fine\nnot \xff fine", "mine/bart/x.txt": "Text.", "mine/t5/x.txt": "More."}
    found = send(boss, unsound).json()
    assert (found["can_add"], found["errors"]) == (False, 1)
    assert found["problems"][0]["where"] == "references/x.txt"
    assert "line 2" in found["problems"][0]["what"]
    lenient = send(boss, unsound, lenient="true")
    assert lenient.json()["can_add"] is True
    assert send(boss, unsound, lenient="true", digest=lenient.headers["x-digest"]).status_code == 200
    assert desk.studies.load().counts()["peers"] == 3


def test_columns_are_chosen_where_they_are_not_recognised(own: tuple[CampaignDesk, httpx.Client]) -> None:
    _, boss = own
    table = TABLE.replace("id,system,summary,reference", "a,b,c,d")
    found = send(boss, {"t.csv": table}).json()
    assert (found["can_add"], found["columns"]) == (False, ["a", "b", "c", "d"])
    assert "--" not in found["refused"], "no options of commands"
    named = send(
        boss, {"t.csv": table}, columns=json.dumps({"topic": "a", "system": "b", "summary": "c", "reference": "d"})
    )
    assert (named.json()["can_add"], named.json()["counts"]["systems"]) == (True, 2)
    assert send(boss, {"t.csv": table}, columns="[1]").status_code == 422


def test_an_archive_and_25_systems_of_50_documents(own: tuple[CampaignDesk, httpx.Client]) -> None:
    _, boss = own
    systems = ["references", *(f"system-{n}" for n in range(25))]
    files = {f"all/{name}/doc-{n}.txt": f"What {name} says about {n}." for name in systems for n in range(50)}
    assert len(files) == 1300
    as_folder = send(boss, files).json()
    assert (as_folder["counts"]["peers"], as_folder["counts"]["references"]) == (1250, 50)
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    packed_up = {"all.zip": memory.getvalue()}
    seen = send(boss, packed_up)
    assert seen.json()["counts"] == as_folder["counts"]
    assert send(boss, packed_up, digest=seen.headers["x-digest"]).json()["counts"]["systems"] == 25


@pytest.mark.parametrize(
    "name", ["../x.txt", "/etc/x", "a/../../x", "a\\b", "", "a//b", "C:/x", "a\0b", "a/" * 30 + "b"]
)
def test_names_do_not_lead_out_of_the_folder(own: tuple[CampaignDesk, httpx.Client], name: str) -> None:
    assert send(own[1], {name: "outside"}).status_code in {409, 422}


def test_what_is_unsound_is_refused(own: tuple[CampaignDesk, httpx.Client], monkeypatch: pytest.MonkeyPatch) -> None:
    desk, boss = own
    sizes = json.dumps([{"name": "a.csv", "size": 100}]).encode() + b"\n"
    broken = [b"", b"no list", b"{}\n", b"[]\n", b"[1]\n", sizes + b"short", sizes + b"x" * 101, b'[{"name":"a"}]\n']
    broken += [
        b'[{"name":"a","size":-1}]\n',
        b"[" * 100_000 + b"\n",
        packed({"a": "1", "A": "2"}),
        packed({"a": "1", "a/b": "2"}),
    ]
    for body in broken:
        assert boss.post(UPLOADS, content=body).status_code == 422, body[:40]
    database = Path(str(desk.database.path)).read_bytes()
    assert "study database" in send(boss, {"other.db": database}).json()["refused"]
    assert "study database" in send(boss, {"other.db": database}, format="database").json()["refused"]
    monkeypatch.setenv(uploads.VARIABLE, "1")
    assert boss.get(UPLOADS).json()["most_bytes"] == 2**20
    large = send(boss, {"t.txt": "x" * 2**20})
    assert large.status_code == 413
    assert "1 MB" in large.json()["error"]


# -- drafts --------------------------------------------------------------------------------------------------


def wish(name: str, **more: Any) -> dict[str, Any]:
    return {"kind": "judge", "name": name, "topics": [TOPIC], "systems": ["lead", "extract"], **more}


def test_notes_that_are_alike_are_one(tmp_path: Path) -> None:
    """Four topics and more of a large study may have no units: a manager reads one note, as on the command line."""
    example = pyr.example()
    known = [replace(pyramid, topic=TOPIC) for pyramid in example.pyramids if pyramid.topic == TOPIC]
    topics = [*example.topics, pyr.Topic("one-more")]
    study = replace(only_texts(example), topics=tuple(topics), pyramids=tuple(known))
    desk = make_study(tmp_path / "study.db", study)
    with served_here(tmp_path / "study.db") as server:
        boss = logged_in(desk, server.url)
        body = {"kind": "judge", "name": "few", "pyramid": known[0].name}
        notes = boss.post("/api/manage/plan", json=body).json()["notes"]
    desk.database.close()
    left_out = [note["what"] for note in notes if "no units to judge" in note["what"]]
    assert left_out == [f"has no units to judge and is left out (and {len(topics) - 2} more like this)"]


def own_content(**changed: Any) -> dict[str, Any]:
    return {**CONTENT["judge"], **changed}


def test_a_draft_gives_no_tasks_until_it_is_opened(site: Site) -> None:
    boss = site.account()
    body = wish("draft-1", settings={"check": False}, instructions=own_content(title="Is it told?"))
    made = boss.post("/api/manage/plan", json={**body, "start": True, "draft": True}).json()
    assert (made["started"], made["draft"]) == (True, True)
    assert "minutes per task" in made["time"]
    assert site.desk.campaigns.is_draft("draft-1")
    worker = site.person("draft-1")
    worker.join()
    assert worker.work()["state"] == "paused"
    boss.post("/api/manage/campaigns/draft-1/state", json={"state": "running"})
    task = worker.work()
    assert (task["state"], task["content"]["title"]) == ("task", "Is it told?")
    kinds = [change["action"] for change in boss.get("/api/manage/changes?campaign=draft-1").json()["changes"]]
    assert kinds == ["state", "create"]


def test_a_draft_is_planned_again_and_a_begun_campaign_keeps_its_tasks(site: Site) -> None:
    boss = site.account()
    body = wish("draft-2", settings={"check": False})
    boss.post("/api/manage/plan", json={**body, "start": True, "draft": True})
    before = site.desk.campaigns.tasks("draft-2")
    dropped = [TOPIC, before[0].task.units[0]]
    changed = {**body, "settings": {"check": False, "workers": 2}, "systems": ["lead"], "without": [dropped]}
    reply = boss.put("/api/manage/campaigns/draft-2", json=changed)
    assert reply.status_code == 200, reply.text
    after = site.desk.campaigns.tasks("draft-2")
    assert {one.task.system for one in after} == {"lead"}
    assert {one.wanted for one in after} == {2}
    assert sum(len(one.task.units) for one in after) == sum(len(one.task.units) for one in before) / 2 - 1
    held = boss.get("/api/manage/campaigns/draft-2/design").json()
    assert (held["draft"], held["systems"], held["without"]) == (True, ["lead"], [dropped])
    assert held["settings"] == {"check": False, "workers": 2}

    boss.post("/api/manage/campaigns/draft-2/state", json={"state": "running"})
    person = site.person("draft-2")
    person.first_task()
    assert boss.get("/api/manage/campaigns/draft-2/design").json()["draft"] is False
    for refused, where in [
        ({"settings": {"check": False, "workers": 3}}, "workers"),
        ({"settings": {"check": False, "workers": 2, "pay": 0.6}}, "pay"),
        ({"systems": ["lead", "extract"]}, "scope"),
        ({"instructions": own_content(title="Other")}, "instructions"),
    ]:
        reply = boss.put("/api/manage/campaigns/draft-2", json={**changed, **refused})
        assert reply.status_code == 422
        assert [problem["where"] for problem in reply.json()["problems"]] == [where]
    allowed = {"check": False, "workers": 2, "lease_minutes": 90.0, "completion_code": "C0DE"}
    assert boss.put("/api/manage/campaigns/draft-2", json={**changed, "settings": allowed}).status_code == 200
    assert site.desk.campaigns.get("draft-2").settings.lease_minutes == 90
    assert [one.task for one in site.desk.campaigns.tasks("draft-2")] == [one.task for one in after]
    [edit] = boss.get("/api/manage/changes?campaign=draft-2").json()["changes"][:1]
    assert edit["detail"]["changed"] == {"lease_minutes": [60.0, 90.0], "completion_code": ["", "C0DE"]}


def test_a_draft_that_a_model_guides_pays_what_was_asked_however_often_it_is_saved(tmp_path: Path) -> None:
    desk = make_study(tmp_path / "study.db", judge_study(pyr.example(), "lexical", evidence=False).study)
    with served_here(tmp_path / "study.db") as server:
        boss = logged_in(desk, server.url)
        guided = {"model": "lexical", "question": "these", "until": "top", "pay": 1.0}
        body = {"kind": "judge", "name": "g", "settings": guided}
        boss.post("/api/manage/plan", json={**body, "start": True, "draft": True})
        first, parts = desk.campaigns.get("g"), desk.rounds.parts("g")
        assert first.settings.pay < 1
        for _ in range(2):
            held = boss.get("/api/manage/campaigns/g/design").json()
            assert held["settings"]["pay"] == 1.0
            reply = boss.put("/api/manage/campaigns/g", json={**body, "settings": held["settings"]})
            assert reply.status_code == 200, reply.text
        assert desk.campaigns.get("g") == first
        assert desk.rounds.parts("g") == parts
    desk.database.close()


BAD_CONTENT: list[tuple[dict[str, Any], str]] = [
    ({"title": ""}, "title"),
    ({"title": 5}, "title"),
    ({"steps": "one"}, "steps"),
    ({"steps": ["x"] * 21}, "steps"),
    ({"intro": ["x" * 2001]}, "intro, line 1"),
    ({"example": []}, "example text"),
    ({"questions": []}, "questions"),
    (
        {"questions": [*CONTENT["judge"]["questions"][:7], {"id": "x", "text": "y", "right": "r", "wrong": ["r"]}]},
        "question 8",
    ),
    ({"questions": [1]}, "questions"),
]


@pytest.mark.parametrize(("content", "where"), BAD_CONTENT, ids=lambda value: json.dumps(value)[:40])
def test_instructions_that_would_not_work_are_refused(site: Site, content: dict[str, Any], where: str) -> None:
    reply = site.account().post("/api/manage/plan", json=wish("bad", instructions=own_content(**content)))
    assert reply.status_code == 422
    assert where in [problem["where"] for problem in reply.json()["problems"]]


def test_own_questions_are_asked(site: Site) -> None:
    boss = site.account()
    questions = [
        {"id": f"q{n}", "text": f"Question {n}?", "right": "yes", "wrong": ["no", "perhaps", "never"]} for n in range(8)
    ]
    body = wish("own-questions", instructions=own_content(questions=questions))
    assert boss.post("/api/manage/plan", json={**body, "start": True}).status_code == 200
    person = site.person("own-questions")
    person.join()
    shown = person.work()["content"]["questions"]
    assert len(shown) == 4
    right = {q["id"]: next(o["value"] for o in q["options"] if o["label"] == "yes") for q in shown}
    assert person.check(right)["passed"]


def test_the_usual_instructions_are_not_kept(site: Site) -> None:
    site.account().post("/api/manage/plan", json={**wish("usual", instructions=own_content()), "start": True})
    assert site.desk.campaigns.get("usual").instructions is None


# -- previews ------------------------------------------------------------------------------------------------


class Previewer(Person):
    """A manager at the preview: the workers' page, with their own session."""

    def __init__(self, client: httpx.Client, page: httpx.Response) -> None:
        found = re.search(r'data-campaign="([^"]+)"', page.text)
        assert found is not None, page.text
        self.campaign = quote(found[1], safe="")
        self.client = client
        client.headers["X-Requested-With"] = "pyramidion"

    def join(self) -> httpx.Response:
        return self.client.get("/manage")


def test_a_preview_is_the_real_page_and_stores_nothing(site: Site) -> None:
    boss = site.account()
    name = site.campaign(check=True, completion_code="C0DE", workers=2)
    before = site.desk.campaigns.progress(name), len(site.desk.workers.entries()), site.desk.studies.newest()
    moved = boss.get(f"/manage/campaigns/{name}/preview")
    page = boss.get(moved.headers["location"])
    assert "Preview." in page.text
    visitor = Previewer(boss, page)
    real = site.person(name).first_task()
    shown = visitor.first_task()
    assert shown["page"].keys() == real["page"].keys()
    assert shown["content"] == real["content"]
    while shown["state"] == "task":
        assert visitor.submit(shown["assignment"], answer_to(shown["page"])).status_code == 200
        shown = visitor.work()
    assert (shown["state"], shown["code"]) == ("done", "C0DE")
    taken = site.desk.campaigns.progress(name)
    assert (taken["submitted"], taken["leased"]) == (0, 1), "only the real worker has a task"
    assert before[1] + 1 == len(site.desk.workers.entries())
    assert before[2] == site.desk.studies.newest()

    asking = boss.get(f"/manage/campaigns/{site.campaign(check=True, consent='Freely.')}/preview").headers["location"]
    at_task = Previewer(boss, boss.get(f"{asking}&task=true"))
    assert at_task.work()["state"] == "task", "somebody new, past the questions"


def test_a_campaign_is_previewed_before_it_is_stored(site: Site) -> None:
    boss = site.account()
    body = wish("not-yet", settings={"check": False}, instructions=own_content(title="Not yet"))
    address = boss.post("/api/manage/preview", json=body).json()["address"]
    shown = Previewer(boss, boss.get(address)).work()
    assert (shown["state"], shown["content"]["title"]) == ("task", "Not yet")
    assert "not-yet" not in [campaign.name for campaign in site.desk.campaigns.all()]


def test_a_preview_is_for_managers(site: Site) -> None:
    name = site.campaign()
    address = site.account().get(f"/manage/campaigns/{name}/preview").headers["location"]
    token = address.split("/")[-1].split("?")[0]
    for who in ("vera", "erin"):
        client = site.account(who)
        for path in (f"/manage/campaigns/{name}/preview", address, "/manage/texts", f"/manage/campaigns/{name}/edit"):
            assert client.get(path).headers["location"] == "/manage", path
        assert client.get(f"/api/work/preview%3A{token}").status_code == 401
    assert site.person(name).client.get(f"/api/work/preview%3A{token}").status_code == 401
    assert site.account().get("/api/work/preview%3A..%5Cstudy").status_code == 404
    assert site.account().get(f"/manage/preview/{'0' * 32}").status_code == 404


# -- units ---------------------------------------------------------------------------------------------------


def test_statements_are_reworded_dropped_and_restored_before_they_become_units(tmp_path: Path) -> None:
    desk = make_study(tmp_path / "study.db", only_texts(pyr.example()))
    with served_here(tmp_path / "study.db") as server:
        boss = logged_in(desk, server.url)
        plan = {"kind": "write", "name": "w", "topics": [TOPIC], "settings": {"workers": 1, "check": False}}
        boss.post("/api/manage/plan", json={**plan, "start": True})
        person = Person(desk, server.url, "w")
        task = person.first_task()
        words = answer_to(task["page"])["statements"]
        words[0] = "Too short."
        person.submit(task["assignment"], {"statements": words})
        made = boss.post("/api/manage/campaigns/w/units", json={}).json()
        [short] = [one for one in made["dropped"] if one["label"] == "Too short."]
        assert "fewer than 4" in short["reason"]
        units = made["pyramids"][0]["units"]
        edits = {
            "keep": [[TOPIC, short["id"]]],
            "drop": [[TOPIC, units[0]["id"]]],
            "labels": [{"topic": TOPIC, "unit": units[1]["id"], "label": "It is now in better words."}],
        }
        seen = boss.post("/api/manage/campaigns/w/units", json=edits).json()
        assert seen["kept"] == made["kept"]
        assert [one["reason"] for one in seen["dropped"] if one["id"] == units[0]["id"]] == ["by a manager"]
        boss.post("/api/manage/campaigns/w/units", json={**edits, "store": True})
        [pyramid] = desk.studies.load().pyramids
        labels = {unit.id: unit.label for unit in pyramid.units}
        assert (labels[short["id"]], labels[units[1]["id"]]) == ("Too short.", "It is now in better words.")
        assert units[0]["id"] not in labels
        change = boss.get("/api/manage/changes").json()["changes"][0]
        assert change["detail"] == {"kept": made["kept"], "edited": 1, "restored": 1, "dropped": 1}

        boss.post(f"/api/manage/assignments/{task['assignment']}/review", json={"action": "reject", "reason": "r"})
        assert not desk.material().pyramids[0].units, "a reworded unit still goes with the answer it came from"
    desk.database.close()


def test_a_unit_keeps_its_words_once_people_are_asked_about_it(tmp_path: Path) -> None:
    example = pyr.example()
    desk = make_study(tmp_path / "study.db", pyr.Study(example.topics, example.summaries, example.pyramids))
    [unit, other] = [one for one in list_units(desk) if one["pyramid"] == "crowd" and one["topic"] == TOPIC][:2]
    with served_here(tmp_path / "study.db") as server:
        boss = logged_in(desk, server.url)
        body = {"topic": TOPIC, "unit": unit["id"], "label": " The vault was robbed. "}
        assert boss.post("/api/manage/units", json=body).status_code == 200
        labels = {
            one["id"]: one["label"] for one in boss.get("/api/manage/units").json()["units"] if one["topic"] == TOPIC
        }
        assert labels[unit["id"]] == "The vault was robbed."
        assert labels[other["id"]] == other["label"]
        assert boss.post("/api/manage/units", json={**body, "label": " "}).status_code == 422
        assert boss.post("/api/manage/units", json={**body, "unit": "none"}).status_code == 404
        boss.post("/api/manage/plan", json={**wish("d", pyramid="crowd"), "start": True, "draft": True})
        assert boss.post("/api/manage/units", json=body).status_code == 200, "a draft asks nobody"
        boss.post("/api/manage/campaigns/d/state", json={"state": "running"})
        refused = boss.post("/api/manage/units", json=body)
        assert refused.status_code == 409
        assert "campaign d asks about" in refused.json()["error"]
    desk.database.close()
    judged = make_study(tmp_path / "judged.db", example)
    with pytest.raises(pyr.UsageError, match="has been judged"):
        edit_unit(judged, TOPIC, unit["id"], "Other words here.", actor="boss")
    judged.database.close()
