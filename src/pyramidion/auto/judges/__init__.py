"""Judges that are programs: is this unit in this summary? One port, and four ways to answer.

``align`` is the embedded model, ``lexical`` needs none, ``nli:MODEL`` asks any entailment model of Hugging Face,
``llm:MODEL`` any chat model behind an OpenAI-compatible endpoint. Others register as `pyramidion.judges`.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from pyramidion import plugins
from pyramidion.auto.judges.base import PresenceJudge, Questions, Verdicts, cut
from pyramidion.errors import UsageError

__all__ = ["PresenceJudge", "Questions", "Verdicts", "cut", "make_judge"]


def make_judge(spec: str, options: Mapping[str, Any] | None = None) -> PresenceJudge:
    """The judge a name stands for: ``align``, or with its model ``nli:roberta-large-mnli``."""
    name, _, model = spec.partition(":")
    factory = plugins.load("judges", name)
    accepted = inspect.signature(factory).parameters
    if strange := [option for option in options or {} if option not in accepted]:
        raise UsageError(f"judge {name} has no choice {strange[0]!r}")
    if "model" in accepted and not model:
        raise UsageError(f"judge {name} needs a model: {name}:MODEL")
    if model and "model" not in accepted:
        raise UsageError(f"judge {name} takes no model, so {spec!r} is none")
    judge: PresenceJudge = factory(**({"model": model} if model else {}), **(options or {}))
    return judge
