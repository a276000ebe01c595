"""Status 503 for pages that need the database while it is down, with the date of the snapshot that stays readable."""

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.utils.deprecation import MiddlewareMixin
from psycopg.errors import QueryCanceled

from webapp.health import OK, ask_database
from webapp.register.snapshots import store
from webapp.templatetags import units

DATABASE_DOWN_HEADER = "X-Drivecert-Database"  # seeing it, `serving` sends the page of the snapshot instead
RETRY_AFTER_S = 30
API = "/api/"


class DatabaseAwayMiddleware(MiddlewareMixin):
    """Turns the failure of a query into a 503 page if the database really does not answer."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Return the 503 page if the database is down or took too long; a deadlock, for example, stays an error."""
        if not isinstance(exception, OperationalError | InterfaceError):
            return None
        # One check only: a starting server answers a moment later, and a frozen one takes the whole time limit again.
        is_late = isinstance(exception.__cause__, QueryCanceled)  # webapp/database: a statement has a limit
        if not is_late and not is_disconnected(connection) and ask_database() == OK:
            return None
        return unavailable_response(request)


def is_disconnected(database: BaseDatabaseWrapper) -> bool:
    """Return whether the connection could not be made, or is broken."""
    return database.connection is None or bool(database.connection.closed)


def unavailable_response(request: HttpRequest) -> HttpResponse:
    """Return status 503 with the date of the snapshot."""
    snapshot = store.current(settings.SNAPSHOT_DIR)
    date = units.moment(snapshot.moment) if snapshot else ""
    headers = {"Retry-After": str(RETRY_AFTER_S), "Cache-Control": "no-store", DATABASE_DOWN_HEADER: "away"}
    if not request.path.startswith(API):
        content = render_to_string("503.html", {"date": date, "path": request.path}, request)
        return HttpResponse(content, status=503, headers=headers)
    detail = "The register's database does not answer."
    if date:
        detail += f" Public pages and files without parameters are served from the snapshot of {date}."
    # The API reports errors as problem details (RFC 9457).
    problem = {"type": "about:blank", "title": "Service Unavailable", "status": 503, "detail": detail}
    return JsonResponse(problem, status=503, content_type="application/problem+json", headers=headers)
