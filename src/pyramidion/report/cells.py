"""What the tables of a report are made of: sortable headings, numbers, links, a field to filter by."""

from __future__ import annotations

from urllib.parse import quote

from pyramidion.analysis.answer import Cell, Table, is_number_column, show
from pyramidion.report.markup import Child, Markup, element

NAMES = {
    "pyramid": ("Pyramid", "experts annotate"),
    "lite": ("Lightweight Pyramids", "a crowd judges"),
    "responsiveness": ("Ratings", "people rate the whole summary"),
    "auto": ("Automatic pyramids", "nobody: words are aligned"),
    "rouge": ("ROUGE", "words overlap"),
}


def link(*parts: str) -> str:
    """A fragment that the page's script opens: #topic/D0601 or #summary/D0601/peer%209."""
    return "#" + "/".join(quote(part, safe="") for part in parts)


def number(value: float | None, digits: int = 3) -> Markup:
    return element("td", show(value, digits), class_="number", data_v="" if value is None else f"{value:.6g}")


def heading(name: Child, *, sort: bool = True, **attributes: object) -> Markup:
    if not sort:
        return element("th", name, scope="col", **attributes)
    return element("th", element("button", name, type="button", class_="sort"), scope="col", **attributes)


def method_name(method: str) -> str:
    return NAMES.get(method, (method, ""))[0]


def filtering(name: str) -> Markup:
    return element("label", element("span", name), element("input", type="search", class_="filter"), class_="filtering")


def table_of(table: Table) -> Markup:
    """Any table of an answer, sortable."""
    numeric = [is_number_column(table, place) for place in range(len(table.columns))]

    def cell(shown: str, value: Cell, right: bool) -> Markup:
        return element("td", shown, class_="number" if right else None, data_v=value if right else None, dir="auto")

    rows = [
        element("tr", [cell(*parts) for parts in zip(shown, row, numeric, strict=True)])
        for shown, row in zip(table.shown(), table.rows, strict=True)
    ]
    head = [
        heading(name, class_="number" if right else None) for name, right in zip(table.columns, numeric, strict=True)
    ]
    return element(
        "div",
        element(
            "table",
            element("caption", table.title) if table.title else None,
            element("thead", element("tr", head)),
            element("tbody", rows),
            class_="sortable",
        ),
        class_="table-wrap",
    )
