"""`/healthz`: this process answers. `/readyz`: so do the database, the broker, the workers and beat."""

from collections.abc import Callable

from django.db import Error, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from kombu.exceptions import KombuError
from redis import RedisError

from webapp.celery import PARTS, app, living_parts

OK = "ok"


class HealthMiddleware:
    """Answer both addresses before any other middleware.

    Probes use the IP address and plain http, so the check of the host name and the redirect to https would refuse them.
    That is why this is the first middleware and not a view.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        # The first answers without a query: a supervisor must not restart the process for a slow database.
        self.answers = {"/healthz": lambda _: uncached({"status": "alive"}, 200), "/readyz": report_ready}

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.answers.get(request.path, self.get_response)(request)


def report_ready(_request: HttpRequest) -> HttpResponse:
    """Answer 200 if all parts answer, else 503 with the silent part; the log of that part has the reason."""
    parts = {"database": ask_database(), **ask_broker()}
    is_ready = all(answer == OK for answer in parts.values())
    return uncached({"status": "ready" if is_ready else "not ready", **parts}, 200 if is_ready else 503)


def ask_database() -> str:
    """Return "ok" when a query is answered."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Error:
        connection.close()
        return "does not answer"
    return OK


def ask_broker() -> dict[str, str]:
    """Return the state of the broker, and of the parts whose heartbeats it has."""
    try:
        with app.connection_for_read() as broker:
            living = living_parts(broker)
    except (RedisError, KombuError, OSError):
        return {"broker": "does not answer"} | dict.fromkeys(PARTS, "unknown without the broker")
    return {"broker": OK} | {part: OK if is_alive else "not heard lately" for part, is_alive in living.items()}


def uncached(answer: dict[str, str], status: int) -> HttpResponse:
    """Return the answer as JSON that no cache stores."""
    return JsonResponse(answer, status=status, headers={"Cache-Control": "no-store"})
