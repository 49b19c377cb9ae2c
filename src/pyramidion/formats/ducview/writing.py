"""Writing DUCView files: one pyramid per topic, and one file for each peer that an expert or a model annotated.

A file of our own differs from DUCView's in nothing but the pattern of its headers, by which the reader knows it.
Names of topic, peer and annotator are in the file names; see ``names``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from pyramidion.errors import Problems, UsageError
from pyramidion.formats.ducview.text import Passage, PeerName, lay_out, pan_name, peer_of, pyr_name, topic_of
from pyramidion.formats.ducview.xml import (
    NO_PLACE,
    UNMATCHED_UID,
    XmlContributor,
    XmlFile,
    XmlPart,
    XmlText,
    XmlUnit,
    dump,
    holdable,
)
from pyramidion.formats.files import new_file, new_folder, write_text
from pyramidion.study import UNMATCHED, ContentUnit, Judgment, Pyramid, Span, Study, Summary
from pyramidion.study.judgments import Mention, times

_UNMATCHED_LABEL = "All non-matching SCUs go here"
_MAX_MENTIONS = 10_000
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")
_NUMBERED = re.compile(r"[^0-9]*0*([1-9][0-9]{0,8})")


@dataclass(frozen=True)
class _Sheet:
    """A topic's pyramid as it is written, and for every unit in it the peerscu a peer's mentions go into.

    The key of a peerscu is the id of the unit in the study, and nothing for unmatched content.
    """

    topic: str
    pyramid: XmlText
    peerscus: Mapping[str, XmlUnit]


def write(study: Study, path: Path, problems: Problems) -> None:
    """Write a ``.pyr`` or ``.pan`` file if the path has that suffix and one is enough, otherwise a folder of them."""
    sheets = {sheet.topic: sheet for sheet in _sheets(study, problems)}
    suffix = path.suffix.lower()
    if suffix == ".pyr":
        _write_pyr(study, sheets, path, problems)
    elif suffix == ".pan":
        _write_pan(study, sheets, path, problems)
    else:
        with new_folder(path) as folder:
            for sheet in sheets.values():
                write_text(folder / pyr_name(sheet.topic), "".join(dump(XmlFile(sheet.pyramid))))
            for name, peer in _peers(study, sheets, problems):
                write_text(folder / pan_name(name), "".join(dump(XmlFile(sheets[name.topic].pyramid, peer))))


def _write_pyr(study: Study, sheets: Mapping[str, _Sheet], path: Path, problems: Problems) -> None:
    if len(sheets) != 1:
        raise UsageError(f"{path} can hold the pyramid of only one topic, not of {len(sheets)}; give a folder instead")
    [sheet] = sheets.values()
    if topic_of(path.stem) != sheet.topic:
        problems.warning(
            str(path), f"topic {sheet.topic!r} will be read back as {topic_of(path.stem)!r}, because of the file's name"
        )
    if study.peers or len(study.judgments):
        problems.warning(str(path), "a .pyr file cannot hold peers and judgments; give a folder to keep them")
    _write_file(path, XmlFile(sheet.pyramid))


def _write_pan(study: Study, sheets: Mapping[str, _Sheet], path: Path, problems: Problems) -> None:
    peers = list(_peers(study, sheets, problems))
    if len(peers) != 1:
        raise UsageError(f"{path} can hold one peer annotated by one judge, not {len(peers)}; give a folder instead")
    [(name, peer)] = peers
    read_as = peer_of(path.stem)
    if read_as[:3] != name[:3]:
        problems.warning(
            str(path),
            f"topic {name.topic!r}, system {name.system!r}, judge {name.judge!r} will be read back as "
            f"{read_as.topic!r}, {read_as.system!r}, {read_as.judge!r}, because of the file's name",
        )
    _write_file(path, XmlFile(sheets[name.topic].pyramid, peer))


def _write_file(path: Path, document: XmlFile) -> None:
    with new_file(path) as file:
        file.writelines(dump(document))


# -- pyramids ------------------------------------------------------------------------------------------------


def _sheets(study: Study, problems: Problems) -> Iterator[_Sheet]:
    renumbered: list[str] = []
    for topic in study.topics:
        pyramid = _choose(study, topic.id, problems)
        if pyramid is None:
            continue
        uids = _numbers([unit.id for unit in pyramid.units])
        renumbered += [f"{topic.id}: {id} -> {uid}" for id, uid in uids.items() if id != uid]
        yield _sheet(study, pyramid, uids, problems)
    if renumbered:
        problems.warning(
            "units", f"DUCView needs numbers as ids; {len(renumbered)} ids are changed ({renumbered[0]}, ...)"
        )


def _choose(study: Study, topic: str, problems: Problems) -> Pyramid | None:
    where = f"topic {topic}"
    pyramids = [pyramid for pyramid in study.pyramids if pyramid.topic == topic]
    marked = [pyramid for pyramid in pyramids if any(c.spans for unit in pyramid.units for c in unit.contributors)]
    chosen = study.pyramid(topic, "expert") or (marked[0] if len(marked) == 1 else None)
    if chosen is None:
        problems.warning(
            where, "is left out: it has neither a pyramid named 'expert' nor exactly one with marked words"
        )
        return None
    left_out = [pyramid.name for pyramid in pyramids if pyramid is not chosen]
    if left_out:
        problems.warning(where, f"a .pyr holds one pyramid; left out with the judgments on it: {', '.join(left_out)}")
    if chosen.name != "expert":
        problems.warning(where, f"pyramid {chosen.name!r} will be read back as 'expert'")
    return chosen


def _numbers(ids: Sequence[str]) -> dict[str, str]:
    """Numbers for units: an id that is one, else the one it ends with (u07 -> 7), else the next that is free."""
    endings = {id: match[1] for id in ids if (match := _NUMBERED.fullmatch(id))}
    if len(endings) == len(set(endings.values())) == len(ids):
        return endings
    kept = {id: id for id in ids if _NUMBER.fullmatch(id)}
    free = (str(number) for number in count(1) if str(number) not in kept)
    return {id: kept.get(id) or next(free) for id in ids}


def _sheet(study: Study, pyramid: Pyramid, uids: Mapping[str, str], problems: Problems) -> _Sheet:
    where = f"topic {pyramid.topic}"
    references = list(_references(study, pyramid, problems))
    names = [
        " ".join(holdable(r.system, f"{where}, reference {r.system!r}", problems).splitlines()) for r in references
    ]
    layout = lay_out([(name, reference.text) for name, reference in zip(names, references, strict=True)])
    passage = Passage(layout.text)
    placed = {r.system: (r.text, start) for r, start in zip(references, layout.starts, strict=True)}
    scus: list[XmlUnit] = []
    peerscus: dict[str, XmlUnit] = {}
    for unit in pyramid.units:
        here = f"{where}, unit {unit.id}"
        kept = list(_contributions(unit, placed, here, problems))
        if not kept:
            problems.warning(here, "is left out with its judgments: it has no contributor in a reference")
            continue
        label, comment = holdable(unit.label, here, problems), holdable(unit.comment, here, problems)
        contributors = tuple(_xml_contributor(spans, passage, placed[reference][1]) for reference, spans in kept)
        scus.append(XmlUnit(uids[unit.id], label, contributors, comment))
        peerscus[unit.id] = XmlUnit(uids[unit.id], f"({len(kept)}) {label}", ())
    peerscus[""] = XmlUnit(UNMATCHED_UID, _UNMATCHED_LABEL, ())
    return _Sheet(pyramid.topic, XmlText(layout.text, tuple(scus), layout.header), peerscus)


def _references(study: Study, pyramid: Pyramid, problems: Problems) -> Iterator[Summary]:
    """The references the pyramid was made from; others would change the scores it gives."""
    for id in dict.fromkeys(pyramid.references):
        where = f"topic {pyramid.topic}, reference {id}"
        reference = study.summary(pyramid.topic, id, "reference")
        if reference is None:
            problems.warning(where, "is left out: its text is missing")
        else:
            yield replace(reference, text=holdable(reference.text, where, problems))
    for reference in study.references:
        if reference.topic == pyramid.topic and reference.system not in pyramid.references:
            where = f"topic {pyramid.topic}, reference {reference.system}"
            problems.warning(where, "is left out: the pyramid was made without it")


def _contributions(
    unit: ContentUnit, placed: Mapping[str, tuple[str, int]], where: str, problems: Problems
) -> Iterator[tuple[str, Mention]]:
    """The contributors from references that are written: their references and spans, which may be none."""
    for number, contributor in enumerate(unit.contributors, 1):
        here = f"{where}, contributor {number}"
        if contributor.reference in placed:
            text, _ = placed[contributor.reference]
            yield contributor.reference, _spans_that_fit(contributor.spans, text, here, problems)
        else:
            problems.warning(here, f"is left out: the text of reference {contributor.reference} is missing")


def _xml_contributor(spans: Mention, passage: Passage, offset: int) -> XmlContributor:
    """Without marked words an empty part at the start of the reference says which one it is, and the weight is kept."""
    here = passage.to_units(Span(offset, offset))
    return XmlContributor(_parts(spans, passage, offset) or (XmlPart("", *here),))


def _spans_that_fit(spans: Iterable[Span], text: str, where: str, problems: Problems) -> Mention:
    kept = tuple(sorted(span for span in spans if span.fits(text)))
    lost = [f"{span.start}-{span.end}" for span in spans if not span.fits(text)]
    if lost:
        problems.warning(where, f"spans outside the text are left out: {', '.join(lost)}")
    return kept


def _parts(spans: Mention, passage: Passage, offset: int = 0) -> tuple[XmlPart, ...]:
    moved = [Span(span.start + offset, span.end + offset) for span in spans]
    return tuple(XmlPart(_on_one_line(span.of(passage.text)), *passage.to_units(span)) for span in moved)


def _on_one_line(words: str) -> str:
    return re.sub(r"[\r\n\t]", " ", words)


# -- peers ---------------------------------------------------------------------------------------------------

_Key = tuple[str, str, str]  # topic, system, judge


def _peers(study: Study, sheets: Mapping[str, _Sheet], problems: Problems) -> Iterator[tuple[PeerName, XmlText]]:
    annotated: set[tuple[str, str]] = set()
    for (topic, system, judge), rows in _answers(study, sheets, problems).items():
        where = f"topic {topic}, system {system}, judge {judge}"
        peer = study.summary(topic, system)
        if peer is None:
            problems.warning(where, "is left out: the text of this peer is missing")
            continue
        annotated.add((topic, system))
        answers = {judgment.unit: judgment for judgment in study.judgments.take(list(rows.values()))}
        text = holdable(peer.text, where, problems)
        units = tuple(_peerscus(sheets[topic], answers, Passage(text), where, problems))
        yield PeerName(topic, system, judge), XmlText(text, units)
    for peer in study.peers:
        if peer.topic in sheets and (peer.topic, peer.system) not in annotated:
            where = f"topic {peer.topic}, system {peer.system}"
            problems.warning(where, "is left out: no expert or model judged it on this pyramid")


def _answers(study: Study, sheets: Mapping[str, _Sheet], problems: Problems) -> dict[_Key, dict[str, int]]:
    """Who annotated which peer: the rows of counts of units in the pyramids written and of unmatched content."""
    kinds = {judge.id: judge.kind for judge in study.judges}
    groups: dict[_Key, dict[str, int]] = {}
    lost: Counter[str] = Counter()
    for row, judgment in enumerate(study.judgments):
        sheet = sheets.get(judgment.topic)
        if judgment.aspect not in {"", UNMATCHED} or sheet is None or judgment.unit not in sheet.peerscus:
            continue  # reported already: with the topic, pyramid or unit, or as a part the format cannot hold
        if kinds.get(judgment.judge, "crowd") == "crowd":
            lost["made by crowd workers"] += 1
            continue
        answers = groups.setdefault((judgment.topic, judgment.system, judgment.judge), {})
        if judgment.unit in answers:
            lost["on a unit already judged"] += 1
        answers.setdefault(judgment.unit, row)
    for reason, number in lost.items():
        problems.warning("judgments", f"{number} are left out: {reason}")
    for judge in sorted({judge for _, _, judge in groups if kinds[judge] == "model"}):
        problems.warning(f"judge {judge}", "is a model, but will be read back as an expert")
    return groups


def _peerscus(
    sheet: _Sheet, answers: Mapping[str, Judgment], passage: Passage, where: str, problems: Problems
) -> Iterator[XmlUnit]:
    unanswered: list[str] = []
    for id, unit in sheet.peerscus.items():
        here = f"{where}, unit {id}" if id else f"{where}, unmatched content"
        value = answers[id].value if id in answers else None
        if value is None:
            unanswered += [id] if id else []
        elif (value.is_integer() or value < 1) and 0 <= value <= _MAX_MENTIONS:
            contributors = _mentions(times(value), answers[id].evidence, passage, here, problems)
            yield replace(unit, contributors=tuple(contributors))
        else:
            problems.error(here, f"is left out: {value:g} is not a count of mentions")
    if unanswered:
        some = ", ".join(unanswered[:5]) + (", ..." if len(unanswered) > 5 else "")
        problems.warning(where, f"{len(unanswered)} unanswered units will be read back as absent: {some}")


def _mentions(
    number: int, evidence: Iterable[Mention], passage: Passage, where: str, problems: Problems
) -> Iterator[XmlContributor]:
    """As many contributors as there are mentions, with their words where these are known."""
    mentions = [_spans_that_fit(mention, passage.text, where, problems) for mention in evidence]
    if len(mentions) > number:
        problems.warning(
            where, f"counts {number} mentions, but has evidence for {len(mentions)}; the last ones are merged"
        )
        rest = tuple(sorted(span for mention in mentions[max(0, number - 1) :] for span in mention))
        mentions = [*mentions[: number - 1], rest] if number else []
    for mention in mentions:
        yield XmlContributor(_parts(mention, passage) or (NO_PLACE,))
    for _ in range(number - len(mentions)):
        yield XmlContributor((NO_PLACE,))
