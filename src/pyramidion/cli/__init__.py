"""The command line: a thin adapter over workflows. Heavy imports wait until a command needs them."""
