"""How the command line hands a study to server processes, which start on their own and share only the environment."""

PLACE = "PYRAMIDION_STUDY"
BASE_URL = "PYRAMIDION_BASE_URL"
TOKEN = "PROLIFIC_TOKEN"  # noqa: S105  # the name of a variable, not a secret
WEBHOOK = "PYRAMIDION_PROLIFIC_WEBHOOK_SECRET"
APPLICATION = "pyramidion.server.app:from_environment"
