"""Heat map and distribution of reads: every bucket is visible, also if there is only one."""

import re
from decimal import Decimal

import pytest
from django.conf import settings

from results.models import Histogram
from results.rules.act.limits import Limit
from webapp.register.runs.charts.distribution import distribution, heat_map, shade_key, shade_of
from webapp.register.runs.charts.over_time import Column, OverTime
from webapp.register.runs.slices import ReadLimit

LIMITS = [ReadLimit(Limit(1000, Decimal(5)), 1000, 1), ReadLimit(Limit(8000, Decimal(1)), 8000, 4)]


def histogram(*counts):
    return Histogram(name="reads", unit="ms", edges="act", ops_count=sum(counts), counts=list(counts))


def over_time(buckets, *columns):
    placed = [Column(place * 60, place * 60 + 60, list(shares), 10.0, 10.0) for place, shares in enumerate(columns)]
    return OverTime([], buckets, placed)


def test_one_bad_minute_has_a_cell_of_its_own_shade():
    picture = heat_map(histogram(980, 20), over_time(range(2), (100, 0), (90, 10), (100, 0)), LIMITS)
    assert '<path class="h8" d="M1 0h1v1h-1z"/><path class="h9" d="M0 1h3v1h-3z"/>' in picture  # the slow one is on top
    assert "60-120 s: the slowest reads took 1 ms to 2 ms, 10 % of reads" in picture.replace("\N{NO-BREAK SPACE}", " ")


def test_shares_from_1_to_10_have_three_shades_and_each_shade_has_a_colour_in_every_theme():
    assert [shade_of(share) for share in (0.99, 1, 1.5, 2, 4.9, 5, 9.9, 10)] == [4, 5, 5, 6, 6, 7, 7, 8]
    tokens = (settings.BASE_DIR / "static/css/tokens.css").read_text()
    for shade, _ in shade_key()[1:]:
        colours = re.findall(rf"--h{shade}:(#\w+)", tokens)
        assert (len(colours), len(set(colours))) == (3, 2)  # light, and dark twice


def test_the_heat_map_of_a_single_bucket_is_not_empty():
    picture = heat_map(histogram(1000), over_time(range(1), (100,), (100,)), LIMITS)
    assert 'viewBox="0 0 2 1"' in picture
    assert '<path class="h9" d="M0 0h2v1h-2z"/>' in picture


def test_an_unknown_minute_has_no_cell_and_says_so():
    picture = heat_map(histogram(1000), over_time(range(1), (100,), (None,)), LIMITS)
    assert 'd="M0 0h1v1h-1z"' in picture
    assert "60-120\N{NO-BREAK SPACE}s: no data" in picture


def test_a_run_without_reads_has_an_empty_heat_map():
    assert "<path" not in heat_map(histogram(0), over_time(range(0), (), ()), LIMITS)


@pytest.mark.parametrize(("buckets", "lines"), [(range(6), 2), (range(1, 3), 1), (range(5, 7), 0)])
def test_edges_of_limits_have_lines_where_the_buckets_reach(buckets, lines):
    shares = (50,) * len(buckets)
    assert heat_map(histogram(1), over_time(buckets, shares, shares), LIMITS).count('class="limit"') == lines


def test_each_row_of_the_heat_map_has_its_edges_up_to_the_top():
    data = over_time(range(1, 17), (50,) * 16, (50,) * 16)
    picture = heat_map(histogram(*[1] * 17), data, LIMITS).replace("\N{NO-BREAK SPACE}", " ")
    shown = re.findall(r'<text class="(?:tick|strong)" [^>]*>([^<]+)</text>', picture)
    assert shown == [f"{2**power:,d} ms" for power in range(17)]


def rows_of(*counts):
    return [{"span": f"bucket {place}", "share": "1.00", "largest": "2.00"} for place, _ in enumerate(counts)]


def test_the_distribution_has_a_bar_for_each_bucket_with_its_exact_count():
    picture = distribution(histogram(0, 9_990, 0, 10), rows_of(1, 2, 3), LIMITS)
    assert len(re.findall(r'<rect class="bar"', picture)) == 3  # from the first to the last bucket with reads
    assert "<title>bucket 0: 9,990 reads, 1.00 %; at most 2.00 % in a slice</title>" in picture
    heights = [float(each) for each in re.findall(r'height="([\d.]+)"><title>bucket', picture)]
    assert (heights[0] > heights[2] > 0, heights[1]) == (True, 0)


def test_a_share_below_the_axis_moves_the_axis():
    one_of_a_milliard = histogram(10**9 - 1, 1)
    picture = distribution(one_of_a_milliard, rows_of(1, 2), LIMITS)
    heights = [float(each) for each in re.findall(r'height="([\d.]+)"><title>bucket', picture)]
    assert (heights[0] > 99, heights[1] > 5) == (True, True)
    assert ">0.00000001<" in picture


def test_the_distribution_of_a_single_bucket_is_not_empty():
    assert '<rect class="bar" x="0.1" width="0.8" y="0" height="100">' in distribution(histogram(5), rows_of(1), LIMITS)
