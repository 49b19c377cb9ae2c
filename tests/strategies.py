"""Hypothesis strategies for studies with strange but legal content."""

from __future__ import annotations

from hypothesis import strategies as st

from pyramidion.study import (
    UNMATCHED,
    Aspect,
    Assignment,
    ContentUnit,
    Contributor,
    Document,
    Judge,
    Judgment,
    Judgments,
    Pyramid,
    Span,
    Study,
    Summary,
    Task,
    Topic,
)

STRANGE = [
    "",
    "one",
    "Zwei Sätze. Mit Umlauten!",
    "e\u0301 combining, n\u0303",
    "emoji 👩‍👩‍👧 and 𝒜 beyond the BMP",
    "עברית וגם العربية",
    "line one\r\nline two\r\n",
    "\n\nouter newlines\n",
    "=SUM(A1:A9)",
    "<b>&amp; \"quotes\" 'too'</b>",
    "tab\there",
    "\u2028separator",
    "漢字かな",
]

any_text = st.sampled_from(STRANGE) | st.text(st.characters(codec="utf-8"), max_size=40)
ids = st.sampled_from(["A", "B", "9", "D0601.M", "sys-1", "ünï", "a b", "50%", "x/y", ".hidden", "=1"]) | st.text(
    "abcXYZ019_-", min_size=1, max_size=6
)


def _spans(text: str) -> st.SearchStrategy[tuple[Span, ...]]:
    if not text:
        return st.just(())
    starts = st.integers(0, len(text) - 1)
    one = starts.flatmap(lambda start: st.integers(start + 1, len(text)).map(lambda end: Span(start, end)))
    return st.lists(one, max_size=2, unique=True).map(lambda found: tuple(sorted(found)))


@st.composite
def studies(draw: st.DrawFn) -> Study:
    """A sound study: whatever it holds obeys the rules."""
    topics, summaries, pyramids, tasks, assignments, judgments = [], [], [], [], [], []
    judges = [
        Judge("annotator", "expert"),
        Judge("w1"),
        Judge("w2"),
        Judge("model", "model", expressed=0.6, perhaps=0.2),
    ]
    systems = draw(st.lists(ids, min_size=1, max_size=3, unique=True))
    for id in draw(st.lists(ids, min_size=1, max_size=2, unique=True)):
        documents = tuple(Document(f"d{i}", text) for i, text in enumerate(draw(st.lists(any_text, max_size=2))))
        topics.append(Topic(id, draw(any_text), draw(any_text), documents))
        references = {name: draw(any_text) for name in draw(st.lists(ids, min_size=1, max_size=3, unique=True))}
        peers = {name: draw(any_text) for name in systems}
        summaries += [Summary(id, name, text, "reference") for name, text in references.items()]
        summaries += [
            Summary(id, name, text, source=draw(st.sampled_from(["", "x.txt"]))) for name, text in peers.items()
        ]
        units = []
        for number in range(draw(st.integers(0, 4))):
            names = draw(st.lists(st.sampled_from(sorted(references)), min_size=1, unique=True))
            contributors = tuple(Contributor(name, draw(_spans(references[name]))) for name in names)
            units.append(
                ContentUnit(f"u{number}", draw(any_text), contributors, group=draw(st.sampled_from(["", "1"])))
            )
        pyramids.append(Pyramid(id, tuple(references), tuple(units)))
        for system, text in peers.items():
            for unit in units:
                for judge in draw(st.lists(st.sampled_from(judges), max_size=3, unique=True)):
                    value = draw(st.none() | st.sampled_from([0, 1, 2, 0.25]))
                    evidence = tuple(m for m in draw(st.lists(_spans(text), max_size=2)) if m)
                    judgments.append(Judgment(id, system, judge.id, value, unit=unit.id, evidence=evidence))
            judgments.append(Judgment(id, system, "annotator", draw(st.integers(0, 3)), aspect=UNMATCHED))
            judgments.append(Judgment(id, system, "w1", draw(st.none() | st.integers(1, 10)), aspect="overall"))
            task = Task(f"{len(tasks)}", id, system, tuple(unit.id for unit in units))
            tasks.append(task)
            assignments.append(Assignment(task.id, "w1", "a", "2026", "", draw(st.none() | st.just(12.5))))
    return Study(
        tuple(topics),
        tuple(summaries),
        tuple(pyramids),
        tuple(judges),
        Judgments(judgments),
        (Aspect("overall", 1, 10, "Overall"),),
        tuple(tasks),
        tuple(assignments),
        draw(any_text),
    )


@st.composite
def crowds(draw: st.DrawFn) -> Study:
    """A judged crowd study: some workers, some unanswered units, tasks of different size."""
    systems, units, workers = (draw(st.integers(1, n)) for n in (3, 4, 4))
    topics = [f"t{i}" for i in range(draw(st.integers(1, 2)))]
    judgments = [
        Judgment(topic, f"s{s}", f"w{w}", value, unit=f"u{u}", task=f"{topic}-s{s}")
        for topic in topics
        for s in range(systems)
        for w in range(workers)
        for u in range(units)
        if (value := draw(st.sampled_from([0, 1, 1, None, "skip"]))) != "skip"
    ]
    return Study(
        topics=tuple(map(Topic, topics)),
        summaries=tuple(Summary(t, f"s{s}", "text") for t in topics for s in range(systems)),
        pyramids=tuple(
            Pyramid(t, ("A",), tuple(ContentUnit(f"u{u}", "", (Contributor("A"),)) for u in range(units)), "crowd")
            for t in topics
        ),
        judges=tuple(Judge(f"w{w}") for w in range(workers)),
        judgments=Judgments(judgments),
        tasks=tuple(Task(f"{t}-s{s}", t, f"s{s}") for t in topics for s in range(systems)),
    )


@st.composite
def partial_studies(draw: st.DrawFn) -> Study:
    """A sound study that may lack anything: texts, references, units, tasks; judged by anybody."""
    topics, systems = ["t1", "t2"][: draw(st.integers(1, 2))], ["x", "y"]
    with_peers = draw(st.sampled_from([(), ("x",), ("x", "y")]))
    judges = [
        Judge("annotator", "expert"),
        Judge("w1"),
        Judge("w2"),
        Judge("model", "model", expressed=0.6, perhaps=0.2),
    ]
    judging = draw(st.lists(st.sampled_from(judges), min_size=1, max_size=2, unique=True))
    summaries = [Summary(topic, system, "A peer.") for topic in topics for system in with_peers]
    name, units, references = draw(st.sampled_from(["crowd", "expert"])), draw(st.integers(0, 2)), draw(st.booleans())
    if references:
        summaries += [Summary(topic, "A", "A reference.", "reference") for topic in topics]
    roots = (Contributor("A", (Span(0, 11),)),) if references else ()
    pyramid = tuple(ContentUnit(f"u{n}", f"Unit {n}.", roots) for n in range(units))
    rated = draw(st.booleans())
    judgments = []
    for topic in topics:
        for system in with_peers or systems:
            for judge in judging:
                judgments += [
                    Judgment(topic, system, judge.id, draw(st.sampled_from([0, 1, None])), unit=unit.id)
                    for unit in pyramid
                ]
                judgments += [Judgment(topic, system, judge.id, 3, aspect="overall")] * rated
    return Study(
        tuple(map(Topic, topics)),
        tuple(summaries),
        tuple(Pyramid(topic, ("A",) * references, pyramid, name) for topic in topics) if pyramid else (),
        tuple(judging),
        Judgments(judgments),
        (Aspect("overall", 1, 10),) * rated,
    )
