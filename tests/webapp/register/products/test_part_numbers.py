"""Part numbers as drives report them: maker, family and capacity, compared with data sheets."""

import csv

import pytest
from django.core.cache import cache

from results.models import Product
from webapp.register.products.part_numbers import RULES, part_of

# Model strings as `nvme list` and smartctl print them, and the names of the products.
REPORTED = [
    ("Micron_9400_MTFDKCC12T8TGH", "Micron 9400 Max", 12_800),
    ("MTFDKCC30T7TGH-1BC1ZABYY", "Micron 9400 Pro", 30_700),
    ("Micron_9300_MTFDHAL3T2TDR", "Micron 9300 Max", 3_200),
    ("Micron_9200_MTFDHAL1T6TCU", "Micron 9200 Max", 1_600),
    ("Micron_5300_MTFDDAK7T6TDS", "Micron 5300 Pro", 7_600),
    ("Micron_5300_MTFDDAK480TDS", "Micron 5300 Pro", 480),
    ("SAMSUNG MZQLB1T9HAJR-00007", "Samsung PM983", 1_900),
    ("SAMSUNG MZQLB960HAJR-00003", "Samsung PM983", 960),
    ("INTEL SSDPE2KE064T8", "Intel P4610", 6_400),
    ("INTEL SSDPE2KE016T8K", "Intel P4610", 1_600),
    ("intel ssdpe2kx010t8", "Intel P4510", 1_000),
    ("INTEL SSDPF2KX076TZO", "Intel P5510", 7_600),
    ("INTEL SSDPF21Q016TB", "Intel P5800X", 1_600),
    ("INTEL SSDPF21Q800GB", "Intel P5800X", 800),
    ("INTEL SSDPE21K375GA", "Intel P4800X", 375),
    ("KCM61VUL3T20", "Kioxia CM6-V", 3_200),
    ("KIOXIA KCMYXVUG6T40", "Kioxia CM7-V", 6_400),
    ("KCM6XVUL1T60", "Kioxia CM6-V", 1_600),
    ("KCM51VUG800G", "Toshiba CM5", 800),
    ("WUS4C6432DSP3X3", "Western Digital Ultrastar DC SN840", 3_200),
    ("WUS4BB076D7P3E3", "Western Digital Ultrastar DC SN640", 7_600),
    ("WUS5EA1A1ESP7E3", "Western Digital Ultrastar DC SN655", 15_360),
    ("HUSMR7632BDP301", "Western Digital Ultrastar DC SN200", 3_200),
]
MAKER_ALONE = [
    ("Micron_7450_MTFDKCC12T8TFS", "Micron"), ("SAMSUNG MZQL23T8HCLS-00A07", "Samsung"),
    ("INTEL SSDPF2KX038T1", "Intel"), ("INTEL SSDPE2KE016T7", "Intel"), ("KCD61LUL3T84", "Kioxia"),
    ("WUS4BB096D7P3E3", "Western Digital"), ("MTFDKCC7T7TGH", "Micron"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "name", "capacity_gb"), REPORTED, ids=[text for text, _, _ in REPORTED])
def test_a_reported_part_number_gives_family_and_capacity(text, name, capacity_gb):
    part = part_of(text)
    assert (part.name, part.capacity_gb) == (name, capacity_gb)


@pytest.mark.parametrize(("text", "vendor"), MAKER_ALONE)
def test_another_family_of_the_maker_is_not_recognised_as_a_known_one(text, vendor):
    part = part_of(text)
    assert (part.vendor, part.model, part.capacity_gb) == (vendor, "", None)


@pytest.mark.parametrize(
    "text", ["", "SN840", "XSSDPE2KE064T8", "Micron 9400 Max", "MZ", "WDC P100", "\N{ARABIC-INDIC DIGIT ONE}"]
)
def test_text_that_is_not_a_part_number_is_not_recognised(text):
    assert part_of(text) is None


def test_every_rule_matches_its_own_example():
    with RULES.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) > 30
    for row in rows:
        part = part_of(row["example"])
        assert (part.vendor, part.model) == (row["vendor"], row["model"])
        assert part.capacity_gb == (float(row["example_gb"]) if row["example_gb"] else None)


def ask(client, *lines):
    response = client.post(
        "/check/answer/", {"list": "\n".join(["model,capacity_gb", *lines]), "format": "json"}
    ).json()
    return response["rows"]


# The output of `nvme list` for drives of the published table, and the product in that table.
FLEET = [
    ("Micron_9400_MTFDKCC12T8TGH,12802", "micron-9400-max-12800gb"),
    ("SAMSUNG MZQLB1T9HAJR-00007,1920.4", "samsung-pm983-1920gb"),
    ("INTEL SSDPE2KE064T8,6401", "intel-p4610-6400gb"),
    ("INTEL SSDPE2KE016T8,", "intel-p4610-1600gb"),
    ("KCM61VUL3T20,3201", "kioxia-cm6-v-3200gb"),
    ("WUS4C6432DSP3X3,3201", "western-digital-ultrastar-dc-sn840-3200gb"),
    ("INTEL SSDPF2KX076TZ,7682", "intel-p5510-7680gb"),
    ("Micron_5300_MTFDDAK7T6TDS,7681", "micron-5300-pro-7600gb"),
]


@pytest.mark.django_db
def test_a_fleet_is_found_by_reported_part_numbers(client, catalogue):
    rows = ask(client, *(line for line, _ in FLEET))
    assert [row["products"] for row in rows] == [slug for _, slug in FLEET]
    assert {(row["state"], row["matched_by"]) for row in rows} == {("published", "part-number")}
    assert "Its part number KCM61VUL3T20 is that of Kioxia CM6-V, 3.2\N{NO-BREAK SPACE}TB." in rows[4]["sentence"]
    assert "is that of Intel P5510, 7.68\N{NO-BREAK SPACE}TB." in rows[6]["sentence"]  # its number has 076


@pytest.mark.django_db
def test_a_known_part_number_without_results_is_named_with_the_nearest(client, catalogue):
    (row,) = ask(client, "INTEL SSDPE2KE032T8,3200")
    assert (row["state"], row["products"], row["matched_by"]) == ("other-capacity", None, None)
    assert "is that of Intel P4610, 3.2\N{NO-BREAK SPACE}TB, which the register does not have." in row["sentence"]
    assert row["nearest"] == "intel-p4610-1600gb intel-p4610-6400gb"


@pytest.mark.django_db
def test_an_unknown_part_number_is_not_recognised_and_not_called_nonexistent(client, catalogue):
    rows = ask(client, "Micron_7450_MTFDKCC12T8TFS,12800", "NOBODY XY123456,960", "Intel P4611,1600")
    assert rows[0]["sentence"].startswith("The register does not have the part number MTFDKCC12T8TFS of Micron.")
    assert rows[0]["nearest"].split()[0] == "micron-9400-max-12800gb"
    assert rows[1]["sentence"] == "The register does not have this model or part number."
    assert "intel-p4610-1600gb" in rows[2]["nearest"].split()
    assert not any("No product" in row["sentence"] for row in rows)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("capacity", "state"), [("6400", "published"), ("5889", "published"), ("5887", "unknown"), ("3200", "unknown")]
)
def test_a_capacity_that_contradicts_the_part_number_does_not_match(client, catalogue, capacity, state):
    (row,) = ask(client, f"INTEL SSDPE2KE064T8,{capacity}")
    assert row["state"] == state
    if state == "unknown":
        assert "but the list has" in row["sentence"]


@pytest.mark.django_db
def test_a_part_number_of_a_product_precedes_the_grammar_of_the_maker(client, make_product, make_published_run):
    product = make_product(vendor="Exemplar", model="EX9", part_number="SSDPE2KE064T8", capacity_gb=960)
    make_published_run(product=product)
    (row,) = ask(client, "SSDPE2KE064T8,960")
    assert (row["products"], row["matched_by"]) == (product.slug, "part-number")


@pytest.mark.django_db
def test_invalid_text_is_answered_with_a_message(client):
    cache.clear()
    response = client.post("/check/answer/", {"list": 'model,x\n"a\rb"c\rd'})
    assert "universal-newline" not in response.text
    assert Product.objects.count() == 0
