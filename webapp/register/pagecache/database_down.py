"""The answer of pages that need the database while it is away: 503, with the date of what can be read meanwhile."""

from collections.abc import Callable

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from psycopg.errors import QueryCanceled

from webapp.health import OK, ask_database
from webapp.register.pagecache import store
from webapp.templatetags import units

AWAY_HEADER = "X-Drivecert-Database"  # the part before Django answers from the snapshot instead where it can
RETRY_AFTER_S = 30
API = "/api/"


class DatabaseAwayMiddleware:
    """Turn the failure of a query into a page that says so, where the database really does not answer."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Answer for a database that is away, or took too long; a deadlock, say, is another matter."""
        if not isinstance(exception, OperationalError | InterfaceError):
            return None
        # Asked once: a server that starts answers a moment later, and a frozen one takes the whole time limit again.
        is_late = isinstance(exception.__cause__, QueryCanceled)  # webapp/database: a statement has a limit
        if not is_late and not is_lost(connection) and ask_database() == OK:
            return None
        return tell_away(request)


def is_lost(asked: BaseDatabaseWrapper) -> bool:
    """Tell whether a connection could not be made, or is broken."""
    return asked.connection is None or bool(asked.connection.closed)


def tell_away(request: HttpRequest) -> HttpResponse:
    """Say that the database is away, and of when the snapshot is."""
    snapshot = store.current(settings.SNAPSHOT_DIR)
    date = units.moment(snapshot.moment) if snapshot else ""
    headers = {"Retry-After": str(RETRY_AFTER_S), "Cache-Control": "no-store", AWAY_HEADER: "away"}
    if request.path.startswith(API):
        return _problem(date, headers)
    response = render(request, "503.html", {"date": date, "path": request.path}, status=503)
    for name, value in headers.items():
        response.headers[name] = value
    return response


def _problem(date: str, headers: dict[str, str]) -> HttpResponse:
    """Say it in the shape of the API's errors (RFC 9457)."""
    detail = "The register's database does not answer."
    if date:
        detail += f" Public pages and files without parameters are served from the snapshot of {date}."
    told = {"type": "about:blank", "title": "Service Unavailable", "status": 503, "detail": detail}
    return JsonResponse(told, status=503, content_type="application/problem+json", headers=headers)
