"""The command line: a thin adapter over workflows. Heavy modules are imported only when a command needs them."""
