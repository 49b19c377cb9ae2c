"""`pyramidion autoannotate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pyramidion.cli.inputs import load_study, refuse_same
from pyramidion.cli.options import From, Json, Lenient, Quiet
from pyramidion.cli.output import Output, as_json, counted, plain
from pyramidion.errors import UsageError


def autoannotate(
    path: Annotated[str, typer.Argument(metavar="STUDY", help="A study with a pyramid and annotated summaries.")],
    target: Annotated[
        Path, typer.Option("--output", "-o", help="The file or folder to write the study with the annotations to.")
    ],
    judge: Annotated[
        str, typer.Option("--judge", help="The name of the new annotations' judge, a model.")
    ] = "autoannotate",
    only_missing: Annotated[
        bool, typer.Option("--only-missing", help="Annotate only summaries that nobody annotated.")
    ] = False,
    pyramid: Annotated[str | None, typer.Option(help="Which pyramid, where there are several.")] = None,
    judges: Annotated[
        str | None,
        typer.Option(help="Whom to learn from: all, people, expert, crowd, or one judge's id. [default: expert]"),
    ] = None,
    format: From = None,
    to: Annotated[
        str | None, typer.Option("--to", help="The format to write, if the name of the output does not say it.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the output if it is an existing file.")] = False,
    lenient: Lenient = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find what was marked in annotated summaries in the others, and leave annotations with evidence.

    Every text marked for a unit in the other summaries of the topic is searched for, whatever its case and spaces.
    It works for systems that copy sentences; a paraphrase is not found.
    """
    from pyramidion.annotation.autoannotation import autoannotate_study
    from pyramidion.formats import guess_format, save

    output = Output(json, quiet)
    _refuse(path, target, force)
    chosen = to or guess_format(target)
    study = load_study(path, format, lenient, output)
    with output.busy("Searching for what was marked"):
        made = autoannotate_study(study, judge=judge, pyramid=pyramid, judges=judges, only_missing=only_missing)
    with output.busy(f"Writing {target}"):
        lost = save(made.study, target, format=chosen)
    output.result(
        {
            "written": str(target),
            "format": chosen,
            "judge": made.judge,
            "learned_from": list(made.learned_from),
            "summaries": made.summaries,
            "judgments": made.judgments,
            "found": made.found,
            "notes": as_json([*study.notes, *made.notes, *lost]),
        }
    )
    output.warn([*made.notes, *lost])
    learned = ", ".join(map(plain, made.learned_from[:5])) + (", ..." if len(made.learned_from) > 5 else "")
    output.show(
        f"{plain(made.judge)} annotated {made.summaries} summaries by what {learned} marked: "
        f"{made.found:,} of {counted(made.judgments, 'units')} found."
    )
    output.show(f"Wrote {plain(str(target))} ({chosen}).")


def _refuse(source: str, target: Path, force: bool) -> None:
    """Neither the study nor a file of it is replaced, and no other file unasked."""
    refuse_same(source, target)
    folder = Path(source)
    if folder.is_dir() and target.resolve().is_relative_to(folder.resolve()):
        raise UsageError(f"{target} is inside the study itself; choose a place outside {source}")
    if target.is_file() and not force:
        raise UsageError(f"{target} exists already; --force replaces it")
