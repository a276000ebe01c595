"""Sections of a certificate's page: its runs, the worst slices against the limits, its age and its history."""

from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from django.db.models import Q

from results.access.withholding import is_withheld
from results.models import Certificate, DriveInRun, Event, Run, Share, Statistic, Verdict
from results.rules.act.limits import parse_limits
from results.rules.act.loads import READS_PER_S, TPS, WRITES_PER_S, nx_load, printed_decimal
from webapp.register.runs.page import public_line
from webapp.register.tables.evaluation import is_over
from webapp.register.tables.marks import nearness_mark, run_tier_mark
from webapp.register.tables.sentences import product_name
from webapp.templatetags import units

DAYS_OF_MONTH, DAYS_OF_YEAR = 30, 365  # for ages, which are approximate


def certificate_sentence(certificate: Certificate) -> str:
    """Return what the certificate certifies; for a withdrawn one, what it certified and until when."""
    firmware = f" with firmware {certificate.firmware}" if certificate.firmware else ""
    devices = "1 device" if certificate.device_count == 1 else f"{certificate.device_count} devices together"
    load = f"{units.nx(certificate.nx_load)} ({total_tps(certificate)} tps) on {devices}, under {certificate.profile}"
    subject = f"{product_name(certificate.product)}{firmware}"
    if certificate.state == Certificate.State.WITHDRAWN:
        until = f" on {_day(certificate.withdrawn_at)}" if certificate.withdrawn_at else ""
        return f"Withdrawn{until}: {subject} was certified at {load}."
    return f"{subject} is certified at {load}."


def _day(at: datetime) -> str:
    return f"{at.astimezone(UTC):%-d %B %Y}"


def total_tps(certificate: Certificate) -> str:
    """Return the speed of all devices together, exactly as the certified load demands it."""
    tps = Fraction(certificate.exact_nx) * TPS * certificate.device_count
    return units.decimal(Decimal(printed_decimal(tps, 2)))


def load_words(certificate: Certificate) -> str:
    """Return the load of each device in reads and writes per second."""
    load = Fraction(certificate.exact_nx)
    reads, writes = (units.decimal(Decimal(printed_decimal(load * each, 2))) for each in (READS_PER_S, WRITES_PER_S))
    return f"{reads} reads/s and {writes} writes/s"


def runs_of(certificate: Certificate) -> list[dict[str, Any]]:
    """Return the runs that the certificate is based on, load tests first."""
    runs = (
        Run.objects.not_sequestered()
        .filter(certificates=certificate)
        .prefetch_related("drives__preparation", "verdicts__profile", "shares")
    )
    lines = [_run_line(run, certificate) for run in runs.select_related("reading__evidence")]
    return sorted(lines, key=lambda line: (not line["is_load_test"], line["run"].device_count or 0, line["run"].pk))


def _run_line(run: Run, certificate: Certificate) -> dict[str, Any]:
    load = nx_load(run.reads_per_s, run.writes_per_s, run.device_count)
    verdict = next((each for each in run.verdicts.all() if each.profile_id == certificate.profile_id), None)
    return {
        "run": run,
        "is_load_test": load == Fraction(certificate.exact_nx),
        "outcome": verdict.outcome if verdict else "",
        "verdict": Verdict.Outcome(verdict.outcome).label if verdict else "no verdict under this profile",
        "preparation": "; ".join(dict.fromkeys(map(_preparation_words, run.drives.all()))) or "not reported",
        "tier": run_tier_mark(run),
    }


def _preparation_words(drive: DriveInRun) -> str:
    made = drive.preparation
    if made is None:
        return "not reported"
    at = units.moment(made.finished_at)
    ended = f"on {at}" if at else "at a time that was not reported"
    return f"prepared {ended}{'' if made.evidence_id else ' (no log of the preparation)'}"


def worst_slices(certificate: Certificate, lines: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return for each limit of the profile the worst slice of each load test."""
    tests = [line["run"] for line in lines if line["is_load_test"]]
    found = []
    for limit in parse_limits(certificate.profile.document):
        for run in tests:
            share = _worst(run, limit.threshold_us)
            found.append({"limit": limit, "run": run, "share": _shown(run, share, limit.limit_pct) if share else None})
    return found


def _worst(run: Run, threshold_us: int) -> Share | None:
    worst = (share for share in run.shares.all() if share.statistic == Statistic.WORST_SLICE)
    return next((share for share in worst if share.threshold_us == threshold_us), None)


def _shown(run: Run, share: Share, limit_pct: Decimal) -> dict[str, Any]:
    """Return a share with its mark, and the slice that has it, with a link unless the log is withheld."""
    over = is_over(share, limit_pct)
    return {
        "text": units.share(share.printed, share.over_count),
        "is_over": over,
        "mark": nearness_mark(share.share_pct, limit_pct, is_over=over),
        "slice_number": share.slice_number,
        "is_linked": share.slice_number is not None and not is_withheld(run),
    }


def present_of(certificate: Certificate) -> list[str]:
    """Return the requirements that the runs met when the certificate was issued."""
    return [requirement["sentence"] for requirement in certificate.document.get("present", [])]


def age_words(since: datetime, now: datetime) -> str:
    """Return how long ago something was, by its day in UTC: today, 3 days ago, 2 months ago, 1 year ago."""
    days = (now.astimezone(UTC).date() - since.astimezone(UTC).date()).days
    if days < 1:
        return "today"
    if days < 2 * DAYS_OF_MONTH:
        return f"{units.counted(days, 'day')} ago"
    if days < 2 * DAYS_OF_YEAR:
        return f"{units.counted(days // DAYS_OF_MONTH, 'month')} ago"
    return f"{units.counted(days // DAYS_OF_YEAR, 'year')} ago"


def later_firmware(certificate: Certificate) -> list[str]:
    """Return the other firmware versions of current runs of the drive that began or appeared after the certificate.

    Runs with a withheld file are left out, because the file may be the source of the version.
    """
    at = certificate.issued_at
    later = Q(started_at__gt=at) | Q(started_at=None, published_at__gt=at)
    runs = Run.objects.listed().filter(later, product=certificate.product)
    others = runs.exclude(firmware__in=["", certificate.firmware]).exclude(pk__in=runs.withheld().values("pk"))
    return sorted(set(others.values_list("firmware", flat=True)))


def history_of(certificate: Certificate) -> tuple[list[dict[str, str]], Event | None]:
    """Return the history of a certificate, and the event that withdrew it if it is withdrawn."""
    events = list(Event.objects.filter(subject_type="certificate", subject_id=certificate.public_id))
    withdrawals = [event for event in events if event.kind == "certificate-withdrawn"]
    is_withdrawn = certificate.state == Certificate.State.WITHDRAWN
    return [public_line(event) for event in events], withdrawals[-1] if is_withdrawn and withdrawals else None
