"""A reviewer's decisions about submissions, and the review page of one run."""

from collections.abc import Callable
from typing import TypeVar

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from results.access.withholding import is_sequestered
from results.errors import ReviewRefusedError
from results.history import event_label, history_of
from results.ingest.queue import retry_reading
from results.lifecycle import review, review_claims, visibility
from results.lifecycle.corrections import CORRECTABLE, CORRECTED, annotate, correct, retract, take_back
from results.lifecycle.questions import ask
from results.models import Annotation, Event, Run, Submission
from webapp.accounts.models import User
from webapp.accounts.requests import UserRequest, reviewers_only
from webapp.submissions import forms
from webapp.submissions.approvals import UntickedError, approve, step_approvals, unaccepted
from webapp.submissions.changes import embargo_sentence, find_submission, refusals_shown
from webapp.submissions.succession import find_successor, succession_part, succession_warnings
from webapp.submissions.views import submission_page
from webapp.templatetags import units

APPROVED = "Your approval is stored. Another reviewer has to approve this step before it takes effect."
WITHDRAWN_PAGE = f"page stays and shows a notice within about {units.duration(settings.SNAPSHOT_PERIOD_S)}."
KEY_DIGITS = 19  # of the largest key; beyond some thousands Python refuses to read a number at all
Row = TypeVar("Row", Annotation, Event)
Decision = Callable[[UserRequest, Submission], str]
Act = Callable[[UserRequest, Run], str]


@require_POST
@reviewers_only
def decide(request: UserRequest, public_id: str, decision: str) -> HttpResponse:
    """Carry out one decision and return to the submission's page, which shows the result."""
    submission = Submission.objects.filter(public_id=public_id).first()
    if submission is None or decision not in DECISIONS:
        raise Http404(f"No submission {public_id}, or no decision {decision}.")
    with refusals_shown(request):
        try:
            messages.success(request, DECISIONS[decision](request, submission))
        except UntickedError as error:
            return _show_unticked(request, public_id, error)
    return redirect("submission-detail", public_id)


def _show_unticked(request: UserRequest, public_id: str, error: UntickedError) -> HttpResponse:
    """Show the page of the submission again, with the error and what the reviewer ticked."""
    submission = find_submission(public_id)
    if submission is None:
        raise Http404(f"No submission is named {public_id}.")
    page = submission_page(request, submission)
    ticked = request.POST.getlist("accepted_warnings")
    page |= {"unticked": error.sentences, "ticked": ticked}
    return render(request, "submissions/detail.html", page, status=409)


def _name_product(request: UserRequest, submission: Submission) -> str:
    product = forms.valid_data(forms.ProductForm(submission, request.POST))["product"]
    review.name_product(submission, product, request.user)
    return f"The product is {product}.{_also_named(submission)}"


def _create_product(request: UserRequest, submission: Submission) -> str:
    form = forms.IdentityForm(request.POST)
    forms.valid_data(form)
    product = review.create_product(submission, request.user, form.identity())
    return f"The product {product} is in the register.{_also_named(submission)}"


def _also_named(submission: Submission) -> str:
    """Return the sentence about the other submissions that got the product, with a space before it; "" without any."""
    others = review.named_with(submission)
    return f" Also assigned to submissions that state the same name: {', '.join(others)}." if others else ""


def _claim(request: UserRequest, submission: Submission) -> str:
    review_claims.claim(submission, request.user)
    return f"{submission.public_id} is yours for a day, or until you decide."


def _release(request: UserRequest, submission: Submission) -> str:
    if not review_claims.release(submission, request.user):
        raise ReviewRefusedError(f"You have no claim of {submission.public_id}.")
    return f"{submission.public_id} is free for other reviewers."


def _publish(request: UserRequest, submission: Submission) -> str:
    if not approve(submission, request.user, request.POST.getlist("accepted_warnings")):
        return APPROVED
    is_waiting = submission.runs.embargoed().exists()
    return f"Approved. {embargo_sentence(submission)}" if is_waiting else "Published."


def _decline(request: UserRequest, submission: Submission) -> str:
    review.decline(submission, request.user, _reason(request))
    return "The submission is declined. Its organisation sees the reason."


def _ask(request: UserRequest, submission: Submission) -> str:
    ask(submission, request.user, forms.valid_data(forms.QuestionForm(request.POST))["question"])
    return "The question is on the page of the submission. Its organisation can answer there."


def _retract_approval(request: UserRequest, submission: Submission) -> str:
    review.retract_approval(submission, request.user)
    return "Your approval is taken back."


def _withdraw(request: UserRequest, submission: Submission) -> str:
    run = submission.runs.filter(public_id=request.POST.get("run", "")).first()
    if run is None:
        raise ReviewRefusedError("No run of this submission was named.")
    visibility.withdraw(run, request.user, _reason(request))
    return f"{run.public_id} is withdrawn. Its {WITHDRAWN_PAGE}"


def _read_again(request: UserRequest, submission: Submission) -> str:
    if not retry_reading(submission, request.user, {"by": "reviewer"}):
        raise ReviewRefusedError("The reading of this submission has not failed, so there is nothing to retry.")
    return "The reading is retried."


def _reason(request: UserRequest) -> str:
    return str(forms.valid_data(forms.ReasonForm(request.POST))["reason"])


DECISIONS: dict[str, Decision] = {
    "product": _name_product,
    "new-product": _create_product,
    "publish": _publish,
    "ask": _ask,
    "retract-approval": _retract_approval,
    "decline": _decline,
    "withdraw": _withdraw,
    "read-again": _read_again,
    "claim": _claim,
    "release": _release,
}


@require_safe
@reviewers_only
def run_review(request: UserRequest, public_id: str) -> HttpResponse:
    """Show the possible decisions about a run, and its history."""
    run = _find(public_id)
    moves = {move.name for move in visibility.allowed_transitions(run, request.user)}
    history = list(history_of(run).select_related("actor"))
    context = {
        "section": "submit",
        "run": run,
        "moves": [
            visibility.TRANSITIONS[name] for name in ("withdraw", "reinstate", "unsupersede", "recall") if name in moves
        ],
        "may_supersede": "supersede" in moves,
        "is_own": visibility.is_own(run, request.user),
        "approvals": step_approvals(run),
        "annotations": list(run.annotations.current().select_related("author")),
        "corrections": [event for event in history if event.kind == CORRECTED],
        "history": [(event, event_label(event.kind)) for event in history],
        "annotation_form": forms.AnnotationForm(),
        "correction_form": forms.CorrectionForm(initial={name: getattr(run, name) for name in CORRECTABLE}),
    }
    context |= succession_part(run, request.GET.get("successor", ""))
    return render(request, "submissions/review/run_review.html", context)


@require_POST
@reviewers_only
def act_on_run(request: UserRequest, public_id: str, act: str) -> HttpResponse:
    """Carry out one action on a run and return to its page, which shows the result."""
    run = _find(public_id)
    if act not in ACTS:
        raise Http404(f"There is no action on a run with the name {act}.")
    with refusals_shown(request):
        messages.success(request, ACTS[act](request, run))
    return redirect("run-review", public_id)


def _find(public_id: str) -> Run:
    run = Run.objects.select_related("product", "submission", "superseded_by").filter(public_id=public_id).first()
    if run is None:
        raise Http404(f"No run is named {public_id}.")
    if is_sequestered(run):
        raise PermissionDenied(f"Run {public_id} is withheld for legal reasons. Only operators see it.")
    return run


def _named(rows: QuerySet[Row], key: str) -> Row:
    """Return the row with the key from a form. Raises Http404 for an unknown or impossible key."""
    row = rows.filter(pk=key).first() if key.isdecimal() and len(key) <= KEY_DIGITS else None
    if row is None:
        raise Http404(f"Nothing of this run has the key {key[:KEY_DIGITS]}.")
    return row


def _with_reason(decide: Callable[[Run, User, str], bool | None], done: str) -> Act:
    """Return an act that needs only a reason, and the sentence that it shows."""

    def act(request: UserRequest, run: Run) -> str:
        is_done = decide(run, request.user, _reason(request))
        return APPROVED if is_done is False else done

    return act


def _supersede(request: UserRequest, run: Run) -> str:
    stated = forms.valid_data(forms.SupersedeForm(request.POST))
    successor = find_successor(stated["successor"])
    warnings = succession_warnings(run, successor)
    if unticked := unaccepted(warnings, request.POST.getlist("accepted_warnings")):
        raise ReviewRefusedError(f"Not superseded. Tick each warning to supersede despite it: {' '.join(unticked)}")
    if not visibility.supersede(run, successor, request.user, stated["reason"], warnings):
        return APPROVED
    return f"Run {successor.public_id} replaces it."


def _annotate(request: UserRequest, run: Run) -> str:
    annotate(run, forms.valid_data(forms.AnnotationForm(request.POST))["text"], request.user)
    return "Annotated."


def _retract(request: UserRequest, run: Run) -> str:
    annotation = _named(Annotation.objects.filter(run=run), request.POST.get("annotation", ""))
    retract(annotation, request.user, _reason(request))
    return "The annotation is retracted, and stays in the history."


def _correct(request: UserRequest, run: Run) -> str:
    stated = forms.valid_data(forms.CorrectionForm(request.POST))
    correct(run, {name: stated[name] for name in CORRECTABLE}, request.user, stated["reason"])
    return "The facts are corrected. The history shows the values before and after."


def _take_back(request: UserRequest, run: Run) -> str:
    events = Event.objects.filter(subject_type="run", subject_id=run.public_id)
    take_back(_named(events, request.POST.get("event", "")), request.user, _reason(request))
    return "The correction is reverted."


ACTS: dict[str, Act] = {
    "withdraw": _with_reason(visibility.withdraw, f"The run is withdrawn. Its {WITHDRAWN_PAGE}"),
    "reinstate": _with_reason(visibility.reinstate, "Reinstated."),
    "supersede": _supersede,
    "unsupersede": _with_reason(visibility.unsupersede, "The run is listed again."),
    "recall": _with_reason(visibility.recall, "Returned to review."),
    "annotate": _annotate,
    "retract": _retract,
    "correct": _correct,
    "take-back": _take_back,
}
