"""`pyramidion report`, `feedback` and `diff` as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.test_commands import refused, run

import pyramidion as pyr


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "study.jsonl"
    pyr.save(pyr.example(), path)
    return path


def test_report_writes_one_page(study: Path, tmp_path: Path) -> None:
    done = run("report", study, "-o", tmp_path / "r.html", "--pay", "0.45")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("paraphrase ranks first by Pyramid score (modified): 0.771 on 4 topics.")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "$129.60 for 240 assignments" in page  # 48 tasks x 5 workers x $0.45 x 1.2
    again = tmp_path / "again.html"
    assert run("report", study, "-o", again, "--pay", "0.45", "-q").stdout == ""
    assert again.read_text(encoding="utf-8") == page


def test_a_name_without_a_suffix_is_a_folder(study: Path, tmp_path: Path) -> None:
    done = run("report", study, "-o", tmp_path / "r", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["written"] == [str(tmp_path / "r" / "index.html")]
    held = {str(path.relative_to(tmp_path / "r")) for path in (tmp_path / "r").rglob("*.*")}
    topics = {f"topics/{topic.id}.html" for topic in pyr.example().topics}
    assert held == {"index.html", "scores.csv", "units.csv", "report.json", *topics}
    assert run("report", study, "-o", tmp_path / "r", "-m", "lite").returncode == 0
    (tmp_path / "r" / "notes.txt").write_text("mine")
    refused(run("report", study, "-o", tmp_path / "r"), 2, "is not replaced: it holds notes.txt")


def test_a_large_report_is_a_folder_unless_a_page_is_asked_for(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def written(*options: object) -> tuple[list[str], str]:
        done = run("report", study, "--json", *options, cwd=tmp_path)
        return json.loads(done.stdout)["written"], done.stderr

    assert written() == (["report.html"], "")
    refused(run("report", study, "--jobs", "2", cwd=tmp_path), 2, "--jobs has no effect on one page")
    monkeypatch.setattr("pyramidion.report.folder.MOST_IN_ONE_FILE", 23)
    assert written() == (["report/index.html"], "")
    one, told = written("-o", "one.html")
    assert one == ["one.html"]
    assert "One page of 24 summaries opens slowly" in told
    assert (tmp_path / "one.html").read_text("utf-8") == (tmp_path / "report.html").read_text("utf-8")


@pytest.mark.slow
def test_report_writes_figures_and_tables_for_papers(study: Path, tmp_path: Path) -> None:
    done = run(
        "report", study, "--figures", tmp_path / "figures", "--latex", tmp_path / "t.tex", "-m", "lite", "--json"
    )
    assert done.returncode == 0, done.stderr
    held = json.loads(done.stdout)
    assert (held["method"], held["measure"]) == ("lite", "lite")
    names = {Path(name).name for name in held["written"]}
    assert {"ranking-lite.svg", "ranking-lite.pdf", "map-lite.svg", "pyramid-drought-plan.pdf", "t.tex"} <= names
    assert not [name for name in names if name.endswith(".html")]
    assert all(Path(name).stat().st_size > 500 for name in held["written"])
    assert (tmp_path / "t.tex").read_text().count(r"\toprule") >= 8


def test_feedback_writes_a_folder(study: Path, tmp_path: Path) -> None:
    done = run("feedback", study, "--system", "lead", "-o", tmp_path / "f")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Wrote 4 pages, one for the writer of each summary")
    assert (tmp_path / "f" / "writers" / "lead" / "drought-plan.html").exists()
    refused(run("feedback", study, "--system", "nobody", "-o", tmp_path / "g"), 2, "unknown system 'nobody'")
    refused(run("feedback", study, "-o", tmp_path / "f"), 2, "already exists")


def test_diff_compares_studies_and_score_tables(study: Path, tmp_path: Path) -> None:
    for tie in ("absent", "present"):
        run("score", study, "--tie", tie, "--min-agreement", "0", "-q", "-o", tmp_path / f"{tie}.csv")
    done = run("diff", tmp_path / "absent.csv", tmp_path / "present.csv", "--json")
    assert done.returncode == 0, done.stderr
    held = json.loads(done.stdout)
    assert held["question"] == "diff"
    same = run("diff", study, study)
    assert same.returncode == 0, same.stderr
    assert same.stdout.startswith("No score and no rank changed in 13 measures.")


def test_mistakes_are_explained(study: Path, tmp_path: Path) -> None:
    refused(run("report", study, "-o", tmp_path / "r.pdf"), 2, "the report must be written to a .html file")
    refused(run("report", study, "-o", tmp_path / "r.html", "-m", "magic"), 2, "magic")
    refused(run("report", study, "-o", tmp_path / "r.html", "--pyramid", "none"), 2, "no pyramid called 'none'")
    refused(run("diff", study, tmp_path / "nothing"), 2, "does not exist")
