"""Compare the load of drivetest with those of upstream's act_storage and of fio, run in turn on one device.

`ACT_STORAGE=/path/act_storage python3 benchmarks/drivetest_load.py [ROW ...]`, as root, on a machine that does nothing
else. Makes a loop device over a file on the disk and a device of memory, and frees them. `--device` names a block
device instead of the loop device: **everything on it is overwritten**. Without ROW, every row is run.
"""

import argparse
import os
import platform
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import load_devices
import load_pacing
from awake import Awake
from load_programs import MISSING, Load, Program, Ran, act_storage, drivetest, fio, is_missing

# The rings that drivetest chooses at 30,000 requests a second on hosts of 1, 8, 64 and 128 CPUs are one each (engine
# `workers()` and its test); more are forced here to show that their number changes nothing.
WORKERS = (1, 4, 16, 64)

# Five service threads for each of 1, 8, 64 and 128 CPUs.
SERVICE_THREADS = (5, 40, 320, 640)

DEVICES_COUNT = 128

# A run that lost more of a processor to other programs or machines is repeated, at most this many times.
OTHERS_PCT = 3.0
TRIES = 4

# The row on pacing requires the rate over a minute.
MINUTE_S = 60


@dataclass(frozen=True)
class Bench:
    """The devices and the number of rounds of all rows."""

    disk: str
    ram: str | None
    seconds: int
    rounds: int
    directory: Path


def main() -> int:
    args = arguments()
    with ExitStack() as made:
        if args.awake:
            made.enter_context(Awake())
        disk = args.device or made.enter_context(load_devices.loop_on_disk(args.directory, args.size_mib))
        ram = made.enter_context(load_devices.memory(args.size_mib))
        bench = Bench(disk, ram, args.seconds, args.rounds, args.directory)
        print("Processors are kept awake." if args.awake else "Processors may halt.")
        print(machine(bench), flush=True)
        for name in args.rows or ROWS:
            print(f"\n### {name}\n", flush=True)
            for line in ROWS[name](bench):
                print(line, flush=True)
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"of {', '.join(ROWS)}")
    parser.add_argument("--device", help="block device to load instead of a loop device; it is overwritten")
    parser.add_argument("--seconds", type=int, default=10, help="length of each run (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="how often each is run, in turn (default %(default)s)")
    parser.add_argument("--size-mib", type=int, default=768, help="size of devices made here (default %(default)s)")
    parser.add_argument("--directory", type=Path, default=Path(tempfile.gettempdir()), help="where files are made")
    awake = "let no processor halt, which a host takes for the end of its turn (but a busy one may starve its disks)"
    parser.add_argument("--awake", action="store_true", help=awake)
    args = parser.parse_args()
    if unknown := [row for row in args.rows if row not in ROWS]:
        parser.error(f"expected rows of {', '.join(ROWS)}, got {', '.join(unknown)}")
    return args


def machine(bench: Bench) -> str:
    cpus = os.cpu_count()
    load = os.getloadavg()[0]
    lines = [
        f"Machine: {platform.machine()}, {cpus} CPUs ({cpu_model()}), Linux {platform.release()}, load {load:.1f}.",
        f"Disk: {load_devices.described(bench.disk)}.",
        f"Memory: {load_devices.described(bench.ram)}."
        if bench.ram
        else "Memory: missing, the kernel makes no zram device.",
        f"{bench.rounds} rounds of {bench.seconds} s in turn; medians (least - most). A run from which other programs,",
        f"or the host for other machines, took more than {OTHERS_PCT:.0f} % of a processor",
        f"was made again, {TRIES} times at most.",
    ]
    return "\n".join(lines)


def cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unnamed"


def in_turn(programs: dict[str, Program], load: Load, rounds: int) -> dict[str, list[Ran]]:
    """Run every available program once per round; the order rotates and drivetest is first in the first round."""
    present = {name: run for name, run in programs.items() if not is_missing(name.split()[0])}
    found: dict[str, list[Ran]] = {name: [] for name in present}
    for number in range(rounds):
        order = list(present) if number % 2 == 0 else list(reversed(present))
        for name in order:
            found[name].append(quietest(present[name], load))
    return found


def quietest(program: Program, load: Load) -> Ran:
    """Repeat the run until it is undisturbed; return the least disturbed one."""
    runs: list[Ran] = []
    while len(runs) < TRIES:
        runs.append(program(load))
        if runs[-1].others_pct <= OTHERS_PCT:
            break
    return min(runs, key=lambda ran: ran.others_pct)


def median(values: list[float | None]) -> str:
    """Return the median of the reported values, with minimum and maximum."""
    known = [value for value in values if value is not None]
    if not known:
        return "-"
    return f"{statistics.median(known):.2f} ({min(known):.2f} - {max(known):.2f})"


def missing(programs: dict[str, Program], columns: int) -> Iterator[str]:
    for name in dict.fromkeys(name.split()[0] for name in programs):
        if is_missing(name):
            yield f"| {name} | {MISSING[name]} |" + " - |" * (columns - 2)


def ratio(found: dict[str, list[Ran]], of: Callable[[Ran], float], other: str) -> str:
    """Return drivetest's figure by the other's, round by round."""
    if other not in found:
        return f"drivetest / {other}: not known"
    pairs: list[float | None] = [
        of(ours) / of(theirs) for ours, theirs in zip(found["drivetest"], found[other], strict=True)
    ]
    return f"drivetest / {other}: {median(pairs)}"


def table(programs: dict[str, Program], found: dict[str, list[Ran]]) -> Iterator[str]:
    yield "| program | reads/s achieved | over 1024 us, % | p50 us | p99 us | CPU us per read | others, % of a CPU |"
    yield "|---|---|---|---|---|---|---|"
    for name, rans in found.items():
        figures = (
            [ran.reads_per_s for ran in rans],
            [ran.over_pct for ran in rans],
            [ran.p50_us for ran in rans],
            [ran.p99_us for ran in rans],
            [ran.cpu_us_per_read for ran in rans],
            [ran.others_pct for ran in rans],
        )
        yield f"| {name} | " + " | ".join(median(list(values)) for values in figures) + " |"
    yield from missing(programs, 7)


def compared(programs: dict[str, Program], load: Load, rounds: int) -> Iterator[str]:
    yield from table(programs, in_turn(programs, load, rounds))


def with_lines(*lines: str) -> Program:
    """Return drivetest with further lines in its configuration."""

    def run(load: Load) -> Ran:
        return drivetest(Load(load.device, load.reads, load.writes, load.seconds, lines))

    return run


def trueness(bench: Bench) -> Iterator[str]:
    """Check that the result is that of the device and does not depend on the host's CPUs."""
    programs: dict[str, Program] = {f"drivetest, {count} workers": with_lines(f"workers: {count}") for count in WORKERS}
    programs |= {f"act_storage {count} threads": act_storage(count) for count in SERVICE_THREADS}
    programs["fio"] = fio()
    return compared(programs, Load(bench.disk, 20_000, 10_000, bench.seconds), bench.rounds)


def honesty(bench: Bench) -> Iterator[str]:
    """Request a fifth more than the device sustains according to fio."""
    load = Load(bench.disk, 0, 0, bench.seconds)
    requested = 60_000 if is_missing("fio") else round(1.2 * fio(depth=256)(load).reads_per_s)
    yield f"Requested: {requested} reads/s.\n"
    found = in_turn(
        {"drivetest": drivetest, "act_storage": act_storage(10)}, Load(bench.disk, requested, 0, bench.seconds), 1
    )
    for name, (ran,) in found.items():
        yield f"* {name}: ran {ran.reads_per_s:.0f} reads/s, over 1024 us {ran.over_pct:.2f} %"
        if ran.side:
            end = ran.side[-1]
            response, rate = end["response"], end["rate"]
            yield f"  * reports: {rate['word']}: {rate['sentence']}"
            yield f"  * response p50 {response['p50_ns'] / 1e6:.1f} ms, p99 {response['p99_ns'] / 1e6:.1f} ms"
    if is_missing("act_storage"):
        yield f"* act_storage: {MISSING['act_storage']}"


def pacing_and_cpu(bench: Bench) -> Iterator[str]:
    """Compare CPU time and lateness of requests at 20,000 reads/s and 10,000 writes/s."""
    programs: dict[str, Program] = {"drivetest": drivetest, "act_storage": act_storage(), "fio": fio()}
    found = in_turn(programs, Load(bench.disk, 20_000, 10_000, bench.seconds), bench.rounds)
    yield from table(programs, found)
    yield ""
    yield f"* CPU, {ratio(found, lambda ran: ran.cpu_us_per_read, 'act_storage')}"
    for name in ("p50_ns", "p99_ns"):
        late_us = median([ran.lateness_us(name) for ran in found["drivetest"]])
        yield f"* drivetest's own lateness, {name[:3]}, us: {late_us}"
    minute = quietest(drivetest, Load(bench.disk, 20_000, 0, MINUTE_S))
    yield f"* drivetest over {MINUTE_S} s, read-only: {minute.side[-1]['achieved_reads_per_s']} reads/s"
    yield from load_pacing.rows(bench.disk, 20_000, bench.seconds)


def cpu_read_only(bench: Bench) -> Iterator[str]:
    """Compare CPU time at 60,000 reads/s without writes."""
    programs: dict[str, Program] = {"drivetest": drivetest, "act_storage": act_storage()}
    for device in filter(None, (bench.disk, bench.ram)):
        found = in_turn(programs, Load(device, 60_000, 0, bench.seconds), bench.rounds)
        yield f"{device}:\n"
        yield from table(programs, found)
        yield f"\n* CPU, {ratio(found, lambda ran: ran.cpu_us_per_read, 'act_storage')}"
        for name in ("p50_ns", "p99_ns"):
            yield f"* lateness, {name[:3]}, us: {median([ran.lateness_us(name) for ran in found['drivetest']])}"
        yield ""


def top_rate(bench: Bench) -> Iterator[str]:
    """Request more than a memory device sustains, and compare the rates reached."""
    if bench.ram is None:
        yield "missing: a zram device"
        return
    load = Load(bench.ram, 2_000_000, 0, bench.seconds)
    programs: dict[str, Program] = {"drivetest": drivetest}
    programs |= {f"act_storage {count} threads": act_storage(count) for count in (2, 10, 64)}
    found = in_turn(programs, load, bench.rounds)
    unpaced = Load(bench.ram, 0, 0, bench.seconds)
    programs["fio psync"] = fio("psync", jobs=2, depth=1)
    found |= in_turn({"fio psync": programs["fio psync"]}, unpaced, bench.rounds)
    yield from table(programs, found)
    yield ""
    for name in list(found)[1:]:
        yield f"* rate, {ratio(found, lambda ran: ran.reads_per_s, name)}"


def latency(bench: Bench) -> Iterator[str]:
    """Compare latencies at 2,000 reads/s, where the time is that of the device."""
    programs: dict[str, Program] = {"drivetest": drivetest, "fio": fio(), "fio psync": fio("psync", 1, 1)}
    found = in_turn(programs, Load(bench.disk, 2_000, 0, bench.seconds), bench.rounds)
    yield from table(programs, found)
    yield ""
    for name in list(found)[1:]:
        yield f"* p50, {ratio(found, lambda ran: ran.p50_us or 0.0, name)}"
        yield f"* p99, {ratio(found, lambda ran: ran.p99_us or 0.0, name)}"


def memory(bench: Bench) -> Iterator[str]:
    """Compare memory with 128 plain files and with one."""
    limit_mib = {1: 64 + 4, DEVICES_COUNT: 64 + 4 * DEVICES_COUNT}
    yield "| devices | engine | peak MiB | limit MiB |"
    yield "|---|---|---|---|"
    with tempfile.TemporaryDirectory(dir=bench.directory) as folder:
        for count, limit in limit_mib.items():
            for engine in ("io_uring", "threads"):
                names = ",".join(f"{folder}/{number}.img" for number in range(count))
                load = Load(names, 20_000, 2_000, bench.seconds, ("file-size-mbytes: 4", f"engine: {engine}"))
                yield f"| {count} | {engine} | {drivetest(load).peak_kib / 1024:.1f} | {limit} |"


ROWS: dict[str, Callable[[Bench], Iterator[str]]] = {
    "trueness": trueness,
    "honesty": honesty,
    "pacing-and-cpu": pacing_and_cpu,
    "cpu-read-only": cpu_read_only,
    "top-rate": top_rate,
    "latency": latency,
    "memory": memory,
}


if __name__ == "__main__":
    sys.exit(main())
