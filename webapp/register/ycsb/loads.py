"""Loads: the register's own YCSB sweeps, that is, runs that differ only in drive, set-up and number of threads."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median
from typing import Any

from django.db.models import Count, Max, Min

from results.access.withholding import has_withheld_file, visible_ycsb
from results.models import Product, Run, YcsbOperation, YcsbRun
from results.rules.ycsb.sweeps import Point
from webapp.register.comparability.comparable import NAMES, RunConditions, known_differences, value_text
from webapp.register.comparability.conditions import SETUP_CONDITIONS, Setup, setup_of, sweep_conditions
from webapp.register.tables.columns import product_of
from webapp.register.tables.sentences import product_name
from webapp.register.ycsb.machine import of_repeats


def names_of_setups(setups: Sequence[Setup]) -> list[list[str]]:
    """Return for each set-up the conditions in which it differs from the others; none for a single set-up."""
    names = ("firmware", *SETUP_CONDITIONS)
    differing = [place for place in range(len(names)) if len({setup[place] for setup in setups}) > 1]
    labels = {"firmware": "firmware"} | {name: NAMES[name].lower() for name in SETUP_CONDITIONS}
    return [
        [f"{labels[names[place]]} {value_text(names[place], setup[place])}" for place in differing] for setup in setups
    ]


def difference_of(first: Run, second: Run) -> str:
    """Return the conditions in which two runs are known to differ, with both values; "" if there are none."""
    differences = known_differences(*(RunConditions(run, sweep_conditions(run)) for run in (first, second)))
    return "; ".join(
        f"{NAMES[each.name].lower()} {value_text(each.name, each.first)} and {value_text(each.name, each.second)}"
        for each in differences
    )


LOAD_KEY_DIGITS = 16  # of a sweep's key, as addresses of loads have it
STATISTICS = {"avg": "mean_us", "p99": "p99_us", "p999": "p999_us", "p9999": "p9999_us"}
STATISTIC_WORDS = {"avg": "average", "p99": "p99", "p999": "p99.9", "p9999": "p99.99"}
LatencyKey = tuple[str, str]  # operation and time, as "read (service time)", and a statistic's code


@dataclass(frozen=True)
class Measured:
    """One thread count of a drive: the median of its runs."""

    threads: int
    runs: Sequence[Run]
    ops_per_s: Fraction
    latencies_us: Mapping[LatencyKey, Fraction]
    machine: Mapping[str, Fraction]


@dataclass(frozen=True)
class LoadDrive:
    """One drive in one set-up under the load, by ascending thread count; `name` has the set-up if there are several.

    `code` is its name in URLs: the product's slug, with the id of its first run if the product has several set-ups.
    """

    product: Product
    points: Sequence[Measured]
    name: str
    code: str

    @property
    def first_run(self) -> Run:
        """Return one of its runs; all have the same firmware and conditions."""
        return self.points[0].runs[0]

    def is_named(self, code: str) -> bool:
        """Return whether a code in a URL names this drive: by its product alone, or with any of its runs.

        A later set-up must not break a link, so the product alone means its first set-up.
        """
        slug, _, run = code.partition(".")
        runs = {each.public_id for point in self.points for each in point.runs}
        return slug == self.product.slug and (not run or run in runs)

    def sweep(self) -> dict[int, Fraction]:
        """Return throughput by thread count."""
        return {each.threads: each.ops_per_s for each in self.points}

    @property
    def peak(self) -> Measured:
        """Return the first thread count with the highest throughput. A drive under a load has at least one."""
        return max(self.points, key=lambda point: (point.ops_per_s, -point.threads))

    def curve(self, key: LatencyKey) -> list[Point]:
        """Return the sweep with one latency, for crossings."""
        return [Point(each.threads, each.ops_per_s, each.latencies_us.get(key)) for each in self.points]


@dataclass(frozen=True)
class Load:
    """All drives under one load; `left_out_count` runs are invalid, or have no throughput or thread count."""

    key: str
    facts: YcsbRun
    drives: Sequence[LoadDrive]
    left_out_count: int

    @property
    def operations(self) -> list[str]:
        """Return the operations with latencies, reads first."""
        names = {name for drive in self.drives for point in drive.points for name, _ in point.latencies_us}
        return sorted(names, key=lambda name: (not name.startswith("read ("), name))


def load_lines() -> list[dict[str, Any]]:
    """Return the loads with runs in the register, with the number of their drives and runs, in one query."""
    runs = Run.objects.listed().filter(workload="ycsb").exclude(ycsb__sweep_key="")
    grouped = runs.values("ycsb__sweep_key", "ycsb__workload", "ycsb__phase", "ycsb__binding").annotate(
        drives_count=Count("product", distinct=True),
        runs_count=Count("pk"),
        threads_from=Min("ycsb__threads_count"),
        threads_to=Max("ycsb__threads_count"),
    )
    return [
        row | {"key": row["ycsb__sweep_key"][:LOAD_KEY_DIGITS], "binding": row["ycsb__binding"].rsplit(".", 1)[-1]}
        for row in grouped.order_by("ycsb__workload", "ycsb__phase", "ycsb__sweep_key")
    ]


def load_of(key: str) -> Load | None:
    """Return the load whose key has this beginning; None if no public run has it. Four queries."""
    found = Run.objects.listed().of_ycsb().filter(ycsb__sweep_key__startswith=key).order_by("pk")
    found = found.select_related("product", "reading__evidence").prefetch_related("ycsb__operations", "drives")
    runs = list(found)
    if not runs:
        return None
    usable = [run for run in runs if _is_usable(run.ycsb)]
    # A run without withheld files describes the load if there is any.
    describing = next((run for run in runs if not has_withheld_file(run)), runs[0])
    return Load(key, visible_ycsb(describing), list(_drives(usable)), len(runs) - len(usable))


def _drives(runs: Iterable[Run]) -> Iterator[LoadDrive]:
    """Yield the drives in the order of their first runs. Each firmware and set-up counts as a drive of its own."""
    by_product: dict[Product, dict[Setup, list[Run]]] = {}
    for run in runs:
        by_product.setdefault(product_of(run), {}).setdefault(setup_of(run), []).append(run)
    for product, by_setup in by_product.items():
        setups = names_of_setups(list(by_setup))
        for words, same in zip(setups, by_setup.values(), strict=True):
            code = f"{product.slug}.{same[0].public_id}" if words else product.slug
            by_threads: dict[int, list[Run]] = {}
            for run in same:
                by_threads.setdefault(run.ycsb.threads_count or 0, []).append(run)
            points = [_measured(threads, repeats) for threads, repeats in sorted(by_threads.items())]
            yield LoadDrive(product, points, ", ".join([product_name(product), *words]), code)


def _is_usable(facts: YcsbRun) -> bool:
    is_complete = facts.threads_count is not None and facts.throughput_ops_per_s is not None
    return is_complete and facts.validity != YcsbRun.Validity.INVALID


def _measured(threads: int, runs: Sequence[Run]) -> Measured:
    throughputs = [Fraction(run.ycsb.throughput_ops_per_s or 0) for run in runs]
    latencies: dict[LatencyKey, list[Fraction]] = {}
    for run in runs:
        for operation in run.ycsb.operations.all():
            for key, value in _latencies(operation):
                latencies.setdefault(key, []).append(value)
    # A latency that one of the repeats lacks has no median, so it is left out.
    medians = {key: median(values) for key, values in latencies.items() if len(values) == len(runs)}
    return Measured(threads, runs, median(throughputs), medians, of_repeats(runs))


def _latencies(operation: YcsbOperation) -> Iterable[tuple[LatencyKey, Fraction]]:
    """Yield the latencies of a successful operation, with the kind of time, because the two kinds do not compare."""
    if operation.outcome != "ok" or operation.name == "CLEANUP":
        return
    time = f"{operation.time} time" if operation.time else "time not reported"
    for code, column in STATISTICS.items():
        value = getattr(operation, column)
        if value is not None:
            yield (f"{operation.name.lower()} ({time})", code), Fraction(value)
