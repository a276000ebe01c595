"""The page of a share: counts at the end of a slice minus those at its start."""

import pytest

from results.access.intervals import counted_before
from tests.webapp.register.conftest import SLOW_DISK_SLICES
from webapp.register.runs import slices as slices_counts
from webapp.register.runs.slices import counts_of

pytestmark = pytest.mark.django_db


def test_counts_before_the_slice_are_subtracted(make_log_run):
    run = make_log_run()
    counted = counts_of(run, run.verdicts.get(), 2)
    first, second = (counts for _, counts in SLOW_DISK_SLICES[:2])
    assert [bucket["counted"] for bucket in counted["buckets"]] == second
    assert [bucket["at_start"] for bucket in counted["buckets"]][: len(first)] == first
    assert all(bucket["at_end"] - bucket["at_start"] == bucket["counted"] for bucket in counted["buckets"])


def test_the_first_slice_begins_with_zero(make_log_run):
    run = make_log_run()
    counted = counts_of(run, run.verdicts.get(), 1)
    assert {bucket["at_start"] for bucket in counted["buckets"]} == {0}
    assert counted["start_line"] is None


def test_the_page_shows_the_division_with_links_to_both_ends_in_the_log(client, make_log_run):
    run = make_log_run()
    text = client.get(f"/runs/{run.public_id}/slices/2/").text
    assert "20 of 6,000 = 0.33 %" in text
    assert f"/runs/{run.public_id}/lines/199/" in text
    assert f"/runs/{run.public_id}/lines/200-299/" in text
    assert "<td>over 64 ms</td>" in text.replace("\N{NO-BREAK SPACE}", " ")


def test_a_share_that_rounds_to_zero_is_an_inequality(make_log_run):
    run = make_log_run(slices=[(480_006, [480_005, 1])])
    sentences = [sentence for *_, sentence in counts_of(run, run.verdicts.get(), 1)["shares"]]
    assert sentences[:2] == ["1 of 480,006 <0.01 %", "0 of 480,006 = 0.00 %"]


def test_shares_of_a_run_over_their_limits_link_to_the_page(client, make_log_run):
    run = make_log_run()
    text = client.get(f"/runs/{run.public_id}/").text
    assert f'<a href="/runs/{run.public_id}/slices/2/">20 of 6,000' in text


@pytest.mark.parametrize("number", ["0", "5", "99999999999999999999"])
def test_an_unknown_slice_is_not_found(client, make_log_run, number):
    assert client.get(f"/runs/{make_log_run().public_id}/slices/{number}/").status_code == 404


def test_a_published_run_has_no_slice(client, make_published_run):
    assert client.get(f"/runs/{make_published_run().public_id}/slices/1/").status_code == 404


def test_the_number_of_queries_does_not_grow_with_the_slices(count_queries, make_log_run):
    run = make_log_run()
    assert count_queries(f"/runs/{run.public_id}/slices/1/") == count_queries(f"/runs/{run.public_id}/slices/4/")


def test_an_unreviewed_run_does_not_show_its_slices_to_strangers(client, make_log_run):
    run = make_log_run(visibility="unreviewed")
    assert client.get(f"/runs/{run.public_id}/slices/1/").status_code == 404


def test_very_many_earlier_slices_are_added_up_in_the_database(make_log_run, monkeypatch):
    run = make_log_run(slices=[(3, [1, 2])] * 500)
    read, original = [], slices_counts.histogram_slices
    monkeypatch.setattr(slices_counts, "histogram_slices", lambda slices: read.extend(original(slices)) or read)
    counted = counts_of(run, run.verdicts.get(), 500)
    assert [bucket["at_start"] for bucket in counted["buckets"]] == [499, 998]
    assert (counted["start_line"], len(read)) == (499 * 100 + 99, 1)


def test_a_slice_after_a_gap_begins_with_the_previous_report_without_invented_counts(client, make_log_run):
    run = make_log_run(slices=[(3, [1, 2]), (4, [4]), (5, [5])])
    run.slices.filter(number=2).delete()
    counted = counts_of(run, run.verdicts.get(), 3)
    assert counted["start_line"] == 299
    assert [(bucket["at_start"], bucket["at_end"], bucket["counted"]) for bucket in counted["buckets"]] == [
        (None, None, 5)
    ]
    assert "the report that ends in line 299" in client.get(f"/runs/{run.public_id}/slices/3/").text


def test_a_slice_with_unusable_counts_adds_nothing(make_log_run):
    run = make_log_run(slices=[(3, [1, 2]), (4, [4]), (5, [5])])
    run.slices.filter(number=2).update(counts=[[None, None]])
    assert counted_before(run.pk, 0, 3) == ([1, 2], 1)
    assert counts_of(run, run.verdicts.get(), 3)["start_line"] == 299
    assert counts_of(run, run.verdicts.get(), 2) is None
    assert counted_before(run.pk, 0, 1) == ([], 0)
