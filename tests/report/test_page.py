"""The report as text: escaping, the policy's hashes, parcels that hold what was found, any legal study."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from tests.strategies import crowds, studies

import pyramidion as pyr
from pyramidion.report import report_page
from pyramidion.report.collect import Fact, Findings, findings
from pyramidion.report.page import Scale, nice_scale
from pyramidion.report.rendering import breakable, embedded_json
from pyramidion.scoring.explain import explain

NASTY = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&\x00\u2028"


@pytest.fixture(scope="module")
def found() -> Findings:
    return findings(pyr.example(), resamples=50)


@pytest.fixture(scope="module")
def page(found: Findings) -> str:
    return report_page(found)


class Elements(HTMLParser):
    """What a browser would see."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def tags_of(text: str) -> list[tuple[str, dict[str, str | None]]]:
    parser = Elements()
    parser.feed(text)
    return parser.tags


def parcel(page: str, name: str) -> str:
    packed = re.search(rf'<script type="application/gzip" id="{re.escape(name)}">([^<]*)</script>', page)
    assert packed
    return gzip.decompress(base64.b64decode(packed[1])).decode()


def test_what_comes_from_a_study_is_text(found: Findings) -> None:
    """Names, facts and notes, in elements and in attributes; control characters are made visible. What is said of
    topics is packed; the browser's tests look at it."""
    [first, *rest] = found.topics
    nasty = replace(
        found,
        title=NASTY,
        topics=(replace(first, topic=replace(first.topic, id=NASTY, title=NASTY)), *rest),
        protocol=(*found.protocol, Fact(NASTY, NASTY)),
        notes=(pyr.Problem(NASTY, NASTY),),
    )
    page = report_page(nasty)
    assert [tag for tag, _ in tags_of(page)].count("script") == [tag for tag, _ in tags_of(report_page(found))].count(
        "script"
    )
    assert "<img" not in page
    assert "\x00" not in page
    assert (
        page.count("&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&#34;") == 6
    )
    assert "&#39;&amp;\ufffd" in page


def test_embedded_json_cannot_leave_its_element() -> None:
    held = embedded_json({"a": NASTY})
    assert not re.search(r"[<>&\u2028\u2029]", held)
    assert json.loads(held) == {"a": NASTY}


def test_names_break_between_their_parts_and_stay_text() -> None:
    assert breakable("abs_t5-out") == "abs_<wbr>t5-<wbr>out"
    assert breakable("a" * 30) == f"{'a' * 14}<wbr>{'a' * 14}<wbr>aa"
    assert breakable("<i>_\x00") == "&lt;i&gt;_<wbr>\ufffd"
    assert breakable("__") == "__"
    assert breakable("") == ""


def test_the_policy_names_exactly_the_style_and_script_of_the_page(page: str) -> None:
    policy = next(a["content"] for tag, a in tags_of(page) if a.get("http-equiv") == "Content-Security-Policy")
    assert policy
    assert "unsafe" not in policy
    assert policy.startswith("default-src 'none';")
    for tag, directive in (("style", "style-src"), ('script type="module"', "script-src")):
        body = page.split(f"<{tag}>", 1)[1].split(f"</{tag.split()[0]}>", 1)[0]
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy


def test_the_page_loads_nothing_and_styles_nothing_inline(page: str) -> None:
    for tag, attributes in tags_of(page):
        assert "style" not in attributes, tag
        assert not [name for name in attributes if name.startswith("on")], tag
        assert "src" not in attributes, tag
        href = attributes.get("href") or "#"
        assert href.startswith("#") or (tag == "link" and href == "data:,")


def test_a_parcel_holds_what_explain_says(found: Findings, page: str) -> None:
    """The page's data against what `pyramidion show` prints."""
    study = pyr.example()
    for place, topic in enumerate(found.topics):
        held: dict[str, Any] = json.loads(parcel(page, f"topic-{place}"))
        assert held["id"] == topic.id
        for summary in held["summaries"]:
            system = found.systems[summary["system"]]
            known = explain(study, topic.id, system)
            ids = [held["units"][unit][0] for unit, _ in summary["expressed"]]
            assert sorted(ids) == sorted(unit.id for unit in known.expressed)
            assert "".join(piece[0] for piece in summary["pieces"]) == known.peer.text
            weights: list[int] = []
            for text, *rest in summary["pieces"]:
                here = max((held["units"][unit][2] for unit in (rest[0] if rest else [])), default=0)
                weights += [here] * len(text)
            assert weights == [weight for text, weight in known.weighted_text() for _ in text]
            assert summary["unmatched"] == known.unmatched


def test_an_untitled_study_has_a_heading(found: Findings) -> None:
    page = report_page(replace(found, title=""))
    assert page.count("6 systems on 4 topics") >= 2  # the window's title and the heading
    assert re.search(r"<h1[^>]*>6 systems on 4 topics</h1>", page)


def test_the_ranking_is_that_of_the_scores(found: Findings, page: str) -> None:
    order = [name for name, _ in pyr.score(pyr.example(), "pyramid").ranking("modified")]
    rows = re.findall(r'<td class="number rank">(\d+)</td><th scope="row" dir="auto">([^<]+)</th>', page)
    assert [name for _, name in rows[: len(order)]] == order
    assert list(found.systems) == order


def test_the_crowd_s_report_shows_votes_and_who_was_left_out() -> None:
    crowd = findings(pyr.example(), method="lite", resamples=20)
    assert crowd.main.measure == "lite"
    assert [w.judge for w in crowd.workers if w.excluded] == ["worker7", "worker8"]
    summary = next(s for s in crowd.summaries if (s.peer.topic, s.peer.system) == ("drought-plan", "paraphrase"))
    expressed = {unit.id for unit in summary.expressed}
    assert len(expressed) / 32 == crowd.main_scores["drought-plan", "paraphrase"]
    assert {vote.of for vote in summary.votes.values()} <= {3, 4, 5}
    for unit, vote in summary.votes.items():  # the majority after screening, ties absent
        assert (unit in expressed) == (2 * vote.yes > vote.of)
    assert report_page(crowd).count("left out</span>") == 2


def test_scales_are_round_and_hold_everything() -> None:
    assert nice_scale(0, 0.782).ticks() == [0, 0.2, 0.4, 0.6, 0.8]
    assert nice_scale(0, 9.0) == Scale(0, 10)
    assert nice_scale(-0.3, 0.9).low <= -0.3


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(studies() | crowds())
def test_every_legal_study_has_a_report(study: pyr.Study) -> None:
    try:
        held = findings(study, resamples=5)
    except (pyr.UsageError, pyr.InputError):
        return  # nothing can be scored, and that was said
    page = report_page(held)
    assert sum(tag == "script" and a.get("type") == "module" for tag, a in tags_of(page)) == 1
    for place, _ in enumerate(held.topics):
        topic = json.loads(parcel(page, f"topic-{place}"))
        for summary in topic["summaries"]:
            peer = study.summary(topic["id"], held.systems[summary["system"]])
            assert peer
            assert "".join(piece[0] for piece in summary["pieces"]) == peer.text


def test_studies_without_pyramids_have_a_report_too() -> None:
    whole = pyr.example()
    ratings = pyr.Judgments([j for j in whole.judgments if j.aspect in {"overall", "content"}])
    page = report_page(findings(replace(whole, pyramids=(), judgments=ratings, tasks=()), resamples=20))
    assert "Tukey" in page
    only_texts = replace(whole, pyramids=(), judgments=pyr.Judgments(), tasks=(), judges=(), aspects=())
    assert "rouge-2-recall" in report_page(findings(only_texts, resamples=20))


def test_a_worker_left_out_is_not_said_to_agree_as_much_as_those_kept(found: Findings) -> None:
    # 49.96% is below the 50% that keep a worker, and must not read as 50%.
    workers = tuple(replace(w, agreement=0.4996) if w.excluded else w for w in found.workers)
    assert any(w.excluded for w in workers)
    text = report_page(replace(found, workers=workers))
    assert "(49.96% over " in text
    assert "(50% over " not in text
