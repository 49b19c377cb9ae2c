"""A server that runs until it is told to stop: its socket, its processes, its signals and its exit codes.

With several processes only the parent accepts connections: it hands each to the child that has the fewest, and children
say when one is closed. If they all accepted from one socket, those that happen to be awake would take most of them, and
whoever is connected to the busiest process would wait several times as long as others. A child that ends by itself is
replaced. Each child holds one end of a pipe whose other end only the parent has: when the parent is gone, however it
ended, the pipe closes and the child stops.
"""

from __future__ import annotations

import asyncio
import errno
import gc
import itertools
import logging
import multiprocessing
import os
import signal
import socket
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection, wait
from typing import Any

import uvicorn

from pyramidion.campaigns import APPLICATION
from pyramidion.errors import ServerFailedError, UsageError
from pyramidion.server.connections import CONNECTIONS, BoundedProtocol
from pyramidion.server.parent import GRACE_SECONDS, LAST_SECONDS, end_with_parent

KEEP_ALIVE_SECONDS = 75  # people think longer than the five seconds that are usual
BIND_SECONDS = 3.0
"""A server that is just stopping may still hold the port; a restart waits so long for it."""
FAILED_STARTS = 3
"""Children that ended before they served anybody, one after the other, until the parent gives up."""
OPEN_FILES = 4 * CONNECTIONS
ACCEPTED_AT_ONCE = 100
TAKEN, CLOSED = b"+", b"-"
YOUNG_OBJECTS = 20_000
"""Python looks for garbage in cycles each time there are so many new objects. Nearly all that a request makes is gone
when it ends, and looking by default, after 700, took a tenth of the processor's time."""
PAUSE_SECONDS = 0.1
"""Until the parent tries again to accept a connection, when the system has no open file left for it."""

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


class _Server(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        gc.freeze()  # all modules are there, and stay
        gc.set_threshold(YOUNG_OBJECTS)


def _serve_alone(listening: socket.socket) -> None:
    server = _Server(configure())
    received: list[int] = []

    def stop(number: int, _: Any) -> None:
        received.append(number)
        server.should_exit = True

    _on_signals(stop)  # uvicorn handles them first, and sends itself the same signal when it has stopped
    _run(server, listening)
    if signal.SIGINT in received:
        raise KeyboardInterrupt


def _run(server: uvicorn.Server, *listening: socket.socket) -> None:
    try:
        server.run(list(listening))
    except SystemExit:  # uvicorn has said why
        raise ServerFailedError("the server did not start") from None


# -- several processes ---------------------------------------------------------------------------------------


@dataclass
class _Child:
    """``channel`` carries connections to the child, and from it a byte for each that it has taken or closed; ``open``
    is how many it has, and ``last`` which one it got last, counted over all children. ``handed`` are those on their
    way: macOS may lose one that the sender closes before it has arrived."""

    process: Any
    pipe: Connection
    channel: socket.socket
    started: bool = False
    open: int = 0
    last: int = 0
    handed: deque[socket.socket] = field(default_factory=deque)

    def take(self, accepted: socket.socket, number: int) -> bool:
        """Hand over a connection; False if the child is gone or does not read."""
        try:
            socket.send_fds(self.channel, [TAKEN], [accepted.fileno()])
        except OSError:
            return False
        self.open, self.last = self.open + 1, number
        self.handed.append(accepted)
        return True

    def hear(self) -> None:
        with suppress(OSError):
            said = self.channel.recv(65536)
            self.open -= said.count(CLOSED)
            for _ in range(said.count(TAKEN)):
                self.handed.popleft().close()

    def close(self) -> None:
        self.pipe.close()
        self.channel.close()
        for accepted in self.handed:
            accepted.close()


class _Processes:
    def __init__(self, listening: socket.socket, count: int) -> None:
        listening.setblocking(False)
        self._listening, self._count = listening, count
        self._children: list[_Child] = []
        self._numbers = itertools.count(1)
        self._open = False  # until all are ready: the first one would get everybody who waits
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
        channel, their_channel = socket.socketpair()
        channel.setblocking(False)
        process = _spawn.Process(target=_serve_as_child, args=(their_channel, theirs))
        process.start()
        theirs.close()
        their_channel.close()
        return _Child(process, ours, channel)

    def _watch(self) -> None:
        """Wait until something happens: a signal, a connection that comes or goes, a child that is ready or ended."""
        starting = [child.pipe for child in self._children if not child.started]
        serving = [child.channel for child in self._children if child.started]
        ended = [child.process.sentinel for child in self._children]
        self._open = self._open or len(serving) == self._count
        accepting = [self._listening] if self._open and serving else []
        ready = wait([self._woken, *starting, *serving, *ended, *accepting])
        if self._signal:
            return
        for place, child in enumerate(self._children):
            if child.channel in ready:
                child.hear()
            if child.pipe in ready:
                with suppress(EOFError, OSError):
                    child.started = bool(child.pipe.recv())
                    self._failed = 0
            if child.process.sentinel in ready:
                self._children[place] = self._replace(child)
        if self._listening in ready:
            self._accept()

    def _accept(self) -> None:
        """Hand out the connections that wait; those beyond a limit after looking what else has happened."""
        for _ in range(ACCEPTED_AT_ONCE):
            try:
                accepted, _address = self._listening.accept()
            except BlockingIOError:
                return
            except ConnectionError:
                continue  # whoever it was has left
            except OSError as error:
                log.error("cannot accept a connection: %s", error.strerror or error)
                time.sleep(PAUSE_SECONDS)
                return
            self._hand_over(accepted)

    def _hand_over(self, accepted: socket.socket) -> None:
        """To the child with the fewest connections; among equals, to the one that has waited longest for one."""
        serving = [child for child in self._children if child.started]
        number = next(self._numbers)
        fewest_first = sorted(serving, key=lambda child: (child.open, child.last))
        if not any(child.take(accepted, number) for child in fewest_first):
            accepted.close()

    def _replace(self, child: _Child) -> _Child:
        child.process.join()
        child.close()
        self._failed += not child.started
        about = f"server process {child.process.pid} ended by itself (exit code {child.process.exitcode})"
        if self._failed >= FAILED_STARTS:
            raise ServerFailedError(f"{about}, and so did those before it; see above why")
        log.error("%s; another one takes its place", about)
        return self._start()

    def _end(self) -> None:
        self._listening.close()
        for child in self._children:
            child.process.terminate()
        until = time.monotonic() + GRACE_SECONDS + LAST_SECONDS
        for child in self._children:
            child.process.join(max(0.0, until - time.monotonic()))
            child.process.kill()
            child.process.join()


class _ChildServer(_Server):
    """Says when it is ready, takes connections from its parent, and says when they are closed."""

    def __init__(self, config: uvicorn.Config, channel: socket.socket, pipe: Connection) -> None:
        super().__init__(config)
        channel.setblocking(False)
        self._channel, self._pipe = channel, pipe
        self._unsaid = b""
        self._connecting: set[asyncio.Task[None]] = set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:  # noqa: ARG002 - has none
        await super().startup(sockets=[])
        asyncio.get_running_loop().add_reader(self._channel, self._take)
        with suppress(OSError):
            self._pipe.send(self.started)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().remove_reader(self._channel)
        await super().shutdown(sockets=sockets)

    def _take(self) -> None:
        try:
            said, handles, *_ = socket.recv_fds(self._channel, 1, 1)
        except OSError:
            return
        if not said:  # the parent is gone, and so will this process be
            asyncio.get_running_loop().remove_reader(self._channel)
        self._say(TAKEN * len(said))
        if said and not handles:  # no open file was left for it, so it is closed
            self._say(CLOSED)
        for handle in handles:
            task = asyncio.ensure_future(self._connect(socket.socket(fileno=handle)))
            self._connecting.add(task)
            task.add_done_callback(self._connecting.discard)

    async def _connect(self, accepted: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        accepted.setblocking(False)
        try:
            await loop.connect_accepted_socket(self._protocol, accepted)
        except OSError:
            accepted.close()
            self._say(CLOSED)

    def _protocol(self) -> BoundedProtocol:
        made = BoundedProtocol(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)
        made.when_closed = partial(self._say, CLOSED)
        return made

    def _say(self, what: bytes) -> None:
        """A byte for each connection; what does not fit now goes with the next."""
        self._unsaid += what
        with suppress(OSError):
            self._unsaid = self._unsaid[self._channel.send(self._unsaid) :]


def _serve_as_child(channel: socket.socket, pipe: Connection) -> None:
    end_with_parent(pipe)
    _allow_open_files()
    with suppress(KeyboardInterrupt):  # Ctrl-C reaches the children, too
        _run(_ChildServer(configure(), channel, pipe))
