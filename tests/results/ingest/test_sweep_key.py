import pytest

from results.ingest.sweep_key import sweep_key
from tests.results.documents import YCSB_RUN


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
def test_threads_results_and_places_make_no_other_sweep(same):
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
def test_another_load_is_another_sweep(other):
    assert key(**other) != key()


@pytest.mark.parametrize("name", ["phase", "workload", "binding", "record_count"])
def test_a_run_of_which_too_little_is_known_belongs_to_no_sweep(name):
    assert not key(**{name: None})
