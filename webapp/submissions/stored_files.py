"""The page of the stored files, for operators: the passes of the scrub, and the faults that it found."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from results.evidence.references import users_of
from results.evidence.scrub import open_faults
from results.models import Scrub, ScrubFault
from webapp.accounts.requests import UserRequest, operators_only

PASSES_SHOWN = 12
FAULTS_SHOWN = 200


@require_safe
@operators_only
def stored_files(request: UserRequest) -> HttpResponse:
    """Show the faults of stored files, and the last passes of the scrub."""
    faults = list(open_faults()[: FAULTS_SHOWN + 1])
    context = {
        "faults": [(fault, users_of(fault.sha256)) for fault in faults[:FAULTS_SHOWN]],
        "has_more": len(faults) > FAULTS_SHOWN,
        "shown": FAULTS_SHOWN,
        "closed": ScrubFault.objects.filter(closed_at__isnull=False).order_by("-closed_at")[:PASSES_SHOWN],
        "passes": Scrub.objects.all()[:PASSES_SHOWN],
    }
    return render(request, "submissions/stored_files.html", context)
