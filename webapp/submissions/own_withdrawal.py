"""The withdrawal of a submission by its organisation, on the page of the submission."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from results.access.withholding import visible_member
from results.lifecycle.own_withdrawal import WITHDRAWABLE, may_return, may_withdraw, return_own, withdraw_own
from results.lifecycle.submission_states import UNFINISHED, StatedSubmission
from results.models import Submission
from webapp.accounts.models import User
from webapp.accounts.permissions import Action, organisations_of
from webapp.accounts.requests import UserRequest, members_only
from webapp.submissions.changes import own_submission, refusals_shown
from webapp.submissions.forms import ReasonForm, valid_data

NOT_YOURS = "Only submitters and owners of the organisation that sent a submission withdraw it."


class WithdrawalForm(ReasonForm):
    """The run of a submission with several, and the reason."""

    run = forms.ChoiceField(required=False)
    field_order = ["run", "reason"]

    def __init__(self, submission: Submission, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        runs = submission.runs.filter(visibility__in=WITHDRAWABLE).select_related("reading__evidence").order_by("pk")
        choices = [(run.public_id, f"{run.public_id} {visible_member(run)}".strip()) for run in runs]
        field = self.fields["run"]
        field.choices = [("", "All runs"), *choices]  # type: ignore[attr-defined]
        if len(choices) < 2:
            del self.fields["run"]


def withdrawal_parts(submission: StatedSubmission, user: object) -> dict[str, object]:
    """Return the form of the page, and whether its runs can return to review; neither for others than its sender."""
    if not _is_sender(submission, user) or submission.state in UNFINISHED:
        return {}
    return {
        "withdrawal_form": WithdrawalForm(submission) if may_withdraw(submission) else None,
        "may_return": may_return(submission),
    }


def _is_sender(submission: Submission, user: object) -> bool:
    return (
        isinstance(user, User) and organisations_of(user, Action.SUBMIT).filter(pk=submission.organisation_id).exists()
    )


@require_POST
@members_only
def withdraw(request: UserRequest, public_id: str) -> HttpResponse:
    """Withdraw the submission or one of its runs, with a reason."""
    submission = own_submission(request, public_id)
    _refuse_others(submission, request.user)
    with refusals_shown(request):
        stated = valid_data(WithdrawalForm(submission, request.POST))
        withdraw_own(submission, request.user, stated["reason"], stated.get("run", ""))
        messages.success(request, "Withdrawn. The history of the submission has the reason.")
    return redirect("submission-detail", public_id)


@require_POST
@members_only
def return_to_review(request: UserRequest, public_id: str) -> HttpResponse:
    """Return the retracted runs of the submission to review."""
    submission = own_submission(request, public_id)
    _refuse_others(submission, request.user)
    with refusals_shown(request):
        return_own(submission, request.user)
        messages.success(request, "The submission waits for a reviewer again.")
    return redirect("submission-detail", public_id)


def _refuse_others(submission: Submission, user: object) -> None:
    if not _is_sender(submission, user):
        raise PermissionDenied(NOT_YOURS)
