"""How the command line hands a study to server processes, which start on their own and share only the environment."""

PLACE = "PYRAMIDION_STUDY"
BASE_URL = "PYRAMIDION_BASE_URL"
WEBHOOK = "PYRAMIDION_PROLIFIC_WEBHOOK_SECRET"
APPLICATION = "pyramidion.web.app:from_environment"
