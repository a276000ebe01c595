"""Ids of requests: each response names its own in X-Request-ID, and all lines of its log carry it.

The id is also that of an error report: the page of status 500 shows it, and the log has the trace under it.
"""

import re
from collections.abc import Callable
from http import HTTPStatus
from ipaddress import ip_address
from secrets import token_hex

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.log import log_response

from results.logs.context import bound
from results.logs.tracing import started

HEADER = "X-Request-ID"
SAFE = re.compile(r"[A-Za-z0-9-]{8,64}")
ROUTE, UNROUTED = "drivecert.route", "unrouted"  # read by webapp/monitoring/page_times.py


class RequestIdMiddleware:
    """Binds the id of a request to its log, adds it to the response, and names the route for the times of pages."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request_id = inbound_id(request) or token_hex(8)
        request.META["drivecert.request_id"], request.META[ROUTE] = request_id, UNROUTED
        with bound(request=request_id), started("request") as span:
            response = self.get_response(request)
            if match := request.resolver_match:
                route = {"http__route": match.route, "http__request__method": str(request.method)}
                span.describe(f"{request.method} {match.view_name or UNROUTED}", **route)
            span.describe(http__response__status_code=response.status_code)
            if response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
                span.fail(str(response.status_code))
            if response.status_code >= HTTPStatus.BAD_REQUEST:
                # As Django does after all middleware, where the id is no longer bound. It logs a response once.
                log_response("%s: %s", response.reason_phrase, request.path, response=response, request=request)
        if request.resolver_match:
            request.META[ROUTE] = request.resolver_match.view_name or UNROUTED
        response.headers[HEADER] = request_id
        return response


def inbound_id(request: HttpRequest) -> str:
    """Return the id that an own proxy gave the request; empty for other peers, and for text that is no id.

    A client could otherwise write any text into the log, or the id of another request.
    """
    stated = request.headers.get(HEADER, "")
    try:
        peer = ip_address(request.META.get("REMOTE_ADDR", ""))
    except ValueError:
        return ""
    is_own_proxy = any(peer in network for network in settings.TRUSTED_PROXIES)
    return stated if is_own_proxy and SAFE.fullmatch(stated) else ""


def request_id_of(request: HttpRequest) -> str:
    """Return the id of a request; empty before the middleware gave it one."""
    return str(request.META.get("drivecert.request_id", ""))
