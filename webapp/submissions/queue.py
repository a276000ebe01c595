"""The review queue: search, filters, order, and one decision about several submissions."""

from django.contrib import messages
from django.db.models import Case
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from results.errors import ReviewRefusedError
from results.lifecycle.review_queue import by_missing, with_missing
from results.lifecycle.submission_states import REVIEWABLE, SubmissionState, in_states, with_state
from results.models import Submission
from webapp.accounts.requests import UserRequest, reviewers_only
from webapp.submissions.listing import PAGE_ROWS, QueueForm, page_of_keys
from webapp.submissions.objections.review import waiting_objections
from webapp.submissions.review import DECISIONS
from webapp.submissions.review_warnings import with_virtual_device_flag
from webapp.submissions.waiting import queue_rows

BY_MISSING = "missing"
BATCH = {
    "claim": "Claim",
    "release": "Release",
    "publish": "Approve those without warnings",
    "decline": "Decline with the reason below",
}


@require_http_methods(["GET", "HEAD", "POST"])
@reviewers_only
def review_list(request: UserRequest) -> HttpResponse:
    """List what waits for a reviewer and what waits for the end of its embargo, or decide about several submissions."""
    if request.method == "POST":
        return _decide_several(request)
    is_by_missing = request.GET.get("sort") == BY_MISSING
    order: list[str | Case] = [*([by_missing()] if is_by_missing else []), "received_at", "pk"]
    form = QueueForm(request.user, request.GET)
    waiting = form.filtered(with_missing(in_states(Submission.objects.all(), REVIEWABLE)))
    page = page_of_keys(waiting.order_by(*order), request.GET.get("page"))
    listed = Submission.objects.select_related("organisation", "log", "product")
    shown = with_missing(with_virtual_device_flag(with_state(listed.filter(pk__in=page.object_list))))
    embargoed = in_states(listed, {SubmissionState.EMBARGOED}).order_by("embargo_until", "pk")[:PAGE_ROWS]
    query = form.query()
    context = {
        "section": "submit",
        "page": page,
        "rows": queue_rows(shown.select_related("deadline").order_by(*order)),
        "form": form,
        "query": query,
        "sort_query": f"&sort={BY_MISSING}" if is_by_missing else "",
        "is_by_missing": is_by_missing,
        "embargoed": embargoed,
        "batch": BATCH.items(),
        "objections": waiting_objections(request.user),
    }
    return render(request, "submissions/review/review.html", context)


def _decide_several(request: UserRequest) -> HttpResponse:
    """Make one decision about each chosen submission, and report those for which it was refused."""
    name, chosen = request.POST.get("batch", ""), request.POST.getlist("chosen")[:PAGE_ROWS]
    found = list(Submission.objects.filter(public_id__in=chosen).order_by("received_at", "pk"))
    if name not in BATCH or not found:
        messages.error(request, "Nothing was changed. Choose a decision and at least one submission.")
        return redirect("review-list")
    refused = 0
    for submission in found:
        try:
            DECISIONS[name](request, submission)
        except ReviewRefusedError as refusal:
            refused += 1
            messages.error(request, f"{submission.public_id}: {refusal}")
    done = len(found) - refused
    if done:
        messages.success(request, f"{BATCH[name].split()[0]}: done for {done} of {len(found)} submissions.")
    return redirect(f"{reverse('review-list')}?{request.GET.urlencode()}" if request.GET else "review-list")
