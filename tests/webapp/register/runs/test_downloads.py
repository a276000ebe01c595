"""Downloads of a run: its histograms in three formats with the same rows, and its configuration."""

import csv
import io
import json

import pyarrow.parquet as pq
import pytest

from results.models import Companion, Evidence, Histogram, Run
from tests.results.builders import LOGS
from tests.webapp.register.conftest import SLOW_DISK_FACTS
from webapp.register.runs.histograms import COLUMNS
from webapp.register.runs.reproduce import reproduction_of

pytestmark = pytest.mark.django_db

CONFIG = [
    ["device-names", "/dev/loop4"], ["num-devices", "1"], ["service-threads", "10"], ["test-duration-sec", "40"],
    ["report-interval-sec", "1"], ["microsecond-histograms", "no"], ["read-reqs-per-sec", "600"],
    ["write-reqs-per-sec", "300"], ["record-bytes", "1536"], ["scheduler-mode", "noop"],
]  # fmt: skip
FACTS = SLOW_DISK_FACTS | {"config": CONFIG, "arrivals": "lockstep"}


@pytest.fixture
def run(make_log_run):
    run = make_log_run(facts=FACTS)
    Histogram.objects.filter(run=run).update(counts=[3, 0, 1], ops_count=4, role="reads")
    return run


def content_of(client, run, form):
    response = client.get(f"/runs/{run.public_id}/histograms.{form}")
    assert response.headers["Content-Disposition"] == f'attachment; filename="{run.public_id}-histograms.{form}"'
    return b"".join(response.streaming_content)


def test_every_bucket_with_operations_is_a_row(client, run):
    rows = list(csv.reader(io.StringIO(content_of(client, run, "csv").decode(), newline="")))
    assert tuple(rows[0]) == COLUMNS
    assert rows[1:3] == [
        ["run", "", "0", "40", "0", "reads", "reads", "", "0", "0", "1000", "3"],
        ["run", "", "0", "40", "0", "reads", "reads", "", "2", "2000", "4000", "1"],
    ]
    assert rows[3][:4] + rows[3][8:] == ["slice", "1", "0", "10", "0", "0", "1000", "5919"]
    assert len(rows) == 1 + 2 + 5 + 7 + 7 + 7  # counts that are not 0, of the run and of the slices above


def test_all_formats_have_the_same_rows(client, run):
    read = csv.DictReader(io.StringIO(content_of(client, run, "csv").decode(), newline=""))
    document = json.loads(content_of(client, run, "json"))
    table = pq.read_table(io.BytesIO(content_of(client, run, "parquet"))).to_pylist()
    assert (document["schema"], document["run"]) == ("drivecert.histograms/1", run.public_id)
    assert document["rows"] == table
    assert [{name: "" if value is None else str(value) for name, value in row.items()} for row in table] == list(read)


def test_a_bucket_beyond_the_largest_number_has_no_end(client, run):
    Histogram.objects.filter(run=run).update(unit="us", counts=[0] * 63 + [1, 1])
    rows = json.loads(content_of(client, run, "json"))["rows"][:2]
    assert [(row["lower_us"], row["upper_us"]) for row in rows] == [(2**62, None), (None, None)]


@pytest.mark.parametrize("form", ["xml", "csv.gz", ""])
def test_other_formats_do_not_exist(client, run, form):
    assert client.get(f"/runs/{run.public_id}/histograms.{form}").status_code == 404


def test_counts_of_a_withheld_log_are_not_sent(client, run):
    Evidence.objects.filter(pk=run.reading.evidence.pk).update(sequestered=True)
    assert client.get(f"/runs/{run.public_id}/histograms.csv").status_code == 451
    assert "histograms.csv" not in client.get(f"/runs/{run.public_id}/").text


def test_the_configuration_of_a_withheld_log_is_not_made(client, run):
    assert client.get(f"/runs/{run.public_id}/again.conf").status_code == 200
    Evidence.objects.filter(pk=run.reading.evidence.pk).update(sequestered=True)
    assert client.get(f"/runs/{run.public_id}/again.conf").status_code == 451
    assert "again.conf" not in client.get(f"/runs/{run.public_id}/").text


def test_text_that_looks_like_a_formula_stays_text(client, run):
    Histogram.objects.filter(run=run).update(name="=1+1", device="@SUM(A1)")
    assert b"'=1+1,reads,'@SUM(A1)," in content_of(client, run, "csv")


def test_the_configuration_is_that_of_the_log_without_devices_of_another_host(client, run):
    text = client.get(f"/runs/{run.public_id}/again.conf").text
    settings = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert settings[0] == "device-names: /dev/NAME-YOUR-DRIVE"
    assert settings[1:4] == ["service-threads: 10", "test-duration-sec: 40", "report-interval-sec: 1"]
    assert settings[-1] == "arrivals: lockstep"
    assert f"# SHA-256 of the log: {run.reading.evidence.sha256}" in text
    assert "# device of that run: /dev/loop4" in text


@pytest.mark.parametrize(
    ("coalesce_us", "is_written"), [(50, True), (1000, True), (1001, False), (0, False), (None, False)]
)
def test_the_configuration_has_the_coalescing_of_the_log(client, run, coalesce_us, is_written):
    Run.objects.filter(pk=run.pk).update(facts=FACTS | {"coalesce_us": coalesce_us})
    text = client.get(f"/runs/{run.public_id}/again.conf").text
    assert (f"\ncoalesce-us: {coalesce_us}\n" in text, "coalesce-us" in text) == (is_written, is_written)


def test_the_page_has_the_file_the_commands_and_what_is_left_out(client, run):
    text = client.get(f"/runs/{run.public_id}/").text
    assert f'href="/runs/{run.public_id}/again.conf"' in text
    assert f"drivetest storage {run.public_id}.conf &gt; {run.public_id}-again.log" in text
    assert "does not accept them or their value: scheduler-mode." in text


@pytest.mark.parametrize(("slice_length_s", "ending"), [(20, "--slice-sec 20"), (None, "operational-database")])
def test_a_repeated_run_is_judged_in_the_same_slices(make_log_run, slice_length_s, ending):
    run = make_log_run(facts=FACTS)
    run.slice_length_s = slice_length_s
    again = reproduction_of(run, run.reading.evidence)
    assert again is not None
    assert again["commands"][-1].endswith(ending)


@pytest.mark.parametrize("value", ["40; rm -rf /", "$(reboot)", "40\nmax-lag-sec: 0", "", "\u202e40", "9" * 21])
def test_a_value_that_is_not_plain_is_left_out_of_the_configuration(make_log_run, value):
    run = make_log_run(
        facts=FACTS | {"config": [*CONFIG, ["max-lag-sec", value]], "devices": [{"name": value, "size_bytes": 1}]}
    )
    again = reproduction_of(run, run.reading.evidence)
    assert again is not None
    assert "max-lag-sec" not in again["text"]
    assert again["left_out"] == ["scheduler-mode", "max-lag-sec"]
    assert all(
        line.startswith(("#", "device-names: ")) or line[:1].islower() or not line for line in again["text"].split("\n")
    )


def test_the_reader_must_fill_in_every_device(make_log_run):
    run = make_log_run(facts=FACTS | {"device_count": 3})
    again = reproduction_of(run, run.reading.evidence)
    assert again is not None
    assert again["text"].count("NAME-YOUR-DRIVE-") == 3
    assert again["commands"][0].endswith("-1 /dev/NAME-YOUR-DRIVE-2 /dev/NAME-YOUR-DRIVE-3")


@pytest.mark.parametrize("facts", [{"config": []}, {"config": [["read-reqs-per-sec", "600"]]}])
def test_a_log_without_its_load_has_no_configuration(client, make_log_run, facts):
    run = make_log_run(facts=SLOW_DISK_FACTS | facts)
    assert client.get(f"/runs/{run.public_id}/again.conf").status_code == 404
    assert 'id="again"' not in client.get(f"/runs/{run.public_id}/").text


def test_the_configuration_of_a_real_run_equals_the_original(make_log_run):
    original = dict(line.split(": ") for line in (LOGS / "slow-disk-ms.conf").read_text().splitlines())
    log = (LOGS / "slow-disk-ms.log").read_text()
    printed = [line.split(": ", 1) for line in log.split("CONFIGURATION\n")[1].split("\n\n")[0].splitlines()]
    run = make_log_run(facts=FACTS | {"config": printed})
    again = reproduction_of(run, run.reading.evidence)
    assert again is not None
    repeated = dict(line.split(": ") for line in again["text"].splitlines() if line and not line.startswith("#"))
    assert {key: repeated[key] for key in original if key != "device-names"} == {
        key: value for key, value in original.items() if key != "device-names"
    }


def test_files_next_to_a_withheld_log_are_withheld_with_it(client, run):
    stated = {"organisation": run.submission.organisation, "size_bytes": 1}
    run.submission.side_file = Evidence.objects.create(sha256="e" * 64, filename="side.jsonl", **stated)
    run.submission.save()
    other = Evidence.objects.create(sha256="f" * 64, filename="other.txt", **stated)
    Companion.objects.create(submission=run.submission, evidence=other, role="other")
    page = client.get(f"/runs/{run.public_id}/").text
    addresses = [f"/runs/{run.public_id}/side.jsonl", f"/runs/{run.public_id}/companions/{other.sha256}"]
    assert all(f'href="{address}"' in page for address in addresses)
    Evidence.objects.filter(pk=run.reading.evidence.pk).update(sequestered=True)
    page = client.get(f"/runs/{run.public_id}/").text
    assert not any(f'href="{address}"' in page for address in addresses)
    assert [client.get(address).status_code for address in addresses] == [451, 451]
