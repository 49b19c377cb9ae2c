"""What a long run has finished, in files."""

from __future__ import annotations

from pathlib import Path

from pyramidion.formats.resumable import append_lines


def test_a_line_is_in_the_file_as_soon_as_it_is_told_of(tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    lines = append_lines(target, lambda done: ({"n": n} for n in range(done, 3)), lambda _done, _last: True)
    next(lines)
    assert (tmp_path / "out.jsonl.part").read_text() == '{"n": 0}\n', "whoever is killed now has kept it"
    assert len(list(lines)) == 2
    assert target.read_text() == '{"n": 0}\n{"n": 1}\n{"n": 2}\n'
