"""The rows of a list page as CSV and JSON: same rows, same order, stable names (docs/reference/exports.md)."""

from collections.abc import Callable, Iterable
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


def runs_response(form: str, name: str, sort: Sort, runs: Iterable[Run]) -> HttpResponse:
    """Return runs as CSV or as JSON. In JSON decimals are text, so that no digit is lost."""
    rows = [{field: read(run) for field, read in FIELDS.items()} for run in runs]
    if form == "csv":
        return csv_response(name, FIELDS, (row.values() for row in rows))
    return JsonResponse({"schema": SCHEMA, "list": name, "sort": sort.parameter, "rows": rows})
