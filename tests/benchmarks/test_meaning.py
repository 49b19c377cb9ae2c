"""The hand-written pairs are what their measurement says they are, and the measurement tells judges apart."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pyramidion as pyr
from pyramidion.judges import Questions, Verdicts, lexical

FILE = Path(__file__).parents[2] / "benchmarks" / "meaning.py"
if not FILE.exists():  # an installed package is tested without its repository
    pytest.skip("there are no benchmarks here", allow_module_level=True)


def _module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("meaning", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["meaning"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


meaning = _module()
SETS = {name: meaning.load_pairs(name) for name in meaning.SETS}
EVERY = [pytest.param(pair, id=f"{pair.topic}-{pair.unit}-{pair.kind}") for pairs in SETS.values() for pair in pairs]


@pytest.mark.parametrize("name", SETS)
def test_a_set_has_fifty_pairs_about_different_units(name: str) -> None:
    assert len({(pair.topic, pair.unit) for pair in SETS[name]}) == len(SETS[name]) == 50
    assert len({text for pair in SETS[name] for text in (pair.said, pair.not_said)}) == 100


@pytest.mark.parametrize("pair", EVERY)
def test_a_unit_is_one_of_the_example(pair: Any) -> None:
    labels = {(held.topic, unit.id): unit.label for held in pyr.example().pyramids for unit in held.units}
    assert labels[pair.topic, pair.unit] == pair.label
    assert pair.kind
    assert pair.said.endswith(".")
    assert pair.not_said.endswith(".")


@pytest.mark.parametrize("pair", SETS["role swaps"], ids=lambda pair: f"{pair.topic}-{pair.unit}")
def test_a_role_swap_keeps_the_words(pair: Any) -> None:
    one, other = (Counter(re.findall(r"\w+", text.lower())) for text in (pair.said, pair.not_said))
    assert (one & other).total() >= 0.8 * max(one.total(), other.total())
    assert pair.said.split() != pair.not_said.split()


@pytest.mark.parametrize("pair", SETS["paraphrases"], ids=lambda pair: f"{pair.topic}-{pair.unit}")
def test_a_paraphrase_shares_few_words_and_its_counterpart_as_many(pair: Any) -> None:
    said, not_said = lexical.shares(*([lexical.Stems.of(text) for text in texts] for texts in (
        [pair.label], [pair.said, pair.not_said])))[0]  # fmt: skip
    assert said <= 0.6
    assert abs(said - not_said) <= 0.1
    assert 0.7 <= len(pair.said) / len(pair.not_said) <= 1.4


class Oracle:
    """Knows the answers, and turns them round on request."""

    name, threshold = "oracle", 0.5

    def __init__(self, right: bool) -> None:
        self.said = {pair.said for pairs in SETS.values() for pair in pairs}
        self.right = right

    def judge(self, questions: Iterable[Questions], /) -> Iterator[Verdicts]:
        for asked in questions:
            assert len(asked.references) == 4
            assert set(asked.units) <= set(asked.pyramid)
            assert len(asked.pyramid) > 30
            answers = [[float((text in self.said) == self.right) for text in asked.summaries] for _ in asked.units]
            yield Verdicts(np.array(answers), lambda *_: ())


def test_a_judge_that_knows_is_right_and_one_that_turns_it_round_is_wrong() -> None:
    for name, found in meaning.measure(Oracle(True)).items():
        assert (found.auc, found.right_order, found.said.expressed, found.not_said.not_found) == (1, 1, 1, 1), name
    for name, found in meaning.measure(Oracle(False)).items():
        assert (found.auc, found.right_order, found.said.expressed, found.not_said.expressed) == (0, 0, 0, 1), name


def test_words_alone_cannot_tell() -> None:
    for name, found in meaning.measure("lexical").items():
        assert found.auc == pytest.approx(0.5, abs=0.1), name
