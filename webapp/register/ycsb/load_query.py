"""What a reader may ask of a load's page: which operation, which drive to hold others against, what to hold."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from django.http import QueryDict

from webapp.register.http.query_params import FORMS, given_of, number_of, one_of
from webapp.register.ycsb.loads import STATISTICS, LoadDrive

NAMES = ("of", "against", "hold", "at", "statistic", "format")
THROUGHPUT, LATENCY = "throughput", "latency"
LEAST, MOST = "0.001", "1000000000000"


@dataclass(frozen=True)
class LoadQuestion:
    """`at` is None where nothing is held: in ops/s where throughput is, in us where a latency is."""

    operation: str
    against: str
    hold: str
    at: Fraction | None
    statistic: str
    form: str


def read_load_question(query: QueryDict, operations: Collection[str], drives: Sequence[LoadDrive]) -> LoadQuestion:
    """Return what was asked. Raises ParameterError, naming the parameter, for anything that is not understood."""
    given = given_of(query, NAMES)
    at = number_of(given, "at", LEAST, MOST)
    return LoadQuestion(
        operation=one_of(given, "of", operations),
        against=_drive(given, drives),
        hold=one_of(given, "hold", (THROUGHPUT, LATENCY)),
        at=None if at is None else Fraction(at),
        statistic=one_of(given, "statistic", tuple(STATISTICS)),
        form=one_of(given, "format", FORMS),
    )


def _drive(given: Mapping[str, str], drives: Sequence[LoadDrive]) -> str:
    """Return the code of the drive that is meant, as it is now."""
    asked = given.get("against", "")
    named = next((drive.code for drive in drives if drive.is_named(asked)), asked)
    return one_of({"against": named}, "against", ["", *(drive.code for drive in drives)])
