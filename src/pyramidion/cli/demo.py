"""`pyramidion demo`: the main job on the bundled example."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from rich.table import Table
from rich.text import Text

from pyramidion import distribution
from pyramidion.cli.output import Output, plain
from pyramidion.errors import UsageError
from pyramidion.formats import example, save
from pyramidion.formats.files import new_file
from pyramidion.formats.score_tables import write_scores
from pyramidion.report import report_page
from pyramidion.report.collect import findings
from pyramidion.scoring.methods import score
from pyramidion.study import ScoreTable

COLUMNS = (
    ("pyramid", "modified", "Pyramid", "experts annotate"),
    ("lite", "lite", "Lightweight", "crowd judges"),
    ("responsiveness", "overall", "Responsiveness", "people rate, 1-10"),
    ("auto", "coverage", "Automatic", "no people"),
    ("rouge", "rouge-2-recall", "ROUGE-2", "overlapping words"),
)
WITHOUT_PEOPLE = ("auto", "rouge")
REPORT = "report.html"


def run(folder: Path, output: Output) -> None:
    with output.busy("Scoring the example"):
        study = example()
        tables = {method: score(study, method) for method, *_ in COLUMNS}
        _make(folder)
        save(study, folder / "study.jsonl")
        for method, table in tables.items():
            write_scores(table, folder / f"scores-{method}.csv")
        with new_file(folder / REPORT) as file:
            file.write(report_page(findings(study)))
    counts = study.counts()
    output.result(
        {
            "folder": str(folder),
            "scores": {method: tables[method].per_system(measure) for method, measure, *_ in COLUMNS},
            "notes": [str(note) for note in tables["lite"].notes],
            "signatures": {method: str(table.signature) for method, table in tables.items()},
        }
    )
    output.show(
        f"The bundled example: {counts['topics']} topics, {counts['references']} references, "
        f"{counts['systems']} systems, {counts['units']} units, {counts['judgments']} judgments.\n"
    )
    output.show(_ranking(tables))
    for note in tables["lite"].notes:
        output.show(f"  {plain(str(note))}")
    command = _command()
    output.show(
        f"\n{_moral(tables)}\n"
        f"Results are in {plain(str(folder))}/ - open {plain(str(folder / REPORT))} in a browser, or try next:\n"
        f"  {command} show {plain(str(folder))}/study.jsonl --system paraphrase\n"
        f"  {command} score {plain(str(folder))}/study.jsonl --method pyramid --by summary"
    )


def _command() -> str:
    """What to type to call this program again."""
    started = Path(sys.argv[0]).name == distribution.NAME
    if started and "UV" in os.environ:  # uvx puts the command on the path only for as long as it runs
        return f"uvx {distribution.NAME}"
    if started and "pipx" in Path(sys.prefix).parts:
        return f"pipx run {distribution.NAME}"
    # After `make demo` the command is in .venv, which few people have on their path.
    return "pyramidion" if shutil.which("pyramidion") else sys.argv[0]


def _make(folder: Path) -> None:
    """Use only a new folder, or one that an earlier demo made, so that no other files are replaced."""
    made = {"study.jsonl", REPORT, *(f"scores-{method}.csv" for method, *_ in COLUMNS)}
    if folder.exists() and (not folder.is_dir() or {entry.name for entry in folder.iterdir()} - made):
        raise UsageError(f"{folder} contains other files; choose another folder with --output")
    folder.mkdir(parents=True, exist_ok=True)


def _ranking(tables: dict[str, ScoreTable]) -> Table:
    drawn = Table(title="How good is the content? (rank)", title_justify="left")
    drawn.add_column("system")
    ranks: list[dict[str, Text]] = []
    for method, measure, title, how in COLUMNS:
        drawn.add_column(Text.assemble(f"{title}\n", (how, "dim")), justify="right")
        order = tables[method].ranking(measure)
        ranks.append(
            {
                name: Text.assemble(f"{value:.3f} ", (f"({place})", "dim"))
                for place, (name, value) in enumerate(order, 1)
            }
        )
    for system, _ in tables["pyramid"].ranking("modified"):
        drawn.add_row(system, *(column[system] for column in ranks))
    return drawn


def _moral(tables: dict[str, ScoreTable]) -> str:
    """Say in words what the table shows."""
    orders = {method: [name for name, _ in tables[method].ranking(measure)] for method, measure, *_ in COLUMNS}
    human = [order for method, order in orders.items() if method not in WITHOUT_PEOPLE]
    best = human[0][0]
    auto, rouge = (orders[method].index(best) + 1 for method in WITHOUT_PEOPLE)
    agree = "People agree on the order" if all(order == human[0] for order in human) else "People differ on the order"
    return (
        f"{agree}. {best.capitalize()} uses its own words: ROUGE, which counts words, ranks it {rouge}, the "
        f"automatic pyramid {auto}."
    )
