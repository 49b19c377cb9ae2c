"""People who are not there: how well, how fast and how faithfully they work."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pyramidion.errors import UsageError


@dataclass(frozen=True, slots=True)
class SimulatedWorker:
    """Chances are from 0 to 1.

    ``accuracy``   to answer a question rightly; otherwise the opposite is said
    ``bias``       added to the chance of saying "present" (of a high rating, of preferring the first summary)
    ``seconds``    the usual time for a task
    ``laziness``   to give the same answer to everything in a task
    ``abandon``    to leave a task without an answer
    ``twice``      to submit an answer twice, as an impatient double click does
    """

    name: str
    accuracy: float = 0.9
    bias: float = 0.0
    seconds: float = 60.0
    laziness: float = 0.0
    abandon: float = 0.0
    twice: float = 0.0

    def __post_init__(self) -> None:
        for what in ("accuracy", "laziness", "abandon", "twice"):
            _check_share(f"worker {self.name}: {what}", getattr(self, what))
        if not -1 <= self.bias <= 1:
            raise UsageError(f"worker {self.name}: bias lies from -1 to 1, not at {self.bias}")
        if not 0 < self.seconds < math.inf:
            raise UsageError(f"worker {self.name}: seconds must be above 0, not {self.seconds}")

    def working_time(self, rng: np.random.Generator) -> float:
        """Seconds for one task: around the usual time, now and then much longer."""
        return self.seconds * math.exp(0.3 * rng.standard_normal())


def crowd(
    count: int,
    rng: np.random.Generator,
    *,
    careless: float = 0.2,
    adversarial: float = 0.05,
    abandon: float = 0.0,
    twice: float = 0.0,
    prefix: str = "worker",
) -> list[SimulatedWorker]:
    """A mixed crowd in random order: shares of careless and adversarial people, and the rest careful.

    The careful are right 85 to 98% of the time, the careless 55 to 75%, often uniformly and fast; the adversarial
    mostly say the opposite.
    """
    _check_share("careless", careless)
    _check_share("adversarial", adversarial)
    if count < 0 or careless + adversarial > 1:
        raise UsageError("a crowd has at least 0 people, and its shares are at most 1 together")
    careless_count, adversarial_count = round(count * careless), round(count * adversarial)
    careless_count = min(careless_count, count - adversarial_count)
    kinds = ["careless"] * careless_count + ["adversarial"] * adversarial_count
    kinds += ["careful"] * (count - len(kinds))
    width = len(str(count))
    return [
        _person(f"{prefix}-{number:0{width}}", kinds[i], rng, abandon, twice)
        for number, i in enumerate(rng.permutation(count), 1)
    ]


def _person(name: str, kind: str, rng: np.random.Generator, abandon: float, twice: float) -> SimulatedWorker:
    low, high, bias, seconds, laziness = _KINDS[kind]
    return SimulatedWorker(
        name,
        accuracy=float(rng.uniform(low, high)),
        bias=float(rng.uniform(-bias, bias)),
        seconds=float(seconds * rng.uniform(0.7, 1.5)),
        laziness=laziness,
        abandon=abandon,
        twice=twice,
    )


_KINDS = {
    # accuracy from, to, most bias, seconds, laziness
    "careful": (0.85, 0.98, 0.03, 90.0, 0.0),
    "careless": (0.55, 0.75, 0.15, 25.0, 0.25),
    "adversarial": (0.02, 0.2, 0.0, 15.0, 0.1),
}


def _check_share(what: str, share: float) -> None:
    if not 0 <= share <= 1:
        raise UsageError(f"{what} is a chance from 0 to 1, not {share}")
