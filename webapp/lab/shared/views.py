"""Decorators, confirmations and live parts that the views of the lab share.

The browser requests the live part of a page every two seconds, and gets 204 while nothing has changed.
"""

import hashlib
import json
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.contrib import messages
from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from runners.errors import HostError, RequestRefusedError
from runners.models import Device, Dispatch
from runners.models.campaign import Campaign
from webapp.accounts.requests import UserRequest, View, operators_only

PERIOD_S = 2
PAGE_ROWS = 50
DIGEST_CHARS = 16

P = ParamSpec("P")
OperatorView = Callable[Concatenate[UserRequest, P], HttpResponseBase]
Command = Callable[Concatenate[UserRequest, P], str | HttpResponseBase]


def operator_page(view: OperatorView[P]) -> View[P]:
    """Let operators read a page."""
    return require_safe(operators_only(view))


def operator_form(view: OperatorView[P]) -> View[P]:
    """Let operators read a form and post it to the same address."""
    return require_http_methods(["GET", "HEAD", "POST"])(operators_only(view))


def operator_action(view: OperatorView[P]) -> View[P]:
    """Let operators post a command."""
    return require_POST(operators_only(view))


def operator_command(page: str, failure: str = "", *, is_list: bool = False) -> Callable[[Command[P]], View[P]]:
    """Let operators post a command about the subject of a page, and show its outcome on that page.

    The command returns a sentence about its success, or another response. Its RequestRefusedError or HostError is the
    reason of a refusal and is shown after the sentence `failure`. Any other error is a fault of the register.
    `is_list`: the page lists all subjects, so its address has no parameter.
    """

    def decorate(command: Command[P]) -> View[P]:
        @wraps(command)
        def run(request: UserRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            try:
                outcome = command(request, *args, **kwargs)
            except (RequestRefusedError, HostError) as error:
                messages.error(request, f"{failure} {error}".lstrip())
                outcome = ""
            if isinstance(outcome, HttpResponseBase):
                return outcome
            if outcome:
                messages.success(request, outcome)
            return redirect(reverse(page, kwargs={} if is_list else kwargs))

        return operator_action(run)

    return decorate


def find_device(device_id: int) -> Device:
    """Return a device with its host, or respond with 404."""
    return get_object_or_404(Device.objects.select_related("host"), pk=device_id)


def confirmation_page(
    request: UserRequest, subject: Dispatch | Campaign, action: str, heading: str, effect: str, **context: Any
) -> HttpResponse:
    """Ask for confirmation before a dispatch or campaign is cancelled, or a drive is overwritten again.

    The page does not refresh itself, so that its button does not move under the pointer. `context` may add warnings and
    the device whose label has to be typed.
    """
    kind, device = subject._meta.model_name, subject.device
    context |= {
        "subject": subject.public_id,
        "heading": heading,
        "consequence": f"{subject} on {device.label}, host {device.host.name}, is {subject.state}. {effect}",
        "action_url": reverse(f"{kind}-{action}", args=[subject.public_id]),
        "back_url": reverse(f"{kind}-detail", args=[subject.public_id]),
        "is_cancellation": action == "cancel",
    }
    return render_page(request, "lab/shared/confirm.html", context)


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
    return render_page(request, template, context())


def render_page(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """Render a page of the lab, or the live part of one."""
    return render(request, template, {"section": "lab", "period_s": PERIOD_S} | context)
