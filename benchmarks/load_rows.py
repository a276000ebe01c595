"""The rows of drivetest_load.py: their rates and rounds, the programs that they compare, and their tables."""

import json
import statistics
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import load_evenness
from load_programs import Load, Program, Ran, act_storage, drivetest, fio
from load_series import Figure, Found, Series, Table, median_with_interval, ratios, summary, values

# Upstream's service threads in the rows that compare processor time.
ACT_THREADS = 10

# The rings that drivetest chooses at 30,000 requests a second on hosts of 1, 8, 64 and 128 CPUs are one each (engine
# `workers()` and its test); more are forced here to show that their number changes nothing.
WORKERS = (1, 4, 16, 64)

# Five service threads for each of 1, 8, 64 and 128 CPUs.
SERVICE_THREADS = (5, 40, 320, 640)

DEVICES_COUNT = 128

# Runs at low rates are as long as this number of reads takes, at most so many seconds: a program needs the same
# processor time for its start and its reports at each rate.
READS_OF_RUN = 60_000
LONGEST_S = 30

# Rates around the one at which the period is 50 us.
NEIGHBOURS = (19_990, 20_000, 20_010)

# Values of coalesce-us that are compared with none. Releases before 0.4.0 submitted requests of 50 us together.
COALESCE_US = (50, 100)

# Columns about the circumstances of runs.
SHARES = ("achieved, %", "others, % of a CPU", "rest of the machine, % of a CPU")

# Most outstanding requests of a program. The kernel gives a loop device as many slots.
DEPTH = 128


@dataclass(frozen=True)
class Extent:
    """The rates, the rounds and the lengths of the rows."""

    disk_rates: tuple[int, ...]
    memory_rates: tuple[int, ...]
    service_disk_rates: tuple[int, ...]
    service_memory_rates: tuple[int, ...]
    seconds: int
    longest_s: int
    rounds: int
    evenness_rounds: int
    service_rounds: int
    tries: int
    rows: tuple[str, ...]

    def length_s(self, rate: int) -> int:
        return max(self.seconds, min(self.longest_s, READS_OF_RUN // rate))


FULL = Extent(
    disk_rates=(1_000, 2_000, 5_000, 10_000, 15_000, *NEIGHBOURS),
    memory_rates=(10_000, 20_000, 30_000, 40_000, 50_000, 60_000),
    service_disk_rates=(2_000, 10_000, 20_000),
    service_memory_rates=(10_000, 30_000, 50_000),
    seconds=6,
    longest_s=LONGEST_S,
    rounds=5,
    evenness_rounds=3,
    service_rounds=9,
    tries=4,
    rows=("cost", "evenness", "service", "coalesce-us", "top-rate", "trueness", "honesty", "memory"),
)

# At most 10 minutes for one build of drivetest.
QUICK = Extent(
    disk_rates=(5_000, 20_000),
    memory_rates=(50_000,),
    service_disk_rates=(10_000,),
    service_memory_rates=(30_000,),
    seconds=3,
    longest_s=3,
    rounds=3,
    evenness_rounds=1,
    service_rounds=6,
    tries=1,
    rows=("cost", "evenness", "service", "top-rate"),
)


@dataclass(frozen=True)
class Bench:
    """The programs, the devices and the extent of all rows."""

    drivetests: dict[str, Path]
    disk: str
    memory: str | None
    directory: Path
    extent: Extent
    series: Series

    def ours(self) -> dict[str, Program]:
        return {name: drivetest(path) for name, path in self.drivetests.items()}

    def newest(self) -> Path:
        """Return the last of the named programs, the only one in rows that do not compare steps of a change."""
        return list(self.drivetests.values())[-1]

    def loads(self) -> Iterator[tuple[str, list[Load]]]:
        """Yield the loads of each device at every rate: reads only, and with half as many writes."""
        for device, rates in ((self.disk, self.extent.disk_rates), (self.memory, self.extent.memory_rates)):
            if device is None:
                continue
            reads = [Load(device, rate, 0, self.extent.length_s(rate)) for rate in rates]
            yield f"{device}, reads only", reads
            yield f"{device}, with half as many writes", [replace(load, writes=load.reads // 2) for load in reads]


def cost(bench: Bench) -> Iterator[Table]:
    """Compare processor time, and state drivetest's own lateness, at every rate."""
    programs = bench.ours() | {"act_storage": act_storage(ACT_THREADS), "fio": fio(depth=DEPTH)}
    for title, loads in bench.loads():
        found = bench.series.in_turn("cost", programs, loads, bench.extent.rounds)
        yield cost_table(title, bench, found, loads)
        if compared := list(neighbours(bench, found, loads)):
            columns = ("program", "reads/s", "difference of the CPU per read, %")
            yield Table(f"Neighbouring rates, {title}", columns, compared)
        yield engine_table(title, bench, found, loads)


def cpu(ran: Ran) -> float | None:
    return ran.cpu_us_per_read


def achieved(ran: Ran) -> float | None:
    return ran.reads_per_s


def others(ran: Ran) -> float | None:
    return ran.others_pct


def shares(found: Found, load: Load, name: str) -> tuple[str, ...]:
    """Return the share of the requested rate that was achieved, and the processor time of the rest of the machine."""
    return (
        summary([100 * reads_per_s / load.reads for reads_per_s in values(found, load, name, achieved)], 3),
        summary(values(found, load, name, others), 1),
        summary(values(found, load, name, lambda ran: ran.rest_pct), 0),
    )


def cost_table(title: str, bench: Bench, found: Found, loads: list[Load]) -> Table:
    """Return processor time per read, also divided by that of other programs round by round."""
    first, *later = bench.drivetests
    references = ("act_storage", "fio", *([first] if later else []))
    columns = ("reads/s", "program", "CPU us per read", *(f"/ {name}" for name in references))
    rows = [
        (
            f"{load.reads:,}",
            name,
            summary(values(found, load, name, cpu)),
            *(
                summary(ratios(found, load, (name, reference), cpu)) if name != reference else "1"
                for reference in references
            ),
            *shares(found, load, name),
        )
        for load in loads
        for name in (*bench.drivetests, "act_storage", "fio")
    ]
    return Table(f"Processor time, {title}", (*columns, *SHARES), rows)


def neighbours(bench: Bench, found: Found, loads: list[Load]) -> Iterator[tuple[str, ...]]:
    """Yield how much the processor time of neighbouring rates differs."""
    for name in bench.drivetests:
        medians = [
            statistics.median(numbers)
            for load in loads
            if load.reads in NEIGHBOURS and (numbers := values(found, load, name, cpu))
        ]
        if len(medians) == len(NEIGHBOURS):
            yield name, f"{NEIGHBOURS[0]:,} to {NEIGHBOURS[-1]:,}", f"{100 * (max(medians) / min(medians) - 1):.1f}"


def engine_table(title: str, bench: Bench, found: Found, loads: list[Load]) -> Table:
    """Return drivetest's own lateness and what its engine did for each read."""
    figures: dict[str, Figure] = {
        "own lateness p50, us": lambda ran: ran.own_lateness_us("p50_ns"),
        "own lateness p99, us": lambda ran: ran.own_lateness_us("p99_ns"),
        "catch-up, %": lambda ran: ran.catch_up_pct,
        "calls per read": lambda ran: ran.per_read("enters_count"),
        "timer wakes per read": lambda ran: ran.per_read("timer_wakes_count"),
        "completion wakes per read": lambda ran: ran.per_read("completion_wakes_count"),
        "spin us per read": lambda ran: None if (ns := ran.per_read("spin_ns")) is None else ns / 1000,
    }
    rows = [
        (f"{load.reads:,}", name, *(summary(values(found, load, name, figure)) for figure in figures.values()))
        for load in loads
        for name in bench.drivetests
    ]
    notes = [note for name in bench.drivetests for note in setups(name, found.get((loads[-1], name), []))]
    return Table(f"Engine, {title}", ("reads/s", "program", *figures), rows, notes)


def setups(name: str, runs: list[Ran]) -> Iterator[str]:
    """Yield how drivetest set up its last run, in the words of the start record."""
    start = runs[-1].side[0] if runs and runs[-1].side else {}
    if setup := start.get("setup"):
        facts = {"engine": start["engine"], "coalesce_us": start["coalesce_us"], **setup}
        reasons = facts.pop("sentences", [])
        stated = [f"{fact} {json.dumps(value)}" for fact, value in facts.items() if value is not None]
        yield f"{name}: {'; '.join([*stated, *reasons])}"


def of_evenness(name: str) -> Figure:
    """Return a figure of the kernel's trace."""
    return lambda ran: None if ran.evenness is None else getattr(ran.evenness, name)


def evenness(bench: Bench) -> Iterator[Table]:
    """Compare spacing and lateness of the requests as seen from the kernel."""
    if not load_evenness.is_available():
        yield Table("Evenness", notes=["missing: tracefs at /sys/kernel/tracing"])
        return
    programs = {name: load_evenness.traced(run) for name, run in (bench.ours() | {"fio": fio(depth=DEPTH)}).items()}
    for title, loads in bench.loads():
        short = [replace(load, seconds=bench.extent.seconds) for load in loads]
        found = bench.series.in_turn("evenness", programs, short, bench.extent.evenness_rounds)
        yield evenness_table(title, found, short, list(programs))


def evenness_table(title: str, found: Found, loads: list[Load], names: list[str]) -> Table:
    """Return the bunched requests of all rounds together, and the lateness, also divided by fio's round by round."""
    bunched: dict[str, Figure] = {
        "bunched reads": of_evenness("bunched_count"),
        "bunched large blocks": lambda ran: ran.bunched_blocks_count,
    }
    lateness: dict[str, Figure] = {"p50": of_evenness("late_p50_us"), "p99": of_evenness("late_p99_us")}
    figures: dict[str, Figure] = {
        "catch-up, %": of_evenness("catch_up_pct"),
        **{f"lateness {name}, us": figure for name, figure in lateness.items()},
        "side file: catch-up, %": lambda ran: ran.catch_up_pct,
        "side file: own lateness p50, us": lambda ran: ran.own_lateness_us("p50_ns"),
        "side file: own lateness p99, us": lambda ran: ran.own_lateness_us("p99_ns"),
    }
    columns = (*bunched, *figures, *(f"{name} / fio" for name in lateness), *SHARES)
    rows = [
        (
            f"{load.reads:,}",
            name,
            *(total(values(found, load, name, figure)) for figure in bunched.values()),
            *(summary(values(found, load, name, figure)) for figure in figures.values()),
            *(summary(ratios(found, load, (name, "fio"), figure)) for figure in lateness.values()),
            *shares(found, load, name),
        )
        for load in loads
        for name in names
    ]
    return Table(f"Requests as issued by the kernel, {title}", ("reads/s", "program", *columns), rows)


def total(counts: list[float]) -> str:
    """Return the sum over all rounds."""
    return f"{sum(counts):.0f}" if counts else "-"


def service(bench: Bench) -> Iterator[Table]:
    """Compare service times with those of fio, which runs twice per round to show its own spread.

    On a device of memory drivetest chooses threads, so its rings and fio without them are compared as well.
    """
    extent = bench.extent
    first, last = {"fio": fio(depth=DEPTH)} | bench.ours(), {"fio again": fio(depth=DEPTH)}
    same_engines = {
        "drivetest io_uring": drivetest(bench.newest(), "engine: io_uring"),
        "fio psync": fio("psync", 1, 1),
    }
    yield service_table(bench, first | last, [Load(bench.disk, rate) for rate in extent.service_disk_rates])
    if bench.memory:
        loads = [Load(bench.memory, rate) for rate in extent.service_memory_rates]
        yield service_table(bench, first | same_engines | last, loads)


def service_table(bench: Bench, programs: dict[str, Program], loads: list[Load]) -> Table:
    """Return service times, also divided by those of fio round by round."""
    loads = [replace(load, seconds=bench.extent.seconds) for load in loads]
    found = bench.series.in_turn("service", programs, loads, bench.extent.service_rounds)
    columns = ("reads/s", "program", "p50 us", "p99 us", "p50 / fio", "p99 / fio")
    p50, p99 = (lambda ran: ran.p50_us), (lambda ran: ran.p99_us)
    rows = [
        (
            f"{load.reads:,}",
            name,
            *(summary(values(found, load, name, part), 1) for part in (p50, p99)),
            *(median_with_interval(ratios(found, load, (name, "fio"), part)) for part in (p50, p99)),
            *shares(found, load, name),
        )
        for load in loads
        for name in programs
    ]
    return Table(f"Service time, {loads[0].device}, reads only", (*columns, *SHARES), rows)


def coalescing(bench: Bench) -> Iterator[Table]:
    """Show what `coalesce-us` saves, and how late it makes requests."""
    newest = bench.newest()
    programs = {"drivetest": drivetest(newest)}
    programs |= {f"drivetest coalesce-us {us}": drivetest(newest, f"coalesce-us: {us}") for us in COALESCE_US}
    loads = [Load(bench.disk, 20_000, writes, bench.extent.seconds) for writes in (0, 10_000)]
    found = bench.series.in_turn("coalesce-us", programs, loads, bench.extent.rounds)
    figures: dict[str, Figure] = {
        "CPU us per read": cpu,
        "own lateness p50, us": lambda ran: ran.own_lateness_us("p50_ns"),
        "own lateness p99, us": lambda ran: ran.own_lateness_us("p99_ns"),
        "catch-up, %": lambda ran: ran.catch_up_pct,
        "service p50, us": lambda ran: ran.p50_us,
        "service p99, us": lambda ran: ran.p99_us,
        "calls per read": lambda ran: ran.per_read("enters_count"),
    }
    columns = ("reads/s", "writes/s", "program", *figures, "CPU / drivetest", *SHARES)
    rows = [
        (
            f"{load.reads:,}",
            f"{load.writes:,}",
            name,
            *(summary(values(found, load, name, figure)) for figure in figures.values()),
            summary(ratios(found, load, (name, "drivetest"), cpu)),
            *shares(found, load, name),
        )
        for load in loads
        for name in programs
    ]
    yield Table(f"Coalescing, {bench.disk}", columns, rows)


def top_rate(bench: Bench) -> Iterator[Table]:
    """Request more than a memory device sustains, and compare the rates reached."""
    if bench.memory is None:
        yield Table("Top rate", notes=["missing: a zram device"])
        return
    load = Load(bench.memory, 2_000_000, 0, bench.extent.seconds)
    upstream = {f"act_storage {count} threads": act_storage(count) for count in (2, ACT_THREADS, 64)}
    unpaced = fio("psync", jobs=2, depth=1)
    programs = bench.ours() | upstream | {"fio psync": lambda load: unpaced(replace(load, reads=0))}
    found = bench.series.in_turn("top-rate", programs, [load], bench.extent.rounds)

    best = max(upstream, key=lambda name: statistics.median(values(found, load, name, achieved) or [0]))
    rates = ("reads/s achieved", "/ best act_storage", "/ fio psync")
    columns = ("program", *rates, "CPU us per read", "others, % of a CPU")
    rows = [
        (
            name,
            summary(values(found, load, name, achieved), 0),
            *(summary(ratios(found, load, (name, other), achieved)) for other in (best, "fio psync")),
            summary(values(found, load, name, cpu)),
            summary(values(found, load, name, others), 1),
        )
        for name in programs
    ]
    yield Table(f"2,000,000 reads/s requested, {bench.memory}", columns, rows, [f"best act_storage: {best}"])


def trueness(bench: Bench) -> Iterator[Table]:
    """Check that the result is that of the device and does not depend on the host's CPUs."""
    newest = bench.newest()
    programs = {
        f"drivetest, {count} worker{'s' * (count > 1)}": drivetest(newest, f"workers: {count}") for count in WORKERS
    }
    programs |= {f"act_storage {count} threads": act_storage(count) for count in SERVICE_THREADS}
    programs["fio"] = fio(depth=DEPTH)
    load = Load(bench.disk, 20_000, 10_000, bench.extent.seconds)
    found = bench.series.in_turn("trueness", programs, [load], bench.extent.rounds)
    figures: dict[str, Figure] = {
        "reads/s achieved": achieved,
        "over 1024 us, %": lambda ran: ran.over_pct,
        "p50 us": lambda ran: ran.p50_us,
        "p99 us": lambda ran: ran.p99_us,
        "CPU us per read": cpu,
        "others, % of a CPU": others,
    }
    rows = [(name, *(summary(values(found, load, name, figure)) for figure in figures.values())) for name in programs]
    yield Table(f"20,000 reads/s + 10,000 writes/s, {bench.disk}", ("program", *figures), rows)


def honesty(bench: Bench) -> Iterator[Table]:
    """Request a fifth more than the device sustains according to fio."""
    unpaced = Load(bench.disk, 0, 0, bench.extent.seconds)
    found = bench.series.in_turn("honesty", {"fio": fio(depth=256)}, [unpaced], 1)
    sustained = values(found, unpaced, "fio", achieved) or [50_000.0]
    load = Load(bench.disk, round(1.2 * sustained[0]), 0, bench.extent.seconds)
    programs = {"drivetest": drivetest(bench.newest()), "act_storage": act_storage(ACT_THREADS)}
    found = bench.series.in_turn("honesty", programs, [load], 1)
    notes = []
    for (_, name), (ran,) in found.items():
        notes.append(f"{name}: ran {ran.reads_per_s:.0f} reads/s, over 1024 us {ran.over_pct:.2f} %")
        if ran.side:
            response, rate = ran.side[-1]["response"], ran.side[-1]["rate"]
            notes.append(f"{name} reports: {rate['word']}: {rate['sentence']}")
            notes.append(
                f"{name}: response p50 {response['p50_ns'] / 1e6:.1f} ms, p99 {response['p99_ns'] / 1e6:.1f} ms"
            )
    yield Table(f"{load.reads} reads/s requested, {bench.disk}", notes=notes)


def memory(bench: Bench) -> Iterator[Table]:
    """Compare memory with 128 plain files and with one."""
    limit_mib = {1: 64 + 4, DEVICES_COUNT: 64 + 4 * DEVICES_COUNT}
    lines = {engine: ("file-size-mbytes: 4", f"engine: {engine}") for engine in ("io_uring", "threads")}
    programs = {engine: drivetest(bench.newest(), *more) for engine, more in lines.items()}
    with tempfile.TemporaryDirectory(dir=bench.directory) as folder:
        files = {count: ",".join(f"{folder}/{number}.img" for number in range(count)) for count in limit_mib}
        loads = {count: Load(names, 20_000, 2_000, bench.extent.seconds) for count, names in files.items()}
        found = bench.series.in_turn("memory", programs, list(loads.values()), 1)
    rows = [
        (
            str(count),
            engine,
            summary(values(found, load, engine, lambda ran: ran.peak_kib / 1024), 1),
            str(limit_mib[count]),
        )
        for count, load in loads.items()
        for engine in programs
    ]
    yield Table("Peak memory", ("devices", "engine", "peak MiB", "limit MiB"), rows)


ROWS: dict[str, Callable[[Bench], Iterator[Table]]] = {
    "cost": cost,
    "evenness": evenness,
    "service": service,
    "coalesce-us": coalescing,
    "top-rate": top_rate,
    "trueness": trueness,
    "honesty": honesty,
    "memory": memory,
}
