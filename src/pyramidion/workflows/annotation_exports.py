"""Annotations as files: .pyr and .pan as DUCView has them, and JSON Lines as every command reads them."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pyramidion.errors import InputError, check_choice
from pyramidion.formats.ducview.names import PeerName, pan_name, pyr_name
from pyramidion.formats.files import to_file_name
from pyramidion.methods.annotate import RefusedError
from pyramidion.model import Study
from pyramidion.workflows.annotate import AnnotationDesk
from pyramidion.workflows.studies import guess_format, save

ExportFormat = Literal["pyr", "pan", "jsonl"]
MEDIA_TYPES: dict[str, str] = {"pyr": "application/xml", "pan": "application/xml", "jsonl": "application/x-ndjson"}


@dataclass(frozen=True, slots=True)
class Exported:
    file_name: str
    media_type: str
    text: str


def study_for(desk: AnnotationDesk, ids: Sequence[int], format: str) -> Study:
    """A study of these annotations alone, to be written in a format; InputError where they do not go together."""
    study = desk.study_of(ids)
    if errors := [problem for problem in study.problems() if problem.severity == "error"]:
        raise InputError(errors)
    if format == "ducview":  # has one pyramid a topic, called 'expert' when it is read
        return replace(study, pyramids=tuple(replace(pyramid, name="expert") for pyramid in study.pyramids))
    return study


def export(desk: AnnotationDesk, id: int, format: ExportFormat) -> Exported:
    """One annotation in the same words that `pyramidion convert` would write. The file name is plain ASCII."""
    check_choice("format", format, tuple(MEDIA_TYPES))
    stored = desk.store.get(id)
    if format == "pan" and stored.kind != "peer":
        raise RefusedError("a .pan file holds an annotated peer; a pyramid is exported as .pyr or .jsonl")
    names = {
        "pyr": pyr_name(stored.topic),
        "pan": pan_name(PeerName(stored.topic, stored.system, stored.name)),
        "jsonl": ".".join(map(to_file_name, filter(None, (stored.topic, stored.system, stored.name)))) + ".jsonl",
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"export.{format}"
        save(study_for(desk, [id], guess_format(path)), path)
        text = path.read_bytes().decode()
    return Exported(names[format], f"{MEDIA_TYPES[format]}; charset=utf-8", text)
