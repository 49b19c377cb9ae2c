"""Archives are read like what is in them, and nothing in them can do harm."""

from __future__ import annotations

import io
import stat
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

import pyramidion as pyr
from pyramidion.formats import archives, inspect

TEXTS = {
    "mine/references/floods.txt": "The river rose on Monday.",
    "mine/bart/floods.txt": "Water came.",
    "mine/t5/floods.txt": "Rain fell.",
}


def zipped(path: Path, files: Mapping[str, str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def tarred(path: Path, files: Mapping[str, str]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    return path


PACKERS: dict[str, Callable[[Path, Mapping[str, str]], Path]] = {"texts.zip": zipped, "texts.tar.gz": tarred}


@pytest.mark.parametrize("name", PACKERS)
def test_an_archive_is_read_like_the_folder_in_it(name: str, tmp_path: Path) -> None:
    litter = {"__MACOSX/mine/._x": "?", "mine/.DS_Store": "?"}
    study = pyr.load(PACKERS[name](tmp_path / name, TEXTS | litter))
    for path, text in TEXTS.items():
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    assert study.counts() == pyr.load(tmp_path / "mine").counts()
    assert {(peer.system, peer.text) for peer in study.peers} == {("bart", "Water came."), ("t5", "Rain fell.")}


def test_a_table_in_an_archive_and_where_its_problems_are(tmp_path: Path) -> None:
    rows = "id,system,summary,reference\nfloods,bart,Water came.,The river rose.\nfloods,bart,Twice.,The river rose.\n"
    loaded = inspect(zipped(tmp_path / "table.zip", {"out/texts.csv": rows}))
    assert loaded.format == "table"
    assert loaded.errors
    assert not any("/tmp" in str(problem) or str(tmp_path) in str(problem) for problem in loaded.problems)
    with pytest.raises(pyr.UsageError, match=r"^notes.txt is in no known format"):
        inspect(zipped(tmp_path / "other.zip", {"notes.txt": "nothing"}))


@pytest.mark.parametrize("name", ["../out.txt", "/etc/passwd", "a/../../out.txt", "a\\..\\x.txt", "C:/x.txt", "a//b"])
@pytest.mark.parametrize("kind", PACKERS)
def test_nothing_is_written_outside(kind: str, name: str, tmp_path: Path) -> None:
    archive = PACKERS[kind](tmp_path / kind, {name: "outside"})
    with pytest.raises(pyr.UsageError, match="is not allowed"):
        pyr.load(archive)
    assert [*tmp_path.iterdir()] == [archive]


def test_links_are_refused(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "links.tar", "w") as archive:
        link = tarfile.TarInfo("mine/secrets.txt")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    with zipfile.ZipFile(tmp_path / "links.zip", "w") as packed:
        info = zipfile.ZipInfo("mine/secrets.txt")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        packed.writestr(info, "/etc/passwd")
    for name in ("links.tar", "links.zip"):
        with pytest.raises(pyr.UsageError, match="link"):
            pyr.load(tmp_path / name)


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes out is counted, whatever the archive says about itself."""
    monkeypatch.setattr(archives, "AT_LEAST", 2**20)
    bomb = zipped(tmp_path / "bomb.zip", {"mine/a.txt": "0" * (8 * 2**20)})
    assert bomb.stat().st_size < 2**14
    with pytest.raises(pyr.UsageError, match="far more than its size allows"):
        pyr.load(bomb)
    monkeypatch.setattr(archives, "MOST_FILES", 3)
    many = zipped(tmp_path / "many.zip", {f"mine/{n}.txt": "x" for n in range(4)})
    with pytest.raises(pyr.UsageError, match="more than 3 files"):
        pyr.load(many)


def test_a_broken_archive_is_explained(tmp_path: Path) -> None:
    for name in ("broken.zip", "broken.tar.gz"):
        (tmp_path / name).write_bytes(b"PK\x03\x04 not really")
        with pytest.raises(pyr.UsageError, match="cannot be unpacked"):
            pyr.load(tmp_path / name)
