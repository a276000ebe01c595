"""Responses from the snapshot, sent before Django runs: one look-up, and the bytes of one file, cached in memory.

A page of the snapshot is sent first only while the snapshot is compared with the register regularly (TRUSTED_S), and
only if its group is not purged. Otherwise Django responds. If Django has no database, the page of the snapshot is sent
after all, unless it is purged.
"""

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from email.utils import format_datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http.request import validate_host

from webapp.register.pagecache import store
from webapp.register.pagecache.database_down import DATABASE_DOWN_HEADER
from webapp.register.pagecache.store import Entry, Form, Snapshot
from webapp.tracking import without_marks

TRUSTED_S = 60  # a withdrawal shows within a minute, even if the worker is down
POLL_S = 0.5
DATABASE_DOWN_S = 5  # for so long after a failed attempt, pages of the snapshot are sent without trying Django first
ACCEPTED_MAX = 256  # different Accept-Encoding headers and host names that are remembered
DATE_HEADER = "X-Drivecert-Snapshot"
CODINGS = (("zstd", 2), ("gzip", 1))  # in the order of preference, with their place in a page's file
NOT_OF_304 = {"content-type", "content-disposition"}

Environ = dict[str, Any]
Headers = list[tuple[str, str]]
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
    marker: tuple[int, int] | None = None
    is_trusted: bool = False


class CurrentSnapshot:
    """The current snapshot, polled every POLL_S: its link, its purged groups, and the time of the last comparison."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._polled_at = time.monotonic()
        self.view = self._refresh(View())  # before the first request, so that no thread finds it empty

    def poll(self) -> View:
        """Return the state, at most POLL_S old."""
        now = time.monotonic()
        if now - self._polled_at >= POLL_S:
            self._polled_at = now
            self.view = self._refresh(self.view)
        return self.view

    def _refresh(self, before: View) -> View:
        directory = store.current_directory(self.root)
        is_trusted = self._age_s() <= TRUSTED_S
        if before.snapshot is None or directory != before.snapshot.directory:
            before = View(store.read(directory))
        if before.snapshot is None:
            return View()
        marker = _marker(before.snapshot.directory)
        purged = before.purged if marker == before.marker else store.purged_of(before.snapshot.directory)
        return View(before.snapshot, purged, marker, is_trusted)

    def _age_s(self) -> float:
        try:
            return time.time() - (self.root / store.COMPARED_AT).stat().st_mtime
        except FileNotFoundError:
            return float("inf")


def _marker(directory: Path) -> tuple[int, int] | None:
    try:
        found = (directory / store.PURGED).stat()
    except FileNotFoundError:
        return None
    return found.st_mtime_ns, found.st_size


class SnapshotMiddleware:
    """WSGI middleware that sends pages of the snapshot."""

    def __init__(self, application: Application, root: Path) -> None:
        self.application = application
        self.current = CurrentSnapshot(root)
        self._down_until = float("-inf")
        self._codings: dict[str, tuple[tuple[str, int], ...]] = {}
        self._hosts: set[str] = set()

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        view = self.current.poll()
        snapshot, entry = view.snapshot, self._find(view, environ)
        if snapshot is None or entry is None:
            return self.application(environ, start_response)
        if view.is_trusted or time.monotonic() < self._down_until:
            answer = self._answer(snapshot, entry, environ, start_response)
            return self.application(environ, start_response) if answer is None else answer
        return self._try_django_first(snapshot, entry, environ, start_response)

    def _find(self, view: View, environ: Environ) -> Entry | None:
        """Return the requested page if the snapshot may be used. A path is looked up, never used as a file path."""
        if view.snapshot is None or environ["REQUEST_METHOD"] not in {"GET", "HEAD"}:
            return None
        path, query = environ.get("PATH_INFO", ""), environ.get("QUERY_STRING", "")
        if query := query and without_marks(query):
            path += f"?{query}"
        entry = view.snapshot.entries.get(path)
        if entry is None or entry.group in view.purged or not self._is_our_host(environ):
            return None
        return entry

    def _is_our_host(self, environ: Environ) -> bool:
        """Return whether the host is allowed; Django handles other hosts and redirects to https."""
        if settings.SECURE_SSL_REDIRECT and not _is_secure(environ):
            return False
        host = environ.get("HTTP_HOST", "")
        if host in self._hosts:
            return True
        name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
        is_ours = validate_host(name.lower(), settings.ALLOWED_HOSTS)
        if is_ours and len(self._hosts) < ACCEPTED_MAX:
            self._hosts.add(host)
        return is_ours

    def _try_django_first(
        self, snapshot: Snapshot, entry: Entry, environ: Environ, start_response: StartResponse
    ) -> Iterable[bytes]:
        """Return Django's response, or the page of the snapshot if Django has no database."""
        deferred = _DeferredStart(start_response)
        answer = self.application(environ, deferred)
        if not deferred.is_database_down:
            return answer
        self._down_until = time.monotonic() + DATABASE_DOWN_S
        instead = self._answer(snapshot, entry, environ, start_response)
        if instead is None:
            deferred.release()
            return answer
        close = getattr(answer, "close", None)
        if close:
            close()
        return instead

    def _answer(
        self, snapshot: Snapshot, entry: Entry, environ: Environ, start_response: StartResponse
    ) -> list[bytes] | None:
        """Send the page in the requested coding; None if its file was removed with an old version."""
        coding, place = self._choose(environ.get("HTTP_ACCEPT_ENCODING", ""), entry)
        form = snapshot.forms.by_page.get((entry.file, coding))
        if form is None:
            form = snapshot.forms.by_page[entry.file, coding] = _form(snapshot, entry, coding)
        if form.etag and _is_known(environ.get("HTTP_IF_NONE_MATCH", ""), form.etag):
            start_response("304 Not Modified", [each for each in form.headers if each[0].lower() not in NOT_OF_304])
            return [b""]
        headers = [*form.headers, ("Content-Length", str(entry.sizes[place]))]
        if environ["REQUEST_METHOD"] == "HEAD":
            start_response("200 OK", headers)
            return [b""]
        content = form.content
        if content is None:
            content = _read(snapshot.directory / entry.file, entry.sizes, place)
            if content is None:
                return None
            snapshot.forms.store(form, content)
        start_response("200 OK", headers)
        return [content]

    def _choose(self, accepted: str, entry: Entry) -> tuple[str, int]:
        codings = self._codings.get(accepted)
        if codings is None:
            codings = tuple((name, place) for name, place in CODINGS if _accepts(accepted, name))
            if len(self._codings) < ACCEPTED_MAX:
                self._codings[accepted] = codings
        return next(((name, place) for name, place in codings if entry.sizes[place]), ("", 0))


class _DeferredStart:
    """A start_response that is deferred if Django reports that its database is down."""

    def __init__(self, start_response: StartResponse) -> None:
        self.start_response = start_response
        self.is_database_down = False
        self._arguments: tuple[Any, ...] = ()

    def __call__(self, status: str, headers: Headers, *rest: Any) -> Any:
        self.is_database_down = any(name == DATABASE_DOWN_HEADER for name, _ in headers)
        self._arguments = (status, headers, *rest)
        return None if self.is_database_down else self.start_response(*self._arguments)

    def release(self) -> None:
        """Send the deferred status and headers."""
        self.start_response(*self._arguments)


def _form(snapshot: Snapshot, entry: Entry, coding: str) -> Form:
    """Return the headers of a form and its ETag. Each content coding needs an ETag of its own (RFC 9110)."""
    etag, headers = "", []
    for name, value in entry.headers:
        lower = name.lower()
        if lower == "etag":
            etag = f'{value[:-1]}-{coding}"' if coding else value
        elif lower != "vary":
            headers.append((name, value))
    added = [("Vary", "Accept-Encoding")] if any(entry.sizes[1:]) else []
    added += [("Content-Encoding", coding)] if coding else []
    added += [("ETag", etag)] if etag else []
    return Form([*headers, *added, (DATE_HEADER, format_datetime(snapshot.moment, usegmt=True))], etag)


def _read(path: Path, sizes: tuple[int, int, int], place: int) -> bytes | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        content = os.pread(descriptor, sizes[place], sum(sizes[:place]))
    finally:
        os.close(descriptor)
    return content if len(content) == sizes[place] else None


def _accepts(accepted: str, coding: str) -> bool:
    """Return whether a header accepts a coding, that is, not with a weight of 0 (RFC 9110, 12.5.3)."""
    for part in accepted.lower().split(","):
        name, _, weight = part.partition(";")
        if name.strip() == coding:
            return weight.replace(" ", "").strip("q=0.") != "" or not weight.strip()
    return False


def _is_known(header: str, etag: str) -> bool:
    """Return whether If-None-Match has the ETag (RFC 9110, 13.1.2: compared weakly)."""
    return bool(header) and (
        header == etag or any(each.strip().removeprefix("W/") in {etag, "*"} for each in header.split(","))
    )


def _is_secure(environ: Environ) -> bool:
    if settings.BEHIND_TLS_PROXY:
        return bool(environ.get("HTTP_X_FORWARDED_PROTO", "").split(",")[0].strip() == "https")
    return bool(environ.get("wsgi.url_scheme") == "https")
