"""Forms of a campaign: its terms, its editable terms and the facts about the product."""

from decimal import Decimal
from typing import Any

from django import forms

from runners.campaigns.commands import EDITABLE, CampaignOrder
from runners.campaigns.messages import nx
from runners.campaigns.terms import STRESS_FACTOR, Terms
from runners.models import OrderTemplate
from webapp.lab.dispatches.forms import DAY_S, MAX_RUN_S, SLICES_MAX, FactsForm, alone_field, load_field, seconds_field
from webapp.lab.shared.order_templates import SavableForm

DEFAULTS = Terms()
MAX_REST_S = 7 * DAY_S


def percent_field(label: str, default: Decimal, help_text: str = "") -> forms.DecimalField:
    """Return a field for a percentage."""
    return forms.DecimalField(
        label=label, min_value=0, max_value=50, max_digits=4, decimal_places=2, initial=default, help_text=help_text
    )


class EditableTermsForm(forms.Form):
    """Terms that can change during a campaign; they apply from the next step on."""

    max_nx = load_field(
        "Highest load, Nx",
        DEFAULTS.max_nx,
        "No run exceeds this load. A stress test runs at twice the load test, which is at most half of it.",
    )
    ladder_factor = forms.DecimalField(
        label="Factor from one load to the next",
        min_value=Decimal("1.05"),
        max_value=10,
        max_digits=4,
        decimal_places=2,
        initial=DEFAULTS.ladder_factor,
        help_text="Until a load fails, each load is the previous one times this factor; then steps halve the range.",
    )
    screening_s = seconds_field("Screening run, s", DEFAULTS.screening_s, MAX_RUN_S)
    load_s = seconds_field("Load test, s", DEFAULTS.load_s, MAX_RUN_S, "A certificate requires 86,400 s.")
    stress_s = seconds_field("Stress test, s", DEFAULTS.stress_s, MAX_RUN_S, "A certificate requires 86,400 s.")
    rest_s = seconds_field("Rest after a failed run, s", DEFAULTS.rest_s, MAX_REST_S, min_s=0)
    overload_rest_s = seconds_field(
        "Rest after an overload, s",
        DEFAULTS.overload_rest_s,
        MAX_REST_S,
        "After a stress test or an overload, a drive is slower for hours.",
        min_s=0,
    )
    near_pct = percent_field(
        "Near a limit, %",
        DEFAULTS.near_pct,
        "Screening runs are repeated if a share is within this percentage of its limit. 0 means never.",
    )
    load_near_pct = percent_field(
        "Near a limit, load tests, %",
        DEFAULTS.load_near_pct,
        "Load tests are repeated if a share is within this percentage of its limit. 0 means never.",
    )
    attempts_max = forms.IntegerField(
        label="Failed attempts", min_value=1, max_value=20, initial=DEFAULTS.attempts_max,
        help_text="The campaign pauses after this number of attempts in a row without a usable result.",
    )  # fmt: skip
    confirmations_max = forms.IntegerField(
        label="Confirmed loads, maximum", min_value=1, max_value=100, initial=DEFAULTS.confirmations_max,
        help_text="A confirmation takes two days. After so many confirmations, the campaign ends with the best load.",
    )  # fmt: skip
    alone_on_host = alone_field(is_usual=True)  # another load on the host could decide its runs

    def clean(self) -> dict[str, Any]:
        """Refuse runs with more slices than a reading can store."""
        cleaned = super().clean() or {}
        # The slice length of a campaign cannot change.
        initial_s = int(self.initial.get("slice_length_s", DEFAULTS.slice_length_s))
        slice_length_s = cleaned.get("slice_length_s") or initial_s
        for name in ("screening_s", "load_s", "stress_s"):
            duration_s = cleaned.get(name)
            if duration_s and duration_s // min(slice_length_s, duration_s) > SLICES_MAX:
                self.add_error(name, f"Expected at most {SLICES_MAX} slices of {slice_length_s} s.")
        return cleaned

    def changes(self) -> dict[str, Any]:
        """Return the editable terms."""
        return {name: self.cleaned_data[name] for name in EDITABLE}


class CampaignForm(EditableTermsForm, FactsForm, SavableForm):
    """A campaign on one device."""

    template_kind = OrderTemplate.Kind.CAMPAIGN

    start_nx = load_field(
        "First load, Nx", DEFAULTS.start_nx, "A load of 1x means 2,000 reads/s and 1,000 writes/s on the device."
    )
    resolution_nx = load_field(
        "Step, Nx", DEFAULTS.resolution_nx, "All loads of the campaign are multiples of this step."
    )
    resolution_pct = percent_field(
        "Step, %",
        DEFAULTS.resolution_pct,
        "The search ends when the highest passing and lowest failing load differ by one step or this percentage.",
    )
    slice_length_s = seconds_field(
        "Slice length, s",
        DEFAULTS.slice_length_s,
        DAY_S,
        "The profile judges slices of 3,600 s. A shorter run is one slice.",
    )
    with_prep = forms.BooleanField(
        label="Prepare the drive first",
        required=False,
        initial=DEFAULTS.with_prep,
        help_text="A preparation overwrites the whole drive. A certificate requires a prepared drive.",
    )

    def clean(self) -> dict[str, Any]:
        """Refuse a highest load without room for a stress test, and a first load that is no multiple of the step."""
        cleaned = super().clean()
        max_nx, step_nx = cleaned.get("max_nx"), cleaned.get("resolution_nx")
        if max_nx and step_nx and max_nx < STRESS_FACTOR * step_nx:
            self.add_error(
                "max_nx", f"Expected at least {STRESS_FACTOR * step_nx}x, the load of the stress test of one step."
            )
        start_nx = cleaned.get("start_nx")
        if start_nx and step_nx and start_nx % step_nx:
            expected = f"Expected a multiple of the step, {nx(step_nx)}; got {nx(start_nx)}"
            self.add_error("start_nx", f"{expected}. Change one of the two.")
        return cleaned

    def campaign_order(self) -> CampaignOrder:
        """Return the terms and facts of the campaign to start."""
        terms = Terms(**{name: self.cleaned_data[name] for name in vars(DEFAULTS)})
        return CampaignOrder(terms, facts=self.facts())
