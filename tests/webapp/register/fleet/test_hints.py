"""Hints of a fleet check for an unknown drive: the capacity in its name, similar drives, and their figures."""

import csv
import json

import pytest

from results.catalogue.claims import import_figures
from results.models import Product
from webapp.register.fleet.listed_drive import ListedDrive, named_size_gb
from webapp.register.fleet.nearest import CONSUMER_SERIES, is_consumer
from webapp.register.tables.sentences import product_name

pytestmark = pytest.mark.django_db
NB = "\N{NO-BREAK SPACE}"


def ask(client, *lines):
    response = client.post(
        "/check/answer/", {"list": "\n".join(["model,capacity_gb", *lines]), "format": "json"}
    ).json()
    return response["rows"]


@pytest.fixture
def stands(make_product, make_published_run):
    """Return a function that puts a drive with a result into the register, and gives its slug."""

    def make(vendor, model, capacity_gb):
        product = make_product(vendor=vendor, model=model, capacity_gb=capacity_gb)
        make_published_run(product=product)
        return product.slug

    return make


@pytest.mark.parametrize(
    ("name", "gigabytes"),
    [
        ("Micron 7450 MAX 3.2TB", 3200), ("PM983 1,92 TB", 1920), ("PM983_960GB", 960), ("EX-960gb U.2", 960),
        ("EX 32GB", 32), ("EX 31GB", None), ("EX 1,920GB", None), ("EX 12Gb SAS", None), ("EX 64GB/s", None),
        ("SSDPF21Q800GB", None), ("EX 960GBX", None), ("EX 1.6TB or 3.2TB", None), ("EX 7450", None),
    ],
)  # fmt: skip
def test_a_capacity_in_a_name_must_be_a_separate_word(name, gigabytes):
    assert named_size_gb(name) == gigabytes


def test_the_name_gives_the_capacity_if_the_list_has_none(client, stands):
    small, large = stands("Exemplar", "P100", 1600), stands("Exemplar", "P100", 3200)
    rows = ask(client, "Exemplar P100 3.2TB,", "Exemplar P100 3.2TB,1600", "Exemplar P100 6.4TB,")
    assert [row["products"] for row in rows] == [large, small, None]
    assert [row["capacity_gb"] for row in rows] == [3200, 1600, 6400]
    assert rows[2]["sentence"].startswith("The register has this model only with other capacities.")


def test_hints_for_an_unknown_model_are_drives_of_the_maker_those_with_its_capacity_first(client, stands):
    other, same = stands("Micron", "9300 Max", 6400), stands("Micron", "9300 Max", 3200)
    stands("Intel", "P4610", 3200)
    (row,) = ask(client, "Micron 7450 MAX 3.2TB,")
    assert (row["state"], row["nearest"]) == ("unknown", f"{same} {other}")
    assert row["sentence"].endswith(
        f"model or part number. Nearest in the register: Micron 9300 Max 3.2{NB}TB "
        "(same maker, other model, about the same capacity); "
        f"Micron 9300 Max 6.4{NB}TB (same maker, other model, other capacity)."
    )


def test_an_unknown_drive_has_the_neighbours_that_the_search_finds(client, catalogue):
    (row,) = ask(client, "KIOXIA KCMYXVUG6T40,6400")
    assert set(row["nearest"].split()) == set(SEARCHED_KIOXIA)
    assert row["sentence"] == (
        f"The part number KCMYXVUG6T40 is that of Kioxia CM7-V, 6.4{NB}TB, which the register does not have. "
        f"Nearest in the register: Kioxia CM6-v 3.2{NB}TB, Kioxia CM6-v 1.6{NB}TB "
        "(same maker, similar model name, other capacity). "
        "None of them is known to have the capacity of your drive, and speed and endurance depend on the capacity."
    )
    page = client.get("/search/", {"q": "KIOXIA KCMYXVUG6T40"}).text
    assert all(f'href="/drive/{slug}/"' in page for slug in SEARCHED_KIOXIA)


SEARCHED_KIOXIA = ("kioxia-cm6-v-1600gb", "kioxia-cm6-v-3200gb")


def test_a_drive_without_a_current_result_is_no_neighbour(client, make_product, stands):
    make_product(vendor="Micron", model="9300 Max", capacity_gb=3200)
    assert ask(client, "Micron 7450 MAX 3.2TB,")[0]["nearest"] is None
    near = stands("Micron", "9200 Max", 3200)
    assert ask(client, "Micron 7450 MAX 3.2TB,")[0]["nearest"] == near


CONSUMER = "Your drive is from a consumer series, and the register has drives for data centres."


def test_a_consumer_drive_is_warned_against_the_results_of_its_neighbours(client, stands):
    stands("Samsung", "PM983", 1920)
    consumer, other = ask(client, "Samsung SSD 990 PRO 2TB,", "Samsung PM1733 1.92TB,")
    assert (CONSUMER in consumer["sentence"], CONSUMER in other["sentence"]) == (True, False)
    assert "Do not apply their speed and endurance to your drive." in consumer["sentence"]
    assert "(same maker, other model, about the same capacity)" in other["sentence"]


def test_a_drive_of_another_capacity_only_is_a_warning(client, stands):
    stands("Micron", "9300 Max", 3200)
    without, near, far = ask(client, "Micron 7450 MAX,", "Micron 7450 MAX,3300", "Micron 7450 MAX,3840")
    warned = ["None of them is known to have the capacity" in row["sentence"] for row in (without, near, far)]
    assert warned == [False, False, True]
    assert "Micron 9300 Max 3.2\N{NO-BREAK SPACE}TB (same maker, other model)." in without["sentence"]


def test_every_consumer_series_matches_its_own_example():
    with CONSUMER_SERIES.open(newline="") as file:
        examples = [row["example"] for row in csv.DictReader(file)]
    assert [example for example in examples if not is_consumer(ListedDrive("", example))] == []


def test_no_drive_of_the_published_tables_is_a_consumer_drive(catalogue):
    names = [product_name(each) for each in Product.objects.public()]
    assert len(names) > 50
    assert [name for name in names if is_consumer(ListedDrive("", name))] == []


@pytest.mark.parametrize(("model", "is_near"), [("WDC X1 3.2TB", True), ("Western X1 3.2TB", False)])
def test_a_maker_matches_only_by_its_whole_name(client, stands, model, is_near):
    stands("Western Digital", "SN840", 3200)
    assert bool(ask(client, f"{model},")[0]["nearest"]) is is_near


def test_a_number_with_another_digit_matches_only_with_its_maker(client, stands):
    csd = stands("ScaleFlux", "CSD 3000", 7680)
    stands("Micron", "9400 Max", 12800)
    rows = ask(client, "<script>alert(1)</script> TOASTER 9000,", "ScaleFlux 3001,")
    assert [row["nearest"] for row in rows] == [None, csd]
    assert rows[0]["sentence"] == "The register does not have this model or part number."


def test_a_drive_with_two_names_is_hinted_once(client, stands):
    slug = stands("Exemplar", "DC SN861", 7680)
    (row,) = ask(client, "SN86l,")
    assert row["nearest"] == slug
    assert row["sentence"].count("Exemplar DC SN861") == 1


def test_a_drive_of_a_ycsb_publication_is_hinted_with_its_publication(client):
    import_figures()
    text = client.post("/check/answer/", {"list": "model\nMicron 7450 MAX 3.2TB\n7450 MAX\nKIOXIA FL6\n"}).text
    assert text.count("Published YCSB figures (through a database) exist for Micron 7450 PRO.") == 1
    assert text.count('href="/ycsb/micron-7450-brief/"') == 1
    assert (
        '<a href="/ycsb/kioxia-fl6-brief/"><bdi>KIOXIA FL6 against a TLC PCIe 4.0 drive on Aerospike</bdi></a>.' in text
    )


def test_an_unnamed_drive_of_a_publication_is_not_hinted(client):
    import_figures()
    assert ask(client, "Other first-generation PCIe Gen4,")[0]["publications"] is None


@pytest.fixture
def place(make_product, make_published_run):
    """Return a function that puts a product of a category into the register, and gives its slug."""

    def make(category, model):
        product = make_product(category=category, vendor="Western Digital", model=model, capacity_gb=3840)
        make_published_run(product=product)
        return product.slug

    return make


def nearest(client, device, model="WDC NEW9000X"):
    document = {"blockdevices": [{"name": device, "type": "disk", "model": model, "size": 3840755982336}]}
    response = client.post("/check/answer/", {"list": json.dumps(document), "format": "json"}).json()
    return set((response["rows"][0]["nearest"] or "").split())


@pytest.mark.parametrize("device", ["nvme0n1", "sda", "vda"])
def test_systems_are_never_nearest_to_a_drive(client, place, device):
    place("networked", "OpenFlex F-Series")
    place("cloud", "c9.large")
    assert nearest(client, device) == set()


def test_only_drives_of_the_same_interface_are_nearest(client, place):
    flash, sata, m2 = place("nvme-flash", "SN840"), place("sata-sas-flash", "SA210"), place("m2-flash", "SN720")
    xpoint = place("nvme-3dxpoint", "X1000")
    assert nearest(client, "nvme0n1") == {flash, xpoint, m2}
    assert nearest(client, "sda") == {sata, m2}
    assert nearest(client, "vda") == {flash, sata, xpoint, m2}


def test_a_known_part_number_that_the_register_lacks_is_near_to_drives_of_its_maker(client, place):
    place("networked", "OpenFlex F-Series")
    flash = place("nvme-flash", "SN840")
    assert nearest(client, "nvme0n1", "WDC WUS4BB038D7P3E3") == {flash}


def test_a_misspelt_model_of_another_interface_is_not_nearest(client, place):
    sata = place("sata-sas-flash", "SA2100")
    assert nearest(client, "sda", "SA210O") == {sata}
    assert nearest(client, "nvme0n1", "SA210O") == set()


def test_a_known_model_in_another_capacity_has_a_state_of_its_own_and_the_nearest_capacity_first(client, stands):
    small, large = stands("Exemplar", "P100", 800), stands("Exemplar", "P100", 6400)
    rows = ask(client, "Exemplar P100,5000", "Exemplar P100,1600", "Exemplar P100,6400", "Exemplar P200,1600")
    assert [row["state"] for row in rows] == ["other-capacity", "other-capacity", "published", "unknown"]
    assert [row["nearest"] for row in rows[:2]] == [f"{large} {small}", f"{small} {large}"]
    assert {row["next_step"] for row in rows[:2]} == {"view-nearest"}
    assert rows[0]["sentence"] == (
        "The register has this model only with other capacities. "
        f"Nearest in the register: Exemplar P100 6.4{NB}TB, Exemplar P100 800{NB}GB (same model, other capacity). "
        "None of them is known to have the capacity of your drive, and speed and endurance depend on the capacity. "
        f"State of Exemplar P100 6.4{NB}TB: as published."
    )


def test_the_page_counts_known_models_in_another_capacity_apart_and_links_the_nearest_one(client, stands):
    slug = stands("Exemplar", "P100", 800)
    text = client.post("/check/answer/", {"list": "model,capacity_gb\nP100,1600\nnobody's drive,800\n"}).text
    assert "1 known, other capacity, 1 unknown." in text
    assert '<span class="tag">known, other capacity</span>' in text
    assert f'<td class="next">See <a href="/drive/{slug}/">' in text
    listed = client.generic("POST", "/api/v1/check/", "model,capacity_gb\nP100,1600\n", "text/csv").json()
    assert (listed["counts"]["other-capacity"], listed["counts"]["unknown"]) == (1, 0)


def test_a_capacity_that_contradicts_a_part_number_is_no_other_capacity(client, catalogue):
    (row,) = ask(client, "INTEL SSDPE2KE064T8,3200")
    assert (row["state"], row["nearest"].split()[0]) == ("unknown", "intel-p4610-6400gb")


def test_a_name_without_its_last_word_is_near_to_each_model_with_more_words(client, stands):
    stands("Micron", "5300 Max", 3840)  # one digit from 9300
    large, small = stands("Micron", "9300 Max", 6400), stands("Micron", "9300 Pro", 3840)
    whole, sized, other_maker = ask(client, "Micron 9300,", "Micron 9300,3840", "Exemplar 9300,")
    assert whole["sentence"] == (
        "The register does not have this model or part number. Nearest in the register: "
        f"Micron 9300 Max 6.4{NB}TB, Micron 9300 Pro 3.84{NB}TB (the model name has more words)."
    )
    assert whole["nearest"].split() == [large, small]
    assert sized["nearest"].split() == [small, large]
    assert "more words" not in other_maker["sentence"]


def test_a_model_with_two_names_is_near_once(client, stands):
    slug = stands("Exemplar", "DC X900 Max", 3200)
    (row,) = ask(client, "Exemplar X900,")
    assert row["nearest"] == slug
