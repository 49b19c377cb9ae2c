"""All choices of automatic evaluation in one value, whose signature names them all."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from pyramidion import plugins
from pyramidion.encoder.sentences import Untouched
from pyramidion.errors import UsageError, check_choice
from pyramidion.pyramids.graph import PERCENTILE
from pyramidion.study import Signature
from pyramidion.study.judgments import PARTLY

ALIGN = "align"
SIMILARITIES = (ALIGN, "cosine")
MINILM = "minilm"
SPACY = "spacy:"
_OPTIONS = {"alpha": "partitioner", "beta": "partitioner", "top_k": "matcher", "threshold": "matcher"}


@dataclass(frozen=True, kw_only=True)
class Choices:
    """Names of parts and their parameters. None means the part's own default.

    ``segmenter`` is a registered one, or ``spacy:`` and the name of an installed pipeline. ``similarity`` compares
    clauses, by aligning words or by the cosine of what an ``embedder`` gives. ``percentile`` is the percentile of
    similarities from which segments are joined, and ``floor`` a similarity below which they never are. ``untouched``
    says how to cut a sentence of a reference that no shared unit needs. ``alpha`` and ``beta`` belong to edua-g,
    ``top_k`` and ``threshold`` to the matchers wmin and exact.
    """

    segmenter: str = "clauses"
    similarity: str = ALIGN
    embedder: str = MINILM
    partitioner: str = "edua-x"
    matcher: str = ALIGN
    percentile: float = PERCENTILE
    floor: float | None = None
    untouched: Untouched = "finest"
    alpha: float | None = None
    beta: float | None = None
    top_k: int | None = None
    threshold: float | None = None

    def __post_init__(self) -> None:
        if not self.segmenter.startswith(SPACY):
            check_choice("segmenter", self.segmenter, [*plugins.names("segmenters"), f"{SPACY}PIPELINE"])
        check_choice("similarity", self.similarity, SIMILARITIES)
        check_choice("partitioner", self.partitioner, plugins.names("partitioners"))
        check_choice("matcher", self.matcher, [ALIGN, *plugins.names("matchers")])
        if self.embedder != MINILM and self.similarity != "cosine":
            raise UsageError(f"embedder {self.embedder} is used only if similarity is cosine")
        for option, kind in _OPTIONS.items():
            if getattr(self, option) is not None and not self.uses(option):
                raise UsageError(f"{kind} {getattr(self, kind)} has no {option.replace('_', '-')}")

    def uses(self, name: str) -> bool:
        """Whether a choice has any effect with the others: partitioners and matchers have their own options, and an
        embedder is used only if vectors are compared."""
        if name == "embedder":
            return self.similarity == "cosine"
        return name not in _OPTIONS or name in self._accepted(_OPTIONS[name])

    def partition(self) -> Callable[..., Any]:
        """The partitioner with its parameters."""
        chosen = self._given("partitioner") | {"untouched": self.untouched}
        return partial(plugins.load("partitioners", self.partitioner), **chosen)

    def match(self) -> Callable[..., Any] | None:
        """The matcher with its parameters; None for alignment."""
        if self.matcher == ALIGN:
            return None
        return partial(plugins.load("matchers", self.matcher), **self._given("matcher"))

    def signature(self, *, pyramid: str, built: bool = True) -> Signature:
        """How scores were made. Parameters of parts that were not used are left out, and so are those that shape a
        pyramid, if none was built."""
        named: dict[str, object] = {"pyramid": pyramid, "segmenter": self.segmenter}
        if built or self.matcher != ALIGN:
            named["similarity"] = self.similarity
            named |= {"embedder": self.embedder.replace("|", "/")} if self.similarity == "cosine" else {}
        if built:
            named |= {"partitioner": self.partitioner, **self._shown("partitioner"), "untouched": self.untouched}
            named |= {"percentile": f"{self.percentile:g}"}
            named |= {} if self.floor is None else {"floor": f"{self.floor:g}"}
        least = {"least": f"{PARTLY:g}"} if self.matcher == ALIGN else {}
        named |= {"matcher": self.matcher, **self._shown("matcher"), **least, "xa": "half-up", "clip": False}
        return Signature.of("auto", **named)

    def _accepted(self, kind: str) -> dict[str, Any]:
        """The parameters of a chosen part that can be chosen here, with its defaults."""
        name = getattr(self, kind)
        if name == ALIGN:
            return {}
        parameters = inspect.signature(plugins.load(f"{kind}s", name)).parameters
        return {option: parameters[option].default for option in _OPTIONS if option in parameters}

    def _given(self, kind: str) -> dict[str, Any]:
        mine = [option for option, owner in _OPTIONS.items() if owner == kind]
        return {option: getattr(self, option) for option in mine if getattr(self, option) is not None}

    def _shown(self, kind: str) -> dict[str, str]:
        return {option: f"{value:g}" for option, value in (self._accepted(kind) | self._given(kind)).items()}
