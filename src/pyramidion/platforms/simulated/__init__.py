"""Nobody real: workers with settable faults rehearse a campaign from end to end, in process or against a server."""

from pyramidion.platforms.simulated.answers import answer
from pyramidion.platforms.simulated.http_api import HttpApi
from pyramidion.platforms.simulated.platform import Simulated
from pyramidion.platforms.simulated.rehearsal import Api, Rehearsal, rehearse
from pyramidion.platforms.simulated.workers import SimulatedWorker, crowd

__all__ = ["Api", "HttpApi", "Rehearsal", "Simulated", "SimulatedWorker", "answer", "crowd", "rehearse"]
