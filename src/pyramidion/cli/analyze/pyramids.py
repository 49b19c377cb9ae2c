"""The question about pyramids of the same topics: pyramids."""

from __future__ import annotations

from typing import Annotated

import typer

from pyramidion.cli.analyze.asking import Asked, Topics, question
from pyramidion.cli.options import StudyPath


@question()
def pyramids(
    path: StudyPath,
    pyramid: Annotated[
        list[str] | None, typer.Option(help="The pyramid to compare; repeatable. [default: auto]", show_default=False)
    ] = None,
    against: Annotated[str, typer.Option(help="The pyramid to compare it with.")] = "expert",
    least: Annotated[
        float, typer.Option(help="The least overlap (Dice of words) of two units that are a pair.")
    ] = 0.25,
    topic: Topics = None,
    *,
    asked: Asked,
) -> None:
    """Is an automatic pyramid like a manual one? Units by weight, units of one paired with units of the other."""
    from pyramidion.analysis import pyramid_pairs as ask

    study = asked.study(path)
    asked.answer(lambda: ask(study, pyramid=pyramid or ["auto"], against=against, least=least, topics=topic))
