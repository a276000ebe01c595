"""`/metrics`: all groups of metrics in the text format of Prometheus, for monitoring and no one else."""

import logging
import time
from collections.abc import Callable, Iterator
from hmac import compare_digest
from ipaddress import ip_address

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector, CollectorRegistry

from results.errors import contained
from webapp.accounts.tokens.rules import bearer_secret
from webapp.health import OK, ask_database
from webapp.monitoring.groups import GROUPS, gauge

logger = logging.getLogger(__name__)

# A proxy adds at least one of these. Without any, a loopback peer is a program of this machine.
FORWARDING = (
    "HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_HOST", "HTTP_X_FORWARDED_PROTO", "HTTP_FORWARDED", "HTTP_X_REAL_IP",
    "HTTP_VIA",
)  # fmt: skip
PATH = "/metrics"
REFUSED = "/metrics: expected a loopback peer without a proxy, or the bearer token of METRICS_TOKEN_FILE.\n"


class MetricsMiddleware:
    """Answers /metrics before other middleware, as webapp/health.py does for the probes and for the same reasons."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return report_metrics(request) if request.path == PATH else self.get_response(request)


def report_metrics(request: HttpRequest) -> HttpResponse:
    """Return the metrics to this machine, and to clients with the token; 401 to others."""
    if request.method not in {"GET", "HEAD"}:
        return HttpResponse(status=405, headers={"Allow": "GET, HEAD"})
    if not may_read(request):
        challenge = {"WWW-Authenticate": 'Bearer realm="metrics"', "Cache-Control": "no-store"}
        return HttpResponse(REFUSED, status=401, content_type="text/plain", headers=challenge)
    registry = CollectorRegistry()
    registry.register(Groups(is_database_up=ask_database() == OK))
    content = generate_latest(registry)
    return HttpResponse(content, content_type=CONTENT_TYPE_PLAIN_0_0_4, headers={"Cache-Control": "no-store"})


def may_read(request: HttpRequest) -> bool:
    """Return whether a request has the token, or comes from a program of this machine."""
    secret = bearer_secret(request.headers.get("Authorization", ""))
    if secret is not None:
        token = settings.METRICS_TOKEN
        return bool(token) and compare_digest(secret.encode(), token.encode())
    return is_loopback(request.META.get("REMOTE_ADDR", "")) and not any(name in request.META for name in FORWARDING)


def is_loopback(peer: str) -> bool:
    """Return whether the address of a peer is one of this machine.

    >>> [is_loopback(peer) for peer in ("127.0.0.1", "127.8.0.1", "::1", "::ffff:127.0.0.1", "192.0.2.1", "")]
    [True, True, True, True, False, False]
    """
    try:
        address = ip_address(peer)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_loopback)


class Groups(Collector):
    """The metrics of all groups. A group that fails is reported as such, and the others are not affected."""

    def __init__(self, *, is_database_up: bool) -> None:
        self.is_database_up = is_database_up

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics of each group that could be read, and how long each took."""
        up, seconds = {}, {}
        for group in GROUPS:
            started, metrics = time.monotonic(), []
            up[group.name] = 0.0
            if self.is_database_up or not group.needs_database:
                with contained(logger, "metrics: the group %s could not be read", group.name):
                    metrics = list(group.collect())
                    up[group.name] = 1.0
            yield from metrics
            seconds[group.name] = time.monotonic() - started
        yield gauge("group_up", "Whether the metrics of a group could be read.", up, "group")
        yield gauge("group_seconds", "How long it took to read the metrics of a group.", seconds, "group")

    def describe(self) -> list[Metric]:
        """Return no metric: the registry would otherwise read all groups twice."""
        return []
