"""Plain output of `nvme list`, `lsblk`, `smartctl` and `lshw`, as the documents that these tools print as JSON.

One text may have the outputs of several tools and hosts, with prompts between them. Serial numbers are not read.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any

from webapp.register.fleet.text_tables import by_dashes, by_heads

Document = dict[str, Any]
LONGEST_LINE = 1_000  # characters; tools print shorter ones
ROWS_AT_MOST = 20_001  # of one table; one more than a list may have
PROMPT = re.compile(r"(?:\[[^\]]{0,100}\])?[^\s#$]{0,100}[#$] ")  # root@db7:~# or [root@db7 ~]$
LSBLK_HEAD = re.compile(r"\s*[A-Z][A-Z0-9:%-]*(?: +[A-Z][A-Z0-9:%-]*)*\s*")
LSBLK_NAMES = {"NAME", "KNAME", "PATH"}
LSBLK_PAIR = re.compile(r'([A-Z][A-Z0-9:_%-]*)="([^"]*)"')
TREE = re.compile(r"[\s|`├└│─-]+")  # branches to the parts of a device
PARTITION = re.compile(r"(?:/dev/)?(?:nvme[0-9]+n[0-9]+p[0-9]+|(?:sd|vd|xvd|hd)[a-z]+[0-9]+)")
NVME_HEADS = {
    "DevicePath": ("Node", "Device"),
    "ModelNumber": ("Model", "MN"),
    "Firmware": ("FW Rev", "FR"),
    "PhysicalSize": ("Usage",),
}
# A row of nvme list with single blanks: chats and forms reduce them. Serial numbers have no blanks.
NVME_REDUCED = re.compile(
    r"(?P<DevicePath>/dev/nvme\S+) (?:/dev/ng\S+ )?\S+ (?P<ModelNumber>\S.*) (?:0x)?[0-9a-f]+ "
    r"[0-9.]+ [kMGTP]?B / (?P<PhysicalSize>[0-9.]+ [kMGTP]?B) [0-9]+ [kKM]?i?B \+ [0-9]+ B (?P<Firmware>\S+)"
)
NVME_ROW = re.compile(r"/dev/nvme[0-9]+n[0-9]+\s")
NO_SERIAL = re.compile(r"/dev/nvme\S+(?:\s+/dev/ng\S+)? {21}")  # the column of serial numbers is 20 characters wide
SMARTCTL_KEYS = {
    "Model Number": "model_name", "Device Model": "model_name", "Firmware Version": "firmware_version",
    "Vendor": "scsi_vendor", "Product": "scsi_product", "Revision": "scsi_revision",
}  # fmt: skip
SMARTCTL_KINDS = {"Model Number": "nvme", "Device Model": "ata", "Product": "scsi"}  # by the name of the model
SMARTCTL_SIZES = ("User Capacity", "Total NVM Capacity", "Namespace 1 Size/Capacity")
SMARTCTL = re.compile(rf"({'|'.join((*SMARTCTL_KEYS, *SMARTCTL_SIZES))}): +(.+)")
SMARTCTL_LINE = re.compile(r"[A-Z][\w .,/()-]*: ")
SMARTCTL_BEGIN = ("=== START OF INFORMATION", "smartctl ")
AFTER_BYTES, NOT_DIGITS = re.compile(r" bytes| \["), re.compile(r"[^0-9]")
SCANNED = re.compile(r"(/dev/\S+) -d (\S+)(?: #.*)?")
DEVICE_AT_END = re.compile(r"(?:.*\s)?(/dev/[\w/-]+):?")
LSHW_NODE = re.compile(r"\s*\*-([a-z]+)(?::[0-9]+)?(?: .*)?")
LSHW_LINE = re.compile(r"\s+[a-z][\w ]*: ")
LSHW_FACT = re.compile(r"\s+(product|vendor|logical name|version|size): (.+)")
LSHW_SHORT = re.compile(r"(?:/\S*)?\s+(?:(?P<device>\S+)\s+)?(?P<kind>disk|storage)\s+(?P<text>\S.*)")
LSHW_SIZED = re.compile(r"([0-9.]+[KMGTP]i?B)\s+(.*)")
SHARED = ("model", "vendor", "rev")  # facts of a controller that its namespaces have as well
DECIMAL_SIZE = re.compile(r".*\((.+)\)")
UNNAMED = re.compile(r"(?:(?:NVMe|SCSI|S?ATA|Virtual) )?(?:disk|namespace|device)", re.IGNORECASE)
NO_BLOCK_DEVICE = re.compile(r"hwmon[0-9]+|/dev/ng[0-9]+n[0-9]+")
OPTICAL = re.compile(r"/dev/(?:cdrom|dvd|sr)[a-z0-9]*")


def documents_of(text: str) -> Iterator[Document]:
    """Yield what each tool printed, as a document of its JSON format; nothing if no output is recognised."""
    lines = Lines(line for line in text.splitlines() if len(line) <= LONGEST_LINE)
    for line in lines:
        document = next((found for read in READERS if (found := read(line, lines)) is not None), None)
        if document is None:
            lines.note_device(line)
        else:
            yield document


class Lines:
    """Lines with a look at the next one; `device` is the last one that a line outside all outputs ends with."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._rest = iter(lines)
        self._waiting = next(self._rest, None)
        self.device = ""

    def __iter__(self) -> "Lines":
        return self

    def __next__(self) -> str:
        if self._waiting is None:
            raise StopIteration
        line, self._waiting = self._waiting, next(self._rest, None)
        return line

    @property
    def next(self) -> str:
        """Return the line that follows, without taking it; empty at the end."""
        return self._waiting or ""

    def note_device(self, line: str) -> None:
        """Keep the device that a command or a heading names, for an output of smartctl, which does not name it."""
        if named := DEVICE_AT_END.fullmatch(line.rstrip()):
            self.device = named[1]

    def block(self, is_part: Callable[[str], object]) -> Iterator[str]:
        """Yield the lines up to the first one that is not a part of the block."""
        while self._waiting is not None and is_part(self._waiting):
            yield next(self)

    def table(self) -> list[str]:
        """Return the lines up to an empty one or a prompt, at most as many as a list may have."""
        return list(islice(self.block(lambda line: line.strip() and not PROMPT.match(line)), ROWS_AT_MOST))


def _scanned(line: str, _: Lines) -> Document | None:
    return {"smartctl": {}, "device": {"name": line.split(maxsplit=1)[0]}} if SCANNED.fullmatch(line.strip()) else None


def _nvme(line: str, lines: Lines) -> Document | None:
    """Read a table of nvme list; without a column of models, it is another table of nvme list -v."""
    if not lines.next.startswith("----"):
        return None
    dashes, table = next(lines), lines.table()
    if reduced := [found.groupdict() for row in table if (found := NVME_REDUCED.fullmatch(row.strip()))]:
        return {"Devices": reduced}
    rows = by_dashes(line, dashes, table)
    return {"Devices": [_nvme_device(row) for row in rows if {"Model", "MN"} & row.keys()]}


def _nvme_row(line: str, _: Lines) -> Document | None:
    """Read a row of nvme list without its header; without a serial number, it is not known where the model begins."""
    found = None if NO_SERIAL.match(line) else NVME_REDUCED.fullmatch(" ".join(line.split()))
    return {"Devices": [found.groupdict()]} if found else None


def _nvme_device(row: dict[str, str]) -> Document:
    found = {key: next((row[name] for name in names if row.get(name)), "") for key, names in NVME_HEADS.items()}
    whole = found["PhysicalSize"].rpartition("/")[2]  # of used / whole
    return found | {"PhysicalSize": " ".join(whole.split())}


def _lsblk(line: str, lines: Lines) -> Document | None:
    names = set(line.split())
    if not LSBLK_HEAD.fullmatch(line) or (names.isdisjoint(LSBLK_NAMES) and not {"MODEL", "SIZE"} <= names):
        return None
    return {"blockdevices": [_block_device(row) for row in by_heads(line, lines.table())]}


def _lsblk_pairs(line: str, _: Lines) -> Document | None:
    return {"blockdevices": [_block_device(dict(LSBLK_PAIR.findall(line)))]} if LSBLK_PAIR.match(line) else None


def _block_device(row: dict[str, str]) -> Document:
    """Return a row of lsblk as in its JSON; what is below another device in its tree is a part of it."""
    name = next((row[key] for key in ("NAME", "KNAME", "PATH") if row.get(key)), "")
    device: Document = {key.lower(): value for key, value in row.items()} | {"name": name}
    if TREE.match(name):
        return device | {"name": TREE.sub("", name, count=1), "type": "part"}
    return device if "TYPE" in row or not PARTITION.fullmatch(name) else device | {"type": "part"}


def _smartctl(line: str, lines: Lines) -> Document | None:
    """Read the facts of one drive, up to the next drive or another output."""
    if not (line.startswith(SMARTCTL_BEGIN) or SMARTCTL.fullmatch(line)):
        return None
    facts: dict[str, str] = {}
    for each in chain([line], lines.block(lambda each: SMARTCTL_LINE.match(each) and not _is_known(each, facts))):
        if fact := SMARTCTL.fullmatch(each):
            facts[fact[1]] = fact[2].strip()
    found = {key: facts[name] for name, key in SMARTCTL_KEYS.items() if name in facts}
    if "model_name" not in found and "scsi_product" not in found:
        return None
    sizes = (_bytes(facts.get(name, "")) for name in SMARTCTL_SIZES)
    kind = next((kind for name, kind in SMARTCTL_KINDS.items() if name in facts), "")
    device = {"name": lines.device, "type": kind}
    lines.device = ""
    return {**found, "smartctl": {}, "device": device, "user_capacity": {"bytes": next(filter(None, sizes), 0)}}


def _is_known(line: str, facts: dict[str, str]) -> bool:
    """Return whether a line begins the facts of another drive."""
    fact = SMARTCTL.fullmatch(line)
    return fact is not None and fact[1] in facts


def _bytes(text: str) -> int:
    """Return the bytes of a capacity: 960,197,124,096 bytes [960 GB], with any separator of thousands."""
    return int(NOT_DIGITS.sub("", AFTER_BYTES.split(text)[0])[:20] or 0)


def _lshw(line: str, lines: Lines) -> Document | None:
    if not LSHW_NODE.fullmatch(line):
        return None
    rest = lines.block(lambda each: LSHW_NODE.fullmatch(each) or LSHW_LINE.match(each))
    return {"blockdevices": list(islice(_with_controllers(_lshw_nodes(chain([line], rest))), ROWS_AT_MOST))}


def _lshw_nodes(lines: Iterable[str]) -> Iterator[tuple[str, Document]]:
    """Yield kind and facts of each node."""
    kind, facts = "", dict[str, str]()
    for line in lines:
        if node := LSHW_NODE.fullmatch(line):
            if kind:
                yield kind, _lshw_device(facts)
            kind, facts = node[1], {}
        elif fact := LSHW_FACT.fullmatch(line):
            facts[fact[1]] = fact[2].strip()
    yield kind, _lshw_device(facts)


def _lshw_short(line: str, lines: Lines) -> Document | None:
    if not line.startswith("H/W path"):
        return None
    rows = filter(None, map(LSHW_SHORT.fullmatch, map(str.rstrip, lines.table())))
    return {"blockdevices": list(_with_controllers(map(_short_node, rows)))}


def _short_node(row: re.Match[str]) -> tuple[str, Document]:
    """Return a row of lshw -short as a node: its description begins with the size, if it has one."""
    sized = LSHW_SIZED.fullmatch(row["text"])
    product, size = (sized[2], sized[1]) if sized else (row["text"], "")
    facts = {"logical name": row["device"] or "", "product": product, "size": size}
    return "nvme" if row["kind"] == "storage" else "disk", _lshw_device(facts)


def _lshw_device(facts: dict[str, str]) -> Document:
    product, size = facts.get("product", ""), facts.get("size", "")
    decimal = DECIMAL_SIZE.fullmatch(size)  # 894GiB (960GB)
    return {
        "name": facts.get("logical name", ""),
        "model": "" if UNNAMED.fullmatch(product) else product,
        "vendor": facts.get("vendor", ""),
        "rev": facts.get("version", ""),
        "size": decimal[1] if decimal else size,
    }


def _with_controllers(nodes: Iterable[tuple[str, Document]]) -> Iterator[Document]:
    """Yield the drives of lshw. An NVMe controller has the model, and its namespaces have the sizes."""
    waiting: Document = {}  # the last controller, until one of its namespaces was yielded
    controller: Document = {}
    for kind, device in nodes:
        name = device["name"]
        if kind == "nvme" and name.startswith("/dev/nvme"):
            if waiting:
                yield waiting
            waiting, controller = device | {"type": "disk"}, device
        elif kind == "cdrom" or OPTICAL.fullmatch(name):
            yield device | {"type": "rom"}
        elif kind in {"disk", "namespace"} and not NO_BLOCK_DEVICE.fullmatch(name):
            is_below = bool(controller) and name.startswith(f"{controller['name']}n")
            waiting = {} if is_below else waiting
            yield device | _shared(controller, is_below=is_below) | {"type": "disk"}
    if waiting:
        yield waiting


def _shared(controller: Document, *, is_below: bool) -> Document:
    return {key: controller[key] for key in SHARED} if is_below else {}


READERS: tuple[Callable[[str, Lines], Document | None], ...] = (
    *(_scanned, _nvme, _nvme_row, _lsblk_pairs, _lsblk, _smartctl, _lshw, _lshw_short),
)
