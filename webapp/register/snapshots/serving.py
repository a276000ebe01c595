"""Responses from the snapshot, sent before Django runs: one look-up, and the bytes of one file, cached in memory.

A page of the snapshot is sent first only while the snapshot is compared with the register regularly (TRUSTED_S), and
only if its group is not purged. Otherwise Django responds. If Django has no database, the page of the snapshot is sent
after all, unless it is purged.

A page of the snapshot with parameters, such as a filter, is rendered by Django once for each version of the snapshot,
and compressed as the client accepts it. The first change of the register after the version was written ends its use.
"""

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from email.utils import format_datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.http.request import split_domain_port, validate_host
from django.utils.http import parse_etags

from webapp.logs.request_ids import HEADER as REQUEST_ID_HEADER
from webapp.middleware import without_marks
from webapp.register.http.evidence_host import is_evidence_host
from webapp.register.http.query_params import ADDRESS_AT_MOST
from webapp.register.snapshots import store
from webapp.register.snapshots.database_down import DATABASE_DOWN_HEADER
from webapp.register.snapshots.rendering import compressed, is_public, may_be_compressed
from webapp.register.snapshots.store import Entry, Form, Snapshot

TRUSTED_S = 60  # a withdrawal shows within a minute, even if the worker is down
POLL_S = 0.5
DATABASE_DOWN_S = 5  # for so long after a failed attempt, pages of the snapshot are sent without trying Django first
REMEMBERED_MAX = 256  # different Accept-Encoding headers and host names
DATE_HEADER = "X-Drivecert-Snapshot"
CODINGS = (("zstd", 2), ("gzip", 1))  # in the order of preference, with their place in a page's file
NOT_OF_304 = {"content-type", "content-disposition", "content-length"}

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Application = Callable[[Environ, StartResponse], Iterable[bytes]]


def serve_snapshots_first(application: Application) -> Application:
    """Return the application wrapped so that the snapshot of the data directory is served first."""
    return SnapshotMiddleware(application, settings.SNAPSHOT_DIR)


@dataclass(frozen=True)
class View:
    """State of the snapshot at one moment. It is replaced as a whole, so that threads never mix two versions."""

    snapshot: Snapshot | None = None
    purged: frozenset[str] = frozenset()
    is_trusted: bool = False


class CurrentSnapshot:
    """The current snapshot, polled every POLL_S: its link, its purged groups, and the time of the last comparison."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._polled_at = time.monotonic()
        self.view = self._refresh(None)  # before the first request, so that no thread finds it empty

    def poll(self) -> View:
        """Return the state, at most POLL_S old."""
        now = time.monotonic()
        if now - self._polled_at >= POLL_S:
            self._polled_at = now
            self.view = self._refresh(self.view.snapshot)
        return self.view

    def _refresh(self, snapshot: Snapshot | None) -> View:
        directory = store.current_directory(self.root)
        if snapshot is None or directory != snapshot.directory:
            snapshot = store.read(directory)
        if snapshot is None:
            return View()
        is_trusted = False
        with suppress(FileNotFoundError):
            is_trusted = time.time() - (self.root / store.COMPARED_AT).stat().st_mtime <= TRUSTED_S
        return View(snapshot, store.purged_of(snapshot.directory), is_trusted)


class SnapshotMiddleware:
    """WSGI middleware that sends pages of the snapshot."""

    def __init__(self, application: Application, root: Path) -> None:
        self.application = application
        self.current = CurrentSnapshot(root)
        self._down_until = float("-inf")

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        view = self.current.poll()
        address = address_of(environ)
        snapshot, entry = view.snapshot, self._find(view, environ, address)
        if snapshot is None or entry is None:
            if snapshot is None or not self._may_store(view, environ, address):
                return self.application(environ, start_response)
            return self._send_stored_or_render(snapshot, address, environ, start_response)
        if view.is_trusted or time.monotonic() < self._down_until:
            answer = self._answer(snapshot, entry, environ, start_response)
            return self.application(environ, start_response) if answer is None else answer
        return self._try_django_first(snapshot, entry, environ, start_response)

    def _find(self, view: View, environ: Environ, address: str) -> Entry | None:
        """Return the page at an address if the snapshot may be used. It is looked up, never used as a file path."""
        if view.snapshot is None or environ["REQUEST_METHOD"] not in {"GET", "HEAD"}:
            return None
        entry = view.snapshot.entries.get(address)
        if entry is None or entry.group in view.purged or not _is_our_host(environ):
            return None
        return entry

    def _may_store(self, view: View, environ: Environ, address: str) -> bool:
        """Return whether the response for an address with parameters is one of a page of the snapshot.

        With limits of its reader, a page may show drives that the page without parameters does not. So the purge of any
        group ends the use of all stored responses.
        """
        is_current = view.is_trusted and not view.purged and len(address) <= ADDRESS_AT_MOST
        return is_current and self._find(view, environ, environ.get("PATH_INFO", "")) is not None

    def _send_stored_or_render(
        self, snapshot: Snapshot, address: str, environ: Environ, start_response: StartResponse
    ) -> Iterable[bytes]:
        """Send the last response for an address with parameters; the first time Django's, and store it if public."""
        coding = next((name for name, _ in _accepted_codings(environ.get("HTTP_ACCEPT_ENCODING", ""))), "")
        key = f"{coding}{address}"
        form = snapshot.responses.get(key)
        if form is not None:
            return _send(form, environ, start_response)
        calls: list[tuple[Any, ...]] = []
        answer = self.application(environ, lambda *arguments: calls.append(arguments))
        [(status, headers, *rest)] = calls
        is_whole = environ["REQUEST_METHOD"] == "GET"
        if is_whole and isinstance(answer, HttpResponse) and is_public(answer) and "Vary" not in answer.headers:
            of_request = [each for each in headers if each[0] == REQUEST_ID_HEADER]
            form = _compressed_form([each for each in headers if each not in of_request], answer.content, coding)
            snapshot.responses.store(key, form)
            [answer.content] = _send(replace(form, headers=[*form.headers, *of_request]), environ, start_response)
            return answer  # the server closes it, and with it the request
        start_response(status, headers, *rest)
        return answer

    def _try_django_first(
        self, snapshot: Snapshot, entry: Entry, environ: Environ, start_response: StartResponse
    ) -> Iterable[bytes]:
        """Return Django's response, or the page of the snapshot if Django has no database."""
        calls: list[tuple[Any, ...]] = []  # Django starts its response once, before it returns the content
        answer = self.application(environ, lambda *arguments: calls.append(arguments))
        [(status, headers, *rest)] = calls
        if any(name == DATABASE_DOWN_HEADER for name, _ in headers):
            self._down_until = time.monotonic() + DATABASE_DOWN_S
            instead = self._answer(snapshot, entry, environ, start_response)
            if instead is not None:
                if close := getattr(answer, "close", None):
                    close()
                return instead
        start_response(status, headers, *rest)
        return answer

    def _answer(
        self, snapshot: Snapshot, entry: Entry, environ: Environ, start_response: StartResponse
    ) -> list[bytes] | None:
        """Send the page in the requested coding; None if its file was removed with an old version."""
        codings = _accepted_codings(environ.get("HTTP_ACCEPT_ENCODING", ""))
        coding, place = next(((name, place) for name, place in codings if entry.sizes[place]), ("", 0))
        form = snapshot.forms.by_page.get((entry.file, coding)) or _form(snapshot, entry, coding, place)
        return None if form is None else _send(form, environ, start_response)


def address_of(environ: Environ) -> str:
    """Return the path and the query of a request, without the marks of a mail or an advertisement."""
    path, query = environ.get("PATH_INFO", ""), environ.get("QUERY_STRING", "")
    if query := query and without_marks(query):
        path += f"?{query}"
    return str(path)


def _send(form: Form, environ: Environ, start_response: StartResponse) -> list[bytes]:
    """Send a page, or status 304 if the client has it: If-None-Match is compared weakly (RFC 9110, 13.1.2)."""
    known = environ.get("HTTP_IF_NONE_MATCH", "")
    if known and form.etag and any(each.removeprefix("W/") in {form.etag, "*"} for each in parse_etags(known)):
        start_response("304 Not Modified", [each for each in form.headers if each[0].lower() not in NOT_OF_304])
        return [b""]
    start_response("200 OK", form.headers)
    return [b"" if environ["REQUEST_METHOD"] == "HEAD" else form.content]


def _form(snapshot: Snapshot, entry: Entry, coding: str, place: int) -> Form | None:
    """Return a page in a coding, stored in memory while there is room; None if its file is gone or truncated.

    Each content coding needs an ETag of its own (RFC 9110).
    """
    try:
        with (snapshot.directory / entry.file).open("rb") as file:
            file.seek(sum(entry.sizes[:place]))
            content = file.read(entry.sizes[place])
    except FileNotFoundError:
        return None
    if len(content) != entry.sizes[place]:
        return None
    form = _coded_form(entry.headers, content, coding, has_codings=any(entry.sizes[1:]))
    form.headers.append((DATE_HEADER, format_datetime(snapshot.moment, usegmt=True)))
    snapshot.forms.store((entry.file, coding), form)
    return form


def _compressed_form(headers: Iterable[tuple[str, str]], content: bytes, coding: str) -> Form:
    """Return a response of Django in a coding, or as it is if compression gains nothing."""
    kind = next((value for name, value in headers if name.lower() == "content-type"), "")
    packed = compressed(kind, content, coding)
    if packed is None:
        return _coded_form(headers, content, "", has_codings=may_be_compressed(kind, content))
    return _coded_form(headers, packed, coding, has_codings=True)


def _coded_form(headers: Iterable[tuple[str, str]], content: bytes, coding: str, *, has_codings: bool) -> Form:
    """Return a page in a coding, with the headers of the plain page adapted to it."""
    etag, own = "", []
    for name, value in headers:
        if name.lower() == "etag":
            etag = f'{value[:-1]}-{coding}"' if coding else value
        elif name.lower() not in {"vary", "content-length"}:
            own.append((name, value))
    own += [("Vary", "Accept-Encoding")] if has_codings else []
    own += [("Content-Encoding", coding)] if coding else []
    own += [("ETag", etag)] if etag else []
    own.append(("Content-Length", str(len(content))))
    return Form(own, etag, content)


@lru_cache(maxsize=REMEMBERED_MAX)
def _accepted_codings(header: str) -> list[tuple[str, int]]:
    """Return the codings that an Accept-Encoding header accepts, in the order of preference."""
    return [(name, place) for name, place in CODINGS if _accepts(header, name)]


def _accepts(accepted: str, coding: str) -> bool:
    """Return whether a header accepts a coding, that is, not with a weight of 0 (RFC 9110, 12.5.3)."""
    for part in accepted.lower().split(","):
        name, _, weight = part.partition(";")
        if name.strip() == coding:
            return weight.replace(" ", "").strip("q=0.") != "" or not weight.strip()
    return False


def _is_our_host(environ: Environ) -> bool:
    """Return whether the site has the host and scheme; Django refuses other hosts, and redirects to https."""
    host = environ.get("HTTP_HOST", "")
    is_allowed = _is_allowed(host, tuple(settings.ALLOWED_HOSTS)) and not is_evidence_host(host)
    return is_allowed and (not settings.SECURE_SSL_REDIRECT or _is_secure(environ))


@lru_cache(maxsize=REMEMBERED_MAX)
def _is_allowed(host: str, allowed: tuple[str, ...]) -> bool:
    return validate_host(split_domain_port(host)[0], allowed)


def _is_secure(environ: Environ) -> bool:
    if settings.BEHIND_TLS_PROXY:
        return bool(environ.get("HTTP_X_FORWARDED_PROTO", "").split(",")[0].strip() == "https")
    return bool(environ.get("wsgi.url_scheme") == "https")
