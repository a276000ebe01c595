"""Evenness of the requests of a program, from the times at which the kernel issued them to the device.

Times come from an instance of tracefs, in ns, so every program is measured in the same way. Tracing costs about half a
microsecond of processor time per request: processor time is measured in other runs.
"""

import os
import statistics
import struct
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from load_programs import BLOCK_BYTES, Evenness, Load, Program, Ran, record_bytes

INSTANCES = Path("/sys/kernel/tracing/instances")

NS_PER_S = 1_000_000_000
SECTOR_BYTES = 512

# Space for one event in the buffer of the kernel, with a reserve. block_rq_issue takes 73 bytes.
EVENT_BYTES = 100

# Counters of lost events in per_cpu/*/stats.
LOST = ("overrun", "commit overrun", "dropped events")

# A page of the ring buffer: the time of its first event, the number of bytes that follow, and the events. Source:
# events/header_page and events/header_event of tracefs.
PAGE_HEADER = struct.Struct("<QQ")
COMMIT_MASK = (1 << 28) - 1
WORD = struct.Struct("<I")
PADDING, TIME_EXTENSION, TIME_STAMP = 29, 30, 31


def is_available() -> bool:
    return INSTANCES.is_dir() and os.access(INSTANCES, os.W_OK)


@dataclass(frozen=True)
class Stream:
    """The requests of one operation of the side file, which are due at equal intervals.

    The first is due `phase` periods after the start of the run (crates/load/src/schedule/stream.rs, `phase`).
    """

    operation: str
    size_bytes: int
    kinds: str
    rate: Fraction | int
    phase: Fraction | int = 0

    def count(self, ran: Ran) -> int:
        """Return how many requests the program reported, or 0 if it does not report them."""
        if self.operation == "reads":
            return ran.reads_count
        operations = ran.side[-1].get("operations", {}) if ran.side else {}
        return int(operations.get(self.operation, {}).get("count", 0))


def streams(load: Load) -> list[Stream]:
    """Return the streams of a load: reads of records and, with writes, reads and writes of large blocks."""
    reads = Stream("reads", record_bytes(load.device), "R*", load.reads)
    if not load.writes:
        return [reads]
    rate = Fraction(2, 85) * load.writes
    return [
        reads,
        Stream("large-block-reads", BLOCK_BYTES, "R*", rate, Fraction(1, 3)),
        Stream("large-block-writes", BLOCK_BYTES, "*W*", rate, Fraction(2, 3)),
    ]


def traced(program: Program) -> Program:
    """Return a program that runs with a trace of its requests, and adds their evenness to its figures."""

    def run(load: Load) -> Ran:
        measured = streams(load)
        with ExitStack() as opened:
            traces = [opened.enter_context(Trace(load, stream)) for stream in measured]
            ran = program(load)
            times_ns = [trace.times_ns() for trace in traces]
        start_ns = ran.side[-1].get("start_monotonic_ns") if ran.side else None
        reads, *blocks = [
            evenness(times, stream.rate, start_ns, stream.count(ran), stream.phase)
            for stream, times in zip(measured, times_ns, strict=True)
        ]
        bunched_counts = [found.bunched_count for found in blocks if found]
        return replace(ran, evenness=reads, bunched_blocks_count=sum(bunched_counts) if bunched_counts else None)

    return run


class Trace:
    """A trace of the requests of a stream that a device receives."""

    def __init__(self, load: Load, stream: Stream) -> None:
        device = Path("/sys/block") / Path(load.device).name
        major, minor = (int(number) for number in (device / "dev").read_text().split(":"))
        size = stream.size_bytes
        # A device without a queue of requests, such as zram, has only the event of its bios.
        is_queued = (device / "mq").is_dir()
        event, wanted = (
            ("block_rq_issue", f"bytes == {size}")
            if is_queued
            else ("block_bio_queue", f"nr_sector == {size // SECTOR_BYTES}")
        )
        self.filter = f'dev == {major << 20 | minor} && {wanted} && rwbs ~ "{stream.kinds}"'
        self.instance = INSTANCES / f"drivecert-{os.getpid()}-{stream.operation}"
        self.event = self.instance / "events/block" / event
        self.buffer_kib = max(1024, int(stream.rate) * (load.seconds + 1) * EVENT_BYTES // 1024)

    def __enter__(self) -> "Trace":
        with ExitStack() as made:
            self.instance.mkdir()
            made.callback(self.instance.rmdir)
            (self.instance / "trace_clock").write_text("mono")
            (self.instance / "buffer_size_kb").write_text(str(self.buffer_kib))
            (self.event / "filter").write_text(self.filter)
            (self.event / "enable").write_text("1")
            self.made = made.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        (self.event / "enable").write_text("0")
        self.made.close()

    def times_ns(self) -> list[int]:
        """Return the times of all events in order, or none if the kernel lost events."""
        (self.event / "enable").write_text("0")
        folders = list((self.instance / "per_cpu").iterdir())
        if any(lost_events((folder / "stats").read_text()) for folder in folders):
            return []
        return sorted(at for folder in folders for page in pages(folder / "trace_pipe_raw") for at in page_times(page))


def lost_events(stats: str) -> int:
    """Return the number of lost events from the statistics of one buffer."""
    counts = dict(line.split(": ", 1) for line in stats.splitlines() if ": " in line)
    return sum(int(counts.get(name, "0")) for name in LOST)


def pages(buffer: Path) -> Iterator[bytes]:
    """Yield the pages of a processor's buffer."""
    file = os.open(buffer, os.O_RDONLY | os.O_NONBLOCK)
    try:
        while page := os.read(file, os.sysconf("SC_PAGE_SIZE")):
            yield page
    except BlockingIOError:
        return  # the buffer is empty
    finally:
        os.close(file)


def page_times(page: bytes) -> Iterator[int]:
    """Yield the time of each event of a page."""
    at_ns, commit = PAGE_HEADER.unpack_from(page)
    offset, end = PAGE_HEADER.size, PAGE_HEADER.size + (commit & COMMIT_MASK)
    while offset < end:
        (word,) = WORD.unpack_from(page, offset)
        kind, delta = word & 31, word >> 5
        if kind == PADDING and not delta:
            return  # nothing follows in this page
        (first,) = (
            WORD.unpack_from(page, offset + WORD.size) if kind in (0, PADDING, TIME_EXTENSION, TIME_STAMP) else (0,)
        )
        if kind == TIME_STAMP:
            at_ns = (at_ns >> 59 << 59) | (first << 27) + delta
        else:
            at_ns += delta + (first << 27 if kind == TIME_EXTENSION else 0)
        if kind < PADDING:
            yield at_ns
        offset += event_bytes(kind, first)


def event_bytes(kind: int, first: int) -> int:
    """Return the bytes of an event. Its kind is the number of its words, unless they are counted in its first word."""
    if kind in (TIME_EXTENSION, TIME_STAMP):
        return 2 * WORD.size
    return WORD.size + (first if kind in (0, PADDING) else kind * WORD.size)


def evenness(
    times_ns: list[int], rate: Fraction | int, start_ns: int | None, issued_count: int, phase: Fraction | int = 0
) -> Evenness | None:
    """Return the evenness of requests at a rate, or None if the trace has other requests than the program.

    Request k is due k + phase periods after the start. If the program does not report its start, the start is the
    latest time at which no request is early.
    """
    times_ns = [at for at in times_ns if start_ns is None or at >= start_ns]
    # fio does not count requests that it ended with the run; drivetest counts all.
    if not issued_count <= len(times_ns) <= issued_count + (0 if start_ns else 128) or issued_count < 100:
        return None
    dues_ns = [int((number + phase) * NS_PER_S // rate) for number in range(len(times_ns))]
    if start_ns is None:
        start_ns = min(at - due for at, due in zip(times_ns, dues_ns, strict=True))
    late_ns = [at - due - start_ns for at, due in zip(times_ns, dues_ns, strict=True)]
    half_ns = float(NS_PER_S / rate / 2)
    close = [number for number in range(1, len(times_ns)) if times_ns[number] - times_ns[number - 1] < half_ns]
    cuts_us = [cut / 1000 for cut in statistics.quantiles(late_ns, n=100)]
    return Evenness(
        issued_count=len(times_ns),
        catch_up_count=sum(late_ns[number] > half_ns for number in close),
        bunched_count=sum(late_ns[number] <= half_ns and late_ns[number - 1] <= half_ns for number in close),
        late_p50_us=cuts_us[49],
        late_p99_us=cuts_us[98],
    )
