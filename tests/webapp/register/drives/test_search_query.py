"""Part numbers and capacities in a query of the search over all products."""

import pytest

from tests.webapp.register.pages import read_rows

pytestmark = pytest.mark.django_db
NBSP = "\N{NO-BREAK SPACE}"


def found(client, query):
    response = client.get("/search/", {"q": query})
    assert response.status_code == 200
    return [(row[0], row[1]) for row in read_rows(response)], response.text


@pytest.mark.parametrize(
    ("query", "drive", "capacity"),
    [
        ("MTFDKCC12T8TGH", "Micron 9400 Max", "12.8"), ("Micron_9400_MTFDKCC12T8TGH", "Micron 9400 Max", "12.8"),
        ("MZQLB1T9HAJR", "Samsung PM983", "1.92"), ("INTEL SSDPE2KE064T8", "Intel P4610", "6.4"),
        ("kcm61vul3t20", "Kioxia CM6-v", "3.2"),
    ],
)  # fmt: skip
def test_a_part_number_finds_its_product(client, catalogue, query, drive, capacity):
    rows, text = found(client, query)
    assert rows == [(drive, f"{capacity} TB")]
    assert "Part number " in text


def test_a_part_number_of_another_capacity_shows_the_known_capacities(client, catalogue):
    rows, text = found(client, "SSDPE2KE032T8")
    assert [capacity for _, capacity in rows] == ["1.6 TB", "6.4 TB"]
    assert "The register has only other capacities of this product." in text


def test_a_part_number_of_an_unknown_family_is_recognised_as_one(client, catalogue):
    rows, text = found(client, "MTFDKCC12T8TFS")
    assert {drive.split()[0] for drive, _ in rows} == {"Micron"}  # the drives of its maker
    assert "It has 12 Micron drives: " in text.replace(NBSP, " ")
    assert "MTFDKCC12T8TFS is a part number of Micron that is not in the register." in text


@pytest.mark.parametrize("query", ["3.2 TB", "3.2TB", "3200 GB", "3,2 tb", "3.2"])
def test_a_capacity_does_not_match_digits_of_another(client, catalogue, query):
    rows, text = found(client, query)
    assert len(rows) >= 10
    assert {capacity for _, capacity in rows} == {"3.2 TB"}
    assert f"Searched for 3.2{NBSP}TB within 3 %" in text


def test_a_capacity_can_follow_words(client, catalogue):
    assert [drive for drive, _ in found(client, "intel 6.4 TB")[0]] == ["Intel P4610"]


def test_digits_without_a_unit_or_point_are_words(client, catalogue):
    assert found(client, "9400")[0] == [("Micron 9400 Max", "12.8 TB")]


def test_a_part_number_of_a_product_is_a_word(client, make_product, make_published_run):
    make_published_run(product=make_product(vendor="Exemplar", model="EX9", part_number="SSDPE2KE064T8"))
    rows, text = found(client, "SSDPE2KE064T8")
    assert len(rows) == 1
    assert "Part number " not in text


def test_the_case_of_a_typed_option_does_not_matter_and_the_address_becomes_the_plain_one(client, catalogue):
    response = client.get("/drives/cloud/?provider=AWS")
    assert (response.status_code, response["Location"]) == (302, "/drives/cloud/?provider=aws")
    assert client.get(response["Location"]).status_code == 200
    home = client.get("/?category=NVMe-Flash~Networked")
    assert home.status_code == 200


def test_a_refused_option_names_only_those_of_the_page(client, catalogue):
    text = client.get("/drives/cloud/?provider=aw").text
    assert "aws" in text
    assert "micron" not in text.lower()
