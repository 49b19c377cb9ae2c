"""A study in a database: SQLite for one machine, PostgreSQL for several. What people did is only ever added to."""

from pyramidion.store.accounts import Account, Accounts
from pyramidion.store.annotations import Annotations, BehindError, StoredAnnotation, StoredEvent
from pyramidion.store.assignments import Assignments, Lease, Receipt, SubmissionConflictError
from pyramidion.store.campaigns import Campaigns, StoredAnswer, StoredTask
from pyramidion.store.database import Database
from pyramidion.store.decisions import Decided, DecisionConflictError, Decisions, Standing
from pyramidion.store.reviews import Review, Reviews
from pyramidion.store.studies import Studies
from pyramidion.store.workers import Worker, Workers

__all__ = [
    "Account",
    "Accounts",
    "Annotations",
    "Assignments",
    "BehindError",
    "Campaigns",
    "Database",
    "Decided",
    "DecisionConflictError",
    "Decisions",
    "Lease",
    "Receipt",
    "Review",
    "Reviews",
    "Standing",
    "StoredAnnotation",
    "StoredAnswer",
    "StoredEvent",
    "StoredTask",
    "Studies",
    "SubmissionConflictError",
    "Worker",
    "Workers",
]
