"""The JSON in what a chat model says, whatever the model has put around it.

Models think aloud in <think> tags, add a sentence before or after, put the JSON into a fence, leave a comma at the end
of a list, write comments, single quotes or True. All of that is read. Nothing is guessed: what is not JSON after these
repairs gives no value, and of a reply that was cut off only the complete parts are values.
"""

from __future__ import annotations

import json
import re
from typing import Any

MOST_STARTS = 200
"""Places that are tried: a reply full of brackets must not take quadratic time."""
_TAGS = "think|thinking|thought|thoughts|reasoning|reflection|analysis"
_THOUGHT_ENDS = re.compile(rf"</(?:{_TAGS})>|<\|message\|>|\[/THINK\]", re.IGNORECASE)
_THOUGHT_BEGINS = re.compile(rf"<(?:{_TAGS})>|\[THINK\]", re.IGNORECASE)
_REPAIRED = re.compile(
    r"""
    (?P<kept> "(?:[^"\\]|\\.)*+" )          # a string stays as it is, whatever is in it
    | '(?P<single>(?:[^'\\]|\\.)*+)'
    | “(?P<curly>[^”"]*+)”
    | (?P<comment> //[^\n]*+ )
    | (?P<comma> ,(?=\s*+[}\]]) )
    | (?P<dot> (?<![0-9])\.(?=[0-9]) )     # .5
    | \b(?P<word> True | False | None )\b
    """,
    re.VERBOSE | re.DOTALL,
)
_BRACKETS = re.compile(r"""[\[\]{}]|"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|“[^”"]*+”|//[^\n]*+""", re.DOTALL)
_WORDS = {"True": "true", "False": "false", "None": "null"}


def json_values(text: str) -> list[Any]:
    """The objects and lists in a reply, in order, without those inside others or inside the model's thoughts."""
    text = without_thoughts(text)
    values: list[Any] = []
    place = 0
    for _ in range(MOST_STARTS):
        start = re.search(r"[\[{]", text[place:])
        if start is None:
            break
        place += start.start()
        value, size = _value_at(text[place:])
        if size:
            values.append(value)
        place += size or 1
    return values


def without_thoughts(text: str) -> str:
    """What is said after thinking. A reply that begins with JSON has no thoughts, whatever its strings contain."""
    text = text.strip()
    if text.startswith(("{", "[{", "[\n", "```")):
        return text
    ends = list(_THOUGHT_ENDS.finditer(text))
    if ends:
        text = text[ends[-1].end() :]
    begins = _THOUGHT_BEGINS.search(text)
    return text[: begins.start()] if begins else text


def _value_at(text: str) -> tuple[Any, int]:
    """The value that a text begins with, and how many of its characters it takes; 0 where there is none."""
    try:
        return _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        end = _closing(text)
    try:
        # Twice, because a comma before a comment is the last one only when the comment is gone.
        repaired = _REPAIRED.sub(_repair, _REPAIRED.sub(_repair, text[:end]))
        return _DECODER.decode(repaired), end
    except (ValueError, RecursionError):
        return None, 0


def _closing(text: str) -> int:
    """The end of the bracket that a text begins with; 0 where it is never closed."""
    depth = 0
    for token in _BRACKETS.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        if depth == 0:
            return token.end()
    return 0


def _repair(match: re.Match[str]) -> str:
    kind = match.lastgroup
    if kind == "kept":
        return match[0]
    if kind == "word":
        return _WORDS[match[0]]
    if kind == "dot":
        return "0."
    if kind in {"single", "curly"}:
        return json.dumps(_unescaped(match[str(kind)]), ensure_ascii=False)
    return ""


def _unescaped(text: str) -> str:
    """The text of a string in single quotes, of which only quotes and line breaks are escaped in practice."""
    return re.sub(r"\\(.)", lambda found: {"n": "\n", "t": "\t"}.get(found[1], found[1]), text, flags=re.DOTALL)


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not a number of JSON")


_DECODER = json.JSONDecoder(strict=False, parse_constant=_refuse)
