"""Any chat model behind an OpenAI-compatible endpoint: OpenAI, vLLM, llama.cpp, Ollama and many others.

`ChatModel` says which model is asked and how; its `session` asks. Replies are cached under a hash of the request.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict
from urllib.parse import urlsplit

from pyramidion.errors import UsageError, needs_extra
from pyramidion.remote.pace import Pace
from pyramidion.remote.replies import ReplyCache, Usage, default_cache
from pyramidion.remote.session import ChatSession, Message

OPENAI = "https://api.openai.com/v1"
AT_ONCE = 4
MOST_AT_ONCE = 256
LONGEST_REPLY = 600.0
"""Seconds. A large model on a small machine thinks for minutes."""
LETTERS_A_TOKEN = 4


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
        self._counted: set[str] = set()

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
        seen: set[str] = set()
        for messages, tokens in asked:
            key = self.key(messages)
            if key in seen or self.cache.get(key) is not None:
                known += key not in seen
                seen.add(key)
                continue
            seen.add(key)
            requests += 1
            size += sum(len(message["content"]) for message in messages)
            answers += tokens
        return RequestEstimate(requests, known, size // LETTERS_A_TOKEN, answers)

    def count_sent(self, key: str, usage: Usage) -> None:
        with self._lock:
            self.usage += usage
            self._counted.add(key)

    def count_earlier(self, key: str) -> None:
        """A reply counts once, however often it is used."""
        with self._lock:
            if key not in self._counted:
                self.earlier += self.cache.usage(key)
                self._counted.add(key)

    @contextmanager
    def session(self) -> Iterator[ChatSession]:
        with needs_extra("Asking a chat model", "llm"):
            import httpx
        secret = os.environ.get("OPENAI_API_KEY")
        headers = {"Authorization": f"Bearer {secret}"} if secret else {}
        timeout = httpx.Timeout(LONGEST_REPLY, connect=30)
        pace = Pace(self.concurrency, sleep=self._sleep, clock=self._clock)
        with httpx.Client(timeout=timeout, headers=headers) as client:
            yield ChatSession(self, client, pace)


def _read_prompt(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8-sig").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the prompt {path} cannot be read: {error}") from None
    if not text:
        raise UsageError(f"the prompt {path} is empty")
    return text
