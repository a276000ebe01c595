import csv

import pytest

from results.catalogue.importer import PUBLISHED_CATALOGUE, import_catalogue
from results.errors import ReviewRefusedError
from results.models import Event, Product, ProductAddress
from results.naming.addresses import all_slugs, free_slug, product_by_former_slug
from results.naming.aliases import IDENTITY, aliased_product
from results.products.renaming import rename
from tests.results.rows import make_product

pytestmark = pytest.mark.django_db


def identity_of(product, **changes):
    return {name: getattr(product, name) for name in IDENTITY} | changes


def test_the_former_slug_and_name_keep_their_meaning(product, rita):
    former = identity_of(product)
    event = rename(product, identity_of(product, model="EX5"), rita, "the maker renamed it")
    renamed = Product.objects.get(pk=product.pk)
    assert renamed.slug == "exemplar-ex5-960gb"
    assert product_by_former_slug(product.slug) == renamed
    assert aliased_product(former) == renamed
    assert event.details["changes"] == {"model": ["EX4", "EX5"]}
    assert event.details["slugs"] == [product.slug, renamed.slug]


def test_renaming_back_gives_the_former_slug_again(rita):
    product = make_product(slug="exemplar-ex4-960gb", capacity_gb=960)
    former = identity_of(product)
    rename(product, identity_of(product, model="EX5"), rita, "renamed")
    rename(product, former, rita, "a mistake")
    product.refresh_from_db()
    assert product.slug == "exemplar-ex4-960gb"
    assert all_slugs(product) == ["exemplar-ex4-960gb", "exemplar-ex5-960gb"]
    assert aliased_product(former) is None


def test_no_product_gets_a_former_slug_of_another_one(rita):
    product = make_product(slug="exemplar-ex4-960gb", capacity_gb=960)
    rename(product, identity_of(product, model="EX5"), rita, "renamed")
    assert free_slug("Exemplar", "EX4", 960) == "exemplar-ex4-960gb-2"
    assert ProductAddress.objects.get().slug == "exemplar-ex4-960gb"


def test_a_part_number_alone_does_not_change_the_slug(product, rita):
    rename(product, identity_of(product, part_number="EX4-960"), rita, "data sheet")
    assert Product.objects.get(pk=product.pk).slug == product.slug
    assert not ProductAddress.objects.exists()


def test_the_name_of_another_product_is_refused(product, rita):
    other = make_product(model="EX5", capacity_gb=960)
    with pytest.raises(ReviewRefusedError, match=f"Another product has this name: {other.slug}"):
        rename(product, identity_of(product, model="EX5"), rita, "renamed")
    with pytest.raises(ReviewRefusedError, match="already has this name"):
        rename(product, identity_of(product), rita, "renamed")
    assert not Event.objects.exists()


def test_an_import_of_the_catalogue_finds_a_renamed_product(rita):
    import_catalogue()
    with PUBLISHED_CATALOGUE.open(newline="") as file:
        row = next(row for row in csv.DictReader(file) if row["model"])
    product = Product.objects.filter(vendor=row["vendor"], model=row["model"]).first()
    rename(product, identity_of(product, model="Another"), rita, "renamed")
    count = Product.objects.count()
    assert import_catalogue().added == []
    assert Product.objects.count() == count
    assert Product.objects.get(pk=product.pk).model == "Another"
