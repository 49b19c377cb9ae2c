"""Chat models as a user meets them: judging with refusals and costs, writing units, and both compared with people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.running import Done, run
from tests.judges.chat_server import Answer, ChatServer, chat, honest, question

import pyramidion as pyr


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("chat") / "study.jsonl"
    pyr.save(pyr.example(), path)
    return path


@pytest.fixture
def asked(tmp_path: Path) -> Any:
    def call(server: ChatServer, *words: object) -> Done:
        return run(*words, "--base-url", server.url, "--cache", tmp_path / "c.sqlite", "--yes")

    return call


def shy(body: dict[str, Any]) -> Answer:
    """Will not judge what is vague."""
    asked = question(body)
    return chat("I'd rather not.") if asked["summary"] == VAGUE else honest(body)


VAGUE = next(peer.text for peer in pyr.example().peers if peer.system == "vague")


def test_a_refusal_is_told_and_the_exit_status_is_0(study: Path, asked: Any, tmp_path: Path) -> None:
    kept = tmp_path / "judged.jsonl"
    with ChatServer(otherwise=shy) as server:
        done = asked(server, "judge", study, "--judge", "llm:m", "--price", "1/10", "--save", kept)
        assert done.returncode == 0, done.stderr
        assert "32 answers missing; run again to ask for them." in done.stderr
        assert "system vague: llm:m gave no usable answer to units s01, s02" in done.stderr
        # 46 good requests, and 2 x 5 tries of which nothing is known
        assert "llm:m: sent 56 requests, 4,600 tokens in and 460 out, $0.0092 (tokens of 10 were" in done.stderr
        again = asked(server, "judge", study, "--judge", "llm:m", "--json", "--price", "1/10")
    held = json.loads(again.stdout)
    assert held["missing"] == 32
    assert held["usage"]["cached"] == {
        "requests": 46,
        "tokens_in": 4600,
        "tokens_out": 460,
        "unreported": 0,
        "cost": pytest.approx(0.0092),
    }
    assert held["usage"]["sent"]["requests"] == 10
    saved = pyr.load(kept)
    assert sum(j.value is None for j in saved.judgments if j.judge == "llm:m") == 32
    (judge,) = [judge for judge in saved.judges if judge.id == "llm:m"]
    assert judge.note.endswith("; 56 requests, 4,600 tokens in and 460 out, $0.0092 (tokens of 10 were not reported)")


def test_nothing_answered_is_an_error(study: Path, asked: Any) -> None:
    with ChatServer(otherwise=lambda _: chat("No.")) as server:
        done = asked(server, "judge", study, "--judge", "llm:m")
    assert done.returncode == 2
    assert "none of the first 10 requests got a usable answer" in done.stderr


def test_choices_are_named_in_the_signature(study: Path, asked: Any, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("As I say.")
    options = ["--temperature", "0.5", "--seed", "7", "--batch", "40", "--concurrency", "2", "--no-schema"]
    with ChatServer() as server:
        done = asked(server, "judge", study, "--judge", "llm:m", *options, "--prompt", tmp_path / "mine.txt")
        assert done.returncode == 0, done.stderr
        assert len(server.asked) == 24
        assert {"temperature": 0.5, "seed": 7}.items() <= server.asked[0].items()
    assert "values:soft|temperature:0.5|seed:7|prompt:" in done.stdout
    assert "|schema:no|batch:40|" in done.stdout


def test_lines_are_estimated_first_and_missing_values_are_null(asked: Any, tmp_path: Path) -> None:
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    lines = [{"units": ["One.", "Two."], "summary": text} for text in ("One. Three.", VAGUE)]
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with ChatServer(otherwise=shy) as server:
        options = ["--judge", "llm:m", "--lines", "-o", target, "--base-url", server.url, "--cache", tmp_path / "c"]
        refused = run("judge", source, *options, "--price", "1/1", typed="n\n")
        assert refused.returncode == 1
        assert "2 requests, roughly" in refused.stderr
        assert server.asked == []
        done = run("judge", source, *options, "--yes")
    assert done.returncode == 0, done.stderr
    assert "2 answers missing" in done.stderr
    answers = [json.loads(line) for line in target.read_text().splitlines()]
    assert [answer["presence"] for answer in answers] == [[0.9, 0.1], [None, None]]
    assert [answer["score"] for answer in answers] == [0.5, None]


# -- the recipe of docs/howto/judge.md -------------------------------------------------------------------------------


def test_a_model_stands_in_for_judges_for_writers_and_for_both(study: Path, asked: Any, tmp_path: Path) -> None:
    written, judged = tmp_path / "written.jsonl", tmp_path / "judged.jsonl"
    both = tmp_path / "both.jsonl"
    with ChatServer() as server:
        refused = run(
            "auto", "build", study, "-o", written, "--builder", "llm:m", "--base-url", server.url, typed="n\n"
        )
        assert refused.returncode == 1
        assert "llm:m: 16 requests, roughly" in refused.stderr
        assert server.asked == []
        done = asked(server, "auto", "build", study, "-o", written, "--builder", "llm:m", "--price", "1/10", "--json")
        assert done.returncode == 0, done.stderr
        held = json.loads(done.stdout)
        assert held["usage"]["sent"] | {"cost": 0} == {
            "requests": 16,
            "tokens_in": 1600,
            "tokens_out": 160,
            "unreported": 0,
            "cost": 0,
        }
        assert "author:llm:m|statements:8|units-per-topic:32|units-per-task:16" in held["signature"]
        assert asked(server, "judge", written, "--judge", "llm:m", "--save", judged).returncode == 0
        last = asked(server, "judge", judged, "--judge", "llm:m", "--pyramid", "llm", "--save", both)
        assert last.returncode == 0, last.stderr
        sent = len(server.asked)
        assert (
            asked(server, "auto", "build", study, "-o", tmp_path / "again.jsonl", "--builder", "llm:m").returncode == 0
        )
        assert len(server.asked) == sent  # all of it is cached
    made = pyr.load(both)
    assert made.problems() == []
    for pyramid in (pyramid for pyramid in made.pyramids if pyramid.name == "llm"):
        assert pyramid.units
        for unit in pyramid.units:
            (contributor,) = unit.contributors
            reference = made.summary(pyramid.topic, contributor.reference, "reference")
            assert reference is not None
            assert contributor.spans[0].of(reference.text).lower() in unit.label.lower()
    (model,) = [judge for judge in made.judges if judge.kind == "model"]
    assert [line.partition(":")[0] for line in model.note.splitlines()] == [
        "wrote pyramid llm",
        "judged pyramid crowd",
        "judged pyramid llm",
    ]
    found = json.loads(run("analyze", "stand-in", both, "--json", "--resamples", "20").stdout)
    units, scores = found["tables"]
    assert [(row["units by"], row["judge"], row["units"]) for row in units["rows"]] == [
        ("crowd", "llm:m", 768),
        ("crowd", "one person", units["rows"][1]["units"]),
    ]
    assert [(row["units by"], row["judged by"], row["level"], row["n"]) for row in scores["rows"]] == [
        ("crowd", "llm:m", "summary", 24),
        ("crowd", "llm:m", "system", 6),
        ("llm", "llm:m", "summary", 24),
        ("llm", "llm:m", "system", 6),
    ]
    paired = run("analyze", "pyramids", both, "--pyramid", "llm", "--against", "expert")
    assert paired.returncode == 0, paired.stderr


def test_units_by_a_model_are_kept_in_a_database_and_judged_by_people(asked: Any, study: Path, tmp_path: Path) -> None:
    place = tmp_path / "study.db"
    assert run("init", place, "--password", "long-password").returncode == 0
    assert run("import", place, study).returncode == 0
    with ChatServer() as server:
        done = asked(server, "auto", "build", place, "-o", place, "--builder", "llm:m")
        assert done.returncode == 0, done.stderr
    planned = run("campaign", "plan", place, "judge", "--yes", "--pyramid", "llm")
    assert planned.returncode == 0, planned.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--builder", "nobody"], "--builder must be auto or llm:MODEL, not 'nobody'"),
        (["--builder", "llm"], "--builder must be auto or llm:MODEL, not 'llm'"),
        (["--builder", "llm:m", "--partitioner", "edua-g"], "--partitioner has no effect with llm:m"),
        (["--builder", "llm:m", "--jobs", "2"], "--jobs has no effect with llm:m"),
        (["--temperature", "1"], "--temperature has no effect without --builder llm:MODEL"),
        (["--statements", "3"], "--statements has no effect without --builder llm:MODEL"),
        (["--builder", "llm:m", "--statements", "0"], "between 1 and 100 statements"),
    ],
)
def test_mistakes_become_messages(words: list[str], message: str, study: Path, tmp_path: Path) -> None:
    done = run("auto", "build", study, "-o", tmp_path / "out.jsonl", *words)
    assert done.returncode == 2
    assert message in done.stderr
