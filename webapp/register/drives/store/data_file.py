"""The data file of the register: its columns as JSON, for the pages' script and for other programs.

Values that follow from a word (its number, an option that is the word itself) are left out; the script
static/js/drives/column-store.js adds them again.
"""

import gzip
import json
from dataclasses import dataclass
from hashlib import md5
from typing import Any

from django.utils.http import quote_etag

from results.models.ids import product_stem
from webapp.register.drives.store.column_store import current_store
from webapp.register.drives.store.encoded_columns import BILLIONTHS, ColumnStore, EncodedColumn
from webapp.register.tables.other_names import OTHER_NAMES

SCHEMA = "drivecert.drives/1"
# Computed from speed and number of devices by static/js/drives/column-store.js, to keep the file small.
DERIVED = frozenset({"device_tps"})
NOT_IN_FILE = DERIVED | {"mix", "tested_gb"}  # only /sizing/ uses mix and tested_gb


def data_document(store: ColumnStore) -> dict[str, Any]:
    """Return the content of the file."""
    return {
        "schema": SCHEMA,
        "version": store.version,
        "count": store.count,
        "run": store.runs,
        "product": [None if slug == _usual_slug(store, row) else slug for row, slug in enumerate(store.slugs)],
        "columns": {code: _column(code, encoded) for code, encoded in store.columns.items() if code not in NOT_IN_FILE},
        "remarks": {str(row): remarks for row, remarks in store.remarks.items()},
        "other_names": OTHER_NAMES,
    }


def _usual_slug(store: ColumnStore, row: int) -> str | None:
    """Return the slug that follows from maker, model and capacity; None if they have letters outside ASCII."""
    vendor, model = (store.columns[code].word(row) for code in ("vendor", "model"))
    capacity = store.columns["capacity_gb"].value(row)
    if not f"{vendor}{model}".isascii():
        return None
    return product_stem(vendor, model, None if capacity is None else int(capacity))


def _column(code: str, encoded: EncodedColumn) -> dict[str, Any]:
    data: dict[str, Any] = {"words": encoded.words, "codes": list(encoded.codes)}
    scale = BILLIONTHS if code.startswith("pct_over_") else 1
    if encoded.values:
        pairs = zip(encoded.words, encoded.values, strict=True)
        data["values"] = [None if _number_in(word, scale) == value else value for word, value in pairs]
    if encoded.options:
        data["options"] = [
            None if option == word else option for word, option in zip(encoded.words, encoded.options, strict=True)
        ]
    return data


def _number_in(word: str, scale: int) -> float | None:
    """Return the number in a word, in the column's own unit; None if the word is not just a number."""
    digits = word.replace(",", "")
    if digits.strip("0123456789.") or digits.count(".") > 1:
        return None
    whole, _, places = digits.partition(".")
    if scale == 1:
        return float(digits)
    return int(whole + places.ljust(9, "0")) if len(places) <= 9 else None


@dataclass(frozen=True)
class DataFile:
    """The file, plain or compressed by gzip, with its ETag, which takes longer to compute than the file to send."""

    content: bytes
    etag: str


def current_file(*, is_compressed: bool) -> DataFile:
    """Return the file in one of its two forms. Only the compressed one, which browsers request, stays in memory."""
    store = current_store()

    def make() -> tuple[DataFile, str]:
        plain = json.dumps(data_document(store), ensure_ascii=False, separators=(",", ":")).encode()
        compressed = gzip.compress(plain, compresslevel=9, mtime=0)
        return DataFile(compressed, _etag(compressed)), _etag(plain)

    compressed, plain_etag = store.cached("data file", make)
    return compressed if is_compressed else DataFile(gzip.decompress(compressed.content), plain_etag)


def _etag(content: bytes) -> str:
    return quote_etag(md5(content, usedforsecurity=False).hexdigest())
