"""Thread sweeps of the register: drives under one load by thread count, with answers at fixed values."""

import re
from decimal import Decimal
from itertools import count

import pytest

from results.models import Run, Tier, Visibility, YcsbOperation, YcsbRun
from tests.webapp.register.drawings import charts_of, of_class, texts_of, words_of
from tests.webapp.register.pages import read_rows

pytestmark = pytest.mark.django_db
KEY = "0123456789abcdef" + "0" * 48
PAGE = f"/ycsb/loads/{KEY[:16]}/"
ordinals = count()


@pytest.fixture
def measured(make_product):
    """Return a function that makes a public YCSB run: threads, ops/s and the mean and p99.99 of its reads."""

    def make(product, threads, ops_per_s, mean_us=None, p9999_us=None, **facts):
        run = Run.objects.create(
            product=product, workload="ycsb", tier=Tier.REVIEWED, visibility=facts.pop("visibility", Visibility.PUBLIC),
            statistic="overall",
        )  # fmt: skip
        fields = {"validity": "valid", "sweep_key": KEY, "workload": "a", "phase": "run", "record_count": 1000}
        ycsb_run = YcsbRun.objects.create(
            run=run, threads_count=threads, throughput_ops_per_s=Decimal(ops_per_s), **fields | facts
        )
        if mean_us is not None:
            YcsbOperation.objects.create(
                ycsb_run=ycsb_run, ordinal=0, name="READ", outcome="ok", time="service", taken_from="rows",
                ops_count=10, mean_us=mean_us, p9999_us=p9999_us,
            )  # fmt: skip
        return run

    return make


@pytest.fixture
def folded(make_product, measured):
    """A sweep that folds back: throughput falls again while latency still rises."""
    product = make_product(model="SWEPT", slug="ex9")
    for threads, ops_per_s, mean_us in ((2, 100, 10), (4, 300, 20), (8, 400, 60), (16, 200, 100)):
        measured(product, threads, ops_per_s, mean_us, 10 * mean_us)
    return product


def fixed(client, query):
    table = client.get(f"{PAGE}?{query}").text.split('id="held"')[1].split("</table>")[0]
    return [" ".join(re.sub("<[^>]+>", " ", row).split()) for row in table.split("<tr>")[2:]]


def test_the_overview_lists_a_load_once(client, folded):
    row = read_rows(client.get("/ycsb/"))[-1]
    assert row[0].startswith("Workload a, run phase")
    assert row[2:] == ["1 drives", "4 runs", "2 to 16 threads"]


def test_every_point_is_a_row_with_its_peak_and_its_run(client, folded):
    rows = read_rows(client.get(PAGE))
    assert [row[1:5] for row in rows] == [
        ["2", "100", "50", "10"], ["4", "300", "75", "20"], ["8", "peak 400", "50", "60"], ["16", "200", "12", "100"],
    ]  # fmt: skip
    assert all(row[-1].startswith("r-") for row in rows)
    assert rows[0][5:8] == ["not printed", "not printed", "100"]


def test_the_first_crossing_at_a_fixed_throughput_is_the_answer_and_others_are_named(client, folded):
    (row,) = fixed(client, "hold=throughput&at=350")
    assert row.endswith("40 us between 4 and 8 threads, interpolated linearly 70 us")


def test_the_throughput_at_a_fixed_latency_is_read(client, folded):
    (row,) = fixed(client, "hold=latency&at=80")
    assert "300 ops/s between 8 and 16 threads" in row


def test_a_measured_point_is_returned_unchanged(client, folded):
    (row,) = fixed(client, "hold=throughput&at=300&statistic=p9999")
    assert "200 us measured with 4 threads" in row


def test_no_value_outside_the_measured_range_is_shown(client, folded):
    (row,) = fixed(client, "hold=throughput&at=401")
    assert "not measured there measured from 100 ops/s to 400 ops/s" in row


def test_the_line_of_a_fixed_value_is_drawn_at_that_value(client, folded):
    charts = charts_of(client.get(f"{PAGE}?hold=latency&at=80&statistic=avg"))
    assert [chart.get("aria-label").partition(", us")[0].partition(", ops")[0] for chart in charts] == [
        "Throughput by threads", "Read (service time), average", "Read (service time), p99.99",
    ]  # fmt: skip
    assert [texts_of(chart, "strong") for chart in charts] == [[], ["80 us"], []]
    (line,) = of_class(charts[1], "fixed")
    assert line.get("y1") == line.get("y2")


def test_the_words_of_a_point_have_the_digits_of_the_table_with_units(client, folded, measured):
    measured(folded, 32, "33567.25229826", 5107.25)
    throughput, average, _ = charts_of(client.get(PAGE))
    assert words_of(throughput)[-1] == "Exemplar SWEPT 3.2 TB: 33,567 ops/s with 32 threads (peak)".replace(
        "3.2 TB", "3.2\N{NO-BREAK SPACE}TB"
    )
    assert words_of(average)[-1].endswith(": 5,107 us at 33,567 ops/s, 32 threads")
    assert len(of_class(average, "curve")) == 4  # in the order of the threads, so that it folds back


def test_two_drives_under_one_load_are_compared_by_thread_count(client, folded, make_product, measured):
    other = make_product(model="OTHER", slug="ex10")
    measured(other, 4, 450)
    measured(other, 8, 500)
    text = client.get(PAGE).text
    assert re.search(r"peak</th>.*?400.*?500.*?<b>\+25\.0</b>", text, re.DOTALL)  # against the lower peak
    assert re.search(r"mean</th>.*?<b>\+37\.5</b>", text, re.DOTALL)  # of +50 at 4 and +25 at 8 threads
    assert "<b>-20.0</b>" in client.get(f"{PAGE}?against=ex10").text


def test_repeats_are_shown_by_their_median(client, folded, measured):
    measured(folded, 4, 500, 40)
    measured(folded, 4, 310, 30)
    (row,) = [row for row in read_rows(client.get(PAGE)) if row[1] == "4"]
    assert row[2:5] == ["310", "78", "30"]
    assert row[7] == "not printed"  # of three runs one alone prints its p99.99
    assert row[-1].count("r-") == 3


def test_invalid_runs_are_left_out_and_named(client, folded, measured):
    measured(folded, 32, 9999, validity="invalid")
    text = client.get(PAGE).text
    assert "1 run of this load is left out as invalid" in text
    assert "9,999" not in text


@pytest.mark.parametrize("visibility", [Visibility.UNREVIEWED, Visibility.WITHDRAWN])
def test_runs_that_are_not_public_are_not_revealed(client, make_product, measured, visibility):
    measured(make_product(), 4, 100, visibility=visibility)
    assert client.get(PAGE).status_code == 404
    assert KEY[:16] not in client.get("/ycsb/").text


def test_a_load_without_a_usable_run_states_so(client, make_product, measured):
    measured(make_product(), 4, 100, validity="invalid")
    assert "No valid run of this load has both a thread count and a throughput." in client.get(PAGE).text


def test_the_csv_has_every_run_instead_of_medians(client, folded, measured):
    measured(folded, 4, 500, 40)
    lines = client.get(f"{PAGE}?format=csv").text.splitlines()
    assert len(lines) == 6
    assert lines[0].startswith("load,workload,phase,product,run,threads,ops_per_s,operation,time,ops_count,avg_us")
    assert [line.split(",")[6] for line in lines[1:] if line.split(",")[5] == "4"] == ["300", "500"]


@pytest.mark.parametrize(
    "query", ["of=scan", "hold=both", "at=-5", "at=many", "statistic=p50", "against=nobody", "a=b"]
)
def test_an_invalid_parameter_is_named(client, folded, query):
    response = client.get(f"{PAGE}?{query}")
    assert response.status_code == 400
    assert query.partition("=")[0] in response.text


def test_the_number_of_queries_does_not_grow_with_the_runs(folded, make_product, measured, count_queries):
    few = count_queries(PAGE)
    for number in range(50):
        measured(make_product(slug=f"more-{number}"), number + 1, 100, 10, 20)
    assert count_queries(PAGE) == few


def test_a_hostile_name_is_escaped(client, make_product, measured):
    measured(make_product(model="<script>alert(1)</script>"), 4, 100, 10, 20, workload="<b>a</b>")
    text = client.get(PAGE).text
    assert "<script>alert" not in text
    assert "<b>a</b>" not in text
