"""Prolific's published interface, where it is at hand (../shared/data/prolific): what may be asked and answered.

It is read strictly: a field that the interface does not name is an error, in requests and in answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import jsonschema
import yaml

FOLDER = Path(__file__).resolve().parents[4] / "shared" / "data" / "prolific"
REFUSALS = ("Error", "ErrorDetail")
ANY_FIELD = "any_field"
"""The interface's stand-in for the name of whatever field is wrong."""


@dataclass(frozen=True)
class Exchange:
    """A request and its answer; ``status`` is 0 where none came."""

    method: str
    path: str
    query: str
    body: Any
    authorization: str
    status: int = 0
    answer: Any = None


@dataclass(frozen=True)
class Operation:
    pattern: re.Pattern[str]
    method: str
    parts: dict[str, Any]
    components: dict[str, Any]

    def problems(self, exchange: Exchange) -> Iterator[str]:
        yield from self._query_problems(exchange.query)
        declared = {(one["in"], one["name"]) for one in self.parts.get("parameters", [])}
        if ("header", "Authorization") in declared and not exchange.authorization.startswith("Token "):
            yield "Authorization: is missing"
        wanted = self.parts.get("requestBody")
        if wanted is not None:
            yield from self._mismatch("request", wanted["content"]["application/json"]["schema"], exchange.body)
        elif exchange.body is not None:
            yield "request: no body is expected"
        if exchange.status:
            yield from self._answer_problems(exchange)

    def _query_problems(self, query: str) -> Iterator[str]:
        known = {one["name"]: one for one in self.parts.get("parameters", []) if one["in"] == "query"}
        given = dict(parse_qsl(query, keep_blank_values=True))
        for name in known:
            if known[name].get("required") and name not in given:
                yield f"query {name}: is missing"
        for name, value in given.items():
            if name not in known:
                yield f"query {name}: is unknown"
                continue
            schema = known[name]["schema"]
            typed = int(value) if schema.get("type") == "integer" and value.isdigit() else value
            yield from self._mismatch(f"query {name}", schema, typed)

    def _answer_problems(self, exchange: Exchange) -> Iterator[str]:
        declared = self.parts["responses"].get(str(exchange.status))
        if exchange.status >= 400 and "Error" not in self.components.get("schemas", {}):
            return
        if exchange.status >= 400:
            # Declared for 400 only, sometimes without its envelope; the documentation says that all have it.
            schema: dict[str, Any] = {"anyOf": [{"$ref": f"#/components/schemas/{name}"} for name in REFUSALS]}
        elif declared is None:
            yield f"answer {exchange.status}: is not declared"
            return
        else:
            schema = declared["content"]["application/json"]["schema"]
        yield from self._mismatch(f"answer {exchange.status}", schema, exchange.answer)

    def _mismatch(self, where: str, schema: dict[str, Any], content: Any) -> Iterator[str]:
        validator = jsonschema.Draft202012Validator({**schema, "components": self.components})
        for error in validator.iter_errors(content):
            yield f"{where}, {error.json_path}: {error.message}"


def problems(exchange: Exchange) -> list[str]:
    """What the interface does not allow about an exchange."""
    what = f"{exchange.method} {exchange.path}"
    meant = [one for one in operations() if one.method == exchange.method and one.pattern.fullmatch(exchange.path)]
    if not meant:
        return [f"{what}: there is no such operation"]
    # A path with a word where others have an id is meant as such: submissions/bulk-approve/.
    literal = min(meant, key=lambda one: one.pattern.groups)
    return [f"{what}: {problem}" for problem in literal.problems(exchange)]


@cache
def operations() -> list[Operation]:
    made = []
    for file in sorted(FOLDER.glob("*.openapi.yml")):
        document = _strict(yaml.safe_load(file.read_text()))
        for path, methods in document["paths"].items():
            pattern = re.compile(re.sub(r"\\{[^}]*\\}", "([^/]+)", re.escape(path)))
            made += [
                Operation(pattern, method.upper(), parts, document["components"])
                for method, parts in methods.items()
                if method in {"get", "post", "patch", "put", "delete"}
            ]
    return made


def _strict(content: Any) -> Any:
    """The same, but objects have no fields other than those named."""
    if isinstance(content, list):
        return [_strict(item) for item in content]
    if not isinstance(content, dict):
        return content
    strict = {key: _strict(value) for key, value in content.items()}
    named = content.get("properties")
    if content.get("type") == "object" and named and ANY_FIELD not in named:
        strict.setdefault("additionalProperties", False)
    return strict
