"""Records of `drivetest identify --json` on a loop device, a zram device, a file and the fault drive."""

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.regression.normalization import mask_sentences

SIZE_BYTES = 64 << 20


def identify_devices(program: Path, fault_drive: Path | None) -> Iterator[dict[str, Any]]:
    """Yield one record for each device that can be made here; a missing one is a record with the reason."""
    makers = {"file": plain_file, "loop": loop_device, "zram": zram_device}
    if fault_drive is not None:
        makers["fault-drive"] = lambda: mounted_fault_drive(fault_drive.resolve())
    for kind, make in makers.items():
        try:
            with make() as path:
                yield {"address": f"identify {kind}", **identify(program, path)}
        except (OSError, subprocess.CalledProcessError) as error:
            yield {"address": f"identify {kind}", "missing": type(error).__name__, "_why": str(error)}


def identify(program: Path, path: str) -> dict[str, Any]:
    """Return status and document, without what names this one device or this moment."""
    ended = subprocess.run([str(program), "identify", "--json", path], capture_output=True, timeout=60, check=False)
    document = mask_sentences(json.loads(ended.stdout)) if ended.stdout else None
    return {"status": ended.returncode, "document": mask_device(document, path)}


def mask_device(value: Any, path: str) -> Any:
    """Replace the device's name, its inode, its number and its counters, which differ each time one is made."""
    if isinstance(value, dict):
        return {
            name: sorted(inner) if name == "discards" and inner else mask_device(inner, path)
            for name, inner in value.items()
        }
    if isinstance(value, list):
        return [mask_device(inner, path) for inner in value]
    if isinstance(value, str):
        masked = re.sub(r"/tmp/[\w./-]+", "<path>", value.replace(path, "<device>"))
        masked = re.sub(r"(file:[^:]*):\d+:\d+", r"\1:<numbers>", masked)
        return re.sub(r"(zram:[^:]*):\d+:", r"\1:<number>:", masked)
    return value


@contextmanager
def plain_file() -> Iterator[str]:
    """Yield a file of zeros."""
    with tempfile.NamedTemporaryFile() as file:
        file.truncate(SIZE_BYTES)
        yield file.name


@contextmanager
def loop_device() -> Iterator[str]:
    """Yield a loop device over a file of zeros, as root."""
    with plain_file() as file:
        made = subprocess.run(["losetup", "--find", "--show", file], capture_output=True, text=True, check=True)
        device = made.stdout.strip()
        try:
            yield device
        finally:
            subprocess.run(["losetup", "--detach", device], check=True)


@contextmanager
def zram_device() -> Iterator[str]:
    """Yield a new zram device, as root."""
    number = Path("/sys/class/zram-control/hot_add").read_text().strip()
    try:
        Path(f"/sys/block/zram{number}/disksize").write_text(str(SIZE_BYTES))
        yield f"/dev/zram{number}"
    finally:
        Path("/sys/class/zram-control/hot_remove").write_text(number)


@contextmanager
def mounted_fault_drive(fault_drive: Path) -> Iterator[str]:
    """Yield the file of a mounted fault drive; the drive ends when its standard input does."""
    with tempfile.TemporaryDirectory() as mount_point:
        command = [str(fault_drive), mount_point, "--size-mib", str(SIZE_BYTES >> 20)]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(os.environ)
        )
        try:
            first_line = process.stdout.readline() if process.stdout else ""
            path = json.loads(first_line or "{}").get("drive")
            if path is None:
                raise OSError("the fault drive did not start")
            yield path
        finally:
            process.communicate(timeout=60)
