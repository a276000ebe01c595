"""Text of a withheld log: its configuration, devices, last line, properties and command line are not shown."""

import re

import pytest

from results.history import record_event, run_subject
from results.models import Evidence, Histogram, Run, YcsbRun
from tests.webapp.register.conftest import SLOW_DISK_FACTS

pytestmark = pytest.mark.django_db
LAST_WORDS = "ERROR: lag is 47 sec"
OF_A_DEVICE = {"ordinal": 1, "unit": "ms", "role": "reads-of-device", "ops_count": 9, "counts": []}


def withhold(run):
    Evidence.objects.filter(pk=run.reading.evidence_id).update(sequestered=True)
    return run


@pytest.fixture
def run(make_log_run):
    run = make_log_run(facts=SLOW_DISK_FACTS | {"stop": {"kind": "lag", "line": 9, "text": LAST_WORDS}})
    Histogram.objects.create(run=run, name="/dev/zram1-reads", device="/dev/zram1", **OF_A_DEVICE)
    return run


def test_a_run_shows_the_text_of_its_log_until_it_is_withheld(client, run):
    words = ("/dev/loop4", "/dev/zram1", "service-threads", "1536 ... 1536", "Stopped</dt>", LAST_WORDS)
    shown = client.get(f"/runs/{run.public_id}/").text
    withheld = client.get(f"/runs/{withhold(run).public_id}/").text
    for word in words:
        assert word in shown
        assert word not in withheld
    assert "Withheld with the log." in withheld
    assert "Histograms of single devices are withheld with the log." in withheld
    assert "5.83" in withheld  # the figures that were published stay


def test_histograms_of_an_early_reading_without_a_device_are_identified_by_name(client, run):
    run.histograms.update(device="", role="")
    page = client.get(f"/runs/{withhold(run).public_id}/").text
    assert "/dev/zram1" not in page
    assert '<th scope="row" class="mono">reads</th>' in page


def test_no_link_leads_to_withheld_slices(client, run):
    links = re.compile(r'<a[^>]* href="/runs/[^"]*/slices/\d+/')
    assert len(links.findall(client.get(f"/runs/{run.public_id}/").text)) > 10
    assert client.get(f"/runs/{withhold(run).public_id}/slices/1/").status_code == 451
    assert links.findall(client.get(f"/runs/{run.public_id}/").text) == []


def test_a_comparison_has_no_condition_from_its_configuration(client, make_log_run):
    config = [["defrag-lwm-pct", "47"], ["large-block-op-kbytes", "512"], ["replication-factor", "3"]]
    facts = {"config": config, "record_bytes": 4711, "arrivals": "lockstep", "service_threads": 17}
    run, other = (make_log_run(facts=SLOW_DISK_FACTS | facts | {"asked_duration_s": 40}) for _ in range(2))
    address = f"/compare/?run={run.public_id}&run={other.public_id}&format=json"

    def conditions():
        return {row["name"]: row["values"] for row in client.get(address).json()["conditions"]}

    own = ("record_bytes", "large_block_bytes", "defrag_lwm_pct", "replication_factor", "arrivals", "requests_together")
    before = conditions()
    assert "not stated" not in [value for name in own for value in before[name]]
    withhold(run)
    after = conditions()
    assert [after[name] for name in own] == [["not stated", before[name][1]] for name in own]
    assert after["asked_duration_s"] == before["asked_duration_s"]  # which its own page shows too


def test_accepted_review_warnings_name_none_of_its_devices(client, run):
    record_event(
        None, "run-published", run_subject(run), "", {"after": "public", "in_spite_of": ["/dev/zram1 is no drive."]}
    )
    address = f"/api/v1/runs/{run.public_id}/"
    assert "/dev/zram1" in client.get(address).text
    withhold(run)
    (event,) = client.get(address).json()["history"]
    assert event["details"] == {"after": "public"}


def test_a_run_of_ycsb_shows_neither_its_properties_nor_its_command_line(client, make_log_run):
    run = make_log_run(workload="ycsb")
    YcsbRun.objects.create(
        run=run, validity="valid", workload="a", command_line="-p secret=1", properties=[["recordcount", "471100"]]
    )
    shown = [client.get(path).text for path in (f"/runs/{run.public_id}/", f"/api/v1/runs/{run.public_id}/")]
    withhold(run)
    withheld = [client.get(path).text for path in (f"/runs/{run.public_id}/", f"/api/v1/runs/{run.public_id}/")]
    for before, after in zip(shown, withheld, strict=True):
        assert "-p secret=1" in before
        assert "471100" in before
        assert "-p secret=1" not in after
        assert "471100" not in after


def test_the_list_of_runs_needs_as_many_queries_for_one_withheld_run_as_for_ten(make_log_run, count_queries):
    withhold(make_log_run())
    few = count_queries("/api/v1/runs/")
    for _ in range(9):
        withhold(make_log_run())
    assert Run.objects.count() == 10
    assert count_queries("/api/v1/runs/") == few
