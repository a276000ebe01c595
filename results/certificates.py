"""Certificates of a product, kept in line with its runs: issued, withdrawn and issued again by event, never deleted."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django.utils import timezone

from results.candidates import by_profile, candidate_runs
from results.history import tell
from results.models import Certificate, CertificateRun, Product, Profile, Run
from results.rules.certify import certify
from results.rules.loads import printed_decimal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from results.rules.certificate_facts import CandidateRun
    from results.rules.certificate_facts import Certificate as Certified

STANDING, WITHDRAWN = Certificate.State.STANDING, Certificate.State.WITHDRAWN
NX_PLACES = 4  # of the column
Candidates = dict[str, "CandidateRun"]


def refresh_certificates(product_ids: Iterable[int | None]) -> None:
    """Issue what the runs of these products certify now, and withdraw what they certify no longer.

    Belongs into the transaction that changed the runs. Products are locked by rising key, after the runs: whoever
    comes second sees what the first one wrote.
    """
    wanted = sorted({product_id for product_id in product_ids if product_id is not None})
    for product in Product.objects.select_for_update(no_key=True).filter(pk__in=wanted).order_by("pk"):
        _refresh(product)


def attempts(product: Product) -> list[tuple[Profile, list[Certified]]]:
    """Return how far the product's runs came under each profile: what they certify, what is present and missing."""
    judged = by_profile(candidate_runs(product))
    return [(profile, _certified(profile, list(runs.values()))) for profile, runs in judged.items()]


def _certified(profile: Profile, runs: list[CandidateRun]) -> list[Certified]:
    """Return what the runs certify for each number of devices that they were made with, the fewest first."""
    duration_s = json.loads(profile.document)["duration_s"]
    counts = sorted({run.device_count for run in runs if run.device_count})
    return [certify(runs, count, duration_s) for count in counts]


def _refresh(product: Product) -> None:
    judged = by_profile(candidate_runs(product))
    for certificate in product.certificates.standing().select_related("profile").prefetch_related("runs"):
        _withdraw_groundless(certificate, judged.get(certificate.profile, {}))
    for profile, runs in judged.items():
        for certified in _certified(profile, list(runs.values())):
            if certified.is_certified:
                _issue(product, profile, certified)


def _withdraw_groundless(certificate: Certificate, candidates: Candidates) -> None:
    """A certificate stands on its own runs: another one at a higher load takes nothing from it."""
    own = [run.public_id for run in certificate.runs.all()]
    gone = [public_id for public_id in own if public_id not in candidates]
    if not gone and _still_certified(certificate, [candidates[public_id] for public_id in own]):
        return
    Certificate.objects.filter(pk=certificate.pk).update(state=WITHDRAWN, withdrawn_at=timezone.now())
    reason = _lost(gone, certificate.profile)
    tell(None, "certificate-withdrawn", ("certificate", certificate.public_id), reason, {"runs_lost": gone})


def _lost(gone: list[str], profile: Profile) -> str:
    if gone:
        return f"It rested on {', '.join(gone)}, which no longer stands as a run judged under {profile}."
    return "Its runs, judged anew, do not certify it any more."


def _still_certified(certificate: Certificate, runs: list[CandidateRun]) -> bool:
    grounds = {
        _ground(certificate.profile, found) for found in _certified(certificate.profile, runs) if found.is_certified
    }
    return certificate.ground in grounds


def _issue(product: Product, profile: Profile, certified: Certified) -> None:
    """Issue a certificate, or let the one of the same ground stand again under its old id."""
    ground = _ground(profile, certified)
    certificate, is_new = Certificate.objects.get_or_create(
        product=product, ground=ground, defaults=_columns(profile, certified)
    )
    subject = ("certificate", certificate.public_id)
    if is_new:
        runs = Run.objects.filter(public_id__in=certified.run_ids)
        CertificateRun.objects.bulk_create(CertificateRun(certificate=certificate, run=run) for run in runs)
        tell(None, "certificate-issued", subject, "", {"nx_load": certificate.exact_nx, "runs": [*certified.run_ids]})
    elif certificate.state == WITHDRAWN:
        Certificate.objects.filter(pk=certificate.pk).update(state=STANDING, withdrawn_at=None)
        tell(None, "certificate-reinstated", subject, "The runs that it rests on certify it again.")


def _columns(profile: Profile, certified: Certified) -> dict[str, Any]:
    nx_load = certified.nx_load
    assert nx_load is not None  # noqa: S101 - is_certified says so, for the type checker
    return {
        "profile": profile,
        "device_count": certified.device_count,
        "nx_load": Decimal(printed_decimal(nx_load, NX_PLACES)),
        "exact_nx": str(nx_load),
        "firmware": certified.firmware or "",
        "document": document_of(certified),
    }


def document_of(certified: Certified) -> dict[str, Any]:
    """Return what the rules said, as JSON: sentences of what is present and missing, and the reasons."""
    return {
        "present": [asdict(requirement) for requirement in certified.present],
        "missing": [asdict(requirement) for requirement in certified.missing],
        "reasons": list(certified.reasons),
    }


def _ground(profile: Profile, certified: Certified) -> str:
    rests_on: Mapping[str, Any] = {
        "profile": profile.sha256,
        "device_count": certified.device_count,
        "nx_load": str(certified.nx_load),
        "runs": sorted(certified.run_ids),
    }
    return hashlib.sha256(json.dumps(rests_on, sort_keys=True).encode()).hexdigest()
