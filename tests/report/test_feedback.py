"""Feedback: what a writer reads, what a writer must not read, and the teacher's files."""

from __future__ import annotations

import base64
import csv
import gzip
import re
from collections import Counter
from dataclasses import replace
from html import unescape
from pathlib import Path
from random import Random

import pytest

import pyramidion as pyr
from pyramidion.judges import accuracy
from pyramidion.judging import judge_study
from pyramidion.report import write_feedback
from pyramidion.report.collect import Findings, findings
from pyramidion.report.ideas import group_ideas
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


def unpacked(path: Path) -> str:
    """Everything a page for checking carries."""
    text = path.read_text(encoding="utf-8")
    parcels = re.findall(r'<script type="application/gzip" id="topic-\d+">([^<]*)</script>', text)
    assert parcels
    return text + "".join(gzip.decompress(base64.b64decode(parcel)).decode() for parcel in parcels)


def test_ideas_are_grouped_by_how_many_references_have_them() -> None:
    def groups(*weights: int) -> list[list[int]]:
        units = [pyr.ContentUnit("u", "", (pyr.Contributor("A"),) * weight) for weight in weights]
        return [[unit.weight for unit in group] for group in group_ideas(units)]

    assert groups(4, 3, 2, 1) == [[4, 3], [2], [1]]
    assert groups(1, 1) == [[1, 1], [], []]
    assert groups() == [[], [], []]


def test_a_writer_reads_what_is_there_and_what_is_missing(found: Findings, tmp_path: Path) -> None:
    written = write_feedback(found, tmp_path / "all")
    assert len(written) == 24 + 3
    text = shown(tmp_path / "all" / "writers" / "Zzextract" / "drought-plan.html")
    assert "Your summary expresses 7 of the 13 main ideas of the reference summaries." in text
    assert "Of all 33 ideas it expresses 12." in text
    assert "A person judged this summary." in text
    assert "perhaps" not in text, "people never say so"
    assert "The reservoir has fallen to 23 percent of its capacity" in text
    assert "A reference says: “its reservoir stands at 23 percent of capacity”" in text
    assert "Content score: 0.59" in text
    assert text.index("What you could add") < text.index("The city has approved a desalination plant")
    nothing = shown(tmp_path / "all" / "writers" / "Zzofftopic" / "drought-plan.html")
    assert "None of the ideas was found." in nothing


@pytest.fixture(scope="module")
def modelled() -> pyr.Study:
    """The example's summaries on one topic, judged by the embedded model."""
    study = pyr.example()
    topic = "museum-theft"
    texts = replace(
        study,
        topics=tuple(t for t in study.topics if t.id == topic),
        summaries=tuple(s for s in study.summaries if s.topic == topic),
        pyramids=tuple(p for p in study.pyramids if (p.topic, p.name) == (topic, "expert")),
        judges=(),
        judgments=pyr.Judgments(),
        tasks=(),
        assignments=(),
        aspects=(),
    )
    return judge_study(texts).study


def test_a_program_says_that_it_is_one_and_asks_where_it_is_unsure(modelled: pyr.Study, tmp_path: Path) -> None:
    made = findings(modelled, resamples=20)
    write_feedback(made, tmp_path / "all")
    [judge] = modelled.judges
    for summary in made.summaries:
        verdicts = {j.unit: judge.verdict(j.value or 0) for j in modelled.judgments if j.system == summary.peer.system}
        assert dict(summary.verdicts) == verdicts
        text = shown(tmp_path / "all" / "writers" / summary.peer.system / "museum-theft.html")
        main = group_ideas(summary.pyramid.units).main
        there, perhaps = (sum(verdicts[unit.id] == word for unit in main) for word in ("expressed", "perhaps"))
        more = f", and perhaps {perhaps}{' more' if there else ''}" if perhaps else ""
        assert f"expresses {there} of the {len(main)} main ideas of the reference summaries{more}." in text
        assert "A computer program judged this summary, and it can be wrong." in text
        asked = [unit for unit in summary.perhaps[:8] if summary.words(unit.id)]
        assert text.count("We found: “") == len(asked)
        assert text.count("You write: “") == sum(bool(summary.words(unit.id)) for unit in summary.expressed)
    counts = [Counter(summary.verdicts.values()) for summary in made.summaries]
    assert sum(counts, Counter()).keys() == {"expressed", "perhaps", "not found"}, "or nothing of this was tested"


def test_how_often_the_program_is_right_comes_from_its_card(
    modelled: pyr.Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [judge] = modelled.judges
    card = {"expressed": judge.expressed, "perhaps": judge.perhaps}
    measured = {"one": {"expressed_right": 0.816, "not_found_right": 0.934, "recall": 0.47}}
    monkeypatch.setattr(accuracy, "model_card", lambda: card | {"held_out": {"read": measured}})
    figures = "“expressed” was right about 82 times in 100, and “not found” about 93 times in 100."
    write_feedback(findings(modelled, resamples=20), tmp_path / "known")
    pages = [tmp_path / "known" / name for name in ("writers/lead/museum-theft.html", "overview.html", "check.html")]
    assert [figures in shown(page) for page in pages] == [True, True, True]
    assert "Of 100 ideas that people find, it calls about 47 expressed." in shown(pages[0])
    yes_or_no = pyr.Judgments(replace(j, value=round(j.value or 0)) for j in modelled.judgments)
    other = replace(modelled, judgments=yes_or_no)
    write_feedback(findings(other, resamples=20), tmp_path / "unknown")
    text = shown(tmp_path / "unknown" / "writers" / "lead" / "museum-theft.html")
    assert "times in 100" not in text
    assert "has not been measured" in text


def test_the_overview_names_what_most_writers_miss(modelled: pyr.Study, tmp_path: Path) -> None:
    made = findings(modelled, resamples=20)
    write_feedback(made, tmp_path / "all")
    text = shown(tmp_path / "all" / "overview.html")
    missed, perhaps = text.split("Most missed")[1].split("Most often only perhaps there")
    main, important, _ = group_ideas(made.topics[0].units)
    for unit in (*main, *important):
        there = sum(summary.verdict(unit.id) == "expressed" for summary in made.summaries)
        asked = sum(summary.verdict(unit.id) == "perhaps" for summary in made.summaries)
        if unit.label in missed:
            assert there * 2 <= len(made.summaries)
            more = f", perhaps {asked}{' more' if there else ''}" if asked else " "
            assert re.search(rf"{re.escape(unit.label)}\s+{there} of {len(made.summaries)}{more}", missed)
        if unit.label in perhaps:
            assert re.search(rf"{re.escape(unit.label)}\s+perhaps in {asked} of {len(made.summaries)}", perhaps)


@pytest.mark.parametrize("seed", range(2))
def test_the_order_of_rows_does_not_matter(modelled: pyr.Study, seed: int, tmp_path: Path) -> None:
    rows, peers = list(modelled.judgments), list(modelled.summaries)
    Random(seed).shuffle(rows)
    Random(seed).shuffle(peers)
    mixed = replace(modelled, judgments=pyr.Judgments(rows), summaries=tuple(peers))
    for study, name in ((modelled, "one"), (mixed, "other")):
        write_feedback(findings(study, resamples=20), tmp_path / name)
    pages = [
        {p.relative_to(tmp_path / n): p.read_text() for p in (tmp_path / n).rglob("*.html")} for n in ("one", "other")
    ]
    assert pages[0] == pages[1]


def test_no_page_names_another_writer_or_a_reference(found: Findings, tmp_path: Path) -> None:
    for path in write_feedback(found, tmp_path / "all")[:-3]:
        text = path.read_text(encoding="utf-8")
        assert "Zz" not in text
        assert not re.search(r"Ref\wq", text)
        assert "<a " not in text
        assert "<script" not in text
    assert "Zzlead" in (tmp_path / "all" / "overview.html").read_text(encoding="utf-8")


def test_only_the_writers_asked_for(found: Findings, tmp_path: Path) -> None:
    written = write_feedback(found, tmp_path / "one", systems=["Zzlead"])
    assert len(written) == 4 + 3
    assert "Zzextract" not in unpacked(tmp_path / "one" / "check.html")
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
    assert (row["perhaps"], row["main perhaps"], row["corrected"]) == ("0", "0", "0")
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
