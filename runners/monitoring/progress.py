"""Progress of a run for the live page, from the ends of its growing files: never a verdict (drivetest judges).

The counters are those of the last whole block of an ACT log, the last record of a side file
(docs/reference/formats.md), or the last status line of a YCSB client.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from results.rules.act.limits import act_share_pct
from runners.errors import FileMissingError
from runners.hosts.protocol import LabHost
from runners.models.postgres import storable

# More than the block of the largest configuration (128 devices). A poll reads at most this much of the log.
CHUNK_BYTES = 1024 * 1024
# A line of a side file takes some 3 KB for one device. A line that does not fit is not shown.
TAIL_BYTES = 16 * 1024
SIDE_FILE = "side.jsonl"
TAIL_LINES = 30
# (threshold, where a histogram in that unit has an edge, last bucket below it): bucket b is [2^(b-1), 2^b) units.
EDGES = {
    "us": ((1000, 1024, 10), (8000, 8192, 13), (64000, 65536, 16)),
    "ms": ((1000, 1000, 0), (8000, 8000, 3), (64000, 64000, 6)),
}

# Source: runners/drivetest/crates/load/src/run.rs, warned.
WARNING = "warning: "

# Of the live charts: one each 10 minutes in a run of a day.
SAMPLES_MAX = 144

LABEL = re.compile(rb"^after (\d+) sec:$", re.MULTILINE)
READS = re.compile(rb"^reads \((\d+) total\)\n((?: \(.*\n)*)", re.MULTILINE)
BUCKET = re.compile(rb"\((\d+): (\d+)\)")


# The last status line of YCSB. Source: core/src/main/java/site/ycsb/StatusThread.java.
OPERATIONS = re.compile(rb"^\S+ \S+ (\d+) sec: (\d+) operations;(?: ([\d.]+) current ops/sec;)?", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """One report of the log: cumulative reads and their buckets. `end` is relative to the searched chunk."""

    label_s: int
    reads_count: int
    buckets: dict[int, int]
    end: int


def follow(host: LabHost, run: str, log_bytes: int, read_bytes: int) -> tuple[int, list[Block]]:
    """Return the new read position in the log and the new whole blocks; the oldest may be missing.

    A poll that is far behind skips: counts are cumulative, so the last blocks include everything before them.
    """
    start = max(read_bytes, log_bytes - CHUNK_BYTES)
    chunk = host.read(run, "log", start, CHUNK_BYTES)
    blocks = parse_blocks(chunk)
    if blocks:
        return start + blocks[-1].end, blocks
    return (start + len(chunk) if len(chunk) == CHUNK_BYTES else start), []


def parse_blocks(chunk: bytes) -> list[Block]:
    """Return the whole blocks of a chunk of the log: a blank line ends a block."""
    labels = list(LABEL.finditer(chunk))
    ends = [label.start() for label in labels[1:]]
    blocks = (_parse_block(chunk, label, end) for label, end in zip(labels, [*ends, len(chunk)], strict=False))
    return [block for block in blocks if block is not None]


def _parse_block(chunk: bytes, label: re.Match[bytes], end: int) -> Block | None:
    blank = chunk.find(b"\n\n", label.end(), end)
    reads = READS.search(chunk, label.end(), end)
    if blank < 0 or reads is None:
        return None
    buckets = {int(bucket): int(count) for bucket, count in BUCKET.findall(reads[2])}
    return Block(int(label[1]), int(reads[1]), buckets, blank + 2)


def summarise(before: dict[str, Any], blocks: list[Block], unit: str, duration_s: int) -> dict[str, Any]:
    """Return what the page shows after these blocks. Without blocks, return `before` unchanged."""
    if not blocks:
        return before
    shown = Block(before.get("label_s", 0), before.get("reads_count", 0), {}, 0)
    previous, last = [shown, *blocks][-2:]
    interval_s, interval_reads_count = last.label_s - previous.label_s, last.reads_count - previous.reads_count
    return before | {
        "label_s": last.label_s,
        "reads_count": last.reads_count,
        "interval_s": interval_s,
        "interval_reads_count": interval_reads_count,
        "reads_per_s": f"{interval_reads_count / interval_s:.1f}" if interval_s > 0 else "",
        "shares": [_share(last, *edge) for edge in EDGES[unit]],
        "samples": [*before.get("samples", []), *_new_samples(before, blocks, unit, duration_s)],
    }


def _new_samples(before: dict[str, Any], blocks: list[Block], unit: str, duration_s: int) -> Iterator[list[int]]:
    """Yield samples of the run: the time, the reads until then, and those over each threshold.

    They are at least duration_s / SAMPLES_MAX apart. Counts are cumulative: a skipped block loses
    its sample, but no reads.
    """
    sampled_s = before["samples"][-1][0] if before.get("samples") else 0
    for block in blocks:
        if block.label_s > sampled_s and (block.label_s - sampled_s) * SAMPLES_MAX >= duration_s:
            sampled_s = block.label_s
            yield [sampled_s, block.reads_count, *(_over_count(block, last_below) for _, _, last_below in EDGES[unit])]


def _share(block: Block, threshold_us: int, read_at_us: int, last_below: int) -> dict[str, Any]:
    over_count = _over_count(block, last_below)
    share_pct = act_share_pct(over_count, block.reads_count)
    printed = "" if share_pct is None else str(share_pct)
    return {"threshold_us": threshold_us, "read_at_us": read_at_us, "over_count": over_count, "share_pct": printed}


def _over_count(block: Block, last_below: int) -> int:
    return sum(count for bucket, count in block.buckets.items() if bucket > last_below)


def tail(host: LabHost, run: str, log_bytes: int) -> list[str]:
    """Return the last lines of the log now, also of an incomplete block."""
    text = host.read(run, "log", max(0, log_bytes - TAIL_BYTES), TAIL_BYTES).decode("utf-8", "replace")
    return storable(text).splitlines()[-TAIL_LINES:]


def last_error_line(host: LabHost, run: str) -> str:
    """Return the program's last line on standard error; empty if there is none, or if a power cut left zeros.

    A warning before the load is not the cause of an end.
    """
    try:
        text = read_end(host, run, "stderr").decode("utf-8", "replace")
    except FileMissingError:
        return ""
    lines = (line.strip("\0 \t\r").removeprefix("drivetest: ") for line in text.splitlines())
    printed = [line for line in lines if line and not line.startswith(WARNING)]
    return storable(printed[-1]) if printed else ""


def read_end(host: LabHost, run: str, file: str) -> bytes:
    """Return the last TAIL_BYTES of a file whose length no status reports. Raise FileMissingError.

    Binary search finds the end with reads of single bytes, at doubling distances first.
    """
    head = host.read(run, file, 0, TAIL_BYTES)
    if len(head) < TAIL_BYTES:
        return head
    below, above = TAIL_BYTES, 2 * TAIL_BYTES  # it has at least the one, and fewer bytes than the other
    while host.read(run, file, above - 1, 1):
        below, above = above, 2 * above
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (middle, above) if host.read(run, file, middle - 1, 1) else (below, middle)
    return host.read(run, file, below - TAIL_BYTES, TAIL_BYTES)


def follow_client(host: LabHost, run: str, before: dict[str, Any]) -> dict[str, Any]:
    """Return the figures of a YCSB client's last status line, on from the last position in its standard error.

    A client writes its output when it ends. Until then only its status lines grow, and no status has their length.
    """
    shown, read_bytes = before, before.get("read_bytes", 0)
    while piece := _stderr(host, run, read_bytes):
        is_full = len(piece) == CHUNK_BYTES
        whole = piece[: piece.rfind(b"\n") + 1] or (piece if is_full else b"")
        read_bytes += len(whole)
        shown = _operations(before["stage"], whole) or shown
        if not is_full:
            break
    return shown | {"read_bytes": read_bytes}


def _stderr(host: LabHost, run: str, offset: int) -> bytes:
    try:
        return host.read(run, "stderr", offset, CHUNK_BYTES)
    except FileMissingError:
        return b""


def _operations(stage: str, lines: bytes) -> dict[str, Any]:
    """Return the figures of the last status line; empty if there is none."""
    found = OPERATIONS.findall(lines)
    if not found:
        return {}
    seconds, operations, rate = found[-1]
    shown = {"stage": stage, "elapsed_s": int(seconds), "done_ops_count": int(operations)}
    return shown | ({"ops_per_s": rate.decode()} if rate else {})


def last_record(chunk: bytes, kind: str) -> dict[str, Any] | None:
    """Return the last whole record of a kind in the end of a file of JSON lines. Skip anything else."""
    for line in reversed(chunk.split(b"\n")[:-1]):
        record = parse_record(line)
        if record and record.get("record") == kind:
            return record
    return None


def parse_record(line: bytes) -> dict[str, Any] | None:
    """Return a line as a record; None if it is not one, like the first line of most file pieces."""
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def read_last_record(host: LabHost, run: str, side_file_bytes: int, kind: str) -> dict[str, Any] | None:
    """Return the last whole record of a kind from the end of a side file; None if there is none."""
    if not side_file_bytes:
        return None
    return last_record(host.read(run, SIDE_FILE, max(0, side_file_bytes - TAIL_BYTES), TAIL_BYTES), kind)


def summarise_interval(interval: dict[str, Any]) -> dict[str, Any]:
    """Return the achieved rate, the lag and the temperatures of an interval. Leave out values that are not reported."""
    figures = {
        name: interval[name] for name in ("achieved_reads_per_s", "lag_max_ns") if interval.get(name) is not None
    }
    telemetry = interval.get("telemetry") or {}
    temperatures = [_temperature(disk) for disk in telemetry.get("disks") or [] if disk.get("temperature")]
    return figures | {"temperatures": [each for each in temperatures if each["celsius"] is not None]}


def _temperature(disk: dict[str, Any]) -> dict[str, Any]:
    temperature = disk["temperature"]
    names = {"disk": storable(str(disk.get("disk", ""))), "sensor": storable(str(temperature.get("sensor") or ""))}
    return names | {"celsius": temperature.get("celsius"), "limit_celsius": temperature.get("limit_celsius")}
