"""The page of an organisation's trusted publishers, for its owners."""

from django import forms
from django.conf import settings
from django.db import IntegrityError
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from results.models import Organisation
from webapp.access_limits.shared_limits import LimitReachedError, SharedLimit
from webapp.accounts.audit.trail import actor_of
from webapp.accounts.models import TrustedPublisher
from webapp.accounts.publishers.keys import IssuerError, read_keys
from webapp.accounts.publishers.rules import TooManyPublishersError, current_publishers, end, trust
from webapp.accounts.requests import UserRequest, find_own_organisation, members_only, require_owner

NAME_IN_USE = "There is a publisher of this name already. Choose another name, or end that one."
ISSUERS = SharedLimit("issuers-of-organisation", 10, 600)
CLAIMS_MAX = 10
CLAIM_CHARS = 500
CHECKED_ANYWAY = {"iss", "aud", "exp", "iat", "nbf", "jti"}  # they name no job, or have a field or rule of their own


class PublisherForm(forms.Form):
    """The issuer whose identity tokens are accepted, their audience, and the claims that each of them must have."""

    name = forms.CharField(max_length=100, help_text="Your name for the publisher, for example that of the repository.")
    issuer = forms.CharField(
        max_length=500, help_text="As its identity tokens state it: https://token.actions.githubusercontent.com, say."
    )
    audience = forms.CharField(max_length=200, help_text="The CI job requests its identity token for this audience.")
    claims = forms.CharField(
        label="Claims",
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=(
            "One name=value per line, all of which an identity token must state: repository=exemplar/firmware, say. "
            "Name the branch or the environment too if not every job may submit."
        ),
    )

    def __init__(self, organisation: Organisation, data: QueryDict | None = None) -> None:
        super().__init__(data)
        self.organisation = organisation
        self.fields["audience"].initial = settings.PUBLIC_URL

    def clean_name(self) -> str:
        """Refuse a name in use."""
        name: str = self.cleaned_data["name"]
        if current_publishers(self.organisation).filter(name=name).exists():
            raise forms.ValidationError(NAME_IN_USE)
        return name

    def clean_issuer(self) -> str:
        """Refuse an issuer whose keys cannot be read now."""
        issuer: str = self.cleaned_data["issuer"].strip()
        try:
            ISSUERS.take(str(self.organisation.pk))
            read_keys(issuer)
        except LimitReachedError as error:
            raise forms.ValidationError(f"Too many issuers were tried. Try again in {error.wait_s} s.") from error
        except IssuerError as error:
            raise forms.ValidationError(f"The keys of this issuer cannot be read. {error}.") from error
        return issuer

    def clean_claims(self) -> dict[str, str]:
        """Return the claims by name. Refuse lines without a name and a value."""
        claims: dict[str, str] = {}
        for line in filter(None, map(str.strip, self.cleaned_data["claims"].splitlines())):
            name, _, text = (part.strip() for part in line.partition("="))
            if not name or not text or len(line) > CLAIM_CHARS:
                raise forms.ValidationError(f"Expected name=value on each line, got {line[:80]}.")
            if name in CHECKED_ANYWAY:
                raise forms.ValidationError(f"Expected a claim that names the job, got {name}.")
            if name in claims:
                raise forms.ValidationError(f"Expected each claim once, got {name} twice.")
            claims[name] = text
        if len(claims) > CLAIMS_MAX:
            raise forms.ValidationError(f"Expected at most {CLAIMS_MAX} claims, got {len(claims)}.")
        return claims


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def publisher_list(request: UserRequest, slug: str) -> HttpResponse:
    """List the trusted publishers of an organisation, and add one with a POST request."""
    organisation = find_own_organisation(request, slug)
    require_owner(request, organisation)
    form = PublisherForm(organisation, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            trust(organisation, actor_of(request), **form.cleaned_data)
        except (TooManyPublishersError, IntegrityError) as error:  # the name may be in use since the check
            form.add_error(None, str(error) if isinstance(error, TooManyPublishersError) else NAME_IN_USE)
        else:
            return redirect("publisher-list", organisation.slug)
    page = {"organisation": organisation, "form": form, "publishers": current_publishers(organisation)}
    return render(request, "accounts/organisations/publishers.html", page)


@require_POST
@members_only
def end_publisher(request: UserRequest, slug: str, publisher_id: int) -> HttpResponse:
    """End the trust in a publisher, as an owner of the organisation."""
    organisation = find_own_organisation(request, slug)
    require_owner(request, organisation)
    end(get_object_or_404(TrustedPublisher, pk=publisher_id, organisation=organisation), actor_of(request))
    return redirect("publisher-list", organisation.slug)
