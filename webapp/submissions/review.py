"""The review queue and a reviewer's decisions."""

from collections.abc import Callable

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from results.errors import ReviewRefusedError
from results.ingest.queue import retry_reading
from results.lifecycle import review, visibility
from results.lifecycle.submission_states import REVIEWABLE, SubmissionState, with_state
from results.models import Submission
from webapp.accounts.requests import UserRequest, staff_only
from webapp.submissions.changes import embargo_sentence, refusals_shown
from webapp.submissions.forms import IdentityForm, ProductForm, ReasonForm
from webapp.submissions.review_warnings import review_warnings, with_virtual_device_flag

PAGE_ROWS = 50
Decision = Callable[[UserRequest, Submission], str]


@require_safe
@staff_only
def review_list(request: UserRequest) -> HttpResponse:
    """List what waits for a reviewer, oldest first, and what waits for the end of its embargo, the next first."""
    stated = with_state(Submission.objects.select_related("organisation", "log", "product"))
    rows = with_virtual_device_flag(stated).filter(state__in=REVIEWABLE).order_by("received_at", "pk")
    embargoed = stated.filter(state=SubmissionState.EMBARGOED).order_by("embargo_until", "pk")[:PAGE_ROWS]
    page = Paginator(rows, PAGE_ROWS).get_page(request.GET.get("page"))
    return render(
        request, "submissions/review/review.html", {"page": page, "embargoed": embargoed, "section": "submit"}
    )


@require_POST
@staff_only
def decide(request: UserRequest, public_id: str, decision: str) -> HttpResponse:
    """Carry out one decision and return to the submission's page, which shows the result."""
    submission = Submission.objects.filter(public_id=public_id).first()
    if submission is None or decision not in DECISIONS:
        raise Http404(f"No submission {public_id}, or no decision {decision}.")
    with refusals_shown(request):
        messages.success(request, DECISIONS[decision](request, submission))
    return redirect("submission-detail", public_id)


def _name_product(request: UserRequest, submission: Submission) -> str:
    form = ProductForm(submission, request.POST)
    if not form.is_valid():
        raise ReviewRefusedError("No product was chosen.")
    review.name_product(submission, form.cleaned_data["product"], request.user)
    return f"The product is {form.cleaned_data['product']}."


def _create_product(request: UserRequest, submission: Submission) -> str:
    form = IdentityForm(request.POST)
    if not form.is_valid():
        complaints = "; ".join(
            f"{name}: {' '.join(str(error) for error in errors)}" for name, errors in form.errors.items()
        )
        raise ReviewRefusedError(f"The product was not added. {complaints}")
    product = review.create_product(submission, request.user, form.identity())
    return f"The product {product} is in the register."


def _publish(request: UserRequest, submission: Submission) -> str:
    runs = submission.runs.select_related("reading__evidence").prefetch_related("findings")
    warnings = review_warnings(submission, runs)
    unticked = [sentence for sentence in warnings if sentence not in request.POST.getlist("accepted_warnings")]
    if unticked and submission.submitted_by_id != request.user.pk and not submission.is_virtual:
        raise ReviewRefusedError(f"Not published. Tick each warning to publish despite it: {' '.join(unticked)}")
    review.publish(submission, request.user, warnings)
    is_waiting = submission.runs.embargoed().exists()
    return f"Reviewed; {embargo_sentence(submission)}" if is_waiting else "Published."


def _decline(request: UserRequest, submission: Submission) -> str:
    review.decline(submission, request.user, _reason(request))
    return "Declined. The organisation sees the reason."


def _withdraw(request: UserRequest, submission: Submission) -> str:
    run = submission.runs.filter(public_id=request.POST.get("run", "")).first()
    if run is None:
        raise ReviewRefusedError("No run of this submission was named.")
    visibility.withdraw(run, request.user, _reason(request))
    return f"{run.public_id} is withdrawn. Its page stays, with the notice."


def _read_again(request: UserRequest, submission: Submission) -> str:
    if not retry_reading(submission, request.user, {"by": "reviewer"}):
        raise ReviewRefusedError("The reading of this submission has not failed, so there is nothing to retry.")
    return "The reading is retried."


def _reason(request: UserRequest) -> str:
    form = ReasonForm(request.POST)
    if not form.is_valid():
        raise ReviewRefusedError("A reason is needed. It is shown with the decision.")
    return str(form.cleaned_data["reason"])


DECISIONS: dict[str, Decision] = {
    "product": _name_product,
    "new-product": _create_product,
    "publish": _publish,
    "decline": _decline,
    "withdraw": _withdraw,
    "read-again": _read_again,
}
