"""The account page, the sessions and the tokens of the person who is signed in."""

from typing import Any, cast

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.adapter import get_adapter as get_sessions_adapter
from allauth.usersessions.models import UserSession
from django import forms
from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from results.models import Organisation
from webapp.accounts.audit.trail import Kind, actor_of, record
from webapp.accounts.models import APIToken, User, issue_token
from webapp.accounts.permissions import Action, may, organisations_of
from webapp.accounts.requests import UserRequest, members_only
from webapp.accounts.tokens import revoke_tokens


class TokenForm(forms.Form):
    """A name to know the token by, and whom it acts for."""

    name = forms.CharField(
        max_length=100, help_text="Your name for the token, for example that of the script or machine that uses it."
    )
    organisation = forms.ModelChoiceField(Organisation.objects.none(), empty_label=None)

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user
        field = cast("forms.ModelChoiceField[Organisation]", self.fields["organisation"])
        field.queryset = organisations_of(user, Action.SUBMIT)

    def clean_name(self) -> str:
        """Refuse a name in use: a page reloaded after making a token would make another one, unseen."""
        name: str = self.cleaned_data["name"]
        if APIToken.objects.valid().filter(user=self.user, name=name).exists():
            raise forms.ValidationError(f"You have a token {name} already. Choose another name, or revoke that one.")
        return name

    def issue(self) -> tuple[APIToken, str]:
        """Create the requested token and return it with its secret, which is not stored."""
        return issue_token(self.user, self.cleaned_data["organisation"], self.cleaned_data["name"])


@require_safe
@members_only
def account(request: UserRequest) -> HttpResponse:
    """Link all pages of the account, with the state of each part."""
    user = request.user
    page = {
        "address": EmailAddress.objects.get_primary_email(user),
        "memberships": user.memberships.select_related("organisation").order_by("organisation__name"),
        "has_second_factor": Authenticator.objects.filter(user=user).exists(),
        "sessions_count": len(UserSession.objects.purge_and_list(user)),
        "tokens_count": APIToken.objects.valid().filter(user=user).count(),
        "shows_mail": may(user, Action.OPERATE) and not settings.PRODUCTION and settings.MAIL_IS_STORED,
    }
    return render(request, "accounts/account.html", page)


@require_POST
@members_only
def end_session(request: UserRequest, session_id: int) -> HttpResponse:
    """End one session of the user; the own one by signing out."""
    session = get_object_or_404(UserSession, pk=session_id, user=request.user)
    if session.is_current():
        return redirect("account_logout")
    get_sessions_adapter().end_sessions([session])
    messages.success(request, "The session is ended.")
    return redirect("usersessions_list")


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def tokens(request: UserRequest) -> HttpResponse:
    """List the tokens; a new one's secret is in the answer to the request that made it and nowhere else."""
    form = TokenForm(request.user, request.POST or None)
    page: dict[str, object] = {"form": form}
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            issued, page["secret"] = form.issue()
            record(Kind.TOKEN_CREATED, actor_of(request), request.user, issued.organisation, token=issued.pk)
        page["issued"] = issued
        page["form"] = TokenForm(request.user)
    page["tokens"] = APIToken.objects.filter(user=request.user).select_related("organisation").order_by("-created_at")
    return render(request, "accounts/tokens.html", page)


@require_POST
@members_only
def revoke_token(request: UserRequest, token_id: int) -> HttpResponse:
    token = get_object_or_404(APIToken, pk=token_id, user=request.user)
    revoke_tokens(APIToken.objects.filter(pk=token.pk), actor_of(request))
    return redirect("token-list")
