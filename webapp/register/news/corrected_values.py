"""Corrected values in words: labels and units of the columns that a reviewer or a catalogue can correct."""

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from webapp.templatetags import units

LONGEST_VALUE = 60  # characters; longer values are on the page of the run
NOT_REPORTED = "not reported"


def _decimal_with(unit: str) -> Callable[[str], str]:
    return lambda text: units.with_unit(units.decimal(Decimal(text)), unit)


def _capacity(text: str) -> str:
    return units.capacity(int(text))


def _yes_or_no(text: str) -> str:
    return {"True": "yes", "False": "no"}[text]


# Column of an event -> its label, and its value in words. An event has values as text, or as whole numbers.
COLUMNS: Mapping[str, tuple[str, Callable[[str], str]]] = {
    "tps": ("speed", _decimal_with("tps")),
    "nx_load": ("load of each device", lambda text: units.nx(Decimal(text))),
    "duration_s": ("duration", lambda text: units.duration(int(text))),
    "tool_version": ("version of ACT", str),
    "device_count": ("number of devices", lambda text: units.count(int(text))),
    "device_gb": ("size of each device", _capacity),
    "backing_device": ("backing device", str),
    "protocol": ("protocol", str),
    "sole_tenant": ("sole tenant", _yes_or_no),
    "compress_pct": ("compressed size of the data", _decimal_with("%")),
    "over_provisioning_pct": ("over-provisioning", _decimal_with("%")),
    "over_provisioned_to_gb": ("used capacity", _capacity),
    "firmware": ("firmware", str),
    "region": ("region", str),
    "zone": ("zone", str),
    "notes": ("notes", str),
    "source": ("source", str),
    "source_row": ("row as printed", str),
    "historical": ("historical", _yes_or_no),
    "pcie_gen": ("PCIe generation", str),
    "endurance_dwpd": ("endurance", _decimal_with("DWPD")),
    "form_factor": ("form factor", str),
    "category": ("category", str),
    "vendor": ("vendor", str),
    "model": ("model", str),
    "part_number": ("part number", str),
    "part_numbers": ("further part numbers", str),
    "capacity_gb": ("capacity", _capacity),
}
SHARES, PRINTED_SHARES = "shares", "printed_shares"  # as text; and digits by threshold, which older events lack


def changes_words(changes: Mapping[str, Any]) -> str:
    """Return the old and the new value of each column. Long values are left out."""
    return "; ".join(_parts(changes)) or "values not recorded"


def _parts(changes: Mapping[str, Any]) -> Iterator[str]:
    for name, both in changes.items():
        if name == PRINTED_SHARES:
            yield from _shares_parts(*both)
        elif not (name == SHARES and PRINTED_SHARES in changes):
            label, text = COLUMNS.get(name, (name.replace("_", " "), str))
            yield _part(label, *(_value(value, text) for value in both))


def _shares_parts(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    """Yield a part for each threshold whose percentage differs, the lowest first."""
    for threshold_us in sorted(before.keys() | after.keys(), key=int):
        texts = (each.get(threshold_us) for each in (before, after))
        values = (NOT_REPORTED if text is None else units.with_unit(text, "%") for text in texts)
        if before.get(threshold_us) != after.get(threshold_us):
            yield _part(f"reads over {units.threshold(int(threshold_us))}", *values)


def _part(label: str, before: str, after: str) -> str:
    is_short = max(len(before), len(after)) <= LONGEST_VALUE
    return f"{label} from {before} to {after}" if is_short else label


def _value(value: object, text: Callable[[str], str]) -> str:
    if isinstance(value, list):
        return ", ".join(value) or NOT_REPORTED
    return NOT_REPORTED if value in {None, "", "None"} else text(str(value))
