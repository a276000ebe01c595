"""Takedowns of public results for legal reasons: the page on which operators request, confirm and end them."""

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from results.errors import ReviewRefusedError
from results.lifecycle.takedowns import confirm_takedown, current_takedowns, end_takedown, request_takedown
from results.models import Run, Takedown
from webapp.accounts.requests import UserRequest, operators_only, recently_authenticated, second_factor_entered
from webapp.submissions.changes import refusals_shown
from webapp.submissions.forms import ReasonForm, valid_data

ENDED_SHOWN = 20


class TakedownForm(forms.Form):
    """The run of a takedown and its ground; the note is for operators only."""

    run = forms.CharField(max_length=20, help_text="Public id of the run. It is withheld at once.")
    ground = forms.ChoiceField(choices=Takedown.Ground.choices, help_text="Everyone reads the ground.")
    note = forms.CharField(
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="For operators only, for example the reference of a court.",
    )


@require_http_methods(["GET", "HEAD", "POST"])
@operators_only
@recently_authenticated
def takedown_list(request: UserRequest) -> HttpResponse:
    """List the takedowns, and let an operator request one."""
    if request.method == "POST":
        with refusals_shown(request):
            stated = valid_data(TakedownForm(request.POST))
            run = Run.objects.filter(public_id=stated["run"].strip()).first()
            if run is None:
                raise ReviewRefusedError(f"No run is named {stated['run']}.")
            request_takedown(run, request.user, Takedown.Ground(stated["ground"]), stated["note"])
            messages.success(request, f"{run.public_id} is withheld. Another operator has to confirm it.")
        return redirect("takedown-list")
    people = ("requested_by", "confirmed_by", "ended_by")
    context = {
        "current": list(current_takedowns().select_related(*people)),
        "ended": Takedown.objects.filter(ended_at__isnull=False).select_related("run", *people)[:ENDED_SHOWN],
        "form": TakedownForm(),
    }
    return render(request, "submissions/takedowns.html", context)


@require_POST
@operators_only
@second_factor_entered
def act_on_takedown(request: UserRequest, takedown_id: int, act: str) -> HttpResponse:
    """Confirm or end one takedown, and return to the list."""
    takedown = get_object_or_404(Takedown, pk=takedown_id)
    with refusals_shown(request):
        if act == "confirm":
            confirm_takedown(takedown, request.user)
            messages.success(request, f"The takedown of {takedown.run.public_id} is confirmed.")
        elif act == "end":
            end_takedown(takedown, request.user, valid_data(ReasonForm(request.POST))["reason"])
            messages.success(request, f"{takedown.run.public_id} is public again.")
        else:
            raise Http404(f"There is no action on a takedown with the name {act}.")
    return redirect("takedown-list")
