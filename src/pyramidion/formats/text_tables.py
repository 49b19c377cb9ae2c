"""Tables of texts: CSV, TSV, JSON Lines, JSON, Parquet, a folder of such files, and data frames in Python.

One row per summary (id, system, summary, reference), or one column per system beside that of the references. A cell
may hold several references as a list. A reference that rows repeat is stored once. Nothing depends on the order of
rows, but for the numbers of topics that have no id.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyramidion.errors import Problems, UsageError
from pyramidion.formats import Format
from pyramidion.formats.columns import REFERENCE, TOPIC, Columns, check_columns, matching
from pyramidion.formats.files import from_file_name, new_file, subfolders, write_rows
from pyramidion.formats.jsonl import is_native
from pyramidion.formats.judgment_tables import recognises as holds_judgments
from pyramidion.formats.layouts import explain_table, suggest_columns
from pyramidion.formats.mturk.columns import kind_of
from pyramidion.formats.rows import (
    CSV,
    JSON,
    PARQUET,
    BadCellError,
    RowTable,
    first_rows,
    is_number,
    is_table,
    joins_texts,
    name_in,
    read_table,
    reference_names,
    size_in_words,
    text_in,
    texts_in,
)
from pyramidion.formats.score_tables import need_parquet
from pyramidion.formats.text_columns import ABOUT, NoTextsError, TextColumns, columns_option, text_columns
from pyramidion.study import Study, Summary, Topic

ONLY_SYSTEM = "system"
"""The system's name where a table in memory has no column for it."""
BY_ROW_OF_SYSTEM = "topics numbered by row of each system"
NO_TOPIC, NAME_TOPIC = "no column says which topic a row is about,", "name it with --columns topic=COLUMN"


# -- which files -------------------------------------------------------------------------------------------------


def recognises(path: Path, columns: Columns | None = None) -> bool:
    if path.is_dir():
        tables = _tables_in(path)
        found = [_columns_of_file(table, columns or {}, among_others=len(tables) > 1) for table in tables]
        return bool(tables) and None not in found and any(c.summaries for c in found if c)
    found_here = _columns_of_file(path, columns or {}) if is_table(path) else None
    return found_here is not None and bool(found_here.summaries)


def _tables_in(path: Path) -> list[Path]:
    """The tables of a folder that has nothing else."""
    visible = sorted(entry for entry in path.iterdir() if not entry.name.startswith("."))
    return visible if not subfolders(path) and all(map(is_table, visible)) else []


def _columns_of_file(path: Path, given: Columns, *, among_others: bool = False) -> TextColumns | None:
    """The columns of a file, if it is a table of texts and of nothing more; judged by its first rows. Among other
    tables the file's name says whose summaries they are."""
    table = first_rows(path, Problems())
    names = table.columns
    row: Mapping[str, Any] = table.rows[0][1] if table.rows else {}
    if not names or "instance_id" in names or kind_of(names) or is_native(row) or holds_judgments(path, given):
        return None
    try:
        found = text_columns(table, given, among_others=among_others)
    except NoTextsError:
        return None
    if found.summaries and found.references and not found.wide:
        return found
    texts = [row.get(name) for name in (*found.summaries[:1], *found.references[:1])]
    enough = found.references or found.system or found.topic or among_others
    return found if enough and not any(map(is_number, texts)) else None


# -- reading -----------------------------------------------------------------------------------------------------


def read(source: Any, problems: Problems, columns: Columns | None = None) -> Study:
    """A study from one table, or from the tables of a folder, each of a system if it does not say whose it is."""
    folder = isinstance(source, Path) and source.is_dir()
    paths = _tables_in(source) if folder else [source]
    entries: list[_Entry] = []
    described = []
    sizes: dict[str, int] = {}
    hint = ""
    for path in paths:
        table = read_table(path, problems)
        where = str(path) if isinstance(path, Path) else "the table"
        check_columns(columns or {}, table.columns, where)
        try:
            found = text_columns(table, columns or {}, among_others=len(paths) > 1)
        except NoTextsError as error:
            if not isinstance(path, Path) and table.rows:
                raise UsageError(explain_table(table)) from None
            if table.columns or not problems.errors:
                option = columns_option(suggest_columns(table) or {"summary": ("COLUMN",)})
                what = f"is not a table of texts: {error}; name yours with e.g. {option}"
                problems.error(where, what if table.rows else "has no rows")
            continue
        system = from_file_name(table.name) or ONLY_SYSTEM
        if folder and found.summaries and not found.wide and system.lower() in REFERENCE:
            found = replace(found, summaries=(), references=found.summaries, system=None)
        if _holds_texts(found, table, where, problems):
            _say_what_is_joined(found, table, where, problems)
            new = list(_entries(found, table, where, system, problems))
            numbered = ""
            if found.topic is None:
                sizes[where] = len(table.rows)
                places = {where: place for place, (where, _) in enumerate(table.rows, 1)}
                numbered = _number_topics(new, places if folder or found.system is None else {})
                if numbered == BY_ROW_OF_SYSTEM and len(set(Counter(e.system for e in new).values())) > 1:
                    problems.error(where, f"{NO_TOPIC} and systems have different numbers of rows; {NAME_TOPIC}")
                    new = []
            entries += new
            hint = hint or _hint_at_twice(found, table)
            one = "system from the file's name" if folder else f"all by one system, called {system}"
            described.append(found.described(one, numbered))
    if len(set(sizes.values())) > 1:
        shown = ", ".join(f"{Path(where).name} {size}" for where, size in sizes.items())
        problems.error(str(source), f"{NO_TOPIC} and tables have different numbers of rows ({shown}); {NAME_TOPIC}")
        entries = []  # which row is about which topic is anybody's guess
    study = _assemble(entries, problems, hint)
    if described:
        rows = len({entry.where for entry in entries})
        size = size_in_words(rows=rows, systems=len(study.systems), topics=len(study.topics))
        name = f"{source.name}: " if isinstance(source, Path) else ""
        many = f"{len(described)} tables, the first " if len(described) > 1 else ""
        problems.recognised = f"{name}{many}{described[0]} ({size})"
    if not study.summaries and not problems.errors:
        problems.error(str(source) if isinstance(source, Path) else "the table", "has no rows")
    return study


def _holds_texts(found: TextColumns, table: RowTable, where: str, problems: Problems) -> bool:
    sound = True
    for role, names in (("summary", found.summaries), ("reference", found.references)):
        for name in names:
            if table.holds_numbers(name):
                what = f"column {name!r} holds numbers, where texts are expected"
                problems.error(where, f"{what}; name the column of texts with --columns {role}=COLUMN")
                sound = False
    if found.note:
        option = columns_option({"summary": found.references})
        problems.warning(where, f"{found.note}; if it is what a system wrote, say so with {option}")
    if _numbers_rows(found, table):
        what = f"no two rows have the same {found.topic}, so no two systems share a topic, though rows share references"
        problems.warning(where, f"{what}; if {found.topic} numbers the rows, leave it out")
    if found.unused:
        problems.warning(where, f"columns that are not used: {', '.join(map(repr, found.unused))}{_hint(found, table)}")
    return sound


def _numbers_rows(found: TextColumns, table: RowTable) -> bool:
    """Whether the topics of a table seem to be the numbers of its rows."""
    if found.topic is None or found.system is None or table.repeats(found.topic):
        return False
    return table.may_name_systems(found.system) and any(map(table.repeats, found.references))


def _hint(found: TextColumns, table: RowTable) -> str:
    """What to do if a column that is not used matters."""
    if found.left_out and found.wide:
        return f"; to say which hold summaries: {columns_option({'summary': found.summaries})}"
    if maybe := _maybe_system(found, table):
        return f"; if {maybe!r} says which system wrote a summary: {columns_option({'system': (maybe,)})}"
    return ""


def _hint_at_twice(found: TextColumns, table: RowTable) -> str:
    """What to do if a topic has two summaries by one system."""
    if maybe := _maybe_system(found, table):
        return f"; if the column {maybe!r} names systems: {columns_option({'system': (maybe,)})}"
    if others := matching(found.unused, TOPIC):
        return f"; if the column {others[0]!r} names topics: {columns_option({'topic': (others[0],)})}"
    return ""


def _maybe_system(found: TextColumns, table: RowTable) -> str | None:
    """A column that may tell systems apart, where all rows would be by one."""
    if found.system is not None or found.wide or not found.summaries:
        return None
    about = matching(found.unused, ABOUT)
    free = [name for name in found.unused if name not in about or matching([name], ("name", "type"))]
    return next(filter(table.may_name_systems, free), None)


def _say_what_is_joined(found: TextColumns, table: RowTable, where: str, problems: Problems) -> None:
    """A list may be of sentences or of texts: say which it was taken for."""
    roles = (("summary", found.summaries, "a list"), ("reference", found.references, "a list inside a list"))
    for role, names, what in roles:
        for name in names:
            inside = role == "reference"
            if count := sum(joins_texts(row.get(name), inside_a_list=inside) for _, row in table.rows):
                rows = size_in_words(rows=count)
                problems.warning(
                    where, f"{name} is {what} in {rows}: its items are read as the sentences of one {role}"
                )


@dataclass
class _Entry:
    """One row's summary by one system, or only its references; a text that could not be read is None."""

    where: str
    topic: str
    system: str
    text: str | None
    references: tuple[str, ...]


def _entries(found: TextColumns, table: RowTable, place: str, name: str, problems: Problems) -> Iterator[_Entry]:
    unusable = set()
    for where, row in table.rows:
        try:
            topic = "" if found.topic is None else name_in(row.get(found.topic), found.topic)
            system = name if found.system is None else name_in(row.get(found.system), found.system)
            references = [
                text for column in found.references for text in texts_in(row.get(column), column, where, problems)
            ]
        except BadCellError as error:
            problems.error(where, str(error))
            unusable.add(where)
            continue
        for column in found.summaries or ("",):
            text = None
            try:
                text = text_in(row.get(column), column, where, problems) if column else None
            except BadCellError as error:
                problems.error(where, str(error))
                unusable.add(where)
            yield _Entry(where, topic, column if found.wide else system if column else "", text, tuple(references))
    if unusable:
        what = f"{len(unusable):,} of {len(table.rows):,} rows have a cell that cannot be read"
        problems.warning(place, f"{what}; the texts it is about are left out")


def _number_topics(entries: list[_Entry], places: Mapping[str, int]) -> str:
    """Number the topics of rows without an id, and say how: by the place of the row, if that is given; otherwise those
    with the same reference are about one topic, and without references the n-th row of each system is."""
    if places:
        numbers = [places[entry.where] for entry in entries]
    else:
        seen: Counter[tuple[str, tuple[str, ...]]] = Counter()
        keys = []
        for entry in entries:
            seen[entry.system, entry.references] += 1
            keys.append((entry.references, seen[entry.system, entry.references]))
        known = {key: number for number, key in enumerate(dict.fromkeys(keys), 1)}
        numbers = [known[key] for key in keys]
    width = len(str(max([len(places), *numbers])))
    for entry, number in zip(entries, numbers, strict=True):
        entry.topic = f"{number:0{width}}"
    if places:
        return "topics numbered by row"
    return "rows with the same reference are one topic" if any(e.references for e in entries) else BY_ROW_OF_SYSTEM


def _assemble(entries: Iterable[_Entry], problems: Problems, hint: str = "") -> Study:
    given: dict[str, dict[tuple[str, ...], str]] = defaultdict(dict)
    peers: dict[tuple[str, str], _Entry] = {}
    topics: set[str] = set()
    for entry in entries:
        topics.add(entry.topic)
        new_reference = bool(entry.references) and entry.references not in given[entry.topic]
        if entry.references:
            given[entry.topic].setdefault(entry.references, entry.where)
        if entry.text is None:
            continue
        known = peers.setdefault((entry.topic, entry.system), entry)
        if known is entry or (known.text == entry.text and new_reference):
            continue
        what = f"topic {entry.topic} has a summary by {entry.system} already (first: {known.where.rpartition(', ')[2]})"
        problems.error(entry.where, what + hint)
        if entry.text < (known.text or ""):  # which is kept does not depend on the order of rows
            peers[entry.topic, entry.system] = entry
    references = {topic: _distinct(topic, rows, problems) for topic, rows in given.items() if rows}
    names = reference_names(max(map(len, references.values()), default=0))
    summaries = [
        Summary(topic, name, text, "reference")
        for topic in sorted(references)
        for name, text in zip(names, references[topic], strict=False)
    ]
    summaries += [
        Summary(topic, system, entry.text or "") for (topic, system), entry in sorted(peers.items(), key=_key)
    ]
    return Study(topics=tuple(map(Topic, sorted(topics))), summaries=tuple(summaries))


def _key(item: tuple[tuple[str, str], _Entry]) -> tuple[str, str]:
    return item[0]


def _distinct(topic: str, rows: dict[tuple[str, ...], str], problems: Problems) -> list[str]:
    """The references of a topic. If its rows differ, all of theirs, in an order of their own."""
    if len(rows) == 1:
        return list(dict.fromkeys(next(iter(rows))))
    texts = sorted({text for held in rows for text in held})
    if len(texts) > max(map(len, rows)):
        where = max(rows.values())
        problems.warning(
            where, f"topic {topic} has {len(texts)} different references on its rows; all of them are used"
        )
    return texts


# -- writing -----------------------------------------------------------------------------------------------------


def write(study: Study, path: Path, problems: Problems) -> None:
    """One row per summary; the file's suffix says in which form."""
    references: dict[str, list[Summary]] = defaultdict(list)
    for summary in study.references:
        references[summary.topic].append(summary)
    single = all(len(held) == 1 and not held[0].text.startswith(("[", "(")) for held in references.values())
    names = reference_names(max(map(len, references.values()), default=0))
    lost = sum(s.system != name for held in references.values() for s, name in zip(held, names, strict=False))
    if lost:
        problems.warning(FORMAT.name, f"cannot hold names of references: {lost} are numbered instead")
    without = {topic.id for topic in study.topics} - {peer.topic for peer in study.peers}
    for topic in sorted(without):
        problems.warning(f"topic {topic}", "is left out: every row holds a peer summary, and it has none")
    if not study.peers:
        raise UsageError("the study has no peer summaries, so there are no rows to write")
    header = ("topic", "system", "summary", "reference" if single else "references")
    rows = [(p.topic, p.system, p.text, [r.text for r in references[p.topic]]) for p in study.peers]
    suffix = path.suffix.lower()
    if suffix in PARQUET:
        _write_parquet(path, header, rows, single)
        return
    cells = [(*row[:3], next(iter(row[3]), None) if single else row[3]) for row in rows]
    with new_file(path) as file:
        if suffix in JSON:
            json.dump([dict(zip(header, row, strict=True)) for row in cells], file, ensure_ascii=False, indent=1)
            file.write("\n")
        elif suffix and suffix not in CSV:
            file.writelines(json.dumps(dict(zip(header, row, strict=True)), ensure_ascii=False) + "\n" for row in cells)
        else:
            texts = [
                (*row[:3], json.dumps(row[3], ensure_ascii=False) if isinstance(row[3], list) else row[3])
                for row in cells
            ]
            write_rows(file, header, texts, delimiter="\t" if suffix in CSV[1:] else ",")


def _write_parquet(path: Path, header: tuple[str, ...], rows: list[tuple[Any, ...]], single: bool) -> None:
    need_parquet()
    import pyarrow
    from pyarrow.parquet import write_table

    *first, listed = ([row[place] for row in rows] for place in range(len(header)))
    last = [next(iter(texts), None) for texts in listed] if single else listed
    with new_file(path) as file:
        write_table(pyarrow.table(dict(zip(header, (*first, last), strict=True))), file.buffer)  # type: ignore[attr-defined]


FORMAT = Format(
    name="table",
    title="tables of texts (CSV, TSV, JSON, JSON Lines, Parquet): one row per summary, or one column per system",
    recognises=recognises,
    read=read,
    write=write,
    holds=frozenset({"references", "peers"}),
    by_columns=True,
)
