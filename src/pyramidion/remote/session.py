"""Asking a chat model: one run, with what is learned about the endpoint on the way.

Endpoints differ: an answer is asked for in the strictest format that the endpoint takes (a JSON schema, JSON, or none),
a base URL may lack its /v1, errors come in several envelopes, token counts may be missing, and a model that thinks
aloud may put its answer beside the content. A request that is too long for the model is the caller's to split.
"""

from __future__ import annotations

import re
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from pyramidion import remote
from pyramidion.errors import PyramidionError, UsageError
from pyramidion.remote.completions import Completion, completion, error_message
from pyramidion.remote.pace import Pace
from pyramidion.remote.replies import Usage

if TYPE_CHECKING:
    from pyramidion.remote.chat import ChatModel

TRIES = 5
LONGEST_WAIT = 600.0
HOPELESS = 10
"""After so many requests without any usable answer, no more are sent."""
BUSY = frozenset({408, 409, 429})
OVERLOADED = frozenset({429, 503})
FORBIDDEN = frozenset({401, 403, 404, 405})
"""The key, the address or the model is wrong: no other request would be answered either."""
NO_SUCH_FORMAT = frozenset({400, 415, 422, 500, 501})
AGAIN = "That was not the JSON asked for: {reason}. Answer again, with the JSON only."
TOO_LONG = re.compile(
    r"context[ _-]?(length|size|window)|exceed_context|maximum (context|model|input|prompt)|longer than the maximum|"
    r"(prompt|request|input|it) is too (long|large)|request too large|too many (input )?tokens|reduce the length",
    re.IGNORECASE,
)
CENSORED = re.compile(
    r"content[ _-]?(filter|policy|management)|moderation|flagged|responsible ?ai|safety", re.IGNORECASE
)

Message = dict[str, str]
Schema = Mapping[str, Any]
A = TypeVar("A")
Q = TypeVar("Q")
T = TypeVar("T")


class IncompleteError(ValueError):
    """A reply of which only a part can be used: ``usable``, by number."""

    def __init__(self, reason: str, usable: Mapping[int, Any]) -> None:
        super().__init__(reason)
        self.usable = usable


class NoAnswerError(PyramidionError):
    """One request without a usable answer; others may have one. ``usable`` is what can be used of the best reply."""

    def __init__(self, reason: str, *, too_long: bool = False, usable: Mapping[int, Any] | None = None) -> None:
        super().__init__(reason)
        self.too_long, self.usable = too_long, usable or {}


class ChatSession:
    """One run: what is learned about the endpoint while asking is kept to the end of it. Threads may share it."""

    def __init__(self, model: ChatModel, client: Any, pace: Pace) -> None:
        self.model, self.pace, self._client = model, pace, client
        self._format = 0 if model.schema else len(FORMATS) - 1
        self._format_known = not model.schema
        bare = not urlsplit(model.url).path
        self._paths = ["/chat/completions", *(["/v1/chat/completions"] if bare else [])]
        self._lock = threading.Lock()
        self._asking: dict[str, list[Any]] = {}
        self._answered = self._failed = 0

    def ask_all(self, batches: Iterable[tuple[T, Sequence[Q]]], ask: Callable[[Q], A]) -> Iterator[tuple[T, list[A]]]:
        """Each batch with the answers to its questions, in order; enough of them are read ahead to keep everybody busy.

        When nobody waits any more, nothing more is sent.
        """
        pool = ThreadPoolExecutor(self.model.concurrency, "llm")
        waiting: deque[tuple[T, list[Future[A]]]] = deque()
        source = iter(batches)
        try:
            while True:
                while sum(not each.done() for _, futures in waiting for each in futures) < 2 * self.model.concurrency:
                    batch = next(source, None)
                    if batch is None:
                        break
                    waiting.append((batch[0], [pool.submit(ask, question) for question in batch[1]]))
                if not waiting:
                    return
                thing, futures = waiting.popleft()
                yield thing, [future.result() for future in futures]
        finally:
            self.pace.stop()
            pool.shutdown(cancel_futures=True)

    def ask(self, messages: Sequence[Message], read: Callable[[str], A], schema: Schema) -> A:
        """One good reply, from the cache or from the model, as ``read`` understands it. A reply that ``read`` refuses
        with a ValueError is sent back with the reason."""
        model, key = self.model, self.model.key(messages)
        with self._alone(key):
            if (text := model.cache.get(key)) is not None:
                # An earlier version may have understood what this one does not: then it is asked again.
                with suppress(ValueError):
                    value = read(text)
                    model.count_earlier(key)
                    return value
            return self._ask(messages, read, schema)

    @contextmanager
    def _alone(self, key: str) -> Iterator[None]:
        """The same question is asked once; who asks it meanwhile waits for the cached reply."""
        with self._lock:
            asking = self._asking.setdefault(key, [threading.Lock(), 0])
            asking[1] += 1
        try:
            with asking[0]:
                yield
        finally:
            with self._lock:
                asking[1] -= 1
                if not asking[1]:
                    del self._asking[key]

    def _ask(self, messages: Sequence[Message], read: Callable[[str], A], schema: Schema) -> A:
        talk, spent, best, reason = list(messages), Usage(), NoAnswerError(""), ""
        for _ in range(TRIES):
            reply = self._reply(talk, schema)
            spent += reply.usage
            try:
                value = read(reply.text)
            except ValueError as error:
                reason = str(error)
                usable = error.usable if isinstance(error, IncompleteError) else {}
                best = max(best, NoAnswerError(reason, usable=usable), key=lambda each: len(each.usable))
                if reply.cut_off:
                    raise NoAnswerError(
                        "the reply was cut off at the model's limit", too_long=True, usable=best.usable
                    ) from None
                talk = [*messages, {"role": "assistant", "content": reply.text}, _user(AGAIN.format(reason=reason))]
            else:
                self.keep(messages, reply.text, spent)
                return value
        raise NoAnswerError(f"no usable reply in {TRIES} tries: {reason}", usable=best.usable)

    def keep(self, messages: Sequence[Message], text: str, spent: Usage) -> None:
        """Cache a good reply."""
        with self._lock:
            self._answered += 1
        self.model.cache.put(self.model.key(messages), text, spent)

    def give_up(self, error: NoAnswerError) -> None:
        """Note that a question stays without an answer; stops if no question has had one."""
        with self._lock:
            self._failed += 1
            hopeless = not self._answered and self._failed >= HOPELESS
        if hopeless:
            raise PyramidionError(
                f"{self.model.name}: none of the first {HOPELESS} requests got a usable answer, so no more are sent: "
                f"{error}"
            )

    def _reply(self, talk: Sequence[Message], schema: Schema) -> Completion:
        body = {"model": self.model.model, **self.model.sampling, "messages": list(talk), "stream": False}
        response = self._response(body, schema)
        reply = completion(response)
        if reply is None:
            raise PyramidionError(
                f"{self.model.name}: {self.model.url} does not speak the chat protocol: {response.text[:200]}"
            )
        self.model.count_sent(self.model.key(talk[:2]), reply.usage)
        if reply.refusal:
            raise NoAnswerError(f"the model refuses ({reply.refusal[:300]})")
        return reply

    def _response(self, body: dict[str, Any], schema: Schema) -> Any:
        """A successful response, or the error that says what is wrong."""
        import httpx

        where = f"{self.model.name}: {self.model.url}"
        try:
            response = remote.ask(
                lambda: self._in_format(body, schema),
                tries=TRIES,
                sleep=self.pace.hold,
                busy=BUSY,
                longest=LONGEST_WAIT,
            )
        except httpx.TransportError as error:
            trouble = str(error) or type(error).__name__
            raise PyramidionError(
                f"{where} gave no reply in {TRIES} tries ({trouble}); run again to continue: all replies are kept"
            ) from None
        if response.is_success:
            return response
        status, message = response.status_code, error_message(response)
        trouble = f"status {status}: {message[:300]}"
        if TOO_LONG.search(message) and status != 429:
            raise NoAnswerError(f"too long for the model ({trouble})", too_long=True)
        if CENSORED.search(message) and status in {400, 403, 422, 451}:
            raise NoAnswerError(f"the endpoint refuses ({trouble})")
        if remote.is_busy(status, BUSY):
            raise PyramidionError(
                f"{where} gave no reply in {TRIES} tries ({trouble}); run again to continue: all replies are kept"
            )
        if status in FORBIDDEN:
            raise UsageError(f"{where} refuses ({trouble})")
        raise NoAnswerError(f"the endpoint refuses ({trouble})")

    def _in_format(self, body: dict[str, Any], schema: Schema) -> Any:
        """The response to a body in the strictest format that the endpoint takes; one it refused is not tried again."""
        begin, known = self._format, self._format_known
        response = None
        for place in range(begin, begin + 1 if known else len(FORMATS)):
            response = self._post(body | FORMATS[place](schema))
            message = "" if response.is_success else error_message(response)
            if response.is_success:
                self._format, self._format_known = place, True
            if response.status_code not in NO_SUCH_FORMAT or TOO_LONG.search(message) or CENSORED.search(message):
                break
        return response

    def _post(self, body: dict[str, Any]) -> Any:
        with self.pace.turn():
            response = self._client.post(self.model.url + self._paths[0], json=body)
            if response.status_code == 404 and len(self._paths) > 1:
                response = self._client.post(self.model.url + self._paths[1], json=body)
                if response.status_code != 404:
                    self._paths = self._paths[1:]
        if response.status_code in OVERLOADED:
            self.pace.slow_down()
            if (seconds := remote.wanted_wait(response.headers) or 0.0) > LONGEST_WAIT:
                raise PyramidionError(
                    f"{self.model.name}: {self.model.url} asks to wait {seconds:,.0f} seconds; run again then to "
                    "continue: all replies are kept"
                )
        elif response.is_success:
            self.pace.speed_up()
            self.pace.hold(min(remote.used_up_for(response.headers), LONGEST_WAIT))
        return response


def _by_schema(schema: Schema) -> dict[str, Any]:
    """OpenAI, vLLM, Ollama, and llama.cpp since 2024."""
    held = {"name": "answer", "strict": True, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": held}}


def _as_object(schema: Schema) -> dict[str, Any]:
    """llama.cpp's own form; others read it as "some JSON object"."""
    return {"response_format": {"type": "json_object", "schema": schema}}


FORMATS: tuple[Callable[[Schema], dict[str, Any]], ...] = (_by_schema, _as_object, lambda _: {})


def _user(text: str) -> Message:
    return {"role": "user", "content": text}
