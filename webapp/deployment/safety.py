"""Settings with which a register must not run in production: `refuse_unsafe` stops the program and names all of them.

Each rule is a generator of sentences: what was set, what was expected, what was found, and the remedy.
"""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlparse

from django.core.exceptions import ImproperlyConfigured

KEY_CHARS_MIN = 32  # 192 random bits in base 64, 128 in base 16
KEY_DIFFERENT_CHARS_MIN = 10  # 32 random hexadecimal digits have 13 or more, but for one key in ten thousand
PLACEHOLDERS = ("development", "insecure", "change-me", "changeme", "password", "example", "long random text")
REMEDY = "`openssl rand -base64 48` prints one"


def refuse_unsafe(values: Mapping[str, Any]) -> None:
    """Raise ImproperlyConfigured with a line for each unsafe setting. `values` are all settings by their names."""
    problems = list(unsafe_settings(values))
    if problems:
        raise ImproperlyConfigured("\n".join(f"PRODUCTION: {problem}" for problem in problems))


def unsafe_settings(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for each unsafe setting."""
    yield from _unsafe_keys(values)
    yield from _unsafe_hosts(values)
    yield from _unsafe_addresses(values)
    yield from _unsafe_proxies(values)
    if values["DEBUG"]:
        yield "set DEBUG to no: expected no, found yes, which shows settings and code to visitors"
    for name in ("DATABASE_URL", "REDIS_URL"):
        if not values[name]:
            yield f"set {name}: expected the address of a server, found none"


def key_weakness(key: str) -> str:
    """Return what is weak about a key, or an empty string for a key that may be random."""
    if len(key) < KEY_CHARS_MIN:
        return f"{len(key)} characters"
    if any(word in key.lower() for word in PLACEHOLDERS):
        return "a placeholder of a document or of development"
    if (different := len(set(key))) < KEY_DIFFERENT_CHARS_MIN:
        return f"only {different} different characters"
    if key in (key + key)[1:-1]:
        return "a short text that is repeated"
    return ""


def _unsafe_keys(values: Mapping[str, Any]) -> Iterator[str]:
    expected = f"to a long random text: expected {KEY_CHARS_MIN} random characters or more"
    if found := key_weakness(values["SECRET_KEY"]):
        yield f"set SECRET_KEY {expected}, found {found}. {REMEDY}"
    # Older keys only decrypt. A weak one must stay until the secrets are encrypted again with a newer one.
    newest, *older = values["ENCRYPTION_KEYS"] or [""]
    if found := key_weakness(newest):
        remedy = f"{REMEDY}; put it before the present keys, then run `manage.py reencrypt_secrets`"
        yield f"set ENCRYPTION_KEYS {expected} as the first key, found {found}. {remedy}"
    if values["DEVELOPMENT_SECRET_KEY"] in older:
        yield "set ENCRYPTION_KEYS without the development key: expected random keys, found a key that is public"


def _unsafe_hosts(values: Mapping[str, Any]) -> Iterator[str]:
    files = urlparse(values["EVIDENCE_ORIGIN"]).hostname
    hosts = [host for host in values["ALLOWED_HOSTS"] if host != files]
    expected = "set ALLOWED_HOSTS to the names this site answers to: expected names such as register.example.org"
    if not hosts:
        yield f"{expected}, found none"
    for host in hosts:
        if "*" in host or host == "." or "/" in host:
            yield f"{expected}, found {host!r}"


def _unsafe_addresses(values: Mapping[str, Any]) -> Iterator[str]:
    for name in ("PUBLIC_URL", "EVIDENCE_ORIGIN"):
        if urlparse(values[name]).scheme == "http" and not (name == "PUBLIC_URL" and not values["ALLOWED_HOSTS"]):
            yield f"set {name} to an address with https: expected https://..., found {values[name]!r}"
    for origin in values["CSRF_TRUSTED_ORIGINS"]:
        if not origin.startswith("https://"):
            yield f"set CSRF_TRUSTED_ORIGINS to addresses with https: expected https://..., found {origin!r}"


def _unsafe_proxies(values: Mapping[str, Any]) -> Iterator[str]:
    if values["SECURE_SSL_REDIRECT"] and not values["BEHIND_TLS_PROXY"]:
        yield (
            "set BEHIND_TLS_PROXY with SECURE_SSL_REDIRECT: expected both, found the redirect alone, which never ends, "
            "because the register cannot know which requests came over https"
        )
    for network in values["TRUSTED_PROXIES"]:
        if network.prefixlen == 0:
            yield (
                f"set TRUSTED_PROXIES to the networks of your own proxies: expected networks without clients, found "
                f"{network}, with which each client chooses its own address"
            )
