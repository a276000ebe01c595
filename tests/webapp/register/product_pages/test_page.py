"""The sections of a product's page next to its runs: ladder, limits, capacities, history and selection."""

from decimal import Decimal

import pytest

from results.history import record_event
from results.models import Visibility

pytestmark = pytest.mark.django_db


@pytest.fixture
def product(make_product):
    return make_product(model="EX4", capacity_gb=3200)


@pytest.fixture
def make_rung(make_published_run, product):
    """Return a function that makes a published run with a load."""

    def make(nx_load, over_1ms="1.00", devices=1, **fields):
        shares = {1000: over_1ms, 8000: "0.10", 64000: "0.00"}
        stated = {"product": product, "nx_load": Decimal(nx_load), "device_count": devices}
        return make_published_run(shares, **stated | fields)

    return make


def ladders_of(client, product):
    return client.get(f"/drive/{product.slug}/").context["ladders"]


def test_the_ladder_has_a_line_for_each_number_of_devices(client, product, make_rung):
    for load, share, devices in ((30, "1.20", 1), (60, "5.50", 1), (30, "2.00", 4)):
        make_rung(load, share, devices)
    (ladder,) = ladders_of(client, product)
    one, four = ladder["panels"][0]["lines"]
    assert ladder["names"] == [one.name, four.name] == ["1 device", "4 devices"]
    assert [(rung.load, rung.share_pct, rung.is_over) for rung in one.rungs] == [(30.0, 1.2, False), (60.0, 5.5, True)]


def test_each_mark_of_the_ladder_is_a_link_with_the_figures_of_its_run(client, product, make_rung):
    make_rung(30)
    over = make_rung(60, "5.50")
    text = client.get(f"/drive/{product.slug}/").text.split('id="ladder"')[1]
    label = f"60x, 1 device: 5.50 %, over the limit; run {over.public_id}"
    assert f'<a class="mark over" href="/runs/{over.public_id}/" tabindex="-1"' in text
    assert f'aria-label="{label}"><title>{label}</title><use href="#c1o"' in text


def test_ladders_of_two_statistics_are_separate(client, product, make_rung, make_log_run):
    for load in (30, 60):
        make_rung(load)
        make_log_run(product=product, nx_load=load)
    titles = [ladder["title"] for ladder in ladders_of(client, product)]
    assert titles == ["As published", "From stored logs"]


def test_notes_on_the_figures_are_folded_but_the_caution_about_instances_is_not(
    client, product, make_rung, make_product
):
    make_rung(30)
    before = client.get(f"/drive/{product.slug}/").text.split('<ul class="notes">')[0]
    assert before.rstrip().endswith("<summary>Notes on this table</summary>")
    instance = make_product(category="cloud")
    make_rung(30, product=instance)
    before = client.get(f"/drive/{instance.slug}/").text.split('<ul class="notes">')[0]
    assert "Read cloud results conservatively" in before


def test_a_line_of_the_ladder_connects_no_runs_of_two_comparison_groups(client, product, make_rung):
    for load, version in ((30, "6.6"), (60, "6.6"), (45, "5.3")):
        make_rung(load, tool_version=version)
    make_rung(90, compress_pct=50, tool_version="6.6")
    (ladder,) = ladders_of(client, product)
    lines = {line.name: [rung.load for rung in line.rungs] for line in ladder["panels"][0]["lines"]}
    assert lines == {
        "1 device, ACT up to 5.3: time in the drive and in the queue": [45.0],
        "1 device, ACT 6.x: time in the drive": [30.0, 60.0],
        "1 device, ACT 6.x: time in the drive, compressible data": [90.0],
    }
    assert ladder["names"] == list(lines)


@pytest.mark.parametrize("other", [{"tool_version": "5.3"}, {"compress_pct": 50}, {"devices": 4}])
def test_two_loads_that_do_not_compare_make_no_ladder(client, product, make_rung, other):
    make_rung(30)
    make_rung(60, **other)
    assert ladders_of(client, product) == []
    text = client.get(f"/drive/{product.slug}/").text
    assert "There is no load ladder, because fewer than two loads are known that compare." in text


def test_one_load_does_not_make_a_curve(client, product, make_rung):
    make_rung(30)
    make_rung(30, devices=4)
    assert ladders_of(client, product) == []


def test_the_page_says_why_it_has_no_ladder(client, product, make_rung):
    first = make_rung(30)
    assert "Only one load is published, so there is no load ladder yet." in client.get(f"/drive/{product.slug}/").text
    make_rung(30)
    assert "fewer than two loads are known" in client.get(f"/drive/{first.product.slug}/").text
    make_rung(60)
    assert "no load ladder" not in client.get(f"/drive/{product.slug}/").text


def test_a_withdrawn_run_is_on_no_ladder(client, product, make_rung):
    make_rung(30)
    make_rung(60, visibility=Visibility.WITHDRAWN)
    assert ladders_of(client, product) == []


def test_limits_of_the_reader_change_marks_and_sentence_and_stay_in_the_address(client, product, make_rung):
    run = make_rung(30, "4.00")
    before = client.get(f"/drive/{product.slug}/").text
    after = client.get(f"/drive/{product.slug}/?limit_1ms=3").text
    assert "Within all limits: 1 of 1 results." in before
    assert f"With your limits, 0 of 1 pass; 1 that passes the profile fails: run {run.public_id}." in after
    assert '<span class="over">4.00</span>' in after
    assert '<span class="over">4.00</span>' not in before
    assert "limit_1ms=3&amp;format=csv" in after


def test_an_invalid_limit_is_named(client, product, make_rung):
    make_rung(30)
    response = client.get(f"/drive/{product.slug}/?limit_1ms=lots")
    assert (response.status_code, "limit_1ms=lots" in response.text) == (400, True)


def test_the_capacities_of_a_model_are_shown_side_by_side(client, product, make_rung, make_product, make_published_run):
    make_rung(30, tps=Decimal(500_000))
    larger = make_product(model="EX4", capacity_gb=6400)
    make_published_run(product=larger, tps=Decimal(400_000))
    make_published_run({1000: "9.00"}, product=larger, tps=Decimal(900_000))
    text = client.get(f"/drive/{product.slug}/").text.split('id="capacities"')[1].split("</table>")[0]
    assert [speed in text for speed in ("500,000", "400,000", "900,000")] == [True, True, False]
    assert f'href="/drive/{larger.slug}/"' in text


def test_a_capacity_that_is_not_public_is_not_shown(client, product, make_rung, make_product, make_log_run):
    make_rung(30)
    make_log_run(product=make_product(model="EX4", capacity_gb=6400), visibility=Visibility.UNREVIEWED)
    assert 'id="capacities"' not in client.get(f"/drive/{product.slug}/").text


def test_the_history_lists_changes_of_its_runs_from_the_newest(client, product, make_rung, make_published_run):
    run, foreign = make_rung(30), make_published_run()
    for kind, reason in (("run-published", ""), ("run-annotated", "Firmware 2 is out.")):
        record_event(None, kind, ("run", run.public_id), reason)
    record_event(None, "run-annotated", ("run", foreign.public_id), "Of another drive.")
    text = client.get(f"/drive/{product.slug}/").text.split('id="history"')[1]
    assert text.index("Firmware 2 is out.") < text.index("</a> published")
    assert "Of another drive." not in text


def test_the_history_of_an_unreviewed_run_is_not_shown(client, product, make_rung, make_log_run):
    make_rung(30)
    hidden = make_log_run(product=product, visibility=Visibility.UNREVIEWED)
    record_event(None, "run-annotated", ("run", hidden.public_id), "Secret.")
    assert "Secret." not in client.get(f"/drive/{product.slug}/").text


def test_runs_can_be_selected_for_comparison(client, product, make_rung):
    first, second = make_rung(30), make_rung(60)
    text = client.get(f"/drive/{product.slug}/").text
    assert '<form class="chosen" id="compare-runs" action="/compare/"' in text
    for run in (first, second):
        assert f'<input type="checkbox" name="run" value="{run.public_id}"' in text


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "\u202etxet", "x" * 10_000])
def test_text_of_a_run_is_escaped(client, product, make_rung, name):
    make_rung(30, notes=name, source_row=name)
    make_rung(60, firmware=name[:100])
    text = client.get(f"/drive/{product.slug}/").text
    assert "<script>alert" not in text


def test_two_rungs_need_as_many_queries_as_forty(product, make_rung, count_queries):
    make_rung(30), make_rung(60)
    two = count_queries(f"/drive/{product.slug}/")
    for load in range(38):
        make_rung(load + 70)
    assert count_queries(f"/drive/{product.slug}/") == two


@pytest.mark.parametrize(("visibility", "is_said"), [(Visibility.WITHDRAWN, True), (Visibility.PUBLIC, False)])
def test_a_product_without_current_results_shows_the_notice(client, product, make_rung, visibility, is_said):
    make_rung(30, visibility=Visibility.WITHDRAWN)
    make_rung(60, visibility=visibility)
    response = client.get(f"/drive/{product.slug}/")
    assert (response.status_code, "This drive has no current result." in response.text) == (200, is_said)
