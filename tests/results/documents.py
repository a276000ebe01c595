"""Readings written by hand from real logs and docs/reference/formats.md, and a reader that returns one of them."""

import base64
import copy
import json
from typing import Any

from tests.results.builders import recorded_reading, sha256
from tests.results.series_by_hand import packed

YCSB_LOG = b"[OVERALL], RunTime(ms), 3065\n"  # replaces interval-both-notarget.log, which has these figures
YCSB_STDERR = b"Command line: -db site.ycsb.db.rocksdb.RocksDBClient -threads 8 -t\n"
PRINTED = ["50", "95", "99", "99.9", "99.99"]
YCSB_RUN: dict[str, Any] = {
    "ordinal": 0,
    "member": None,
    "tool": "ycsb",
    "tool_version": "0.18.0-SNAPSHOT",
    "first_line": 1,
    "last_line": 60,
    "phase": "run",
    "workload": "a",
    "binding": "site.ycsb.db.rocksdb.RocksDBClient",
    "command_line": "-db site.ycsb.db.rocksdb.RocksDBClient -threads 8 -t -p operationcount=20000",
    "properties": [["recordcount", "200000"], ["fieldcount", "4"], ["rocksdb.dir", "/mnt/dut/db-direct"]],
    "threads_count": 8,
    "target_ops_per_s": None,
    "record_count": 200000,
    "operation_count": 20000,
    "time_limit_s": None,
    "measurement": "hdrhistogram",
    "times": "service",
    "runtime_ms": "3065",
    "throughput_ops_per_s": "6525.2854812398045",
    "done_ops_count": 20000,
    "failed_ops_count": 0,
    "operations": [
        {"name": "READ", "outcome": "ok", "time": "service", "ops_count": 9975, "mean_us": "1091.1175939849625"}
        | {"min_us": "2", "max_us": "13527", "returns": [["OK", 9975]], "from": "rows"}
        | {
            "percentiles": [list(pair) for pair in zip(PRINTED, ["611", "3751", "6315", "10335", "13527"], strict=True)]
        },
        {"name": "UPDATE", "outcome": "NOT_FOUND", "time": "response", "ops_count": 0, "mean_us": "NaN"}
        | {"min_us": None, "max_us": None, "returns": [], "from": "rows", "percentiles": [["95", "3.0E7"]]},
    ],
    "intervals": [
        {"elapsed_s": 0, "ops_count": 0, "ops_per_s": None, "operations": []},
        {
            "elapsed_s": 10,
            "ops_count": 12000,
            "ops_per_s": "1200.5",
            "operations": [{"name": "READ", "mean_us": "41.0"}],
        },
    ],
    "stop": {"kind": "finished", "line": None, "text": ""},
    "validity": {"outcome": "undecided", "reasons": ["the output does not say how many records were loaded"]},
    "findings": [{"id": "ycsb-few-samples", "severity": "look", "line": 17, "sentence": "Few samples.", "remedy": ""}],
}


def document_of(content, *, runs=(), ycsb_runs=(), **fields):
    """Return a document about `content` with these runs."""
    document = recorded_reading("four-us")
    hashes = {"sha256": sha256(content), "content_sha256": sha256(content)}
    document["input"] |= hashes | {"size_bytes": len(content), "members": [], "companions": []} | fields
    return document | {"runs": copy.deepcopy(list(runs)), "ycsb_runs": copy.deepcopy(list(ycsb_runs))}


def act_run(**columns):
    """Return the run of four-us.log as it was read, with changes."""
    run = copy.deepcopy(recorded_reading("four-us")["runs"][0])
    return run | columns


def series_of(chunks, **fields):
    """Return a series as the reader prints it."""
    series = packed(chunks, **fields)
    data = base64.b64encode(series.packed).decode()
    place = {"interval_s": series.interval_s, "start_s": series.start_s, "count": series.intervals_count}
    return place | {"encoding": series.encoding, "data": data}


def answer_with(program, tmp_path, document):
    """Install a reader that prints this document for every call and records its arguments."""
    (tmp_path / "answer").write_text(json.dumps(document))
    reading = f'echo "$@" >> {tmp_path}/requests; cat {tmp_path}/answer'
    program(f'case "$1" in --version) echo drivetest 0.2.0 ;; *) {reading} ;; esac')
