"""Public pages as the site itself renders them, compressed. Responses that are not public are refused."""

import gzip
from functools import cache
from http import HTTPStatus
from typing import Any
from wsgiref.util import setup_testing_defaults

import zstandard
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.http.response import FileResponse, HttpResponseBase

from webapp.register.http.evidence_host import is_evidence_host

COMPRESSED_FROM_BYTES = 512
WORTH_RATIO = 0.9
COMPRESSED_TYPES = ("text/", "application/", "image/svg+xml")
ZSTD_LEVEL, GZIP_LEVEL = 10, 9  # compressed once for each version, read thousands of times
QUICK_ZSTD_LEVEL, QUICK_GZIP_LEVEL = 3, 5  # while a client waits
# Set again for every response.
DROPPED_HEADERS = {"content-length", "connection", "date", "server", "x-request-id"}


Headers = tuple[tuple[str, str], ...]


class NotPublicError(Exception):
    """The response is not a public page. The message gives the reason."""


def render(path: str) -> tuple[Headers, tuple[bytes, bytes, bytes]]:
    """Return headers and bytes of the page at a path (with its query): plain, with gzip and with zstd.

    Bytes are empty if compression gains nothing. Raises NotPublicError if the page is not public.
    """
    response = respond(_environ(path))
    # `close()` would end the request and close the database connection, so that only the file of a response is closed.
    content = response.getvalue()
    if isinstance(response, FileResponse) and response.file_to_stream:
        response.file_to_stream.close()
    refuse_private(response)
    headers = tuple((name, value) for name, value in response.items() if name.lower() not in DROPPED_HEADERS)
    return headers, _forms(response.get("Content-Type", ""), content)


def respond(environ: dict[str, Any]) -> HttpResponseBase:
    """Return the site's response. No request signals are sent: they would close the database connection each time."""
    return site().get_response(WSGIRequest(environ))


@cache
def site() -> WSGIHandler:
    """Return the Django site with all its middleware, as `webapp.wsgi` runs it behind the snapshots."""
    return WSGIHandler()


def _environ(path: str) -> dict[str, Any]:
    path_info, _, query = path.partition("?")
    names = (name for name in settings.ALLOWED_HOSTS if name != "*" and not is_evidence_host(name))
    own_host = next(names, "localhost")
    environ = {
        "PATH_INFO": path_info,
        "QUERY_STRING": query,
        "HTTP_HOST": own_host.removeprefix("."),  # no page depends on which one of the allowed names it is
        "HTTP_X_FORWARDED_PROTO": "https",  # avoids the redirect to https
        "REMOTE_ADDR": "127.0.0.1",
        "wsgi.url_scheme": "https",
    }
    setup_testing_defaults(environ)
    return environ


def is_public(response: HttpResponseBase) -> bool:
    """Return whether a response is a public page, the same for every client."""
    try:
        refuse_private(response)
    except NotPublicError:
        return False
    return True


def refuse_private(response: HttpResponseBase) -> None:
    """Raise NotPublicError unless a response is a public page, the same for every client."""
    if response.status_code != HTTPStatus.OK:
        raise NotPublicError(f"answered {response.status_code} {response.reason_phrase}")
    if "public" not in response.get("Cache-Control", ""):
        raise NotPublicError(f"Cache-Control: {response.get('Cache-Control', 'none')}")
    if response.cookies or "Set-Cookie" in response or "cookie" in response.get("Vary", "").lower():
        raise NotPublicError("depends on the client")
    if "noindex" in response.get("X-Robots-Tag", ""):
        raise NotPublicError("noindex")


def may_be_compressed(content_type: str, content: bytes) -> bool:
    """Return whether a page of this type and size is compressed if that makes it smaller."""
    return len(content) >= COMPRESSED_FROM_BYTES and content_type.startswith(COMPRESSED_TYPES)


def compressed(content_type: str, content: bytes, coding: str) -> bytes | None:
    """Return a page in a coding while a client waits; None without a coding, or if compression gains nothing."""
    if not coding or not may_be_compressed(content_type, content):
        return None
    if coding == "zstd":
        packed = zstandard.ZstdCompressor(level=QUICK_ZSTD_LEVEL).compress(content)
    else:
        packed = gzip.compress(content, QUICK_GZIP_LEVEL, mtime=0)
    return packed if len(packed) <= WORTH_RATIO * len(content) else None


def _forms(content_type: str, content: bytes) -> tuple[bytes, bytes, bytes]:
    if not may_be_compressed(content_type, content):
        return content, b"", b""
    by_gzip = gzip.compress(content, GZIP_LEVEL, mtime=0)
    if len(by_gzip) > WORTH_RATIO * len(content):  # already compressed, for example Parquet
        return content, b"", b""
    return content, by_gzip, zstandard.ZstdCompressor(level=ZSTD_LEVEL).compress(content)
