"""The command line as a user meets it: output and exit codes."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.running import Done, run

import pyramidion as pyr


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cli") / "study.jsonl"
    pyr.save(pyr.example(), path)
    return path


def refused(done: Done | subprocess.CompletedProcess[str], code: int, *messages: str) -> None:
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    for message in messages:
        assert message in done.stderr


@pytest.mark.slow
def test_demo_ends_with_a_table_and_where_the_results_lie(tmp_path: Path) -> None:
    done = run("demo", cwd=tmp_path)
    assert done.returncode == 0
    assert "0.771 (1)" in done.stdout
    assert "Results are in pyramidion-demo/" in done.stdout
    written = sorted(path.name for path in (tmp_path / "pyramidion-demo").iterdir())
    assert written == [
        "report.html",
        "scores-auto.csv",
        "scores-lite.csv",
        "scores-pyramid.csv",
        "scores-responsiveness.csv",
        "scores-rouge.csv",
        "study.jsonl",
    ]
    assert "\n  pyramidion show pyramidion-demo/study.jsonl" in done.stdout
    again = run("demo", "--json", cwd=tmp_path)
    assert json.loads(again.stdout)["scores"]["lite"]["paraphrase"] == 0.609375


@pytest.mark.slow
def test_demo_by_uvx_says_how_to_go_on(tmp_path: Path) -> None:
    """uvx starts the command that is named as the distribution, and puts it on the path only for that long."""
    program = tmp_path / "pyramidion-eval"
    program.write_text("from pyramidion.cli.main import main\nmain()\n")
    done = subprocess.run(
        [sys.executable, program, "demo"], cwd=tmp_path, env={**os.environ, "UV": "/usr/bin/uv"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "\n  uvx pyramidion-eval show pyramidion-demo/study.jsonl" in done.stdout


def test_score_writes_long_tables(study: Path, tmp_path: Path) -> None:
    target = tmp_path / "out" / "scores.csv"
    done = run("score", study, "--method", "pyramid", "--measure", "modified", "-o", target)
    assert done.returncode == 0
    with target.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["topic", "system", "measure", "value"]
    means = {row["system"]: float(row["value"]) for row in rows if not row["topic"]}
    assert means == pytest.approx(pyr.score(pyr.example(), "pyramid").per_system("modified"))
    assert len(rows) == 6 * 5


def test_score_as_json_is_one_document(study: Path) -> None:
    done = run("score", study, "--method", "lite", "--json")
    held = json.loads(done.stdout)
    assert held["signature"].startswith("pyramidion|method:lite|")
    assert len(held["notes"]) == 2
    assert done.stderr == ""


def test_quiet_prints_nothing(study: Path, tmp_path: Path) -> None:
    done = run("score", study, "-q", "-o", tmp_path / "s.json")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "s.json").exists()


def test_every_method_option_reaches_its_method(study: Path) -> None:
    lite = run(
        "score", study, "--tie", "present", "--min-agreement", 0, "--aggregate", "mean", "--seed", 3, "--by", "summary"
    )
    assert "screen:none|aggregate:mean|tie:present|seed:3" in lite.stdout
    assert "drought-plan" in lite.stdout
    screened = run(
        *("score", study, "--rounds", 2, "--agreement", "positional"),
        *("--min-agreement", 0.4, "--judges", "all", "--pyramid", "crowd"),
    )
    assert "pyramid:crowd|judges:all|screen:positional<0.4x2" in screened.stdout
    assert "xa:floor|clip:yes" in run("score", study, "-m", "pyramid", "--rounding", "floor", "--clip").stdout
    rouge = run("score", study, "-m", "rouge", "--combine", "jackknife", "--tokens", "unicode", "--no-stem")
    assert "combine:jackknife|stem:no|tokens:unicode" in rouge.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--method", "bleu"], "unknown method 'bleu'; known values are: auto, lite, pyramid, responsiveness, rouge"),
        (["--tie", "maybe"], "unknown tie 'maybe'; known values are: absent, present"),
        (["--method", "lite", "--tokens", "ascii"], "method lite has no option 'tokens'"),
        (["--tie", "absent", "--clip"], "method pyramid has no option 'tie'"),  # no method has both
        (["--measure", "f1"], "unknown pyramid measure 'f1'"),
        (["--aggregate", "median"], "unknown aggregator 'median'"),
        (["--judges", "nobody"], "unknown judge 'nobody'"),
        (["-o", "scores.xls"], "scores.xls: scores can be written to"),
        (["--by", "week"], "--by must be system or summary"),
        (["--from", "word"], "unknown format 'word'"),
    ],
)
def test_wrong_options_are_explained(study: Path, arguments: list[str], message: str) -> None:
    refused(run("score", study, *arguments), 2, message)


def test_missing_and_unrecognised_paths(tmp_path: Path) -> None:
    refused(run("score", tmp_path / "nowhere"), 2, "does not exist")
    (tmp_path / "x.doc").write_text("hello")
    refused(run("validate", tmp_path / "x.doc"), 2, "is in no known format", "--from")
    refused(run("validate", tmp_path), 2, "references/<topic>.txt and <system>/<topic>.txt", "--from")


def test_the_folder_around_a_study_leads_to_it(study: Path) -> None:
    refused(run("score", study.parent), 2, f"did you mean {study}?")
    refused(run("analyze", "significance", study.parent), 2, f"did you mean {study}?")


def test_texts_alone_are_told_which_methods_need_no_more(tmp_path: Path) -> None:
    for place in ("references", "peers"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "a.txt").write_text("Rain fell.")
    assert "folder: 1 topic, 1 reference, 1 peer, 1 system\n" in run("validate", tmp_path).stdout
    refused(
        run("score", tmp_path, "-m", "lite"),
        2,
        "so there are no units; the methods rouge and auto need only texts",
    )


def test_whose_help_tells_more() -> None:
    refused(run("analyze", "significance"), 2, "Missing argument", "see pyramidion analyze significance --help")
    for group in ([], ["analyze"]):  # the help itself is the answer
        bare = run(*group)
        assert bare.returncode == 2
        assert "Usage:" in bare.stdout
        assert not bare.stderr


def test_bad_data_is_listed_and_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"type": "topic", "id": "t"}\n{"type": "topic", "id": "t"}\n{"type": "judge"}\n{oops\n')
    done = run("validate", path)
    refused(done, 1, "bad.jsonl, line 3: field 'id' is missing", "line 4: is not JSON", "topic t: appears 2 times")
    assert "3 errors, 0 warnings" in done.stdout
    listed = json.loads(run("validate", path, "--json").stdout)
    assert listed["valid"] is False
    assert len(listed["problems"]) == 3
    refused(run("convert", path, tmp_path / "out"), 1, "line 3")
    assert not (tmp_path / "out").exists()
    failed = run("score", path, "--json")
    assert failed.returncode == 1
    assert len(json.loads(failed.stdout)["problems"]) == 3


def test_lenient_goes_on_and_reports(tmp_path: Path, study: Path) -> None:
    path = tmp_path / "almost.jsonl"
    path.write_text(study.read_text() + '{"type": "judgement"}\n')
    refused(run("score", path), 1, "unknown type 'judgement'")
    assert "1 error, 0 warnings.\n" in run("validate", path).stdout
    done = run("score", path, "--lenient")
    assert done.returncode == 0
    assert "unknown type 'judgement'" in done.stderr
    assert "0.7709" in done.stdout


def test_convert_says_what_the_target_cannot_hold(study: Path, tmp_path: Path) -> None:
    done = run("convert", study, tmp_path / "folder")
    assert done.returncode == 0
    assert "folder: cannot hold pyramids; 8 left out" in done.stderr
    refused(run("convert", study, tmp_path / "folder"), 2, "already exists")
    refused(run("convert", study, tmp_path / "x.docx"), 2, "no format is known for x.docx")
    refused(run("convert", study, tmp_path / "n", "--to", "nist"), 2, "can be read but not written")


def test_show_explains_a_summary(study: Path) -> None:
    done = run("show", study, "--topic", "reef-nursery", "--system", "extract")
    assert "Not found, heaviest first" in done.stdout
    assert "(4) Scientists planted 12,000 corals on the reef" in done.stdout
    held = json.loads(run("show", study, "-t", "reef-nursery", "-s", "extract", "--json").stdout)
    assert sum(unit["weight"] for unit in held["expressed"]) == 34
    crowd = run("show", study, "--pyramid", "crowd", "-s", "lead")
    assert crowd.returncode == 0
    refused(run("show", study, "--topic", "nowhere"), 2, "unknown topic 'nowhere'; known topics are: drought-plan")
    refused(run("show", study, "--system", "gpt"), 2, "it has: extract, lead")


def test_show_ideal_content(study: Path) -> None:
    done = run("show", study, "--topic", "drought-plan", "--ideal", "4")
    assert done.returncode == 0, done.stderr
    assert "Max(4) = 16, 5 equally good sets" in done.stdout  # five units in the top tier, of weight 4
    assert "weight 4: any 4 of 5" in done.stdout
    assert "  u02 u03 u04 u05" in done.stdout
    held = json.loads(run("show", study, "--topic", "drought-plan", "--ideal", "15", "--json").stdout)
    assert (held["weight"], held["sets"], held["chosen"]) == (48, 45, 2)  # 5 x 4 + 8 x 3 + 2 x 2; 2 of 10
    assert [unit["weight"] for unit in held["required"]] == [4] * 5 + [3] * 8
    assert {unit["weight"] for unit in held["free"]} == {2}
    everything = run("show", study, "--ideal", "500", "--pyramid", "expert")
    assert "The pyramid has 33 units, so 500 cannot be said." in everything.stdout
    refused(run("show", study, "--ideal", "3", "-s", "lead"), 2, "--ideal is about a pyramid, not a summary")
    refused(run("show", study, "--ideal", "3", "--judges", "expert"), 2, "--judges is about a summary")
    refused(run("show", study, "--ideal", "0"), 2, "--ideal")


def test_doctor_names_parts_and_how_to_install_them() -> None:
    held = json.loads(run("doctor", "--json").stdout)
    assert held["pyramidion"] == pyr.__version__
    assert held["extras"]["crowd"]["install"] == "pip install 'pyramidion-eval[crowd]'"
    assert "ducview" in held["formats"]
    assert "MACE" in run("doctor").stdout


def test_a_missing_extra_has_its_own_exit_code(study: Path, tmp_path: Path) -> None:
    code = "import sys; sys.modules['crowdkit'] = None; from pyramidion.cli.main import main; main()"
    command = [sys.executable, "-c", code, "score", str(study), "--aggregate", "mace"]
    refused(
        subprocess.run(command, capture_output=True, text=True, check=False), 3, "pip install 'pyramidion-eval[crowd]'"
    )


def test_texts_cannot_steer_the_terminal(tmp_path: Path) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\u202e[bold]not markup[/bold]"
    path = tmp_path / "evil.jsonl"
    hostile = pyr.Study(
        topics=(pyr.Topic("t", title=evil),),
        summaries=(pyr.Summary("t", "[red]x", evil), pyr.Summary("t", "A", "ref", "reference")),
        pyramids=(pyr.Pyramid("t", ("A",), (pyr.ContentUnit("u", evil, (pyr.Contributor("A"),)),)),),
        judges=(pyr.Judge("j", "expert"),),
        judgments=pyr.Judgments([pyr.Judgment("t", "[red]x", "j", 1, unit="u")]),
    )
    pyr.save(hostile, path)
    for arguments in (
        ["show", path],
        ["show", path, "-s", "[red]x"],
        ["show", path, "--ideal", "1"],
        ["score", path, "-m", "pyramid"],
        ["validate", path],
    ):
        done = run(*arguments)
        assert done.returncode == 0, done.stderr
        for control in "\x1b\x07\u202e":
            assert control not in done.stdout + done.stderr
    assert "[bold]not markup[/bold]" in run("show", path).stdout


def test_version_and_help() -> None:
    assert run("--version").stdout.strip() == f"pyramidion {pyr.__version__}"
    done = run("--help")
    for command in ("demo", "validate", "convert", "score", "show", "doctor"):
        assert command in done.stdout


def test_no_command_destroys_what_it_reads(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    pyr.save(pyr.example(), path)
    before = path.read_bytes()
    refused(run("score", path, "-o", path), 2, "is the study itself")
    refused(run("convert", path, path, "--to", "sacrerouge"), 2, "is the study itself")
    (tmp_path / "mine.jsonl").write_text("mine")
    refused(run("convert", path, tmp_path / "mine.jsonl"), 2, "--force replaces it")
    assert path.read_bytes() == before
    assert (tmp_path / "mine.jsonl").read_text() == "mine"
    assert run("convert", path, tmp_path / "mine.jsonl", "--force", "-q").returncode == 0
    refused(run("demo", "-o", tmp_path), 2, "contains other files")


def test_what_lenient_reading_found_is_never_hidden(tmp_path: Path, study: Path) -> None:
    path = tmp_path / "almost.jsonl"
    path.write_text(study.read_text() + '{"type": "judgement"}\n')
    as_json = run("score", path, "--lenient", "--json")
    assert "unknown type 'judgement'" in str(json.loads(as_json.stdout)["notes"])
    quiet = run("score", path, "--lenient", "--quiet")
    assert quiet.stdout == ""
    assert "unknown type 'judgement'" in quiet.stderr
    assert any("judgement" in note.what for note in pyr.score(pyr.load(path, lenient=True), "lite").notes)


def test_validate_counts_empty_texts(tmp_path: Path) -> None:
    for name, text in {"references/A": "Rain fell.", "references/B": " \n", "peers/s": "", "peers/z": "Rain."}.items():
        file = tmp_path / "topics" / "t1" / f"{name}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    done = run("validate", tmp_path)
    assert done.returncode == 0
    assert "Valid, with 2 warnings.\n" in done.stdout
    assert "peers: 1 of 2 have an empty text: s on t1" in done.stderr
    assert "references: 1 of 2 have an empty text: B on t1" in done.stderr
    (tmp_path / "topics" / "t1" / "peers" / "s.txt").write_text("Rain.")
    assert "Valid, with 1 warning.\n" in run("validate", tmp_path).stdout
    (tmp_path / "topics" / "t1" / "references" / "B.txt").write_text("Rain.")
    assert "\nValid.\n" in run("validate", tmp_path).stdout


def test_validate_lists_everything_errors_first(tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    lines = [f'{{"type": "topic", "id": "t{i}", "colour": "red"}}' for i in range(100)]
    path.write_text("\n".join([*lines, '{"type": "judge"}']))
    shown = run("validate", path).stderr.splitlines()
    assert len(shown) == 2
    assert "line 101: field 'id' is missing" in shown[0]
    assert "line 1: unknown field 'colour' is ignored (and 99 more like this)" in shown[1]
    assert len(json.loads(run("validate", path, "--json").stdout)["problems"]) == 101


def test_nothing_to_score_is_an_error_that_says_so(tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    example = pyr.example()
    pyr.save(pyr.Study(topics=example.topics, summaries=example.summaries, pyramids=example.pyramids), path)
    refused(run("score", path, "-m", "lite"), 1, "no summary could be scored by method lite")
    pyr.save(pyr.Study(topics=example.topics), tmp_path / "topics.jsonl")
    refused(run("convert", tmp_path / "topics.jsonl", tmp_path / "out", "--to", "ducview"), 2, "nothing of this study")


def test_mistakes_in_options_are_json_too(study: Path) -> None:
    done = run("score", study, "--no-such-option", "--json")
    assert done.returncode == 2
    assert "--no-such-option" in json.loads(done.stdout)["error"]
    refused(run("score", study, "--rounds", "0"), 2, "--rounds")
    refused(run("score", study, "--min-agreement", "nan"), 2, "min_agreement must be between 0 and 1")
    refused(run("frobnicate"), 2, "frobnicate")


def test_small_comforts(study: Path, tmp_path: Path) -> None:
    piped = subprocess.run(
        f"{sys.executable} -m pyramidion show {study} | head -1",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert piped.stderr == ""
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "pyramidion", "show", str(study)]
    assert subprocess.run(command, env=ascii_only, capture_output=True, check=False).returncode == 0
    (tmp_path / "folder.csv").mkdir()
    refused(run("score", study, "-o", tmp_path / "folder.csv"), 2, f"{tmp_path / 'folder.csv'} is a folder")


def test_show_says_how_to_get_units_from_texts(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,summary,reference\n1,Rain fell in Lund.,Heavy rain fell in Lund on Monday.\n")
    for choice in ([], ["--method", "auto"], ["--system", "t"]):
        done = run("show", "t.csv", *choice, cwd=tmp_path)
        assert done.returncode == 2
        assert "`pyramidion auto run STUDY -o FOLDER` builds one" in done.stderr
    assert run("auto", "run", "t.csv", "-o", "made", cwd=tmp_path).returncode == 0
    assert "pyramid auto" in run("show", "made/study.jsonl", cwd=tmp_path).stdout
    (tmp_path / "n.csv").write_text("id,system,summary\n1,a,Rain fell in Lund.\n")
    assert "it has no references either" in run("show", "n.csv", cwd=tmp_path).stderr


def test_on_a_terminal_remarks_have_lines_of_their_own(tmp_path: Path) -> None:
    pty = pytest.importorskip("pty", reason="terminals of this kind exist on POSIX alone")
    (tmp_path / "r.csv").write_text("judge,topic,system,rating\nanna,floods,bart,4\n")
    for words in (["score", "r.csv"], ["analyze", "agreement", "r.csv", "--resamples", "0"]):
        ours, theirs = pty.openpty()
        command = [sys.executable, "-m", "pyramidion", *words]
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "300"}
        with subprocess.Popen(command, cwd=tmp_path, stdout=theirs, stderr=theirs, env=environment):
            os.close(theirs)
            shown = b""
            with contextlib.suppress(OSError):  # how Linux says that nobody writes any more
                while part := os.read(ours, 65536):
                    shown += part
        os.close(ours)
        before, told, _ = shown.decode().partition("r.csv: a table of judgments")
        assert told
        left = re.split(r"\r\x1b\[2K|\n", before)[-1]  # a spinner, where one was drawn in time, has been erased
        assert not re.sub(r"\x1b\[[?\d;]*[A-Za-z]|\r", "", left)
