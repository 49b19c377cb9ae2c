"""`pyramidion judge` as a user meets it."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli import running
from tests.cli.running import Done
from tests.judges.chat_server import ChatServer

import pyramidion as pyr


def run(*arguments: object, typed: str = "", **environment: str) -> Done:
    return running.run("judge", *arguments, typed=typed, **environment)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cli") / "study.jsonl"
    pyr.save(pyr.example(), path)
    return path


def test_a_second_run_gives_the_same_from_what_the_first_has_encoded(study: Path, tmp_path: Path) -> None:
    here = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "PYRAMIDION_ENCODINGS_MB": "20"}
    files = [tmp_path / f"{name}.jsonl" for name in ("without", "first", "second")]
    for file, chosen in zip(files, ({**here, "PYRAMIDION_ENCODINGS_MB": "0"}, here, here), strict=True):
        assert run(study, "--save", file, **chosen).returncode == 0
        assert (tmp_path / "cache" / "pyramidion").exists() == (file != files[0])
    without, first, second = (file.read_bytes() for file in files)
    assert without == first == second

    def kept(*options: str) -> dict[str, Any]:
        return json.loads(running.run("cache", "--json", *options, **here).stdout)  # type: ignore[no-any-return]

    shown = kept()["encodings"]
    assert shown["entries"] > 200
    assert 0 < shown["bytes"] < 20_000_000
    assert Path(shown["file"]).stat().st_size == shown["bytes"]
    assert f"{shown['entries']:,} entries, at most 20 MB" in running.run("cache", **here).stdout
    emptied = kept("--empty")
    assert emptied["removed"] == shown["entries"]
    assert emptied["encodings"]["entries"] == kept()["encodings"]["entries"] == 0


def test_a_bad_size_of_the_cache_is_named(study: Path) -> None:
    for command in (("judge", study), ("cache",)):
        done = running.run(*command, PYRAMIDION_ENCODINGS_MB="lots")
        assert done.returncode == 2
        assert "PYRAMIDION_ENCODINGS_MB must be a whole number of megabytes" in done.stderr


def test_scores_are_printed_written_and_kept(study: Path, tmp_path: Path) -> None:
    scores, kept = tmp_path / "scores.csv", tmp_path / "judged.jsonl"
    done = run(study, "-o", scores, "--save", kept)
    assert done.returncode == 0, done.stderr
    assert "pyramid:crowd|judges:align|kind:model|values:soft" in done.stdout
    with scores.open(newline="") as file:
        means = {row["system"]: float(row["value"]) for row in csv.DictReader(file) if not row["topic"]}
    judged = pyr.load(kept)
    assert judged.problems() == []
    assert judged.judges_of("model") == {"align"}
    assert judged.judgments.evidence
    assert pyr.score(judged, "lite", judges="model", aggregate="mean").per_system("lite") == pytest.approx(means)
    assert pyr.score(judged, "lite").per_system("lite") == pyr.score(pyr.example(), "lite").per_system("lite")


def test_yes_and_no_by_the_judges_own_threshold(study: Path) -> None:
    done = run(study, "--judge", "lexical", "--threshold", "own", "--json")
    held = json.loads(done.stdout)
    assert "values:from-0.36" in held["signature"]
    assert done.stderr == ""


def test_workers(study: Path) -> None:
    held = json.loads(run(study, "--workers", "--json").stdout)
    assert [worker["worker"] for worker in held["workers"] if worker["suspect"]] == ["worker8", "worker7"]
    assert "suspect" in run(study, "--workers").stdout


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--judge", "nobody"], 2, "known values are: align, lexical, llm, nli"),
        (["--judge", "nli"], 2, "needs a model: nli:MODEL"),
        (["--soft", "--threshold", "0.5"], 2, "cannot be used together"),
        (["--threshold", "much"], 2, "a probability or `own`"),
        (["--threshold", "2"], 2, "between 0 and 1"),
        (["--pyramid", "none"], 2, "it has: crowd, expert"),
        (["--judge", "lexical", "--base-url", "http://x"], 2, "judge lexical has no option 'base_url'"),
        (["--judge", "llm:m", "--price", "cheap"], 2, "two numbers"),
        (["-o", "scores.doc"], 2, "scores can be written to"),
    ],
)
def test_mistakes_become_messages(study: Path, options: list[str], code: int, message: str) -> None:
    done = run(study, *options)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_paid_model_tells_the_cost_and_asks_first(study: Path, tmp_path: Path) -> None:
    with ChatServer() as server:
        options = [study, "--judge", "llm:some-model", "--cache", tmp_path / "c.sqlite", "--price", "1/2"]
        refused = run(*options, typed="n\n", OPENAI_BASE_URL=server.url)
        assert refused.returncode == 1
        assert "48 requests" in refused.stderr
        assert "about $0." in refused.stderr
        assert server.asked == []
        done = run(*options, "--base-url", server.url, "--yes")
        assert done.returncode == 0, done.stderr
        assert "judges:llm:some-model" in done.stdout
        assert len(server.asked) == 48
        again = run(*options, "--base-url", server.url)
        assert again.returncode == 0
        assert "0 requests (48 already cached)" in again.stderr
        assert again.stdout == done.stdout
        assert len(server.asked) == 48


# -- line by line --------------------------------------------------------------------------------------------


def _lines(path: Path, count: int) -> Path:
    line = {"id": 0, "units": ["The river rose.", "A shop closed."], "summary": "On Friday the river rose."}
    path.write_text("".join(json.dumps({**line, "id": place}) + "\n" for place in range(count)))
    return path


def test_a_file_is_judged_line_by_line(tmp_path: Path) -> None:
    source, target = _lines(tmp_path / "in.jsonl", 3), tmp_path / "out.jsonl"
    done = run(source, "--lines", "-o", target)
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in target.read_text().splitlines()]
    expected = pyr.judge(["The river rose.", "A shop closed."], ["On Friday the river rose."])
    assert [answer["id"] for answer in answers] == [0, 1, 2]
    assert answers[0]["presence"] == pytest.approx(expected.probability[:, 0].tolist(), abs=1e-6)
    assert answers[0]["score"] == pytest.approx(expected.probability.mean(), abs=1e-6)
    assert run(source, "--lines").stdout == target.read_text()
    assert set(tmp_path.iterdir()) == {source, target}
    assert [
        a["presence"] for a in map(json.loads, run(source, "--lines", "--threshold", "own").stdout.splitlines())
    ] == [[1.0, 0.0]] * 3


def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    source, target = _lines(tmp_path / "in.jsonl", 4), tmp_path / "out.jsonl"
    run(source, "--lines", "-o", target, "--judge", "lexical")
    whole = target.read_text()
    target.unlink()
    first, second, _ = whole.split("\n", 2)
    (tmp_path / "out.jsonl.part").write_text(first + "\n" + second[:20])
    done = run(source, "--lines", "-o", target, "--judge", "lexical")
    assert "Wrote 3 answers" in done.stderr
    assert target.read_text() == whole
    for other in (["--judge", "align"], ["--judge", "lexical", "--threshold", "own"]):
        (tmp_path / "out.jsonl.part").write_text(first + "\n")
        refused = run(source, "--lines", "-o", target, *other)
        assert refused.returncode != 0
        assert "was written from another file or with other choices" in refused.stderr
    (tmp_path / "out.jsonl.part").unlink()


def test_a_judged_file_can_be_judged_again_and_goes_on(tmp_path: Path) -> None:
    source, once, twice = _lines(tmp_path / "in.jsonl", 2), tmp_path / "once.jsonl", tmp_path / "twice.jsonl"
    run(source, "--lines", "-o", once, "--judge", "lexical", "--threshold", "own")
    run(once, "--lines", "-o", twice, "--judge", "lexical")
    whole = twice.read_text()
    (tmp_path / "twice.jsonl.part").write_text(whole.split("\n")[0] + "\n")
    assert "Wrote 1 answer " in run(once, "--lines", "-o", twice, "--judge", "lexical").stderr
    assert twice.read_text() == whole


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[1]", "is not a JSON object"),
        ('{"units": [], "summary": "a"}', '"units" must be a list of texts'),
        ('{"units": ["a"], "summary": 3}', '"summary" must be a text'),
        ("[" * 100_000, "is nested too deeply"),
        ('{"units": ["\\ud800"], "summary": "a"}', "holds half of a surrogate pair"),
        ('{"units": ["a"], "summary": "a", "score": NaN}', "NaN is not a valid value"),
    ],
)
def test_a_bad_line_is_named(line: str, said: str, tmp_path: Path) -> None:
    source = _lines(tmp_path / "in.jsonl", 1)
    source.write_text(source.read_text() + "\n" + line + "\n")
    done = run(source, "--lines", "-o", tmp_path / "out.jsonl", "--judge", "lexical")
    assert done.returncode != 0
    assert f"line 3: {said}" in done.stderr
    assert not (tmp_path / "out.jsonl").exists()
