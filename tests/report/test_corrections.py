"""A teacher's corrections: a small file, judgments of a person that replace a program's, and scores that follow."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.cli.running import run

import pyramidion as pyr
from pyramidion.judges import with_judgments
from pyramidion.report import Correction, correct, read_corrections, write_feedback
from pyramidion.report.collect import Findings, findings
from pyramidion.report.corrections import corrections_of, fingerprint, write_corrections
from pyramidion.scoring.explain import explain
from pyramidion.study import UNMATCHED

TEXTS = {"ada": "The river rose and ten families left.", "bob": "Cats sleep all day long."}
LABELS = {"rose": "The river rose", "fled": "Ten families fled", "cost": "It cost a million", "rain": "It rained"}
VALUES: Mapping[str, Mapping[str, float]] = {
    "ada": {"rose": 0.9, "fled": 0.4, "cost": 0.05, "rain": 0.3},
    "bob": {"rose": 0.1, "fled": 0.0, "cost": 0.7, "rain": 0.02},
}


def judged(judge: pyr.Judge | None = None) -> pyr.Study:
    """Two writers by a program that is unsure from .2 to .6; the first two units weigh 2, the others 1."""
    by = judge or pyr.Judge("align", "model", expressed=0.6, perhaps=0.2)
    references = ("A", "B")
    units = tuple(
        pyr.ContentUnit(id, label, tuple(pyr.Contributor(name) for name in references[: 2 if place < 2 else 1]))
        for place, (id, label) in enumerate(LABELS.items())
    )
    marked = {("ada", "rose"): ((pyr.Span(0, 14),),), ("ada", "fled"): ((pyr.Span(19, 36),),)}
    return pyr.Study(
        topics=(pyr.Topic("t", "The flood"),),
        summaries=(
            *(pyr.Summary("t", name, text) for name, text in TEXTS.items()),
            *(pyr.Summary("t", name, "Some text.", "reference") for name in references),
        ),
        pyramids=(pyr.Pyramid("t", references, units, "auto"),),
        judges=(by,),
        judgments=pyr.Judgments(
            pyr.Judgment("t", system, by.id, value, unit=unit, evidence=marked.get((system, unit), ()))
            for system, values in VALUES.items()
            for unit, value in values.items()
        ),
    )


CORRECTIONS = [Correction("t", "ada", "fled", True), Correction("t", "bob", "cost", False)]


def verdicts(study: pyr.Study, system: str) -> dict[str, str]:
    found = explain(study, "t", system)
    return {unit.id: found.verdict(unit.id) for unit in found.pyramid.units}


def test_corrections_are_a_persons_judgments_and_override_the_programs() -> None:
    before = judged()
    study = correct(before, CORRECTIONS)
    assert study.problems() == before.problems()
    assert study.judges == (*before.judges, pyr.Judge("teacher", "expert", corrects="align"))
    assert list(study.judgments)[:-2] == list(before.judgments), "what the program said stays"
    assert [(j.judge, j.system, j.unit, j.value) for j in study.judgments][-2:] == [
        ("teacher", "ada", "fled", 1.0),
        ("teacher", "bob", "cost", 0.0),
    ]
    assert verdicts(before, "ada") == {"rose": "expressed", "fled": "perhaps", "cost": "not found", "rain": "perhaps"}
    assert verdicts(study, "ada") == {**verdicts(before, "ada"), "fled": "expressed"}
    assert verdicts(study, "bob") == dict.fromkeys(LABELS, "not found")


def test_scores_follow_and_are_signed() -> None:
    """D of ada: 2 x .9 + 2 x .4 + .3 = 2.9 before, 2 x .9 + 2 + .3 = 4.1 after; Max(3) = 5."""
    before, after = (pyr.score(study, measures=["modified"]) for study in (judged(), correct(judged(), CORRECTIONS)))
    assert before.value("ada", "modified", "t") == pytest.approx(2.9 / 5)
    assert after.value("ada", "modified", "t") == pytest.approx(4.1 / 5)
    assert after.value("bob", "modified", "t") == 0.0
    assert "corrected:teacher" in str(after.signature)
    assert "corrected" not in str(before.signature)


def test_the_words_that_were_found_stay_with_what_is_confirmed() -> None:
    found = explain(correct(judged(), CORRECTIONS), "t", "ada")
    assert found.words("fled") == ["ten families left"]
    assert found.corrected == {"fled": "perhaps"}, "what the program had said"
    assert explain(correct(judged(), CORRECTIONS), "t", "bob").corrected == {"cost": "expressed"}


def test_the_file_holds_all_corrections_and_again_gives_the_same() -> None:
    once = correct(judged(), CORRECTIONS)
    assert correct(once, CORRECTIONS) == once
    fewer = correct(once, CORRECTIONS[:1])
    assert verdicts(fewer, "bob") == verdicts(judged(), "bob")
    assert correct(once, []) == judged()


def test_corrections_of_the_pages_are_the_file(tmp_path: Path) -> None:
    found = findings(correct(judged(), CORRECTIONS), resamples=20)
    path = tmp_path / "corrections.jsonl"
    path.write_text(write_corrections(corrections_of(found.summaries)), encoding="utf-8")
    read = read_corrections(path)
    assert [(c.topic, c.system, c.unit, c.expressed) for c in read] == [
        ("t", "ada", "fled", True),
        ("t", "bob", "cost", False),
    ]
    assert [c.label for c in read] == [LABELS["fled"], LABELS["cost"]]
    assert correct(judged(), read) == correct(judged(), CORRECTIONS)


def test_a_corrected_study_can_be_saved_and_judged_again(tmp_path: Path) -> None:
    study = correct(judged(), CORRECTIONS)
    pyr.save(study, tmp_path / "corrected.jsonl")
    assert pyr.load(tmp_path / "corrected.jsonl") == study
    rows = [j for j in study.judgments if j.judge == "align"]
    again = with_judgments(study, "align", pyr.Judgments(replace(j, value=0.95) for j in rows))
    assert verdicts(again, "bob") == dict.fromkeys(LABELS, "expressed") | {"cost": "not found"}


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_rows_does_not_matter(seed: int) -> None:
    study = correct(judged(), CORRECTIONS)
    rows = list(study.judgments)
    random.Random(seed).shuffle(rows)
    mixed = replace(study, judgments=pyr.Judgments(rows), judges=study.judges[::-1])
    assert pyr.score(mixed) == pyr.score(study)
    assert [verdicts(mixed, name) for name in TEXTS] == [verdicts(study, name) for name in TEXTS]
    assert correct(judged(), CORRECTIONS[::-1]).judges == study.judges


def test_a_person_of_the_same_name_is_somebody_else() -> None:
    held = judged()
    named = replace(held, judges=(*held.judges, pyr.Judge("teacher", "expert")))
    assert correct(named, CORRECTIONS).judges[-1] == pyr.Judge("teacher-2", "expert", corrects="align")


def test_who_corrects_is_not_a_judge_alone() -> None:
    study = correct(judged(), CORRECTIONS)
    assert study.judges_of("expert") == frozenset()
    with pytest.raises(pyr.UsageError, match="teacher only corrects align, and does not judge alone; choose align"):
        pyr.score(study, "pyramid", judges="teacher")
    assert pyr.score(study, "pyramid", judges="align").scores == pyr.score(study, "pyramid", judges="all").scores


@pytest.mark.parametrize(
    ("corrects", "message"),
    [("nobody", "corrects 'nobody', who is not"), ("teacher", "corrects 'teacher', who is not")],
)
def test_correcting_nobody_or_oneself_is_a_problem(corrects: str, message: str) -> None:
    study = replace(judged(), judges=(*judged().judges, pyr.Judge("teacher", "expert", corrects=corrects)))
    assert any(message in str(problem) for problem in study.problems())


def test_an_expert_can_be_corrected_and_a_crowd_cannot() -> None:
    expert = pyr.Judge("ann", "expert")
    rounded = pyr.Judgments(replace(j, value=round(j.value or 0)) for j in judged(expert).judgments)
    study = replace(judged(expert), judgments=rounded)
    assert verdicts(correct(study, CORRECTIONS), "ada")["fled"] == "expressed"
    with pytest.raises(pyr.UsageError, match="verdicts of one expert or model, and these are by w1"):
        correct(judged(pyr.Judge("w1")), CORRECTIONS)
    two = replace(study, judges=(expert, pyr.Judge("ben", "expert")))
    two = replace(two, judgments=two.judgments + [replace(j, judge="ben") for j in study.judgments])
    with pytest.raises(pyr.UsageError, match="these are by ann, ben; name one with judges"):
        correct(two, CORRECTIONS)
    assert correct(two, CORRECTIONS, judges="ben").judges[-1].corrects == "ben"


def test_unmatched_content_stays_what_the_program_counted() -> None:
    held = judged()
    counted = [pyr.Judgment("t", name, "align", 2.0, aspect=UNMATCHED) for name in TEXTS]
    study = correct(replace(held, judgments=held.judgments + counted), CORRECTIONS)
    assert explain(study, "t", "ada").unmatched == 2


# -- files that do not fit -------------------------------------------------------------------------------------------


def line(**changed: Any) -> str:
    held = {"topic": "t", "system": "ada", "unit": "fled", "verdict": "expressed", **changed}
    return json.dumps({name: value for name, value in held.items() if value is not None})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (line(verdict="perhaps"), 'line 1: the verdict on unit fled must be "expressed" or "not found", not "perhaps"'),
        (line(unit=None), "line 1: field 'unit' is missing"),
        (line(system=3), "line 1: field 'system' must be text"),
        (line(label=["x"]), "line 1: field 'label' must be text"),
        (f"{line()}\n[1]", "line 2: is not a JSON object"),
        (f"{line()}\n{{", "line 2: "),
        (
            f"{line()}\n\n{line(verdict='not found')}",
            "line 3: unit fled of ada on t has another correction at .*line 1",
        ),
        (line(topic="x"), "line 1: there is no topic 'x' with a pyramid 'auto'"),
        (line(system="eve"), "line 1: topic t has no summary by 'eve'"),
        (line(unit="u9"), "line 1: topic t has no unit 'u9' in pyramid 'auto'"),
        (
            line(label="Ten cats fled"),
            "line 1: unit fled of topic t now reads 'Ten families fled', not 'Ten cats fled'",
        ),
        (line(text="0123"), "line 1: the summary by ada on t has changed since unit fled was checked"),
    ],
)
def test_a_bad_file_names_line_and_id(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "corrections.jsonl"
    path.write_text(text)
    with pytest.raises(pyr.InputError, match=message):
        correct(judged(), read_corrections(path))


def test_the_same_line_twice_is_one_correction(tmp_path: Path) -> None:
    path = tmp_path / "corrections.jsonl"
    path.write_text(f"{line(text=fingerprint(TEXTS['ada']))}\n" * 2)
    assert len(read_corrections(path)) == 1


def test_a_missing_file_says_where_one_comes_from(tmp_path: Path) -> None:
    with pytest.raises(pyr.UsageError, match=r"no such file; `check\.html` in a folder of feedback pages writes one"):
        read_corrections(tmp_path / "none.jsonl")


# -- the command -----------------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> Path:
    pyr.save(judged(), tmp_path / "judged.jsonl")
    (tmp_path / "new.jsonl").write_text(write_corrections(CORRECTIONS))
    assert run("feedback", tmp_path / "judged.jsonl", "-o", tmp_path / "pages").returncode == 0
    return tmp_path


def test_pages_are_made_again_with_corrections(files: Path) -> None:
    study, pages, saved = files / "judged.jsonl", files / "pages", files / "corrected.jsonl"
    refused = run("feedback", study, "-o", pages, "--corrections", files / "new.jsonl")
    assert refused.returncode == 2
    assert "already exists" in refused.stderr
    asked = "--corrections", files / "new.jsonl", "--replace"
    done = run("feedback", study, "-o", pages, *asked, "--save", saved)
    assert done.returncode == 0, done.stderr
    assert "Used 2 corrections from" in done.stdout
    page = (pages / "writers" / "ada" / "t.html").read_text()
    assert "Your summary expresses 2 of the 2 main ideas of the reference summaries." in page
    assert "Your teacher checked 1 of the verdicts." in page
    assert "(checked by your teacher)" in page
    assert len(read_corrections(pages / "corrections.jsonl")) == 2
    made = run("score", saved, "--json")
    scores = {s["system"]: s["value"] for s in json.loads(made.stdout)["scores"] if s["measure"] == "modified"}
    assert scores == pytest.approx({"ada": 4.1 / 5, "bob": 0.0})
    shown = json.loads(run("show", saved, "--system", "bob", "--json").stdout)
    assert [unit["id"] for unit in shown["missed"] if unit.get("corrected")] == ["cost"]


def test_corrections_in_the_folder_are_never_lost(files: Path) -> None:
    study, pages = files / "judged.jsonl", files / "pages"
    (pages / "corrections.jsonl").write_text((files / "new.jsonl").read_text())
    lost = run("feedback", study, "-o", pages, "--replace")
    assert lost.returncode == 2
    assert "has corrections that the new pages would not have; give it with --corrections" in lost.stderr
    kept = run("feedback", study, "-o", pages, "--corrections", pages / "corrections.jsonl", "--replace")
    assert kept.returncode == 0, kept.stderr
    assert len(read_corrections(pages / "corrections.jsonl")) == 2


def test_only_feedback_pages_are_replaced(files: Path) -> None:
    study, pages = files / "judged.jsonl", files / "pages"
    (pages / "thesis.docx").write_text("years of work")
    done = run("feedback", study, "-o", pages, "--replace")
    assert done.returncode == 2
    assert "it holds thesis.docx" in done.stderr
    assert (pages / "thesis.docx").read_text() == "years of work"
    (files / "other").mkdir()
    (files / "other" / "writers").mkdir()
    (files / "other" / "grades.csv").write_text("mine")
    assert run("feedback", study, "-o", files / "other", "--replace").returncode == 2
    assert run("feedback", study, "-o", study, "--replace").returncode == 2
    assert run("feedback", study, "-o", files / "fresh", "--replace").returncode == 0


def test_a_bad_correction_leaves_the_pages_alone(files: Path) -> None:
    (files / "new.jsonl").write_text(line(unit="u9"))
    before = (files / "pages" / "overview.html").read_text()
    asked = "--corrections", files / "new.jsonl", "--replace"
    done = run("feedback", files / "judged.jsonl", "-o", files / "pages", *asked)
    assert done.returncode == 1
    assert "line 1: topic t has no unit 'u9'" in done.stderr
    assert (files / "pages" / "overview.html").read_text() == before


def test_saving_needs_corrections(files: Path) -> None:
    done = run("feedback", files / "judged.jsonl", "-o", files / "other", "--save", files / "s.jsonl")
    assert done.returncode == 2
    assert "--save" in done.stderr


# -- one route -------------------------------------------------------------------------------------------------------


def without_heads(folder: Path) -> dict[str, str]:
    pages = {path.relative_to(folder): path.read_text() for path in folder.rglob("*.html")}
    return {str(name): text for name, text in pages.items() if name.name != "check.html"}


def test_the_same_judgments_give_the_same_pages_by_whatever_name_and_method(tmp_path: Path) -> None:
    """`judge` judges as align and is scored by the Pyramid method, `auto run` as auto by its own."""
    pages = []
    for name, method in (("align", "pyramid"), ("auto", "auto")):
        study = judged(pyr.Judge(name, "model", expressed=0.6, perhaps=0.2))
        found: Findings = findings(study, resamples=20)
        assert found.main.method == method
        write_feedback(found, tmp_path / name)
        pages.append(without_heads(tmp_path / name))
    assert pages[0] == pages[1]
