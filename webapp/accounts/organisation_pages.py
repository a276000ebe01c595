"""The pages of organisations: one's own, and those that wait for an operator."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from results.models import Organisation
from webapp.accounts import organisations
from webapp.accounts.audit.trail import actor_of
from webapp.accounts.memberships.invitations import invitations_for
from webapp.accounts.organisations import OrganisationError
from webapp.accounts.permissions import ALLOWED, Action
from webapp.accounts.requests import UserRequest, members_only, operators_only

NAME_CHARS = 200


class OrganisationForm(forms.Form):
    """Name, kind and web address of a new organisation."""

    name = forms.CharField(max_length=NAME_CHARS, help_text="As it is written on results.")
    kind = forms.ChoiceField(
        choices=[
            (Organisation.Kind.VENDOR, "vendor: makes or sells drives"),
            (Organisation.Kind.LAB, "lab: tests drives of others"),
            (Organisation.Kind.OTHER, "other"),
        ]
    )
    website = forms.URLField(
        label="Web address", assume_scheme="https", help_text="The operator checks the name there."
    )


@require_safe
@members_only
def organisation_list(request: UserRequest) -> HttpResponse:
    """List the organisations of the user with their role. A user without one reads how to get one."""
    memberships = request.user.memberships.select_related("organisation").order_by("organisation__name")
    invited = invitations_for(request.user).select_related("organisation", "invited_by")
    page = {
        "memberships": memberships,
        "invitations": invited,
        "may_submit": any(each.role in ALLOWED[Action.SUBMIT] for each in memberships),
        "has_waiting": any(each.organisation.confirmed_at is None for each in memberships),
    }
    return render(request, "accounts/organisations/list.html", page)


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def create(request: UserRequest) -> HttpResponse:
    """Create an organisation, whose first owner is the user. The page that needed one is next."""
    next_page = _next_page(request)
    form = OrganisationForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            organisation = organisations.create(request.user, actor_of(request), **form.cleaned_data)
        except OrganisationError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"{organisation} is created. You can submit results for it now.")
            return redirect(next_page or "organisation-list")
    return render(request, "accounts/organisations/create.html", {"form": form, "next_page": next_page})


def _next_page(request: UserRequest) -> str:
    """Return the page of this site that the parameter `next` names; "" without one, or if it leads elsewhere."""
    page = request.POST.get(REDIRECT_FIELD_NAME) or request.GET.get(REDIRECT_FIELD_NAME, "")
    is_own = url_has_allowed_host_and_scheme(page, {request.get_host()}, require_https=request.is_secure())
    return page if is_own else ""


@require_safe
@operators_only
def confirmations(request: UserRequest) -> HttpResponse:
    """List the organisations that wait for confirmation, with their owners."""
    waiting = organisations.waiting().prefetch_related("memberships__user")
    return render(request, "accounts/organisations/confirmations.html", {"waiting": waiting})


@require_POST
@operators_only
def confirm(request: UserRequest, slug: str) -> HttpResponse:
    """Confirm one organisation under the name that the operator read or corrected."""
    organisation = get_object_or_404(Organisation, slug=slug)
    name = request.POST.get("name", "").strip()
    if not 0 < len(name) <= NAME_CHARS:
        raise Http404(f"A name has 1 to {NAME_CHARS} characters.")
    show_outcome(request, f"{name} is confirmed.", organisations.confirm, organisation, actor_of(request), name)
    return redirect("organisation-confirmations")


def show_outcome(request: UserRequest, done: str, command: Any, *args: Any) -> bool:
    """Carry out a command, and show the sentence about its success or refusal on the next page."""
    try:
        command(*args)
    except OrganisationError as error:
        messages.error(request, str(error))
        return False
    messages.success(request, done)
    return True
