"""Lists at two sizes of a register: they need as many statements and rows at the larger one."""

import pytest

from benchmarks import scale
from benchmarks.generated_register import fill
from results.models import Organisation
from webapp.accounts.models import Membership, User

# A list that is longer than a page at the smaller size.
SMALLER, LARGER = (240, 60, 30), (480, 120, 60)


@pytest.fixture
def site(db):
    """Staff of a lab, before any rows are added."""
    lab = Organisation.objects.create(slug="lab", name="Lab", kind="lab", confirmed_at="2026-01-01T00:00Z")
    Membership.objects.create(user=User.objects.create_superuser("sam"), organisation=lab, role="owner")


def costs():
    """Return the statements and rows of each address."""
    site = scale.Site()
    found = {}
    for pattern, client in site.addresses():
        site.get(pattern, client)  # fills caches of the process
        with scale.counted_rows() as rows:
            site.get(pattern, client)
        found[pattern] = len(rows), sum(rows)
    return found


def test_no_list_needs_more_statements_or_rows_in_a_larger_register(site):
    fill(*SMALLER)
    smaller = costs()
    fill(*LARGER)
    larger = costs()
    grown = {
        pattern: (smaller[pattern], cost)
        for pattern, cost in larger.items()
        if any(now > before for now, before in zip(cost, smaller[pattern], strict=True))
    }
    assert grown == {}
