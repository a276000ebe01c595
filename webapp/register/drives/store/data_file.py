"""The one data file of the register: its columns as JSON, for the pages' script and for anybody else.

What a word says already (a number, an option that is the word itself) is left out: static/js/drives/shelf.js puts it
back.
"""

import gzip
import json
from typing import Any

from results.models.slugs import product_stem
from webapp.register.drives.store.column_store import BILLIONTHS, current_shelf
from webapp.register.drives.store.encoded_columns import Coded, Shelf
from webapp.register.tables.makers import OTHER_NAMES

SCHEMA = "drivecert.drives/1"
# Of the speed and the number of devices: static/js/drives/device-speed.js reckons it, and the file stays small.
DERIVED = frozenset({"device_tps"})


def document_of(shelf: Shelf) -> dict[str, Any]:
    """Return the columns of a shelf as the file holds them."""
    return {
        "schema": SCHEMA,
        "version": shelf.version,
        "count": shelf.count,
        "run": shelf.runs,
        "product": [None if slug == _usual_slug(shelf, row) else slug for row, slug in enumerate(shelf.slugs)],
        "columns": {code: _column(code, coded) for code, coded in shelf.columns.items() if code not in DERIVED},
        "remarks": {str(row): said for row, said in shelf.remarks.items()},
        "other_names": OTHER_NAMES,
    }


def _usual_slug(shelf: Shelf, row: int) -> str | None:
    """Return the slug that maker, model and capacity give; None where other letters make it more than a plain rule."""
    vendor, model = (shelf.columns[code].word(row) for code in ("vendor", "model"))
    capacity = shelf.columns["capacity_gb"].value(row)
    if not f"{vendor}{model}".isascii():
        return None
    return product_stem(vendor, model, None if capacity is None else int(capacity))


def _column(code: str, coded: Coded) -> dict[str, Any]:
    told: dict[str, Any] = {"words": coded.words, "codes": coded.codes}
    scale = BILLIONTHS if code.startswith("pct_over_") else 1
    if coded.values:
        pairs = zip(coded.words, coded.values, strict=True)
        told["values"] = [None if _says(word, scale) == value else value for word, value in pairs]
    if coded.options:
        told["options"] = [
            None if option == word else option for word, option in zip(coded.words, coded.options, strict=True)
        ]
    return told


def _says(word: str, scale: int) -> float | None:
    """Return the number that a word says, in the column's own unit; None where it says more than a number."""
    digits = word.replace(",", "")
    if digits.strip("0123456789.") or digits.count(".") > 1:
        return None
    whole, _, places = digits.partition(".")
    if scale == 1:
        return float(digits)
    return int(whole + places.ljust(9, "0")) if len(places) <= 9 else None


_kept: list[tuple[str, bytes, bytes]] = []


def current_file() -> tuple[bytes, bytes]:
    """Return the file, plain and compressed by gzip."""
    shelf = current_shelf()
    kept = next((each for each in _kept if each[0] == shelf.version), None)
    if kept is None:
        plain = json.dumps(document_of(shelf), ensure_ascii=False, separators=(",", ":")).encode()
        kept = (shelf.version, plain, gzip.compress(plain, compresslevel=9, mtime=0))
        _kept[:] = [kept]
    return kept[1:]
