"""Facts that the sender states about one log of an archive, because the submission has one set for all its logs."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from results.access.withholding import visible_member
from results.lifecycle.corrections import may_state_facts, state_facts
from results.models import Run
from webapp.accounts.permissions import Action, may
from webapp.accounts.requests import UserRequest, members_only
from webapp.submissions.changes import own_submission, refusals_shown
from webapp.submissions.forms import DriveStateForm, valid_data

FACTS = tuple(DriveStateForm.base_fields)


def facts_form(run: Run) -> DriveStateForm | None:
    """Return the form of a run with its current values; None if its sender can no longer change them."""
    if not may_state_facts(run):
        return None
    return DriveStateForm(initial={name: getattr(run, name) for name in FACTS}, auto_id=f"{run.public_id}-%s")


@require_POST
@members_only
def change_facts(request: UserRequest, public_id: str) -> HttpResponse:
    """Store the facts of one log for its organisation, and show the result."""
    submission = own_submission(request, public_id)
    if not may(request.user, Action.SUBMIT, submission.organisation_id):
        raise PermissionDenied("Only owners and submitters of the organisation state facts about its logs.")
    run = submission.runs.filter(public_id=request.POST.get("run", "")).first()
    with refusals_shown(request):
        stated: dict[str, Any] = valid_data(DriveStateForm(request.POST))
        if run is None:
            raise Http404("No run of this submission was named.")
        state_facts(run, stated, request.user)
        messages.success(
            request,
            f"The facts about {visible_member(run) or run.public_id} are stored. The history has the values before.",
        )
    return redirect("submission-detail", public_id)
