"""What drivetest told beside its log: how it loaded the drive, and what both times of each operation were."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from results.access.redaction import visible_facts
from results.models import Run
from webapp.register.runs.page import Pair
from webapp.templatetags import units

Told = Mapping[str, Any]
PERCENTILES = ("p50", "p90", "p99", "p999", "p9999", "p99999")
TIMES = (("service_us", "service"), ("response_us", "response"), ("lateness_us", "lateness"))
SHOWN_DRIVES = 16


@dataclass(frozen=True)
class TimesRow:
    """One time of one operation, in us as text; "" is what the run was too short to know."""

    operation: str
    time: str
    percentiles: list[str]
    most: str
    mean: str


@dataclass(frozen=True)
class RateRow:
    """What was asked of one operation and what was done."""

    operation: str
    asked: str
    achieved: str
    done: str
    failed: str


@dataclass(frozen=True)
class SideFileView:
    """Everything that a run's page shows of its side file."""

    rate_sentence: str
    is_rate_held: bool | None
    rates: list[RateRow]
    times: list[TimesRow]
    exact: list[str]
    setup: list[Pair]
    telemetry: list[Pair]
    warnings: list[str]


def side_file_view(run: Run) -> SideFileView | None:
    """Return what is shown of a run's side file; None where it has none, or it is withheld."""
    told = visible_facts(run, "side_file")
    if not told:
        return None
    return SideFileView(
        rate_sentence=told["rate_sentence"] or "",
        is_rate_held=told["is_rate_held"],
        rates=[_rate_row(each) for each in told["operations"]],
        times=[row for each in told["operations"] for row in _times_rows(each)],
        exact=[_exact(each) for each in told["over"]],
        setup=_filled([*_generator(told), *_host(told["host"] or {}), *_drives(told)]),
        telemetry=telemetry_pairs(told["telemetry"] or {}),
        warnings=[each["sentence"] for each in told["warnings"]],
    )


def _rate_row(each: Told) -> RateRow:
    done, failed = units.count(each["done_count"]), units.count(each["failed_count"])
    return RateRow(each["name"], _number(each["asked_per_s"], 3), _number(each["achieved_per_s"], 3), done, failed)


def _times_rows(each: Told) -> Iterable[TimesRow]:
    for key, word in TIMES:
        if times := each[key]:
            percentiles = [_number(times[name], 1) for name in PERCENTILES]
            yield TimesRow(each["name"], word, percentiles, _number(times["max"], 1), _number(times["mean"], 1))


def _exact(each: Told) -> str:
    counts = f"{units.count(each['over_count'])} of {units.count(each['ops_count'])}"
    share, threshold = units.share(each["share_pct"], each["over_count"]), units.threshold(each["threshold_us"])
    return f"{share}{units.NBSP}% over {threshold} ({counts})"


def _generator(told: Told) -> list[Pair]:
    program = told["program"] or {}
    reason = f", {told['engine_reason']}" if told["engine_reason"] else ""
    version = f"{program.get('name') or ''} {program.get('version') or ''}".strip()
    ended = f"{told['end_reason'] or 'no end record: it was killed'} {told['end_text'] or ''}".strip()
    return [
        ("Program", version),
        ("Revision", program.get("revision") or ""),
        ("Engine", f"{told['engine']}{reason}" if told["engine"] else ""),
        ("Workers", units.count(told["workers"])),
        ("Arrivals", told["arrivals"] or ""),
        ("Seed", told["seed"] or ""),
        ("Started", told["started_at"] or ""),
        ("Ended", ended),
    ]


def _host(host: Told) -> list[Pair]:
    return [
        ("Host", host.get("hostname") or ""),
        ("Kernel", host.get("kernel") or ""),
        ("Processors", f"{units.count(host.get('cpus_count'))} {host.get('cpu_model') or ''}".strip()),
        ("Memory", units.size(host.get("memory_bytes"))),
        ("Virtual machine", host.get("virtual_machine") or ""),
    ]


def _drives(told: Told) -> list[Pair]:
    pairs = [(drive["name"], _drive(drive)) for drive in told["drives"][:SHOWN_DRIVES]]
    left_out = (told["drives_count"] or 0) - len(pairs)
    return [*pairs, ("Further drives", units.count(left_out))] if left_out > 0 else pairs


def _drive(drive: Told) -> str:
    firmware = f"firmware {drive['firmware']}" if drive["firmware"] else ""
    size = units.size(drive["size_bytes"])
    parts = [drive["kind"], drive["model"], drive["serial"], firmware, size, drive.get("pcie_link")]
    return ", ".join(part for part in parts if part)


def telemetry_pairs(told: Told) -> list[Pair]:
    """Return what the host and its drives told over a run; none where they told nothing."""
    if not told:
        return []
    pairs = [
        ("Processors busy", _span(told["cpu_busy_pct"], "%")),
        ("Waiting for I/O", _span(told["cpu_iowait_pct"], "%")),
        ("Taken by the hypervisor", _span(told["cpu_steal_pct"], "%")),
        ("Generator's own share", _span(told["generator_cpu_pct"], "%")),
        ("Intervals over 90 % busy", _of(told["cpu_busy_count"], told["intervals_count"])),
    ]
    for disk in told["disks"]:
        pairs += [
            (f"{disk['disk']}: temperature", _span(disk["temperature_c"], "C")),
            (f"{disk['disk']}: busy", _span(disk["busy_pct"], "%")),
            (f"{disk['disk']}: await of reads", _span(disk["read_await_us"], "us")),
            (f"{disk['disk']}: await of writes", _span(disk["write_await_us"], "us")),
        ]
    # Readings of before tell no power.
    pairs += [(f"Power, {each['boundary']}", _span(each["watts"], "W")) for each in told.get("power", [])]
    return _filled(pairs)


def _span(span: Told | None, unit: str) -> str:
    if not span:
        return ""
    return f"{span['mean']}{units.NBSP}{unit} on average, {span['min']} to {span['max']}"


def _of(part: int | None, whole: int | None) -> str:
    return f"{units.count(part)} of {units.count(whole)}" if part else ""


def _number(printed: str | None, places: int) -> str:
    """Return a decimal of the reader cut to `places`; its digits before are never changed."""
    if printed is None:
        return ""
    whole, _, fraction = printed.partition(".")
    return f"{whole}.{fraction[:places]}" if fraction and int(fraction or 0) else whole


def _filled(pairs: Iterable[Pair]) -> list[Pair]:
    return [pair for pair in pairs if pair[1]]
