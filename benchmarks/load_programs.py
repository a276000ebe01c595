"""The programs whose loads are compared: drivetest, upstream's act_storage 6.6, fio, and the figures of one run."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DRIVETEST = ROOT / "runners/drivetest/target/release/drivetest"

# Messages for missing programs.
MISSING = {
    "act_storage": "missing: set ACT_STORAGE to the program built from aerospike/act",
    "fio": "missing: install fio",
}

BUCKET = re.compile(r" \((\d\d): (\d+)\)")

# Bucket 11 begins at 1024 us, the edge for 1 ms in a microsecond log.
FIRST_BUCKET_OVER = 11

RECORD_BYTES = 1536
BLOCK_BYTES = 131_072

# Large blocks a second, for reading and for writing each, that one write a second makes: 85 records of 1536 bytes in
# 128 KiB, doubled by defragmentation at 50 %.
BLOCKS_PER_WRITE = 2 / 85


@dataclass(frozen=True)
class Load:
    """The load of a device; `more` are further lines of the configuration."""

    device: str
    reads: int
    writes: int = 0
    seconds: int = 10
    more: tuple[str, ...] = ()

    def config(self, *further: str) -> str:
        lines = [
            f"device-names: {self.device}",
            f"test-duration-sec: {self.seconds}",
            f"read-reqs-per-sec: {self.reads}",
            f"write-reqs-per-sec: {self.writes}",
            "microsecond-histograms: yes",
            "max-lag-sec: 0",
            *self.more,
            *further,
        ]
        return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Ran:
    """The figures of one run. Service times and lateness are in us, or None if the program does not report them.

    `others_pct` is the share of one processor that other programs and other machines of the same host used.
    """

    reads_per_s: float
    cpu_us_per_read: float
    over_pct: float | None
    peak_kib: int
    others_pct: float
    p50_us: float | None = None
    p99_us: float | None = None
    side: list[dict[str, Any]] = field(default_factory=list)

    def lateness_us(self, name: str) -> float | None:
        """Return a percentile of the submission delays of drivetest's reads."""
        if not self.side:
            return None
        found = self.side[-1]["operations"]["reads"]["lateness"][name]
        return None if found is None else found / 1000


@dataclass(frozen=True)
class Used:
    """The resources that a program used, the share of others in one processor, and the output of the program.

    `stolen_pct` is time in which the host ran other machines although this one had work. Shares are then not reliable.
    """

    cpu_s: float
    peak_kib: int
    programs_pct: float
    stolen_pct: float
    output: str

    @property
    def others_pct(self) -> float:
        return self.programs_pct + self.stolen_pct


Program = Callable[[Load], Ran]


def drivetest(load: Load) -> Ran:
    with tempfile.TemporaryDirectory() as folder:
        config, log, side = (Path(folder) / name for name in ("config", "log", "side.jsonl"))
        config.write_text(load.config())
        command = [DRIVETEST, "storage", config, "--log", log, "--side-file", side, "--i-know-this-destroys-data"]
        used = timed(command)
        records = [json.loads(line) for line in side.read_text().splitlines()]
        end, counts = records[-1], last_reads(log.read_text())
    if end["reason"] != "finished":
        sys.exit(f"drivetest ended with {end['reason']}: {end['text']}")
    service = end["service"]
    reads = end["reads_count"]
    return Ran(
        reads_per_s=float(end["achieved_reads_per_s"]),
        cpu_us_per_read=used.cpu_s * 1e6 / reads,
        over_pct=over_pct(counts),
        peak_kib=used.peak_kib,
        others_pct=used.others_pct,
        p50_us=service["p50_ns"] / 1000,
        p99_us=service["p99_ns"] / 1000,
        side=records,
    )


def act_storage(threads: int | None = None) -> Program:
    """Return upstream's program with that many service threads; its own default is five for each processor."""

    def run(load: Load) -> Ran:
        further = () if threads is None else (f"service-threads: {threads}",)
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
            file.write(load.config(*further))
            file.flush()
            used = timed([os.environ["ACT_STORAGE"], file.name])
        if "ERROR" in used.output:
            sys.exit(f"act_storage:\n{used.output[-500:]}")
        counts = last_reads(used.output)
        reads = sum(counts.values())
        return Ran(reads / load.seconds, used.cpu_s * 1e6 / reads, over_pct(counts), used.peak_kib, used.others_pct)

    return run


def fio(engine: str = "io_uring", jobs: int = 1, depth: int = 128) -> Program:
    """Return fio, evenly paced at the load's rates, or at full speed if the load's rate is 0."""

    def run(load: Load) -> Ran:
        command = ["fio", "--output-format=json", "--direct=1", f"--filename={load.device}", "--time_based"]
        command += [f"--runtime={load.seconds}", "--randrepeat=0", "--norandommap", "--lat_percentiles=1"]
        command += ["--group_reporting", "--thread", f"--ioengine={engine}", "--name=reads", "--rw=randread"]
        command += [f"--bs={record_bytes(load.device)}", f"--numjobs={jobs}", f"--iodepth={depth}"]
        if load.reads:
            command += [f"--rate_iops={load.reads // jobs}", "--rate_process=linear"]
        for name, is_write in (("block-reads", False), ("block-writes", True)) if load.writes else ():
            command += [f"--name={name}", f"--rw={'randwrite' if is_write else 'randread'}", f"--bs={BLOCK_BYTES}"]
            command += [f"--rate_iops={round(load.writes * BLOCKS_PER_WRITE)}", "--new_group", "--numjobs=1"]
            command += ["--sync=dsync"] if is_write else []
        used = timed(command)
        return fio_ran(json.loads(used.output)["jobs"][0]["read"], used, load.seconds)

    return run


def fio_ran(reads: dict[str, Any], used: Used, seconds: int) -> Ran:
    count, percentiles = reads["total_ios"], reads["lat_ns"]["percentile"]
    return Ran(
        reads_per_s=count / seconds,
        cpu_us_per_read=used.cpu_s * 1e6 / count,
        over_pct=None,  # fio reports percentiles, not counts over an edge
        peak_kib=used.peak_kib,
        others_pct=used.others_pct,
        p50_us=percentiles["50.000000"] / 1000,
        p99_us=percentiles["99.000000"] / 1000,
    )


def record_bytes(device: str) -> int:
    """Return the bytes read for a record of 1536 bytes: whole blocks of the device."""
    block = int(Path(f"/sys/block/{Path(device).name}/queue/logical_block_size").read_text())
    return -(-RECORD_BYTES // block) * block


def is_missing(name: str) -> bool:
    return {"act_storage": "ACT_STORAGE" not in os.environ, "fio": shutil.which("fio") is None}.get(name, False)


def timed(command: list[Any], ours: Collection[int] = ()) -> Used:
    """Run a program. Its CPU time includes the kernel's work for the process.

    Kernel threads and the processes `ours`, which belong to the measurement, are not counted.
    """
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = subprocess.Popen([str(part) for part in command], stdout=out, stderr=err)
        excluded_pids = {os.getpid(), child.pid, *ours}
        programs_s, stolen_s, begun = processes_s(excluded_pids), processors_stolen_s(), time.monotonic()
        _, status, usage = os.wait4(child.pid, 0)
        programs_s, stolen_s = processes_s(excluded_pids) - programs_s, processors_stolen_s() - stolen_s
        length_s = time.monotonic() - begun
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if child.returncode != 0:
            sys.exit(f"{command[0]} ended with status {child.returncode}:\n{out.read()[-500:]}{err.read()[-500:]}")
        cpu_s = usage.ru_utime + usage.ru_stime
        programs_pct, stolen_pct = 100 * max(programs_s, 0.0) / length_s, 100 * stolen_s / length_s
        return Used(cpu_s, usage.ru_maxrss, programs_pct, stolen_pct, out.read())


TICKS_PER_S = os.sysconf("SC_CLK_TCK")
KERNEL_THREAD = 0x0020_0000  # PF_KTHREAD of the flags in /proc/PID/stat
SCHED_IDLE = 5


def processors_stolen_s() -> float:
    """Return the time of all processors in which the host ran other machines although this one had work."""
    return int(Path("/proc/stat").read_text().split("\n")[0].split()[8]) / TICKS_PER_S


def processes_s(excluded_pids: Collection[int]) -> float:
    """Return the processor time of all other programs so far, with their children that ended.

    Programs of the idle policy are not counted: they run only when a processor is idle (awake.py).

    The sum is by process. The processors' own counters are sampled by the clock's ticks. If requests come with the
    ticks, these counters report up to 5 % of a processor for programs that do not exist.
    """
    total = 0
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            _, _, after_name = file.read_text().rpartition(")")
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended meanwhile: its parent has its time
        fields = after_name.split()
        is_idle_policy = int(fields[6]) & KERNEL_THREAD or int(fields[38]) == SCHED_IDLE
        if not is_idle_policy and int(file.parent.name) not in excluded_pids:
            total += sum(int(field) for field in fields[11:15])
    return total / TICKS_PER_S


def over_pct(counts: dict[int, int]) -> float:
    over = sum(count for bucket, count in counts.items() if bucket >= FIRST_BUCKET_OVER)
    return 100 * over / sum(counts.values())


def last_reads(log: str) -> dict[int, int]:
    """Return the buckets of the last block's `reads`."""
    counts: dict[int, int] = {}
    for line in log.rpartition("\nreads (")[2].splitlines()[1:]:
        found = BUCKET.findall(line)
        if not found:
            break
        counts.update((int(bucket), int(count)) for bucket, count in found)
    return counts
