from datetime import date
from decimal import Decimal

import pytest

from results.catalogue.importer import import_catalogue
from results.errors import ReviewRefusedError
from results.history import for_everyone
from results.models import Event, Product, Run
from results.products.changes import ProductChangedError
from results.products.facts import StatedPrice, add_price, change_facts, current_prices, remove_price
from tests.results.rows import make_run

pytestmark = pytest.mark.django_db
PRICE = StatedPrice(Decimal("499.00"), "USD", date(2026, 5, 1), "https://example.org/prices")


def test_a_change_is_an_event_with_both_values_and_the_source(product, rita):
    make_run(product)
    stated = {"endurance_dwpd": Decimal("3.00"), "form_factor": "U.2", "historical": False}
    event = change_facts(product, stated, rita, "data sheet 2026-03", version=0)
    assert (event.kind, event.subject_id, event.reason) == ("product-facts-changed", product.slug, "data sheet 2026-03")
    assert event.details["changes"] == {"endurance_dwpd": [None, "3"], "form_factor": [None, "U.2"]}
    assert Product.objects.get(pk=product.pk).form_factor == "U.2"


def test_of_two_editors_the_second_is_refused(product, rita):
    change_facts(product, {"pcie_gen": "4"}, rita, "data sheet", version=0)
    with pytest.raises(ProductChangedError, match="expected version 0, found 1"):
        change_facts(product, {"pcie_gen": "5"}, rita, "data sheet", version=0)
    assert Product.objects.get(pk=product.pk).pcie_gen == "4"


@pytest.mark.parametrize(("facts", "reason", "words"), [
    ({"pcie_gen": ""}, "source", "already has these facts"),
    ({"pcie_gen": "5"}, " ", "A reason or source is needed"),
])  # fmt: skip
def test_no_change_and_no_reason_are_refused(product, rita, facts, reason, words):
    with pytest.raises(ReviewRefusedError, match=words):
        change_facts(product, facts, rita, reason)
    assert not Event.objects.exists()


def test_an_import_leaves_entered_facts_and_changes_the_others(rita):
    import_catalogue()
    product = Run.objects.current().filter(product__endurance_dwpd=3).first().product
    change_facts(product, {"endurance_dwpd": Decimal(1)}, rita, "newer data sheet")
    Product.objects.filter(pk=product.pk).update(pcie_gen="99")
    import_catalogue()
    after = Product.objects.get(pk=product.pk)
    assert (after.endurance_dwpd, after.pcie_gen) == (1, product.pcie_gen)


def test_a_price_has_one_value_per_date_and_currency_until_it_is_removed(product, rita):
    row = add_price(product, PRICE, rita)
    with pytest.raises(ReviewRefusedError, match=r"already has a list price of 2026-05-01 in USD: 499\.00"):
        add_price(product, PRICE, rita)
    remove_price(row, rita, "of another drive")
    with pytest.raises(ReviewRefusedError, match="removed already"):
        remove_price(row, rita, "again")
    add_price(product, PRICE, rita)
    assert [price.amount for price in current_prices(product)] == [Decimal("499.00")]
    kinds = ["product-price-added", "product-price-removed", "product-price-added"]
    assert [event.kind for event in Event.objects.all()] == kinds


def test_changes_before_the_first_public_run_are_for_reviewers_only(product, rita):
    run = make_run(product, visibility="unreviewed")
    change_facts(product, {"pcie_gen": "4"}, rita, "data sheet")
    Run.objects.filter(pk=run.pk).update(visibility="public")
    change_facts(product, {"pcie_gen": "5"}, rita, "data sheet")
    assert [event.details["changes"]["pcie_gen"] for event in for_everyone(Event.objects.all())] == [["4", "5"]]
