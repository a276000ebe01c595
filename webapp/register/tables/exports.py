"""The rows of a list page as CSV and JSON: same rows, same order, stable names (docs/reference/exports.md)."""

from collections.abc import Callable, Collection, Iterable
from operator import attrgetter

from django.http import HttpResponse, JsonResponse
from django.urls import reverse

from results.models import Run
from webapp.register.http.files import Value, csv_response, plain
from webapp.register.tables import columns
from webapp.register.tables.columns import SHARE_THRESHOLDS_US, newest_verdict, product_of, share_code, share_of
from webapp.register.tables.parameters import Sort

SCHEMA = "drivecert.runs/1"


def printed_share(threshold_us: int) -> Callable[[Run], Value]:
    """Return a function that reads a share with its printed digits."""

    def read(run: Run) -> Value:
        share = share_of(run, threshold_us)
        return share.printed if share else None

    return read


def verdict_outcome(run: Run) -> Value:
    """Return the outcome of the newest reading's verdict; None if there is no log."""
    verdict = newest_verdict(run)
    return verdict.outcome or None if verdict else None


def attributes(*names: str, of: str = "") -> dict[str, Callable[[Run], Value]]:
    """Return functions that read attributes of a run, or of its product, by name."""
    return {name: attrgetter(f"{of}{name}") for name in names}


FIELDS: dict[str, Callable[[Run], Value]] = {
    "run": lambda run: run.public_id,
    "run_page": lambda run: reverse("run-detail", args=[run.public_id]),
    "product": lambda run: product_of(run).slug,
    **attributes("category", "historical", "vendor", "model", "part_number", "capacity_gb", of="product."),
    **attributes("firmware", "over_provisioned_to_gb"),
    "over_provisioning_pct": lambda run: plain(run.over_provisioning_pct),
    "pcie_gen": lambda run: product_of(run).pcie_gen,
    **attributes("sole_tenant", "device_count", "device_gb", "backing_device", "protocol"),
    "total_gb": columns.total_gb,
    "region": lambda run: run.region or None,
    "zone": lambda run: run.zone or None,
    "tps": lambda run: plain(run.tps),
    "device_tps": columns.whole_device_tps,
    "statistic": lambda run: run.statistic,
    **{share_code(threshold_us): printed_share(threshold_us) for threshold_us in SHARE_THRESHOLDS_US},
    "endurance_dwpd": lambda run: plain(product_of(run).endurance_dwpd),
    "sustained_tps": lambda run: plain(columns.SUSTAINED.order(run)),
    "needed_dwpd": lambda run: plain(columns.NEEDED_DWPD.order(run)),
    "tps_per_tb": lambda run: plain(columns.PER_TB.order(run)),
    **attributes("compress_pct", "tool", "tool_version"),
    "started_at": lambda run: run.started_at.isoformat() if run.started_at else None,
    **attributes("duration_s", "slice_length_s", "tier", "source", "visibility", "notes"),
    "mark_reason": lambda run: getattr(run, "mark_reason", "") or None,
    "superseded_by": lambda run: run.superseded_by.public_id if run.superseded_by else None,
    "is_on_no_drive": lambda run: run.is_on_no_drive,
    "annotations": lambda run: " | ".join(annotation.text for annotation in run.annotations.all()),
    "verdict": verdict_outcome,
}


# Fields that identify a row, and without which its figures can be misread; in every export.
ALWAYS_EXPORTED = ("run", "run_page", "product", "vendor", "model", "capacity_gb", "tps", "statistic", "visibility")
# The fields of columns that have no field of their own name.
FIELDS_OF_COLUMN = {
    "drive": ("part_number",),
    "storage": ("device_count", "device_gb"),
    "notes": (
        *("device_count", "firmware", "over_provisioned_to_gb", "over_provisioning_pct", "compress_pct"),
        *("duration_s", "slice_length_s", "notes"),
    ),
    "act_version": ("tool", "tool_version"),
}


def exported_fields(codes: Collection[str]) -> tuple[str, ...]:
    """Return the fields of some columns, in the order of all fields; every field if no column was chosen."""
    if not codes:
        return tuple(FIELDS)
    wanted = {*ALWAYS_EXPORTED, *(field for code in codes for field in FIELDS_OF_COLUMN.get(code, (code,)))}
    return tuple(field for field in FIELDS if field in wanted)


def runs_response(
    form: str, name: str, sort: Sort, runs: Iterable[Run], *, codes: Collection[str] = (), file_name: str = ""
) -> HttpResponse:
    """Return runs as CSV or as JSON, with the fields of the chosen columns.

    In JSON decimals are text, so that no digit is lost. `file_name` has no ending; by default it is the list's name.
    """
    fields = exported_fields(codes)
    rows = [{field: FIELDS[field](run) for field in fields} for run in runs]
    if form == "csv":
        return csv_response(file_name or name, fields, (row.values() for row in rows))
    response = JsonResponse({"schema": SCHEMA, "list": name, "sort": sort.parameter, "rows": rows})
    response["Content-Disposition"] = f'inline; filename="{file_name or name}.json"'
    return response
