"""The figures of a YCSB run are traced to the rows of real outputs that state them."""

import gzip
import io
import re

import pytest
import zstandard

from results.ingest.queue import sweep
from results.intake.submissions import CompanionUpload, accept_submission
from results.models import Run
from results.provenance.trace import trace
from tests.results.builders import DATA, FACTS, make_organisation

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("evidence_dir", "real_reader")]
FOLDER = DATA / "ycsb"
FIGURE_ROW = re.compile(r"\[(READ|UPDATE|CLEANUP)\], (Operations|Average|Min|Max|.*Percentile)")
JAVA, JSON, GO = (
    "ycsb-0.17.0/basicdb-run-a",
    "ycsb-0.17.0/basicdb-run-a-json",
    "go-ycsb-v1.0.1/badger-run-a-style-plain",
)


def traced(case, pack=bytes, endings=("stderr",)):
    """Return the trace of a log's run, and the lines of log and standard error."""
    files = {ending: (FOLDER / f"{case}.{ending}").read_bytes() for ending in ("log", *endings)}
    companions = [CompanionUpload(io.BytesIO(files[ending]), f"load.{ending}") for ending in endings]
    stream = io.BytesIO(pack(files["log"]))
    submission = accept_submission(
        make_organisation(), stream, "load.log", FACTS, "form", None, companions=companions
    ).submission
    sweep()
    lines = {f"load.{ending}": content.decode().splitlines() for ending, content in files.items()}
    return list(trace(Run.objects.get(submission=submission))), lines


def line_at(origin, lines):
    number, name = re.search(r"lines? (\d+).* of (\S+?)(,|$)", origin).groups()[:2]
    return lines[name][int(number) - 1]


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
def test_each_figure_is_traced_to_the_row_that_prints_it(pack):
    trace_rows, lines = traced(JAVA, pack)
    figures = [each for each in trace_rows if re.search(r"_us$|percentile|ops_count$", each.name) and each.value != "0"]
    figures = [each for each in figures if "line" in each.origin]
    rows = [line for line in lines["load.log"] if FIGURE_ROW.match(line)]
    assert len(figures) == len(rows) == 18
    for each in figures:
        stated = line_at(each.origin, lines).rpartition(", ")[2]
        assert float(stated) == float(each.value.removesuffix(" us")), each


def test_a_percentile_is_traced_to_its_own_row_and_not_to_a_neighbour():
    trace_rows, lines = traced(JAVA)
    (origin,) = [each.origin for each in trace_rows if each.name == "READ ok service time, percentile 99"]
    assert line_at(origin, lines).startswith("[READ], 99thPercentileLatency(us), ")


def test_a_percentile_in_milliseconds_is_not_read_as_a_bucket():
    trace_rows, lines = traced("ycsb-0.1.4/basicdb-load", endings=())
    (each,) = [each for each in trace_rows if each.name == "INSERT ok service time, percentile 95"]
    assert (each.value, line_at(each.origin, lines)) == ("2000 us", "[INSERT], 95thPercentileLatency(ms), 2")


def test_the_whole_runs_figures_are_traced():
    trace_rows, lines = traced(JAVA)
    origins = {each.name: each.origin for each in trace_rows}
    assert line_at(origins["throughput_ops_per_s"], lines).startswith("[OVERALL], Throughput(ops/sec), ")
    assert line_at(origins["runtime_ms"], lines).startswith("[OVERALL], RunTime(ms), ")


def test_rows_of_json_are_traced_to_the_line_of_their_value():
    trace_rows, lines = traced(JSON)
    origins = {each.name: each.origin for each in trace_rows}
    assert line_at(origins["runtime_ms"], lines) == '  "value" : 310'
    value = {each.name: each.value for each in trace_rows}["READ ok service time, ops_count"]
    assert re.search(rf'"value" : {value}\b', line_at(origins["READ ok service time, ops_count"], lines))


def test_the_requested_load_is_traced_to_the_command_line_in_the_companion():
    trace_rows, lines = traced(JAVA)
    (threads,) = [each for each in trace_rows if each.name == "threads_count"]
    assert threads.value == "4"
    assert "-threads 4" in line_at(threads.origin, lines)


def test_companions_are_listed_with_their_hash_and_role():
    trace_rows, _ = traced(JAVA)
    (companion,) = [each for each in trace_rows if each.name == "companion"]
    assert companion.origin == "load.stderr, read as stderr"


def test_the_operations_of_go_ycsb_are_traced_to_their_last_line():
    trace_rows, lines = traced(GO, endings=("stderr", "cmd"))
    origins = {each.name: each.origin for each in trace_rows}
    last = max(number for number, line in enumerate(lines["load.log"], 1) if line.startswith("READ "))
    assert origins["READ ok service time, ops_count"] == f"line {last} of load.log"
    assert "--threads" in line_at(origins["threads_count"], lines)


def test_status_lines_are_traced_to_their_place():
    trace_rows, lines = traced("ycsb-0.17.0/basicdb-load", endings=())
    (status,) = [each for each in trace_rows if each.name == "status lines"]
    assert status.value == "2"
    assert " sec: 72 operations; " in line_at(status.origin, lines)


def test_a_missing_log_is_reported(settings, tmp_path):
    traced(JAVA)
    settings.EVIDENCE_DIR = tmp_path / "elsewhere"
    origins = {each.name: each.origin for each in trace(Run.objects.get())}
    assert "line not looked up" in origins["runtime_ms"]
