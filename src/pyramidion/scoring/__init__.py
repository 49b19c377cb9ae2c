"""Pyramid and judgments in, scores out. No paths, no sessions, no requests."""
