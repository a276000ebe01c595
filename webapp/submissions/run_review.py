"""The review page of one run: open transitions, annotations, corrections, and the full history with names."""

from collections.abc import Callable
from typing import TypeVar

from django import forms
from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from results.errors import ReviewRefusedError
from results.history import event_label, history_of
from results.lifecycle import visibility
from results.lifecycle.corrections import CORRECTABLE, CORRECTED, annotate, correct, retract, take_back
from results.models import Annotation, Event, Run
from webapp.accounts.models import User
from webapp.accounts.requests import UserRequest, staff_only
from webapp.submissions.changes import refusals_shown
from webapp.submissions.forms import AnnotationForm, CorrectionForm, ReasonForm, SupersedeForm

KEY_DIGITS = 19  # of the largest key; beyond some thousands Python refuses to read a number at all
Form = TypeVar("Form", bound=forms.Form)
Row = TypeVar("Row", Annotation, Event)
Act = Callable[[UserRequest, Run], str]


@require_safe
@staff_only
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
        "annotations": list(run.annotations.current().select_related("author")),
        "corrections": [event for event in history if event.kind == CORRECTED],
        "history": [(event, event_label(event.kind)) for event in history],
        "supersede_form": SupersedeForm(),
        "annotation_form": AnnotationForm(),
        "correction_form": CorrectionForm(initial={name: getattr(run, name) for name in CORRECTABLE}),
    }
    return render(request, "submissions/review/run_review.html", context)


@require_POST
@staff_only
def act_on_run(request: UserRequest, public_id: str, act: str) -> HttpResponse:
    """Carry out one action on a run and return to its page, which shows the result."""
    run = _find(public_id)
    if act not in ACTS:
        raise Http404(f"Nothing that is done with a run is called {act}.")
    with refusals_shown(request):
        messages.success(request, ACTS[act](request, run))
    return redirect("run-review", public_id)


def _find(public_id: str) -> Run:
    run = Run.objects.select_related("product", "submission", "superseded_by").filter(public_id=public_id).first()
    if run is None:
        raise Http404(f"No run is named {public_id}.")
    return run


def _named(rows: QuerySet[Row], key: str) -> Row:
    """Return the row with the key from a form. Raises Http404 for an unknown or impossible key."""
    row = rows.filter(pk=key).first() if key.isdecimal() and len(key) <= KEY_DIGITS else None
    if row is None:
        raise Http404(f"Nothing of this run has the key {key[:KEY_DIGITS]}.")
    return row


def _filled(form: Form) -> Form:
    """Return a valid form. Raises ReviewRefusedError with its errors otherwise."""
    if not form.is_valid():
        complaints = (f"{name}: {' '.join(map(str, errors))}" for name, errors in form.errors.items())
        raise ReviewRefusedError("Nothing was changed. " + "; ".join(complaints))
    return form


def _reason(request: UserRequest) -> str:
    return str(_filled(ReasonForm(request.POST)).cleaned_data["reason"])


def _with_reason(decide: Callable[[Run, User, str], None], done: str) -> Act:
    """Return an act that needs only a reason, and the sentence that it shows."""

    def act(request: UserRequest, run: Run) -> str:
        decide(run, request.user, _reason(request))
        return done

    return act


def _supersede(request: UserRequest, run: Run) -> str:
    stated = _filled(SupersedeForm(request.POST)).cleaned_data
    successor = Run.objects.filter(public_id=stated["successor"].strip()).first()
    if successor is None:
        raise ReviewRefusedError(f"No run is named {stated['successor']}.")
    visibility.supersede(run, successor, request.user, stated["reason"])
    return f"Run {successor.public_id} replaces it."


def _annotate(request: UserRequest, run: Run) -> str:
    annotate(run, _filled(AnnotationForm(request.POST)).cleaned_data["text"], request.user)
    return "Annotated."


def _retract(request: UserRequest, run: Run) -> str:
    annotation = _named(Annotation.objects.filter(run=run), request.POST.get("annotation", ""))
    retract(annotation, request.user, _reason(request))
    return "The annotation is retracted. It stays in the history."


def _correct(request: UserRequest, run: Run) -> str:
    form = _filled(CorrectionForm(request.POST))
    correct(run, form.stated(), request.user, form.cleaned_data["reason"])
    return "Corrected. The history shows both values."


def _take_back(request: UserRequest, run: Run) -> str:
    events = Event.objects.filter(subject_type="run", subject_id=run.public_id)
    event = _named(events, request.POST.get("event", ""))
    take_back(event, request.user, _reason(request))
    return "The correction is reverted."


ACTS: dict[str, Act] = {
    "withdraw": _with_reason(visibility.withdraw, "Withdrawn. Its page stays, with the notice."),
    "reinstate": _with_reason(visibility.reinstate, "Reinstated."),
    "supersede": _supersede,
    "unsupersede": _with_reason(visibility.unsupersede, "The run is listed again."),
    "recall": _with_reason(visibility.recall, "Returned to review."),
    "annotate": _annotate,
    "retract": _retract,
    "correct": _correct,
    "take-back": _take_back,
}
