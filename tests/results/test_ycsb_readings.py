"""Readings of every real output of YCSB in Java, compared with rows that this test parses by their grammar."""

import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from results.ingest.queue import sweep
from results.reader import process as reader_process
from tests.results.builders import make_organisation, send

FOLDER = Path(__file__).parents[1] / "data" / "ycsb"
LOGS = sorted(path for path in FOLDER.glob("ycsb-*/**/*.log") if path.stat().st_size)
ROW = re.compile(r"^\[([^\]]+)\], (.+), ([^, ]+)$")
JSON_ROW = re.compile(r'"metric" : "([^"]+)",\s+"measurement" : "([^"]+)",\s+"value" : "?([^"\s}]+)"?')
PASSED_OVER = re.compile(r"(TOTAL_GCS_|TOTAL_GC_TIME_[^%]|TOTAL_GC_TIME_%_|(MAX|MIN)_|USED_MEM|THREAD_C|SYS_LOAD|GCS)")
PERCENTILE = re.compile(r"p?([0-9.]+)(st|nd|rd|th)?(PercentileLatency\((us|ms)\))?")
FIELDS = {
    "AverageLatency(us)": "mean_us",
    "Average": "mean_us",
    "MinLatency(us)": "min_us",
    "Min": "min_us",
    "MaxLatency(us)": "max_us",
    "Max": "max_us",
    "LatencyVariance(us)": "variance_us2",
}
TOTALS = {"RunTime(ms)": "runtime_ms", "Throughput(ops/sec)": "throughput_ops_per_s"}
COLLECTIONS = {"Count": "count", "Time(ms)": "time_ms", "Time(%)": "time_pct"}
RECORDERS = {"Hdr": "hdrhistogram", "Bucket": "histogram", "Raw": "raw"}

pytestmark = pytest.mark.usefixtures("real_reader")


def rows_in(path: Path) -> Iterator[tuple[str, str, str]]:
    text = path.read_text(errors="replace")
    if '"metric" :' in text:
        yield from JSON_ROW.findall(text)
        return
    for line in text.splitlines():
        if row := ROW.match(line):
            yield row[1], row[2], row[3]


def operation_of(run, metric):
    """Return the operation of a metric's name, split as docs/reference/formats.md describes."""
    prefix = re.match(r"(Hdr|Bucket|Raw)(?=[A-Z])", metric)
    recorder = RECORDERS[prefix[1]] if prefix else None
    name = metric[len(prefix[1]) :] if prefix else metric
    time = "response" if name.startswith("Intended-") else None
    name = name.removeprefix("Intended-")
    name, outcome = re.fullmatch(r"(READ-MODIFY-WRITE|SCAN-LATENCY-PER-RECORD|[^-]+)(?:-(.+))?", name).groups()
    outcome = {None: "ok", "FAILED": "failed"}.get(outcome, outcome)
    for operation in run["operations"]:
        same = (operation["name"], operation["outcome"], operation["recorder"]) == (name, outcome, recorder)
        if same and (time is None or operation["time"] == time):
            return operation
    raise AssertionError(f"{metric} is not in the document")


def check_number(operation, measurement, value):
    """Check a row named by a number: a bucket, or a time of a series."""
    if measurement.startswith(">"):
        assert operation["buckets"]["beyond"] == [int(measurement[1:]), int(Decimal(value))]
    elif operation["series"] is not None:
        assert [int(measurement), value] in operation["series"]
    elif Decimal(value):
        assert [int(measurement), int(Decimal(value))] in operation["buckets"]["counts"]


def check_percentile(operation, measurement, value, is_first_hdr):
    share, _, _, unit = PERCENTILE.fullmatch(measurement).groups()
    share = "90" if is_first_hdr and share == "95" else share
    expected = Decimal(value) * (1000 if unit == "ms" else 1)
    assert Decimal(dict(operation["percentiles"])[share]) == expected


def check_operation(operation, measurement, value, is_first_hdr):
    if measurement in {"Operations", "Total Operations"}:
        assert operation["ops_count"] == Decimal(value)
    elif measurement.startswith("Return="):
        assert [measurement[7:], int(value)] in operation["returns"]
    elif operation["ops_count"] == 0:
        assert [operation["mean_us"], operation["min_us"], operation["percentiles"]] == [None, None, []]
    elif measurement in FIELDS:
        assert operation[FIELDS[measurement]] == value
    elif re.fullmatch(r">?[0-9]+", measurement):
        check_number(operation, measurement, value)
    elif not measurement.startswith("Below is"):
        check_percentile(operation, measurement, value, is_first_hdr)


def check_row(run, row, is_first_hdr):
    metric, measurement, value = row
    if metric == "OVERALL":
        assert run[TOTALS[measurement]] == value
    elif metric in {"TOTAL_GCs", "TOTAL_GC_TIME", "TOTAL_GC_TIME_%"}:
        assert run["collections"][COLLECTIONS[measurement]] == value
    elif not PASSED_OVER.match(metric):
        check_operation(operation_of(run, metric), measurement, value, is_first_hdr)


def read(path):
    return reader_process.read(path, 3600, PROFILE.read_text())


PROFILE = next(Path(__file__).parents[2].glob("runners/drivetest/**/operational-database.1.json"))


@pytest.mark.parametrize("path", LOGS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_row_of_a_log_is_in_the_document(path):
    rows = list(rows_in(path))
    runs = read(path)["ycsb_runs"]
    assert len(runs) == 1
    units = {row[1] for row in rows}
    is_first_hdr = "95thPercentileLatency(ms)" in units and any("." in row[2] for row in rows if row[1] == "Operations")
    for row in rows:
        check_row(runs[0], row, is_first_hdr)


STDERRS = [path for path in sorted(FOLDER.glob("ycsb-*/**/*.stderr")) if " operations; " in path.read_text()]


@pytest.mark.parametrize("path", STDERRS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_status_line_is_an_interval(path):
    intervals = read(path)["ycsb_runs"][0]["intervals"]
    lines = re.findall(r"(?:^|[ ])(\d+) sec: (\d+) operations;(?: ([0-9.]+) current)?", path.read_text(), re.M)
    expected = [[int(elapsed), int(ops), rate or None] for elapsed, ops, rate in lines]
    assert [[entry["elapsed_s"], entry["ops_count"], entry["ops_per_s"]] for entry in intervals] == expected
    counts = [int(count) for count in re.findall(r": Count=(\d+),", path.read_text())]
    ops_counts = [entry["ops_count"] for interval in intervals for entry in interval["operations"]]
    assert [count for count in ops_counts if count is not None] == counts


@pytest.mark.django_db
@pytest.mark.parametrize("path", LOGS[::4], ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_log_becomes_a_run_in_the_database(evidence_dir, path):
    submission = send(make_organisation(), path.read_bytes())
    assert sweep() == 1
    reading = submission.log.readings.get()
    assert (reading.state, reading.error) == ("done", None)
    document = read(path)["ycsb_runs"][0]
    run = submission.runs.get().ycsb
    assert (run.validity, run.done_ops_count) == (document["validity"]["outcome"], document["done_ops_count"])
    assert run.operations.count() == len(document["operations"])
