"""What units are called, and which sentences are not units."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pyramidion as pyr
from pyramidion.encoder.sentences import tokens
from pyramidion.pyramids.build import Builder
from pyramidion.pyramids.choices import Choices
from pyramidion.pyramids.labels import has_content, label_faults, label_of, leans, names_subject

ESSAYS = Path(__file__).with_name("data") / "essays.txt"
"""Five short essays about crypto-currencies as students write them, with sources, written for this test."""


@pytest.fixture(scope="module")
def builder() -> Builder:
    return Builder(Choices())


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("but festival security  then intervened ,", "Festival security then intervened"),
        ("However, the value changes.", "The value changes"),
        ("“the gold rush is over", "The gold rush is over"),
        ("‘Tech Tent reported it", "Tech Tent reported it"),
        ("he said \"no\" to 'it'.", "He said \"no\" to 'it'"),
        ("the dogs' bowls were lost;", "The dogs' bowls were lost"),
        ("It was made in the U.S.", "It was made in the U.S."),
        ("Its main gallery reopens on December 1.", "Its main gallery reopens on December 1"),
        ("Is it so?", "Is it so?"),
        ("but why?", "But why?"),  # too short to lose a word
    ],
)
def test_a_label_is_the_clause_without_what_joined_it_to_another(text: str, label: str) -> None:
    assert label_of(text) == label
    assert label_of(label) == label


@given(st.text(min_size=1, max_size=60))
def test_any_text_has_a_label_with_its_words(text: str) -> None:
    label = label_of(text)
    assert bool(label) == bool(text.strip())
    assert [word.lower() for word in tokens(text.strip())][-len(tokens(label)) or 99 :] == [
        w.lower() for w in tokens(label)
    ]


@pytest.mark.parametrize(
    "label",
    [
        "(2018) writes", "‘Tech Tent’", "which cost ten million", "Which cost ten million", "The plan (of 1974 is old",
        "and nobody has found it", "The plan of 1974 or", 'He said "no to it',
    ],
)  # fmt: skip
def test_faults_that_show(label: str) -> None:
    assert label_faults(label)


def test_a_good_label_has_no_faults() -> None:
    assert label_faults("The council (of Port Ambry) said “no” to 12 of 'em") == []
    assert not leans("The council met")
    assert leans("Although the council met")
    assert names_subject("The council met")
    assert not names_subject("It met twice")


@pytest.mark.parametrize(
    "sentence",
    [
        "This was later revised.",
        "That may change.",
        "Cellan-Jones (2018) writes.",
        "Police say.",
        "(Smith 2017, p. 12).",
    ],
)
def test_sentences_without_content(sentence: str) -> None:
    assert not has_content(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "This was revised by the council in 2019.", "This study shows growth.", "Prices fell.", "He was killed.",
        "That year, the river flooded.", "Smith writes novels.", "No one was killed.", "漢字。",
    ],
)  # fmt: skip
def test_sentences_with_content(sentence: str) -> None:
    assert has_content(sentence)


def built_labels(builder: Builder, references: dict[str, str]) -> list[str]:
    alone = ({name: text} for name, text in references.items())
    pyramids = (builder.build("t", some).pyramid for some in (references, *alone))
    return [unit.label for pyramid in pyramids for unit in pyramid.units]


def test_no_label_of_the_example_shows_a_fault(builder: Builder) -> None:
    study = pyr.example()
    for topic in study.topics:
        references = {s.system: s.text for s in study.references if s.topic == topic.id}
        labels = built_labels(builder, references)
        assert len(labels) > 60
        assert {label: faults for label in labels if (faults := label_faults(label))} == {}


def test_essays_with_sources_have_units_that_read_alone(builder: Builder) -> None:
    texts = ESSAYS.read_text("utf-8").split("\n\n")
    labels = built_labels(builder, {str(number): text.strip() for number, text in enumerate(texts)})
    assert {label: faults for label in labels if (faults := label_faults(label))} == {}
    assert not {"This was later revised", "That may change", "Cellan-Jones (2018) writes", "Cellan-Jones suggests"} & {
        *labels
    }
    assert "Cellan-Jones (2018) writes that Bitcoin is losing its appeal as a means of payment" in labels
    assert not [label for label in labels if leans(label) and label.split()[0] in ("Which", "That", "Who", "Because")]


def test_a_reference_without_any_content_keeps_its_words(builder: Builder) -> None:
    assert built_labels(builder, {"A": "This was later revised."}) == ["This was later revised"] * 2


def test_the_labels_that_were_read_are_those_of_the_example(builder: Builder) -> None:
    """At least 9 in 10 of the example's labels that were read are still built: otherwise they must be read again."""
    path = Path(__file__).resolve().parents[2] / "benchmarks/labels.py"
    spec = importlib.util.spec_from_file_location("labels_benchmark", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    read = [each for each in module.read_labels() if each.sample == "after"]
    assert len(read) >= 200
    assert all(each.hash == module.hash_of(each.label) for each in read if each.label)
    study = pyr.example()
    labels = {
        label
        for topic in study.topics
        for label in built_labels(builder, {s.system: s.text for s in study.references if s.topic == topic.id})
    }
    ours = [each for each in read if each.label]
    assert sum(each.label in labels for each in ours) >= 0.9 * len(ours)
    assert module.kappa([("yes", "yes"), ("no", "no")]) == 1
    assert module.kappa([("yes", "no"), ("no", "yes")]) == -1
