"""What version 0.1 wrote stays readable, and says what it said then: studies, databases, score tables, runs.

The files and `expected.json` were made by 0.1.0 itself; see the README beside them.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.cli.running import run

import pyramidion as pyr

FILES = Path(__file__).parents[1] / "data" / "written-by-0.1"
EXPECTED = json.loads((FILES / "expected.json").read_text("utf-8"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy, since opening a database brings it up to date."""
    shutil.copytree(FILES, tmp_path / "files")
    return tmp_path / "files"


def said(table: pyr.ScoreTable) -> dict[str, Any]:
    """Without a measure that 0.1 did not have."""
    scores = [list(score) for score in table if score.measure != "extent"]
    signature = str(table.signature).rsplit("|v:", 1)[0].removesuffix("|simulated:yes")  # 0.1 did not say so
    return {"signature": signature, "scores": scores}


@pytest.mark.parametrize("name", EXPECTED["files"])
def test_a_study_is_read_and_scored_as_before(name: str, folder: Path) -> None:
    expected = EXPECTED["files"][name]
    study = pyr.load(folder / name)
    assert {part: len(getattr(study, part)) for part in expected["counts"]} == expected["counts"]
    told = [problem for problem in study.problems() if problem.where != "SIMULATED"]
    assert len(told) == expected["problems"]
    assert (len(told) < len(study.problems())) == (name == "study.db"), "its campaigns were rehearsed"
    assert {
        f"{p.topic}/{p.name}": {"units": len(p.units), "weight": sum(unit.weight for unit in p.units)}
        for p in study.pyramids
    } == expected["pyramids"]
    assert pyr.score(study).signature.method == expected["fitting"]
    for method, table in expected["scores"].items():
        choices = {"method": "pyramid", "pyramid": "expert"} if method == "pyramid-expert" else {"method": method}
        assert said(pyr.score(study, **choices)) == table


@pytest.mark.parametrize("name", EXPECTED["tables"])
def test_a_score_table_is_read_as_before(name: str, folder: Path) -> None:
    assert said(pyr.read_scores(folder / name)) == EXPECTED["tables"][name]


def test_campaigns_and_annotations_are_where_they_were(folder: Path) -> None:
    status = json.loads(run("campaign", "status", folder / "study.db", "--json").stdout)
    assert all(campaign.pop("rounds") is None for campaign in status)  # there were none yet
    for campaign in status:  # all of it was a rehearsal, which 0.1 did not say
        assert campaign.pop("simulated") == len(campaign["workers"])
        assert all(worker.pop("simulated") for worker in campaign["workers"])
        for worker in campaign["workers"]:  # nor what was decided, nor how known answers were given
            assert worker.pop("agreed") is None
            assert worker.pop("known_right") <= worker.pop("known_asked")
            assert sum(worker.pop(state) for state in ("approved", "rejected", "undecided")) == worker["submitted"]
    expected = json.loads(json.dumps(EXPECTED["campaigns"]))
    for now, then in zip(status, expected, strict=True):
        if any(
            worker["excluded"] for worker in now["workers"]
        ):  # 0.1 counted them in agreement, which follows them now
            assert now["alpha"] is None or now["alpha"] != then["alpha"]
            for said_so in (now, then):
                del said_so["alpha"], said_so["alpha_shown"]
                for worker in said_so["workers"]:
                    del worker["agreement"], worker["agreement_shown"]
    assert status == expected
    listed = json.loads(run("annotate", "list", folder / "study.db", "--json").stdout)
    assert all(row.pop("adjudicates") == [] and row.pop("seconds") == 0 for row in listed)  # new since
    assert listed == EXPECTED["annotations"]
    for row in listed:
        target = folder / f"exported-{row['id']}.jsonl"
        run("annotate", "export", folder / "study.db", target, "--id", str(row["id"]), "-q")
        wanted = "pyramid" if row["kind"] == "pyramid" else "judgment"
        records = [json.loads(line) for line in target.read_text("utf-8").splitlines()]
        exported = [record for record in records if record["type"] == wanted and record.get("value", 1)]
        assert exported == EXPECTED["exported"][str(row["id"])]


def test_people_still_log_in(folder: Path) -> None:
    from pyramidion.store.accounts import Accounts
    from pyramidion.store.database import Database

    database = Database.open(folder / "study.db")
    try:
        accounts = Accounts(database)
        for name, password in EXPECTED["passwords"].items():
            session = accounts.log_in(name, password)
            assert session is not None
            account = accounts.of_session(session)
            assert account is not None
            assert account.role == EXPECTED["roles"][name]
    finally:
        database.close()


def test_a_run_that_was_made_before_is_made_again_by_the_new_models(folder: Path) -> None:
    """In the same folder, and never half by one model and half by another."""
    done = json.loads(run("auto", "run", folder / "study.jsonl", "-o", folder / "auto", "--json").stdout)
    assert (done["topics"], done["known"]) == (1, 0)
    table = pyr.read_scores(folder / "auto" / "scores.csv")
    before = EXPECTED["tables"]["auto/scores.csv"]["scores"]
    assert {score[:3] for score in table if score.measure != "extent"} == {tuple(score[:3]) for score in before}
    again = json.loads(run("auto", "run", folder / "study.jsonl", "-o", folder / "auto", "--json").stdout)
    assert again["known"] == 1
