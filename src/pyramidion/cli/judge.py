"""`pyramidion judge`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeGuard

import typer

from pyramidion.cli.chat import Chatting, tell_usage, usage_as_json
from pyramidion.cli.options import PyramidName, Reading, grouped, refuse_same, refuse_unused
from pyramidion.cli.output import Output, as_json, counted, plain
from pyramidion.cli.working import WORKING, Working
from pyramidion.errors import UsageError
from pyramidion.terminal import TerminalTable

if TYPE_CHECKING:
    from pyramidion.analysis.calibrate import WorkerCheck
    from pyramidion.evaluation import Evaluation
    from pyramidion.formats.resumable import JsonLine
    from pyramidion.judges import PresenceJudge, Questions
    from pyramidion.judges.llm import LlmJudge


@grouped
def judge(
    context: typer.Context,
    path: Annotated[str, typer.Argument(metavar="STUDY", help="A study in any readable format, with a pyramid.")],
    judge: Annotated[
        str,
        typer.Option(
            "--judge",
            help="align (embedded; blind to who did what to whom), lexical, nli:MODEL (Hugging Face) or llm:MODEL "
            "(chat endpoint).",
        ),
    ] = "align",
    threshold: Annotated[
        str | None,
        typer.Option(
            help="Answer yes or no: yes from this probability on, or from the judge's own threshold with `own`."
        ),
    ] = None,
    soft: Annotated[bool, typer.Option("--soft", help="Keep probabilities. This is the default.")] = False,
    pyramid: Annotated[
        str | None, typer.Option(help="The pyramid to use. [default: crowd, expert, or the only one]")
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
    batch: Annotated[
        int | None, typer.Option(help="llm: units of a summary in one request, at most. [default: 25]")
    ] = None,
    keep: Annotated[
        Path | None, typer.Option(help="A folder for judged topics; an interrupted run continues from it.")
    ] = None,
    *,
    chatting: Chatting,
    working: Working,
    reading: Reading,
) -> None:
    """Let a model say which units are in which summaries, and score by it.

    A unit that a chat model refuses to judge is missing: it is named, counts for no score, and is asked about again by
    the next run. The exit status is 0 unless nothing was answered.

    With --lines, results are not held in memory: they go to -o, or to the screen, one by one, and an interrupted run
    continues where it stopped.
    """
    from pyramidion.cli.score import check_targets, show_table
    from pyramidion.jobs import judged_topics
    from pyramidion.judges import make_judge, questions
    from pyramidion.judging import judge_study
    from pyramidion.scoring.choice import TO_BE_JUDGED, choose, named_pyramid

    output = reading.out
    check_targets(target or [], by)
    for file in [*(target or []), *([save] if save else [])]:
        refuse_same(path, file)
    if soft and threshold is not None:
        raise UsageError("--soft and --threshold cannot be used together")
    if lines:
        refuse_unused(
            context, "with --lines", "pyramid", "save", "workers", "by", "format", "columns", "lenient", "json", "keep"
        )
    if workers:
        refuse_unused(context, "with --workers, which shows people instead of scores", "target", "by")
    if judge.partition(":")[0] == "llm":
        where = f"with {judge}, which asks many things at once by itself"
        refuse_unused(context, where, *WORKING)
    else:
        refuse_unused(context, f"with {judge}, which is free of charge", "price", "yes")
    options = chatting.options() | ({} if batch is None else {"batch": batch})
    asked = make_judge(judge, options)
    limit = _threshold(threshold, asked)
    if lines:
        _judge_lines(Path(path), target or [], asked, judge, limit, chatting, working, output)
        return
    study = reading.study(path)
    name = named_pyramid(study.pyramid_names, pyramid, prefer=TO_BE_JUDGED)
    if not _agreed(lambda: questions(judged_topics(study, name)), asked, chatting, output):
        raise typer.Exit(1)
    total = sum(len(each.texts) for each in judged_topics(study, name))
    with working.started(output) as engine, output.progress(total, f"Judging by {asked.name}") as advance:
        judged = judge_study(
            study,
            asked if _asks(asked) else judge,
            pyramid=name,
            threshold=limit,
            evidence=save is not None,  # it is only written, not shown, and takes as long to find as whether it is
            folder=keep,
            engine=engine,
            advance=advance,
        )
    mine = choose(judged.study, kind="model", pyramid=name, judges=asked.name).on_units
    missing = sum(map(isnan, mine.value.tolist()))
    _tell(asked, missing, output)
    if save is not None:
        _save(judged, save, output)
    usage = {"usage": usage_as_json(asked), "missing": missing} if _asks(asked) else {}
    if workers:
        _show_workers(judged, asked.name, name, output, usage)
    else:
        show_table(judged.table, target or [], by, output, shown=study.notes, beside=usage)


def _judge_lines(
    source: Path,
    targets: list[Path],
    judge: PresenceJudge,
    spec: str,
    threshold: float | None,
    chatting: Chatting,
    working: Working,
    output: Output,
) -> None:
    """However long the file is: memory holds a few hundred lines, and a run that stopped goes on."""
    from json import dumps

    from pyramidion.formats.resumable import append_lines
    from pyramidion.judges import cut
    from pyramidion.judging.lines import ANSWERED, answer_lines, read_questions

    if not source.is_file():
        raise UsageError(f"{source}: no such file")
    if targets and (len(targets) > 1 or targets[0].suffix != ".jsonl"):
        raise UsageError("--lines writes one .jsonl file; give one -o")
    asked = (block.questions for line in read_questions(source) for block in cut(line["units"], [line["summary"]]))
    if not _agreed(lambda: asked, judge, chatting, output):
        raise typer.Exit(1)
    with working.started(output) as engine:

        def answers(done: int) -> Iterator[JsonLine]:
            questions = read_questions(source, skip=done)
            return answer_lines(questions, judge if _asks(judge) else spec, threshold, engine=engine)

        if not targets:
            missing = 0
            for answer in answers(0):
                missing += answer["presence"].count(None)
                print(dumps(answer, ensure_ascii=False))
            return _tell(judge, missing, output)
        ours = {"judge": judge.name, "threshold": threshold}

        def continues(done: int, answer: JsonLine) -> bool:
            """Whether an answer is ours to the line with this number; a judged file may be judged again."""
            line = next(read_questions(source, skip=done - 1), None)
            if line is None:
                return False
            expected = {name: line[name] for name in line.keys() - ANSWERED} | ours
            return all(answer.get(name) == value for name, value in expected.items())

        with source.open("rb") as file:
            total = sum(1 for _ in file)
        written = missing = 0
        lines = append_lines(targets[0], answers, continues)
        for answer in output.track(lines, f"Judging by {judge.name}", total=total):
            written, missing = written + 1, missing + answer["presence"].count(None)
    _tell(judge, missing, output)
    output.say(f"Wrote {counted(written, 'answers')} to {targets[0]}.")
    return None


def _threshold(text: str | None, judge: PresenceJudge) -> float | None:
    if text is None or text == "own":
        return judge.threshold if text else None
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"--threshold must be a probability or `own`, not {text!r}") from None


def _agreed(asked: Callable[[], Iterable[Questions]], judge: PresenceJudge, chatting: Chatting, output: Output) -> bool:
    """Show the estimated cost and ask before anything is sent."""
    return not _asks(judge) or chatting.agreed(judge.estimate(asked()), judge, output)


def _asks(judge: PresenceJudge) -> TypeGuard[LlmJudge]:
    """Whether the judge asks a chat model."""
    from pyramidion.judges.llm import LlmJudge

    return isinstance(judge, LlmJudge)


def _tell(judge: PresenceJudge, missing: int, output: Output) -> None:
    """Say what was spent, and how much is missing."""
    if _asks(judge):
        tell_usage(judge, output)
    if missing:
        output.say(f"{counted(missing, 'answers')} missing; run again to ask for {'it' if missing == 1 else 'them'}.")


def _save(judged: Evaluation, target: Path, output: Output) -> None:
    from pyramidion.formats import save

    output.warn(save(judged.study, target))
    output.say(f"Wrote the study with the judgments to {target}.")


def _show_workers(judged: Evaluation, name: str, pyramid: str, output: Output, beside: Mapping[str, Any]) -> None:
    from pyramidion.analysis.calibrate import SUSPECT, check_workers
    from pyramidion.stats.rounding import rounded_beside

    checks = check_workers(judged.study, name, pyramid=pyramid)
    output.result(
        {
            "judge": name,
            "workers": [_as_json(check) for check in checks],
            "notes": as_json(judged.table.notes),
            **beside,
        }
    )
    rows = [
        (
            check.worker,
            str(check.answers),
            "-" if check.excess is None else f"{check.excess:.3f}",
            "-" if check.deviation is None else rounded_beside(check.deviation, SUSPECT, digits=3),
            "-" if check.agreement is None else f"{check.agreement:.3f}",
            "suspect" if check.suspect else "",
        )
        for check in checks
    ]
    heads = ("worker", "answers", "excess", "deviation", "agreement", "")
    output.show(TerminalTable(heads, rows, caption=f"excess: distance from {name} beyond a careful person's"))


def _as_json(check: WorkerCheck) -> dict[str, Any]:
    from dataclasses import asdict

    return {**asdict(check), "suspect": check.suspect}


# ----------------------------------------------------------------------
# `pyramidion autoannotate`.


@grouped
def autoannotate(
    path: Annotated[str, typer.Argument(metavar="STUDY", help="A study with a pyramid and annotated summaries.")],
    target: Annotated[
        Path, typer.Option("--output", "-o", help="The file or folder to write the study with the annotations to.")
    ],
    judge: Annotated[
        str, typer.Option("--judge", help="The name of the new annotations' judge, a model.")
    ] = "autoannotate",
    only_missing: Annotated[
        bool, typer.Option("--only-missing", help="Annotate only summaries that nobody has annotated.")
    ] = False,
    pyramid: PyramidName = None,
    judges: Annotated[
        str | None,
        typer.Option(help="Whom to learn from: all, people, expert, crowd, or one judge's id. [default: expert]"),
    ] = None,
    to: Annotated[
        str | None, typer.Option("--to", help="The format to write, if it does not follow from the output's name.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the output if it is an existing file.")] = False,
    *,
    reading: Reading,
) -> None:
    """Search other summaries for words that were marked for a unit, and annotate them with evidence. Case and
    spacing are ignored. This works for systems that copy sentences; paraphrases are not found."""
    from pyramidion.annotation.autoannotation import autoannotate_study
    from pyramidion.formats import guess_format, save

    output = reading.out
    _refuse(path, target, force)
    chosen = to or guess_format(target)
    study = reading.study(path)
    with output.busy("Searching for marked words"):
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
        f"{plain(made.judge)} annotated {made.summaries} summaries, based on what {learned} marked: "
        f"{made.found:,} of {counted(made.judgments, 'units')} found."
    )
    output.show(f"Wrote {plain(str(target))} ({chosen}).")


def _refuse(source: str, target: Path, force: bool) -> None:
    """Refuse to replace the study or a file of it, or any other file without --force."""
    refuse_same(source, target)
    folder = Path(source)
    if folder.is_dir() and target.resolve().is_relative_to(folder.resolve()):
        raise UsageError(f"{target} is inside the study itself; choose a place outside {source}")
    if target.is_file() and not force:
        raise UsageError(f"{target} already exists; --force replaces it")
