"""Where the endurance rating of a drive is from, as its pages say it."""

import pytest

pytestmark = pytest.mark.django_db
PRINTED = "Exemplar EX | 3.0 | 300,000 | 0.10% | 0.01% | 0.00% | {} | 6.1 | Aerospike | ||"


@pytest.mark.parametrize(
    ("row", "entered", "origin"),
    [
        (PRINTED.format("3 DWPD"), [], "as printed by Aerospike, not verified"),
        (PRINTED.format("30 DWPD"), [], "from the catalogue, not verified"),
        (PRINTED.format("3 DWPD"), ["endurance_dwpd"], "entered by a reviewer, not verified"),
        (PRINTED.format("3 DWPD"), ["pcie_gen"], "as printed by Aerospike, not verified"),
        ("", [], "from the catalogue, not verified"),
    ],
)
def test_a_rating_has_the_origin_that_the_register_knows(
    client, make_product, make_published_run, row, entered, origin
):
    product = make_product(endurance_dwpd=3, capacity_gb=6400, entered_facts=entered)
    run = make_published_run(product=product, source_row=row, catalogue_key="k")
    for path in (f"/drive/{product.slug}/", f"/runs/{run.public_id}/"):
        text = client.get(path).text.replace("\N{NO-BREAK SPACE}", " ").replace("&nbsp;", " ")
        assert origin in text


def test_a_drive_without_a_rating_has_no_origin(client, make_product, make_published_run):
    run = make_published_run(product=make_product(endurance_dwpd=None, capacity_gb=6400), catalogue_key="k")
    for path in (f"/drive/{run.product.slug}/", f"/runs/{run.public_id}/"):
        assert "not verified" not in client.get(path).text.split("Notes on this table")[0]


@pytest.mark.parametrize("path", ["/", "/drives/", "/explain/", "/explain/glossary/", "/drive/{}/", "/sizing/"])
def test_no_page_names_a_data_sheet_because_none_is_on_file(client, catalogue, path):
    assert "data sheet" not in client.get(path.format("intel-p5510-7680gb")).text
