"""The forms of a product's review page. Each has a reason or source, which everyone reads."""

from datetime import date
from decimal import Decimal
from typing import Any

from django import forms
from django.core.validators import RegexValidator

from results.models import Product
from results.naming.addresses import product_of_slug
from results.products.facts import (
    CURRENCY,
    FACTS,
    NO_CURRENCY,
    PART_NUMBER_CHARS,
    PART_NUMBERS_MAX,
    StatedPrice,
    complaint_about_date,
)
from webapp.submissions.forms import IdentityForm, ReasonForm


class VersionForm(forms.Form):
    """The version of the product that the page showed, so that no change by another reviewer is overwritten."""

    version = forms.IntegerField(widget=forms.HiddenInput, min_value=0)


class FactsForm(VersionForm, ReasonForm):
    """The facts of a product that are not part of its name. The form starts with the current values."""

    endurance_dwpd = forms.DecimalField(
        label="Endurance, DWPD",
        required=False,
        min_value=0,
        max_digits=7,
        decimal_places=2,
        help_text="Drive writes per day. Name their source in the reason.",
    )
    pcie_gen = forms.CharField(label="PCIe generation", required=False, max_length=10, help_text="For example 4.")
    form_factor = forms.CharField(required=False, max_length=40, help_text="For example U.2 15 mm, E3.S or M.2 2280.")
    part_numbers = forms.CharField(
        label="Further part numbers",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="One in each line. The part number in the name is not repeated here.",
    )
    historical = forms.BooleanField(required=False, help_text="Historical drives have their own list.")
    field_order = [*FACTS, "reason", "version"]

    def clean_part_numbers(self) -> list[str]:
        """Return the numbers, each once."""
        lines = (line.strip() for line in self.cleaned_data["part_numbers"].splitlines())
        numbers = list(dict.fromkeys(line for line in lines if line))
        longest = max(map(len, numbers), default=0)
        if len(numbers) > PART_NUMBERS_MAX or longest > PART_NUMBER_CHARS:
            raise forms.ValidationError(
                f"Expected at most {PART_NUMBERS_MAX} lines of at most {PART_NUMBER_CHARS} characters, "
                f"got {len(numbers)} lines, the longest with {longest} characters."
            )
        return numbers

    def facts(self) -> dict[str, Any]:
        """Return the stated facts."""
        return {name: self.cleaned_data[name] for name in FACTS}


def facts_form(product: Product) -> FactsForm:
    """Return the form with the current facts."""
    initial = {name: getattr(product, name) for name in FACTS} | {"version": product.version}
    return FactsForm(initial=initial | {"part_numbers": "\n".join(product.part_numbers)})


class RenameForm(IdentityForm, VersionForm, ReasonForm):
    """Another name for a product."""

    field_order = ["category", "vendor", "model", "part_number", "capacity_gb", "reason", "version"]


class PriceForm(VersionForm):
    """A list price with its date and source."""

    amount = forms.DecimalField(min_value=0, max_digits=12, decimal_places=2)
    currency = forms.CharField(
        initial="USD",
        max_length=3,
        validators=[RegexValidator(CURRENCY, NO_CURRENCY)],
    )
    stated_on = forms.DateField(label="Date", widget=forms.DateInput(attrs={"type": "date"}))
    source_url = forms.URLField(label="Address of the source", max_length=500, assume_scheme="https")
    field_order = ["amount", "currency", "stated_on", "source_url", "version"]

    def clean_stated_on(self) -> date:
        """Return the date if it is not in the future."""
        stated: date = self.cleaned_data["stated_on"]
        if complaint := complaint_about_date(stated):
            raise forms.ValidationError(complaint)
        return stated

    def price(self) -> StatedPrice:
        """Return the stated price."""
        amount: Decimal = self.cleaned_data["amount"]
        stated = self.cleaned_data
        return StatedPrice(amount, stated["currency"], stated["stated_on"], stated["source_url"])


class TargetForm(ReasonForm):
    """Another product, by its slug."""

    target = forms.CharField(
        label="Slug of the other product", max_length=120, help_text="The part after /drive/ in its address."
    )
    field_order = ["target", "reason"]

    def clean_target(self) -> Product:
        """Return the product with this slug, or the one that it means now."""
        slug = self.cleaned_data["target"].strip()
        found = product_of_slug(slug)
        if found is None:
            raise forms.ValidationError(f"There is no product {slug}.")
        return found


class SplitForm(TargetForm):
    """Runs of a product that move to another one; without a slug, to a new one with the stated name."""

    field_order = ["target", "reason"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["target"].required = False
        self.fields["target"].help_text = "Leave it empty to create a product with the name below."

    def clean_target(self) -> Product | None:  # type: ignore[override]
        """Return the other product; None for a new one."""
        return super().clean_target() if self.cleaned_data["target"].strip() else None
