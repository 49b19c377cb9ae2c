"""What to say about a path that no format recognises: the nearest layout, with an example of three lines, and the
option that would help."""

from __future__ import annotations

from pathlib import Path

from pyramidion import plugins
from pyramidion.formats.columns import JUDGMENTS, REFERENCE, SYSTEM, TOPIC, matching
from pyramidion.formats.files import files, subfolders
from pyramidion.formats.rows import first_row, is_number, is_table
from pyramidion.formats.text_columns import NoTextsError, text_columns

TEXTS = (
    "id,system,summary,reference",
    "floods,bart,Water came.,The river rose.",
    "floods,t5,Rain fell.,The river rose.",
)
ANSWERS = ("judge,topic,system,rating", "anna,floods,bart,4", "ben,floods,bart,5")
FOLDERS = ("references/floods.txt", "bart/floods.txt", "t5/floods.txt")
LINES = ("references.txt", "bart.txt", "t5.txt")


def explain(path: Path) -> str:
    """Why a path is in no known format, and what would be."""
    known = f"--from names a format: {', '.join(plugins.names('formats'))}"
    if path.is_dir():
        return f"{path} is in no known format{_about_folder(path)}\n{known}"
    if not is_table(path):
        text = " Text files belong in a folder." if path.suffix.lower() == ".txt" else ""
        what = f"{path} is in no known format.{text} The nearest layout is a table of texts, such as texts.csv:"
        return "\n".join([what, *_indented(TEXTS), known])
    return f"{path} is in no known format{_about_table(path)}\n{known}"


def _indented(lines: tuple[str, ...]) -> list[str]:
    return [f"    {line}" for line in lines]


def _about_folder(path: Path) -> str:
    tables = [file for file in sorted(path.iterdir()) if is_table(file)]
    if (meant := path / "study.jsonl") in tables or (len(tables) == 1 and (meant := tables[0])):
        return f"; did you mean {meant}?"
    if files(path, ".txt"):
        what = ". The nearest layout is references.txt and <system>.txt, where line n of each is about topic n:"
        return "\n".join([what, *_indented(LINES)])
    folders = ", ".join(folder.name for folder in subfolders(path)[:5])
    which = f"none of its folders with texts ({folders}) is called references or gold" if folders else "it has no texts"
    what = f": {which}. The nearest layout is references/<topic>.txt and <system>/<topic>.txt:"
    return "\n".join([what, *_indented(FOLDERS)])


def _about_table(path: Path) -> str:
    row = first_row(path)
    names = list(row)
    if not names:
        return "\n".join([": it has no rows. A table of texts has:", *_indented(TEXTS)])
    listed = f"Its columns are: {', '.join(names)}."
    if matching(names, JUDGMENTS["judge"]) or (matching(names, SYSTEM) and not _texts(row)):
        lacking = [role for role in ("judge", "topic", "system") if not matching(names, JUDGMENTS[role])]
        lacking = lacking or ["value"]
        what = f": no column is for the {' or the '.join(lacking)}. The nearest layout is a table of judgments:"
        option = ",".join(f"{role}=COLUMN" for role in lacking)
        scores = " If it holds scores, `pyramidion analyze` reads it." if "judge" in lacking else ""
        return "\n".join([what, *_indented(ANSWERS), f"{listed} Name yours with --columns {option}.{scores}"])
    try:
        found = text_columns(names, {}, lambda name: is_number(row[name]), lambda _name: True)
        problem = "one column is not enough" if found.references else "no column is called like a reference"
    except NoTextsError as error:
        problem = str(error)
    roles = {"topic": TOPIC, "reference": REFERENCE}
    texts = _texts(row) or names
    mine = {role: next(iter(matching(names, known)), "") for role, known in roles.items()}
    mine["summary"] = next((name for name in texts if name not in mine.values()), texts[0])
    mine["reference"] = mine["reference"] or next((n for n in texts if n not in mine.values()), "COLUMN")
    option = f"--columns summary={mine['summary']},reference={mine['reference']}"
    what = f": {problem}. The nearest layout is a table of texts:"
    return "\n".join([what, *_indented(TEXTS), f"{listed} Name yours with e.g. {option}."])


def _texts(row: dict[str, object]) -> list[str]:
    """The columns that hold more than a name, as far as the first row shows."""
    return [name for name, cell in row.items() if isinstance(cell, str) and len(cell.split()) > 2]
