"""The `pyramidion` command.

Exit codes: 0 done; 1 the data has errors; 2 the command was wrong (unknown name, missing file); 3 an optional part
is not installed; 130 interrupted.
"""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from pyramidion.cli import analyze, annotate, auto, autoannotate, decisions, judge, report, study
from pyramidion.cli.inputs import load_study, refuse_same
from pyramidion.cli.options import Annotators, From, Json, Lenient, Quiet, StudyPath, Weights
from pyramidion.cli.output import Output, as_json, counted, held, plain
from pyramidion.errors import InputError, MissingExtraError, Problem, PyramidionError, UsageError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Find out how good the *content* of summaries is: pyramids, crowd judgments, ratings, ROUGE.",
    epilog="Start with `pyramidion demo`. Every command that reads a study accepts any known format directly.",
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"pyramidion {version('pyramidion')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command()
def demo(
    folder: Annotated[Path, typer.Option("--output", "-o", help="Where the results go.")] = Path("pyramidion-demo"),
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Score the bundled example by every method and say where the results lie."""
    from pyramidion.cli.demo import run

    run(folder, Output(json, quiet))


@app.command()
def validate(path: StudyPath, format: From = None, json: Json = False, quiet: Quiet = False) -> None:
    """List every problem of a study or file, each with its address."""
    from pyramidion.formats.studies import inspect

    output = Output(json, quiet)
    with output.busy(f"Reading {path}"):
        loaded = inspect(path, format=format)
    counts = loaded.study.counts()
    output.result(
        {"format": loaded.format, "valid": not loaded.errors, "counts": counts, "problems": as_json(loaded.problems)}
    )
    if not json:
        output.problems(loaded.problems, most=None)
    warnings = len(loaded.problems) - len(loaded.errors)
    output.show(f"{loaded.format}: {held(counts) or 'nothing'}")
    found = counted(warnings, "warnings")
    if loaded.errors:
        output.show(f"{counted(len(loaded.errors), 'errors')}, {found}.")
    else:
        output.show(f"Valid, with {found}." if warnings else "Valid.")
    if loaded.errors:
        raise typer.Exit(1)


@app.command()
def convert(
    source: Annotated[str, typer.Argument(metavar="SRC", help="The study to read.")],
    target: Annotated[Path, typer.Argument(metavar="DST", help="The file or folder to write.")],
    format: From = None,
    to: Annotated[str | None, typer.Option("--to", help="The format to write, if DST's name does not say it.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace DST if it is an existing file.")] = False,
    lenient: Lenient = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Turn a study into another format and say what that format cannot hold."""
    from pyramidion.formats.studies import guess_format, save

    output = Output(json, quiet)
    refuse_same(source, target)
    if target.is_file() and not force:
        raise UsageError(f"{target} exists already; --force replaces it")
    study = load_study(source, format, lenient, output)
    chosen = to or guess_format(target)
    with output.busy(f"Writing {target}"):
        lost = save(study, target, format=chosen)
    output.result({"written": str(target), "format": chosen, "notes": as_json([*study.notes, *lost])})
    output.warn(lost)
    output.show(f"Wrote {plain(str(target))} ({chosen}).")


@app.command()
def score(
    path: StudyPath,
    method: Annotated[
        str | None,
        typer.Option(
            "--method", "-m", help="pyramid, lite, responsiveness, rouge or auto. [default: what fits the study]"
        ),
    ] = None,
    measure: Annotated[
        list[str] | None, typer.Option("--measure", help="A measure of the method; repeat for several.")
    ] = None,
    target: Annotated[
        list[Path] | None,
        typer.Option("--output", "-o", help="Write the long table to .csv, .json, .jsonl or .parquet; repeatable."),
    ] = None,
    by: Annotated[str, typer.Option("--by", help="What to print: system or summary.")] = "system",
    format: From = None,
    pyramid: Annotated[str | None, typer.Option(help="Which pyramid, where there are several.")] = None,
    judges: Annotated[
        str | None,
        typer.Option(help="all, people, expert, crowd, model, or one judge's id. By default the method's kind."),
    ] = None,
    aggregate: Annotated[
        str | None, typer.Option(help="lite: majority, mean, wawa, dawid-skene, mace or glad. [default: majority]")
    ] = None,
    tie: Annotated[str | None, typer.Option(help="lite: what a tie counts as. [default: absent]")] = None,
    min_agreement: Annotated[
        float | None, typer.Option(help="lite: leave out workers below it; 0 keeps all. [default: 0.5]")
    ] = None,
    rounds: Annotated[int | None, typer.Option(help="lite: rounds of leaving out. [default: 1]", min=1)] = None,
    agreement: Annotated[
        str | None, typer.Option(help="lite: positional, or the released scripts' sequence. [default: positional]")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="lite: for aggregators that draw. [default: 0]", min=0)] = None,
    weights: Weights = None,
    annotators: Annotators = None,
    rounding: Annotated[
        str | None, typer.Option(help="pyramid: of X_a: half-up, floor, ceiling, half-even. [default: half-up]")
    ] = None,
    clip: Annotated[bool | None, typer.Option("--clip", help="pyramid: cut scores off at 1.")] = None,
    combine: Annotated[
        str | None, typer.Option(help="rouge: references by average, best or jackknife. [default: average]")
    ] = None,
    tokens: Annotated[str | None, typer.Option(help="rouge: ascii or unicode words. [default: ascii]")] = None,
    stem: Annotated[bool | None, typer.Option("--stem/--no-stem", help="rouge: Porter stems. [default: stem]")] = None,
    lenient: Lenient = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Score every summary and system of a study, with a signature that says how."""
    from pyramidion.cli.score import run

    choices = {
        "measures": measure,
        "pyramid": pyramid,
        "judges": judges,
        "aggregate": aggregate,
        "tie": tie,
        "min_agreement": min_agreement,
        "rounds": rounds,
        "agreement": agreement,
        "seed": seed,
        "weights": weights,
        "annotators": annotators,
        "rounding": rounding,
        "clip": clip,
        "combine": combine,
        "tokens": tokens,
        "stem": stem,
    }
    output = Output(json, quiet)
    for file in target or []:
        refuse_same(path, file)
    given = {name: value for name, value in choices.items() if value is not None}
    run(load_study(path, format, lenient, output), method, given, target or [], by, output)


@app.command()
def show(
    path: StudyPath,
    topic: Annotated[str | None, typer.Option("--topic", "-t", help="Which topic; the first by default.")] = None,
    system: Annotated[
        str | None, typer.Option("--system", "-s", help="Show this system's summary with its matched units.")
    ] = None,
    ideal: Annotated[
        int | None, typer.Option(help="Show what the best summaries with so many units say.", min=1)
    ] = None,
    method: Annotated[
        str | None,
        typer.Option("--method", "-m", help="Whose units count: pyramid, lite or auto. [default: what fits the study]"),
    ] = None,
    pyramid: Annotated[str | None, typer.Option(help="Which pyramid, where there are several.")] = None,
    judges: Annotated[str | None, typer.Option(help="Whose judgments to show with a summary.")] = None,
    weights: Weights = None,
    annotators: Annotators = None,
    format: From = None,
    lenient: Lenient = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Draw the pyramid of a topic as tiers, its ideal content, or one summary with the units it expresses."""
    from pyramidion.cli.show import run

    output = Output(json, quiet)
    choices = {"method": method, "pyramid": pyramid, "judges": judges, "weights": weights, "annotators": annotators}
    run(load_study(path, format, lenient, output), topic, system, choices, output, ideal)


@app.command()
def doctor(json: Json = False, quiet: Quiet = False) -> None:
    """Say what is installed: versions, formats, optional parts and how to add them."""
    from pyramidion.cli.doctor import run

    run(Output(json, quiet))


app.command("report")(report.report)
app.command("feedback")(report.feedback)
app.command("diff")(report.diff)
app.command("judge")(judge.judge)
app.command("autoannotate")(autoannotate.autoannotate)
app.command("init")(study.init)
app.command("import")(study.import_)
app.command("account")(study.account)
app.command("serve")(study.serve)
app.add_typer(decisions.campaign, name="campaign")
app.add_typer(annotate.annotate, name="annotate")
app.add_typer(analyze.analyze, name="analyze")
app.add_typer(auto.auto, name="auto")


def _fail(problems: tuple[Problem, ...] | None, message: str, code: int, json: bool) -> int:
    output = Output(json)
    if json:
        listed = as_json(problems or [Problem("", message)])
        output.result({"error": message.split("\n")[0], "problems": listed})
    elif problems:
        output.problems(problems)
    else:
        output.err.print(Text.assemble(("error: ", "red"), plain(message)))
    return code


def _mistake(error: Any) -> str:
    """What was wrong with the options, and whose help tells more; nothing where a command was given none at all."""
    command = error.ctx.command_path if getattr(error, "ctx", None) else "pyramidion"
    return f"{said} ({command} --help tells more)" if (said := error.format_message()) else ""


def main() -> None:
    """Run the command; a user's mistake becomes a message and an exit code, never a traceback."""
    json = "--json" in sys.argv
    for stream in (sys.stdout, sys.stderr):  # a terminal that knows only ASCII gets escapes, not a crash
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = app(standalone_mode=False) or 0
    except InputError as error:
        code = _fail(error.problems, str(error), 1, json)
    except MissingExtraError as error:
        code = _fail(None, str(error), 3, json)
    except PyramidionError as error:
        code = _fail(None, str(error), 2, json)
    except BrokenPipeError:  # `| head` is no error
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        code = 0
    except OSError as error:
        code = _fail(None, f"{error.filename or ''}: {error.strerror or error}".lstrip(": "), 2, json)
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    except Exception as error:
        if not hasattr(error, "format_message"):  # not a mistake in the options
            raise
        code = _fail(None, message, 2, json) if (message := _mistake(error)) else 2
    sys.exit(code)
