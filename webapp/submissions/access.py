"""Access to submissions: for members of the organisation, staff, and people with the link."""

from typing import TypeGuard

from django.http import HttpRequest
from django.utils.crypto import constant_time_compare

from results.lifecycle.submission_states import StatedSubmission, with_state
from results.models import Submission
from webapp.accounts.models import User
from webapp.accounts.requests import acts_for
from webapp.submissions.review_warnings import with_virtual_device_flag


def holds_link(request: HttpRequest, submission: Submission) -> bool:
    """Return whether the address carries the submission's secret key."""
    return constant_time_compare(request.GET.get("key", ""), submission.link_key)


def is_owner_or_staff(request: HttpRequest, submission: Submission) -> bool:
    """Return whether the person who is signed in may see the submission without a link."""
    user = request.user
    return (isinstance(user, User) and user.is_staff) or acts_for(user, submission.organisation_id)


def find_submission(public_id: str) -> StatedSubmission | None:
    """Return a submission with its state, or None."""
    related = Submission.objects.select_related("organisation", "log", "side_file", "product", "submitted_by")
    return with_virtual_device_flag(with_state(related)).filter(public_id=public_id).first()


def may_open(submission: StatedSubmission | None, request: HttpRequest) -> TypeGuard[StatedSubmission]:
    """Return whether there is a submission and this request may see it; to others it does not exist."""
    if submission is None:
        return False
    return holds_link(request, submission) or is_owner_or_staff(request, submission)
