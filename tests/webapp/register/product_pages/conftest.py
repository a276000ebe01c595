"""Published results that are ranked: of ACT 6.x, on one drive."""

from decimal import Decimal

import pytest


@pytest.fixture
def make_ranked(make_product, make_published_run):
    """Return a function that makes a drive with a ranked result, by default with a rating of 3 DWPD."""

    def make(tps, over_1ms="4.00", *, product=None, run=None, **fields):
        stated = {"endurance_dwpd": Decimal(3)} | fields
        shares = {1000: over_1ms, 8000: "0.10", 64000: "0.00"}
        ranked = {"tool": "act_storage", "tool_version": "6.6", "tps": Decimal(tps)} | (run or {})
        return make_published_run(shares, product=product or make_product(**stated), **ranked).product

    return make


@pytest.fixture
def context_of(client):
    """Return a function that returns the context of a product's page."""

    def get(product, query=""):
        response = client.get(f"/drive/{product.slug}/{query}")
        assert response.status_code == 200
        return response.context

    return get
