"""The secret link of a submission: creation, renewal and revocation by people who may share it."""

from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from results.access.links import renew_link, revoke_link
from webapp.accounts.requests import UserRequest, members_only
from webapp.register.http.access import LINK_KEY
from webapp.submissions.changes import own_submission


@require_POST
@members_only
def renew(request: UserRequest, public_id: str) -> HttpResponse:
    """Create a link, and show it; the response to this request is the only one that has its key."""
    submission = own_submission(request, public_id)
    query = urlencode({LINK_KEY: renew_link(submission, request.user)})
    path = reverse("submission-detail", args=[public_id])
    context = {"section": "submit", "submission": submission, "link": request.build_absolute_uri(f"{path}?{query}")}
    return render(request, "submissions/link/created.html", context)


@require_POST
@members_only
def revoke(request: UserRequest, public_id: str) -> HttpResponse:
    """End the link, and show the page of the submission."""
    submission = own_submission(request, public_id)
    if revoke_link(submission, request.user):
        messages.success(request, "The secret link no longer opens this submission.")
    return redirect(f"{reverse('submission-detail', args=[public_id])}#link")
