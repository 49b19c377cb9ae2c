"""What `auto run` leaves in a folder: scores, study, pyramids to open elsewhere, and a log for a person to read.

The log has every unit with its contributors, and for every peer what it expresses, to which degree, and where.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyramidion.errors import InputError, Problem, UsageError
from pyramidion.formats import guess_format, save
from pyramidion.formats.files import new_file
from pyramidion.formats.resumable import Parts
from pyramidion.formats.score_tables import write_scores
from pyramidion.study import ContentUnit, Judgment, Judgments, Pyramid, Score, ScoreTable, Study, Topic
from pyramidion.study.judgments import listed
from pyramidion.study.records import Collector, to_records
from pyramidion.study.texts import Span

JUDGE = "auto"
PARTS = "parts"
PYRAMIDS = "pyramids"
_OURS = frozenset({PARTS, PYRAMIDS, "scores.csv", "study.jsonl", "log.txt"})


@dataclass(frozen=True)
class TopicResult:
    """A topic's pyramid, what was judged by it, notes, and whether it was built now; scores and a log follow."""

    pyramid: Pyramid
    judgments: Judgments
    notes: tuple[Problem, ...]
    built: bool
    scores: tuple[Score, ...] = ()
    log: str = ""

    @property
    def topic(self) -> str:
        return self.pyramid.topic


def to_part(result: TopicResult) -> dict[str, Any]:
    """A finished topic as JSON; scores follow from the judgments."""
    study = Study(topics=(Topic(result.topic),), pyramids=(result.pyramid,), judgments=result.judgments)
    notes = [(note.where, note.what) for note in result.notes]
    return {"notes": notes, "log": result.log, "built": result.built, "study": list(to_records(study))}


def from_part(held: Mapping[str, Any]) -> TopicResult | None:
    """What `to_part` made; None where it is something else."""
    try:
        collector = Collector()
        for record in held["study"]:
            collector.add(record)
        study = collector.study()
        [pyramid] = study.pyramids
        notes = tuple(Problem(where, what, "warning") for where, what in held["notes"])
        return TopicResult(pyramid, study.judgments, notes, held["built"], log=held["log"])
    except (ValueError, KeyError, TypeError):
        return None


# -- the log ------------------------------------------------------------------------------------------------------


def pyramid_lines(
    pyramid: Pyramid, threshold: float, notes: Iterable[Problem], references: Mapping[str, str]
) -> Iterator[str]:
    """``threshold`` is the similarity from which clauses were joined."""
    yield f"TOPIC {pyramid.topic}"
    yield (
        f"Pyramid {pyramid.name}: {len(pyramid.references)} references, {len(pyramid.units)} units, "
        f"{pyramid.contributor_count} contributors; clauses joined from similarity {threshold:.3f}"
    )
    yield from (f"! {note}" for note in notes)
    for unit in pyramid.units:
        yield ""
        yield _heading(unit)
        for contributor in unit.contributors:
            text = references.get(contributor.reference, "")
            yield f"      {contributor.reference}: {_quoted(text, contributor.spans)}"
    yield ""


def peer_lines(
    pyramid: Pyramid,
    system: str,
    text: str,
    judgments: Iterable[Judgment],
    scores: Iterable[tuple[str, float | None]],
    similarity: Mapping[str, float],
    own: str = "",
) -> Iterator[str]:
    """What a peer expresses and what that adds up to. ``similarity`` has, by unit, what a matcher says besides yes;
    ``own`` is the reference that a human peer is.

    Every line of a unit begins with its degree: raw is the sum of degree x weight over them.
    """
    weighted = [unit for unit in pyramid.units if unit.weight]
    said = {judgment.unit: judgment for judgment in judgments}
    expressed = [(unit, said[unit.id]) for unit in weighted if listed(said[unit.id].value or 0)]
    outside = said[""].evidence if "" in said else ()
    yield f"PEER {system} of topic {pyramid.topic}"
    yield ", ".join(f"{name} {'undefined' if value is None else f'{value:.4f}'}" for name, value in scores)
    if own:
        yield f"It is reference {own} itself, so it is compared with the other references only."
    yield (
        f"{len(expressed)} of {len(weighted)} units expressed, at least in part; {len(outside)} segments "
        f"unmatched; {len(expressed) + len(outside)} content units in all"
    )
    for unit, judgment in expressed:
        yield f"  {judgment.value:.4f}  {_heading(unit)}"
        mention = judgment.evidence[0] if judgment.evidence else ()
        alike = similarity.get(unit.id, judgment.value)
        yield f"          {_quoted(text, mention)}" + (f"  similarity {alike:.3f}" if alike != judgment.value else "")
    for mention in outside:
        yield f"  unmatched  {_quoted(text, mention)}"
    yield ""


def _heading(unit: ContentUnit) -> str:
    return f"({unit.weight}) {unit.id}  {unit.label}"


def _quoted(text: str, spans: tuple[Span, ...]) -> str:
    parts = [" ".join(text[start:end].split()) for start, end in sorted(spans)]
    return f"“{' ... '.join(parts)}”" if parts else "(no words marked)"


# -- files --------------------------------------------------------------------------------------------------------


def make_folder(folder: Path) -> None:
    """Only a new folder, or one that an earlier run made: nobody's files are replaced. What a run that was killed had
    not finished writing is removed."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; choose another folder")
    others = [entry for entry in folder.iterdir() if entry.name not in _OURS] if folder.exists() else []
    if not all(map(_is_unfinished, others)):
        raise UsageError(f"{folder} contains other files; choose another folder")
    for entry in others:
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    folder.mkdir(parents=True, exist_ok=True)


def _is_unfinished(entry: Path) -> bool:
    """Whether this is one of our files or folders before it got its name (`files.new_file`, `files.new_folder`)."""
    return entry.suffix in {".part", ".old"} and any(entry.name.startswith(f".{name}.") for name in _OURS)


def write_run(
    folder: Path, table: ScoreTable, study: Study, parts: Iterable[str], *, pyramid: str
) -> tuple[Problem, ...]:
    """Scores first; a failed export to another tool's format does not stop the run. The log is long, so it is put
    together from the parts, one at a time."""
    write_scores(table, folder / "scores.csv")
    kept = Parts(folder / PARTS)
    with new_file(folder / "log.txt") as file:
        file.write(f"{table.signature}\n")
        for name in parts:
            file.write("\n" + kept.read(name)["log"])
    save(study, folder / "study.jsonl")
    shutil.rmtree(folder / PYRAMIDS, ignore_errors=True)
    try:
        save(_only_automatic(study, pyramid), folder / PYRAMIDS, format="ducview")
    except (InputError, UsageError) as error:
        return (Problem(str(folder / PYRAMIDS), f"no DUCView files: {str(error).splitlines()[0]}", "warning"),)
    return ()


def write_pyramids(study: Study, target: str, *, name: str) -> None:
    """Write a study with its new pyramids to a .jsonl or .pyr file or a folder of .pyr files."""
    path = Path(target)
    suffix = path.suffix.lower()
    if suffix in {".db", ".sqlite", ".sqlite3"}:
        raise UsageError(f"{target} does not exist; create it with: pyramidion init {target}")
    format = guess_format(path) if suffix else "ducview"
    save(_only_automatic(study, name) if format == "ducview" else study, path, format=format)


def _only_automatic(study: Study, name: str) -> Study:
    """The study with its automatic pyramids alone, for formats that hold one pyramid per topic."""
    models = tuple(judge for judge in study.judges if judge.id == JUDGE)
    return replace(
        study,
        pyramids=tuple(pyramid for pyramid in study.pyramids if pyramid.name == name),
        judges=models,
        judgments=study.judgments.take(study.judgments.judge.is_in({JUDGE})),
        aspects=(),
        tasks=(),
        assignments=(),
    )
