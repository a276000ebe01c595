"""`/healthz`: this process answers. `/readyz`: so do the database, the broker and a worker."""

from collections.abc import Callable

from django.db import Error, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from kombu.exceptions import KombuError
from redis import RedisError

from webapp.celery import app, is_worker_alive

OK = "ok"


class HealthMiddleware:
    """Answer both before anything else is asked of a request.

    First in line and not views, because whoever probes comes by address and plain http: the check of the host name
    and the move to https would turn it away.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self.answers = {"/healthz": tell_alive, "/readyz": tell_ready}

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.answers.get(request.path, self.get_response)(request)


def tell_alive(_request: HttpRequest) -> HttpResponse:
    """Answer without a query: what restarts a process on silence must not restart it for a slow database."""
    return uncached({"status": "alive"}, 200)


def tell_ready(_request: HttpRequest) -> HttpResponse:
    """Answer 200 when all parts do, else 503; which part is silent is told, why is in the log of that part."""
    broker, worker = ask_broker()
    parts = {"database": ask_database(), "broker": broker, "worker": worker}
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


def ask_broker() -> tuple[str, str]:
    """Return how the broker and, through it, the worker are."""
    try:
        with app.connection_for_read() as broker:
            heard = is_worker_alive(broker)
    except (RedisError, KombuError, OSError):
        return "does not answer", "unknown without the broker"
    return OK, OK if heard else "not heard lately"


def uncached(answer: dict[str, str], status: int) -> HttpResponse:
    """Return the answer as JSON that nobody keeps."""
    return JsonResponse(answer, status=status, headers={"Cache-Control": "no-store"})
