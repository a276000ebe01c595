"""Ranking of drives by the speed of one device; systems are ranked as a whole."""

import re
from decimal import Decimal
from fractions import Fraction

import pytest
from django.conf import settings

from results.models import Run
from results.models.categories import SYSTEMS
from tests.webapp.register.pages import read_rows
from webapp.register.limits.profile import current_limits
from webapp.register.limits.reader_limits import read_limits
from webapp.register.sizing.candidates import candidates
from webapp.register.tables.columns import ranked_tps

pytestmark = pytest.mark.django_db


@pytest.fixture
def four_and_one(make_product, make_published_run):
    """A drive's run on four devices with the greater sum, and its run on one device that is faster."""
    product = make_product(model="EX7", capacity_gb=1600)
    four = make_published_run(product=product, tps=400_000, device_count=4)
    return four, make_published_run(product=product, tps=150_000, device_count=1)


def test_the_sentences_name_the_faster_device(client, four_and_one):
    product = four_and_one[0].product
    for path in ("/drives/nvme-flash/", f"/drive/{product.slug}/"):
        text = client.get(path).text.replace("\N{NO-BREAK SPACE}", " ")
        assert "Exemplar EX7 1.6 TB at 150,000 tps." in text, path
    assert [row[1] for row in read_rows(client.get("/?min_device_tps=0"))] == ["150,000", "100,000"]
    found = client.get("/search/?q=EX7").text
    assert "150,000" in found
    assert "400,000" not in found


def test_a_speed_of_several_devices_is_marked(client, make_product, make_published_run):
    product = make_product(model="EX7", capacity_gb=1600)
    make_published_run(product=product, tps=400_000, device_count=4)
    for path in ("/drives/nvme-flash/", f"/drive/{product.slug}/"):
        assert "at 400,000 tps, 4 devices together." in client.get(path).text, path
    assert [row[1] for row in read_rows(client.get("/?min_device_tps=0"))] == ["100,000"]


def test_the_number_of_devices_is_shown_wherever_their_speed_is(client, make_product, make_published_run):
    run = make_published_run(product=make_product(model="EX7", capacity_gb=1600), tps=400_000, device_count=4)
    text = client.get(f"/runs/{run.public_id}/").text.replace("\N{NO-BREAK SPACE}", " ")
    for text_of_speed in (
        "400,000 tps, 4 devices together; ",
        "was tested at 400,000 tps, 4 devices together; duration 24 h (assumed",
    ):
        assert text_of_speed in text
    assert "400,000 tps, 4 devices together" in client.get(f"/drive/{run.product.slug}/badge.svg").text
    assert "as published, 4 devices together" in client.get("/search/?q=EX7").text


def test_the_badge_shows_the_faster_device(client, four_and_one):
    text = client.get(f"/drive/{four_and_one[0].product.slug}/badge.svg").text
    assert "150,000" in text
    assert "400,000" not in text


def test_the_browser_treats_the_same_categories_as_a_whole():
    script = (settings.BASE_DIR / "static/js/drives/column-store.js").read_text()
    (text_of_speed,) = re.findall(r"const SYSTEMS = new Set\(\[(.*?)\]\)", script)
    assert set(re.findall(r"'(.*?)'", text_of_speed)) == SYSTEMS


def test_the_capacities_of_a_model_are_ranked_by_device_too(client, four_and_one, make_product, make_published_run):
    make_published_run(product=make_product(model="EX7", capacity_gb=3200), tps=100_000)
    page = client.get(f"/drive/{four_and_one[0].product.slug}/").text
    table = page.split('id="capacities"')[1].split("</table>")[0]
    assert "150,000" in table
    assert "400,000" not in table


def test_a_cluster_is_sized_with_the_faster_device(four_and_one):
    (found,) = candidates(read_limits({}, current_limits()), {})
    assert (found.run.public_id, found.offer.tps) == (four_and_one[1].public_id, 150_000)


def test_an_instance_counts_as_a_whole(client, make_product, make_published_run):
    product = make_product(category="cloud", vendor="AWS", model="i9", capacity_gb=None)
    make_published_run(product=product, tps=200_000, device_count=2, device_gb=900)
    make_published_run(product=product, tps=150_000, device_count=1, device_gb=900)
    assert "at 200,000 tps." in client.get(f"/drive/{product.slug}/").text
    text = client.get("/drives/cloud/").text.replace("\N{NO-BREAK SPACE}", " ")
    best = text.split('<table class="narrow stacked providers"')[1].split("</table>")[0]
    assert "<b>150,000</b>" in best
    assert "200,000" not in best
    assert "2 results, ranked: " in text


@pytest.mark.parametrize(
    ("stated", "ranked"),
    [
        ({"device_count": 4}, 100), ({"device_count": 1}, 400), ({"device_count": None}, 400),
        ({"device_count": None, "statistic": "worst-slice"}, None), ({"device_count": 4, "category": "cloud"}, 400),
        ({"device_count": 4, "category": "networked"}, 400), ({"device_count": None, "category": "networked"}, 400),
    ],
)  # fmt: skip
def test_queries_and_rows_have_the_same_ranking(make_product, make_published_run, stated, ranked):
    product = make_product(category=stated.pop("category", "nvme-flash"))
    run = make_published_run(product=product, tps=Decimal(400), **stated)
    assert Run.objects.with_ranked_tps().get(pk=run.pk).ranked_tps == ranked
    assert ranked_tps(run) == Fraction(ranked or 0)
