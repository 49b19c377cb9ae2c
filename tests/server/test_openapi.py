"""Whatever fits the OpenAPI schema, and much that does not, is answered without an error of ours."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from tests.databases import Postgres
from tests.server.servers import PASSWORD, ServerThread, answer_to, browser, make_study, served_here, start_campaign

import pyramidion as pyr
from pyramidion.annotation.api import routes as annotate_api
from pyramidion.annotation.desk import AnnotationDesk
from pyramidion.campaigns.api import manager as manager_api
from pyramidion.campaigns.api import preparing as preparing_api
from pyramidion.campaigns.api import worker as worker_api
from pyramidion.campaigns.assignments import Assignments
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.platforms import Arrival
from pyramidion.campaigns.platforms.local import Pass, sign_pass
from pyramidion.campaigns.tasks import check_answer, task_page
from pyramidion.campaigns.workers import Entry
from pyramidion.server.context import SESSION_COOKIE, WORKER_COOKIE
from pyramidion.store.accounts import Accounts
from pyramidion.study.tasks import KINDS, TaskKind

pytestmark = pytest.mark.server


def described() -> Any:
    """The schema itself needs no study."""
    app = FastAPI()
    for module in (worker_api, manager_api, preparing_api, annotate_api):
        app.include_router(module.router)
    return schemathesis.openapi.from_dict(app.openapi())


API = described()
A_FEW = settings(
    max_examples=10, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


class Visit:
    """A server with a campaign and an annotation of every kind under way; its visitor is worker and manager in one."""

    def __init__(self, desk: CampaignDesk, server: ServerThread, study: pyr.Study) -> None:
        self.server = server
        self.passes = {}
        for kind in KINDS:
            start_campaign(desk, study, kind, kind, topics=("museum-theft",), check=kind == "rate")
            entry = desk.workers.enter(kind, Arrival("local", "ann"))
            self.worker = entry.worker
            self.passes[kind] = sign_pass(desk.database.secret, Pass(entry.worker, kind, entry.id), time.time())
            self._submit_one(desk, study, kind, entry)
        annotations = AnnotationDesk(desk.database, lambda: study)
        pyramid = annotations.begin_pyramid("museum-theft", name="boss", owner="boss", start="expert").id
        annotations.begin_peer("museum-theft", "lead", name="boss", owner="boss", pyramid=pyramid)
        accounts = Accounts(desk.database)
        session = accounts.log_in("boss", PASSWORD) or ""
        account = accounts.of_session(session)
        assert account is not None
        self.session = session
        self.headers = {"X-CSRF-Token": account.csrf, "X-Requested-With": "pyramidion"}

    def cookies(self, campaign: Any = "judge") -> dict[str, str]:
        """Those a browser would send: a pass belongs to the addresses of its campaign."""
        return {SESSION_COOKIE: self.session, WORKER_COOKIE: self.passes.get(str(campaign), self.passes["judge"])}

    def _submit_one(self, desk: CampaignDesk, study: pyr.Study, kind: TaskKind, entry: Entry) -> None:
        assignments = Assignments(desk.database)
        if lease := assignments.lease(kind, entry.worker, entry.id):
            page = task_page(study, desk.campaigns.get(kind), lease.task)
            assignments.submit(lease.id, entry.worker, "a key of mine", check_answer(page, answer_to(page)))
            assignments.lease(kind, entry.worker, entry.id)


@pytest.fixture(scope="module")
def visits(
    tmp_path_factory: pytest.TempPathFactory, postgres_server: Postgres, example: pyr.Study
) -> Iterator[dict[str, Visit]]:
    """One of a server over SQLite, and one of a server over PostgreSQL."""
    places = {
        "sqlite": str(tmp_path_factory.mktemp("openapi") / "study.db"),
        "postgresql": postgres_server.new_database(),
    }
    with ExitStack() as around:
        visits = {}
        for name, place in places.items():
            desk = make_study(place, example)
            around.callback(desk.database.close)
            server = around.enter_context(served_here(place, webhook_secret="whsec"))
            visits[name] = Visit(desk, server, example)
        yield visits


@pytest.fixture(params=["sqlite", "postgresql"])
def visit(request: pytest.FixtureRequest, visits: dict[str, Visit]) -> Visit:
    return visits[request.param]


@API.parametrize()
@A_FEW
def test_no_request_breaks_the_server(case: schemathesis.Case, visits: dict[str, Visit]) -> None:
    """Once with made-up names in the path, and once with names of things that are there; on both databases."""
    kind = KINDS[len(str(case.body)) % len(KINDS)]
    there = {"campaign": kind, "name": kind, "assignment": 1 + len(str(case.body)) % 8}
    there["id"] = 1 + len(str(case.body)) % 2
    made_up = dict(case.path_parameters)
    for visit in visits.values():
        for known in ({}, {**there, "worker": visit.worker}):
            case.path_parameters.update({name: known.get(name, value) for name, value in made_up.items()})
            sent = {"cookies": visit.cookies(case.path_parameters.get("campaign")), "headers": visit.headers}
            response = case.call(base_url=visit.server.url, **sent, timeout=120)
            case.validate_response(response, checks=[not_a_server_error])


NUL = "a\0b"
WITH_NUL: list[tuple[str, str, Any]] = [
    ("GET", "/join/a%00b", None),
    ("GET", "/enter/a%00b", None),
    ("GET", "/work/a%00b", None),
    ("GET", "/api/work/a%00b", None),
    ("PUT", "/api/work/judge/2/draft", {"draft": {NUL: NUL}}),
    ("POST", "/api/work/judge/2/submit", {"key": NUL * 4, "answer": {"comment": NUL}}),
    ("POST", "/api/manage/plan", {"kind": "judge", "name": "x", "topics": [NUL], "settings": {"currency": NUL}}),
    ("POST", "/api/manage/workers/a%00b/review", {"action": "block", "reason": NUL}),
    ("POST", "/api/manage/workers/{worker}/review", {"action": "exclude", "reason": NUL}),
    ("POST", "/api/manage/assignments/1/review", {"action": "reject", "reason": NUL}),
    ("GET", "/api/manage/campaigns/a%00b", None),
    ("GET", "/api/manage/campaigns/judge/answers?worker=a%00b", None),
    ("GET", "/api/manage/scores?method=a%00b", None),
    ("POST", "/api/manage/invitations", {"campaign": NUL, "count": 1}),
    ("POST", "/api/annotate", {"kind": "pyramid", "topic": "museum-theft", "name": NUL}),
    ("POST", "/api/annotate", {"kind": "pyramid", "topic": NUL, "name": "x"}),
    ("POST", "/api/annotate", {"kind": "peer", "topic": "museum-theft", "system": NUL, "pyramid": NUL, "name": "x"}),
    ("POST", "/api/annotate/1/commands", {"command": {"type": "add_unit", "label": NUL, "comment": NUL}, "base": 1}),
    ("POST", "/api/annotate/1/commands", {"command": {"type": "add_unit", "unit": NUL}, "base": 1}),
    ("POST", "/api/annotate/2/commands", {"command": {"type": "unmatch", "id": NUL}, "base": 0}),
    (
        "POST",
        "/api/annotate/2/commands",
        {"command": {"type": "match_unit", "unit": "u01", "spans": [[0, 4]], "id": NUL}, "base": 0},
    ),
    ("POST", "/api/annotate/1/import", {"file_name": f"{NUL}.pyr", "text": NUL}),
    ("GET", "/api/annotate/1/suggestions?unit=a%00b", None),
    ("GET", "/api/annotate/1/export?format=a%00b", None),
    ("POST", "/api/annotate/adjudicate", {"start": 1, "name": NUL}),
]


@pytest.mark.parametrize(("method", "path", "body"), WITH_NUL)
def test_the_character_0_is_kept_or_refused(visit: Visit, method: str, path: str, body: Any) -> None:
    """SQLite stores it, PostgreSQL does not; neither is a reason to fail."""
    client = browser(visit.server.url, cookies=visit.cookies(), headers=visit.headers)
    assert client.request(method, path.format(worker=visit.worker), json=body).status_code < 500
    for shown in ("/api/work/judge", "/api/manage/campaigns/judge", "/api/manage/campaigns/judge/answers"):
        assert client.get(shown).status_code == 200
    for annotation in ("/api/annotate/1", "/api/annotate/2", "/api/annotate/1/export?format=pyr"):
        assert client.get(annotation).status_code == 200
