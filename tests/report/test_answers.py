"""Rendering: every figure kind is drawn, the same each time; tables are safe for terminals, spreadsheets and LaTeX."""

from __future__ import annotations

import csv
import re
import xml.etree.ElementTree as ElementTree
from decimal import Decimal
from pathlib import Path

import pytest
from rich.console import Console

import pyramidion as pyr
from pyramidion import report
from pyramidion.analysis import Answer, Table
from pyramidion.analysis.answer import (
    Bars,
    Contour,
    Estimate,
    Figure,
    Heatmap,
    Intervals,
    Lines,
    Point,
    Scatter,
    Series,
    Tier,
    Tiers,
)
from pyramidion.report.plots import save
from pyramidion.study import Signature

NASTY = "=a_b & 50% $x^2$ \x1b[31m"
FIGURES: list[Figure] = [
    Lines("curves", "n", "r", (Series("one", (1, 2, 3), (0.1, None, 0.5), (0, None, 0.4), (0.2, None, 0.6)),), mark=2),
    Scatter("points", "x", "y", (Point(NASTY, 0.1, 0.2), Point("b", 0.4, 0.3)), diagonal=True),
    Intervals("values", "x", (Estimate("a", 0.5, 0.2, 0.7, "ab"), Estimate("b", None)), mark=0.0),
    Bars("bars", "y", (Estimate("a", -0.2), Estimate("b", 0.4, 0.3, 0.5))),
    Heatmap("matrix", "p", ("a", "b"), ("a", "b"), ((None, 0.3), (0.3, None))),
    Contour("hills", "x", "y", "r", (1, 2, 3), (0, 5), ((0.1, None, 0.3), (0.2, 0.4, 0.1)), Point("best", 2, 5)),
    Contour("flat", "x", "y", "r", (1, 2), (0, 5), ((0.1, 0.1), (0.1, 0.1))),
    Tiers("pyramid", "share", (Tier(2, (0.5,)), Tier(1, (0.1, 0.9, 0.0)))),
]


def answer(figures: tuple[Figure, ...] = ()) -> Answer[None]:
    rows = ((NASTY, 3, 0.12345, None, True), ("b", 4, 1e-9, Decimal("1350"), False))
    table = Table("A title", ("name", "n", "p", "cost", "kept"), rows, "A note.")
    return Answer("test", "In words.", (table, table), Signature.of("test", seed=1), None, figures)


@pytest.mark.slow
@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: type(figure).__name__)
@pytest.mark.parametrize("suffix", [".svg", ".pdf", ".png"])
def test_every_figure_is_drawn_the_same_each_time(figure: Figure, suffix: str, tmp_path: Path) -> None:
    first, second = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
    save(figure, first)
    save(figure, second)
    assert first.read_bytes() == second.read_bytes()
    assert first.stat().st_size > 1000


def test_svg_text_is_text(tmp_path: Path) -> None:
    save(FIGURES[1], tmp_path / "a.svg")
    words = "".join(ElementTree.parse(tmp_path / "a.svg").getroot().itertext())  # a control character would not parse
    assert "points" in words
    assert "=a_b & 50% $x^2$" in words


def test_several_figures_are_numbered(tmp_path: Path) -> None:
    written = report.plot(answer(tuple(FIGURES[:3])), tmp_path / "new" / "plot.svg")
    assert [path.name for path in written] == ["plot.svg", "plot-2.svg", "plot-3.svg"]
    with pytest.raises(pyr.UsageError, match="plots can be written to"):
        report.plot(answer(tuple(FIGURES)), tmp_path / "plot.gif")
    with pytest.raises(pyr.UsageError, match="nothing to plot"):
        report.plot(answer(), tmp_path / "plot.svg")


def test_latex_is_escaped_and_complete() -> None:
    text = report.latex(answer())
    assert text.startswith("% pyramidion|method:test|seed:1|")
    assert text.count(r"\toprule") == text.count(r"\bottomrule") == 2
    assert r"=a\_b \& 50\% \$x\textasciicircum{}2\$" in text
    assert "\x1b" not in text
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert {len(re.split(r"(?<!\\)&", row)) for row in rows} == {5}
    assert r"\textless{}0.001" in text


def test_csv_keeps_numbers_and_disarms_formulas(tmp_path: Path) -> None:
    first, second = report.write_csv(answer(), tmp_path / "t.csv")
    assert second.name == "t-2.csv"
    with first.open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["name", "n", "p", "cost", "kept"]
    assert rows[1][0].startswith("'=")
    assert (float(rows[1][2]), rows[1][3], float(rows[2][3])) == (0.12345, "", 1350.0)


def test_a_terminal_gets_no_escapes_and_short_tables() -> None:
    console = Console(width=200, color_system=None)
    with console.capture() as shown:
        for part in report.terminal(answer(), most=1):
            console.print(part)
    text = shown.get()
    assert "In words." in text
    assert "... and 1 more rows." in text
    assert "\x1b" not in text


def test_an_answer_prints_itself() -> None:
    text = str(answer())
    assert "<0.001" in text
    assert "1,350.00" in text
    assert text.splitlines()[0] == "In words."
    held = answer().as_json()
    assert held["tables"][0]["rows"][1] == {"name": "b", "n": 4, "p": 1e-9, "cost": 1350.0, "kept": False}
