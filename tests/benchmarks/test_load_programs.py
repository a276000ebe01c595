"""The figures that are taken from the outputs of drivetest, act_storage and fio."""

import os
import re
import signal
import sys
import threading
from pathlib import Path

import pytest
from load_programs import Used, drivetest_ran, fio_ran, last_reads, over_pct, timed

LOGS = Path(__file__).parents[1] / "data/act"

USED = Used(cpu_s=0.5, peak_kib=9_000, programs_pct=1.0, stolen_pct=0.5, rest_pct=40.0, output="")

COUNTERS = {"spin_ns": 1_000, "timer_wakes_count": 5_000, "enters_count": 30_000, "completion_wakes_count": None}


def end(reads, counters):
    return {
        "reason": "finished",
        "text": "",
        "achieved_reads_per_s": "999.5",
        "reads_count": 10_000,
        "service": {"p50_ns": 90_000, "p99_ns": 200_000},
        "operations": {"reads": reads},
        "engine_counters": counters,
    }


def test_drivetest_reports_its_own_lateness_and_what_its_engine_did():
    reads = {"catch_up_count": 50, "generator_lateness": {"p50_ns": 14_000, "p99_ns": None}}
    ran = drivetest_ran([{}, end(reads, COUNTERS)], {10: 9_000, 11: 1_000}, USED)
    assert (ran.reads_count, ran.reads_per_s, ran.p50_us, ran.over_pct) == (10_000, 999.5, 90, 10)
    assert (ran.cpu_us_per_read, ran.others_pct, ran.rest_pct) == (50, 1.5, 40)
    assert (ran.own_lateness_us("p50_ns"), ran.own_lateness_us("p99_ns"), ran.catch_up_pct) == (14, None, 0.5)
    assert (ran.per_read("enters_count"), ran.per_read("completion_wakes_count")) == (3, None)


def test_an_older_drivetest_reports_none_of_them():
    ran = drivetest_ran([{}, end({}, None)], {10: 10_000}, USED)
    assert (ran.own_lateness_us("p50_ns"), ran.catch_up_pct, ran.per_read("enters_count")) == (None, None, None)


def test_a_drivetest_that_stopped_ends_the_benchmark():
    stopped = end({}, None) | {"reason": "lag", "text": "reads are late"}
    with pytest.raises(SystemExit, match="ended with lag: reads are late"):
        drivetest_ran([stopped], {}, USED)


def test_fio_reports_percentiles_in_ns():
    reads = {"total_ios": 12_000, "lat_ns": {"percentile": {"50.000000": 96_768, "99.000000": 284_672}}}
    ran = fio_ran(reads, USED, 6)
    assert (ran.reads_per_s, ran.p50_us, ran.p99_us, ran.over_pct) == (2_000, 96.768, 284.672, None)
    assert (ran.own_lateness_us("p50_ns"), ran.catch_up_pct, ran.per_read("spin_ns")) == (None, None, None)


def test_the_last_block_of_a_log_has_the_reads_of_the_run():
    log = (LOGS / "6.6/four-us.log").read_text()
    printed = [int(total) for total in re.findall(r"^reads \((\d+) total\)", log, re.MULTILINE)]
    assert sum(last_reads(log).values()) == printed[-1] == max(printed)


def test_reads_of_1024_us_and_more_are_over():
    assert over_pct({10: 3, 11: 1}) == 25


def test_a_benchmark_that_is_ended_ends_the_measured_program_first(tmp_path):
    started = tmp_path / "started"
    os.mkfifo(started)

    def end_benchmark():
        started.read_text()  # returns once the program runs
        os.kill(os.getpid(), signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, lambda *_: sys.exit(143))
    thread = threading.Thread(target=end_benchmark)
    thread.start()
    try:
        with pytest.raises(SystemExit):
            timed(["sh", "-c", f"echo $$ > {tmp_path}/pid; echo > {started}; exec sleep 600"])
    finally:
        thread.join()
        signal.signal(signal.SIGUSR1, before)
    pid = int((tmp_path / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
