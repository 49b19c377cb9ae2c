"""What people see of the server's work: problems of its database, sessions, blind annotation."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from pyramidion.annotation.blind import neutral_labels
from pyramidion.store.accounts import Accounts
from tests.browser.annotating import account, come_in
from tests.browser.people import Visitors, begin, counter, let_in, says
from tests.browser.site import MANAGER, PASSWORD, TOPIC, serve, small_study

pytestmark = pytest.mark.server
UNAVAILABLE = "503 (Service Unavailable)"


def test_a_lost_database_is_said_as_such_and_loses_nothing(tmp_path: Path, visitors: Visitors) -> None:
    for problem in (UNAVAILABLE, "ERR_CONNECTION_REFUSED"):  # the server ends before the pages do
        visitors.expect_problem(problem)
    with serve(small_study(["lead"], ["A", "B"], units=5), tmp_path) as site:
        site.start("judge", "work", check=False, workers=1)
        worker, manager = visitors.new(), visitors.new()
        begin(worker, site.link("work"))
        expect(counter(worker)).to_have_text("0 of 5 answered")
        worker.keyboard.press("p")
        expect(worker.get_by_text("Saved", exact=True)).to_be_visible()
        away = (tmp_path / "study.db").rename(tmp_path / "away.db")
        for key in ("n", "p", "p", "n"):
            worker.keyboard.press(key)
        kept = "The server has a problem - your answers are kept here"
        expect(worker.get_by_text(kept)).to_be_visible()
        worker.keyboard.press("Control+Enter")
        expect(worker.get_by_role("button", name="The server has a problem - trying again")).to_be_visible()
        expect(says(worker, "kept on this device and will be sent once")).to_be_visible()
        assert site.answers("work") == []
        away.rename(tmp_path / "study.db")
        let_in(manager, site)
        expect(manager.get_by_role("heading", name="Plan a campaign")).to_be_visible()
        worker.get_by_role("button", name="trying again").or_(
            worker.get_by_role("button", name="Sending")
        ).click()  # now, not when it would try by itself
        expect(worker.get_by_role("heading", name="Thank you")).to_be_visible()
        [answer] = site.answers("work")
        assert list(answer["units"].values()) == [1, 0, 1, 1, 0]
        away = (tmp_path / "study.db").rename(tmp_path / "away.db")
        manager.reload()
        banner = manager.get_by_role("alert").filter(has_text="The server has a problem: the database file was moved")
        expect(banner).to_be_visible()
        away.rename(tmp_path / "study.db")


def test_a_manager_ends_a_session(tmp_path: Path, visitors: Visitors) -> None:
    with serve(small_study(["lead"], ["A"]), tmp_path) as site:
        account(site, "erin")
        Accounts(site.desk.database).log_in("erin", PASSWORD, agent="A lost laptop")
        manager = visitors.new()
        let_in(manager, site)
        sessions = manager.get_by_role("table", name="Open sessions")
        row = sessions.get_by_role("row").filter(has_text="A lost laptop")
        expect(sessions.get_by_role("row").filter(has_text=MANAGER)).to_contain_text("this one")
        row.get_by_role("button", name="End the session of erin").click()
        expect(manager.locator("#toast")).to_contain_text("The session of erin has ended.")
        expect(row).to_have_count(0)
        assert Accounts(site.desk.database).sessions("erin") == []


def test_a_blind_expert_annotates_under_neutral_names(tmp_path: Path, visitors: Visitors) -> None:
    with serve(small_study(["lead", "extract"], ["A", "B"], units=5), tmp_path) as site:
        account(site, "erin")
        site.desk.studies.set_blind(True)
        labels = neutral_labels(site.desk.studies.load(), site.desk.database.secret)
        expert, manager = visitors.new(), visitors.new()
        come_in(expert, site, "erin")
        expect(expert.get_by_text("This study is annotated blind")).to_be_visible()
        expert.get_by_role("button", name="Annotate a summary").click()
        dialog = expert.get_by_role("dialog")
        offered = dialog.get_by_label("Summary", exact=True).locator("option").all_text_contents()
        assert sorted(offered) == sorted(labels.values())
        assert not dialog.get_by_text("Shared:").is_visible()
        dialog.get_by_label("Summary", exact=True).select_option(labels[TOPIC, "lead"])
        dialog.get_by_role("button", name="Begin").click()
        expect(expert.locator(".a-title")).to_contain_text(labels[TOPIC, "lead"])
        expect(expert.locator(".a-text")).to_have_count(1)
        assert "extract" not in expert.content()
        expert.get_by_text("File", exact=True).click()
        assert expert.get_by_text("Put into the study").count() == 0
        let_in(manager, site)
        expect(manager.get_by_text("Experts annotate blind")).to_be_visible()
        [stored] = site.desk.database.engine.connect().exec_driver_sql("SELECT system FROM annotations").fetchall()
        assert stored == ("lead",)
