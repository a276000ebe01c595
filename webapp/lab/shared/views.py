"""Decorators and messages that all views of the lab share."""

from collections.abc import Callable
from typing import Concatenate, ParamSpec

from django.contrib import messages
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from webapp.accounts.requests import UserRequest, View, staff_only

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
