"""Where workers come from and how they are paid: one port, and an adapter for each place."""

from pyramidion.platforms.base import Arrival, Platform, PlatformError

__all__ = ["Arrival", "Platform", "PlatformError"]
