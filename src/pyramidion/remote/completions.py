"""What endpoints send back: a completion, or an error in one of several envelopes."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from pyramidion.remote.replies import Usage


class Completion(NamedTuple):
    """What a model said; ``refusal`` says why it said nothing, and is empty otherwise."""

    text: str
    cut_off: bool
    usage: Usage
    refusal: str = ""


def completion(response: Any) -> Completion | None:
    """The completion in a successful response; None where it is something else."""
    try:
        body = response.json()
        if body.get("error") and not body.get("choices"):
            return Completion("", False, Usage(), error_message(response))
        choice = body["choices"][0]
        message = choice["message"]
        # A server that takes a reply for thoughts only puts the answer beside the content.
        text = _text(message.get("content")) or _text(message.get("reasoning_content") or message.get("reasoning"))
        finish = choice.get("finish_reason")
    except (ValueError, LookupError, TypeError, AttributeError):
        return None
    refusal = message.get("refusal") or ("content filter" if finish == "content_filter" else "")
    return Completion(text, finish == "length", _usage(body.get("usage")), str(refusal))


def error_message(response: Any) -> str:
    """What an error response says, with its code where that is a word.

    {"error": {"message": ..., "code": ...}} is OpenAI's, vLLM's and llama.cpp's, {"error": ...} Ollama's own,
    {"message": ...} that of earlier versions of vLLM, {"detail": ...} FastAPI's.
    """
    try:
        held = response.json()
    except ValueError:
        return str(response.text)
    code = ""
    for name in ("error", "detail", "message"):
        if isinstance(held, dict) and held.get(name):
            codes = [held.get(known) for known in ("code", "type")]
            code = next((word for word in codes if isinstance(word, str)), code)
            held = held[name]
    text = held if isinstance(held, str) else json.dumps(held, ensure_ascii=False)
    return f"{text} ({code})" if code else text


def _text(content: Any) -> str:
    """The text of a message, also where it comes in parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _usage(held: Any) -> Usage:
    match held:
        case {"prompt_tokens": int(tokens_in), "completion_tokens": int(tokens_out)} if min(tokens_in, tokens_out) >= 0:
            return Usage(1, tokens_in, tokens_out)
    return Usage(1, 0, 0, 1)
