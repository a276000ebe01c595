import dataclasses

import pytest

from results.identity import match_product
from results.models import Product
from tests.results.builders import FACTS, make_organisation, send

pytestmark = pytest.mark.django_db

STATED = {"category": "nvme-flash", "vendor": "Exemplar", "model": "EX4", "part_number": "EX4-3T2", "capacity_gb": 3200}


@pytest.fixture
def submission(evidence_dir):
    return send(make_organisation(), b"log")


def test_exactly_the_stated_identity_is_matched(submission):
    product = Product.objects.create(slug="ex4", **STATED)
    assert match_product(submission) == product


@pytest.mark.parametrize(
    ("column", "other"),
    [("category", "m2-flash"), ("vendor", "exemplar"), ("model", "EX4a"), ("part_number", ""), ("capacity_gb", 3201)],
)
def test_one_other_fact_is_another_product(submission, column, other):
    Product.objects.create(slug="ex4", **(STATED | {column: other}))
    assert match_product(submission) is None


def test_an_unstated_capacity_matches_only_a_product_without_one(evidence_dir):
    Product.objects.create(slug="ex4", **STATED)
    facts = dataclasses.replace(FACTS, capacity_gb=None)
    submission = send(make_organisation(), b"log", facts=facts)
    assert match_product(submission) is None
    bare = Product.objects.create(slug="ex4-bare", **(STATED | {"capacity_gb": None}))
    assert match_product(submission) == bare
