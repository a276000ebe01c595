"""The lines of the stored log from which a number was read."""

import io

import pytest

from results.evidence.store import store
from results.models import Evidence
from tests.results.builders import link_key
from tests.results.stored_files import use_directory
from webapp.register.runs import log_lines as lines

pytestmark = pytest.mark.django_db

HUNDRED = b"".join(b"line %d of the log\n" % number for number in range(1, 101))


@pytest.fixture(autouse=True)
def _own_evidence(settings, tmp_path):
    use_directory(settings, tmp_path)


@pytest.fixture
def keep(make_log_run):
    """Return a function that stores a log and makes its run."""

    def make(content, **columns):
        run, stored = make_log_run(**columns), store(io.BytesIO(content))
        fields = {"sha256": stored.sha256, "size_bytes": len(content), "content_size_bytes": None}
        Evidence.objects.filter(pk=run.reading.evidence.pk).update(**fields)
        return run

    return make


def shown(client, run, place):
    return client.get(f"/runs/{run.public_id}/lines/{place}/")


def test_the_requested_lines_are_marked_among_their_neighbours(client, keep):
    text = shown(client, keep(HUNDRED), "50-51").text
    assert text.count('class="asked"') == 2
    assert "line 30 of the log" in text
    assert "line 29 of the log" not in text


@pytest.mark.parametrize(("place", "is_there"), [("100", True), ("101", False)])
def test_a_line_beyond_the_last_is_reported(client, keep, place, is_there):
    answer = shown(client, keep(HUNDRED), place)
    assert (lines.NOT_HERE in answer.text) is not is_there
    assert answer.status_code == (200 if is_there else 404)


@pytest.mark.parametrize("place", ["0", "7-6", "1000000000001"])
def test_an_invalid_line_number_has_no_page(client, keep, place):
    assert shown(client, keep(HUNDRED), place).status_code == 404


def test_marks_are_explained_once_and_not_on_every_line(client, keep):
    text = shown(client, keep(HUNDRED), "50-51").text
    assert text.count("Lines 50 to 51 are marked") == 1
    assert "asked," not in text


def test_at_most_a_page_of_lines_is_shown_and_the_next_are_linked(client, keep, monkeypatch):
    monkeypatch.setattr(lines, "SHOWN_LINES", 30)
    run = keep(HUNDRED)
    text = shown(client, run, "1").text
    assert "line 30 of the log" in text
    assert "line 31 of the log" not in text
    assert f"/runs/{run.public_id}/lines/31/" in text


@pytest.mark.parametrize(("over", "is_shown"), [(0, True), (-1, False)])
def test_a_log_that_is_too_large_to_show_is_named(client, keep, monkeypatch, over, is_shown):
    monkeypatch.setattr(lines, "LARGEST_BYTES", len(HUNDRED) + over)
    assert (lines.TOO_LARGE in shown(client, keep(HUNDRED), "1").text) is not is_shown


def test_control_characters_are_shown_as_symbols(client, keep):
    text = shown(client, keep("a\u202eb\x1b[2Jc<script>\n".encode()), "1").text
    assert "a\ufffdb\ufffd[2Jc&lt;script&gt;" in text


def test_lines_of_utf_16_are_read_as_text(client, keep):
    assert "<td>second</td>" in shown(client, keep("first\nsecond\n".encode("utf-16")), "2").text


def test_a_withheld_log_shows_no_line(client, keep):
    run = keep(HUNDRED)
    Evidence.objects.filter(pk=run.reading.evidence.pk).update(sequestered=True)
    answer = shown(client, run, "1")
    assert answer.status_code == 451
    assert "of the log" not in answer.text


def test_a_run_without_a_log_has_no_lines(client, make_published_run):
    assert shown(client, make_published_run(), "1").status_code == 404


def test_an_unreviewed_log_is_hidden_from_strangers(client, keep):
    run = keep(HUNDRED, visibility="unreviewed")
    assert shown(client, run, "1").status_code == 404
    by_link = client.get(f"/runs/{run.public_id}/lines/1/?key={link_key(run.submission)}")
    assert by_link.headers["Cache-Control"] == "private, no-cache"
    assert f"/runs/{run.public_id}/?key={link_key(run.submission)}" in by_link.text


def test_findings_and_slices_of_a_run_link_to_their_lines(client, keep):
    run = keep(HUNDRED)
    text = client.get(f"/runs/{run.public_id}/").text
    assert f'href="/runs/{run.public_id}/lines/434/"' in text
    assert f'href="/runs/{run.public_id}/lines/2-618/"' in text


def slice_lines_log():
    reports = (b"after %d sec:\nreads (6000 total)\n (00: 0000005919)\nwrites (1 total)\n" % s for s in range(1, 201))
    return b"".join(reports)


def test_the_counts_at_both_ends_of_a_slice_are_marked_and_the_lines_between_are_folded(client, keep):
    run = keep(slice_lines_log())  # reports of four lines; its second slice has the lines 200 to 299
    text = shown(client, run, "200-299").text
    assert text.count('class="asked"') == 6
    assert f'<a href="/runs/{run.public_id}/lines/200/">95 lines hidden</a>' in text
    assert "The counts of slice 2 are marked" in text
    assert "at its start" in text


def test_the_counts_before_a_slice_are_marked_after_a_gap(client, keep):
    run = keep(slice_lines_log())
    run.slices.filter(number=2).delete()
    text = shown(client, run, "300-399").text
    assert text.count('class="asked"') == 6
    assert f'<a href="/runs/{run.public_id}/lines/300/">95 lines hidden</a>' in text


def test_a_first_slice_of_one_report_has_no_counts_at_its_start(client, keep):
    run = keep(slice_lines_log())
    run.slices.filter(number=1).update(first_line=101, last_line=104)
    text = shown(client, run, "101-104").text
    assert text.count('class="asked"') == 3
    assert "The marked lines have the counts at the end of slice" in text
    assert "at its start" not in text


def test_the_lines_of_a_slice_are_shown_if_its_counts_are_not_found(client, keep):
    assert shown(client, keep(HUNDRED * 4), "200-299").text.count('class="asked"') == 100


@pytest.mark.parametrize(("last", "marked"), [(200, 199), (201, 0)])
def test_a_range_longer_than_a_page_is_not_marked(client, keep, last, marked):
    assert shown(client, keep(HUNDRED * 4), f"2-{last}").text.count('class="asked"') == marked
