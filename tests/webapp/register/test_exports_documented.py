"""docs/reference/exports.md against what the pages export."""

import re
from pathlib import Path

from webapp.register.tables import categories, columns
from webapp.register.tables.exports import FIELDS

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "exports.md").read_text()


def words_of(text):
    return set(re.findall(r"`([a-z0-9_]+)`", text))


def test_every_field_is_documented():
    spelled = words_of(PAGE) | {"pct_over_512us", "pct_over_1ms", "pct_over_8ms"}
    assert {*FIELDS, "verdict"} - spelled == set()


def test_every_code_to_sort_by_is_documented():
    codes = {column.code for spec in categories.SPECS.values() for column in spec.columns if column.is_sortable}
    documented = words_of(PAGE.split("Codes to sort by")[1].split("Rows are sorted")[0])
    assert documented == codes | {columns.RUN.code}
