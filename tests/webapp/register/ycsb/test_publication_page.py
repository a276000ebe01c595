"""The pages of published YCSB figures: printed values and results."""

import csv
import re
from dataclasses import replace
from decimal import Decimal
from html import unescape

import pytest

from results.catalogue.claims import import_claims, import_figures
from results.catalogue.rows import PublishedSource
from results.models import PublishedClaim, PublishedFigure
from results.rules.ycsb.statements import Status
from tests.webapp.register.drawings import charts_of, of_class, texts_of, words_of
from tests.webapp.register.pages import read_rows
from webapp.register.ycsb import publications

pytestmark = pytest.mark.django_db
PUBLICATIONS = ("micron-7400-brief", "micron-7450-brief", "micron-x100-paper", "kioxia-fl6-brief")


@pytest.fixture
def published(db):
    """The catalogue that a first start imports."""
    import_figures()
    import_claims()


def rows_of(client, publication):
    return read_rows(client.get(f"/ycsb/{publication}/"))


def chart_of(response, label):
    """Return the chart whose label begins with these words."""
    (found,) = [chart for chart in charts_of(response) if chart.get("aria-label").startswith(label)]
    return found


def test_the_overview_names_every_publication_with_its_results(client, published):
    found = {row[0]: row[1:] for row in read_rows(client.get("/ycsb/"))}
    assert found["Micron 7400 PRO against 7300 PRO on RocksDB"] == [
        "On workload A, the peak of the 7400 PRO is 43.9 % higher than that of the 7300 PRO; on B +28.2 %, "
        "on C +11.2 %, on D +31.1 %, on F +49.7 %.",
        "100 figures",
        "14 claims",
    ]
    assert len(found) == len(PUBLICATIONS)


def test_the_7400_brief_has_its_44_and_49_per_cent(client, published):
    response = client.get("/ycsb/micron-7400-brief/")
    first = response.text.split("</table>")[0]
    assert re.search(r"peak</th>.*?29,195.*?42,012.*?<b>\+43\.9</b>", first, re.DOTALL)
    assert re.search(r"mean</th>.*?<b>\+48\.6</b>", first, re.DOTALL)
    assert "Status of the published claim “44 % peak throughput improvement”: confirmed." in response.text
    assert "Status of the published claim “49 % mean improvement over thread counts”: confirmed." in response.text


def test_a_stored_status_does_not_replace_that_of_the_exact_value(client, published):
    PublishedClaim.objects.filter(status="reproduces").update(status=Status.CONTRADICTS)
    text = client.get("/ycsb/micron-7400-brief/").text
    assert "Status of the published claim “44 % peak throughput improvement”: confirmed." in text
    assert text.count('<p class="callout fault">') == 1


def test_a_claim_of_another_release_has_its_stored_status(client, published):
    PublishedClaim.objects.filter(claim="peak throughput improvement", workload="A").update(
        claim="highest throughput improvement", status="half right"
    )
    text = client.get("/ycsb/micron-7400-brief/").text
    assert "Status of the published claim “44 % highest throughput improvement”: half right." in text


def test_the_improvement_is_listed_by_thread_count_with_both_peaks_marked(client, published):
    found = rows_of(client, "micron-7400-brief")
    assert found[0] == ["4", "12,694", "17,060", "+34.4"]
    assert found[3] == ["32", "27,635", "peak 42,012", "+52.0"]
    assert found[5] == ["64", "peak 29,195", "40,940", "+40.2"]


def test_a_wrong_claim_of_a_brief_is_framed_next_to_its_table_and_links_to_its_page(client, published):
    text = client.get("/ycsb/micron-7400-brief/").text
    remark = text.split('<p class="callout fault">')[1].split("</p>")[0]
    assert '<span class="fail">contradicted</span>' in remark
    assert '<a href="/ycsb/claims/micron-7400-brief/mean-improvement-over-thread-counts-d/">' in remark
    assert "Status of the published claim “24 % mean improvement over thread counts”: contradicted." in remark


def test_a_brief_begins_with_what_its_claims_are_worth(client, published):
    text = client.get("/ycsb/micron-7400-brief/").text
    assert "<b>1 of 14 claims is contradicted by its own table.</b> 8 are confirmed, 5 cannot be checked." in text
    assert text.index("1 of 14 claims") < text.index('<p class="lede">')
    strip = text.split('<ol class="cells">')[1].split("</ol>")[0]
    assert strip.count("<a href=") == 14
    sentence = "25 of 30 claims are confirmed by their own table."
    impossible = "4 agree with their own table but use a result that cannot be true"
    fl6 = client.get("/ycsb/kioxia-fl6-brief/").text
    assert (
        f'<b>{sentence}</b> {impossible}, 1 cannot be checked. <a href="/ycsb/impossible/">Impossible results</a>'
        in fl6
    )


def test_the_crumbs_name_the_publication(client, published):
    crumb = client.get("/ycsb/micron-7400-brief/").text.split('<p class="crumb">')[1].split("</p>")[0]
    assert crumb.endswith(" / Micron 7400 PRO against 7300 PRO on RocksDB")


def test_what_is_not_known_about_a_brief_is_one_sentence(client, published):
    text = client.get("/ycsb/micron-7400-brief/").text
    assert "Micron: Brief on the Micron 7400 PRO and RocksDB." in text
    assert "The publication's address, date, page and printed title are not recorded." in unescape(text)
    assert "<dt>" not in text


def test_what_is_known_about_a_brief_is_shown(client, published, monkeypatch):
    slug = "micron-7400-brief"
    source = PublishedSource(slug, "A brief", "Micron", "https://example.com/", "", "RocksDB on NVMe", "May 2022")
    monkeypatch.setattr(publications, "published_sources", lambda: {slug: source})
    text = client.get(f"/ycsb/{slug}/").text
    facts = dict(re.findall(r"<dt>([^<]+)</dt><dd>([^<]+)", text))
    assert facts == {"Printed title": "RocksDB on NVMe", "Date": "May 2022"}
    assert "The publication's page is not recorded." in unescape(text)
    monkeypatch.setattr(publications, "published_sources", lambda: {slug: replace(source, page="3")})
    assert "not recorded" not in client.get(f"/ycsb/{slug}/").text


def test_the_curves_have_the_exact_values_of_the_tables_with_their_units(client, published):
    response = client.get("/ycsb/micron-7400-brief/")
    labels = [chart.get("aria-label").split(",")[0] for chart in charts_of(response)]
    assert labels == [f"Workload {letter}" for letter in "ABCDF"]
    chart = chart_of(response, "Workload A")
    words = words_of(chart)
    assert words[0] == "7400 PRO: 17,060 ops/s with 4 threads"
    assert words[3] == "7400 PRO: 42,012 ops/s with 32 threads (peak)"
    assert texts_of(chart, "value") == ["42,012", "29,195"]
    assert len(words) == 20
    rows = rows_of(client, "micron-7400-brief")[:10]
    assert [f"7300 PRO: {row[1].removeprefix('peak ')} ops/s" for row in rows] == [
        each.partition(" with")[0] for each in words[10:]
    ]


READ_OFF = "read from a chart, accurate to one digit: possible range"


def test_the_7450_brief_has_its_2_3_times_and_95_per_cent(client, published):
    rows = rows_of(client, "micron-7450-brief")
    drive, base = "7450 PRO: ", "first-generation PCIe Gen4: "  # shown as text on a phone
    assert rows[0][2:] == [f"{drive}10 ms", f"{base}23 ms", "2.3x lower (56.5 % less)", f"{READ_OFF} 1.2 to 5.6 x"]
    assert rows[1][2:] == [f"{drive}45,000 ops/s", f"{base}23,000 ops/s", "+95.7 %", f"{READ_OFF} 42.9 to 177.8 %"]


def test_the_x100_paper_has_its_14_times(client, published):
    rows = rows_of(client, "micron-x100-paper")
    assert rows[0][2:5] == ["X100: 100 us", "9300 MAX: 500 us", "5x lower (80.0 % less)"]
    assert rows[1][2:] == [
        "X100: 290 us",
        "9300 MAX: 4000 us",
        "13.8x lower (92.8 % less)",
        f"{READ_OFF} 10.3 to 18.8 x",
    ]
    lede = "on workload A at 460,000 ops/s: read latency, p99.9 13.8x lower (92.8 % less); read from a chart"
    assert lede in client.get("/ycsb/micron-x100-paper/").text


def test_a_brief_has_the_ranges_of_the_page_of_claims(client, published):
    claims = client.get("/ycsb/claims/?format=json").json()["rows"]
    of_claims = {
        row["read_off"].replace("read off a figure, good to 1 digit:", READ_OFF) for row in claims if row["read_off"]
    }
    briefs = ("micron-7450-brief", "micron-x100-paper")
    of_briefs = {row[-1] for slug in briefs for row in rows_of(client, slug) if row[-1].startswith(READ_OFF)}
    assert of_briefs == of_claims


def test_fixed_levels_are_drawn_and_points_read_from_a_chart_have_intervals_instead_of_lines(client, published):
    (chart,) = charts_of(client.get("/ycsb/micron-7450-brief/"))
    assert texts_of(chart, "strong") == ["40,000 ops/s", "15 ms"]
    assert of_class(chart, "curve") == []
    assert words_of(chart) == [
        "7450 PRO: 10 ms at 40,000 ops/s, read from a chart: 5 to 15 ms",
        "7450 PRO: 15 ms at 45,000 ops/s, read from a chart: 40,000 to 50,000 ops/s",
        "first-generation PCIe Gen4: 23 ms at 40,000 ops/s, read from a chart: 18 to 28 ms",
        "first-generation PCIe Gen4: 15 ms at 23,000 ops/s, read from a chart: 18,000 to 28,000 ops/s",
    ]
    lines = [each for each in of_class(chart, "range") if each.tag == "line"]
    assert [each.get("x1") == each.get("x2") for each in lines] == [True, False, True, False]


def test_every_figure_of_the_fl6_brief_is_in_a_chart_with_its_digits_and_its_unit(client, published):
    charts = charts_of(client.get("/ycsb/kioxia-fl6-brief/"))
    assert len(charts) == 6
    words = [each.removesuffix(", impossible") for chart in charts for each in words_of(chart)]
    stored = PublishedFigure.objects.filter(publication="kioxia-fl6-brief")
    expected = sorted(f"{each.model}: {Decimal(each.value):,f} {each.unit}" for each in stored)
    assert sorted(words) == expected
    assert len(expected) == 70
    first = charts[0]
    assert texts_of(first, "name")[:2] == ["Run time: +8.9 %", "Throughput: +9.8 %"]


def test_a_bar_of_a_value_read_from_a_chart_has_its_interval(client, published):
    rows = PublishedFigure.objects.filter(publication="kioxia-fl6-brief", workload="A", metric="read_latency_avg")
    rows.filter(model="FL6").update(exactness="read off a figure")
    chart = charts_of(client.get("/ycsb/kioxia-fl6-brief/"))[0]
    assert "FL6: 100.83 us, read from a chart: 50.83 to 150.83" in words_of(chart)
    assert len(of_class(chart, "range")) == 3  # the line and its two ends


def test_the_charts_of_a_brief_need_no_script_and_none_waits_to_be_drawn(client, published):
    for slug in PUBLICATIONS:
        text = unescape(client.get(f"/ycsb/{slug}/").text)
        assert "not drawn yet" not in text
        assert "plotly" not in text.lower()


# Gains of the FL6 brief, each truncated or rounded by its authors: the results of its figures to one decimal.
FL6 = {
    "A": {"Run time": "+8.9", "Throughput": "+9.8", "Average read latency": "+31.5", "Average update latency": "+19.2"},
    "B": {
        "Run time": "+23.0",
        "Throughput": "+29.9",
        "Average read latency": "+24.8",
        "Average update latency": "+1.9",
    },
    "C": {"Run time": "+21.1", "Throughput": "+26.7", "Average read latency": "+21.9"},
    "D": {
        "Run time": "+24.3",
        "Throughput": "+32.1",
        "Average read latency": "+26.2",
        "Average insert latency": "+5.1",
    },
    "E": {"Run time": "+0.6", "Throughput": "+0.5", "Average insert latency": "+0.6"},
    "F": {"Run time": "+20.7", "Throughput": "+26.1", "Average read-modify-write latency": "+16.5"},
}


@pytest.mark.parametrize("letter", FL6)
def test_the_fl6_brief_has_its_gains(client, published, letter):
    text = client.get("/ycsb/kioxia-fl6-brief/").text
    table = text.split(f'aria-label="Workload {letter}"')[1].split("</table>")[0]
    for metric, gain in FL6[letter].items():
        assert re.search(rf">{metric} <span.*?<b>{re.escape(gain)}</b>", table, re.DOTALL), (metric, gain)


def test_a_metric_states_its_better_direction_and_its_source(client, published):
    text = client.get("/ycsb/kioxia-fl6-brief/").text
    assert "us, lower is better" in text
    assert "%, higher is better by this publication" in text
    assert "printed as “Average Update Latency”" in text
    assert "load phase: inserts only" in text


def test_a_figure_without_a_better_direction_has_no_gain(client, published):
    PublishedFigure.objects.filter(publication="kioxia-fl6-brief").update(publication="other-brief")
    text = client.get("/ycsb/other-brief/").text
    assert "neither direction is better" in text
    assert '<span class="dim">none</span>' in text


def test_processor_waiting_and_request_sizes_are_shown_next_to_each_other(client, published):
    found = {
        row[0]: row[1:] for row in rows_of(client, "micron-x100-paper") if row[1] in {"workload all", "workload B"}
    }
    assert found["Processors busy, highest"] == ["workload all", "", "X100: 40 %", "9300 MAX: 67 %", "stated"]
    assert found["Waiting for I/O, highest"] == ["workload all", "", "X100: 5 %", "9300 MAX: 50 %", "stated"]
    assert found["Average request size of the device"] == ["workload B", "", "X100: 8 KB", "9300 MAX: 4 KB", "stated"]


@pytest.mark.parametrize("publication", PUBLICATIONS)
def test_every_figure_of_the_file_is_exported_with_its_digits(client, published, publication):
    exported = list(csv.DictReader(client.get(f"/ycsb/{publication}/?format=csv").text.splitlines()))
    stored = PublishedFigure.objects.filter(publication=publication).order_by("pk")
    assert [(row["metric"], row["value"], row["unit"]) for row in exported] == list(
        stored.values_list("metric", "value", "unit")
    )


def test_the_overview_exports_every_publication(client, published):
    document = client.get("/ycsb/?format=json").json()
    assert (document["schema"], len(document["rows"])) == ("drivecert.ycsb-figures/1", PublishedFigure.objects.count())


def test_the_overview_needs_the_same_queries_for_any_number_of_publications(published, count_queries):
    many = count_queries("/ycsb/")
    PublishedFigure.objects.exclude(publication="micron-7450-brief").delete()
    assert count_queries("/ycsb/") == many


def test_the_page_of_an_empty_register_is_answered(client):
    assert "No published figure" in client.get("/ycsb/").text


@pytest.mark.parametrize("address", ["/ycsb/no-such-brief/", "/ycsb/loads/0123456789abcdef/", "/ycsb/loads/short/"])
def test_an_unknown_publication_is_named(client, published, address):
    assert client.get(address).status_code == 404


@pytest.mark.parametrize("address", ["/ycsb/", "/ycsb/claims/", "/ycsb/micron-7400-brief/"])
def test_an_invalid_parameter_is_named(client, published, address):
    assert "Unknown parameter “colour”. This page has: “Format” (format)" in client.get(f"{address}?colour=red").text
    assert "Format: expected one of html, csv, json. Found “xml”." in client.get(f"{address}?format=xml").text


def test_impossible_figures_are_marked_in_charts_and_in_the_list_of_claims(client, published):
    text = client.get("/ycsb/kioxia-fl6-brief/").text
    bars = re.findall(
        r'<rect class="col( own)?( impossible)?"[^>]*/?>', text.split('id="workload-a"')[1].split("</figure>")[0]
    )
    assert [bool(impossible) for _, impossible in bars].count(True) == 4  # run time, throughput and two mean latencies
    assert "impossible" not in " ".join(re.findall(r'<rect class="(col[^"]*)"', text.split('id="workload-b"')[1]))
    strip = text.split('<ol class="cells">')[1].split("</ol>")[0]
    assert strip.count('<b class="impossible"') == strip.count("; uses an impossible result") == 4
    assert "</b> uses an impossible result" in text
    other = client.get("/ycsb/micron-7400-brief/").text
    assert 'class="impossible"' not in other
    page = client.get("/ycsb/claims/kioxia-fl6-brief/throughput-gain-a/").text
    assert re.search(r"TLC PCIe 4.0: [^<]*, impossible</text>", page)
