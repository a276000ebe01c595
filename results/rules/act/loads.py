"""Nx loads of ACT runs, exact fractions, their scaling with the number of devices, and repeated measurements."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from statistics import median

READS_PER_S = 2000  # of a 1x load, for each device (aerospike/act README.md, "What ACT Does")
WRITES_PER_S = 1000
TPS = READS_PER_S + WRITES_PER_S

Rate = int | Decimal | Fraction


def nx_load(reads_per_s: Rate | None, writes_per_s: Rate | None, device_count: int | None) -> Fraction | None:
    """Return N of a load of all devices together, from the requested rates; None if one of the three is unknown.

    N follows tps, reads/s + writes/s, as the register's tables do: at the exact ratio that is also reads/s over 2000.
    Source: aerospike/act README.md ("Nx" load).

    >>> nx_load(933_333, 466_667, 1)
    Fraction(1400, 3)
    """
    if reads_per_s is None or writes_per_s is None or not device_count:
        return None
    return (Fraction(reads_per_s) + Fraction(writes_per_s)) / (TPS * device_count)


def printed_nx(load: Fraction) -> str:
    """Return N with at most 4 decimals, for people; two loads that print alike may still differ.

    >>> printed_nx(Fraction(1400, 3)), printed_nx(Fraction(30))
    ('466.6667x', '30x')
    """
    return f"{printed_decimal(load, 4)}x"


def printed_decimal(value: Fraction, places: int) -> str:
    """Return a number rounded half to even, without trailing zeros.

    >>> printed_decimal(Fraction(5, 4), 1), printed_decimal(Fraction(180000), 4)
    ('1.2', '180000')
    """
    rounded = Decimal(round(value * 10**places)).scaleb(-places).quantize(Decimal(1).scaleb(-places), ROUND_HALF_EVEN)
    text = f"{rounded:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


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


@dataclass(frozen=True)
class Repeats:
    """Repeated measurements of one quantity, in its unit."""

    count: int
    median: Fraction
    least: Fraction
    greatest: Fraction

    @property
    def spread_ratio(self) -> Fraction | None:
        """Return (greatest - least) / median; None if the median is 0."""
        return (self.greatest - self.least) / self.median if self.median else None


def summarise(values: Sequence[Rate]) -> Repeats | None:
    """Return the summary of repeated runs; None without runs."""
    exact = [Fraction(value) for value in values]
    return Repeats(len(exact), median(exact), min(exact), max(exact)) if exact else None
