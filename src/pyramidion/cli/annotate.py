"""`pyramidion annotate`: list, export and store what experts annotated on the pages of a study."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pyramidion.cli.options import Place, Printing, grouped, open_desk
from pyramidion.cli.output import as_json, plain
from pyramidion.errors import UsageError
from pyramidion.terminal import TerminalTable

if TYPE_CHECKING:
    from pyramidion.annotation.desk import AnnotationDesk
    from pyramidion.annotation.events import StoredAnnotation
    from pyramidion.campaigns.desk import CampaignDesk

annotate = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="List, export and store what experts annotated in the browser (see `pyramidion serve`).",
)


@dataclass(frozen=True)
class Selection:
    """The annotations of a study that a command is about."""

    ids: Annotated[list[int] | None, typer.Option("--id", help="Only this annotation, by its number; repeatable.")] = (
        None
    )
    name: Annotated[str | None, typer.Option("--name", help="Only annotations of this name.")] = None
    topic: Annotated[str | None, typer.Option("--topic", help="Only annotations of this topic.")] = None

    def of(self, annotations: AnnotationDesk, *, or_none: bool = False) -> list[StoredAnnotation]:
        """Those chosen; UsageError where there are none, unless that is fine."""
        chosen = [
            stored
            for stored in annotations.store.all()
            if (not self.ids or stored.id in self.ids)
            and self.name in (None, stored.name)
            and self.topic in (None, stored.topic)
        ]
        if missing := set(self.ids or ()) - {stored.id for stored in chosen}:
            raise UsageError(f"annotation {min(missing)} is not among those chosen")
        if not chosen and not or_none:
            raise UsageError("no annotation matches; `pyramidion annotate list` shows what there is")
        return chosen


def _open(place: str) -> tuple[CampaignDesk, AnnotationDesk]:
    """The desk of the study's campaigns and that of its annotations."""
    desk = open_desk(place)
    from pyramidion.annotation.desk import AnnotationDesk

    study = desk.studies.load()
    return desk, AnnotationDesk(desk.database, lambda: study)


@annotate.command("list")
@grouped
def list_(
    place: Place,
    selection: Selection,
    *,
    printing: Printing,
) -> None:
    """List who annotated what: pyramids and peers, how many changes, and whether they are stored in the study."""
    output = printing.out
    _, annotations = _open(place)
    rows = annotations.as_rows(selection.of(annotations, or_none=True))
    output.result(rows)
    if not rows:
        output.show("No annotations yet. Experts begin them on the server's page /annotate.")
        return
    shown = []
    for row in rows:
        last = "" if row["last"] is None else datetime.fromtimestamp(row["last"]).isoformat(" ", "minutes")
        in_study = "no" if row["stored"] is None else "yes" if row["stored"] == row["changes"] else "older"
        owner = f"{row['owner']} and others" if row["shared"] else row["owner"]
        what = row["system"] or "pyramid"
        shown.append((str(row["id"]), row["topic"], what, row["name"], owner, str(row["changes"]), last, in_study))
    heads = ("id", "topic", "what", "name", "owner", "changes", "last", "in the study")
    output.show(TerminalTable(heads, shown))


@annotate.command("export")
@grouped
def export(
    place: Place,
    target: Annotated[Path, typer.Argument(metavar="DST", help="A .pyr, .pan or .jsonl file, or a folder.")],
    selection: Selection,
    to: Annotated[str | None, typer.Option("--to", help="The format, if it does not follow from DST's name.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace DST if it is an existing file.")] = False,
    *,
    printing: Printing,
) -> None:
    """Write annotations as a separate study, in any format. It can have one pyramid per topic: choose with --name."""
    from pyramidion.annotation.exports import study_for
    from pyramidion.formats import guess_format, save

    output = printing.out
    if target.is_file() and not force:
        raise UsageError(f"{target} already exists; use --force to replace it")
    _, annotations = _open(place)
    chosen = selection.of(annotations)
    format = to or guess_format(target)
    lost = save(study_for(annotations, [stored.id for stored in chosen], format), target, format=format)
    output.result({"written": str(target), "format": format, "annotations": len(chosen), "notes": as_json(lost)})
    output.warn(lost)
    output.show(f"Wrote {len(chosen)} annotations to {plain(str(target))} ({format}).")


@annotate.command("store")
@grouped
def store(place: Place, selection: Selection, *, printing: Printing) -> None:
    """Store annotations in the study, where every command finds them; earlier stored versions are replaced."""
    output = printing.out
    desk, annotations = _open(place)
    from pyramidion.annotation.exports import store_annotation

    chosen = selection.of(annotations)
    for stored in chosen:
        store_annotation(annotations, desk.studies, stored.id)
        what = f"peer {stored.system}" if stored.system else "pyramid"
        output.show(f"Stored {stored.id}: topic {plain(stored.topic)}, {plain(what)}, {plain(stored.name)}.")
    output.result({"stored": [stored.id for stored in chosen]})


@annotate.command("blind")
@grouped
def blind(
    place: Place,
    on: Annotated[
        bool | None, typer.Option("--on/--off", help="Switch it on or off. [default: only say which it is]")
    ] = None,
    *,
    printing: Printing,
) -> None:
    """Let experts annotate blind: without the names of systems and without each other's annotations."""
    output, desk = printing.out, open_desk(place)
    if on is not None:
        desk.studies.set_blind(on)
    now = desk.studies.is_blind()
    output.result({"blind": now})
    if now:
        output.show(
            "On: experts see neutral names and only their own annotations. Managers and viewers see everything."
        )
    else:
        output.show("Off: experts see the names of systems and all annotations.")
