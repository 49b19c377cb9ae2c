"""What is kept on disk is what was encoded, bit for bit, whatever happens to the file."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pyramidion.encoder import encodings
from pyramidion.encoder.encodings import EncodingCache, encoding_cache
from pyramidion.encoder.minilm import Encoder
from pyramidion.errors import UsageError
from pyramidion.pyramids.clauses import ClauseSegmenter

TEXTS = [
    "The city council voted on Thursday to ration water.",
    "Three years of drought have left the reservoir 23 percent full.",
    "“Nobody ran for office to do this,” said Mayor Corinne Dale.",
    "Émigrés crossed the Øresund; 東京 did not.",
    "word " * 600,
    "",
    "The city council voted on Thursday to ration water.",
]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's cache is turned on, and is here."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PYRAMIDION_ENCODINGS_MB", "50")
    return tmp_path / "pyramidion" / "encodings.sqlite"


def encoded(texts=TEXTS, **choices):
    return list(Encoder().encode(texts, **choices))


def assert_identical(some, others):
    for one, other in zip(some, others, strict=True):
        assert (one.spans, one.pieces) == (other.spans, other.pieces)
        assert one.vectors.tobytes() == other.vectors.tobytes()
        assert one.sentence.tobytes() == other.sentence.tobytes()


@pytest.fixture(scope="module")
def plain():
    """Encoded without a cache."""
    return encoded()


# -- the encoder with a cache ------------------------------------------------------------------------------------


def test_a_second_run_reads_what_the_first_encoded_bit_for_bit(file, plain, monkeypatch):
    assert_identical(encoded(), plain)
    monkeypatch.setattr(Encoder, "_run", lambda *_, **__: pytest.fail("the model was asked again"))
    assert_identical(encoded(), plain)
    assert_identical(encoded(list(reversed(TEXTS))), list(reversed(plain)))


def test_known_and_new_texts_may_come_together(file, plain):
    encoded(TEXTS[:2])
    assert_identical(encoded(), plain)


def test_texts_with_the_same_pieces_share_an_encoding_and_keep_their_own_spans(file):
    (first,) = encoded(["The  CITY council."])
    (second,) = encoded(["the city council."])
    assert encoding_cache().content().entries == 1
    assert first.vectors.tobytes() == second.vectors.tobytes()
    assert first.spans != second.spans


def test_layers_are_made_anew_and_their_vectors_are_kept(file, plain, monkeypatch):
    texts = TEXTS[:2]
    layered = encoded(texts, layers=True)
    assert all(each.layers is not None for each in layered)
    assert all(each.layers is not None for each in encoded(texts, layers=True))
    monkeypatch.setattr(Encoder, "_run", lambda *_, **__: pytest.fail("the model was asked again"))
    assert_identical(encoded(texts), plain[:2])


def test_sentences_are_cut_alike_from_what_was_kept(file, monkeypatch):
    texts = [
        *TEXTS,
        "The mayor, who met growers twice, said that bills would rise and that the plant would open in May.",
    ]
    monkeypatch.setenv("PYRAMIDION_ENCODINGS_MB", "0")
    without = ClauseSegmenter().segment(texts)
    monkeypatch.setenv("PYRAMIDION_ENCODINGS_MB", "50")
    assert ClauseSegmenter().segment(texts) == without
    monkeypatch.setattr(Encoder, "_run", lambda *_, **__: pytest.fail("the model was asked again"))
    assert ClauseSegmenter().segment(texts) == without
    assert any(len(sentence.segmentations) > 1 for text in without for sentence in text.sentences)


def test_it_can_be_turned_off(file, monkeypatch):
    monkeypatch.setenv("PYRAMIDION_ENCODINGS_MB", "0")
    encoded()
    assert not file.exists()
    assert encoding_cache() is None


@pytest.mark.parametrize("said", ["many", "-1", "1.5", ""])
def test_a_setting_that_is_no_number_is_refused_by_name(file, monkeypatch, said):
    monkeypatch.setenv("PYRAMIDION_ENCODINGS_MB", said)
    with pytest.raises(UsageError, match="PYRAMIDION_ENCODINGS_MB must be a whole number"):
        Encoder()


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_nobody_else_may_read_it(file):
    encoded(TEXTS[:1])
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_a_folder_that_cannot_be_made_is_done_without(tmp_path, file, plain):
    (tmp_path / "pyramidion").write_text("a file where the folder should be")
    assert_identical(encoded(), plain)


def test_a_folder_in_place_of_the_file_is_done_without(file, plain):
    file.mkdir(parents=True)
    assert_identical(encoded(), plain)


def test_a_file_locked_by_another_program_is_done_without(file, plain, monkeypatch):
    monkeypatch.setattr(encodings, "PATIENCE", 0.05)
    encoded(TEXTS[:1])
    other = sqlite3.connect(file)
    other.execute("BEGIN EXCLUSIVE")
    encodings._shared.cache_clear()  # as a new process would
    assert_identical(encoded(), plain)
    other.rollback()
    encodings._shared.cache_clear()
    assert_identical(encoded(), plain)
    assert encoding_cache().content().entries == len({*TEXTS})


GARBAGE = {
    "empty": b"",
    "no database": b"This is not a database. " * 1000,
    "a beginning": b"SQLite format 3\0" + bytes(5000),
}


@pytest.mark.parametrize("what", GARBAGE)
def test_a_damaged_file_is_replaced(file, plain, monkeypatch, what):
    file.parent.mkdir()
    file.write_bytes(GARBAGE[what])
    assert_identical(encoded(), plain)
    encodings._shared.cache_clear()
    monkeypatch.setattr(Encoder, "_run", lambda *_, **__: pytest.fail("nothing was kept"))
    assert_identical(encoded(), plain)


def test_a_database_of_other_tables_is_replaced(file, plain):
    file.parent.mkdir()
    with sqlite3.connect(file) as other:
        other.execute("CREATE TABLE entries (key TEXT, something TEXT)")
    assert_identical(encoded(), plain)
    assert encoding_cache().content().entries == len({*TEXTS})


# -- the file itself ---------------------------------------------------------------------------------------------


def contents(first: int, last: int, size: int = 20_000) -> dict[str, bytes]:
    return {f"text {i}": random.Random(i).randbytes(size) for i in range(first, last)}


def test_what_was_made_in_another_way_is_not_found(tmp_path):
    file = tmp_path / "encodings.sqlite"
    EncodingCache(file, 10**7, b"one").put(contents(0, 3))
    assert EncodingCache(file, 10**7, b"two").get(contents(0, 3)) == {}
    assert EncodingCache(file, 10**7, b"one").get(contents(0, 4)) == contents(0, 3)


def test_the_size_is_bounded_and_what_was_used_longest_ago_goes_first(tmp_path, monkeypatch):
    now = 1_000_000
    monkeypatch.setattr(encodings, "time", lambda: now)
    held = EncodingCache(tmp_path / "encodings.sqlite", 2_000_000)
    for start in range(0, 400, 10):
        now += 2 * encodings.HOUR
        held.put(contents(start, start + 10))
        assert held.get(contents(0, 5)) == contents(0, 5), "what is used stays"
        assert held.path.stat().st_size <= 2_000_000
    assert len(held.get(contents(0, 400))) > 50
    assert held.get(contents(390, 400)) == contents(390, 400)
    assert held.get(contents(5, 300)) == {}


def test_more_than_fits_at_once_is_kept_in_part(tmp_path):
    held = EncodingCache(tmp_path / "encodings.sqlite", 500_000)
    held.put(contents(0, 100))
    assert 0 < held.content().entries < 30
    assert held.path.stat().st_size <= 500_000


def test_a_smaller_bound_makes_the_file_smaller(tmp_path):
    file = tmp_path / "encodings.sqlite"
    EncodingCache(file, 10_000_000).put(contents(0, 150))
    assert file.stat().st_size > 3_000_000
    smaller = EncodingCache(file, 1_000_000)
    smaller.put(contents(150, 155))
    smaller.put(contents(155, 160))
    assert file.stat().st_size <= 1_000_000
    assert smaller.get(contents(150, 160)) == contents(150, 160)


def test_emptied_it_is_small_and_can_be_used_again(tmp_path):
    held = EncodingCache(tmp_path / "encodings.sqlite", 10_000_000)
    held.put(contents(0, 100))
    held.empty()
    assert held.content().entries == 0
    assert held.content().size < 100_000
    held.put(contents(0, 2))
    assert held.get(contents(0, 2)) == contents(0, 2)


def test_damage_anywhere_never_gives_a_wrong_answer(tmp_path):
    """Bytes of a good file are changed at random, a few hundred times: what is found is right or is not found."""
    good, bad = tmp_path / "good.sqlite", tmp_path / "bad.sqlite"
    kept = contents(0, 20, size=3_000)
    EncodingCache(good, 10**7).put(kept)
    whole, rng, lost = good.read_bytes(), random.Random(0), 0
    for turn in range(400):
        damaged = bytearray(whole)
        for _ in range(rng.choice((1, 20, 2000))):
            damaged[rng.randrange(len(damaged) if turn % 2 else 200)] = rng.randrange(256)
        bad.write_bytes(damaged[: rng.randrange(len(damaged))] if turn % 7 == 0 else damaged)
        cache = EncodingCache(bad, 10**7)
        found = cache.get(kept)
        assert found.items() <= kept.items()
        lost += len(found) < len(kept)
        cache.put(kept)
        assert cache.get(kept).items() <= kept.items()
    assert lost > 100, "the damage was not even seen"


WRITER = """
import random, sys
from pathlib import Path
from pyramidion.encoder.encodings import EncodingCache
held = EncodingCache(Path(sys.argv[1]), 10**8)
print("ready", flush=True)
for start in range(0, 2000, 20):
    new = {f"text {i}": random.Random(i).randbytes(20_000) for i in range(start, start + 20)}
    held.put(new)
    assert held.get(new).items() <= new.items()
"""


def writer(file: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", WRITER, str(file)], stdout=subprocess.PIPE, text=True)


def test_several_processes_may_write_the_same(tmp_path):
    file = tmp_path / "encodings.sqlite"
    several = [writer(file) for _ in range(3)]
    assert [process.wait() for process in several] == [0, 0, 0]
    for process in several:
        process.stdout.close()
    held = EncodingCache(file, 10**8)
    assert held.content().entries == 2000
    assert held.get(contents(0, 2000)) == contents(0, 2000)


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_a_process_killed_while_writing_leaves_a_good_file(tmp_path):
    file = tmp_path / "encodings.sqlite"
    held = EncodingCache(file, 10**8)
    for _ in range(3):
        with writer(file) as process:
            process.stdout.readline()
            while held.content().entries < 40:
                pass
            process.send_signal(signal.SIGKILL)
        found = held.get(contents(0, 2000))
        assert found.items() <= contents(0, 2000).items()
        assert len(found) >= 40
        held.put(contents(0, 60))
        assert held.get(contents(0, 60)) == contents(0, 60)
        held.empty()


def test_a_fork_opens_the_file_for_itself(tmp_path):
    code = (
        "import os, sys; from pathlib import Path\n"
        "from pyramidion.encoder.encodings import EncodingCache\n"
        "held = EncodingCache(Path(sys.argv[1]), 10**7); held.put({'a': b'of the parent'})\n"
        "child = os.fork()\n"
        "if not child: held.put({'b': b'of the child'}); os._exit(0)\n"
        "os.waitpid(child, 0)\n"
        "assert held.get(['a', 'b']) == {'a': b'of the parent', 'b': b'of the child'}\n"
    )
    if hasattr(os, "fork"):
        subprocess.run([sys.executable, "-c", code, str(tmp_path / "encodings.sqlite")], check=True)


def test_vectors_of_a_cache_are_floats_of_32_bits(file):
    encoded(TEXTS[:1])
    (again,) = encoded(TEXTS[:1])
    assert again.vectors.dtype == again.sentence.dtype == np.float32
