"""What to say about a path that no format recognises: the nearest layout, with an example of three lines, and the
option that would help."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from pyramidion import plugins
from pyramidion.errors import FEW, Problems
from pyramidion.formats.columns import (
    INDEX,
    JUDGMENTS,
    PREDICTION,
    REFERENCE,
    SOURCE,
    SYSTEM,
    TOPIC,
    Columns,
    matching,
)
from pyramidion.formats.files import files, subfolders
from pyramidion.formats.rows import RowTable, first_rows, is_table
from pyramidion.formats.text_columns import ABOUT, NoTextsError, columns_option, text_columns

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
    problems = Problems()
    table = first_rows(path, problems)
    if any("\0" in name for name in table.columns):
        problems.error(str(path), "is not UTF-8, but perhaps UTF-16; save the file as UTF-8")
    unsound = list(map(str, problems.errors[:FEW]))
    if unsound and (not table.columns or not table.rows):
        return "\n".join([f"{path} cannot be read:", *unsound])
    return "\n".join([f"{path} is in no known format{_about_columns(table, columns_option)}", *unsound, known])


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


def explain_table(table: RowTable) -> str:
    """Why a table in memory is not one of texts, and what would be."""
    return f"the table is in no known format{_about_columns(table, _argument)}"


def _argument(columns: Columns) -> str:
    return f"columns={ {role: held[0] if len(held) == 1 else list(held) for role, held in columns.items()} }"


def _about_columns(table: RowTable, write: Callable[[Columns], str]) -> str:
    """What is wrong with the columns of a table; ``write`` writes those to name as the caller would."""
    names = table.columns
    if not names:
        return "\n".join([": it has no rows. A table of texts has:", *_indented(TEXTS)])
    listed = f"Its columns are: {', '.join(names)}."
    texts = [name for name in names if table.holds_texts(name)]
    if matching(names, JUDGMENTS["judge"]) or (matching(names, SYSTEM) and not texts):
        lacking = [role for role in ("judge", "topic", "system") if not matching(names, JUDGMENTS[role])]
        lacking = lacking or ["value"]
        what = f": no column is for the {' or the '.join(lacking)}. The nearest layout is a table of judgments:"
        scores = " If it holds scores, `pyramidion analyze` reads it." if "judge" in lacking else ""
        option = write(dict.fromkeys(lacking, ("COLUMN",)))
        return "\n".join([what, *_indented(ANSWERS), f"{listed}{scores} Name yours with {option}"])
    try:
        found = text_columns(table, {})
        problem = "no column holds summaries" if not found.summaries else "no column is called like a reference"
        problem = "one column is not enough" if len(names) == 1 else problem
    except NoTextsError as error:
        problem = str(error)
    meant = suggest_columns(table)
    lacking = [role for role in ("summary", "reference") if role not in meant]
    if lacking:
        listed += f" No {'other ' * bool(meant)}column looks like one of {' or of '.join(_PLURAL[r] for r in lacking)}."
    lines = [f": {problem}. The nearest layout is a table of texts:", *_indented(TEXTS), listed]
    return "\n".join([*lines, f"Name yours with e.g. {write(meant)}"] if "summary" in meant else lines)


_PLURAL: dict[str, str] = {"summary": "summaries", "reference": "references"}
_STEMS = {
    "reference": ("refer", "gold", "target", "truth", "human"),
    "system": ("model", "system", "summarizer"),
    "topic": ("id", "nr", "no", "number", "doc", "topic"),
    "summary": ("pred", "hypo", "output", "generat", "candid", "summar", "decod"),
}
"""How words in the names of columns begin that are not recognised by their whole name, but are worth a suggestion."""


def suggest_columns(table: RowTable) -> Columns:
    """What the columns of a table may hold, by their names, by words in them, and by their cells; each for one role at
    most, and texts and names never in each other's place."""
    chosen: dict[str, str] = {}
    known = {"topic": TOPIC, "system": SYSTEM, "reference": REFERENCE, "summary": PREDICTION}
    set_apart = matching(table.columns, (*SOURCE, *INDEX, *ABOUT))

    def choose(role: str, candidates: Iterable[str]) -> None:
        fits = table.holds_labels if role in {"topic", "system"} else table.holds_texts
        free = (name for name in candidates if name not in chosen.values() and name not in set_apart and fits(name))
        if role not in chosen and (name := next(free, None)) is not None:
            chosen[role] = name

    def has_one(name: str, reference: str) -> bool:
        """Whether rows that share a name share the reference, as those about one topic do."""
        return len({*table.values(name, reference)}) == len({*table.values(name)})

    for role, called in known.items():
        held = matching(table.columns, called)
        choose(role, held)
        if held and role in {"summary", "reference"}:
            chosen.setdefault(role, held[0])  # the name says it, however short the text
    for role, stems in _STEMS.items():
        choose(role, (name for name in table.columns if _begins_a_word(name, stems)))
    choose("reference", filter(table.repeats, table.columns) if "summary" not in chosen else ())
    for role in ("summary", "reference"):
        choose(role, table.columns)
    if "reference" in chosen:
        choose("topic", (name for name in table.columns if table.repeats(name) and has_one(name, chosen["reference"])))
    shared = [chosen["topic"]] if "topic" in chosen and table.repeats(chosen["topic"]) else []
    systems = (name for name in table.columns if not (shared and table.repeats(*shared, name)))
    choose("system", filter(table.may_name_systems, systems))
    choose("topic", filter(table.holds_names, table.columns))
    return {role: (chosen[role],) for role in ("summary", "reference", "system", "topic") if role in chosen}


def _begins_a_word(name: str, stems: tuple[str, ...]) -> bool:
    words = re.findall(r"[^\W_]+", name.lower())
    return any(word == stem or (len(stem) > 2 and word.startswith(stem)) for word in words for stem in stems)
