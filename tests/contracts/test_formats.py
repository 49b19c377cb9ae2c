"""One suite for every format: it is recognised, keeps what it says it holds, reports the rest, survives garbage."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.strategies import partial_studies

import pyramidion as pyr
from pyramidion import formats, plugins
from pyramidion.errors import Problems, PyramidionError
from pyramidion.formats import inspect, losses, parts, save

NAMES = plugins.names("formats")
ONE_FILE = {"jsonl", "sacrerouge", "table"}
WRITABLE = [name for name in NAMES if formats.get(name).write]


def written(study: pyr.Study, name: str, folder: Path) -> Path:
    path = folder / ("study.jsonl" if name in ONE_FILE else "study")
    save(study, path, format=name)
    return path


@pytest.mark.parametrize("name", WRITABLE)
def test_what_it_writes_is_recognised_as_its_own_and_sound(name: str, example: pyr.Study, tmp_path: Path) -> None:
    path = written(example, name, tmp_path)
    loaded = inspect(path)
    assert loaded.format == name
    assert loaded.errors == ()


@pytest.mark.parametrize("name", WRITABLE)
def test_texts_it_holds_come_back_exactly(name: str, example: pyr.Study, tmp_path: Path) -> None:
    back = pyr.load(written(example, name, tmp_path))
    held = formats.get(name).holds
    for part, role in (("peers", "peer"), ("references", "reference")):
        texts = {(s.topic, s.text) for s in example.summaries if s.role == role}
        if part in held:
            assert {(s.topic, s.text) for s in back.summaries if s.role == role} == texts
    assert "peers" in held


@pytest.mark.parametrize("name", WRITABLE)
def test_what_it_does_not_hold_is_reported(name: str, example: pyr.Study, tmp_path: Path) -> None:
    target = formats.get(name)
    reported = " ".join(str(problem) for problem in save(example, tmp_path / "out", format=name))
    for part, count in parts(example).items():
        assert (f"cannot hold {part}" in reported) == bool(count and part not in target.holds)
    assert target.holds <= set(parts(example))


WORDS = {
    "topics": ("topic",),
    "references": ("reference", "topic"),
    "peers": ("peer", "system", "topic"),
    "pyramids": ("pyramid", "topic"),
    "units": ("unit", "pyramid", "topic"),
    "answers on units": ("judgments", "labels are", "labels of", "text of this peer"),
    "ratings": ("ratings",),
}
"""What a report of each loss is about."""


def amounts(study: pyr.Study) -> dict[str, int]:
    given = study.judgments.take(~np.isnan(study.judgments.value))
    on_units = int((~given.unit.is_in({""})).sum())
    counts = {part: study.counts()[part] for part in ("topics", "references", "peers", "pyramids", "units")}
    return {**counts, "answers on units": on_units, "ratings": len(given) - on_units}


@pytest.mark.parametrize(
    ("name", "suffix"),
    [*((name, ".jsonl" if name in ONE_FILE else "") for name in WRITABLE), ("mturk", ".csv"), ("ducview", ".pyr")],
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=40)
@given(study=partial_studies())
def test_nothing_is_lost_without_a_word(
    name: str, suffix: str, study: pyr.Study, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert not [problem for problem in study.problems() if problem.severity == "error"]
    path = tmp_path_factory.mktemp("lost") / f"study{suffix}"
    try:
        reported = "\n".join(map(str, save(study, path, format=name)))
    except pyr.UsageError:
        assert not path.exists()
        return
    back = amounts(inspect(path, format=name).study)
    for part, count in amounts(study).items():
        if back[part] < count:
            lines = [line for line in reported.splitlines() if any(word in line for word in WORDS[part])]
            assert lines, f"{count - back[part]} {part} lost, reported is only: {reported}"


@pytest.mark.parametrize(("name", "measure"), [("ducview", "modified"), ("lite23", "recall")])
def test_expert_scores_survive(name: str, measure: str, example: pyr.Study, tmp_path: Path) -> None:
    back = pyr.load(written(example, name, tmp_path))
    expected = pyr.score(example, "pyramid").per_system(measure)
    assert pyr.score(back, "pyramid", measures=[measure]).per_system(measure) == expected


def test_crowd_scores_survive_mturk(example: pyr.Study, tmp_path: Path) -> None:
    back = pyr.load(written(example, "mturk", tmp_path))
    assert pyr.score(back, "lite").per_system("lite") == pyr.score(example, "lite").per_system("lite")


@pytest.mark.parametrize("name", NAMES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(garbage=st.binary(max_size=300))
def test_garbage_is_an_error_never_a_crash(name: str, garbage: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("garbage")
    files = [
        "x.jsonl",
        "x.csv",
        "x.pyr",
        "x.pan",
        "SCUs.txt",
        "ids.txt",
        "topics/t/references/a.txt",
        "peers/D1.M.250.A.1",
    ]
    for file in files:
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(garbage)
    for path in [folder, *(folder / file for file in files)]:
        problems = Problems()
        try:
            study = formats.get(name).read(path, problems)
        except (PyramidionError, NotADirectoryError, IsADirectoryError):
            continue
        study.problems()


def test_losses_name_every_part_once(example: pyr.Study) -> None:
    found = [str(problem) for problem in losses(example, formats.get("folder"))]
    assert len(found) == len(set(found))
    assert "folder: cannot hold unit judgments; 4650 left out" in found


def test_detection_explains_itself(tmp_path: Path) -> None:
    with pytest.raises(pyr.UsageError, match="does not exist"):
        formats.detect(tmp_path / "nowhere")
    (tmp_path / "x").write_text("")
    with pytest.raises(pyr.UsageError, match="ducview, file-names, folder, jsonl"):
        formats.detect(tmp_path / "x")
