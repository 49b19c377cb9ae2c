"""Words that workers mark in a summary, from the answer to what a score rests on; and what else workers are told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import pyramidion as pyr
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.plan import check_settings, plan
from pyramidion.campaigns.rehearsal import rehearse_campaign
from pyramidion.errors import InputError
from pyramidion.scoring.explain import unit_judgments
from pyramidion.store.database import Database
from pyramidion.study import Settings


@pytest.fixture
def desk(tmp_path: Path, example: pyr.Study) -> Iterator[CampaignDesk]:
    made = CampaignDesk(Database.create(tmp_path / "study.db"))
    made.import_study(pyr.Study(topics=example.topics, summaries=example.summaries, pyramids=example.pyramids))
    yield made
    made.database.close()


def test_marked_words_are_what_explanations_quote_and_exports_keep(desk: CampaignDesk) -> None:
    settings = Settings.for_kind("judge", evidence=True, gold_rate=0.5, workers=3)
    desk.start(plan(desk.studies.load(), "judge", "judge", settings, pyramid="crowd"))
    rehearse_campaign(desk, "judge", workers=12, careless=0, adversarial=0)
    study = desk.study_of("judge")
    said = [judgment for judgment in study.judgments if judgment.judge.startswith("simulated-")]
    assert {bool(judgment.evidence) for judgment in said if judgment.value == 1} == {True}
    assert {bool(judgment.evidence) for judgment in said if judgment.value == 0} == {False}
    judged = unit_judgments(study, method="lite")
    assert all(judged.evidence[key][unit] for key in judged.evidence for unit in judged.evidence[key])
    [quoted] = {
        text
        for (topic, system), units in judged.evidence.items()
        if (topic, system) == ("drought-plan", "extract")
        for mentions in units.values()
        for mention in mentions
        for span in mention
        if (text := span.of(study.summary(topic, system).text)).startswith("Growers")  # type: ignore[union-attr]
    }
    assert "filed a lawsuit against the city" in quoted


def test_old_campaigns_have_none_of_the_new_settings() -> None:
    old = {name: value for name, value in Settings().as_dict().items() if name not in NEW}
    assert {name: getattr(Settings(**old), name) for name in NEW} == NEW


NEW = {"minutes_per_task": 0.0, "consent": "", "contact": "", "evidence": False, "code_when_stopping": False}


def test_consent_may_have_lines_and_is_bounded() -> None:
    check_settings(Settings(consent="You agree.\n\n\tFreely." + "x" * 4900, contact="Ada Ash, ada@example.org"))
    for wrong in ({"consent": "x" * 5001}, {"consent": "\x00"}, {"contact": "two\nlines"}, {"minutes_per_task": -1.0}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            check_settings(Settings(**wrong))  # type: ignore[arg-type]
