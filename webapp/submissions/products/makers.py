"""The page of makers: which organisation a spelling of a vendor means."""

from django import forms
from django.contrib import messages
from django.db.models import Exists, OuterRef
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from results.errors import ReviewRefusedError
from results.history import event_label
from results.lifecycle.makers import LINKED_KIND, UNLINKED_KIND, link_spelling, unlink_spelling
from results.models import Event, Maker, Organisation, Product
from webapp.accounts.requests import UserRequest, reviewers_only
from webapp.submissions.changes import refusals_shown
from webapp.submissions.forms import ReasonForm, valid_data

SHOWN_EVENTS = 50


class MakerForm(ReasonForm):
    """A spelling as products state it, and the organisation that it means."""

    spelling = forms.CharField(max_length=200, widget=forms.TextInput(attrs={"list": "spellings"}))
    organisation = forms.ModelChoiceField(Organisation.objects.none(), to_field_name="slug", empty_label="Choose one")
    field_order = ["spelling", "organisation", "reason"]

    def __init__(self, *args: object) -> None:
        super().__init__(*args)  # type: ignore[arg-type] # a POST or nothing
        confirmed = Organisation.objects.filter(confirmed_at__isnull=False).order_by("name")
        self.fields["organisation"].queryset = confirmed  # type: ignore[attr-defined]


@require_http_methods(["GET", "HEAD", "POST"])
@reviewers_only
def maker_list(request: UserRequest) -> HttpResponse:
    """List the linked spellings, or link one."""
    form = MakerForm(*([request.POST] if request.method == "POST" else []))
    if request.method == "POST" and form.is_valid():
        stated = form.cleaned_data
        try:
            link_spelling(request.user, stated["spelling"], stated["organisation"], stated["reason"])
        except ReviewRefusedError as refusal:
            form.add_error("spelling", str(refusal))
        else:
            messages.success(request, f"{stated['spelling']} means {stated['organisation']} from now on.")
            return redirect("maker-list")
    linked = Event.objects.filter(subject_type="organisation", kind__in=[LINKED_KIND, UNLINKED_KIND])
    events = linked.select_related("actor").order_by("-at", "-id")
    page = {
        "section": "submit",
        "form": form,
        "makers": Maker.objects.select_related("organisation"),
        "unlinked": unlinked_vendors(),
        "history": [(event, event_label(event.kind)) for event in events[:SHOWN_EVENTS]],
    }
    return render(request, "submissions/products/makers.html", page, status=400 if form.errors else 200)


@require_POST
@reviewers_only
def remove_maker(request: UserRequest, maker_id: int) -> HttpResponse:
    """Remove the link of a spelling, with a reason."""
    maker = get_object_or_404(Maker.objects.select_related("organisation"), pk=maker_id)
    with refusals_shown(request):
        reason = valid_data(ReasonForm(request.POST))["reason"]
        unlink_spelling(request.user, maker.spelling, maker.organisation, reason)
        messages.success(request, f"{maker.spelling} no longer means {maker.organisation}.")
    return redirect("maker-list")


def unlinked_vendors() -> list[str]:
    """Return the vendors of products that mean no organisation, neither by a link nor by its name."""
    linked = Maker.objects.filter(spelling__iexact=OuterRef("vendor"))
    named = Organisation.objects.filter(name__iexact=OuterRef("vendor"))
    vendors = Product.objects.filter(~Exists(linked), ~Exists(named), merged_into__isnull=True)
    return list(vendors.order_by("vendor").values_list("vendor", flat=True).distinct())
