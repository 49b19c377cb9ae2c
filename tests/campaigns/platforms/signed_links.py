"""Links as Prolific signs them, with keys made for the test."""

from __future__ import annotations

import json
import time
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

ADDRESS = "https://study.example.org/enter/judge"


class SigningKey:
    """A key pair; the platform publishes ``public``."""

    def __init__(self, id: str, bits: int = 2048) -> None:
        self.id = id
        self.private = rsa.generate_private_key(public_exponent=65537, key_size=bits)
        shown = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.private.public_key()))
        kept = {name: shown[name] for name in ("kty", "n", "e")}
        self.public: dict[str, Any] = {**kept, "kid": id, "alg": "RS256", "use": "sig", "key_ops": ["verify"]}

    def sign(self, params: dict[str, str], address: str = ADDRESS, **changed: Any) -> str:
        """A token for a link with these parameters; ``changed`` replaces claims, and None leaves one out."""
        now = time.time()
        query = "&".join(f"{name}={value}" for name, value in params.items())
        claims = {
            "iss": "https://www.prolific.com",
            "iat": int(now),
            "exp": int(now) + 120,
            "aud": f"{address}?{query}",
            "sub": params["SESSION_ID"],
            "prolific": {**params, "workspace_id": "507f1f77bcf86cd799439011"},
            **changed,
        }
        kept = {name: claim for name, claim in claims.items() if claim is not None}
        return jwt.encode(kept, self.private, algorithm="RS256", headers={"kid": self.id})
