"""Pages as the site itself answers them, with their bytes compressed; anything that is not for everyone is refused."""

import gzip
import io
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import zstandard
from django.conf import settings
from django.core.handlers.base import BaseHandler
from django.core.handlers.wsgi import WSGIRequest
from django.http.response import FileResponse, HttpResponseBase

COMPRESSED_FROM_BYTES = 512
WORTH_RATIO = 0.9
COMPRESSED_TYPES = ("text/", "application/", "image/svg+xml")
ZSTD_LEVEL, GZIP_LEVEL = 10, 9  # once a version, and read thousands of times
# Set anew for every answer.
NOT_KEPT = {"content-length", "connection", "date", "server"}


class NotPublicError(Exception):
    """The answer is no page for everyone; the sentence says what it is."""


@dataclass(frozen=True)
class Rendered:
    """An answer: its headers, and its bytes as they are, by gzip and by zstd (empty where that gains nothing)."""

    headers: tuple[tuple[str, str], ...]
    forms: tuple[bytes, bytes, bytes]

    @property
    def sizes(self) -> tuple[int, int, int]:
        """The bytes of each form."""
        plain, by_gzip, by_zstd = self.forms
        return len(plain), len(by_gzip), len(by_zstd)


def render(path: str) -> Rendered:
    """Return what anyone gets at a path, with its query. Raises NotPublicError for what is not for everyone."""
    status, headers, content = ask(path)
    _refuse_private(status, headers)
    kept = tuple((name, value) for name, value in headers if name.lower() not in NOT_KEPT)
    return Rendered(kept, _forms(dict(headers).get("Content-Type", ""), content))


def ask(path: str) -> tuple[str, list[tuple[str, str]], bytes]:
    """Return status, headers and bytes of the site's own answer to someone who is signed in nowhere."""
    response = respond(_environ(path))
    headers = [*response.items(), *(("Set-Cookie", each.OutputString()) for each in response.cookies.values())]
    return f"{response.status_code} {response.reason_phrase}", headers, _content(response)


def respond(environ: dict[str, Any]) -> HttpResponseBase:
    """Return the site's answer, without the signals of a request: they would close the connection between two pages."""
    return site().get_response(WSGIRequest(environ))


def _content(response: HttpResponseBase) -> bytes:
    """Return the bytes; not by `close()`, which would end the request and with it the connection between two pages."""
    content = b"".join(_chunks(response))
    if isinstance(response, FileResponse) and response.file_to_stream:
        response.file_to_stream.close()
    return content


def _chunks(response: HttpResponseBase) -> Iterator[bytes]:
    yield from response


@cache
def site() -> BaseHandler:
    """Return the site with all its middleware, as `webapp.wsgi` serves it behind the snapshots."""
    handler = BaseHandler()
    handler.load_middleware()
    return handler


def _environ(path: str) -> dict[str, Any]:
    path_info, _, query = path.partition("?")
    return {
        "REQUEST_METHOD": "GET",
        "SCRIPT_NAME": "",
        "PATH_INFO": path_info,
        "QUERY_STRING": query,
        "SERVER_NAME": _own_host(),
        "SERVER_PORT": "443",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "HTTP_HOST": _own_host(),
        "HTTP_X_FORWARDED_PROTO": "https",  # no move to https, where the site asks for one
        "REMOTE_ADDR": "127.0.0.1",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "https",
        "wsgi.input": io.BytesIO(),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }


def _own_host() -> str:
    """Return a name that the site answers to; no page depends on which."""
    allowed = next((name for name in settings.ALLOWED_HOSTS if name != "*"), "localhost")
    return allowed.removeprefix(".")


def _refuse_private(status: str, headers: list[tuple[str, str]]) -> None:
    told = {name.lower(): value for name, value in headers}
    if not status.startswith("200"):
        raise NotPublicError(f"answered {status}")
    if "public" not in told.get("cache-control", ""):
        raise NotPublicError(f"Cache-Control: {told.get('cache-control', 'none')}")
    if "set-cookie" in told or "cookie" in told.get("vary", "").lower():
        raise NotPublicError("depends on who asks")
    if "noindex" in told.get("x-robots-tag", ""):
        raise NotPublicError("noindex")


def _forms(content_type: str, content: bytes) -> tuple[bytes, bytes, bytes]:
    if len(content) < COMPRESSED_FROM_BYTES or not content_type.startswith(COMPRESSED_TYPES):
        return content, b"", b""
    by_gzip = gzip.compress(content, GZIP_LEVEL, mtime=0)
    if len(by_gzip) > WORTH_RATIO * len(content):  # compressed within, as Parquet is
        return content, b"", b""
    return content, by_gzip, zstandard.ZstdCompressor(level=ZSTD_LEVEL).compress(content)
