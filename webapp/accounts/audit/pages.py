"""The pages of the audit trail: a user's own entries, and those of an organisation for its owners."""

from django.core.paginator import Paginator
from django.db.models import Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from webapp.accounts.audit.sentences import lines_of
from webapp.accounts.models import AccountEvent, User
from webapp.accounts.requests import UserRequest, find_own_organisation, members_only, require_owner

PAGE_ROWS = 50


@require_safe
@members_only
def own_events(request: UserRequest) -> HttpResponse:
    """Show the entries about the user and those of the user's acts, the newest first."""
    page = _page(request, events_of(request.user))
    return render(request, "accounts/events.html", page)


@require_safe
@members_only
def organisation_events(request: UserRequest, slug: str) -> HttpResponse:
    """Show the entries of an organisation to its owners, without addresses: members, invitations, tokens, webhooks."""
    organisation = find_own_organisation(request, slug)
    require_owner(request, organisation)
    page = _page(request, AccountEvent.objects.filter(organisation=organisation))
    return render(request, "accounts/organisations/events.html", page | {"organisation": organisation})


def events_of(user: User) -> QuerySet[AccountEvent]:
    """Return the entries in which a user is the subject or the actor."""
    return AccountEvent.objects.filter(Q(subject=user) | Q(actor=user))


def _page(request: UserRequest, events: QuerySet[AccountEvent]) -> dict[str, object]:
    people = ("actor__former_organisation", "subject__former_organisation", "organisation")
    page = Paginator(events.select_related(*people), PAGE_ROWS).get_page(request.GET.get("page"))
    return {"page": page, "lines": lines_of(page.object_list, request.user)}
