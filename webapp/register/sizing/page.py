"""What the sizing page shows: a row for each drive, the fewest and the cheapest, and every step of one of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from results.rules.loads import printed_decimal
from results.rules.sizing import Size, Tested, size, untested
from webapp.register.exports import Value
from webapp.register.sentences import product_name
from webapp.register.sizing.offers import Candidate
from webapp.register.sizing.question import SizingQuestion
from webapp.register.sizing.steps import Step, number, steps
from webapp.templatetags import units

FIELDS = (
    *("product", "name", "drives", "nodes", "working_drives", "binding", "by_throughput", "by_capacity"),
    *("by_endurance", "needed_dwpd", "rated_dwpd", "tested_tps", "capacity_gb", "basis", "tier", "price"),
)
UNTESTED = "untested at this workload"


@dataclass(frozen=True)
class SizingRow:
    """One drive, as text; "" is what cannot be told."""

    candidate: Candidate
    size: Size
    name: str
    drives: str
    nodes: str
    throughput: str
    capacity: str
    endurance: str
    binding: str
    dwpd: str
    rating: str
    price: str
    asked_price: str
    is_over_rating: bool

    @property
    def slug(self) -> str:
        """The product's name in addresses."""
        return self.candidate.product.slug


@dataclass(frozen=True)
class SizingPage:
    """The answer, ready to show."""

    question: SizingQuestion
    untested: Sequence[str]
    rows: Sequence[SizingRow]
    fewest: SizingRow | None
    cheapest: SizingRow | None
    shown: SizingRow | None
    steps: Sequence[Step]
    sentence: str


def sizing_page(question: SizingQuestion, found: Iterable[Candidate], tested: Tested) -> SizingPage:
    """Return the answer for every drive."""
    rows = _sorted([_row(each, question, tested) for each in found], question.sort)
    sized = [row for row in rows if row.size.drives is not None]
    fewest = min(sized, key=_by_drives, default=None)
    cheapest = min((row for row in sized if row.size.price is not None), key=_by_price, default=None)
    asked = next((row for row in rows if row.slug == question.drive), None)
    shown = asked or fewest or next(iter(rows), None)
    reasons = untested(question.demand, tested)
    return SizingPage(
        question,
        reasons,
        rows,
        fewest,
        cheapest,
        shown,
        steps(question.demand, shown.candidate, shown.size, tested) if shown else [],
        _sentence(fewest, cheapest, reasons),
    )


def _row(candidate: Candidate, question: SizingQuestion, tested: Tested) -> SizingRow:
    offer, found = candidate.offer, size(question.demand, candidate.offer, tested)
    needs = found.needs
    return SizingRow(
        candidate,
        found,
        product_name(candidate.product),
        units.count(found.drives),
        units.count(found.nodes),
        units.count(needs.throughput) or UNTESTED,
        units.count(needs.capacity),
        units.count(needs.endurance) or "rating not stated",
        found.binding,
        _dwpd(found.dwpd),
        "" if offer.dwpd is None else number(offer.dwpd),
        "" if found.price is None else f"{round(found.price):,d}",
        "" if offer.price is None else printed_decimal(offer.price, 2),
        is_over_rating=found.dwpd is not None and offer.dwpd is not None and found.dwpd > offer.dwpd,
    )


def _dwpd(dwpd: Fraction | None) -> str:
    """Return a computed rating with three significant digits, as computed figures have."""
    return "" if dwpd is None else number(dwpd)


def _by_drives(row: SizingRow) -> tuple[int, Fraction, str]:
    return row.size.drives or 0, -row.candidate.offer.tps, row.name


def _by_price(row: SizingRow) -> tuple[Fraction, int, str]:
    return row.size.price or Fraction(0), row.size.drives or 0, row.name


def _sorted(rows: Sequence[SizingRow], sort: str) -> list[SizingRow]:
    """Return the rows in the order asked for; what cannot be told comes last."""
    if sort == "name":
        return sorted(rows, key=lambda row: row.name.casefold())
    if sort == "cheapest":
        return sorted(rows, key=lambda row: (row.size.price is None, *_by_price(row)))
    return sorted(rows, key=lambda row: (row.size.drives is None, *_by_drives(row)))


def _sentence(fewest: SizingRow | None, cheapest: SizingRow | None, reasons: Sequence[str]) -> str:
    if reasons:
        return f"Untested at this workload: {'; '.join(reasons)}. No answer is scaled from another."
    if fewest is None:
        return "No current drive holds any load within these limits."
    told = f"{fewest.drives} x {fewest.name} in {fewest.nodes} nodes; {fewest.binding} binds."
    if cheapest is None:
        return f"Fewest drives: {told}"
    return (
        f"Fewest drives: {told} Cheapest of those with a price: {cheapest.drives} x {cheapest.name}, {cheapest.price}."
    )


def sizing_values(page: SizingPage) -> list[dict[str, Value]]:
    """Return the rows as they are exported."""
    return [_values(row) for row in page.rows]


def _values(row: SizingRow) -> dict[str, Value]:
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
        "price": row.price.replace(",", "") or None,
    }
