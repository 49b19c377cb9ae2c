"""Any chat model behind an OpenAI-compatible endpoint: OpenAI, vLLM, llama.cpp, Ollama and many others.

`ChatModel` says which model is asked and how; its `session` asks. Replies are cached under a hash of the request.
Endpoints differ: an answer is asked for in the strictest format that the endpoint takes (a JSON schema, JSON, or none),
a base URL may lack its /v1, errors come in several envelopes, token counts may be missing, and a model that thinks
aloud may put its answer beside the content. A request that is too long for the model is the caller's to split.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, TypeVar
from urllib.parse import urlsplit

from pyramidion import remote
from pyramidion.errors import PyramidionError, UsageError, needs_extra
from pyramidion.remote.completions import Completion, completion, error_message
from pyramidion.remote.pace import Pace
from pyramidion.remote.replies import ReplyCache, Usage, default_cache

OPENAI = "https://api.openai.com/v1"
TRIES = 5
AT_ONCE = 4
MOST_AT_ONCE = 256
LONGEST_WAIT = 600.0
LONGEST_REPLY = 600.0
"""Seconds. A large model on a small machine thinks for minutes."""
HOPELESS = 10
"""After so many requests without any usable answer, no more are sent."""
BUSY = frozenset({408, 409, 429})
OVERLOADED = frozenset({429, 503})
FORBIDDEN = frozenset({401, 403, 404, 405})
"""The key, the address or the model is wrong: no other request would be answered either."""
NO_SUCH_FORMAT = frozenset({400, 415, 422, 500, 501})
LETTERS_A_TOKEN = 4
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


@dataclass(frozen=True, slots=True)
class RequestEstimate:
    """What asking would take: requests not answered yet, and roughly how many tokens."""

    requests: int
    known: int
    tokens_in: int
    tokens_out: int

    def cost(self, price_in: float, price_out: float) -> float:
        """The cost at given prices per million tokens."""
        return (self.tokens_in * price_in + self.tokens_out * price_out) / 1e6


class ChatOptions(TypedDict, total=False):
    """How a model is asked, see `ChatModel`."""

    base_url: str | None
    cache: Path | None
    temperature: float
    seed: int | None
    concurrency: int
    prompt: Path | str | None
    schema: bool
    price: tuple[float, float] | None
    sleep: Callable[[float], object] | None
    clock: Callable[[], float]


class ChatModel:
    """A model and how it is asked. The endpoint and the key come from OPENAI_BASE_URL and OPENAI_API_KEY if not given.

    ``temperature`` and ``seed`` are sent; ``concurrency`` is the number of requests under way at once; ``schema=False``
    asks for no particular format. ``prompt`` is a file whose text replaces the usual instructions. ``price`` is in
    dollars per million tokens, in and out.
    """

    def __init__(
        self,
        model: str,
        instructions: str,
        *,
        base_url: str | None = None,
        cache: Path | None = None,
        temperature: float = 0.0,
        seed: int | None = None,
        concurrency: int = AT_ONCE,
        prompt: Path | str | None = None,
        schema: bool = True,
        price: tuple[float, float] | None = None,
        sleep: Callable[[float], object] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not (math.isfinite(temperature) and 0 <= temperature <= 2):
            raise UsageError(f"a temperature must be between 0 and 2, not {temperature}")
        if not 1 <= concurrency <= MOST_AT_ONCE:
            raise UsageError(f"concurrency must be between 1 and {MOST_AT_ONCE}, not {concurrency}")
        if price is not None and not all(math.isfinite(part) and part >= 0 for part in price):
            raise UsageError(f"a price must be two numbers from 0 on, not {price}")
        self.price = price
        self.name, self.model, self.concurrency, self.schema = f"llm:{model}", model, concurrency, schema
        self.url = (base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI).rstrip("/")
        if urlsplit(self.url).scheme not in {"http", "https"}:
            raise UsageError(f"{self.url!r} is not an address such as http://localhost:8000/v1")
        self.instructions = instructions if prompt is None else _read_prompt(Path(prompt))
        self.cache = ReplyCache(Path(cache) if cache else default_cache())
        self.sampling: dict[str, Any] = {"temperature": int(temperature) if temperature == 0 else temperature}
        self.sampling |= {} if seed is None else {"seed": seed}
        self._own_prompt = prompt is not None
        self.usage = Usage()
        """What requests took that were sent by this object."""
        self.earlier = Usage()
        """What cached replies took that were used by this object."""
        self._sleep, self._clock, self._lock = sleep, clock, threading.Lock()

    @property
    def choices(self) -> dict[str, object]:
        """What a signature says about how the model was asked: whatever is not as usual."""
        named: dict[str, object] = {k: v for k, v in self.sampling.items() if k == "seed" or v}
        if self._own_prompt:
            named["prompt"] = hashlib.sha256(self.instructions.encode()).hexdigest()[:8]
        return named | ({} if self.schema else {"schema": False})

    @property
    def note(self) -> str:
        """How the model was asked and what it took, for the record; cached replies are counted as if sent now."""
        held = {"endpoint": urlsplit(self.url).netloc.rpartition("@")[2], **self.sampling, **self.choices}
        how = ", ".join(f"{name} {value}" for name, value in held.items())
        return f"{how}; {(self.usage + self.earlier).text(self.price)}"

    def messages(self, question: object) -> list[Message]:
        """The texts as JSON, so that no text can pass for a part of the instructions."""
        return [
            {"role": "system", "content": self.instructions},
            {"role": "user", "content": json.dumps(question, ensure_ascii=False, indent=1)},
        ]

    def key(self, messages: Sequence[Message]) -> str:
        """Usual sampling is left out, so that replies cached by earlier versions are found."""
        usual = self.sampling == {"temperature": 0}
        asked = json.dumps([self.url, self.model, messages, *([] if usual else [self.sampling])])
        return hashlib.sha256(asked.encode()).hexdigest()

    def spent_on(self, messages: Sequence[Message]) -> Usage:
        """What a cached reply took."""
        return self.cache.usage(self.key(messages))

    def estimate(self, asked: Iterable[tuple[Sequence[Message], int]]) -> RequestEstimate:
        """For requests and how many tokens their answers will have."""
        requests = known = size = answers = 0
        for messages, tokens in asked:
            if self.cache.get(self.key(messages)) is not None:
                known += 1
                continue
            requests += 1
            size += sum(len(message["content"]) for message in messages)
            answers += tokens
        return RequestEstimate(requests, known, size // LETTERS_A_TOKEN, answers)

    def count(self, sent: Usage = Usage(), earlier: Usage = Usage()) -> None:  # noqa: B008 - a constant
        with self._lock:
            self.usage, self.earlier = self.usage + sent, self.earlier + earlier

    @contextmanager
    def session(self) -> Iterator[ChatSession]:
        with needs_extra("judge llm", "llm"):
            import httpx
        secret = os.environ.get("OPENAI_API_KEY")
        headers = {"Authorization": f"Bearer {secret}"} if secret else {}
        timeout = httpx.Timeout(LONGEST_REPLY, connect=30)
        pace = Pace(self.concurrency, sleep=self._sleep, clock=self._clock)
        with httpx.Client(timeout=timeout, headers=headers) as client:
            yield ChatSession(self, client, pace)


class ChatSession:
    """One run: what is learned about the endpoint while asking is kept to the end of it. Threads may share it."""

    def __init__(self, model: ChatModel, client: Any, pace: Pace) -> None:
        self.model, self.pace, self._client = model, pace, client
        self._format = 0 if model.schema else len(FORMATS) - 1
        self._format_known = not model.schema
        bare = not urlsplit(model.url).path
        self._paths = ["/chat/completions", *(["/v1/chat/completions"] if bare else [])]
        self._lock = threading.Lock()
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
        if (text := model.cache.get(key)) is not None:
            try:
                value = read(text)
            except ValueError:
                pass  # an earlier version understood it; now it is asked again
            else:
                model.count(earlier=model.spent_on(messages))
                return value
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
        self.model.count(sent=reply.usage)
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


def _read_prompt(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8-sig").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the prompt {path} cannot be read: {error}") from None
    if not text:
        raise UsageError(f"the prompt {path} is empty")
    return text
