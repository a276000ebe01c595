"""Compare the load of drivetest with those of upstream's act_storage and of fio, run in turn on the same devices.

`ACT_STORAGE=/path/act_storage python3 benchmarks/drivetest_load.py --write RESULT [ROW ...]`, as root, on a machine
that does nothing else. Makes a loop device over a file on the disk and a device of memory, and frees them. `--device`
names a block device instead of the loop device: **everything on it is overwritten**. Without ROW, every row is run.
"""

import argparse
import os
import signal
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import accuracy
import load_devices
from load_programs import DRIVETEST, MISSING, is_missing
from load_rows import FULL, QUICK, ROWS, Bench, Extent
from load_series import OTHERS_PCT, Estimate, Series
from polling import idle_processors_polling


def main() -> int:
    args = arguments()
    estimates = estimated(args)
    print(estimates, flush=True)
    if args.estimate:
        return 0
    # `finally` and `with` free the devices also when the command is ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with ExitStack() as made:
        if args.polling:
            made.enter_context(idle_processors_polling())
        disk = args.device or made.enter_context(load_devices.loop_on_disk(args.directory, args.size_mib))
        memory = made.enter_context(load_devices.memory(args.size_mib))
        conditions = [*described(disk, memory, args), estimates]
        print("\n".join(conditions), flush=True)
        series = Series(args.extent.tries, conditions, args.write)
        bench = Bench(args.programs, disk, memory, args.directory, args.extent, series)
        for name in args.rows:
            print(f"\n### {name}\n", flush=True)
            for table in ROWS[name](bench):
                series.add(name, table)
                print(table.markdown(), flush=True)
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"of {', '.join(ROWS)}")
    program = "compare this build of drivetest as NAME; give the option again for each build, the oldest first"
    parser.add_argument("--program", action="append", type=named_program, metavar="NAME=PATH", help=program)
    parser.add_argument("--write", type=Path, metavar="RESULT", help="write RESULT.json with every run, and RESULT.md")
    parser.add_argument("--quick", action="store_true", help="fewer rates and rounds: at most 10 minutes")
    parser.add_argument("--estimate", action="store_true", help="print the estimated duration and stop")
    parser.add_argument("--device", help="block device to load instead of a loop device; it is overwritten")
    parser.add_argument("--disk-rates", type=int, nargs="+", metavar="N", help="reads per second of the rows by rate")
    parser.add_argument("--memory-rates", type=int, nargs="+", metavar="N", help="the same for the device of memory")
    parser.add_argument("--seconds", type=int, help=f"least length of a run (default {FULL.seconds})")
    parser.add_argument("--longest", type=int, help=f"length of a run at low rates (default {FULL.longest_s})")
    parser.add_argument("--rounds", type=int, help="how often each is run, in turn (default by row)")
    parser.add_argument("--size-mib", type=int, default=768, help="size of devices made here (default %(default)s)")
    parser.add_argument("--directory", type=Path, default=Path(tempfile.gettempdir()), help="where files are made")
    polling = "let idle processors poll, for all programs (/dev/cpu_dma_latency)"
    parser.add_argument("--polling", action="store_true", help=polling)
    args = parser.parse_args()
    if unknown := [row for row in args.rows if row not in ROWS]:
        parser.error(f"expected rows of {', '.join(ROWS)}, got {', '.join(unknown)}")
    args.programs = dict(args.program or [("drivetest", DRIVETEST)])
    args.extent = extent_of(args)
    args.rows = args.rows or list(args.extent.rows)
    return args


def named_program(text: str) -> tuple[str, Path]:
    name, _, path = text.partition("=")
    if not name or " " in name or name in MISSING or not os.access(path, os.X_OK):
        raise argparse.ArgumentTypeError(f"expected NAME=PATH of a program, got {text!r}; NAME is one word")
    return name, Path(path).resolve()


def extent_of(args: argparse.Namespace) -> Extent:
    """Return the extent that the options choose."""
    extent = QUICK if args.quick else FULL
    if args.rounds:
        extent = replace(extent, **dict.fromkeys(("rounds", "evenness_rounds", "service_rounds"), args.rounds))
    if args.disk_rates:
        extent = replace(extent, disk_rates=tuple(args.disk_rates), service_disk_rates=tuple(args.disk_rates))
    if args.memory_rates:
        extent = replace(extent, memory_rates=tuple(args.memory_rates), service_memory_rates=tuple(args.memory_rates))
    return replace(extent, seconds=args.seconds or extent.seconds, longest_s=args.longest or extent.longest_s)


def estimated(args: argparse.Namespace) -> str:
    """Return the estimated duration of each row and of all, without repeated runs."""
    minutes = {}
    memory = "zram" if load_devices.ZRAM.exists() else None
    for name in args.rows:
        estimate = Estimate()
        for _ in ROWS[name](Bench(args.programs, "disk", memory, args.directory, args.extent, estimate)):
            pass
        minutes[name] = estimate.seconds / 60
    parts = ", ".join(f"{name} {value:.0f}" for name, value in minutes.items())
    return f"Estimated duration, min, without repeated runs: {sum(minutes.values()):.0f} ({parts})."


def described(disk: str, memory: str | None, args: argparse.Namespace) -> list[str]:
    """Return the conditions of the measurement."""
    extent: Extent = args.extent
    return [
        f"Machine: {accuracy.machine()}, load {os.getloadavg()[0]:.1f}.",
        f"Disk: {load_devices.described(disk)}.",
        f"Memory: {load_devices.described(memory) if memory else 'missing, the kernel makes no zram device'}.",
        "Idle processors poll for all programs." if args.polling else "Idle processors poll if a program requests it.",
        *(f"Missing program: {name}: {text}." for name, text in MISSING.items() if is_missing(name)),
        f"Rounds in turn: {extent.rounds}, evenness {extent.evenness_rounds}, service {extent.service_rounds}.",
        f"Runs are {extent.seconds} s long, at low rates up to {extent.longest_s} s, and include the program's start.",
        f"Values are medians (least - most). If others took over {OTHERS_PCT:.0f} % of a processor, a run was",
        f"made again, {extent.tries - 1} times at most.",
    ]


if __name__ == "__main__":
    sys.exit(main())
