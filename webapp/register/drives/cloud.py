"""Figures below the table of cloud instances: places, repeated runs, and slow reads by number of devices."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from decimal import Decimal
from itertools import combinations
from typing import Any

from django.utils.http import urlencode

from results.models import Category, Statistic
from results.rules.act.loads import summarise
from results.rules.endurance import three_digits
from webapp.register.drives.device_counts import ODD_SHARE, over_with_one_device, same_instances
from webapp.register.drives.filters import PROVIDER
from webapp.register.drives.layouts import ALWAYS_SHOWN
from webapp.register.drives.limit_check import LimitCheck, name_of
from webapp.register.drives.order import in_order
from webapp.register.drives.query import SEPARATOR
from webapp.register.drives.store.encoded_columns import BILLIONTHS, NOT_REPORTED, ColumnStore
from webapp.register.drives.store.ranking import current_rows, groups_of, on_drives
from webapp.register.landscape.marks import GROUP_WORDS, fill_of
from webapp.register.tables.categories import SPECS
from webapp.register.tables.parameters import Sort
from webapp.register.tables.sentences import HOW
from webapp.templatetags import units

STATED = (
    ("region", "region"),
    ("zone", "zone"),
    ("started_at", "start time"),
    ("backing_device", "device model observed"),
    ("firmware", "firmware observed"),
)
TENANCY = {"yes": "sole tenant", "no": "shared", "": "not reported"}
DEVICE_FIRST = Sort("device_tps", falls=True)
Row = dict[str, Any]  # as the template shows it
PLACED_MAX = 50  # runs listed with their place and device; the table above has all


def cloud_view(store: ColumnStore, rows: Sequence[int], passing: Sequence[int]) -> Row:
    """Return the figures below the table, given its current rows and those of them that pass the profile."""
    stating = {code: [row for row in rows if store.columns[code].codes[row] >= 0] for code, _ in STATED}
    spec = SPECS[Category.CLOUD]
    shown = (column.code for column in spec.columns if column in spec.usual or column.code in stating)
    placed = sorted(set().union(*stating.values()))  # the rows that state a place or a device
    return {
        "results_count": len(rows),
        "stated": [(name, _reported_by(len(stating[code]), len(rows))) for code, name in STATED],
        "placed": [
            {
                "name": name_of(store, row),
                "public_id": store.runs[row],
                "facts": [store.columns[code].word(row) for code, _ in STATED],
            }
            for row in placed[:PLACED_MAX]
        ],
        "placed_count": len(placed),
        "placed_columns": SEPARATOR.join(code for code in shown if code != ALWAYS_SHOWN),
        "repeats": _repeats(store, rows),
        "fewer": fewer_devices(store, rows, set(passing)),
    }


def best_per_provider(store: ColumnStore, check: LimitCheck) -> list[Row]:
    """Return for each provider its instance that is fastest per device within the limits of the profile.

    A provider without such a result has no instance. An instance with several devices says if one device alone is over
    a limit.
    """
    vendor, current = store.columns["vendor"], current_rows(store) & ~store.columns["historical"].of("yes")
    instances = current & store.columns["category"].of(Category.CLOUD)
    passing = instances & check.passes_profile & on_drives(store)
    lines = []
    for option, provider in zip(vendor.options, vendor.words, strict=True):
        if not instances & vendor.of(provider):
            continue
        ordered = in_order(store, passing & vendor.of(provider), DEVICE_FIRST)
        best = _best_line(store, check, ordered[0]) if ordered else None
        lines.append({"provider": provider, "query": urlencode({PROVIDER.name: option}), "best": best})
    speed = store.columns["device_tps"].value
    return sorted(lines, key=lambda line: (-(speed(line["best"]["row"]) or 0) if line["best"] else 0, line["provider"]))


def _best_line(store: ColumnStore, check: LimitCheck, row: int) -> Row:
    """Return the instance of a row, its speed per device and of the whole instance, its slow reads and its test."""
    words = {code: store.columns[code].word(row) for code in ("device_tps", "tps", "device_count", ODD_SHARE)}
    is_alone_over = over_with_one_device(store, check, row) is not None
    group = groups_of(store)[store.columns["comparison_group"].word(row)]
    return words | {
        "row": row,
        "slug": store.slugs[row],
        "name": store.columns["model"].word(row),
        "storage": store.columns["storage"].word(row),
        "share": words[ODD_SHARE],
        "test": GROUP_WORDS.get(fill_of(group), "ACT version not reported"),
        "notes": [
            *(["sole tenant"] if store.columns["sole_tenant"].word(row) == "yes" else []),
            *(["the same instance with 1 device is over a limit"] if is_alone_over else []),
        ],
    }


def _reported_by(count: int, total: int) -> str:
    """Return how many results state a fact."""
    return f"reported by {count} of {total}" if count else "reported by none"


def _repeats(store: ColumnStore, rows: Sequence[int]) -> list[Row]:
    """Return the instances that were run more than once with the same storage, tenancy, place and statistic.

    A published speed is a result. The speed of a log was requested, so only runs of the same speed count as repeats.
    """
    tps = store.columns["tps"]
    groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for row in rows:
        if tps.codes[row] >= 0:
            codes = ("vendor", "model", "storage", "sole_tenant", "statistic", "region", "zone")
            requested = NOT_REPORTED if _is_measured(store, row) else tps.codes[row]
            groups[(*(store.columns[code].codes[row] for code in codes), requested)].append(row)
    return [_repeats_line(store, same) for same in groups.values() if len(same) > 1]


def _is_measured(store: ColumnStore, row: int) -> bool:
    """Return whether the speed is a result; otherwise it was requested."""
    return store.columns["statistic"].word(row) == Statistic.STEADY_AS_PUBLISHED


def _repeats_line(store: ColumnStore, rows: Sequence[int]) -> Row:
    """Return how many runs they are, with their median, least and greatest speed, and the spread."""
    speeds = [Decimal(str(store.columns["tps"].value(row))) for row in rows]
    found = summarise(speeds)
    if found is None or found.spread_ratio is None:
        raise ValueError("repeats: expected speeds above 0")
    spread = f"{units.decimal(three_digits(100 * found.spread_ratio))} %"
    figures = {name: units.decimal(three_digits(getattr(found, name))) for name in ("median", "least", "greatest")}
    return figures | {
        "name": name_of(store, rows[0]),
        "how": HOW.get(store.columns["statistic"].word(rows[0]), ""),  # type: ignore[call-overload]
        "count": found.count,
        "spread": spread if _is_measured(store, rows[0]) else "requested",
    }


def fewer_devices(store: ColumnStore, rows: Sequence[int], passing: Collection[int]) -> list[Row]:
    """Return the instance types of which fewer devices had more slow reads at the same speed of each device.

    Devices that do not disturb each other have the same share for any number of them. Only results of the same
    storage, tenancy, statistic and ACT version are compared. Those come first of which only the result with more
    devices is in `passing`, then those with the largest ratio of the shares.
    """
    devices = store.columns["device_count"]
    groups = same_instances(store, rows)
    found = [_fewer(store, sorted(same, key=lambda row: int(devices.word(row))), passing) for same in groups]
    return sorted(filter(None, found), key=lambda line: (line["changes"], line["ratio"]), reverse=True)


def _fewer(store: ColumnStore, rows: Sequence[int], passing: Collection[int]) -> Row | None:
    """Return the line of one instance type, by number of devices; None unless fewer devices had a larger share."""
    columns = store.columns
    pairs = [pair for pair in combinations(rows, 2) if _is_odd(store, *pair)]
    if not pairs:
        return None
    fewer, more = max(pairs, key=lambda pair: _ratio(store, *pair))
    vendor, model, size = (columns[code].word(fewer) for code in ("vendor", "model", "device_gb"))
    return {
        "changes": fewer not in passing and more in passing,
        "ratio": _ratio(store, fewer, more),
        "name": f"{vendor} {model}, {size} GB devices",
        "tenancy": TENANCY[columns["sole_tenant"].word(fewer)],
        "per_device": columns["device_tps"].word(fewer),
        "fewer": _devices_share(store, fewer),
        "more": _devices_share(store, more),
        "lines": [{"public_id": store.runs[row], **_devices_share(store, row)} for row in rows],
    }


def _devices_share(store: ColumnStore, row: int) -> Row:
    return {"devices": int(store.columns["device_count"].word(row)), "share": store.columns[ODD_SHARE].word(row)}


def _is_odd(store: ColumnStore, fewer: int, more: int) -> bool:
    devices, share = store.columns["device_count"], store.columns[ODD_SHARE]
    return devices.codes[fewer] != devices.codes[more] and share.codes[fewer] > share.codes[more]


def _ratio(store: ColumnStore, fewer: int, more: int) -> float:
    """Return how many times larger the share of the fewer devices is; a share below 0.01 % counts as 0.01 %."""
    share = store.columns[ODD_SHARE]
    return float(share.value(fewer) or 0) / max(float(share.value(more) or 0), BILLIONTHS / 100)
