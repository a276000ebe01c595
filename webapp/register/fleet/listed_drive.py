"""A drive of a list, and the sizes that tools and makers print, in GB (10^9 bytes)."""

import re
from dataclasses import dataclass
from typing import Any

BINARY = {"": 0, "B": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
PRINTED = re.compile(r"([0-9]{1,20}(?:[.,][0-9]{1,6})?) ?([KMGTP]?)(i?B)?", re.IGNORECASE)
NAMED = re.compile(r"(?<![0-9A-Za-z.,])([0-9]{1,5}(?:[.,][0-9]{1,3})?) ?(TB|GB|tb|gb)(?![0-9A-Za-z/])")
NAMED_FROM_GB = 32  # smaller numbers are port speeds, or thousands written with a comma
BYTES_FROM = 10**9  # a larger number without a unit can only be bytes
NVME, SCSI = "nvme", "scsi"
SCSI_NAME = re.compile(r"sd[a-z]+")


def size_gb(value: Any, *, bare_is_gb: bool = False) -> tuple[float | None, bool]:
    """Return a size in GB, and whether the tool rounded it; None if the value is not a size.

    A number without a unit is in bytes; in tables it is in gigabytes unless it is huge. 1.8T, as lsblk prints it, means
    2^40 bytes; 1.92 TB, as makers print it, means 10^12.

    >>> size_gb(1920383410176), size_gb("1.8T")[1], size_gb("1.92 TB"), size_gb("960", bare_is_gb=True), size_gb("big")
    ((1920.383410176, False), True, (1920.0, False), (960.0, False), (None, False))
    """
    found = PRINTED.fullmatch(str(value)[:40].strip())
    if not found:
        return None, False
    number, letter, unit = float(found[1].replace(",", ".")), found[2].upper(), (found[3] or "").upper()
    if number <= 0:
        return None, False
    if not letter and not unit:
        is_gb = bare_is_gb and number < BYTES_FROM
        return (number if is_gb else number / 1e9), False
    if unit == "B" and letter:
        return number * 1000 ** BINARY[letter] / 1e9, False
    return number * 1024 ** BINARY[letter] / 1e9, bool(letter)


def named_size_gb(name: str) -> float | None:
    """Return the capacity in a model's name in GB; None if it has none, or several.

    >>> named_size_gb("Micron 7450 MAX 3.2TB"), named_size_gb("SSDPF21Q800GB"), named_size_gb("P1 1.6TB or 3.2TB")
    (3200.0, None, None)
    """
    sizes = {size_gb(number + unit)[0] for number, unit in NAMED.findall(name)}
    size = sizes.pop() if len(sizes) == 1 else None
    return size if size is not None and size >= NAMED_FROM_GB else None


class FleetError(Exception):
    """The text is not a list of drives. The message says what was expected and what was found."""

    status = 400


@dataclass(frozen=True)
class ListedDrive:
    """One drive of a list; "" and None mean not reported. `capacity_is_rounded`: as lsblk prints it.

    `count` is the number of drives of its row; 1 if not reported. `stated_interface` is the tool's own statement.
    """

    device: str
    model: str
    firmware: str = ""
    vendor: str = ""
    capacity_gb: float | None = None
    capacity_is_rounded: bool = False
    count: int = 1
    stated_interface: str = ""

    @property
    def interface(self) -> str:
        """Return NVME or SCSI (SATA and SAS drives), by the tool's statement or the device's name; empty if unknown."""
        stated = self.stated_interface.lower()
        name = self.device.rpartition("/")[2]
        if stated.startswith("nvme") or name.startswith("nvme"):
            return NVME
        return SCSI if stated in {"sata", "sas", "ata", "scsi", "sat"} or SCSI_NAME.fullmatch(name) else ""


@dataclass(frozen=True)
class LeftOut:
    """A device of a list that is not a drive, by its type or name."""

    device: str
    kind: str
