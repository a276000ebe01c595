"""Candidates for a cluster: drives, or cloud instances, each with its tested load within the limits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from math import floor
from typing import Any

from django.db.models import F, Q

from results.models import Category, Certificate, CertificateRun, Product, Run, Tier
from results.models.categories import OF_DRIVES
from results.models.querysets import RunQuerySet
from results.rules.act.comparison_groups import ComparisonGroup
from results.rules.act.limits import Limit
from results.rules.act.loads import TPS
from results.rules.sizing import Offer, Offers, rates_of_act
from webapp.register.drives.runs import public_vendors
from webapp.register.drives.store.column_store import current_store
from webapp.register.http.query_params import ParameterError
from webapp.register.sizing.query import SLUG, Kind
from webapp.register.tables.columns import product_of
from webapp.register.tables.groups import group_of
from webapp.register.tables.makers import vendor_slug
from webapp.register.tables.marks import TierMark, run_tier_mark
from webapp.register.tables.sentences import product_name, run_name
from webapp.templatetags import units

BYTES_PER_GB = 10**9
ASSUMED_DEVICES = 1  # for publications without a number of devices: they name one drive
Certified = Mapping[int, tuple[Certificate, Run]]  # the certificate of each product, and its load test
LAST_PLACE = Decimal("0.0001")  # N is rounded separately in runs and certificates


@dataclass(frozen=True, slots=True)
class SizedProduct:
    """The facts of a product that a size is computed and shown with, because caches keep no rows of the database."""

    pk: int
    slug: str
    vendor: str
    endurance_dwpd: Decimal | None
    entered_facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SizedRun:
    """The facts of a run that a size is shown with."""

    public_id: str
    statistic: str
    device_gb: int | None
    is_mix_reported: bool


@dataclass(frozen=True, slots=True)
class Candidate:
    """A drive or an instance with the run or certificate of its load; `basis` names it.

    `key` names the candidate in addresses: the slug of a drive, or the run of an instance, which may have several
    numbers of devices. Results are ranked within `group`.
    """

    key: str
    name: str
    product: SizedProduct
    run: SizedRun | None
    offer: Offer
    basis: str
    tier: TierMark | None
    group: ComparisonGroup

    @property
    def is_mix_assumed(self) -> bool:
        """Return whether the reads and the writes a second are ACT's, because the source reports only their sum."""
        return self.run is not None and not self.run.is_mix_reported

    def is_named(self, name: str) -> bool:
        """Return whether an address names it, by its key or its product."""
        return name in {self.key, self.product.slug}


class Candidates:
    """The candidates of a question, and what is the same for each load: their orders, groups and vendors.

    `every` has them in the order of the speeds of their runs; those of groups that are not ranked come last. Orders are
    lists of places in it.
    """

    def __init__(self, every: Sequence[Candidate]) -> None:
        self.every = every

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.every)

    def priced(self, prices: Mapping[str, Fraction]) -> Candidates:
        """Return the same candidates with the prices of a reader, which change none of the orders."""
        if not prices:
            return self
        self.prepare()  # once for all readers: a copy has what is computed before
        found = copy(self)
        found.every = [_priced(each, prices.get(each.product.slug)) for each in self.every]
        return found

    def prepare(self) -> None:
        """Compute everything that is the same for all prices."""
        _ = self.offers, self.by_group, self.is_unrated, self.rank_by_name, self.rank_by_key, self.vendors

    @cached_property
    def offers(self) -> Offers:
        """Return the offers of all, to compute with."""
        return Offers([each.offer for each in self.every])

    @cached_property
    def by_group(self) -> dict[ComparisonGroup, list[int]]:
        """Return the places of each comparison group, the highest speed first, then by key."""
        found: dict[ComparisonGroup, list[int]] = {}
        for place in self._sorted(lambda each: (-each.offer.tps, each.key)):
            found.setdefault(self.every[place].group, []).append(place)
        return found

    @cached_property
    def is_unrated(self) -> list[bool]:
        """Return for each candidate whether its endurance is not known."""
        return [not each.offer.dwpd for each in self.every]

    @cached_property
    def rank_by_name(self) -> list[int]:
        """Return the rank of each candidate in the order of names."""
        return _ranks(self._sorted(lambda each: each.name.casefold()))

    @cached_property
    def rank_by_key(self) -> list[int]:
        """Return the rank of each candidate in the order of keys."""
        return _ranks(self._sorted(lambda each: each.key))

    @cached_property
    def vendors(self) -> dict[str, str]:
        """Return the vendors of all candidates by their codes."""
        return {vendor_slug(each.product.vendor): each.product.vendor for each in self.every}

    def _sorted(self, key: Callable[[Candidate], Any]) -> list[int]:
        keys = list(map(key, self.every))
        return sorted(range(len(keys)), key=keys.__getitem__)


def _ranks(order: Sequence[int]) -> list[int]:
    found = [0] * len(order)
    for rank, place in enumerate(order):
        found[place] = rank
    return found


def _priced(candidate: Candidate, price: Fraction | None) -> Candidate:
    return candidate if price is None else replace(candidate, offer=replace(candidate.offer, price=price))


def candidates(
    limits: Iterable[Limit],
    prices: Mapping[str, Fraction],
    *,
    is_own: bool = False,
    kind: Kind = Kind.DRIVES,
) -> Candidates:
    """Return the drives or instances that sustain a load within the limits, each once, in a fixed number of queries.

    A current certificate of a drive takes precedence over runs if its load test is within the limits; it does not cover
    stricter ones. Otherwise the run with the highest speed per device within the limits counts; a run that can be
    ranked takes precedence over one that cannot. Historical products, logs without the number of devices and networked
    systems are left out. `is_own`: the limits are a reader's own.
    """
    limits = tuple(limits)
    certified = {} if kind is Kind.INSTANCES else _certified(limits, is_own=is_own)
    if is_own:
        found = Candidates(_with_certificates(_uncertified(limits, kind, is_own=True), certified))
    else:
        found = _of_profile(limits, kind, certified)
    return found if kind is Kind.INSTANCES else found.priced(prices)


def _of_profile(limits: tuple[Limit, ...], kind: Kind, certified: Certified) -> Candidates:
    """Return the candidates of a state of the register, in the orders that each process computes once."""
    store = current_store()
    runs = store.cached(("sizing candidates", limits, kind), lambda: _uncertified(limits, kind, is_own=False))
    named = tuple((pk, each.public_id, each.exact_nx, run.pk) for pk, (each, run) in sorted(certified.items()))
    key = ("sizing orders", limits, kind, named)
    return store.recent(key, lambda: Candidates(_with_certificates(runs, certified)))


def _uncertified(limits: tuple[Limit, ...], kind: Kind, *, is_own: bool) -> list[Candidate]:
    """Return the candidates by their runs alone, without prices.

    Each process reads those of the profile once per state of the register, and keeps them: they have plain values only.
    """
    runs = Run.objects.listed().rated().on_drives().current().within(limits, is_own=is_own).with_ranked_tps()
    runs = runs.filter(tps__gt=0).select_related("product").defer("facts", "source_row")
    ordered = runs.order_by(F("ranked_tps").desc(nulls_last=True), "pk")
    return _instances(ordered) if kind is Kind.INSTANCES else _drives(ordered)


def _with_certificates(found: Iterable[Candidate], certified: Certified) -> list[Candidate]:
    return [
        _certified_candidate(each, *certified[each.product.pk]) if each.product.pk in certified else each
        for each in found
    ]


def _certified_candidate(candidate: Candidate, certificate: Certificate, tested: Run) -> Candidate:
    capacity_gb = candidate.offer.capacity_bytes // BYTES_PER_GB
    offer = _offer(rates_of_act(Fraction(certificate.exact_nx) * TPS), candidate.product, capacity_gb, tested)
    basis = f"certificate {certificate.public_id}{_spare_note(tested, capacity_gb)}"
    return replace(candidate, run=None, offer=offer, basis=basis, tier=None, group=group_of(tested))


def _drives(runs: RunQuerySet) -> list[Candidate]:
    has_devices = Q(device_count__gte=1) | Q(device_count=None, tier=Tier.PUBLISHED)
    found = runs.filter(has_devices, product__category__in=OF_DRIVES, product__capacity_gb__gt=0)
    fastest: dict[int, Run] = {}
    for run in _ranked_first(found):
        fastest.setdefault(product_of(run).pk, run)
    return [_drive(run) for run in fastest.values()]


def _ranked_first(runs: Iterable[Run]) -> list[Run]:
    """Return the runs that can be ranked before the others; each part keeps its order."""
    return sorted(runs, key=lambda run: not group_of(run).is_ranked)


def _instances(runs: RunQuerySet) -> list[Candidate]:
    """Return each type of instance with each of its sets of devices."""
    found = runs.filter(product__category=Category.CLOUD, device_count__gte=1, device_gb__gte=1)
    fastest: dict[tuple[object, ...], Run] = {}
    for run in _ranked_first(found):
        fastest.setdefault((run.product_id, run.device_count, run.device_gb, run.sole_tenant), run)
    return [_instance(run) for run in fastest.values()]


def _instance(run: Run) -> Candidate:
    """Return an instance as a unit: instances are ranked among each other for any number of devices."""
    capacity_bytes = (run.device_count or 0) * (run.device_gb or 0) * BYTES_PER_GB
    offer = Offer(*_tested_rates(run, 1), capacity_bytes)
    group = replace(group_of(run), device_count=1)
    tenancy = ", sole tenant" if run.sole_tenant else ""
    basis, tier = f"run {run.public_id}", run_tier_mark(run)
    name = f"{run_name(run)}{tenancy}"
    return Candidate(run.public_id, name, _sized_product(product_of(run)), _sized_run(run), offer, basis, tier, group)


def refuse_unknown_drives(slug_by_parameter: Mapping[str, str], shown: str = "") -> None:
    """Raise ParameterError for a parameter whose slug is not a drive of the register.

    `shown` is the name of the drive or the run whose steps are requested.
    """
    if shown.startswith("r-") and Run.objects.public().filter(public_id=shown).exists():
        shown = ""
    named = dict(slug_by_parameter) | ({"drive": shown} if shown else {})
    slugs = [slug for slug in named.values() if SLUG.fullmatch(slug)]
    known = set(Product.objects.public().filter(slug__in=slugs).values_list("slug", flat=True)) if slugs else set()
    for name, slug in named.items():
        if slug not in known:
            raise ParameterError(name, "expected a drive of the register, by the name in its page's address")


def refuse_unknown_vendor(slug: str) -> None:
    """Raise ParameterError for a vendor without a drive in the register."""
    if slug and slug not in (known := {vendor_slug(name) for name in public_vendors()}):
        raise ParameterError("vendor", f"expected one of {', '.join(sorted(known))}", slug)


def _certified(limits: Iterable[Limit], *, is_own: bool) -> Certified:
    """Return the highest current certificate of each product whose load test is within the limits, with that test.

    Stress tests run at other loads and only need to finish, so limits do not apply to them.
    """
    load_tests = CertificateRun.objects.filter(
        certificate__in=Certificate.objects.current(),
        run__in=Run.objects.within(limits, is_own=is_own).values("pk"),
        run__device_count=F("certificate__device_count"),
        run__nx_load__range=(F("certificate__nx_load") - LAST_PLACE, F("certificate__nx_load") + LAST_PLACE),
    )
    found = load_tests.select_related("certificate", "run__product").order_by("certificate__nx_load", "certificate")
    return {each.certificate.product_id: (each.certificate, each.run) for each in found}


def _drive(run: Run) -> Candidate:
    product = product_of(run)
    sized, capacity_gb = _sized_product(product), product.capacity_gb or 0
    offer = _offer(_tested_rates(run, run.device_count or ASSUMED_DEVICES), sized, capacity_gb, run)
    basis = f"run {run.public_id}{_spare_note(run, capacity_gb)}{_devices_note(run)}"
    name, tier = product_name(product), run_tier_mark(run)
    return Candidate(product.slug, name, sized, _sized_run(run), offer, basis, tier, group_of(run))


def _sized_product(product: Product) -> SizedProduct:
    entered = tuple(product.entered_facts)
    return SizedProduct(product.pk, product.slug, product.vendor, product.endurance_dwpd, entered)


def _sized_run(run: Run) -> SizedRun:
    return SizedRun(run.public_id, run.statistic, run.device_gb, run.is_mix_reported)


def _offer(
    rates: tuple[Fraction, Fraction],
    product: SizedProduct,
    capacity_gb: int,
    tested: Run,
) -> Offer:
    """Return a drive with the load of each drive, and the capacity that its test used."""
    dwpd = None if product.endurance_dwpd is None else Fraction(product.endurance_dwpd)
    tested_gb = _tested_gb(tested, capacity_gb)
    tested_bytes = None if tested_gb is None else tested_gb * BYTES_PER_GB
    return Offer(*rates, capacity_gb * BYTES_PER_GB, dwpd, None, tested_bytes)


def _spare_note(tested: Run, capacity_gb: int) -> str:
    """Return the note on an over-provisioned test; empty if it used the whole capacity."""
    tested_gb = _tested_gb(tested, capacity_gb)
    return "" if tested_gb is None else f", over-provisioned to {units.capacity(tested_gb)}"


def _tested_gb(run: Run, capacity_gb: int) -> int | None:
    """Return the capacity of a drive that an over-provisioned test used, in GB rounded down; None for all of it.

    The percentage is of the capacity that users see: 10 % leaves 1 / 1.1 of the drive.
    """
    stated = [capacity_gb]
    if run.over_provisioned_to_gb:
        stated.append(run.over_provisioned_to_gb)
    if run.over_provisioning_pct:
        stated.append(floor(Fraction(capacity_gb * 100) / (100 + Fraction(run.over_provisioning_pct))))
    return max(min(stated), 1) if min(stated) < capacity_gb else None


def _tested_rates(run: Run, count: int) -> tuple[Fraction, Fraction]:
    """Return the reads and the writes a second of each unit, of which `count` shared the load of a run.

    A publication states only the speed; ACT's load has two reads to one write.
    """
    reads_per_s, writes_per_s = rates_of_act(run.tps or 0)
    if run.reads_per_s and run.writes_per_s and run.reads_per_s + run.writes_per_s == run.tps:
        reads_per_s, writes_per_s = Fraction(run.reads_per_s), Fraction(run.writes_per_s)
    return reads_per_s / count, writes_per_s / count


def _devices_note(run: Run) -> str:
    """Return the note on the number of devices that a run loaded; empty for one device."""
    if run.device_count is None:
        return ", taken as the speed of one drive, because the publication states no number of drives"
    return f", {run.device_count} devices together" if run.device_count > 1 else ""
