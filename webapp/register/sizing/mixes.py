"""Tested mixes of reads and writes next to a query: their texts, and the addresses of the same query with them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from django.http import QueryDict

from results.rules import sizing
from results.rules.act.loads import printed_decimal
from results.rules.sizing import Demand, Mix, Tested, mix_of
from webapp.register.sizing.steps import figure

PLACES = 6  # parameters accept no more


@dataclass(frozen=True)
class TestedMix:
    """A tested workload with the URL of its query."""

    text: str
    address: str


def tested_mixes(query: QueryDict, demand: Demand, tested: Tested) -> list[TestedMix]:
    """Return the tested workloads with the requested reads or writes; empty if the request itself is tested."""
    if mix_of(demand, tested) is Mix.TESTED:
        return []
    mixes = [each for each in dict.fromkeys(_near(demand, tested)) if mix_of(each, tested) is Mix.TESTED]
    return [
        TestedMix(
            f"{figure(each.reads_per_s)} reads and {figure(each.writes_per_s)} writes per second at "
            f"{each.replication_factor} copies, objects of {each.object_bytes:,d} bytes",
            _address(query, each),
        )
        for each in mixes
    ]


def _near(demand: Demand, tested: Tested) -> Iterator[Demand]:
    of_no_load = replace(demand, reads_per_s=Fraction(0), writes_per_s=Fraction(0))
    is_another_size = mix_of(of_no_load, tested) is not Mix.TESTED
    sized = replace(demand, object_bytes=tested.object_bytes) if is_another_size else demand
    if mix_of(sized, tested) is Mix.TESTED:
        yield sized
    elif sizing.reads_pct(demand) is not None:
        if demand.reads_per_s:
            yield replace(sized, writes_per_s=sizing.writes_as_tested(demand, tested))
        if demand.writes_per_s:
            yield replace(sized, reads_per_s=sizing.reads_as_tested(demand, tested))


def _address(query: QueryDict, demand: Demand) -> str:
    changed = query.copy()
    changed["reads"], changed["writes"] = _plain(demand.reads_per_s), _plain(demand.writes_per_s)
    changed["object"] = str(demand.object_bytes)
    for name in [name for name in changed if name == "format" or not str(changed[name]).strip()]:
        del changed[name]
    return f"?{changed.urlencode()}"


def _plain(rate: Fraction) -> str:
    return str(rate.numerator) if rate.denominator == 1 else printed_decimal(rate, PLACES).replace(",", "")
