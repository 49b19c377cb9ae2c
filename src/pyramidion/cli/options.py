"""Options that several commands share, each said once."""

from __future__ import annotations

from typing import Annotated

import typer

StudyPath = Annotated[str, typer.Argument(metavar="STUDY", help="A study in any readable format.")]
From = Annotated[str | None, typer.Option("--from", help="Its format, where it is not recognised.")]
Lenient = Annotated[bool, typer.Option("--lenient", help="Report errors in the data and go on.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors.")]
