import re
from html.parser import HTMLParser

import pytest

from results.ingest.queue import sweep
from results.intake.submissions import SubmissionMetadata
from results.models import Slice, Submission
from tests.results.builders import LOGS, link_key, log_bytes, send
from tests.results.documents import YCSB_LOG, YCSB_RUN, answer_with, document_of
from webapp.templatetags.pages import breakable

pytestmark = pytest.mark.django_db


@pytest.fixture
def submission(evidence_dir, stand_in, exemplar, vera):
    submission = send(exemplar, log_bytes("slow-disk-ms"), vera)
    sweep()
    return submission


def address(submission):
    return f"/submissions/{submission.public_id}/"


class SliceTableReader(HTMLParser):
    """Collects the cells of the slice table as a reader of the page sees them."""

    def __init__(self):
        super().__init__()
        self.rows, self.is_inside, self.is_hidden = [], False, False

    def handle_starttag(self, tag, attrs):
        classes = dict(attrs).get("class") or ""
        self.is_inside = self.is_inside or (tag == "table" and "slices" in classes)
        self.is_hidden = "vh" in classes or classes == "u"
        if self.is_inside and tag == "tr":
            self.rows.append([])
        if self.is_inside and tag in {"td", "th"}:
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        self.is_hidden = False
        self.is_inside = self.is_inside and tag != "table"

    def handle_data(self, data):
        if self.is_inside and not self.is_hidden and data.strip():
            self.rows[-1][-1] += data.strip()


def printed_rows(case):
    rows = [line.split() for line in (LOGS / f"{case}.latency.txt").read_text().splitlines()]
    return [row for row in rows if len(row) == 19 and (row[0].isdigit() or row[0] in {"avg", "max"})]


@pytest.mark.parametrize("case", ["four-us", "slow-disk-ms"])
def test_the_slice_table_is_upstreams_to_the_digit(as_user, vera, exemplar, evidence_dir, stand_in, case):
    submission = send(exemplar, log_bytes(case), vera)
    sweep()
    reader = SliceTableReader()
    reader.feed(as_user(vera).get(address(submission)).content.decode())
    assert reader.rows[1:] == printed_rows(case)


def test_the_page_shows_the_verdict_with_its_reason_and_every_violation(as_user, vera, submission):
    page = as_user(vera).get(address(submission)).content.decode()
    assert '<b class="fail">fails</b>: slice 2 (10-20 s), reads over 64 ms: 0.33 % &gt; 0.1 %' in page
    assert len(re.findall(r"<li>slice \d", page)) == 4
    assert f'href="/runs/{submission.runs.get().public_id}/"' in page
    assert breakable(submission.log.sha256) in page


def test_the_average_of_act_and_the_share_of_the_whole_run_differ_and_both_pages_say_why(as_user, vera, submission):
    run = submission.runs.get()
    table = as_user(vera).get(address(submission)).content.decode()
    page = as_user(vera).get(f"/runs/{run.public_id}/").content.decode()
    reader = SliceTableReader()
    reader.feed(table)
    (average,) = [row[1] for row in reader.rows if row[0] == "avg"]
    whole_run = run.shares.get(statistic="overall", threshold_us=1000).printed
    assert (average, whole_run) == ("3.04", "3.05")
    assert "The average is the mean of the slices' shares, as act_latency.py prints it." in table
    assert "The average that act_latency.py prints is the mean of the slices' shares" in page


def test_cells_over_their_limit_are_marked_with_a_word(as_user, vera, submission):
    page = as_user(vera).get(address(submission)).content.decode()
    table = page[page.index('<table class="slices">') :]
    marked = re.findall(r'<span class="fail">([\d.]+)<span class="vh"> over the limit', table)
    assert marked == ["0.33", "0.17", "5.83", "1.33"]


def test_an_unreadable_log_shows_what_was_expected_and_the_line_of_the_error(
    as_user, vera, exemplar, evidence_dir, stand_in
):
    submission = send(exemplar, b"no log", vera)
    sweep()
    page = as_user(vera).get(address(submission)).content.decode()
    for part in ["Reading stopped at line 1.", "Expected: a line", "Got: something else", "Remedy: Upload"]:
        assert part in page
    assert "http-equiv" not in page
    assert '<a href="/submit/">submit it again</a>' in page
    assert "<b>Review</b>" not in page


def test_a_waiting_page_polls_with_a_script_or_offers_a_link_and_a_finished_one_does_neither(
    as_user, vera, exemplar, evidence_dir, stand_in
):
    submission = send(exemplar, log_bytes("four-us"), vera)
    page = as_user(vera).get(address(submission)).text
    assert "js/reading.js" in page
    assert '<noscript><a href="">Reload</a> this page' in page
    assert "http-equiv" not in page
    sweep()
    page = as_user(vera).get(address(submission)).text
    assert "data-reading" not in page
    assert "js/reading.js" not in page


def test_owners_staff_and_holders_of_the_link_see_it(as_user, client, vera, rita, submission):
    assert as_user(vera).get(address(submission)).status_code == 200
    assert as_user(rita).get(address(submission)).status_code == 200
    answer = client.get(address(submission), {"key": link_key(submission)})
    assert answer.status_code == 200
    assert answer.headers["X-Robots-Tag"] == "noindex"
    assert "no-store" in answer.headers["Cache-Control"]


def test_the_submission_is_not_revealed_to_others(as_user, client, otto, submission):
    assert as_user(otto).get(address(submission)).status_code == 404
    assert as_user(otto).get("/submissions/s-nothing/").status_code == 404
    for path in [address(submission), "/submissions/s-nothing/"]:
        answer = client.get(path, {"key": "wrong"})
        assert (answer.status_code, answer.headers["Location"].split("?")[0]) == (302, "/accounts/login/")


def test_a_holder_of_the_link_gets_neither_the_link_nor_forms_for_decisions(client, submission):
    page = client.get(address(submission), {"key": link_key(submission)}).content.decode()
    assert "People without an account can read this page" not in page
    assert "<h3>Review</h3>" not in page


def test_names_are_escaped(as_user, vera, exemplar, evidence_dir, stand_in):
    script = "<script>alert(1)</script>"
    facts = SubmissionMetadata(
        vendor=script, model=script, part_number=script, firmware=script, notes=script, category="cloud"
    )
    submission = send(exemplar, log_bytes("four-us"), vera, facts)
    submission.log.filename = script
    submission.log.save()
    sweep()
    for path in [address(submission), "/submissions/"]:
        page = as_user(vera).get(path).content.decode()
        assert "&lt;script&gt;alert(1)" in page
        assert script not in page


def test_the_list_shows_only_submissions_of_the_users_organisation(as_user, vera, otto, submission):
    assert submission.public_id in as_user(vera).get("/submissions/").content.decode()
    assert submission.public_id not in as_user(otto).get("/submissions/").content.decode()


@pytest.mark.parametrize(("path", "person"), [("/submissions/", "vera"), ("/submissions/review/", "rita")])
def test_lists_need_as_many_queries_for_50_rows_as_for_one(
    request, as_user, submission, path, person, connection_queries
):
    client = as_user(request.getfixturevalue(person))
    with connection_queries() as one:
        client.get(path)
    for number in range(49):
        other = send(submission.organisation, f"log {number}".encode(), submission.submitted_by)
        other.log.readings.update(state="done")
    with connection_queries() as fifty:
        page = client.get(path).content.decode()
    assert page.count('<th scope="row">') == 50
    assert len(one) == len(fifty)


def test_the_page_of_a_submission_needs_as_many_queries_for_many_slices(as_user, vera, submission, connection_queries):
    client = as_user(vera)
    with connection_queries() as few:
        client.get(address(submission))
    add_slices(submission.runs.get(), range(5, 50))
    with connection_queries() as many:
        client.get(address(submission))
    assert len(few) == len(many)


def add_slices(run, numbers):
    run.slices.bulk_create(
        Slice(run=run, number=each, start_s=0, end_s=1, first_line=1, last_line=2, counts=[[1]]) for each in numbers
    )


@pytest.mark.parametrize(("total", "shown", "is_cut"), [(1000, 1002, False), (1001, 1000, True)])
def test_a_page_shows_1000_slices_and_states_what_it_leaves_out(as_user, vera, submission, total, shown, is_cut):
    add_slices(submission.runs.get(), range(5, total + 1))
    page = as_user(vera).get(address(submission)).content.decode()
    reader = SliceTableReader()
    reader.feed(page)
    assert len(reader.rows[1:]) == shown  # average and maximum are of all slices, or left out
    assert ("The table has the first 1,000 of 1,001 slices" in page) is is_cut


@pytest.mark.parametrize(("total", "shown", "is_cut"), [(100, 100, False), (101, 100, True)])
def test_a_page_shows_100_violations_and_states_what_it_leaves_out(as_user, vera, submission, total, shown, is_cut):
    verdict = submission.runs.get().verdicts.get()
    verdict.document["violations"] = verdict.document["violations"][:1] * total
    verdict.save()
    page = as_user(vera).get(address(submission)).content.decode()
    assert len(re.findall(r"<li>slice \d", page)) == shown
    assert ("The list has the 100 largest of 101 shares" in page) is is_cut


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("failed", "no product: the log could not be read"),
        ("pending", "the product is identified after the log is read"),
        ("done", "awaiting identity"),
    ],
)
def test_only_a_read_log_waits_for_its_product(as_user, vera, submission, state, said):
    submission.log.readings.update(state=state)
    page = as_user(vera).get(address(submission)).text
    assert f"<dt>Product</dt><dd>{said}</dd>" in page
    assert ("no product of the register has exactly" in page) is (state == "done")


def test_a_slice_length_is_shown_for_act_and_not_for_ycsb(as_user, vera, exemplar, submission, program, tmp_path):
    answer_with(program, tmp_path, document_of(YCSB_LOG, ycsb_runs=[YCSB_RUN]))
    of_ycsb = send(exemplar, YCSB_LOG, vera)
    sweep()
    assert "Requested slice length" in as_user(vera).get(address(submission)).text
    assert "Requested slice length" not in as_user(vera).get(address(of_ycsb)).text


def test_several_devices_of_another_size_are_listed_in_one_box(as_user, vera, submission):
    run = submission.runs.get()
    run.facts["devices"] = [
        {"name": f"/dev/sd{name}", "size_bytes": size} for name, size in zip("abc", (1, 1, 2), strict=True)
    ]
    run.save()
    submission.capacity_gb = 3_200
    submission.save()
    page = as_user(vera).get(address(submission)).content.decode()
    assert page.count("<b>Size differs from the stated capacity.</b>") == 1
    assert "/dev/sda, /dev/sdb have " in page
    assert "/dev/sdc has " in page


def test_a_submission_without_a_stated_identity_says_so(as_user, vera, submission):
    Submission.objects.update(category="", vendor="", model="", part_number="", capacity_gb=None)
    page = as_user(vera).get(address(submission)).text
    assert "no identity was stated; a reviewer assigns a product" in page
    assert "exactly the stated identity" not in page
