"""Judgments as blocks: everything survives, the same judgments are the same bytes, and damage is noticed."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import studies

import pyramidion as pyr
from pyramidion.study import Judgment, Judgments, Span, Study
from pyramidion.study.blocks import MARK, JudgmentBlock, join, pack, unpack
from pyramidion.study.records import BadRecordError

TWO = Judgments(
    [
        Judgment("t", "s2", "ann", None, unit="u1"),
        Judgment("t", "s1", "ann", 0.5, unit="u2", evidence=((Span(1, 3), Span(5, 6)), (Span(0, 2),))),
    ]
)


@given(studies())
def test_everything_survives(study: Study) -> None:
    numbers = np.arange(len(study.judgments)) * 3 + 5
    block = unpack(pack(study.judgments, numbers))
    assert block.judgments == study.judgments
    assert block.numbers.tolist() == numbers.tolist()
    parts = [JudgmentBlock(study.judgments[k::3], numbers[k::3]) for k in range(3)]
    assert join(parts).judgments == study.judgments


def test_the_layout_is_the_one_that_databases_hold() -> None:
    """By hand: what is in databases must not change unnoticed."""
    names = {"topic": ["t"], "system": ["s1", "s2"], "judge": ["ann"], "unit": ["u1", "u2"], "aspect": [""]}
    header = {"rows": 2, "names": {**names, "task": [""], "other": [""]}, "evidence": [1, 2, 3]}
    text = json.dumps(header, separators=(",", ":")).encode()
    expected = [
        len(text).to_bytes(4, "little") + text,
        (7).to_bytes(8, "little") + (2).to_bytes(8, "little"),  # rows 7 and 9
        b"\1\0",  # systems
        b"\0\1",  # units
        np.array([np.nan, 0.5]).tobytes(),
        *(number.to_bytes(4, "little") for number in (1, 2, 2, 1, 1, 5, 0, 3, 6, 2)),
    ]
    raw = pack(TWO, [7, 9])
    assert raw[:5] == MARK == b"PYRJ\x01"
    assert zlib.decompress(raw[5:]) == b"".join(expected)


def test_the_same_judgments_are_the_same_bytes(example: Study) -> None:
    numbers = range(len(example.judgments))
    raw = pack(example.judgments, numbers)
    assert pack(Judgments(list(example.judgments)), numbers) == raw
    longer = Judgments([Judgment("other", "zz", "zz", -0.0, unit="zz")]) + example.judgments
    assert pack(longer[1:], numbers) == raw, "names that no row has are left out"


NAN, HALF, INFINITE = (np.array([value]).tobytes() for value in (np.nan, 0.5, np.inf))


def remade(change: Callable[[bytes], bytes]) -> bytes:
    return MARK + zlib.compress(change(zlib.decompress(pack(TWO, [7, 9])[5:])))


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "not a block"),
        (b"SQLite", "not a block"),
        (b"PYRJ\x02", "newer release"),
        (MARK + b"xxxx", "damaged"),
        (pack(TWO, [7, 9])[:-1], "cut off"),
        (pack(TWO, [7, 9]) + b"x", "too long"),
        (remade(lambda raw: raw + b"x"), "goes on after its end"),
        (remade(lambda raw: raw[:-1]), "ends too early"),
        (remade(lambda raw: b"\xff" * 4 + raw[4:]), "ends too early"),
        (remade(lambda raw: raw.replace(b'"rows":2', b'"rows":9')), "ends too early|does not have"),
        (remade(lambda raw: raw.replace(b'"rows":2', b'"rows":x')), "header"),
        (remade(lambda raw: raw.replace(b'["t"]', b"[123]")), "header"),
        (remade(lambda raw: raw.replace(b'["u1","u2"]', b'["u1",""  ]')), "either a unit or an aspect"),
        (
            remade(lambda raw: raw.replace(b"\0\1" + NAN, b"\0\7" + NAN)),
            "does not have",
        ),
        (remade(lambda raw: raw.replace(HALF, INFINITE)), "not a number"),
        (remade(lambda raw: raw.replace(b"\1\0\0\0\2\0\0\0\2", b"\5\0\0\0\2\0\0\0\2")), "does not fit its rows"),
        (remade(lambda raw: raw.replace(b"\1\0\0\0\2\0\0\0\2", b"\1\0\0\0\3\0\0\0\2")), "does not fit its rows"),
    ],
)
def test_damage_is_named(raw: bytes, message: str) -> None:
    with pytest.raises(BadRecordError, match=message):
        unpack(raw)


@given(st.data())
def test_no_bytes_break_the_reader(data: st.DataObject) -> None:
    """Whatever is in it, reading either refuses it or gives judgments that can be packed again."""
    content = bytearray(zlib.decompress(pack(TWO, [7, 9])[5:]))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    try:
        block = unpack(MARK + zlib.compress(content))
    except BadRecordError:
        return
    assert unpack(pack(*block)).judgments == block.judgments


def test_spans_that_are_in_no_text_are_refused() -> None:
    with pytest.raises(BadRecordError, match="span"):
        pack(Judgments([replace(TWO[1], evidence=((Span(0, 2**40),),))]), [1])


def test_names_that_become_one_are_one() -> None:
    """Otherwise grouping by them would tell them apart."""
    judgments = Judgments(Judgment("t", "s", judge, 1, unit="u") for judge in ("anna", "ben", "anna"))
    renamed = judgments.judge.rename(lambda name: "worker")
    assert renamed.present_names() == ["worker"]
    assert renamed.ranks().tolist() == [0, 0, 0]


@given(studies(), st.data())
def test_which_judgments_are_known(study: Study, data: st.DataObject) -> None:
    count = len(study.judgments)
    held = study.judgments.take(np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)), bool))
    known = set(held)
    assert study.judgments.are_in(held).tolist() == [judgment in known for judgment in study.judgments]


def test_a_judgment_with_other_evidence_is_another(example: Study) -> None:
    with_evidence = example.judgments.take(list(example.judgments.evidence))
    assert len(with_evidence) > 10
    assert not with_evidence.with_columns(evidence={}).are_in(with_evidence).any()
    assert with_evidence.are_in(pyr.Judgments(list(with_evidence)[::-1])).all()
