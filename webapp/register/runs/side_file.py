"""Side file of drivetest on a run page: rates, service and response times of each operation, generator and host."""

from collections.abc import Mapping
from typing import Any

from results.access.withholding import visible_facts
from results.models import Run
from webapp.templatetags import units

Record = Mapping[str, Any]
Pair = tuple[str, str]  # name and value of a list on a page
TIMES = (
    ("service_us", "service"),
    ("response_us", "response"),
    ("lateness_us", "lateness"),
    ("backlog_us", "backlog"),
    ("generator_lateness_us", "generator lateness"),
)
SHOWN_DRIVES = 16


def side_file_view(run: Run) -> dict[str, Any] | None:
    """Return the side file section; None if the run has no side file, or it is withheld."""
    record = visible_facts(run, "side_file")
    if not record:
        return None
    times = ((each["name"], word, each.get(key)) for each in record["operations"] for key, word in TIMES)
    return {
        **record,
        # Readings of drivetest 0.3 or earlier have neither backlog nor generator lateness.
        "times": [(operation, word, values) for operation, word, values in times if values],
        "exact": [_exact(each) for each in record["over"]],
        "setup": filled(*_generator(record), *_host(record["host"] or {}), *_drives(record)),
        "telemetry": telemetry_pairs(record["telemetry"] or {}),
    }


def _exact(each: Record) -> str:
    counts = f"{units.count(each['over_count'])} of {units.count(each['ops_count'])}"
    share, threshold = units.share(each["share_pct"], each["over_count"]), units.threshold(each["threshold_us"])
    return f"{share}{units.NBSP}% over {threshold} ({counts})"


def _generator(record: Record) -> list[Pair]:
    program = record["program"] or {}
    reason = f", {record['engine_reason']}" if record["engine_reason"] else ""
    version = f"{program.get('name') or ''} {program.get('version') or ''}".strip()
    ended = f"{record['end_reason'] or 'no end record; the cause is not known'} {record['end_text'] or ''}".strip()
    return [
        ("Program", version),
        ("Revision", program.get("revision") or ""),
        ("Engine", f"{record['engine']}{reason}" if record["engine"] else ""),
        ("Workers", units.count(record["workers"])),
        ("Arrivals", record["arrivals"] or ""),
        # Readings of drivetest 0.3 or earlier have neither coalescing nor setup.
        ("Coalescing", _coalescing(record.get("coalesce_us"))),
        ("Generator setup", _setup(record.get("setup") or {})),
        ("Seed", record["seed"] or ""),
        ("Started", record["started_at"] or ""),
        ("Ended", ended),
    ]


def _coalescing(coalesce_us: int | None) -> str:
    return f"Requests within {coalesce_us} us are submitted together" if coalesce_us else ""


def _setup(setup: Record) -> str:
    mode, node = setup.get("ring_mode"), setup.get("numa_node")
    parts = [
        setup.get("rings_reason"),
        mode and f"ring mode {mode}",
        setup.get("has_registered_buffers") and "registered buffers",
        setup.get("is_processor_wait_counted") is False and "the kernel does not count waits for a processor",
        setup.get("has_cpu_latency_request") and "idle processors stay ready",
        setup.get("is_memory_locked") and "memory is locked",
        node is not None and f"rings run on NUMA node {node}",
        *setup.get("sentences", []),
    ]
    return "; ".join(part for part in parts if part)


def _host(host: Record) -> list[Pair]:
    return [
        ("Host", host.get("hostname") or ""),
        ("Kernel", host.get("kernel") or ""),
        ("Processors", f"{units.count(host.get('cpus_count'))} {host.get('cpu_model') or ''}".strip()),
        ("Memory", units.size(host.get("memory_bytes"))),
        ("Virtual machine", host.get("virtual_machine") or ""),
    ]


def _drives(record: Record) -> list[Pair]:
    pairs = [(drive["name"], _drive(drive)) for drive in record["drives"][:SHOWN_DRIVES]]
    left_out = (record["drives_count"] or 0) - len(pairs)
    return [*pairs, ("Further drives", units.count(left_out))] if left_out > 0 else pairs


def _drive(drive: Record) -> str:
    firmware = f"firmware {drive['firmware']}" if drive["firmware"] else ""
    size = units.size(drive["size_bytes"])
    parts = [drive["kind"], drive["model"], drive["serial"], firmware, size, drive.get("pcie_link")]
    return ", ".join(part for part in parts if part)


def telemetry_pairs(telemetry: Record) -> list[Pair]:
    """Return the telemetry of the host and its drives over a run; empty if there is none."""
    if not telemetry:
        return []
    pairs = [
        ("Processors busy", _span(telemetry["cpu_busy_pct"], "%")),
        ("Waiting for I/O", _span(telemetry["cpu_iowait_pct"], "%")),
        ("CPU steal", _span(telemetry["cpu_steal_pct"], "%")),
        ("CPU of the generator", _span(telemetry["generator_cpu_pct"], "%")),
        ("Intervals over 90 % busy", _of(telemetry["cpu_busy_count"], telemetry["intervals_count"])),
    ]
    for disk in telemetry["disks"]:
        pairs += [
            (f"{disk['disk']}: temperature", _span(disk["temperature_c"], "C")),
            (f"{disk['disk']}: busy", _span(disk["busy_pct"], "%")),
            (f"{disk['disk']}: read await", _span(disk["read_await_us"], "us")),
            (f"{disk['disk']}: write await", _span(disk["write_await_us"], "us")),
        ]
    # Early readings have no power.
    pairs += [(f"Power, {each['boundary']}", _span(each["watts"], "W")) for each in telemetry.get("power", [])]
    return filled(*pairs)


def _span(span: Record | None, unit: str) -> str:
    if not span:
        return ""
    return f"{span['mean']}{units.NBSP}{unit} on average, {span['min']} to {span['max']}"


def _of(part: int | None, whole: int | None) -> str:
    return f"{units.count(part)} of {units.count(whole)}" if part else ""


def filled(*pairs: Pair) -> list[Pair]:
    """Return the pairs that have a value."""
    return [pair for pair in pairs if pair[1]]
