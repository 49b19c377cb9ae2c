"""The science: judgments in, judgments or scores out. No paths, no sessions, no requests."""
