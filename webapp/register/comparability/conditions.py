"""The test conditions of a run, from its log and its submitter; a condition that neither reports is unknown."""

import hashlib
import json
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from results.access.withholding import is_withheld, visible_facts, visible_ycsb
from results.ingest.ycsb import is_of_the_load
from results.models import YCSB, Run, Tier
from results.rules.act.comparison_groups import time_of_version
from results.rules.comparability import ActConditions, SweepConditions, coalescing_times_us, requests_together
from webapp.register.tables.columns import is_taken_as_one, newest_verdict

Conditions = ActConditions | SweepConditions
SWITCH = {"yes": True, "no": False}
# Properties with conditions of their own; the hash covers all others.
OWN_CONDITIONS = frozenset({"requestdistribution", "fieldcount", "fieldlength"})
PROPORTION = "proportion"
SHOWN_ANYWAY = ("asked_duration_s", "generator")  # also shown on the page of a run with a withheld log
# Conditions that the key of a load does not cover, because outputs of YCSB do not report them.
SETUP_CONDITIONS = (
    "host", "is_defrag_active", "fill_pct", "index_placement", "pending_limit", "devices_per_drive",
    "over_provisioning_pct", "over_provisioned_to_pct", "pcie_link",
)  # fmt: skip
Setup = tuple[object, ...]  # firmware, then SETUP_CONDITIONS; None is unknown


def conditions_of(run: Run) -> Conditions:
    """Return the conditions of a run that was fetched by `runs_to_compare`."""
    return sweep_conditions(run) if run.workload == YCSB else act_conditions(run)


def act_conditions(run: Run) -> ActConditions:
    """Return the conditions of an ACT run; most are unknown for a published one."""
    if run.tier == Tier.PUBLISHED:
        stated: dict[str, Any] = {"asked_duration_s": run.duration_s, "compress_pct": run.compress_pct}
        devices = {"device_count": 1} if is_taken_as_one(run) else {}
        return ActConditions(**(_of_any(run) | devices), **stated, time=time_of_version(run.tool_version))
    facts = _shown_facts(run)
    config = {str(name): str(value) for name, value in facts.get("config", [])}
    has_config = bool(config)
    arrivals, engine = facts.get("arrivals"), visible_facts(run, "side_file").get("engine")
    return ActConditions(
        **_of_any(run),
        **_compared(run),
        asked_duration_s=facts.get("asked_duration_s"),
        slice_length_s=run.slice_length_s,
        record_bytes=facts.get("record_bytes"),
        record_bytes_max=facts.get("record_bytes_max") or (0 if has_config else None),
        large_block_bytes=_whole(config.get("large-block-op-kbytes"), 1024),
        compress_pct=run.compress_pct if run.compress_pct is not None or not has_config else 100,
        generator=facts.get("generator"),
        arrivals=arrivals,
        requests_together=requests_together(arrivals, facts.get("service_threads"), _coalesced(run, facts, engine)),
        engine=engine or ("threads" if facts.get("generator") == "act" else None),
        defrag_lwm_pct=_whole(config.get("defrag-lwm-pct")),
        defrag_reads=not SWITCH.get(config.get("no-defrag-reads", "no"), False) if has_config else None,
        update_pct=_decimal(config.get("update-pct", "0" if has_config else None)),
        replication_factor=_whole(config.get("replication-factor", "1" if has_config else None)),
        disable_odsync=SWITCH.get(config.get("disable-odsync", "")),
        commit_to_device=SWITCH.get(config.get("commit-to-device", "no" if has_config else "")),
        tomb_raider=SWITCH.get(config.get("tomb-raider", "no" if has_config else "")),
    )


def _coalesced(run: Run, facts: Mapping[str, Any], engine: str | None) -> int | None:
    """Return how many reads are due on average within the time of coalescing; None if that is unknown.

    An unknown engine does not matter if both engines of the release submit as many reads together at this rate.
    """
    rate = run.reads_per_s
    times_us = coalescing_times_us(facts.get("generator"), run.tool_version, facts.get("coalesce_us"), engine)
    counts = {None if us and rate is None else int((rate or 0) * us / 10**6) for us in times_us}
    return counts.pop() if len(counts) == 1 else None


def _shown_facts(run: Run) -> Mapping[str, Any]:
    """Return a run's facts; for a withheld log without those from its configuration."""
    facts: Mapping[str, Any] = run.facts
    return {name: facts[name] for name in SHOWN_ANYWAY if name in facts} if is_withheld(run) else facts


def _of_any(run: Run) -> dict[str, Any]:
    """Return the conditions that are known for published runs and for runs with a log."""
    rates = run.reads_per_s, run.writes_per_s
    total = sum(rate for rate in rates if rate is not None)
    return {
        "workload": run.workload,
        "statistic": run.statistic,
        "read_ratio": Fraction(rates[0]) / Fraction(total) if None not in rates and rates[0] and total else None,
        "device_count": run.device_count,
        "devices_per_drive": _devices_per_drive(run),
        "over_provisioning_pct": run.over_provisioning_pct,
        "over_provisioned_to_pct": _over_provisioned_to_pct(run),
        "pcie_link": _pcie_link(run),
    }


def _compared(run: Run) -> dict[str, Any]:
    """Return which time the compared shares measure, and where they were read: for 5.x, those of `device-reads`."""
    shares = compared_shares(run)
    edges = {share["threshold_us"]: share.get("read_at_us") for share in shares}
    known = tuple(edges[threshold] for threshold in sorted(edges))
    verdict = newest_verdict(run)
    document = verdict.document if verdict else {}
    compared = document.get("compared")
    return {
        "time": (compared or document).get("time") or _time_of_histogram(run),
        "read_at_us": known if known and None not in known else None,
    }


def _time_of_histogram(run: Run) -> str | None:
    """Return which time the judged histogram measures; None for a reading from before that column."""
    judged = next((each for each in run.histograms.all() if each.role == "reads" or each.name == "reads"), None)
    return judged.time or None if judged else None


def compared_shares(run: Run) -> list[Mapping[str, Any]]:
    """Return the shares of the histogram that comparisons use, in the run's own statistic."""
    verdict = newest_verdict(run)
    if verdict is None:
        return []
    compared = verdict.document.get("compared") or verdict.document
    return [share for share in compared.get("shares", []) if share["statistic"] == run.statistic]


def _devices_per_drive(run: Run) -> Fraction | None:
    """Return the number of device names for each drive; known only if the drives were identified."""
    values = visible_facts(run, "side_file").get("drives", [])
    keys = {drive.key for drive in run.drives.all()} or {drive.get("drive_key") for drive in values}
    if not run.device_count or not keys or None in keys:
        return None
    return Fraction(run.device_count, len(keys))


def _over_provisioned_to_pct(run: Run) -> Fraction | None:
    """Return the used part of the capacity in percent, because sizes of different capacities do not compare."""
    capacity_gb = run.product.capacity_gb if run.product else None
    if not capacity_gb or run.over_provisioned_to_gb is None:
        return None
    return Fraction(100 * run.over_provisioned_to_gb, capacity_gb)


def _pcie_link(run: Run) -> str | None:
    """Return the links of the drives in the run, each once; None unless the side file reports all of them."""
    side_file = visible_facts(run, "side_file")
    links = [drive.get("pcie_link") for drive in side_file.get("drives", [])]
    is_cut = len(links) < (side_file.get("drives_count") or 0)
    return None if is_cut or not links or None in links else ", ".join(sorted(set(links)))


def _whole(text: str | None, unit: int = 1) -> int | None:
    return int(text) * unit if text is not None and text.isascii() and text.isdecimal() and len(text) < 20 else None


def _decimal(text: str | None) -> Decimal | None:
    whole, _, fraction = (text or "").partition(".")
    is_decimal = _whole(whole) is not None and (not fraction or _whole(fraction) is not None)
    return Decimal(text) if text and is_decimal else None


def sweep_conditions(run: Run) -> SweepConditions:
    """Return the conditions of a YCSB run. Its number of threads is the axis of charts, not a condition."""
    ycsb = visible_ycsb(run)
    properties = {str(name): str(value) for name, value in ycsb.properties}
    unlimited = 0 if ycsb.command_line else None  # a command line has all limits that were set
    fields, length = _whole(properties.get("fieldcount")), _whole(properties.get("fieldlength"))
    return SweepConditions(
        tool=run.tool or None,
        tool_version=run.tool_version or None,
        binding=ycsb.binding or None,
        options_sha256=_options_sha256(properties),
        phase=ycsb.phase or None,
        mix=_mix(properties),
        distribution=properties.get("requestdistribution"),
        record_count=ycsb.record_count,
        record_bytes=None if fields is None or length is None else fields * length,
        operation_count=ycsb.operation_count,
        time_limit_s=unlimited if ycsb.time_limit_s is None else ycsb.time_limit_s,
        target_ops_per_s=unlimited if ycsb.target_ops_per_s is None else int(ycsb.target_ops_per_s),
        time=ycsb.times or None,
        statistic="whole run",
        devices_per_drive=_devices_per_drive(run),
        over_provisioning_pct=run.over_provisioning_pct,
        over_provisioned_to_pct=_over_provisioned_to_pct(run),
    )


def setup_of(run: Run) -> Setup:
    """Return the setup of a YCSB run apart from its load (`sweep_key`); only runs with the same setup are repeats."""
    conditions = sweep_conditions(run)
    return (run.firmware or None, *(getattr(conditions, name) for name in SETUP_CONDITIONS))


def _options_sha256(properties: Mapping[str, str]) -> str | None:
    excluded = {name for name in properties if name in OWN_CONDITIONS or name.endswith(PROPORTION)}
    hashed = sorted(
        (name, value) for name, value in properties.items() if is_of_the_load(name) and name not in excluded
    )
    return hashlib.sha256(json.dumps(hashed).encode()).hexdigest() if properties else None


def _mix(properties: Mapping[str, str]) -> tuple[tuple[str, Decimal], ...] | None:
    named = ((name, value) for name, value in properties.items() if name.endswith(PROPORTION))
    values = {name.removesuffix(PROPORTION): _decimal(value) for name, value in named}
    known = [(name, share) for name, share in sorted(values.items()) if share is not None]
    return tuple(known) if known and len(known) == len(values) else None
