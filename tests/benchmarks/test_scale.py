"""Lists at two sizes of a register: they need as many statements and rows at the larger one."""

import pytest
import scale
from generated_register import fill

from results.models import ListingChange, Organisation, Run
from webapp.accounts.models import Membership, User

# Runs, products and hosts: more than a page of each. Lists may grow by a page, as the review queue has less than one.
SMALLER, LARGER = (1100, 110, 110), (2200, 220, 220)
ROWS_A_PAGE = 100
BOUNDED = (
    "/drives/?min_tps={n}", "/drives/nvme-flash/?limit_1ms=3.{n}", "/drives/?q=pm{n}", "/search/?q=PM{n}", "/feed.atom",
    "/drives/nvme-flash/feed.atom", "/drive/{product}/feed.atom", "/news/", "/news/feed.atom", "/about/",
    "/sitemap.xml",
    "/sizing/?reads={n}000&writes={n}000&data={n}", "/sizing/?limit_1ms=3.{n}",
    "/api/v1/sizing/?reads={n}000&writes={n}000&data={n}",
    "/api/v1/news/", "/drives/rows.json", "/", "/drives/", "/runs/{run}/", "/submissions/review/",
    "/api/v1/runs/", "/api/v1/products/", "/api/v1/figures/?min_tps={n}", "/api/v1/landscape/?min_tps={n}",
    "/api/v1/submissions/", "/api/v1/lab/hosts/", "/api/v1/lab/devices/", "/api/v1/lab/dispatches/", "/submissions/",
    "/lab/", "/lab/drives/", "/lab/calendar/", "/api/v1/lab/drives/", "/api/v1/lab/calendar/",
)  # fmt: skip


@pytest.fixture
def site(db):
    """Staff of a lab, before any rows are added."""
    lab = Organisation.objects.create(slug="lab", name="Lab", kind="lab", confirmed_at="2026-01-01T00:00Z")
    Membership.objects.create(user=User.objects.create_superuser("sam"), organisation=lab, role="owner")


def costs():
    """Return the statements and rows of each address."""
    site = scale.Site()
    found = {}
    for pattern, client in scale.addresses():
        if pattern not in BOUNDED:
            continue
        site.prepare()
        site.get(pattern, client)  # fills caches of the process
        with scale.counted_rows() as rows:
            site.get(pattern, client)
        found[pattern] = len(rows), sum(rows)
    return found


def test_a_page_of_staff_that_asks_for_a_sign_in_is_no_measurement(site):
    fill(100, 20, 3)
    measured = scale.Site()
    assert measured.get("/takedowns/", "staff")
    with pytest.raises(RuntimeError, match="status 200 of /accounts/login/"):
        measured.get("/lab/", "visitor")


def test_sizing_after_a_change_reads_only_the_run_that_changed(site):
    fill(100, 20, 3)
    measured = scale.Site()
    measured.get(scale.SIZING)
    with scale.counted_rows() as warm:
        measured.get(scale.SIZING)
    assert Run.objects.listed().rated().count() > 50
    assert sum(warm) < scale.sizing_after_a_change(measured)["rows"] <= sum(warm) + ListingChange.objects.count() + 20


def test_lists_need_no_more_statements_or_rows_in_a_larger_register(site):
    fill(*SMALLER)
    smaller = costs()
    fill(*LARGER)
    larger = costs()
    grown = {
        pattern: (smaller[pattern], cost)
        for pattern, cost in larger.items()
        if cost[0] > smaller[pattern][0] or cost[1] > smaller[pattern][1] + ROWS_A_PAGE
    }
    assert smaller.keys() == set(BOUNDED)
    assert grown == {}
