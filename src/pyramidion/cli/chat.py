"""What commands that ask a chat model have in common: options, the cost shown first, what was spent."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer

from pyramidion.errors import UsageError

if TYPE_CHECKING:
    from pyramidion.cli.output import Output
    from pyramidion.remote.chat import RequestEstimate
    from pyramidion.remote.replies import Usage

Prices = tuple[float, float]


class Asking(Protocol):
    """Whoever asks a chat model."""

    @property
    def name(self) -> str: ...

    @property
    def price(self) -> Prices | None: ...

    @property
    def usage(self) -> Usage: ...

    @property
    def earlier(self) -> Usage: ...


@dataclass(frozen=True)
class Chatting:
    """How a chat model is asked. None is "as usual", so that only what was typed is passed on."""

    base_url: Annotated[str | None, typer.Option(help="llm: the endpoint. [default: $OPENAI_BASE_URL]")] = None
    cache: Annotated[Path | None, typer.Option(help="llm: the file in which replies are cached.")] = None
    temperature: Annotated[float | None, typer.Option(help="llm: the model's temperature. [default: 0]")] = None
    seed: Annotated[int | None, typer.Option(help="llm: a seed to send, if the endpoint takes one.")] = None
    concurrency: Annotated[int | None, typer.Option(help="llm: requests at once, at most. [default: 4]")] = None
    prompt: Annotated[
        Path | None, typer.Option(help="llm: a file with your own instructions instead of the usual ones.")
    ] = None
    schema: Annotated[
        bool | None,
        typer.Option(
            "--schema/--no-schema", help="llm: ask for structured output if the endpoint offers it. [default: schema]"
        ),
    ] = None
    price: Annotated[
        str | None,
        typer.Option(help="llm: dollars per million tokens in and out, such as 0.15/0.60, to show the cost."),
    ] = None
    yes: Annotated[bool, typer.Option("--yes", "-y", help="llm: send without asking.")] = False

    def options(self) -> dict[str, Any]:
        """The options that were given, for whoever asks the model."""
        names = ("base_url", "cache", "temperature", "seed", "concurrency", "prompt", "schema")
        given = {name: getattr(self, name) for name in names} | {"price": _prices(self.price)}
        return {name: value for name, value in given.items() if value is not None}

    def agreed(self, estimate: RequestEstimate, asking: Asking, output: Output) -> bool:
        """Show what it will cost, roughly, and ask before anything is sent."""
        from pyramidion.remote.replies import dollars

        known = f" ({estimate.known} already cached)" if estimate.known else ""
        cost = f", about {dollars(estimate.cost(*asking.price))}" if asking.price else ""
        tokens = f"{estimate.tokens_in:,} tokens in and {estimate.tokens_out:,} out"
        output.say(f"{asking.name}: {estimate.requests} requests{known}, roughly {tokens}{cost}.")
        return self.yes or not estimate.requests or typer.confirm("Send them?", err=True)


def tell_usage(asking: Asking, output: Output) -> None:
    """Say what was sent, and what it took."""
    if asking.usage.requests:
        output.say(f"{asking.name}: sent {asking.usage.text(asking.price)}.")


def usage_as_json(asking: Asking) -> dict[str, Any]:
    """What was sent now, and what the cached replies took when they were sent."""
    return {name: part.as_dict(asking.price) for name, part in (("sent", asking.usage), ("cached", asking.earlier))}


def _prices(text: str | None) -> Prices | None:
    if text is None:
        return None
    try:
        first, second = map(float, text.split("/"))
    except ValueError:
        raise UsageError(f"--price must be two numbers such as 0.15/0.60, not {text!r}") from None
    return first, second
