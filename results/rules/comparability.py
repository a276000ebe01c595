"""Test conditions of two measurements, and the named differences between them."""

import re
from collections.abc import Set
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any


@dataclass(frozen=True)
class Difference:
    """One condition in which two measurements differ, or of which it is not known that they agree (`is_unknown`)."""

    name: str
    first: object
    second: object
    is_unknown: bool
    why: str


def differences(first: Any, second: Any) -> tuple[Difference, ...]:
    """Return where the conditions of two measurements (dataclasses of one kind) differ or are unknown, as declared.

    Empty means comparable. None is unknown, and two unknowns are not known to agree. Values are equal as numbers are:
    7, Decimal("7.0") and Fraction(7) agree. Raises ValueError for conditions of two kinds.
    """
    if type(first) is not type(second):
        raise ValueError(f"conditions: expected two of one kind, got {type(first).__name__}, {type(second).__name__}")
    found = []
    for name, why in reasons_of(type(first)).items():
        mine, other = getattr(first, name), getattr(second, name)
        is_unknown = mine is None or other is None
        if is_unknown or mine != other:
            found.append(Difference(name, mine, other, is_unknown, why))
    return tuple(found)


def reasons_of(kind: type) -> dict[str, str]:
    """Return what each condition of a kind does to the figures, as its annotation says."""
    return {name: annotated.__metadata__[0] for name, annotated in kind.__annotations__.items()}


LOCKSTEP = "lockstep"
DRIVETEST = "drivetest"
# Up to 0.3, drivetest submits requests together that are due within this time, by engine, and its logs do not state it.
COALESCED_UP_TO_0_3_US = {"io_uring": 50, "threads": 40}
FIRST_STATED = (0, 4)
RELEASE = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})\.")


def coalescing_times_us(
    generator: str | None, version: str, stated_us: int | None, engine: str | None = None
) -> Set[int]:
    """Return the times within which a generator may submit due requests together; empty if they are unknown.

    There are two for drivetest up to 0.3 with an unknown engine, otherwise one: 0 submits each request when it is due.

    >>> [sorted(coalescing_times_us("drivetest", version, None)) for version in ("0.3.0", "0.4.0", "x")]
    [[40, 50], [0], []]
    """
    if stated_us is not None:
        return {stated_us}
    if generator != DRIVETEST:
        return {0}
    release = RELEASE.match(version)
    if release is None:
        return set()
    if (int(release[1]), int(release[2])) >= FIRST_STATED:
        return {0}
    own_us = COALESCED_UP_TO_0_3_US.get(engine or "")
    return set(COALESCED_UP_TO_0_3_US.values()) if own_us is None else {own_us}


def requests_together(arrivals: str | None, service_threads: int | None, coalesced: int | None = 0) -> int | None:
    """Return how many requests begin at one moment; None if that is unknown.

    ACT 6.x starts all its service threads together: on one slow device at one load 10 threads gave 0.08 % over 1.024 ms
    and 64 gave 5.12 %. Requests that arrive evenly begin one by one for any number of threads, unless the generator
    coalesces them: `coalesced` is how many are due on average within the time of coalescing, None if unknown.
    """
    if arrivals == LOCKSTEP:
        return service_threads
    return None if arrivals is None or coalesced is None else 1 + coalesced


def is_weak(not_stated: int, conditions: int) -> bool:
    """Return whether a comparison is weak: at least half of its conditions are not reported by every run."""
    return 2 * not_stated >= conditions


@dataclass(frozen=True)
class ActConditions:
    """The conditions of an ACT run. The load is not a condition: runs are compared along it.

    `time` is the quantity in the compared histogram (`service`, `queue-and-service`). `read_at_us` are the edges that
    are used for the profile's thresholds. `devices_per_drive` is the number of device names of one drive. None means
    unknown. A setting that a version lacks has the version's fixed value (`compress_pct` 100, no `tomb_raider`).
    `pcie_link` is the active link as the kernel prints it ("16.0 GT/s PCIe x4"). `over_provisioned_to_pct` is the
    usable part of the drive's capacity, if that size is stated.
    """

    workload: Annotated[str | None, "storage and index loads issue different I/O"] = None
    statistic: Annotated[str | None, "a worst slice is not comparable with a steady-state figure"] = None
    time: Annotated[str | None, "waiting in the queue makes reads slower"] = None
    read_at_us: Annotated[tuple[int, ...] | None, "the percentages are evaluated at different times"] = None
    asked_duration_s: Annotated[int | None, "drives can become slower after hours of load"] = None
    slice_length_s: Annotated[int | None, "shorter slices show higher worst values"] = None
    read_ratio: Annotated[Fraction | None, "writes make reads slower"] = None
    record_bytes: Annotated[int | None, "larger objects take longer to read"] = None
    record_bytes_max: Annotated[int | None, "larger objects take longer to read"] = None
    large_block_bytes: Annotated[int | None, "larger writes delay reads longer"] = None
    compress_pct: Annotated[int | None, "a drive that compresses data writes less"] = None
    generator: Annotated[str | None, "load generators issue and time their requests differently"] = None
    arrivals: Annotated[str | None, "requests that arrive in bursts wait for each other"] = None
    requests_together: Annotated[int | None, "requests that start together wait for each other"] = None
    engine: Annotated[str | None, "I/O interfaces of the kernel differ in cost"] = None
    defrag_lwm_pct: Annotated[int | None, "defragmentation determines how much is written"] = None
    defrag_reads: Annotated[bool | None, "defragmentation reads are part of the load"] = None
    update_pct: Annotated[Decimal | None, "updates add reads"] = None
    replication_factor: Annotated[int | None, "replicas add writes"] = None
    disable_odsync: Annotated[bool | None, "without this option, each write waits until the drive has stored it"] = None
    commit_to_device: Annotated[bool | None, "each record is written to the device immediately"] = None
    tomb_raider: Annotated[bool | None, "the tomb raider reads the whole device during the load"] = None
    device_count: Annotated[int | None, "devices share the host's links and processors"] = None
    devices_per_drive: Annotated[Fraction | None, "the load applies to each device name, not to each drive"] = None
    over_provisioning_pct: Annotated[Decimal | None, "spare capacity reduces write delays"] = None
    over_provisioned_to_pct: Annotated[Fraction | None, "spare capacity reduces write delays"] = None
    pcie_link: Annotated[str | None, "a narrower or older link has less bandwidth"] = None


@dataclass(frozen=True)
class SweepConditions:
    """The conditions of a YCSB sweep over thread counts. `mix` holds actual proportions by operation, in a fixed order.

    `fill_pct` is the filled part of the drive at the start. `index_placement` is the place of the database's index
    (`memory`, `drive`). `pending_limit` is the number of transactions that may wait for one record (0: any number).
    `tool` distinguishes forks: the LargeRecordCount fork draws another Zipfian distribution. `statistic` names the
    latencies (`read p99.99`); `time` is service or response. A limit or target of 0 means none.
    """

    tool: Annotated[str | None, "forks select keys differently"] = None
    tool_version: Annotated[str | None, "versions count and round differently"] = None
    binding: Annotated[str | None, "the databases are different"] = None
    options_sha256: Annotated[str | None, "the databases are configured differently"] = None
    phase: Annotated[str | None, "the load phase and the run phase do different work"] = None
    mix: Annotated[tuple[tuple[str, Decimal], ...] | None, "the operations are mixed differently"] = None
    distribution: Annotated[str | None, "caches serve part of skewed reads"] = None
    record_count: Annotated[int | None, "a different part of the data fits into memory"] = None
    record_bytes: Annotated[int | None, "larger records take longer"] = None
    operation_count: Annotated[int | None, "longer runs reach states that short runs do not"] = None
    time_limit_s: Annotated[int | None, "longer runs reach states that short runs do not"] = None
    target_ops_per_s: Annotated[int | None, "a throttled run shows its target, not its maximum"] = None
    time: Annotated[str | None, "response time includes waiting, service time does not"] = None
    statistic: Annotated[str | None, "the latencies are different statistics"] = None
    threads_counts: Annotated[tuple[int, ...] | None, "peaks and means are over different thread counts"] = None
    host: Annotated[str | None, "the machines are different"] = None
    is_defrag_active: Annotated[bool | None, "defragmentation is part of the load"] = None
    fill_pct: Annotated[Decimal | None, "a fuller drive has less free space to write into"] = None
    index_placement: Annotated[str | None, "an index on the drive adds reads from the drive"] = None
    pending_limit: Annotated[int | None, "the database refuses or queues further transactions of one record"] = None
    devices_per_drive: Annotated[Fraction | None, "a partitioned drive receives requests from more threads"] = None
    over_provisioning_pct: Annotated[Decimal | None, "spare capacity reduces write delays"] = None
    over_provisioned_to_pct: Annotated[Fraction | None, "spare capacity reduces write delays"] = None
    pcie_link: Annotated[str | None, "a narrower or older link has less bandwidth"] = None
