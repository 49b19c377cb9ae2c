"""What is imported into a study database carries no ids of people, and everything else of it stays as it was."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyramidion as pyr
from pyramidion.campaigns.desk import PSEUDONYM, CampaignDesk, with_pseudonyms
from pyramidion.store.database import Database
from pyramidion.study import Assignment, Judge, Judgment, Judgments, Pyramid


def crowd_ids(study: pyr.Study) -> set[str]:
    return {judge.id for judge in study.judges if judge.kind == "crowd"}


def test_workers_are_renamed_wherever_they_occur(example: pyr.Study) -> None:
    [expert, *_] = [judge.id for judge in example.judges if judge.kind == "expert"]
    [pyramid, *_] = example.pyramids
    written = Pyramid(
        pyramid.topic, pyramid.references, (replace(pyramid.units[0], author="A1WORKER"),), name="by the crowd"
    )
    judgments = Judgments(
        [
            Judgment("t", "s", "A1WORKER", unit="u", value=1.0, task="k"),
            Judgment("t", "s", expert, unit="u", value=0.0, task="k"),
        ]
    )
    study = replace(
        example,
        judges=(Judge("A1WORKER"), Judge(expert, "expert")),
        judgments=judgments,
        assignments=(Assignment("k", "A1WORKER", seconds=3.0), Assignment("k", expert)),
        pyramids=(written,),
    )
    found = with_pseudonyms(study, lambda id: f"<{id}>")
    assert [judge.id for judge in found.judges] == ["<A1WORKER>", expert]
    assert [(j.judge, j.value) for j in found.judgments] == [("<A1WORKER>", 1.0), (expert, 0.0)]
    assert [(a.judge, a.seconds) for a in found.assignments] == [("<A1WORKER>", 3.0), (expert, None)]
    assert found.pyramids[0].units[0].author == "<A1WORKER>"
    assert found.summaries == example.summaries


def test_an_imported_study_has_pseudonyms_and_the_same_scores(example: pyr.Study, tmp_path: Path) -> None:
    desk = CampaignDesk(Database.create(tmp_path / "study.db"))
    desk.import_study(example)
    held = desk.studies.load()
    assert crowd_ids(example)
    assert all(PSEUDONYM.fullmatch(id) for id in crowd_ids(held))
    assert len(crowd_ids(held)) == len(crowd_ids(example))
    assert list(pyr.score(held, "lite")) == list(pyr.score(example, "lite"))
    assert desk.import_study(example) == 0, "the same file again brings nothing new"
    assert desk.import_study(held) == 0, "and so does what was exported"
    other = CampaignDesk(Database.create(tmp_path / "other.db"))
    other.import_study(example)
    assert not crowd_ids(held) & crowd_ids(other.studies.load()), "another study, other pseudonyms"
    desk.database.close()
    other.database.close()
