"""Prevent processors from halting during a measurement on a machine that loses halting processors to its host."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def idle_processors_polling() -> Iterator[None]:
    """Let idle processors poll instead of halting. The kernel does so while this file is open with a latency of 0.

    The host deschedules a virtual processor that halts, and brings it back late. Busy programs of the idle policy also
    prevent this, but delay others: with them, the kernel let threads that were just woken wait until the next clock
    tick, up to 4 ms, for 0.3 to 1.8 % of the reads below a loop device.
    """
    with Path("/dev/cpu_dma_latency").open("wb", buffering=0) as file:
        file.write(bytes(4))
        yield
