"""Typed readers of environment variables; a value that cannot be read stops the program with a sentence."""

import os
import re
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from urllib.parse import quote, unquote, urlparse

from django.core.exceptions import ImproperlyConfigured

TRUE_WORDS = {"1", "true", "yes", "on"}
FALSE_WORDS = {"0", "false", "no", "off"}
CONNECT_TIMEOUT_S = "10"  # a server that is gone without a word must not hold every thread that serves pages


def read_text(name: str, default: str = "") -> str:
    """Return the variable, or the content of the file that NAME_FILE names (for secrets of containers and services)."""
    path = os.environ.get(f"{name}_FILE")
    if not path:
        return os.environ.get(name, default)
    if os.environ.get(name):
        raise ImproperlyConfigured(f"{name} and {name}_FILE: expected one of them, got both. Remove {name}")
    try:
        return Path(path).read_text().strip()
    except OSError as error:
        raise ImproperlyConfigured(f"{name}_FILE: cannot read {path!r}: {error.strerror}") from error


def read_bool(name: str, *, default: bool) -> bool:
    """Return the variable as a truth value; an unknown word is refused, never taken as false."""
    word = read_text(name).lower()
    if word in TRUE_WORDS | FALSE_WORDS:
        return word in TRUE_WORDS
    if word == "":
        return default
    raise ImproperlyConfigured(f"{name}: expected yes or no, got {word!r}")


def read_int(name: str, *, default: int, least: int = 1, most: int | None = None) -> int:
    """Return the variable as a whole number of at least `least`, and at most `most` if that is given."""
    text = read_text(name)
    try:
        number = int(text) if text else default
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}: expected a whole number, got {text!r}") from error
    if number < least:
        raise ImproperlyConfigured(f"{name}: expected a whole number of at least {least}, got {text!r}")
    if most is not None and number > most:
        raise ImproperlyConfigured(f"{name}: expected a whole number of at most {most}, got {text!r}")
    return number


def read_list(name: str, default: str = "") -> list[str]:
    """Return a comma-separated variable as a list without blanks."""
    return [part.strip() for part in read_text(name, default).split(",") if part.strip()]


def read_networks(name: str) -> list[IPv4Network | IPv6Network]:
    """Return a comma-separated variable as networks; an address is a network of one."""
    try:
        return [ip_network(part) for part in read_list(name)]
    except ValueError as error:
        expected = "expected networks such as 10.0.0.0/8, fd00::/8"
        raise ImproperlyConfigured(f"{name}: {expected}, got {read_text(name)!r}: {error}") from error


def read_public_url(name: str, hosts: list[str]) -> str:
    """Return the address of the site without a slash at its end; unset, https and the first plain host name.

    Without such a name it is where `manage.py up` listens.
    """
    given = read_text(name)
    if not given:
        plain = [host for host in hosts if host and not host.startswith((".", "*"))]
        here = f"http://127.0.0.1:{read_text('PORT') or 8000}"
        return f"https://{plain[0]}" if plain else here
    return _origin_of(name, given)


def read_origin(name: str, *, other_than: str = "") -> str:
    """Return an address without a path; empty if unset. Its host name must differ from that of `other_than`."""
    given = read_text(name)
    if not given:
        return ""
    origin = _origin_of(name, given)
    if urlparse(origin).hostname == urlparse(other_than).hostname:
        raise ImproperlyConfigured(f"{name}: expected another host name than that of {other_than}, got {given!r}")
    return origin


def read_url_prefix(name: str) -> str:
    """Return an address below which paths are appended, without a slash at its end; empty if unset."""
    given = read_text(name)
    parts = urlparse(given)
    is_address = parts.scheme in {"http", "https"} and parts.hostname and not (parts.query or parts.fragment)
    if given and not is_address:
        shown = given.rpartition("@")[2]  # what is before it may be a password
        raise ImproperlyConfigured(f"{name}: expected https://name or https://name/path, got {shown!r}")
    return given.rstrip("/")


def read_headers(name: str) -> str:
    """Return headers of requests, name=value separated by commas, as OpenTelemetry states them. They may be secrets."""
    given = read_text(name)
    if given and not all(re.fullmatch(r"\s*[!#$%&'*+.^_`|~\w-]+\s*=.*", each) for each in given.split(",")):
        raise ImproperlyConfigured(f"{name}: expected name=value,name=value, got another text")
    return given


def read_share(name: str, *, default: float) -> float:
    """Return the variable as a number from 0 to 1."""
    text = read_text(name)
    try:
        share = float(text) if text else default
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}: expected a number from 0 to 1, got {text!r}") from error
    if not 0 <= share <= 1:
        raise ImproperlyConfigured(f"{name}: expected a number from 0 to 1, got {text!r}")
    return share


def _origin_of(name: str, given: str) -> str:
    parts = urlparse(given)
    if parts.scheme not in {"http", "https"} or not parts.netloc or parts.path.strip("/") or parts.query:
        raise ImproperlyConfigured(f"{name}: expected https://name without a path, got {given!r}")
    return f"{parts.scheme}://{parts.netloc}"


def read_evidence_store(name: str) -> str:
    """Return "directory", or the address s3://bucket/prefix of object storage."""
    given = read_text(name) or "directory"
    parts = urlparse(given)
    if given != "directory" and (parts.scheme != "s3" or not parts.netloc or parts.query or parts.fragment):
        raise ImproperlyConfigured(f"{name}: expected directory or s3://bucket/prefix, got {given!r}")
    return given


def read_url(name: str, *, password: str) -> str:
    """Return the URL of a server, with a password that is stated apart from it, as it is: it may have any character."""
    url = read_text(name)
    if not password:
        return url
    expected = f"expected {name} without a password when the password is stated apart"
    if not url:
        raise ImproperlyConfigured(f"{expected}, found no {name}. Set it, for example to redis://host:6379/0")
    parts = urlparse(url)
    if parts.password:
        raise ImproperlyConfigured(f"{expected}, found a password in both. Remove the one in {name}")
    user, _, host = parts.netloc.rpartition("@")
    return parts._replace(netloc=f"{user.removesuffix(':')}:{quote(password, safe='')}@{host}").geturl()


def parse_database_url(url: str) -> dict[str, object]:
    """Return Django's database settings for postgresql://user:password@host:port/name?option=value.

    A unix socket is given as ?host=/directory. Raises ImproperlyConfigured for any other engine: the register runs on
    PostgreSQL everywhere (docs/decisions).
    """
    parts = urlparse(url)
    if parts.scheme not in {"postgres", "postgresql"}:
        raise ImproperlyConfigured(f"DATABASE_URL: expected postgresql://..., got scheme {parts.scheme!r}")
    pairs = (pair.split("=", 1) for pair in parts.query.split("&") if "=" in pair)
    options = {key: unquote(value) for key, value in pairs}
    return {
        "ENGINE": "webapp.database",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": options.pop("host", parts.hostname or ""),
        "PORT": options.pop("port", str(parts.port or "")),
        "OPTIONS": {"connect_timeout": CONNECT_TIMEOUT_S} | options,
    }
