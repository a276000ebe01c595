"""The number of drives that a cluster needs for throughput, capacity and endurance: exact, with every step shown.

A drive counts with the reads and the writes a second of its test, each on its own. It holds any load with at most these
reads and at most these writes, and never more: no rate is scaled into another one. Objects that are read as more
sectors than the tested ones are untested.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from math import floor, log10
from typing import Generic, TypeVar

from results.rules.act.loads import READS_PER_S, TPS

SECTOR_BYTES = 512  # Source: ACT's logs: "minimum IO size = 512 bytes"; a read is of whole ones
RECORD_STEP_BYTES = 16  # Source: aerospike/act src/storage/cfg_storage.c, RBLOCK_SIZE: records are rounded up to it
SECONDS_PER_DAY = 86_400
T = TypeVar("T")
THROUGHPUT, CAPACITY, ENDURANCE, COPIES = "throughput", "capacity", "endurance", "copies"
NARROW_MARGIN = Fraction(1, 2)  # a load that doubles uses up the rating of a drive with this margin


class Mix(StrEnum):
    """How a load relates to the load of the tests.

    The rates of a `TESTED` mix have the tested ratio. Those of a `BOUND` mix have another ratio or smaller objects, so
    each rate is compared with its own tested rate. An `UNTESTED` load has larger objects.
    """

    TESTED = "tested"
    BOUND = "bound"
    UNTESTED = "untested"


@dataclass(frozen=True)
class Demand:
    """The requirements of a cluster. Rates are the clients'; `data_bytes` is one copy; ratios are from 0 to 1.

    `speed_ratio` is the part of its tested speed that a drive may be loaded with; the rest is headroom.
    """

    reads_per_s: Fraction
    writes_per_s: Fraction
    object_bytes: int
    data_bytes: Fraction
    replication_factor: int
    usable_ratio: Fraction
    defrag_ratio: Fraction
    drives_per_node: int
    spare_nodes: int
    life_years: Fraction
    warranty_years: Fraction
    speed_ratio: Fraction = Fraction(1)

    @cached_property
    def totals(self) -> "Totals":
        """Return what all drives together have to sustain: the same for every offer, of which there are thousands."""
        rated = host_bytes_per_day(self) * self.life_years / self.warranty_years
        return Totals(drive_writes_per_s(self), capacity_bytes(self), rated, reads_pct(self))


@dataclass(frozen=True)
class Totals:
    """The requirements of all drives together. `rated_bytes_per_day` is what their ratings have to allow together."""

    writes_per_s: Fraction
    capacity_bytes: Fraction
    rated_bytes_per_day: Fraction
    reads_pct: Fraction | None


@dataclass(frozen=True)
class Tested:
    """The workload that drives were tested with: percent of reads, its tolerance in points, bytes of an object."""

    reads_pct: Decimal
    tolerance_points: Decimal
    object_bytes: int


@dataclass(frozen=True)
class Offer:
    """A drive: its tested reads and writes a second, both above 0, its capacity and its rating (None if unknown).

    `capacity_bytes` is as sold, which the rating refers to. `tested_bytes` is the part that the test used, if it left
    capacity spare: with more data, the drive was not tested.
    """

    reads_per_s: Fraction
    writes_per_s: Fraction
    capacity_bytes: int
    dwpd: Fraction | None = None
    price: Fraction | None = None
    tested_bytes: int | None = None

    @cached_property
    def tps(self) -> Fraction:
        """Return the tested reads and writes a second together."""
        return self.reads_per_s + self.writes_per_s

    @cached_property
    def tps_to_sort(self) -> float:
        """Return `tps` as a float. It is kept, because sorting converts thousands of fractions."""
        return float(self.tps)

    @cached_property
    def rates(self) -> "tuple[_Pair, _Pair]":
        """Return the reads and the writes a second as pairs of whole numbers, because fractions are hashed slowly."""
        return self.reads_per_s.as_integer_ratio(), self.writes_per_s.as_integer_ratio()

    @property
    def bytes_for_data(self) -> int:
        """Return the capacity that counts for data."""
        return self.capacity_bytes if self.tested_bytes is None else self.tested_bytes


def rates_of_act(tps: Fraction | Decimal | int) -> tuple[Fraction, Fraction]:
    """Return the reads and the writes a second of ACT's load at a speed: two reads to one write.

    >>> rates_of_act(3000)
    (Fraction(2000, 1), Fraction(1000, 1))
    """
    reads_per_s = Fraction(tps) * READS_PER_S / TPS
    return reads_per_s, Fraction(tps) - reads_per_s


@dataclass(frozen=True)
class Needs:
    """The drives that each need requires alone; None if unknown."""

    throughput: int | None
    capacity: int
    endurance: int | None


@dataclass(frozen=True)
class Least:
    """The minimum of drives and nodes for capacity and endurance alone, for any load."""

    binding: str
    nodes: int
    drives: int


@dataclass(frozen=True)
class Size:
    """The size of a cluster. `working_drives` remain without the spare nodes; `binding` names the largest need.

    `drives` is None if the load is untested; `least` is then the known minimum. `dwpd` is the lowest rating that the
    working drives need, and `margin` the part of their rating that is left, None if it is unknown.
    """

    mix: Mix
    needs: Needs
    binding: str
    working_drives: int | None
    nodes: int | None
    drives: int | None
    dwpd: Fraction | None
    price: Fraction | None
    least: Least | None = None
    margin: Fraction | None = None

    @property
    def is_margin_narrow(self) -> bool:
        """Return whether a load that doubles would use up the rating, or more."""
        return self.margin is not None and self.margin <= NARROW_MARGIN


def stored_bytes(object_bytes: int) -> int:
    """Return what an object takes on a drive: its bytes rounded up to the next 16.

    >>> stored_bytes(1536), stored_bytes(1537)
    (1536, 1552)
    """
    return -(-object_bytes // RECORD_STEP_BYTES) * RECORD_STEP_BYTES


def read_sectors(object_bytes: int) -> int:
    """Return the sectors of 512 bytes that an object is read as.

    >>> [read_sectors(object_bytes) for object_bytes in (1024, 1025, 1500, 1536, 1537)]
    [2, 3, 3, 3, 4]
    """
    return -(-stored_bytes(object_bytes) // SECTOR_BYTES)


def drive_writes_per_s(demand: Demand) -> Fraction:
    """Return the writes a second of all drives together: each write goes to every copy, a read to one."""
    return demand.writes_per_s * demand.replication_factor


def drive_tps(demand: Demand) -> Fraction:
    """Return the reads and writes a second of all drives together."""
    return demand.reads_per_s + drive_writes_per_s(demand)


def reads_pct(demand: Demand) -> Fraction | None:
    """Return the percentage of reads as the drives see it, after replication; None without any load."""
    total = drive_tps(demand)
    return demand.reads_per_s / total * 100 if total else None


def mix_of(demand: Demand, tested: Tested) -> Mix:
    """Return how a load relates to the tested one. A load without requests has no other ratio."""
    sectors, tested_sectors = read_sectors(demand.object_bytes), read_sectors(tested.object_bytes)
    if sectors > tested_sectors:
        return Mix.UNTESTED
    share = demand.totals.reads_pct
    is_near = share is None or abs(share - Fraction(tested.reads_pct)) <= Fraction(tested.tolerance_points)
    return Mix.TESTED if is_near and sectors == tested_sectors else Mix.BOUND


def differences_from_test(demand: Demand, tested: Tested) -> tuple[str, ...]:
    """Return in sentences how the load differs from the tested one; none for a tested mix."""
    reasons = []
    if read_sectors(demand.object_bytes) != read_sectors(tested.object_bytes):
        reasons.append(f"your objects have {demand.object_bytes:,} bytes, and tests used {tested.object_bytes:,} bytes")
    share = reads_pct(demand)
    if share is not None and abs(share - Fraction(tested.reads_pct)) > Fraction(tested.tolerance_points):
        reasons.append(
            f"{float(share):.1f} % of the requests to your drives are reads, and tests used {tested.reads_pct} % ± "
            f"{tested.tolerance_points}"
        )
    return tuple(reasons)


def drives_for_reads(demand: Demand, offer: Offer) -> int:
    """Return the drives whose tested reads a second, without the headroom, suffice for the reads alone."""
    return _ceil_of_quotient(demand.reads_per_s, offer.reads_per_s, demand.speed_ratio)


def drives_for_writes(demand: Demand, offer: Offer) -> int:
    """Return the drives whose tested writes a second, without the headroom, suffice for the writes of all copies."""
    return _ceil_of_quotient(demand.totals.writes_per_s, offer.writes_per_s, demand.speed_ratio)


def _ceil_of_quotient(total: Fraction, *divisors: Fraction | int) -> int:
    """Return a number divided by others, rounded up: exact, and faster than Fraction, which reduces each quotient."""
    numerator, denominator = total.numerator, total.denominator
    for divisor in divisors:
        numerator, denominator = numerator * divisor.denominator, denominator * divisor.numerator
    return -(-numerator // denominator)


def load_ratio(demand: Demand, offer: Offer, found: Size) -> Fraction | None:
    """Return the load of each working drive, as a part of its tested speed; None for an untested load."""
    if found.working_drives is None:
        return None
    reads = demand.reads_per_s / (offer.reads_per_s * found.working_drives)
    return max(reads, drive_writes_per_s(demand) / (offer.writes_per_s * found.working_drives))


def object_size_note(demand: Demand, tested: Tested) -> str:
    """Return the note that objects of another size are read like the tested ones; empty if it does not apply."""
    sectors = read_sectors(demand.object_bytes)
    if demand.object_bytes == tested.object_bytes or sectors != read_sectors(tested.object_bytes):
        return ""
    return (
        f"objects of {demand.object_bytes:,} bytes are read as {sectors} sectors of {SECTOR_BYTES} bytes, as the "
        f"tested objects of {tested.object_bytes:,} bytes are"
    )


def writes_as_tested(demand: Demand, tested: Tested) -> Fraction:
    """Return the clients' writes a second at which the requested reads make the tested workload, three digits."""
    reads_ratio = Fraction(tested.reads_pct) / 100
    return _three_digits(demand.reads_per_s * (1 - reads_ratio) / reads_ratio / demand.replication_factor)


def reads_as_tested(demand: Demand, tested: Tested) -> Fraction:
    """Return the clients' reads a second at which the requested writes make the tested workload, three digits."""
    reads_ratio = Fraction(tested.reads_pct) / 100
    return _three_digits(drive_writes_per_s(demand) * reads_ratio / (1 - reads_ratio))


def _three_digits(rate: Fraction) -> Fraction:
    """Round to three digits, but never below a millionth, the finest step of a requested load."""
    if rate == 0:
        return rate
    step = max(Fraction(10) ** (floor(log10(rate)) - 2), Fraction(1, 10**6))
    return round(rate / step) * step


def capacity_bytes(demand: Demand) -> Fraction:
    """Return the capacity of all drives together: data x copies / the part of a drive that may be filled."""
    return demand.data_bytes * demand.replication_factor / demand.usable_ratio


def host_bytes_per_day(demand: Demand) -> Fraction:
    """Return what the host writes to all drives together in a day, with the rewriting that defragmentation does.

    Writes/s x copies x stored bytes x 1 / (1 - defrag threshold) x 86,400 s. A drive's own write amplification is no
    part of it: DWPD counts what the host writes.
    """
    rewritten = 1 / (1 - demand.defrag_ratio)
    return drive_writes_per_s(demand) * stored_bytes(demand.object_bytes) * rewritten * SECONDS_PER_DAY


def needed_dwpd(demand: Demand, drives: int, drive_bytes: int) -> Fraction:
    """Return the rating that each of so many drives needs: host bytes a day / drives / capacity x life / warranty."""
    return demand.totals.rated_bytes_per_day / (drives * drive_bytes)


def endurance_margin(needed: Fraction, rated: Fraction) -> Fraction:
    """Return the part of a rating that is left: 1 without writes, 0 if the whole rating is needed.

    >>> endurance_margin(Fraction("0.72"), Fraction(1))
    Fraction(7, 25)
    """
    return 1 - needed / rated


def size(demand: Demand, offer: Offer, tested: Tested) -> Size:
    """Return how many of a drive the demand needs, with the spare nodes' drives on top."""
    mix = mix_of(demand, tested)
    throughput = max(drives_for_reads(demand, offer), drives_for_writes(demand, offer))
    needs = Needs(
        throughput=None if mix is Mix.UNTESTED else throughput,
        capacity=_ceil_of_quotient(demand.totals.capacity_bytes, offer.bytes_for_data),
        endurance=_ceil_of_quotient(demand.totals.rated_bytes_per_day, offer.capacity_bytes, offer.dwpd)
        if offer.dwpd
        else None,
    )
    binding, working_nodes = _binding_need(demand, needs)
    nodes, drives = _with_spare_nodes(demand, working_nodes)
    if needs.throughput is None:
        return Size(mix, needs, "", None, None, None, None, None, Least(binding, nodes, drives))
    working = working_nodes * demand.drives_per_node
    dwpd = needed_dwpd(demand, working, offer.capacity_bytes)
    return Size(
        mix=mix,
        needs=needs,
        binding=binding,
        working_drives=working,
        nodes=nodes,
        drives=drives,
        dwpd=dwpd,
        price=None if offer.price is None else offer.price * drives,
        margin=endurance_margin(dwpd, offer.dwpd) if offer.dwpd else None,
    )


def _binding_need(demand: Demand, needs: Needs) -> tuple[str, int]:
    """Return the need that requires most drives, if known, and the working nodes for it."""
    needed = {THROUGHPUT: needs.throughput, CAPACITY: needs.capacity, ENDURANCE: needs.endurance}
    required = {name: drives for name, drives in needed.items() if drives is not None}
    binding = max(required, key=lambda name: required[name])
    working_nodes = _working_nodes(demand, required[binding])
    return COPIES if working_nodes < demand.replication_factor else binding, _with_copies(demand, working_nodes)


def _working_nodes(demand: Demand, drives: int) -> int:
    return max(-(-drives // demand.drives_per_node), 1)


def _with_copies(demand: Demand, working_nodes: int) -> int:
    """Return the nodes of which each copy has one."""
    return max(working_nodes, demand.replication_factor)


def _with_spare_nodes(demand: Demand, working_nodes: int) -> tuple[int, int]:
    """Return the nodes together with the spare ones, and their drives."""
    nodes = working_nodes + demand.spare_nodes
    return nodes, nodes * demand.drives_per_node


_Pair = tuple[int, int]  # numerator, denominator


class Offers:
    """Many offers, to compute only their numbers of drives: thousands have few different rates and capacities."""

    def __init__(self, offers: Sequence[Offer]) -> None:
        self._rates = _Distinct(offer.rates for offer in offers)
        self._capacities = _Distinct(offer.bytes_for_data for offer in offers)
        self._ratings = _Distinct(
            (offer.capacity_bytes, offer.dwpd.as_integer_ratio() if offer.dwpd else None) for offer in offers
        )

    def drives(self, demand: Demand, tested: Tested) -> list[int]:
        """Return the drives of each offer, as `size` does; for an untested load the known minimum."""
        totals = demand.totals

        def by_throughput(rates: tuple[_Pair, _Pair]) -> int:
            offer = Offer(Fraction(*rates[0]), Fraction(*rates[1]), 1)
            return max(drives_for_reads(demand, offer), drives_for_writes(demand, offer))

        def by_endurance(rating: tuple[int, _Pair | None]) -> int:
            capacity, dwpd = rating
            return _ceil_of_quotient(totals.rated_bytes_per_day, capacity, Fraction(*dwpd)) if dwpd else 0

        needs = [
            self._capacities.each(lambda capacity: _ceil_of_quotient(totals.capacity_bytes, capacity)),
            self._ratings.each(by_endurance),
        ]
        if mix_of(demand, tested) is not Mix.UNTESTED:
            needs.append(self._rates.each(by_throughput))
        return _Distinct(map(max, *needs)).each(
            lambda drives: _with_spare_nodes(demand, _with_copies(demand, _working_nodes(demand, drives)))[1]
        )


class _Distinct(Generic[T]):
    """Values with many repetitions. Each different value is computed once."""

    def __init__(self, values: Iterable[T]) -> None:
        places: dict[T, int] = {}
        self.places = [places.setdefault(value, len(places)) for value in values]
        self.values = list(places)

    def each(self, compute: Callable[[T], int]) -> list[int]:
        """Return a number for each value, in the order of all."""
        return list(map(list(map(compute, self.values)).__getitem__, self.places))
