"""Limits of the reader on the page of a run: the slices change, the verdict does not."""

import pytest

from results.models import Visibility
from tests.results.builders import link_key
from tests.webapp.register.pages import read_rows, shown_html

pytestmark = pytest.mark.django_db


def slices_of(client, run, query=""):
    rows = read_rows(client.get(f"/runs/{run.public_id}/{query}"))
    return [row for row in rows if len(row) == 8 and row[0].isdigit()]


def test_wider_limits_pass_more_slices_and_keep_the_verdict(client, make_log_run):
    run = make_log_run()
    query = "?limit_1ms=6&limit_8ms=2&limit_64ms=0.2"
    assert [row[5] for row in slices_of(client, run)] == ["passes", "fails", "fails", "fails"]
    assert [row[5] for row in slices_of(client, run, query)] == ["passes", "fails", "passes", "passes"]
    text = client.get(f"/runs/{run.public_id}/{query}").text
    assert "With your limits: 3 of 4 slices are within every limit. With those of the profile: 1 of 4" in text
    assert '<span class="fail">Fails</span>: slice 2' in text


def test_a_share_equal_to_its_limit_passes(client, make_log_run):
    run = make_log_run(slices=[(1000, [967, 33])])
    assert slices_of(client, run, "?limit_1ms=3.3")[0][5] == "passes"
    assert slices_of(client, run, "?limit_1ms=3.29")[0][5] == "fails"


@pytest.mark.parametrize(
    "query", ["limit_1ms=x", "limit_1ms=101", "limit_2ms=5", "limit_1ms=1&limit_1ms=2", "limit_1ms=-1"]
)
def test_an_invalid_limit_is_named(client, make_log_run, query):
    response = client.get(f"/runs/{make_log_run().public_id}/?{query}")
    assert (response.status_code, "limit_" in response.text) == (400, True)


def test_the_form_keeps_the_link_key(client, make_log_run):
    run = make_log_run(visibility=Visibility.UNREVIEWED)
    text = client.get(f"/runs/{run.public_id}/?key={link_key(run.submission)}").text
    assert f'<input type="hidden" name="key" value="{link_key(run.submission)}">' in text


def test_a_run_without_slices_has_no_form(client, make_log_run):
    assert "data-your-limits" not in client.get(f"/runs/{make_log_run(slices=[]).public_id}/").text


def test_a_published_result_is_compared_with_limits_of_the_reader(client, make_published_run):
    run = make_published_run({1000: "4.00", 8000: "0.10"})
    text = client.get(f"/runs/{run.public_id}/").text
    assert "All shares are within the limits." in text
    text = shown_html(client.get(f"/runs/{run.public_id}/?limit_1ms=3.99"))
    assert "With your limits the share over 1\N{NO-BREAK SPACE}ms is too large; under the profile all shares" in text
    assert text.count('<span class="over">') == 1
    assert "over a limit</span>" in text


def test_a_published_share_equal_to_its_limit_passes(client, make_published_run):
    run = make_published_run({1000: "5.60", 8000: "1.10"})
    text = shown_html(client.get(f"/runs/{run.public_id}/?limit_1ms=5.6&limit_8ms=1.1"))
    assert "With your limits all shares are within the limits; under the profile the shares over 1" in text
    assert '<span class="over">' not in text


def test_a_published_result_without_shares_has_no_form(client, make_published_run):
    run = make_published_run()
    run.shares.all().delete()
    assert "data-your-limits" not in client.get(f"/runs/{run.public_id}/").text


def test_a_limit_that_does_not_apply_to_a_published_result_is_named(client, make_published_run):
    response = client.get(f"/runs/{make_published_run().public_id}/?limit_2ms=5")
    assert (response.status_code, "limit_2ms" in response.text) == (400, True)
