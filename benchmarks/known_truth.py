"""Compare the figures of drivetest and upstream's act_storage with a drive whose true delays are known.

The drive is a FUSE file that delays a stated share of reads by stated times, and records the delay of each
response (runners/drivetest/crates/fault-drive). It is loaded as a file and below a loop device. Needs root and
/dev/fuse. `ACT_STORAGE=/path/act_storage` runs upstream's program on the same drive. `--parts attribution` overloads
the drive, the host, both or neither, and compares what drivetest reports with that (attribution.py).
"""

import argparse
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import accuracy
import attribution
from load_programs import Used, last_reads, timed
from polling import idle_processors_polling

ROOT = Path(__file__).resolve().parent.parent
RELEASE = ROOT / "runners/drivetest/target/release"

SIZE_MIB = 256
RECORD_BYTES = 1536

# Two-sided 99.9 % of the normal distribution.
Z = 3.290527

# Shares of reads that the drive delays over 1, 8 and 64 ms: the limits of the operational-database profile (5, 1,
# 0.1 %), just under and just over them. "none" shows the delays of the host itself: it is printed and not checked.
SHARES_PCT = {"none": (0.0, 0.0, 0.0), "under": (4.5, 0.9, 0.09), "at": (5.0, 1.0, 0.1), "over": (5.5, 1.1, 0.11)}

SHARE_WORDS = {"none": "zero", "under": "below the limits", "at": "at the limits", "over": "above the limits"}

# Well over 1, 8 and 64 ms, and well under the next threshold, so that no bucket edge decides.
DELAYS_MS = (3, 20, 100)

# The part of a processor that other programs may use, and the part that the host may give to other machines. A run
# that lost more is repeated, whatever it printed. Every read that becomes due while this machine is paused is late: a
# processor that is stolen for 1 % of the time makes up to 1 % of reads late.
PROGRAMS_PCT = 4.0
STOLEN_PCT = 0.5
TRIES = 8

# The position of a printed count relative to its interval.
INSIDE, WITH_OWN, OUTSIDE = "inside", "inside with the host's own", "OUTSIDE"
JUDGED = (INSIDE, WITH_OWN, OUTSIDE)

PLACES = {"file": "file", "loop": "loop device"}

# The thresholds of each program: exact ones in the side file; edges of the microsecond histogram.
EXACT_US = (1000, 8000, 64000)
EDGES_US = (1024, 8192, 65536)


class Drive:
    """The drive with known delays: a program that reads one command per line and responds in JSON."""

    def __init__(self, program: Path, mount_point: Path) -> None:
        # A drive has processors of its own. Without real-time priority, the program waits milliseconds for other
        # programs: 1 to 6 % of reads were then over 1 ms, with it 0.1 %.
        command = ["chrt", "--fifo", "50", str(program), str(mount_point), "--size-mib", str(SIZE_MIB)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.commands = cast(IO[str], self.process.stdin)
        self.answers = cast(IO[str], self.process.stdout)
        self.file: str = self.answer()["drive"]

    def answer(self) -> dict[str, Any]:
        line = self.answers.readline()
        if not line:
            sys.exit("the fault drive ended; it needs root and /dev/fuse")
        response: dict[str, Any] = json.loads(line)
        if "error" in response:
            sys.exit(f"the fault drive: {response['error']}")
        return response

    def do(self, *commands: str) -> None:
        for command in commands:
            self.commands.write(f"{command}\n")
            self.commands.flush()
            self.answer()

    def truth(self) -> "Truth":
        """Return the true delays of reads since the last `forget`."""
        self.commands.write("truth\n")
        self.commands.flush()
        reads = self.answer()["read"]
        over = {int(us): count for us, count in reads["over"].items()}
        return Truth(reads["answered_count"], sum(reads["delayed_count"]), reads["late_count"], over)

    def end(self) -> None:
        self.commands.close()
        self.process.wait(30)


@dataclass(frozen=True)
class Truth:
    """Counts of answered reads, of delayed reads, of late replies, and of reads delayed by at least a number of us."""

    answered_count: int
    delayed_count: int
    late_count: int
    over: dict[int, int]


@dataclass(frozen=True)
class Printed:
    """The figures that a program printed about its reads."""

    reads_count: int
    achieved_per_s: float
    over: dict[int, int]
    messages: str
    programs_pct: float
    stolen_pct: float

    @property
    def disturbance(self) -> float:
        return disturbance(self.programs_pct, self.stolen_pct)


@dataclass(frozen=True)
class Case:
    """One run: a program with its arrivals and engine, or upstream."""

    name: str
    command: list[str]
    lines: str
    thresholds_us: tuple[int, ...]

    @property
    def program(self) -> str:
        return self.name.split(" ")[0]


def main() -> int:
    args = arguments()
    if not (RELEASE / "drivetest-fault-drive").exists():
        sys.exit("no fault drive: cargo build --release -p drivetest-fault-drive -p drivetest-cli in runners/drivetest")
    print(f"{platform.node()}, Linux {platform.release()}, {os.cpu_count()} CPUs, {args.seconds} s a run\n")
    with tempfile.TemporaryDirectory() as folder:
        drive = Drive(RELEASE / "drivetest-fault-drive", Path(folder))
        try:
            drive.do(f"only read {RECORD_BYTES}")
            wrong = measure(drive, args)
        finally:
            drive.end()
    return 1 if wrong else 0


def measure(drive: Drive, args: argparse.Namespace) -> int:
    """Measure the parts; return the number of wrong results."""
    wrong = 0
    with idle_processors_polling():
        if "truth" in args.parts:
            wrong += known_truth(drive, args)
        if "honesty" in args.parts:
            honesty(drive, args)
        if "attribution" in args.parts:
            wrong += attribute(drive, args)
    return wrong


def disturbance(programs_pct: float, stolen_pct: float) -> float:
    """Return how much a run was disturbed; up to 1 counts as undisturbed."""
    return max(programs_pct / PROGRAMS_PCT, stolen_pct / STOLEN_PCT)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parts = ["truth", "honesty", "attribution"]
    parser.add_argument("--parts", nargs="+", default=parts[:2], choices=parts, help="default: truth honesty")
    parser.add_argument("--rates", type=int, nargs="+", default=[2_000, 5_000], help="reads per second")
    parser.add_argument("--seconds", type=int, default=10, help="length of each run (default %(default)s)")
    parser.add_argument("--arrivals", nargs="+", default=["even", "poisson", "lockstep"])
    parser.add_argument("--engines", nargs="+", default=["threads", "io_uring"])
    parser.add_argument("--places", nargs="+", default=["file", "loop"], choices=list(PLACES))
    parser.add_argument("--shares", nargs="+", default=list(SHARES_PCT), choices=list(SHARES_PCT))
    parser.add_argument("--workers", type=int, nargs="+", default=[0], help="rings of io_uring; 0: drivetest chooses")
    parser.add_argument("--repeats", type=int, default=1, help="how often the whole table is measured")
    tries = "most runs of a case until one is undisturbed, whatever it printed; 1 repeats none (default %(default)s)"
    parser.add_argument("--tries", type=int, default=TRIES, help=tries)
    parser.add_argument("--runs", type=int, default=20, help="runs of each case of attribution (default %(default)s)")
    parser.add_argument("--drivetest", type=Path, default=RELEASE / "drivetest", help="default %(default)s")
    parser.add_argument("--publish", action="store_true", help="store the summary in docs/reference/accuracy.json")
    return parser.parse_args()


def cases(args: argparse.Namespace) -> list[Case]:
    ours = [str(args.drivetest), "storage"]
    engines = {engine: f"engine: {engine}\n" for engine in args.engines if engine != "io_uring"}
    if "io_uring" in args.engines:
        named = {count: f"io_uring {count} workers" if count else "io_uring" for count in args.workers}
        engines |= {name: f"engine: io_uring\nworkers: {count}\n" for count, name in named.items()}
    found = [
        Case(f"drivetest {arrivals} {engine}", ours, f"arrivals: {arrivals}\n{lines}", EXACT_US)
        for arrivals in args.arrivals
        for engine, lines in engines.items()
    ]
    if act := os.environ.get("ACT_STORAGE"):
        found.append(Case("act_storage", [act], "", EDGES_US))
    return found


def known_truth(drive: Drive, args: argparse.Namespace) -> int:
    """Print the table; return how many of drivetest's counts are outside their interval, less the host's own delays."""
    verdicts: Counter[tuple[str, str, str]] = Counter()
    by_case: Counter[tuple[str, str, str]] = Counter()
    achieved_pct: dict[tuple[str, str], float] = {}
    own: dict[tuple[str, int], float] = {}
    print("Shares of reads over a time: injected by the drive (its own count), its 99.9 % binomial interval, printed\n")
    print("| place | reads/s | program | over | injected | interval | printed | | programs, host, % of a CPU |")
    print("|---|---|---|---|---|---|---|---|---|")
    for place in args.places * args.repeats:
        with placed(drive, place) as device:
            for rate, shares, case in ((r, s, c) for r in args.rates for s in args.shares for c in cases(args)):
                injected_delays(drive, SHARES_PCT[shares])
                figures, truth = quietest(drive, case, device, rate, args)
                found = list(rows(f"{place} | {rate} | {case.name}", case, figures, truth, own))
                verdicts.update((place, case.program, verdict) for verdict in found)
                by_case.update((case.name, place, verdict) for verdict in found)
                reached_pct = 100 * figures.achieved_per_s / rate
                achieved_pct[case.name, place] = min(reached_pct, achieved_pct.get((case.name, place), reached_pct))
    if "ACT_STORAGE" not in os.environ:
        print("| | | act_storage | missing: set ACT_STORAGE to the program built from aerospike/act | | | | | |")
    by_program = list(summary_by_program(by_case, achieved_pct))
    table = list(summary(args.places, verdicts, own))
    print("", *by_program, "", *table, "", sep="\n")
    if args.publish:
        kind, published = ("known-truth", table) if args.workers == [0] else ("workers", by_program)
        accuracy.publish(kind, published, conditions(args))
    return sum(verdicts[place, "drivetest", OUTSIDE] for place in args.places)


def summary(
    places: list[str], verdicts: Counter[tuple[str, str, str]], own: dict[tuple[str, int], float]
) -> Iterator[str]:
    """Yield the published table: for each place, the number of shares by the position of their count."""
    programs = ("drivetest", "act_storage")
    without_delays = " | ".join(f"{program} over 1 ms without injected delays, %" for program in programs)
    positions = "inside | inside with the host's delays | outside"
    yield f"| place | shares | {positions} | act_storage inside | {without_delays} |"
    yield "|---|---|---|---|---|---|---|---|"
    for place in places:
        ours, theirs = ([verdicts[place, program, verdict] for verdict in JUDGED] for program in programs)
        counts = " | ".join(str(count) for count in (sum(ours), *ours))
        delayed = " | ".join(own_delays(own, place, program) for program in programs)
        of_theirs = f"{theirs[0]} of {sum(theirs)}" if sum(theirs) else "-"
        yield f"| {PLACES[place]} | {counts} | {of_theirs} | {delayed} |"


def summary_by_program(
    by_case: Counter[tuple[str, str, str]], achieved_pct: dict[tuple[str, str], float]
) -> Iterator[str]:
    """Yield the number of shares by the position of their count, for each program with its options and each place."""
    yield "**Shares by program**\n"
    yield "| program | place | shares | inside | inside with the host's delays | outside | least rate achieved, % |"
    yield "|---|---|---|---|---|---|---|"
    for (name, place), pct_achieved in achieved_pct.items():
        counts = [by_case[name, place, verdict] for verdict in JUDGED]
        cells = " | ".join(str(count) for count in (sum(counts), *counts))
        yield f"| {name} | {PLACES[place]} | {cells} | {pct_achieved:.2f} |"


def own_delays(own: dict[tuple[str, int], float], place: str, program: str) -> str:
    """Return the least and the largest share over 1 ms that the host itself added to runs of a program."""
    found = [
        100 * share
        for (head, threshold_us), share in own.items()
        if head.startswith(f"{place} | ") and f" | {program}" in head and threshold_us in (EXACT_US[0], EDGES_US[0])
    ]
    return f"{min(found):.2f} - {max(found):.2f}" if found else "-"


def conditions(args: argparse.Namespace) -> accuracy.Conditions:
    rates = " and ".join(f"{rate:,}" for rate in args.rates)
    shares = ", ".join(SHARE_WORDS[share] for share in args.shares)
    load = (
        f"{rates} reads/s; shares {shares}; arrivals {', '.join(args.arrivals)}; "
        f"engines {', '.join(args.engines)}; {args.seconds} s per run"
    )
    others = (
        f"A run that lost more than {PROGRAMS_PCT:.0f} % of a processor to other programs, or {STOLEN_PCT} % to other "
        f"machines, was repeated; at most {args.tries} runs were made"
        if args.tries > 1
        else "No run was repeated"
    )
    program = accuracy.program(args.drivetest)
    return accuracy.Conditions(accuracy.today(), program, accuracy.machine(), load, others)


def quietest(drive: Drive, case: Case, device: str, rate: int, args: argparse.Namespace) -> tuple[Printed, Truth]:
    """Repeat the run until it is undisturbed; return the least disturbed one."""
    runs: list[tuple[Printed, Truth]] = []
    while len(runs) < args.tries and not any(figures.disturbance <= 1 for figures, _ in runs):
        drive.do("forget")
        figures = run(drive, case, device, rate, args.seconds)
        runs.append((figures, drive.truth()))
        if figures.disturbance > 1 and len(runs) < args.tries:
            lost = (
                f"{figures.programs_pct:.1f} % of a processor to other programs, "
                f"{figures.stolen_pct:.1f} % to other machines"
            )
            print(f"{case.name} lost {lost}: again", file=sys.stderr, flush=True)
    return min(runs, key=lambda ran: ran[0].disturbance)


def injected_delays(drive: Drive, shares_pct: tuple[float, ...]) -> None:
    """Return delays of disjoint shares of reads that add up to the given shares over 1, 8 and 64 ms."""
    beyond = (*shares_pct[1:], 0.0)
    shares = [share - more for share, more in zip(shares_pct, beyond, strict=True)]
    delays = [f"delay read {share:.4f}% {delay_ms}ms" for share, delay_ms in zip(shares, DELAYS_MS, strict=True)]
    drive.do("clear", f"only read {RECORD_BYTES}", *delays, "forget")


def rows(head: str, case: Case, figures: Printed, truth: Truth, own: dict[tuple[str, int], float]) -> Iterator[str]:
    """Print a run's rows, and yield its verdicts.

    `own` holds the shares that the host itself adds, by head and threshold. Runs without delays set it; later runs
    use it.
    """
    for threshold_us in case.thresholds_us:
        injected, printed = truth.over[threshold_us] / truth.answered_count, figures.over[threshold_us]
        if truth.delayed_count == 0:
            own[head, threshold_us] = printed / figures.reads_count - injected
        verdict = checked(injected, own.get((head, threshold_us), 0.0), figures, threshold_us, truth.delayed_count > 0)
        low, high = interval(injected, figures)
        shares = (
            f"{100 * injected:.3f} | {pct(low, figures)} - {pct(high, figures)} | {pct(printed, figures)} | {verdict}"
        )
        print(
            f"| {head} | {threshold_us} us | {shares} | {figures.programs_pct:.1f}, {figures.stolen_pct:.1f} |",
            flush=True,
        )
        yield verdict


def checked(injected: float, own: float, figures: Printed, threshold_us: int, is_injected: bool) -> str:
    """Return whether the printed count is within the interval; the host itself may also delay reads."""
    if not is_injected:
        return "the host's own"
    printed = figures.over[threshold_us]
    for verdict, share in ((INSIDE, injected), (WITH_OWN, injected + (1 - injected) * own)):
        low, high = interval(share, figures)
        if low <= printed <= high:
            return verdict
    return OUTSIDE


def interval(share: float, figures: Printed) -> tuple[float, float]:
    """Return the interval that contains the count of a share in 99.9 of 100 runs."""
    expected = share * figures.reads_count
    spread = Z * math.sqrt(expected * (1 - share))
    return expected - spread, expected + spread


def pct(count: float, figures: Printed) -> str:
    return f"{100 * max(count, 0.0) / figures.reads_count:.3f}"


def honesty(drive: Drive, args: argparse.Namespace) -> None:
    """Request 60,000 reads/s of a drive that sustains about 52,000: four at once, 77 us each."""
    print(
        "60,000 reads/s requested of a drive that sustains 51,948/s (four at once, 77 us each), file, max-lag-sec 0\n"
    )
    print("| program | reads/s achieved | over 1 ms, % | message |")
    print("|---|---|---|---|")
    for case in cases(args):
        drive.do("clear", f"only read {RECORD_BYTES}", "servers 4 77us", "forget")
        figures = run(drive, case, drive.file, 60_000, min(args.seconds, 10))
        share = pct(figures.over[case.thresholds_us[0]], figures)
        print(f"| {case.name} | {figures.achieved_per_s:.0f} | {share} | {figures.messages} |", flush=True)


def attribute(drive: Drive, args: argparse.Namespace) -> int:
    """Print what drivetest reports of each overload; return how many runs differ from what is expected."""

    def is_disturbed(used: Used) -> bool:
        return disturbance(used.programs_pct, used.stolen_pct) > 1

    measurement = attribution.Measurement(args.drivetest, args.runs, args.tries, is_disturbed)
    print("Attribution of delays: runs in which drivetest and the campaign name what is overloaded, and nothing else\n")
    print(attribution.HEAD)
    differing: list[str] = []
    for place in args.places:
        with placed(drive, place) as device:
            differing += measurement.rows(drive, place, device, args.engines)
    print("", *(differing or ["Every run is as expected."]), "", sep="\n")
    return len(differing)


@contextmanager
def placed(drive: Drive, place: str) -> Iterator[str]:
    """Yield the device to name in the configuration."""
    if place == "file":
        yield drive.file
        return
    command = ["losetup", "--find", "--show", "--direct-io=on", str(drive.file)]
    device = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    try:
        yield device
    finally:
        subprocess.run(["losetup", "--detach", device], check=True)


def run(drive: Drive, case: Case, device: str, rate: int, seconds: int) -> Printed:
    """Run one program once. If it refuses or stops, end the benchmark with its message."""
    size = "" if device.startswith("/dev/") else f"file-size-mbytes: {SIZE_MIB}\n"
    config = (
        f"device-names: {device}\n{size}test-duration-sec: {seconds}\nread-reqs-per-sec: {rate}\n"
        f"microsecond-histograms: yes\nmax-lag-sec: 0\n{case.lines}"
    )
    with tempfile.TemporaryDirectory() as folder:
        file, side = Path(folder) / "config", Path(folder) / "side.jsonl"
        file.write_text(config)
        more = ["--side-file", str(side)] if case.lines else []
        used = timed([*case.command, file, *more], {drive.process.pid})
        if "ERROR" in used.output:
            sys.exit(f"{case.name} ended with an error:\n{used.output[-500:]}")
        lost = (used.programs_pct, used.stolen_pct)
        return side_file_figures(side, used.output, *lost) if case.lines else log_figures(used.output, seconds, *lost)


def side_file_figures(side: Path, log: str, programs_pct: float, stolen_pct: float) -> Printed:
    """Return the figures of the side file's end record, with the messages of drivetest in the log."""
    end = json.loads(side.read_text().splitlines()[-1])
    own = [line for line in log.splitlines() if line.startswith("drivetest: ")]
    response = end["response"]
    messages = "; ".join(own) or "nothing"
    response_ms = ", ".join(f"{name} {response[f'{name}_ns'] / 1e6:.3f}" for name in ("p50", "p99"))
    return Printed(
        reads_count=end["reads_count"],
        achieved_per_s=float(end["achieved_reads_per_s"]),
        over={int(us): count for us, count in end["over"].items()},
        messages=f"{messages}; response time, ms: {response_ms}",
        programs_pct=programs_pct,
        stolen_pct=stolen_pct,
    )


def log_figures(log: str, seconds: int, programs_pct: float, stolen_pct: float) -> Printed:
    """Return the figures of `reads` in the last block."""
    counts = last_reads(log)
    total = sum(counts.values())
    over = {edge: sum(n for bucket, n in counts.items() if bucket > edge.bit_length() - 1) for edge in EDGES_US}
    return Printed(total, total / seconds, over, "nothing", programs_pct, stolen_pct)


if __name__ == "__main__":
    sys.exit(main())
