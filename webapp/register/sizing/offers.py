"""The drives that a cluster can be sized with: of each the load that was shown within the limits, and by what."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from results.models import Category, Certificate, Product, Run
from results.rules.limits import Limit
from results.rules.loads import TPS
from results.rules.sizing import Offer
from webapp.register.columns import product_of
from webapp.register.marks import TierMark, run_tier_mark

# What a buyer counts drives of: instances and networked systems have neither a capacity nor a rating of one drive.
DRIVES = (Category.NVME_3DXPOINT, Category.NVME_FLASH, Category.SATA_SAS_FLASH, Category.M2_FLASH)
BYTES_PER_GB = 10**9


@dataclass(frozen=True)
class Candidate:
    """A drive with the run or certificate that its load is taken from; `basis` says which."""

    product: Product
    run: Run | None
    offer: Offer
    basis: str
    tier: TierMark | None


def candidates(limits: Iterable[Limit], prices: Mapping[str, Fraction]) -> list[Candidate]:
    """Return the current drives that hold some load within the limits, each once, in a fixed number of queries.

    A standing certificate goes before a run: it rests on more. Of runs the fastest within the limits counts.
    """
    certified = _certified()
    runs = Run.objects.standing().rated().current().within(limits).filter(tps__gt=0, product__category__in=DRIVES)
    found: dict[int, Candidate] = {}
    for run in runs.select_related("product").defer("facts", "source_row").order_by("-tps", "pk"):
        product = product_of(run)
        if product.pk not in found and product.capacity_gb:
            found[product.pk] = _candidate(run, certified.get(product.pk), prices.get(product.slug))
    return list(found.values())


def _certified() -> dict[int, Certificate]:
    """Return the highest standing certificate of each product."""
    standing = Certificate.objects.standing().order_by("nx_load", "pk")
    return {certificate.product_id: certificate for certificate in standing}


def _candidate(run: Run, certificate: Certificate | None, price: Fraction | None) -> Candidate:
    product = product_of(run)
    if certificate:
        tps, basis = Fraction(certificate.exact_nx) * TPS, f"certificate {certificate.public_id}"
    else:
        devices = run.device_count or 1
        shared = f", {devices} devices together" if devices > 1 else ""
        tps, basis = Fraction(run.tps or 0) / devices, f"run {run.public_id}{shared}"
    dwpd = None if product.endurance_dwpd is None else Fraction(product.endurance_dwpd)
    offer = Offer(tps, (product.capacity_gb or 0) * BYTES_PER_GB, dwpd, price)
    return Candidate(product, None if certificate else run, offer, basis, None if certificate else run_tier_mark(run))
