"""What a manager decides about workers and their answers, for the command line and the pages alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pyramidion.campaigns.decisions import Effect, Standing
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.log import UNDONE_BY, is_part, stands
from pyramidion.campaigns.monitor import overview
from pyramidion.campaigns.platforms.local import Local, invite, person_of
from pyramidion.campaigns.statements import units_in_use
from pyramidion.campaigns.tables import StoredAnswer
from pyramidion.errors import Problem, UnknownError, UsageError

AnswerChoice = Literal["approve", "reject", "reopen", "restore", "unapprove"]
WorkerChoice = Literal["exclude", "include", "block", "unblock", "bonus"]


@dataclass(frozen=True)
class Effects:
    """What a decision did to each answer, and what a manager should know about it."""

    campaign: str
    answers: tuple[Effect, ...]
    notes: tuple[Problem, ...] = ()

    @property
    def changed(self) -> tuple[Effect, ...]:
        return tuple(one for one in self.answers if one.changed)

    @property
    def removed(self) -> int:
        """How many answers no longer count, so that their places are open."""
        return sum(one.counted_before and not one.counted for one in self.answers)

    @property
    def counted_again(self) -> int:
        return sum(one.counted and not one.counted_before for one in self.answers)

    def as_dict(self) -> dict[str, Any]:
        return {
            "campaign": self.campaign,
            "answers": [asdict(one) for one in self.answers],
            "removed": self.removed,
            "counted_again": self.counted_again,
            "notes": [note.as_dict() for note in self.notes],
        }


def decide_answers(
    desk: CampaignDesk,
    action: AnswerChoice,
    campaign: str,
    answers: Sequence[int] = (),
    *,
    worker: str = "",
    actor: str,
    reason: str,
    dry_run: bool = False,
) -> Effects:
    """Decide about answers to a campaign, given by id, or about a worker's undecided answers to it."""
    if bool(answers) == bool(worker):
        raise UsageError("say which answers: give their ids, or a worker")
    given = _submitted_answers(desk, campaign)
    notes: list[Problem] = []
    if worker:
        answers, notes = _undecided_answers(desk, campaign, worker, given, action)
    decided = desk.decisions.decide(campaign, answers, action, actor=actor, reason=reason, dry_run=dry_run)
    return Effects(campaign, tuple(decided), (*notes, *_consequences(desk, campaign, given, decided)))


def _submitted_answers(desk: CampaignDesk, campaign: str) -> dict[int, StoredAnswer]:
    desk.campaigns.get(campaign)  # or UnknownError
    return {answer.id: answer for answer in desk.campaigns.answers(campaign) if answer.state == "submitted"}


def _undecided_answers(
    desk: CampaignDesk, campaign: str, worker: str, given: dict[int, StoredAnswer], action: AnswerChoice
) -> tuple[list[int], list[Problem]]:
    mine = _of_worker(desk, campaign, worker, given)
    if action in {"reopen", "restore"}:
        fits = [id for id in mine if given[id].counted == (action == "reopen") and given[id].removed != "withdrawn"]
        return fits, []
    standings = desk.decisions.standings(campaign)
    decided = {id: standings[id].decision for id in mine if id in standings and standings[id].decision}
    if action == "unapprove":
        return [id for id, decision in decided.items() if decision == "approve"], []
    other = sorted(id for id, decision in decided.items() if decision not in {action, "withdraw"})
    what = {"approve": "rejected", "reject": "approved"}[action]
    note = Problem(
        f"answers {_list_ids(other)}", f"already {what} and not changed; give their ids to {action} them", "warning"
    )
    return [id for id in mine if id not in decided], [note] if other else []


def _of_worker(desk: CampaignDesk, campaign: str, worker: str, given: dict[int, StoredAnswer]) -> list[int]:
    if desk.workers.get(worker) is None:
        raise UnknownError(f"unknown worker {worker!r}")
    mine = [id for id, answer in given.items() if answer.worker == worker]
    if not mine:
        raise UnknownError(f"worker {worker} has submitted nothing to campaign {campaign}")
    return mine


def _consequences(
    desk: CampaignDesk, campaign: str, given: dict[int, StoredAnswer], decided: Sequence[Effect]
) -> list[Problem]:
    about = desk.campaigns.get(campaign)
    gone = [replace(given[one.answer], removed=one.removed) for one in decided if one.counted_before > one.counted]
    late = [one.answer for one in decided if one.changed and not one.counted and one.removed is None]
    notes = []
    if gone and about.state != "running":
        notes.append(Problem(f"campaign {campaign}", f"it is {about.state}, so nobody is given the open places"))
    if late:
        taken = "somebody else has taken the place, so they are kept as surplus and count in no score"
        notes.append(Problem(f"answers {_list_ids(late)}", taken))
    if about.kind == "write" and gone:
        notes += [use.note() for use in units_in_use(desk.study(), gone, desk.asked_units())]
    return [replace(note, severity="warning") for note in notes]


def _list_ids(ids: Sequence[int], most: int = 10) -> str:
    return ", ".join(map(str, ids[:most])) + (f" and {len(ids) - most} more" if len(ids) > most else "")


# -- taking back what was decided ----------------------------------------------------------------------------


def undo(desk: CampaignDesk, campaign: str, first: int, last: int, *, actor: str, reason: str) -> Effects:
    """Take back what still stands of one decision in the log, given by its first and last entry."""
    entries = [entry for entry in desk.worker_decisions.all() if first <= entry.id <= last]
    group = [*entries[:1], *(entry for entry in entries[1:] if is_part(entry, entries[0]))]
    if not group or (group[0].id, group[-1].id) != (first, last):
        raise UnknownError(f"the log has no decision with the entries {first} to {last}")
    action = group[0].action
    if action not in UNDONE_BY:
        raise UsageError(f"a decision to {action} cannot be taken back")
    how: dict[str, Any] = {"actor": actor, "reason": reason}
    about_worker = group[0].assignment is None
    given, standings = _submitted_answers(desk, campaign), desk.decisions.standings(campaign)
    answers = [entry for entry in group if entry.assignment in given]
    ids = [
        entry.assignment
        for entry in answers
        if entry.assignment is not None
        and stands(entry, standings.get(entry.assignment, Standing()), given[entry.assignment].removed)
    ]
    if not ids and not about_worker:
        raise UsageError(f"nothing of this decision stands any more, or the platform of {campaign} was told")
    with desk.database.together():
        if about_worker:
            decide_worker(desk, UNDONE_BY[action], str(group[0].worker), **how)  # type: ignore[arg-type]
        undone = UNDONE_BY[answers[0].action] if ids else ""
        effects = decide_answers(desk, undone, campaign, ids, **how) if ids else Effects(campaign, ())  # type: ignore[arg-type]
    if left := len(answers) - len(ids):
        what = "not changed: decided on again since, or the platform was told"
        return replace(effects, notes=(*effects.notes, Problem(f"{left} of {len(answers)} answers", what, "warning")))
    return effects


# -- workers -------------------------------------------------------------------------------------------------


def decide_worker(
    desk: CampaignDesk,
    action: WorkerChoice,
    worker: str,
    *,
    actor: str,
    reason: str,
    amount: float | None = None,
    campaign: str = "",
) -> None:
    """Record a decision about a worker: a bonus for their work on one campaign, anything else for all campaigns. A
    block also stops new tasks; answers are kept."""
    how: dict[str, Any] = {"worker": worker, "actor": actor, "reason": reason}
    with desk.database.together():
        desk.worker_decisions.add(action, **how, amount=amount, campaign=campaign if action == "bonus" else "")
        if action == "block":
            _stop(desk, worker, reason)
        elif action == "unblock":
            desk.workers.set_blocked(worker, None)


def _stop(desk: CampaignDesk, worker: str, reason: str) -> None:
    desk.workers.set_blocked(worker, reason)
    desk.assignments.release_worker(worker)


class BlockEffects(NamedTuple):
    """The answers of a blocked worker: those rejected, and those re-opened because they were already paid."""

    rejected: Effects
    reopened: Effects


def block_and_remove(
    desk: CampaignDesk, worker: str, campaign: str, *, actor: str, reason: str, dry_run: bool = False
) -> BlockEffects:
    """Block a worker and remove everything they submitted to a campaign (Gillick and Liu 2010, section 3).

    Answers are rejected; those already approved on the platform cannot be rejected, so they are re-opened instead.
    """
    given = _submitted_answers(desk, campaign)
    mine = [
        id for id in _of_worker(desk, campaign, worker, given) if given[id].removed not in {"rejected", "withdrawn"}
    ]
    standings = desk.decisions.standings(campaign)
    paid = [id for id in mine if id in standings and standings[id].told == "approve"]
    how: dict[str, Any] = {"actor": actor, "reason": reason, "dry_run": dry_run}
    with desk.database.together() if not dry_run else nullcontext():
        if not dry_run:
            desk.worker_decisions.add("block", worker=worker, actor=actor, reason=reason)
            _stop(desk, worker, reason)
        rejected = desk.decisions.decide(campaign, [id for id in mine if id not in paid], "reject", **how)
        reopened = desk.decisions.decide(campaign, paid, "reopen", **how)
    notes = _consequences(desk, campaign, given, [*rejected, *reopened])
    return BlockEffects(Effects(campaign, tuple(rejected), tuple(notes)), Effects(campaign, tuple(reopened)))


class Approval(NamedTuple):
    """Whose submissions were approved, how many, and the workers who were left out."""

    workers: tuple[str, ...]
    submissions: int
    left: tuple[str, ...]


def approve_unflagged(desk: CampaignDesk, campaign: str, *, actor: str, reason: str, dry_run: bool = False) -> Approval:
    """Approve the submissions to a campaign of all workers who are neither flagged there nor excluded."""
    reports = overview(desk, campaign).workers
    good = tuple(report.worker for report in reports if not report.flags and not report.excluded)
    standings = desk.decisions.standings(campaign)
    undecided = [
        answer.id
        for answer in desk.campaigns.answers(campaign)
        if answer.state == "submitted" and answer.worker in good and not standings.get(answer.id, Standing()).decision
    ]
    effects = desk.decisions.decide(campaign, undecided, "approve", actor=actor, reason=reason, dry_run=dry_run)
    return Approval(good, len(effects), tuple(report.worker for report in reports if report.worker not in good))


# ----------------------------------------------------------------------
# Invitation links to a campaign: for anybody, or for people by name.


class InvitationLink(NamedTuple):
    """``name`` and ``worker`` are empty if the link is for anybody."""

    name: str
    worker: str
    link: str


def invite_people(desk: CampaignDesk, campaign: str, names: Iterable[str], base_url: str) -> list[InvitationLink]:
    """A link for each name; an empty name is for a person about whom nothing is known.

    A named person gets the same link whenever they are invited, and is one worker in all campaigns of the study, so
    that they are never asked to judge a topic they wrote for.
    """
    if desk.campaigns.get(campaign).state == "closed":
        raise UsageError(f"campaign {campaign} is closed, so nobody would get a task")
    secret = desk.database.secret
    invited = []
    for name in names:
        person = person_of(secret, name) if name else ""
        worker = desk.workers.id_of(Local.name, person) if name else ""
        invited.append(InvitationLink(name, worker, f"{base_url.rstrip('/')}/join/{invite(secret, campaign, person)}"))
    return invited


def names_in(path: Path) -> list[str]:
    """The names in a text file, one per line, each once."""
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not a text file in UTF-8") from None
    if not (names := names_of(lines)):
        raise UsageError(f"{path} contains no names")
    return names


def names_of(lines: Iterable[str]) -> list[str]:
    """Names without the space around them, each once; empty lines are left out."""
    return list(dict.fromkeys(name for line in lines if (name := line.strip())))
