"""`campaign plan --with-model`: a model judges what it has not judged yet, and the study keeps that."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from pyramidion.cli.output import Output
from pyramidion.errors import UsageError

if TYPE_CHECKING:
    from pyramidion.campaigns.desk import CampaignDesk
    from pyramidion.judges import PresenceJudge
    from pyramidion.study import Settings, Study


def with_model_judgments(
    desk: CampaignDesk, study: Study, part: Study, settings: Settings, pyramid: str | None, output: Output
) -> Study:
    """The study with the model's judgments of all units of a part of it that may be asked about. New ones are stored
    at once: they are right whether the campaign starts or not, and planning again need not wait for them."""
    from pyramidion.campaigns.guided import check_size
    from pyramidion.campaigns.model_judgments import (
        check_kind,
        judged_pyramids,
        questions_about,
        unjudged,
        without_known,
    )
    from pyramidion.judges import LabelJudge, bounds_of, with_judge
    from pyramidion.study import Judge, Judgments
    from pyramidion.study import Study as Records

    model = settings.model
    check_kind(study, model)
    if not (pyramids := judged_pyramids(part, pyramid)):
        return study
    check_size(pyramids, part.systems, settings)
    if not (missing := unjudged(study, pyramids, model, part.systems)):
        return study
    judge = _judge(model, known=model in study.judges_of("model"))
    asked = questions_about(study, pyramids, missing)
    answers = output.track(LabelJudge(judge, evidence=False).judge_all(asked), f"Judging by {model}", total=len(asked))
    new = without_known(study, model, Judgments(chain.from_iterable(answers)))
    if not len(new):
        raise UsageError(f"{model} gives no answer to some questions, so it cannot guide what people are asked")
    known = Judge(model, "model", **bounds_of(judge)._asdict())
    judges = () if model in {judge.id for judge in study.judges} else (known,)
    desk.studies.add(Records(judges=judges, judgments=new))
    output.say(f"{model} has judged {len(new):,} units of summaries; the study keeps that.")
    return replace(study, judges=with_judge(study.judges, known), judgments=study.judgments + new)


def _judge(model: str, *, known: bool) -> PresenceJudge:
    from pyramidion import plugins
    from pyramidion.judges import make_judge

    kind = model.partition(":")[0]
    if kind == "llm" or (known and kind not in plugins.names("judges")):
        cost = ", and a chat model costs money" if kind == "llm" else ""
        raise UsageError(
            f"{model} has not judged all units of all summaries{cost}: let it do that first (`pyramidion judge STUDY "
            f"--judge {model} --save judged.jsonl`, `pyramidion import STUDY judged.jsonl`), then plan again"
        )
    judge = make_judge(model)
    if judge.name != model:
        raise UsageError(f"in a study, judge {model!r} is called {judge.name!r}; use that name")
    return judge
