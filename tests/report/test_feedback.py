"""Feedback: what a writer reads, what a writer must not read, and the teacher's files."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

import pyramidion as pyr
from pyramidion.report import write_feedback
from pyramidion.report.collect import Findings, findings
from pyramidion.report.feedback import group_ideas
from pyramidion.report.tables import file_name


@pytest.fixture(scope="module")
def found() -> Findings:
    return findings(renamed(pyr.example()), resamples=20)


def renamed(study: pyr.Study) -> pyr.Study:
    """Writers and references with names that occur nowhere by chance."""
    return replace(
        study,
        summaries=tuple(
            replace(s, system=f"Zz{s.system}" if s.role == "peer" else f"Ref{s.system}q") for s in study.summaries
        ),
        pyramids=tuple(
            replace(
                p,
                references=tuple(f"Ref{r}q" for r in p.references),
                units=tuple(
                    replace(u, contributors=tuple(replace(c, reference=f"Ref{c.reference}q") for c in u.contributors))
                    for u in p.units
                ),
            )
            for p in study.pyramids
        ),
        judgments=pyr.Judgments(replace(j, system=f"Zz{j.system}") for j in study.judgments),
        tasks=tuple(replace(t, system=f"Zz{t.system}") for t in study.tasks),
    )


def shown(path: Path) -> str:
    return unescape(re.sub(r"<[^>]+>", " ", path.read_text(encoding="utf-8").split("</head>")[1]))


def test_ideas_are_grouped_by_how_many_references_have_them() -> None:
    def groups(*weights: int) -> list[list[int]]:
        units = [pyr.ContentUnit("u", "", (pyr.Contributor("A"),) * weight) for weight in weights]
        return [[unit.weight for unit in group] for group in group_ideas(units)]

    assert groups(4, 3, 2, 1) == [[4, 3], [2], [1]]
    assert groups(1, 1) == [[1, 1], [], []]
    assert groups() == [[], [], []]


def test_a_writer_reads_what_is_there_and_what_is_missing(found: Findings, tmp_path: Path) -> None:
    written = write_feedback(found, tmp_path / "all")
    assert len(written) == 24 + 2
    text = shown(tmp_path / "all" / "writers" / "Zzextract" / "drought-plan.html")
    assert "Your summary has 12 of the 33 ideas found in the reference summaries, and 7 of the 13" in text
    assert "The reservoir has fallen to 23 percent of its capacity" in text
    assert "A reference says: “its reservoir stands at 23 percent of capacity”" in text
    assert "Content score: 0.59" in text
    assert text.index("What you could add") < text.index("The city has approved a desalination plant")
    nothing = shown(tmp_path / "all" / "writers" / "Zzofftopic" / "drought-plan.html")
    assert "None of the ideas was found." in nothing


def test_no_page_names_another_writer_or_a_reference(found: Findings, tmp_path: Path) -> None:
    for path in write_feedback(found, tmp_path / "all")[:-2]:
        text = path.read_text(encoding="utf-8")
        assert "Zz" not in text
        assert not re.search(r"Ref\wq", text)
        assert "<a " not in text
        assert "<script" not in text
    assert "Zzlead" in (tmp_path / "all" / "overview.html").read_text(encoding="utf-8")


def test_only_the_writers_asked_for(found: Findings, tmp_path: Path) -> None:
    written = write_feedback(found, tmp_path / "one", systems=["Zzlead"])
    assert len(written) == 4 + 2
    assert "Zzextract" not in (tmp_path / "one" / "overview.html").read_text(encoding="utf-8")
    with pytest.raises(pyr.UsageError, match="already exists"):
        write_feedback(found, tmp_path / "one")


def test_the_grade_book_has_numbers_and_no_formulas(tmp_path: Path) -> None:
    study = renamed(pyr.example())
    named = {"Zzlead": "=HYPERLINK(1)", "Zzextract": "+1", "Zzvague": "-x", "Zzrepeat": "@y"}
    study = replace(
        study,
        summaries=tuple(replace(s, system=named.get(s.system, s.system)) for s in study.summaries),
        judgments=pyr.Judgments(replace(j, system=named.get(j.system, j.system)) for j in study.judgments),
        tasks=(),
    )
    study = replace(study, judgments=pyr.Judgments(replace(j, task="") for j in study.judgments))
    *_, grades = write_feedback(findings(study, resamples=20), tmp_path / "grades")
    with grades.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 24
    assert not [row["writer"] for row in rows if row["writer"].startswith(("=", "+", "-", "@"))]
    row = next(r for r in rows if r["writer"] == "'+1" and r["topic"] == "drought-plan")
    assert (row["ideas"], row["of ideas"], row["main ideas"], row["of main ideas"]) == ("12", "33", "7", "13")
    assert row["modified"] == "0.5893"  # 33 / 56


def test_a_label_that_is_a_references_wording_is_not_quoted_as_well(tmp_path: Path) -> None:
    """Units of automatic pyramids are labelled by one of their wordings."""
    texts = {"A": "a roofer came", "B": "a man who mends roofs"}
    spans = {"A": pyr.Span(0, 8), "B": pyr.Span(0, 21)}

    def page(*references: str) -> str:
        contributors = tuple(pyr.Contributor(name, (spans[name],)) for name in references)
        study = pyr.Study(
            topics=(pyr.Topic("t"),),
            summaries=(pyr.Summary("t", "x", "?"), *(pyr.Summary("t", n, t, "reference") for n, t in texts.items())),
            pyramids=(pyr.Pyramid("t", ("A", "B"), (pyr.ContentUnit("u", "a roofer", contributors),)),),
            judges=(pyr.Judge("j", "expert"),),
            judgments=pyr.Judgments([pyr.Judgment("t", "x", "j", 0.0, unit="u")]),
        )
        return shown(write_feedback(findings(study, resamples=20), tmp_path / "".join(references))[0])

    assert "A reference says: “a man who mends roofs”" in page("A", "B")
    assert "A reference says" not in page("A")


def test_without_judgments_on_units_no_pages_are_promised(tmp_path: Path) -> None:
    texts = replace(pyr.example(), pyramids=(), judgments=pyr.Judgments(), tasks=())
    with pytest.raises(pyr.UsageError, match="nobody judged which units the summaries express"):
        write_feedback(findings(texts, resamples=20), tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_file_names_are_harmless_and_distinct() -> None:
    names = [file_name(id) for id in ("../../etc", "a/b", "x" * 300, "x" * 299 + "y", "..", "é")]
    assert len(set(names)) == len(names)
    assert not [name for name in names if "/" in name or name.startswith(".") or len(name) > 140]
