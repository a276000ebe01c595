"""Drives that a cluster can be sized with: the load of each within the limits, and its certificate or run."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from django.db.models import F, Q

from results.models import Certificate, CertificateRun, Product, Run, Tier
from results.models.categories import OF_DRIVES
from results.rules.act.limits import Limit
from results.rules.act.loads import TPS
from results.rules.sizing import Offer
from webapp.register.http.query_params import ParameterError
from webapp.register.sizing.query import SLUG
from webapp.register.tables.columns import product_of
from webapp.register.tables.marks import TierMark, run_tier_mark

BYTES_PER_GB = 10**9
ASSUMED_DEVICES = 1  # for publications without a number of devices: they name one drive
LAST_PLACE = Decimal("0.0001")  # N is rounded separately in runs and certificates


@dataclass(frozen=True)
class Candidate:
    """A drive with the run or certificate of its load; `basis` names it."""

    product: Product
    run: Run | None
    offer: Offer
    basis: str
    tier: TierMark | None


def candidates(limits: Iterable[Limit], prices: Mapping[str, Fraction], *, is_own: bool = False) -> list[Candidate]:
    """Return the current drives that sustain a load within the limits, each once, in a fixed number of queries.

    A current certificate takes precedence over runs if its load test is within the limits; it does not cover
    stricter ones. Otherwise the run with the highest speed per device within the limits counts. A log without the
    number of devices is ignored; so are instances and networked systems, which have no capacity or endurance rating of
    a single drive. `is_own`: the limits are a reader's own.
    """
    limits = list(limits)
    certified = _certified(limits, is_own=is_own)
    runs = Run.objects.listed().rated().on_drives().current().within(limits, is_own=is_own).with_ranked_tps()
    has_devices = Q(device_count__gte=1) | Q(device_count=None, tier=Tier.PUBLISHED)
    runs = runs.filter(has_devices, tps__gt=0, product__category__in=OF_DRIVES).select_related("product")
    found: dict[int, Candidate] = {}
    for run in runs.order_by(F("ranked_tps").desc(nulls_last=True), "pk").defer("facts", "source_row"):
        product = product_of(run)
        if product.pk not in found and product.capacity_gb:
            found[product.pk] = _candidate(run, certified.get(product.pk), prices.get(product.slug))
    return list(found.values())


def refuse_unknown_drives(slug_by_parameter: Mapping[str, str]) -> None:
    """Raise ParameterError for a parameter whose slug is not a drive of the register."""
    slugs = [slug for slug in slug_by_parameter.values() if SLUG.fullmatch(slug)]
    known = set(Product.objects.public().filter(slug__in=slugs).values_list("slug", flat=True)) if slugs else set()
    for name, slug in slug_by_parameter.items():
        if slug not in known:
            raise ParameterError(name, "expected a drive of the register, by the name in its page's address")


def _certified(limits: Iterable[Limit], *, is_own: bool) -> dict[int, Certificate]:
    """Return the highest current certificate of each product whose load test is within the limits.

    Stress tests run at other loads and only need to finish, so limits do not apply to them.
    """
    load_tests = CertificateRun.objects.filter(
        run__in=Run.objects.within(limits, is_own=is_own).values("pk"),
        run__device_count=F("certificate__device_count"),
        run__nx_load__range=(F("certificate__nx_load") - LAST_PLACE, F("certificate__nx_load") + LAST_PLACE),
    )
    standing = Certificate.objects.current().filter(pk__in=load_tests.values("certificate"))
    return {certificate.product_id: certificate for certificate in standing.order_by("nx_load", "pk")}


def _candidate(run: Run, certificate: Certificate | None, price: Fraction | None) -> Candidate:
    product = product_of(run)
    dwpd = None if product.endurance_dwpd is None else Fraction(product.endurance_dwpd)
    capacity_bytes = (product.capacity_gb or 0) * BYTES_PER_GB
    if certificate:
        offer = Offer(Fraction(certificate.exact_nx) * TPS, capacity_bytes, dwpd, price)
        return Candidate(product, None, offer, f"certificate {certificate.public_id}", None)
    offer = Offer(Fraction(run.tps or 0) / (run.device_count or ASSUMED_DEVICES), capacity_bytes, dwpd, price)
    return Candidate(product, run, offer, f"run {run.public_id}{_of(run)}", run_tier_mark(run))


def _of(run: Run) -> str:
    """Return the number of devices of a run's load, as text; empty for one device."""
    if run.device_count is None:
        return ", taken as the speed of one drive, because the publication states no number of drives"
    return f", {run.device_count} devices together" if run.device_count > 1 else ""
