"""Limits of the reader in the links between pages."""

import re

import pytest

pytestmark = pytest.mark.django_db

OWN = "?limit_1ms=7&limit_8ms=0.5"
KEPT = OWN.replace("&", "&amp;")


ALL_LISTS = ["/", "/compare/", "/drives/", "/drives/cloud/", "/drives/historical/", "/sizing/"]


def carrying(response):
    """The addresses of the links that limits go along by, each once."""
    return sorted(set(re.findall(r'href="([^"]*)" data-carries', response.text)))


@pytest.mark.parametrize("path", ["/", "/drives/", "/drives/nvme-flash/", "/drives/historical/", "/sizing/"])
def test_links_to_home_sizing_and_comparison_keep_the_limits_on_every_page_with_limits(client, path):
    plain = carrying(client.get(path))
    assert {"/", "/compare/", "/drives/", "/drives/historical/", "/sizing/"} <= set(plain)
    assert set(carrying(client.get(path + OWN))) == {f"{address}{KEPT}" for address in plain}


def row_links(response):
    """The addresses that the rows of tables lead to."""
    rows = response.text.partition("<tbody")[2].rpartition("</tbody>")[0]
    return re.findall(r'href="(/(?:drive|runs)/[^"]*)"', rows)


@pytest.mark.parametrize("path", ["/drives/", "/drives/nvme-flash/"])
def test_links_of_a_row_keep_the_limits_of_each_request(client, make_published_run, path):
    run = make_published_run()
    address = f"{path}{{}}columns=tps~tier"
    for _ in range(2):
        own, plain = (row_links(client.get(address.format(query))) for query in (f"{OWN}&", "?"))
        assert plain == [f"/drive/{run.product.slug}/", f"/runs/{run.public_id}/"]
        assert own == [f"{link}{KEPT}" for link in plain]


LOAD = "?min_device_tps=400000&amp;limit_1ms=7"


@pytest.mark.parametrize("address", ["/drives/?min_device_tps=400000", "/drives/nvme-flash/?min_tps=400000"])
def test_links_from_a_list_to_a_drive_keep_the_load_and_the_limits(client, make_published_run, address):
    run = make_published_run(tps=500_000)
    response = client.get(f"{address}&limit_1ms=7&columns=tps~tier")
    assert row_links(response) == [f"/drive/{run.product.slug}/{LOAD}", f"/runs/{run.public_id}/?limit_1ms=7"]
    assert response.text.count(f'href="/drive/{run.product.slug}/{LOAD}"') > 1  # also from the chart


def test_links_from_home_to_a_drive_keep_the_load_that_a_reader_entered(client, make_published_run):
    run = make_published_run(tps=500_000)
    drive = f"/drive/{run.product.slug}/"
    assert set(re.findall(r'href="(/drive/[^"]*)"', client.get("/?min_device_tps=400000&limit_1ms=7").text)) == {
        drive + LOAD
    }
    assert set(re.findall(r'href="(/drive/[^"]*)"', client.get("/").text)) == {drive}


def test_links_from_a_drive_to_its_runs_keep_the_limits(client, make_published_run):
    run = make_published_run()
    page = client.get(f"/drive/{run.product.slug}/{OWN}")
    assert page.text.count(f'href="/runs/{run.public_id}/{KEPT}" data-carries') == 2  # by its id and by its tier


def test_links_from_a_drive_to_its_category_keep_the_limits(client, make_published_run):
    product = make_published_run().product
    assert f"/drives/nvme-flash/{KEPT}" in carrying(client.get(f"/drive/{product.slug}/{OWN}"))
    product.historical = True
    product.save()
    assert f"/drives/historical/{KEPT}#nvme-flash" in carrying(client.get(f"/drive/{product.slug}/{OWN}"))


@pytest.mark.parametrize("kind", ["log", "published"])
def test_links_from_a_run_to_its_drive_keep_the_limits(client, make_log_run, make_published_run, kind):
    run = make_log_run() if kind == "log" else make_published_run()
    assert f"/drive/{run.product.slug}/{KEPT}" in carrying(client.get(f"/runs/{run.public_id}/{OWN}"))
    assert f"/drive/{run.product.slug}/" in carrying(client.get(f"/runs/{run.public_id}/"))


def test_links_to_a_comparison_of_a_drive_and_a_run_keep_the_limits(client, make_published_run):
    run = make_published_run()
    more = KEPT.replace("?", "&amp;")
    for path, asked in ((f"/drive/{run.product.slug}/", "drive"), (f"/runs/{run.public_id}/", "run")):
        named = f"/compare/?{asked}={run.product.slug if asked == 'drive' else run.public_id}"
        assert named in carrying(client.get(path))
        assert named + more in carrying(client.get(path + OWN))


def test_the_selection_of_drives_keeps_the_limits(client, make_published_run):
    one, two = make_published_run().product, make_published_run().product
    asked = client.get(f"/compare/{OWN}&drive={one.slug}")
    assert f"/compare/{KEPT}" in carrying(asked)
    assert [f'<input type="hidden" name="{name}"' in asked.text for name in ("limit_1ms", "limit_8ms")] == [True, True]
    assert f'<a href="?drive={one.slug}">Use the profile' in asked.text
    assert "Your limits go along" not in client.get(f"/compare/?drive={one.slug}").text
    slip = client.get(f"/compare/{OWN}&drive={one.slug}&drive={two.slug.upper()}")
    assert (slip.status_code, "limit_1ms=7&limit_8ms=0.5" in slip["Location"]) == (302, True)


def test_links_from_a_comparison_to_home_keep_the_limits(client, make_published_run):
    one, two = make_published_run(), make_published_run()
    address = f"/compare/{OWN}&run={one.public_id}&run={two.public_id}"
    assert f"/{KEPT}" in carrying(client.get(address))


def test_every_linked_address_is_answered(client, make_published_run):
    run = make_published_run()
    for path in (f"/drive/{run.product.slug}/", f"/runs/{run.public_id}/"):
        for address in carrying(client.get(path + OWN)):
            assert client.get(address.replace("&amp;", "&").partition("#")[0]).status_code == 200


@pytest.mark.parametrize("path", ["/explain/", "/ycsb/", "/nines/", "/check/", "/data/", "/nowhere/", "/search/?q=x"])
def test_pages_without_limits_link_to_addresses_without_limits(client, path):
    assert carrying(client.get(path)) == ALL_LISTS
