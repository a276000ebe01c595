"""The page on which a reviewer admits, refuses or decides an objection, and the objections of the review queue."""

from collections.abc import Callable

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from results.access.withholding import is_sequestered
from results.lifecycle.deadlines import Party
from results.lifecycle.objections import (
    DECIDABLE,
    RULES,
    UPHOLDING,
    admit,
    decide,
    is_partial,
    refuse,
)
from results.models import Objection, ObjectionState
from results.models.objection import BEFORE_ADMISSION
from webapp.accounts.models import User
from webapp.accounts.requests import UserRequest, reviewers_only
from webapp.register.objections.page import ObjectionLine, filer_words, line_of
from webapp.submissions.changes import refusals_shown
from webapp.submissions.forms import valid_data
from webapp.submissions.objections.forms import OutcomeForm, RefusalForm

SHOWN = 50
FOR_REVIEWERS = [state for state, rule in RULES.items() if rule.party is Party.REVIEWER]


def waiting_objections(reviewer: User) -> list[ObjectionLine]:
    """Return the objections that wait for this reviewer, the nearest deadline first."""
    waiting = Objection.objects.waiting().filter(state__in=FOR_REVIEWERS).order_by("deadline", "pk")
    rows = waiting.select_related("run__product", "run__submission", "organisation")[:SHOWN]
    return [line_of(each) for each in rows if not is_partial(each, reviewer)]


@require_safe
@reviewers_only
def objection_review(request: UserRequest, public_id: str) -> HttpResponse:
    """Show an objection to a reviewer, with the possible decisions."""
    found = _find(request, public_id)
    context = {
        "section": "submit",
        "objection": found,
        "line": line_of(found),
        "filer": filer_words(found),
        "files": list(found.files.all()),
        "is_partial": is_partial(found, request.user),
        "is_before_admission": found.state in BEFORE_ADMISSION,
        "is_decidable": found.state in DECIDABLE,
        "is_upheld": found.outcome in UPHOLDING,
        "may_be_decided_at": found.deadline if found.state == ObjectionState.ADMITTED else None,
        "refusal_form": RefusalForm(),
        "outcome_form": OutcomeForm(),
    }
    return render(request, "submissions/objections/review.html", context)


@require_POST
@reviewers_only
def act_on_objection(request: UserRequest, public_id: str, act: str) -> HttpResponse:
    """Carry out one decision about an objection, and return to its review."""
    found = _find(request, public_id)
    if act not in ACTS:
        raise Http404(f"There is no action on an objection with the name {act}.")
    with refusals_shown(request):
        messages.success(request, ACTS[act](request, found))
    return redirect("objection-review", public_id)


def _find(request: UserRequest, public_id: str) -> Objection:
    """Return an objection; a partial reviewer does not read one that is not admitted."""
    related = ("run__product", "run__submission__organisation", "organisation", "filed_by")
    found = Objection.objects.select_related(*related).filter(public_id=public_id).first()
    if found is None or (not found.is_admitted and is_partial(found, request.user)):
        raise Http404(f"No objection is named {public_id}.")
    if is_sequestered(found.run):
        raise PermissionDenied(f"Run {found.run.public_id} is withheld for legal reasons, with its objections.")
    return found


def _admit(request: UserRequest, found: Objection) -> str:
    admit(found, request.user)
    return f"{found.public_id} is public now."


def _refuse(request: UserRequest, found: Objection) -> str:
    stated = valid_data(RefusalForm(request.POST))
    refuse(found, request.user, Objection.Refusal(stated["refusal"]), stated["note"])
    return f"{found.public_id} is refused. Its filer reads the reason."


def _decide(request: UserRequest, found: Objection) -> str:
    stated = valid_data(OutcomeForm(request.POST))
    outcome = Objection.Outcome(stated["outcome"])
    decide(found, request.user, outcome, stated["note"])
    if outcome in UPHOLDING:
        return f"{found.public_id} is upheld. Take the step now, on the review page of run {found.run.public_id}."
    return f"{found.public_id} is rejected."


ACTS: dict[str, Callable[[UserRequest, Objection], str]] = {"admit": _admit, "refuse": _refuse, "decide": _decide}
