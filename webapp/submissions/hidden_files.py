"""Files that were sent by mistake: owners have them hidden on the page of a submission, operators see and show them."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from results.lifecycle.hidden_files import (
    current_hidings,
    end_hiding,
    hide_file,
    hidings_of,
    public_log_sentence,
    run_with_public_log,
)
from results.models import HiddenFile, Submission
from webapp.accounts.permissions import Action, may
from webapp.accounts.requests import (
    UserRequest,
    members_only,
    operators_only,
    recently_authenticated,
    second_factor_entered,
)
from webapp.register.http.evidence_files import send_hidden_file
from webapp.submissions.changes import own_submission, refusals_shown
from webapp.submissions.forms import ReasonForm, valid_data

ENDED_SHOWN = 20
HIDDEN = "The file is hidden. Only operators see it."


class HideFileForm(forms.Form):
    """The file to hide, the reason that its stub states, and a note for operators."""

    file = forms.IntegerField()
    reason = forms.ChoiceField(
        choices=HiddenFile.Reason.choices, help_text="Everyone who sees the page of a result reads the reason."
    )
    note = forms.CharField(
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Only operators read the note. Say what must not be read, without repeating it.",
        error_messages={"required": "Enter a note. Only operators read it."},
    )


def file_parts(submission: Submission, user: object) -> list[dict[str, Any]]:
    """Return the files of a submission for its page; for an owner, with the form that hides a file."""
    companions = [(companion.evidence, companion.role) for companion in submission.companions.all()]
    side_file = [(submission.side_file, "")] if submission.side_file is not None else []
    files = [(submission.log, ""), *companions, *side_file]
    hidings = hidings_of(evidence for evidence, _ in files)
    is_owner = not submission.demo_run_id and may(user, Action.MANAGE, submission.organisation_id)
    public_run = run_with_public_log(submission.log) if is_owner and not submission.log.hidden else None
    parts = []
    for evidence, role in files:
        is_refused = public_run is not None and evidence.pk == submission.log_id
        form = HideFileForm(auto_id=f"id_hide_{evidence.pk}_%s") if is_owner and not is_refused else None
        refusal = public_log_sentence(public_run) if is_refused and public_run is not None else ""
        part = {"evidence": evidence, "role": role, "hidden": hidings.get(evidence.pk)}
        parts.append(part | {"form": form, "refusal": refusal})
    return parts


@require_POST
@members_only
def hide(request: UserRequest, public_id: str) -> HttpResponse:
    """Hide one file of a submission for an owner of its organisation, and show the result."""
    submission = own_submission(request, public_id)
    if not may(request.user, Action.MANAGE, submission.organisation_id):
        raise PermissionDenied("Only owners of the organisation that sent a submission have its files hidden.")
    with refusals_shown(request):
        stated = valid_data(HideFileForm(request.POST))
        reason = HiddenFile.Reason(stated["reason"])
        hide_file(submission, stated["file"], request.user, reason, stated["note"])
        messages.success(request, HIDDEN)
    return redirect("submission-detail", public_id)


@require_safe
@operators_only
@recently_authenticated
def hidden_file_list(request: UserRequest) -> HttpResponse:
    """List the hidden files with their names and hashes, and those that are no longer hidden."""
    people = ("requested_by", "ended_by", "submission__organisation")
    context = {
        "current": list(current_hidings().select_related("requested_by")),
        "ended": HiddenFile.objects.filter(ended_at__isnull=False).select_related(*people)[:ENDED_SHOWN],
    }
    return render(request, "submissions/hidden_files.html", context)


@require_safe
@operators_only
@recently_authenticated
def download(request: UserRequest, hiding_id: int) -> HttpResponseBase:
    """Send a hidden file to an operator."""
    hidden = current_hidings().filter(pk=hiding_id).first()
    if hidden is None:
        raise Http404("No file is hidden under this number.")
    return send_hidden_file(hidden)


@require_POST
@operators_only
@second_factor_entered
def end(request: UserRequest, hiding_id: int) -> HttpResponse:
    """End the hiding of a file, with a reason, and return to the list."""
    hidden = get_object_or_404(HiddenFile, pk=hiding_id)
    with refusals_shown(request):
        end_hiding(hidden, request.user, valid_data(ReasonForm(request.POST))["reason"])
        messages.success(request, f"A file of submission {hidden.submission.public_id} is no longer hidden.")
    return redirect("hidden-file-list")
