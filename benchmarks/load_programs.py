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
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, cast

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
    """The load of a device."""

    device: str
    reads: int
    writes: int = 0
    seconds: int = 10

    def config(self, *more: str) -> str:
        lines = [
            f"device-names: {self.device}",
            f"test-duration-sec: {self.seconds}",
            f"read-reqs-per-sec: {self.reads}",
            f"write-reqs-per-sec: {self.writes}",
            "microsecond-histograms: yes",
            "max-lag-sec: 0",
            *more,
        ]
        return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Used:
    """The resources that a program used, the shares of others in one processor, and the output of the program.

    `stolen_pct` is time in which the host ran other machines although this one had work. Shares are then not reliable.
    `rest_pct` is all processor time of the machine but that of the program itself, so it contains the kernel's threads
    and interrupts, also those that serve the program.
    """

    cpu_s: float
    peak_kib: int
    programs_pct: float
    stolen_pct: float
    rest_pct: float
    output: str

    @property
    def others_pct(self) -> float:
        return self.programs_pct + self.stolen_pct


@dataclass(frozen=True)
class Evenness:
    """Spacing and lateness of the requests of one run.

    Of the requests that were issued less than half a period after their predecessor, a request is a catch-up request if
    it was more than half a period late. It is bunched if both were on time, that is at most half a period late. Side
    files count catch-up requests in the same way, but by the delay of drivetest alone; this lateness also has backlog.
    """

    issued_count: int
    catch_up_count: int
    bunched_count: int
    late_p50_us: float
    late_p99_us: float

    @property
    def catch_up_pct(self) -> float:
        return 100 * self.catch_up_count / self.issued_count


@dataclass(frozen=True)
class Ran:
    """The figures of one run. Service times are in us, or None if the program does not report them.

    `others_pct` and `rest_pct` are those of `Used`, `side` are the records of drivetest's side file.
    """

    reads_count: int
    reads_per_s: float
    cpu_us_per_read: float
    over_pct: float | None
    peak_kib: int
    others_pct: float
    rest_pct: float
    p50_us: float | None = None
    p99_us: float | None = None
    evenness: Evenness | None = None
    bunched_blocks_count: int | None = None
    side: list[dict[str, Any]] = field(default_factory=list, repr=False)

    @property
    def reads(self) -> dict[str, Any]:
        """Return what the end record of the side file states about reads."""
        reads: dict[str, Any] = self.side[-1]["operations"]["reads"] if self.side else {}
        return reads

    def own_lateness_us(self, name: str) -> float | None:
        """Return a percentile of the delays that drivetest itself caused."""
        found = self.reads.get("generator_lateness", {}).get(name)
        return None if found is None else found / 1000

    @property
    def catch_up_pct(self) -> float | None:
        """Return the share of reads that drivetest itself submitted late, and soon after the previous one."""
        found = self.reads.get("catch_up_count")
        return None if found is None else 100 * found / self.reads_count

    def per_read(self, counter: str) -> float | None:
        """Return a counter of drivetest's engine by the number of reads."""
        found = (self.side[-1].get("engine_counters") or {}).get(counter) if self.side else None
        return None if found is None else found / self.reads_count

    def figures(self) -> dict[str, Any]:
        """Return all figures, with the end record for the records of the side file."""
        return asdict(self) | {"side": self.side[-1] if self.side else None}


Program = Callable[[Load], Ran]


def drivetest(program: Path = DRIVETEST, *lines: str) -> Program:
    """Return a program of drivetest, with further lines in its configuration."""

    def run(load: Load) -> Ran:
        with tempfile.TemporaryDirectory() as folder:
            config, log, side = (Path(folder) / name for name in ("config", "log", "side.jsonl"))
            config.write_text(load.config(*lines))
            command = [program, "storage", config, "--log", log, "--side-file", side, "--i-know-this-destroys-data"]
            used = timed(command)
            records = [json.loads(line) for line in side.read_text().splitlines()]
            return drivetest_ran(records, last_reads(log.read_text()), used)

    return run


def drivetest_ran(records: list[dict[str, Any]], counts: dict[int, int], used: Used) -> Ran:
    """Return the figures of drivetest from the records of its side file and the last buckets of its log."""
    end = records[-1]
    if end["reason"] != "finished":
        sys.exit(f"drivetest ended with {end['reason']}: {end['text']}")
    service = end["service"]
    reads = end["reads_count"]
    return Ran(
        reads_count=reads,
        reads_per_s=float(end["achieved_reads_per_s"]),
        cpu_us_per_read=used.cpu_s * 1e6 / reads,
        over_pct=over_pct(counts),
        peak_kib=used.peak_kib,
        others_pct=used.others_pct,
        rest_pct=used.rest_pct,
        p50_us=service["p50_ns"] / 1000,
        p99_us=service["p99_ns"] / 1000,
        side=records,
    )


def act_storage(threads: int) -> Program:
    """Return upstream's program with that many service threads."""

    def run(load: Load) -> Ran:
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
            file.write(load.config(f"service-threads: {threads}"))
            file.flush()
            used = timed([os.environ["ACT_STORAGE"], file.name])
        if "ERROR" in used.output:
            sys.exit(f"act_storage:\n{used.output[-500:]}")
        counts = last_reads(used.output)
        reads = sum(counts.values())
        return Ran(
            reads_count=reads,
            reads_per_s=reads / load.seconds,
            cpu_us_per_read=used.cpu_s * 1e6 / reads,
            over_pct=over_pct(counts),
            peak_kib=used.peak_kib,
            others_pct=used.others_pct,
            rest_pct=used.rest_pct,
        )

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
        reads_count=count,
        reads_per_s=count / seconds,
        cpu_us_per_read=used.cpu_s * 1e6 / count,
        over_pct=None,  # fio reports percentiles, not counts over an edge
        peak_kib=used.peak_kib,
        others_pct=used.others_pct,
        rest_pct=used.rest_pct,
        p50_us=percentiles["50.000000"] / 1000,
        p99_us=percentiles["99.000000"] / 1000,
    )


def record_bytes(device: str) -> int:
    """Return the bytes read for a record of 1536 bytes: whole blocks of the device."""
    block = int(Path(f"/sys/block/{Path(device).name}/queue/logical_block_size").read_text())
    return -(-RECORD_BYTES // block) * block


def is_missing(name: str) -> bool:
    return {"act_storage": "ACT_STORAGE" not in os.environ, "fio": shutil.which("fio") is None}.get(name, False)


# A program starts once the benchmark has it in hand. A signal that ends the benchmark earlier closes the pipe, and
# `read` fails: no program is left behind, and none is started.
WAIT_FOR_A_LINE = ("sh", "-c", 'read -r _ && exec "$@" < /dev/null', "sh")


def timed(command: list[Any], ours: Collection[int] = ()) -> Used:
    """Run a program. Its CPU time includes the kernel's work for the process.

    Kernel threads and the processes `ours`, which belong to the measurement, are not counted.
    """
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        words = [*WAIT_FOR_A_LINE, *map(str, command)]
        child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=out, stderr=err)
        try:
            excluded_pids = {os.getpid(), child.pid, *ours}
            before, begun = (processes_s(excluded_pids), *processors_s()), time.monotonic()
            with cast(IO[bytes], child.stdin) as line:
                line.write(b"\n")
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        finally:
            if child.returncode is None:  # a benchmark that is ended frees the devices next, which the program has open
                child.kill()
                child.wait()
        after, length_s = (processes_s(excluded_pids), *processors_s()), time.monotonic() - begun
        out.seek(0)
        err.seek(0)
        if child.returncode != 0:
            sys.exit(f"{command[0]} ended with status {child.returncode}:\n{out.read()[-500:]}{err.read()[-500:]}")
        cpu_s = usage.ru_utime + usage.ru_stime
        programs_s, busy_s, stolen_s = (later - earlier for later, earlier in zip(after, before, strict=True))
        return Used(
            cpu_s=cpu_s,
            peak_kib=usage.ru_maxrss,
            programs_pct=100 * max(programs_s, 0.0) / length_s,
            stolen_pct=100 * stolen_s / length_s,
            rest_pct=100 * max(busy_s - cpu_s, 0.0) / length_s,
            output=out.read(),
        )


TICKS_PER_S = os.sysconf("SC_CLK_TCK")
KERNEL_THREAD = 0x0020_0000  # PF_KTHREAD of the flags in /proc/PID/stat
SCHED_IDLE = 5


def processors_s() -> tuple[float, float]:
    """Return how long all processors were busy so far, and how long the host ran other machines although they were."""
    user, nice, system, _, _, interrupt, soft_interrupt, stolen = map(
        int, Path("/proc/stat").read_text().split("\n")[0].split()[1:9]
    )
    busy = user + nice + system + interrupt + soft_interrupt + stolen
    return busy / TICKS_PER_S, stolen / TICKS_PER_S


def processes_s(excluded_pids: Collection[int]) -> float:
    """Return the processor time of all other programs so far, with their children that ended.

    Programs of the idle policy are not counted: they run only when a processor is idle.

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
