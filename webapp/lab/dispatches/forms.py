"""Order forms of an ACT run and of a YCSB sweep."""

import shlex
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django import forms

from results.models import Category
from results.models.evidence import SLICE_LENGTH_DEFAULT_S
from results.reader.process import ROWS_MAX
from runners.dispatch.orders import Order
from runners.models import Host
from runners.recipes import RECIPES
from runners.recipes.ycsb_presets import PRESETS, Preset
from runners.recipes.ycsb_setup import COUNT_MAX, PROGRAMS, Setup, load_line, run_line

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

THREADS_MAX = 10_000


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


@dataclass(frozen=True)
class PresetLines:
    """A preset with its command lines: the load, and the first run of the sweep."""

    label: str
    preset: Preset
    load: str
    run: str


def lines_of_presets() -> list[PresetLines]:
    """Return what each preset comes to with Java's YCSB; a count that the source does not say is left out."""
    return [_lines(name, preset) for name, preset in PRESETS.items()]


def _lines(name: str, preset: Preset) -> PresetLines:
    setup = Setup(preset=name, plan=preset)
    load = shlex.join(load_line(setup))
    run = shlex.join(run_line(setup, preset.workloads[0], preset.threads[0]))
    return PresetLines(preset.label, preset, load, run)


class YcsbForm(forms.Form):
    """A preset, and what the order changes of it; what is left empty stays as the preset has it."""

    preset = forms.ChoiceField(choices=[(name, preset.label) for name, preset in PRESETS.items()])
    client = forms.ChoiceField(choices=[(name, program) for name, program in PROGRAMS.items()])
    record_count = forms.IntegerField(required=False, min_value=1, max_value=COUNT_MAX)
    operation_count = forms.IntegerField(required=False, min_value=1, max_value=COUNT_MAX)
    workloads = forms.RegexField(r"^[a-f](,[a-f])*\Z", required=False, help_text="Letters with commas: a,b,c")
    threads = forms.RegexField(r"^[0-9]{1,5}(,[0-9]{1,5})*\Z", required=False, help_text="With commas: 4,8,16")
    max_execution_s = forms.IntegerField(label="Time limit of a run, s", required=False, min_value=1)
    database_host = forms.CharField(required=False, max_length=253, help_text="Empty: the drive's own host.")
    namespace = forms.CharField(required=False, max_length=31)
    configuration = forms.CharField(
        label="The database's configuration file", required=False, widget=forms.Textarea(attrs={"rows": 6})
    )
    load_host = forms.ModelChoiceField(
        Host.objects.filter(retired_at=None).exclude(kind=Host.Kind.SSH).order_by("name"),
        required=False,
        empty_label="the drive's own host",
    )

    def clean_threads(self) -> list[int]:
        """Return the thread counts; each must be one."""
        counts = [int(word) for word in self.cleaned_data["threads"].split(",") if word]
        if any(not 1 <= count <= THREADS_MAX for count in counts):
            raise forms.ValidationError(f"Expected thread counts from 1 to {THREADS_MAX}.")
        return counts

    def clean_workloads(self) -> list[str]:
        """Return the letters."""
        return [letter for letter in self.cleaned_data["workloads"].split(",") if letter]

    def options(self) -> dict[str, Any]:
        """Return the options of the order: what was filled in."""
        return {name: value for name, value in self.cleaned_data.items() if value and name != "load_host"}
