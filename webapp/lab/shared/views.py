"""Decorators, messages and live parts that the views of the lab share.

The browser requests the live part of a page every two seconds, and gets 204 while nothing has changed.
"""

import hashlib
import json
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec

from django.contrib import messages
from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from webapp.accounts.requests import UserRequest, View, staff_only

PERIOD_S = 2
DIGEST_CHARS = 16

P = ParamSpec("P")
StaffView = Callable[Concatenate[UserRequest, P], HttpResponseBase]


def staff_page(view: StaffView[P]) -> View[P]:
    """Let staff read a page."""
    return require_safe(staff_only(view))


def staff_form(view: StaffView[P]) -> View[P]:
    """Let staff read a form and post it to the same address."""
    return require_http_methods(["GET", "HEAD", "POST"])(staff_only(view))


def staff_action(view: StaffView[P]) -> View[P]:
    """Let staff post a command."""
    return require_POST(staff_only(view))


def report(request: UserRequest, is_done: bool, success: str, failure: str) -> None:
    """Show on the next page whether a command took effect."""
    if is_done:
        messages.success(request, success)
    else:
        messages.error(request, failure)


def version_of(content: Any) -> str:
    """Return a digest of the content of a live part; `content` is everything that it shows except relative times."""
    text = json.dumps(content, cls=DjangoJSONEncoder, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_CHARS]


def live_response(
    request: HttpRequest, version: str, template: str, context: Callable[[], dict[str, Any]]
) -> HttpResponse:
    """Return a live part; 204 if the page already shows this version: htmx then leaves it as it is."""
    if request.GET.get("version") == version:
        return HttpResponse(status=204)
    return render_live(request, template, context())


def render_live(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """Render a live part, or a page that contains one."""
    return render(request, template, context | {"period_s": PERIOD_S})
