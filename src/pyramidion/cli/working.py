"""Where long work runs: the options of every command that works for long."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated

import typer

from pyramidion.cli.output import plain
from pyramidion.errors import UsageError

if TYPE_CHECKING:
    from pyramidion.cli.output import Output
    from pyramidion.engines import Engine

Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        help="Number of worker processes. [default: 1, which uses all cores for encoding; with --engine, one per core]",
        min=1,
        max=256,
        show_default=False,
    ),
]
EngineName = Annotated[
    str | None,
    typer.Option(
        "--engine",
        help="Where the work runs: processes, dask (a Dask cluster of this machine) or dask://HOST:PORT (yours). "
        "[default: this process, or processes with --jobs]",
        show_default=False,
    ),
]
Dashboard = Annotated[bool, typer.Option("--dashboard", help="Show the address of Dask's dashboard.")]


@dataclass(frozen=True)
class Working:
    """Where long work runs."""

    jobs: Jobs = None
    engine: EngineName = None
    dashboard: Dashboard = False

    def __post_init__(self) -> None:
        dask = (self.engine or "").startswith("dask")
        if self.dashboard and not dask:
            raise UsageError("--dashboard has no effect without --engine dask or dask://HOST:PORT")
        if self.jobs is not None and "://" in (self.engine or ""):
            raise UsageError(f"--jobs has no effect with {self.engine}: the cluster has its own workers")
        if self.jobs is not None and ":" in (self.engine or ""):
            raise UsageError(f"--jobs has no effect with {self.engine}, which says how many")
        if (self.jobs or 1) > 1 and self.engine == "here":
            raise UsageError("--jobs has no effect with --engine here, which is this process")

    @property
    def where(self) -> str:
        """As `pyramidion.engines` knows it."""
        if self.jobs is None:
            return self.engine or "here"
        return "here" if self.engine == "here" else f"{self.engine or 'processes'}:{self.jobs}"

    @contextmanager
    def started(self, output: Output) -> Iterator[Engine]:
        """The engine, until the work is done."""
        from pyramidion.engines import started

        with ExitStack() as until:
            with output.busy("Starting workers"):
                running = until.enter_context(started(self.where, dashboard=self.dashboard))
            output.warn(running.notes)
            if self.dashboard:
                output.say(f"Dask's dashboard: {plain(running.dashboard)}")
            yield running


WORKING = tuple(part.name for part in fields(Working))
"""The names of these options, to be refused where the work is short."""
