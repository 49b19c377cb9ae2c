"""Work on a Dask cluster: one of this machine, started for the occasion, or somebody's own.

Dask hands the tasks of a lost worker to another one. Without its scheduler nothing can go on.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import monotonic
from typing import Any

from pyramidion.distribution import version
from pyramidion.encoder.minilm import made_by
from pyramidion.engines import WorkerPool, leave_interrupts_to_us
from pyramidion.errors import LostEngineError, Problem, UsageError, needs_extra

CONNECT_SECONDS = 15
WORKERS_SECONDS = 60
"""How long a cluster may be without workers."""
COUNT_SECONDS = 2.0
"""Clusters grow and shrink; workers are counted so often."""
EXTRA = "dask"


class DaskWorkers(WorkerPool):
    """The workers of a Dask cluster; each of their threads counts as one."""

    def __init__(self, client: Any, *, threads: int = 1) -> None:
        self._client, self._counted, self._workers = client, float("-inf"), 1
        self._seen = monotonic()
        super().__init__(client.get_executor(pure=False), 1, threads=threads, notes=_unlike(client))
        self.dashboard = client.dashboard_link

    @property
    def workers(self) -> int:
        now = monotonic()
        if now - self._counted > COUNT_SECONDS and self._client.status == "running":
            present = sum(self._client.nthreads().values())
            self._workers, self._counted = max(1, present), now
            self._seen = now if present else self._seen
        return self._workers

    @workers.setter
    def workers(self, count: int) -> None:
        self._workers = count

    def _check_workers(self) -> None:
        """Dask waits for workers for ever; a cluster that grows and shrinks may be without for a while."""
        if self.workers and monotonic() - self._seen > WORKERS_SECONDS:
            raise LostEngineError(f"the Dask cluster at {self._client.scheduler.address} has no workers left")

    def _renew(self) -> None:
        raise LostEngineError(f"the Dask scheduler at {self._client.scheduler.address} is gone")


@contextmanager
def on_cluster(place: str) -> Iterator[DaskWorkers]:
    """The workers of a cluster that is running."""
    with needs_extra("Work on a Dask cluster", EXTRA):
        from distributed import Client

    address = place.replace("dask+tls://", "tls://").replace("dask://", "tcp://")
    with _quiet():
        try:
            client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            what = str(error) or "it does not answer"
            raise UsageError(f"there is no Dask scheduler at {place}: {what}") from None
        with client, _explained():
            try:
                client.wait_for_workers(1, timeout=WORKERS_SECONDS)
            except TimeoutError:
                raise UsageError(
                    f"the Dask cluster at {place} has no workers; start one: dask worker {address}"
                ) from None
            yield DaskWorkers(client)


@contextmanager
def on_local_cluster(workers: int, *, dashboard: bool = False) -> Iterator[DaskWorkers]:
    """A cluster of this machine, which ends with the block."""
    with needs_extra("Work on a Dask cluster", EXTRA):
        from distributed import Client, LocalCluster

        if dashboard:
            import bokeh  # noqa: F401 - Dask only warns where it is missing
    with (
        _quiet(),
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host="127.0.0.1",
            # Without an address, Dask would try port 8787 of all interfaces, and say so where it is taken.
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": dashboard},
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
        _explained(),
    ):
        client.run(leave_interrupts_to_us)
        yield DaskWorkers(client, threads=max(1, (os.cpu_count() or 1) // workers))


@contextmanager
def _quiet() -> Iterator[None]:
    """Dask tells of every lost connection; what matters is said by us."""
    names = ("distributed", "distributed.client", "distributed.core", "distributed.comm", "tornado.application")
    before = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)


@contextmanager
def _explained() -> Iterator[None]:
    from distributed import KilledWorker

    try:
        yield
    except KilledWorker as error:
        raise LostEngineError(
            f"one piece of work has ended several workers, perhaps for lack of memory: {error}"
        ) from None


def _unlike(client: Any) -> list[Problem]:
    """Refuse workers with another version; say where they compute differently, in the last bits."""
    told: Mapping[str, Any] = client.run(_about, on_error="return")
    for worker, about in told.items():
        if isinstance(about, Exception) and "No module named 'pyramidion" in str(about):  # Dask wraps the error
            raise UsageError(f"Dask worker {worker} has no pyramidion; install version {version()} there")
        if isinstance(about, Exception):
            raise LostEngineError(f"Dask worker {worker} cannot work: {about}")
        if about[0] != version():
            raise UsageError(
                f"Dask worker {worker} has pyramidion {about[0]}, and this is {version()}; install the same"
            )
    kinds = {about[1] for about in told.values()}
    if len(kinds) < 2:
        return []
    what = f"they compute in {len(kinds)} different ways, so the last digits of results depend on who worked on what"
    return [Problem(f"{len(told)} Dask workers", what, "warning")]


def _about() -> tuple[str, bytes]:
    return version(), made_by()
