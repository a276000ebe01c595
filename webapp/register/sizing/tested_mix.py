"""The workloads nearest to an untested one that were tested: each a link to the same question with it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from django.http import QueryDict

from results.rules.act.loads import printed_decimal
from results.rules.sizing import Demand, Tested, reads_as_tested, reads_pct, untested, writes_as_tested
from webapp.register.sizing.steps import number

PLACES = 6  # a question has no more


@dataclass(frozen=True)
class TestedMix:
    """A tested workload: what it is, the address that asks for it, and whether it asks for no less of anything."""

    text: str
    address: str
    demand: Demand
    is_stricter: bool


def tested_mixes(query: QueryDict, demand: Demand, tested: Tested) -> list[TestedMix]:
    """Return the tested workloads with the reads asked for, and with the writes; none where the one asked for is."""
    if not untested(demand, tested):
        return []
    return [
        TestedMix(_text(each), _address(query, each), each, _is_stricter(each, demand))
        for each in dict.fromkeys(_near(demand, tested))
        if not untested(each, tested)
    ]


def _is_stricter(tested: Demand, asked: Demand) -> bool:
    """Tell whether drives that hold one load hold the other as well: no fewer reads or writes, no smaller objects."""
    return (
        tested.reads_per_s >= asked.reads_per_s
        and tested.writes_per_s >= asked.writes_per_s
        and tested.object_bytes >= asked.object_bytes
    )


def _near(demand: Demand, tested: Tested) -> Iterator[Demand]:
    sized = replace(demand, object_bytes=tested.object_bytes) if _is_another_size(demand, tested) else demand
    if not untested(sized, tested):
        yield sized
    elif reads_pct(demand) is not None:
        if demand.reads_per_s:
            yield replace(sized, writes_per_s=writes_as_tested(demand, tested))
        if demand.writes_per_s:
            yield replace(sized, reads_per_s=reads_as_tested(demand, tested))


def _is_another_size(demand: Demand, tested: Tested) -> bool:
    return bool(untested(replace(demand, reads_per_s=Fraction(0), writes_per_s=Fraction(0)), tested))


def _text(demand: Demand) -> str:
    return (
        f"{number(demand.reads_per_s)} reads with {number(demand.writes_per_s)} writes a second at "
        f"{demand.replication_factor} copies, objects of {demand.object_bytes:,d} bytes"
    )


def _address(query: QueryDict, demand: Demand) -> str:
    asked = query.copy()
    asked["reads"], asked["writes"] = _plain(demand.reads_per_s), _plain(demand.writes_per_s)
    asked["object"] = str(demand.object_bytes)
    for name in [name for name in asked if name == "format" or not str(asked[name]).strip()]:
        del asked[name]
    return f"?{asked.urlencode()}"


def _plain(rate: Fraction) -> str:
    return str(rate.numerator) if rate.denominator == 1 else printed_decimal(rate, PLACES).replace(",", "")
