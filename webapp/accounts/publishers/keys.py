"""The public keys of an issuer, as OpenID Connect Discovery and a JSON Web Key Set state them.

They are read with the client for servers of others (webapp/outbound), and cached for ten minutes.
"""

import hashlib
import json
from typing import Any

from django.core.cache import cache
from jwt import PyJWK
from jwt.exceptions import PyJWTError

from webapp.outbound.client import Limits, OutboundError, send

DISCOVERY = "/.well-known/openid-configuration"
LIMITS = Limits(connect_s=3, total_s=5, bytes_max=256 * 1024)  # a thread of the web server waits
CACHE_S = 600
# The keys of an issuer are read again for an unknown one, but not more often than this.
READ_AGAIN_AFTER_S = 10
# Signatures by a private key. With a shared secret (HS256), the public key would be that secret.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")


class IssuerError(Exception):
    """The keys of an issuer could not be read. The text states why."""


def find_key(issuer: str, key_id: str) -> PyJWK | None:
    """Return the key of an issuer with an id; None if the issuer has no such key now. Raises IssuerError."""
    name = _name(issuer)
    cached = cache.get(name)
    if cached is not None and (key := _key_of(cached, key_id)):
        return key
    # Anyone can state an unknown key: only one request in this time reads the keys, also if the issuer does not answer.
    if not cache.add(f"{name}:read", 1, READ_AGAIN_AFTER_S):
        if cached is not None:
            return None
        raise IssuerError(f"{issuer}: its keys were requested less than {READ_AGAIN_AFTER_S} s ago, without an answer")
    return _key_of(read_keys(issuer), key_id)


def read_keys(issuer: str) -> list[dict[str, Any]]:
    """Return the keys that an issuer states now, and keep them. Raises IssuerError."""
    described = _read_object(issuer.rstrip("/") + DISCOVERY)
    if described.get("issuer") != issuer:
        raise IssuerError(f"{issuer}: expected its own address as issuer, found {str(described.get('issuer'))[:200]}")
    address = described.get("jwks_uri")
    if not isinstance(address, str):
        raise IssuerError(f"{issuer}: expected the address of its keys as jwks_uri, found none")
    keys = _read_object(address).get("keys")
    if not isinstance(keys, list) or not all(isinstance(key, dict) for key in keys):
        raise IssuerError(f"{address}: expected a list of keys, found none")
    cache.set(_name(issuer), keys, CACHE_S)
    return keys


def _read_object(address: str) -> dict[str, Any]:
    try:
        response = send("GET", address, headers={"Accept": "application/json"}, limits=LIMITS)
    except OutboundError as error:
        raise IssuerError(f"{address}: {error}") from error
    if response.status != 200 or response.is_cut:
        found = "more than 256 KiB" if response.is_cut else f"status {response.status}"
        raise IssuerError(f"{address}: expected JSON with status 200, found {found}")
    try:
        content = json.loads(response.body)
    except ValueError as error:
        raise IssuerError(f"{address}: expected JSON, found something else") from error
    if not isinstance(content, dict):
        raise IssuerError(f"{address}: expected a JSON object, found something else")
    return content


def _key_of(keys: list[dict[str, Any]], key_id: str) -> PyJWK | None:
    """Return the key with an id if it is for signatures that a private key makes."""
    for each in keys:
        if each.get("kid") != key_id or each.get("use", "sig") != "sig" or each.get("kty") == "oct":
            continue
        try:
            key = PyJWK(each)
        except PyJWTError:
            continue
        if key.algorithm_name in ALGORITHMS:
            return key
    return None


def _name(issuer: str) -> str:
    return f"issuer-keys:{hashlib.sha256(issuer.encode()).hexdigest()}"
