"""Stretch a real log of ACT 6.x to a longer run with its own shuffled noise, for storage benchmarks.

Each interval has the bucket counts of a random interval of the real log, for all histograms together. The sums are
cumulative. No drive behaves so for a day, but the order does not repeat, as in a drive's own log.
"""

import argparse
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

# By bucket: a cumulative histogram, or the counts of one interval.
Counts = dict[int, int]
# By name of the histogram.
Dump = dict[str, Counts]

INTERVAL = re.compile(r"after (\d+) sec:")
TAG = re.compile(r"(.+?) +\((\d+) total\)")
BUCKET = re.compile(r"\((\d\d): (\d+)\)")


class Log(NamedTuple):
    """A log that was read for stretching."""

    header: str
    intervals: list[Dump]


def parse(text: str) -> Log:
    """Read a whole, undamaged log; its intervals are one second long."""
    begin = INTERVAL.search(text)
    if begin is None:
        sys.exit("expected a log of ACT 6.x with blocks; got none")
    blocks = re.split(INTERVAL.pattern + r"\n", text[begin.start() :])[2::2]
    dumps = [dump(block) for block in blocks]
    return Log(text[: begin.start()], [grown(now, before) for now, before in zip(dumps[1:], dumps, strict=False)])


def dump(block: str) -> Dump:
    found: Dump = {}
    for line in block.splitlines():
        if tag := TAG.fullmatch(line):
            counts = found.setdefault(tag[1], {})
        elif found:
            counts.update((int(bucket), int(count)) for bucket, count in BUCKET.findall(line))
    return found


def grown(now: Dump, before: Dump) -> Dump:
    return {name: {b: count - before[name].get(b, 0) for b, count in counts.items()} for name, counts in now.items()}


def draws(log: Log, seconds: int, seed: int) -> Iterator[Dump]:
    """Yield the intervals of the stretched run: the same for the same seed."""
    dice = random.Random(seed)  # noqa: S311 - no secret is made
    return (dice.choice(log.intervals) for _ in range(seconds))


def add(sums: Dump, more: Dump) -> None:
    for name, counts in more.items():
        total = sums.setdefault(name, {})
        for bucket, count in counts.items():
            total[bucket] = total.get(bucket, 0) + count


def printed(label_s: int, sums: Dump) -> str:
    lines = [f"after {label_s} sec:"]
    for name, counts in sums.items():
        cells = [f" ({bucket:02d}: {count:010d})" for bucket, count in sorted(counts.items()) if count]
        lines.append(f"{name} ({sum(counts.values())} total)")
        lines.extend("".join(cells[at : at + 4]) for at in range(0, len(cells), 4))
    return "\n".join(lines) + "\n\n"


def stretched(log: Log, seconds: int, seed: int) -> Iterator[str]:
    """Yield the text of the stretched run, block by block."""
    yield re.sub(r"test-duration-sec: \d+", f"test-duration-sec: {seconds}", log.header)
    sums: Dump = {}
    for label_s, interval in enumerate(draws(log, seconds, seed), start=1):
        add(sums, interval)
        yield printed(label_s, sums)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("log", type=Path)
    arguments.add_argument("--seconds", type=int, default=86_400)
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args()
    sys.stdout.writelines(stretched(parse(options.log.read_text()), options.seconds, options.seed))


if __name__ == "__main__":
    main()
