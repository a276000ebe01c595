"""The rows of YCSB readings, number by number, and the key of a sweep."""

import copy
from decimal import Decimal

import pytest

from results.ingest.queue import read_one, sweep
from results.ingest.ycsb import sweep_key
from results.models import Run, YcsbRun
from tests.results.builders import make_organisation, send
from tests.results.documents import YCSB_LOG, YCSB_RUN, act_run, answer_with, document_of


def key(**columns):
    return sweep_key(YCSB_RUN | columns)


@pytest.mark.parametrize(
    "same",
    [
        {"threads_count": 16},
        {"throughput_ops_per_s": "1"},
        {"properties": [*reversed(YCSB_RUN["properties"])]},
        {"properties": [*YCSB_RUN["properties"], ["threadcount", "16"]]},
        {"properties": [*YCSB_RUN["properties"][:2], ["rocksdb.dir", "/elsewhere"]]},
        {"properties": [*YCSB_RUN["properties"], ["hdrhistogram.percentiles", "99"]]},
    ],
)
def test_threads_results_and_places_do_not_change_the_sweep_key(same):
    assert len(key()) == 64
    assert key(**same) == key()


@pytest.mark.parametrize(
    "other",
    [
        {"tool_version": "0.17.0"},
        {"phase": "load"},
        {"workload": "b"},
        {"binding": "site.ycsb.db.AerospikeClient"},
        {"record_count": 100_000},
        {"operation_count": None},
        {"target_ops_per_s": "1000"},
        {"times": "response"},
        {"properties": [*YCSB_RUN["properties"], ["requestdistribution", "uniform"]]},
        {"properties": [*YCSB_RUN["properties"], ["rocksdb.optionsfile", "direct.ini"]]},
    ],
)
def test_a_different_load_is_a_different_sweep(other):
    assert key(**other) != key()


@pytest.mark.parametrize("name", ["phase", "workload", "binding", "record_count"])
def test_a_run_with_too_few_facts_belongs_to_no_sweep(name):
    assert not key(**{name: None})


pytestmark = pytest.mark.django_db


@pytest.fixture
def read_in(evidence_dir, program, tmp_path):
    def read(*ycsb_runs, runs=()):
        answer_with(program, tmp_path, document_of(YCSB_LOG, runs=runs, ycsb_runs=ycsb_runs))
        submission = send(make_organisation(), YCSB_LOG)
        sweep()
        return submission

    return read


def changed(**columns):
    return copy.deepcopy(YCSB_RUN) | columns


def test_the_facts_are_stored_on_the_run_and_on_its_own_row(read_in):
    run = read_in(YCSB_RUN).runs.get()
    assert (run.workload, run.tool_version, run.duration_s, run.facts["stop"]["kind"]) == (
        "ycsb", "0.18.0-SNAPSHOT", 3, "finished",
    )  # fmt: skip
    facts = run.ycsb
    assert (facts.phase, facts.workload, facts.threads_count, facts.record_count) == ("run", "a", 8, 200_000)
    assert (facts.throughput_ops_per_s, facts.target_ops_per_s) == (Decimal("6525.285481239805"), None)
    assert (facts.validity, facts.reasons) == ("undecided", YCSB_RUN["validity"]["reasons"])
    assert run.findings.get().rule_id == "ycsb-few-samples"


def test_an_operation_stores_only_printed_numbers(read_in):
    read, update = read_in(YCSB_RUN).runs.get().ycsb.operations.all()
    assert (read.ops_count, read.mean_us, read.max_us) == (9975, 1091.1175939849625, 13527)
    assert (read.p50_us, read.p95_us, read.p99_us, read.p999_us, read.p9999_us) == (611, 3751, 6315, 10335, 13527)
    assert (update.mean_us, update.p95_us, update.p50_us, update.outcome, update.time) == (
        None, 30_000_000, None, "NOT_FOUND", "response",
    )  # fmt: skip


def test_status_lines_are_stored_as_rows_in_order(read_in):
    first, second = read_in(YCSB_RUN).runs.get().ycsb.intervals.all()
    assert (first.elapsed_s, first.done_ops_count, first.ops_per_s, first.operations) == (0, 0, None, [])
    assert (second.ops_per_s, second.operations) == (Decimal("1200.5"), [{"name": "READ", "mean_us": "41.0"}])


def test_runs_of_both_kinds_are_numbered_separately(read_in):
    submission = read_in(YCSB_RUN, changed(ordinal=1), runs=[act_run()])
    assert list(submission.runs.order_by("ordinal").values_list("ordinal", "workload")) == [
        (0, "act-storage"), (1, "ycsb"), (2, "ycsb"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "operation",
    [
        {"mean_us": "1E400"},
        {"max_us": "Infinity"},
        {"min_us": "12 us"},
        {"ops_count": 2**63},
        {"percentiles": [["99", "1E19"]]},
    ],
)
def test_an_impossible_number_is_refused_with_a_message(read_in, operation):
    operations = [YCSB_RUN["operations"][0] | operation]
    submission = read_in(changed(operations=operations))
    reading = submission.log.readings.get()
    assert (reading.state, reading.error["id"]) == ("failed", "value-out-of-range")
    assert Run.objects.count() == 0


@pytest.mark.parametrize("changes", [{"runtime_ms": "Infinity"}, {"throughput_ops_per_s": "1E+308"}])
def test_an_impossible_fact_is_refused_with_a_message(read_in, changes):
    reading = read_in(changed(**changes)).log.readings.get()
    assert (reading.state, reading.error["id"]) == ("failed", "value-out-of-range")


def test_a_repeated_reading_changes_nothing(read_in):
    submission = read_in(YCSB_RUN)
    public_id = submission.runs.get().public_id
    assert not read_one(submission.log.readings.get().pk)
    assert (Run.objects.get().public_id, YcsbRun.objects.count()) == (public_id, 1)


def test_host_telemetry_is_stored_with_the_facts_of_the_run(read_in):
    telemetry = {"cpu_busy_pct": {"min": "1.0", "mean": "2.0", "max": "3.0"}, "disks": [], "power": []}
    assert read_in(changed(telemetry=telemetry)).runs.get().facts["telemetry"] == telemetry


@pytest.mark.parametrize("columns", [{}, {"telemetry": None}])
def test_a_run_without_telemetry_has_none(read_in, columns):
    assert "telemetry" not in read_in(changed(**columns)).runs.get().facts
