"""Write a synthetic log of ACT 6.6 storage for reading benchmarks, correct in format and arithmetic."""

import argparse
import random
import sys
from collections.abc import Iterator

REPORTS_PER_HOUR = 3600
READS_PER_S = 60_000  # 30x on one device, the first load of ACT's README
LARGE_BLOCKS_PER_S = 706  # 30,000 writes/s of 1.5 KB as 128 KiB blocks, with defragmentation

# Shares of operations by millisecond bucket, of a drive that is well within its limits.
BUCKET_SHARES = {6: 0.00001, 5: 0.0001, 4: 0.0004, 3: 0.0015, 2: 0.006, 1: 0.02}

HEADER = """
ACT version 6.6
Storage device IO test
Copyright 2020 by Aerospike. All rights reserved.

ACT-STORAGE CONFIGURATION
device-names: {names}
num-devices: {count}
service-threads: 160
test-duration-sec: {duration_s}
report-interval-sec: 1
microsecond-histograms: no
read-reqs-per-sec: {reads}
write-reqs-per-sec: {writes}
record-bytes: 1536
record-bytes-range-max: 0
large-block-op-kbytes: 128
replication-factor: 1
update-pct: 0
defrag-lwm-pct: 50
no-defrag-reads: no
compress-pct: 100
disable-odsync: no
commit-to-device: no
tomb-raider: no
tomb-raider-sleep-usec: 0
max-lag-sec: 10

DERIVED CONFIGURATION
record-stored-bytes: 1536 ... 1536
internal-read-reqs-per-sec: {reads}
internal-write-reqs-per-sec: 0
large-block-reads-per-sec: {large:.2f}
large-block-writes-per-sec: {large:.2f}

{sizes}
HISTOGRAM NAMES
{histograms}
"""


def header(devices: list[str], duration_s: int) -> str:
    sizes = "".join(
        f"{name} size = 3200631791616 bytes, 24418844 large blocks, minimum IO size = 512 bytes\n" for name in devices
    )
    return HEADER.format(
        names=" ".join(devices),
        count=len(devices),
        duration_s=duration_s,
        reads=READS_PER_S * len(devices),
        writes=READS_PER_S // 2 * len(devices),
        large=LARGE_BLOCKS_PER_S * len(devices),
        sizes=sizes,
        histograms="\n".join(names_of(devices)),
    )


def names_of(devices: list[str]) -> list[str]:
    return ["reads", *(f"{name}-reads" for name in devices), "large-block-reads", "large-block-writes"]


def grow(counts: dict[int, int], operations: int, dice: random.Random) -> None:
    """Add an interval's operations to a cumulative histogram."""
    left = operations
    for bucket, share in BUCKET_SHARES.items():
        slow = min(int(operations * share * dice.uniform(0.5, 1.5) + dice.random()), left)
        counts[bucket] = counts.get(bucket, 0) + slow
        left -= slow
    counts[0] = counts.get(0, 0) + left


def printed(name: str, counts: dict[int, int]) -> str:
    cells = [f" ({bucket:02d}: {count:010d})" for bucket, count in sorted(counts.items()) if count]
    lines = ("".join(cells[at : at + 4]) for at in range(0, len(cells), 4))
    return "\n".join([f"{name} ({sum(counts.values())} total)", *lines]) + "\n"


def blocks(devices: list[str], duration_s: int, dice: random.Random) -> Iterator[str]:
    names = names_of(devices)
    counts: dict[str, dict[int, int]] = {name: {} for name in names}
    for label_s in range(1, duration_s + 1):
        for name in names:
            many = len(devices) if name == "reads" or name.startswith("large") else 1
            grow(counts[name], (LARGE_BLOCKS_PER_S if name.startswith("large") else READS_PER_S) * many, dice)
        yield f"after {label_s} sec:\n" + "".join(printed(name, counts[name]) for name in names) + "\n"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--hours", type=int, default=24)
    arguments.add_argument("--devices", type=int, default=1)
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args()
    devices = [f"/dev/nvme{number}n1" for number in range(options.devices)]
    duration_s = options.hours * REPORTS_PER_HOUR
    sys.stdout.write(header(devices, duration_s))
    sys.stdout.writelines(blocks(devices, duration_s, random.Random(options.seed)))  # noqa: S311 - no secret is made


if __name__ == "__main__":
    main()
