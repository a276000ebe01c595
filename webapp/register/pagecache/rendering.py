"""Public pages as the site itself renders them, compressed. Responses that are not public are refused."""

import gzip
from dataclasses import dataclass
from functools import cache
from typing import Any
from wsgiref.util import setup_testing_defaults

import zstandard
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.http.response import FileResponse, HttpResponseBase

COMPRESSED_FROM_BYTES = 512
WORTH_RATIO = 0.9
COMPRESSED_TYPES = ("text/", "application/", "image/svg+xml")
ZSTD_LEVEL, GZIP_LEVEL = 10, 9  # compressed once for each version, read thousands of times
# Set again for every response.
DROPPED_HEADERS = {"content-length", "connection", "date", "server"}


class NotPublicError(Exception):
    """The response is not a public page. The message gives the reason."""


@dataclass(frozen=True)
class Rendered:
    """A response: its headers and its bytes, plain, with gzip and with zstd (empty if compression gains nothing)."""

    headers: tuple[tuple[str, str], ...]
    forms: tuple[bytes, bytes, bytes]

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Return the sizes of the forms in bytes."""
        plain, by_gzip, by_zstd = self.forms
        return len(plain), len(by_gzip), len(by_zstd)


def render(path: str) -> Rendered:
    """Return the page at a path (with its query). Raises NotPublicError if the page is not public."""
    status, headers, content = request_page(path)
    _refuse_private(status, headers)
    stored = tuple((name, value) for name, value in headers if name.lower() not in DROPPED_HEADERS)
    return Rendered(stored, _forms(dict(headers).get("Content-Type", ""), content))


def request_page(path: str) -> tuple[str, list[tuple[str, str]], bytes]:
    """Return status, headers and bytes of the site's response to a client that is not signed in."""
    response = respond(_environ(path))
    headers = [*response.items(), *(("Set-Cookie", each.OutputString()) for each in response.cookies.values())]
    # `close()` would end the request and close the database connection, so that only the file of a response is closed.
    content = response.getvalue()
    if isinstance(response, FileResponse) and response.file_to_stream:
        response.file_to_stream.close()
    return f"{response.status_code} {response.reason_phrase}", headers, content


def respond(environ: dict[str, Any]) -> HttpResponseBase:
    """Return the site's response. No request signals are sent: they would close the database connection each time."""
    return site().get_response(WSGIRequest(environ))


@cache
def site() -> WSGIHandler:
    """Return the Django site with all its middleware, as `webapp.wsgi` runs it behind the snapshots."""
    return WSGIHandler()


def _environ(path: str) -> dict[str, Any]:
    path_info, _, query = path.partition("?")
    own_host = next((name for name in settings.ALLOWED_HOSTS if name != "*"), "localhost")
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


def _refuse_private(status: str, headers: list[tuple[str, str]]) -> None:
    by_name = {name.lower(): value for name, value in headers}
    if not status.startswith("200"):
        raise NotPublicError(f"answered {status}")
    if "public" not in by_name.get("cache-control", ""):
        raise NotPublicError(f"Cache-Control: {by_name.get('cache-control', 'none')}")
    if "set-cookie" in by_name or "cookie" in by_name.get("vary", "").lower():
        raise NotPublicError("depends on the client")
    if "noindex" in by_name.get("x-robots-tag", ""):
        raise NotPublicError("noindex")


def _forms(content_type: str, content: bytes) -> tuple[bytes, bytes, bytes]:
    if len(content) < COMPRESSED_FROM_BYTES or not content_type.startswith(COMPRESSED_TYPES):
        return content, b"", b""
    by_gzip = gzip.compress(content, GZIP_LEVEL, mtime=0)
    if len(by_gzip) > WORTH_RATIO * len(content):  # already compressed, for example Parquet
        return content, b"", b""
    return content, by_gzip, zstandard.ZstdCompressor(level=ZSTD_LEVEL).compress(content)
