"""An invented log of ACT 6.6 with one report per hour. Its form and arithmetic are correct."""

HOUR_S = 3600
HEADER = """
ACT version 6.6
Storage device IO test
Copyright 2020 by Aerospike. All rights reserved.

ACT-STORAGE CONFIGURATION
device-names: /dev/nvme0n1
num-devices: 1
service-threads: 160
test-duration-sec: {duration_s}
report-interval-sec: 3600
microsecond-histograms: yes
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

/dev/nvme0n1 size = 800166076416 bytes, 6104782 large blocks, minimum IO size = 512 bytes

HISTOGRAM NAMES
reads
/dev/nvme0n1-reads
large-block-reads
large-block-writes

"""
FAST, SLOW = 7, 11  # buckets of 64 us and more, and of 1024 us and more


def day_log(nx, hours=24, asked_s=24 * HOUR_S, slow_pct=0, stop=""):
    """Return a log of some hours at N with `slow_pct` of its reads over 1 ms in every hour. It ends with `stop`."""
    reads_per_s, large_per_s = 2000 * nx, 2000 * nx / 85
    head = HEADER.format(duration_s=asked_s, reads=reads_per_s, writes=reads_per_s // 2, large=large_per_s)
    reports = (block(hour, reads_per_s, large_per_s, slow_pct) for hour in range(1, hours + 1))
    return (head + "".join(reports) + stop).encode()


def block(hour, reads_per_s, large_per_s, slow_pct):
    reads, large = reads_per_s * HOUR_S * hour, int(large_per_s * HOUR_S * hour)
    slow = reads * slow_pct // 100
    of_reads = {FAST: reads - slow} | ({SLOW: slow} if slow else {})
    counts = {"reads": of_reads, "/dev/nvme0n1-reads": of_reads}
    counts |= {"large-block-reads": {FAST: large}, "large-block-writes": {FAST: large}}
    return f"after {hour * HOUR_S} sec:\n" + "".join(printed(name, cells) for name, cells in counts.items()) + "\n"


def printed(name, cells):
    line = "".join(f" ({bucket:02d}: {count:010d})" for bucket, count in cells.items())
    return f"{name} ({sum(cells.values())} total)\n{line}\n"
