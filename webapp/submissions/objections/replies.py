"""Public replies of the organisation that submitted a result to objections and annotations."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from results.lifecycle.corrections import reply_to_annotation
from results.lifecycle.objections import may_reply, reply
from results.models import Annotation, Objection, Run, Submission
from results.models.objection import ADMITTED_STATES
from webapp.accounts.permissions import Action, may
from webapp.accounts.requests import UserRequest, members_only
from webapp.register.objections.page import line_of
from webapp.submissions.changes import own_submission, refusals_shown
from webapp.submissions.forms import valid_data
from webapp.submissions.objections.forms import ReplyForm

KEY_DIGITS = 19  # of the largest key


def replies_part(submission: Submission, *, is_sender: bool) -> dict[str, Any]:
    """Return the admitted objections to the runs of a submission, and their annotations, with forms for its sender."""
    runs = Run.objects.not_sequestered().filter(submission=submission)
    objections = Objection.objects.filter(run__in=runs, state__in=ADMITTED_STATES)
    related = objections.select_related("run__submission", "organisation")
    annotations = Annotation.objects.current().filter(run__in=runs).select_related("run")
    return {
        "objections": [{"line": line_of(each), "may_reply": is_sender and may_reply(each)} for each in related],
        "annotations": [{"annotation": each, "may_reply": is_sender and not each.reply} for each in annotations],
        "reply_form": ReplyForm(auto_id=False),
    }


@require_POST
@members_only
def reply_to_one(request: UserRequest, public_id: str) -> HttpResponse:
    """Reply in public to an admitted objection for the organisation."""
    submission = _submission_of_sender(request, public_id)
    admitted = Objection.objects.filter(run__submission=submission, state__in=ADMITTED_STATES)
    found = admitted.select_related("run").filter(public_id=request.POST.get("objection", "")).first()
    with refusals_shown(request):
        text = valid_data(ReplyForm(request.POST))["reply"]
        if found is None:
            raise Http404(f"No objection to a run of {public_id} was named.")
        reply(found, request.user, text)
        messages.success(request, "The reply is public, next to the objection.")
    return redirect("submission-detail", public_id)


@require_POST
@members_only
def reply_below(request: UserRequest, public_id: str) -> HttpResponse:
    """Reply in public to an annotation of a run for the organisation."""
    submission = _submission_of_sender(request, public_id)
    key = request.POST.get("annotation", "")
    is_key = key.isascii() and key.isdecimal() and len(key) <= KEY_DIGITS
    runs = Run.objects.not_sequestered().filter(submission=submission)
    found = Annotation.objects.filter(run__in=runs, pk=key if is_key else None).select_related("run").first()
    with refusals_shown(request):
        text = valid_data(ReplyForm(request.POST))["reply"]
        if found is None:
            raise Http404(f"No annotation of a run of {public_id} was named.")
        reply_to_annotation(found, request.user, text)
        messages.success(request, "The reply is shown below the annotation.")
    return redirect("submission-detail", public_id)


def _submission_of_sender(request: UserRequest, public_id: str) -> Submission:
    submission = own_submission(request, public_id)
    if not may(request.user, Action.SUBMIT, submission.organisation_id):
        raise PermissionDenied("Only owners and submitters of the organisation reply to objections and annotations.")
    return submission
