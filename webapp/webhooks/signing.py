"""Signatures of deliveries: HMAC-SHA256 over the time and the body, as receivers verify them."""

import hashlib
import hmac
import secrets

PREFIX = "whsec_"
HEADER = "Drivecert-Signature"


def new_secret() -> str:
    """Return a new secret of 256 random bits."""
    return PREFIX + secrets.token_urlsafe(32)


def signature(secret: str, at: int, body: bytes) -> str:
    """Return the header for a body that is sent at a time, in seconds since 1970.

    >>> signature("whsec_a", 1700000000, b"{}")[:16], len(signature("whsec_a", 1700000000, b"{}"))
    ('t=1700000000,v1=', 80)
    """
    digest = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={digest}"
