"""Sizing page: a row for each drive, the smallest and cheapest cluster, the steps of one drive, tested workloads."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from django.http import QueryDict

from results.models import Statistic
from results.rules import sizing
from results.rules.act.loads import printed_decimal
from results.rules.plural import counted
from results.rules.sizing import Demand, Size, Tested, untested
from webapp.register.http.files import Value
from webapp.register.sizing.offers import Candidate
from webapp.register.sizing.query import SizingQuestion
from webapp.register.sizing.steps import number, steps
from webapp.register.tables.sentences import product_name
from webapp.templatetags import units

PLACES = 6  # parameters accept no more


@dataclass(frozen=True)
class TestedMix:
    """A tested workload with the URL of its query; `is_stricter` if it is at least as heavy in every respect."""

    text: str
    address: str
    demand: Demand
    is_stricter: bool


def tested_mixes(query: QueryDict, demand: Demand, tested: Tested) -> list[TestedMix]:
    """Return the tested workloads with the requested reads or writes; empty if the request itself is tested."""
    if not untested(demand, tested):
        return []
    mixes = [each for each in dict.fromkeys(_near(demand, tested)) if not untested(each, tested)]
    return [
        TestedMix(
            f"{number(each.reads_per_s)} reads and {number(each.writes_per_s)} writes per second at "
            f"{each.replication_factor} copies, objects of {each.object_bytes:,d} bytes",
            _address(query, each),
            each,
            # One load includes the other if it has no fewer reads or writes, and no smaller objects.
            each.reads_per_s >= demand.reads_per_s
            and each.writes_per_s >= demand.writes_per_s
            and each.object_bytes >= demand.object_bytes,
        )
        for each in mixes
    ]


def _near(demand: Demand, tested: Tested) -> Iterator[Demand]:
    of_no_load = replace(demand, reads_per_s=Fraction(0), writes_per_s=Fraction(0))
    is_another_size = bool(untested(of_no_load, tested))
    sized = replace(demand, object_bytes=tested.object_bytes) if is_another_size else demand
    if not untested(sized, tested):
        yield sized
    elif sizing.reads_pct(demand) is not None:
        if demand.reads_per_s:
            yield replace(sized, writes_per_s=sizing.writes_as_tested(demand, tested))
        if demand.writes_per_s:
            yield replace(sized, reads_per_s=sizing.reads_as_tested(demand, tested))


def _address(query: QueryDict, demand: Demand) -> str:
    changed = query.copy()
    changed["reads"], changed["writes"] = _plain(demand.reads_per_s), _plain(demand.writes_per_s)
    changed["object"] = str(demand.object_bytes)
    for name in [name for name in changed if name == "format" or not str(changed[name]).strip()]:
        del changed[name]
    return f"?{changed.urlencode()}"


def _plain(rate: Fraction) -> str:
    return str(rate.numerator) if rate.denominator == 1 else printed_decimal(rate, PLACES).replace(",", "")


FIELDS = (
    *("product", "name", "drives", "nodes", "working_drives", "binding", "by_throughput", "by_capacity"),
    *("by_endurance", "needed_dwpd", "rated_dwpd", "tested_tps", "capacity_gb", "basis", "tier", "statistic", "price"),
    *("at_least_drives", "at_least_nodes"),
)
UNTESTED = "untested at this workload"
WORST_SLICE = Statistic.WORST_SLICE.value  # certificates always use it
SHOWN_ROWS = 100


@dataclass(frozen=True)
class SizingRow:
    """One drive with the size of its cluster."""

    candidate: Candidate
    size: Size

    @property
    def slug(self) -> str:
        """Return the product's name in URLs."""
        return self.candidate.product.slug

    @property
    def name(self) -> str:
        """Return the name of the drive."""
        return product_name(self.candidate.product)

    @property
    def dwpd(self) -> str:
        """Return the drive writes per day that the load needs; empty if not known."""
        return "" if self.size.dwpd is None else number(self.size.dwpd)

    @property
    def rating(self) -> str:
        """Return the rated drive writes per day; empty if not reported."""
        return "" if self.candidate.offer.dwpd is None else number(self.candidate.offer.dwpd)

    @property
    def price(self) -> str:
        """Return the price of all drives; empty without a price."""
        return "" if self.size.price is None else f"{round(self.size.price):,d}"

    @property
    def price_of_one(self) -> str:
        """Return the entered price of one drive."""
        return "" if self.candidate.offer.price is None else printed_decimal(self.candidate.offer.price, 2)


def sizing_page(question: SizingQuestion, found: Iterable[Candidate], tested: Tested) -> dict[str, Any]:
    """Return the answer to a query. The page lists at most SHOWN_ROWS drives, and files list all of them."""
    sizes = _sorted([SizingRow(one, sizing.size(question.demand, one.offer, tested)) for one in found], question.sort)
    fewest = _fewest(sizes)
    cheapest = min((each for each in sizes if each.size.price is not None), key=_by_price, default=None)
    selected = next((each for each in sizes if each.candidate.product.slug == question.drive), None)
    shown = selected or fewest
    reasons = untested(question.demand, tested)
    rows = sizes[:SHOWN_ROWS] if question.form == "html" else sizes
    every = f"{counted(len(sizes), 'drive')} with a result within the limits, historical drives left out"
    more = f"The table shows the first {len(rows)} of {every}; the CSV has them all."
    return {
        "question": question,
        "untested": reasons,
        "rows": rows,
        "shown": shown,
        "steps": steps(question.demand, shown.candidate, shown.size, tested) if shown else [],
        "sentence": _sentence(fewest, cheapest, reasons),
        "count_sentence": more
        if len(rows) < len(sizes)
        else f"The table shows {every}. Each drive counts with the load at which it was tested.",
        "object_size_note": sizing.object_size_note(question.demand, tested),
    }


def known_by(
    mixes: Iterable[TestedMix], found: Sequence[Candidate], tested: Tested
) -> list[tuple[TestedMix, SizingRow]]:
    """Return the tested workloads that include the requested one, each with the smallest cluster for it.

    A cluster for a heavier load also sustains a lighter one. Nothing is scaled or extrapolated.
    """
    return [
        (mix, fewest)
        for mix in mixes
        if mix.is_stricter
        and (fewest := _fewest(SizingRow(each, sizing.size(mix.demand, each.offer, tested)) for each in found))
    ]


def _fewest(sizes: Iterable[SizingRow]) -> SizingRow | None:
    return min(sizes, key=_by_drives, default=None)


def _by_drives(row: SizingRow) -> tuple[bool, int, Fraction, str]:
    """Return the sort key by the number, or minimum number, of drives; drives of unknown endurance come last."""
    drives = row.size.least.drives if row.size.least else row.size.drives or 0
    return row.size.needs.endurance is None, drives, -row.candidate.offer.tps, row.candidate.product.slug


def _by_price(row: SizingRow) -> tuple[Fraction, int, str]:
    return row.size.price or Fraction(0), row.size.drives or 0, row.candidate.product.slug


def _sorted(sizes: Sequence[SizingRow], sort: str) -> list[SizingRow]:
    """Return the drives in the requested order; unknown values come last."""
    if sort == "name":
        return sorted(sizes, key=lambda each: product_name(each.candidate.product).casefold())
    if sort == "cheapest":
        return sorted(sizes, key=lambda each: (each.size.price is None, *_by_price(each), *_by_drives(each)))
    return sorted(sizes, key=_by_drives)


def _sentence(fewest: SizingRow | None, cheapest: SizingRow | None, reasons: Sequence[str]) -> str:
    if reasons:
        return f"No drive was tested at this workload: {'; '.join(reasons)}. Results are not scaled.{_least(fewest)}"
    if fewest is None:
        return "No drive has a result within these limits. Historical drives are left out."
    drives, nodes = units.count(fewest.size.drives), units.count(fewest.size.nodes)
    smallest = f"{drives} x {fewest.name} in {nodes} nodes, limited by {fewest.size.binding}."
    if cheapest is None:
        return f"Fewest drives: {smallest}"
    cost = f"{units.count(cheapest.size.drives)} x {cheapest.name}, {cheapest.price}"
    return f"Fewest drives: {smallest} Cheapest of those with a price: {cost}."


def _least(row: SizingRow | None) -> str:
    """Return the minimum number of drives that capacity and endurance need, as a sentence."""
    least = row.size.least if row else None
    if row is None or least is None:
        return ""
    known = "capacity and endurance" if row.size.needs.endurance is not None else "capacity"
    return (
        f" For {known} alone you need at least {units.count(least.drives)} x {row.name} in {units.count(least.nodes)} "
        f"nodes (limited by {least.binding}); the load may need more."
    )


def sizing_values(row: SizingRow) -> dict[str, Value]:
    """Return a row as it is exported."""
    candidate, found = row.candidate, row.size
    return {
        "product": row.slug,
        "name": row.name,
        "drives": found.drives,
        "nodes": found.nodes,
        "working_drives": found.working_drives,
        "binding": found.binding or UNTESTED,
        "by_throughput": found.needs.throughput,
        "by_capacity": found.needs.capacity,
        "by_endurance": found.needs.endurance,
        "needed_dwpd": row.dwpd or None,
        "rated_dwpd": row.rating or None,
        "tested_tps": number(candidate.offer.tps).replace(",", ""),
        "capacity_gb": candidate.product.capacity_gb,
        "basis": candidate.basis,
        "tier": candidate.tier.word if candidate.tier else "certified",
        "statistic": candidate.run.statistic if candidate.run else WORST_SLICE,
        "price": row.price.replace(",", "") or None,
        "at_least_drives": found.least.drives if found.least else None,
        "at_least_nodes": found.least.nodes if found.least else None,
    }
