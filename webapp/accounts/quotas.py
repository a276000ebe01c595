"""The page of the limits of an organisation: what is used of each, and when it is free again.

Each number comes from the module that enforces the limit.
"""

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db.models import Min
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from results import locks
from results.ingest.fair_share import readings_of
from results.intake.submissions import COMPANIONS_MAX
from results.intake.uploads import draft_usage
from results.lifecycle.objection_filing import usage_of_organisation
from results.models import Organisation
from webapp.accounts.memberships.invitations import OPEN_MAX, open_invitations
from webapp.accounts.requests import UserRequest, find_own_organisation, members_only
from webapp.templatetags import units


@dataclass(frozen=True)
class Quota:
    """One limit: what it counts, how much is used, and what frees it."""

    label: str
    used: str
    most: str
    freed_by: str
    free_at: datetime | None = None
    is_used_up: bool = False


@require_safe
@members_only
def organisation_quotas(request: UserRequest, slug: str) -> HttpResponse:
    """Show the limits of an organisation to its members."""
    organisation = find_own_organisation(request, slug)
    page = {
        "organisation": organisation,
        "quotas": quotas_of(organisation),
        "file_bytes_max": settings.UPLOAD_MAX_BYTES,
        "companions_max": COMPANIONS_MAX,
    }
    return render(request, "accounts/organisations/quotas.html", page)


def quotas_of(organisation: Organisation) -> list[Quota]:
    """Return the limits that the members and tokens of an organisation share."""
    return [
        *_of_drafts(organisation),
        *_of_readings(organisation),
        _of_objections(organisation),
        _of_invitations(organisation),
    ]


def _of_drafts(organisation: Organisation) -> list[Quota]:
    used = draft_usage(organisation.pk)
    freed_by = "submitting or deleting a draft"
    return [
        Quota(
            "Files of drafts",
            units.count(used.files_count),
            units.count(settings.DRAFT_FILES_MAX),
            freed_by,
            used.first_ends_at,
            used.files_count >= settings.DRAFT_FILES_MAX,
        ),
        Quota(
            "Bytes of drafts",
            units.size(used.total_bytes),
            units.size(settings.DRAFT_BYTES_MAX),
            freed_by,
            used.first_ends_at,
            used.total_bytes >= settings.DRAFT_BYTES_MAX,
        ),
    ]


def _of_readings(organisation: Organisation) -> list[Quota]:
    running, waiting = readings_of(organisation.pk)
    validations = locks.locked_keys(locks.VALIDATION, [organisation.pk])
    at_once = "1 while another organisation waits"
    return [
        Quota("Logs that are read", f"{running}, and {waiting} waiting", at_once, "the end of a reading"),
        Quota("Logs that the API validates", str(validations), "1", "the end of the request", None, validations > 0),
    ]


def _of_objections(organisation: Organisation) -> Quota:
    usage = usage_of_organisation(organisation.pk)
    freed_by = "24 hours after each objection"
    label = "Objections of members in 24 hours"
    return Quota(label, str(usage.used), str(usage.most), freed_by, usage.free_at, usage.free_at is not None)


def _of_invitations(organisation: Organisation) -> Quota:
    invitations = open_invitations(organisation)
    count, ends_at = invitations.count(), invitations.aggregate(first=Min("expires_at"))["first"]
    freed_by = "accepting or revoking an invitation"
    return Quota("Open invitations", str(count), str(OPEN_MAX), freed_by, ends_at, count >= OPEN_MAX)
