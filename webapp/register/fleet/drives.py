"""Drives in a list: the output of `nvme list`, `lsblk` or `smartctl` as JSON, or CSV; with sizes in GB (10^9 bytes)."""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

BINARY = {"": 0, "B": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
PRINTED = re.compile(r"([0-9]{1,20}(?:[.,][0-9]{1,6})?) ?([KMGTP]?)(i?B)?", re.IGNORECASE)
NAMED = re.compile(r"(?<![0-9A-Za-z.,])([0-9]{1,5}(?:[.,][0-9]{1,3})?) ?(TB|GB|tb|gb)(?![0-9A-Za-z/])")
NAMED_FROM_GB = 32  # smaller numbers are port speeds, or thousands written with a comma
BYTES_FROM = 10**9  # a larger number without a unit can only be bytes


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


DRIVES_AT_MOST = 5_000
ROWS_AT_MOST = 20_000  # including rows without a drive: loop devices, empty lines
COUNT_AT_MOST = 1_000_000  # drives of one row
COUNT_DIGITS = 7
TEXT_AT_MOST = 200  # characters of one value; a model number has 40
CELL_AT_MOST = 100_000  # characters of one CSV cell; a longer one usually means that a quote is not closed
csv.field_size_limit(16 * 1024**2)  # above CELL_AT_MOST: the csv module's own error names neither cell nor limit
LEFT_OUT_NAMED = 4
NO_DRIVE = re.compile(r"(?:loop|zram|ram|dm-|md)[0-9]+")  # lsblk reports zram and ram as disks as well
EXPECTED = "expected the JSON of nvme list -o json, lsblk -O -J or smartctl -j, or CSV with a column model"
COLUMNS = {
    "model": ("model", "modelnumber", "model_number", "model number", "model_name", "product", "drive"),
    "firmware": ("firmware", "fw", "firmware_version", "firmware rev", "rev", "revision"),
    "vendor": ("vendor", "maker", "manufacturer"),
    "device": ("device", "devicepath", "path", "name", "node"),
    "capacity": ("capacity_gb", "capacity", "size", "physicalsize", "user_capacity"),
    "count": ("count", "quantity", "qty"),
}
Json = Mapping[str, Any]
Rows = Iterator["ListedDrive | LeftOut | None"]  # None is a row without a name, which also counts as read


class FleetError(Exception):
    """The text is not a list of drives. The message says what was expected and what was found."""

    status = 400


@dataclass(frozen=True)
class ListedDrive:
    """One drive of a list; "" and None mean not reported. `capacity_is_rounded`: as lsblk prints it.

    `count` is the number of drives of its row, 0 to COUNT_AT_MOST; 1 if not reported.
    """

    device: str
    model: str
    firmware: str = ""
    vendor: str = ""
    capacity_gb: float | None = None
    capacity_is_rounded: bool = False
    count: int = 1


@dataclass(frozen=True)
class LeftOut:
    """A device of a list that is not a drive, by its type or name."""

    device: str
    kind: str


def read_drives(text: str) -> list[ListedDrive]:
    """Return the drives of a list in its order. Raises FleetError if the text is not such a list."""
    content = text.lstrip("\ufeff").strip()
    if not content:
        raise FleetError(f"The list is empty: {EXPECTED}.")
    found = _of_json(content) if content[0] in "{[" else _of_csv(content)
    drives: list[ListedDrive] = []
    left_out: list[LeftOut] = []
    for rows, drive in enumerate(found, start=1):
        if rows > ROWS_AT_MOST:
            raise FleetError(f"More than {ROWS_AT_MOST:,} rows. Split the list and check the parts.")
        if isinstance(drive, LeftOut):
            left_out.append(drive)
        elif drive:
            drives.append(drive)
        if len(drives) > DRIVES_AT_MOST:
            raise FleetError(f"More than {DRIVES_AT_MOST:,} drives. Split the list and check the parts.")
    if not drives:
        raise FleetError(f"The list has no drives: {_left_out_text(left_out) or EXPECTED}.")
    return drives


def _left_out_text(left_out: Sequence[LeftOut]) -> str:
    """Return a text with the first devices that are not drives; empty if there are none."""
    if not left_out:
        return ""
    named = ", ".join(f"{each.device[:40]!r} ({each.kind[:20]})" for each in left_out[:LEFT_OUT_NAMED])
    more = f" and {len(left_out) - LEFT_OUT_NAMED:,} more" if len(left_out) > LEFT_OUT_NAMED else ""
    return f"skipped {named}{more}, which are not drives; expected devices of type disk"


def _of_json(content: str) -> Rows:
    """Read consecutive JSON values, as in the joined outputs of smartctl for several drives."""
    decoder, at = json.JSONDecoder(), 0
    while at < len(content):
        try:
            document, end = decoder.raw_decode(content, at)
        except json.JSONDecodeError as error:
            raise FleetError(f"The list is not valid JSON: line {error.lineno}, {error.msg}.") from error
        except (RecursionError, ValueError) as error:  # brackets in brackets, or a number of thousands of digits
            raise FleetError(
                "The list is not JSON that a tool prints: it is nested too deeply, or has a number that is too long."
            ) from error
        if not isinstance(document, dict | list):
            yield None
        for each in _objects(document if isinstance(document, list) else [document]):
            yield from _of_object(each)
        at = end
        while at < len(content) and content[at] in " \t\r\n,":
            at += 1


def _of_object(document: Json) -> Rows:
    """Recognise the tool by the keys that only it uses."""
    if "Devices" in document:
        yield None
        yield from _of_nvme(document["Devices"])
    elif "blockdevices" in document:
        yield None
        yield from _of_lsblk(document["blockdevices"])
    elif "model_name" in document or "smartctl" in document:
        yield from _of_smartctl(document)
    else:
        drive = _plain({str(name).casefold(): value for name, value in document.items()})
        yield drive if drive.model else None


def _of_nvme(devices: Any) -> Rows:
    for device in _objects(devices):
        if "Subsystems" in device:
            yield None
            yield from _of_subsystems(device["Subsystems"])
        else:
            yield _nvme(_text(device, "DevicePath", "NameSpace"), device, device)


def _of_subsystems(subsystems: Any) -> Rows:
    """Read the nested form of nvme list -v: each controller once, for any number of namespaces."""
    for subsystem in _objects(subsystems):
        yield None
        of_all = _objects(subsystem.get("Namespaces"))[:2]
        for controller in _objects(subsystem.get("Controllers")):
            spaces = [*_objects(controller.get("Namespaces"))[:2], *of_all]
            yield _nvme(_text(controller, "Controller"), controller, spaces[0] if len(spaces) == 1 else {})


def _nvme(device: str, controller: Json, space: Json) -> ListedDrive:
    model, firmware = _text(controller, "ModelNumber"), _text(controller, "Firmware", "FirmwareRev")
    return ListedDrive(device, model, firmware, "", size_gb(space.get("PhysicalSize"))[0])


def _of_lsblk(devices: Any) -> Rows:
    for device in _objects(devices):
        name = _text(device, "path", "name")
        kind = _other_kind(device)
        if not name:
            yield None
        elif kind:
            yield LeftOut(name, kind)
        else:  # a virtual machine's disk has no model
            gigabytes, is_rounded = size_gb(device.get("size"))
            model, firmware, vendor = (_text(device, column) for column in ("model", "rev", "vendor"))
            yield ListedDrive(name, model, firmware, vendor, gigabytes, is_rounded)


def _other_kind(device: Json) -> str:
    """Return the kind of a device of lsblk that is not a drive; empty for a drive."""
    by_name = NO_DRIVE.fullmatch(_text(device, "name", "path").rpartition("/")[2])
    if by_name:
        return by_name[0].rstrip("-0123456789")
    kind = _text(device, "type")
    return "" if kind == "disk" else kind


def _of_smartctl(document: Json) -> Rows:
    capacity, device = document.get("user_capacity"), document.get("device")
    size = capacity.get("bytes") if isinstance(capacity, dict) else document.get("nvme_total_capacity")
    name = _text(device, "name", "info_name") if isinstance(device, dict) else ""
    model = _text(document, "model_name", "scsi_model_name", "scsi_product")
    firmware, vendor = _text(document, "firmware_version", "scsi_revision"), _text(document, "vendor", "scsi_vendor")
    yield ListedDrive(name, model, firmware, vendor, size_gb(size)[0]) if model or name else None


def _of_csv(content: str) -> Rows:
    head = content.splitlines()[0]
    delimiter = max(",;\t", key=head.count)
    rows = csv.reader(io.StringIO(content), delimiter=delimiter)
    try:
        names = [name.strip().casefold() for name in _bounded(next(rows), 1, ())]
        if set(names).isdisjoint(COLUMNS["model"]):
            raise FleetError(f"The first line is {head[:80]!r}, without a column named model: {EXPECTED}.")
        line = rows.line_num + 1
        for row in rows:
            cells = _bounded(row, line, names)
            drive = _plain(dict(zip(names, cells, strict=False)))  # a row may be shorter than the header
            yield drive if drive.model else None
            line = rows.line_num + 1
    except csv.Error as error:
        raise FleetError(f"Line {rows.line_num} is not valid CSV: {EXPECTED}.") from error


def _bounded(row: Sequence[str], line: int, names: Sequence[str]) -> Sequence[str]:
    """Return the row. Raises FleetError with line and column if a cell is longer than CELL_AT_MOST."""
    for at, cell in enumerate(row):
        if len(cell) > CELL_AT_MOST:
            name = f" ({names[at][:40]})" if at < len(names) else ""
            raise FleetError(
                f"Line {line}, column {at + 1}{name} has {len(cell):,} characters: expected at most "
                f"{CELL_AT_MOST:,}; check for an unclosed quote."
            )
    return row


def _plain(row: Json) -> ListedDrive:
    """Return the drive of a table row with columns named as in COLUMNS; a number without a unit is in gigabytes."""
    capacity = next((row[name] for name in COLUMNS["capacity"] if row.get(name)), None)
    gigabytes, is_rounded = size_gb(capacity, bare_is_gb=True)
    texts = {name: _text(row, *COLUMNS[name]) for name in ("device", "model", "firmware", "vendor")}
    count = _count(row, texts["model"]) if texts["model"] else 1
    return ListedDrive(**texts, capacity_gb=gigabytes, capacity_is_rounded=is_rounded, count=count)


def _count(row: Json, model: str) -> int:
    """Return the number of drives of a row, 1 by default. Raises FleetError if it is not a valid number."""
    count = next((row[name] for name in COLUMNS["count"] if row.get(name) is not None), "")
    text = str(count).strip() if isinstance(count, str | int) else type(count).__name__
    if not text:
        return 1
    if text.isascii() and text.isdigit() and len(text) <= COUNT_DIGITS and int(text) <= COUNT_AT_MOST:
        return int(text)
    raise FleetError(
        f"The count of {model[:40]!r} is {text[:40]!r}: expected a whole number from 0 to {COUNT_AT_MOST:,}, "
        "with digits only."
    )


def _objects(value: Any) -> Sequence[Json]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _text(source: Json, *names: str) -> str:
    """Return the first of the named texts that is not empty, as one line of limited length."""
    for name in names:
        value = source.get(name)
        if isinstance(value, str) and value.strip():
            return " ".join(value.split())[:TEXT_AT_MOST]
    return ""
