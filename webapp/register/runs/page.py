"""What a run's page says: verdict, figures, findings, configuration, evidence."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.urls import reverse

from results.access.intervals import is_withheld
from results.models import Category, Event, Evidence, Run, Statistic, Tier, Verdict, Visibility
from results.rules.act.limits import Limit
from webapp.register.runs.verdict import Part, parts_of
from webapp.register.tables.columns import SHARE_THRESHOLDS_US
from webapp.register.tables.evaluation import is_over
from webapp.register.tables.marks import NearnessMark, nearness_mark
from webapp.register.tables.sentences import product_name
from webapp.templatetags import units

OUTCOME_WORDS = {
    Verdict.Outcome.PASS: "passes",
    Verdict.Outcome.FAIL: "fails",
    Verdict.Outcome.UNDECIDED: "undecided",
    Verdict.Outcome.VOID: "void",
}
STATISTIC_WORDS = {
    Statistic.STEADY_AS_PUBLISHED: "steady state as published",
    Statistic.WORST_SLICE: "worst slice",
    Statistic.OVERALL: "whole run",
}
SHOWN_VIOLATIONS = 100  # the first is in the headline; a log of very many short slices can have a million
ROLE_LABELS = {
    "stderr": "Standard error",
    "command": "Command line",
    "config": "Configuration",
    "side-file": "Side file",
    "hdr": "HDR file",
    "export": "Export",
}
Pair = tuple[str, str]


@dataclass(frozen=True)
class VerdictView:
    """A verdict as a sentence, with everything it rests on."""

    outcome: str
    word: str
    rest: list[Part]
    reasons: list[str]
    violations: list["Violation"]
    violations_count: int

    @property
    def cut_sentence(self) -> str:
        """What a page of very many violations leaves out."""
        if self.violations_count <= len(self.violations):
            return ""
        shown, every = units.count(len(self.violations)), units.count(self.violations_count)
        return f"The {shown} largest of {every}; the CSV of the slices has every share."


@dataclass(frozen=True)
class Violation:
    """One slice over one limit."""

    slice_number: int
    threshold: str
    share: str
    limit: str
    counts: str
    excess: str


@dataclass(frozen=True)
class Figure:
    """One share of the run, beside its limit; `slice_number` is that of the slice it is of, if it is one's."""

    text: str
    threshold: str
    statistic: str
    limit: str
    nearness: NearnessMark | None
    slice_number: int | None = None


@dataclass(frozen=True)
class CompanionFile:
    """A file that came with the log."""

    label: str
    name: str
    address: str
    is_withheld: bool


@dataclass(frozen=True)
class Withdrawal:
    """When and why a run was withdrawn, as far as its history says."""

    at: str
    reason: str


def verdict_view(verdict: Verdict) -> VerdictView:
    """Return the verdict's sentence, its first word apart: it is framed where it is a fail."""
    word = OUTCOME_WORDS[Verdict.Outcome(verdict.outcome)]
    rest = verdict.headline.removeprefix(word)
    violations = verdict.document["violations"]
    reasons = [reason for reason in verdict.document["reasons"] if reason not in rest]
    shown = [_violation(each) for each in violations[:SHOWN_VIOLATIONS]]
    parts = parts_of(rest, verdict.document)
    return VerdictView(verdict.outcome, word.capitalize(), parts, reasons, shown, len(violations))


def _violation(each: dict[str, Any]) -> Violation:
    return Violation(
        slice_number=each["slice"],
        threshold=units.threshold(each["threshold_us"]),
        share=units.share(each["share_pct"], each["over_count"]),
        limit=each["limit_pct"],
        counts=f"{units.count(each['over_count'])} of {units.count(each['ops_count'])}",
        excess=f"{each['excess_ratio']}x" if each["excess_ratio"] else "",  # no multiple of a limit of 0
    )


def figures(run: Run, limits: Sequence[Limit]) -> list[Figure]:
    """Return the run's shares, its own statistic first, each beside its limit."""
    limit_by_threshold = {limit.threshold_us: limit for limit in limits}
    shares = sorted(run.shares.all(), key=lambda share: (share.statistic != run.statistic, share.threshold_us))
    return [
        Figure(
            text=units.share(share.printed, share.over_count),
            threshold=units.threshold(share.threshold_us),
            statistic=STATISTIC_WORDS[Statistic(share.statistic)],
            limit=units.decimal(limit.limit_pct) if limit else "",
            nearness=nearness_mark(share.share_pct, limit.limit_pct, is_over=is_over(share, limit.limit_pct))
            if limit
            else None,
            slice_number=share.slice_number,
        )
        for share in shares
        for limit in [limit_by_threshold.get(share.threshold_us)]
        if share.threshold_us in SHARE_THRESHOLDS_US
    ]


def withdrawal_of(run: Run) -> Withdrawal | None:
    """Return the notice of a withdrawn run; None for any other."""
    if run.visibility != Visibility.WITHDRAWN:
        return None
    history = Event.objects.filter(subject_type="run", subject_id=run.public_id, kind="run-withdrawn")
    event = history.last()
    return Withdrawal(units.moment(event.at), event.reason) if event else Withdrawal("", "")


def evidence_of(run: Run) -> Evidence | None:
    """Return the stored log that the run was read from; None for a published run."""
    if run.reading is not None:
        return run.reading.evidence
    return run.submission.log if run.submission is not None else None


def companions_of(run: Run, query: str) -> list[CompanionFile]:
    """Return the files that came with the run's log, each with what the reader took it for and where it is."""
    if run.submission is None:
        return []
    return [
        CompanionFile(
            ROLE_LABELS.get(companion.role, "Beside it"),
            companion.filename,
            reverse("run-companion", args=[run.public_id, companion.evidence.sha256]) + query,
            companion.evidence.sequestered,
        )
        for companion in run.submission.companions.select_related("evidence")
    ]


def title_of(run: Run) -> str:
    """Return what was tested; before a product is known, what the submission says it was."""
    if run.product is not None:
        return product_name(run.product)
    submission = run.submission
    stated = (submission.vendor, submission.model, units.capacity(submission.capacity_gb)) if submission else ()
    return " ".join(part for part in stated if part) or "Drive not named yet"


def setup_pairs(run: Run) -> list[Pair]:
    """Return how the run was made, as name and value; a published run says which of it its source leaves out."""
    facts = run.facts
    pairs = [
        ("Workload", run.workload),
        ("Speed", _unit(units.decimal(run.tps), "tps, reads and writes")),
        ("Asked", _asked(run)),
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
        ("Over-provisioned", _unit(units.decimal(run.over_provisioning_pct), "%")),
        ("Over-provisioned to", units.capacity(run.over_provisioned_to_gb)),
        ("Data compresses to", _unit(units.count(run.compress_pct), "%")),
        ("Tool", f"{run.tool} {run.tool_version}".strip()),
        ("Generator", facts.get("generator", "")),
        ("Histogram unit", facts.get("unit", "")),
        ("Stopped", "" if is_withheld(run) else _stop(facts)),  # it is a finding, and its last words are the log
        ("I/O errors", units.count(facts.get("io_errors_count"))),
    ]
    return [pair for pair in pairs if pair[1]]


def _place(run: Run) -> list[Pair]:
    """Return where a run was made; of a cloud instance also that nobody states it, a drive in a lab needs no word."""
    is_cloud = run.product is not None and run.product.category == Category.CLOUD
    unknown = "not stated" if is_cloud else ""
    return [("Region", run.region or unknown), ("Zone", run.zone or unknown)]


def _unit(number: str, unit: str) -> str:
    return f"{number}{units.NBSP}{unit}" if number else ""


def _asked(run: Run) -> str:
    if run.reads_per_s is None or run.writes_per_s is None:
        return ""
    return f"{units.decimal(run.reads_per_s)} reads/s and {units.decimal(run.writes_per_s)} writes/s"


def _achieved(run: Run) -> str:
    """Reads of the whole log over the nominal seconds it reached; writes have no histogram of their own in ACT."""
    reads = run.histograms.judged().first()
    reached_s = run.facts.get("reached_s")
    return f"{units.rate(Decimal(reads.ops_count) / reached_s)} reads/s" if reads and reached_s else ""


def _duration(run: Run) -> str:
    asked_s = run.facts.get("asked_duration_s", run.duration_s)
    lasted = units.duration(run.duration_s)
    return lasted if asked_s == run.duration_s else f"{lasted} of {units.duration(asked_s)} asked"


def _stop(facts: dict[str, Any]) -> str:
    stop = facts.get("stop") or {}
    line = f" (line {units.count(stop['line'])})" if stop.get("line") else ""
    return f"{stop.get('kind', '')}{': ' if stop.get('text') else ''}{stop.get('text') or ''}{line}"


def missing_facts(run: Run) -> str:
    """Say which facts the source of a published run does not state."""
    if run.tier != Tier.PUBLISHED:
        return ""
    stated = {
        "source": run.source,
        "ACT version": run.tool_version,
        "number of devices": run.device_count,
        "firmware": run.firmware,
        "compression of the data": run.compress_pct,
        "share of reads": run.reads_per_s,
    }
    missing = [name for name, value in stated.items() if not value]
    return f"Not stated: {', '.join(missing)}." if missing else ""


def log_config(run: Run) -> list[Pair]:
    """Return the configuration that the log itself printed, then what it derived from it."""
    printed: Iterable[Sequence[Any]] = [*run.facts.get("config", []), *run.facts.get("derived", [])]
    return [(str(name), str(value)) for name, value in printed]


def log_devices(run: Run) -> list[Pair]:
    """Return the devices that the log names, with size and smallest I/O; logs of 1.x do not tell the latter."""
    return [(str(device["name"]), _log_device(device)) for device in run.facts.get("devices", [])]


def _log_device(device: Mapping[str, Any]) -> str:
    size, minimum_io_bytes = units.size(device["size_bytes"]), device["minimum_io_bytes"]
    return size if minimum_io_bytes is None else f"{size}, I/O of {units.size(minimum_io_bytes)}"


def product_pairs(run: Run) -> list[Pair]:
    """Return what is known of the product; before there is one, what the submission states."""
    product, submission = run.product, run.submission
    if product is not None:
        pairs = [
            ("Vendor", product.vendor),
            ("Model", product.model),
            ("Part number", product.part_number),
            ("Category", product.get_category_display() + (", historical" if product.historical else "")),
            ("Capacity", units.capacity(product.capacity_gb)),
            ("PCIe generation", product.pcie_gen),
            ("Endurance", _unit(units.decimal(product.endurance_dwpd), "DWPD, from the maker's sheet, not verified")),
        ]
    elif submission is not None:
        pairs = [
            ("Vendor", submission.vendor),
            ("Model", submission.model),
            ("Part number", submission.part_number),
            ("Category", submission.get_category_display()),
            ("Capacity", units.capacity(submission.capacity_gb)),
        ]
    else:
        pairs = []
    return [pair for pair in pairs if pair[1]]
