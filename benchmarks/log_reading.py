"""Reading a day's log: `drivetest read --json` against upstream's act_latency.py, and the bytes stored.

Plain Python 3. Upstream's script is not part of this repository: name it with ACT_LATENCY=/path/to/act_latency.py.
"""

import argparse
import base64
import gzip
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import stretch_log

HERE = Path(__file__).resolve().parent
DRIVETEST = HERE.parent / "runners/drivetest/target/release/drivetest"
NOISY_LOGS = ("6.6/slow-disk-ms.log", "6.6/four-us.log", "6.6/pause6.log")
DAY_S = 86_400
SEED = 1

Row = list[str]


class Figures(NamedTuple):
    """One run of a program."""

    wall_s: float
    cpu_s: float
    peak_kib: int


class Program(NamedTuple):
    """A program, or the reason why it is not measured."""

    name: str
    command: list[str]
    missing: str = ""


def measure(command: list[str]) -> Figures | None:
    """Run a command, None if it fails; its peak memory is never reported below that of this benchmark."""
    begin = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
    figures = Figures(wall_s, used.ru_utime + used.ru_stime, used.ru_maxrss)
    return None if process.returncode else figures


def measure_in_turns(programs: list[Program], times: int) -> dict[str, list[Figures | None]]:
    """Run all programs in turn, several times, so that a change of the machine affects all of them."""
    present = [program for program in programs if not program.missing]
    for program in present:
        measure(program.command)
    rounds = [{program.name: measure(program.command) for program in present} for _ in range(times)]
    return {program.name: [one[program.name] for one in rounds] for program in present}


def span(values: list[float]) -> str:
    return f"{statistics.median(values):.3f} ({min(values):.3f} - {max(values):.3f})"


def rows_of(programs: list[Program], times: int, content_mb: float) -> list[Row]:
    """Return a row for each program; the ratio is to the median of the last one."""
    runs = measure_in_turns(programs, times)
    last = [figures.wall_s for figures in runs.get(programs[-1].name, []) if figures]
    rows = []
    for program in programs:
        figures = [one for one in runs.get(program.name, []) if one]
        if not figures:
            rows.append([program.name, program.missing or "failed", "", "", "", ""])
            continue
        wall, cpu = [one.wall_s for one in figures], [one.cpu_s for one in figures]
        ratio = f"{statistics.median(wall) / statistics.median(last):.2f}" if last else "-"
        peak = max(one.peak_kib for one in figures) / 1024
        speed = content_mb / statistics.median(cpu)
        rows.append([program.name, span(wall), span(cpu), f"{speed:.0f}", ratio, f"{peak:.0f}"])
    return rows


def show(title: str, head: Row, rows: list[Row]) -> None:
    print(f"\n**{title}**\n\n| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")


def reading(*arguments: str) -> list[str]:
    return [str(DRIVETEST), "read", "--json", *arguments]


def upstream(log: Path) -> Program:
    script = os.environ.get("ACT_LATENCY")
    missing = (
        "" if script and Path(script).is_file() else "not measured: ACT_LATENCY=/path/to/act_latency.py is not set"
    )
    return Program("act_latency.py, one histogram", [sys.executable, str(script), "-l", str(log)], missing)


def compressed(log: Path) -> list[Program]:
    """Return programs that read the log in gzip and zstd, each with its decoder alone."""
    packed = log.with_name(log.name + ".gz")
    with log.open("rb") as plain, gzip.open(packed, "wb", compresslevel=6) as target:
        shutil.copyfileobj(plain, target)
    programs = [Program("drivetest read --json, gzip", reading(str(packed))), decoder("gzip", packed)]
    zstd, packed = shutil.which("zstd"), log.with_name(log.name + ".zst")
    if zstd:
        subprocess.run([zstd, "-q", "-3", str(log), "-o", str(packed)], check=True)
    missing = "" if zstd else "not measured: no zstd on the PATH"
    return [
        *programs,
        Program("drivetest read --json, zstd", reading(str(packed)), missing),
        decoder("zstd", packed),
    ]


def decoder(name: str, packed: Path) -> Program:
    missing = "" if shutil.which(name) else f"not measured: no {name} on the PATH"
    return Program(f"{name} -dc alone", [name, "-dc", str(packed)], missing)


def compare(directory: Path, hours: int, devices: int, times: int) -> None:
    log = directory / f"{devices}.log"
    maker = [sys.executable, str(HERE / "make_log.py"), "--hours", str(hours), "--devices", str(devices)]
    with log.open("wb") as target:
        subprocess.run(maker, stdout=target, check=True)
    programs = [
        Program("drivetest read --json", reading(str(log))),
        Program("the same with minutes", reading(str(log), "--series-sec", "60")),
        Program(
            "the same with an hour of seconds",
            reading(str(log), "--series-sec", "1", "--from-sec", "3600", "--to-sec", "7200"),
        ),
        Program("drivetest latency", [str(DRIVETEST), "latency", "-l", str(log)]),
        *compressed(log),
        upstream(log),
    ]
    size_mb = log.stat().st_size / 1e6
    title = f"{hours} h of {devices} device{'s' * (devices > 1)}, {size_mb:.0f} MB, {times} rounds in turns"
    head = ["program", "wall s, median (least - most)", "CPU s", "MB/s of a core", "wall / upstream", "peak MiB"]
    show(title, head, rows_of(programs, times, size_mb))


def minutes(log: stretch_log.Log) -> list[stretch_log.Dump]:
    """Return the counts of each minute of the stretched day."""
    sums: list[stretch_log.Dump] = []
    for second, interval in enumerate(stretch_log.draws(log, DAY_S, SEED)):
        if second % 60 == 0:
            sums.append({})
        stretch_log.add(sums[-1], interval)
    return sums


def leb128(value: int) -> bytes:
    if value < 128:
        return bytes([value])
    return bytes([value & 127 | 128]) + leb128(value >> 7)


def as_text(name: str, dump: stretch_log.Dump) -> str:
    return name + "".join(f" {bucket}:{count}" for bucket, count in sorted(dump[name].items()) if count)


def plain_layouts(dumps: list[stretch_log.Dump]) -> dict[str, bytes]:
    """Return the differences in the simplest layouts."""
    columns = [(name, bucket) for name in dumps[0] for bucket in range(65) if any(d[name].get(bucket) for d in dumps)]

    def cell(dump: stretch_log.Dump, column: tuple[str, int]) -> bytes:
        name, bucket = column
        return leb128(dump[name].get(bucket, 0))

    return {
        "columns": b"".join(cell(dump, column) for column in columns for dump in dumps),
        "rows": b"".join(cell(dump, column) for dump in dumps for column in columns),
        "text": "\n".join("\n".join(as_text(name, dump) for name in dump) for dump in dumps).encode(),
    }


def stored_bytes(log: Path) -> int:
    answer = subprocess.run(reading(str(log), "--series-sec", "60"), capture_output=True, check=True).stdout
    return len(base64.b64decode(json.loads(answer)["runs"][0]["series"]["data"]))


def series_row(case: str, directory: Path, zstd: str) -> Row:
    real = stretch_log.parse((HERE.parent / "tests/data/act" / case).read_text())
    log = directory / "stretched.log"
    with log.open("w") as target:
        target.writelines(stretch_log.stretched(real, DAY_S, SEED))
    stored = stored_bytes(log)
    sizes = {}
    for name, plain in plain_layouts(minutes(real)).items():
        packed = subprocess.run([zstd, "-19", "-c"], input=plain, capture_output=True, check=True).stdout
        sizes[name] = len(packed)
    cells = [f"{size:,} ({stored / size:.2f})" for size in sizes.values()]
    return [case, f"{log.stat().st_size / 1e6:.0f} MB", f"{stored:,}", *cells]


def series(directory: Path) -> None:
    zstd = shutil.which("zstd")
    if zstd is None:
        print("\nsize of a series: not measured: no zstd on the PATH")
        return
    head = ["real log", "a day of it", "series of minutes, bytes", "columns of LEB128, zstd -19 (ratio)"]
    head += ["rows of LEB128", "text"]
    show("Minutes of a real log stretched to a day", head, [series_row(case, directory, zstd) for case in NOISY_LOGS])


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--hours", type=int, default=24)
    arguments.add_argument("--times", type=int, default=9)
    options = arguments.parse_args()
    machine = platform.uname()
    print(f"{machine.system} {machine.release} {machine.machine}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as directory:
        for devices in (1, 4):
            compare(Path(directory), options.hours, devices, options.times)
        series(Path(directory))


if __name__ == "__main__":
    main()
