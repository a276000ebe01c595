"""Changes that the owners of a submission can make on its page: another embargo, another slice length."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from results.errors import ReviewRefusedError
from results.lifecycle.embargo import change_embargo, lengthen_embargo, may_change_embargo
from results.lifecycle.questions import answer
from results.lifecycle.submission_states import NEVER_PUBLIC, StatedSubmission, SubmissionState, with_state
from results.models import Reading, Submission
from results.reevaluation.slice_lengths import depends_on_slices, may_change_slices, read_in_slices
from webapp.accounts.permissions import Action, may
from webapp.accounts.requests import UserRequest, members_only
from webapp.submissions.forms import AnswerForm, EmbargoForm, LongerEmbargoForm, SlicesForm, valid_data
from webapp.submissions.review_warnings import with_virtual_device_flag
from webapp.templatetags import units


@require_POST
@members_only
def move_embargo(request: UserRequest, public_id: str) -> HttpResponse:
    """Set, change or end the embargo for an owner of the submission, and show the result.

    A reviewer who is no member of the organisation can only lengthen it, with a reason.
    """
    submission = own_submission(request, public_id)
    with refusals_shown(request):
        if may(request.user, Action.SUBMIT, submission.organisation_id):
            until = valid_data(EmbargoForm(request.POST))["embargo_until"]
            change_embargo(submission, until, request.user)
        else:
            stated = valid_data(LongerEmbargoForm(request.POST))
            until = stated["embargo_until"]
            lengthen_embargo(submission, until, request.user, stated["reason"])
        before = f"No run of this submission is public before {units.moment(until)}."
        messages.success(request, before if until else "The embargo has ended.")
    return redirect("submission-detail", public_id)


@contextmanager
def refusals_shown(request: HttpRequest) -> Iterator[None]:
    """Show the reason on the next page if a change is refused."""
    try:
        yield
    except ReviewRefusedError as refusal:
        messages.error(request, str(refusal))


def find_submission(public_id: str) -> StatedSubmission | None:
    """Return a submission with its state, or None."""
    related = Submission.objects.select_related("organisation", "log", "side_file", "product", "submitted_by")
    found = with_virtual_device_flag(with_state(related)).filter(public_id=public_id)
    return found.prefetch_related("companions__evidence").first()


def own_submission(request: UserRequest, public_id: str) -> StatedSubmission:
    """Return a submission that the person may change. Raises Http404 if they may not even read it."""
    submission = find_submission(public_id)
    if submission is None or not may(request.user, Action.READ, submission.organisation_id):
        raise Http404(f"No submission is named {public_id}.")
    if not may(request.user, Action.CHANGE, submission.organisation_id):
        raise PermissionDenied("Viewers of an organisation cannot change its submissions. Ask one of its owners.")
    return submission


def embargo_form(submission: StatedSubmission, *, is_own: bool) -> EmbargoForm | None:
    """Return the form for the embargo; None once a run of the submission was public, and if none will be.

    `is_own` states whether the reader submits for the organisation, and may shorten or end the embargo.
    """
    if submission.state in NEVER_PUBLIC or not may_change_embargo(submission):
        return None
    if not is_own:
        return LongerEmbargoForm(initial={"embargo_until": submission.embargo_until})
    form = EmbargoForm(initial={"embargo_until": submission.embargo_until})
    if submission.embargo_until is None:
        form.fields["embargo_until"].help_text = ""  # no embargo to end
    return form


def embargo_sentence(submission: Submission) -> str:
    """Return the sentence about the embargo on the submission's page; empty if the embargo has ended."""
    if submission.embargo_until is None or not may_change_embargo(submission):
        return ""
    if submission.embargo_until <= timezone.now() and not submission.runs.embargoed().exists():
        return ""  # nothing was reviewed when it ended: what is published now is public at once
    return f"No run of this submission is public before {units.moment(submission.embargo_until)}."


@require_POST
@members_only
def answer_question(request: UserRequest, public_id: str) -> HttpResponse:
    """Answer the question of a reviewer for the organisation, and show the result."""
    submission = own_submission(request, public_id)
    if not may(request.user, Action.SUBMIT, submission.organisation_id):
        raise PermissionDenied("Only owners and submitters of the organisation answer questions.")
    with refusals_shown(request):
        answer(submission, request.user, valid_data(AnswerForm(request.POST))["answer"])
        messages.success(request, "The answer is stored. The review continues.")
    return redirect("submission-detail", public_id)


@require_POST
@members_only
def change_slices(request: UserRequest, public_id: str) -> HttpResponse:
    """Read a log with another slice length for its owner, and show the result."""
    submission = own_submission(request, public_id)
    with refusals_shown(request):
        slice_length_s = valid_data(SlicesForm(request.POST))["slice_length_s"]
        read_in_slices(submission, slice_length_s, request.user)
        messages.success(request, f"The log was read in slices of {units.duration(slice_length_s)}.")
    return redirect("submission-detail", public_id)


def slices_form(submission: StatedSubmission, reading: Reading | None) -> SlicesForm | None:
    """Return the form for another slice length; None where there are no slices, and after publication."""
    if reading is not None and submission.state == SubmissionState.FAILED:
        has_slices = depends_on_slices(reading.error)
    else:
        has_slices = submission.runs.of_act().exists()
    if not has_slices or not may_change_slices(submission):
        return None
    return SlicesForm(initial={"slice_length_s": submission.slice_length_s})
