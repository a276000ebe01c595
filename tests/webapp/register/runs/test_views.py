"""The page and the downloads of a run: contents and access."""

import csv
import io

import pytest

from results.evidence.store import store
from results.models import Event, Evidence, Organisation, Run, Submission, Visibility
from tests.results.builders import link_key
from tests.results.stored_files import use_directory
from tests.webapp.register.conftest import LOG_BYTES, SLOW_DISK_VERDICT
from tests.webapp.register.pages import read_rows
from webapp.accounts.models import Membership

NBSP = "\N{NO-BREAK SPACE}"
pytestmark = pytest.mark.django_db

DOWNLOADS = ["", "log", "slices.csv"]


@pytest.fixture(autouse=True)
def _own_evidence(settings, tmp_path):
    use_directory(settings, tmp_path)


def keep_log(run):
    """Store the bytes of the evidence of the run."""
    stored = store(io.BytesIO(LOG_BYTES))
    Evidence.objects.filter(pk=run.reading.evidence.pk).update(sha256=stored.sha256)
    return run


def test_a_verdict_is_the_first_sentence_with_its_reasons(client, make_log_run):
    text = client.get(f"/runs/{make_log_run().public_id}/").text.replace(NBSP, " ")
    assert '<span class="fail">Fails</span>: slice 2 (10-20 s), reads over 64 ms: <a href=' in text
    assert "0.33 %</a> &gt; 0.1 %; also over 1 ms and 8 ms</p>" in text
    assert SLOW_DISK_VERDICT["reasons"][0] in text


def test_the_page_lists_violations_and_every_slice(client, make_log_run):
    rows = read_rows(client.get(f"/runs/{make_log_run().public_id}/"))
    assert rows[0] == ["2", "64 ms", "0.33", "0.1", "3.33x", "20 of 6,000"]
    slices = [row for row in rows if len(row) == 8 and row[0].isdigit()]
    assert [row[0] for row in slices] == ["1", "2", "3", "4"]
    assert slices[3][1:] == [
        "30-40 s",
        "5.83 over the limit",
        "1.33 over the limit",
        "0.00",
        "fails",
        "6,006",
        "400-499",
    ]


@pytest.mark.parametrize(("number", "is_cut"), [(100, False), (101, True)])
def test_very_many_violations_are_counted_and_truncated(client, make_log_run, number, is_cut):
    document = SLOW_DISK_VERDICT | {"violations": SLOW_DISK_VERDICT["violations"][:1] * number}
    text = client.get(f"/runs/{make_log_run(document=document).public_id}/").text
    assert text.count(">20 of 6,000<") == 100
    assert (f"The table has the 100 largest of {number}" in text) is is_cut


@pytest.mark.parametrize(
    "said",
    [
        '<a class="means" href="/explain/glossary/#what-is-judged-worst-slice-worst-hour">worst slice</a>, over 1',
        "worst slice, over 8\N{NO-BREAK SPACE}ms",
        "line 434",
        "decisive",
        "/dev/loop4",
        "537\N{NO-BREAK SPACE}MB",
        "service-threads",
        "600 reads/s and 300 writes/s",
        "2 to 618",
        "slow-disk-ms.log",
        "drivetest 0.1.0",
        "Sent by",
    ],
)
def test_the_page_shows_figures_findings_configuration_and_evidence(client, make_log_run, said):
    assert said in client.get(f"/runs/{make_log_run().public_id}/").text


def test_the_chart_has_its_data_table_and_file(client, make_log_run):
    text = client.get(f"/runs/{make_log_run().public_id}/").text
    assert '<script id="slices-chart" type="application/json">' in text
    assert 'data-plotly="/static/vendor/plotly/plotly-cartesian.min.js"' in text
    assert '<a href="#slices">Show as table</a>' in text
    assert "/slices.csv" in text


@pytest.mark.parametrize(("outcome", "word"), [("pass", "Passes"), ("undecided", "Undecided"), ("void", "Void")])
def test_only_a_fail_is_framed(client, make_log_run, outcome, word):
    document = {
        "outcome": outcome,
        "headline": f"{word.lower()}: so",
        "histogram": None,
        "shares": [],
        "violations": [],
    }
    run = make_log_run(document=document | {"reasons": []})
    assert f'<span class="pass">{word}</span>: so' in client.get(f"/runs/{run.public_id}/").text


def test_a_published_run_has_no_verdict_and_states_that_it_has_no_log(client, catalogue):
    run = Run.objects.get(product__slug="aws-m5d-24xlarge", device_count=1)
    text = client.get(f"/runs/{run.public_id}/").text
    assert "As published, AWS m5d.24xlarge (1\N{NO-BREAK SPACE}x\N{NO-BREAK SPACE}900" in text
    assert "a measurement, not a certificate" in text
    assert "the register has no log of it" in text
    assert '<span class="over">12.47</span>' in text
    assert "Not reported: firmware, date of the test, compression of the data, share of reads." in text


def test_markup_in_a_log_is_escaped(client, make_log_run):
    facts = {"config": [["device-names", "<script>alert(1)</script>"]], "stop": {"kind": "crashed", "text": "<b>"}}
    run = make_log_run(facts=facts, notes="<i>hello</i>", firmware="</script><script>")
    text = client.get(f"/runs/{run.public_id}/").text
    assert "&lt;script&gt;alert(1)" in text
    assert "<script>alert" not in text
    assert "<i>hello" not in text


def test_the_log_is_sent_unchanged(client, make_log_run):
    run = keep_log(make_log_run())
    response = client.get(f"/runs/{run.public_id}/log")
    assert response.getvalue() == LOG_BYTES
    assert response.headers["Content-Disposition"] == 'attachment; filename="slow-disk-ms.log"'
    assert response.headers["Content-Type"] == "application/octet-stream"
    assert response.headers["Cache-Control"] == "public, max-age=60"


def test_an_unchanged_log_is_not_sent_again(client, make_log_run):
    run = keep_log(make_log_run())
    first = client.get(f"/runs/{run.public_id}/log")
    again = client.get(f"/runs/{run.public_id}/log", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    first.close()


def test_the_side_file_of_a_lab_run_is_sent_too(client, make_log_run):
    run = keep_log(make_log_run())
    Submission.objects.filter(pk=run.submission.pk).update(side_file=run.reading.evidence)
    assert client.get(f"/runs/{run.public_id}/side.jsonl").getvalue() == LOG_BYTES
    assert f'href="/runs/{run.public_id}/side.jsonl"' in client.get(f"/runs/{run.public_id}/").text


def test_a_run_without_a_side_file_states_so(client, make_log_run):
    run = make_log_run()
    response = client.get(f"/runs/{run.public_id}/side.jsonl")
    assert (response.status_code, "no side file" in response.text) == (404, True)


def test_the_achieved_rate_is_shown_next_to_the_requested_one(client, make_log_run):
    text = client.get(f"/runs/{make_log_run().public_id}/").text
    assert "<dd>600.2 reads/s</dd>" in text  # 24,006 reads in 40 s, by the log's last block


def test_a_reason_in_the_headline_is_not_repeated(client, make_log_run):
    reason = "it ran 40 s in slices of 10 s; the profile asks 86400 s in slices of 3600 s"
    document = SLOW_DISK_VERDICT | {"outcome": "undecided", "headline": f"undecided: {reason}", "reasons": [reason]}
    run = make_log_run(document=document, duration_s=86_400)
    text = client.get(f"/runs/{run.public_id}/").text.replace(NBSP, " ")
    assert text.count(reason) == 1


def test_a_sequestered_log_is_withheld_and_its_run_stays(client, make_log_run):
    run = keep_log(make_log_run())
    Evidence.objects.filter(pk=run.reading.evidence.pk).update(sequestered=True)
    response = client.get(f"/runs/{run.public_id}/log")
    assert (response.status_code, LOG_BYTES in response.content) == (451, False)
    assert "withheld for legal reasons" in client.get(f"/runs/{run.public_id}/").text


@pytest.mark.parametrize("download", ["log", "slices.csv", "side.jsonl"])
def test_a_published_run_has_nothing_to_download(client, make_published_run, download):
    assert client.get(f"/runs/{make_published_run().public_id}/{download}").status_code == 404


def test_slices_as_csv_have_counts_and_shares_by_edge(client, make_log_run):
    response = client.get(f"/runs/{make_log_run().public_id}/slices.csv")
    lines = list(csv.DictReader(io.StringIO(response.text, newline="")))
    assert len(lines) == 4
    assert lines[1]["over_count_at_64000us"] == "20"
    assert (lines[3]["slice"], lines[3]["ops_count"], lines[3]["over_pct_at_1000us"]) == ("4", "6006", "5.83")


@pytest.mark.parametrize("download", DOWNLOADS)
def test_an_unreviewed_run_does_not_exist_for_strangers(client, make_log_run, make_user, download):
    run = keep_log(make_log_run(visibility=Visibility.UNREVIEWED))
    rival = Organisation.objects.create(
        slug="rival", name="Rival Storage", kind="vendor", confirmed_at="2026-01-01T00:00Z"
    )
    stranger = make_user()
    Membership.objects.create(user=stranger, organisation=rival, role="owner")
    client.force_login(stranger)
    response = client.get(f"/runs/{run.public_id}/{download}?key=wrong")
    missing = client.get(f"/runs/r-missing/{download}")
    assert response.status_code == missing.status_code == 404
    of_the_request = {"Content-Length": "", "X-Request-ID": ""}
    assert dict(response.headers) | of_the_request == dict(missing.headers) | of_the_request


@pytest.mark.parametrize("download", DOWNLOADS)
def test_an_unreviewed_run_opens_with_the_key_of_its_link(client, make_log_run, download):
    run = keep_log(make_log_run(visibility=Visibility.UNREVIEWED))
    response = client.get(f"/runs/{run.public_id}/{download}?key={link_key(run.submission)}")
    assert response.status_code == 200
    assert "private" in response.headers["Cache-Control"]
    assert response.headers["X-Robots-Tag"] == "noindex"
    response.close()


@pytest.mark.parametrize("download", DOWNLOADS)
def test_an_unreviewed_run_opens_only_with_its_link_key(client, make_log_run, download):
    run = keep_log(make_log_run())
    refused = client.get(f"/runs/{run.public_id}/{download}?colour=red")
    assert (refused.status_code, "Unknown parameter “colour”. This page has: " in refused.text) == (400, True)
    assert "“Key of the secret link” (key)." in refused.text
    answer = client.get(f"/runs/{run.public_id}/{download}?key=of-a-run-that-is-public-now")
    assert answer.status_code == 200
    answer.close()


def test_the_downloads_keep_the_link_key(client, make_log_run):
    run = make_log_run(visibility=Visibility.UNREVIEWED, product=None)
    text = client.get(f"/runs/{run.public_id}/?key={link_key(run.submission)}").text
    assert f'href="/runs/{run.public_id}/log?key={link_key(run.submission)}"' in text
    assert '<meta name="robots" content="noindex">' in text
    assert "The drive of this run has no matching product yet" in text
    assert "Exemplar EX9 960\N{NO-BREAK SPACE}GB" in text


def test_a_run_that_is_not_public_states_where_its_link_is(client, staff_client, make_log_run):
    run = make_log_run(visibility=Visibility.UNREVIEWED)
    link = f'the secret link on <a href="/submissions/{run.submission.public_id}/#link">its submission page</a>'
    assert link in staff_client.get(f"/runs/{run.public_id}/").text
    assert 'id="link"' in staff_client.get(f"/submissions/{run.submission.public_id}/").text
    text = client.get(f"/runs/{run.public_id}/?key={link_key(run.submission)}").text
    assert "You see this run through a secret link." in text
    assert "#link" not in text


def test_an_unreviewed_run_opens_for_its_organisation(client, make_log_run, make_user, organisation):
    run = make_log_run(visibility=Visibility.UNREVIEWED)
    member = make_user()
    Membership.objects.create(user=member, organisation=organisation, role="owner")
    client.force_login(member)
    response = client.get(f"/runs/{run.public_id}/")
    assert response.status_code == 200
    assert "private" in response.headers["Cache-Control"]


@pytest.mark.parametrize(("fields", "status"), [({"is_reviewer": True}, 200), ({"is_superuser": True}, 404)])
def test_an_unreviewed_run_opens_for_staff(client, make_log_run, make_user, fields, status):
    run = make_log_run(visibility=Visibility.UNREVIEWED)
    client.force_login(make_user(**fields))
    assert client.get(f"/runs/{run.public_id}/").status_code == status


def test_a_public_run_without_a_product_is_hidden_from_strangers(client, make_log_run):
    assert client.get(f"/runs/{make_log_run(product=None).public_id}/").status_code == 404


def test_a_public_run_looks_the_same_to_its_organisation(client, make_log_run, make_user):
    path = f"/runs/{make_log_run().public_id}/"
    before = client.get(path)
    client.force_login(make_user(is_reviewer=True))
    after = client.get(path)
    assert before.content == after.content
    assert "Cookie" not in after.headers.get("Vary", "")
    assert after.headers["Cache-Control"] == "public, max-age=60"


def test_a_withdrawn_run_shows_its_notice_and_reason(client, make_log_run):
    run = make_log_run(visibility=Visibility.WITHDRAWN)
    Event.objects.create(kind="run-withdrawn", subject_type="run", subject_id=run.public_id, reason="Wrong firmware.")
    response = client.get(f"/runs/{run.public_id}/")
    assert response.status_code == 200
    assert "This run was withdrawn on" in response.text
    assert "Wrong firmware." in response.text
    assert "5.83" in response.text


@pytest.mark.parametrize("is_virtual", [False, True])
def test_a_run_on_a_virtual_device_is_hidden_from_strangers_with_the_reason(
    client, admin_client, make_log_run, is_virtual
):
    address = f"/runs/{make_log_run(is_virtual=is_virtual).public_id}/"
    assert client.get(address).status_code == (404 if is_virtual else 200)
    page = admin_client.get(address).text
    assert ("Virtual device: never certifies" in page) is is_virtual
    assert ("a file, or a disk without its own identity, not a known drive" in page) is is_virtual
