"""Crowd campaigns: plan, tasks, workers and their answers, decisions, platforms.

The names below are how the command line hands a study to server processes, which share only the environment with it.
"""

PLACE = "PYRAMIDION_STUDY"
BASE_URL = "PYRAMIDION_BASE_URL"
TOKEN = "PROLIFIC_TOKEN"  # noqa: S105  # the name of a variable, not a secret
WEBHOOK = "PYRAMIDION_PROLIFIC_WEBHOOK_SECRET"
APPLICATION = "pyramidion.server.app:from_environment"
SERVING = "pyramidion.server.serving"
