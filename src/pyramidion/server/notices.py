"""What went wrong, as a page for people: a title, what it means, and what to do next. Programs get JSON instead."""

from __future__ import annotations

from fastapi import Request
from fastapi.responses import Response

from pyramidion.server.context import render

NOTHING_IS_LOST = (
    "Nothing that you have sent is lost, and what you have not sent yet is kept in this browser. Please reload this "
    "page in a few minutes."
)
_FOR_PROGRAMS = ("/api/", "/webhooks/", "/static/")
_INVITED = "If you were invited, open the link of your invitation exactly as you received it."
_NOTICES: dict[int, tuple[str, str]] = {
    401: ("Please log in", f"This page is for people with an account. {_INVITED}"),
    403: ("You cannot open this", "Your account may not see this page. Ask whoever manages the study."),
    404: ("There is nothing here", f"The address is not complete, or what it showed is gone. {_INVITED}"),
    405: ("There is nothing here", f"This address cannot be opened as a page. {_INVITED}"),
    500: ("Something went wrong", NOTHING_IS_LOST),
    503: ("The server has a problem", NOTHING_IS_LOST),
}
_OTHER = ("This did not work", "The request was refused. Go back, reload the page and try again.")
OVERVIEW = ("/manage", "To the overview of the study")


def wants_page(request: Request) -> bool:
    """Whether a person looks at the answer."""
    return "text/html" in request.headers.get("accept", "") and not request.url.path.startswith(_FOR_PROGRAMS)


def notice(status: int, title: str, *lines: str, link: tuple[str, str] | None = None) -> Response:
    return render("notice.html", status, title=title, lines=lines, link=link)


def notice_of(status: int) -> Response:
    """The page for an error. It says nothing about what is there: strangers see it too."""
    title, text = _NOTICES.get(status, _OTHER)
    return notice(status, title, text, link=OVERVIEW if status in {401, 403, 404, 405} else None)
