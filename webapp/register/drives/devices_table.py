"""The table Speed by number of devices below the cloud instances. It follows the filters and limits of the page.

static/js/drives/devices-table.js writes the same rows in the browser.
"""

from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal
from functools import partial

from django.utils.safestring import SafeString, mark_safe

from results.rules.act.loads import linearity
from results.rules.endurance import three_digits
from webapp.register.drives.cloud import TENANCY
from webapp.register.drives.page import DrivesPage
from webapp.register.drives.store.encoded_columns import ColumnStore, rows_of
from webapp.register.tables.parts import fill
from webapp.templatetags import units

TYPE = ("vendor", "model", "device_gb", "statistic")
TESTED = (*TYPE, "device_count", "sole_tenant")


def devices_table(page: DrivesPage) -> SafeString:
    """Return the bodies of the table; those without filters are made once per register state and profile."""
    make = partial(_bodies, page.store, rows_of(page.passing_rows))
    if page.query.is_narrowed or page.limits.is_own:
        return make()
    return page.store.cached(("devices table", page.profile), make)


def _bodies(store: ColumnStore, rows: Sequence[int]) -> SafeString:
    bodies = [_instance(store, same) for same in instance_types(store, rows)] or [fill("instance-none")]
    return mark_safe("".join(f"<tbody>\n{body}</tbody>\n" for body in bodies))  # noqa: S308 - escaped by `fill`


def instance_types(store: ColumnStore, rows: Sequence[int]) -> list[list[int]]:
    """Return the rows of each instance type with several numbers of devices: the fastest of each number and tenancy."""
    count, size, tps = (store.columns[code] for code in ("device_count", "device_gb", "tps"))
    groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for row in _fastest_of_each(store, rows):
        if min(count.codes[row], size.codes[row], tps.codes[row]) >= 0 and tps.value(row):
            groups[tuple(store.columns[code].codes[row] for code in TYPE)].append(row)
    return [same for same in groups.values() if len({count.codes[row] for row in same}) > 1]


def _fastest_of_each(store: ColumnStore, rows: Sequence[int]) -> list[int]:
    """Return the fastest row of each instance type, number of devices and tenancy."""
    fastest: dict[tuple[int, ...], int] = {}
    for row in sorted(rows, key=lambda each: -(store.columns["tps"].value(each) or 0)):
        fastest.setdefault(tuple(store.columns[code].codes[row] for code in TESTED), row)
    return sorted(fastest.values())


def _instance(store: ColumnStore, rows: Sequence[int]) -> str:
    """Return the lines of an instance type, by number of devices; a line names the tenancy that it is compared with."""
    columns = store.columns
    points = linearity(
        (int(columns["device_count"].word(row)), Decimal(str(columns["tps"].value(row)))) for row in rows
    )
    ordered = sorted(rows, key=lambda row: (int(columns["device_count"].word(row)), -(columns["tps"].value(row) or 0)))
    tenancies = [TENANCY[columns["sole_tenant"].word(row)] for row in ordered]
    lines = [
        fill(
            "instance-line",
            devices=str(point.devices_count),
            tenancy=tenancy,
            tps=columns["tps"].word(row),
            per_device=units.decimal(three_digits(point.per_device)),
            of_linear=f"{units.decimal(three_digits(100 * point.of_linear))} %",
            reference_html="" if tenancy == tenancies[0] else _reference(tenancies[0]),
        )
        for row, tenancy, point in zip(ordered, tenancies, points, strict=True)
    ]
    vendor, model, size = (columns[code].word(rows[0]) for code in ("vendor", "model", "device_gb"))
    return "".join([fill("instance-title", name=f"{vendor} {model}, {size} GB devices"), *lines])


def _reference(tenancy: str) -> str:
    return f" {fill('word', kind='sub', word=f'compared with {tenancy}')}"
