"""`pyramidion judge`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from pyramidion.cli.inputs import load_study, refuse_same
from pyramidion.cli.options import From, Json, Lenient, Quiet, refuse_unused
from pyramidion.cli.output import Output, as_json, cell, counted, plain
from pyramidion.errors import InputError, Problems, UsageError

if TYPE_CHECKING:
    from pyramidion.analysis.calibrate import WorkerCheck
    from pyramidion.evaluation import Evaluation
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
    from pyramidion.evaluation import judge_study
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


JsonLine = dict[str, Any]
"""An object with ``units`` and a ``summary``; whatever else it holds is kept. Its answer is the same object with
``judge``, ``threshold`` (null for probabilities), ``presence`` (a value for each unit) and ``score``, their mean."""
DIGITS = 6


def _judge_lines(
    source: Path, targets: list[Path], judge: PresenceJudge, threshold: float | None, output: Output
) -> None:
    """However long the file is: memory holds a few hundred lines, and a run that stopped goes on."""
    from json import dumps

    from pyramidion.engines import append_lines

    if not source.is_file():
        raise UsageError(f"{source}: no such file")
    if not targets:
        for answer in _answers(_read(source), judge, threshold):
            print(dumps(answer, ensure_ascii=False))
        return
    if len(targets) > 1 or targets[0].suffix != ".jsonl":
        raise UsageError("--lines writes one .jsonl file; give one -o")
    ours = {"judge": judge.name, "threshold": threshold}

    def continues(done: int, answer: JsonLine) -> bool:
        """Whether an answer is ours to the line with this number; a judged file may be judged again."""
        line = next(_read(source, skip=done - 1), None)
        if line is None:
            return False
        expected = {name: line[name] for name in line.keys() - {"presence", "score"}} | ours
        return all(answer.get(name) == value for name, value in expected.items())

    answers = append_lines(targets[0], lambda done: _answers(_read(source, skip=done), judge, threshold), continues)
    with source.open("rb") as file:
        total = sum(1 for _ in file)
    written = sum(1 for _ in output.track(answers, f"Judging by {judge.name}", total=total))
    output.say(f"Wrote {counted(written, 'answers')} to {targets[0]}.")


def _answers(lines: Iterable[JsonLine], judge: PresenceJudge, threshold: float | None) -> Iterator[JsonLine]:
    """In order; by probabilities, or by yes and no from a threshold on."""
    from pyramidion.judges import answers, cut

    blocks = ((line, block) for line in lines for block in cut(line["units"], [line["summary"]]))
    values: list[float] = []
    for line, block, verdicts in answers(blocks, judge):
        probabilities = verdicts.probability[:, 0].tolist()
        values += probabilities if threshold is None else [float(value >= threshold) for value in probabilities]
        if block.units.stop == len(line["units"]):
            presence, values = [round(value, DIGITS) for value in values], []
            score = round(sum(presence) / len(presence), DIGITS)
            yield {**line, "judge": judge.name, "threshold": threshold, "presence": presence, "score": score}


def _read(path: Path, *, skip: int = 0) -> Iterator[JsonLine]:
    """The lines of a file after the first so many; InputError names the line that is not as it should be."""
    from pyramidion.formats.files import BadLineError, parse_object, read_lines

    problems = Problems()
    lines = ((number, text) for number, text in read_lines(path, problems) if text.strip())
    for number, text in islice(lines, skip, None):
        where = f"{path}, line {number}"
        try:
            content = parse_object(text)
        except BadLineError as error:
            problems.error(where, str(error))
            break
        units = content.get("units")
        if not isinstance(units, list) or not units or not all(isinstance(unit, str) for unit in units):
            problems.error(where, '"units" must be a list of texts, at least one')
        if not isinstance(content.get("summary"), str):
            problems.error(where, '"summary" must be a text')
        if problems.errors:
            break
        yield content
    if problems.errors:
        raise InputError(problems)


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
    from pyramidion.judges import judged_topics, questions
    from pyramidion.judges.llm import LlmJudge

    if not isinstance(judge, LlmJudge):
        return True
    estimate = judge.estimate(questions(judged_topics(study, pyramid)))
    output.say(_told(estimate, judge.name, prices))
    return yes or not estimate.requests or typer.confirm("Send them?", err=True)


def _told(estimate: Estimate, name: str, prices: tuple[float, float] | None) -> str:
    known = f" ({estimate.known} are known already)" if estimate.known else ""
    cost = f", about ${estimate.cost(*prices):.2f}" if prices else ""
    tokens = f"{estimate.tokens_in:,} tokens in and {estimate.tokens_out:,} out"
    return f"{name}: {estimate.requests} requests{known}, roughly {tokens}{cost}."


def _save(judged: Evaluation, target: Path, output: Output) -> None:
    from pyramidion.formats import save

    output.warn(save(judged.study, target))
    output.say(f"Wrote the study with the judgments to {target}.")


def _show_workers(judged: Evaluation, name: str, pyramid: str, output: Output) -> None:
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
