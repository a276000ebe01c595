"""Answers from the snapshot before Django is asked: a look-up, and the bytes of one file, kept once they were read.

A page of the snapshot is taken for the register's word only while somebody compares the two (TRUSTED_S) and its group
is not purged. Otherwise Django answers; where its database is away, the snapshot does after all, unless it is purged.
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
from webapp.register.pagecache.database_down import AWAY_HEADER
from webapp.register.pagecache.store import Entry, Form, Snapshot
from webapp.tracking import without_marks

TRUSTED_S = 60  # a withdrawal shows within a minute, whatever stands still
POLL_S = 0.5
AWAY_S = 5  # after an answer without the database, Django is not asked again for pages that the snapshot has
ACCEPTED_MAX = 256  # different Accept-Encoding headers and host names that are remembered
DATE_HEADER = "X-Drivecert-Snapshot"
CODINGS = (("zstd", 2), ("gzip", 1))  # in the order of preference, with their place in a page's file
NOT_OF_304 = {"content-type", "content-disposition"}

Environ = dict[str, Any]
Headers = list[tuple[str, str]]
StartResponse = Callable[..., Any]
Application = Callable[[Environ, StartResponse], Iterable[bytes]]


def snapshots_first(application: Application) -> Application:
    """Return the application with the snapshot of the data directory before it."""
    return SnapshotsFirst(application, settings.SNAPSHOT_DIR)


@dataclass(frozen=True)
class View:
    """What is known of the snapshot at one moment, told at once: threads must not mix two versions."""

    snapshot: Snapshot | None = None
    purged: frozenset[str] = frozenset()
    marker: tuple[int, int] | None = None
    is_trusted: bool = False


class Standing:
    """The snapshot that stands, looked for anew every POLL_S: its link, its marker of purged groups, the last look."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._polled_at = time.monotonic()
        self.view = self._look(View())  # before the first request: others must not find nothing while one looks

    def poll(self) -> View:
        """Return what is known, at most POLL_S old."""
        now = time.monotonic()
        if now - self._polled_at >= POLL_S:
            self._polled_at = now
            self.view = self._look(self.view)
        return self.view

    def _look(self, before: View) -> View:
        directory = store.standing_directory(self.root)
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
            return time.time() - (self.root / store.LOOKED_AT).stat().st_mtime
        except FileNotFoundError:
            return float("inf")


def _marker(directory: Path) -> tuple[int, int] | None:
    try:
        found = (directory / store.PURGED).stat()
    except FileNotFoundError:
        return None
    return found.st_mtime_ns, found.st_size


class SnapshotsFirst:
    """A WSGI application before another one."""

    def __init__(self, application: Application, root: Path) -> None:
        self.application = application
        self.standing = Standing(root)
        self._away_until = float("-inf")
        self._codings: dict[str, tuple[tuple[str, int], ...]] = {}
        self._hosts: set[str] = set()

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        view = self.standing.poll()
        snapshot, entry = view.snapshot, self._find(view, environ)
        if snapshot is None or entry is None:
            return self.application(environ, start_response)
        if view.is_trusted or time.monotonic() < self._away_until:
            answer = self._answer(snapshot, entry, environ, start_response)
            return self.application(environ, start_response) if answer is None else answer
        return self._ask_django_first(snapshot, entry, environ, start_response)

    def _find(self, view: View, environ: Environ) -> Entry | None:
        """Return the page asked for, if the snapshot may answer; a path is looked up, and is never a path of a file."""
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
        """What Django refuses or sends to https is left to Django."""
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

    def _ask_django_first(
        self, snapshot: Snapshot, entry: Entry, environ: Environ, start_response: StartResponse
    ) -> Iterable[bytes]:
        """Return Django's answer, or the snapshot's where Django has no database."""
        held = _Held(start_response)
        answer = self.application(environ, held)
        if not held.is_away:
            return answer
        self._away_until = time.monotonic() + AWAY_S
        instead = self._answer(snapshot, entry, environ, start_response)
        if instead is None:
            held.release()
            return answer
        close = getattr(answer, "close", None)
        if close:
            close()
        return instead

    def _answer(
        self, snapshot: Snapshot, entry: Entry, environ: Environ, start_response: StartResponse
    ) -> list[bytes] | None:
        """Answer with the page in the form asked for; None where its file is gone with an old version."""
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
            snapshot.forms.keep(form, content)
        start_response("200 OK", headers)
        return [content]

    def _choose(self, accepted: str, entry: Entry) -> tuple[str, int]:
        codings = self._codings.get(accepted)
        if codings is None:
            codings = tuple((name, place) for name, place in CODINGS if _accepts(accepted, name))
            if len(self._codings) < ACCEPTED_MAX:
                self._codings[accepted] = codings
        return next(((name, place) for name, place in codings if entry.sizes[place]), ("", 0))


class _Held:
    """A start_response that waits where Django says that its database is away."""

    def __init__(self, start_response: StartResponse) -> None:
        self.start_response = start_response
        self.is_away = False
        self._told: tuple[Any, ...] = ()

    def __call__(self, status: str, headers: Headers, *rest: Any) -> Any:
        self.is_away = any(name == AWAY_HEADER for name, _ in headers)
        self._told = (status, headers, *rest)
        return None if self.is_away else self.start_response(*self._told)

    def release(self) -> None:
        """Let what was said through."""
        self.start_response(*self._told)


def _form(snapshot: Snapshot, entry: Entry, coding: str) -> Form:
    """Return the headers of a form, and its ETag: two forms of a page have two, as two sequences of bytes must."""
    etag, headers = "", []
    for name, value in entry.headers:
        lower = name.lower()
        if lower == "etag":
            etag = f'{value[:-1]}-{coding}"' if coding else value
        elif lower != "vary":
            headers.append((name, value))
    told = [("Vary", "Accept-Encoding")] if any(entry.sizes[1:]) else []
    told += [("Content-Encoding", coding)] if coding else []
    told += [("ETag", etag)] if etag else []
    return Form([*headers, *told, (DATE_HEADER, format_datetime(snapshot.moment, usegmt=True))], etag)


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
    """Tell whether a header names a coding, and not with a weight of 0 (RFC 9110, 12.5.3)."""
    for part in accepted.lower().split(","):
        name, _, weight = part.partition(";")
        if name.strip() == coding:
            return weight.replace(" ", "").strip("q=0.") != "" or not weight.strip()
    return False


def _is_known(header: str, etag: str) -> bool:
    """Tell whether If-None-Match names the bytes (RFC 9110, 13.1.2: compared weakly)."""
    return bool(header) and (
        header == etag or any(each.strip().removeprefix("W/") in {etag, "*"} for each in header.split(","))
    )


def _is_secure(environ: Environ) -> bool:
    if settings.BEHIND_TLS_PROXY:
        return bool(environ.get("HTTP_X_FORWARDED_PROTO", "").split(",")[0].strip() == "https")
    return bool(environ.get("wsgi.url_scheme") == "https")
