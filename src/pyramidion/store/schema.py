"""The tables. The rule the whole product depends on is in the schema itself: UNIQUE(task, worker)."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
)

metadata = MetaData()

meta = Table("meta", metadata, Column("key", String, primary_key=True), Column("value", Text, nullable=False))

records = Table(
    "records",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("type", String, nullable=False, index=True),
    Column("body", JSON, nullable=False),
    Column("added", Float, nullable=False),
    Column("topic", String, index=True),
)
"""The study itself, as pyramidion.study.records has it: topics, summaries, pyramids, judges and so on, each with the
topic that it is about. Judgments are in ``blocks``."""

blocks = Table(
    "blocks",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("topic", String, nullable=False, index=True),
    Column("rows", Integer, nullable=False),
    Column("last", BigInteger, nullable=False, index=True),
    Column("added", Float, nullable=False),
    Column("body", LargeBinary, nullable=False),
)
"""Imported judgments, some thousand of a topic in each row (pyramidion.study.blocks). ``last`` is the highest number in
it: judgments are numbered in the order in which they were added."""

campaigns = Table(
    "campaigns",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String, nullable=False, unique=True),
    Column("kind", String, nullable=False),
    Column("state", String, nullable=False),
    Column("settings", JSON, nullable=False),
    Column("created", Float, nullable=False),
    Column("scope", JSON(none_as_null=True)),
    Column("instructions", JSON(none_as_null=True)),
)
"""``scope`` is what of the study it asks about, ``instructions`` what a manager wrote in place of the usual ones."""

changes = Table(
    "changes",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", Float, nullable=False),
    Column("actor", String, nullable=False),
    Column("action", String, nullable=False),
    Column("campaign_id", ForeignKey("campaigns.id"), index=True),
    Column("detail", JSON, nullable=False),
)
"""Who changed the study or a campaign on the pages, appended: texts added, campaigns created and edited, units
edited. What was decided about people is in ``reviews``."""

tasks = Table(
    "tasks",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("campaign_id", ForeignKey("campaigns.id"), nullable=False),
    Column("name", String, nullable=False, unique=True),
    Column("topic", String, nullable=False),
    Column("body", JSON, nullable=False),
    Column("gold", JSON),
    Column("wanted", Integer, nullable=False),
    Column("full", Boolean, nullable=False, server_default=false()),
    Index("open_tasks", "campaign_id", "full", "id"),
)
"""``full`` is true once enough counted submissions are in; it only saves looking at finished tasks again."""

parts = Table(
    "parts",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("campaign_id", ForeignKey("campaigns.id"), nullable=False),
    Column("topic", String, nullable=False),
    Column("units", JSON, nullable=False),
    Column("stratum", String, nullable=False),
    Column("place", Integer, nullable=False),
    Column("places", Integer, nullable=False),
    Column("round", Integer, nullable=False),
    UniqueConstraint("campaign_id", "stratum", "place", name="one_part_per_place"),
)
"""What a campaign with a design may ask, all of it, as it was drawn before anybody was asked: see
pyramidion.campaigns.sampling. Never changed."""

rounds = Table(
    "rounds",
    metadata,
    Column("campaign_id", ForeignKey("campaigns.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("at", Float, nullable=False),
    Column("actor", String, nullable=False),
    Column("systems", JSON, nullable=False),
    Column("tasks", Integer, nullable=False),
    Column("reason", Text, nullable=False, server_default=""),
    Column("trouble", Text, nullable=False, server_default=""),
    Column("places", Integer),
    Column("placed", Float),
)
"""Rounds whose tasks were released. The key allows each only once, whoever releases it. ``trouble`` says why the look
after it could not be taken. ``places`` is how many people the platform's study should have in all from then on, written
down before the platform is asked, and ``placed`` when it agreed."""

looks = Table(
    "looks",
    metadata,
    Column("campaign_id", ForeignKey("campaigns.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("at", Float, nullable=False),
    Column("actor", String, nullable=False),
    Column("body", JSON, nullable=False),
)
"""What was seen after a round (pyramidion.analysis.stopping). Each look is taken once and never changed."""

workers = Table(
    "workers",
    metadata,
    Column("id", String, primary_key=True),
    Column("platform", String, nullable=False),
    Column("joined", Float, nullable=False),
    Column("blocked", Text),
)
"""``id`` is a pseudonym: a keyed hash of the platform's id, which cannot be turned back without the study's secret."""

identities = Table(
    "identities",
    metadata,
    Column("worker_id", ForeignKey("workers.id"), primary_key=True),
    Column("external", String, nullable=False),
    Column("session", String, nullable=False, server_default=""),
)
"""What paying people needs and nothing else reads: the platform's own ids. Never exported; forgetting deletes it.
``session`` is no longer written: a person has one session for each entry."""

entries = Table(
    "entries",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("campaign_id", ForeignKey("campaigns.id"), nullable=False),
    Column("worker_id", ForeignKey("workers.id"), nullable=False, index=True),
    Column("platform", String, nullable=False),
    Column("study", String, nullable=False, server_default=""),
    Column("session", String, nullable=False, server_default=""),
    Column("arrived", Float, nullable=False),
    UniqueConstraint("campaign_id", "worker_id", "session", name="one_entry_per_session"),
    Index("entries_of_session", "platform", "session"),
)
"""One person's way into one campaign: the platform's study and session they came with. What is decided and paid about
work goes to the session it was done in. Without a platform's session, a person has one entry per campaign."""

forgotten = Table(
    "forgotten",
    metadata,
    Column("mark", String, primary_key=True),
    Column("worker_id", ForeignKey("workers.id"), nullable=False),
    Column("at", Float, nullable=False),
)
"""Tombstones of forgotten people: a keyed hash, which only says that somebody who comes again was here before. So no
task counts them twice, and a block holds."""

qualifications = Table(
    "qualifications",
    metadata,
    Column("campaign_id", ForeignKey("campaigns.id"), primary_key=True),
    Column("worker_id", ForeignKey("workers.id"), primary_key=True),
    Column("tries", Integer, nullable=False),
    Column("passed", Boolean, nullable=False),
)

consents = Table(
    "consents",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("campaign_id", ForeignKey("campaigns.id"), nullable=False),
    Column("worker_id", ForeignKey("workers.id"), nullable=False),
    Column("at", Float, nullable=False),
    Column("text", Text, nullable=False),
    Index("consents_of_worker", "worker_id", "campaign_id"),
)
"""Who agreed to take part in a campaign, when and to which words, appended: other words are agreed to again."""

assignments = Table(
    "assignments",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("task_id", ForeignKey("tasks.id"), nullable=False),
    Column("worker_id", ForeignKey("workers.id"), nullable=False),
    Column("state", String, nullable=False),
    Column("leased", Float, nullable=False),
    Column("expires", Float, nullable=False),
    Column("submitted", Float),
    Column("surplus", Boolean, nullable=False, server_default=false()),
    Column("removed", String),
    Column("key", String),
    Column("answer", JSON),
    Column("draft", JSON),
    Column("entry_id", ForeignKey("entries.id")),
    UniqueConstraint("task_id", "worker_id", name="one_assignment_per_task_and_worker"),
    Index("work_of_worker", "worker_id", "state"),
)
"""``state`` is leased, submitted or returned. A surplus submission is kept but not needed. ``removed`` is rejected,
withdrawn or reopened if the answer is kept but no longer counts, following its reviews."""

reviews = Table(
    "reviews",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", Float, nullable=False),
    Column("actor", String, nullable=False),
    Column("action", String, nullable=False),
    Column("worker_id", ForeignKey("workers.id"), index=True),
    Column("assignment_id", ForeignKey("assignments.id"), index=True),
    Column("amount", Float),
    Column("reason", Text, nullable=False),
    Column("entry_id", ForeignKey("entries.id")),
)
"""What managers and platforms decided and what platforms were told, appended: the last entry on a worker or an
assignment holds. A bonus is for an entry, so that it is paid in the study where it was earned."""

payments = Table(
    "payments",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("entry_id", ForeignKey("entries.id"), nullable=False, index=True),
    Column("amount", String, nullable=False),
    Column("state", String, nullable=False),
    Column("reference", String, nullable=False, server_default=""),
    Column("paid_before", String, nullable=False, server_default="0"),
    Column("intended", Float, nullable=False),
    Column("changed", Float, nullable=False),
    Column("detail", Text, nullable=False, server_default=""),
)
"""Bonuses on their way, written before the platform is asked (see pyramidion.campaigns.payments). ``reference`` is the
platform's id of the payment, and ``paid_before`` what was paid on top of this session until then, so that a payment
whose reply was lost can be looked up instead of being repeated."""

platform_events = Table(
    "platform_events",
    metadata,
    Column("platform", String, primary_key=True),
    Column("id", String, primary_key=True),
    Column("session", String, nullable=False, server_default="", index=True),
    Column("sent", Float, nullable=False),
)
"""Messages of platforms that were received, by their id and by a hash of their signed bytes: they are delivered more
than once and in any order."""

accounts = Table(
    "accounts",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String, nullable=False, unique=True),
    Column("password", String, nullable=False),
    Column("role", String, nullable=False),
    Column("created", Float, nullable=False),
)

sessions = Table(
    "sessions",
    metadata,
    Column("id", String, primary_key=True),
    Column("account_id", ForeignKey("accounts.id"), nullable=False),
    Column("csrf", String, nullable=False),
    Column("expires", Float, nullable=False),
    Column("created", Float, nullable=False, server_default="0"),
    Column("agent", String, nullable=False, server_default=""),
)
"""``id`` is a hash of the cookie, so that a stolen database logs nobody in."""

log_in_failures = Table(
    "log_in_failures",
    metadata,
    Column("who", String, primary_key=True),
    Column("failures", Integer, nullable=False),
    Column("last", Float, nullable=False),
)
"""Failed log-ins by address and name (hashed), shared by all processes of a server."""

annotation_heads = Table(
    "annotations",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("topic", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("system", String, nullable=False, server_default=""),
    Column("sources", JSON, nullable=False),
    Column("name", String, nullable=False),
    Column("owner", String, nullable=False),
    Column("shared", Boolean, nullable=False, server_default=false()),
    Column("pyramid", String, nullable=False, server_default=""),
    Column("pyramid_id", ForeignKey("annotations.id")),
    Column("created", Float, nullable=False),
    Column("stored", Integer),
    Column("adjudicates", JSON),
    UniqueConstraint("topic", "kind", "system", "name", name="one_annotation_per_name"),
)
"""``kind`` is pyramid or peer. ``sources`` are the references a pyramid is built from. A peer is annotated with
a pyramid of the study, by its name, or with one that is being annotated, by its id. Whoever is not the owner changes it
only where it is ``shared``. ``stored`` is the version that was put into the study last. ``adjudicates`` are the two
annotations that a third settles, the one it began as first."""

annotation_events = Table(
    "annotation_events",
    metadata,
    Column("annotation_id", ForeignKey("annotations.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("author", String, nullable=False),
    Column("at", Float, nullable=False),
    Column("body", JSON, nullable=False),
)
"""The events of annotations, append-only. The key allows only one event per number, even with concurrent writers."""
