"""Nines at scale: slow reads per second from one drive to many racks, and the chance that a request has a slow read."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render

from results.rules.act.loads import printed_decimal
from results.rules.percentiles import Scale, chance_of_a_slow_read, slow_reads
from webapp.register.http.files import Value, rows_response
from webapp.register.http.query_params import FORMS, form_address, given_of, one_of, whole_number_of
from webapp.register.http.responses import public_page

NAMES = ("reads", "nines", "drives", "servers", "racks", "parallel", "format")
BRIEF = Scale(Fraction(1_000_000), 5, 10, 20, 20)  # Source: Micron 7450 brief
PARALLEL = 100
PARALLEL_ROWS = (1, 10, 100, 1_000, 10_000)
MOST = 10**9
FIELDS = ("of", "number", "drives", "reads_per_s", "slow_reads_per_s")


@dataclass(frozen=True)
class NinesQuestion:
    """A query: the scale, the number of reads of one request, and the output format."""

    scale: Scale
    parallel: int
    form: str


@dataclass(frozen=True)
class NinesRow:
    """One level of the scale, as text."""

    thing: str
    note: str
    drives: str
    reads: str
    slow: str


@dataclass(frozen=True)
class NinesPage:
    """The answer to a query."""

    question: NinesQuestion
    percentile: str
    sentence: str
    rows: Sequence[NinesRow]
    chances: Sequence[tuple[str, str]]
    chance_sentence: str


def read_nines_question(query: QueryDict) -> NinesQuestion:
    """Return the query, with the values of the brief as defaults. Raises ParameterError."""
    given = given_of(query, NAMES)
    values = {
        name: whole_number_of(given, name, 1, MOST) for name in ("reads", "drives", "servers", "racks", "parallel")
    }
    nines = whole_number_of(given, "nines", 1, 12)
    scale = Scale(
        Fraction(values["reads"] or BRIEF.reads_per_s),
        nines or BRIEF.nines,
        values["drives"] or BRIEF.drives,
        values["servers"] or BRIEF.servers,
        values["racks"] or BRIEF.racks,
    )
    return NinesQuestion(scale, values["parallel"] or PARALLEL, one_of(given, "format", FORMS))


def nines_page(question: NinesQuestion) -> NinesPage:
    """Return the answer."""
    scale = question.scale
    rows = _rows(scale)
    chance = percentage(chance_of_a_slow_read(scale.nines, question.parallel))
    return NinesPage(
        question,
        percentile_of(scale.nines),
        f"{rows[0].slow} slow read{'' if rows[0].slow == '1' else 's'} per second on one drive become {rows[-1].slow} "
        f"in {scale.racks:,d} rack{'' if scale.racks == 1 else 's'}.",
        rows,
        [
            (f"{count:,d}", percentage(chance_of_a_slow_read(scale.nines, count)))
            for count in sorted({*PARALLEL_ROWS, question.parallel})
        ],
        f"A request of {question.parallel:,d} parallel read{'' if question.parallel == 1 else 's'} has a slow one in "
        f"{chance} of cases.",
    )


def _rows(scale: Scale) -> list[NinesRow]:
    notes = {
        "drive": f"{round(scale.reads_per_s):,d} reads/s x 10^-{scale.nines}",
        "server": f"x {scale.drives:,d} drives",
        "rack": f"x {scale.servers:,d} servers",
        "room": f"x {scale.racks:,d} racks",
    }
    rows, drives = [], 1
    for step in slow_reads(scale):
        drives *= step.number
        rows.append(
            NinesRow(
                "one " + step.thing if step.thing != "room" else "all racks",
                notes[step.thing],
                f"{drives:,d}",
                f"{round(scale.reads_per_s * drives):,d}",
                small(step.slow_per_s),
            )
        )
    return rows


def small(value: Fraction) -> str:
    """Return a rate with thousands separated; below 10 with three significant digits."""
    return f"{round(value):,d}" if value >= 10 or value == int(value) else f"{float(value):.3g}"


def percentage(ratio: float) -> str:
    """Return a chance in percent with three significant digits; values near 100 % are shown as more than 99.9 %."""
    percent = ratio * 100
    if percent > 99.95:
        return "more than 99.9 %"
    return f"{percent:.3g} %"


def percentile_of(nines: int) -> str:
    """Return the percentile with this number of nines.

    >>> percentile_of(1), percentile_of(2), percentile_of(5)
    ('p90', 'p99', 'p99.999')
    """
    return {1: "p90", 2: "p99"}.get(nines, f"p99.{'9' * (nines - 2)}")


def nines_values(page: NinesPage) -> list[dict[str, Value]]:
    """Return the rows of the export with exact values."""
    scale, drives = page.question.scale, 1
    values: list[dict[str, Value]] = []
    for step in slow_reads(scale):
        drives *= step.number
        values.append(
            {
                "of": step.thing,
                "number": step.number,
                "drives": drives,
                "reads_per_s": printed_decimal(scale.reads_per_s * drives, 0),
                "slow_reads_per_s": printed_decimal(step.slow_per_s, 12),
            }
        )
    return values


SCHEMA = "drivecert.nines/1"


@public_page
def nines(request: HttpRequest) -> HttpResponse:
    question = read_nines_question(request.GET)
    page = nines_page(question)
    if question.form != "html":
        return rows_response(question.form, "nines", SCHEMA, FIELDS, nines_values(page))
    context = {
        "section": "sizing",
        "page": page,
        "csv_address": form_address(request, "csv"),
        "json_address": form_address(request, "json"),
    }
    return render(request, "register/nines/nines.html", context)
