"""`pyramidion report`, `feedback` and `diff`: results for people to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from pyramidion.cli.analyze.asking import Asked
from pyramidion.cli.options import (
    Annotators,
    Compat,
    Judges,
    Latex,
    PyramidName,
    Reading,
    Seed,
    StudyPath,
    Weights,
    grouped,
    open_desk,
    refuse_same,
    refuse_unused,
)
from pyramidion.cli.output import Output, counted, plain
from pyramidion.cli.working import WORKING, Working
from pyramidion.errors import UsageError

Method = Annotated[
    str | None,
    typer.Option("--method", "-m", help="The main method: pyramid, lite, ... [default: what fits the study]"),
]


@grouped
def report(
    context: typer.Context,
    path: StudyPath,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="NAME.html for one page, or another NAME for a folder with a page per topic. "
            "[default: report.html, or the folder report for more than 10,000 summaries]",
        ),
    ] = None,
    figures: Annotated[
        Path | None, typer.Option("--figures", help="A folder for every figure at paper size, as SVG and PDF.")
    ] = None,
    latex: Latex = None,
    scores: Annotated[
        list[str] | None, typer.Option("--scores", help="A further score table to correlate with; repeatable.")
    ] = None,
    method: Method = None,
    pyramid: PyramidName = None,
    judges: Judges = None,
    weights: Weights = None,
    annotators: Annotators = None,
    compat: Compat = None,
    pay: Annotated[float | None, typer.Option(help="Pay per assignment. [default: from the database]", min=0)] = None,
    fee: Annotated[float, typer.Option(help="The platform's fee, as a share of the pay.", min=0)] = 0.2,
    currency: Annotated[str, typer.Option(help="Printed before amounts of money.")] = "$",
    seed: Seed = 0,
    *,
    working: Working,
    reading: Reading,
) -> None:
    """Write a report of everything: ranking, topics, pyramids, and what each summary says and misses. It is one HTML
    file that needs nothing else, or a folder for a study so large that one file would open slowly.

    With --figures or --latex the report is written only if -o names it.
    """
    out = reading.out
    for target in filter(None, (output, latex)):
        refuse_same(path, target)
    if output is not None and _is_folder(output):
        from pyramidion.report.folder import refuse_other_folder

        if output.suffix and not output.is_dir():
            what = "the report must be written to a .html file, or to a folder, whose name has no suffix"
            raise UsageError(f"{output}: {what}")
        refuse_other_folder(output)
    if figures is not None:
        from pyramidion.report import need_plots

        need_plots()
    if pay is None:
        refuse_unused(context, "without --pay", "fee", "currency")
    study = reading.study(path)
    cost = _spent(path) if pay is None else _cost(study, pay, fee, currency)
    choices = {"pyramid": pyramid, "judges": judges, "weights": weights, "annotators": annotators, "compat": compat}
    findings = _findings(study, out, method, choices, seed, scores, cost)
    wanted = output is not None or not (figures or latex)
    if not wanted or not _is_folder(target := output or _usual(findings)):
        refuse_unused(context, "on one page, or none: only the pages of a folder are shared out", *WORKING)
    written = [_write_report(findings, target, working, out)] if wanted else []
    written += _write_parts(findings, figures, latex, out)
    main = findings.main
    out.result(
        {
            "written": [str(each) for each in written],
            "answer": main.ranking.sentence,
            "method": main.method,
            "measure": main.measure,
            "signature": str(main.table.signature),
            "simulated": findings.simulated,
        }
    )
    out.show(plain(main.ranking.sentence))
    for each in written[:3]:
        out.show(f"Wrote {plain(str(each))}.")
    if len(written) > 3:
        out.show(f"... and {len(written) - 3} more files.")


def _spent(path: str) -> str:
    """What the campaigns of a study database have cost; unknown for other files."""
    from pyramidion.formats import is_database

    if not is_database(path):
        return ""
    from pyramidion.campaigns.monitor import spent

    desk = open_desk(path)
    try:
        return spent(desk)
    finally:
        desk.database.close()


def _cost(study: Any, pay: float, fee: float, currency: str) -> str:
    """The cost: one assignment is one judge on one task."""
    from pyramidion.analysis.cost import campaign_cost

    done = {work for work in zip(study.judgments.task, study.judgments.judge, strict=True) if work[0]}
    return str(campaign_cost(max(len(done), len(study.assignments)), pay=pay, fee=fee, currency=currency))


def _findings(
    study: Any,
    out: Output,
    method: str | None,
    choices: dict[str, Any],
    seed: int = 0,
    scores: list[str] | None = None,
    cost: str = "",
) -> Any:
    from pyramidion.analysis.sources import read_source, score_tables
    from pyramidion.report.collect import findings

    metrics = score_tables([(Path(name).stem, read_source(name)) for name in scores or []])
    with out.busy("Scoring and analysing"):
        return findings(study, method=method, **choices, metrics=metrics, cost=cost, seed=seed)


def _is_folder(path: Path) -> bool:
    return path.suffix.lower() not in {".html", ".htm"} or path.is_dir()


def _is_large(findings: Any) -> bool:
    from pyramidion.report.folder import MOST_IN_ONE_FILE

    return len(findings.summaries) > MOST_IN_ONE_FILE


def _usual(findings: Any) -> Path:
    return Path("report" if _is_large(findings) else "report.html")


def _write_report(findings: Any, target: Path, working: Working, out: Output) -> Path:
    """One page, or a folder: what the name says, or what suits the number of summaries."""
    from pyramidion import report as rendering
    from pyramidion.formats.files import new_file

    if _is_folder(target):
        total = len(findings.topics)
        with working.started(out) as engine, out.progress(total, "Writing topics") as advance:
            return rendering.write_report_folder(findings, target, engine=engine, advance=advance)
    with out.busy("Writing the page"), new_file(target) as file:
        file.write(rendering.report_page(findings))
    if _is_large(findings):
        out.say(
            f"One page of {len(findings.summaries):,} summaries opens slowly; -o NAME without .html makes a folder."
        )
    return target


def _write_parts(findings: Any, figures: Path | None, latex: Path | None, out: Output) -> list[Path]:
    from pyramidion import report as rendering
    from pyramidion.formats.files import new_file

    written: list[Path] = []
    if figures is not None:
        with out.busy("Drawing figures"):
            written += rendering.write_figures(findings, figures)
    if latex is not None:
        with new_file(latex) as file:
            file.write("\n".join(rendering.latex(answer) for answer in findings.answers()))
        written.append(latex)
    return written


@grouped
def feedback(
    context: typer.Context,
    path: StudyPath,
    folder: Annotated[Path, typer.Option("--output", "-o", help="A new folder for the pages.")],
    system: Annotated[
        list[str] | None, typer.Option("--system", "-s", help="Only this writer or system; repeatable. [default: all]")
    ] = None,
    method: Method = None,
    pyramid: PyramidName = None,
    judges: Judges = None,
    weights: Weights = None,
    annotators: Annotators = None,
    compat: Compat = None,
    corrections: Annotated[
        Path | None, typer.Option("--corrections", help="What check.html has saved: all corrections of the teacher.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="Write the study with the corrections to this file or folder.")
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace the pages that an earlier run wrote into the folder.")
    ] = False,
    *,
    reading: Reading,
) -> None:
    """Write a short page for the writer of each summary, an overview for the teacher with a page on which verdicts can
    be corrected, and a CSV for the grade book."""
    from pyramidion import report as rendering
    from pyramidion.report.feedback import refuse_to_forget

    out = reading.out
    if corrections is None:
        refuse_unused(context, "without --corrections", "save")
    if save is not None:
        refuse_same(path, save)
    study = reading.study(path)
    if unknown := [name for name in system or () if name not in study.systems]:
        raise UsageError(f"unknown system {unknown[0]!r}; known systems are: {', '.join(study.systems)}")
    choices: dict[str, Any] = {"pyramid": pyramid, "judges": judges, "weights": weights}
    corrected = None
    if corrections is not None:
        corrected = rendering.read_corrections(corrections)
        study = rendering.correct(study, corrected, method=method, **choices)
    findings = _findings(study, out, method, choices | {"annotators": annotators, "compat": compat})
    if replace and corrected is None:
        refuse_to_forget(folder, findings)
    with out.busy("Writing pages"):
        written = rendering.write_feedback(findings, folder, systems=system, replace=replace)
    if save is not None:
        _save_corrected(study, save, out)
    used = {} if corrected is None else {"corrections": len(corrected)}
    out.result({"folder": str(folder), "written": [str(each) for each in written], **used})
    if corrected is not None:
        out.show(f"Used {counted(len(corrected), 'corrections')} from {plain(str(corrections))}.")
    pages = sum(each.parent.parent.name == "writers" for each in written)
    noun = "page for its writer" if pages == 1 else "pages, one for the writer of each summary"
    out.show(f"Wrote {pages} {noun}, in {plain(str(folder / 'writers'))}.")
    overview, check, grades = (plain(str(folder / name)) for name in ("overview.html", "check.html", "grades.csv"))
    out.show(f"For the teacher: {overview}, {check} to correct verdicts, and {grades}.")


def _save_corrected(study: Any, target: Path, out: Output) -> None:
    from pyramidion.formats import save

    out.warn(save(study, target))
    out.say(f"Wrote the study with the corrections to {target}.")


@grouped
def diff(
    first: Annotated[str, typer.Argument(metavar="A", help="A study or a score table.")],
    second: Annotated[
        str, typer.Argument(metavar="B", help="Another study or score table, or another run of the same.")
    ],
    measure: Annotated[str | None, typer.Option(help="The measure. [default: every measure that both have]")] = None,
    *,
    asked: Asked,
) -> None:
    """What changed between two studies or runs: scores, ranks and judgments."""
    from pyramidion.analysis.sources import changes

    read = [asked.read(each) for each in (first, second)]
    asked.answer(lambda: changes(*read, measure=measure))
