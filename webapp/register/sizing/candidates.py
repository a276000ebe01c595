"""Candidates for a cluster: drives, or cloud instances, each with its tested load within the limits.

They are made from the column store: a request reads no runs except the load tests of certificates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache, reduce
from itertools import compress
from operator import or_
from typing import Any

from django.db.models import F

from results.models import Category, Certificate, CertificateRun, Product, Run, Statistic, Tier
from results.models.categories import OF_DRIVES
from results.rules.act.comparison_groups import ComparisonGroup
from results.rules.act.loads import TPS
from results.rules.sizing import Offer, Offers, rates_of_act
from webapp.register.drives.limit_check import LimitCheck, name_of
from webapp.register.drives.runs import public_vendors
from webapp.register.drives.store.column_store import current_store
from webapp.register.drives.store.encoded_columns import ColumnStore, Rows, flags_of, number_in, rows_of
from webapp.register.drives.store.ranking import current_rows, groups_of, on_drives, speeds_of
from webapp.register.http.query_params import ParameterError
from webapp.register.limits.reader_limits import YourLimits
from webapp.register.sizing.query import SLUG, Kind
from webapp.register.tables.columns import tested_gb
from webapp.register.tables.groups import group_of
from webapp.register.tables.makers import vendor_slug
from webapp.register.tables.marks import TierMark, tier_code, tier_mark
from webapp.templatetags import units

BYTES_PER_GB = 10**9
ASSUMED_DEVICES = 1  # for publications without a number of devices: they name one drive
Certified = Mapping[str, tuple[Certificate, Run]]  # the certificate of each product by its slug, and its load test
CANDIDATES_MAX = 20_000  # candidates of each kind, 2 kB each
LAST_PLACE = Decimal("0.0001")  # N is rounded separately in runs and certificates


@dataclass(frozen=True, slots=True)
class SizedProduct:
    """The facts of a product that a size is shown with."""

    slug: str
    vendor: str


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
        for place in self._sorted(lambda each: (-each.offer.tps_to_sort, each.key)):
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


def candidates(limits: YourLimits, prices: Mapping[str, Fraction], *, kind: Kind = Kind.DRIVES) -> Candidates:
    """Return the drives or instances that sustain a load within the limits, each once, in a fixed number of queries.

    A current certificate of a drive takes precedence over runs if its load test is within the limits; it does not cover
    stricter ones. Otherwise the run with the highest speed per device within the limits counts; a run that can be
    ranked takes precedence over one that cannot. Historical products, logs without the number of devices and networked
    systems are left out.
    """
    store = current_store()
    certified = {} if kind is Kind.INSTANCES else _certified(limits)

    def read() -> Candidates:
        return Candidates(_with_certificates(_uncertified(store, limits, kind), certified))

    named = tuple((slug, each.public_id, each.exact_nx, run.pk) for slug, (each, run) in sorted(certified.items()))
    # The orders are cached only for the profile's limits, which most requests use.
    found = read() if limits.is_own else store.cached(("sizing orders", limits, kind, named), read)
    return found if kind is Kind.INSTANCES else found.priced(prices)


def _uncertified(store: ColumnStore, limits: YourLimits, kind: Kind) -> Iterator[Candidate]:
    """Yield the candidates of runs, without certificates and prices. Each is cached for later requests."""
    rows, units_of_rows = store.cached(("sized rows", kind), lambda: _sized_rows(store, kind))
    flags = flags_of(_judged(store) & LimitCheck(store, limits).passes, store.count)
    fastest: dict[object, int] = {}
    for unit, row in compress(zip(units_of_rows, rows, strict=True), map(flags.__getitem__, rows)):
        fastest.setdefault(unit, row)
    made: dict[int, Candidate] = store.cached(("sizing candidates", kind), dict)
    if len(made) > max(CANDIDATES_MAX, 2 * len(fastest)):  # limits of many readers have chosen other runs
        made.clear()
    make = _instance if kind is Kind.INSTANCES else _drive
    for row in fastest.values():
        candidate = made.get(row)
        yield candidate or made.setdefault(row, make(store, row))


def _sized_rows(store: ColumnStore, kind: Kind) -> tuple[list[int], list[object]]:
    """Return the rows that can be sized with, before any limits, and the unit of each: a drive, or a set of devices.

    Those that can be ranked come first, each part by falling speed.
    """
    columns, groups, speeds = store.columns, groups_of(store), speeds_of(store)
    has_devices = columns["device_count"].above_zero
    if kind is Kind.INSTANCES:
        sized = columns["category"].of(Category.CLOUD) & has_devices & columns["device_gb"].above_zero
    else:
        published = columns["tier"].having([tier == Tier.PUBLISHED for tier in (*columns["tier"].options, "")])
        has_devices |= columns["device_count"].sets[-1] & published
        sized = has_devices & reduce(or_, map(columns["category"].of, OF_DRIVES)) & columns["capacity_gb"].above_zero
    listed = current_rows(store) & on_drives(store) & ~columns["historical"].of("yes") & columns["tps"].above_zero
    is_ranked = {word: group.is_ranked for word, group in groups.items()}
    word_of_group = columns["comparison_group"].word
    rows = sorted(rows_of(sized & listed), key=lambda row: (not is_ranked[word_of_group(row)], -speeds[row]))
    return rows, [_set_of_devices(store, row) if kind is Kind.INSTANCES else store.slugs[row] for row in rows]


def _judged(store: ColumnStore) -> Rows:
    """Return publications, and logs with a verdict of any outcome; LimitCheck removes those that did not pass."""
    has_no_verdict = store.columns["outcome"].sets[-1]
    return store.columns["statistic"].of(Statistic.STEADY_AS_PUBLISHED) | ~has_no_verdict


def _set_of_devices(store: ColumnStore, row: int) -> object:
    """Return the key of an instance: its type, the number and size of its devices, and whether the host is its own."""
    parts = ("device_count", "device_gb", "sole_tenant")
    return (store.slugs[row], *(store.columns[code].codes[row] for code in parts))


def _with_certificates(found: Iterable[Candidate], certified: Certified) -> list[Candidate]:
    return [
        _certified_candidate(each, *certified[each.product.slug]) if each.product.slug in certified else each
        for each in found
    ]


def _certified_candidate(candidate: Candidate, certificate: Certificate, tested: Run) -> Candidate:
    spare = tested_gb(tested)
    tested_bytes = None if spare is None else spare * BYTES_PER_GB
    reads_per_s, writes_per_s = rates_of_act(Fraction(certificate.exact_nx) * TPS)
    offer = replace(candidate.offer, reads_per_s=reads_per_s, writes_per_s=writes_per_s, tested_bytes=tested_bytes)
    basis = f"certificate {certificate.public_id}{_spare_note(spare)}"
    return replace(candidate, run=None, offer=offer, basis=basis, tier=None, group=group_of(tested))


def _instance(store: ColumnStore, row: int) -> Candidate:
    """Return an instance as a unit: instances are ranked among each other for any number of devices."""
    columns = store.columns
    devices, device_gb = (round(number_in(columns[code].word(row)) or 0) for code in ("device_count", "device_gb"))
    offer = Offer(*_tested_rates(store, row, 1), devices * device_gb * BYTES_PER_GB)
    group = replace(_group(store, row), device_count=1)
    tenancy = ", sole tenant" if columns["sole_tenant"].word(row) == "yes" else ""
    run = _sized_run(store, row, device_gb)
    name = f"{name_of(store, row)}{tenancy}"
    return Candidate(
        run.public_id, name, _sized_product(store, row), run, offer, f"run {run.public_id}", _tier(store, row), group
    )


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


def _certified(limits: YourLimits) -> Certified:
    """Return the highest current certificate of each product whose load test is within the limits, with that test.

    Stress tests run at other loads and only need to finish, so limits do not apply to them.
    """
    load_tests = CertificateRun.objects.filter(
        certificate__in=Certificate.objects.current(),
        run__in=Run.objects.within(limits.limits, is_own=limits.is_own).values("pk"),
        run__device_count=F("certificate__device_count"),
        run__nx_load__range=(F("certificate__nx_load") - LAST_PLACE, F("certificate__nx_load") + LAST_PLACE),
    )
    found = load_tests.select_related("certificate__product", "run__product")
    ordered = found.order_by("certificate__nx_load", "certificate")
    return {each.certificate.product.slug: (each.certificate, each.run) for each in ordered}


def _drive(store: ColumnStore, row: int) -> Candidate:
    columns, product, run = store.columns, _sized_product(store, row), _sized_run(store, row, None)
    devices = columns["device_count"].word(row)
    rating, spare = columns["endurance_dwpd"].value(row), columns["tested_gb"].value(row)
    offer = Offer(
        *_tested_rates(store, row, int(devices or ASSUMED_DEVICES)),
        round(columns["capacity_gb"].value(row) or 0) * BYTES_PER_GB,
        None if rating is None else _exact(rating),
        None,
        None if spare is None else round(spare) * BYTES_PER_GB,
    )
    basis = f"run {run.public_id}{_spare_note(spare)}{_devices_note(devices)}"
    name = " ".join(filter(None, (columns[code].word(row) for code in ("vendor", "model", "capacity_gb"))))
    return Candidate(product.slug, name, product, run, offer, basis, _tier(store, row), _group(store, row))


def _sized_product(store: ColumnStore, row: int) -> SizedProduct:
    return SizedProduct(store.slugs[row], store.columns["vendor"].word(row))


def _sized_run(store: ColumnStore, row: int, device_gb: int | None) -> SizedRun:
    statistic, mix = (store.columns[code].word(row) for code in ("statistic", "mix"))
    return SizedRun(store.runs[row], statistic, device_gb, is_mix_reported=bool(mix))


def _group(store: ColumnStore, row: int) -> ComparisonGroup:
    return groups_of(store)[store.columns["comparison_group"].word(row)]


def _tier(store: ColumnStore, row: int) -> TierMark:
    word = store.columns["tier"].word(row)
    return tier_mark(tier_code(word), word)


@lru_cache(maxsize=10_000)  # drives have few different speeds and ratings
def _exact(number: float) -> Fraction:
    """Return a number of the store, which has at most two places, as it was entered.

    >>> _exact(0.1), _exact(515000.5)
    (Fraction(1, 10), Fraction(1030001, 2))
    """
    return Fraction(Decimal(repr(number)))


def _spare_note(spare_gb: float | None) -> str:
    """Return the note on an over-provisioned test; empty if it used the whole capacity."""
    return "" if spare_gb is None else f", over-provisioned to {units.capacity(round(spare_gb))}"


def _tested_rates(store: ColumnStore, row: int, count: int) -> tuple[Fraction, Fraction]:
    """Return the reads and the writes a second of each unit, of which `count` shared the load of a run.

    A publication states only the speed; ACT's load has two reads to one write.
    """
    tps, mix = store.columns["tps"].value(row) or 0, store.columns["mix"].word(row)
    return _rates(tps, mix, count)


@lru_cache(maxsize=10_000)
def _rates(tps: float, mix: str, count: int) -> tuple[Fraction, Fraction]:
    reported = tuple(map(Fraction, mix.split()))
    rates = reported if reported and sum(reported) == _exact(tps) else rates_of_act(_exact(tps))
    return rates[0] / count, rates[1] / count


def _devices_note(devices: str) -> str:
    """Return the note on the number of devices that a run loaded; empty for one device."""
    if not devices:
        return ", taken as the speed of one drive, because the publication states no number of drives"
    return f", {devices} devices together" if int(devices) > 1 else ""
