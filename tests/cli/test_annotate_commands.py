"""What experts annotated, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.test_campaigns import made
from tests.cli.test_commands import refused, run

import pyramidion as pyr
from pyramidion.annotation.desk import AnnotationDesk
from pyramidion.store.database import Database
from pyramidion.store.studies import Studies

TOPIC = "drought-plan"


def annotated(place: Path) -> None:
    """What somebody did on the pages: the example's annotation, as anna's."""
    database = Database.open(place)
    study = Studies(database).load()
    desk = AnnotationDesk(database, lambda: study)
    pyramid = desk.begin_pyramid(TOPIC, name="anna", owner="anna", start="expert").id
    for system in study.systems:
        desk.begin_peer(TOPIC, system, name="anna", owner="anna", pyramid=pyramid, start="annotator")
    desk.begin_pyramid(TOPIC, name="ben", owner="ben", shared=True, start="expert")
    database.close()


def test_annotations_are_listed_exported_and_stored(tmp_path: Path) -> None:
    place = made(tmp_path)
    assert run("annotate", "list", place).stdout.startswith("No annotations yet")
    refused(run("annotate", "store", place), 2, "no annotation matches")
    annotated(place)
    rows = json.loads(run("annotate", "list", place, "--json").stdout)
    assert [row["system"] for row in rows] == ["", *pyr.example().systems, ""]
    assert {row["stored"] for row in rows} == {None}
    assert "ben and others" in run("annotate", "list", place, "--name", "ben").stdout
    refused(run("annotate", "list", place, "--id", 99), 2, "there is no annotation 99")

    refused(run("annotate", "export", place, tmp_path / "both"), 1, "unit u01: appears 2 times")
    assert run("annotate", "export", place, tmp_path / "out", "--name", "anna", "--to", "ducview", "-q").returncode == 0
    assert len(list((tmp_path / "out").iterdir())) == 7
    assert run("annotate", "export", place, tmp_path / f"{TOPIC}.pyr", "--id", 8, "-q").returncode == 0
    refused(run("annotate", "export", place, tmp_path / f"{TOPIC}.pyr", "--id", 8), 2, "--force replaces it")
    assert (tmp_path / f"{TOPIC}.pyr").read_bytes() == (tmp_path / "out" / f"{TOPIC}.pyr").read_bytes()

    assert pyr.load(tmp_path / "out").pyramid_names == ("expert",)
    assert "Stored 1: topic drought-plan, pyramid, anna." in run("annotate", "store", place, "--name", "anna").stdout
    assert json.loads(run("annotate", "store", place, "--id", 8, "--json").stdout) == {"stored": [8]}
    study = pyr.load(place)
    assert study.problems() == []
    mine = pyr.score(study, "pyramid", pyramid="anna", judges="anna")
    expected = pyr.score(pyr.example(), "pyramid", judges="annotator")
    for system in pyr.example().systems:
        for measure in expected.measures:
            assert mine.value(system, measure, TOPIC) == expected.value(system, measure, TOPIC)
    assert "yes" in run("annotate", "list", place, "--id", 8).stdout
