"""The rows of tables of drives, written from tests/data/drive_rows.json as in tests/data/drive_rows.html.

tests/browser/test_drive_tables.py compares the rows that the script writes with the same file.
"""

import json
from decimal import Decimal

import pytest
from django.conf import settings

from results.models import Category
from webapp.register.drives.cells import RowWriter
from webapp.register.drives.layouts import ALL_CATEGORIES_LAYOUT
from webapp.register.drives.order import RowGroup
from webapp.register.drives.store.encoded_columns import ColumnStore, EncodedColumn
from webapp.register.limits.reader_limits import LimitField, YourLimits
from webapp.register.products.name_search import Names
from webapp.register.tables import columns
from webapp.register.tables.categories import SPECS

CASE = json.loads((settings.BASE_DIR / "tests/data/drive_rows.json").read_text())
GOLDEN = settings.BASE_DIR / "tests/data/drive_rows.html"


def encoded(column):
    return EncodedColumn(*(tuple(column.get(name, ())) for name in ("words", "codes", "values")))


@pytest.fixture
def writer():
    data = CASE["data"]
    remarks = {int(row): lines for row, lines in data["remarks"].items()}
    own = {code: encoded(column) for code, column in data["columns"].items()}
    store = ColumnStore("v", data["count"], data["run"], data["product"], own, Names((), ()), remarks)
    known = {column.code: column for column in (*SPECS[Category.NVME_FLASH].columns, columns.CATEGORY)}
    limits = YourLimits(tuple(LimitField(int(us), Decimal(pct), Decimal(5)) for us, pct in CASE["limits"].items()))
    shown = [known[code] for code in CASE["columns"]]
    return RowWriter(store, shown, limits, range(data["count"]), layout=ALL_CATEGORIES_LAYOUT)


def test_rows_are_written_as_in_the_golden_file(writer):
    groups = [RowGroup(tuple(group["title"]), tuple(group["rows"])) for group in CASE["groups"]]
    assert writer.table(groups) == GOLDEN.read_text()
