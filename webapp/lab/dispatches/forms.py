"""Order forms of an ACT run and of a YCSB sweep."""

import shlex
from decimal import Decimal
from typing import Any

from django import forms

from results.models import Category
from results.models.evidence import SLICE_LENGTH_DEFAULT_S
from results.reader.process import ROWS_MAX
from runners.dispatch.orders import Order
from runners.models import Dispatch, Host, OrderTemplate
from runners.models.dispatch import ALONE_OPTION
from runners.recipes import RECIPES
from runners.recipes.act import ACT_RECIPES, INDEX_RECIPE, STORAGE_RECIPE
from runners.recipes.base import YCSB
from runners.recipes.ycsb_presets import PRESETS, SERVERS
from runners.recipes.ycsb_setup import COUNT_MAX, PROGRAMS, Setup, load_line, needed_programs, run_line
from webapp.lab.shared.order_templates import SavableForm

# drivetest accepts records of up to 8 MiB that fit into a large block. The recipe uses large blocks of 128 KiB.
LARGE_BLOCK_KIB = 128
MAX_RECORD_BYTES = LARGE_BLOCK_KIB * 1024
RECORD_ERRORS = {
    "min_value": f"Expected 1 to {MAX_RECORD_BYTES:,} bytes, got %(show_value)s.",
    "max_value": f"A record of %(show_value)s bytes does not fit into a block of {LARGE_BLOCK_KIB} KiB. Enter at most "
    f"{MAX_RECORD_BYTES:,} bytes.",
}
DAY_S = 86_400
MAX_RUN_S = 30 * DAY_S
# Each slice adds rows to a reading: 4 histograms (all reads, reads of the device, large-block reads and writes) and up
# to 3 violated limits. The whole run adds less than 100 rows.
ROWS_PER_SLICE = 4 + 3
SLICES_MAX = (ROWS_MAX - 100) // ROWS_PER_SLICE
# With three decimals, N x 1000 writes/s is a whole number, as ACT's configuration requires.
MIN_LOAD = Decimal("0.001")
# 20 million reads/s is ten times the rating of the fastest drive on the market. A higher value is a typing error.
MAX_LOAD = Decimal(10_000)
LOAD_ERRORS = {"max_value": f"Expected at most {MAX_LOAD:,}x, which is {MAX_LOAD * 2000:,} reads/s on one drive."}

OPTION_FIELDS = ("report_interval_s", "record_bytes", "microsecond_histograms", "service_threads", ALONE_OPTION)

THREADS_MAX = 10_000


def load_field(label: str, default: Decimal, help_text: str = "") -> forms.DecimalField:
    """Return a field for a load."""
    return forms.DecimalField(
        label=label,
        min_value=MIN_LOAD,
        max_value=MAX_LOAD,
        max_digits=9,
        decimal_places=3,
        initial=default,
        help_text=help_text,
        error_messages=LOAD_ERRORS,
    )


def seconds_field(label: str, default: int, max_s: int, help_text: str = "", min_s: int = 1) -> forms.IntegerField:
    """Return a field for a duration."""
    return forms.IntegerField(label=label, min_value=min_s, max_value=max_s, initial=default, help_text=help_text)


def alone_field(*, is_usual: bool = False) -> forms.BooleanField:
    """Return the field of loads that share their host with no other run; ticked if that is usual."""
    return forms.BooleanField(
        label="Alone on its host",
        required=False,
        initial=is_usual,
        help_text="The load waits until nothing else runs on the host, and other runs wait for its end.",
    )


class FactsForm(forms.Form):
    """Facts about the product that the orderer may state now or later in review."""

    vendor = forms.CharField(max_length=200, required=False)
    model = forms.CharField(max_length=200, required=False)
    part_number = forms.CharField(max_length=200, required=False)
    capacity_gb = forms.IntegerField(label="Capacity, GB", required=False, min_value=1, max_value=2**31 - 1)
    firmware = forms.CharField(max_length=100, required=False)
    category = forms.ChoiceField(choices=[("", "not stated"), *Category.choices], required=False)
    over_provisioning_pct = forms.DecimalField(
        label="Over-provisioning, %", required=False, min_value=0, max_digits=6, decimal_places=2
    )
    notes = forms.CharField(widget=forms.Textarea(attrs={"rows": 3}), required=False, max_length=5000)

    def facts(self) -> dict[str, Any]:
        """Return the stated facts as JSON values; decimals become text, so that no digit is lost."""
        facts = {name: self.cleaned_data[name] for name in FactsForm.base_fields}
        return {name: str(fact) if isinstance(fact, Decimal) else fact for name, fact in facts.items()}


class OrderForm(FactsForm, SavableForm):
    """An ACT run on one device."""

    template_kind = OrderTemplate.Kind.RUN

    recipe = forms.ChoiceField(
        label="Workload",
        choices=[(name, RECIPES[name].LABEL) for name in ACT_RECIPES],
        initial=STORAGE_RECIPE,
        required=False,
        help_text="Runs of the index workload read and write pages of 4,096 bytes and cannot be certified.",
    )
    nx_load = load_field("Load, Nx", Decimal(1), "A load of 1x means 2,000 reads/s and 1,000 writes/s on the device.")
    duration_s = seconds_field(
        "Duration, s",
        DAY_S,
        MAX_RUN_S,
        "A certificate requires a run of 86,400 s. A shorter run can fail, but never pass.",
    )
    slice_length_s = seconds_field(
        "Slice length, s",
        SLICE_LENGTH_DEFAULT_S,
        DAY_S,
        "The profile judges slices of 3,600 s. A shorter run is one slice.",
    )
    report_interval_s = seconds_field("Report interval, s", 1, 3600)
    record_bytes = forms.IntegerField(
        label="Record size, bytes",
        min_value=1,
        max_value=MAX_RECORD_BYTES,
        initial=1536,
        help_text="A certificate requires records of 1,536 bytes. Reads always cover whole blocks of the drive.",
        error_messages=RECORD_ERRORS,
    )
    microsecond_histograms = forms.BooleanField(required=False, initial=True)
    service_threads = forms.IntegerField(
        required=False, min_value=1, max_value=1024, help_text="Default: 5 threads per CPU of the host."
    )
    alone_on_host = alone_field()

    def clean(self) -> dict[str, Any]:
        """Refuse too long report intervals and too many slices. A run that is shorter than a slice is one slice."""
        cleaned = super().clean() or {}
        duration_s, slice_length_s = cleaned.get("duration_s"), cleaned.get("slice_length_s")
        interval_s = cleaned.get("report_interval_s")
        if duration_s and slice_length_s:
            slice_length_s = cleaned["slice_length_s"] = min(slice_length_s, duration_s)
        got = f"got {slice_length_s} s."
        if duration_s and slice_length_s and duration_s // slice_length_s > SLICES_MAX:
            min_s = -(-duration_s // SLICES_MAX)
            self.add_error("slice_length_s", f"Expected at least {min_s} s for a run of {duration_s} s, {got}")
        if interval_s and slice_length_s and interval_s > slice_length_s:
            expected = f"Expected at most the slice length, {slice_length_s} s"
            self.add_error("report_interval_s", f"{expected}, got {interval_s} s.")
        return cleaned

    def order(self) -> Order:
        """Return the order."""
        cleaned, recipe = self.cleaned_data, self.cleaned_data["recipe"] or STORAGE_RECIPE
        # The index workload has pages of one size and no records.
        names = [name for name in OPTION_FIELDS if name != "record_bytes" or recipe != INDEX_RECIPE]
        options = {name: cleaned[name] for name in names if cleaned[name] is not None}
        if not options[ALONE_OPTION]:
            del options[ALONE_OPTION]
        load, duration_s, slice_length_s = (cleaned[name] for name in ("nx_load", "duration_s", "slice_length_s"))
        return Order(load, duration_s, slice_length_s, options, self.facts(), recipe)


NX_STEP = Decimal("0.001")


def order_like(public_id: str) -> dict[str, Any]:
    """Return the initial values to order an ACT run again; empty for an unknown run or another recipe.

    The stated firmware is left out: a rerun may be after an update.
    """
    run = Dispatch.objects.filter(public_id=public_id, recipe__in=ACT_RECIPES).first()
    if run is None:
        return {}
    columns: dict[str, Any] = {name: getattr(run, name) for name in ("recipe", "duration_s", "slice_length_s")}
    if run.nx_load is not None:
        columns["nx_load"] = run.nx_load.quantize(NX_STEP)  # the column has one more decimal than the field accepts
    return {**run.facts, "firmware": "", **run.options, **columns}


def preset_commands() -> list[dict[str, Any]]:
    """Return each preset with the programs that its host must allow, and two command lines of YCSB in Java.

    The lines are the load phase and the first run of the sweep. Counts that the source does not state are left out.
    """
    setups = [Setup(preset=name, plan=preset) for name, preset in PRESETS.items()]
    return [
        {
            "preset": setup.plan,
            "programs": needed_programs(setup),
            "server": SERVERS.get(setup.plan.binding),
            "load": shlex.join(load_line(setup)),
            "run": shlex.join(run_line(setup, setup.plan.workloads[0], setup.plan.threads[0])),
        }
        for setup in setups
    ]


class YcsbForm(SavableForm):
    """A preset and the settings that the order changes; empty fields keep the value of the preset."""

    template_kind = OrderTemplate.Kind.SWEEP

    preset = forms.ChoiceField(choices=[(name, preset.label) for name, preset in PRESETS.items()])
    client = forms.ChoiceField(choices=[(name, program) for name, program in PROGRAMS.items()])
    record_count = forms.IntegerField(required=False, min_value=1, max_value=COUNT_MAX)
    operation_count = forms.IntegerField(required=False, min_value=1, max_value=COUNT_MAX)
    workloads = forms.RegexField(
        r"^[a-f](,[a-f])*\Z",
        required=False,
        help_text="Letters of YCSB workloads, separated by commas, for example a,b,c.",
    )
    threads = forms.RegexField(
        r"^[0-9]{1,5}(,[0-9]{1,5})*\Z",
        required=False,
        help_text="Numbers of client threads, separated by commas, for example 4,8,16.",
    )
    max_execution_s = forms.IntegerField(label="Time limit per run, s", required=False, min_value=1)
    database_host = forms.CharField(
        required=False,
        max_length=253,
        help_text="Address of the database for the YCSB client; needed with a second host. Default: localhost.",
    )
    namespace = forms.CharField(
        required=False, max_length=31, help_text="Of Aerospike; of MongoDB, the name of the database."
    )
    configuration = forms.CharField(
        label="Database configuration file", required=False, widget=forms.Textarea(attrs={"rows": 6})
    )
    load_host = forms.ModelChoiceField(
        Host.objects.filter(retired_at=None).order_by("name"),
        required=False,
        empty_label="the host of the drive",
    )

    def clean_threads(self) -> list[int]:
        """Return the thread counts."""
        counts = [int(word) for word in self.cleaned_data["threads"].split(",") if word]
        if any(not 1 <= count <= THREADS_MAX for count in counts):
            raise forms.ValidationError(f"Expected thread counts from 1 to {THREADS_MAX}.")
        return counts

    def clean_workloads(self) -> list[str]:
        """Return the letters of the workloads."""
        return [letter for letter in self.cleaned_data["workloads"].split(",") if letter]

    def options(self) -> dict[str, Any]:
        """Return the options of the order: all fields that are not empty."""
        return {name: value for name, value in self.cleaned_data.items() if value and name != "load_host"}

    def order(self) -> Order:
        """Return the order."""
        return Order(recipe=YCSB, options=self.options(), load_host=self.cleaned_data["load_host"])
