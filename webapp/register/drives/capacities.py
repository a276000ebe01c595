"""One model's capacities side by side: a larger drive is not always the faster one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from webapp.register.drives.store.encoded_columns import Shelf

MODELS_AT_MOST = 20
SHOWN = ("capacity_gb", "tps", "tps_per_tb", "endurance_dwpd", "sustained_tps")


@dataclass(frozen=True)
class CapacityLine:
    """One capacity of a model: its fastest result within the limits, as words."""

    slug: str
    words: dict[str, str]


@dataclass(frozen=True)
class ModelCapacities:
    """A model with several capacities, the smallest first."""

    name: str
    lines: list[CapacityLine]
    sentence: str


def capacities_of(shelf: Shelf, rows: Iterable[int]) -> tuple[list[ModelCapacities], int]:
    """Return the models with results of several capacities, fastest first, twenty at most, and how many there are.

    The rows are those within the limits. Speeds of one statistic and one number of devices alone stand together.
    """
    vendor, model, tps = (shelf.columns[code] for code in ("vendor", "model", "tps"))
    statistic, capacity = shelf.columns["statistic"], shelf.columns["capacity_gb"]
    devices = shelf.columns["device_count"]
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
    return [_model(shelf, group) for group in several[:MODELS_AT_MOST]], len(several)


def _model(shelf: Shelf, rows: Sequence[int]) -> ModelCapacities:
    words = [{code: shelf.columns[code].word(row) for code in SHOWN} for row in rows]
    lines = [CapacityLine(shelf.slugs[row], each) for row, each in zip(rows, words, strict=True)]
    name = f"{shelf.columns['vendor'].word(rows[0])} {shelf.columns['model'].word(rows[0])}"
    devices = shelf.columns["device_count"].word(rows[0])
    name += f", {devices} devices together" if devices not in {"", "1"} else ""
    return ModelCapacities(name, lines, _sentence(shelf, rows))


def _sentence(shelf: Shelf, rows: Sequence[int]) -> str:
    """Say where a larger drive is not faster; empty where each is."""
    tps = shelf.columns["tps"]
    pairs = [(a, b) for a, b in pairwise(rows) if (tps.value(b) or 0) <= (tps.value(a) or 0)]
    if not pairs:
        return ""
    smaller, larger = pairs[0]
    how = "as fast as" if tps.value(smaller) == tps.value(larger) else "slower than"
    capacity = shelf.columns["capacity_gb"]
    return f"The one of {capacity.word(larger)} is {how} the one of {capacity.word(smaller)}."
