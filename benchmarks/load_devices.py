"""The devices that loads are measured on: a loop device over a file on a disk, and a device of memory.

Both are made here, filled with random data and freed afterwards.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MIB = 1 << 20

ZRAM = Path("/sys/class/zram-control")


@contextmanager
def loop_on_disk(directory: Path, size_mib: int) -> Iterator[str]:
    """Yield a loop device with direct I/O over a file in the directory."""
    # Closed before the load begins: drivetest refuses a device whose file another process has open.
    descriptor, name = tempfile.mkstemp(dir=directory, prefix="load-", suffix=".img")
    os.close(descriptor)
    try:
        fill(Path(name), size_mib)
        device = output_of("losetup", "--find", "--show", "--direct-io=on", name)
        try:
            yield device
        finally:
            subprocess.run(["losetup", "--detach", device], check=True)
    finally:
        Path(name).unlink()


@contextmanager
def memory(size_mib: int) -> Iterator[str | None]:
    """Yield a zram device, or None if the kernel has none."""
    try:
        number = (ZRAM / "hot_add").read_text().strip()
    except OSError:
        yield None
        return
    device = Path(f"/dev/zram{number}")
    try:
        Path(f"/sys/block/{device.name}/disksize").write_text(f"{size_mib}M")
        fill(device, size_mib)
        yield str(device)
    finally:
        (ZRAM / "hot_remove").write_text(number)


def fill(path: Path, size_mib: int) -> None:
    """Fill a file with random data, because holes and zero pages are read without the device."""
    with path.open("r+b", buffering=0) as file:
        for _ in range(size_mib):
            file.write(os.urandom(MIB))
        os.fsync(file.fileno())


def described(device: str) -> str:
    """Return a description of a device from the kernel."""
    queue = Path(f"/sys/block/{Path(device).name}/queue")
    size_mib = int(output_of("blockdev", "--getsize64", device)) // MIB
    # A device of memory has no queue of requests and so no schedulers.
    there = [name for name in ("logical_block_size", "nr_requests", "scheduler") if (queue / name).exists()]
    facts = [f"{name} {(queue / name).read_text().strip()}" for name in there]
    return f"{device}, {size_mib} MiB, {', '.join(facts)}"


def output_of(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}; this benchmark needs root and loop devices")
    return done.stdout.strip()
