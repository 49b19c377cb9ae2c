"""CloudResearch Connect and services like it: people arrive with ids in the link and are sent to a fixed address at the
end.

On Connect a project is the study, and an assignment is one participant's work on it, so that the assignment is what we
call the session. Other services use other names for these three, so they are settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyramidion.campaigns.platforms import Arrival, WithoutMoney, check_id, check_study, check_web_address, read_ids
from pyramidion.errors import UsageError


@dataclass(frozen=True, slots=True)
class Parameters:
    """What the query parameters of the entry URL are called."""

    participant: str = "participantId"
    session: str = "assignmentId"
    study: str = "projectId"

    def __post_init__(self) -> None:
        names = (self.participant, self.session, self.study)
        for name in names:
            check_id("the name of an entry parameter", name)
        if len(set(names)) < len(names):
            raise UsageError(f"entry parameters need three different names, not {', '.join(names)}")


CONNECT = Parameters()


class Connect(WithoutMoney):
    name = "connect"

    def __init__(self, study: str, completion: str = "", parameters: Parameters = CONNECT) -> None:
        self._study = check_id("the study id", study)
        self._completion = check_web_address("the completion URL", completion) if completion else None
        self._parameters = parameters

    def arrival(self, params: Mapping[str, str], /) -> Arrival:
        asked = self._parameters
        person, session, study = read_ids(params, (asked.participant, asked.session, asked.study))
        check_study(study, self._study)
        return Arrival(self.name, person, session, study)

    def completion_url(self, _session: str, /, *, early: bool = False) -> str | None:
        return None if early else self._completion
