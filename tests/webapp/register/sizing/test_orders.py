"""The rows of a page are computed for the shown candidates only; the result is that of computing and sorting all."""

import random
from dataclasses import replace
from fractions import Fraction

import pytest

from results.rules import sizing
from results.rules.act.comparison_groups import ComparisonGroup, ReadTime
from results.rules.capacity import capacity_bound
from results.rules.sizing import Mix
from tests.results.rules.test_sizing import DEMAND, PROFILE, TB, offer_of
from webapp.register.limits.reader_limits import YourLimits
from webapp.register.sizing import page
from webapp.register.sizing.candidates import Candidate, Candidates, SizedProduct, SizedRun
from webapp.register.sizing.page import SizingRow, sizing_page
from webapp.register.sizing.query import Restrictions, SizingQuestion
from webapp.register.tables.makers import vendor_slug

pytestmark = pytest.mark.django_db
GROUPS = [ComparisonGroup(ReadTime.SERVICE, "worst-slice", False, 1), ComparisonGroup(None, "overall", False, None)]
PRICES = {f"drive-{number}": Fraction(100 + number % 3) for number in range(0, 150, 7)}


def drawn_candidates(count=150):
    """Return candidates with many equal speeds, capacities and names."""
    draw = random.Random(3)  # noqa: S311 - cases, no secret
    found = []
    for number in range(count):
        dwpd = draw.choice((None, Fraction(1), Fraction(3)))
        product = SizedProduct(f"drive-{number}", draw.choice(("Intel", "Micron")))
        offer = offer_of(draw.choice((90_000, 300_000, 1_000_000)), draw.choice((1, 4, 8)) * TB, dwpd)
        run = SizedRun(f"r-{number}", "worst-slice", None, is_mix_reported=False)
        name = draw.choice(("PM1", "pm1", "CM2"))
        found.append(Candidate(product.slug, name, product, run, offer, f"run r-{number}", None, draw.choice(GROUPS)))
    return found


def by_drives(row):
    drives = row.size.least.drives if row.size.least else row.size.drives
    return row.is_unrated, drives, -row.candidate.offer.tps, row.key


def by_price(row):
    return row.size.price is None, row.size.price or Fraction(0), row.size.drives or 0, row.key


ORDERS = {"fewest": by_drives, "name": lambda row: row.name.casefold(), "cheapest": by_price}


def is_allowed(row, restrictions):
    capacity, margin = row.candidate.offer.capacity_bytes, row.size.margin
    least, most = restrictions.least_bytes, restrictions.most_bytes
    is_margin_enough = restrictions.least_margin is None or row.size.mix is Mix.UNTESTED or (
        margin is not None and margin >= restrictions.least_margin
    )  # fmt: skip
    return (
        restrictions.vendor in {"", vendor_slug(row.candidate.product.vendor)}
        and (least is None or capacity >= capacity_bound(least, is_least=True))
        and (most is None or capacity <= capacity_bound(most, is_least=False))
        and is_margin_enough
    )


@pytest.mark.parametrize("sort", ORDERS)
@pytest.mark.parametrize("object_bytes", [1536, 4096], ids=["tested", "untested"])
@pytest.mark.parametrize("prices", [{}, PRICES], ids=["no prices", "prices"])
@pytest.mark.parametrize(
    "restrictions",
    [
        Restrictions(),
        Restrictions(vendor="intel"),
        Restrictions(least_bytes=Fraction(2 * TB), most_bytes=Fraction(4 * TB)),
        Restrictions(least_margin=Fraction(1, 4)),
    ],
    ids=["all", "vendor", "capacity", "margin"],
)
def test_the_page_is_that_of_all_rows_sorted(monkeypatch, sort, object_bytes, prices, restrictions):
    monkeypatch.setattr(page, "SHOWN_ROWS", 40)
    every = drawn_candidates()
    demand = replace(DEMAND, object_bytes=object_bytes)
    question = SizingQuestion(demand, YourLimits(), prices, "", sort, "html", restrictions=restrictions)
    found = sizing_page(question, Candidates(every).priced(prices), PROFILE)
    priced = [
        replace(each, offer=replace(each.offer, price=prices.get(each.product.slug))) for each in every
    ]  # fmt: skip
    rows = [SizingRow(each, sizing.size(demand, each.offer, PROFILE), demand) for each in priced]
    allowed = [row for row in rows if is_allowed(row, restrictions)]
    ordered = sorted(allowed, key=ORDERS[sort])
    by_group = [[row for row in ordered if row.candidate.group == group] for group in GROUPS]
    assert found["rows"] == [row for group in by_group for row in group][:40]
    assert found["hidden"] == len(rows) - len(allowed)
    assert found["shown"] == min(by_group[0], key=by_drives)
    tied = [row for row in by_group[0] if by_drives(row)[:2] == by_drives(found["shown"])[:2]]
    if object_bytes == 1536 and len(tied) > 6:
        assert f"and {len(tied) - 6} more" in found["sentence"]
    has_price = [row for row in by_group[0] if row.size.price is not None]
    if has_price:
        cheapest = min(has_price, key=lambda row: (row.is_unrated, *by_price(row)))
        assert f"Cheapest of those with a price: {cheapest.size.drives} x {cheapest.name}" in found["sentence"]
