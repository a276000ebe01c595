"""The forms of the lab: a device by its path, its confirmation, and an order."""

from decimal import Decimal
from typing import Any

from django import forms
from django.core.validators import RegexValidator

from results.models import Category
from results.models.evidence import SLICE_LENGTH_DEFAULT_S
from results.reader.process import ROWS_MAX
from runners.dispatch.orders import Order
from runners.inventory.safety import LEAST_DEVICE_BYTES, MIB_BYTES
from runners.models import Host
from runners.recipes import RECIPES

# A path goes into a configuration where commas, semicolons and blanks part devices and # begins a comment; ACT 6.x
# takes 127 characters.
PATH_CHARS_MAX = 127
ABSOLUTE_PATH = RegexValidator(
    r"^/[^\s,;#]+\Z", "Expected an absolute path without blanks, commas, semicolons or #, such as /dev/nvme0n1."
)
NO_FILES_IN = ("/dev/", "/proc/", "/sys/")
LEAST_FILE_MIB = LEAST_DEVICE_BYTES // MIB_BYTES
INTEGER_MAX = 2**31 - 1
# drivetest takes records of up to 8 MiB that fit into a large block, and the recipe leaves large blocks at 128 KiB.
LARGE_BLOCK_KIB = 128
LARGEST_RECORD_BYTES = LARGE_BLOCK_KIB * 1024
RECORD_ERRORS = {
    "min_value": f"Expected 1 to {LARGEST_RECORD_BYTES:,} bytes, got %(show_value)s.",
    "max_value": f"Expected blocks that hold a record of %(show_value)s bytes, got {LARGE_BLOCK_KIB} KiB: ask for at "
    f"most {LARGEST_RECORD_BYTES:,} bytes.",
}
DAY_S = 86_400
LONGEST_RUN_S = 30 * DAY_S
# What one slice of one device's run adds to a reading: 4 histograms (reads, of all and of the device; reads and writes
# of large blocks) and a violation of each of 3 limits. The whole run adds less than 100 rows.
ROWS_PER_SLICE = 4 + 3
SLICES_MAX = (ROWS_MAX - 100) // ROWS_PER_SLICE
# Three decimals: N x 1000 writes a second is then a whole number, which ACT's configuration needs.
LEAST_LOAD = Decimal("0.001")
# 20 million reads a second: ten times what the fastest drive of today is sold with. More is a slip of the finger.
MOST_LOAD = Decimal(10_000)
TOO_MUCH = {"max_value": f"Expected at most {MOST_LOAD:,}x, which is {MOST_LOAD * 2000:,} reads/s on one drive."}

FACT_FIELDS = (
    "vendor",
    "model",
    "part_number",
    "capacity_gb",
    "firmware",
    "category",
    "over_provisioning_pct",
    "notes",
)
STORAGE, INDEX = ACT_RECIPES = ("act-storage", "act-index")
OPTION_FIELDS = ("report_interval_s", "record_bytes", "microsecond_histograms", "service_threads")


class DeviceForm(forms.Form):
    """Where a device is; a size creates a plain file there."""

    path = forms.CharField(
        max_length=PATH_CHARS_MAX,
        validators=[ABSOLUTE_PATH],
        help_text="As the host sees it: a block device, a loop or zram device, or a plain file.",
    )
    create_mib = forms.IntegerField(
        label="Create a file of this size, MiB",
        required=False,
        min_value=LEAST_FILE_MIB,
        max_value=INTEGER_MAX // MIB_BYTES * 1024,
        help_text="Only where nothing is at the path yet. An existing file is left as it is.",
    )
    label = forms.CharField(
        max_length=100, required=False, help_text="What you call it. Empty: its model or file name."
    )

    def __init__(self, *args: Any, host: Host | None = None, **more: Any) -> None:
        """Offer no plain file on a host over SSH: it refuses them (docs/lab.md)."""
        super().__init__(*args, **more)
        if host is not None and host.kind == Host.Kind.SSH:
            del self.fields["create_mib"]
            self.fields["path"].help_text = "As the host sees it: a block device under /dev."

    def clean(self) -> dict[str, Any]:
        """Refuse to make files where the kernel keeps its own."""
        cleaned = super().clean() or {}
        if cleaned.get("create_mib") and cleaned.get("path", "").startswith(NO_FILES_IN):
            self.add_error("path", "Files are not created in /dev, /proc or /sys. Name a directory on a disk.")
        return cleaned


class BindForm(forms.Form):
    """What was shown to the person who confirms it."""

    path = forms.CharField(max_length=PATH_CHARS_MAX, validators=[ABSOLUTE_PATH], widget=forms.HiddenInput)
    drive_key = forms.CharField(max_length=255, widget=forms.HiddenInput)
    label = forms.CharField(max_length=100)


class LabelForm(forms.Form):
    """What a device is called."""

    label = forms.CharField(max_length=100)


class FactsForm(forms.Form):
    """What the orderer states about the product; it may be stated later, in review."""

    vendor = forms.CharField(max_length=200, required=False)
    model = forms.CharField(max_length=200, required=False)
    part_number = forms.CharField(max_length=200, required=False)
    capacity_gb = forms.IntegerField(label="Capacity, GB", required=False, min_value=1, max_value=INTEGER_MAX)
    firmware = forms.CharField(max_length=100, required=False)
    category = forms.ChoiceField(choices=[("", "not stated"), *Category.choices], required=False)
    over_provisioning_pct = forms.DecimalField(
        label="Over-provisioning, %", required=False, min_value=0, max_digits=6, decimal_places=2
    )
    notes = forms.CharField(widget=forms.Textarea(attrs={"rows": 3}), required=False, max_length=5000)

    def facts(self) -> dict[str, Any]:
        """Return what is stated, as JSON keeps it."""
        return {name: _storable(self.cleaned_data[name]) for name in FACT_FIELDS}


class OrderForm(FactsForm):
    """An ACT run on one device."""

    recipe = forms.ChoiceField(
        label="Load of",
        choices=[(name, RECIPES[name].LABEL) for name in ACT_RECIPES],
        initial=STORAGE,
        required=False,
        help_text="The index load is pages of 4,096 bytes; no certificate rests on it.",
    )
    nx_load = forms.DecimalField(
        label="Load, Nx",
        min_value=LEAST_LOAD,
        max_value=MOST_LOAD,
        max_digits=9,
        decimal_places=3,
        initial=1,
        help_text="1x is 2,000 reads/s and 1,000 writes/s on the device.",
        error_messages=TOO_MUCH,
    )
    duration_s = forms.IntegerField(
        label="Duration, s",
        min_value=1,
        max_value=LONGEST_RUN_S,
        initial=DAY_S,
        help_text="A certificate asks 86,400 s. A shorter run shows the path and decides nothing.",
    )
    slice_length_s = forms.IntegerField(
        label="Slice length, s",
        min_value=1,
        max_value=DAY_S,
        initial=SLICE_LENGTH_DEFAULT_S,
        help_text="The profile judges slices of 3,600 s.",
    )
    report_interval_s = forms.IntegerField(label="Report interval, s", min_value=1, max_value=3600, initial=1)
    record_bytes = forms.IntegerField(
        label="Record size, bytes",
        min_value=1,
        max_value=LARGEST_RECORD_BYTES,
        initial=1536,
        help_text="A certificate asks 1,536. A record is read in whole blocks of the drive, however small it is.",
        error_messages=RECORD_ERRORS,
    )
    microsecond_histograms = forms.BooleanField(required=False, initial=True)
    service_threads = forms.IntegerField(
        required=False, min_value=1, max_value=1024, help_text="Empty: 5 for each CPU of the host."
    )

    def clean(self) -> dict[str, Any]:
        """Refuse a slice longer than the run, a report longer than a slice, and more slices than can be read."""
        cleaned = super().clean() or {}
        duration_s, slice_length_s = cleaned.get("duration_s"), cleaned.get("slice_length_s")
        interval_s = cleaned.get("report_interval_s")
        if duration_s and slice_length_s and slice_length_s > duration_s:
            self.add_error("slice_length_s", f"A run of {duration_s} s holds no slice of {slice_length_s} s.")
        if duration_s and slice_length_s and duration_s // slice_length_s > SLICES_MAX:
            least_s = -(-duration_s // SLICES_MAX)
            self.add_error("slice_length_s", f"Expected slices of at least {least_s} s for a run of {duration_s} s.")
        if interval_s and slice_length_s and interval_s > slice_length_s:
            self.add_error("report_interval_s", f"A slice of {slice_length_s} s holds no report of {interval_s} s.")
        return cleaned

    def order(self) -> Order:
        """Return what was asked for."""
        cleaned = self.cleaned_data
        return Order(
            nx_load=cleaned["nx_load"],
            duration_s=cleaned["duration_s"],
            slice_length_s=cleaned["slice_length_s"],
            options={name: cleaned[name] for name in self._option_names() if cleaned[name] is not None},
            facts=self.facts(),
            recipe=cleaned["recipe"] or STORAGE,
        )

    def _option_names(self) -> list[str]:
        """An index load knows no records: its pages have one size."""
        return [name for name in OPTION_FIELDS if name != "record_bytes" or self.cleaned_data["recipe"] != INDEX]


def _storable(fact: Any) -> Any:
    """Return a fact as JSON keeps it; decimals as text, so that no digit is lost."""
    return str(fact) if isinstance(fact, Decimal) else fact
