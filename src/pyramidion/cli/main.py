"""The `pyramidion` command.

Exit codes: 0 success; 1 the data has errors; 2 the command was wrong (unknown name, missing file, port in use); 3 an
optional part is not installed; 4 something failed that nobody asked for (a full disk, a locked or lost database, a
server whose processes keep ending, a mistake of ours); 130 interrupted with Ctrl-C. `serve` ends with 0 when it is told
to stop by SIGTERM or SIGHUP.
"""

from __future__ import annotations

import errno
import io
import os
import sys
import traceback
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from pyramidion import distribution
from pyramidion.cli import (
    analyze,
    annotate,
    auto,
    backup,
    cache,
    convert,
    doctor,
    forgetting,
    judge,
    report,
    score,
    study,
)
from pyramidion.cli.options import (
    AT_THE_END,
    Annotators,
    Compat,
    Printing,
    PyramidName,
    Reading,
    StudyPath,
    Weights,
    grouped,
)
from pyramidion.cli.output import Output, as_json, plain, without_passwords
from pyramidion.errors import FailedError, InputError, MissingExtraError, Problem, PyramidionError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Measure how good the *content* of summaries is: pyramids, crowd judgments, ratings, ROUGE.",
    epilog="Start with `pyramidion demo`. Every command that reads a study accepts any known format directly.",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pyramidion {distribution.version()}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command()
@grouped
def demo(
    folder: Annotated[Path, typer.Option("--output", "-o", help="The folder for the results.")] = Path(
        "pyramidion-demo"
    ),
    *,
    printing: Printing,
) -> None:
    """Score the bundled example by every method and say where the results are."""
    from pyramidion.cli.demo import run

    run(folder, printing.out)


@app.command()
@grouped
def show(
    path: StudyPath,
    topic: Annotated[str | None, typer.Option("--topic", "-t", help="The topic to show. [default: the first]")] = None,
    system: Annotated[
        str | None, typer.Option("--system", "-s", help="Show this system's summary with its matched units.")
    ] = None,
    ideal: Annotated[
        int | None, typer.Option(help="Show what the best summaries with a given number of units say.", min=1)
    ] = None,
    method: Annotated[
        str | None,
        typer.Option("--method", "-m", help="Whose units count: pyramid, lite or auto. [default: what fits the study]"),
    ] = None,
    pyramid: PyramidName = None,
    judges: Annotated[str | None, typer.Option(help="Whose judgments to show with a summary.")] = None,
    weights: Weights = None,
    annotators: Annotators = None,
    compat: Compat = None,
    *,
    reading: Reading,
) -> None:
    """Draw the pyramid of a topic as tiers, its ideal content, or one summary with the units it expresses."""
    from pyramidion.cli.show import run

    choices = {"method": method, "pyramid": pyramid, "judges": judges, "weights": weights, "annotators": annotators}
    choices["compat"] = compat
    run(reading.study(path), topic, system, choices, reading.out, ideal)


app.command("validate")(convert.validate)
app.command("convert")(convert.convert)
app.command("score")(score.score)
app.command("doctor")(doctor.doctor)
app.command("cache")(cache.cache)
app.command("report")(report.report)
app.command("feedback")(report.feedback)
app.command("diff")(report.diff)
app.command("judge")(judge.judge)
app.command("autoannotate")(judge.autoannotate)
app.command("init")(study.init)
app.command("import")(study.import_)
app.command("account")(study.account)
app.command("serve")(study.serve)
app.command("backup")(backup.backup)
app.command("restore")(backup.restore_)
app.command("move")(backup.move_)
app.command("verify")(backup.verify_)
app.add_typer(forgetting.campaign, name="campaign")
app.add_typer(annotate.annotate, name="annotate")
app.add_typer(analyze.analyze, name="analyze")
app.add_typer(auto.auto, name="auto")


def _fail(problems: tuple[Problem, ...] | None, message: str, code: int, json: bool) -> int:
    output, message = Output(json), without_passwords(message)
    if json:
        listed = as_json(problems or [Problem("", message)])
        output.result({"error": message.split("\n")[0], "problems": listed})
    elif problems:
        output.problems(problems)
    else:
        output.err.print(Text.assemble(("error: ", "red"), plain(message)))
    return code


def _mistake(error: Any) -> str:
    """Describe what is wrong with the options and name the help to read; empty if a command was given no options."""
    command = error.ctx.command_path if getattr(error, "ctx", None) else "pyramidion"
    return f"{said} (see {command} --help)" if (said := error.format_message()) else ""


DISK_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.ENOMEM})


def _code_of(error: OSError) -> int:
    return 4 if error.errno in DISK_ERRORS else 2


def _failed(error: Exception, json: bool) -> int:
    """Say what went wrong, and return the exit code; a mistake of ours is shown with where it happened."""
    if hasattr(error, "format_message"):  # a mistake in the options
        return _fail(None, message, 2, json) if (message := _mistake(error)) else 2
    if "sqlalchemy" in sys.modules:
        from pyramidion.store.trouble import trouble_of

        if trouble := trouble_of(error):
            return _fail(None, f"{trouble.text}; nothing was changed by halves, so try again when it works", 4, json)
    if isinstance(error, PyramidionError):
        return _fail(None, str(error), 4 if isinstance(error, FailedError) else 2, json)
    sys.stderr.write(without_passwords("".join(traceback.format_exception(error))))
    return 4


def main() -> None:
    """Run the command; a user error becomes a message and an exit code, never a traceback."""
    json = "--json" in sys.argv
    for stream in (sys.stdout, sys.stderr):  # a terminal that knows only ASCII gets escapes, not a crash
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        with AT_THE_END:
            code = app(standalone_mode=False) or 0
    except InputError as error:
        code = _fail(error.problems, str(error), 1, json)
    except MissingExtraError as error:
        code = _fail(None, str(error), 3, json)
    except BrokenPipeError:  # `| head` is no error
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        code = 0
    except OSError as error:
        code = _fail(None, f"{error.filename or ''}: {error.strerror or error}".lstrip(": "), _code_of(error), json)
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    except Exception as error:
        code = _failed(error, json)
    sys.exit(code)
