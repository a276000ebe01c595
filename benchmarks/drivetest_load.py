"""Compare the load of drivetest with that of upstream's act_storage, run in turn on one block device.

Everything on the device is overwritten. drivetest goes first: it refuses a device that is in use, upstream does not.
"""

import argparse
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DRIVETEST = ROOT / "runners/drivetest/target/release/drivetest"

BUCKET = re.compile(r" \((\d\d): (\d+)\)")

# Bucket 11 begins at 1024 us, the edge that stands for 1 ms in a microsecond log.
FIRST_BUCKET_OVER = 11


@dataclass(frozen=True)
class Measured:
    """What one run showed."""

    reads_per_s: float
    over_pct: float
    cpu_us_per_read: float


def main() -> int:
    args = arguments()
    programs = {"drivetest": [str(args.drivetest), "storage"]}
    if act := os.environ.get("ACT_STORAGE"):
        programs["act_storage"] = [act]
    print(f"{args.device}: {args.reads} reads/s + {args.writes} writes/s, {args.seconds} s, {args.rounds} rounds\n")
    print("| program | service threads | reads/s achieved | over 1024 us, % (least - most) | CPU us per read |")
    print("|---|---|---|---|---|")
    for threads in args.threads:
        rounds = [take_turns(programs, args, threads, number) for number in range(args.rounds)]
        for name in programs:
            print(row(name, threads, [found[name] for found in rounds]))
    if "act_storage" not in programs:
        print("| act_storage | - | missing: set ACT_STORAGE to the program built from aerospike/act | - | - |")
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("device", help="block device; everything on it is overwritten")
    parser.add_argument("--reads", type=int, default=20_000, help="read requests per second (default %(default)s)")
    parser.add_argument("--writes", type=int, default=10_000, help="write requests per second (default %(default)s)")
    parser.add_argument("--seconds", type=int, default=15, help="length of each run (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is run, in turn (default %(default)s)")
    parser.add_argument("--threads", type=int, nargs="+", default=[10, 64], help="service threads (default 10 64)")
    parser.add_argument("--drivetest", type=Path, default=DRIVETEST, help="the program (default %(default)s)")
    return parser.parse_args()


def take_turns(
    programs: dict[str, list[str]], args: argparse.Namespace, threads: int, number: int
) -> dict[str, Measured]:
    """Run each program once; who goes first changes from round to round, the very first is drivetest."""
    order = sorted(programs, reverse=number % 2 == 0)
    return {name: run(programs[name], args, threads) for name in order}


def run(command: list[str], args: argparse.Namespace, threads: int) -> Measured:
    """Run one program once; a run that stops itself ends the benchmark with its own words."""
    config = (
        f"device-names: {args.device}\ntest-duration-sec: {args.seconds}\nservice-threads: {threads}\n"
        f"read-reqs-per-sec: {args.reads}\nwrite-reqs-per-sec: {args.writes}\n"
        "microsecond-histograms: yes\nmax-lag-sec: 0\n"
    )
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
        file.write(config)
        file.flush()
        before = cpu_s()
        done = subprocess.run([*command, file.name], capture_output=True, text=True, check=False)
        used_s = cpu_s() - before
    if done.returncode != 0 or "ERROR" in done.stdout:
        sys.exit(f"{command[0]} ended with status {done.returncode}:\n{done.stdout[-500:]}{done.stderr}")
    counts = last_reads(done.stdout)
    reads = sum(counts.values())
    over = sum(count for bucket, count in counts.items() if bucket >= FIRST_BUCKET_OVER)
    return Measured(reads / args.seconds, 100 * over / reads, used_s * 1e6 / reads)


def cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def last_reads(log: str) -> dict[int, int]:
    """Return the buckets of the last block's `reads`."""
    block = log.rpartition("\nreads (")[2].splitlines()[1:]
    lines = iter(block)
    counts: dict[int, int] = {}
    for line in lines:
        found = BUCKET.findall(line)
        if not found:
            break
        counts.update((int(bucket), int(count)) for bucket, count in found)
    return counts


def row(name: str, threads: int, rounds: list[Measured]) -> str:
    shares = [found.over_pct for found in rounds]
    rate = statistics.median(found.reads_per_s for found in rounds)
    cpu = statistics.median(found.cpu_us_per_read for found in rounds)
    share = f"{statistics.median(shares):.2f} ({min(shares):.2f} - {max(shares):.2f})"
    return f"| {name} | {threads} | {rate:.1f} | {share} | {cpu:.1f} |"


if __name__ == "__main__":
    sys.exit(main())
