"""The study server: a thin adapter over workflows. Pages, a JSON interface, and nothing that knows the science."""
