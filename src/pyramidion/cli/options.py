"""Options that several commands share, each defined once, and groups of options that a command takes as one value."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from pyramidion.cli.output import Output
from pyramidion.errors import UsageError, needs_extra

if TYPE_CHECKING:
    from pyramidion.campaigns.desk import CampaignDesk
    from pyramidion.study import Study


# ----------------------------------------------------------------------
# What commands read: a study in any format, or a study database that they change.


def refuse_same(source: str, target: Path) -> None:
    """Refuse to overwrite what the command reads."""
    if target.exists() and Path(source).exists() and target.samefile(source):
        raise UsageError(f"{target} is the study itself; choose another name for the result")


AT_THE_END = ExitStack()
"""What is closed when the command is done, however it ends."""


def open_desk(place: str) -> CampaignDesk:
    """Open the study database at a place until the command is done; it is not created if it does not exist."""
    with needs_extra("Running campaigns", "server"):
        from pyramidion.campaigns.desk import CampaignDesk
    desk = CampaignDesk.open(place)
    AT_THE_END.callback(desk.database.close)
    return desk


StudyPath = Annotated[str, typer.Argument(metavar="STUDY", help="A study in any readable format.")]
Place = Annotated[str, typer.Argument(metavar="STUDY", help="A study database: a .db file or a PostgreSQL URL.")]
From = Annotated[str | None, typer.Option("--from", help="The format, if it is not recognised.")]
NamedColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        help="The columns of a table, if they are not recognised: summary=pred,reference=gold,system=model,topic=id.",
    ),
]
Lenient = Annotated[bool, typer.Option("--lenient", help="Report errors in the data and continue.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors.")]
Tables = Annotated[
    list[Path] | None,
    typer.Option("--output", "-o", help="Write the long table to .csv, .json, .jsonl or .parquet; repeatable."),
]
By = Annotated[str, typer.Option("--by", help="What to print: system or summary.")]
PyramidName = Annotated[str | None, typer.Option("--pyramid", help="The pyramid to use, if there are several.")]
Judges = Annotated[str | None, typer.Option(help="all, people, expert, crowd, model, or one judge's id.")]
Seed = Annotated[int, typer.Option(help="Seed for all random draws.", min=0)]
Latex = Annotated[Path | None, typer.Option("--latex", help="Write the tables for LaTeX (booktabs).")]

Weights = Annotated[
    str | None,
    typer.Option(
        help="pyramid: what a unit's weight counts, contributors as in DUCView or references. [default: contributors]"
    ),
]
Annotators = Annotated[
    str | None,
    typer.Option(
        help="pyramid: for several annotations of a summary, the mean of their scores or the score of their consensus. "
        "[default: mean]"
    ),
]
Compat = Annotated[
    str | None,
    typer.Option(
        "--compat", help="lite: score as a released script did: litepyramids-2019 (see docs/reference/compat.md)."
    ),
]


@dataclass(frozen=True)
class Printing:
    """How a command prints its result. A command takes this group, or one that extends it."""

    json: Json = False
    quiet: Quiet = False

    @property
    def out(self) -> Output:
        return Output(self.json, self.quiet)


@dataclass(frozen=True)
class Reading(Printing):
    """How a command reads a study and prints its result."""

    format: From = None
    columns: NamedColumns = None
    lenient: Lenient = False

    def study(self, path: str) -> Study:
        """Read a study or stop with every error; warnings are shown and do not stop anything."""
        from pyramidion.formats import load

        with self.out.busy(f"Reading {path}"):
            study = load(path, format=self.format, lenient=self.lenient, columns=self.columns, tell=self.out.say)
        self.out.warn(study.notes)
        return study


def refuse_unused(context: typer.Context, why: str, *names: str) -> None:
    """Refuse an option that would change nothing. ``why`` ends the message.

    ``names`` are those of the command's parameters; only what was typed counts, not a default.
    """
    for option in (parameter for parameter in context.command.params if parameter.name in names):
        source = context.get_parameter_source(str(option.name))
        if source is not None and source.name == "COMMANDLINE":
            raise UsageError(f"{max(option.opts, key=len)} has no effect {why}")


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command take option groups: a parameter that is a dataclass stands for the options that are its fields."""
    hints = get_type_hints(command, include_extras=True)
    groups = {name: hint for name, hint in hints.items() if is_dataclass(hint) and isinstance(hint, type)}
    parameters: list[Parameter] = []
    for name, parameter in signature(command).parameters.items():
        if name in groups:
            parameters += _options(groups[name])
        else:
            parameters.append(parameter.replace(annotation=hints[name], kind=Parameter.KEYWORD_ONLY))

    @wraps(command)
    def expanded(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    expanded.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    expanded.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return expanded


def _options(group: Any) -> list[Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]
