"""Pyramidion inside other people's evaluation tools: each module wraps `plain.Metric` in the interface of one host.

Nothing else imports this room, and each module needs the extra of its host.
"""
