"""Pages from templates: what comes from a study is text, never markup, and a page runs nothing but its own script."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

if TYPE_CHECKING:
    from jinja2 import Environment

_UNSEEN = {code: "\ufffd" for code in (*range(0x20), 0x7F, *range(0x80, 0xA0)) if chr(code) not in "\n\t"}
_UNSEEN[0x0D] = "\n"
_IN_SCRIPTS = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
_LAYOUT = re.compile(r"^(?:\s*(?://.*\n|/\*(?:[^*]|\*(?!/))*\*/[ \t]*\n|\n)|[ \t]+)+", re.MULTILINE)
_PIECE = re.compile(r"[^_-]*[_-]+|[^_-]+")
_LONG_PIECE = re.compile(r"[!-\u024f]{1,14}|[^!-\u024f]+")
_BETWEEN_TAGS = re.compile(r"(?<=[>}])\s*\n\s*(?=[<{])")


def render(template: str, *, style: tuple[str, ...], script: tuple[str, ...] = (), **values: Any) -> str:
    """A whole page in one file that may run its own script and nothing else, and fetch nothing."""
    css, javascript = asset(*style), asset(*script)
    policy = {
        "default-src": "'none'",
        "style-src": _hash(css),
        "script-src": _hash(javascript) if script else "'none'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }
    values["policy"] = "; ".join(f"{name} {value}" for name, value in policy.items())
    return _environment().get_template(template).render(style=css, script=javascript, **values)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    def source(name: str) -> str:
        """A template without the line breaks that only lay it out: between tags there is nothing."""
        text = (files("pyramidion") / "report" / "templates" / name).read_text(encoding="utf-8")
        return _BETWEEN_TAGS.sub("", text)

    environment = Environment(
        autoescape=True,
        loader=FunctionLoader(source),
        undefined=StrictUndefined,
        finalize=_visible,
        keep_trailing_newline=True,
    )
    environment.filters["breakable"] = breakable
    return environment


def _visible(value: Any) -> Any:
    """Text with control characters made visible; None is nothing. The environment escapes it."""
    if value is None:
        return ""
    if isinstance(value, Markup):
        return value
    return str(value).replace("\r\n", "\n").translate(_UNSEEN)


def breakable(name: str) -> Markup:
    """A name that may go on in the next line after _ and -, and within a part that is long without them."""
    pieces = (piece for part in _PIECE.findall(_visible(name)) for piece in _LONG_PIECE.findall(part))
    return Markup("<wbr>").join(pieces)


def embedded_json(data: object) -> str:
    """JSON that cannot end the script element it is in."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.translate(_IN_SCRIPTS)


def packed(text: str) -> str:
    """A text as gzip in base64: many summaries stay small, and the browser unpacks only what is viewed."""
    return base64.b64encode(gzip.compress(text.encode("utf-8", "replace"), 6, mtime=0)).decode()


@cache
def asset(*names: str) -> str:
    """Files of this room's static folder or, under ``shared/``, of the one for all pages, one after the other.

    Scripts end up in one module, so their imports of each other are left out; so are lines of comments and the space
    before lines, which every page of a folder would repeat.
    """
    root = files("pyramidion")
    folders = [root / ("server" if name.startswith("shared/") else "report") / "static" for name in names]
    parts = [(folder / name).read_text(encoding="utf-8") for folder, name in zip(folders, names, strict=True)]
    return _LAYOUT.sub("", re.sub(r"^import [^;]*;\n", "", "\n".join(parts), flags=re.MULTILINE))


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
