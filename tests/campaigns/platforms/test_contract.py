"""One suite for every platform: who may come in, where they go, and what is done about money."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from urllib.parse import urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.campaigns.platforms.fake_prolific import STUDY, FakeProlific

import pyramidion as pyr
from pyramidion.campaigns.platforms import Arrival, Platform
from pyramidion.campaigns.platforms.connect import Connect, Parameters
from pyramidion.campaigns.platforms.local import Local, invite
from pyramidion.campaigns.platforms.prolific import Client, Prolific
from pyramidion.campaigns.platforms.simulated import Simulated

SECRET = b"0123456789abcdef0123456789abcdef"
DONE = "https://example.org/done"
REASON = "Most answers contradict the text that was shown, see the instructions. " * 2


@dataclass(frozen=True)
class Case:
    """A platform with the parameters that let somebody in, who that is, and parameters of another study."""

    platform: Platform
    params: dict[str, str]
    arrival: Arrival
    elsewhere: dict[str, str]


def local() -> Case:
    platform = Local(SECRET, "judge", DONE)
    params = {"token": invite(SECRET, "judge", "s1")}
    return Case(
        platform, params, Arrival("local", "s1", "", "judge", verified=True), {"token": invite(SECRET, "write", "s1")}
    )


def connect() -> Case:
    params = {"participantId": "p-s1", "assignmentId": "s1", "projectId": "x"}
    arrival = Arrival("connect", "p-s1", "s1", "x")
    return Case(Connect("x", DONE), params, arrival, {**params, "projectId": "y"})


def renamed() -> Case:
    params = {"who": "p-s1", "visit": "s1", "survey": "x"}
    platform = Connect("x", DONE, Parameters("who", "visit", "survey"))
    return Case(platform, params, Arrival("connect", "p-s1", "s1", "x"), {**params, "survey": "y"})


def prolific(client: Client | None = None) -> Case:
    params = {"PROLIFIC_PID": "p-s1", "SESSION_ID": "s1", "STUDY_ID": STUDY}
    arrival = Arrival("prolific", "p-s1", "s1", STUDY)
    return Case(Prolific(STUDY, "C0DE", client), params, arrival, {**params, "STUDY_ID": "other"})


def simulated() -> Case:
    params = {"worker": "p-s1", "session": "s1", "study": "rehearsal"}
    arrival = Arrival("simulated", "p-s1", "s1", "rehearsal")
    return Case(Simulated(completion=DONE), params, arrival, {**params, "study": "other"})


MAKERS: list[Callable[[], Case]] = [local, connect, renamed, prolific, simulated]
every_platform = pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)


@every_platform
def test_it_is_a_platform_and_knows_who_came(make: Callable[[], Case]) -> None:
    case = make()
    assert isinstance(case.platform, Platform)
    assert case.platform.arrival(case.params) == case.arrival
    assert case.platform.arrival({**case.params, "utm_source": "<script>"}) == case.arrival


@every_platform
def test_missing_parameters_are_all_named(make: Callable[[], Case]) -> None:
    case = make()
    with pytest.raises(pyr.InputError) as caught:
        case.platform.arrival({})
    assert {problem.where for problem in caught.value.problems} == {f"parameter {name}" for name in case.params}
    for name in case.params:
        with pytest.raises(pyr.InputError, match=name):
            case.platform.arrival({**case.params, name: ""})


@every_platform
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    value=st.text(max_size=120) | st.sampled_from(["a" * 101, "a\n", "../x", "a,5", "ä", "<b>", "٣"]), data=st.data()
)
def test_malformed_parameters_are_refused(make: Callable[[], Case], value: str, data: st.DataObject) -> None:
    case = make()
    name = data.draw(st.sampled_from(sorted(case.params)))
    sound = len(value) in range(1, 101) and all(c.isascii() and (c.isalnum() or c in "-_") for c in value)
    if sound and case.platform.name != "local":
        return
    with pytest.raises(pyr.InputError) as caught:
        case.platform.arrival({**case.params, name: value})
    if len(value) > 20:
        assert value not in str(caught.value)


@every_platform
def test_links_of_another_study_are_refused(make: Callable[[], Case]) -> None:
    case = make()
    with pytest.raises(pyr.InputError, match="another study"):
        case.platform.arrival(case.elsewhere)


@every_platform
def test_people_leave_to_a_full_web_address(make: Callable[[], Case]) -> None:
    url = make().platform.completion_url("s1")
    assert url is not None
    assert urlsplit(url).scheme == "https"


@pytest.mark.parametrize("url", ["javascript:alert(1)", "//evil.example", "/done", "https://", "ht tp://x", "http://["])
@pytest.mark.parametrize(
    "make",
    [lambda url: Local(SECRET, "c", url), lambda url: Connect("x", url), lambda url: Simulated(completion=url)],
)
def test_nobody_is_sent_anywhere_else(make: Callable[[str], Platform], url: str) -> None:
    with pytest.raises(pyr.UsageError, match="full web address"):
        make(url)


@every_platform
def test_those_who_stop_early_go_elsewhere_or_nowhere(make: Callable[[], Case]) -> None:
    platform = make().platform
    assert platform.completion_url("s1", early=True) is None
    assert "cc=EARLY" in str(Prolific(STUDY, "C0DE", early_code="EARLY").completion_url("s1", early=True))


def test_nobody_is_sent_anywhere_where_nothing_is_set() -> None:
    for platform in (Local(SECRET, "c"), Connect("x"), Prolific(STUDY), Simulated()):
        assert platform.completion_url("s1") is None


@every_platform
def test_what_it_cannot_do_it_says(make: Callable[[], Case]) -> None:
    platform = make().platform
    if platform.name == "simulated":
        return
    for refused in (
        lambda: platform.approve(["s1"]),
        lambda: platform.reject("s1", REASON),
        lambda: platform.request_return("s1", ["Did not finish the study"]),
        lambda: platform.prepare_bonus("s1", 1),
        lambda: platform.pay_bonus("bonus-1"),
        lambda: platform.bonuses_paid("s1"),
        lambda: platform.add_places(5),
        platform.count_places,
        lambda: platform.ensure_places(5),
        platform.submissions,
    ):
        with pytest.raises(pyr.UsageError, match=f"{platform.name}.*(cannot|token)"):
            refused()
    assert platform.pays == (platform.name == "prolific")


@pytest.fixture(params=["prolific", "simulated"])
def paying(request: pytest.FixtureRequest) -> Platform:
    if request.param == "simulated":
        platform = Simulated()
        for session in ("s1", "s2", "s3"):
            platform.arrival({"worker": f"p-{session}", "session": session, "study": "rehearsal"})
            platform.set_state(session, "AWAITING REVIEW")
        return platform
    server: FakeProlific = request.getfixturevalue("prolific")
    server.add("s1", "s2", "s3")
    return Prolific(STUDY, "C0DE", request.getfixturevalue("client"))


def states(platform: Platform) -> dict[str, str]:
    return {one.session: one.state for one in platform.submissions()}


def test_decisions_show_in_the_states(paying: Platform) -> None:
    assert paying.pays
    assert states(paying) == dict.fromkeys(("s1", "s2", "s3"), "AWAITING REVIEW")
    assert {one.session: one.person for one in paying.submissions()} == {s: f"p-{s}" for s in ("s1", "s2", "s3")}
    paying.approve(["s1"])
    paying.approve(["s1"])
    paying.reject("s2", REASON)
    assert states(paying) == {"s1": "APPROVED", "s2": "REJECTED", "s3": "AWAITING REVIEW"}


def test_unknown_sessions_are_not_decided_on(paying: Platform) -> None:
    with pytest.raises(pyr.PyramidionError, match="unknown1"):
        paying.approve(["unknown1"])
    with pytest.raises(pyr.PyramidionError, match="unknown1"):
        paying.reject("unknown1", REASON)


@pytest.mark.parametrize("amount", [0, -1, "1.234", "x", float("nan"), float("inf"), "1e9999"])
def test_impossible_amounts_are_refused(paying: Platform, amount: float | str) -> None:
    with pytest.raises(pyr.UsageError, match="money"):
        paying.prepare_bonus("s1", amount)


def test_a_bonus_is_paid_for_a_session_when_told_to(paying: Platform) -> None:
    assert paying.bonuses_paid("s1") == 0
    reference = paying.prepare_bonus("s1", 0.1)
    other = paying.prepare_bonus("s2", "2.50")
    assert reference != other
    assert paying.bonuses_paid("s1") == 0, "announced, not paid"
    paying.pay_bonus(reference)
    assert (paying.bonuses_paid("s1"), paying.bonuses_paid("s2")) == (Decimal("0.10"), 0)
    paying.pay_bonus(reference)
    assert paying.bonuses_paid("s1") == Decimal("0.20"), "paying twice pays twice"
    with pytest.raises(pyr.PyramidionError, match="bonus-99"):
        paying.pay_bonus("bonus-99")


def test_bonuses_go_to_known_sessions_only(paying: Platform) -> None:
    with pytest.raises(pyr.UsageError, match="letters, digits"):
        paying.prepare_bonus("s1,100\ns2", 1)
    with pytest.raises(pyr.PyramidionError, match="unknown1"):
        paying.prepare_bonus("unknown1", 1)


def test_people_are_asked_to_return_a_session(paying: Platform) -> None:
    paying.request_return("s1", ["Did not finish the study"])
    assert states(paying)["s1"] == "AWAITING REVIEW", "they have not done it yet"
    with pytest.raises(pyr.PyramidionError, match="unknown1"):
        paying.request_return("unknown1", ["Did not finish the study"])


def test_places_are_added_in_steps(paying: Platform) -> None:
    first = paying.add_places(5)
    assert paying.add_places(10) == first + 10
    for none in (0, -5):
        with pytest.raises(pyr.UsageError, match="one or more"):
            paying.add_places(none)


def test_a_total_of_places_is_asked_for_as_often_as_one_likes(paying: Platform) -> None:
    there = paying.count_places()
    for _ in range(3):
        assert paying.ensure_places(there + 7) == there + 7
    assert paying.ensure_places(1) == paying.count_places() == there + 7, "places are never taken back"


def test_the_simulated_platform_keeps_books() -> None:
    platform = Simulated(places=3)
    platform.arrival({"worker": "w", "session": "s1", "study": "rehearsal"})
    assert states(platform) == {"s1": "ACTIVE"}
    platform.request_return("s1", ["no answers"])
    platform.reject("s1", "fast")
    platform.pay_bonus(platform.prepare_bonus("s1", "1.50"))
    assert platform.reasons == {"s1": "fast"}
    assert platform.return_requests == {"s1": ("no answers",)}
    assert platform.bonuses == [("s1", Decimal("1.50"))]
    assert platform.add_places(2) == 5


@pytest.mark.parametrize("names", [("a", "a", "b"), ("a b", "c", "d"), ("", "c", "d")])
def test_entry_parameters_need_sound_and_different_names(names: tuple[str, str, str]) -> None:
    with pytest.raises(pyr.UsageError):
        Parameters(*names)


def test_a_study_must_be_named() -> None:
    for make in (lambda: Prolific(""), lambda: Connect(""), lambda: Simulated("")):
        with pytest.raises(pyr.UsageError, match="study id"):
            make()
