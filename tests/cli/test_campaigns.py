"""A campaign from the command line: every command as a user types it."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.cli.test_commands import refused, run

import pyramidion as pyr


@cache
def made_once() -> TemporaryDirectory[str]:
    kept = TemporaryDirectory()
    place = Path(kept.name) / "study.db"
    pyr.save(pyr.example(), place.with_name("example.jsonl"))
    done = run("init", place, "--title", "Example")
    assert done.returncode == 0
    assert "shown only once" in done.stdout
    assert run("import", place, place.with_name("example.jsonl"), "-q").returncode == 0
    return kept


def made(folder: Path) -> Path:
    """A new study database with the bundled example, and the file that it was imported from."""
    shutil.copytree(made_once().name, folder, dirs_exist_ok=True)
    return folder / "study.db"


def test_a_campaign_from_plan_to_scores(tmp_path: Path) -> None:
    place = made(tmp_path)
    refused(run("init", place), 2, "already exists")
    asked = run("campaign", "plan", place, "judge", "--name", "j")
    assert asked.returncode == 2  # nobody said yes
    assert "48 tasks for 5 workers each, 240 assignments" in asked.stdout
    assert "$129.60" in asked.stdout
    assert run("campaign", "status", place).stdout.startswith("No campaigns yet")

    options = "--name j --yes --set workers=2 --set units_per_task=16 --topic reef-nursery --system lead --json"
    planned = json.loads(run("campaign", "plan", place, "judge", *options.split()).stdout)
    assert planned["tasks"] == 2
    refused(run("campaign", "plan", place, "judge", "--name", "j", "--yes"), 2, "already exists")
    links = json.loads(run("campaign", "invite", place, "j", "--count", 3, "--json").stdout)["links"]
    assert len(set(links)) == 3
    rehearsed = json.loads(
        run("campaign", "rehearse", place, "j", "--in-place", "-y", "--workers", 4, "--abandon", 0, "--json").stdout
    )
    assert rehearsed["submitted"] == 4

    status = json.loads(run("campaign", "status", place, "j", "--json").stdout)[0]
    assert status["progress"]["submitted"] == 4
    assert run("report", place, "-o", tmp_path / "report.html").returncode == 0
    assert f"j: {status['cost']}" in (tmp_path / "report.html").read_text("utf-8")
    worker = status["workers"][0]["worker"]
    assert run("campaign", "exclude", place, worker, "--reason", "careless").returncode == 0
    assert f"worker {worker}: left out: careless" in run("validate", place).stderr
    assert run("campaign", "block", place, worker, "--reason", "too fast").returncode == 0
    status = json.loads(run("campaign", "status", place, "j", "--json").stdout)[0]
    assert {one["worker"]: one["blocked"] for one in status["workers"] if one["blocked"]} == {worker: "too fast"}
    assert "too fast" in run("campaign", "status", place).stdout
    for action in ("include", "unblock"):
        assert run("campaign", action, place, worker, "--reason", "a reason").returncode == 0
    assert run("campaign", "bonus", place, "j", worker, 0.5).returncode == 0
    refused(run("campaign", "exclude", place, "w0", "--reason", "x"), 2, "unknown worker 'w0'")

    assert "paused" in run("campaign", "pause", place, "j").stdout
    assert "running" in run("campaign", "resume", place, "j").stdout
    assert "closed" in run("campaign", "close", place, "j", "--yes").stdout
    refused(run("campaign", "resume", place, "j"), 2, "closed permanently")
    refused(run("campaign", "status", place, "k"), 2, "unknown campaign 'k'; known campaigns are: j")

    assert run("campaign", "export", place, tmp_path / "out.jsonl", "-q").returncode == 0
    exported = pyr.load(tmp_path / "out.jsonl")
    assert worker in {judge.id for judge in exported.judges}
    assert run("campaign", "forget-worker", place, worker, "--yes").returncode == 0
    assert worker not in {judge.id for judge in pyr.load(place).judges}


def test_accounts(tmp_path: Path) -> None:
    place = made(tmp_path)
    assert "zoe may log in as viewer with the password" in run("account", place, "zoe").stdout
    refused(run("account", place, "zoe", "--role", "boss"), 2, "unknown role 'boss'; known values are: manager, expert")


def test_wrong_settings_are_explained(tmp_path: Path) -> None:
    place = made(tmp_path)
    plan = ("campaign", "plan", place, "judge", "--yes", "--set")
    refused(run(*plan, "wokers=3"), 2, "unknown setting; known settings are: workers, statements")
    refused(run(*plan, "workers=many"), 2, "'many' is not a number")
    refused(run(*plan, "check=perhaps"), 2, "the value must be yes or no")
    refused(run(*plan, "completion_url=javascript:alert(1)"), 2, "completion URL must be a full web address")
    refused(run("campaign", "plan", place, "guess", "--yes"), 2, "write, judge, rate, compare")
    refused(run("campaign", "plan", tmp_path / "example.jsonl", "judge"), 2, "file is not a database")
    refused(run("serve", tmp_path / "nothing.db"), 2, "pyramidion init")


def test_writing_becomes_units(tmp_path: Path) -> None:
    place = tmp_path / "texts.db"
    example = pyr.example()
    pyr.save(pyr.Study(topics=example.topics, summaries=example.summaries), tmp_path / "texts.jsonl")
    run("init", place, "-q")
    run("import", place, tmp_path / "texts.jsonl", "-q")
    assert run("campaign", "plan", place, "write", "--yes").returncode == 0
    assert run("campaign", "rehearse", place, "write", "--in-place", "-y", "--workers", 10).returncode == 0
    looked = run("campaign", "units", place, "write")
    assert looked.returncode == 2
    assert "sampled for judging" in looked.stdout
    held = json.loads(run("campaign", "units", place, "write", "--yes", "--json").stdout)
    assert set(held["topics"]) == {topic.id for topic in example.topics}
    assert run("campaign", "plan", place, "judge", "--yes").returncode == 0


def test_importing_the_same_twice_and_different_things(tmp_path: Path) -> None:
    place = made(tmp_path)
    assert "Added 0 records" in run("import", place, tmp_path / "example.jsonl").stdout
    (tmp_path / "other.jsonl").write_text('{"type": "topic", "id": "reef-nursery", "title": "Another"}\n')
    refused(run("import", place, tmp_path / "other.jsonl"), 1, "topic reef-nursery: appears 2 times")


def test_a_password_that_is_too_short_leaves_nothing_behind(tmp_path: Path) -> None:
    refused(run("init", tmp_path / "study.db", "--password", "short"), 2, "at least 10 characters")
    assert not (tmp_path / "study.db").exists()


def test_a_second_campaign_of_the_same_name_is_refused_before_anything_is_planned(tmp_path: Path) -> None:
    place = made(tmp_path)
    run("campaign", "plan", place, "write", "-y")
    again = run("campaign", "plan", place, "write", "-y")
    refused(again, 2, "choose another name with --name")
    assert not again.stdout


def test_units_need_writing_and_a_closed_campaign_gives_out_nothing(tmp_path: Path) -> None:
    place = made(tmp_path)
    run("campaign", "plan", place, "write", "-y")
    refused(run("campaign", "units", place, "write", "-y"), 2, "nobody has written anything for campaign write")
    run("campaign", "pause", place, "write")
    refused(run("campaign", "rehearse", place, "write"), 2, "is paused")
    run("campaign", "close", place, "write", "-y")
    refused(run("campaign", "invite", place, "write"), 2, "is closed")


def test_people_by_name_are_the_same_workers_in_every_campaign(tmp_path: Path) -> None:
    place = made(tmp_path)
    for kind in ("write", "judge"):
        run("campaign", "plan", place, kind, "-y")
    people = tmp_path / "people.txt"
    people.write_text("Anna Weber\n\nben@example.org \nAnna Weber\n", "utf-8")

    def invited(campaign: str) -> list[dict[str, str]]:
        found = run("campaign", "invite", place, campaign, "--people", people, "--json")
        return list(json.loads(found.stdout)["people"])

    first, again, other = invited("write"), invited("write"), invited("judge")
    assert [one["name"] for one in first] == ["Anna Weber", "ben@example.org"]
    assert first == again
    assert [one["worker"] for one in first] == [one["worker"] for one in other]
    assert not {one["link"] for one in first} & {one["link"] for one in other}
    shown = run("campaign", "invite", place, "write", "--people", people)
    assert shown.stdout.splitlines()[0] == f"{first[0]['worker']} {first[0]['link']} Anna Weber"
    assert "this machine only" in shown.stderr
    assert not run("campaign", "invite", place, "write", "--base-url", "https://x.org").stderr
    refused(run("campaign", "invite", place, "write", "--people", tmp_path / "none"), 2, "cannot be read")


def test_all_workers_without_a_flag_are_approved_at_once(tmp_path: Path) -> None:
    place = made(tmp_path)
    run("campaign", "plan", place, "judge", "-y", "--topic", "reef-nursery")
    run(
        "campaign",
        "rehearse",
        place,
        "judge",
        "--in-place",
        "-y",
        "--workers",
        12,
        "--careless",
        0.5,
        "--adversarial",
        0,
    )
    workers = json.loads(run("campaign", "status", place, "judge", "--json").stdout)[0]["workers"]
    good = [worker for worker in workers if not worker["flags"]]
    assert 0 < len(good) < len(workers)
    done = sum(worker["submitted"] for worker in good)
    expected = f"approve: {len(good)} workers, {done} submissions (good work); {len(workers) - len(good)} flagged"
    assert expected in run("campaign", "approve", place, "--unflagged", "judge").stdout
    assert f"{len(good)} workers, 0 submissions" in run("campaign", "approve", place, "--unflagged", "judge").stdout
    refused(run("campaign", "approve", place, "judge"), 2, "say which answers: give their ids, or a worker")
    refused(run("campaign", "approve", place, "judge", 1, "--unflagged"), 2, "remove the ids and --worker")


def test_annotations_of_two_people_in_files_go_into_one_database(tmp_path: Path) -> None:
    example = pyr.example()
    kept = tuple(judge for judge in example.judges if judge.kind == "expert")
    judgments = [j for j in example.judgments if j.judge in {judge.id for judge in kept} and j.unit]
    pyramids = tuple(p for p in example.pyramids if p.name == "expert")
    study = replace(example, judges=kept, judgments=pyr.Judgments(judgments), pyramids=pyramids)
    for name in ("one", "two"):
        pyr.save(study, tmp_path / name, format="ducview")
    place = tmp_path / "study.db"
    run("init", place, "--password", "a long password")
    assert run("import", place, tmp_path / "one", "--judge", "anna").returncode == 0
    assert run("import", place, tmp_path / "two", "--judge", "ben").returncode == 0
    done = run("analyze", "reliability", place, "--json")
    assert done.returncode == 0, done.stderr
    assert "anna" in done.stdout
    assert "ben" in done.stdout
    pyr.save(example, tmp_path / "example.jsonl")
    refused(
        run("import", place, tmp_path / "example.jsonl", "--judge", "cleo"),
        2,
        "only if there is exactly one",
    )


def test_answers_are_rejected_one_by_one_in_one_campaign(tmp_path: Path) -> None:
    place = made(tmp_path)
    for name, topic in (("one", "reef-nursery"), ("two", "museum-theft")):
        run("campaign", "plan", place, "judge", "--name", name, "-y", "--topic", topic, "--set", "workers=3")
        run("campaign", "rehearse", place, name, "--in-place", "-y", "--workers", 8)

    def scores() -> object:
        done = run("score", place, "--method", "lite", "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["scores"]

    def judgments() -> int:
        return int(json.loads(run("validate", place, "--json").stdout)["counts"]["judgments"])

    def status(name: str) -> dict[str, int]:
        return dict(json.loads(run("campaign", "status", place, name, "--json").stdout)[0]["progress"])

    people = json.loads(run("campaign", "status", place, "one", "--json").stdout)[0]["workers"]
    worker = max(people, key=lambda one: one["agreement"])["worker"]  # of careless ones no answer decides anything
    before, judged, other = scores(), judgments(), status("two")
    why = ("--reason", "agrees with nobody")
    tried = run("campaign", "reject", place, "one", "--worker", worker, *why, "--dry-run", "--json")
    found = json.loads(tried.stdout)
    ids = [one["answer"] for one in found["answers"]]
    assert (found["dry_run"], found["removed"]) == (True, len(ids))
    assert {one["worker"] for one in found["answers"]} == {worker}
    assert scores() == before
    listed = run("campaign", "reject", place, "one", ids[0], *why, "--dry-run").stdout.splitlines()
    assert listed[0].startswith(f"  answer {ids[0]}: task one-")
    assert listed[0].endswith(f"worker {worker}; removed from scores, its place is open")
    assert listed[1] == "would reject: 1 answer to one, 1 removed from scores (agrees with nobody)"

    done = run("campaign", "reject", place, "one", *ids, *why)
    assert f"reject: {len(ids)} answers to one, {len(ids)} removed from scores" in done.stdout
    assert judgments() < judged  # whether scores change depends on who it was: pseudonyms are drawn at random
    assert (status("one")["rejected"], status("one")["open"]) == (len(ids), len(ids))
    assert status("two") == other
    assert f"campaign one: answers left out: {len(ids)} rejected" in run("score", place, "--method", "lite").stderr
    assert (
        f"{len(ids)} rejected, 0 withdrawn, 0 re-opened; {len(ids)} places open"
        in run("campaign", "status", place, "one").stdout
    )
    back = run("campaign", "approve", place, "one", ids[0], "--reason", "was right")
    assert "approve: 1 answer to one, 1 counted again (was right)" in back.stdout
    assert "restore" in run("campaign", "restore", place, "one", *ids[1:], "--reason", "looked again").stdout
    assert scores() == before
    assert "1 removed from scores" in run("campaign", "reopen", place, "one", ids[0], "--reason", "doubtful").stdout
    refused(run("campaign", "reject", place, "two", ids[0], *why), 2, f"answer {ids[0]} belongs to campaign one")
    refused(run("campaign", "reject", place, "three", ids[0], *why), 2, "unknown campaign 'three'")
    refused(run("campaign", "reject", place, "one", *why), 2, "say which answers")


def test_a_block_removes_answers_where_it_is_told_to(tmp_path: Path) -> None:
    place = made(tmp_path)
    for name in ("one", "two"):
        run("campaign", "plan", place, "rate", "--name", name, "-y", "--topic", "reef-nursery")
        run("campaign", "rehearse", place, name, "--in-place", "-y", "--workers", 3)
    worker = json.loads(run("campaign", "status", place, "one", "--json").stdout)[0]["workers"][0]["worker"]
    block = ("campaign", "block", place, worker, "--reason", "too fast")
    refused(run(*block, "--remove-answers"), 2, "--remove-answers and --campaign must be used together")
    refused(run(*block, "--campaign", "one"), 2, "--remove-answers and --campaign must be used together")
    refused(run(*block, "--dry-run"), 2, "--dry-run lists answers")
    seen = json.loads(run(*block, "--remove-answers", "--campaign", "one", "--dry-run", "--json").stdout)
    count = len(seen["rejected"]["answers"])
    assert count > 0

    def rejected(name: str) -> list[object]:
        found = json.loads(run("campaign", "status", place, name, "--json").stdout)[0]
        mine = [one for one in found["workers"] if one["worker"] == worker]
        return [found["progress"]["rejected"], *(one["blocked"] for one in mine)]

    assert rejected("one") == [0, None]
    done = run(*block, "--remove-answers", "--campaign", "one")
    assert f"reject: {count} answers to one, {count} removed from scores (too fast)" in done.stdout
    assert f"block: {worker} (too fast)" in done.stdout
    assert rejected("one") == [count, "too fast"]
    assert rejected("two")[0] == 0
    assert json.loads(run(*block, "--json").stdout) == {"worker": worker}


def test_pay_and_follow_need_a_platform_that_pays(tmp_path: Path) -> None:
    place = made(tmp_path)
    run("campaign", "plan", place, "rate", "-y")
    for command in ("pay", "follow"):
        refused(run("campaign", command, place, "rate", "--token", "t"), 2, "the platform local cannot")


def test_automatic_pyramids_go_into_the_database_of_a_campaign_once(tmp_path: Path) -> None:
    """The tasks and answers of its campaigns are in it already, and are not stored again."""
    place = made(tmp_path)
    options = "--name j --yes --set workers=2 --topic reef-nursery --system lead"
    assert run("campaign", "plan", place, "judge", *options.split()).returncode == 0
    assert run("campaign", "rehearse", place, "j", "--in-place", "-y", "--workers", 4, "--abandon", 0).returncode == 0
    assert run("auto", "build", place, "-o", place).returncode == 0
    done = run("validate", place)
    assert done.returncode == 0, done.stderr
    assert {pyramid.name for pyramid in pyr.load(place).pyramids} == {"auto", "crowd", "expert"}
