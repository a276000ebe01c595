"""The pages about a user's own data: what is stored, its export, and the closing of the account."""

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib.auth import logout
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from webapp.accounts.account_limits import count_export
from webapp.accounts.audit.trail import Kind, actor_of, record
from webapp.accounts.models import User
from webapp.accounts.privacy import closing
from webapp.accounts.privacy.export import own_data as collect_own_data
from webapp.accounts.requests import UserRequest, members_only, needs_authentication, recently_authenticated

CONFLICT = 409


class ClosingForm(forms.Form):
    """The user name, typed again: closing cannot be undone."""

    username = forms.CharField(label="Your user name, to confirm")

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user

    def clean_username(self) -> str:
        username: str = self.cleaned_data["username"]
        if username != self.user.username:
            raise forms.ValidationError(f"Expected your user name {self.user.username}, got {username}.")
        return username


@require_safe
@members_only
def own_data(request: UserRequest) -> HttpResponse:
    """Say what the register stores about the user, and link the export and the closing of the account."""
    return render(request, "accounts/data.html", {"obstacles": closing.obstacles(request.user)})


@require_safe
@members_only
def export(request: UserRequest) -> HttpResponse:
    """Return the user's data as a JSON file. Without a recent sign-in, ask for the password and lead to the page.

    A confirmation that led to the file would leave the browser on the page of the password.
    """
    if needs_authentication(request):
        return redirect(f"{reverse('account_reauthenticate')}?{urlencode({'next': reverse('own-data')})}")
    count_export(request, request.user)
    record(Kind.DATA_EXPORTED, actor_of(request), request.user)
    response = JsonResponse(collect_own_data(request.user), json_dumps_params={"indent": 2})
    response.headers["Content-Disposition"] = 'attachment; filename="drivecert-own-data.json"'
    return response


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
@recently_authenticated
def close(request: UserRequest) -> HttpResponse:
    """Close the account, after the password and the user name were entered again."""
    obstacles = closing.obstacles(request.user)
    form = ClosingForm(request.user, request.POST or None)
    if request.method == "POST" and not obstacles and form.is_valid():
        try:
            closing.close_account(actor_of(request))
        except closing.ClosingRefusedError as refusal:
            obstacles = [str(refusal)]
        else:
            logout(request)
            return render(request, "accounts/closed.html")
    page = {"form": form, "obstacles": obstacles}
    return render(request, "accounts/close.html", page, status=CONFLICT if obstacles else 200)
