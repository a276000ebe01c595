"""The part below a category's table. It is the same for all queries, so it is made once per register state.

The capacities of each model are listed together, because a larger drive is not always faster.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from django.template.loader import render_to_string

from results.models import Category
from webapp.register.drives.cloud import Row, cloud_view
from webapp.register.drives.page import DrivesPage
from webapp.register.drives.store.encoded_columns import ColumnStore, rows_of
from webapp.register.drives.store.ranking import current_rows, on_drives

MODELS_AT_MOST = 20
SHOWN = ("capacity_gb", "tps", "tps_per_tb", "endurance_dwpd", "sustained_tps")


def below_table(page: DrivesPage) -> Row:
    """Return the models, cloud figures and notes below a page's tables, and all of them as HTML."""
    return page.store.cached((page.layout.name, page.profile), lambda: _read(page))


def _read(page: DrivesPage) -> Row:
    valid = page.default_rows & current_rows(page.store)
    passing = rows_of(valid & page.limit_check.passes_profile & on_drives(page.store))
    spec = page.layout.specs[0]
    models, count = ([], 0) if page.layout.is_historical else capacities_of(page.store, passing)
    is_cloud = page.layout.name == Category.CLOUD
    below = {
        "models": models,
        "models_count": count,
        "cloud": cloud_view(page.store, rows_of(valid), passing) if is_cloud else None,
        "footnotes": spec.reading_notes if is_cloud else spec.footnotes,
    }
    return below | {"as_html": render_to_string("register/drives/below.html", {"below_table": below})}


def capacities_of(store: ColumnStore, rows: Iterable[int]) -> tuple[list[Row], int]:
    """Return the first 20 models with results of several capacities, fastest first, and the number of all such models.

    The rows are those within the limits. Only speeds of the same statistic and number of devices are compared.
    """
    vendor, model, tps = (store.columns[code] for code in ("vendor", "model", "tps"))
    statistic, capacity = store.columns["statistic"], store.columns["capacity_gb"]
    devices = store.columns["device_count"]
    found: dict[tuple[int, ...], dict[int, int]] = {}
    for row in rows:
        if capacity.codes[row] >= 0 and tps.codes[row] >= 0:
            key = (vendor.codes[row], model.codes[row], statistic.codes[row], devices.codes[row])
            known = found.setdefault(key, {})
            before = known.get(capacity.codes[row])
            if before is None or tps.codes[row] > tps.codes[before]:
                known[capacity.codes[row]] = row
    several = [[rows[code] for code in sorted(rows)] for rows in found.values() if len(rows) > 1]
    several.sort(key=lambda group: -max(tps.codes[row] for row in group))
    return [_model(store, group) for group in several[:MODELS_AT_MOST]], len(several)


def _model(store: ColumnStore, rows: Sequence[int]) -> Row:
    """Return a model with its capacities, the smallest first: the fastest result of each within the limits."""
    lines = [{"slug": store.slugs[row]} | {code: store.columns[code].word(row) for code in SHOWN} for row in rows]
    vendor, model, devices = (store.columns[code].word(rows[0]) for code in ("vendor", "model", "device_count"))
    together = f", {devices} devices together" if devices not in {"", "1"} else ""
    return {"name": f"{vendor} {model}{together}", "lines": lines, "sentence": _sentence(store, rows)}


def _sentence(store: ColumnStore, rows: Sequence[int]) -> str:
    """Return the first pair in which the larger drive is not faster; empty if there is none."""
    tps = store.columns["tps"]
    pairs = [(a, b) for a, b in pairwise(rows) if (tps.value(b) or 0) <= (tps.value(a) or 0)]
    if not pairs:
        return ""
    smaller, larger = pairs[0]
    how = "as fast as" if tps.value(smaller) == tps.value(larger) else "slower than"
    capacity = store.columns["capacity_gb"]
    return f"The {capacity.word(larger)} drive is {how} the {capacity.word(smaller)} drive."
