"""What notebooks show: pyramids and explained summaries, with every text as text."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape

import pyramidion as pyr
from pyramidion.scoring.explain import explain

SCRIPT = "<script>alert(1)</script>"


def test_a_pyramid_shows_its_tiers() -> None:
    pyramid = pyr.example().pyramid("drought-plan", "expert")
    assert pyramid
    shown = pyramid._repr_html_()
    assert re.findall(r"<th style='vertical-align:top'>(\d)</th>", shown) == ["4", "3", "2", "1"]
    assert all(unit.label in unescape(shown) for unit in pyramid.units)
    hostile = replace(pyramid, topic=SCRIPT, name=SCRIPT, units=(replace(pyramid.units[0], label=SCRIPT),))
    assert "<script" not in hostile._repr_html_()


def test_a_summary_shows_what_it_expresses() -> None:
    found = explain(pyr.example(), "drought-plan", "extract")
    shown = found._repr_html_()
    assert "modified 0.589" in shown
    text = unescape(re.sub(r"<[^>]+>", "", shown.split("<p", 1)[1].split(">", 1)[1].split("</p>")[0]))
    assert text == found.peer.text
    marked = re.findall(r"<span style='background:rgba\(0,150,130,([\d.]+)\)'>", shown)
    assert max(map(float, marked)) == 0.5  # the heaviest units have the strongest tint
    assert "12 units expressed" in shown
    assert "21 units not found" in shown
    hostile = replace(found, peer=replace(found.peer, system=SCRIPT, text=SCRIPT + found.peer.text[len(SCRIPT) :]))
    assert "<script" not in hostile._repr_html_()
