"""Linked data and citations of a page, and the addresses that never change."""

import json
import re
from datetime import UTC, datetime

import pytest

from results.models import Visibility
from webapp.register.syndication.citations import product_id

pytestmark = pytest.mark.django_db
SITE = "http://127.0.0.1:8000"


def linked_data(answer):
    return json.loads(re.search(r'<script type="application/ld\+json">(.*?)</script>', answer.text)[1])


def test_a_product_is_described_only_by_reported_values(client, make_published_run, make_product):
    product = make_published_run(product=make_product(vendor="Exemplar", model="EX7", endurance_dwpd=3)).product
    told = linked_data(client.get(f"/drive/{product.slug}/"))
    assert told["@id"] == f"{SITE}/drive/{product.slug}/"
    assert told["brand"]["name"] == "Exemplar"
    assert "sku" not in told
    assert {"@type": "PropertyValue", "name": "Endurance", "value": "3", "unitText": "DWPD"} in told[
        "additionalProperty"
    ]


def test_a_name_cannot_end_the_linked_data(client, make_published_run, make_product):
    product = make_published_run(product=make_product(model="</script><script>alert(1)</script>&")).product
    answer = client.get(f"/drive/{product.slug}/")
    assert "<script>alert(1)" not in answer.text
    assert linked_data(answer)["model"] == "</script><script>alert(1)</script>&"


def test_a_page_names_its_canonical_address_under_any_host_name(client, make_published_run):
    run = make_published_run()
    for host in ("localhost", "127.0.0.1"):
        answer = client.get(f"/runs/{run.public_id}/?limit_1ms=3", headers={"host": host})
        assert f'<link rel="canonical" href="{SITE}/runs/{run.public_id}/">' in answer.text


@pytest.mark.parametrize(
    ("query", "printed"),
    [
        ("?limit_1ms=3&vendor=intel~micron", "?limit_1ms=3&amp;vendor=intel~micron"),
        ("?limit_1ms=3&key=secret", "?limit_1ms=3"),
        ("?key=secret", ""),
        ("?q=" + "9" * 448, "?q=" + "9" * 448),
        ("?q=" + "9" * 449, ""),
        ("", ""),
    ],
)
def test_the_printed_address_is_that_of_the_view_without_a_key(client, db, query, printed):
    text = client.get(f"/nowhere/{query}").text
    assert f'<span class="printed-address">{SITE}/nowhere/{printed}</span>' in text


def test_a_citation_has_tier_and_the_shares_with_their_statistic(client, make_published_run):
    run = make_published_run(tps=300_000)
    told = client.get(f"/runs/{run.public_id}/").text
    shares = [f"{share.printed} % over {share.threshold_us // 1000} ms" for share in run.shares.all()]
    assert len(shares) > 1
    slow_reads = f"{', '.join(shares[:-1])} and {shares[-1]} (steady state as published)"
    assert f"300,000 tps; slow reads: {slow_reads}; level of evidence (tier): published." in told
    run.shares.all().delete()
    told = client.get(f"/runs/{run.public_id}/").text
    assert "300,000 tps; slow reads: steady state as published; level of evidence (tier): published." in told
    assert f"{SITE}/id/{run.public_id}" in told


PAGE = "https://aerospike.com/docs/server/operations/plan/ssd/ssd_certification"


@pytest.mark.parametrize(
    ("tester", "figures"),
    [
        ("Aerospike", "Figures by Aerospike, published"),
        ("Intel", "Figures by Intel, published by Aerospike"),
        ("", "Figures published by Aerospike"),
    ],
)
def test_the_citations_of_a_drive_and_its_run_name_the_publication_of_the_headline_figure(
    client, make_published_run, tester, figures
):
    run = make_published_run(tps=300_000, source=tester, catalogue_key="k")
    slower = make_published_run(product=run.product, tps=200_000, source=tester, catalogue_key="l")
    origin = f"level of evidence (tier): published. {figures} at {PAGE} (undated); listed by Drivecert."
    for path, tps in (
        (f"/drive/{run.product.slug}/", "300,000"),
        (f"/drive/{run.product.slug}/?limit_1ms=0", "300,000"),
        (f"/runs/{slower.public_id}/", "200,000"),
    ):
        cited = client.get(path).text.replace("<wbr>", "").split('id="cite"')[1]
        assert f"{tps} tps; slow reads: " in cited
        assert "(steady state as published)" in cited
        assert cited.count(origin) == 1
        assert "listed by Drivecert. State of the data: " in cited.split("<pre ")[1]


def test_the_citation_of_a_result_from_a_log_names_no_publication(client, make_log_run):
    run = make_log_run(tps=300_000, device_count=1)
    for path in (f"/drive/{run.product.slug}/", f"/runs/{run.public_id}/"):
        assert "listed by Drivecert" not in client.get(path).text


def test_the_citation_of_a_drive_without_a_result_has_no_figure(client, make_published_run):
    run = make_published_run(visibility=Visibility.WITHDRAWN)
    assert "tps; slow reads" not in client.get(f"/drive/{run.product.slug}/").text.split('id="cite"')[1]


CLAIM = "/ycsb/claims/micron-7400-brief/mean-improvement-over-thread-counts-d/"


@pytest.mark.parametrize("path", ["/runs/{run}/", "/drive/{drive}/", CLAIM])
def test_each_citation_has_the_day_and_the_year_of_the_data_and_is_the_only_one(client, make_published_run, path):
    run = make_published_run(published_at=datetime(2021, 12, 31, 23, 0, tzinfo=UTC))
    told = client.get(path.format(run=run.public_id, drive=run.product.slug)).text
    today = datetime.now(UTC)
    state = (
        f"State of the data: {today:%-d %B %Y} (UTC). Drivecert, public register of storage drives, {today.year}. <a"
    )
    assert state in told
    assert f"  year = {{{today.year}}}," in told
    assert f"State of the data: {today:%-d %B %Y} (UTC).}}" in told  # the note of BibTeX
    assert "Cite as" not in told
    assert "In a citation, also state the date on which you read this page." in told


def test_a_run_that_is_not_public_is_neither_described_nor_cited(staff_client, make_published_run):
    run = make_published_run(visibility=Visibility.UNREVIEWED)
    told = staff_client.get(f"/runs/{run.public_id}/").text
    assert "ld+json" not in told
    assert "og:title" not in told
    assert "/id/" not in told


def test_an_id_redirects_to_its_page_permanently(client, make_published_run):
    run = make_published_run()
    ids = {run.public_id: f"/runs/{run.public_id}/", product_id(run.product.slug): f"/drive/{run.product.slug}/"}
    for public_id, address in ids.items():
        answer = client.get(f"/id/{public_id}")
        assert (answer.status_code, answer["Location"]) == (301, address)


@pytest.mark.parametrize("public_id", ["r-22222222", "p-22222222", "c-22222222", "s-22222222", "x", "r-"])
def test_an_id_without_public_data_is_not_found(client, db, public_id):
    assert client.get(f"/id/{public_id}").status_code == 404


def test_the_id_of_an_unreviewed_run_is_not_found(client, make_published_run):
    run = make_published_run(visibility=Visibility.UNREVIEWED)
    assert client.get(f"/id/{run.public_id}").status_code == 404
    assert client.get(f"/id/{product_id(run.product.slug)}").status_code == 404


def test_the_id_of_a_product_depends_only_on_its_slug():
    # By hand: int(sha256("exemplar-1")) in base 30, the lowest eight digits first.
    assert product_id("exemplar-1") == product_id("exemplar-1")
    assert len({product_id(f"exemplar-{number}") for number in range(5000)}) == 5000
    assert re.fullmatch("p-[2-9a-hjkmnp-tv-z]{8}", product_id("exemplar-1"))
