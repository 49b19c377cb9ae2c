"""What nouns look like in a terminal and in a notebook, and the numbers the papers used."""

from __future__ import annotations

import pyramidion as pyr
from pyramidion.study import Judgment, Judgments, Settings, Study


def test_a_study_says_what_it_holds() -> None:
    study = Study(
        topics=(pyr.Topic("t"),),
        summaries=(pyr.Summary("t", "A", "text", "reference"), pyr.Summary("t", "x", "text")),
        judges=(pyr.Judge("ann", "expert"),),
        judgments=Judgments([Judgment("t", "x", "ann", 1, unit="u"), Judgment("t", "x", "ann", 1, unit="v")]),
    )
    assert repr(study) == "<Study: 1 topics, 1 references, 1 peers, 1 systems, 1 judges, 2 judgments>"
    assert repr(study.judgments) == "<Judgments: 2 by 1 judges>"
    assert repr(Study()) == "<Study: empty>"


def test_a_topic_is_found_by_its_id() -> None:
    study = Study(topics=(pyr.Topic("t"), pyr.Topic("u", "Floods")))
    assert study.topic("u") == pyr.Topic("u", "Floods")
    assert study.topic("v") is None


def test_everything_in_a_study_is_counted(example: pyr.Study) -> None:
    counts = example.counts()
    assert counts["documents"] == sum(len(topic.documents) for topic in example.topics)
    assert counts["references"] + counts["peers"] == len(example.summaries)
    assert counts["units"] == sum(len(pyramid.units) for pyramid in example.pyramids)
    assert not {"summaries", "title", "notes"} & set(counts)


def test_a_notebook_shows_a_pyramid_from_the_top_tier_down() -> None:
    both = (pyr.Contributor("A"), pyr.Contributor("B"))
    units = (
        pyr.ContentUnit("1", "low <b>", both[:1]),
        pyr.ContentUnit("2", "high", both),
        pyr.ContentUnit("3", "", both[1:]),
    )
    page = pyr.Pyramid("floods & fire", ("A", "B"), units)._repr_html_()
    assert "floods &amp; fire: pyramid expert, 2 references, 3 units" in page
    shown = [page.index(part) for part in (">2</th>", ">high<", ">1</th>", ">low &lt;b&gt;<", ">3<")]
    assert shown == sorted(shown)


def test_settings_of_a_kind_are_those_of_its_paper() -> None:
    # Shapira et al. 2019: two writers at $0.50, five judges at $0.45; Gillick and Liu 2010: $0.07 a rating.
    write, rate = Settings.for_kind("write"), Settings.for_kind("rate", workers=3)
    assert (write.workers, write.pay, write.min_seconds) == (2, 0.50, 60.0)
    assert Settings.for_kind("judge") == Settings(workers=5, pay=0.45, fee=0.2, minutes_per_task=3.0)
    assert (rate.workers, rate.pay, rate.fee) == (3, 0.07, 0.1)
    assert Settings(**rate.as_dict()) == rate
    assert rate.as_dict()["workers"] == 3
