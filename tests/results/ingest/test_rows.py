import dataclasses

import pytest

from results.ingest.rows import match_product
from results.lifecycle.review import create_product
from results.models import Product
from tests.results.builders import FACTS, make_organisation, make_user, send
from tests.results.rows import make_run

pytestmark = pytest.mark.django_db

STATED = {"category": "nvme-flash", "vendor": "Exemplar", "model": "EX4", "part_number": "EX4-3T2", "capacity_gb": 3200}


@pytest.fixture
def submission(evidence_dir):
    return send(make_organisation(), b"log")


def enter(slug="ex4", **stated):
    """Enter a product that is public."""
    product = Product.objects.create(slug=slug, **STATED | stated)
    make_run(product)
    return product


def test_exactly_the_stated_identity_is_matched(submission):
    product = enter()
    assert match_product(submission) == product


@pytest.mark.parametrize(
    ("column", "other"),
    [("category", "m2-flash"), ("vendor", "exemplar"), ("model", "EX4a"), ("part_number", ""), ("capacity_gb", 3201)],
)
def test_a_different_fact_is_a_different_product(submission, column, other):
    enter(**{column: other})
    assert match_product(submission) is None


def test_an_unstated_capacity_matches_only_a_product_without_one(evidence_dir):
    enter()
    facts = dataclasses.replace(FACTS, capacity_gb=None)
    submission = send(make_organisation(), b"log", facts=facts)
    assert match_product(submission) is None
    bare = enter("ex4-bare", capacity_gb=None)
    assert match_product(submission) == bare


def test_an_unpublished_product_is_matched_only_for_its_own_organisation(evidence_dir):
    own, rita = make_organisation(), make_user("rita", is_reviewer=True)
    product = create_product(send(own, b"first"), rita)
    run = make_run(product, visibility="embargoed")
    stranger = send(make_organisation("other"), b"theirs")
    assert (match_product(send(own, b"second")), match_product(stranger)) == (product, None)
    assert create_product(stranger, rita) == product  # a reviewer can see it, so no second product gets its identity
    assert Product.objects.count() == 1
    third = send(make_organisation("third"), b"a third one's")
    assert match_product(third) is None
    type(run).objects.update(visibility="public", predates_approvals=True)
    assert match_product(third) == product
