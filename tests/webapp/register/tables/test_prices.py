"""The drives that a reader can enter prices for, and the markup that the browser fills."""

import re
from decimal import Decimal

import pytest

from tests.webapp.register.pages import shown_html
from webapp.register.tables.prices import priced_drives

pytestmark = pytest.mark.django_db


def test_a_price_is_of_one_drive(make_product, make_published_run):
    drive = make_product(capacity_gb=6400, endurance_dwpd=Decimal(3))
    pair = make_published_run(product=drive, tps=Decimal(600_001), device_count=2)
    slower = make_published_run(product=drive, tps=Decimal(100_000))
    (priced,) = priced_drives([pair, slower])
    assert (priced.slug, priced.tps, priced.sustained_tps, priced.capacity_gb) == (drive.slug, 300_001, 216_000, 6400)


@pytest.mark.parametrize("fields", [{"category": "cloud"}, {"category": "networked"}, {"capacity_gb": None}])
def test_instances_systems_and_drives_without_a_capacity_have_no_price(make_product, make_published_run, fields):
    assert priced_drives([make_published_run(product=make_product(**fields))]) == []


def test_a_log_without_a_number_of_devices_has_no_speed_of_one_drive(make_log_run):
    (priced,) = priced_drives([make_log_run(device_count=None)])
    assert priced.tps is None


def test_the_page_of_a_drive_has_hidden_cells_for_its_price(client, make_product, make_published_run):
    drive = make_product(capacity_gb=6400)
    make_published_run(product=drive, tps=Decimal(100_000))
    make_published_run(product=drive, tps=Decimal(300_000))
    text = client.get(f"/drive/{drive.slug}/").text
    (section,) = re.findall(r"<section[^>]*data-prices[^>]*>", text)
    assert section.endswith(" hidden>")
    assert re.findall(r'data-price="([^"]*)" data-shows="([^"]*)"', text) == [
        (drive.slug, shows) for shows in ("field", "per-tps", "per-sustained-tps", "per-tb")
    ]
    assert text.count('data-tps="300000" data-sustained="') == 4


@pytest.mark.parametrize("path", ["/drive/gcp-n2-standard-80/", "/drives/cloud/", "/drives/networked/"])
def test_pages_of_systems_have_no_prices(client, catalogue, path):
    assert "data-prices" not in client.get(path).text


@pytest.mark.parametrize("path", ["/drives/nvme-flash/", "/drives/"])
def test_a_table_of_drives_has_a_column_of_prices_only_on_request(client, catalogue, path):
    response = client.get(path)
    assert 'data-file="/drives/rows.json"' in response.text.split("data-prices")[1].split(">")[0]
    assert "Your price<" not in shown_html(response)
    assert response.text.count("data-price-column") == 1
