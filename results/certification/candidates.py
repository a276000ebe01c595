"""From rows to what the rules of certificates ask of a run: what is not recorded stays unknown."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal

from results.models import DriveInRun, Preparation, Product, Profile, Run, Verdict
from results.models.querysets import RunQuerySet
from results.rules.certification import facts


def candidate_runs(product: Product) -> RunQuerySet:
    """Return the product's runs that a certificate may rest on: they stand, and a log of theirs was judged."""
    judged = Run.objects.standing().rated().filter(product=product, verdicts__isnull=False).distinct()
    return judged.prefetch_related("verdicts__profile", "drives__preparation__evidence").order_by("pk")


def by_profile(runs: Iterable[Run]) -> dict[Profile, dict[str, facts.CandidateRun]]:
    """Return the candidates by the profile that their newest verdict is under, then by public id."""
    candidates: dict[Profile, dict[str, facts.CandidateRun]] = defaultdict(dict)
    for run in runs:
        verdict = run.verdicts.all()[0]
        candidates[verdict.profile][run.public_id] = candidate_of(run, verdict)
    return dict(candidates)


def candidate_of(run: Run, verdict: Verdict) -> facts.CandidateRun:
    """Return a run as the rules see it, judged by one of its verdicts."""
    drives = tuple(_tested(drive) for drive in run.drives.all())
    stop = run.facts.get("stop") or {}
    return facts.CandidateRun(
        id=run.public_id,
        outcome=verdict.outcome,
        stop_kind=stop.get("kind"),
        reads_per_s=run.reads_per_s,
        writes_per_s=run.writes_per_s,
        device_count=run.device_count,
        duration_s=run.duration_s,
        is_virtual=run.is_virtual,
        started_at_s=_seconds(run.started_at),
        drive_count=len(drives) or None,
        drives=drives or None,
        departures=tuple(verdict.document["reasons"]),
    )


def _tested(drive: DriveInRun) -> facts.DriveInRun:
    return facts.DriveInRun(
        key=drive.key,
        preparation=_preparation(drive.preparation) if drive.preparation else None,
        before=_state(
            drive.firmware_before,
            drive.over_provisioning_pct_before,
            _reset(drive.reset_at_before, never=drive.never_reset_before),
        ),
        after=_state(
            drive.firmware_after,
            drive.over_provisioning_pct_after,
            _reset(drive.reset_at_after, never=drive.never_reset_after),
        ),
    )


def _state(firmware: str | None, over_provisioning_pct: Decimal | None, reset_at_s: int | None) -> facts.DriveState:
    return facts.DriveState(firmware, over_provisioning_pct, reset_at_s)


def _preparation(row: Preparation) -> facts.Preparation:
    evidence_id = row.evidence.sha256 if row.evidence else None
    return facts.Preparation(str(row.pk), _seconds(row.started_at), _seconds(row.finished_at), evidence_id)


def _reset(at: datetime | None, *, never: bool | None) -> int | None:
    return _seconds(at) if at is not None else facts.NEVER_RESET_S if never else None


def _seconds(at: datetime | None) -> int | None:
    return None if at is None else int(at.timestamp())
