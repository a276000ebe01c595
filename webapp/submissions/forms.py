"""The parts of the forms of a submission, and the reviewer's forms."""

from typing import Any, cast

from django import forms
from django.db.models import Case, When

from results.errors import ReviewRefusedError
from results.ingest.rows import Identity
from results.lifecycle.corrections import CORRECTABLE
from results.models import Category, Product, Submission
from results.models.evidence import PLACE_CHARS, SLICE_LENGTH_DEFAULT_S

FACT_FIELDS = [
    "vendor", "model", "part_number", "capacity_gb", "firmware", "category", "over_provisioning_pct", "region",
    "zone", "slice_length_s", "notes", "embargo_until",
]  # fmt: skip
SLICE_LENGTH_MAX_S = 86_400
MINUTE_FORMATS = ("%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M")  # as browsers send it, and as it is shown elsewhere
EMPTY = (
    "The file is empty. Expected the standard output of act_storage or drivetest; a load that crashed before its first "
    "report leaves an empty file: run it again."
)


class MinuteField(forms.DateTimeField):
    """A minute in UTC, as on the register's clock."""

    widget = forms.DateTimeInput(format=MINUTE_FORMATS[0], attrs={"type": "datetime-local"})
    input_formats = MINUTE_FORMATS


class IdentityForm(forms.Form):
    """The facts that name a product: of a log, or of a product that is new to the register."""

    category = forms.ChoiceField(choices=[("", "Choose one"), *Category.choices])
    vendor = forms.CharField(max_length=200)
    model = forms.CharField(max_length=200)
    part_number = forms.CharField(max_length=200, required=False)
    capacity_gb = forms.IntegerField(
        label="Capacity, GB",
        required=False,
        min_value=1,
        max_value=2**31 - 1,
        help_text="1 GB is 1,000,000,000 bytes. Leave the capacity of a cloud instance empty.",
    )

    def identity(self) -> Identity:
        """Return the five facts."""
        return cast("Identity", {name: self.cleaned_data[name] for name in Identity.__annotations__})


class DriveStateForm(forms.Form):
    """Facts about the drive of one run that its log does not state."""

    firmware = forms.CharField(
        max_length=100,
        required=False,
        help_text="Firmware version of the drive, which nvme id-ctrl prints in the field fr.",
    )
    over_provisioning_pct = forms.DecimalField(
        label="Over-provisioning, %",
        required=False,
        min_value=0,
        max_digits=6,
        decimal_places=2,
        help_text="(physical - user) / user capacity; empty if you do not know it, 0 without over-provisioning.",
    )
    region = forms.CharField(
        max_length=PLACE_CHARS,
        required=False,
        help_text="Region of a cloud instance, as named by its provider, for example us-east-1.",
    )
    zone = forms.CharField(
        max_length=PLACE_CHARS, required=False, help_text="Zone of a cloud instance, for example us-east-1a."
    )
    notes = forms.CharField(widget=forms.Textarea(attrs={"rows": 3}), required=False, max_length=5000)


class SlicesForm(forms.Form):
    """The slice length for the reading of a log."""

    slice_length_s = forms.IntegerField(
        label="Slice length, s",
        min_value=1,
        max_value=SLICE_LENGTH_MAX_S,
        initial=SLICE_LENGTH_DEFAULT_S,
        error_messages=dict.fromkeys(
            ("required", "invalid", "min_value", "max_value"),
            f"Expected a slice length of 1 to {SLICE_LENGTH_MAX_S} s.",
        ),
        help_text="The profile judges slices of 3,600 s. With shorter slices a run can fail, but never pass.",
    )


class EmbargoForm(forms.Form):
    """A new end of a submission's embargo; an empty value ends the embargo now."""

    embargo_until = MinuteField(
        label="Not public before, UTC", required=False, help_text="An empty field ends the embargo at once."
    )


class LongerEmbargoForm(EmbargoForm):
    """A later end of an embargo, which a reviewer states with a reason."""

    embargo_until = MinuteField(
        label="Not public before, UTC",
        error_messages={"required": "Enter the end of the embargo. Only the organisation ends an embargo at once."},
        help_text="Only the organisation can shorten or end its embargo.",
    )
    reason = forms.CharField(
        label="Reason",
        max_length=1000,
        widget=forms.Textarea(attrs={"rows": 2, "id": "id_embargo_reason"}),
        help_text="The organisation gets a mail with the reason.",
        error_messages={"required": "Enter a reason. The organisation reads it."},
    )


class ProductForm(forms.Form):
    """The product of a submission, among those of its category."""

    product = forms.ModelChoiceField(
        Product.objects.none(), empty_label="Choose one", error_messages={"required": "No product was chosen."}
    )

    def __init__(self, submission: Submission, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        stated = Case(When(vendor__iexact=submission.vendor, then=0), default=1)  # the stated maker comes first
        products = Product.objects.order_by(stated, "vendor", "model", "capacity_gb")
        field = cast("forms.ModelChoiceField[Product]", self.fields["product"])
        field.queryset = products.filter(category=submission.category) if submission.category else products
        field.label_from_instance = describe_product  # type: ignore[method-assign, assignment]


def describe_product(product: Product) -> str:
    """Return a product's identity in one line, distinct for products of the same name."""
    size = f"{product.capacity_gb} GB" if product.capacity_gb else ""
    return " ".join(part for part in [product.vendor, product.model, product.part_number, size] if part)


class ReasonForm(forms.Form):
    """The reason of a decision. The owners read it, and everyone reads the reason of a withdrawal."""

    reason = forms.CharField(
        max_length=1000,
        widget=forms.Textarea(attrs={"rows": 2}),
        error_messages={"required": "Enter a reason. It is shown with the decision."},
    )


class QuestionForm(forms.Form):
    """A question of a reviewer to the organisation."""

    question = forms.CharField(max_length=2000, widget=forms.Textarea(attrs={"rows": 3}))


class AnswerForm(forms.Form):
    """The answer of the organisation."""

    answer = forms.CharField(max_length=5000, widget=forms.Textarea(attrs={"rows": 4}))


class SupersedeForm(ReasonForm):
    """The run that replaces another one, and the reason."""

    successor = forms.CharField(label="Superseded by run", max_length=20)
    field_order = ["successor", "reason"]


class AnnotationForm(forms.Form):
    """A sentence that everyone reads with the figures."""

    text = forms.CharField(label="Annotation", max_length=1000, widget=forms.Textarea(attrs={"rows": 2}))


class CorrectionForm(DriveStateForm, ReasonForm):
    """Corrected facts about the drive. The form starts with the current values."""

    over_provisioned_to_gb = forms.IntegerField(
        label="Over-provisioned to, GB", required=False, min_value=1, max_value=2**31 - 1
    )
    field_order = [*CORRECTABLE, "reason"]


def valid_data(form: forms.Form) -> dict[str, Any]:
    """Return what was entered into a form. Raises ReviewRefusedError with its errors if it is not valid."""
    if not form.is_valid():
        labels = {name: f"{form[name].label}: " for name in form.fields}
        complaints = (labels.get(name, "") + " ".join(map(str, errors)) for name, errors in form.errors.items())
        raise ReviewRefusedError("Nothing was changed. " + "; ".join(complaints))
    return form.cleaned_data
