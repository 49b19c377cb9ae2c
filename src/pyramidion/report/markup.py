"""HTML and SVG that escape by default: what is not Markup is text, wherever it came from."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any

_VOID = {"meta", "link", "input", "br", "hr", "col"}
_UNSEEN = {code: "\ufffd" for code in (*range(0x20), 0x7F, *range(0x80, 0xA0)) if chr(code) not in "\n\t"}
_UNSEEN[0x0D] = "\n"


class Markup(str):
    """Markup that is safe as it is. Only this module and its callers' fixed texts make it."""

    __slots__ = ()


Child = str | int | None | Iterable["Child"]


def text(value: object) -> Markup:
    """Text as markup: escaped, and control characters made visible."""
    return Markup(html.escape(str(value).replace("\r\n", "\n").translate(_UNSEEN), quote=True))


def join(children: Iterable[Child]) -> Markup:
    return Markup("".join(map(_child, children)))


def _child(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Markup):
        return child
    if isinstance(child, str | int):
        return text(child)
    return join(child)


def element(name: str, /, *children: Child, **attributes: Any) -> Markup:
    """``element("td", "a < b", class_="number")``. None and False leave an attribute out; _ stands for -."""
    shown = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Markup(f"<{name}{shown}>")
    return Markup(f"<{name}{shown}>{join(children)}</{name}>")


def _attribute(key: str, value: object) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{text(value)}"'


def embedded_json(data: object) -> Markup:
    """JSON that cannot end the script element it stands in."""
    held = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character, escape in (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026"), ("\u2028", "\\u2028")):
        held = held.replace(character, escape)
    return Markup(held.replace("\u2029", "\\u2029"))


@cache
def asset(*names: str) -> str:
    """Files of this package's static folder, one after the other; base.css is the look all pages share."""
    root = files("pyramidion")
    folders = {"base.css": root / "web" / "static" / "shared"}
    parts = [(folders.get(name, root / "report" / "static") / name).read_text(encoding="utf-8") for name in names]
    return "\n".join(parts)


def document(title: str, *body: Child, style: str, script: str = "", class_: str | None = None) -> str:
    """A whole page in one file that may run its own script and nothing else, and fetch nothing."""
    policy = {
        "default-src": "'none'",
        "style-src": _hash(style),
        "script-src": _hash(script) if script else "'none'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element(
            "meta",
            http_equiv="Content-Security-Policy",
            content="; ".join(f"{name} {value}" for name, value in policy.items()),
        ),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("link", rel="icon", href="data:,"),
        element("title", title),
        Markup(f"<style>{style}</style>"),
    )
    end = Markup(f'<script type="module">{script}</script>') if script else None
    page = element("html", head, element("body", *body, end, class_=class_), lang="en")
    return f"<!doctype html>\n{page}\n"


def _hash(held: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(held.encode()).digest()).decode()}'"
