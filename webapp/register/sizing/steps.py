"""Steps from the requested workload to the number of drives, with their figures and sources."""

from dataclasses import dataclass
from fractions import Fraction
from math import floor, log10

from results.models import Product
from results.rules import sizing
from results.rules.act.loads import printed_decimal
from results.rules.sizing import Demand, Mix, Size, Tested
from webapp.register.sizing.candidates import Candidate
from webapp.register.tables.rating_origin import rating_origin
from webapp.templatetags import units

RULE = "the rules below"
REQUESTED = "your input"
ASSUMED, BECAUSE = "assumed", ", because the source does not report the mix"
NO_RATING = "the catalogue has none"
UNTESTED = "untested at this workload"
MIX_WORDS = {Mix.TESTED: "tested mix", Mix.BOUND: "not tested: upper bound", Mix.UNTESTED: "untested"}


@dataclass(frozen=True)
class Step:
    """One step: its result, calculation, and the source of its figures."""

    name: str
    how: str
    value: str
    source: str

    @property
    def is_rule(self) -> bool:
        """Return whether its source is the register's rules, which the page lists."""
        return self.source == RULE


def figure(value: Fraction) -> str:
    """Return a computed figure with three significant digits below 1,000, whole above.

    >>> figure(Fraction(1, 3)), figure(Fraction(25, 2)), figure(Fraction(123456))
    ('0.333', '12.5', '123,456')
    """
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{round(value):,d}"
    return printed_decimal(value, max(0, 2 - floor(log10(abs(value)))))


def steps(demand: Demand, candidate: Candidate, found: Size, tested: Tested) -> list[Step]:
    """Return the steps for one drive."""
    return [*_throughput(demand, candidate, found, tested), *_capacity(demand, candidate, found),
            *_endurance(demand, candidate, found), *_nodes(demand, found)]  # fmt: skip


def _throughput(demand: Demand, candidate: Candidate, found: Size, tested: Tested) -> list[Step]:
    share = sizing.reads_pct(demand)
    with_mix, because = (ASSUMED, BECAUSE) if candidate.is_mix_assumed else ("tested with", "")
    percent = "none" if share is None else f"{figure(share)} %"
    return [
        Step(
            "Writes on the drives",
            f"{figure(demand.writes_per_s)} x {demand.replication_factor} copies; reads go to one copy",
            f"{figure(sizing.drive_writes_per_s(demand))}/s",
            REQUESTED,
        ),
        Step(
            "Mix of reads and writes",
            f"{percent} of the requests to the drives are reads, {with_mix} "
            f"{tested.reads_pct} ± {tested.tolerance_points} %{because}; objects of "
            f"{demand.object_bytes:,d} bytes, tested with "
            f"{tested.object_bytes:,d} bytes",
            MIX_WORDS[found.mix],
            sizing.object_size_note(demand, tested) or "the profile",
        ),
        *_rates(demand, candidate, found),
    ]


def _rates(demand: Demand, candidate: Candidate, found: Size) -> list[Step]:
    """Return the steps of the reads, of the writes, and of the larger number of drives."""
    if found.needs.throughput is None:
        return [Step("Drives by throughput", "larger objects were not tested", UNTESTED, RULE)]
    offer, writes_per_s = candidate.offer, sizing.drive_writes_per_s(demand)
    by_reads, by_writes = sizing.drives_for_reads(demand, offer), sizing.drives_for_writes(demand, offer)
    return [
        _rate("Drives for the reads", demand, demand.reads_per_s, offer.reads_per_s, by_reads, candidate),
        _rate("Drives for the writes", demand, writes_per_s, offer.writes_per_s, by_writes, candidate),
        Step("Drives by throughput", "the larger of the two", units.count(found.needs.throughput), RULE),
    ]


def _rate(name: str, demand: Demand, needed: Fraction, tested: Fraction, drives: int, candidate: Candidate) -> Step:
    source = f"{ASSUMED} 2:1{BECAUSE}" if candidate.is_mix_assumed else "as tested"
    used = f" x {figure(demand.speed_ratio * 100)} % used" if demand.speed_ratio < 1 else ""
    of_one = f"({figure(tested)}/s of one, {source},{used})" if used else f"{figure(tested)}/s of one, {source}"
    how = f"{figure(needed)}/s / {of_one}; rounded up"
    return Step(name, how, units.count(drives), candidate.basis)


def _capacity(demand: Demand, candidate: Candidate, found: Size) -> list[Step]:
    needed = sizing.capacity_bytes(demand)
    how = (
        f"{_tb(demand.data_bytes)} x {demand.replication_factor} copies / {figure(demand.usable_ratio * 100)} % usable "
        f"= {_tb(needed)}; / {_tb(Fraction(candidate.offer.bytes_for_data))} a drive, rounded up"
    )
    source = "capacity as sold" if candidate.offer.tested_bytes is None else candidate.basis
    return [Step("Drives by capacity", how, units.count(found.needs.capacity), f"your input; {source}")]


def _endurance(demand: Demand, candidate: Candidate, found: Size) -> list[Step]:
    stored, daily = sizing.stored_bytes(demand.object_bytes), sizing.host_bytes_per_day(demand)
    writes = Step(
        "Host writes per day, all drives",
        f"{figure(demand.writes_per_s)} writes/s x {demand.replication_factor} x {stored:,d} stored bytes x 1/(1 - "
        f"{figure(demand.defrag_ratio)}) x 86,400 s; DWPD counts host writes, without write amplification",
        _tb(daily),
        RULE,
    )
    rating = candidate.offer.dwpd
    if rating is None:
        return [writes, Step("Drives by endurance", "no endurance rating", "not known", NO_RATING)]
    product = Product.objects.filter(slug=candidate.product.slug).first()  # None if it was renamed a moment ago
    origin = f"endurance rating {rating_origin(product)}" if product else "endurance rating"
    how = (
        f"{_tb(daily)} / {_tb(Fraction(candidate.offer.capacity_bytes))} x {figure(demand.life_years)} years / "
        f"{figure(demand.warranty_years)} years warranty / {figure(rating)} DWPD, rounded up"
    )
    drives = Step("Drives by endurance", how, units.count(found.needs.endurance), origin)
    if found.dwpd is None or found.working_drives is None:
        return [writes, drives]
    how = (
        f"host writes on {units.count(found.working_drives)} working drives; a drive is rated for {figure(rating)} DWPD"
    )
    required = Step("Required DWPD per drive", how, figure(found.dwpd), RULE)
    if found.margin is None:
        return [writes, drives, required]
    left = f"1 - {figure(found.dwpd)} / {figure(rating)} DWPD"
    return [writes, drives, required, Step("Margin of endurance", left, f"{figure(found.margin * 100)} %", origin)]


def _nodes(demand: Demand, found: Size) -> list[Step]:
    if found.nodes is None:
        untested = Step("Drives", "throughput is untested", UNTESTED, RULE)
        if found.least is None:
            return [untested]
        how = (
            f"limited by {found.least.binding}, not counting the load: {found.least.nodes:,d} nodes, "
            f"{demand.spare_nodes:,d} of them spare, {demand.drives_per_node:,d} drives each"
        )
        return [untested, Step("Minimum number of drives", how, units.count(found.least.drives), RULE)]
    working = found.nodes - demand.spare_nodes
    limited = "one node for each copy" if found.binding == sizing.COPIES else f"limited by {found.binding}"
    how = f"{working:,d} working ({limited}) + {demand.spare_nodes:,d} spare, {demand.drives_per_node:,d} drives each"
    return [
        Step("Nodes", how, units.count(found.nodes), REQUESTED),
        Step("Drives", f"{found.nodes:,d} nodes x {demand.drives_per_node:,d}", units.count(found.drives), REQUESTED),
    ]


def _tb(size_bytes: Fraction) -> str:
    return f"{figure(size_bytes / 10**12)} TB"
