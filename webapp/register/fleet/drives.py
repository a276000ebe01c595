"""Drives in a list: the output of `nvme list`, `lsblk`, `smartctl` or `lshw`, as text or as JSON, or CSV."""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from webapp.register.fleet.listed_drive import NVME, FleetError, LeftOut, ListedDrive, size_gb
from webapp.register.fleet.tool_output import NVME_ROW, documents_of

DRIVES_AT_MOST = 5_000
ROWS_AT_MOST = 20_000  # including rows without a drive: loop devices, empty lines
COUNT_AT_MOST = 1_000_000  # drives of one row
COUNT_DIGITS = 7
TEXT_AT_MOST = 200  # characters of one value; a model number has 40
CELL_AT_MOST = 100_000  # characters of one CSV cell; a longer one usually means that a quote is not closed
csv.field_size_limit(16 * 1024**2)  # above CELL_AT_MOST: the csv module's own error names neither cell nor limit
LEFT_OUT_NAMED = 4
NO_DRIVE = re.compile(r"(?:loop|zram|ram|dm-|md)[0-9]+")  # lsblk reports zram and ram as disks as well
EXPECTED = "expected the output of nvme list, lsblk, smartctl -i or lshw, as text or JSON, or CSV with a column model"
# Plain output may begin with a bracket, too: the prompt of a shell, [root@db7 ~].
JSON_START = re.compile(r"\{|\[\s*[\[{\]]")
# A name without a letter and a digit may be anything.
MODEL_NAME = re.compile(r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[\w .+()-]{3,80}")
COLUMNS = {
    "model": ("model", "modelnumber", "model_number", "model number", "model_name", "product", "drive"),
    "firmware": ("firmware", "fw", "firmware_version", "firmware rev", "rev", "revision"),
    "vendor": ("vendor", "maker", "manufacturer"),
    "device": ("device", "devicepath", "path", "name", "node"),
    "capacity": ("capacity_gb", "capacity", "size", "physicalsize", "user_capacity"),
    "count": ("count", "quantity", "qty"),
}
Json = Mapping[str, Any]
Rows = Iterator[ListedDrive | LeftOut | None]  # None is a row without a name, which also counts as read


def read_drives(text: str) -> list[ListedDrive]:
    """Return the drives of a list in its order. Raises FleetError if the text is not such a list."""
    content = text.lstrip("\ufeff").strip()
    if not content:
        raise FleetError(f"The list is empty: {EXPECTED}.")
    found = _of_json(content) if JSON_START.match(content) else _of_text(text.lstrip("\ufeff"))
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


def _of_text(text: str) -> Rows:
    """Read the plain output of tools; a text without any is CSV."""
    documents = documents_of(text)
    first = next(documents, None)
    if first is None and (names := _model_names(text)):
        yield from (ListedDrive("", name) for name in names)
    elif first is None:
        yield from _of_csv(text.strip())
    else:
        for document in chain([first], documents):
            yield from _of_object(document)


def _model_names(text: str) -> list[str]:
    """Return the lines of a text if each is only the name of a model; otherwise none."""
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    return lines if all(map(MODEL_NAME.fullmatch, lines)) else []


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
    size, is_rounded = size_gb(space.get("PhysicalSize"))
    return ListedDrive(device, model, firmware, "", size, is_rounded, stated_interface=NVME)


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
            model, firmware, vendor, interface = (_text(device, key) for key in ("model", "rev", "vendor", "tran"))
            yield ListedDrive(name, model, firmware, vendor, gigabytes, is_rounded, stated_interface=interface)


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
    interface = _text(device, "type", "protocol") if isinstance(device, dict) else ""
    model = _text(document, "model_name", "scsi_model_name", "scsi_product")
    firmware, vendor = _text(document, "firmware_version", "scsi_revision"), _text(document, "vendor", "scsi_vendor")
    drive = ListedDrive(name, model, firmware, vendor, size_gb(size)[0], stated_interface=interface)
    yield drive if model or name else None


def _of_csv(content: str) -> Rows:
    head = content.splitlines()[0]
    delimiter = max(",;\t", key=head.count)
    rows = csv.reader(io.StringIO(content), delimiter=delimiter)
    try:
        names = [name.strip().casefold() for name in _bounded(next(rows), 1, ())]
        if NVME_ROW.match(head):
            raise FleetError(f"The first line is {head[:80]!r}: include the header line of nvme list above its rows.")
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
