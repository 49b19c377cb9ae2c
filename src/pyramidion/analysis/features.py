"""Features of summaries for a trained metric: word overlap with references and documents, length, repetition.

Or your own features from a table with a row for each summary, joined by topic and system.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise

from pyramidion.analysis.answer import count
from pyramidion.errors import InputError, Problem, Severity, UsageError, check_choice
from pyramidion.scoring import rouge
from pyramidion.study import Score, ScoreTable, Signature, Study, Summary

ROUGE = ("rouge-1-recall", "rouge-2-recall", "rouge-l-recall", "rouge-su4-recall")


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _sentences(text: str) -> list[list[str]]:
    return [words for part in re.split(r"(?<=[.!?])\s+|\n+", text) if (words := _words(part))]


def _pairs(words: Sequence[str]) -> set[tuple[str, str]]:
    return set(pairwise(words))


def redundancy(text: str) -> float:
    """The greatest share of words that two sentences have in common, of the shorter one; 0 for a single sentence."""
    kept = [set(words) for words in _sentences(text)]
    return max((len(a & b) / min(len(a), len(b)) for a, b in combinations(kept, 2)), default=0.0)


def sentence_length(text: str) -> float:
    sentences = _sentences(text)
    return sum(map(len, sentences)) / len(sentences) if sentences else 0.0


def distinct_words(text: str) -> float:
    """The share of distinct words among all words."""
    words = _words(text)
    return len(set(words)) / len(words) if words else 0.0


_OF_TEXT: dict[str, Callable[[str], float]] = {
    "words": lambda text: float(len(_words(text))),
    "sentence-length": sentence_length,
    "distinct-words": distinct_words,
    "redundancy": redundancy,
}


DOCUMENTS = "document-overlap"
BUILT_IN = (*_OF_TEXT, DOCUMENTS, *ROUGE)


def summary_features(study: Study, names: Collection[str] = BUILT_IN) -> ScoreTable:
    """Features of every peer, as a score table; ROUGE if there are references, overlap if there are documents."""
    measures = [name for name in ROUGE if name in names]
    overlap = rouge.score(study, measures=measures) if study.references and measures else None
    documents = {
        topic.id: _pairs([word for document in topic.documents for word in _words(document.text)])
        for topic in study.topics
        if topic.documents
    }
    scores = [score for peer in study.peers for score in _features(peer, documents) if score.measure in names]
    if overlap is not None:
        scores += [score for score in overlap if score.topic is not None]
    return ScoreTable.of_summaries(scores, Signature.of("features"))


def _features(peer: Summary, documents: dict[str, set[tuple[str, str]]]) -> list[Score]:
    found = [Score(peer.topic, peer.system, name, feature(peer.text)) for name, feature in _OF_TEXT.items()]
    if peer.topic in documents:
        mine = _pairs(_words(peer.text))
        share = len(mine & documents[peer.topic]) / len(mine) if mine else 0.0
        found.append(Score(peer.topic, peer.system, DOCUMENTS, share))
    return found


# -- those of several years, side by side --------------------------------------------------------------------------

Key = tuple[str, str]
"""A summary: topic and system."""
MOST_NAMED = 10
_HINT = " (no row or an empty cell; in a table with one column per feature -1 counts as empty, -1.00 as a number)"


def _severity(own: bool) -> Severity:
    return "error" if own else "warning"


@dataclass(frozen=True)
class Features:
    """The same features in every year; ``own`` are those from a table, which must have a value for every summary.
    ``files`` names the source for every year."""

    names: tuple[str, ...]
    columns: Mapping[str, Mapping[str, Mapping[Key, float | None]]]
    own: frozenset[str] = frozenset()
    files: Mapping[str, str] = field(default_factory=dict)

    def row(self, year: str, key: Key) -> list[float] | None:
        """A summary's features, or None where one is missing."""
        found = [self.columns[year][name].get(key) for name in self.names]
        values = [value for value in found if value is not None]
        return values if len(values) == len(found) else None

    def gaps(self, year: str, keys: Collection[Key]) -> list[Problem]:
        """Summaries without a feature: errors for those of a table, warnings for ours."""
        problems: list[Problem] = []
        for name in self.names:
            lacking = sorted(key for key in keys if self.columns[year][name].get(key) is None)
            own = name in self.own
            for topic, system in lacking[:MOST_NAMED] if own else lacking[:1]:
                where = f"{self.files.get(year) or year}: topic {topic}, system {system}"
                problems.append(Problem(where, f"feature {name!r} is missing{_HINT if own else ''}", _severity(own)))
            shown = MOST_NAMED if own else 1
            if len(lacking) > shown:
                what = (
                    f"feature {name!r} is missing for {count(len(lacking) - shown, 'more summary', 'more summaries')}"
                )
                problems.append(Problem(self.files.get(year) or year, what, _severity(own)))
        return problems

    def require(self, year: str, keys: Collection[Key], *, lenient: bool) -> list[Problem]:
        """Refuse a table with missing values, or note them."""
        problems = self.gaps(year, keys)
        if any(problem.severity == "error" for problem in problems) and not lenient:
            raise InputError([problem for problem in problems if problem.severity == "error"])
        return [Problem(problem.where, f"{problem.what}, so it is left out", "warning") for problem in problems]


def features_of(
    studies: Mapping[str, Study],
    tables: Mapping[str, ScoreTable] | None = None,
    names: Sequence[str] | None = None,
    *,
    most: int,
    files: Mapping[str, str] | None = None,
) -> Features:
    """Features of all years: those of the tables, the built-in ones if there are no tables, or those that are named.

    ``names`` may be patterns; a table's feature comes before one of ours with the same name.
    """
    brought = _brought(studies, tables, files or {})
    known = [*brought, *(name for name in BUILT_IN if name not in brought)]
    chosen = brought if tables else known
    if names is not None:
        chosen = list(dict.fromkeys(name for pattern in names for name in _named(pattern, known)))
    ours = [name for name in chosen if name not in brought]
    made = {year: summary_features(study, ours) for year, study in studies.items()} if ours else {}
    if names is None:  # of ours, those that every year has
        chosen = [n for n in chosen if n in brought or all(n in made[year].measures for year in studies)]
    for name in ours:
        if name in chosen and (absent := [year for year in studies if name not in made[year].measures]):
            what = "documents" if name == DOCUMENTS else "references"
            raise UsageError(f"feature {name!r} needs {what}; there are none in {absent[0]}")
    if not 1 <= len(chosen) <= most:
        what = f"{count(len(chosen), 'feature')} given; every subset is tried, so there must be between 1 and {most}"
        raise UsageError(f"{what}; name those to use with --feature: {', '.join(chosen)}")
    chosen = sorted(chosen)
    columns = {
        year: {name: (tables[year] if tables and name in brought else made[year]).per_summary(name) for name in chosen}
        for year in studies
    }
    return Features(tuple(chosen), columns, frozenset(brought), files or {})


def _brought(
    studies: Mapping[str, Study], tables: Mapping[str, ScoreTable] | None, files: Mapping[str, str]
) -> list[str]:
    """The features of the tables, which all years have."""
    if tables is None:
        return []
    if absent := [year for year in studies if year not in tables]:
        raise UsageError(f"there is no feature table for {absent[0]}; give one for each year")
    held = {year: {s.measure for s in tables[year] if s.topic is not None} for year in studies}
    for year, names in held.items():
        where = files.get(year) or year
        if not names:
            raise UsageError(f"{where} has no features; it needs the columns topic, system and one per feature")
        for other, more in held.items():
            if lacking := sorted(more - names):
                raise UsageError(f"feature {lacking[0]!r} is in {files.get(other) or other}, but not in {where}")
    return list(dict.fromkeys(s.measure for s in tables[next(iter(studies))] if s.topic is not None))


def _named(pattern: str, known: Sequence[str]) -> list[str]:
    found = [name for name in known if name == pattern] or [n for n in known if fnmatch.fnmatchcase(n, pattern)]
    if not found:
        check_choice("feature", pattern, known)
    return found
