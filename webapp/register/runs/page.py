"""Facts on a run page: title, set-up, product, configuration, files, minutes, order of findings, and lifecycle."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from django.urls import reverse

from results.access.mirrored_runs import is_mirrored
from results.access.withholding import cause_of_log, is_withheld, visible_events, visible_verdict
from results.history import (
    FILE_HIDDEN,
    FILE_SHOWN,
    RUN_FILE_HIDDEN,
    RUN_FILE_SHOWN,
    accepted_warnings,
    displaced_by,
    event_label,
    for_everyone,
    history_of,
    is_by_reviewer,
    is_by_submitter,
)
from results.lifecycle.approvals import counted_approvals
from results.lifecycle.hidden_files import hidings_of
from results.models import (
    YCSB,
    Category,
    Certificate,
    Companion,
    Event,
    Evidence,
    Finding,
    HiddenFile,
    Run,
    Tier,
    Visibility,
)
from results.rules.host_causes import with_causes_in_words
from results.rules.plural import counted
from webapp.register.http.access import is_public
from webapp.register.limits.virtual_devices import DEMO_TITLE
from webapp.register.objections.page import objections_part
from webapp.register.runs.side_file import Pair, filled
from webapp.register.runs.verdict import reason_text
from webapp.register.runs.verdict_basis import was_overloaded
from webapp.register.tables.columns import duration_text
from webapp.register.tables.groups import taken_as_one_sentence
from webapp.register.tables.rating_origin import rating_origin
from webapp.register.tables.sentences import product_name
from webapp.templatetags import units

ROLE_LABELS = {
    "stderr": "Standard error",
    "command": "Command line",
    "config": "Configuration",
    "side-file": "Side file",
    "hdr": "HDR file",
    "export": "Export",
}


def withdrawal_of(run: Run) -> Event | None:
    """Return the event with time and reason of a run's withdrawal, as far as the history has it."""
    if run.visibility != Visibility.WITHDRAWN:
        return None
    return Event.objects.filter(subject_type="run", subject_id=run.public_id, kind="run-withdrawn").last()


def evidence_of(run: Run) -> Evidence | None:
    """Return the stored log that the run was read from; None for a published run."""
    if run.reading is not None:
        return run.reading.evidence
    return run.submission.log if run.submission is not None else None


def files_context(run: Run) -> dict[str, Any]:
    """Return the files that were submitted with the log, each with its role, and which of the files are hidden."""
    companions = list(run.submission.companions.select_related("evidence")) if run.submission else []
    log, side_file = evidence_of(run), run.submission.side_file if run.submission else None
    files = [companion.evidence for companion in companions] + [each for each in (log, side_file) if each is not None]
    hidings = hidings_of(files)
    return {
        "companions": [_file_row(companion, hidings) for companion in companions],
        "hidden_log": hidings.get(log.pk) if log else None,
        "hidden_side_file": hidings.get(side_file.pk) if side_file else None,
        "has_hidden_file": bool(hidings),
    }


def _file_row(companion: Companion, hidings: Mapping[int, HiddenFile]) -> tuple[str, Companion, HiddenFile | None]:
    """Return the label of a companion, the companion, and its hiding."""
    return ROLE_LABELS.get(companion.role, "Attachment"), companion, hidings.get(companion.evidence_id)


def title_of(run: Run) -> str:
    """Return the name of the product; before a product is matched, the drive as named in the submission.

    An example run of the register has neither.
    """
    if run.is_demo:
        return DEMO_TITLE
    if run.product is not None:
        return product_name(run.product)
    submission = run.submission
    stated = (submission.vendor, submission.model, units.capacity(submission.capacity_gb)) if submission else ()
    return " ".join(part for part in stated if part) or "Unnamed drive"


def setup_pairs(run: Run) -> list[Pair]:
    """Return the set-up of the run as pairs of name and value."""
    facts = run.facts
    return filled(
        ("Workload", run.workload),
        (_speed_label(run), units.with_unit(units.decimal(run.tps), "tps, reads and writes")),
        ("Requested", _requested(run)),
        ("Achieved", _achieved(run)),
        ("Load", units.nx(run.nx_load)),
        ("Duration", _duration(run)),
        ("Slices", units.duration(run.slice_length_s)),
        ("Reports every", units.duration(facts.get("report_interval_s"))),
        ("Devices", units.count(run.device_count or facts.get("device_count"))),
        ("Device size", units.capacity(run.device_gb)),
        ("Backing device", run.backing_device),
        ("Protocol", run.protocol),
        ("Sole tenant", {True: "yes", False: "no", None: ""}[run.sole_tenant]),
        *_place(run),
        ("Started", units.moment(run.started_at)),
        ("Firmware", run.firmware),
        ("Over-provisioned", units.with_unit(units.decimal(run.over_provisioning_pct), "%")),
        ("Over-provisioned to", units.capacity(run.over_provisioned_to_gb)),
        ("Data compresses to", units.with_unit(units.count(run.compress_pct), "%")),
        ("Tool", f"{run.tool} {run.tool_version}".strip()),
        ("Generator", facts.get("generator", "")),
        ("Histogram unit", facts.get("unit", "")),
        ("Stopped", "" if is_withheld(run) else _stop(facts)),  # its text quotes the log
        ("I/O errors", units.count(facts.get("io_errors_count"))),
    )


def _speed_label(run: Run) -> str:
    """Return the name of the speed, which is the requested one. A program that could not keep up did not reach it."""
    return "Speed, requested but not reached" if was_overloaded(run) else "Speed"


def _place(run: Run) -> list[Pair]:
    """Return region and zone. For a cloud instance, a missing value is shown as "not reported"."""
    is_cloud = run.product is not None and run.product.category == Category.CLOUD
    unknown = "not reported" if is_cloud else ""
    return [("Region", run.region or unknown), ("Zone", run.zone or unknown)]


def _requested(run: Run) -> str:
    if run.reads_per_s is None or run.writes_per_s is None:
        return ""
    return f"{units.decimal(run.reads_per_s)} reads/s and {units.decimal(run.writes_per_s)} writes/s"


def _achieved(run: Run) -> str:
    """Return the reads of the whole log divided by its nominal seconds; ACT has no histogram of writes alone."""
    reads = run.judged_histogram
    reached_s = run.facts.get("reached_s")
    return f"{units.rate(Decimal(reads.ops_count) / reached_s)} reads/s" if reads and reached_s else ""


def _duration(run: Run) -> str:
    requested_s = run.facts.get("asked_duration_s", run.duration_s)
    lasted = duration_text(run)
    return lasted if requested_s == run.duration_s else f"{lasted} of {units.duration(requested_s)} requested"


def _stop(facts: dict[str, Any]) -> str:
    stop = facts.get("stop") or {}
    line = f" (line {units.count(stop['line'])})" if stop.get("line") else ""
    return f"{stop.get('kind', '')}{': ' if stop.get('text') else ''}{stop.get('text') or ''}{line}"


def missing_facts(run: Run) -> str:
    """Return the facts that the source of a published run does not report, and what is assumed of the devices."""
    if run.tier != Tier.PUBLISHED:
        return ""
    stated = {
        "source": run.source,
        "ACT version": run.tool_version,
        "number of devices": run.device_count,
        "firmware": run.firmware,
        "date of the test": run.started_at,
        "duration": run.duration_s,  # shown, if it is assumed, with the reason
        "compression of the data": run.compress_pct,
        "share of reads": run.reads_per_s,
    }
    missing = [name for name, value in stated.items() if not value]
    sentences = [f"Not reported: {', '.join(missing)}."] if missing else []
    return " ".join([*sentences, taken_as_one_sentence(run)]).strip()


def log_config(run: Run) -> list[Pair]:
    """Return the configuration that the log printed, followed by the values derived from it."""
    printed: Iterable[Sequence[Any]] = [*run.facts.get("config", []), *run.facts.get("derived", [])]
    return [(str(name), str(value)) for name, value in printed]


def log_devices(run: Run) -> list[Pair]:
    """Return the devices that the log names, with size and minimum I/O; logs of ACT 1.x do not report the latter."""
    return [(str(device["name"]), _log_device(device)) for device in run.facts.get("devices", [])]


def _log_device(device: Mapping[str, Any]) -> str:
    size, minimum_io_bytes = units.size(device["size_bytes"]), device["minimum_io_bytes"]
    return size if minimum_io_bytes is None else f"{size}, I/O of {units.size(minimum_io_bytes)}"


def product_pairs(run: Run) -> list[Pair]:
    """Return the facts on the product; before a product is matched, those of the submission."""
    stated = run.product or run.submission
    if stated is None:
        return []
    is_historical = run.product is not None and run.product.historical
    pairs = [
        ("Vendor", stated.vendor),
        ("Model", stated.model),
        ("Part number", stated.part_number),
        ("Category", stated.get_category_display() + (", historical" if is_historical else "")),
        ("Capacity", units.capacity(stated.capacity_gb)),
    ]
    if run.product is not None:
        dwpd = units.decimal(run.product.endurance_dwpd)
        endurance = units.with_unit(dwpd, f"DWPD, {rating_origin(run.product)}") if dwpd else ""
        pairs += [("PCIe generation", run.product.pcie_gen), ("Endurance", endurance)]
    return filled(*pairs)


NOT_IN_DUMPS = "not available: dumps do not include them"
NOT_STORED = "not stored: an early reader read the log, or the log has no report"


def minutes_of(run: Run, query: str) -> dict[str, Any]:
    """Return a sentence about a run's minutes, and the URL of its seconds if it is too short for minutes.

    Empty for a YCSB run, which has status lines instead.
    """
    if run.workload == YCSB:
        return {}
    if is_withheld(run):
        return {"sentence": f"withheld with the log, {cause_of_log(run).label}"}
    if is_mirrored(run):
        return {"sentence": NOT_IN_DUMPS}
    if not hasattr(run, "series"):
        return {"sentence": NOT_STORED}
    series = run.series
    if series.intervals_count:
        counted = units.counted(series.intervals_count, "interval")
        return {"sentence": f"{counted} of {units.duration(series.interval_s)}", "has_any": True}
    seconds = reverse("api-run-intervals", args=[run.public_id]) + (f"{query}&" if query else "?") + "every_s=1"
    lasted, minute = units.duration(run.duration_s), units.duration(series.interval_s)
    sentence = f"none: the log lasts {lasted}, shorter than one interval of {minute};"
    return {"sentence": sentence, "seconds_address": seconds}


RANKS = {Finding.Severity.DECIDES: 0, Finding.Severity.LOOK: 1, Finding.Severity.NOTE: 2}


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings by severity, and within a severity in the reader's order."""
    return sorted(findings, key=lambda finding: (RANKS[Finding.Severity(finding.severity)], finding.ordinal))


def shared_by_all(runs: Sequence[Sequence[Finding]]) -> set[tuple[str, str]]:
    """Return rule and sentence of the findings that all of several runs have; empty for a single run."""
    of_each = [{(finding.rule_id, finding.sentence) for finding in findings} for findings in runs]
    return set.intersection(*of_each) if len(of_each) > 1 else set()


SHOWN_EARLIER = 100


SUBMITTER = "the organisation that submitted the run"
HistoryLine = dict[str, str]  # one event: at, what, by (the role of the actor: names are not public), reason, details


def life_of(run: Run) -> dict[str, object]:
    """Return the lifecycle context of a run page. For a run that is not public it includes internal events."""
    history = history_of(run).filter(subject_type="run")
    events = visible_events(for_everyone(history) if is_public(run) else history)
    verdicts = run.verdicts.select_related("profile", "earlier_result")[1 : SHOWN_EARLIER + 1]  # without the newest
    earlier = [visible_verdict(run, verdict) for verdict in verdicts]
    return {
        "supersession": next((event for event in reversed(events) if event.kind == "run-superseded"), None),
        "supersedes": list(displaced_by(run)),
        "annotations": list(run.annotations.current()),
        "history": [public_line(event) for event in events],
        "earlier_verdicts": [(verdict, reason_text(verdict)) for verdict in earlier],
        "certificates": list(Certificate.objects.filter(runs=run)),
        "approvals_sentence": approvals_sentence(run),
        "accepted_warnings": accepted_warnings(events),
        **objections_part(run),
    }


def approvals_sentence(run: Run) -> str:
    """Return how many reviewers approved a result, and how many the register required; "" if none had to."""
    approvals = counted_approvals(run)
    if not approvals or run.visibility == Visibility.UNREVIEWED:
        return ""
    needed = max(approval.reviews_needed for approval in approvals)
    sentence = f"Approved by {counted(len(approvals), 'reviewer')}; {needed} required."
    newest = run.verdicts.first()
    if newest is None or approvals[-1].verdict_id == newest.pk:
        return sentence
    return f"{sentence} The reviewers saw an earlier verdict: the run was re-evaluated since."


# Who acts in events that no reviewer causes.
ACTORS = {
    FILE_HIDDEN: "its organisation",
    RUN_FILE_HIDDEN: "its organisation",
    FILE_SHOWN: "an operator",
    RUN_FILE_SHOWN: "an operator",
}


def line_of(event: Event) -> HistoryLine:
    """Return a line of an event with the role of the actor: a reviewer, or the register itself."""
    by = ACTORS.get(event.kind) or (SUBMITTER if is_by_submitter(event) else "a reviewer")
    by = by if event.actor_id else "the register"
    line = {"at": units.moment(event.at), "what": event_label(event.kind), "by": by}
    return line | {"reason": event.reason, "details": _details(event)}


def public_line(event: Event) -> HistoryLine:
    """Return a line of an event for the public history."""
    is_reviewed = is_by_reviewer(event) and event.kind not in ACTORS
    return line_of(event) | {"by": "a reviewer"} if is_reviewed else line_of(event)


def _details(event: Event) -> str:
    """Return the values that an event changed, as text."""
    details = event.details
    if event.kind in {"run-corrected", "correction-taken-back"}:
        changes = details["changes"].items()
        changed = [f"{name}: {_value_text(before)} -> {_value_text(after)}" for name, (before, after) in changes]
        return "; ".join(changed)
    if event.kind == "run-judged-anew":
        return with_causes_in_words(f"{details['before']} -> {details['after']}") if details["after"] else ""
    if "objection" in details:
        return f"objection {details['objection']}"
    return f"run {details['successor']}" if "successor" in details else ""


def _value_text(value: object) -> object:
    return "not reported" if value in {None, ""} else value
