"""The port: who arrived, where they go at the end, and how they are paid.

local       people invited by signed links; paid by whoever invited them
prolific    Prolific participants; its API approves, rejects and pays bonuses
connect     CloudResearch Connect and services like it: entry parameters only
simulated   nobody real: rehearse a campaign without paying
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Literal, NoReturn, Protocol, runtime_checkable
from urllib.parse import urlsplit

from pyramidion.errors import InputError, Problem, Problems, PyramidionError, UsageError, needs_extra

Amount = Decimal | float | str
"""Money. A float means what it looks like: 0.1 is one tenth."""

MAX_ID = 100
_ID = re.compile(rf"[A-Za-z0-9_-]{{1,{MAX_ID}}}")


class PlatformError(PyramidionError):
    """A platform refused, or could not be reached.

    ``status`` is its HTTP status: None where no answer came, 400 also where it would have refused and was not asked.
    ``unknown`` says that it may have been done all the same: look before you ask again.
    """

    def __init__(self, what: str, status: int | None = None, *, unknown: bool | None = None) -> None:
        self.status = status
        self.unknown = (status is None or status >= 500) if unknown is None else unknown
        super().__init__(what)


@dataclass(frozen=True, slots=True)
class Arrival:
    """An arriving person: the platform's ids for the person, their session and the study.

    ``verified`` says that nobody made these ids up: the platform signed them or confirmed them, or we signed them.
    """

    platform: str
    external: str
    session: str = ""
    study: str = ""
    verified: bool = False


Outcome = Literal["approve", "reject", "withdraw", "leave"]
_OUTCOMES: dict[str, Outcome] = {
    "APPROVED": "approve",
    "REJECTED": "reject",
    "RETURNED": "withdraw",
    "TIMED-OUT": "leave",
    "SCREENED-OUT": "leave",
    "PARTIALLY-APPROVED": "approve",
}


@dataclass(frozen=True, slots=True)
class Submission:
    """What a platform says of one session: whose it is, its state (ACTIVE, AWAITING REVIEW, APPROVED, ...), and the
    study, where that is said."""

    session: str
    person: str
    state: str
    study: str = ""

    @property
    def outcome(self) -> Outcome | None:
        """What follows from the state: the work was approved or rejected there, the person withdrew it or left
        without finishing; None while it is undecided. Messages may spell it TIMED_OUT."""
        return _OUTCOMES.get(self.state.upper().replace("_", "-").replace(" ", "-"))


@runtime_checkable
class Platform(Protocol):
    """``pays`` says whether the methods after ``completion_url`` are supported; otherwise they raise UsageError.

    Those raise PlatformError where the platform refuses or cannot be reached. A session is one person's visit to the
    study, under the platform's own id; everything that is decided or paid is about a session, never about a person.
    """

    name: str
    pays: bool

    def arrival(self, params: Mapping[str, str], /) -> Arrival:
        """Who came, by the query parameters of the entry URL; raises InputError if these are invalid."""
        ...

    def completion_url(self, session: str, /, *, early: bool = False) -> str | None:
        """Where the worker goes when nothing is left to do, or who stops ``early``; None: nowhere."""
        ...

    def approve(self, sessions: Sequence[str], /) -> None:
        """Pay for these sessions. Doing it twice pays once."""
        ...

    def reject(self, session: str, reason: str, category: str = "OTHER", /) -> None:
        """Do not pay for a session. The person is shown the reason; the platform knows the categories."""
        ...

    def request_return(self, session: str, reasons: Sequence[str], /) -> None:
        """Ask the person to return the session, so that it need not be rejected. They are shown the reasons."""
        ...

    def prepare_bonus(self, session: str, amount: Amount, /) -> str:
        """Announce a bonus for one session; returns the platform's reference. Nothing is paid yet."""
        ...

    def pay_bonus(self, reference: str, /) -> None:
        """Pay a prepared bonus. Doing it twice pays twice: after an error that is ``unknown``, compare
        ``bonuses_paid`` before and after. A platform may take minutes to pay."""
        ...

    def bonuses_paid(self, session: str, /) -> Decimal | None:
        """What the platform says it has paid on top for a session so far; None: it cannot say."""
        ...

    def add_places(self, more: int, /) -> int:
        """Let so many more people take part in the published study; returns how many can in all."""
        ...

    def count_places(self) -> int:
        """How many people can take part in the study, including those who did."""
        ...

    def ensure_places(self, places: int, /) -> int:
        """Let at least so many people take part in all; returns how many can. Doing it twice changes nothing."""
        ...

    def submissions(self) -> list[Submission]:
        """What the platform says of every session of the study."""
        ...


class WithoutMoney:
    """For platforms that only recruit people."""

    name: str
    pays = False

    def approve(self, _sessions: Sequence[str], /) -> None:
        self._cannot("approve work")

    def reject(self, _session: str, _reason: str, _category: str = "OTHER", /) -> None:
        self._cannot("reject work")

    def request_return(self, _session: str, _reasons: Sequence[str], /) -> None:
        self._cannot("ask for a session to be returned")

    def prepare_bonus(self, _session: str, _amount: Amount, /) -> str:
        self._cannot("prepare a bonus")

    def pay_bonus(self, _reference: str, /) -> None:
        self._cannot("pay a bonus")

    def bonuses_paid(self, _session: str, /) -> Decimal | None:
        self._cannot("tell what was paid")

    def add_places(self, _more: int, /) -> int:
        self._cannot("add places")

    def count_places(self) -> int:
        self._cannot("count places")

    def ensure_places(self, _places: int, /) -> int:
        self._cannot("add places")

    def submissions(self) -> list[Submission]:
        self._cannot("tell the state of a session")

    def _cannot(self, what: str) -> NoReturn:
        raise UsageError(f"the platform {self.name} cannot {what} from here; do it where these workers are paid")


# -- what every platform checks ------------------------------------------------------------------------------


def is_id(text: str) -> bool:
    return _ID.fullmatch(text) is not None


def check_id(what: str, text: str) -> str:
    """A platform's id, safe to put into a URL or a line of CSV."""
    if not is_id(text):
        raise UsageError(f"{what} must be 1 to {MAX_ID} letters, digits, - and _")
    return text


def read_ids(params: Mapping[str, str], names: Iterable[str]) -> list[str]:
    """The values of these query parameters; everything that is missing or malformed is named."""
    problems = Problems()
    for name in names:
        if not params.get(name):
            problems.error(f"parameter {name}", "is missing from the link")
        elif not is_id(params[name]):
            problems.error(f"parameter {name}", f"must be 1 to {MAX_ID} letters, digits, - and _")
    if problems.errors:
        raise InputError(problems.errors)
    return [params[name] for name in names]


def check_study(given: str, expected: str) -> None:
    if given != expected:
        raise InputError(Problem("study", "this link belongs to another study"))


def check_places(more: int) -> int:
    """So many more people; platforms do not take places back."""
    if more < 1:
        raise UsageError(f"places are added one or more at a time, not {more}")
    return more


def check_web_address(what: str, url: str) -> str:
    """An absolute http(s) address, so that nobody is sent to a script or to a path of our own."""
    try:
        parts = urlsplit(url)
        sound = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # half an IPv6 address, a port of letters
        sound = False
    if not sound or re.search(r"[\s\\\x00-\x1f]", url):
        raise UsageError(f"{what} must be a full web address such as https://example.org/done, not {url!r}")
    return url


def cents(amount: Amount) -> Decimal:
    """An amount of money somebody can be paid: above zero, in whole cents."""
    try:
        exact = Decimal(str(amount))
        rounded = exact.quantize(Decimal("0.01"))
    except InvalidOperation:
        raise UsageError(f"{amount!r} is not an amount of money") from None
    if rounded != exact or exact <= 0:
        raise UsageError(f"an amount of money must be above 0 and have at most two decimals, not {amount}")
    return rounded


def load_httpx(purpose: str) -> Any:
    with needs_extra(purpose, "server"):
        import httpx
    return httpx
