"""A metric for Hugging Face `evaluate`: ``evaluate.load(evaluate_module.__file__)``, or make a `Pyramidion` yourself.

`evaluate` copies this file to its cache and imports the copy, so everything here is imported by its full name.
"""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import Any

from pyramidion.errors import needs_extra
from pyramidion.formats.pairs import read_pairs
from pyramidion.plain import Metric, PairScores

with needs_extra("the metric for Hugging Face evaluate", "evaluate"):
    import datasets
    import evaluate

DESCRIPTION = "How much of the content of its references each prediction expresses."
CITATION = """\
@inproceedings{gao-etal-2019-automated,
  title = {Automated Pyramid Summarization Evaluation},
  author = {Gao, Yanjun and Sun, Chen and Passonneau, Rebecca J.},
  booktitle = {Proceedings of the 23rd Conference on Computational Natural Language Learning},
  year = {2019}
}"""
INPUTS = """
Args:
    predictions: texts.
    references: one text, or a list of texts, for each prediction.
    units: the units to look for in each prediction, a list of texts for each; for configurations that are judges.
    use_aggregator: False gives a list with the score of each pair instead of the mean over pairs.
Returns:
    a float for each measure, of which the first is the main one; None where no pair could be scored.
"""


HOST = frozenset(signature(evaluate.EvaluationModule.__init__).parameters)


class Pyramidion(evaluate.Metric):  # type: ignore[misc]
    """``config_name`` is the method, by default auto; keywords that `evaluate` does not know are choices of the method.

    After `compute`, ``scores`` has the score of each pair, the signature and the notes.
    """

    scores: PairScores | None = None

    def __init__(self, config_name: str | None = None, **options: Any) -> None:
        self._metric = Metric(config_name or "auto", **{name: options[name] for name in options if name not in HOST})
        super().__init__(config_name, **{name: options[name] for name in options if name in HOST})

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=DESCRIPTION,
            citation=CITATION,
            inputs_description=INPUTS,
            features=datasets.Features({"predictions": text, "references": datasets.Sequence(text)}),
        )

    def add(self, *, prediction: Any = None, reference: Any = None, **others: Any) -> None:
        """Add one prediction with its reference or references."""
        self.add_batch(predictions=[prediction], references=[reference], **others)

    def add_batch(self, *, predictions: Any = None, references: Any = None, **others: Any) -> None:
        """Add predictions, each with its reference or references."""
        # The host looks at the first of a batch and turns whatever comes next into a text.
        texts, wanted = read_pairs(predictions, references)
        super().add_batch(predictions=texts, references=list(map(list, wanted)), **others)

    def _compute(
        self,
        predictions: Sequence[str],
        references: Sequence[Sequence[str]],
        *,
        units: Sequence[Sequence[str]] | None = None,
        use_aggregator: bool = True,
    ) -> dict[str, Any]:
        scores = self.scores = self._metric(predictions, references, units=units)
        if use_aggregator:
            return {measure: scores.mean(measure) for measure in scores.columns}
        return {measure: list(column) for measure, column in scores.columns.items()}
