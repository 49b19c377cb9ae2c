"""Hashes that only the holder of the study's secret can make: signatures, and keys that do not tell what they hide."""

from __future__ import annotations

import hashlib
import hmac


def keyed_hash(secret: bytes, purpose: str, *parts: str) -> str:
    """The hash of some texts for one purpose, in hex. Parts cannot be shifted into each other."""
    message = "".join(f"{len(part)}:{part}" for part in ("pyramidion", purpose, *parts))
    return hmac.new(secret, message.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
