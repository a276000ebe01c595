"""The Nx load of an ACT run, exact: N is a fraction of whole rates and is never rounded before it is compared."""

from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction

READS_PER_S = 2000  # of a 1x load, for each device (aerospike/act README.md, "What ACT Does")
WRITES_PER_S = 1000
TPS = READS_PER_S + WRITES_PER_S

Rate = int | Decimal | Fraction


def nx_load(reads_per_s: Rate | None, writes_per_s: Rate | None, device_count: int | None) -> Fraction | None:
    """Return N of a load of all devices together, from the rates asked for; None where one of the three is unknown.

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
