"""A server that runs until it is told to stop: its socket, its processes, its signals and its exit codes.

With several processes the parent binds the socket and starts the children, which share it. A child that ends by itself
is replaced. Each child holds one end of a pipe whose other end only the parent has: when the parent is gone, however it
ended, the pipe closes and the child stops.
"""

from __future__ import annotations

import errno
import logging
import multiprocessing
import os
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

import uvicorn

from pyramidion.campaigns import APPLICATION
from pyramidion.errors import ServerFailedError, UsageError
from pyramidion.server.connections import CONNECTIONS, BoundedProtocol
from pyramidion.server.parent import GRACE_SECONDS, LAST_SECONDS, end_with_parent

KEEP_ALIVE_SECONDS = 75  # people think longer than the five seconds that are usual
BIND_SECONDS = 3.0
"""A server that was killed leaves its socket to its children for a moment; a restart waits so long for it."""
FAILED_STARTS = 3
"""Children that ended before they served anybody, one after the other, until the parent gives up."""
OPEN_FILES = 4 * CONNECTIONS

log = logging.getLogger("uvicorn.error")
_spawn = multiprocessing.get_context("spawn")


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens; UsageError says why there is none."""
    until = time.monotonic() + BIND_SECONDS
    while True:
        try:
            family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
            return socket.create_server(address[:2], family=family, backlog=2048)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise UsageError(f"cannot listen on {host}, port {port}: {error.strerror or error}") from None
            if time.monotonic() > until:
                raise UsageError(
                    f"port {port} is in use; stop the server that uses it, or choose another port with --port"
                ) from None
        time.sleep(0.1)


def serve(listening: socket.socket, processes: int = 1) -> None:
    """Serve the study of the environment (see `pyramidion.campaigns`) until a signal says stop.

    KeyboardInterrupt after Ctrl-C, as for every command; SIGTERM and SIGHUP are an orderly end. ServerFailedError if
    the processes cannot be kept running.
    """
    _allow_open_files()
    if processes == 1:
        _serve_alone(listening)
    else:
        _Processes(listening, processes).run()


def configure(application: Any = APPLICATION, **more: Any) -> uvicorn.Config:
    """How every server process is set up."""
    return uvicorn.Config(
        application,
        factory=isinstance(application, str),
        http=BoundedProtocol,
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=CONNECTIONS,
        timeout_graceful_shutdown=GRACE_SECONDS,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        **more,
    )


def _allow_open_files() -> None:
    """Each connection is an open file, and some systems allow only 256 by default."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft != resource.RLIM_INFINITY and soft < OPEN_FILES:
            most = OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, OPEN_FILES)
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _on_signals(act: Callable[..., Any]) -> None:
    """Ctrl-C and SIGTERM stop the server; so does a closed terminal, unless it was started to outlive it (nohup)."""
    signal.signal(signal.SIGINT, act)
    signal.signal(signal.SIGTERM, act)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, act)


def _serve_alone(listening: socket.socket) -> None:
    server = uvicorn.Server(configure())
    received: list[int] = []

    def stop(number: int, _: Any) -> None:
        received.append(number)
        server.should_exit = True

    _on_signals(stop)  # uvicorn handles them first, and sends itself the same signal when it has stopped
    _run(server, listening)
    if signal.SIGINT in received:
        raise KeyboardInterrupt


def _run(server: uvicorn.Server, listening: socket.socket) -> None:
    try:
        server.run([listening])
    except SystemExit:  # uvicorn has said why
        raise ServerFailedError("the server did not start") from None


# -- several processes ---------------------------------------------------------------------------------------


@dataclass
class _Child:
    process: Any
    pipe: Connection
    started: bool = False


class _Processes:
    def __init__(self, listening: socket.socket, count: int) -> None:
        self._listening, self._count = listening, count
        self._children: list[_Child] = []
        self._failed = 0
        self._signal = 0
        self._woken, self._wake = os.pipe()

    def run(self) -> None:
        _on_signals(self._stop)
        try:
            self._children = [self._start() for _ in range(self._count)]
            while not self._signal:
                self._watch()
        finally:
            self._end()
        if self._signal == signal.SIGINT:
            raise KeyboardInterrupt

    def _stop(self, number: int, _: Any) -> None:
        self._signal = self._signal or number
        os.write(self._wake, b".")

    def _start(self) -> _Child:
        ours, theirs = _spawn.Pipe()
        process = _spawn.Process(target=_serve_as_child, args=(self._listening, theirs))
        process.start()
        theirs.close()
        return _Child(process, ours)

    def _watch(self) -> None:
        """Wait until something happens: a signal, a child that is ready, a child that has ended."""
        starting = [child.pipe for child in self._children if not child.started]
        ready = wait([self._woken, *starting, *(child.process.sentinel for child in self._children)])
        if self._signal:
            return
        for place, child in enumerate(self._children):
            if child.pipe in ready:
                with suppress(EOFError, OSError):
                    child.started = bool(child.pipe.recv())
                    self._failed = 0
            if child.process.sentinel in ready:
                self._children[place] = self._replace(child)

    def _replace(self, child: _Child) -> _Child:
        child.process.join()
        child.pipe.close()
        self._failed += not child.started
        about = f"server process {child.process.pid} ended by itself (exit code {child.process.exitcode})"
        if self._failed >= FAILED_STARTS:
            raise ServerFailedError(f"{about}, and so did those before it; see above why")
        log.error("%s; another one takes its place", about)
        return self._start()

    def _end(self) -> None:
        for child in self._children:
            child.process.terminate()
        until = time.monotonic() + GRACE_SECONDS + LAST_SECONDS
        for child in self._children:
            child.process.join(max(0.0, until - time.monotonic()))
            child.process.kill()
            child.process.join()


class _ChildServer(uvicorn.Server):
    """Says when it is ready."""

    def __init__(self, config: uvicorn.Config, pipe: Connection) -> None:
        super().__init__(config)
        self._pipe = pipe

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        with suppress(OSError):
            self._pipe.send(self.started)


def _serve_as_child(listening: socket.socket, pipe: Connection) -> None:
    end_with_parent(pipe)
    _allow_open_files()
    with suppress(KeyboardInterrupt):  # Ctrl-C reaches the children, too
        _run(_ChildServer(configure(), pipe), listening)
