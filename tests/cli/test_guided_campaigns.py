"""`campaign plan --with-model` as an organiser types it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

from tests.cli.running import run
from tests.cli.test_campaigns import made
from tests.cli.test_commands import refused

import pyramidion as pyr
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.judging import judge_study

PLAN = ("judge", "--with-model", "lexical", "--set", "question=these")


def test_a_model_judges_what_is_missing_and_the_study_keeps_it(tmp_path: Path) -> None:
    place = made(tmp_path)
    asked = run("campaign", "plan", place, *PLAN)
    assert asked.returncode == 2  # nobody said yes
    assert "lexical has judged 768 units of summaries; the study keeps that." in asked.stderr
    assert "of 128 units, each for all 6 systems" in asked.stdout
    assert "Asking about everything, in tasks of up to 16 units at $0.45, would cost $129.60." in asked.stdout
    again = run("campaign", "plan", place, *PLAN, "--until", "top", "--yes", "--json")
    assert "has judged" not in again.stderr
    planned = json.loads(again.stdout)
    assert planned["design"][0].startswith("People are asked about ")
    assert planned["round_1"].startswith("$")
    desk = CampaignDesk.open(place)
    study = desk.studies.load()
    assert study.problems() == pyr.load(place).problems()
    by_model = study.judgments.take(study.judgments.judge.is_in({"lexical"}))
    expected = judge_study(pyr.example(), "lexical", pyramid="crowd", evidence=False).study.judgments
    said = {(j.topic, j.system, j.unit): j.value for j in expected if j.judge == "lexical"}
    assert {(j.topic, j.system, j.unit): j.value for j in by_model} == said
    settings = desk.campaigns.get("judge").settings
    assert (settings.model, settings.until, settings.question) == ("lexical", "top", "these")
    tasks = [stored.task for stored in desk.campaigns.tasks("judge")]
    desk.database.close()
    assert len(tasks) == planned["tasks"]
    assert set(Counter((task.topic, task.units) for task in tasks).values()) == {6}
    assert all(task.stratum and 1 <= task.place <= task.places for task in tasks)


def test_only_what_is_missing_is_judged(tmp_path: Path) -> None:
    place = made(tmp_path)
    first = run("campaign", "plan", place, *PLAN, "--topic", "reef-nursery", "--share", 0.8, "-y")
    assert "lexical has judged 192 units" in first.stderr
    rest = run("campaign", "plan", place, *PLAN, "--name", "all", "-y")
    assert "lexical has judged 576 units" in rest.stderr
    assert run("validate", place).returncode == 0


def test_a_model_that_was_imported_guides_too(tmp_path: Path) -> None:
    place = made(tmp_path)
    example = judge_study(pyr.example(), "lexical", pyramid="crowd", evidence=False).study
    rows = example.judgments
    named = rows.judge.rename(lambda name: "llm:mine" if name == "lexical" else name)
    judged = rows.with_columns(judge=named).take(rows.judge.is_in({"lexical"}))
    pyr.save(
        pyr.Study(
            topics=example.topics,
            summaries=example.summaries,
            pyramids=example.pyramids,
            judges=(pyr.Judge("llm:mine", "model"),),
            judgments=judged,
        ),
        tmp_path / "judged.jsonl",
    )
    ask = ("campaign", "plan", place, "judge", "--with-model", "llm:mine", "--set", "question=these", "-y")
    refused(run(*ask), 2, "llm:mine has not judged all units of all summaries, and a chat model costs money")
    assert run("import", place, tmp_path / "judged.jsonl").returncode == 0
    assert "by how unsure llm:mine is" in run(*ask).stdout


def test_what_is_wrong_is_said_before_anything_is_judged(tmp_path: Path) -> None:
    place = made(tmp_path)
    plan = ("campaign", "plan", place, "judge", "-y")
    model = (*plan, "--with-model", "lexical", "--set", "question=these")
    for words, message in (
        (("--with-model", "aling", "--set", "question=these"), "align"),  # the names of judges
        (("--with-model", "annotator"), "judge 'annotator' is of kind expert"),
        (("--share", "0.3"), "--share has no effect without --with-model"),
        (("--until", "top"), "--until has no effect without --with-model"),
        (("--budget", "30"), "--budget has no effect without --with-model"),
        (("--set", "budget=30"), "the setting budget has no effect without a model"),
        (("--with-model", "lexical", "--set", "model=align"), "--with-model and --set model=... say the same"),
    ):
        refused(run(*plan, *words), 2, message)
    for words, message in (
        (("--share", "0.3", "--set", "share=0.2"), "--share and --set share=... say the same"),
        (("--until", "bottom"), "the goal 'bottom' is not known"),
        (("--set", "looks=3"), "looks has no effect without a goal"),
        (("--set", "units_per_topic=3"), "units_per_topic has no effect with a model"),
        (("--pyramid", "other"), "no pyramid called 'other'"),
        (("--topic", "other"), "unknown topic 'other'"),
    ):
        refused(run(*model, *words), 2, message)
    refused(run(*model, "--share", "1.5"), 1, "share: must be a number from 0 to 1")
    refused(run(*plan[:3], "rate", "-y", "--with-model", "lexical"), 2, "judging only")
    refused(run(*model, "--share", "0.1"), 2, "the smallest share that works is 0.157")
    refused(run(*plan, "--with-model", "lexical"), 2, "at least 5 topics, not 4; ask about these topics alone")
    assert "lexical" not in {judge.id for judge in pyr.load(place).judges}
    refused(run(*model, "--budget", "5"), 2, "the smallest that works is ")


def test_twenty_five_systems_on_fifty_documents(tmp_path: Path, real_data: Path) -> None:
    place = tmp_path / "study.db"
    assert run("init", place).returncode == 0
    assert run("import", place, real_data / "realsumm-half", "-q").returncode == 0
    options = ("--pyramid", "expert", "--until", "ranking", "--set", "gold_rate=0.1", "--yes", "--json")
    planned = json.loads(run("campaign", "plan", place, "judge", "--with-model", "lexical", *options).stdout)
    assert "of 530 units, each for all 25 systems" in planned["design"][0]
    assert planned["tasks"] % 25 == 0
    assert planned["tasks"] >= 20 * 25
    status = json.loads(run("campaign", "status", place, "--json").stdout)[0]
    assert status["progress"]["tasks"] == planned["tasks"]


def test_help_and_plain_plans_load_no_models(tmp_path: Path) -> None:
    place = made(tmp_path)
    code = (
        "import sys; from pyramidion.cli.main import main; sys.argv[0] = 'pyramidion'\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'onnxruntime', 'pyramidion.judges.align', 'pyramidion.evaluation'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    for words in (("judge", "--help"), ("judge", "-y")):
        called = [sys.executable, "-c", code, "campaign", "plan", str(place), *words]
        done = subprocess.run(called, capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == "[]"
