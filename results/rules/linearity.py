"""How speed grows with the number of devices of one machine: exact."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction


@dataclass(frozen=True)
class DevicesPoint:
    """Speed with some devices: for each, and as a ratio of what the fewest devices gave each (1 is linear)."""

    devices_count: int
    tps: Fraction
    per_device: Fraction
    of_linear: Fraction


def linearity(speeds: Iterable[tuple[int, Decimal | int]]) -> list[DevicesPoint]:
    """Return (devices, tps) by rising devices, against the fewest; of several results with as few the fastest counts.

    Raises ValueError for a number of devices or a speed that is not above 0.
    """
    ordered = sorted((devices, -Fraction(tps)) for devices, tps in speeds)
    if any(devices < 1 or tps >= 0 for devices, tps in ordered):
        raise ValueError(f"linearity: expected devices and speeds above 0, got {ordered}")
    each = [(devices, -tps, -tps / devices) for devices, tps in ordered]
    return [DevicesPoint(devices, tps, per_device, per_device / each[0][2]) for devices, tps, per_device in each]
