"""Certificates of a product, issued and withdrawn as its runs change, each time with an event; never deleted."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from dataclasses import asdict, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import prefetch_related_objects
from django.utils import timezone

from results.history import record_event
from results.models import Certificate, CertificateRun, DriveInRun, Product, Profile, Run, Verdict
from results.models.querysets import RunQuerySet
from results.rules.act.loads import printed_decimal, printed_nx
from results.rules.certification import facts
from results.rules.certification.certify import certify
from results.rules.comparability import coalescing_times_us


def candidate_runs(product: Product) -> RunQuerySet:
    """Return the product's runs that can support a certificate: current rated runs with a verdict."""
    return with_candidate_rows(Run.objects.listed().rated().filter(product=product)).order_by("pk")


def with_candidate_rows(runs: RunQuerySet) -> RunQuerySet:
    """Return the runs that have a verdict, with the rows that the rules need."""
    judged = runs.filter(verdicts__isnull=False).distinct()
    return judged.prefetch_related("verdicts__profile", "drives__preparation__evidence")


def by_profile(runs: Iterable[Run]) -> dict[Profile, dict[str, facts.CandidateRun]]:
    """Return the candidates by the profile that their newest verdict is under, then by public id."""
    candidates: dict[Profile, dict[str, facts.CandidateRun]] = defaultdict(dict)
    for run in runs:
        verdict = run.verdicts.all()[0]
        candidates[verdict.profile][run.public_id] = candidate_of(run, verdict)
    return dict(candidates)


def candidate_of(run: Run, verdict: Verdict | None) -> facts.CandidateRun:
    """Return a run as the rules see it, judged by one of its verdicts.

    A published result has no verdict: its outcome is empty, and nothing shows that it was made on a real drive.
    """
    drives = tuple(_tested(drive) for drive in run.drives.all())
    stop = run.facts.get("stop") or {}
    return facts.CandidateRun(
        id=run.public_id,
        outcome=verdict.outcome if verdict else "",
        stop_kind=stop.get("kind"),
        reads_per_s=run.reads_per_s,
        writes_per_s=run.writes_per_s,
        device_count=run.device_count,
        duration_s=run.duration_s,
        is_virtual=run.is_virtual if verdict else None,
        started_at_s=_seconds(run.started_at),
        drive_count=len(drives) or None,
        drives=drives or None,
        departures=tuple(verdict.document["reasons"]) if verdict else (),
        coalesce_us=max(_coalescing_times_us(run), default=0),
    )


def _coalescing_times_us(run: Run) -> Set[int]:
    """Return the times of which one is that of a run. The engine is left out: a withheld side file may report it."""
    return coalescing_times_us(run.facts.get("generator"), run.tool_version, run.facts.get("coalesce_us"))


def _tested(drive: DriveInRun) -> facts.DriveInRun:
    preparation = None
    if made := drive.preparation:
        evidence_id = made.evidence.sha256 if made.evidence else None
        times = _seconds(made.started_at), _seconds(made.finished_at)
        preparation = facts.Preparation(str(made.pk), *times, evidence_id)
    return facts.DriveInRun(drive.key, preparation, _state(drive, "before"), _state(drive, "after"))


def _state(drive: DriveInRun, moment: str) -> facts.DriveState:
    names = ("firmware", "over_provisioning_pct", "reset_at", "never_reset")
    firmware, over_provisioning_pct, reset_at, never_reset = (getattr(drive, f"{name}_{moment}") for name in names)
    reset_at_s = facts.NEVER_RESET_S if reset_at is None and never_reset else _seconds(reset_at)
    return facts.DriveState(firmware, over_provisioning_pct, reset_at_s)


def _seconds(at: datetime | None) -> int | None:
    return None if at is None else int(at.timestamp())


STANDING, WITHDRAWN = Certificate.State.STANDING, Certificate.State.WITHDRAWN
NX_PLACES = 4  # of the column
Candidates = dict[str, facts.CandidateRun]


def refresh_certificates(product_ids: Iterable[int | None]) -> None:
    """Issue what the runs of these products certify now, and withdraw what they certify no longer.

    Belongs into the transaction that changed the runs. Products are locked by rising key, after the runs, so
    that a second transaction sees what the first one wrote.
    """
    wanted = sorted({product_id for product_id in product_ids if product_id is not None})
    for product in Product.objects.select_for_update(no_key=True).filter(pk__in=wanted).order_by("pk"):
        _refresh(product)


def attempts(product: Product) -> list[dict[str, Any]]:
    """Return the present and missing requirements of the product, for each profile and number of devices.

    The value is stored with the product when one of its runs changes, because the rules compare every load test with
    every stress test (200 runs: 2 s). It is computed here only for a product without a stored value.
    """
    stored: list[dict[str, Any]] | None = product.attempts
    return stored if stored is not None else _attempt_documents(_found(by_profile(candidate_runs(product))))


def candidate_result(run: Run) -> tuple[Profile, facts.CandidateRun]:
    """Return any result as the rules see it, also a published one, with the profile that judges it.

    A run whose log names virtual devices counts as made on one, even if a reviewer published it.
    """
    prefetch_related_objects([run], "verdicts__profile", "drives__preparation__evidence")
    verdict = next(iter(run.verdicts.all()), None)
    candidate = candidate_of(run, verdict)
    if run.is_on_no_drive:
        candidate = replace(candidate, is_virtual=True)
    return verdict.profile if verdict else Profile.current(), candidate


Found = list[tuple[Profile, facts.Certificate]]


def _found(judged: dict[Profile, Candidates]) -> Found:
    return [
        (profile, certified)
        for profile, runs in judged.items()
        for certified in _certified(profile, list(runs.values()))
    ]


def _attempt_documents(found: Found) -> list[dict[str, Any]]:
    return [
        document_of(certified)
        | {
            "profile": str(profile),
            "device_count": certified.device_count,
            "attempted_nx": None if certified.attempted_nx is None else printed_nx(certified.attempted_nx),
            "is_certified": certified.is_certified,
        }
        for profile, certified in found
    ]


def _certified(profile: Profile, runs: list[facts.CandidateRun]) -> list[facts.Certificate]:
    """Return what the runs certify for each number of devices that they were made with, the fewest first."""
    duration_s = json.loads(profile.document)["duration_s"]
    counts = sorted({run.device_count for run in runs if run.device_count})
    return [certify(runs, count, duration_s) for count in counts]


def _refresh(product: Product) -> None:
    judged = by_profile(candidate_runs(product))
    for certificate in product.certificates.current().select_related("profile").prefetch_related("runs"):
        _withdraw_groundless(certificate, judged.get(certificate.profile, {}))
    found = _found(judged)
    for profile, certified in found:
        if certified.is_certified:
            _issue(product, profile, certified)
    Product.objects.filter(pk=product.pk).update(attempts=_attempt_documents(found))


def _withdraw_groundless(certificate: Certificate, candidates: Candidates) -> None:
    """Withdraw a certificate whose own runs no longer certify it; one at a higher load does not replace it."""
    own = [run.public_id for run in certificate.runs.all()]
    gone = [public_id for public_id in own if public_id not in candidates]
    if not gone and _still_certified(certificate, [candidates[public_id] for public_id in own]):
        return
    Certificate.objects.filter(pk=certificate.pk).update(state=WITHDRAWN, withdrawn_at=timezone.now())
    reason = (
        f"It rested on {', '.join(gone)}, which is no longer a current run judged under {certificate.profile}."
        if gone
        else "After re-evaluation, its runs no longer certify it."
    )
    record_event(None, "certificate-withdrawn", ("certificate", certificate.public_id), reason, {"runs_lost": gone})


def _still_certified(certificate: Certificate, runs: list[facts.CandidateRun]) -> bool:
    profile = certificate.profile
    found = (each for each in _certified(profile, runs) if each.is_certified)
    return any(_ground(profile, each) == certificate.ground for each in found)


def _issue(product: Product, profile: Profile, certified: facts.Certificate) -> None:
    """Issue a certificate, or reinstate the withdrawn one on the same ground under its old id."""
    nx_load = certified.nx_load
    assert nx_load is not None  # noqa: S101 - follows from is_certified; for the type checker
    columns = {
        "profile": profile,
        "device_count": certified.device_count,
        "nx_load": Decimal(printed_decimal(nx_load, NX_PLACES)),
        "exact_nx": str(nx_load),
        "firmware": certified.firmware or "",
        "document": document_of(certified),
    }
    certificate, is_new = Certificate.objects.get_or_create(
        product=product, ground=_ground(profile, certified), defaults=columns
    )
    subject = ("certificate", certificate.public_id)
    if is_new:
        runs = Run.objects.filter(public_id__in=certified.run_ids)
        CertificateRun.objects.bulk_create(CertificateRun(certificate=certificate, run=run) for run in runs)
        record_event(
            None, "certificate-issued", subject, "", {"nx_load": certificate.exact_nx, "runs": [*certified.run_ids]}
        )
    elif certificate.state == WITHDRAWN:
        Certificate.objects.filter(pk=certificate.pk).update(state=STANDING, withdrawn_at=None)
        record_event(None, "certificate-reinstated", subject, "The runs that it rests on certify it again.")


def document_of(certified: facts.Certificate) -> dict[str, Any]:
    """Return the result of the rules as JSON: present and missing requirements, and the reasons."""
    return {
        "present": [_requirement_document(requirement) for requirement in certified.present],
        "missing": [_requirement_document(requirement) for requirement in certified.missing],
        "reasons": list(certified.reasons),
    }


def _requirement_document(requirement: facts.Requirement) -> dict[str, Any]:
    document = asdict(requirement)
    if not requirement.shortcomings:
        del document["shortcomings"]
    return document


def _ground(profile: Profile, certified: facts.Certificate) -> str:
    rests_on: Mapping[str, Any] = {
        "profile": profile.sha256,
        "device_count": certified.device_count,
        "nx_load": str(certified.nx_load),
        "runs": sorted(certified.run_ids),
    }
    return hashlib.sha256(json.dumps(rests_on, sort_keys=True).encode()).hexdigest()
