"""The headline of cloud instances: the fastest instance and the fastest per device, in the order of the table."""

import re

import pytest

from tests.webapp.register.pages import read_headline, read_rows

pytestmark = pytest.mark.django_db
INSTANCE = (
    "Fastest instance within the limits as published, ACT 6.x: GCP n2-standard-80 (24 x 375 GB) at 6,408,000 tps."
)
DEVICE = (
    "GCP n2-standard-80 (4 x 375 GB) at 327,000 tps per device; "
    "fastest with 1 device within the limits: GCP n2-standard-64 (1 x 375 GB) at 267,000 tps."
)


def headline(client, query=""):
    return " ".join(read_headline(client.get(f"/drives/cloud/{query}"))).replace("\N{NO-BREAK SPACE}", " ")


def test_the_fastest_instance_and_the_fastest_per_device_are_named(client, catalogue):
    said = headline(client)
    assert said.startswith(f"40 results from publications. {INSTANCE} Fastest per device: {DEVICE} ")
    assert (
        "Fastest instance and fastest per device within the limits as published, ACT up to 5.3: "
        "Azure L16s v2 (1 x 160 GB) at 15,000 tps. 5 of 40 results are over a limit of the profile."
    ) in said


def test_the_fastest_per_device_says_what_one_device_does(client, catalogue):
    said = headline(client, "?provider=aws&sort=-device_tps")
    single = "fastest with 1 device within the limits: AWS m5ad.4xlarge (1 x 300 GB) at 174,000 tps."
    assert (
        "AWS r5d.4xlarge (2 x 300 GB) at 177,000 tps per device; with 1 device it is over a limit: "
        f"7.25 % over 1 ms, limit 5 %; {single}"
    ) in said
    wider = headline(client, "?provider=aws&sort=-device_tps&limit_1ms=7.25")
    assert "it is over a limit" not in wider
    assert "fastest with 1 device" not in headline(client, "?provider=azure")


def test_the_fact_of_the_shown_order_comes_first(client, catalogue):
    assert INSTANCE in headline(client, "?sort=device_tps")
    said = headline(client, "?sort=-device_tps")
    group = "within the limits as published, ACT 6.x"
    assert f"publications. Fastest per device {group}: {DEVICE} Fastest instance: GCP n2-standard-80 (24 x" in said
    assert headline(client).startswith(f"40 results from publications. {INSTANCE}")


@pytest.mark.parametrize(
    "query",
    [
        *("", "?sort=-device_tps", "?provider=aws", "?provider=aws&sort=-device_tps", "?devices=1&limit_1ms=3"),
        *("?limit_1ms=0.5&sort=-device_tps", "?q=r5d&sort=-device_tps", "?sole_tenant=no&devices=2~4"),
    ],
)
def test_the_headline_names_the_first_row_within_the_limits(client, catalogue, query):
    rows = read_rows(client.get(f"/drives/cloud/{query}"))
    first = next(row for row in rows if not any("over the limit" in cell for cell in row))
    named = re.search(r"Fastest [^:]*: ([^(]+) \(([^)]+)\) at", headline(client, query))
    # Storage or a note may follow the name.
    assert first[0].replace(",", "").split(" ", 2)[:2] == named[1].split(" ", 2)[:2]
    assert named[2] == first[2].replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("?provider=aws&sort=-device_tps", "The first row is over a limit of the profile."),
        ("?provider=aws&sort=-device_tps&limit_1ms=0.001", "rows are over one of your limits."),
        ("?provider=aws&sort=-device_tps&within=only", ""),
        ("?provider=aws&sort=device_tps", ""),
        ("?provider=aws&sort=drive&limit_1ms=0.001", ""),
    ],
)
def test_rows_over_a_limit_above_the_fastest_are_counted(client, catalogue, query, said):
    response = client.get(f"/drives/cloud/{query}")
    shown = response.text.split("data-shown")[1].split("</div>")[0]
    assert said in shown
    assert (" over " in shown.split("<details")[0]) == bool(said)
    over = [any("over the limit" in cell for cell in row) for row in read_rows(response)]
    assert not said.startswith("The first row is") or over[:2] == [True, False]


def test_an_instance_that_is_first_in_both_orders_is_named_once_with_both_speeds(
    client, make_product, make_published_run
):
    product = make_product(category="cloud", vendor="Cloudy", model="c1", capacity_gb=None)
    make_published_run(product=product, tps=3000, device_count=2, device_gb=300, tool_version="6.1")
    make_published_run(product=product, tps=1000, device_count=1, device_gb=300, tool_version="6.1")
    assert "ACT 6.x: Cloudy c1 (2 x 300 GB) at 3,000 tps, 1,500 tps per device." in headline(client)


def test_the_others_follow_the_first_sentences(client, catalogue):
    first, others = read_headline(client.get("/drives/cloud/"))
    assert first.endswith("6,408,000 tps.")
    assert others.startswith("Fastest per device: ")
