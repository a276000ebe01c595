"""Public ids and product slugs."""

import re

import pytest

from results.models.ids import ALPHABET, new_link_key, new_product_slug, new_run_id


def test_an_id_has_its_prefix_and_eight_letters():
    assert re.fullmatch(rf"r-[{ALPHABET}]{{8}}", new_run_id())


def test_easily_misread_letters_are_not_used():
    assert not set("0oO1iIlLuU") & set(ALPHABET)


def test_link_keys_differ():
    assert len({new_link_key() for _ in range(100)}) == 100


@pytest.mark.parametrize(
    ("vendor", "model", "capacity_gb", "slug"),
    [
        ("SanDisk", "DC SN861", 6400, "sandisk-dc-sn861-6400gb"),
        ("AWS", "m3.xlarge (HVM)", None, "aws-m3-xlarge-hvm"),
        ("<b>", "Zoë/..", None, "b-zoe"),
        ("東芝", "東芝", None, "product"),
    ],
)
def test_a_slug_is_readable(vendor, model, capacity_gb, slug):
    assert new_product_slug(vendor, model, capacity_gb, set()) == slug


def test_a_taken_slug_gets_the_next_number():
    assert new_product_slug("A", "B", None, {"a-b", "a-b-2"}) == "a-b-3"


def test_a_long_name_fits_its_column():
    assert len(new_product_slug("v" * 200, "m", 1, {"v" * 110})) == 112
