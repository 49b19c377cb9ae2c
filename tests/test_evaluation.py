"""Automatic evaluation as people use it: real encoder, small texts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import pyramidion as pyr
from pyramidion import evaluation as evaluation_module
from pyramidion.encoder.minilm import Encoder
from pyramidion.evaluation import Evaluator, build_pyramids, evaluate_study, run, run_topics
from pyramidion.jobs import topic_jobs
from pyramidion.judges import contributors
from pyramidion.pyramids.choices import Choices
from pyramidion.scoring.explain import explain
from pyramidion.scoring.pyramid import mean_units_per_reference

REFERENCES = [
    "The river Aller rose on Monday and flooded the old town. Ten families had to leave their homes.",
    "Ten families left their homes after the Aller flooded the old town on Monday.",
    "On Monday the old town was flooded by the river Aller. The mayor promised new dikes.",
]
PEERS = {
    "copy": "The river Aller rose on Monday and flooded the old town. Ten families had to leave their homes.",
    "half": "The river Aller flooded the old town on Monday.",
    "other": "The museum bought a painting by a local artist.",
    "empty": "",
}


def small_study(*topics: str) -> pyr.Study:
    return pyr.Study(
        tuple(pyr.Topic(topic) for topic in topics),
        tuple(
            summary
            for topic in topics
            for summary in (
                *(pyr.Summary(topic, name, text, "reference") for name, text in zip("ABC", REFERENCES, strict=True)),
                *(pyr.Summary(topic, system, text) for system, text in PEERS.items()),
            )
        ),
    )


def test_three_lines_give_a_ranking() -> None:
    table = pyr.evaluate(REFERENCES, PEERS)
    assert table.measures == ("extent", "coverage", "quality", "comprehensive", "raw")
    assert [system for system, _ in table.ranking("coverage")] == ["copy", "half", "empty", "other"]
    assert table.value("empty", "comprehensive") == table.value("other", "coverage") == 0


def test_the_signature_names_all_choices() -> None:
    soft = str(pyr.evaluate(REFERENCES[:1], {"half": PEERS["half"]}).signature)
    for choice in ("segmenter:clauses", "similarity:align", "partitioner:edua-x", "percentile:83", "matcher:align"):
        assert f"|{choice}|" in soft
    assert "top-k" not in soft
    hard = pyr.evaluate(REFERENCES[:1], {"half": PEERS["half"]}, matcher="wmin", partitioner="edua-g", beta=2)
    for choice in ("alpha:10", "beta:2", "matcher:wmin", "top-k:2", "threshold:0.5"):
        assert f"|{choice}|" in str(hard.signature)


def test_evaluate_takes_topics_too() -> None:
    one = pyr.evaluate(REFERENCES, PEERS)
    two = pyr.evaluate({"x": REFERENCES, "y": REFERENCES[0]}, {"x": PEERS, "y": {"half": PEERS["half"]}})
    assert two.topics == ("x", "y")
    for system in PEERS:
        assert two.value(system, "raw", "x") == pytest.approx(one.value(system, "raw"))


def test_the_order_of_references_does_not_change_scores() -> None:
    expected = pyr.evaluate(REFERENCES, PEERS)
    found = pyr.evaluate(REFERENCES[::-1], PEERS)
    for score in expected:
        assert found.value(score.system, score.measure, score.topic) == pytest.approx(score.value, abs=1e-5)


@pytest.mark.parametrize("matcher", ["wmin", "exact"])
@pytest.mark.parametrize("similarity", ["align", "cosine"])
@pytest.mark.parametrize("partitioner", ["edua-c", "edua-c-maximal", "edua-g", "edua-x"])
def test_every_combination_ranks_a_copy_first(matcher: str, similarity: str, partitioner: str) -> None:
    table = pyr.evaluate(REFERENCES, PEERS, matcher=matcher, similarity=similarity, partitioner=partitioner)
    assert table.ranking("raw")[0][0] == "copy"
    assert table.value("other", "raw") == table.value("empty", "raw") == 0


def test_every_variant_is_named_in_the_signature() -> None:
    table = pyr.evaluate(REFERENCES, PEERS, segmenter="clauses-apart", partitioner="edua-c-maximal")
    assert "|segmenter:clauses-apart|similarity:align|partitioner:edua-c-maximal|" in str(table.signature)


@pytest.mark.parametrize(
    ("references", "peers", "message"),
    [
        ([], PEERS, "topic topic: has no references"),
        ({"x": []}, {"x": PEERS}, "topic x: has no references"),
        (["", " "], PEERS, "topic topic: its references are empty"),
    ],
)
def test_no_references_is_an_error_that_names_the_topic(references: object, peers: object, message: str) -> None:
    with pytest.raises(pyr.InputError, match=message):
        pyr.evaluate(references, peers)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"matcher": "guess"}, "unknown matcher 'guess'"),
        ({"alpha": 1}, "partitioner edua-x has no alpha"),
        ({"top_k": 3}, "matcher align has no top-k"),
        ({"embedder": "st:some"}, "only if similarity is cosine"),
        ({"similarity": "cosine", "embedder": "glove"}, "unknown embedder 'glove'"),
        ({"nothing": 1}, "no option 'nothing'; its options are: .*partitioner"),
    ],
)
def test_wrong_choices_are_named(choices: dict[str, object], message: str) -> None:
    with pytest.raises(pyr.UsageError, match=message):
        pyr.evaluate(REFERENCES, PEERS, **choices)


def test_one_level_of_topics_on_one_side_only_is_refused() -> None:
    with pytest.raises(pyr.UsageError, match="both by topic"):
        pyr.evaluate(REFERENCES, {"x": PEERS})


def test_texts_in_other_letters_are_scored_with_one_warning() -> None:
    texts = ["Река вышла из берегов в понедельник.", "В понедельник река затопила город."]
    table = pyr.evaluate(texts, {"same": f"{texts[0]} Да.", "other": "Кошки спят дома."})
    assert table.ranking("coverage")[0][0] == "same"
    assert len(table.notes) == 1
    assert "4 of 4 texts: mostly not in Latin letters" in str(table.notes[0])


def test_one_word_summaries_and_signs_alone_do_no_harm() -> None:
    table = pyr.evaluate(["Flood.", "Flood!", "..."], {"a": "Flood", "b": "?!", "c": "   "})
    assert table.ranking("raw")[0][0] == "a"
    assert table.value("b", "raw") == table.value("c", "raw") == 0


# -- studies -------------------------------------------------------------------------------------------------

EMPTY = "peers: 2 of 8 have an empty text: empty on x, empty on y"


@pytest.fixture(scope="module")
def evaluation() -> pyr.Study:
    return evaluate_study(small_study("x", "y")).study


def test_the_study_holds_pyramids_and_judgments_like_a_persons(evaluation: pyr.Study) -> None:
    assert [str(p) for p in evaluation.problems()] == [EMPTY]
    assert {pyramid.topic for pyramid in evaluation.pyramids} == {"x", "y"}
    table = pyr.score(evaluation, "pyramid", pyramid="auto", judges="auto")
    assert table.ranking("modified")[0][0] == "copy"
    assert evaluation.judgments.evidence


def test_scoring_again_uses_the_pyramid_and_replaces_the_judgments(evaluation: pyr.Study) -> None:
    again = evaluate_study(evaluation)
    assert again.study.pyramids == evaluation.pyramids
    assert sorted(map(str, again.study.judgments)) == sorted(map(str, evaluation.judgments))
    assert "partitioner" not in str(again.table.signature), "it was not built here"


def test_a_pyramid_that_is_built_again_takes_its_old_judgments_with_it(evaluation: pyr.Study) -> None:
    fewer = build_pyramids(evaluation, Choices(untouched="whole", percentile=100))
    assert [str(p) for p in fewer.problems()] == [EMPTY]


def first_topic(example: pyr.Study) -> pyr.Study:
    """Its texts and pyramids; nobody has judged it."""
    topic = example.topics[0].id
    return replace(
        example,
        topics=example.topics[:1],
        summaries=tuple(s for s in example.summaries if s.topic == topic),
        pyramids=tuple(p for p in example.pyramids if p.topic == topic),
        judges=(),
        judgments=pyr.Judgments(),
    )


def test_peers_can_be_scored_against_a_persons_pyramid(example: pyr.Study) -> None:
    one = first_topic(example)
    found = evaluate_study(one, pyramid="expert", explain=False)
    assert found.study.pyramids == one.pyramids
    assert "|pyramid:expert|" in str(found.table.signature)
    assert found.table.ranking("coverage")[-1][0] == "offtopic"
    with pytest.raises(pyr.UsageError, match="no pyramid called 'mine'"):
        evaluate_study(one, pyramid="mine")


def test_chunks_give_what_one_piece_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    [job] = topic_jobs(small_study("x"))
    evaluator = Evaluator()
    pyramid = evaluator.builder.build("x", job.references).pyramid
    whole = evaluator.judge.judge(pyramid, job.peers, job.references)
    monkeypatch.setattr(contributors, "PEERS_AT_ONCE", 1)
    parts = evaluator.judge.judge(pyramid, job.peers, job.references)
    assert list(parts.system) == list(whole.system)
    assert list(parts.value) == pytest.approx(list(whole.value), abs=1e-5)


def test_peers_are_taken_from_a_stream_as_they_are_needed() -> None:
    [job] = topic_jobs(small_study("x"))
    evaluator = Evaluator()
    pyramid = evaluator.builder.build("x", job.references).pyramid
    taken = 0

    def endless():  # type: ignore[no-untyped-def]
        nonlocal taken
        while True:
            taken += 1
            yield f"s{taken}", PEERS["half"]

    assert next(evaluator.score(pyramid, job.references, endless())).system == "s1"
    assert taken == contributors.PEERS_AT_ONCE


def test_each_sentence_is_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded: list[str] = []
    inner = Encoder._end
    monkeypatch.setattr(
        Encoder, "_end", lambda self, chunk, *rest: encoded.extend(chunk.new) or inner(self, chunk, *rest)
    )
    [job] = topic_jobs(small_study("x"))
    evaluator = Evaluator()
    pyramid = evaluator.builder.build("x", job.references).pyramid
    evaluator.judge.judge(pyramid, {"a": PEERS["copy"]}, job.references)
    encoded.clear()
    evaluator.judge.judge(pyramid, {"a": PEERS["copy"], "b": PEERS["copy"], "c": PEERS["half"]}, job.references)
    assert sorted(encoded) == sorted(set(encoded))
    assert encoded == [PEERS["half"]], "the reference's sentences are known"


@pytest.mark.slow
def test_processes_give_the_same_as_one() -> None:
    jobs = topic_jobs(small_study("x", "y"))
    one, _ = run_topics(jobs, Choices())
    two, _ = run_topics(jobs, Choices(), engine="processes:2")
    assert [result.pyramid for result in one] == [result.pyramid for result in two]
    assert [result.topic for result in two] == ["x", "y"]


# -- runs ----------------------------------------------------------------------------------------------------


def test_a_run_goes_on_after_one_that_was_killed_while_it_wrote(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    run(small_study("x"), folder, Choices())
    begun = folder / ".pyramids.abcdefgh.part"
    begun.mkdir()
    (begun / "x.pyr").write_text("half a pyr")
    (folder / ".study.jsonl.abcdefgh.part").write_text("half a line")
    assert run(small_study("x"), folder, Choices()).known == 1
    assert not list(folder.glob(".*"))
    (folder / ".notes.part").write_text("somebody's")
    with pytest.raises(pyr.UsageError, match="contains other files"):
        run(small_study("x"), folder, Choices())
    assert (folder / ".notes.part").exists()


def test_a_run_leaves_everything_and_goes_on_where_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    first = run(small_study("x"), folder, Choices())
    assert (len(first.topics), first.known) == (1, 0)
    again = run(small_study("x", "y"), folder, Choices())
    assert (len(again.topics), again.known) == (2, 1)
    log = (folder / "log.txt").read_text("utf-8")
    assert log == evaluate_study(small_study("x", "y"), Choices()).log
    third = run(small_study("x", "y"), folder, Choices())
    assert third.known == 2
    assert third.evaluation.table == again.evaluation.table
    assert third.evaluation.study == again.evaluation.study
    assert (folder / "log.txt").read_text("utf-8") == log
    other = run(small_study("x", "y"), folder, Choices(percentile=70))
    assert other.known == 0
    assert sorted(path.name for path in folder.iterdir()) == [
        "log.txt",
        "parts",
        "pyramids",
        "scores.csv",
        "study.jsonl",
    ]
    assert [str(p) for p in pyr.load(folder / "study.jsonl").problems()] == [EMPTY]
    reread = pyr.load(folder / "pyramids", format="ducview")
    assert {(p.topic, len(p.units)) for p in reread.pyramids} == {
        (p.topic, len(p.units)) for p in other.evaluation.study.pyramids
    }
    assert len(reread.peers) == 8


def test_a_changed_text_or_a_broken_file_is_done_again(tmp_path: Path) -> None:
    run(small_study("x", "y"), tmp_path, Choices())
    part = tmp_path / "parts" / "x.json"
    part.write_text(json.dumps({"key": "nothing"}))
    assert run(small_study("x", "y"), tmp_path, Choices()).known == 1
    part.write_bytes(b"{")
    assert run(small_study("x", "y"), tmp_path, Choices()).known == 1
    study = small_study("x", "y")
    changed = replace(study, summaries=(replace(study.summaries[0], text="The Aller rose."), *study.summaries[1:]))
    assert run(changed, tmp_path, Choices()).known == 1


def test_the_log_shows_units_contributors_and_matches(tmp_path: Path) -> None:
    run(small_study("x"), tmp_path, Choices(matcher="exact"))
    log = (tmp_path / "log.txt").read_text()
    assert "TOPIC x" in log
    assert "PEER half of topic x" in log
    assert "      B: “" in log
    peer = log.split("PEER copy of topic x\n")[1].split("PEER")[0]
    assert "  1.0000  (" in peer
    assert "“Ten families had to leave their homes.”  similarity 0.9" in peer


def with_brought_units(*topics: str) -> pyr.Study:
    """As from a Lite2-3Pyramid folder: units without marked words, in a pyramid called "auto" that was not built here,
    and a person's judgment of one."""
    study = small_study(*topics)
    unit = pyr.ContentUnit("stu-1", "The Aller flooded the old town", (pyr.Contributor("A"),))
    return replace(
        study,
        pyramids=tuple(pyr.Pyramid(topic, ("A", "B", "C"), (unit,), "auto") for topic in topics),
        judges=(pyr.Judge("ann", "expert"),),
        judgments=pyr.Judgments([pyr.Judgment(topics[0], "half", "ann", 1.0, unit="stu-1")]),
    )


def test_a_run_builds_whatever_pyramid_came_with_the_data(tmp_path: Path) -> None:
    brought = with_brought_units("x", "y")
    done = run(brought, tmp_path, Choices())
    expected = evaluate_study(small_study("x", "y"))
    assert done.evaluation.table.scores == expected.table.scores
    assert done.evaluation.table.signature == expected.table.signature
    held = pyr.load(tmp_path / "study.jsonl")
    assert {(p.topic, p.name) for p in held.pyramids} == {(t, n) for t in "xy" for n in ("auto", "auto-given")}
    assert [(j.unit, j.value) for j in held.judgments if j.judge == "ann"] == [("stu-1", 1.0)], "nothing is lost"
    assert any(
        "pyramid auto of 2 topics: came with the study; it is kept as auto-given" in str(n)
        for n in done.evaluation.table.notes
    )
    assert run(brought, tmp_path, Choices()).known == 2, "it goes on where it was"
    again = run(held, tmp_path / "again", Choices())
    assert again.evaluation.table.scores == expected.table.scores
    assert {p.name for p in again.evaluation.study.pyramids} == {"auto", "auto-given"}, "what was built is replaced"


def test_every_road_builds_and_a_name_takes_what_the_data_has() -> None:
    brought = with_brought_units("x")
    built = evaluate_study(small_study("x"), explain=False).table
    assert evaluate_study(brought, explain=False).table.scores == built.scores
    assert pyr.score(brought, "auto").scores == built.scores
    named = pyr.score(brought, "auto", pyramid="auto")
    assert 0.7 < named.value("half", "raw") < 1
    assert "partitioner" not in str(named.signature)


def test_a_run_can_be_asked_to_use_a_pyramid_and_an_export_that_does_not_fit_is_a_warning(tmp_path: Path) -> None:
    """Units of a pyramid without marked words do not fit into DUCView's format."""
    done = run(with_brought_units("x"), tmp_path, Choices(), pyramid="auto")
    assert [str(note).split(" is not written")[0] for note in done.notes] == [
        f"{tmp_path / 'pyramids'}: no DUCView files: {tmp_path / 'pyramids'}"
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.txt", "parts", "scores.csv", "study.jsonl"]
    assert 0.7 < done.evaluation.table.value("half", "raw") < 1
    assert pyr.score(pyr.load(tmp_path / "study.jsonl"), "auto").per_summary("raw") == pytest.approx(
        done.evaluation.table.per_summary("raw")
    )
    with pytest.raises(pyr.UsageError, match="no pyramid called 'mine'"):
        run(small_study("x"), tmp_path / "other", Choices(), pyramid="mine")


@pytest.mark.parametrize("texts", [(), ("", "?!")])
def test_a_topic_without_references_is_left_out_with_a_warning(texts: tuple[str, ...]) -> None:
    study = small_study("x", "y")
    bare = [pyr.Summary("y", name, text, "reference") for name, text in zip("AB", texts, strict=False)]
    kept = [s for s in study.summaries if s.topic == "x" or s.role == "peer"]
    table = evaluate_study(replace(study, summaries=(*kept, *bare)), explain=False).table
    alone = evaluate_study(small_study("x"), explain=False).table
    assert table.per_summary("coverage") == alone.per_summary("coverage")
    why = "its references are empty" if texts else "has no references"
    notes = [str(note) for note in table.notes]
    assert f"topic y: {why}, so no pyramid can be built" in notes
    assert "topic y: not scored, nothing to score them by: copy, empty, half, other" in notes
    built = build_pyramids(replace(study, summaries=(*kept, *bare)))
    assert [pyramid.topic for pyramid in built.pyramids] == ["x"]
    assert any(str(note).startswith(f"topic y: {why}") for note in built.notes)


def test_a_run_touches_nobody_elses_files(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(pyr.UsageError, match="contains other files"):
        run(small_study("x"), tmp_path, Choices())


def test_scores_follow_from_the_judgments_that_are_kept(evaluation: pyr.Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is encoded again: the pyramid and the degrees are enough, under either name of the measures."""
    first = evaluate_study(evaluation).table
    monkeypatch.setattr(evaluation_module, "run_topics", None)
    again = pyr.score(evaluation)
    assert again.signature.method == "auto"
    for measure in ("extent", "coverage", "quality", "comprehensive", "raw"):
        assert again.per_summary(measure) == pytest.approx(first.per_summary(measure), abs=1e-12)
    by_hand = pyr.score(evaluation, "pyramid", pyramid="auto", judges="auto", measures=["modified", "original"])
    assert by_hand.per_summary("modified") == again.per_summary("coverage")
    assert by_hand.per_summary("original") == again.per_summary("quality")


def test_a_peer_that_came_later_is_told_and_the_others_keep_their_scores(evaluation: pyr.Study) -> None:
    """Judging it by the choices of today would put two kinds of numbers into one table."""
    later = pyr.Summary(evaluation.topics[0].id, "later", evaluation.peers[0].text)
    more = replace(evaluation, summaries=(*evaluation.summaries, later))
    table = pyr.score(more, "auto")
    assert table.per_summary("coverage") == pyr.score(evaluation, "auto").per_summary("coverage")
    assert any("later" in str(note) for note in table.notes)
    assert ("choices", "kept") in table.signature.choices
    anew = pyr.score(more, "auto", percentile=83)
    assert anew.per_summary("coverage")[later.topic, "later"] is not None


def test_what_was_judged_against_another_pyramid_is_scored_against_that(example: pyr.Study) -> None:
    topic = example.topics[0].id
    found = evaluate_study(first_topic(example), pyramid="expert")
    again = pyr.score(found.study)
    assert dict(again.signature.choices)["pyramid"] == "expert"
    assert again.per_summary("coverage") == pytest.approx(found.table.per_summary("coverage"))
    explained = explain(found.study, topic, "extract", judges="auto")
    assert explained.measures["coverage"] == again.per_summary("coverage")[topic, "extract"]
    best = explained.pyramid.best_weights()[mean_units_per_reference(explained.pyramid)]
    assert explained.weight == pytest.approx(explained.measures["coverage"] * best)
    with pytest.raises(pyr.UsageError, match="method that judges units"):
        explain(found.study, topic, "extract", method="rouge")
