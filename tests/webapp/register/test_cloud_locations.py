"""Locations of cloud runs: on the cloud page, on the page of the run, in tables and in exports."""

import csv
import io

import pytest
from django.utils.dateparse import parse_datetime

from results.models import Run
from tests.webapp.register.pages import shown_html
from webapp.register.drives import cloud

pytestmark = pytest.mark.django_db
COLUMNS = "region~zone~backing_device~started_at~firmware"


@pytest.fixture
def instance(make_product):
    return make_product(category="cloud", vendor="AWS", model="i9", capacity_gb=None)


@pytest.fixture
def located(instance, make_published_run):
    at = parse_datetime("2026-11-20T09:12:00Z")
    stated = {"region": "us-east-1", "zone": "us-east-1a", "started_at": at, "backing_device": "PM1733"}
    return make_published_run(product=instance, firmware="FW7", **stated)


def listed(client):
    text = client.get("/drives/cloud/").text
    part = text.split('aria-label="Place and device of runs"')[1].split("</table>")[0]
    return " ".join(part.split())


def test_the_cloud_page_lists_the_location_and_hardware_of_each_run(client, located):
    cells = listed(client)
    for said in (
        "AWS i9",
        located.public_id,
        "us-east-1",
        "us-east-1a",
        "20 November 2026, 09:12 UTC",
        "PM1733",
        "FW7",
    ):
        assert f">{said}<" in cells


def test_a_run_without_a_location_is_not_listed_and_missing_values_are_named(client, instance, make_published_run):
    silent = make_published_run(product=instance)
    assert "Where and on what runs were made" not in shown_html(client.get("/drives/cloud/"))
    some = make_published_run(product=instance, zone="b")
    cells = listed(client)
    assert (some.public_id in cells, silent.public_id in cells, cells.count("not reported")) == (True, False, 4)


def test_regions_and_zones_are_counted(client, located, instance, make_published_run):
    make_published_run(product=instance, region="us-west-2")
    text = client.get("/drives/cloud/").text
    assert "<dt>region</dt><dd>reported by 2 of 2</dd>" in text
    assert "<dt>zone</dt><dd>reported by 1 of 2</dd>" in text


def test_only_the_first_of_very_many_runs_are_listed_and_the_page_states_so(
    client, instance, make_published_run, monkeypatch
):
    monkeypatch.setattr(cloud, "PLACED_MAX", 2)
    for region in ("a", "b", "c"):
        make_published_run(product=instance, region=region)
    assert "The first 2 of 3 runs that report a place or a device." in listed(client)


def test_the_columns_can_be_selected_and_sorted(client, located, instance, make_published_run):
    make_published_run(product=instance, region="eu-west-3", tps=900_000)
    assert "<td" in client.get("/drives/cloud/").text
    assert 'data-column="region"' not in shown_html(client.get("/drives/cloud/"))
    text = client.get(f"/drives/cloud/?columns={COLUMNS}&sort=-region").text
    rows = text.split('id="cloud-table"')[1].split("</table>")[0]
    assert 'data-column="zone"' in rows
    assert rows.index(">us-east-1<") < rows.index(">eu-west-3<")


def test_the_page_links_to_the_table_with_these_columns(client, located):
    text = client.get("/drives/cloud/").text
    address = (
        text.split("Show the columns of places and devices in the table above")[0].rsplit('href="', 1)[1].split('"')[0]
    )
    assert set(COLUMNS.split("~")) <= set(address.removeprefix("?columns=").split("~"))
    shown = client.get(f"/drives/cloud/{address}").text
    assert all(f'data-column="{code}"' in shown for code in [*COLUMNS.split("~"), "tps", "storage", "tier"])


def test_the_page_of_a_cloud_run_has_its_location(client, located):
    text = client.get(f"/runs/{located.public_id}/").text
    assert "<dt>Region</dt><dd>us-east-1</dd><dt>Zone</dt><dd>us-east-1a</dd>" in text
    assert "<dt>Started</dt><dd>20 November 2026, 09:12 UTC</dd>" in text


def test_a_cloud_run_without_a_location_states_so(client, instance, make_published_run):
    text = client.get(f"/runs/{make_published_run(product=instance).public_id}/").text
    assert "<dt>Region</dt><dd>not reported</dd><dt>Zone</dt><dd>not reported</dd>" in text


def test_a_drive_outside_a_cloud_has_no_region(client, make_published_run):
    assert "<dt>Region</dt>" not in client.get(f"/runs/{make_published_run().public_id}/").text


@pytest.mark.parametrize("hostile", ["<b>x</b>", '"><script>alert(1)</script>', "\u202eabc"])
def test_a_location_is_escaped(client, instance, make_published_run, hostile):
    run = make_published_run(product=instance, region=hostile)
    for path in ("/drives/cloud/", f"/drives/cloud/?columns={COLUMNS}", f"/runs/{run.public_id}/"):
        text = client.get(path).text
        assert "<b>x" not in text
        assert "<script>alert" not in text


def test_exports_have_the_location_or_null(client, located, instance, make_published_run):
    make_published_run(product=instance, tps=1)
    first, second = client.get("/drives/cloud/?format=json").json()["rows"]
    assert (first["region"], first["zone"], second["region"]) == ("us-east-1", "us-east-1a", None)
    lines = list(csv.DictReader(io.StringIO(client.get("/drives/cloud/?format=csv").text, newline="")))
    assert [line["zone"] for line in lines] == ["us-east-1a", ""]


def test_comparisons_have_the_location_of_each_run(client, located, instance, make_published_run):
    other = make_published_run(product=instance, region="eu-west-3")
    rows = client.get(f"/compare/?run={located.public_id}&run={other.public_id}&format=json").json()["rows"]
    (region,) = [row for row in rows if row["row"] == "region"]
    assert (region["values"], region["differs"]) == (["us-east-1", "eu-west-3"], True)


def test_the_longest_name_of_a_region_is_not_truncated(make_published_run, instance):
    run = make_published_run(product=instance, region="r" * 60)
    assert Run.objects.get(pk=run.pk).region == "r" * 60
