"""The pages of tokens: those of a user, and those of an organisation's machines."""

from datetime import timedelta
from typing import Any, cast

from django import forms
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from results.models import Organisation
from webapp.accounts.audit.trail import Kind, actor_of, record
from webapp.accounts.models import APIToken, User
from webapp.accounts.permissions import Action, organisations_of
from webapp.accounts.requests import UserRequest, find_own_organisation, members_only, require_owner
from webapp.accounts.tokens.rules import FOR_SENDERS, issue_token, machine_tokens, offered_scopes, revoke_tokens

DAYS = [(30, "30 days"), (90, "90 days"), (365, "one year")]
DAYS_DEFAULT = 90


class TokenForm(forms.Form):
    """A name to know the token by, the organisation that it acts for, and what it may do until when."""

    name = forms.CharField(max_length=100, help_text="Your name for the token, for example that of the script.")
    organisation = forms.ModelChoiceField(Organisation.objects.none(), empty_label=None)
    machine = forms.CharField(max_length=100, required=False, help_text="The name of the machine that uses it.")
    scopes = forms.MultipleChoiceField(
        label="What it may do",
        widget=forms.CheckboxSelectMultiple,
        initial=[scope.value for scope in FOR_SENDERS],
        required=False,
        help_text=f"Without a choice: {' and '.join(FOR_SENDERS)}.",
    )
    days = forms.TypedChoiceField(label="Valid for", choices=DAYS, coerce=int, initial=DAYS_DEFAULT, required=False)

    def __init__(self, user: User, *args: Any, kind: APIToken.Kind = APIToken.Kind.PERSONAL, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user, self.kind = user, kind
        field = cast("forms.ModelChoiceField[Organisation]", self.fields["organisation"])
        field.queryset = organisations_of(user, Action.SUBMIT)
        offered = [(scope.value, f"{scope.value}: {scope.label}") for scope in offered_scopes(user, kind)]
        cast(forms.MultipleChoiceField, self.fields["scopes"]).choices = offered

    def clean_name(self) -> str:
        """Refuse a name in use: a page reloaded after making a token would make another one, unseen."""
        name: str = self.cleaned_data["name"]
        if self.with_same_name().filter(name=name).exists():
            raise forms.ValidationError(f"There is a token {name} already. Choose another name, or revoke that one.")
        return name

    def with_same_name(self) -> Any:
        """Return the tokens among which a name is used once."""
        return APIToken.objects.valid().filter(user=self.user, kind=self.kind)

    def issue(self, organisation: Organisation) -> tuple[APIToken, str]:
        """Create the requested token and return it with its secret, which is not stored."""
        stated = self.cleaned_data
        return issue_token(
            self.user,
            organisation,
            stated["name"],
            stated["scopes"] or FOR_SENDERS,
            kind=self.kind,
            machine=stated["machine"],
            expires_at=timezone.now() + timedelta(days=stated["days"] or DAYS_DEFAULT),
        )


class MachineTokenForm(TokenForm):
    """A token of an organisation, for a machine."""

    def __init__(self, user: User, organisation: Organisation, *args: Any) -> None:
        super().__init__(user, *args, kind=APIToken.Kind.MACHINE)
        del self.fields["organisation"]
        self.fields["machine"].required = True
        self.owning = organisation

    def with_same_name(self) -> Any:
        """Return the tokens among which a name is used once."""
        return machine_tokens(self.owning)


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def token_list(request: UserRequest) -> HttpResponse:
    """List the tokens of the user, and create one with a POST request."""
    form = TokenForm(request.user, request.POST or None)
    page: dict[str, object] = {}
    if request.method == "POST" and form.is_valid():
        page = _issue(request, form, form.cleaned_data["organisation"])
        form = TokenForm(request.user)
    tokens = APIToken.objects.filter(user=request.user, kind=APIToken.Kind.PERSONAL).select_related("organisation")
    return render(request, "accounts/tokens.html", page | {"form": form, "tokens": tokens.order_by("-created_at")})


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def machine_token_list(request: UserRequest, slug: str) -> HttpResponse:
    """List the tokens of an organisation's machines to its owners, and create one with a POST request."""
    organisation = find_own_organisation(request, slug)
    require_owner(request, organisation)
    form = MachineTokenForm(request.user, organisation, request.POST or None)
    page: dict[str, object] = {}
    if request.method == "POST" and form.is_valid():
        page = _issue(request, form, organisation)
        form = MachineTokenForm(request.user, organisation)
    members = set(organisation.memberships.values_list("user", flat=True))
    tokens = machine_tokens(organisation)
    abandoned = [token for token in tokens if token.user_id not in members]
    page |= {"form": form, "tokens": tokens, "organisation": organisation, "abandoned": abandoned}
    return render(request, "accounts/organisations/tokens.html", page)


@require_POST
@members_only
def revoke_token(request: UserRequest, token_id: int) -> HttpResponse:
    """Revoke a personal token of the user."""
    token = get_object_or_404(APIToken, pk=token_id, user=request.user, kind=APIToken.Kind.PERSONAL)
    revoke_tokens(APIToken.objects.filter(pk=token.pk), actor_of(request))
    return redirect("token-list")


@require_POST
@members_only
def revoke_machine_token(request: UserRequest, slug: str, token_id: int) -> HttpResponse:
    """Revoke a token of an organisation, as one of its owners."""
    organisation = find_own_organisation(request, slug)
    require_owner(request, organisation)
    token = get_object_or_404(APIToken, pk=token_id, organisation=organisation, kind=APIToken.Kind.MACHINE)
    revoke_tokens(APIToken.objects.filter(pk=token.pk), actor_of(request))
    return redirect("machine-token-list", organisation.slug)


def _issue(request: UserRequest, form: TokenForm, organisation: Organisation) -> dict[str, object]:
    """Return the new token and its secret, which is in the response to this request and nowhere else."""
    with transaction.atomic():
        issued, secret = form.issue(organisation)
        record(Kind.TOKEN_CREATED, actor_of(request), request.user, organisation, token=issued.pk)
    return {"issued": issued, "secret": secret}
