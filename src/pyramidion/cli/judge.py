"""`pyramidion judge`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from pyramidion.cli.inputs import load_study, refuse_same
from pyramidion.cli.options import From, Json, Lenient, Quiet, refuse_unused
from pyramidion.cli.output import Output, as_json, cell, counted, plain
from pyramidion.errors import UsageError

if TYPE_CHECKING:
    from pyramidion.analysis.calibrate import WorkerCheck
    from pyramidion.evaluation.judging import JudgedStudy
    from pyramidion.judges import PresenceJudge
    from pyramidion.judges.llm import Estimate
    from pyramidion.study import Study


def judge(
    context: typer.Context,
    path: Annotated[str, typer.Argument(metavar="STUDY", help="A study in any readable format, with a pyramid.")],
    judge: Annotated[
        str, typer.Option("--judge", help="align, lexical, nli:MODEL (Hugging Face) or llm:MODEL (chat endpoint).")
    ] = "align",
    threshold: Annotated[
        str | None,
        typer.Option(help="Say yes or no: from this probability on, or from the judge's own with `own`."),
    ] = None,
    soft: Annotated[bool, typer.Option("--soft", help="Keep probabilities. This is the default.")] = False,
    pyramid: Annotated[
        str | None, typer.Option(help="Which pyramid: by default crowd, expert, or the only one.")
    ] = None,
    target: Annotated[
        list[Path] | None,
        typer.Option("--output", "-o", help="Write the long table to .csv, .json, .jsonl or .parquet; repeatable."),
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="Write the study with the judgments to this file or folder.")
    ] = None,
    workers: Annotated[
        bool, typer.Option("--workers", help="Show crowd workers by their distance from the judge instead of scores.")
    ] = False,
    by: Annotated[str, typer.Option("--by", help="What to print: system or summary.")] = "system",
    lines: Annotated[
        bool,
        typer.Option("--lines", help="STUDY is a JSONL file of any length, each line with `units` and a `summary`."),
    ] = False,
    base_url: Annotated[str | None, typer.Option(help="llm: the endpoint. [default: $OPENAI_BASE_URL]")] = None,
    cache: Annotated[Path | None, typer.Option(help="llm: where replies are kept.")] = None,
    price: Annotated[
        str | None, typer.Option(help="llm: dollars for a million tokens in and out, as 0.15/0.60, to show the cost.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="llm: send without asking.")] = False,
    format: From = None,
    lenient: Lenient = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Let a model say which units are in which summaries, and score by it.

    With --lines nothing is held in memory: answers go to -o, or to the screen, as they come, and a run that stopped
    goes on where it was.
    """
    from pyramidion.cli.score import check_targets, show_table
    from pyramidion.evaluation.judging import judge_study
    from pyramidion.judges import make_judge
    from pyramidion.scoring.choice import TO_BE_JUDGED, named_pyramid

    output = Output(json, quiet)
    check_targets(target or [], by)
    for file in [*(target or []), *([save] if save else [])]:
        refuse_same(path, file)
    if soft and threshold is not None:
        raise UsageError("--soft and --threshold exclude each other")
    if lines:
        refuse_unused(
            context, "with --lines", "pyramid", "save", "workers", "by", "format", "lenient", "json", "price", "yes"
        )
    if workers:
        refuse_unused(context, "with --workers, which shows people instead of scores", "target", "by")
    if judge.partition(":")[0] != "llm":
        refuse_unused(context, f"with {judge}, which costs nothing", "price", "yes")
    prices = _prices(price)
    options = {name: value for name, value in (("base_url", base_url), ("cache", cache)) if value is not None}
    asked = make_judge(judge, options)
    limit = _threshold(threshold, asked)
    if lines:
        _judge_lines(Path(path), target or [], asked, limit, output)
        return
    study = load_study(path, format, lenient, output)
    name = named_pyramid(study.pyramid_names, pyramid, prefer=TO_BE_JUDGED)
    if not _agreed(study, name, asked, prices, yes, output):
        raise typer.Exit(1)
    with output.busy(f"Judging by {asked.name}"):
        judged = judge_study(study, asked, pyramid=name, threshold=limit)
    if save is not None:
        _save(judged, save, output)
    if workers:
        _show_workers(judged, asked.name, name, output)
    else:
        show_table(judged.table, target or [], by, output, shown=study.notes)


def _judge_lines(
    source: Path, targets: list[Path], judge: PresenceJudge, threshold: float | None, output: Output
) -> None:
    from json import dumps

    from pyramidion.evaluation.judging_lines import judge_file, judge_lines, read

    if not source.is_file():
        raise UsageError(f"{source}: no such file")
    if not targets:
        for answer in judge_lines(read(source), judge, threshold=threshold):
            print(dumps(answer, ensure_ascii=False))
        return
    if len(targets) > 1 or targets[0].suffix != ".jsonl":
        raise UsageError("--lines writes one .jsonl file; give one -o")
    answers = judge_file(source, targets[0], judge, threshold=threshold)
    written = sum(1 for _ in output.track(answers, f"Judging by {judge.name}", total=_count(source)))
    output.say(f"Wrote {counted(written, 'answers')} to {targets[0]}.")


def _count(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in file)


def _prices(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        first, second = map(float, text.split("/"))
    except ValueError:
        raise UsageError(f"--price is two numbers, as 0.15/0.60, not {text!r}") from None
    return first, second


def _threshold(text: str | None, judge: PresenceJudge) -> float | None:
    if text is None or text == "own":
        return judge.threshold if text else None
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"--threshold is a probability or `own`, not {text!r}") from None


def _agreed(
    study: Study, pyramid: str, judge: PresenceJudge, prices: tuple[float, float] | None, yes: bool, output: Output
) -> bool:
    """Whoever pays hears first what it is going to cost."""
    from pyramidion.evaluation.judging import jobs, questions
    from pyramidion.judges.llm import LlmJudge

    if not isinstance(judge, LlmJudge):
        return True
    estimate = judge.estimate(questions(jobs(study, pyramid)))
    output.say(_told(estimate, judge.name, prices))
    return yes or not estimate.requests or typer.confirm("Send them?", err=True)


def _told(estimate: Estimate, name: str, prices: tuple[float, float] | None) -> str:
    known = f" ({estimate.known} are known already)" if estimate.known else ""
    cost = f", about ${estimate.cost(*prices):.2f}" if prices else ""
    tokens = f"{estimate.tokens_in:,} tokens in and {estimate.tokens_out:,} out"
    return f"{name}: {estimate.requests} requests{known}, roughly {tokens}{cost}."


def _save(judged: JudgedStudy, target: Path, output: Output) -> None:
    from pyramidion.formats import save

    output.warn(save(judged.study, target))
    output.say(f"Wrote the study with the judgments to {target}.")


def _show_workers(judged: JudgedStudy, name: str, pyramid: str, output: Output) -> None:
    from pyramidion.analysis.calibrate import SUSPECT, check_workers
    from pyramidion.stats.rounding import rounded_beside

    checks = check_workers(judged.study, name, pyramid=pyramid)
    output.result(
        {"judge": name, "workers": [_as_json(check) for check in checks], "notes": as_json(judged.table.notes)}
    )
    drawn = Table(caption=f"excess: distance from {name} beyond a careful person's", caption_justify="left")
    for column in ("worker", "answers", "excess", "deviation", "agreement", ""):
        drawn.add_column(column, justify="left" if column in {"worker", ""} else "right")
    for check in checks:
        shown = [
            "-" if check.excess is None else f"{check.excess:.3f}",
            "-" if check.deviation is None else rounded_beside(check.deviation, SUSPECT, digits=3),
            "-" if check.agreement is None else f"{check.agreement:.3f}",
        ]
        drawn.add_row(cell(plain(check.worker)), str(check.answers), *shown, "suspect" if check.suspect else "")
    output.show(drawn)


def _as_json(check: WorkerCheck) -> dict[str, Any]:
    from dataclasses import asdict

    return {**asdict(check), "suspect": check.suspect}
