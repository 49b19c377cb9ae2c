"""Readers meet one name for a method and for a measure, wherever they meet it."""

from __future__ import annotations

import re
from importlib.resources import files

import pyramidion as pyr
from pyramidion.report.collect import findings
from pyramidion.report.names import METHODS


def test_the_manager_s_page_calls_methods_what_reports_call_them() -> None:
    script = (files("pyramidion") / "server/static/manager/words.js").read_text(encoding="utf-8")
    held = script.split("export const METHODS = {", 1)[1].split("\n};", 1)[0]
    assert dict(re.findall(r'^  (\w+): \[\s*"([^"]+)"', held, re.MULTILINE)) == {
        method: title.name for method, title in METHODS.items()
    }


def test_agreement_is_on_what_the_ranking_is_by() -> None:
    found = findings(pyr.example(), resamples=20)
    [on_ratings] = [answer for answer in found.agreements if answer.result.measure == "overall"]
    titles = [each.title for each in (*on_ratings.figures, on_ratings.tables[0])]
    assert titles == [
        "Judges on Responsiveness (overall)",
        "Pairs of judges on Responsiveness (overall)",
        "Agreement on Responsiveness (overall)",
    ]
    assert on_ratings.sentence.startswith("Krippendorff's alpha on Responsiveness (overall) is ")
