"""Servers that differ as llama.cpp's, vLLM's and Ollama's do, as far as a client meets the differences.

Each is a reply for `ChatServer`; the shapes of answers and errors are those that the servers document or send.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.judges.chat_server import Answer, chat, judged

Reply = Callable[[dict[str, Any]], Answer]
PATH = "/v1/chat/completions"


def size(body: dict[str, Any]) -> int:
    """A stand-in for the number of tokens."""
    return sum(len(message["content"].split()) for message in body["messages"])


def error(status: int, **held: Any) -> Answer:
    return Answer(status, json.dumps({"error": held}), {"Content-Type": "application/json"})


def llama_cpp(context: int = 10**6, *, old: bool = False) -> Reply:
    """Takes both paths. An old build knows only JSON objects with a schema beside the type."""

    def reply(body: dict[str, Any]) -> Answer:
        if body["path"] not in {PATH, "/chat/completions"}:
            return error(404, code=404, message="File Not Found", type="not_found_error")
        kind = body.get("response_format", {}).get("type", "text")
        if kind not in {"text", "json_object", *(() if old else ("json_schema",))}:
            what = f'response_format type must be one of "text" or "json_object", but got: {kind}'
            return error(400, code=400, message=what, type="invalid_request_error")
        if size(body) > context:
            what = f"the request exceeds the available context size ({context} tokens), try increasing it"
            held = {"n_prompt_tokens": size(body), "n_ctx": context}
            return error(400, code=400, message=what, type="exceed_context_size_error", **held)
        return chat(judged(body), usage=(size(body), 7))

    return reply


def vllm(context: int = 10**6, *, model: str = "some-model") -> Reply:
    """Thoughts come apart from the content; errors lie flat; nothing is served outside /v1."""

    def reply(body: dict[str, Any]) -> Answer:
        if body["path"] != PATH:
            return Answer(404, '{"detail":"Not Found"}')
        if body["model"] != model:
            return flat(404, f"The model `{body['model']}` does not exist.", "NotFoundError")
        if size(body) > context:
            what = (
                f"This model's maximum context length is {context} tokens. However, you requested {size(body)} tokens. "
                "Please reduce the length of the messages or completion."
            )
            return flat(400, what, "BadRequestError")
        return chat(judged(body), usage=(size(body), 9), reasoning_content='Perhaps {"answers": []}?')

    return reply


def flat(status: int, message: str, kind: str) -> Answer:
    held = {"object": "error", "message": message, "type": kind, "param": None, "code": status}
    return Answer(status, json.dumps(held))


def ollama(*, model: str = "some-model") -> Reply:
    """The model thinks aloud in its content, and nothing is said about tokens."""

    def reply(body: dict[str, Any]) -> Answer:
        if body["path"] != PATH:
            return Answer(404, "404 page not found", {"Content-Type": "text/plain"})
        if body["model"] != model:
            what = f'model "{body["model"]}" not found, try pulling it first'
            return error(404, message=what, type="api_error", param=None, code=None)
        return chat(f"<think>\nOne {{by}} one.\n</think>\n\n{judged(body)}")

    return reply
