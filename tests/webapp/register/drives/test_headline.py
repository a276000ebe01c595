"""The headline of cloud instances, and the table of the best instance of each provider that stands for the fastest."""

import re

import pytest

from tests.webapp.register.pages import read_headline, read_rows

pytestmark = pytest.mark.django_db


def providers(client, query=""):
    """Return the cells of the table of providers, and its links."""
    text = client.get(f"/drives/cloud/{query}").text.replace("\N{NO-BREAK SPACE}", " ")
    table = text.split('<table class="narrow stacked providers"')[1].split("</table>")[0]
    rows = re.findall(r"<tr>(.*?)</tr>", table.split("<tbody>")[1])
    plain = [" ".join(re.sub(r"<[^>]*>", " ", row).split()) for row in rows]
    return plain, re.findall(r'href="([^"]+)"', table.split("<tbody>")[1])


def test_the_headline_counts_results_and_the_table_names_the_best_of_each_provider(client, catalogue):
    first, others = read_headline(client.get("/drives/cloud/"))
    assert first == "40 results from publications."
    assert others == "5 of 40 results are over a limit of the profile."
    rows, links = providers(client)
    assert [row.split()[0] for row in rows] == ["GCP", "AWS", "Azure"]
    assert rows[0].startswith("GCP n2-standard-80 4 x 375 GB, ACT 6.x; sole tenant 327,000 tps per device")
    assert rows[2].startswith("Azure L16s v2 1 x 160 GB, ACT up to 5.3 15,000 tps per device")
    assert links[0] == "?provider=gcp"
    assert client.get(f"/drives/cloud/{links[0]}").status_code == client.get(links[1]).status_code == 200


def test_the_best_instance_says_that_one_device_alone_is_over_a_limit(client, catalogue):
    rows, _ = providers(client)
    assert "AWS r5d.4xlarge 2 x 300 GB, ACT 6.x; the same instance with 1 device is over a limit 177,000" in rows[1]
    assert "with 1 device" not in rows[0]


def test_the_table_of_providers_does_not_follow_limits(client, catalogue):
    assert providers(client, "?limit_1ms=0.001") == providers(client)


def test_filters_name_the_fastest_instance_instead_of_the_best_of_each_provider(client, catalogue):
    for query, said in (
        ("?provider=aws", "that of AWS r5d.4xlarge"),
        ("?min_tps=500000", "that of GCP n2-standard-80"),
    ):
        text = client.get(f"/drives/cloud/{query}").text
        assert "data-providers hidden>" in text
        assert f"match the filters. Fastest device within the limits: {said}" in text
    assert "data-providers>" in client.get("/drives/cloud/").text
    assert "Fastest device" not in client.get("/drives/cloud/").text.split("</form>")[0]


def test_reasons_say_how_the_tested_speed_relates_to_the_rating(client, catalogue):
    text = client.get("/drives/?over_rating=no").text
    assert "tested speed is not within the endurance rating" in text
    assert "tested speed is not over the endurance rating" in client.get("/drives/?over_rating=yes").text


def test_a_provider_without_a_result_within_the_limits_is_listed_last(client, make_product, make_published_run):
    for vendor, share in (("Cloudy", "9.00"), ("Windy", "1.00")):
        product = make_product(category="cloud", vendor=vendor, model="c1", capacity_gb=None)
        make_published_run({1000: share}, product=product, tps=3000, device_count=1, device_gb=300, tool_version="6.1")
    rows, _ = providers(client)
    assert rows[0].startswith("Windy c1")
    assert rows[1] == "Cloudy no result within the limits"


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


def test_marks_of_instances_show_their_provider_by_shape_and_colour_with_a_key(client, catalogue):
    text = client.get("/drives/cloud/").text
    key = text.split('<details class="key">')[1].split("</details>")[0]
    for name, symbol, place in (("AWS", "c2", 0), ("Azure", "s2", 1), ("GCP", "d2", 2)):
        assert re.search(rf'glyph m full p{place}"[^>]*><use href="#{symbol}"/></svg>{name}<', key)
    marks = re.findall(r'class="m (?:full|open|unranked) (?:in|out|over) p([0-3])[^>]*>.*?href="#([csdx])', text)
    assert {("0", "c"), ("1", "s"), ("2", "d")} == set(marks)
    assert "DWPD" not in key
    assert " p0" not in client.get("/drives/nvme-flash/").text.split('<details class="key">')[1].split("</details>")[0]


@pytest.mark.parametrize(
    ("query", "fastest"), [("", "10,000,000"), ("?provider=aws", "1,000,000"), ("?provider=azure", "20,000")]
)
def test_the_axes_of_the_chart_fit_the_shown_instances(client, catalogue, query, fastest):
    svg = client.get(f"/drives/cloud/{query}").text.split('<g data-layer="rules"')[1].split("</g>")[0]
    ticks = re.findall(r'class="tick[^"]*"[^>]*>([^<]+)<', svg)
    assert max((tick for tick in ticks if "," in tick), key=lambda tick: int(tick.replace(",", ""))) == fastest


def test_the_rows_of_instances_have_the_marks_of_their_providers(client, catalogue):
    def marks(address):
        return set(re.findall(r'<svg class="glyph m (full|open|unranked)([^"]*)"[^>]*><use href="#(.)', rows(address)))

    def rows(address):
        return client.get(address).text.split('aria-label="Compare ', 1)[1]

    assert {(classes, shape) for _, classes, shape in marks("/drives/cloud/")} >= {(" p0", "c"), (" p2", "d")}
    assert not any(" p" in classes for _, classes, _ in marks("/drives/"))
