"""Run a command as the program does, output and exit code and all, without starting Python and loading models anew."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import typer.main

from pyramidion.cli.main import main

# Typer reads the signatures of all commands anew at every call, which takes longer than many a command.
get_command = cache(typer.main.get_command)


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def run(*arguments: object, cwd: Path | None = None, typed: str = "", **environment: str) -> Done:
    out, err = io.StringIO(), io.StringIO()
    code: object = None
    with contextlib.ExitStack() as around:
        around.enter_context(mock.patch.object(typer.main, "get_command", get_command))
        around.enter_context(mock.patch.object(sys, "argv", ["pyramidion", *map(str, arguments)]))
        around.enter_context(mock.patch.object(sys, "stdin", io.StringIO(typed)))
        around.enter_context(mock.patch.dict(os.environ, {"NO_COLOR": "1", **environment}))
        around.enter_context(contextlib.chdir(cwd or Path.cwd()))
        around.enter_context(contextlib.redirect_stdout(out))
        around.enter_context(contextlib.redirect_stderr(err))
        try:
            main()
        except SystemExit as end:
            code = end.code
    return Done(code if isinstance(code, int) else 1, out.getvalue(), err.getvalue())
