"""The forms of a campaign: its terms, what is stated about the product, and the terms that may change on the way."""

from decimal import Decimal
from typing import Any

from django import forms

from runners.campaigns.commands import EDITABLE, CampaignOrder
from runners.campaigns.messages import nx
from runners.campaigns.scheduler import PREP
from runners.campaigns.terms import STRESS_FACTOR, Terms
from runners.recipes import RECIPES
from webapp.lab.dispatches.forms import DAY_S, LEAST_LOAD, LONGEST_RUN_S, MOST_LOAD, SLICES_MAX, TOO_MUCH, FactsForm

DEFAULTS = Terms()
LONGEST_REST_S = 7 * DAY_S


def load_field(label: str, default: Decimal, help_text: str = "") -> forms.DecimalField:
    """Return a field for a load. Three decimals: N x 1000 writes a second is then a whole number."""
    return forms.DecimalField(
        label=label,
        min_value=LEAST_LOAD,
        max_value=MOST_LOAD,
        max_digits=9,
        decimal_places=3,
        initial=default,
        help_text=help_text,
        error_messages=TOO_MUCH,
    )


def percent_field(label: str, default: Decimal, help_text: str = "") -> forms.DecimalField:
    """Return a field for a percentage."""
    return forms.DecimalField(
        label=label, min_value=0, max_value=50, max_digits=4, decimal_places=2, initial=default, help_text=help_text
    )


def seconds_field(label: str, default: int, most: int, help_text: str = "", least: int = 1) -> forms.IntegerField:
    """Return a field for a time."""
    return forms.IntegerField(label=label, min_value=least, max_value=most, initial=default, help_text=help_text)


class EditableTermsForm(forms.Form):
    """The terms that may change while a campaign runs; the next step is decided by them."""

    max_nx = load_field(
        "Highest load, Nx", DEFAULTS.max_nx, "No run loads the drive with more: N is at most half, for its stress test."
    )
    ladder_factor = forms.DecimalField(
        label="Ladder factor",
        min_value=Decimal("1.05"),
        max_value=10,
        max_digits=4,
        decimal_places=2,
        initial=DEFAULTS.ladder_factor,
        help_text="Each rung is so many times the one before, until a load fails; then halves of what lies between.",
    )
    screening_s = seconds_field("Screening run, s", DEFAULTS.screening_s, LONGEST_RUN_S)
    load_s = seconds_field("Load test, s", DEFAULTS.load_s, LONGEST_RUN_S, "A certificate asks 86,400 s.")
    stress_s = seconds_field("Stress test, s", DEFAULTS.stress_s, LONGEST_RUN_S, "A certificate asks 86,400 s.")
    rest_s = seconds_field("Rest after a run that fails, s", DEFAULTS.rest_s, LONGEST_REST_S, least=0)
    overload_rest_s = seconds_field(
        "Rest after an overload, s",
        DEFAULTS.overload_rest_s,
        LONGEST_REST_S,
        "After a stress test, and where the drive could not keep up: it looks worse for hours.",
        least=0,
    )
    near_pct = percent_field(
        "Near a limit, %", DEFAULTS.near_pct, "A screening run within this part of a limit is repeated; 0: never."
    )
    load_near_pct = percent_field(
        "Near a limit, load tests, %", DEFAULTS.load_near_pct, "0: a load test stands as it is."
    )
    attempts_max = forms.IntegerField(
        label="Attempts in vain", min_value=1, max_value=20, initial=DEFAULTS.attempts_max,
        help_text="After so many that told nothing in a row it waits for a person.",
    )  # fmt: skip
    confirmations_max = forms.IntegerField(
        label="Loads tested at length", min_value=1, max_value=100, initial=DEFAULTS.confirmations_max,
        help_text="Two days each. It ends with the best of so many.",
    )  # fmt: skip

    def clean(self) -> dict[str, Any]:
        """Refuse runs of more slices than a reading takes."""
        cleaned = super().clean() or {}
        slice_length_s = cleaned.get("slice_length_s") or self.kept_slice_length_s
        for name in ("screening_s", "load_s", "stress_s"):
            duration_s = cleaned.get(name)
            if duration_s and duration_s // min(slice_length_s, duration_s) > SLICES_MAX:
                self.add_error(name, f"Expected at most {SLICES_MAX} slices of {slice_length_s} s.")
        return cleaned

    @property
    def kept_slice_length_s(self) -> int:
        """Return the slice length of a campaign that runs already, which stays."""
        return int(self.initial.get("slice_length_s", DEFAULTS.slice_length_s))

    def changes(self) -> dict[str, Any]:
        """Return the terms as asked for."""
        return {name: self.cleaned_data[name] for name in EDITABLE}


class CampaignForm(EditableTermsForm, FactsForm):
    """A campaign on one device."""

    start_nx = load_field("First load, Nx", DEFAULTS.start_nx, "1x is 2,000 reads/s and 1,000 writes/s on the device.")
    resolution_nx = load_field("Step, Nx", DEFAULTS.resolution_nx, "All loads are multiples of it.")
    resolution_pct = percent_field(
        "Step, %", DEFAULTS.resolution_pct, "The search ends when pass and fail are one step or this much apart."
    )
    slice_length_s = seconds_field(
        "Slice length, s", DEFAULTS.slice_length_s, DAY_S, "The profile judges slices of 3,600 s; a shorter run is one."
    )
    with_prep = forms.BooleanField(
        label="Prepare the drive first", required=False, help_text="Writes the whole drive; a certificate asks for it."
    )

    def clean_with_prep(self) -> bool:
        """Refuse what the register has no recipe for."""
        with_prep = bool(self.cleaned_data["with_prep"])
        if with_prep and PREP not in RECIPES:
            raise forms.ValidationError("This register has no recipe for prep. Leave it out.")
        return with_prep

    def clean(self) -> dict[str, Any]:
        """Refuse a limit under which no load is left, and a first load that would be run as another one."""
        cleaned = super().clean()
        max_nx, step_nx = cleaned.get("max_nx"), cleaned.get("resolution_nx")
        if max_nx and step_nx and max_nx < STRESS_FACTOR * step_nx:
            self.add_error("max_nx", f"Expected at least {STRESS_FACTOR * step_nx}x: a step and its stress test.")
        start_nx = cleaned.get("start_nx")
        if start_nx and step_nx and start_nx % step_nx:
            expected = f"Expected a multiple of the step, {nx(step_nx)}; got {nx(start_nx)}"
            self.add_error("start_nx", f"{expected}. Change one of the two.")
        return cleaned

    def wanted(self) -> CampaignOrder:
        """Return what was asked for."""
        fixed = ("start_nx", "resolution_nx", "resolution_pct", "slice_length_s", "with_prep")
        terms = Terms(**self.changes(), **{name: self.cleaned_data[name] for name in fixed})
        return CampaignOrder(terms, facts=self.facts())
