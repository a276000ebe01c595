"""Test conditions of two measurements, and the named differences between them."""

from dataclasses import dataclass, field, fields
from decimal import Decimal
from fractions import Fraction
from typing import Any

WHY = "why"  # key of a field's metadata: what the condition does to the figures


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
    for condition in fields(first):
        mine, other = getattr(first, condition.name), getattr(second, condition.name)
        is_unknown = mine is None or other is None
        if is_unknown or mine != other:
            found.append(Difference(condition.name, mine, other, is_unknown, condition.metadata[WHY]))
    return tuple(found)


LOCKSTEP = "lockstep"


def requests_together(arrivals: str | None, service_threads: int | None) -> int | None:
    """Return how many requests begin at one moment; None where that is unknown.

    ACT 6.x starts all its service threads together: on one slow device at one load 10 threads gave 0.08 % over 1.024 ms
    and 64 gave 5.12 %. Requests that arrive evenly begin one by one for any number of threads.
    """
    if arrivals == LOCKSTEP:
        return service_threads
    return None if arrivals is None else 1


def is_weak(not_stated: int, conditions: int) -> bool:
    """Return whether a comparison rests on silence: half of its conditions, or more, are not stated by every run."""
    return 2 * not_stated >= conditions


@dataclass(frozen=True)
class ActConditions:
    """The conditions of an ACT run. The load is no condition: it is the axis along which runs are compared.

    `time` is what the compared histogram holds (`service`, `queue-and-service`), `read_at_us` the edges at which the
    profile's thresholds are read, `devices_per_drive` how many device names stand for one drive. None is unknown; a
    setting that a version lacks has the value that the version works with (`compress_pct` 100, no `tomb_raider`).
    `pcie_link` is the link as it ran, in the kernel's words ("16.0 GT/s PCIe x4"). `over_provisioned_to_pct` is what
    part of the drive's capacity was left to use, where that size is stated.
    """

    workload: str | None = field(default=None, metadata={WHY: "storage and index loads are different I/O"})
    statistic: str | None = field(
        default=None, metadata={WHY: "a worst slice and a steady state are different figures"}
    )
    time: str | None = field(
        default=None, metadata={WHY: "time in the queue is part of one figure and not of the other"}
    )
    read_at_us: tuple[int, ...] | None = field(default=None, metadata={WHY: "the shares are read at other times"})
    asked_duration_s: int | None = field(default=None, metadata={WHY: "drives slow down after hours"})
    slice_length_s: int | None = field(default=None, metadata={WHY: "short slices have worse worst slices"})
    read_ratio: Fraction | None = field(default=None, metadata={WHY: "writes slow reads down"})
    record_bytes: int | None = field(default=None, metadata={WHY: "larger objects take longer to read"})
    record_bytes_max: int | None = field(default=None, metadata={WHY: "larger objects take longer to read"})
    large_block_bytes: int | None = field(
        default=None, metadata={WHY: "larger writes stand longer in the way of reads"}
    )
    compress_pct: int | None = field(default=None, metadata={WHY: "a drive that compresses has less to write"})
    generator: str | None = field(default=None, metadata={WHY: "generators issue and time their requests differently"})
    arrivals: str | None = field(default=None, metadata={WHY: "requests in bursts wait for each other"})
    requests_together: int | None = field(
        default=None, metadata={WHY: "requests that begin together wait for each other"}
    )
    engine: str | None = field(default=None, metadata={WHY: "the ways into the kernel have other costs"})
    defrag_lwm_pct: int | None = field(default=None, metadata={WHY: "defragmentation decides how much is written"})
    defrag_reads: bool | None = field(default=None, metadata={WHY: "defragmentation reads are part of the load"})
    update_pct: Decimal | None = field(default=None, metadata={WHY: "updates add reads"})
    replication_factor: int | None = field(default=None, metadata={WHY: "replicas add writes"})
    disable_odsync: bool | None = field(default=None, metadata={WHY: "without it every write waits for the medium"})
    commit_to_device: bool | None = field(default=None, metadata={WHY: "every single write goes to the device"})
    tomb_raider: bool | None = field(
        default=None, metadata={WHY: "the tomb raider reads the whole device during the load"}
    )
    device_count: int | None = field(default=None, metadata={WHY: "devices share the host's links and processors"})
    devices_per_drive: Fraction | None = field(
        default=None, metadata={WHY: "the load is for each device name, not for each drive"}
    )
    over_provisioning_pct: Decimal | None = field(
        default=None, metadata={WHY: "spare room lets a drive write with less delay"}
    )
    over_provisioned_to_pct: Fraction | None = field(
        default=None, metadata={WHY: "spare room lets a drive write with less delay"}
    )
    pcie_link: str | None = field(default=None, metadata={WHY: "a narrower or older link carries less"})


@dataclass(frozen=True)
class SweepConditions:
    """The conditions of a YCSB sweep over thread counts. `mix` holds actual proportions by operation, in a fixed order.

    `fill_pct` is how full the drive was when the run began, `index_placement` where the database stores its index
    (`memory`, `drive`), `pending_limit` how many transactions may wait for one record (0: any number).
    `tool` distinguishes forks: the LargeRecordCount fork draws another Zipfian distribution. `statistic` is what the
    latencies are (`read p99.99`), `time` service or response. A limit or target of 0 is none.
    """

    tool: str | None = field(default=None, metadata={WHY: "forks draw keys differently"})
    tool_version: str | None = field(default=None, metadata={WHY: "versions count and round differently"})
    binding: str | None = field(default=None, metadata={WHY: "another database"})
    options_sha256: str | None = field(default=None, metadata={WHY: "the database was set up differently"})
    phase: str | None = field(default=None, metadata={WHY: "loading and running are different work"})
    mix: tuple[tuple[str, Decimal], ...] | None = field(default=None, metadata={WHY: "other operations"})
    distribution: str | None = field(default=None, metadata={WHY: "caches serve a part of skewed reads"})
    record_count: int | None = field(default=None, metadata={WHY: "more or less of the data fits into memory"})
    record_bytes: int | None = field(default=None, metadata={WHY: "larger records take longer"})
    operation_count: int | None = field(default=None, metadata={WHY: "longer runs reach states that short ones do not"})
    time_limit_s: int | None = field(default=None, metadata={WHY: "longer runs reach states that short ones do not"})
    target_ops_per_s: int | None = field(default=None, metadata={WHY: "a throttled run shows its target, not its best"})
    time: str | None = field(default=None, metadata={WHY: "response time has the waiting in it, service time has not"})
    statistic: str | None = field(default=None, metadata={WHY: "different figures"})
    threads_counts: tuple[int, ...] | None = field(
        default=None, metadata={WHY: "peaks and means over other thread counts"}
    )
    host: str | None = field(default=None, metadata={WHY: "another machine"})
    is_defrag_active: bool | None = field(default=None, metadata={WHY: "defragmentation is part of the load"})
    fill_pct: Decimal | None = field(default=None, metadata={WHY: "a fuller drive has less room to write into"})
    index_placement: str | None = field(
        default=None, metadata={WHY: "an index on the drive is read from it, one in memory is not"}
    )
    pending_limit: int | None = field(
        default=None, metadata={WHY: "the database refuses or queues what is more for one record"}
    )
    devices_per_drive: Fraction | None = field(
        default=None, metadata={WHY: "a partitioned drive receives requests from more threads"}
    )
    over_provisioning_pct: Decimal | None = field(
        default=None, metadata={WHY: "spare room lets a drive write with less delay"}
    )
    over_provisioned_to_pct: Fraction | None = field(
        default=None, metadata={WHY: "spare room lets a drive write with less delay"}
    )
    pcie_link: str | None = field(default=None, metadata={WHY: "a narrower or older link carries less"})
