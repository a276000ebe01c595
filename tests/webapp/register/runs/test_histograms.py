"""The explanation of times on the page of a run, for real logs of three families."""

import re

import pytest

from results.ingest.queue import sweep
from results.models import Run
from tests.results.builders import DATA, link_key, make_organisation, send
from tests.webapp.register.pages import read_rows
from webapp.register.runs import histograms as times

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("evidence_dir", "real_reader")]


@pytest.fixture
def page_of(client):
    def read(case):
        submission = send(make_organisation(), (DATA / "act" / f"{case}.log").read_bytes())
        sweep()
        run = Run.objects.get(submission=submission)
        return client.get(f"/runs/{run.public_id}/", {"key": link_key(submission)}), run

    return read


def test_reads_of_versions_up_to_5_3_include_queue_time_next_to_device_time(page_of):
    page, run = page_of("5.3/commit-us")
    assert (
        "The verdict uses the histogram reads, time in queue and service. Times start when a request was due"
        in page.text
    )
    assert "Comparisons with ACT 6.x use the histogram device-reads, service time." in page.text
    shares = run.verdicts.get().document["compared"]["shares"]
    compared = page.text.partition('id="times"')[2].partition("</dl>")[0]
    assert len(re.findall(r"<dt>(?:<a [^>]*>)?worst slice", compared)) == 3
    assert all(f"<dd>{share['share_pct']} <small>" in compared for share in shares)


def test_every_histogram_is_listed_with_its_time_and_use(page_of):
    page, run = page_of("5.3/commit-us")
    _, *rows = [row for row in read_rows(page) if len(row) == 5]
    assert len(rows) == run.histograms.count() == 8
    assert rows[0] == ["reads", "read requests of the program", "time in queue and service", "40,001", "judged"]
    assert rows[1] == ["device-reads", "reads at the devices", "service time", "40,001", "compared"]


def test_reads_of_6_x_are_device_times(page_of):
    page, _ = page_of("6.6/four-us")
    assert "The verdict uses the histogram reads, service time." in page.text
    assert "Comparisons with" not in page.text


def test_version_1_x_is_marked_as_not_comparable(page_of):
    page, _ = page_of("1.x/single")
    assert "time in queue and service" in page.text
    assert times.NOT_COMPARED in page.text


def test_very_many_histograms_are_counted_and_truncated(page_of, client, monkeypatch):
    _, run = page_of("5.3/commit-us")
    monkeypatch.setattr(times, "SHOWN_HISTOGRAMS", 7)
    address = f"/runs/{run.public_id}/?key={link_key(run.submission)}"
    assert "The table has the first 7 of 8 histograms." in client.get(address).text
    monkeypatch.setattr(times, "SHOWN_HISTOGRAMS", 8)
    assert "of 8." not in client.get(address).text


def test_the_remedy_of_a_finding_is_separate_from_its_sentence(page_of):
    page, run = page_of("5.3/commit-us")
    finding = run.findings.get(rule_id="commit-to-device")
    assert f"<p>{finding.sentence}</p><p>Remedy: {finding.remedy}</p>" in page.text
