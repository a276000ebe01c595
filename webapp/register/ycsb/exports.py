"""Figures and points of the YCSB pages as CSV and JSON, with the digits as printed (docs/reference/exports.md)."""

from collections.abc import Iterable

from results.rules.act.loads import printed_decimal
from webapp.register.comparability.conditions import sweep_conditions
from webapp.register.http.files import Value, plain
from webapp.register.ycsb.loads import STATISTICS, Load
from webapp.register.ycsb.machine import BY_CODE, exported
from webapp.register.ycsb.publications import Figures

FIGURE_FIELDS = (
    *("publication", "database", "vendor", "model", "capacity_gb", "workload", "threads", "at_ops_per_s", "metric"),
    *("value", "unit", "source_label", "exactness"),
)
COLUMNS = {"threads": "threads_count"}  # the others are named as their fields
POINT_FIELDS = (
    *("load", "workload", "phase", "product", "run", "threads", "ops_per_s", "operation", "time", "ops_count"),
    *("avg_us", "p99_us", "p999_us", "p9999_us", "firmware", "over_provisioning_pct", "over_provisioned_to_gb"),
    "devices_per_drive",
    *BY_CODE,
)


def figure_values(figures: Iterable[Figures]) -> list[dict[str, Value]]:
    """Return published figures, one row each; a missing text is null."""
    return [
        {name: None if (value := getattr(each.row, COLUMNS.get(name, name))) == "" else value for name in FIGURE_FIELDS}
        for published in figures
        for each in published.all
    ]


def point_values(load: Load) -> list[dict[str, Value]]:
    """Return every operation of every run of a load, one row each. Repeats are not reduced to medians."""
    return [
        {
            "load": load.key,
            "workload": load.facts.workload,
            "phase": load.facts.phase,
            "product": drive.product.slug,
            "run": run.public_id,
            "threads": point.threads,
            "ops_per_s": plain(run.ycsb.throughput_ops_per_s),
            "operation": operation.name,
            "time": operation.time or None,
            "ops_count": operation.ops_count,
            **{f"{code}_us": _text(getattr(operation, column)) for code, column in STATISTICS.items()},
            "firmware": run.firmware or None,
            "over_provisioning_pct": plain(run.over_provisioning_pct),
            "over_provisioned_to_gb": run.over_provisioned_to_gb,
            "devices_per_drive": None if devices is None else printed_decimal(devices, 3),
            **machine,
        }
        for drive in load.drives
        for point in drive.points
        for run in point.runs
        for machine, devices in [(exported(run), sweep_conditions(run).devices_per_drive)]
        for operation in run.ycsb.operations.all()
        if operation.outcome == "ok" and operation.name != "CLEANUP"
    ]


def _text(value: float | None) -> str | None:
    """Return a double with its shortest exact digits; whole numbers without a decimal point."""
    if value is None:
        return None
    return str(int(value)) if value == int(value) else repr(value)
