"""The capacities of each model side by side, because a larger drive is not always faster."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from webapp.register.drives.store.encoded_columns import ColumnStore

MODELS_AT_MOST = 20
SHOWN = ("capacity_gb", "tps", "tps_per_tb", "endurance_dwpd", "sustained_tps")


@dataclass(frozen=True)
class CapacityLine:
    """One capacity of a model: its fastest result within the limits, as text by column."""

    slug: str
    words: dict[str, str]


@dataclass(frozen=True)
class ModelCapacities:
    """A model with several capacities, the smallest first."""

    name: str
    lines: list[CapacityLine]
    sentence: str


def capacities_of(store: ColumnStore, rows: Iterable[int]) -> tuple[list[ModelCapacities], int]:
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


def _model(store: ColumnStore, rows: Sequence[int]) -> ModelCapacities:
    words = [{code: store.columns[code].word(row) for code in SHOWN} for row in rows]
    lines = [CapacityLine(store.slugs[row], each) for row, each in zip(rows, words, strict=True)]
    name = f"{store.columns['vendor'].word(rows[0])} {store.columns['model'].word(rows[0])}"
    devices = store.columns["device_count"].word(rows[0])
    name += f", {devices} devices together" if devices not in {"", "1"} else ""
    return ModelCapacities(name, lines, _sentence(store, rows))


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
